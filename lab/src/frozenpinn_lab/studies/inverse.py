"""Unknown numbers and fields from exact and from noisy data: errors and times.

Errors of exact data stand beside those of S. Dong and Y. Wang (2023, J. Comput. Phys. 489), where these have them.
"""

from __future__ import annotations

import gc
import time
import warnings
from typing import Any

import numpy as np

from frozenpinn.inverse.infer import infer
from frozenpinn.inverse.result import Inferred
from frozenpinn.runtime.seeds import Seed
from frozenpinn_lab.cases.inverse import CASES
from frozenpinn_lab.cases.inverse_case import InverseCase
from frozenpinn_lab.studies.study import Announce, Row, Study


def error_of(case: InverseCase, found: Inferred) -> float:
    """Return the largest relative error of the numbers, or the relative L² error of the field."""
    if case.field is None:
        return case.error(found.parameters, None, found.problem.domain)["rel_l2"]
    field = found.field(case.field[0])
    return case.error({}, lambda x: field(*x.T), field.domain)["rel_l2"]


def covered(case: InverseCase, found: Inferred) -> list[float]:
    """Return for each unknown whether its interval contains the truth; for a field, in which part of the domain."""
    if case.field is not None:
        name, truth = case.field
        x = found.field(name).domain.sample(500, "random", int(Seed.TEST_POINTS)).x
        (low, high), exact = found.field(name).band(*x.T), truth(x)
        return [float(np.mean((low <= exact) & (exact <= high)))]
    return [float(found.parameters[n].low <= v <= found.parameters[n].high) for n, v in case.truth.items()]


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return one row per case: the worst error over seeds, without noise and with it, and the median of the times.

    Inference runs on one thread; its time is that of the processor, so that a shared machine tells the same.
    """
    table = []
    for case in CASES.values():
        row: dict[str, Any] = {"case": case.name.removeprefix("inverse-"), "failures": []}
        for label, noisy in (("exact", False), ("noisy", True)):
            errors, seconds = [], []
            for seed in range(seeds):
                announce(f"{case.name}, {label} data, seed {seed}")
                started = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = infer(case.problem(), case.data(seed, noisy), seed=seed)
                seconds.append(time.process_time() - started)
                errors.append(error_of(case, found))
            row |= {f"error_{label}": max(errors), f"seconds_{label}": float(np.median(seconds))}
        announce(f"{case.name}, new data")
        row |= _again(case, found, seeds, row["seconds_noisy"])
        row["published_error_exact"] = case.published.get("Dong & Wang")
        table.append(row)
    return table


def _again(case: InverseCase, found: Inferred, seeds: int, first: float) -> dict[str, float]:
    """Return how many times faster new data are inferred: the first, which may need a quick solve more, and others."""
    seconds = []
    gc.collect()  # what the cases before have left is not to be paid for here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for draw in range(1, 4):
            data = case.data(seeds - 1 + 1000 * draw, True)
            started = time.process_time()
            found.again(data)
            seconds.append(time.process_time() - started)
    return {"faster_first": first / seconds[0], "faster_then": first / float(np.median(seconds[1:]))}


STUDY = Study(
    "inverse",
    "unknown numbers and fields from exact data, and with noise (1 %; σ = 0.1 for diffusion)",
    "case",
    ("error_exact", "published_error_exact", "error_noisy"),
    rows,
    ordinate="relative error, worst of all seeds",
    details=("faster_first", "faster_then"),
    beside=("seconds_exact", "seconds_noisy"),
    beside_ordinate="seconds of one processor",
)
