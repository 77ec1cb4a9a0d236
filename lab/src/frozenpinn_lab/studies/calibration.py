"""Calibration: true errors against estimated ones, over all problems with known solutions.

Every problem is solved with as many tolerances as there are seeds, each with another seed: ``--seeds 3`` takes 1e-3,
1e-6 and 1e-9 for each, ``--seeds 1`` one of them in turn. A problem whose reference is not known to a tenth of a
tolerance is not asked for it.

What is compared are relative L² errors, the largest over the fields. The ratio is that of the estimate to the nearest
of the values that the true error may have, as far as the exact solution is known (``accuracy``; for formulas this is
round-off, 1e-13). The last rows are the bars: what must hold over all runs that returned a solution, whether it does,
and the value by group. Solves return what they have reached after ``BUDGET`` seconds, so that a slow machine sees fewer
of them converge; runs on several cores disturb each other, so that their seconds are upper bounds.

``static-calibration`` does the same with static problems.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

from threadpoolctl import threadpool_limits

from frozenpinn.errors import FrozenPinnError, SettingsError, suggestion
from frozenpinn.results.solution import Solution
from frozenpinn.solve import solve
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration import GROUPS, Entry, collection, static_collection
from frozenpinn_lab.runner import timed
from frozenpinn_lab.studies.study import COLOURS, Announce, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCES = (1e-3, 1e-6, 1e-9)
BUDGET = 20.0  # seconds after which a solve returns what it has reached
FACTOR = 10.0
CONVERGED = "converged"
BAR = "bar"
MARKERS = {CONVERGED: "o", "reached": "^"}
_OTHER = "s"
_FLOOR = 1e-17  # drawn in place of zero


class CalibrationRun(NamedTuple):
    """One run."""

    name: str
    tol: float
    seed: int
    static: bool = False

    @property
    def entry(self) -> Entry:
        """What is solved."""
        return problems(self.static)[self.name]


def problems(static: bool) -> dict[str, Entry]:
    """Return all problems of one kind by name."""
    return static_collection() if static else collection()


def rows(
    seeds: int,
    announce: Announce,
    only: Sequence[str] | None = None,
    workers: int | None = None,
    static: bool = False,
) -> list[Row]:
    """Return one row per run, then one per bar.

    Parameters
    ----------
    seeds, announce
        How many tolerances per problem, and whom to tell.
    only
        Names of problems; None takes all.
    workers
        Processes; None takes one per core, 1 runs in this process.
    static
        Whether to take static problems instead of time-dependent ones.
    """
    for name in only or ():
        if name not in problems(static):
            raise SettingsError(f"there is no problem '{name}' here.{suggestion(name, problems(static))}")
    jobs = list(_jobs(seeds, list(problems(static)) if only is None else only, static))
    runs: list[Row] = []
    for job, row in zip(jobs, _mapped(jobs, workers or os.cpu_count() or 1), strict=True):
        announce(f"{len(runs) + 1} of {len(jobs)}: {job.name}, tol = {job.tol:g}")
        runs.append(row)
    return [*runs, *bars(runs)]


def _jobs(seeds: int, names: Sequence[str], static: bool = False) -> Iterator[CalibrationRun]:
    entries = problems(static)
    for place, name in enumerate(names):
        possible = [tol for tol in TOLERANCES if tol >= 10 * entries[name].accuracy]
        for seed in range(seeds):
            yield CalibrationRun(name, possible[(place + seed) % len(possible)], seed, static)


def _mapped(jobs: Sequence[CalibrationRun], workers: int) -> Iterator[Row]:
    if workers == 1:
        yield from map(measure, jobs)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_use_one_thread) as pool:
        yield from pool.map(measure, jobs)


def _use_one_thread() -> None:
    """Leave the other cores to the other processes."""
    threadpool_limits(1, user_api="blas")


# ---- one run --------------------------------------------------------------------------------------------------------


def measure(job: CalibrationRun) -> Row:
    """Solve one problem and compare."""
    entry = job.entry
    row: Row = {
        "problem": entry.name,
        "group": entry.group,
        "about": entry.describe(),
        "tol": job.tol,
        "seed": job.seed,
        **dict.fromkeys(("error", "estimate", "ratio", "status", "seconds")),
        "accuracy": entry.accuracy,
        "failures": [],
    }
    problem = entry.build()
    try:
        (solution, estimate, status), seconds = timed(_run, problem, job.tol, job.seed)
    except FrozenPinnError as error:
        row["failures"].append(f"{job.name}, tol = {job.tol:g}, seed {job.seed}: {error}")
        return row
    at = None if entry.test_points is None else entry.test_points(problem)
    true = max(solution.error(name, at=at)["relative"] for name in problem.exact)
    row |= {"status": status, "seconds": seconds}
    if not math.isfinite(true):
        row["failures"].append(f"{job.name}, tol = {job.tol:g}, seed {job.seed}: the solution is not finite.")
        return row
    known = estimate if math.isfinite(estimate) else None
    return row | {"error": true, "estimate": known, "ratio": ratio(true, estimate, entry.accuracy)}


def _run(problem: Problem, tol: float, seed: int) -> tuple[Solution, float, str]:
    """Return the solution, the largest estimate over the fields that are known, and its status."""
    solution = solve(problem, tol=tol, seed=seed, time_limit=BUDGET)
    assert solution.error_estimate is not None
    return solution, max(solution.error_estimate[name] for name in problem.exact), solution.status


def ratio(error: float, estimate: float, accuracy: float = 0.0) -> float | None:
    """Return estimate over true error, which is known up to an accuracy; None if there is no estimate.

    Examples
    --------
    >>> ratio(2e-6, 1e-6), ratio(2e-14, 5e-14, 1e-13)
    (0.5, 1.0)
    """
    if not math.isfinite(estimate):
        return None
    nearest = min(max(estimate, error - accuracy), error + accuracy)
    if estimate == nearest:
        return 1.0
    return estimate / nearest if nearest else math.inf


# ---- all runs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """What must hold over all runs: a value and its limit, from above or from below."""

    text: str
    value: Callable[[list[Row]], float | None]
    limit: float
    at_least: bool

    def row(self, runs: list[Row]) -> Row:
        """Return the row of this bar."""
        value = self.value(runs)
        holds = value is None or (value >= self.limit if self.at_least else value <= self.limit)
        by_group = {group: self.value([run for run in runs if run["group"] == group]) for group in GROUPS}
        side = "at least" if self.at_least else "at most"
        text = f"{self.text} ({side} {self.limit:g})"
        return {
            "problem": text,
            "group": BAR,
            "about": "",
            **dict.fromkeys(("tol", "seed", "error", "estimate", "seconds")),
            "ratio": value,
            "status": "holds" if holds else "missed",
            "limit": self.limit,
            "by_group": by_group,
            "failures": [] if holds else [f"{text}: {value:.3g}"],
        }


def bars(runs: list[Row]) -> list[Row]:
    """Return the rows of all bars."""
    return [bar.row(runs) for bar in BARS]


def _finished(runs: list[Row]) -> list[Row]:
    return [run for run in runs if run["error"] is not None]


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _within(runs: list[Row]) -> float | None:
    ratios = [run["ratio"] for run in _finished(runs)]
    return _share([r is not None and 1 / FACTOR <= r <= FACTOR for r in ratios])


def _least(runs: list[Row]) -> float | None:
    return min((run["ratio"] for run in _finished(runs) if run["ratio"] is not None), default=None)


def _excesses(runs: list[Row]) -> list[float]:
    """Return error over tolerance of the runs that claim to have converged."""
    claims = [run for run in _finished(runs) if run["status"] == CONVERGED]
    return [max(run["error"] - run["accuracy"], 0.0) / run["tol"] for run in claims]


def _met(runs: list[Row]) -> float | None:
    return _share([excess <= 1 for excess in _excesses(runs)])


def _worst(runs: list[Row]) -> float | None:
    return max(_excesses(runs), default=None)


BARS = (
    Bar(f"share of estimates within a factor of {FACTOR:g}", _within, 0.95, True),
    Bar("least estimate over true error", _least, 1 / FACTOR, True),
    Bar("share of converged runs that meet their tolerance", _met, 0.9, True),
    Bar("largest error over tolerance of converged runs", _worst, 3.0, False),
)


# ---- table and picture ----------------------------------------------------------------------------------------------


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw estimates against true errors, with the diagonal and the band of a factor of ten."""
    axis = figure.subplots()
    runs = [row for row in rows if row["group"] != BAR and row["ratio"] is not None]
    _band(axis, [max(run[key], _FLOOR) for run in runs for key in ("error", "estimate")] or [1e-9, 1.0])
    for colour, group in zip(COLOURS, GROUPS, strict=False):
        for status in dict.fromkeys(run["status"] for run in runs if run["group"] == group):
            _points(axis, [run for run in runs if (run["group"], run["status"]) == (group, status)], colour)
    axis.set(xlabel="true relative L² error", ylabel="estimated relative L² error")
    if runs:
        axis.legend(fontsize=8)


