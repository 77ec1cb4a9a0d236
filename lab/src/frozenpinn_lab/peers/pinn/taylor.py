"""Taylor mode: derivatives of any order and any mixture from Taylor polynomials along straight lines.

A polynomial in s with coefficients a₀ … a_K goes through the network layer by layer, so u(z + s v) and with it all
directional derivatives up to order K come out of one pass. For tanh, y' = (1 − y²) a' gives the recurrence

    k y_k = Σⱼ j aⱼ w_{k−j},   w = 1 − y²,

whose cost is quadratic in K; nested automatic differentiation grows exponentially. Mixed derivatives are combinations
of directional ones (Griewank, Utke and Walther 2000),

    ∂^α u = 1/k! Σ_{β ≤ α} (−1)^{|α−β|} Π C(αᵢ, βᵢ) · D_β^k u,   k = |α|,

and a Laplacian is carried along as one number per neuron, whatever the dimension ("forward Laplacian").
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from frozenpinn.language.jets import Jet

Index: TypeAlias = tuple[int, ...]  # how often to differentiate along each coordinate and time; or a direction


def tanh_series(value: Any, slope: Any, series: Sequence[Any], order: int) -> list[Any]:
    """Return the Taylor coefficients 1 … order of tanh(a).

    Parameters
    ----------
    value, slope
        tanh(a₀) and 1 − tanh²(a₀).
    series
        a₁, a₂, …; those that are left out at the end are zero.
    order
        K.
    """
    outer, inner = [value], [slope]
    for k in range(1, order + 1):
        terms = [(j / k) * series[j - 1] * inner[k - j] for j in range(1, min(k, len(series)) + 1)]
        outer.append(sum(terms[1:], terms[0]))
        if k < order:
            inner.append(-_square(outer, k))
    return outer[1:]


def _square(series: Sequence[Any], k: int) -> Any:
    """Return the k-th Taylor coefficient of the square of a series."""
    total = sum((2.0 * series[j] * series[k - j] for j in range(1, (k + 1) // 2)), 2.0 * series[0] * series[k])
    return total if k % 2 else total + series[k // 2] ** 2


def tanh_laplacian(value: Any, slope: Any, gradient: Any, laplacian: Any) -> tuple[Any, Any]:
    """Return gradient (along the first axis) and Laplacian of tanh(a) from those of a."""
    curvature = -2.0 * value * slope
    return slope * gradient, slope * laplacian + curvature * (gradient**2).sum(axis=0)


def multi_indices(jet: Jet) -> dict[Index, int]:
    """Write a derivative as a sum of ∂^α over coordinates and time; Laplacians are expanded."""
    table: dict[Index, int] = {(*jet.alpha, jet.time): 1}
    for _ in range(jet.laps):
        new: dict[Index, int] = {}
        for alpha, count in table.items():
            for axis in range(len(alpha) - 1):
                shifted = tuple(a + 2 * (i == axis) for i, a in enumerate(alpha))
                new[shifted] = new.get(shifted, 0) + count
        table = new
    return table


@lru_cache(maxsize=512)
def directional(alpha: Index) -> dict[Index, float]:
    """Return directions β with coefficients c such that ∂^α = Σ c D_β^|α|.

    Examples
    --------
    >>> directional((0, 3))
    {(0, 1): 1.0}
    >>> directional((1, 1))
    {(0, 1): -0.5, (1, 0): -0.5, (1, 1): 0.5}
    """
    order = sum(alpha)
    axes = [i for i, a in enumerate(alpha) if a]
    if len(axes) == 1:
        return {tuple(int(i == axes[0]) for i in range(len(alpha))): 1.0}
    table: dict[Index, float] = {}
    for beta in itertools.product(*(range(a + 1) for a in alpha)):
        common = math.gcd(*beta)
        if common == 0:
            continue
        sign = (-1) ** (order - sum(beta))
        count = math.prod(math.comb(a, b) for a, b in zip(alpha, beta, strict=True))
        direction = tuple(b // common for b in beta)  # D along a multiple of β is a multiple of D along β
        change = sign * count * common**order / math.factorial(order)
        table[direction] = table.get(direction, 0.0) + change
    return {direction: c for direction, c in table.items() if abs(c) > 1e-14}
