"""The problems of the calibration study: benchmark cases, problems of the tests, generated ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration import (
    boxes,
    generated,
    linear,
    nonlinear,
    shapes,
    static_generated,
    static_problems,
)
from frozenpinn_lab.calibration.entry import ROUND_OFF, Entry
from frozenpinn_lab.cases import CASES

#: References of cases that are no formulas, and formulas whose argument is large: their relative errors.
CASE_ACCURACIES = {
    "allen-cahn": 1e-8,
    "korteweg-de-vries": 1e-8,
    "kuramoto-sivashinsky": 1e-8,
    "allen-cahn-2d": 1e-8,
    "allen-cahn-3d": 1e-8,
    "brusselator-2d": 1e-8,
    "burgers-2d": 1e-8,
    "gray-scott-2d": 1e-8,
    "schroedinger-2d": 1e-8,
    "swift-hohenberg-2d": 1e-8,
    "swirl-2d": 1e-8,
    "advection-diffusion-3d": 1e-9,
    "heat-anisotropic-2d": 1e-12,
    "advection-fast": 1e-12,
    "advection-long": 1e-12,
    "poisson-holes": 1e-12,
}
#: Chaos: no reference is right at points for so long.
LEFT_OUT = ("kuramoto-sivashinsky-long",)


def cases(static: bool = False) -> list[Entry]:
    """Return all variants of the benchmark cases that differ in their problem, not in settings only."""
    found: dict[tuple[object, ...], Entry] = {}
    for case in (case for case in CASES.values() if case.is_static == static and case.values is None):
        for variant in case.variants:
            label = f"{case.name}, {variant.label}" if variant.problem and variant.label else case.name
            entry = Entry(
                label,
                "case",
                partial(case.problem, **variant.problem),
                CASE_ACCURACIES.get(case.name, ROUND_OFF),
                variant.test_points or case.test_points,
            )
            if case.name not in LEFT_OUT:
                found.setdefault((case.problem, *_arguments(case.problem, variant.problem)), entry)
    return list(found.values())


def _arguments(build: Callable[..., Problem], given: Mapping[str, object]) -> list[tuple[str, object]]:
    """Return all arguments, also those that are left out."""
    bound = inspect.signature(build).bind(**given)
    bound.apply_defaults()
    return sorted(bound.arguments.items())


def tests() -> list[Entry]:
    """Return the problems of tests and examples."""
    tables: list[tuple[Mapping[str, Callable[[], Problem]], Mapping[str, float]]] = [
        (linear.PROBLEMS, linear.ACCURACIES),
        (nonlinear.PROBLEMS, nonlinear.ACCURACIES),
        (boxes.PROBLEMS, {}),
        (shapes.PROBLEMS, {}),
    ]
    return [
        Entry(name, "test", build, accuracies.get(name, ROUND_OFF))
        for table, accuracies in tables
        for name, build in table.items()
    ]


def generated_ones() -> list[Entry]:
    """Return the generated problems."""
    return [
        Entry(
            f"generated {seed}",
            "generated",
            partial(generated.manufactured, seed),
            describe=partial(generated.describe, seed),
        )
        for seed in generated.SEEDS
    ]


@lru_cache(maxsize=1)
def collection() -> dict[str, Entry]:
    """Return all time-dependent problems by name."""
    return {entry.name: entry for entry in (*cases(), *tests(), *generated_ones())}


@lru_cache(maxsize=1)
def static_collection() -> dict[str, Entry]:
    """Return all static problems by name."""
    written = [Entry(name, "test", build) for name, build in static_problems.PROBLEMS.items()]
    drawn = [
        Entry(
            f"generated {seed}",
            "generated",
            partial(static_generated.static_manufactured, seed),
            describe=partial(static_generated.static_describe, seed),
        )
        for seed in static_generated.SEEDS
    ]
    return {entry.name: entry for entry in (*cases(static=True), *written, *drawn)}
