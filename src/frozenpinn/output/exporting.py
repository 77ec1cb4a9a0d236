"""Solutions as tables that other programs read: xarray, NetCDF, CSV, NumPy, VTK.

The functions below are methods of :class:`~frozenpinn.Solution`. Files are written as a whole or not at all, and never
over another one unless that is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, StorageError, choices, suggestion
from frozenpinn.geometry.cells import cells_of
from frozenpinn.geometry.points import grid_points
from frozenpinn.output.vtk import Frame, write_series, write_vtu
from frozenpinn.results.evaluation import arguments_of, check_grid_size, check_inside
from frozenpinn.results.expressions import Expression, table_of_expressions
from frozenpinn.runtime.arguments import is_whole, reals, shown, spelled
from frozenpinn.runtime.paths import checked_target, replacing
from frozenpinn.statement.composites import IMAGINARY, REAL

if TYPE_CHECKING:
    import xarray

    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
POINTS = {1: 201, 2: 101, 3: 41}  #: per axis of a file, if nothing is said


@spelled(EvaluationError)
def grid(
    self: Solution,
    points: int | Sequence[int] = 101,
    times: int | Sequence[float] = 51,
    derivative: str = "",
    expressions: Mapping[str, str] | None = None,
) -> xarray.Dataset:
    """Evaluate all fields on a uniform grid, as an xarray dataset with named coordinates; NaN outside.

    Parameters
    ----------
    points
        How many along each axis; a list gives each its own.
    times
        How many, or which: ``times=[0, 0.5]``. Static solutions have none.
    derivative
        Such as ``"x"``; of all fields.
    expressions
        More columns, by their names: ``{"flux": "-k*u_x"}``.
    """
    more = table_of_expressions(self, expressions)
    when = uniform_times(self.problem, times)
    if is_whole(points):
        check_grid_size(points, 1 if when is None else len(when), self.problem.domain.dimension)
    return _on_axes(self, uniform_axes(self.problem, points), when, derivative, more)


def to_xarray(
    self: Solution, *where: Any, derivative: str = "", expressions: Mapping[str, str] | None = None, **named: Any
) -> xarray.Dataset:
    """Evaluate all fields on a grid of your own, or at your own points, as an xarray dataset.

    Parameters
    ----------
    *where
        One list of numbers for each coordinate, then times: ``to_xarray(x, t)``, ``to_xarray(x, y, t)``. Or points of
        shape (n, d) and times: the dataset then has the dimensions ``point`` and ``t``. What is left out is uniform.
    **named
        The same by name: ``to_xarray(t=[0, 0.5])``.
    derivative
        Such as ``"x"``; of all fields.
    expressions
        More columns, by their names: ``{"flux": "-k*u_x"}``; a vector has one for each component.

    Notes
    -----
    Places of a grid outside the domain are NaN. The attributes tell the status and, for each field, the estimated
    error.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> solution = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0"))
    >>> dict(solution.to_xarray([0.2, 0.5], t=[0, 0.1, 1]).u.sizes)
    {'x': 2, 't': 3}
    """
    problem, more = self.problem, table_of_expressions(self, expressions)
    names = arguments_of(problem)
    wanted = "coordinates and times are lists of real numbers"
    given = [None if w is None else reals(w, wanted, EvaluationError) for w in _placed(where, named, names)]
    d = problem.stated.dimension
    if given and given[0] is not None and given[0].ndim == 2:
        if len(given) > 2 or given[0].shape[1] != d:
            raise EvaluationError(f"points have the shape (n, {d}), and times follow; got {_shapes(given)}.")
        when = (
            uniform_times(self.problem, given[1])
            if len(given) > 1 and given[1] is not None
            else uniform_times(self.problem, 51)
        )
        return _at_points(self, given[0], when, derivative, more)
    if len(given) > len(names) or any(g is not None and g.ndim > 1 for g in given):
        raise EvaluationError(
            f"expected to_xarray({', '.join(names)}) with a list of numbers for each, or to_xarray(points, t) with "
            f"points of shape (n, {d}); got {_shapes(given)}."
        )
    axes = uniform_axes(self.problem, POINTS.get(d, 11))
    for k, own in enumerate(given[:d]):
        axes[k] = axes[k] if own is None else np.atleast_1d(own)
    own = given[d] if len(given) > d else None
    return _on_axes(self, axes, uniform_times(self.problem, 51 if own is None else own), derivative, more)


def to_netcdf(
    self: Solution,
    file: str,
    *where: Any,
    derivative: str = "",
    expressions: Mapping[str, str] | None = None,
    overwrite: bool = False,
    **named: Any,
) -> None:
    """Write all fields on a grid, or at points, as NetCDF; where as for :meth:`to_xarray`.

    NetCDF-4 if ``netCDF4`` or ``h5netcdf`` is installed (extra ``sweep``), NetCDF-3 otherwise.
    """
    checked_target(file, StorageError, overwrite)
    dataset = of_real_numbers(to_xarray(self, *where, derivative=derivative, expressions=expressions, **named))
    with replacing(file, overwrite) as part:
        dataset.to_netcdf(part)


def to_csv(
    self: Solution,
    file: str,
    *where: Any,
    derivative: str = "",
    expressions: Mapping[str, str] | None = None,
    overwrite: bool = False,
    **named: Any,
) -> None:
    """Write a table with a column for each coordinate, t and each field; where as for :meth:`to_xarray`.

    Places outside the domain are left out. Numbers have all their digits.
    """
    checked_target(file, StorageError, overwrite)
    dataset = of_real_numbers(to_xarray(self, *where, derivative=derivative, expressions=expressions, **named))
    table = dataset.to_dataframe().reset_index()[list(_columns(self, dataset))].dropna()
    with replacing(file, overwrite) as part:
        table.to_csv(part, index=False)


def to_npz(
    self: Solution,
    file: str,
    *where: Any,
    derivative: str = "",
    expressions: Mapping[str, str] | None = None,
    overwrite: bool = False,
    **named: Any,
) -> None:
    """Write coordinates, t and fields as arrays of one ``.npz`` file; where as for :meth:`to_xarray`."""
    if not str(checked_target(file, StorageError, overwrite)).endswith(".npz"):
        raise StorageError(f"NumPy's files of several arrays end in .npz, got '{file}'.")
    dataset = of_real_numbers(to_xarray(self, *where, derivative=derivative, expressions=expressions, **named))
    with replacing(file, overwrite) as part:
        np.savez(part, **{name: dataset[name].to_numpy() for name in _columns(self, dataset)})


@spelled(EvaluationError)
def to_vtk(
    self: Solution,
    file: str,
    points: int | None = None,
    times: int | Sequence[float] = 21,
    vectors: Mapping[str, Sequence[str]] | None = None,
    expressions: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> None:
    """Write all fields for ParaView and PyVista.

    Parameters
    ----------
    file
        ``u.pvd`` is a series in time, of files in the folder ``u`` beside it; ``u.vtu`` is one file, of a static
        solution or of one time.
    points
        How many along the longest edge. Boxes are cut into quadrilaterals and hexahedra, other shapes into triangles
        and tetrahedra; values are those of the solution at the vertices.
    times
        How many, or which.
    vectors
        Fields that are components of a vector: ``{"velocity": ["u", "v"]}``.
    expressions
        More values, by their names: ``{"vorticity": "v_x - u_y"}``; they may be vectors.
    overwrite
        Whether to replace a file that is there.
    """
    target, when = checked_target(file, StorageError, overwrite), uniform_times(self.problem, times)
    ending = os.path.splitext(target)[1]
    if ending not in (".pvd", ".vtu"):
        raise StorageError(f"'{file}' ends in '{ending}'; write .pvd for a series in time, .vtu for one file.")
    if ending == ".vtu" and when is not None and len(when) > 1:
        raise StorageError(f"'{file}' holds one time, got {len(when)}; write times=[1.0], or a series as .pvd.")
    if points is not None and (not is_whole(points) or points < 2):
        raise EvaluationError(f"points is a whole number from 2 on, got {shown(points)}.")
    domain = self.problem.domain
    cells = cells_of(domain, POINTS.get(domain.dimension, 2) if points is None else points)
    groups, more = _vectors(self, vectors), table_of_expressions(self, expressions)
    moments = np.zeros(1) if when is None else when
    check_inside(self.problem, cells.points[:0], moments)
    values = {
        name: self.jet_values(cells.points, moments, self.problem.jets.field(name)) for name in self.problem.fields
    }
    derived = _derived(self, more, cells.points, moments)

    def frame(k: int) -> Frame:
        table = {name: own[:, k] for name, own in values.items()}
        table |= {name: np.stack([table[f] for f in parts], axis=1) for name, parts in groups.items()}
        table |= {name: own[..., k].T for name, own in derived.items()}
        return Frame(cells, table)

    if ending == ".vtu":
        with replacing(file, overwrite) as part:
            write_vtu(part, frame(0))
    else:
        write_series(target, moments, frame, overwrite)


@spelled(EvaluationError)
def save(self: Solution, file: str, overwrite: bool = False) -> None:
    """Store the solution as arrays and JSON; :func:`frozenpinn.load` reads it back.

    A file that is there is replaced only with ``overwrite=True``.
    """
    from frozenpinn.results.storage import save_solution

    save_solution(self, file, overwrite)


def again(self: Solution, /, **values: Any) -> Solution:
    """Solve the problem for other values of some parameters, with the same settings, seed and tolerance.

    The search starts from the sizes that were needed here, so that it is faster than a new one.
    """
    if self.provenance is None:
        raise EvaluationError(
            "a solution that was read from a file does not know its settings; call fp.solve(problem.at(…), tol=…)."
        )
    found: Solution = self.provenance.again(self, values)  # type: ignore[attr-defined]
    return found


# ---- plumbing --------------------------------------------------------------------------------------


def _placed(where: Sequence[Any], named: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Return coordinates and times in their order, None for those that are left out."""
    for name in named:
        if name not in names:
            known = [*names, "derivative"]
            raise EvaluationError(
                f"to_xarray() has no argument '{name}'.{suggestion(name, known)} It takes {choices(known)}."
            )
    if named and len(where) == 1 and set(named) == {"t"}:
        return (
            [*where, named["t"]]
            if np.ndim(where[0]) == 2 or len(names) == 2
            else [*where, *[None] * (len(names) - 2), named["t"]]
        )
    twice = [name for name in names[: len(where)] if name in named]
    if twice:
        raise EvaluationError(f"'{twice[0]}' is given twice, by its place and by its name.")
    found = dict(zip(names, where, strict=False)) | dict(named)
    return [*where] if not named else [found.get(name) for name in names]


