"""The frozen hidden layer: ridge functions σ(w·(x − origin) + offset), the constant 1, singular functions if any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from frozenpinn.basis.activation import activation

Array = np.ndarray
_CHUNK = 400_000  # feature values held at a time when rows are mixed straight away: a few MB, near the cache


class SpecialFunctions(Protocol):
    """Functions that neurons can't represent: of corners, of holes."""

    @property
    def kind(self) -> str:
        """Name under which :mod:`frozenpinn.basis.special` knows the class."""

    @property
    def table(self) -> Array:
        """All that makes the functions, one row each."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""


class Derivative(NamedTuple):
    """∂^alpha Δ^laps; a ridge function turns it into w^alpha |w|^(2 laps) σ⁽ᵏ⁾."""

    alpha: tuple[int, ...]
    laps: int = 0

    @property
    def order(self) -> int:
        """Total order k."""
        return sum(self.alpha) + 2 * self.laps


def pure(derivative: Derivative, dimension: int) -> list[tuple[tuple[int, ...], float]]:
    """Write ∂^alpha Δ^laps as a sum of pure multi-indices with integer factors."""
    table = {derivative.alpha: 1.0}
    for _ in range(derivative.laps):
        new: dict[tuple[int, ...], float] = {}
        for alpha, factor in table.items():
            for axis in range(dimension):
                shifted = tuple(a + 2 * (i == axis) for i, a in enumerate(alpha))
                new[shifted] = new.get(shifted, 0.0) + factor
        table = new
    return list(table.items())


class Term(NamedTuple):
    """coefficient(x)·D of one field; an operator is a sum of such terms."""

    field: str
    derivative: Derivative
    coefficient: Array | float = 1.0


@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """M frozen neurons in d dimensions, followed by one constant feature and special functions.

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
    singular
        Special functions of corners and holes; None without any.
    """

    weights: Array
    origins: Array
    offsets: Array
    activation: str = "tanh"
    singular: SpecialFunctions | None = None
    _known: dict[int, tuple[Array, dict[int, Array]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        activation(self.activation)
        for name in ("weights", "origins", "offsets"):
            array = np.array(getattr(self, name), dtype=float)  # a copy of our own may be frozen
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_known": {}}

    @property
    def width(self) -> int:
        """Number of neurons."""
        return len(self.weights)

    @property
    def size(self) -> int:
        """Number of features: the neurons, the constant, and singular functions."""
        return self.width + 1 + (0 if self.singular is None else len(self.singular))

    @property
    def dimension(self) -> int:
        """Number of spatial coordinates."""
        return int(self.weights.shape[1])

    @cached_property
    def biases(self) -> Array:
        """The biases b of the usual form σ(w·x + b)."""
        return self.offsets - np.sum(self.weights * self.origins, axis=1)

    def repeats(self, lengths: Array | float, axes: Sequence[bool] = (True,)) -> bool:
        """Whether all neurons have these periods along some axes by themselves, and there are no other features."""
        if self.singular is not None:
            return False
        turns = (self.weights * lengths / (2.0 * np.pi))[:, np.array(axes, dtype=bool)]
        return self.activation == "sin" and bool(np.all(np.abs(turns - np.round(turns)) <= 1e-9))

    def pre_activation(self, x: Array, out: Array | None = None) -> Array:
        """Return w·(x − origin) + offset, shape (n, M)."""
        if self.dimension == 1:
            z = np.subtract(x, self.origins.T, out=out)
            z *= self.weights.T
        else:
            middle = x.mean(axis=0)
            z = np.matmul(x - middle, self.weights.T, out=out)
            z += np.sum(self.weights * (middle - self.origins), axis=1)
        z += self.offsets
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

    def features(self, x: Array) -> Array:
        """Return [φ(x), 1], shape (n, size), in column-major order and without temporary copies."""
        out = np.empty((len(x), self.size), order="F")
        neurons = out[:, : self.width]
        activation(self.activation)(self.pre_activation(x, neurons), [0], out=neurons)
        out[:, self.width] = 1.0
        if self.singular is not None:
            out[:, self.width + 1 :] = self.singular(x, (0,) * self.dimension)
        return out

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of all features, shape (n, size), in column-major order. Fields are ignored here."""
        orders = sorted({term.derivative.order for term in terms})
        if keeps := self._keeps(x):
            found = self._remembered(x, orders)
        else:
            z = self.pre_activation(x, np.empty((len(x), self.width), order="F"))
            found = activation(self.activation)(z, orders)
        values = dict(zip(orders, found, strict=True))
        out = np.zeros((len(x), self.size), order="F")
        body, constant = out[:, : self.width], out[:, self.width]
        for order in orders:
            own = [term for term in terms if term.derivative.order == order]
            varying = [term for term in own if np.ndim(term.coefficient)]
            fixed = [term for term in own if not np.ndim(term.coefficient)]
            if varying:
                coefficients = np.stack([np.asarray(term.coefficient) for term in varying])
                part = (np.stack([self.factor(term.derivative) for term in varying], axis=1) @ coefficients).T
                body += np.multiply(part, values[order], out=part)
            if fixed:
                factor = sum(float(term.coefficient) * self.factor(term.derivative) for term in fixed)
                body += np.multiply(values[order], factor, out=None if keeps else values[order])
            if order == 0:
                constant += sum(np.asarray(term.coefficient) for term in own)
        if self.singular is not None:
            for term in terms:
                part = self.singular(x, term.derivative.alpha, term.derivative.laps)
                out[:, self.width + 1 :] += np.asarray(term.coefficient).reshape(-1, 1) * part
        return out

    def combined(self, x: Array, derivatives: Sequence[Derivative], coefficients: Array) -> list[Array]:
        """Return several derivatives of one combination of all features, (size,), some points at a time."""
        out, rows = [np.empty(len(x)) for _ in derivatives], max(64, _CHUNK // self.size)
        orders = sorted({d.order for d in derivatives})
        weighted = [self.factor(d) * coefficients[: self.width] for d in derivatives]
        keeps = self._keeps(x)
        rows = len(x) if keeps else rows
        for start in range(0, len(x), rows):
            part = slice(start, start + rows)
            if keeps:
                values = self._remembered(x, orders)
            else:
                values = activation(self.activation)(self.pre_activation(x[part]), orders)
            for k, derivative in enumerate(derivatives):
                out[k][part] = values[orders.index(derivative.order)] @ weighted[k]
        for k, derivative in enumerate(derivatives):
            if derivative.order == 0:
                out[k] += coefficients[self.width]
            if self.singular is not None:
                out[k] += self.singular(x, derivative.alpha, derivative.laps) @ coefficients[self.width + 1 :]
        return out

    def _keeps(self, x: Array) -> bool:
        """Whether values at points may be kept: those can't change, and are not too many."""
        most = 3_000_000  # feature values of one order that are kept, at points that can't change
        return not x.flags.writeable and x.base is None and len(x) * self.width <= most

    def _remembered(self, x: Array, orders: Sequence[int]) -> list[Array]:
        """Return derivatives of all neurons at points that can't change; those at the last few sets are kept."""
        sets = 4  # of points at which they are
        at, known = self._known.get(id(x), (None, {}))
        if at is not x:
            known = {}
            while len(self._known) >= sets:
                self._known.pop(next(iter(self._known)))
            self._known[id(x)] = (x, known)  # which keeps x alive, so that its identity means it
        missing = [order for order in orders if order not in known]
        if missing:
            known |= dict(zip(missing, activation(self.activation)(self.pre_activation(x), missing), strict=True))
        return [known[order] for order in orders]

    def mixed(self, x: Array, terms: Sequence[Term], mixing: Array) -> Array:
        """Return ``operator(x, terms) @ mixing`` without holding all raw features at once."""
        rows = max(64, _CHUNK // self.size)
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
