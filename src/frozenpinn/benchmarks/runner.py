"""Runs cases and writes records in the form that all comparisons share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from frozenpinn.benchmarks.case import AUTO, FROZEN_PINN, METHODS, Case, Published, Variant, check_choice
from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning
from frozenpinn.problem.data import Datum
from frozenpinn.problem.problem import Problem
from frozenpinn.solve import solve

Array = np.ndarray
Record = dict[str, Any]
Announce = Callable[[str], None]


class Solved(Protocol):
    """What every method returns."""

    def error(self, field: str | None = None, **where: Any) -> dict[str, float]:
        """Return relative L² error and RMSE on the common grid, or at given points."""


class Job(NamedTuple):
    """One method ready to run: what its record says beforehand, how to solve, what the solution adds."""

    head: Record
    solve: Callable[[int], Any]
    sizes: Callable[[Any], Record]
    estimate: Callable[[Any], float | None]


def run_case(
    case: Case,
    recipe: str,
    precision: str,
    seeds: Sequence[int],
    announce: Announce = lambda text: None,
    method: str = FROZEN_PINN,
    tol: float | None = None,
) -> list[Record]:
    """Run all variants of a case; a failure becomes a record with its reason."""
    variants = case.members(recipe) if method == FROZEN_PINN else case.variants
    return [run_variant(case, variant, recipe, precision, seeds, announce, method, tol) for variant in variants]


def run_variant(
    case: Case,
    variant: Variant,
    recipe: str,
    precision: str,
    seeds: Sequence[int],
    announce: Announce,
    method: str = FROZEN_PINN,
    tol: float | None = None,
) -> Record:
    """Run one variant for all seeds, after one untimed warm-up; ``tol`` is that of the recipe "auto"."""
    check_choice("method", method, METHODS)
    problem = case.problem(**variant.problem)
    if method == FROZEN_PINN:
        job = frozen_pinn_job(problem, case, variant, recipe, precision, tol)
    else:
        job = iga_job(problem, case, precision, method)
    if recipe in case.costly and method == FROZEN_PINN:
        seeds = seeds[:1]
        schedule = list(seeds)
    else:
        schedule = [seeds[0], *seeds]
    warm_up = len(schedule) > len(seeds)
    place = variant.test_points or case.test_points
    at = {} if place is None else {"at": place(problem)}
    record: Record = {
        "case": case.name,
        "variant": variant.label,
        "method": method,
        **job.head,
        "precision": precision,
        "seeds": list(seeds),
        "windows": 1,
        **dict.fromkeys(("width", "rank", "points")),
    }
    errors: list[dict[str, float]] = []
    seconds: list[float] = []
    estimates: list[float | None] = []
    solution: Solved | None = None
    try:
        for count, seed in enumerate(schedule):
            step = "warm-up" if warm_up and count == 0 else f"seed {seed}"
            announce(f"{case.name} {variant.label} {method} {job.head['recipe'] or 'own'}/{precision}: {step}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FrozenPinnWarning)
                start = time.perf_counter()
                solution = job.solve(seed)
                elapsed = time.perf_counter() - start
            if warm_up and count == 0:
                continue
            seconds.append(elapsed)
            errors.append(solution.error(problem.fields[0], **at))
            estimates.append(job.estimate(solution))
    except FrozenPinnError as error:
        return {**record, **_statistics(errors, seconds, estimates), "status": "failed", "reason": str(error)}
    record |= job.sizes(solution)
    if case.trivial is not None:
        record["trivial"] = _score(problem, case.trivial, at["at"])
    return {**record, **_statistics(errors, seconds, estimates), "status": "ok", "reason": None}


def _score(problem: Problem, predictor: str, x: Array) -> float:
    """Return the relative L² error of a given formula."""
    name, scope = problem.fields[0], problem.parameters.scope(problem.jets)
    guess = Datum(predictor, scope, problem.parameters.functions, "the trivial predictor")
    times = np.linspace(*problem.time, 100)
    exact = np.stack([problem.exact[name](x, float(t)) for t in times])
    return float(np.linalg.norm(np.stack([guess(x, float(t)) for t in times]) - exact) / np.linalg.norm(exact))


def frozen_pinn_job(
    problem: Problem, case: Case, variant: Variant, recipe: str, precision: str, tol: float | None = None
) -> Job:
    """Prepare a solve by a frozen network."""
    options = case.options(recipe, precision, variant)
    if recipe == AUTO and tol is not None:
        options["tol"] = tol
    sampler = options.get("sampler", "multi-scale")

    def sizes(solution: Any) -> Record:
        network = solution.system.spaces[0].network
        return {
            "windows": len(solution.pieces),
            "width": network.width,
            "rank": solution.system.coefficients,
            "points": len(network.points.x),
            "sampler": solution.sampler,
            "verdict": solution.status,
        }

    return Job(
        {
            "recipe": recipe,
            "sampler": sampler if isinstance(sampler, str) else sampler.name,
            "tol": options.get("tol"),
            "paper": _paper(case.published.get(precision, Published())),
        },
        lambda seed: solve(problem, seed=seed, **options),
        sizes,
        lambda solution: None if recipe == "paper" else solution.estimate_error().worst,
    )


def iga_job(problem: Problem, case: Case, precision: str, method: str) -> Job:
    """Prepare a solve by isogeometric analysis; the seed has no meaning there."""
    from frozenpinn.baselines.iga import solve_iga

    baseline = case.baseline(method, precision)
    settings = {**baseline.settings, "integrator": "exact" if method == "iga-exact" else "dop853"}

    def sizes(solution: Any) -> Record:
        points = len(solution.space.quadrature()[0])
        return {"width": solution.size, "rank": solution.size, "points": points}

    return Job(
        {"recipe": baseline.recipe, "sampler": "b-splines", "paper": _paper(baseline.published)},
        lambda seed: solve_iga(problem, **settings),
        sizes,
        lambda solution: None,
    )


def _paper(published: Published) -> Record:
    return {"rel_l2": published.rel_l2, "seconds": published.seconds}


def _statistics(
    errors: Sequence[dict[str, float]], seconds: Sequence[float], estimates: Sequence[float | None]
) -> Record:
    def spread(values: list[float]) -> dict[str, Any]:
        mean = float(np.mean(values)) if values else None
        return {"mean": mean, "std": float(np.std(values)) if values else None, "values": values}

    return {
        "rel_l2": spread([e["rel_l2"] for e in errors]),
        "rmse": spread([e["rmse"] for e in errors]),
        "seconds": {"median": float(np.median(seconds)) if len(seconds) else None, "values": list(seconds)},
        "estimate": {"values": list(estimates)},
    }
