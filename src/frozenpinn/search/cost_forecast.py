"""What the next solve of a search will take: the operations of its plan, at the pace of the solves before.

A plan is made in no time, and it knows its operations and bytes. How many seconds an operation takes on this machine,
and how many steps this problem needs, is known from earlier solves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from frozenpinn.integrators.protocol import kept_bytes
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import peak_memory
from frozenpinn.search.kind import Cost, Lesson
from frozenpinn.search.rules import SearchRules
from frozenpinn.search.settings import Task


@dataclass(frozen=True)
class _Spent:
    """What a solve was foreseen to take, and what it has taken."""

    operations: float
    bytes: float
    seconds: float
    kept: float  # bytes of the states at its steps


@dataclass
class CostForecast:
    """Foresees seconds and bytes of a solve, from those that are done.

    Parameters
    ----------
    rules
        The tuned numbers.
    """

    rules: SearchRules
    _spent: list[_Spent] = field(default_factory=list)
    _solution: Solution | None = None
    _lesson: Lesson | None = None
    _peak: float = field(default_factory=peak_memory)
    _greed: float = 1.0

    def learn(self, solution: Solution, lesson: Lesson, seconds: float) -> None:
        """Take note of a solve."""
        others = 2e8  # bytes by which a process may grow for other reasons
        self._solution, self._lesson = solution, lesson
        plan, peak = lesson.cost, peak_memory()
        choosing = solution.seconds.get("choice of sizes", 0.0)  # this is done once
        kept = sum(kept_bytes(piece.trajectory) for piece in solution.pieces)
        self._spent.append(_Spent(plan.operations, plan.bytes, max(seconds - choosing, 1e-4), kept))
        told = max(solution.bytes, peak - self._peak - kept - others)  # with functions that the plan knew nothing of
        self._greed = max(self._greed, told / max(plan.bytes, 1.0))
        self._peak = peak

    def seconds(self, task: Task) -> float:
        """Return about how long a solve will take."""
        last = self._spent[-1]
        return last.seconds * (self._plan(task).operations / last.operations) ** self._power

    def bytes(self, task: Task) -> float:
        """Return about how much memory a solve will take.

        That is as much more than was foreseen as the greediest so far took, the states at its steps, which are taken to
        be as many as in the last solve, and what that one keeps.
        """
        tables = 0.5  # part of what a solve takes that it keeps: features at its points
        last, plan = self._spent[-1], self._plan(task)
        return self._greed * (plan.bytes + tables * last.bytes) + last.kept * plan.bytes / max(last.bytes, 1.0)

    def _plan(self, task: Task) -> Cost:
        assert self._solution is not None
        assert task.kind is not None
        reduced = self._solution.reduced
        problem = self._solution.problem if reduced is None else reduced.problem
        return task.kind.cost(problem, task, self._lesson)

    @property
    def _power(self) -> float:
        """The power of the operations with which seconds have grown from one solve to the next, within reason."""
        visible = 1.2  # growth of operations whose price can be seen
        flattest = 0.7
        steepest = 1.6
        if len(self._spent) < 2:
            return 1.0
        a, b = self._spent[-2:]
        more = np.log(b.operations / a.operations)
        if abs(more) < np.log(visible):
            return 1.0
        return float(np.clip(np.log(b.seconds / a.seconds) / more, flattest, steepest))