def _columns(solution: Solution, dataset: xarray.Dataset) -> tuple[str, ...]:
    """Return coordinates, time, fields and expressions, in this order."""
    own = (*arguments_of(solution.problem), *solution.problem.fields)
    return (*own, *(str(name) for name in dataset.data_vars if name not in own))


def _shapes(given: Sequence[Array | None]) -> str:
    return "nothing" if not given else "shapes " + ", ".join("none" if g is None else str(g.shape) for g in given)


def uniform_axes(problem: Problem, points: Any) -> list[Array]:
    """Return uniform coordinates along each axis of the bounding box."""
    domain = problem.stated
    counts = [points] * domain.dimension if not isinstance(points, Sequence | np.ndarray) else list(points)
    if len(counts) != domain.dimension:
        raise EvaluationError(f"points is one number, or one for each of {domain.dimension} axes; got {shown(points)}.")
    for count in counts:
        check_grid_size(count, 1, domain.dimension if len(set(map(str, counts))) == 1 else 1)
    return [np.linspace(a, b, n) for a, b, n in zip(domain.lower, domain.upper, counts, strict=True)]


def uniform_times(problem: Problem, times: Any) -> Array | None:
    """Return the times of which so many, or which, are given; None for a static solution."""
    if isinstance(times, str | bool):
        raise EvaluationError(f"times is how many, or a list of them; got {shown(times)}.")
    if problem.is_static:
        return None
    if is_whole(times):
        check_grid_size(1, times, 1)
        return np.linspace(*problem.time, times)
    found = np.atleast_1d(reals(times, "times is how many, or a list of them", EvaluationError))
    if found.ndim != 1 or not found.size:
        raise EvaluationError(f"times is how many, or a list of them; got {shown(times)}.")
    check_inside(problem, np.empty((0, problem.domain.dimension)), found)
    return found


