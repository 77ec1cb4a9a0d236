"""Runs cases and writes records in the form that all comparisons share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frozenpinn.benchmarks.case import Case, Published, Variant
from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning
from frozenpinn.solution import Solution
from frozenpinn.solve import solve

Record = dict[str, Any]
Announce = Callable[[str], None]


def run_case(
    case: Case,
    recipe: str,
    precision: str,
    seeds: Sequence[int],
    announce: Announce = lambda text: None,
) -> list[Record]:
    """Run all variants of a case; a failure becomes a record with its reason."""
    return [run_variant(case, variant, recipe, precision, seeds, announce) for variant in case.variants]


def run_variant(
    case: Case, variant: Variant, recipe: str, precision: str, seeds: Sequence[int], announce: Announce
) -> Record:
    """Run one variant for all seeds, after one untimed warm-up."""
    options = case.options(recipe, precision, variant)
    problem = case.problem(**variant.problem)
    published = case.published.get(precision, Published())
    record: Record = {
        "case": case.name,
        "variant": variant.label,
        "method": "frozen-pinn",
        "recipe": recipe,
        "precision": precision,
        "sampler": options["sampler"].name if "sampler" in options else "multi-scale",
        "seeds": list(seeds),
        "paper": {"rel_l2": published.rel_l2, "seconds": published.seconds},
        "windows": 1,
    }
    errors: list[dict[str, float]] = []
    seconds: list[float] = []
    estimates: list[float | None] = []
    solution: Solution | None = None
    try:
        for count, seed in enumerate([seeds[0], *seeds]):
            step = "warm-up" if count == 0 else f"seed {seed}"
            announce(f"{case.name} {variant.label} {recipe}/{precision}: {step}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FrozenPinnWarning)
                start = time.perf_counter()
                solution = solve(problem, seed=seed, **options)
                elapsed = time.perf_counter() - start
            if count == 0:
                continue
            seconds.append(elapsed)
            errors.append(solution.error(problem.fields[0]))
            estimates.append(max(solution.estimate_error().values()) if recipe == "best" else None)
    except FrozenPinnError as error:
        return {**record, **_statistics(errors, seconds, estimates), "status": "failed", "reason": str(error)}
    assert solution is not None
    network = solution.system.spaces[0].network
    record |= {"width": network.width, "rank": solution.system.coefficients, "points": len(network.points.x)}
    return {**record, **_statistics(errors, seconds, estimates), "status": "ok", "reason": None}


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
