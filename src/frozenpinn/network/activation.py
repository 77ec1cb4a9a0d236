"""Activation functions with derivatives of any order in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from frozenpinn.errors import SettingsError, choices

Array = np.ndarray
Activation = Callable[[Array, Sequence[int]], list[Array]]


@lru_cache(maxsize=64)
def tanh_polynomial(order: int) -> tuple[float, ...]:
    """Return the coefficients of Pₖ with tanh⁽ᵏ⁾ = Pₖ(tanh), from Pₖ₊₁(s) = (1 − s²)·Pₖ′(s)."""
    if order == 0:
        return (0.0, 1.0)
    derivative = np.polynomial.polynomial.polyder(tanh_polynomial(order - 1))
    return tuple(np.polynomial.polynomial.polymul(derivative, (1.0, 0.0, -1.0)))


def tanh(z: Array, orders: Sequence[int]) -> list[Array]:
    """Return tanh⁽ᵏ⁾(z) for each k in ``orders``; z is overwritten.

    Every Pₖ beyond the function itself has the factor sech² = (1 − s)(1 + s), and what remains is
    even or odd in s, so Horner runs in s².
    """
    s = np.tanh(z, out=z)
    if max(orders) == 0:
        return [s for _ in orders]
    square = s * s
    sech2 = 1.0 - square
    return [s if k == 0 else _tanh_derivative(k, s, square, sech2) for k in orders]


def _tanh_derivative(order: int, s: Array, square: Array, sech2: Array) -> Array:
    if order == 1:
        return sech2
    quotient = _sech2_quotient(order)
    odd = (len(quotient) - 1) % 2
    reduced = quotient[odd::2]
    value = np.full_like(s, reduced[-1])
    for coefficient in reduced[-2::-1]:
        value *= square
        value += coefficient
    value *= sech2
    if odd:
        value *= s
    return value


@lru_cache(maxsize=64)
def _sech2_quotient(order: int) -> tuple[float, ...]:
    return tuple(np.polynomial.polynomial.polydiv(tanh_polynomial(order), (1.0, 0.0, -1.0))[0])


def sin(z: Array, orders: Sequence[int]) -> list[Array]:
    """Return sin⁽ᵏ⁾(z) for each k in ``orders``."""
    table: dict[int, Array] = {}
    for k in {order % 4 for order in orders}:
        value = np.sin(z) if k % 2 == 0 else np.cos(z)
        table[k] = -value if k >= 2 else value
    return [table[order % 4] for order in orders]


ACTIVATIONS: dict[str, Activation] = {"tanh": tanh, "sin": sin}


def activation(name: str) -> Activation:
    """Look an activation up by name."""
    if name not in ACTIVATIONS:
        raise SettingsError(f"unknown activation '{name}'; choose one of {choices(ACTIVATIONS)}.")
    return ACTIVATIONS[name]
