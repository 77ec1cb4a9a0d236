"""Nasty problems: how often the promise of a tolerance breaks where problems hide something.

``--seeds N`` takes N problems of each class, with tolerances of 1e-3, 1e-5 and 1e-4 in turn. A promise is broken if a
solve says "converged" with an error above three times the tolerance, or if its estimate is below a tenth of the error.
The last row counts them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from frozenpinn.errors import FrozenPinnError
from frozenpinn.solve import solve
from frozenpinn_lab.calibration.nasty import CLASSES, QUESTIONS, asked, nasty_ones
from frozenpinn_lab.runner import timed
from frozenpinn_lab.studies.study import Announce, Row, Study

TOLERANCES = (1e-3, 1e-5, 1e-4)
BUDGET = 8.0  # seconds after which a solve returns what it has reached
ABOVE, BELOW = 3.0, 0.1


def rows(seeds: int, announce: Announce, names: Sequence[str] | None = None) -> list[Row]:
    """Return one row per problem, then how many promises broke.

    Parameters
    ----------
    seeds, announce
        How many problems of each class, and whom to tell.
    names
        Of classes; None takes all.
    """
    chosen = [name for name in (*CLASSES, *QUESTIONS) if names is None or name in names]
    problems = [(name, number) for name in chosen for number in range(seeds)]
    found = []
    for k, (name, number) in enumerate(problems):
        announce(f"{k + 1} of {len(problems)}: {name} {number}")
        found.append(measure(f"{name} {number}", TOLERANCES[number % len(TOLERANCES)]))
    broken = sum(row["broken"] for row in found)
    total: Row = {**dict.fromkeys(found[0]), "problem": f"broken promises of {len(found)}", "broken": broken}
    return [*found, {**total, "failures": []}]


def measure(name: str, tol: float) -> Row:
    """Solve one problem, and see whether what is said of its error is true."""
    group, _, number = name.rpartition(" ")
    if group in QUESTIONS:
        return _answered(group, int(number), tol)
    entry = next(e for e in nasty_ones(int(number) + 1) if e.name == name)
    row: Row = {"problem": name, "class": group, "tol": tol, **dict.fromkeys(("error", "estimate", "seconds"))}
    problem = entry.build()
    try:
        solution, seconds = timed(solve, problem, tol=tol, time_limit=BUDGET)
    except FrozenPinnError as failure:
        return {**row, "status": type(failure).__name__, "broken": 0, "failures": []}
    assert solution.error_estimate is not None
    error = max(solution.error(field)["relative"] for field in problem.fields)
    estimate, status = solution.error_estimate.worst, solution.status
    row |= {"error": error, "estimate": estimate, "seconds": seconds, "status": status}
    is_broken = broken(error - entry.accuracy, estimate, tol, status)
    return {**row, "broken": int(is_broken), "failures": [f"{name}, tol = {tol:g}"] if is_broken else []}


def _answered(group: str, number: int, tol: float) -> Row:
    """Ask for eigenvalues or an unknown, and see whether what is said of their errors is true."""
    name = f"{group} {number}"
    row: Row = {"problem": name, "class": group, "tol": tol, **dict.fromkeys(("error", "estimate", "seconds"))}
    try:
        answer, seconds = timed(asked(group, number).ask, tol, BUDGET)
    except FrozenPinnError as failure:
        return {**row, "status": type(failure).__name__, "broken": 0, "failures": []}
    row |= {"error": answer.error, "estimate": answer.estimate, "seconds": seconds, "status": answer.status}
    is_broken = broken(answer.error, answer.estimate, tol, answer.status)
    return {**row, "broken": int(is_broken), "failures": [f"{name}, tol = {tol:g}"] if is_broken else []}


def broken(error: float, estimate: float, tol: float, status: str) -> bool:
    """Whether a promise is broken: converged though it is not, or an estimate that is far too small.

    Examples
    --------
    >>> broken(4e-3, 5e-4, 1e-3, "converged"), broken(2.0, 0.1, 1e-3, "reached"), broken(2.0, 1.0, 1e-3, "reached")
    (True, True, False)
    """
    claims = status == "converged" and not error <= ABOVE * tol
    return claims or (math.isfinite(estimate) and not error <= estimate / BELOW)


STUDY = Study(
    "nasty",
    "broken promises",
    "problem",
    ("error", "estimate", "broken"),
    rows,
    details=("tol", "status"),
    beside=("seconds",),
)
