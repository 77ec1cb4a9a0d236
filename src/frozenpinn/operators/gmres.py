"""GMRES on arrays, for few products with small vectors: where every call counts, not only every operation."""

from __future__ import annotations

from collections.abc import Callable
from math import hypot

import numpy as np
from scipy.linalg.lapack import dtrtrs

Array = np.ndarray


def gmres(
    product: Callable[[Array], Array], target: Array, rtol: float, inner: int, restarts: int
) -> tuple[Array, float]:
    """Solve A x = b by products with A; return x and what is left, relative to b.

    Parameters
    ----------
    product
        x → A x.
    target
        b.
    rtol
        What may be left, relative to b.
    inner, restarts
        Products before a restart, and how often there is a start.

    Examples
    --------
    >>> gmres(lambda x: np.array([2.0, 4.0]) * x, np.array([2.0, 2.0]), 1e-12, 10, 1)[0]
    array([1. , 0.5])
    """
    size = float(np.sqrt(target @ target))
    x = np.zeros(len(target))
    if not 0.0 < size < np.inf:
        return x, 0.0 if size == 0.0 else float("inf")
    rest, gap = target, size
    for start in range(restarts):
        if start:
            rest = target - product(x)
            gap = float(np.sqrt(rest @ rest))
        if not gap > rtol * size:
            break
        step, gap = _cycle(product, rest, gap, rtol * size, min(inner, len(target)))
        x = x + step
    return x, gap / size


def _cycle(product: Callable[[Array], Array], rest: Array, gap: float, least: float, inner: int) -> tuple[Array, float]:
    """Return the best combination of the next few powers of A, and what it leaves."""
    round_off = 1e-15  # part of a new direction that is left when it is no new one
    basis = np.empty((inner + 1, len(rest)))
    basis[0] = rest / gap
    triangle = np.zeros((inner, inner))
    turns, right = list[tuple[float, float]](), [gap]
    for k in range(inner):
        moved = product(basis[k])
        own = basis[: k + 1]
        before = float(np.sqrt(moved @ moved))
        along = own @ moved
        moved = moved - along @ own
        again = own @ moved  # once more: the first pass loses digits
        moved -= again @ own
        column, after = (along + again).tolist(), float(np.sqrt(moved @ moved))
        for i, (c, s) in enumerate(turns):
            column[i], column[i + 1 :] = (
                c * column[i] + s * column[i + 1],
                [c * column[i + 1] - s * column[i], *column[i + 2 :]],
            )
        length = hypot(column[k], after)
        if not 0.0 < length < np.inf:
            return (
                (_combined(triangle[:k, :k], right[:k], basis[:k]), abs(right[k])) if k else (np.zeros(len(rest)), gap)
            )
        turns.append((column[k] / length, after / length))
        column[k] = length
        triangle[: k + 1, k] = column
        right[k:] = [turns[k][0] * right[k], -turns[k][1] * right[k]]
        if abs(right[k + 1]) <= least or after <= round_off * before or k + 1 == inner:
            break
        basis[k + 1] = moved / after
    return _combined(triangle[: k + 1, : k + 1], right[: k + 1], basis[: k + 1]), abs(right[k + 1])


def _combined(triangle: Array, right: list[float], basis: Array) -> Array:
    """Return the combination of directions whose factors solve a triangular system."""
    return np.asarray(dtrtrs(triangle, np.array(right))[0] @ basis)
