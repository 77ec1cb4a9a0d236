"""Measurements of fields at points and times, with what is known of their noise."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.geometry import Domain
from frozenpinn.language.functions import real_number
from frozenpinn.language.jets import TIME
from frozenpinn.language.parser import parse
from frozenpinn.runtime.arguments import is_complex, reals, spelled
from frozenpinn.statement.problem import Problem
from frozenpinn.tables.files import read_csv

Array = np.ndarray
_NOISE = "noise"  # the column of standard deviations in a file
_COORDINATES = ("x", "y", "z")


@spelled(ProblemError)
@dataclass(frozen=True)
class Relative:
    """Noise whose standard deviation is a part of the value that is measured.

    Examples
    --------
    >>> Relative(0.01).part
    0.01
    """

    part: float

    def __post_init__(self) -> None:
        number = real_number(self.part)
        if number is None or not 0 < number < math.inf:
            raise ProblemError(f"Relative(…) takes a positive part such as 0.01, got {self.part!r}.")
        object.__setattr__(self, "part", number)


Noise: TypeAlias = float | Sequence[float] | Array | Relative | None


@spelled(ProblemError)
@dataclass(frozen=True, eq=False, init=False)
class Measurements:
    """Values of a field, of a derivative or of any quantity made of them, at scattered points and times.

    Parameters
    ----------
    points
        Shape (n, d); (n,) in one dimension.
    values
        Shape (n,). Series of sensors have shape (n, m): n points, and m times at which all were read.
    times
        Shape (n,) or one number for all; shape (m,) for series; None for static problems.
    field, derivative
        What was measured: ``field="u"`` (may be left out if there is one), ``derivative="x"`` or nothing for values,
        ``"n"`` for the normal one. An unknown field may be measured, too, such as its values on the boundary.
    noise
        The standard deviation: a number, one for each value, :class:`Relative`, or None to estimate it.
    quantity
        Instead of a field: what was measured as text, such as ``"-k*u_x"`` or ``"sqrt(u**2 + v**2)"``; unknowns may
        stand in it.
    side
        The side of the domain on which all points lie; needed for normal derivatives.

    Averages over regions are made by :meth:`averages`.

    Examples
    --------
    >>> data = Measurements([0.2, 0.5, 0.8], [0.3, 0.5, 0.3], times=0.1, noise=0.01)
    >>> len(data), data.points.shape
    (3, (3, 1))
    """

    points: Array
    values: Array
    times: Array | None
    field: str | None
    derivative: str
    noise: float | Array | Relative | None
    quantity: str | None
    side: str | None
    regions: tuple[Domain | str, ...] | None
    integral: bool

    def __init__(
        self,
        points: Any,
        values: Any,
        times: Any = None,
        field: str | None = None,
        derivative: str = "",
        noise: Noise = None,
        *,
        quantity: str | None = None,
        side: str | None = None,
    ) -> None:
        own = {"values": _numbers(values, "values")}
        if own["values"].ndim == 2:
            points, own["values"], times, noise = _series(points, own["values"], times, noise)
        if own["values"].ndim != 1:
            raise ProblemError(f"values must have shape (n,), or (points, times), got {own['values'].shape}.")
        n = len(own["values"])
        own["points"] = _points(points, n)
        if times is not None:
            own["times"] = _numbers(times, "times")
            if own["times"].ndim == 0:
                own["times"] = np.full(n, float(own["times"]))
            if own["times"].shape != (n,):
                raise ProblemError(f"{n} values need {n} times or one for all, got shape {own['times'].shape}.")
        if quantity is not None and (not isinstance(quantity, str) or field is not None or derivative):
            raise ProblemError("quantity= is text such as '-k*u_x', and stands instead of field= and derivative=.")
        for array in own.values():
            array.flags.writeable = False
        vars(self).update(own | {"times": own.get("times")}, field=field, derivative=derivative, noise=_noise(noise, n))
        vars(self).update(quantity=quantity, side=side, regions=None, integral=False)

    @classmethod
    @spelled(ProblemError)
    def averages(
        cls,
        regions: Domain | str | Sequence[Domain | str],
        values: Any,
        times: Any = None,
        field: str | None = None,
        derivative: str = "",
        noise: Noise = None,
        *,
        quantity: str | None = None,
        integral: bool = False,
    ) -> Measurements:
        """Return averages over regions, or integrals over them.

        A region is a domain inside that of the problem, such as ``Interval(0.2, 0.4)`` or ``Disk((0, 0), 0.1)``, or the
        name of a side; there is one for each value, or one for all. The flux through a side is
        ``Measurements.averages("right", 0.3, quantity="-k*u_n", integral=True)``.
        """
        values = np.atleast_1d(_numbers(values, "values"))
        several = tuple(regions) if isinstance(regions, Sequence) and not isinstance(regions, str) else (regions,)
        if not all(isinstance(region, Domain | str) for region in several):
            raise ProblemError(
                "regions are domains such as Interval(0.2, 0.4), or names of sides; got "
                f"{', '.join(sorted({type(r).__name__ for r in several}))}."
            )
        several = several * len(values) if len(several) == 1 else several
        if len(several) != len(values):
            raise ProblemError(f"{len(values)} values need {len(values)} regions or one for all, got {len(several)}.")
        middles = [_middle(region) for region in several]
        d = max((len(m) for m in middles if m is not None), default=1)
        points = [np.full(d, np.nan) if m is None else m for m in middles]
        made = cls(np.zeros((len(values), d)), values, times, field, derivative, noise, quantity=quantity)
        vars(made).update(regions=several, integral=bool(integral), points=np.array(points))
        return made

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    @spelled(ProblemError)
    def read(cls, file: str | os.PathLike[str], field: str | None = None, noise: Noise = None) -> Measurements:
        """Read a CSV file with a header: the coordinates, ``t`` if there is one, one field, and maybe ``noise``.

        The column of the values may be called like a derivative, such as ``u_x``. With several of them, say which:
        ``field="u_x"``.
        """
        header, rows = read_csv(file)
        place, measured = _columns(header)
        if not place or not measured:
            raise ProblemError(
                f"'{file}' needs a header with coordinates and a field, such as 'x,y,u' or 'x,t,u,noise'; got "
                f"'{','.join(header)}'."
            )
        wanted = measured[0] if field is None and len(measured) == 1 else field
        if wanted not in measured:
            what = f"field='{field}' is not a column" if field else "there are several columns of values"
            raise ProblemError(
                f"'{file}': {what}; say field= one of {choices(measured)}.{suggestion(str(field), measured)}"
            )
        column = {name: rows[:, i] for i, name in enumerate(header)}
        name, _, suffix = str(wanted).partition("_")
        points = np.stack([column[c] for c in place], axis=1)
        own = column[_NOISE] if noise is None and _NOISE in header else noise
        return cls(points, column[str(wanted)], column.get(TIME), name, suffix, own)

    @classmethod
    @spelled(ProblemError)
    def read_all(cls, file: str | os.PathLike[str], noise: Noise = None) -> list[Measurements]:
        """Read every column of values of a CSV file, as :meth:`read` does one."""
        measured = _columns(read_csv(file)[0])[1]
        return (
            [cls.read(file, name, noise) for name in measured] if len(measured) > 1 else [cls.read(file, None, noise)]
        )

    @classmethod
    @spelled(ProblemError)
    def from_xarray(cls, data: Any, field: str | None = None, noise: Noise = None) -> Measurements:
        """Return the entries of an xarray DataArray, or of one variable of a Dataset; missing ones are left out.

        Its dimensions are coordinates of the problem and ``t``; a variable ``noise`` holds standard deviations.
        """
        variables = getattr(data, "data_vars", None)
        if variables is not None:
            names = [str(name) for name in variables if name != _NOISE]
            wanted = names[0] if field is None and len(names) == 1 else field
            if wanted not in names:
                raise ProblemError(f"the Dataset has the variables {choices(names)}; say field= one of them.")
            noise = np.asarray(variables[_NOISE]) if noise is None and _NOISE in variables else noise
            data = variables[wanted]
        elif not hasattr(data, "dims"):
            raise ProblemError(f"from_xarray() takes a DataArray or a Dataset, got {type(data).__name__}.")
        missing = [str(d) for d in data.dims if d not in data.coords]
        if missing:
            raise ProblemError(f"the dimension(s) {choices(missing)} have no coordinates; give them some.")
        grid = dict(zip(data.dims, np.meshgrid(*(data.coords[d] for d in data.dims), indexing="ij"), strict=True))
        values = _real(data.values, "the DataArray")
        kept = np.isfinite(values)
        place = [d for d in data.dims if d != TIME]
        if not place:
            raise ProblemError(f"the DataArray needs dimensions named after coordinates, got {choices(data.dims)}.")
        place = sorted(place, key=lambda d: (str(d) not in _COORDINATES, str(d)))
        points = np.stack([grid[d][kept] for d in place], axis=1)
        times = grid[TIME][kept] if TIME in grid else None
        if noise is not None and not isinstance(noise, Relative) and np.ndim(noise):
            noise = np.broadcast_to(np.asarray(noise, dtype=float), values.shape)[kept]
        name, _, suffix = str(field or data.name or "").partition("_")
        return cls(points, values[kept], times, name or None, suffix, noise)

    def within(self, problem: Problem) -> Measurements:
        """Return the same in the coordinates that a problem is solved in."""
        frame = problem.frame
        if frame is None or not frame.is_called:
            return self
        if self.regions is not None or self.derivative or self.quantity is not None:
            raise ProblemError(
                f"in {frame.kind} coordinates only values of fields can be measured; for averages, derivatives and "
                "formulas, state the problem in Cartesian coordinates."
            )
        if self.points.shape[1] != len(frame.names):
            raise ProblemError(
                f"the measurements have {self.points.shape[1]} coordinate(s); the problem has {choices(frame.names)}."
            )
        _check_inside(self.points, frame.stated, f"of {len(self)} measurements lie")
        made = object.__new__(Measurements)
        vars(made).update(vars(self), points=np.stack(frame.to_inner(*self.points.T), axis=1))
        return made

    def expression(self, problem: Problem) -> sp.Expr:
        """Return what was measured, over jets of the fields and what stands for unknowns."""
        parameters, jets = problem.parameters, problem.jets
        if self.quantity is not None:
            scope = replace(parameters.scope(jets, problem.fields, normal=True), static=problem.is_static)
            found = parse(self.quantity, scope)
            orders = {name: problem.equation(name).order for name in problem.fields}
            if any(jet.time >= max(orders[jet.field], 1) for jet in jets.jets_in(found).values()):
                raise ProblemError(f"quantity='{self.quantity}' has a time derivative; measure fields and slopes.")
        else:
            name = self._name(problem)
            jet = jets.parse_suffix(self.derivative, normal=True)
            if jet is None or jet.time or (self.derivative and name in parameters.unknown_fields):
                raise ProblemError(
                    f"derivative='{self.derivative}' is not made of the coordinates {choices(jets.coordinates)} or 'n'."
                )
            found = parameters.expressions[name] if name in parameters.unknown_fields else None
            found = jets.symbol(replace(jet, field=name)) if found is None else found
        sides = self.side is not None or all(isinstance(region, str) for region in self.regions or (None,))
        if any(jet.normal for jet in jets.jets_in(found).values()) and not sides:
            raise ProblemError("normal derivatives are measured on a side: say side='right', or another one.")
        return found

    def _name(self, problem: Problem) -> str:
        fields, name = (*problem.fields, *problem.parameters.unknown_fields), self.field
        if name is None:
            if len(problem.fields) > 1:
                raise ProblemError(
                    f"the problem has the fields {choices(problem.fields)}; say which one was measured: "
                    f"Measurements(…, field='{fields[0]}')."
                )
            name = fields[0]
        if name not in fields:
            raise ProblemError(
                f"the field '{name}' was measured, but the fields are {choices(fields)}.{suggestion(name, fields)}"
            )
        return name

    def check(self, problem: Problem) -> None:
        """Refuse measurements that a problem knows nothing about."""
        self.expression(problem)
        domain, d = problem.domain, self.points.shape[1]
        for name in {r for r in (self.side, *(self.regions or ())) if isinstance(r, str)}:
            domain.side(name)
        shapes = [r for r in self.regions or () if isinstance(r, Domain)]
        if d != domain.dimension and (self.regions is None or shapes):
            raise ProblemError(f"the measurements have {d} coordinate(s); the problem has {domain.dimension}.")
        places = self.points if self.regions is None else None
        if shapes:
            places = np.concatenate([r.sample(64, "random", 0).x for r in {id(r): r for r in shapes}.values()])
        if places is not None:
            _check_inside(places, domain, "regions reach" if shapes else f"of {len(self)} measurements lie")
        if problem.is_static and self.times is not None:
            raise ProblemError("the measurements have times, but the problem is static; leave times= out.")
        if problem.is_static:
            return
        start, end = problem.time
        if self.times is None:
            raise ProblemError(f"the problem depends on time: give times= between {start:g} and {end:g}.")
        slack = 1e-12 * (end - start)
        late = (self.times < start - slack) | (self.times > end + slack)
        if late.any():
            raise ProblemError(
                f"{late.sum()} of {len(self)} measurements lie outside the time {start:g} … {end:g}, the first at "
                f"t = {self.times[np.argmax(late)]:g}; leave them out, or state the problem for a longer time."
            )


def _check_inside(places: Array, domain: Domain, what: str) -> None:
    outside = ~domain.contains(places)
    if outside.any():
        what = what if what.startswith("regions") else f"{outside.sum()} {what}"
        place = ", ".join(f"{c:g}" for c in places[np.argmax(outside)])
        raise ProblemError(
            f"{what} outside the domain {domain!r}, the first at ({place}); leave them out, or check the units and the "
            "order of the coordinates."
        )


def _columns(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of coordinates and those of values."""
    place = [name for name in header if name in _COORDINATES or (name[:1] == "x" and name[1:].isdigit())]
    return place, [name for name in header if name not in (*place, TIME, _NOISE)]


