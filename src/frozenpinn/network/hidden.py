"""The frozen hidden layer: ridge functions σ(w·(x − origin) + offset) and the constant 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frozenpinn.network.activation import activation

Array = np.ndarray
_CHUNK = 4_000_000  # feature values held at a time when rows are mixed straight away


class Derivative(NamedTuple):
    """∂^alpha Δ^laps; a ridge function turns it into w^alpha |w|^(2 laps) σ⁽ᵏ⁾."""

    alpha: tuple[int, ...]
    laps: int = 0

    @property
    def order(self) -> int:
        """Total order k."""
        return sum(self.alpha) + 2 * self.laps


class Term(NamedTuple):
    """coefficient(x)·D of one field; an operator is a sum of such terms."""

    field: str
    derivative: Derivative
    coefficient: Array | float = 1.0


@dataclass(frozen=True)
class HiddenLayer:
    """M frozen neurons in d dimensions, followed by one constant feature.

    Neurons are stored by origin, not by bias alone: w·(x − origin) loses no digits to cancellation,
    w·x + b loses log₁₀|b| of them.

    Attributes
    ----------
    weights, origins
        Shape (M, d).
    offsets
        Shape (M,); the pre-activation at the origin.
    activation
        ``"tanh"`` or ``"sin"``.
    """

    weights: Array
    origins: Array
    offsets: Array
    activation: str = "tanh"

    def __post_init__(self) -> None:
        activation(self.activation)
        for array in (self.weights, self.origins, self.offsets):
            array.flags.writeable = False

    @property
    def width(self) -> int:
        """Number of neurons."""
        return len(self.weights)

    @property
    def size(self) -> int:
        """Number of features: the neurons and the constant."""
        return self.width + 1

    @property
    def dimension(self) -> int:
        """Number of spatial coordinates."""
        return int(self.weights.shape[1])

    @cached_property
    def biases(self) -> Array:
        """The biases b of the usual form σ(w·x + b)."""
        return self.offsets - np.sum(self.weights * self.origins, axis=1)

    def pre_activation(self, x: Array) -> Array:
        """Return w·(x − origin) + offset, shape (n, M)."""
        if self.dimension == 1:
            z = x - self.origins.T
            z *= self.weights.T
            z += self.offsets
            return z
        middle = x.mean(axis=0)
        shift = self.offsets + np.sum(self.weights * (middle - self.origins), axis=1)
        z = (x - middle) @ self.weights.T
        z += shift
        return z

    def factor(self, derivative: Derivative) -> Array:
        """Return w^alpha |w|^(2 laps) for every neuron."""
        factor = np.ones(self.width)
        for axis, power in enumerate(derivative.alpha):
            if power:
                factor = factor * self.weights[:, axis] ** power
        if derivative.laps:
            factor = factor * np.sum(self.weights**2, axis=1) ** derivative.laps
        return factor

    def features(self, x: Array, derivatives: Sequence[Derivative]) -> list[Array]:
        """Return one (n, M + 1) matrix per derivative; the last column belongs to the constant."""
        orders = [d.order for d in derivatives]
        values = activation(self.activation)(self.pre_activation(x), orders)
        result = []
        for derivative, value in zip(derivatives, values, strict=True):
            out = np.empty((len(x), self.size))
            np.multiply(value, self.factor(derivative), out=out[:, :-1])
            out[:, -1] = 1.0 if derivative.order == 0 else 0.0
            result.append(out)
        return result

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of all features, shape (n, M + 1). Fields are ignored here."""
        orders = sorted({term.derivative.order for term in terms})
        values = dict(zip(orders, activation(self.activation)(self.pre_activation(x), orders), strict=True))
        out = np.zeros((len(x), self.size))
        body, constant = out[:, :-1], out[:, -1]
        for order in orders:
            constant_factor = np.zeros(self.width)
            for term in (t for t in terms if t.derivative.order == order):
                coefficient = np.asarray(term.coefficient, dtype=float)
                if coefficient.ndim == 0:
                    constant_factor += coefficient * self.factor(term.derivative)
                else:
                    body += coefficient[:, None] * (values[order] * self.factor(term.derivative))
                if order == 0:
                    constant += coefficient
            if np.any(constant_factor):
                body += values[order] * constant_factor
        return out

    def mixed(self, x: Array, terms: Sequence[Term], mixing: Array) -> Array:
        """Return ``operator(x, terms) @ mixing`` without holding all raw features at once."""
        rows = max(256, _CHUNK // self.size)
        if len(x) <= rows:
            return self.operator(x, terms) @ mixing
        out = np.empty((len(x), mixing.shape[1]))
        for start in range(0, len(x), rows):
            part = slice(start, start + rows)
            cut = [
                Term(t.field, t.derivative, t.coefficient if np.ndim(t.coefficient) == 0 else t.coefficient[part])  # type: ignore[index]
                for t in terms
            ]
            np.matmul(self.operator(x[part], cut), mixing, out=out[part])
        return out
