"""One run of a sweep: a row of numbers, or the reason why there are none."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from frozenpinn.errors import FrozenPinnError
from frozenpinn.output.exporting import of_real_numbers
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.threads import one_thread
from frozenpinn.search.settings import First
from frozenpinn.solve import solve_from
from frozenpinn.sweeps.definition import Definition
from frozenpinn.sweeps.designs import applied
from frozenpinn.sweeps.plan import Plan

Array = np.ndarray
STATUS = ("pending", "converged", "reached", "unchecked", "failed")  #: in the order of their codes


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
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status, the estimate and the reason tell
        try:
            solution = solved(definition, plan.first(index), index)
            return _row(definition, solution, index, time.process_time() - started)
        except Exception as error:  # of any kind: one run must not end the others
            kind = "" if isinstance(error, FrozenPinnError) else f"{type(error).__name__}: "
            return failed(definition, index, f"{kind}{error}", time.process_time() - started)


def solved(definition: Definition, first: First | None, index: int) -> Solution:
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