def _evaluated(
    solution: Solution, where: Sequence[Array], derivative: str, more: Mapping[str, Expression]
) -> dict[str, Array]:
    """Return all fields and some expressions at the same places; each component of a vector by its own name."""
    fields = solution.problem.composites.tabulated
    table = {name: solution(*where, derivative=derivative, field=name) for name in fields}
    for name, expression in more.items():
        found = solution(expression.text, *where)
        for index in np.ndindex(*expression.shape):
            table[name + "".join(f"_{k}" for k in index)] = found[index]
    return table


def _on_axes(
    solution: Solution, axes: list[Array], when: Array | None, derivative: str, more: Mapping[str, Expression]
) -> xarray.Dataset:
    domain = solution.problem.stated
    check_grid_size(int(np.prod([len(a) for a in axes], dtype=object)), 1 if when is None else len(when), 1)
    moments = () if when is None else (when,)
    names = (*domain.coordinates, *("t" for _ in moments))
    places = grid_points(axes)
    inside, rank = domain.contains(places), (...,) + (None,) * len(moments)
    if np.all(inside):
        own = _evaluated(solution, [*(a[rank] for a in np.ix_(*axes)), *moments], derivative, more)
    else:  # what lies outside has no value
        own = {}
        for name, found in _evaluated(
            solution, [*(c[rank] for c in places[inside].T), *moments], derivative, more
        ).items():
            own[name] = np.full((len(places), *map(len, moments)), np.nan, dtype=found.dtype)
            own[name][inside] = found
    table = {name: (names, values.reshape(*map(len, (*axes, *moments)))) for name, values in own.items()}
    return _described(solution, table, dict(zip(names, (*axes, *moments), strict=True)))


