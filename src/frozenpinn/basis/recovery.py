"""A function from given derivatives of it, as a pressure from its gradient: by least squares, up to a constant.

On boxes it is a sum of products of Legendre polynomials, or of waves along periodic axes, where the normal equations of
a gradient are a sum over the axes; elsewhere, and for other derivatives, a combination of neurons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term, pure
from frozenpinn.basis.samplers import MultiScale
from frozenpinn.basis.svd_layer import pseudo_inverse
from frozenpinn.geometry import Box, Domain
from frozenpinn.geometry.points import Points

Array = np.ndarray
Operators: TypeAlias = Sequence[Mapping[tuple[int, ...], float]]


class Recovery(Protocol):
    """Finds coefficients of a function from its images under some operators at points, and evaluates it."""

    @property
    def points(self) -> Points:
        """Where the images are needed."""

    @property
    def constant(self) -> Array:
        """The coefficients of the function 1."""

    def coefficients(self, images: Sequence[Array]) -> Array:
        """Return coefficients for images of shape (points, times); the mean of the function is zero."""

    def values(self, x: Array, derivative: Derivative, coefficients: Array) -> Array:
        """Return a derivative at points, shape (points, times)."""

    def on_grid(self, axes: Sequence[Array], derivative: Derivative, coefficients: Array) -> Array:
        """Return a derivative on a grid, shape (n₁, n₂, …, times)."""


def recovery(domain: Domain, operators: Operators) -> Recovery:
    """Return what recovers a function on a domain from its images under operators with constant coefficients."""
    single = all(len(own) == 1 and sum(next(iter(own))) == 1 for own in operators)
    if isinstance(domain, Box) and single and 2 <= domain.dimension <= 3:
        return AlongAxes(domain, tuple(operators))
    return OfNeurons(domain, tuple(operators))


@dataclass(frozen=True, eq=False)
class _Axis:
    """Orthonormal functions of one coordinate: Legendre polynomials, or waves of a period."""

    lower: float
    length: float
    periodic: bool
    count: int

    def values(self, x: Array) -> Array:
        """Return all functions at coordinates, shape (n, count)."""
        s = (x - self.lower) / self.length
        if not self.periodic:
            degrees = np.sqrt((2.0 * np.arange(self.count) + 1.0) / self.length)
            return np.asarray(np.polynomial.legendre.legvander(2.0 * s - 1.0, self.count - 1) * degrees)
        phases = 2.0 * np.pi * np.outer(s, np.arange(1, self.count // 2 + 1))
        waves = np.stack([np.cos(phases), np.sin(phases)], axis=2).reshape(len(x), -1) * np.sqrt(2.0 / self.length)
        return np.concatenate([np.full((len(x), 1), 1.0 / np.sqrt(self.length)), waves], axis=1)

    @cached_property
    def slopes(self) -> Array:
        """The matrix that differentiates coefficients."""
        n = self.count
        out = np.zeros((n, n))
        if self.periodic:
            for k in range(1, n // 2 + 1):
                speed = 2.0 * np.pi * k / self.length
                out[2 * k, 2 * k - 1], out[2 * k - 1, 2 * k] = -speed, speed
            return out
        for j in range(n):  # P'_j is the sum of (2k + 1) P_k over k = j − 1, j − 3, …
            for k in range(j - 1, -1, -2):
                out[k, j] = 2.0 / self.length * np.sqrt((2.0 * j + 1.0) * (2.0 * k + 1.0))
        return out


@dataclass(frozen=True, eq=False)
class AlongAxes:
    """Products along the axes of a box, for a gradient whose components may have factors."""

    domain: Box
    operators: tuple[Mapping[tuple[int, ...], float], ...]

    @cached_property
    def points(self) -> Points:
        """A grid that integrates products of two functions."""
        counts = [axis.count + (3 if axis.periodic else 4) for axis in self._axes]
        return self.domain.sample(counts, "spectral")

    @cached_property
    def _axes(self) -> tuple[_Axis, ...]:
        count = {2: 49, 3: 17}[self.domain.dimension]
        ends = zip(self.domain.lower, self.domain.lengths, self.domain.periodic, strict=True)
        return tuple(_Axis(float(a), float(length), bool(p), count) for a, length, p in ends)

    @cached_property
    def _modes(self) -> tuple[list[Array], list[Array], Array]:
        """Eigenvectors along each axis, transforms of values at the points, and the eigenvalues of all."""
        factors = self._factors
        eigen = [sla.eigh((f * own.slopes).T @ (f * own.slopes)) for own, f in zip(self._axes, factors, strict=True)]
        weighted = [
            (own.values(x) * w[:, None]).T
            for own, x, w in zip(self._axes, self.points.axes, self.points.axis_weights, strict=True)
        ]
        total = np.zeros(())
        for values, _ in eigen:
            total = np.add.outer(total, values)
        return [vectors for _, vectors in eigen], weighted, total

    @cached_property
    def _factors(self) -> list[float]:
        """The factor of the derivative along each axis, 0 without one."""
        factors = [0.0] * self.domain.dimension
        for own in self.operators:
            ((alpha, factor),) = own.items()
            factors[alpha.index(1)] = factor
        return factors

    @cached_property
    def constant(self) -> Array:
        """The first function, divided by its value."""
        out = np.zeros([own.count for own in self._axes])
        out[(0,) * len(self._axes)] = np.sqrt(self.domain.measure)
        return out

    def coefficients(self, images: Sequence[Array]) -> Array:
        """Solve the normal equations in their modes."""
        round_off = 1e-13  # of the largest eigenvalue, below which there is a constant along the axes that matter
        vectors, weighted, eigenvalues = self._modes
        shape = [len(own) for own in self.points.axes]
        total: Array | float = 0.0
        for own, image in zip(self.operators, images, strict=True):
            ((alpha, factor),) = own.items()
            axis = alpha.index(1)
            found = _along(weighted, np.reshape(image, (*shape, -1)))
            total = total + np.moveaxis(np.tensordot(factor * self._axes[axis].slopes.T, found, (1, axis)), 0, axis)
        found = _along([v.T for v in vectors], np.asarray(total))
        kept = eigenvalues > round_off * np.max(eigenvalues)
        found *= np.where(kept, 1.0 / np.where(kept, eigenvalues, 1.0), 0.0)[..., None]
        return _along(vectors, found)

    def values(self, x: Array, derivative: Derivative, coefficients: Array) -> Array:
        """Return a derivative at points."""
        tables = [own.values(c) for own, c in zip(self._axes, x.T, strict=True)]
        return self._summed(tables, derivative, coefficients, grid=False)

    def on_grid(self, axes: Sequence[Array], derivative: Derivative, coefficients: Array) -> Array:
        """Return a derivative on a grid."""
        tables = [own.values(c) for own, c in zip(self._axes, axes, strict=True)]
        return self._summed(tables, derivative, coefficients, grid=True)

    def _summed(self, tables: list[Array], derivative: Derivative, coefficients: Array, grid: bool) -> Array:
        total: Array | float = 0.0
        for alpha, factor in pure(derivative, self.domain.dimension):
            powers = [np.linalg.matrix_power(own.slopes, k) for own, k in zip(self._axes, alpha, strict=True)]
            own = [table @ power for table, power in zip(tables, powers, strict=True)]
            total = total + factor * (_along(own, coefficients) if grid else _at_points(own, coefficients))
        return np.asarray(total)


def _along(matrices: Sequence[Array], tensor: Array) -> Array:
    """Multiply by a matrix along each of the first axes."""
    for axis, matrix in enumerate(matrices):
        tensor = np.moveaxis(np.tensordot(matrix, tensor, (1, axis)), 0, axis)
    return tensor


def _at_points(tables: Sequence[Array], coefficients: Array) -> Array:
    """Return Σ of products of functions, at scattered points, some at a time."""
    rows = max(16, 4_000_000 // coefficients[0].size)
    out = []
    for start in range(0, len(tables[0]), rows):
        own = [table[start : start + rows] for table in tables]
        found = np.tensordot(own[0], coefficients, (1, 0))
        for table in own[1:]:
            found = np.einsum("nk,nk...->n...", table, found)
        out.append(found)
    return np.concatenate(out) if out else np.zeros((0, coefficients.shape[-1]))


@dataclass(frozen=True, eq=False)
class OfNeurons:
    """A combination of neurons, on any domain."""

    domain: Domain
    operators: tuple[Mapping[tuple[int, ...], float], ...]
    width: int = 400

    @cached_property
    def points(self) -> Points:
        """Points of the domain, about four for each neuron."""
        return self.domain.sample(4 * self.width, "gauss", 0)

    @cached_property
    def _hidden(self) -> HiddenLayer:
        return MultiScale(self.width).sample(self.points, np.random.default_rng(0))

    @cached_property
    def _inverse(self) -> Array:
        """The map from weighted images to coefficients, without the constant."""
        cutoff = 1e-11
        weights = np.sqrt(self.points.weights)[:, None]
        rows = [weights * self._rows(own) for own in self.operators]
        found, _ = pseudo_inverse(np.concatenate(rows)[:, :-1], cutoff)
        return found

    def _rows(self, operator: Mapping[tuple[int, ...], float]) -> Array:
        terms = [Term("", Derivative(alpha), factor) for alpha, factor in operator.items()]
        return self._hidden.operator(self.points.x, terms)

    @property
    def constant(self) -> Array:
        """The constant feature."""
        return np.eye(1, self.width + 1, self.width)[0]

    def coefficients(self, images: Sequence[Array]) -> Array:
        """Return the least-squares fit."""
        weights = np.sqrt(self.points.weights)[:, None]
        found = self._inverse @ np.concatenate([weights * image for image in images])
        shares = self.points.weights / np.sum(self.points.weights)
        mean = shares @ self._hidden.features(self.points.x)[:, :-1] @ found
        return np.concatenate([found, -mean[None]])

    def values(self, x: Array, derivative: Derivative, coefficients: Array) -> Array:
        """Return a derivative at points."""
        return self._hidden.mixed(x, [Term("", derivative)], coefficients)

    def on_grid(self, axes: Sequence[Array], derivative: Derivative, coefficients: Array) -> Array:
        """Return a derivative on a grid."""
        x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return self.values(x, derivative, coefficients).reshape(*map(len, axes), -1)