def _band(axis: Any, values: list[float]) -> None:
    ends = [min(values) / 3, max(values) * 3]
    axis.fill_between(ends, [e / FACTOR for e in ends], [e * FACTOR for e in ends], color="0.93", zorder=0)
    axis.loglog(ends, ends, color="0.5", linewidth=1, zorder=1)
    axis.set(xlim=ends, ylim=ends)


def _points(axis: Any, runs: list[Row], colour: str) -> None:
    group, status = runs[0]["group"], runs[0]["status"]
    errors, estimates = ([max(run[key], _FLOOR) for run in runs] for key in ("error", "estimate"))
    style = {"marker": MARKERS.get(status, _OTHER), "markeredgecolor": colour, "linestyle": "", "zorder": 2}
    face = colour if status == CONVERGED else "none"
    axis.loglog(errors, estimates, markersize=5, markerfacecolor=face, label=f"{group}, {status}".strip(", "), **style)


def _study(name: str, title: str, found: Callable[..., list[Row]]) -> Study:
    """Return a study whose rows are runs and bars, not settings."""
    return Study(
        name,
        title,
        "problem",
        ("error", "estimate", "ratio"),
        found,
        details=("about", "tol"),
        beside=("status", "seconds"),
        draw=draw,
        size=(7, 6),
        options=("only",),
    )


STUDY = _study("calibration", "estimated against true errors", rows)
STATIC_STUDY = _study(
    "static-calibration", "estimated against true errors of static problems", partial(rows, static=True)
)
