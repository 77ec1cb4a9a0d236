"""Whether a boundary condition says something that others on the same side do not say already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.errors import FrozenPinnError, ProblemError

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.statement.conditions import LinearCondition

Array = np.ndarray


def check_repetition(condition: LinearCondition, before: Sequence[LinearCondition], domain: Domain) -> None:
    """Refuse a condition that adds nothing to the ones before it on the same side.

    Decided by the rank of the coefficients at many points, whatever way the conditions are written: one
    condition may hold on one part of a side and another one on the rest.
    """
    side, text = condition.side, condition.text
    x = domain.sample_side(side, 64, "random", rng=0)
    together = [*before, condition]
    columns = {jet: i for i, jet in enumerate(dict.fromkeys(jet for linear in together for jet in linear.jets))}
    matrices = np.zeros((len(x), len(together), len(columns)))
    for row, linear in enumerate(together):
        for jet, values in zip(linear.jets, linear.coefficients_at(x), strict=True):
            matrices[:, row, columns[jet]] = values
    sizes = np.maximum(np.max(np.abs(matrices), axis=2, keepdims=True), 1e-300)
    matrices /= sizes
    if not np.any(matrices[:, -1]):
        raise ProblemError(f"the boundary condition '{text}' on '{side.name}' imposes nothing; write Free().")
    if before and np.all(
        np.linalg.matrix_rank(matrices, tol=1e-12) == np.linalg.matrix_rank(matrices[:, :-1], tol=1e-12)
    ):
        names = " and ".join(f"'{name}'" for name in condition.fields)
        gap = _contradiction(together, matrices, sizes[:, :, 0], x.x)
        more = f" with another value: they contradict each other by {gap:.3g}. Keep one of them" if gap else ""
        raise ProblemError(f"side '{side.name}' is declared twice for {names}: '{text}' repeats a condition{more}.")


def _contradiction(together: Sequence[LinearCondition], matrices: Array, sizes: Array, x: Array) -> float:
    """Return by how much the last condition, a combination of the others on the left, differs from it on the right."""
    try:
        values = np.stack([c.value(x, 0.0) for c in together], axis=1) / sizes
    except FrozenPinnError:  # not known at this time: what repeats a condition is refused either way
        return 0.0
    gaps = [
        abs(value[-1] - np.linalg.lstsq(rows[:-1].T, rows[-1], rcond=1e-12)[0] @ value[:-1])
        for rows, value in zip(matrices, values, strict=True)
    ]
    worst = int(np.argmax(gaps))
    return float(gaps[worst] * sizes[worst, -1]) if gaps[worst] > 1e-9 * np.max(np.abs(values)) else 0.0