def of_real_numbers(dataset: xarray.Dataset) -> xarray.Dataset:
    """Return a dataset for files that know no complex numbers: two variables for each."""
    for name in [str(name) for name, values in dataset.data_vars.items() if np.iscomplexobj(values)]:
        halves = {f"{name}{REAL}": dataset[name].real, f"{name}{IMAGINARY}": dataset[name].imag}
        dataset = dataset.drop_vars(name).assign(halves)
    return dataset


def _at_points(
    solution: Solution, x: Array, when: Array | None, derivative: str, more: Mapping[str, Expression]
) -> xarray.Dataset:
    domain = solution.problem.stated
    moments = () if when is None else (when,)
    names, rank = ("point", *("t" for _ in moments)), (...,) + (None,) * len(moments)
    own = _evaluated(solution, [*(c[rank] for c in x.T), *moments], derivative, more)
    table = {name: (names, values) for name, values in own.items()}
    coordinates: dict[str, Any] = {name: ("point", c) for name, c in zip(domain.coordinates, x.T, strict=True)}
    return _described(solution, table, coordinates | ({} if when is None else {"t": when}))


def _described(solution: Solution, table: Mapping[str, Any], coordinates: Mapping[str, Any]) -> xarray.Dataset:
    """Return a dataset whose attributes tell what was solved, and how accurately."""
    import xarray as xr

    estimate = solution.error_estimate
    about: dict[str, Any] = {"problem": repr(solution.problem), "status": solution.status}
    if solution.verdict is not None:
        about["tol"] = solution.verdict.tol
    dataset = xr.Dataset(table, coords=coordinates, attrs=about)
    if estimate is not None:
        for name in solution.problem.composites.tabulated:
            dataset[name].attrs["relative_error_estimate"] = float(estimate[name])
    return dataset


def _derived(solution: Solution, more: Mapping[str, Expression], x: Array, times: Array) -> dict[str, Array]:
    """Return expressions at points and times, (…, n, m); two real ones of each that is complex."""
    table: dict[str, Array] = {}
    for name, expression in more.items():
        if len(expression.shape) > 1:
            raise EvaluationError(f"'{expression.text}' is a matrix; write its components, such as (…)[0][0].")
        found = expression.outer(solution, x, times)
        halves = {f"{name}{REAL}": found.real, f"{name}{IMAGINARY}": found.imag}
        table |= halves if expression.is_complex else {name: found}
    return table


def _vectors(solution: Solution, given: Any) -> dict[str, tuple[str, ...]]:
    if given is None:
        return {}
    help = f"vectors is a table such as {{'velocity': ['u', 'v']}} of the fields {', '.join(solution.problem.fields)}"
    if not isinstance(given, Mapping):
        raise EvaluationError(f"{help}; got {shown(given)}.")
    for name, parts in given.items():
        good = isinstance(name, str) and isinstance(parts, Sequence) and not isinstance(parts, str)
        if not good or not 1 < len(parts) <= 3 or any(f not in solution.problem.fields for f in parts):
            raise EvaluationError(f"{help}, two or three in each; got {shown({name: parts})}.")
        if name in solution.problem.fields:
            raise EvaluationError(f"'{name}' is a field already; give the vector another name.")
    return {name: tuple(parts) for name, parts in given.items()}
