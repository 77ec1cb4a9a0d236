"""From settings to a plan: sampler, numbers, points and boundary strategy where the user leaves them open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from frozenpinn.adaptivity.fitting import fitted
from frozenpinn.adaptivity.grading import Windows
from frozenpinn.adaptivity.initial_gradient import with_initial_gradient
from frozenpinn.analysis.wellposedness import growth_bound
from frozenpinn.assembly.corners import singular_functions
from frozenpinn.assembly.discretisation import Stage, System
from frozenpinn.assembly.spaces import (
    STRATEGIES,
    AugmentedODE,
    BoundaryStrategy,
    NullSpaceLayer,
    Space,
    build_product_space,
    build_space,
    is_separable,
)
from frozenpinn.basis.network import Network
from frozenpinn.basis.samplers import MultiScale, Orthogonal, Sampler, sampler_by_name
from frozenpinn.errors import SettingsError, choices, warn
from frozenpinn.geometry import Box, Points
from frozenpinn.operators.symmetry import MatrixAt, spectral_abscissa, stable_cutoff
from frozenpinn.solvers import Integrator
from frozenpinn.statement.problem import Problem

Array = np.ndarray

#: Relative cut-offs tried by ``cutoff="auto"``, finest first. See operators/symmetry.py.
FINEST = 1e-13
CANDIDATES = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9)
COARSEST = 1e-8
ROUGHER = (1e-10, 1e-9)
DESPERATE = (1e-7, 1e-6, 1e-5)
FATAL = 12.0  # spurious growth exp(12) leaves three digits of an error of 1e-8
NONLINEAR = 1e-10
SOFT = 1e-10
#: Up to as many dimensions domains have quadrature rules and functions that vanish on the boundary; beyond, points are
#: scattered, boundary conditions are met in least squares, and the slopes of the neurons are fitted to the data.
MANY = 3


@dataclass(frozen=True)
class Settings:
    """Numerical choices of a solve; see :func:`solve` for their meaning."""

    seed: int = 0
    width: int | None = None
    points: int | tuple[int, ...] | None = None
    sampler: str | Sampler | None = None
    point_method: str = "auto"
    boundary: BoundaryStrategy | None = None
    cutoff: float | Literal["auto"] | None = "auto"
    rcond: float | None = None
    integrator: str | Integrator | None = None
    rtol: float = 1e-8
    windows: Windows | Literal["auto"] | None = "auto"
    boundary_points: int | None = None
    accuracy: float | None = None  # asked of the solution: sizes left open are chosen by it, …
    effort: float = 1.0  # … times this, …
    memory: float | None = None  # … as long as that many bytes are enough


@dataclass(frozen=True)
class Plan:
    """What the settings mean for a problem: layout, sampler, numbers."""

    sampler: Sampler
    counts: tuple[int, ...]
    method: str
    product: bool
    strategy: BoundaryStrategy
    operations: float
    fitted: bool = False

    @property
    def bytes(self) -> float:
        """About how much memory a solve takes: the tables of its basis and their copies."""
        points = float(np.prod(np.array(self.counts, dtype=float)))
        size = min(self.sampler.width ** len(self.counts), 4000) if self.product else self.sampler.width
        return 48.0 * points * size

    def place_points(self, problem: Problem, settings: Settings) -> Points:
        """Place the quadrature points evenly."""
        tensor = self.method in ("gauss", "uniform")
        n: Any = list(self.counts) if tensor else int(np.prod(self.counts))
        if tensor and len(self.counts) == 1 and problem.domain.dimension > 1:
            n = self.counts[0]
        points = problem.domain.sample(n, self.method, settings.seed)
        if problem.domain.dimension <= MANY:
            return points
        # the unit ball of R¹⁰⁰ has a volume of 1e-40: norms are means there, lest tolerances lose their meaning
        return replace(points, weights=points.weights / points.weights.sum())

    def build_spaces(
        self, problem: Problem, settings: Settings, cloud: Points, window: int = 0, pool: Points | None = None
    ) -> list[Space]:
        """Sample the hidden layer and put the linear layers on it, for each group of fields.

        Each window of time draws its own neurons; ``pool`` are the points they are drawn from, if not the cloud.
        """
        seeds = np.random.SeedSequence(settings.seed if window == 0 else (settings.seed, window))
        cutoff = settings.cutoff
        if cutoff == "auto":
            cutoff = SOFT if isinstance(self.strategy, AugmentedODE) else FINEST if problem.is_linear else NONLINEAR
        if self.product:
            assert isinstance(problem.domain, Box)
            axes = [problem.domain.axis(i).sample(n) for i, n in enumerate(self.counts)]
            rngs = [np.random.default_rng(s) for s in seeds.spawn(len(axes))]
            layers = [self.sampler.sample(a, g) for a, g in zip(axes, rngs, strict=True)]
            fine = _product_cutoff(settings) if settings.cutoff == "auto" else cutoff
            assert fine is not None
            return [build_product_space(problem, name, layers, cloud, fine) for (name,) in problem.groups]
        sampler = self.sampler
        if self.fitted and isinstance(sampler, Orthogonal):
            sampler = fitted(problem, sampler, cloud, settings.seed)
        hidden = sampler.sample(cloud if pool is None else pool, np.random.default_rng(seeds))
        if settings.sampler is None:
            hidden = replace(hidden, singular=singular_functions(problem))
        per_side = 1 if problem.domain.dimension == 1 else _boundary_points(problem, self.sampler.width, settings)
        return [build_space(problem, hidden, cloud, group, self.strategy, cutoff, per_side) for group in problem.groups]


def make_plan(problem: Problem, settings: Settings) -> Plan:
    """Choose layout, width and points where the settings leave them open."""
    d = problem.domain.dimension
    product = (
        2 <= d <= 3
        and settings.sampler is None
        and isinstance(settings.boundary, NullSpaceLayer | None)
        and settings.cutoff is not None
        and settings.point_method in ("auto", "gauss")
        and all(is_separable(problem, group) for group in problem.groups)
    )
    sampler = with_initial_gradient(_sampler(problem, settings, product), problem)
    strategy = settings.boundary
    if strategy is None:
        strategy = NullSpaceLayer() if d <= MANY else AugmentedODE()
    method = settings.point_method
    if method == "auto":
        method = "gauss" if d <= MANY else "sobol"
    counts = _counts(problem, settings, sampler.width, product, method)
    total = float(np.prod(np.array(counts, dtype=float)))
    size = min(sampler.width**d / 4.0, 4000.0) if product else float(sampler.width)
    chosen = settings.sampler is None and isinstance(sampler, Orthogonal)
    return Plan(sampler, counts, method, product, strategy, 2.0 * total * size**2, chosen)


def _product_cutoff(settings: Settings) -> float:
    """Return the cut-off on each axis of a product: the rank is what costs, so no finer than the accuracy needs."""
    if settings.accuracy is None:
        return 1e-10
    return float(np.clip(1e-3 * settings.accuracy / settings.effort**2, FINEST, 1e-8))


def _sampler(problem: Problem, settings: Settings, product: bool) -> Sampler:
    width = settings.width
    if width is None:
        width = _default_width(problem, product)
    if settings.sampler is None:
        return Orthogonal(width) if problem.domain.dimension > MANY else MultiScale(width)
    if isinstance(settings.sampler, str):
        return sampler_by_name(settings.sampler, width)
    if settings.width is not None and settings.width != settings.sampler.width:
        raise SettingsError(
            f"width={settings.width} contradicts the sampler, which has width {settings.sampler.width}; set it once."
        )
    return settings.sampler


def _default_width(problem: Problem, product: bool) -> int:
    """Return the number of neurons (per axis for products) if the user leaves it open.

    Round-off in a derivative of order p grows like (slope of the neurons)^p, and so with the width. Linear equations
    of third and fourth order are more accurate with fewer, flatter neurons; nonlinear ones need them for detail.
    """
    d = problem.domain.dimension
    if d > 1:
        return {2: 48, 3: 20}[d] if product else 800
    high_order = max(problem.spatial_order(name) for name in problem.fields) > 2
    return 80 if high_order and problem.is_linear else 200


def _counts(problem: Problem, settings: Settings, width: int, product: bool, method: str) -> tuple[int, ...]:
    d = problem.domain.dimension
    given = settings.points
    if given is None:
        each = {1: 2 * width, 2: width + width // 4, 3: width + width // 4}.get(d, 0) if d == 1 or product else 0
        return (each,) * d if each else (4 * width,)
    if isinstance(given, tuple | list):
        return tuple(int(n) for n in given)
    return (int(given),) * d if product else (int(given),)


def _boundary_points(problem: Problem, width: int, settings: Settings) -> int:
    """Return how many points a side gets: enough rows to see every feature of that side."""
    sides = max(1, len(problem.domain.sides) + 2 * sum(problem.domain.periodic))
    if settings.boundary_points is not None:
        return max(1, round(settings.boundary_points / sides))
    return max(8, int(1.5 * width / sides))


def stable_system(problem: Problem, spaces: list[Space], settings: Settings, stage: Stage | None = None) -> System:
    """Assemble the system; with ``cutoff="auto"`` drop basis functions that only carry round-off."""
    automatic = settings.cutoff == "auto" and all(s.network.is_orthonormal and not s.soft for s in spaces)
    if automatic and _only_odd_derivatives(problem) and spaces[0].network.size % 2 == 0:
        spaces = [spaces[0].truncate(spaces[0].network.size - 1)]  # as below, without assembling twice
    system = System(problem, spaces, settings.rcond, stage)
    if not automatic:
        return system
    start, end = system.time
    global_network = problem.domain.dimension > 1 and all(isinstance(space.network, Network) for space in spaces)
    if global_network and (problem.is_linear or not len(system.moving)):
        cutoff = _stable_on_shapes(problem, system)
    elif not problem.is_linear:
        cutoff = NONLINEAR
    elif system.structure != "general":
        cutoff = 0.0
    else:
        cutoff = stable_cutoff(system.matrix_at, system.singular_values, end - start, CANDIDATES, COARSEST)
    ranks = [int(np.sum(s.network.singular_values > cutoff * s.network.singular_values[0])) for s in spaces]
    if system.structure == "skew-symmetric" and len(spaces) == 1 and not len(system.moving) and ranks[0] % 2 == 0:
        ranks[0] -= 1
    if all(rank == space.network.size for rank, space in zip(ranks, spaces, strict=True)):
        return system
    kept = [s.truncate(rank) for s, rank in zip(spaces, ranks, strict=True)]
    if global_network:  # of fewer functions the symmetry may be judged otherwise: look again
        return stable_system(problem, kept, settings, stage)
    return System(problem, kept, settings.rcond, stage)


def _stable_on_shapes(problem: Problem, system: System) -> float:
    """Return the finest cut-off without growth that the equation does not have; of nonlinear ones where they start.

    Symmetry does not help here: conditions and integrals are met up to small errors only, which can push eigenvalues of
    rough functions to the right.
    """
    start, end = system.time
    duration, singular = end - start, system.singular_values
    if not problem.is_linear:
        matrix = MatrixAt(system.jacobian(start, system.initial_state), system.velocity, system.second)
        return stable_cutoff(matrix, singular, duration, ROUGHER, COARSEST)
    bound = growth_bound(problem)
    if bound is None:
        return stable_cutoff(system.matrix_at, singular, duration, (0.0, *CANDIDATES), COARSEST)
    relative = singular / singular.max()
    abscissas: dict[float, float] = {}
    count = -1
    for cutoff in (0.0, *CANDIDATES, COARSEST, *DESPERATE):
        kept = relative > cutoff
        if np.count_nonzero(kept) == count:
            continue
        count = int(np.count_nonzero(kept))
        abscissas[cutoff] = spectral_abscissa(system.matrix_at(kept))
        if abscissas[cutoff] <= bound + 1.0 / duration:
            return cutoff
    best = min(abscissas, key=lambda cutoff: abscissas[cutoff])
    if (abscissas[best] - bound) * duration > FATAL:
        warn(
            f"the basis has modes that grow like exp({abscissas[best]:.3g}·t), while the equation has none faster than "
            f"exp({bound:.3g}·t); the solution may be wrong. Use more points, or another seed."
        )
    return best


def _only_odd_derivatives(problem: Problem) -> bool:
    """Whether a linear equation on a circle is made of odd derivatives: its operator is skew-symmetric."""
    circle = problem.domain.dimension == 1 and problem.domain.periodic[0]
    if not circle or len(problem.fields) > 1 or not problem.is_linear or problem.equations[0].order > 1:
        return False
    linear = problem.equations[0].linear
    return bool(linear) and all(jet.order % 2 and c.is_number for jet, c in linear.items())


def boundary_strategy(boundary: str | BoundaryStrategy | None) -> BoundaryStrategy | None:
    """Look a boundary strategy up by name."""
    if not isinstance(boundary, str):
        return boundary
    if boundary not in STRATEGIES:
        raise SettingsError(f"unknown boundary strategy '{boundary}'; choose one of {choices(STRATEGIES)}.")
    return STRATEGIES[boundary]()


def check_settings(problem: Problem, settings: Settings) -> None:
    """Refuse settings that make no sense, and warn about those that do not fit together."""
    if not isinstance(problem, Problem):
        raise SettingsError(f"solve() takes a Problem, got {type(problem).__name__}.")
    if not isinstance(settings.seed, int | np.integer) or settings.seed < 0:
        raise SettingsError(f"seed must be a whole number from 0 on, got {settings.seed!r}.")
    if not isinstance(settings.rtol, int | float | np.floating) or not 0 < settings.rtol < 1:
        raise SettingsError(f"rtol must lie between 0 and 1, got {settings.rtol!r}.")
    for n in settings.points if isinstance(settings.points, tuple | list) else [settings.points]:
        if n is not None and (not isinstance(n, int | np.integer) or n < 1):
            raise SettingsError(f"points must be a positive whole number (or one per axis), got {settings.points!r}.")
    n = settings.boundary_points
    if n is not None and (not isinstance(n, int | np.integer) or n < 1):
        raise SettingsError(f"boundary_points must be a positive whole number, got {n!r}.")
    plan = make_plan(problem, settings)
    for n in plan.counts:
        if plan.product or problem.domain.dimension == 1:
            _check_points(n, plan.sampler.width, settings)


def _check_points(n: int, width: int, settings: Settings) -> None:
    if settings.cutoff is None and n < width:
        raise SettingsError(
            f"{n} points are too few for width {width}: without the SVD layer there must be at least one point "
            f"per basis function. Use points={2 * width} or a smaller width."
        )
    if n < width:
        warn(
            f"{n} points are too few for width {width}: neurons steeper than the point spacing are not resolved. "
            f"Use points={2 * width} or width={max(1, n // 2)}."
        )


def read_windows(problem: Problem, windows: int | str | Windows | None) -> Windows | Literal["auto"] | None:
    """Return how the basis is renewed: by given rules, where it helps ("auto"), or not at all."""
    if windows is None or windows == "auto":
        return windows  # type: ignore[return-value]
    if isinstance(windows, str) and windows != "adaptive":
        raise SettingsError(f"unknown windows '{windows}'; write a number, 'adaptive', 'auto', None or Windows(…).")
    if not isinstance(windows, Windows):
        windows = Windows() if isinstance(windows, str) else Windows(windows)
    if windows.count == 1:
        return None
    if problem.domain.dimension > 1:
        raise SettingsError("windows, in which the basis follows the solution, are for one dimension; leave them out.")
    return windows
