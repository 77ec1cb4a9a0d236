"""Eigenvalues with their errors, and eigenfunctions that can be evaluated, differentiated, drawn and stored.

A file holds arrays and a JSON text (results/archive.py). Nothing in it is ever executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from frozenpinn.basis.protocol import Basis
from frozenpinn.basis.stored import basis_arrays, basis_from_arrays
from frozenpinn.errors import EvaluationError, FrozenPinnError, silenced
from frozenpinn.integrators.steady import SteadyState
from frozenpinn.results.archive import FORMAT, write_archive
from frozenpinn.results.expansion import Expansion, Piece, no_data
from frozenpinn.results.expressions import Expression
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import Decision, read_decisions
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.document import Outline, domain_from_dict, domain_to_dict, problem_from_dict, problem_to_dict
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Mode:
    """An eigenvalue and its function.

    Attributes
    ----------
    value, error
        The eigenvalue, and its estimated absolute error.
    residual
        What the function leaves of the equation at points that were not used, relative to its terms.
    parts
        The function: real part, and imaginary part if there is one.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> string = fp.Problem("-u_xx = lam*u", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})
    >>> first = fp.modes(string, 1)[0]
    >>> round(float(abs(first(0.5))), 6)
    1.414214
    """

    value: complex
    error: float
    residual: float
    parts: tuple[Solution, ...]

    def __repr__(self) -> str:
        return f"Mode({_number(self.value)} ± {self.error:.1g})"

    @property
    def problem(self) -> Problem:
        """What it is a mode of."""
        return self.parts[0].problem

    def __call__(self, *where: Any, derivative: str = "", field: str | None = None) -> Array:
        """Evaluate the function, one of its derivatives or an expression, ``mode("-k*u_x", x)``, as a solution does.

        Values are complex if the function is; an expression in it must then be linear.
        """
        text = where[0] if where and isinstance(where[0], str) else None
        if text and len(self.parts) > 1 and not Expression.read(self.problem, text).is_linear:
            raise EvaluationError(
                f"'{text}' is not linear in the fields, and this mode is complex; evaluate its fields and "
                "derivatives, and compute with them: abs(mode(x))**2."
            )
        values = [part(*where, derivative=derivative, field=field) for part in self.parts]
        return values[0] if len(values) == 1 else values[0] + 1j * values[1]

    def plot(self, file: str | None = None, field: str | None = None) -> Any:
        """Plot the function (matplotlib), its real part if it is complex; save it if a file name is given.

        ``field`` may be an expression, such as ``"v_x - u_y"``.
        """
        from frozenpinn.output.plotting.planes import plot_functions

        return plot_functions([self], file, field)


@dataclass(frozen=True, repr=False)
class ModesReport:
    """How eigenvalues were found; shown with a table of the values."""

    problem: str
    values: tuple[complex, ...]
    errors: tuple[float, ...]
    residuals: tuple[float, ...]
    status: str
    tol: float | None
    near: complex
    features: str
    width: int
    attempts: tuple[tuple[int, float, float], ...]
    seconds: float
    symmetric: bool
    notes: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()

    def __str__(self) -> str:
        rows = [f"{'eigenvalue':>36}  {'error':>8}  {'residual':>8}"]
        for value, error, residual in zip(self.values, self.errors, self.residuals, strict=True):
            rows.append(f"{_number(value):>36}  {error:8.1e}  {residual:8.1e}")
        asked = "" if self.tol is None else f", tolerance {self.tol:g}"
        kind = "symmetric" if self.symmetric else "not symmetric"
        lines = [self.problem, *rows, f"status      {self.status}{asked}"]
        lines.append(f"networks    {self.features}, {self.width} neurons; {kind}; {self.seconds:.2f} s")
        lines += [f"decision    {name}: {reason}" for name, reason in self.decisions]
        return "\n".join([*lines, *(f"note        {note}" for note in self.notes)])

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and texts; complex numbers as [real, imaginary]."""
        out = asdict(self)
        return {
            **out,
            "values": [_plain(v) for v in self.values],
            "near": _plain(self.near),
            "errors": list(self.errors),
            "residuals": list(self.residuals),
            "attempts": [list(a) for a in self.attempts],
            "notes": list(self.notes),
            "decisions": list(map(list, self.decisions)),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ModesReport:
        """Read what :meth:`as_dict` has written."""
        read = {key: tuple(stored[key]) for key in ("errors", "residuals", "notes")}
        read["decisions"] = read_decisions(stored.get("decisions", ()))
        read["attempts"] = tuple((int(w), float(e), float(s)) for w, e, s in stored["attempts"])
        values = tuple(_read(v) for v in stored["values"])
        return cls(**{**stored, **read, "values": values, "near": _read(stored["near"])})


@dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """Eigenvalues and eigenfunctions; a value that never changes. ``modes[0]`` is the first :class:`Mode`.

    Attributes
    ----------
    problem
        What was solved, without time.
    bases
        The functions of space that eigenfunctions consist of.
    coefficients
        One column for each eigenfunction.
    values, errors
        Eigenvalues, complex only if they are, and estimates of their absolute errors.
    residuals
        What each function leaves of the equation at points that were not used, relative to its terms.
    report
        How they were found.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> string = fp.Problem("-u_xx = lam*u", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})
    >>> found = fp.modes(string, 2)
    >>> found.values.round(6).tolist()
    [9.869604, 39.478418]
    """

    problem: Problem
    bases: tuple[Basis, ...]
    coefficients: Array
    values: Array
    errors: Array
    residuals: Array
    report: ModesReport

    def __repr__(self) -> str:
        shown = ", ".join(_number(v) for v in self.values[:3]) + (", …" if len(self) > 3 else "")
        return f"Modes({len(self)}: {shown}; {self.status})"

    def _repr_html_(self) -> str:
        from frozenpinn.output.showing import modes_html

        return modes_html(self)

    @property
    def status(self) -> str:
        """``"converged"`` (all errors within the tolerance), ``"reached"`` (not all, or too few) or ``"estimated"``."""
        return self.report.status

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided on the way, and why."""
        return self.report.decisions

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: int) -> Mode:
        try:
            return self.functions[k]
        except IndexError:
            raise EvaluationError(f"there are {len(self)} modes, counted from 0; got [{k}].") from None

    def __iter__(self) -> Iterator[Mode]:
        return iter(self.functions)

    @cached_property
    def functions(self) -> tuple[Mode, ...]:
        """The eigenfunctions, of L² norm one; all fields of a system together.

        Signs are reproducible: inner products with a fixed function are positive. Functions of the same eigenvalue
        are orthogonal.
        """
        return tuple(
            Mode(self.values[k].item(), float(self.errors[k]), float(self.residuals[k]), self._parts(k))
            for k in range(len(self))
        )

    def _parts(self, k: int) -> tuple[Solution, ...]:
        column = self.coefficients[:, k]
        both = [column.real, column.imag] if np.iscomplexobj(column) and self.values[k].imag != 0.0 else [column.real]
        return tuple(self._solution(np.ascontiguousarray(part)) for part in both)

    def _solution(self, coefficients: Array) -> Solution:
        expansions = tuple(Expansion(basis, no_data, 0) for basis in self.bases)
        piece = Piece(expansions, SteadyState(coefficients, "eigenvalues"), 0.0, 0.0, integrator="eigenvalues")
        return Solution(self.problem, (piece,), self.report.features, self.report.width)

    def plot(self, file: str | None = None, field: str | None = None) -> Any:
        """Plot all eigenfunctions (matplotlib), real parts of complex ones; save the picture if a file is named."""
        from frozenpinn.output.plotting.planes import plot_functions

        return plot_functions(self.functions, file, field)

    def save(self, file: str, overwrite: bool = False) -> None:
        """Store eigenvalues and functions as arrays and JSON; :func:`frozenpinn.load` reads them back.

        A file that is there is replaced only with ``overwrite=True``.
        """
        save_modes(self, file, overwrite)


def _number(value: complex) -> str:
    value = complex(value)
    if value.imag == 0.0:
        return f"{value.real:.13g}"
    return f"{value.real:.10g} {'-' if value.imag < 0 else '+'} {abs(value.imag):.10g}i"


def _plain(value: complex) -> Any:
    value = complex(value)
    return value.real if value.imag == 0.0 else [value.real, value.imag]


def _read(stored: Any) -> complex:
    return complex(*stored) if isinstance(stored, list) else stored


KIND = "modes"  #: which distinguishes such a file from that of a solution


# ---- files ------------------------------------------------------------------------------------------


def save_modes(modes: Modes, file: str, overwrite: bool = False) -> None:
    """Write everything that evaluation needs: the functions, their coefficients, the values."""
    arrays: dict[str, Array] = {name: np.asarray(getattr(modes, name)) for name in ("values", "errors", "residuals")}
    arrays["coefficients"] = modes.coefficients
    bases = []
    for i, basis in enumerate(modes.bases):
        about, own = basis_arrays(basis)
        bases.append(about)
        arrays |= {f"basis/{i}/{name}": array for name, array in own.items()}
    try:
        domain = domain_to_dict(modes.problem.domain)
    except TypeError:
        raise FrozenPinnError(
            f"the modes can't be stored, because their domain {modes.problem.domain!r} is made of a Python function; "
            "write that function as text."
        ) from None
    meta = {
        "format": FORMAT,
        "kind": KIND,
        "problem": problem_to_dict(modes.problem, arrays) if isinstance(modes.problem, Problem) else None,
        "domain": domain,
        "fields": list(modes.problem.fields),
        "bases": bases,
        "report": modes.report.as_dict(),
    }
    write_archive(file, meta, arrays, overwrite)


def rebuilt_modes(meta: dict[str, Any], arrays: dict[str, Array]) -> Modes:
    """Return stored modes; they can be evaluated and differentiated like the original ones."""
    bases = []
    for i, about in enumerate(meta["bases"]):
        prefix = f"basis/{i}/"
        own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        bases.append(basis_from_arrays(about, own))
    if meta["problem"] is None:
        orders = dict.fromkeys(meta["fields"], 0)
        outline = Outline(
            domain_from_dict(meta["domain"]),
            (0.0, 0.0),
            tuple(meta["fields"]),
            orders,
            Composites(tuple(meta["fields"])),
        )
        problem = cast(Problem, outline)
    else:
        with silenced(Warning):  # warned about when the problem was stated
            problem = problem_from_dict(meta["problem"], arrays)
    return Modes(
        problem,
        tuple(bases),
        arrays["coefficients"],
        arrays["values"],
        arrays["errors"],
        arrays["residuals"],
        ModesReport.from_dict(meta["report"]),
    )
