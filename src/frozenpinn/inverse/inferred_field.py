"""A field that was inferred from measurements: a function with an error bar at every point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from frozenpinn.errors import EvaluationError
from frozenpinn.geometry import Domain

Array = np.ndarray
_STEP = 1e-4  # of a difference, in units of the domain


@dataclass(frozen=True, eq=False, repr=False)
class InferredField:
    """A function of the coordinates, with its uncertainty.

    Attributes
    ----------
    name, domain, arguments
        What it is, where, and of what it is a function.
    functions
        Returns the functions it is combined of at points (n, d), shape (n, size).
    start, mean, covariance
        What is added to their combination, their coefficients, and how sure these are.
    positive
        Whether the combination is the logarithm of the field.
    effective
        How many of the coefficients the data tell about; the others rest on the prior.
    level
        Of :meth:`band`.
    steep
        If the field may jump: by how much the place of a change is uncertain, which then is part of the deviations; a
        smooth field has 0.

    Examples
    --------
    >>> found = fp.infer(problem, data)  # doctest: +SKIP
    >>> value, deviation = found.field("gamma")(0.3, 0.4, std=True)  # doctest: +SKIP
    """

    name: str
    domain: Domain
    arguments: tuple[str, ...]
    functions: Callable[[Array], Array]
    start: float
    mean: Array
    covariance: Array
    positive: bool
    effective: float
    level: float = 0.95
    steep: float = 0.0

    def __repr__(self) -> str:
        return f"InferredField('{self.name}', {self.effective:.3g} effective degrees of freedom)"

    def __call__(self, *where: Any, std: bool = False) -> Any:
        """Return the values at coordinates, given as arrays that broadcast; with ``std``, their deviations, too."""
        x, shape = self._points(where)
        inner, deviations = self._inner(x)
        values = np.exp(inner) if self.positive else inner
        spread = values * deviations if self.positive else deviations
        return (values.reshape(shape), spread.reshape(shape)) if std else values.reshape(shape)

    def band(self, *where: Any, level: float | None = None) -> tuple[Array, Array]:
        """Return between which values the field lies at each point, with the probability ``level``."""
        x, shape = self._points(where)
        inner, deviations = self._inner(x)
        width = float(ndtri(0.5 + (self.level if level is None else level) / 2.0)) * deviations
        ends = (inner - width, inner + width)
        low, high = (np.exp(end) if self.positive else end for end in ends)
        return low.reshape(shape), high.reshape(shape)

    def sample(self, n: int, *where: Any, seed: int = 0) -> Array:
        """Draw n fields, and return their values at coordinates, shape (n, …)."""
        x, shape = self._points(where)
        drawn = np.random.default_rng(seed).multivariate_normal(self.mean, self.covariance, size=n, method="eigh")
        inner = self.start + drawn @ self.functions(x).T
        return (np.exp(inner) if self.positive else inner).reshape(n, *shape)

    def _inner(self, x: Array) -> tuple[Array, Array]:
        rows = self.functions(x)
        variances = np.einsum("ij,jk,ik->i", rows, self.covariance, rows, optimize=True)
        if self.steep:
            variances = variances + (self.steep * self.slope(x)) ** 2
        return self.start + rows @ self.mean, np.sqrt(np.maximum(variances, 0.0))

    def slope(self, x: Array) -> Array:
        """Return the length of the gradient of what the field, or its logarithm, is combined of."""
        squares, sizes = np.zeros(len(x)), np.asarray(self.domain.lengths, dtype=float)
        for axis, size in enumerate(sizes):
            step = np.zeros(len(sizes))
            step[axis] = _STEP * size
            change = (self.functions(x + step) - self.functions(x - step)) @ self.mean / (2.0 * _STEP * size)
            squares += change**2
        return np.sqrt(squares)

    def _points(self, where: tuple[Any, ...]) -> tuple[Array, tuple[int, ...]]:
        d = self.domain.dimension
        if len(where) == 1 and d > 1 and np.ndim(where[0]) == 2 and np.shape(where[0])[1] == d:
            return np.asarray(where[0], dtype=float), (len(where[0]),)
        if len(where) != d:
            raise EvaluationError(
                f"the field '{self.name}' takes {d} coordinate(s), {', '.join(self.arguments)}; got {len(where)}."
            )
        arrays = np.broadcast_arrays(*(np.asarray(w, dtype=float) for w in where))
        x = np.stack([a.ravel() for a in arrays], axis=1)
        if not np.all(self.domain.contains(x)):
            raise EvaluationError(f"the field '{self.name}' is known inside {self.domain!r} only.")
        return x, arrays[0].shape
