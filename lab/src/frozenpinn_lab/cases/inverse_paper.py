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
from frozenpinn.errors import FrozenPinnError
from frozenpinn.runtime.budget import Progress
from frozenpinn.search.settings import Settings
from frozenpinn.solve import solve
from frozenpinn.statement.data import Datum
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown

Array = np.ndarray
_RCOND = 1e-10  # of least squares with a network


@dataclass(frozen=True, eq=False)
class Guess:
    """Numbers, or a field, without error bars, and how many neurons one network has."""

    width: int
    numbers: Mapping[str, float] = field(default_factory=dict)
    function: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class Scan:
    """Solve the forward problem for values of one number between its bounds, then minimise about the best one.

    The truth may be one of the values, as it is in the paper: what counts is the minimum between the neighbours of the
    best one.
    """

    count: int = 51
    width: int = 1024
    points: int = 2000

    def __call__(self, problem: Problem, data: Measurements, seed: int, progress: Progress) -> Guess:
        """Return the number with the least misfit."""
        ((name, unknown),) = problem.parameters.inferred.items()
        assert isinstance(unknown, Unknown)
        lower, upper = unknown.bounds
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
    data. Rows of the equation are divided by the size of their entries, the others count ``weight`` times as much.
    """

    width: int = 400
    boundary_points: int = 400
    sweeps: int = 10
    weight: float = 100.0

    def __call__(self, problem: Problem, data: Measurements, seed: int, progress: Progress) -> Guess:
        """Return the field after all sweeps."""
        domain, rng, x = problem.domain, np.random.default_rng(seed), data.points
        (unknown,) = problem.parameters.inferred.values()
        each = self.boundary_points // len(domain.sides)
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
    datum = Datum(name, parameters.scope(problem.jets), parameters.functions, f"the parameter '{name}'")
    return np.asarray(datum(x, 0.0))


def _laplacian(layer: HiddenLayer, x: Array) -> Array:
    return layer.operator(x, [Term("", Derivative((0,) * layer.dimension, 1))])


def _fitted(rows: Array, right: Array) -> Array:
    return np.asarray(np.linalg.lstsq(rows, right, rcond=_RCOND)[0])
