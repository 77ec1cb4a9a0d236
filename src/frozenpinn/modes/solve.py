"""The search for eigenvalues: an answer and its witnesses, wider ones until the tolerance is met."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis
from frozenpinn.errors import BudgetError, ConvergenceError, warn
from frozenpinn.modes.judge import Judged, judge
from frozenpinn.modes.plan import Attempt, ModePlan
from frozenpinn.modes.result import Modes, ModesReport
from frozenpinn.runtime.budget import Budget, amount
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Progress
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_SEEDS = 7919  # between the seeds of two networks
_COPIES = 6.0  # of a table of the features that a solve holds


class Round(NamedTuple):
    """An answer with what its witnesses say, and how long it took."""

    answer: Attempt
    judged: Judged
    seconds: float

    def meets(self, count: int, tol: float | None) -> bool:
        """Whether there are enough values, none is doubtful, and all are within the tolerance."""
        return self.missing(count) == 0 and (tol is None or self.worst <= tol)

    def missing(self, count: int) -> int:
        """Return how many values are missing or doubtful."""
        return count - len(self.judged.values) + len(self.judged.doubtful)

    @property
    def worst(self) -> float:
        """The largest relative error."""
        return float(np.max(self.judged.errors / self.judged.scales, initial=0.0))

    def rank(self, count: int) -> tuple[float, float]:
        """How good it is: few values missing, then small errors."""
        return float(self.missing(count)), self.worst


def find_modes(
    plan: ModePlan, shown: Problem, tol: float | None, seed: int, budget: Budget, progress: Progress | None
) -> Modes:
    """Find eigenvalues and their functions; ``shown`` is the problem that they belong to."""
    rules, started, rounds = plan.rules, time.perf_counter(), list[Round]()
    grows = plan.settings.width is None and isinstance(plan.settings.sampler, str | None)
    while True:
        _check_memory(plan, budget)
        if progress is not None:
            progress(f"eigenvalues with {plan.width} neurons{' per axis' if plan.product else ''}")
        rounds.append(_round(plan, seed + 3 * _SEEDS * len(rounds)))
        if rounds[-1].meets(plan.count, tol) or not grows:
            break
        if tol is None and len(rounds) >= rules.tries:
            break
        wider = plan.wider(rules.growth)
        power = 1.0 if plan.product else 3.0
        if rounds[-1].seconds * rules.growth**power > budget.left or _stalls(rounds, plan.count):
            break
        if _bytes(wider) > budget.bytes:
            break
        plan = wider
    best = min(rounds, key=lambda r: r.rank(plan.count))
    if not len(best.judged.values):
        raise ConvergenceError(
            f"no eigenvalue was found: none of the values on {best.answer.width} neurons reappears on others. Is the "
            "problem well posed, with as many conditions as the equations need? Give time_limit for wider networks."
        )
    return _made(plan, shown, best, rounds, tol, time.perf_counter() - started)


def _round(plan: ModePlan, seed: int) -> Round:
    started = time.perf_counter()
    answer = plan.attempt(seed)
    witnesses = [
        plan.wider(share).attempt(seed + _SEEDS * (k + 1), functions=False)
        for k, share in enumerate(plan.rules.witnesses)
    ]
    return Round(answer, judge(plan, answer, witnesses), time.perf_counter() - started)


def _stalls(rounds: Sequence[Round], count: int) -> bool:
    """Whether the last two widths brought nothing: round-off, or something that networks do not represent."""
    if len(rounds) < 3:
        return False
    *_, first, second, third = (r.rank(count) for r in rounds)
    return third >= first and second >= first


def _bytes(plan: ModePlan) -> float:
    """Return about how much memory a solve takes."""
    if plan.product:
        return 0.0
    per_neuron = plan.rules.points[plan.problem.domain.dimension - 1]
    return 8.0 * _COPIES * per_neuron * float(plan.width * len(plan.problem.fields)) ** 2


def _check_memory(plan: ModePlan, budget: Budget) -> None:
    if _bytes(plan) > budget.bytes:
        raise BudgetError(
            f"{plan.width} neurons need about {amount(_bytes(plan))} of memory, more than there is or may be used; ask "
            "for fewer eigenvalues, or give Settings(width=…)."
        )


def _made(
    plan: ModePlan, shown: Problem, best: Round, rounds: Sequence[Round], tol: float | None, seconds: float
) -> Modes:
    """Return the value that users get."""
    answer, judged = best.answer, best.judged
    status = "reached" if not best.meets(plan.count, tol) else "estimated" if tol is None else "converged"
    notes = _notes(plan, best, tol)
    bases, coefficients = _collapsed(answer.bases, judged.vectors)
    features = "products of networks" if answer.product else "one network"
    report = ModesReport(
        repr(shown),
        tuple(judged.values.tolist()),
        tuple(judged.errors.tolist()),
        tuple(judged.residuals.tolist()),
        status,
        tol,
        plan.near,
        features,
        answer.width,
        tuple((r.answer.width, r.worst, r.seconds) for r in rounds),
        seconds,
        answer.symmetric,
        tuple(notes),
        (*answer.decisions, *_retries(rounds)),
    )
    for array in (coefficients, judged.values, judged.errors, judged.residuals):
        array.flags.writeable = False
    return Modes(shown, bases, coefficients, judged.values, judged.errors, judged.residuals, report)


def _retries(rounds: Sequence[Round]) -> tuple[Decision, ...]:
    """Say whether more than one width was needed."""
    if len(rounds) < 2:
        return ()
    return (Decision("wider retry", f"{rounds[0].answer.width} neurons find too few values, or not well enough"),)


def _notes(plan: ModePlan, best: Round, tol: float | None) -> list[str]:
    """Say what is missing and what was left out; warn of the former."""
    found, notes = len(best.judged.values), []
    if found < plan.count:
        notes.append(
            f"only {found} of {plan.count} eigenvalues reappear on networks drawn independently; the others are left "
            "out. Give time_limit or Settings(width=…) for wider networks."
        )
        warn(notes[-1])
    doubtful = best.judged.doubtful
    if len(doubtful):
        listed = ", ".join(f"{complex(v):.6g}" for v in doubtful[:4]) + (", …" if len(doubtful) > 4 else "")
        notes.append(
            f"left out, as they do not reappear on other networks or do not satisfy the equation: {listed}; if these "
            "are true eigenvalues, wider networks find them (time_limit, Settings(width=…))"
        )
        warn(notes[-1])
    if tol is not None and found == plan.count and best.worst > tol:
        notes.append(f"the tolerance {tol:g} was not met; the largest relative error is about {best.worst:.1g}")
    return notes


def _collapsed(bases: Sequence[Basis], vectors: Array) -> tuple[tuple[Basis, ...], Array]:
    """Return bases of the eigenfunctions alone where that is smaller, and coefficients in them."""
    if not all(isinstance(basis, Network) for basis in bases):
        return tuple(bases), np.ascontiguousarray(vectors)
    complex_ones = np.iscomplexobj(vectors)
    columns = np.concatenate([vectors.real, vectors.imag], axis=1) if complex_ones else vectors
    own, start = [], 0
    for basis in bases:
        assert isinstance(basis, Network)
        raw = basis.mixing.reshape(basis.raw_size, basis.size) @ columns[start : start + basis.size]
        own.append(Network(basis.hidden, basis.points, basis.fields, outer=raw))
        start += basis.size
    count = vectors.shape[1]
    single = np.concatenate([np.eye(count), 1j * np.eye(count)]) if complex_ones else np.eye(count)
    return tuple(own), np.concatenate([single] * len(own))
