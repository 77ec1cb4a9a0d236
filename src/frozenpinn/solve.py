"""The pipeline: points → hidden layer → boundary layer → SVD layer → system → integrator → solution."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from weakref import WeakSet

import numpy as np

from frozenpinn.diagnostics import warn_if_suspicious
from frozenpinn.errors import FrozenPinnWarning, IntegrationError, SettingsError, choices
from frozenpinn.evolution.integrators import Integrator, Trajectory, choose_integrator
from frozenpinn.evolution.semidiscrete import System
from frozenpinn.evolution.spaces import (
    STRATEGIES,
    AugmentedODE,
    BoundaryStrategy,
    NullSpaceLayer,
    Space,
    build_product_space,
    build_space,
    is_separable,
)
from frozenpinn.evolution.structure import stable_cutoff
from frozenpinn.network.sampling import MultiScale, Sampler, sampler_by_name
from frozenpinn.problem.domain import Points
from frozenpinn.problem.problem import Problem
from frozenpinn.problem.wellposedness import check_well_posed
from frozenpinn.solution import Solution
from frozenpinn.threads import blas_threads

Array = np.ndarray
Progress = Callable[[str], None]

#: Relative cut-offs tried by ``cutoff="auto"``, finest first. See evolution/structure.py.
FINEST = 1e-13
CANDIDATES = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9)
COARSEST = 1e-8
NONLINEAR = 1e-10
SOFT = 1e-9


_CHECKED: WeakSet[Problem] = WeakSet()


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
    tol: float = 1e-8


@dataclass
class Stopwatch:
    """Collects the seconds of named stages, in order."""

    progress: Progress | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block and announce it."""
        if self.progress is not None:
            self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def solve(
    problem: Problem,
    *,
    seed: int = 0,
    width: int | None = None,
    points: int | tuple[int, ...] | None = None,
    sampler: str | Sampler | None = None,
    point_method: str = "auto",
    boundary: str | BoundaryStrategy | None = None,
    cutoff: float | Literal["auto"] | None = "auto",
    rcond: float | None = None,
    integrator: str | Integrator | None = None,
    tol: float = 1e-8,
    estimate_error: bool = False,
    progress: Progress | None = None,
) -> Solution:
    """Solve a problem; without any setting, everything is chosen from the problem's structure.

    Parameters
    ----------
    problem
        What to solve.
    seed
        Seed of the frozen layer; the same seed gives the same solution, bit for bit.
    width
        Number of neurons (per axis on boxes in two and three dimensions).
    points
        Number of quadrature points (per axis on boxes in two and three dimensions, or a tuple).
    sampler
        ``"multi-scale"``, ``"elm"``, ``"swim"`` or a sampler object, which then also sets the width.
    point_method
        ``"gauss"``, ``"uniform"``, ``"sobol"``, ``"latin-hypercube"``, ``"random"`` or ``"auto"``.
    boundary
        ``"null-space"``, ``"outer-basis"``, ``"augmented-ode"``, or an object of these kinds. By default the
        null space where it is exact (one dimension, products on boxes), the augmented ODE elsewhere.
    cutoff
        Relative cut-off of the SVD layer; ``"auto"`` takes the finest that is stable, None leaves the layer out.
    rcond
        Relative cut-off of the least-squares fit of the initial data; None follows the SVD layer.
    integrator
        ``"exact"``, ``"exponential"``, ``"cvode"``, ``"cvode-adams"``, ``"rk45"``, ``"rk23"``, ``"dop853"``,
        ``"lsoda"``, ``"radau"``, ``"bdf"``, an integrator object, or None for a choice by structure.
    tol
        Relative accuracy asked of the time integration.
    estimate_error
        Solve a second time with independent neurons and points and estimate the error.
    progress
        Called with the name of each stage as it begins.
    """
    settings = Settings(seed, width, points, sampler, point_method, _strategy(boundary), cutoff, rcond, integrator, tol)
    _check(problem, settings)
    if problem not in _CHECKED:
        check(problem)
    solution = solve_once(problem, settings, progress)
    if estimate_error:
        solution.estimate_error()
    return solution


