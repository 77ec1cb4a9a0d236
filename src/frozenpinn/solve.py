"""The pipeline: points → hidden layer → boundary layer → SVD layer → system → integrator → solution."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias
from weakref import WeakSet

import numpy as np

from frozenpinn.diagnostics import warn_if_suspicious
from frozenpinn.evolution.integrators import Integrator
from frozenpinn.evolution.resampling import Windows
from frozenpinn.evolution.spaces import BoundaryStrategy
from frozenpinn.marching import March, Progress, Stopwatch
from frozenpinn.network.sampling import Sampler
from frozenpinn.planning import Settings, boundary_strategy, check_settings, make_plan, read_windows
from frozenpinn.problem.problem import Problem
from frozenpinn.problem.wellposedness import check_well_posed
from frozenpinn.progress import LateBar
from frozenpinn.reduction import read_subspace, solve_on, try_subspace
from frozenpinn.solution import Solution
from frozenpinn.threads import blas_threads

Directions: TypeAlias = Sequence[Sequence[float]] | np.ndarray
_CHECKED: WeakSet[Problem] = WeakSet()


def solve(
    problem: Problem,
    *,
    seed: int = 0,
    width: int | None = None,
    points: int | tuple[int, ...] | None = None,
    sampler: str | Sampler | None = None,
    point_method: str = "auto",
    boundary_points: int | None = None,
    boundary: str | BoundaryStrategy | None = None,
    cutoff: float | Literal["auto"] | None = "auto",
    rcond: float | None = None,
    integrator: str | Integrator | None = None,
    tol: float = 1e-8,
    windows: int | str | Windows | None = "auto",
    subspace: Literal["auto"] | Directions | None = "auto",
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
        ``"multi-scale"``, ``"elm"``, ``"swim"``, ``"orthogonal"`` (isotropic functions of many variables),
        ``"projected-swim"`` (pairs along the gradients of the initial value) or a sampler object, which then also sets
        the width.
    point_method
        ``"gauss"``, ``"uniform"``, ``"sobol"``, ``"latin-hypercube"``, ``"random"`` or ``"auto"``.
    boundary_points
        Number of points on the whole boundary in several dimensions, evenly shared by the sides; by default enough to
        see every feature.
    boundary
        ``"null-space"``, ``"outer-basis"``, ``"augmented-ode"``, or an object of these kinds. By default the
        null space where it is exact (one dimension, products on boxes), the augmented ODE elsewhere.
    cutoff
        Relative cut-off of the SVD layer; ``"auto"`` takes the finest that is stable, None leaves the layer out.
    rcond
        Relative cut-off of the least-squares fit of the initial data; None follows the SVD layer.
    integrator
        ``"exact"``, ``"exponential"``, ``"etd"``, ``"cvode"``, ``"cvode-adams"``, ``"rk45"``, ``"rk23"``,
        ``"dop853"``, ``"lsoda"``, ``"radau"``, ``"bdf"``, an integrator object, or None for a choice by structure.
    tol
        Relative accuracy asked of the time integration, and of the basis where it follows the solution.
    windows
        How the basis is renewed in time (one dimension): ``"auto"`` renews it when it stops resolving the solution of
        a nonlinear problem (unless sampler, boundary strategy or an integrator object are given that can't follow),
        ``"adaptive"`` insists on that, a number gives as many equal windows, None or 1 keeps one basis,
        :class:`Windows` sets the details.
    subspace
        Directions (k, d) on which the solution depends; it is then solved in these k coordinates, which the settings
        above refer to. ``"auto"`` looks whether one to three directions are enough on boxes and balls, unless width,
        points, sampler or boundary strategy are given, and checks the result in all coordinates; None does not look.
    estimate_error
        Solve a second time with independent neurons and points and estimate the error.
    progress
        Called with the name of each stage as it begins, and now and then with the share of the time that is
        integrated; by default a bar appears on a terminal after two seconds.
    """
    strategy = boundary_strategy(boundary)
    settings = Settings(
        seed, width, points, sampler, point_method, strategy, cutoff, rcond, integrator, tol, None, boundary_points
    )
    with LateBar() if progress is None else nullcontext(progress) as told:
        if isinstance(problem, Problem) and subspace is not None and not _is_auto(subspace):
            directions = read_subspace(subspace, problem)
            _check_once(problem)
            solution = solve_on(problem, directions, partial(_run, settings, windows, told), tol)
        else:
            check_settings(problem, settings)
            settings = replace(settings, windows=read_windows(problem, windows))
            _check_once(problem)
            found = _on_few_directions(problem, settings, told) if _is_auto(subspace) else None
            solution = solve_once(problem, settings, told) if found is None else found
        if estimate_error:
            told("estimating the error")
            solution.estimate_error()
    return solution


def _is_auto(subspace: object) -> bool:
    return isinstance(subspace, str) and subspace == "auto"


def _check_once(problem: Problem) -> None:
    if problem not in _CHECKED:
        check(problem)


def _run(
    settings: Settings, windows: int | str | Windows | None, progress: Progress | None, problem: Problem
) -> Solution:
    """Solve a problem on a subspace, to which the settings refer."""
    check_settings(problem, settings)
    return solve_once(problem, replace(settings, windows=read_windows(problem, windows)), progress)


def _on_few_directions(problem: Problem, settings: Settings, progress: Progress | None) -> Solution | None:
    """Solve on a subspace if there is one that is enough; settings of a network in all coordinates forbid it."""
    given = (settings.points, settings.sampler, settings.boundary)
    if problem.domain.dimension < 2 or any(value is not None for value in given) or settings.point_method != "auto":
        return None
    started = time.perf_counter()
    solution = try_subspace(problem, lambda reduced: solve_once(reduced, settings, progress), settings.tol)
    if solution is not None:
        rest = time.perf_counter() - started - sum(solution.seconds.values())
        solution.seconds = {"subspace": rest, **solution.seconds}
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
        solution = March(problem, settings, plan, watch, _again(settings)).run()
        with watch.stage("checks"):
            warn_if_suspicious(solution)
    solution.seconds = watch.seconds
    return solution


def _again(settings: Settings) -> Callable[[Problem], Solution]:
    """Return a solve that shares nothing with the first: other neurons, other points."""

    def again(problem: Problem) -> Solution:
        plan = make_plan(problem, settings)
        width, more = plan.sampler.width, tuple(n + max(2, n // 8) for n in plan.counts)
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
