"""What a plot shows of a solution: values, errors or residuals of a field, with its name and its colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, choices, suggestion
from frozenpinn.results.evaluation import arguments_of
from frozenpinn.results.expressions import Expression, field_or_expression
from frozenpinn.results.residuals import residual_values
from frozenpinn.runtime.arguments import is_whole, reals, shown

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
SHOWN = ("values", "error", "residual", "convergence")  #: what a plot can show
_ONE_SIGN = 0.02  # of the largest value: what a field may lie on the other side of zero and be called one-signed
DECADES = 8.0  #: below the largest value, of logarithmic scales


class Labels:
    """Names of coordinates, time and fields, with their units as far as they are given."""

    def __init__(self, units: Mapping[str, str] | None, problem: Problem) -> None:
        own = dict.fromkeys((*problem.composites.tabulated, *problem.fields))
        known = (*arguments_of(problem), *own)
        if units is not None and not isinstance(units, Mapping):
            raise EvaluationError(f"units are given by name, such as {{'x': 'm'}}; got {shown(units)}.")
        for name in units or {}:
            if name not in known:
                close = suggestion(str(name), known)
                raise EvaluationError(f"units of '{name}': the names are {choices(known)}.{close}")
        self._units = dict(units or {})

    def __call__(self, name: str) -> str:
        """Return a name with its unit."""
        return f"{name} [{self._units[name]}]" if name in self._units else name

    def of(self, drawn: Quantity) -> str:
        """Return the name of what is drawn, with the unit of the field where it is one of the field itself."""
        unit = self._units.get(drawn.field) if drawn.keeps_unit else None
        return f"{drawn.label} [{unit}]" if unit else drawn.label


@dataclass(frozen=True)
class Look:
    """How a user wants a picture to look; what is left out is chosen from the values.

    Attributes
    ----------
    cmap
        A colour map of Matplotlib.
    limits
        The ends of the scale.
    log
        Whether the scale is logarithmic.
    contours
        How many lines of equal values are drawn over colours.
    """

    cmap: str | None = None
    limits: tuple[float, float] | None = None
    log: bool = False
    contours: int = 0


@dataclass(frozen=True)
class Quantity:
    """A number at each point (n, d) and time (m,), and how to call and colour it.

    ``resolution`` says how finely it is drawn, beside a field itself; ``cyclic`` that both ends of its scale are the
    same, as those of a phase.
    """

    domain: Domain
    time: tuple[float, float]
    field: str
    label: str
    at: Callable[[Array, Array], Array]
    keeps_unit: bool = True
    logarithmic: bool = False
    static: bool = False
    resolution: float = 1.0
    cyclic: bool = False
    look: Look = Look()

    def colours(self, values: Array) -> tuple[dict[str, Any], tuple[float, float] | None]:
        """Return one scale for all values, and the part of it that they use if that is not all."""
        if self.cyclic:
            return {"cmap": self.look.cmap or "twilight", "vmin": -np.pi, "vmax": np.pi}, None
        return colours(values, self.logarithmic, self.look)

    def floored(self, values: Array) -> Array:
        """Return values that a logarithmic scale can show."""
        return np.maximum(values, np.finfo(float).tiny) if self.logarithmic else values


def colours(
    values: Array, logarithmic: bool = False, look: Look | None = None
) -> tuple[dict[str, Any], tuple[float, float] | None]:
    """Return one scale for all values, and the part of it that they use if that is not all."""
    from matplotlib.colors import LogNorm

    look = Look() if look is None else look
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if logarithmic:
        high = high if high > 0 else 1.0
        positive = finite[finite > 0]
        floor = max(float(positive.min()) if positive.size else high, high * 10**-DECADES)
        ends = look.limits or (min(floor, high / 2.0), high)
        return {"cmap": look.cmap or "viridis", "norm": LogNorm(*ends)}, None
    if look.limits is not None:
        signs = look.limits[0] == -look.limits[1]
        cmap = look.cmap or ("RdBu_r" if signs else "viridis")
        return {"cmap": cmap, "vmin": look.limits[0], "vmax": look.limits[1]}, None
    limit = max(-low, high)
    if min(-low, high) > _ONE_SIGN * limit:
        return {"cmap": look.cmap or "RdBu_r", "vmin": -limit, "vmax": limit}, (low, high)
    if high - low <= 1e-12 * max(limit, 1e-300):
        high = low + (abs(low) or 1.0)
    return {"cmap": look.cmap or "viridis", "vmin": low, "vmax": high}, None


def checked_look(cmap: Any, limits: Any, log: Any, contours: Any) -> Look:
    """Return how a picture shall look, or say what does not fit."""
    if cmap is not None:
        from matplotlib import colormaps

        if not isinstance(cmap, str) or cmap not in colormaps:
            close = suggestion(str(cmap), list(colormaps))
            raise EvaluationError(f"cmap is a colour map of Matplotlib, such as 'magma'; got {shown(cmap)}.{close}")
    ends = None
    if limits is not None:
        wanted = "limits are the two ends of the scale, such as (0, 1)"
        found = reals(limits, wanted, EvaluationError)
        if found.shape != (2,) or not np.all(np.isfinite(found)) or not found[0] < found[1]:
            raise EvaluationError(f"{wanted}, the smaller one first; got {shown(limits)}.")
        ends = (float(found[0]), float(found[1]))
    if not isinstance(log, bool):
        raise EvaluationError(f"log is True or False, got {shown(log)}.")
    if log and ends is not None and ends[0] <= 0:
        raise EvaluationError(f"a logarithmic scale has positive ends; got limits={shown(limits)}.")
    if not is_whole(contours) or not 0 <= contours <= 100:
        raise EvaluationError(f"contours is how many lines are drawn, from 0 to 100; got {shown(contours)}.")
    return Look(cmap, ends, log, int(contours))


def drawn_of(solution: Solution, field: str | None, derivative: str, show: str) -> list[Quantity]:
    """Return what is drawn of all fields, of one of them, or of an expression in them."""
    composites = solution.problem.composites
    chosen = None if field is None else field_or_expression(solution, field)
    if isinstance(chosen, Expression):
        if derivative or show != "values":
            what = "derivative" if derivative else f"show='{show}'"
            raise EvaluationError(f"{what} is drawn of fields; '{field}' is an expression: leave one of the two out.")
        return _expressed(solution, chosen)
    names = composites.tabulated if chosen is None else composites.components(chosen)
    return [drawn for name in names for drawn in quantities(solution, name, derivative, show)]


def expressed(solution: Solution, expression: Expression) -> Quantity:
    """Return what is drawn of an expression that is a number."""
    problem = solution.problem

    def at(x: Array, t: Array) -> Array:
        found = solution(expression.text, *_where(problem, x, t))
        return np.broadcast_to(found, (*expression.shape, len(x), len(t)))

    return Quantity(problem.stated, problem.time, "", expression.text, at, keeps_unit=False, static=problem.is_static)


def _expressed(solution: Solution, expression: Expression) -> list[Quantity]:
    """Return what is drawn of an expression: each component of a vector, absolute value and phase if complex."""
    whole = expressed(solution, expression)
    if not expression.shape:
        return _size_and_phase(whole) if expression.is_complex else [whole]
    if len(expression.shape) > 1:
        raise EvaluationError(
            f"'{expression.text}' is a matrix; draw one component, such as ({expression.text})[0][0]."
        )

    def component(k: int) -> Quantity:
        return replace(whole, label=f"({expression.text})[{k}]", at=lambda x, t: whole.at(x, t)[k])

    parts = [component(k) for k in range(expression.shape[0])]
    return [drawn for part in parts for drawn in (_size_and_phase(part) if expression.is_complex else [part])]


def quantities(solution: Solution, field: str, derivative: str, show: str) -> list[Quantity]:
    """Return what is drawn of one field: of a complex one its absolute value and its phase, or its two parts."""
    composites = solution.problem.composites
    if field not in composites.composed:
        return [quantity(solution, field, derivative, show)]
    if show != "values":
        return [quantity(solution, part, derivative, show) for part in composites.parts(field)]
    return _size_and_phase(quantity(solution, field, derivative, show))


def _size_and_phase(whole: Quantity) -> list[Quantity]:
    size = replace(whole, label=f"|{whole.label}|", at=lambda x, t: np.abs(whole.at(x, t)))

    def phase(x: Array, t: Array) -> Array:
        values = whole.at(x, t)
        return np.where(np.abs(values) > _ONE_SIGN * np.max(np.abs(values), initial=0.0), np.angle(values), np.nan)

    return [size, replace(whole, label=f"arg {whole.label}", at=phase, keeps_unit=False, cyclic=True)]


def quantity(solution: Solution, field: str, derivative: str, show: str) -> Quantity:
    """Return what is drawn of one field."""
    problem = solution.problem
    common = {"domain": problem.stated, "time": problem.time, "field": field, "static": problem.is_static}
    if show == "values":
        label = f"{field}_{derivative}" if derivative else field
        return Quantity(
            label=label,
            at=lambda x, t: _values(solution, x, t, derivative, field),
            keeps_unit=not derivative,
            **common,  # type: ignore[arg-type]
        )
    if derivative:
        raise EvaluationError(f"show='{show}' is drawn of the field itself: leave derivative out.")
    if show == "residual":
        at, label = (lambda x, t: np.abs(residual_values(solution, field, x, t))), f"|residual of {field}|"
    elif field in problem.exact:
        exact = problem.exact[field]
        at = lambda x, t: np.abs(  # noqa: E731
            _values(solution, x, t, "", field) - np.stack([np.broadcast_to(exact(x, s), len(x)) for s in t], axis=1)
        )
        label = f"|{field} − exact|"
    else:  # every value is a mean over a neighbourhood
        at, label = (lambda x, t: _estimated(solution, x, t, field)), f"estimated error of {field}"
        common["resolution"] = 0.3
    return Quantity(label=label, at=at, logarithmic=True, keeps_unit=show == "error", **common)  # type: ignore[arg-type]


def _values(solution: Solution, x: Array, t: Array, derivative: str, field: str) -> Array:
    found = solution(*_where(solution.problem, x, t), derivative=derivative, field=field)
    return np.broadcast_to(found, (len(x), len(t)))


def _estimated(solution: Solution, x: Array, t: Array, field: str) -> Array:
    return np.broadcast_to(solution.error_at(*_where(solution.problem, x, t), field=field), (len(x), len(t)))


def _where(problem: Problem, x: Array, t: Array) -> tuple[Array, ...]:
    """Return the arguments of a solution that is asked for all points at all times."""
    return (*x.T[:, :, None], t)[: len(arguments_of(problem))]


def checked_times(times: Any, problem: Problem) -> Array | None:
    """Return the times of snapshots; None if they are left to the program."""
    most_frames = 24
    if times is None:
        return None
    if problem.is_static:
        raise EvaluationError("the problem is static: leave times out.")
    start, end = problem.time
    wanted = f"times are numbers between {start:g} and {end:g}, such as [{start:g}, {end:g}]"
    t = np.atleast_1d(reals(times, wanted, EvaluationError))
    slack = 1e-9 * (end - start)
    if t.ndim != 1 or not t.size or np.any(~np.isfinite(t)) or t.min() < start - slack or t.max() > end + slack:
        raise EvaluationError(f"{wanted}; got {shown(times)}.")
    if len(t) > most_frames:
        raise EvaluationError(f"a figure has at most {most_frames} times, got {len(t)}.")
    return np.clip(t, start, end)
