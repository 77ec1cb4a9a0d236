"""The paper's two ways to solve inverse problems: a scan of one number, alternating least squares for a field.

The paper tells the widths of its networks and the number of values of the scan, and writes the equation at the places
of the measurements. It does not tell the points of the scan, how rows are weighted, or how many sweeps there are. With
equal weights alternating least squares run away; of 1, 100 and 10⁴ for boundary values and data, 100 was taken, with
which ten sweeps reach less than the published error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.samplers import SWIM
from frozenpinn.basis.samplers.protocol import check_width
from frozenpinn.errors import FrozenPinnError, ProblemError, SettingsError
from frozenpinn.runtime.arguments import MAX_NUMBER, between, is_whole, shown
from frozenpinn.runtime.stopwatch import Progress, ignore_progress
from frozenpinn.search.settings import Settings
from frozenpinn.solve import solve
from frozenpinn.statement.data import Datum
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown, UnknownField, listed

Array = np.ndarray
_RCOND = 1e-10  # of least squares with a network


@dataclass(frozen=True, eq=False)
class Guess:
    """What :class:`Scan` and :class:`Alternating` return: numbers or a field, without error bars.

    Attributes
    ----------
    width
        How many neurons one network has.
    numbers
        The unknown numbers by name.
    function
        The unknown field, a function of points (n, d).

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fp.inverse.Guess(100, {"k": 2.0}).numbers["k"]
    2.0
    """

    width: int
    numbers: Mapping[str, float] = field(default_factory=dict)
    function: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class Scan:
    """Solve the forward problem for values of one number between its bounds, then minimise about the best one.

    The truth may be one of the values, as it is in the paper: what counts is the minimum between the neighbours of the
    best one.

    Parameters
    ----------
    count
        How many values there are.
    width, points
        Neurons (SWIM, uniform pairs) and points of each solve.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem(
    ...     "k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(1.0, 0.5, 4.0)}
    ... )
    >>> data = fp.Measurements([0.25, 0.5, 0.75], [0.046875, 0.0625, 0.046875])
    >>> guess = fp.inverse.Scan(count=8, width=40, points=100)(problem, data)
    >>> round(guess.numbers["k"], 3)
    2.0
    """

    count: int = 51
    width: int = 1024
    points: int = 2000

    def __post_init__(self) -> None:
        check_width(self.width)
        _check_least("a scan needs at least three values", "count", self.count, 3)
        _check_least("each solve of a scan needs at least two points", "points", self.points, 2)

    def __call__(
        self, problem: Problem, data: Measurements, seed: int = 0, progress: Progress = ignore_progress
    ) -> Guess:
        """Return the number with the least misfit."""
        name, unknown = _only(problem, Unknown, "Scan looks for one number")
        assert isinstance(unknown, Unknown)
        lower, upper = unknown.bounds
        if not np.isfinite([lower, upper]).all():
            raise ProblemError(f"a scan needs both bounds of '{name}', such as Unknown({unknown.start:g}, 0, 10).")
        settings = Settings(sampler=SWIM(self.width), points=self.points, point_method="random", cutoff=None)

        def misfit(value: float) -> float:
            progress(f"{name} = {value:.6g}")
            try:
                solution = solve(problem.at(**{name: float(value)}), seed=seed, settings=settings)
            except FrozenPinnError:  # there need not be a solution for each value
                return np.inf
            return float(np.mean((solution(*data.points.T) - data.values) ** 2))

        values = np.linspace(lower, upper, self.count)
        best = int(np.argmin([misfit(value) for value in values]))
        ends = float(values[max(best - 1, 0)]), float(values[min(best + 1, self.count - 1)])
        found = minimize_scalar(misfit, bounds=ends, method="bounded")
        return Guess(self.width, {name: float(found.x)})


@dataclass(frozen=True)
class Alternating:
    """Fit u with γ fixed, then γ with u fixed, in turn, for Δu − γu = f with u = g on the boundary.

    Both are networks; the rows for u are the equation at the places of the measurements, the boundary values and the
    data. Rows of the equation are divided by the size of their entries, the others count ``weight`` times as much. The
    problem names its source ``f`` and its boundary values ``g`` among the parameters; γ is its unknown field.

    Parameters
    ----------
    width, boundary_points
        Neurons of each network, and points on the whole boundary.
    sweeps, weight
        How often both are fitted, and how much rows of data count.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> given = {"f": "-(2*pi**2 + 1)*sin(pi*x)*sin(pi*y)", "g": "0"}
    >>> problem = fp.Problem(
    ...     "lap(u) - c*u = f", fp.Box([0, 0], [1, 1]), boundary="u = g",
    ...     parameters={"c": fp.UnknownField(2.0), **given},
    ... )
    >>> x = problem.domain.sample(200, "random", 0).x
    >>> data = fp.Measurements(x, np.prod(np.sin(np.pi * x), axis=1))
    >>> guess = fp.inverse.Alternating(width=100, boundary_points=80)(problem, data)
    >>> bool(abs(guess.function(np.array([[0.4, 0.6]]))[0] - 1) < 0.1)
    True
    """

    width: int = 400
    boundary_points: int = 400
    sweeps: int = 10
    weight: float = 100.0

    def __post_init__(self) -> None:
        check_width(self.width)
        _check_least("alternating least squares need at least one sweep", "sweeps", self.sweeps, 1)
        _check_least(
            "alternating least squares need at least one point of the boundary",
            "boundary_points",
            self.boundary_points,
            1,
        )
        if not (between(self.weight, 0, MAX_NUMBER) and self.weight > 0):
            raise SettingsError(f"weight is a positive number, got {shown(self.weight)}.")

    def __call__(
        self, problem: Problem, data: Measurements, seed: int = 0, progress: Progress = ignore_progress
    ) -> Guess:
        """Return the field after all sweeps."""
        domain, rng, x = problem.domain, np.random.default_rng(seed), data.points
        _, unknown = _only(problem, UnknownField, "Alternating looks for one field")
        each = max(1, self.boundary_points // len(domain.sides))
        edge = np.concatenate([domain.sample_side(side, each, "random", rng).x for side in domain.sides])
        solution, coefficient = (SWIM(self.width).sample(_Places(x), rng) for _ in range(2))
        source = _given(problem, "f", x)
        values, curved, shapes = solution.features(x), _laplacian(solution, x), coefficient.features(x)
        known = self.weight * np.concatenate([solution.features(edge), values])
        seen = self.weight * np.concatenate([_given(problem, "g", edge), data.values])

        gamma, weights = np.full(len(x), float(unknown.start)), np.zeros(coefficient.size)
        for sweep in range(self.sweeps):
            progress(f"sweep {sweep + 1} of {self.sweeps}")
            rows = curved - gamma[:, None] * values
            size = float(np.sqrt(np.mean(rows**2)))
            u = _fitted(np.concatenate([rows / size, known]), np.concatenate([source / size, seen]))
            weights = _fitted((values @ u)[:, None] * shapes, curved @ u - source)
            gamma = shapes @ weights
        return Guess(self.width, function=lambda points: coefficient.features(points) @ weights)


def _check_least(what: str, name: str, value: int, least: int) -> None:
    """Refuse a count that is too small, or no whole number."""
    if not (is_whole(value) and value >= least):
        raise SettingsError(f"{what}, got {name}={shown(value)}.")


def _only(problem: Problem, kind: type, what: str) -> tuple[str, Unknown | UnknownField]:
    """Return the one unknown of a problem, which must be of a kind."""
    unknown = problem.parameters.inferred
    if len(unknown) != 1 or not isinstance(next(iter(unknown.values())), kind):
        raise ProblemError(f"{what}; this problem has {listed(unknown) or 'no unknown'}. Call fp.infer(problem, data).")
    return next(iter(unknown.items()))


class _Places(NamedTuple):
    """What a sampler looks at."""

    x: Array

    @property
    def spacing(self) -> Array:
        """Typical distance of neighbours along each axis."""
        return np.asarray(np.ptp(self.x, axis=0) / len(self.x) ** (1.0 / self.x.shape[1]))


def _given(problem: Problem, name: str, x: Array) -> Array:
    """Return a function among the parameters at points."""
    parameters = problem.parameters
    if name not in parameters.expressions and name not in parameters.functions:
        raise ProblemError(
            f"Alternating needs the parameter '{name}': its equation is lap(u) - c*u = f, with u = g on the boundary."
        )
    datum = Datum(name, parameters.scope(problem.jets), parameters.functions, f"the parameter '{name}'")
    return np.asarray(datum(x, 0.0))


def _laplacian(layer: HiddenLayer, x: Array) -> Array:
    return layer.operator(x, [Term("", Derivative((0,) * layer.dimension, 1))])


def _fitted(rows: Array, right: Array) -> Array:
    return np.asarray(np.linalg.lstsq(rows, right, rcond=_RCOND)[0])
