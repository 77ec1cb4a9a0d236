"""Stored solutions: arrays and a JSON text in one file (results/archive.py). Nothing in it is ever executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from frozenpinn.basis.stored import basis_arrays, basis_from_arrays
from frozenpinn.errors import FrozenPinnError, StorageError
from frozenpinn.geometry import Domain
from frozenpinn.integrators import TRAJECTORIES
from frozenpinn.integrators.interpolation import TooManyWindowsError, interpolate, one_by_one
from frozenpinn.results.archive import FORMAT, write_archive
from frozenpinn.results.determined import StoredFollowing
from frozenpinn.results.error_estimate import ErrorEstimate, Verdict
from frozenpinn.results.expansion import Expansion, Piece
from frozenpinn.results.plausible import check_arrays, check_pieces
from frozenpinn.results.quantity import Goal
from frozenpinn.results.report import Report, finite
from frozenpinn.results.solution import Solution
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.decisions import read_decisions
from frozenpinn.runtime.paths import checked_target
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.document import Outline, domain_from_dict, domain_to_dict, problem_from_dict, problem_to_dict
from frozenpinn.statement.frames import read_coordinates
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms import KnownParts, Logarithm, MovingFrame, Restriction, Units, view_classes

Array = np.ndarray
Arrays = dict[str, Array]


def save_solution(solution: Solution, file: str, overwrite: bool = False) -> None:
    """Write everything that evaluation needs: network, coefficients in time, boundary data in time."""
    checked_target(file, StorageError, overwrite)
    arrays: Arrays = {}
    estimate, witness = solution.error_estimate, solution.witness
    meta: dict[str, Any] = {
        "format": FORMAT,
        "problem": problem_to_dict(solution.problem, arrays) if isinstance(solution.problem, Problem) else None,
        "domain": _domain(solution.problem.domain),
        "time": list(solution.problem.time),
        "fields": list(solution.problem.fields),
        "composites": solution.problem.composites.as_dict(),
        **_frame(solution.problem),
        "error_estimate": None if estimate is None else finite(estimate.as_dict()),
        "verdict": None if solution.verdict is None else finite(_verdict(solution.verdict)),
        "event": None if solution.stopped is None else finite(solution.stopped.as_dict()),
        "report": solution.report.as_dict(),
        **_put_solve(solution, "", arrays),
        "witness": None if witness is None else _put_solve(witness, "witness/", arrays),
    }
    write_archive(file, meta, arrays, overwrite)


def _domain(domain: Domain) -> dict[str, Any]:
    try:
        return domain_to_dict(domain)
    except TypeError:
        raise FrozenPinnError(
            f"the solution can't be stored, because its domain {domain!r} is made of a Python function; write that "
            "function as text, such as Implicit('x**2 + y**2 - 1', …) or with_sides(inlet='x < 0')."
        ) from None


def _frame(problem: Problem) -> dict[str, Any]:
    """Return the coordinates of a statement, if they are others than those of the solve."""
    if problem.frame is None:
        return {}
    return {"coordinates": [problem.frame.kind, *problem.frame.names], "stated": _domain(problem.stated)}


def _put_solve(solution: Solution, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Add the arrays of all windows; return them and what is known of the solve."""
    return {
        "pieces": [_put_piece(piece, f"{prefix}{k}/", arrays) for k, piece in enumerate(solution.pieces)],
        "sampler": solution.sampler,
        "width": np.asarray(solution.width).tolist(),
        "counts": [int(n) for n in solution.counts],
        "bytes": float(solution.bytes),
        "operations": float(solution.operations),
        "seconds": dict(solution.seconds),
        "notes": list(solution.notes),
        "decisions": list(map(list, solution.decisions)),
        "facts": None if solution.facts is None else finite(solution.facts.as_dict()),
        "reduced": None if solution.reduced is None else domain_to_dict(solution.reduced.problem.domain),
    }


