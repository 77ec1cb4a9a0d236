"""The package py-pde (Zwicker 2020) as a peer: finite differences of second order on a grid, its own steps in time.

The problem is stated once more in the language of that package, as text, and solved as its users would: by an explicit
Runge–Kutta method with adaptive steps, in functions that it compiles for the problem at hand. Seconds are those of the
whole solve, with compilation, as its users wait for it every time.

What it returns is interpolated by cubic splines in space, whose error is two orders smaller than that of the
differences; in time there are many frames, the same at which errors are measured, and cubic splines between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import sympy as sp
from scipy.interpolate import make_interp_spline

from frozenpinn.errors import IntegrationError, MissingExtraError, SettingsError
from frozenpinn.geometry import Box, FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers import separable
from frozenpinn_lab.peers.evaluation import arranged, field_of
from frozenpinn_lab.peers.score import Deadline, Scored

Array = np.ndarray
_WRAPPED = 8  # points by which splines on periodic axes are continued


class PyPdeSolution(Scored):
    """Values on a grid at some times.

    Attributes
    ----------
    problem
        What was solved.
    axes, periodic
        Coordinates of the cells' centres along each axis, and which axes are periodic.
    times, frames
        Times (m,) and values of all fields, shape (fields, m, n₁, …).
    size, steps
        Number of values, and of time steps.
    """

    def __init__(self, problem: Problem, axes: Sequence[Array], times: Array, frames: Array, steps: int) -> None:
        self.problem, self.axes, self.times, self.frames, self.steps = problem, axes, times, frames, steps
        self.periodic = tuple(problem.domain.periodic)
        self.size = int(np.prod(frames.shape[2:])) * len(frames)

    def __call__(self, *where: Any, field: str | None = None) -> Array:
        """Evaluate a field: ``solution(x, y, t)`` with numbers or arrays that broadcast, or points (n, d) and t."""
        name = field_of(self.problem, field)
        x, t, shape = arranged(self.problem, where)
        result = np.empty(len(x))
        for time in np.unique(t):
            result[t == time] = self.outer(name, x[t == time], np.array([time]))[:, 0]
        return result.reshape(shape)

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return a field at all points (n, d) and all times (m,), shape (n, m)."""
        frames = self.frames[self.problem.fields.index(field)]
        tables = [self._table(i) for i in range(len(self.axes))]
        found = separable.evaluate(tables, frames, x)
        if len(times) == len(self.times) and np.allclose(times, self.times, rtol=1e-12, atol=0):
            return found
        return np.asarray(make_interp_spline(self.times, found, k=3, axis=1)(times))

    def _table(self, axis: int) -> separable.Table:
        """Return the cardinal splines of an axis, as functions of the coordinate."""
        places, values = self.axes[axis], np.eye(len(self.axes[axis]))
        if self.periodic[axis]:
            length = self.problem.domain.lengths[axis]
            extra = min(_WRAPPED, len(places))
            places = np.concatenate([places[-extra:] - length, places, places[:extra] + length])
            values = np.concatenate([values[-extra:], values, values[:extra]])
        spline = make_interp_spline(places, values, k=3)
        return lambda x: np.asarray(spline(x))


def solve_py_pde(
    problem: Problem,
    points: int | Sequence[int],
    tolerance: float = 1e-5,
    solver: str = "runge-kutta",
    frames: int = 100,
    seconds: float | None = None,
) -> PyPdeSolution:
    """Solve a problem on a box.

    Parameters
    ----------
    problem
        On a box of up to three dimensions, in text (no Python functions), with conditions on u or u_n that are the
        same for all fields.
    points
        Cells along each axis, or one number per axis.
    tolerance
        Of py-pde's adaptive steps.
    solver
        ``"runge-kutta"`` (4/5) or ``"euler"``, both explicit and adaptive; other names of py-pde.
    frames
        Number of times at which the solution is kept, both ends included.
    seconds
        Wall-clock budget; beyond it, IntegrationError is raised at the next frame.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> solve_py_pde(problem, points=20, frames=11)  # doctest: +SKIP
    """
    budget = Deadline(seconds)
    pde = _py_pde()
    counts = _counts(points, problem)
    if not (isinstance(frames, int) and frames >= 4):
        raise SettingsError(f"frames must be a whole number of at least 4, got {frames!r}.")
    texts, sides = right_sides(problem), conditions(problem)
    domain = problem.domain
    bounds = np.stack([domain.lower, domain.upper], axis=1).tolist()
    grid = pde.CartesianGrid(bounds, counts, periodic=list(domain.periodic))
    start, end = problem.time
    found: list[tuple[float, Array]] = []

    def keep(state: Any, t: float) -> None:
        budget.check(t)
        found.append((float(t), np.array(state.data)))

    tracker = pde.CallbackTracker(keep, interrupts=pde.FixedInterrupts(np.linspace(start, end, frames)))
    equation = pde.PDE(texts, bc=sides)
    options = {"solver": solver, "adaptive": True, "tolerance": tolerance, "dt": 1e-4 * (end - start)}
    try:
        equation.solve(_state(pde, problem, grid, list(texts)), (start, end), tracker=[tracker], **options)
    except (RuntimeError, ArithmeticError, ValueError) as error:
        if isinstance(error, IntegrationError):
            raise
        reached = found[-1][0] if found else start
        raise IntegrationError(f"py-pde failed after t = {reached:.4g}: {error}", reached) from None
    names = list(texts)
    values = np.stack([data for _, data in found], axis=1)[[names.index(name) for name in problem.fields]]
    steps = int(equation.diagnostics.get("solver", {}).get("steps", 0))
    return PyPdeSolution(problem, list(grid.axes_coords), np.array([t for t, _ in found]), values, steps)


