"""Integrals of expressions in a solution over its domain or a side: mass, energy, flux, and their course in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, choices, warn
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import BoundaryPoints, Points
from frozenpinn.results.evaluation import check_inside
from frozenpinn.results.expressions import Expression
from frozenpinn.runtime.arguments import between, reals, shown, spelled

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

Array = np.ndarray
FIRST = {1: 256, 2: 1024}  #: points of the first rule of quadrature, 4096 beyond
MOST = 2**16  #: of the last
BLOCK = 2**22  #: values that are made at a time


@spelled(EvaluationError)
def integral(
    self: Solution,
    expression: str | Mapping[str, str] | None = None,
    t: Any = None,
    side: str | None = None,
    rtol: float = 1e-9,
) -> Any:
    """Integrate an expression in the fields over the domain, or over a part of its boundary.

    Parameters
    ----------
    expression
        Text such as ``"u**2"`` or ``"(u_t**2 + u_x**2)/2"``, with the parameters of the problem; or a table of several,
        ``{"mass": "u", "energy": "u**2/2"}``. The field itself if there is one and nothing is given.
    t
        A time or a list of times; 51 of them if left out. Static solutions have none.
    side
        Name of a side, or ``"all"`` for the whole boundary; ``u_n`` is then the derivative along the outward normal.
    rtol
        Rules of quadrature are refined until two of them agree to this part of ∫|…|; if they do not, a warning says so.

    Returns
    -------
    float, xarray.DataArray or xarray.Dataset
        A number for a static solution and for one time, an array over ``t`` for several; a dataset for a table.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> solution = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "1 + cos(pi*x)", "u_n = 0"))
    >>> round(solution.integral(t=1), 8), round(solution.integral("u_x**2", t=0) / np.pi**2, 6)
    (1.0, 0.5)
    """
    import xarray as xr

    if not between(rtol, 1e-15, 1):
        raise EvaluationError(f"rtol is a number between 1e-15 and 1, got {shown(rtol)}.")
    problem = self.problem
    static, one = problem.is_static, problem.is_static or (t is not None and np.ndim(t) == 0)
    if static and t is not None:
        raise EvaluationError("a static solution has no time: leave t out.")
    when = np.linspace(*problem.time, 51) if t is None else reals(t, "t is a time, or a list of times", EvaluationError)
    times = np.zeros(1) if static else np.atleast_1d(when)
    if times.ndim != 1:
        raise EvaluationError(f"t is a time, or a list of times; got shape {times.shape}.")
    check_inside(problem, np.empty((0, problem.domain.dimension)), times)
    table = expression if isinstance(expression, Mapping) else {"integral": expression}
    if not table:
        raise EvaluationError("a table of expressions is empty; write for example {'mass': 'u', 'energy': 'u**2/2'}.")
    rules = _rules(self, side)
    found = {
        name: _settled(_integrand(self, text, side is not None), rules, times, rtol, str(text or name))
        for name, text in table.items()
    }
    if one:
        results: dict[Any, Any] = {name: values[0].item() for name, values in found.items()}
    else:
        results = {name: xr.DataArray(v, {"t": times}, ("t",), name=str(name)) for name, v in found.items()}
    return results["integral"] if not isinstance(expression, Mapping) else xr.Dataset(results)


class Integrand(NamedTuple):
    """An expression and the solution that it is made of."""

    solution: Solution
    expression: Expression

    def __call__(self, points: Points | BoundaryPoints, times: Array) -> Array:
        """Return its values at all points and times, shape (n, m)."""
        normals = points.normals if isinstance(points, BoundaryPoints) else None
        return self.expression.outer(self.solution, points.x, times, normals)


def _integrand(solution: Solution, text: Any, on_side: bool) -> Integrand:
    """Read an expression in the fields, derivatives, coordinates and parameters."""
    frame = solution.problem.frame
    if on_side and frame is not None and not frame.is_cartesian:
        raise EvaluationError(
            f"integrals over sides are not known in {frame.kind} coordinates; evaluate the solution there."
        )
    text = solution._field(None) if text is None else text
    expression = Expression.read(solution.problem, text, on_side, weighted=not on_side)
    if expression.shape:
        raise EvaluationError(f"'{text}' is a vector; integrate one component, such as ({text})[0].")
    return Integrand(solution, expression)


def _rules(solution: Solution, side: str | None) -> Callable[[int], list[Points | BoundaryPoints]]:
    """Return what makes rules of quadrature of about n points."""
    domain = solution.problem.domain
    if side is None:
        return lambda n: [_panels(domain, n) if domain.dimension == 1 else domain.sample(n)]
    if side == "all":
        if not domain.sides:
            raise EvaluationError("the domain is periodic along all axes: it has no boundary to integrate over.")
        return lambda n: [domain.sample_side(own, max(8, n // len(domain.sides))) for own in domain.sides]
    names = [own.name for own in domain.sides]
    if not isinstance(side, str) or not any(side == own.name or side in own.aliases for own in domain.sides):
        raise EvaluationError(f"unknown side {shown(side)}; the sides are {choices(names)}, or 'all' for all of them.")
    return lambda n: [domain.sample_side(side, n)]


def _panels(interval: Domain, n: int) -> Points:
    """Return Gauss' rule of 16 points on each of many parts of an interval: fronts are narrow."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(interval.lower[0], interval.upper[0], n // 16 + 1)
    half = np.diff(edges)[:, None] / 2.0
    x = edges[:-1, None] + half * (nodes + 1.0)
    return Points(x.reshape(-1, 1), (half * weights).ravel(), half[0])


def _settled(
    integrand: Integrand,
    rules: Callable[[int], list[Points | BoundaryPoints]],
    times: Array,
    rtol: float,
    text: str,
) -> Array:
    """Refine rules of quadrature until two of them agree."""
    dimension = integrand.solution.problem.domain.dimension
    n, before, gap, used = FIRST.get(dimension, 4096), None, np.inf, 0
    while True:
        found, size, count = _integrated(integrand, rules(n), times)
        if not np.all(np.isfinite(found)):
            raise EvaluationError(f"'{text}' is not finite everywhere, so that its integral is unknown.")
        if before is not None:
            gap = float(np.max(np.abs(found - before))) / (float(np.max(size)) or 1.0)
        if gap <= rtol or count == used:  # or there is no finer rule: the ends of an interval
            return found
        if 2 * n > MOST:
            break
        n, before, used = 2 * n if dimension == 1 else 4 * n, found, count
    warn(
        f"the integral of '{text}' is known to about {gap:.1g} of its size: the rules of {used} and {count} points do "
        f"not agree to rtol={rtol:g}."
    )
    return found


def _integrated(integrand: Integrand, parts: list[Points | BoundaryPoints], times: Array) -> tuple[Array, Array, int]:
    """Return ∫ and ∫|…| at all times, and how many points were used."""
    kind = complex if integrand.expression.is_complex else float
    found, size = np.zeros(len(times), dtype=kind), np.zeros(len(times))
    for points in parts:
        block = max(1, BLOCK // max(1, len(points.x)))
        for start in range(0, len(times), block):
            some = slice(start, start + block)
            values = integrand(points, times[some])
            found[some] += points.weights @ values
            size[some] += np.abs(points.weights) @ np.abs(values)
    return found, size, sum(len(points.x) for points in parts)