def _put_piece(piece: Piece, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Add the arrays of one window; return what else there is to know."""
    arrays |= {f"{prefix}trajectory/{name}": array for name, array in piece.trajectory.arrays().items()}
    expansions = []
    for i, expansion in enumerate(piece.all_expansions):
        kind, own = basis_arrays(expansion.basis)
        arrays |= {f"{prefix}basis/{i}/{name}": array for name, array in own.items()}
        expansions.append({"order": expansion.order, "basis": kind})
        if expansion.basis.lift_size:
            for order in range(_orders(expansion.order, i >= len(piece.expansions))):
                tolerance = _tolerance(expansion, order, (piece.start, piece.end))
                windows = _windows(lambda t, e=expansion, k=order: e.data(t, k), (piece.start, piece.end), tolerance)  # type: ignore[misc]
                arrays |= {f"{prefix}lift/{i}/{order}/{name}": array for name, array in windows.items()}
    for i in range(len(piece.expansions), len(piece.all_expansions)):
        for order, tolerance in enumerate((1e-9, 1e-6)):  # they are as accurate as the steps in time
            function = lambda t, i=i, k=order: piece.coefficients(np.array([t]), i, k)[0]  # noqa: E731
            windows = _windows(function, (piece.start, piece.end), tolerance)
            arrays |= {f"{prefix}determined/{i}/{order}/{name}": array for name, array in windows.items()}
    about = {"start": piece.start, "end": piece.end, "loss": piece.loss, "integrator": piece.integrator}
    about |= {} if piece.determined is None else {"determined": len(piece.determined[0])}
    views = [[view.name, view.as_dict()] for view in piece.views]
    return {**about, "trajectory": piece.trajectory.kind, "expansions": expansions, "views": views}


def _orders(order: int, determined: bool) -> int:
    """Return how many time derivatives of boundary data, and the data themselves, are asked for."""
    return max(order, int(determined)) + 1


def _tolerance(expansion: Expansion, order: int, time: tuple[float, float]) -> float:
    """Return how accurate a time derivative of boundary data can be: it may be tiny, compared with the data."""
    if not order:
        return 1e-12
    times, duration = np.linspace(*time, 9), time[1] - time[0]
    size, own = (max(float(np.max(np.abs(expansion.data(float(t), k)))) for t in times) for k in (0, order))
    return 1e-9 * max(1.0, min(1e12, size / duration**order / max(own, 1e-300)))  # derivatives may be differences


def _windows(function: Callable[[float], Array], time: tuple[float, float], tolerance: float) -> Arrays:
    """Return a vector function of time as Chebyshev polynomials on as many windows as it needs."""
    if time[0] == time[1]:  # static
        return {"starts": np.zeros(1), "lengths": np.ones(1), "coefficients": function(time[0])[None, None]}
    try:
        windows = interpolate(one_by_one(function), *time, tolerance)
    except TooManyWindowsError:
        raise FrozenPinnError("the boundary data vary too rapidly in time to be stored.") from None
    return {
        "starts": np.array([w.start for w in windows]),
        "lengths": np.array([w.length for w in windows]),
        "coefficients": np.array([w.coefficients for w in windows]),
    }


@dataclass(frozen=True, eq=False)
class StoredLift:
    """Boundary data in time as Chebyshev polynomials, one set of windows for each time derivative."""

    windows: tuple[Mapping[str, Array], ...]

    def __call__(self, t: float, derivative: int = 0) -> Array:
        """Return the data, or a time derivative of them."""
        own = self.windows[derivative]
        k = max(0, int(np.searchsorted(own["starts"], t, "right")) - 1)
        s = 2.0 * (t - own["starts"][k]) / own["lengths"][k] - 1.0
        return np.asarray(np.polynomial.chebyshev.chebval(s, own["coefficients"][k]))


# ---- reading ---------------------------------------------------------------------------------------


def rebuilt_solution(meta: dict[str, Any], arrays: Arrays) -> Solution:
    """Return a stored solution, every field of which can be evaluated."""
    check_arrays(arrays)
    stopped = meta.get("event") is not None
    for entry in (meta, meta["witness"]):
        if entry is not None:
            check_pieces(entry["pieces"], meta["time"], stopped)
    solution = _rebuild(_of_format_7(meta, arrays) if meta["format"] < FORMAT else meta, arrays)
    _probe(solution)
    return solution


def _probe(solution: Solution) -> None:
    """Evaluate every field in every window, so that arrays that do not fit each other are found here."""
    problem = solution.problem
    x = (np.asarray(problem.domain.lower, dtype=float) + problem.domain.upper)[None] / 2.0
    for found in (solution, *(() if solution.witness is None else (solution.witness,))):
        times = np.array([*problem.time, *(piece.start for piece in found.pieces)], dtype=float)
        for name in problem.fields:
            values = found.jet_values(x, times, problem.jets.field(name))
            if not np.all(np.isfinite(values)):
                raise StorageError(f"the values of {name} are not finite")


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {**verdict._asdict(), "goal": None if verdict.goal is None else verdict.goal.as_dict()}


def _rebuild(meta: Mapping[str, Any], arrays: Arrays) -> Solution:
    problem = _problem(meta, arrays)
    solution = _solve(meta, arrays, problem, meta, "")
    estimate, verdict = meta["error_estimate"], meta["verdict"]
    if verdict is not None:
        attempts = tuple(
            (_width(w), float("inf") if error is None else error, s) for w, error, s in verdict["attempts"]
        )
        goal = verdict.get("goal")
        verdict = Verdict(**{**verdict, "attempts": attempts, "goal": None if goal is None else Goal.from_dict(goal)})
    witness, event = meta["witness"], meta.get("event")
    return replace(
        solution,
        error_estimate=None if estimate is None else ErrorEstimate.from_dict(estimate),
        verdict=verdict,
        stopped=None if event is None else Goal.from_dict(event),
        witness=None if witness is None else _solve(meta, arrays, problem, witness, "witness/"),
        stored_report=Report.from_dict(meta["report"]),
    )


def _solve(
    meta: Mapping[str, Any], arrays: Arrays, problem: Problem, entry: Mapping[str, Any], prefix: str
) -> Solution:
    """Return the solution that is made of stored windows, and the one with fewer coordinates if there is one."""
    pieces = tuple(_piece(piece, _under(arrays, f"{prefix}{k}/")) for k, piece in enumerate(entry["pieces"]))
    found = Solution(
        problem,
        pieces,
        entry["sampler"],
        _width(entry["width"]),
        tuple(entry["counts"]),
        entry["bytes"],
        entry["operations"],
        entry["seconds"],
        tuple(entry["notes"]),
        facts=None if entry["facts"] is None else StaticFacts.from_dict(entry["facts"]),
        decisions=read_decisions(entry.get("decisions", ())),
    )
    if entry["reduced"] is None:
        return found
    depth = [view.name for view in pieces[0].views].index(Restriction.name) + 1
    within = tuple(replace(piece, views=piece.views[depth:]) for piece in pieces)
    fewer = _outline(meta, domain_from_dict(entry["reduced"]))
    return replace(found, reduced=replace(found, problem=fewer, pieces=within))


def _width(stored: int | list[int]) -> int | tuple[int, ...]:
    return tuple(stored) if isinstance(stored, list) else stored


def _piece(entry: Mapping[str, Any], arrays: Arrays) -> Piece:
    kind = entry["trajectory"]
    if kind not in TRAJECTORIES:
        raise FrozenPinnError(f"unknown trajectory '{kind}' in a stored solution.")
    expansions = []
    evolving = len(entry["expansions"]) - entry.get("determined", 0)
    for i, about in enumerate(entry["expansions"]):
        basis = basis_from_arrays(about["basis"], _under(arrays, f"basis/{i}/"))
        orders = range(_orders(about["order"], i >= evolving))
        lift = StoredLift(tuple(_under(arrays, f"lift/{i}/{order}/") for order in orders))
        expansions.append(Expansion(basis, lift, about["order"]))
    trajectory = TRAJECTORIES[kind](_under(arrays, "trajectory/"))
    determined = None
    if evolving < len(expansions):
        lifts = [_functions(arrays, f"determined/{i}/") for i in range(evolving, len(expansions))]
        determined = tuple(expansions[evolving:]), StoredFollowing(lifts)
    known = view_classes()
    views = tuple(known[name].from_dict(stored) for name, stored in entry["views"])
    about = {name: entry[name] for name in ("start", "end", "loss", "integrator")}
    return Piece(tuple(expansions[:evolving]), trajectory, views=views, determined=determined, **about)


def _functions(arrays: Arrays, prefix: str) -> StoredLift:
    """Return coefficients in time and their derivatives."""
    return StoredLift(tuple(_under(arrays, f"{prefix}{order}/") for order in range(2)))


def _of_format_7(meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return metadata of the format before in the present one, which lists the views of a window."""
    subspace, reduced = [], None
    if meta["subspace"] is not None:
        own = {name: array.tolist() for name, array in _under(arrays, "subspace/").items()}
        subspace, reduced = [[Restriction.name, {**own, "axes": meta["subspace"]["axes"]}]], meta["subspace"]["domain"]

    def views(piece: Mapping[str, Any]) -> list[Any]:
        units, name = piece["expansions"][0]["units"], piece.get("logarithm")
        own = [
            (KnownParts.name, piece.get("added")),
            *subspace,
            (Logarithm.name, None if name is None else {"field": name}),
            (Units.name, units),
            (MovingFrame.name, piece.get("frame")),
        ]
        return [[kind, stored] for kind, stored in own if stored is not None]

    def solve(entry: Mapping[str, Any]) -> dict[str, Any]:
        return {**entry, "pieces": [{**p, "views": views(p)} for p in entry["pieces"]], "reduced": reduced}

    return solve(meta) | {"witness": None if meta["witness"] is None else solve(meta["witness"])}


def _under(arrays: Mapping[str, Array], prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _problem(meta: Mapping[str, Any], arrays: Arrays) -> Problem:
    if meta["problem"] is None:
        return _outline(meta, domain_from_dict(meta["domain"]))
    return problem_from_dict(meta["problem"], arrays)


def _outline(meta: Mapping[str, Any], domain: Domain) -> Problem:
    expansions = meta["pieces"][0]["expansions"]
    orders = {name: about["order"] for about in expansions for name in about["basis"]["fields"]}
    fields = tuple(meta["fields"])
    composites = Composites.from_dict(meta["composites"]) if "composites" in meta else Composites(fields)
    frame = None
    if "coordinates" in meta:
        _, frame = read_coordinates(domain_from_dict(meta["stated"]), meta["coordinates"])
    return cast(Problem, Outline(domain, tuple(meta["time"]), fields, orders, composites, frame=frame))