def _py_pde() -> Any:
    try:
        return import_module("pde")
    except ImportError:
        raise MissingExtraError("the baseline 'py-pde' needs that package: pip install './lab[pde]'.") from None


def _counts(points: int | Sequence[int], problem: Problem) -> list[int]:
    d = problem.domain.dimension
    if not isinstance(problem.domain, Box) or d > 3:
        raise SettingsError(f"py-pde solves on boxes of one, two or three dimensions here, not on {problem.domain!r}.")
    counts = [points] * d if isinstance(points, int) else list(points)
    if len(counts) != d or not all(isinstance(n, int) and n >= 4 for n in counts):
        raise SettingsError(f"points must be a whole number of cells of at least 4, or {d} of them; got {points!r}.")
    return counts


def _state(pde: Any, problem: Problem, grid: Any, names: Sequence[str]) -> Any:
    x = grid.cell_coords.reshape(-1, problem.domain.dimension)
    start = problem.time[0]
    data = {**problem.initial, **{_velocity(name): datum for name, datum in problem.initial_velocity.items()}}
    fields = [pde.ScalarField(grid, data[name](x, start).reshape(grid.shape), label=name) for name in names]
    return pde.FieldCollection(fields, labels=list(names))


def _velocity(field: str) -> str:
    return f"{field}_velocity"


def right_sides(problem: Problem) -> dict[str, str]:
    """Return the equations in py-pde's language, of first order in time: a second field is the time derivative."""
    found: dict[str, str] = {}
    if problem.parameters.functions:
        raise SettingsError(
            f"py-pde takes equations as text; the Python functions {sorted(problem.parameters.functions)} are none."
        )
    for equation in problem.equations:
        if problem.spatial_order(equation.field) > 2 and not all(problem.domain.periodic):
            raise SettingsError(
                f"py-pde has one condition per side; '{equation}' needs more of them. Periodic axes have none."
            )
        jets = problem.jets.jets_in(equation.right_side)
        expression = equation.right_side.xreplace({symbol: _operator(problem, jet) for symbol, jet in jets.items()})
        name = equation.field
        if equation.order == 2:
            found[name], name = _velocity(name), _velocity(name)
        found[name] = sp.sstr(sp.expand(expression), full_prec=True)
    return found


def _operator(problem: Problem, jet: Jet) -> sp.Expr:
    """Return a derivative as nested operators of py-pde."""
    result = sp.Symbol(_velocity(jet.field) if jet.time else jet.field)
    for name, order in zip(problem.domain.coordinates, jet.alpha, strict=True):
        for _ in range(order // 2):
            result = sp.Function(f"d2_d{name}2")(result)
        if order % 2:
            result = sp.Function(f"d_d{name}")(result)
    for _ in range(jet.laps):
        result = sp.Function("laplace")(result)
    return result


def conditions(problem: Problem) -> dict[str, Any]:
    """Return the boundary conditions in py-pde's language."""
    names = problem.domain.coordinates
    found: dict[str, Any] = {n: "periodic" for n, p in zip(names, problem.domain.periodic, strict=True) if p}
    for condition in problem.conditions:
        assert isinstance(condition.side, FlatSide)
        key = f"{names[condition.side.axis]}{'-+'[condition.side.end]}"
        told = _condition(problem, condition)
        if found.setdefault(key, told) != told:
            raise SettingsError(
                f"py-pde needs the same condition for all fields here; those on '{condition.side.name}' differ."
            )
    return found


def _condition(problem: Problem, condition: LinearCondition) -> dict[str, str]:
    side = condition.side
    assert isinstance(side, FlatSide)
    value = condition.value.expression
    orders = [jet.alpha[side.axis] if sum(jet.alpha) == jet.alpha[side.axis] else 2 for jet in condition.jets]
    if len(orders) > 1 or orders[0] > 1 or value is None or problem.jets.jets_in(value):
        raise SettingsError(
            f"py-pde takes conditions on u or u_n in text here, got '{condition.text}' on '{side.name}'."
        )
    outward = condition.coefficients[0] * (1 if orders[0] == 0 or side.end else -1)
    kind = ("value", "derivative")[orders[0]]
    return {f"{kind}_expression": sp.sstr(value / outward, full_prec=True)}
