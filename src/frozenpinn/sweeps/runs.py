"""One run of a sweep: a row of numbers, or the reason why there are none.

What the runs of a sweep share: sizes that a few of them, the pilots, have been found to need.

A search for a tolerance starts from what it can know before the first solve, which is cautious. Runs of a sweep differ
in parameters only, so pilots spread over the table find out how narrow a network does; every run starts from sizes
between those of the pilots around it, and grows if too narrow. The plan follows from the definition of the sweep
alone, so a run has the same bits whatever was run before it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from frozenpinn.errors import FrozenPinnError, silenced
from frozenpinn.output.exporting import of_real_numbers
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.threads import one_thread
from frozenpinn.search.search import sizes_needed
from frozenpinn.search.settings import Sizes
from frozenpinn.solve import solve_from
from frozenpinn.sweeps.definition import Definition, Table, applied

Array = np.ndarray
STATUS = ("pending", "converged", "reached", "unchecked", "failed", "error unknown")  #: in the order of their codes
RUNS_PER_PILOT = 40  #: pilots cost about two runs each
FOLLOWS = 0.15  #: weight of pilots whose networks follow fronts, above which a run's does
Around = tuple[tuple[int, float], ...]  #: pilots around a run, and their weights


# ---- what runs share ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """Sizes that pilots need, and the pilots from which each run starts; none if nothing is shared."""

    pilots: tuple[int, ...] = ()
    sizes: tuple[Sizes | None, ...] = ()
    around: tuple[Around, ...] = ()

    def first(self, index: int) -> Sizes | None:
        """Return the sizes that a run starts from: the mean of its pilots, of those that follow fronts if some do."""
        if not self.around:
            return None
        known = [(own, weight) for k, weight in self.around[index] if (own := self.sizes[k]) is not None]
        follows = sum(weight for own, weight in known if own.follows) >= FOLLOWS
        alike = [(own, weight) for own, weight in known if own.follows == follows]
        alike = [(own, weight) for own, weight in alike if own.kind == alike[0][0].kind]
        return Sizes.mean(alike) if alike else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return {"pilots": list(self.pilots), "sizes": [None if s is None else s.as_list() for s in self.sizes]}


def read_plan(stored: dict[str, Any], table: Table) -> Plan:
    """Return a stored plan."""
    sizes = tuple(None if s is None else Sizes.of_list(s) for s in stored["sizes"])
    pilots = tuple(map(int, stored["pilots"]))
    return Plan(pilots, sizes, _around(table, pilots))


def pilots_of(definition: Definition) -> tuple[int, ...]:
    """Return the runs that determine the initial sizes of the others; none if nothing can be shared."""
    most_pilots = 8
    table, problem = definition.table, definition.problem
    grows = definition.settings.width is None and isinstance(definition.settings.sampler, str | None)
    count = min(most_pilots, len(table) // RUNS_PER_PILOT)
    if definition.tol is None or not grows or problem.is_static or problem.domain.dimension > 3 or count < 1:
        return ()
    return _spread(_coordinates(table), max(2, count))


def make_plan(definition: Definition, found: Mapping[int, Sizes | None]) -> Plan:
    """Return the plan that follows from what each pilot needs."""
    pilots = tuple(found)
    return Plan(pilots, tuple(found.values()), _around(definition.table, pilots))


def needed(definition: Definition, solve: Callable[[Sizes | None, int], Solution], pilot: int) -> Sizes | None:
    """Return the narrowest sizes with which a pilot meets the tolerance at once and without more windows."""
    margin = 0.3  # part of the tolerance that it may have as its error
    worth = 0.9  # part of the width above which a narrower one saves less than it costs to try
    tries = 2  # narrower widths for a pilot, each if the one before met the tolerance
    solution = _tried(solve, None, pilot)
    if solution is None or solution.status != "converged":
        return None
    start = sizes_needed(solution)
    if start is None:
        return None
    assert definition.tol is not None
    windows = len(solution.pieces) + 1
    for _ in range(tries):
        part = _part(solution, definition.tol)
        narrower = start.scaled(part)
        tried = _tried(solve, narrower, pilot) if part < worth else None
        if tried is None or tried.verdict is None or len(tried.verdict.attempts) > 2:
            break
        if len(tried.pieces) > windows or not _error(tried) <= margin * definition.tol:
            break
        start, solution = narrower, tried
    return start


def _part(solution: Solution, tol: float) -> float:
    """Return which part of its width a solution needs, if the logarithm of the error falls linearly with the width."""
    aim = 0.1  # part of the tolerance that a narrower pilot aims at, for its neighbours' sake
    narrowest = 0.4  # part of the width that a pilot tries, at least
    assert solution.verdict is not None
    digits = -np.log(max(_error(solution), 1e-15))
    wanted = -np.log(aim * tol)
    return float(np.clip(wanted / max(digits, 1e-3), narrowest, 1.0))


def _tried(solve: Callable[[Sizes | None, int], Solution], first: Sizes | None, pilot: int) -> Solution | None:
    with silenced(Warning):
        try:
            return solve(first, pilot)
        except (FrozenPinnError, ArithmeticError, MemoryError, ValueError):
            return None  # its own run reports why


def _error(solution: Solution) -> float:
    return float("inf") if solution.error_estimate is None else solution.error_estimate.worst


def _coordinates(table: Table) -> Array:
    """Return the runs as points of the unit cube: ranks of their values, so that units do not matter."""
    columns = []
    for name in table.names:
        values = table.column(name)
        known = {v: k for k, v in enumerate(sorted(set(values), key=lambda v: (isinstance(v, str), v)))}
        columns.append(np.array([known[v] for v in values]) / max(1, len(known) - 1))
    return np.stack(columns, axis=1)


def _spread(x: Array, count: int) -> tuple[int, ...]:
    """Return runs far from each other: the first, then always the one farthest from all before."""
    chosen = [0]
    distance = np.linalg.norm(x - x[0], axis=1)
    while len(chosen) < min(count, len(x)) and np.max(distance) > 0:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(x - x[chosen[-1]], axis=1))
    return tuple(chosen)


def _around(table: Table, pilots: tuple[int, ...]) -> tuple[Around, ...]:
    """Return the pilots nearest to each run, one more than there are columns, weighted by one over their distances."""
    if not pilots:
        return ()
    x = _coordinates(table)
    distances = np.stack([np.linalg.norm(x - x[p], axis=1) for p in pilots], axis=1)
    found = []
    for row in distances:
        near = np.argsort(row, kind="stable")[: x.shape[1] + 1]
        weights = 1.0 / np.maximum(row[near], 1e-9)
        found.append(tuple(zip(near.tolist(), (weights / np.sum(weights)).tolist(), strict=True)))
    return tuple(found)


# ---- one run --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Row:
    """What one run has found: values by field, estimated errors, status, CPU seconds, and why if it failed."""

    index: int
    status: str
    values: dict[str, Array]
    errors: dict[str, float]
    neurons: int
    seconds: float
    reason: str = ""

    def to_bytes(self) -> bytes:
        """Return the row as a NumPy archive."""
        buffer = BytesIO()
        table: dict[str, Any] = {f"value/{name}": v for name, v in self.values.items()}
        table |= {f"error/{name}": np.float64(v) for name, v in self.errors.items()}
        text = np.frombuffer(self.reason.encode(), dtype=np.uint8)
        numbers = np.array([self.index, STATUS.index(self.status), self.neurons], dtype=np.int64)
        np.savez(buffer, **table, numbers=numbers, seconds=np.float64(self.seconds), reason=text)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, raw: bytes) -> Row:
        """Read what :meth:`to_bytes` has written."""
        with np.load(BytesIO(raw), allow_pickle=False) as table:
            index, status, neurons = map(int, table["numbers"])
            values = {n.removeprefix("value/"): table[n] for n in table if n.startswith("value/")}
            errors = {n.removeprefix("error/"): float(table[n]) for n in table if n.startswith("error/")}
            reason = table["reason"].tobytes().decode()
            return cls(index, STATUS[status], values, errors, neurons, float(table["seconds"]), reason)


def run(definition: Definition, plan: Plan, index: int) -> Row:
    """Solve one run and evaluate it; on one thread of BLAS, so that bits do not depend on where it runs."""
    started = time.process_time()
    with one_thread(), silenced(Warning):  # the status, the estimate and the reason are stored
        try:
            solution = solved(definition, plan.first(index), index)
            return _row(definition, solution, index, time.process_time() - started)
        except Exception as error:  # of any kind: one run must not end the others
            kind = "" if isinstance(error, FrozenPinnError) else f"{type(error).__name__}: "
            return failed(definition, index, f"{kind}{error}", time.process_time() - started)


def solved(definition: Definition, first: Sizes | None, index: int) -> Solution:
    """Return the solution of one run."""
    problem = applied(definition.problem, definition.table.names, definition.table.rows[index])
    found = solve_from(
        first,
        problem,
        definition.tol,
        definition.seed,
        definition.time_limit,
        definition.memory_limit,
        _nobody,
        definition.settings,
    )
    assert isinstance(found, Solution)
    return found


def failed(definition: Definition, index: int, reason: str, seconds: float = 0.0) -> Row:
    """Return the row of a run that has no solution."""
    fields, shape = definition.problem.fields, definition.places.shape
    return Row(
        index, "failed", {f: np.full(shape, np.nan) for f in fields}, dict.fromkeys(fields, np.nan), 0, seconds, reason
    )


def _row(definition: Definition, solution: Solution, index: int, seconds: float) -> Row:
    table = of_real_numbers(solution.to_xarray(*definition.places.where))
    estimate, fields = solution.error_estimate, definition.problem.fields
    errors = dict.fromkeys(fields, float("nan")) if estimate is None else {f: float(estimate[f]) for f in fields}
    reason = "" if solution.verdict is None else solution.verdict.reason
    values = {f: np.ascontiguousarray(table[f].to_numpy()) for f in fields}
    return Row(index, solution.status, values, errors, int(np.prod(solution.width)), seconds, reason)


def _nobody(stage: str) -> None:
    """Listen to the progress of a solve."""