def check(problem: Problem) -> None:
    """Check that a problem is well posed, as :func:`solve` does the first time it sees one.

    Raises
    ------
    ProblemError
        If short waves explode: backward diffusion, a fourth-order term of the wrong sign.

    Warns
    -----
    FrozenPinnWarning
        If a side has more or fewer boundary conditions than the equations need there.
    """
    check_well_posed(problem)
    _CHECKED.add(problem)


def solve_once(problem: Problem, settings: Settings, progress: Progress | None = None) -> Solution:
    """Run the pipeline once with fixed settings."""
    watch = Stopwatch(progress)
    plan = make_plan(problem, settings)
    with blas_threads(plan.operations):
        with watch.stage("points"):
            cloud = plan.place_points(problem, settings)
        with watch.stage("hidden, boundary and SVD layer"):
            spaces = plan.build_spaces(problem, settings, cloud)
        with watch.stage("operators"):
            system = _stable_system(problem, spaces, settings)
        with watch.stage("initial state"):
            _ = system.initial_state
        with watch.stage("integration"):
            stepper = choose_integrator(system, settings.integrator, max(1e-2 * settings.tol, 1e-13))
            try:
                trajectory = stepper.integrate(system)
            except IntegrationError as error:
                error.solution = _until_failure(problem, system, error.trajectory, plan.sampler.name, settings)
                raise
        solution = Solution(
            problem, system, trajectory, _label(stepper, trajectory), plan.sampler.name, watch.seconds, _again(settings)
        )
        with watch.stage("checks"):
            warn_if_suspicious(solution)
    solution.seconds = watch.seconds
    return solution


def _until_failure(
    problem: Problem, system: System, trajectory: Any, sampler: str, settings: Settings
) -> Solution | None:
    """Return what was computed before an integration failed, as the solution of the problem on a shorter time."""
    if trajectory is None:
        return None
    last = trajectory.ends[-1] if hasattr(trajectory, "ends") else trajectory.times[-1]
    shorter = copy(problem)
    shorter.time = (problem.time[0], float(last))
    return Solution(shorter, system, trajectory, trajectory.name, sampler, again=_again(settings))


def _label(stepper: Integrator, trajectory: Trajectory) -> str:
    """Name the integrator that did the work: a fallback leaves its own name on the trajectory."""
    stepped = trajectory.name not in ("modal", "ladder", "hermite")
    return trajectory.name if stepped else stepper.name


