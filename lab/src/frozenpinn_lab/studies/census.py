"""Census: which decisions take part in how many problems of all collections, and what results are without them.

Every problem is solved once, with one tolerance and a limit of time. Then, for each name that the program is to do
without, the problems in which it took part are solved again. Finished solves are kept in a file, one JSON text per
line, from which the same command goes on.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import SettingsError, choices, suggestion
from frozenpinn.inverse.infer import infer
from frozenpinn.modes.modes import modes
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import FIXED, OPTIONAL, Decision
from frozenpinn.search.settings import Settings
from frozenpinn.solve import solve
from frozenpinn_lab.calibration import collection, static_collection
from frozenpinn_lab.calibration.nasty import nasty_ones
from frozenpinn_lab.cases import CASES, inverse_cases
from frozenpinn_lab.cases.inverse import CASES as INVERSE
from frozenpinn_lab.runner import FAILURES, timed
from frozenpinn_lab.studies.gallery_problems import GALLERY
from frozenpinn_lab.studies.study import Announce, Row

TOLERANCE, TIME_LIMIT = 1e-4, 10.0
MATTERS = 2.0  # a factor of error or time that counts
_KNOWN = 1e-14  # errors below this are round-off


class Answer(NamedTuple):
    """What one solve has found: its verdict, its largest relative error and the estimate of it, what took part.

    The error is the estimate where the truth is not known.
    """

    status: str
    error: float
    estimate: float
    decisions: tuple[Decision, ...]


class Job(NamedTuple):
    """One problem of a collection, as a function of tolerance, seconds and settings."""

    group: str
    name: str
    run: Callable[[float, float, Settings], Answer]


# ---- collections ------------------------------------------------------------------------------------


def jobs(groups: Sequence[str] | None = None) -> list[Job]:
    """Return all problems of some collections, of all by default."""
    for group in groups or ():
        if group not in COLLECTIONS:
            known = choices(COLLECTIONS)
            raise SettingsError(f"unknown collection '{group}'.{suggestion(group, COLLECTIONS)} There are {known}.")
    return [
        Job(group, name, run)
        for group, entries in COLLECTIONS.items()
        if groups is None or group in groups
        for name, run in entries()
    ]


def _solved(build: Callable[[], Any]) -> Callable[[float, float, Settings], Answer]:
    def run(tol: float, seconds: float, settings: Settings) -> Answer:
        problem = build()
        solution = solve(problem, tol=tol, time_limit=seconds, settings=settings)
        assert solution.error_estimate is not None
        estimate = solution.error_estimate.worst
        return Answer(solution.status, _error(solution, estimate), estimate, solution.decisions)

    return run


def _error(solution: Solution, estimate: float) -> float:
    """Return the true error where it is known, else the estimate."""
    problem = solution.problem
    if problem.exact and set(problem.exact) >= set(problem.fields):
        return max(solution.error(name)["relative"] for name in problem.exact)
    return estimate


def _eigenvalues(build: Callable[[], Any], count: int) -> Callable[[float, float, Settings], Answer]:
    def run(tol: float, seconds: float, settings: Settings) -> Answer:
        found = modes(build(), count, tol=tol, time_limit=seconds, settings=settings)
        worst = float(np.max(found.errors / np.maximum(np.abs(found.values), 1e-300)))
        return Answer(found.status if len(found) == count else "reached", worst, worst, found.decisions)

    return run


def _inferred(name: str) -> Callable[[float, float, Settings], Answer]:
    def run(tol: float, seconds: float, settings: Settings) -> Answer:
        case = INVERSE[name]
        found = infer(case.problem(), case.data(0, True), settings=settings)
        return Answer("inferred", found.misfit, found.misfit, found.decisions)

    return run


def _cases() -> Iterator[tuple[str, Callable[[float, float, Settings], Answer]]]:
    """Yield the cases of the bench that are in no other collection: eigenvalues, and solids."""
    known = {entry.name for entry in (*collection().values(), *static_collection().values())}
    for name, case in CASES.items():
        variant = case.variants[0]

        def build(case: Any = case, variant: Any = variant) -> Any:
            return case.problem(**variant.problem)

        if case.values is not None:
            yield name, _eigenvalues(build, len(case.values(**variant.problem)))
        elif not any(other.startswith(name) for other in known):
            yield name, _solved(build)


COLLECTIONS: Mapping[str, Callable[[], Iterator[tuple[str, Callable[[float, float, Settings], Answer]]]]] = {
    "calibration": lambda: ((e.name, _solved(e.build)) for e in collection().values()),
    "static-calibration": lambda: ((e.name, _solved(e.build)) for e in static_collection().values()),
    "nasty": lambda: ((e.name, _solved(e.build)) for e in nasty_ones(1)),
    "gallery": lambda: ((name, _solved(entry.build)) for name, entry in GALLERY.items()),
    "cases": _cases,
    "inverse": lambda: ((name, _inferred(name)) for name in inverse_cases() if name in INVERSE),
}


# ---- runs ---------------------------------------------------------------------------------------------


def census(
    announce: Announce,
    chosen: Sequence[Job],
    without: Sequence[str] = (),
    tol: float = TOLERANCE,
    time_limit: float = TIME_LIMIT,
    kept: Path | None = None,
) -> list[Row]:
    """Return one row per solve: first all problems as they are, then without each name where it took part.

    Parameters
    ----------
    announce
        Told of every solve.
    chosen
        Problems, see :func:`jobs`.
    without
        Names of decisions.
    tol, time_limit
        What every solve is asked, and the seconds that it may take.
    kept
        File with finished solves, which are not repeated; None keeps nothing.
    """
    Settings(without=tuple(without))  # refused at once, and not by every solve
    known = _read(kept)
    rows: list[Row] = []
    for name in (None, *without):
        wanted = chosen if name is None else [job for job in chosen if name in _names(rows, job)]
        for k, job in enumerate(wanted):
            key = [job.group, job.name, tol, time_limit, name]
            if json.dumps(key) not in known:
                announce(f"{k + 1} of {len(wanted)}{'' if name is None else f' without {name}'}: {job.name}")
                row = _measured(job, name, tol, time_limit)
                known[json.dumps(key)] = row
                if kept is not None:
                    with kept.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps({"key": key, "row": row}) + "\n")
            rows.append(known[json.dumps(key)])
    return rows


def _read(kept: Path | None) -> dict[str, Row]:
    """Return finished solves by their keys; a line that was cut off is ignored."""
    found: dict[str, Row] = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept is not None and kept.exists() else ():
        try:
            entry = json.loads(line)
            found[json.dumps(entry["key"])] = entry["row"]
        except (ValueError, LookupError, TypeError):
            continue
    return found


def _names(rows: Sequence[Row], job: Job) -> set[str]:
    """Return what took part in a problem."""
    return {
        name
        for row in rows
        if (row["collection"], row["problem"], row["without"]) == (job.group, job.name, None)
        for name in row["decisions"]
    }


def _measured(job: Job, without: str | None, tol: float, time_limit: float) -> Row:
    row: Row = {"collection": job.group, "problem": job.name, "without": without, "tol": tol}
    settings = Settings() if without is None else Settings(without=(without,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            (status, error, estimate, decisions), seconds = timed(job.run, tol, time_limit, settings)
        except FAILURES as failure:
            told = f"{type(failure).__name__}: {failure}"
            unknown = dict.fromkeys(("error", "estimate", "seconds"))
            return row | unknown | {"status": "failed", "decisions": {}, "failure": told}
    counts: dict[str, int] = {}
    for name, _ in decisions:
        counts[name] = counts.get(name, 0) + 1
    return row | {
        "status": status,
        "error": error if math.isfinite(error) else None,
        "estimate": estimate if math.isfinite(estimate) else None,
        "seconds": seconds,
        "decisions": counts,
    }


# ---- counts -------------------------------------------------------------------------------------------


def counted(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each decision: in how many problems of which collections, and what they are without it.

    ``worse`` and ``slower`` count the problems whose error or seconds are larger by ``MATTERS`` without it, ``better``
    and ``faster`` those in which they are smaller; ``lost`` those that do not converge any more, ``gained`` the others.
    ``broken`` counts estimates that are honest with it and less than a tenth of the error without.
    """
    base = {(row["collection"], row["problem"]): row for row in rows if row["without"] is None}
    found = []
    for name in dict.fromkeys([*OPTIONAL, *FIXED, *(name for row in base.values() for name in row["decisions"])]):
        own = [row for row in base.values() if name in row["decisions"]]
        groups = dict.fromkeys(row["collection"] for row in own)
        again = [(base[r["collection"], r["problem"]], r) for r in rows if r["without"] == name]
        found.append(
            {
                "decision": name,
                "problems": len(own),
                "times": sum(row["decisions"][name] for row in own),
                "collections": ", ".join(f"{g} {sum(row['collection'] == g for row in own)}" for g in groups),
                "tried": len(again),
                "worse": sum(_error_ratio(a, b) > MATTERS for a, b in again),
                "better": sum(_error_ratio(a, b) < 1.0 / MATTERS for a, b in again),
                "slower": sum(_time_ratio(a, b) > MATTERS for a, b in again),
                "faster": sum(_time_ratio(a, b) < 1.0 / MATTERS for a, b in again),
                "lost": sum(_is_good(a) and not _is_good(b) for a, b in again),
                "gained": sum(_is_good(b) and not _is_good(a) for a, b in again),
                "broken": sum(_is_honest(a) and not _is_honest(b) for a, b in again),
            }
        )
    return found


def _is_good(row: Row) -> bool:
    return row["status"] in ("converged", "inferred")


def _is_honest(row: Row) -> bool:
    """Whether an estimate is no less than a tenth of the error, apart from round-off."""
    error, estimate = (row[key] for key in ("error", "estimate"))
    return error is None or (estimate is not None and error <= 10.0 * estimate + 1e-12)


def _error_ratio(before: Row, after: Row) -> float:
    """Return by how much an error is larger; within the tolerance all are alike."""
    least = max(float(before["tol"]), _KNOWN)
    sizes = [math.inf if row["error"] is None else max(float(row["error"]), least) for row in (before, after)]
    return 1.0 if sizes[0] == sizes[1] else sizes[1] / sizes[0]


def _time_ratio(before: Row, after: Row) -> float:
    seconds = [row["seconds"] for row in (before, after)]
    return 1.0 if None in seconds else seconds[1] / seconds[0]
