"""Which of the eigenvalues found are true, how wrong they are, and one choice of functions for each.

A value is believed if it reappears on networks that were drawn independently, and if its function satisfies the
equation at points that were not used. The distance from the other networks is the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.basis.protocol import Basis
from frozenpinn.geometry import Domain
from frozenpinn.modes.plan import Attempt, ModePlan

Array = np.ndarray


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
    left = plan.residuals(answer, np.arange(few))
    believed = (distances <= rules.agree * scales) & (left <= rules.residual)
    believed |= (distances <= rules.close * scales) & (left <= rules.residual_most)
    order = plan.order(values)
    chosen = [int(k) for k in order if believed[k]][: plan.count]
    until = list(order).index(chosen[-1]) if chosen else len(order)
    doubtful = values[[] if plan.rightmost else [int(k) for k in order[:until] if not believed[k]]]
    errors = np.maximum(distances, rules.round_off * scales)
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
    done, probes, rules, domain = set[int](), list[Array](), plan.rules, plan.problem.domain
    for k in chosen:
        if k in done:
            continue
        wide, thin = (
            scales[k] * float(np.clip(rules.doubt * errors[k] / scales[k], *bounds))
            for bounds in (rules.group, rules.real)
        )
        group = [j for j in range(len(values)) if j not in done and abs(values[j] - values[k]) <= wide]
        real = bool(np.all(np.abs(np.imag(values[group])) <= thin))
        span = _real_span(vectors[:, group]) if real else np.linalg.qr(vectors[:, group])[0]
        probes += [_probe(bases, domain, q) for q in range(len(probes), span.shape[1])]
        out[:, group] = span @ _rotation(span, np.stack(probes[: span.shape[1]], axis=1))
        if real:
            kept[group] = np.real(kept[group])
        done |= set(group)
    kept, out = kept[list(chosen)], out[:, list(chosen)]
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
