"""The search for eigenvalues: an answer and its witnesses, wider ones until the tolerance is met.

A value is believed if it reappears on networks that were drawn independently, and if its function satisfies the
equation at points that were not used. The distance from the other networks is the error.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis
from frozenpinn.errors import BudgetError, ConvergenceError, warn
from frozenpinn.geometry import Domain
from frozenpinn.modes.plan import Attempt, ModePlan
from frozenpinn.modes.result import Modes, ModesReport
from frozenpinn.runtime.budget import Budget, amount
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Progress
from frozenpinn.search.unresolved import judged_features
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_SEEDS = 7919  # between the seeds of two networks


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
        return float(self.missing(count)), float("inf") if np.isnan(self.worst) else self.worst


def find_modes(
    plan: ModePlan, shown: Problem, tol: float | None, seed: int, budget: Budget, progress: Progress | None
) -> Modes:
    """Find eigenvalues and their functions; ``shown`` is the problem that they belong to."""
    started, rounds = time.perf_counter(), list[Round]()
    grows = plan.settings.width is None and isinstance(plan.settings.sampler, str | None)
    tries, growth = 3, 1.5  # widths without a tolerance, and from one to the next
    while True:
        _check_memory(plan, budget)
        if progress is not None:
            progress(f"eigenvalues with {plan.width} neurons{' per axis' if plan.product else ''}")
        rounds.append(_round(plan, seed + 3 * _SEEDS * len(rounds)))
        if rounds[-1].meets(plan.count, tol) or not grows:
            break
        if tol is None and len(rounds) >= tries:
            break
        wider = plan.wider(growth)
        power = 1.0 if plan.product else 3.0
        if rounds[-1].seconds * growth**power > budget.left or _stalls(rounds, plan.count):
            break
        if _bytes(wider) > budget.bytes:
            break
        plan = wider
    best = min(rounds, key=lambda r: r.rank(plan.count))
    if not len(best.judged.values):
        texts = [f.describe(plan.problem.domain.coordinates) for f in judged_features(plan.problem)]
        narrow = f" Formulas are narrow: {texts[0]}." if texts else ""
        raise ConvergenceError(
            f"no eigenvalue was found: none of the values on {best.answer.width} neurons reappears on others. Is the "
            "problem well posed, with as many conditions as the equations need? Give time_limit for wider networks."
            f"{narrow}"
        )
    return _made(plan, shown, best, rounds, tol, time.perf_counter() - started)


def _round(plan: ModePlan, seed: int) -> Round:
    started = time.perf_counter()
    answer = plan.attempt(seed)
    widths = (1.1, 1.2)  # of networks that estimate the error, relative to that of the answer
    witnesses = [plan.wider(share).attempt(seed + _SEEDS * (k + 1), functions=False) for k, share in enumerate(widths)]
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
    copies = 6.0  # of a table of the features that a solve holds
    return 8.0 * copies * per_neuron * float(plan.width * len(plan.problem.fields)) ** 2


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
        near = _beside(best.judged)
        if len(near):
            notes.append(
                f"others may belong to the same cluster as {complex(near[0]):.6g}, of which this may be a part"
            )
            warn(notes[-1])
    if tol is not None and found == plan.count and not best.worst <= tol:
        notes.append(f"the tolerance {tol:g} was not met; the largest relative error is about {best.worst:.1g}")
    return notes


def _beside(judged: Judged) -> Array:
    """Return the believed values near which others were left out: a cluster may have more members than were found."""
    near = 0.05  # relative distance
    gaps = np.abs(judged.values[:, None] - judged.doubtful[None, :])
    return judged.values[np.any(gaps <= near * judged.scales[:, None], axis=1)]


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


# ---- which values are true --------------------------------------------------------------------------


class Judged(NamedTuple):
    """Eigenvalues that are believed, with errors, residuals and coefficients, and those that are not.

    ``scales`` are the sizes that errors are compared with.
    """

    values: Array
    errors: Array
    residuals: Array
    vectors: Array
    scales: Array
    doubtful: Array


def judge(plan: ModePlan, answer: Attempt, witnesses: Sequence[Attempt]) -> Judged:
    """Return the eigenvalues that are believed, as many as asked for or fewer."""
    rules, many = plan.rules, plan.count + plan.rules.more
    few = len(answer.values) if plan.rightmost else min(len(answer.values), many)
    values, vectors = answer.values[:few], answer.vectors[:, :few]
    scales = np.maximum(np.abs(values), rules.small * plan.reference(answer.values))
    distances = np.max([_distances(values, w.values[: few + 2 * rules.more], scales) for w in witnesses], axis=0)
    left, missed = plan.residuals(answer, np.arange(few)), plan.missed(answer, np.arange(few))
    agree, residual = 1e-2, 0.1  # a value reappears, and its function leaves no more than that of the equation
    close, residual_most = 1e-4, 0.6  # a value reappears very closely, and its function leaves more
    believed = (distances <= agree * scales) & (left <= residual)
    believed |= (distances <= close * scales) & (left <= residual_most)
    believed &= missed <= agree * scales
    order = plan.order(values)
    chosen = [int(k) for k in order if believed[k]][: plan.count]
    until = list(order).index(chosen[-1]) if chosen else len(order)
    doubtful = values[[] if plan.rightmost else [int(k) for k in order[:until] if not believed[k]]]
    round_off = 4e-15  # relative error of a value that is taken for granted
    shared = 0.03  # part of a squared residual that all networks may be wrong by, on thin rings alike
    errors = np.maximum(distances, np.maximum(round_off, shared * left**2) * scales) + missed
    kept, basis = _functions(values, vectors, errors, scales, chosen, answer.bases, plan)
    return Judged(kept, errors[chosen], left[chosen], basis, scales[chosen], doubtful)


def _distances(values: Array, others: Array, scales: Array) -> Array:
    """Return the distance of each value from its counterpart among others, all counterparts being different."""
    from scipy.optimize import linear_sum_assignment  # it takes a tenth of a second, which few need

    gaps = np.abs(values[:, None] - others[None, :])
    rows, columns = linear_sum_assignment(np.minimum(gaps / scales[:, None], 1.0))
    out = np.full(len(values), np.inf)
    out[rows] = gaps[rows, columns]
    return out


# ---- one choice of functions ----------------------------------------------------------------------------


def _functions(
    values: Array,
    vectors: Array,
    errors: Array,
    scales: Array,
    chosen: Sequence[int],
    bases: Sequence[Basis],
    plan: ModePlan,
) -> tuple[Array, Array]:
    """Return values, real where they are, and functions that depend on the eigenspaces only, not on the network."""
    kept, out = np.array(values, dtype=complex), np.array(vectors, dtype=complex)
    done, probes, domain = set[int](), list[Array](), plan.problem.domain
    of_complex_fields = bool(plan.eigenproblem.pairs)  # values of (a, b) are those of a + i b
    doubt = 3.0  # errors within which values count as one, and imaginary parts as zero
    of_values, of_parts = (1e-10, 1e-6), (1e-9, 1e-3)  # bounds of both, relative to the value
    for k in chosen:
        if k in done:
            continue
        wide, thin = (
            scales[k] * float(np.clip(doubt * errors[k] / scales[k], *bounds)) for bounds in (of_values, of_parts)
        )
        group = [j for j in range(len(values)) if j not in done and abs(values[j] - values[k]) <= wide]
        real = bool(np.all(np.abs(np.imag(values[group])) <= thin))
        span = _real_span(vectors[:, group]) if real and not of_complex_fields else np.linalg.qr(vectors[:, group])[0]
        probes += [_probe(bases, domain, q) for q in range(len(probes), span.shape[1])]
        out[:, group] = span @ _rotation(span, np.stack(probes[: span.shape[1]], axis=1))
        if real:
            kept[group] = np.real(kept[group])
        done |= set(group)
    kept, out = kept[list(chosen)], out[:, list(chosen)]
    if of_complex_fields:
        out = 2.0**0.5 * out.real
    if np.all(kept.imag == 0.0):
        return kept.real, out.real
    return kept, out


def _real_span(vectors: Array) -> Array:
    """Return an orthonormal basis of real vectors that span, up to round-off, the same as complex ones."""
    both = np.concatenate([vectors.real, vectors.imag], axis=1) if np.iscomplexobj(vectors) else vectors
    return np.asarray(np.linalg.svd(both, full_matrices=False)[0][:, : vectors.shape[1]])


def _rotation(span: Array, probes: Array) -> Array:
    """Return the unitary matrix that makes inner products with fixed functions triangular, with a positive diagonal."""
    q, r = np.linalg.qr(span.conj().T @ probes)
    diagonal = np.diag(r)
    return np.asarray(q * (diagonal / np.where(np.abs(diagonal) > 0, np.abs(diagonal), 1.0)))


def _probe(bases: Sequence[Basis], domain: Domain, index: int) -> Array:
    """Return the coefficients of a fixed function without any symmetry."""
    parts, count = [], 0
    for basis in bases:
        x, targets = basis.points.x, []
        place = (2.0 * x - domain.lower - domain.upper) / domain.lengths
        for _ in basis.fields:
            slopes = np.cos(1.0 + 2.0 * index + 3.0 * count + np.arange(x.shape[1]))
            targets.append(np.exp(place @ (0.4 + 0.5 * slopes) + 0.7 * np.sin(place @ (1.0 + index - slopes))))
            count += 1
        parts.append(np.asarray(basis.projector() @ np.concatenate(targets)))
    return np.concatenate(parts)
