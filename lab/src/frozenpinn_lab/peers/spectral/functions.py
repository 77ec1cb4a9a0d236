"""Functions of the linear part, wave by wave: numbers, or small matrices where it couples fields.

A linear part of m components is an array (m, …) if it is diagonal, and (m, m, …) if it is not; the other axes are those
of the coefficients. Functions of it have the same shape.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np

Array = np.ndarray
Functions = Callable[[Array], tuple[Array, ...]]
_NODES = 32  # on circles around eigenvalues that are nearly equal
_TERMS = 20  # of Taylor series within the unit circle
_NEAR = 0.1  # distance of two eigenvalues below which differences of their functions lose digits
_ILL = 1e5  # condition of eigenvectors from which on they are not used


def exponential(z: Array) -> tuple[Array, ...]:
    """Return exp(z) alone, for closed forms in time."""
    return (np.exp(z),)


def phi(z: Array) -> tuple[Array, Array, Array]:
    """Return φ₁, φ₂, φ₃ with φₖ = (φₖ₋₁ − 1/(k−1)!)/z and φ₀ = exp; by their series where |z| < 1."""
    small = np.abs(z) < 1
    safe = np.where(small, 1.0, z)
    first = np.expm1(safe) / safe
    second = (first - 1) / safe
    third = (second - 0.5) / safe
    if np.any(small):
        inner = z[small]
        series = np.zeros_like(inner)
        for k in reversed(range(_TERMS)):
            series = series * inner + 1 / factorial(k + 3)
        third[small] = series
        second[small] = 0.5 + inner * series
        first[small] = 1 + inner * second[small]
    return first, second, third


class Step(NamedTuple):
    """Coefficients of one step of ETDRK4 (Cox and Matthews 2002)."""

    full: Array
    half: Array
    stage: Array
    first: Array
    middle: Array
    last: Array


class Linear(NamedTuple):
    """The linear part: numbers (m, …) if it is diagonal, else matrices (m, m, …)."""

    table: Array
    diagonal: bool


def step_of(linear: Linear, h: float) -> Step:
    """Return the coefficients of a step of length h."""

    def functions(z: Array) -> tuple[Array, ...]:
        one, two, three = phi(z)
        weights = (one - 3 * two + 4 * three, 2 * two - 4 * three, 4 * three - two)
        return np.exp(z), np.exp(z / 2), phi(z / 2)[0] / 2, *weights

    full, half, *weights = matrix_functions(functions, linear, h)
    return Step(full, half, *(h * weight for weight in weights))


def advanced(v: Array, t: float, h: float, c: Step, explicit: Callable[[Array, float], Array]) -> Array:
    """Take one step of ETDRK4 of v' = linear·v + explicit(v, t)."""
    nv = explicit(v, t)
    free = applied(c.half, v)
    a = free + applied(c.stage, nv)
    na = explicit(a, t + h / 2)
    nb = explicit(free + applied(c.stage, na), t + h / 2)
    end = applied(c.half, a)
    end += applied(c.stage, 2 * nb - nv)
    nb += na
    new = applied(c.full, v)
    for table, part in ((c.first, nv), (c.middle, nb), (c.last, explicit(end, t + h))):
        new += applied(table, part)
    return new


def applied(table: Array, v: Array) -> Array:
    """Multiply components (m, …) by numbers or by matrices."""
    if table.ndim == v.ndim:
        return np.asarray(table * v)
    result = table[:, 0] * v[0]
    for j in range(1, len(v)):
        result += table[:, j] * v[j]
    return np.asarray(result)


def matrix_functions(functions: Functions, linear: Linear, time: float) -> tuple[Array, ...]:
    """Return functions of the linear part times some time."""
    a = linear.table * time
    if linear.diagonal:
        return functions(a)
    found = _of_pairs(functions, a) if len(a) == 2 else _of_eigenvectors(functions, a)
    return found if np.iscomplexobj(a) else tuple(np.ascontiguousarray(f.real) for f in found)


def _of_pairs(functions: Functions, a: Array) -> tuple[Array, ...]:
    """Return f(A) = ½(f₊ + f₋) I + (f₊ − f₋)/(2s) (A − μI) for matrices 2 × 2 of eigenvalues μ ± s."""
    mean = (a[0, 0] + a[1, 1]) / 2
    shifted = a.copy()
    shifted[0, 0] -= mean
    shifted[1, 1] -= mean
    s = np.sqrt((shifted[0, 0] ** 2 + a[0, 1] * a[1, 0]).astype(complex))
    near = np.abs(s) < _NEAR
    safe = np.where(near, 1.0, s)
    plus, minus = functions(mean + s), functions(mean - s)
    odd = [(p - q) / (2 * safe) for p, q in zip(plus, minus, strict=True)]
    if np.any(near):
        circle = np.exp(2j * np.pi * (np.arange(_NODES) + 0.5) / _NODES)
        around = functions(mean[near][:, None] + circle)
        weights = circle / (circle**2 - s[near][:, None] ** 2)
        for difference, values in zip(odd, around, strict=True):
            difference[near] = np.mean(values * weights, axis=1)
    found = []
    for p, q, difference in zip(plus, minus, odd, strict=True):
        f = difference * shifted
        f[0, 0] += (p + q) / 2
        f[1, 1] += (p + q) / 2
        found.append(f)
    return tuple(found)


def _of_eigenvectors(functions: Functions, a: Array) -> tuple[Array, ...]:
    """Return f(A) = V f(Λ) V⁻¹; where V is ill-conditioned, by an integral around all eigenvalues."""
    m = len(a)
    rows = np.moveaxis(a.reshape(m, m, -1), -1, 0)
    values, vectors = np.linalg.eig(rows)
    ill = ~(np.linalg.cond(vectors) < _ILL)
    vectors = np.where(ill[:, None, None], np.eye(m), vectors)
    inverse = np.linalg.inv(vectors)
    found = [(vectors * f[:, None, :]) @ inverse for f in functions(values.astype(complex))]
    if np.any(ill):
        centre = np.trace(rows[ill], axis1=1, axis2=2) / m
        radius = 1 + 1.5 * np.max(np.abs(values[ill] - centre[:, None]), axis=1)
        unit = np.exp(2j * np.pi * (np.arange(4 * _NODES) + 0.5) / (4 * _NODES))
        nodes = radius[:, None] * unit
        around = functions(centre[:, None] + nodes)
        shifts = (centre[:, None] + nodes)[:, :, None, None] * np.eye(m)
        resolvents = nodes[:, :, None, None] * np.linalg.inv(shifts - rows[ill][:, None])
        for f, g in zip(found, around, strict=True):
            f[ill] = np.mean(g[:, :, None, None] * resolvents, axis=1)
    return tuple(np.moveaxis(f, 0, -1).reshape(a.shape) for f in found)