def _middle(region: Any) -> Array | None:
    """Return about where a region lies; None for a side, whose domain is not known yet."""
    if isinstance(region, str):
        return None
    return 0.5 * (np.asarray(region.lower, dtype=float) + np.asarray(region.upper, dtype=float))


def _numbers(given: Any, what: str) -> Array:
    array = _real(given, what)
    finite = np.isfinite(array)
    if not finite.all():
        at = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ProblemError(
            f"{what} must be finite; {np.sum(~finite)} of them are not, the first at index "
            f"{at[0] if len(at) == 1 else at}. Leave missing measurements out."
        )
    if array.size == 0:
        raise ProblemError(f"{what} is empty; there is nothing to infer from.")
    return array


def _real(given: Any, what: str) -> Array:
    if is_complex(given):
        raise ProblemError(
            f"{what} are complex; measure the real and the imaginary part by themselves, such as "
            "[Measurements(x, values.real, quantity='re(u)'), Measurements(x, values.imag, quantity='im(u)')]."
        )
    return np.array(reals(given, f"{what} must be numbers", ProblemError))


def _series(points: Any, values: Array, times: Any, noise: Any) -> tuple[Array, Array, Array, Any]:
    """Return series of sensors, a row for each, as single values."""
    places, when = _numbers(points, "points"), None if times is None else _numbers(times, "times")
    n, m = values.shape
    if when is None or when.shape != (m,) or places.ndim not in (1, 2) or len(places) != n:
        turned = ""
        if when is not None and when.shape == (n,) and len(np.atleast_1d(places)) == m:
            turned = " Write values.T."
        raise ProblemError(
            f"values of shape ({n}, {m}) are series of {n} points, each at the same {m} times; got points of shape "
            f"{places.shape} and times of shape {None if when is None else when.shape}.{turned}"
        )
    if not (noise is None or isinstance(noise, Relative)) and np.shape(noise):
        noise = np.broadcast_to(_numbers(noise, "noise"), values.shape).ravel() if np.ndim(noise) == 2 else noise
    return np.repeat(places, m, axis=0), values.ravel(), np.tile(when, n), noise


def _points(given: Any, n: int) -> Array:
    points = _numbers(given, "points")
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or len(points) != n:
        raise ProblemError(f"{n} values need points of shape ({n}, d), got {np.shape(given)}.")
    return points


def _noise(given: Noise, n: int) -> float | Array | Relative | None:
    if given is None or isinstance(given, Relative):
        return given
    sigma = _numbers(given, "noise")
    if np.any(sigma <= 0):
        raise ProblemError("noise is a standard deviation and must be positive; write noise=None to estimate it.")
    if sigma.ndim == 0:
        return float(sigma)
    if sigma.shape != (n,):
        raise ProblemError(f"{n} values need one noise or {n} of them, got shape {sigma.shape}.")
    sigma.flags.writeable = False
    return sigma
