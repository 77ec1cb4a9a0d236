"""Gallery: how many of other people's problems are solved to a tolerance within a minute.

The problems are in ``gallery_problems``. Each is solved once per seed, as a user would: ``solve(problem, tol=…,
time_limit=…)``. The true error is measured against a formula (``exact``) where there is one. Where there is none, a
converged solution is compared with another one of our own (``own``), of another seed and a tolerance ``FINER`` times
smaller, which takes further time that is not counted, at most the limit; the finer one counts if its estimate is below
a tenth of the tolerance. Otherwise there is no true error (``none``). All are relative L² errors, the largest over the
fields. The last row counts the runs that converged; among the failures are the reasons of the others, and those that
claim to have converged with a true error that is more than ``HONEST`` times the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import SettingsError, choices, suggestion
from frozenpinn.results.evaluation import unseen_points, variation
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import Budget
from frozenpinn.search.settings import read_tolerance
from frozenpinn.solve import solve
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.runner import FAILURES, failure, timed
from frozenpinn_lab.studies.gallery_problems import GALLERY, GalleryProblem
from frozenpinn_lab.studies.study import COLOURS, Announce, Row, Study, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE, TIME_LIMIT = 1e-4, 60.0
FINER = 30.0
HONEST = 3.0
ANOTHER = 1000  # seeds of references are beyond all others
POINTS, TIMES = 256, 21  # where errors are measured: a grid of about four times as many points
CONVERGED, REACHED, FAILED = "converged", "reached", "failed"
ALL = "all"  # stands for the source of the last row
_FLOOR = 1e-16  # drawn in place of zero


def rows(
    seeds: int,
    announce: Announce,
    only: Sequence[str] | None = None,
    tol: float = TOLERANCE,
    time_limit: float = TIME_LIMIT,
) -> list[Row]:
    """Return one row per run, then one that counts.

    Parameters
    ----------
    seeds, announce
        How many seeds per problem, and whom to tell.
    only
        Names of problems; None takes all.
    tol, time_limit
        What every solve is asked, and the seconds that it may take.
    """
    read_tolerance(tol), Budget(time_limit)  # refused at once, and not by every solve
    chosen = list(GALLERY.values()) if only is None else [find_problem(name) for name in only]
    jobs = [(problem, seed) for problem in chosen for seed in range(seeds)]
    runs: list[Row] = []
    for entry, seed in jobs:
        announce(f"{len(runs) + 1} of {len(jobs)}: {entry.name}, seed {seed}")
        runs.append(measure(entry, seed, tol, time_limit))
        announce(f"{entry.name}: {_told(runs[-1])}")
    return [*runs, summary(runs)]


def find_problem(name: str) -> GalleryProblem:
    """Return a problem by name; the error lists the names."""
    if name not in GALLERY:
        raise SettingsError(
            f"unknown problem '{name}' of the gallery.{suggestion(name, GALLERY)} The problems are {choices(GALLERY)}."
        )
    return GALLERY[name]


def _told(run: Row) -> str:
    errors = ", ".join(f"{key} {run[key]:.1e}" for key in ("estimate", "error") if run[key] is not None)
    return f"{run['status']}, {errors + ', ' if errors else ''}{run['seconds']:.1f} s"


# ---- one run --------------------------------------------------------------------------------------------------------


def measure(entry: GalleryProblem, seed: int, tol: float, time_limit: float) -> Row:
    """Solve one problem and compare."""
    problem, _ = timed(entry.build)
    (solution, reason), seconds = timed(_solved, problem, seed, tol, time_limit)
    row: Row = {
        "problem": entry.name,
        "source": entry.source,
        "seed": seed,
        "tol": tol,
        "status": FAILED if solution is None else solution.status,
        "estimate": None,
        "error": None,
        "truth": "none",
        "no_truth": None,
        "seconds": seconds,
        "width": None,
        "failures": [],
    }
    if solution is not None:
        row |= {"estimate": _estimate(solution), "width": _width(solution)}
        row |= _true_error(solution, seed, tol, time_limit)
    row["failures"] += [f"{entry.name}, seed {seed}, {text}" for text in _objections(row, reason)]
    return row


def _solved(problem: Problem, seed: int, tol: float, time_limit: float) -> tuple[Solution | None, str]:
    """Return a solution, None if there is none, and what is to be said against it."""
    try:
        solution = solve(problem, tol=tol, seed=seed, time_limit=time_limit)
    except FAILURES as error:
        return None, failure(error)["reason"]
    return solution, "" if solution.verdict is None else solution.verdict.reason


def _objections(row: Row, reason: str) -> list[str]:
    """Return why a run has not converged, or that it says so and has not."""
    if row["status"] != CONVERGED:
        return [f"{row['status']}: {reason}"]
    if row["error"] is not None and row["error"] > HONEST * row["tol"]:
        return [f"{CONVERGED}, but its true error is {row['error']:.2g}"]
    return []


def _estimate(solution: Solution) -> float | None:
    worst = math.inf if solution.error_estimate is None else solution.error_estimate.worst
    return worst if math.isfinite(worst) else None


def _width(solution: Solution) -> str:
    """Return the neurons of each axis, in the coordinates in which it was solved."""
    width: Any = solution.width
    return " × ".join(map(str, width)) if isinstance(width, tuple) else str(width)


def _true_error(solution: Solution, seed: int, tol: float, time_limit: float) -> Row:
    """Return the error, what it was measured against, and why if that is nothing."""
    problem = solution.problem
    if problem.exact:
        errors = [solution.error(name, points=POINTS, times=TIMES)["relative"] for name in problem.fields]
        return {"error": max(errors), "truth": "exact"}
    if solution.status != CONVERGED:
        return {"no_truth": f"{solution.status}, so that no finer solution was asked for"}
    (finer, reason), _ = timed(_solved, problem, seed + ANOTHER, tol / FINER, time_limit)
    known = None if finer is None else _estimate(finer)
    if finer is None or known is None or known > tol / 10:
        return {"no_truth": f"the finer solution {f'has {known:.1e}' if known else 'failed'}: {reason}"}
    return {"error": max(distance(solution, finer, name) for name in problem.fields), "truth": "own"}


def distance(solution: Solution, finer: Solution, name: str) -> float:
    """Return the L² distance of two solutions of one problem, relative to how much it varies, on the grid of errors."""
    x, t = unseen_points(solution.problem, POINTS, TIMES)
    jet = solution.problem.jets.field(name)
    mine, theirs = (found.jet_values(x, t, jet)[None] for found in (solution, finer))
    return float(np.sqrt(np.mean((mine - theirs) ** 2))) / variation(theirs)


# ---- all runs -------------------------------------------------------------------------------------------------------


def summary(runs: list[Row]) -> Row:
    """Return the last row: how many of how many converged."""
    count = sum(run["status"] == CONVERGED for run in runs)
    share = count / len(runs) if runs else 0.0
    return {
        "problem": f"{count} of {len(runs)} converged",
        "source": ALL,
        "seed": None,
        "tol": runs[0]["tol"] if runs else None,
        "status": f"{100 * share:.0f} %",
        **dict.fromkeys(("estimate", "error", "truth", "no_truth", "width")),
        "seconds": sum(run["seconds"] for run in runs),
        "failures": [],
    }


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw the seconds and the errors of every problem, a line each; empty marks have not converged."""
    runs = [row for row in rows if row["source"] != ALL]
    names = list(dict.fromkeys(run["problem"] for run in runs))[::-1]
    seconds, errors = figure.subplots(1, 2, sharey=True)
    _marks(seconds, runs, names, {"seconds": "o"})
    _marks(errors, runs, names, {"estimate": "o", "error": "D"})
    if runs:
        errors.axvline(runs[0]["tol"], color="0.5", linestyle="--", zorder=0)
    seconds.set_yticks(range(len(names)), labels=names, fontsize=7)
    finish(seconds, xlabel="seconds")
    finish(errors, xlabel="relative L² error: estimated (circle), true (diamond)")


def _marks(axis: Any, runs: list[Row], names: list[str], keys: dict[str, str]) -> None:
    """Mark values on a logarithmic axis, a marker per key."""
    shown = [1.0]
    for colour, (key, marker) in zip(COLOURS, keys.items(), strict=False):
        for run in (run for run in runs if run[key] is not None and math.isfinite(run[key])):
            shown.append(max(run[key], _FLOOR))
            face = colour if run["status"] == CONVERGED else "none"
            place = names.index(run["problem"])
            axis.plot(shown[-1], place, marker, markersize=5, markeredgecolor=colour, markerfacecolor=face)
    axis.set(xscale="log", xlim=(min(shown) / 2, max(shown) * 2))


STUDY = Study(
    "gallery",
    "problems of other people's galleries",
    "problem",
    ("estimate", "error"),
    rows,
    details=("source", "status", "truth"),
    beside=("seconds", "width"),
    draw=draw,
    size=(10, 22),
    options=("only", "tol", "time_limit"),
)