def _again(settings: Settings) -> Callable[[Problem], Solution]:
    """Return a solve that shares nothing with the first: other neurons, other points."""

    def again(problem: Problem) -> Solution:
        width = make_plan(problem, settings).sampler.width
        points = make_plan(problem, settings).counts
        more = tuple(n + max(2, n // 8) for n in points)
        wider = replace(
            settings,
            seed=settings.seed + 7919,
            points=more if len(more) > 1 else more[0],
            tol=max(0.1 * settings.tol, 1e-13),
        )
        if settings.sampler is None or isinstance(settings.sampler, str):
            wider = replace(wider, width=width + max(1, width // 16))
        return solve_once(problem, wider)

    return again


@dataclass(frozen=True)
class Plan:
    """What the settings mean for a problem: layout, sampler, numbers."""

    sampler: Sampler
    counts: tuple[int, ...]
    method: str
    product: bool
    strategy: BoundaryStrategy
    operations: float

    def place_points(self, problem: Problem, settings: Settings) -> Points:
        """Place the quadrature points."""
        tensor = self.method in ("gauss", "uniform")
        n: Any = list(self.counts) if tensor else int(np.prod(self.counts))
        if tensor and len(self.counts) == 1 and problem.domain.dimension > 1:
            n = self.counts[0]
        return problem.domain.sample(n, self.method, settings.seed)

    def build_spaces(self, problem: Problem, settings: Settings, cloud: Points) -> list[Space]:
        """Sample the hidden layer and put the linear layers on it, for each group of fields."""
        seeds = np.random.SeedSequence(settings.seed)
        cutoff = settings.cutoff
        if cutoff == "auto":
            cutoff = SOFT if isinstance(self.strategy, AugmentedODE) else FINEST
        if self.product:
            axes = [problem.domain.axis(i).sample(n) for i, n in enumerate(self.counts)]
            rngs = [np.random.default_rng(s) for s in seeds.spawn(len(axes))]
            layers = [self.sampler.sample(a, g) for a, g in zip(axes, rngs, strict=True)]
            fine = 1e-10 if settings.cutoff == "auto" else cutoff
            assert fine is not None
            return [build_product_space(problem, name, layers, cloud, fine) for (name,) in problem.groups]
        hidden = self.sampler.sample(cloud, np.random.default_rng(seeds))
        per_side = 1 if problem.domain.dimension == 1 else _boundary_points(problem, self.sampler.width)
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
    sampler = _sampler(problem, settings, product)
    strategy = settings.boundary
    if strategy is None:
        strategy = NullSpaceLayer() if d == 1 or product else AugmentedODE()
    method = settings.point_method
    if method == "auto":
        method = "gauss" if d <= 2 or product else "sobol"
    counts = _counts(problem, settings, sampler.width, product, method)
    total = float(np.prod(np.array(counts, dtype=float)))
    size = min(sampler.width**d / 4.0, 4000.0) if product else float(sampler.width)
    return Plan(sampler, counts, method, product, strategy, 2.0 * total * size**2)


def _sampler(problem: Problem, settings: Settings, product: bool) -> Sampler:
    width = settings.width
    if width is None:
        width = _default_width(problem, product)
    if settings.sampler is None:
        return MultiScale(width)
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
        return (each,) * d if each else (3 * width,)
    if isinstance(given, tuple | list):
        return tuple(int(n) for n in given)
    return (int(given),) * d if product else (int(given),)


def _boundary_points(problem: Problem, width: int) -> int:
    """Return how many points a side gets: enough rows to see every feature of that side."""
    sides = max(1, len(problem.domain.sides) + 2 * sum(problem.domain.periodic))
    return max(8, int(1.5 * width / sides))


def _stable_system(problem: Problem, spaces: list[Space], settings: Settings) -> System:
    """Assemble the system; with ``cutoff="auto"`` drop basis functions that only carry round-off."""
    system = System(problem, spaces, settings.rcond)
    if settings.cutoff != "auto":
        return system
    orthonormal = all(space.network.is_orthonormal and not space.soft for space in spaces)
    if not orthonormal or (system.structure != "general" and problem.is_linear):
        return system
    start, end = problem.time
    if problem.is_linear:
        cutoff = stable_cutoff(system.matrix_at, system.singular_values, end - start, CANDIDATES, COARSEST)
    else:
        cutoff = NONLINEAR
    ranks = [int(np.sum(s.network.singular_values > cutoff * s.network.singular_values[0])) for s in spaces]
    if all(rank == space.network.size for rank, space in zip(ranks, spaces, strict=True)):
        return system
    return System(problem, [s.truncate(rank) for s, rank in zip(spaces, ranks, strict=True)], settings.rcond)


def _strategy(boundary: str | BoundaryStrategy | None) -> BoundaryStrategy | None:
    if not isinstance(boundary, str):
        return boundary
    if boundary not in STRATEGIES:
        raise SettingsError(f"unknown boundary strategy '{boundary}'; choose one of {choices(STRATEGIES)}.")
    return STRATEGIES[boundary]()


def _check(problem: Problem, settings: Settings) -> None:
    if not isinstance(problem, Problem):
        raise SettingsError(f"solve() takes a Problem, got {type(problem).__name__}.")
    if not isinstance(settings.seed, int | np.integer) or settings.seed < 0:
        raise SettingsError(f"seed must be a whole number from 0 on, got {settings.seed!r}.")
    if not isinstance(settings.tol, int | float | np.floating) or not 0 < settings.tol < 1:
        raise SettingsError(f"tol must lie between 0 and 1, got {settings.tol!r}.")
    for n in settings.points if isinstance(settings.points, tuple | list) else [settings.points]:
        if n is not None and (not isinstance(n, int | np.integer) or n < 1):
            raise SettingsError(f"points must be a positive whole number (or one per axis), got {settings.points!r}.")
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
        warnings.warn(
            f"{n} points are too few for width {width}: neurons steeper than the point spacing are not resolved. "
            f"Use points={2 * width} or width={max(1, n // 2)}.",
            FrozenPinnWarning,
            stacklevel=4,
        )
