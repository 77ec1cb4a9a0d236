"""Functions of one patch: frozen neurons on [−1, 1]², the SVD layer on them, and stable evaluation.

Neurons that are a few patches wide are nearly dependent: their useful combinations have singular values of 1e-9 and
less, and would lose as many digits if neurons were summed up. So each neuron is expanded in Legendre polynomials first,
which a smooth function on a patch fills to round-off with few of them; the SVD layer mixes these expansions, and values
and derivatives of its modes are exact. One table of modes serves all patches, each stretched to its box.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.linalg as sla

from frozenpinn.geometry.points import gauss
from frozenpinn.runtime.arrays import read_only

Array = np.ndarray
NEAREST, FARTHEST = 4.0, 11.0  #: lengths of neurons, in half-widths of a patch
_RAW = 4  # neurons for each mode that is kept


@dataclass(frozen=True, eq=False)
class LocalFeatures:
    """Orthonormal modes of frozen neurons on [−1, 1]².

    Attributes
    ----------
    degree
        The largest total degree of the polynomials in the table.
    table
        Coefficients of Legendre polynomials, normalised on [−1, 1]², one column for each mode; smooth modes first.
    """

    degree: int
    table: Array

    @classmethod
    def draw(cls, modes: int, seed: int) -> LocalFeatures:
        """Draw neurons and keep as many modes as wanted."""
        return _drawn(modes, seed)

    @property
    def size(self) -> int:
        """Number of modes."""
        return int(self.table.shape[1])

    @property
    def order(self) -> int:
        """The degree of the polynomials of which there are as many as modes: how fast errors fall with the size."""
        return order_of(self.size)

    def values(self, x: Array, derivatives: tuple[tuple[int, int], ...]) -> list[Array]:
        """Return derivatives of all modes at points of [−1, 1]², each of shape (n, modes)."""
        first, second = _exponents(self.degree)
        orders = [max((alpha[axis] for alpha in derivatives), default=0) for axis in (0, 1)]
        rows, columns = (legendre(x[:, axis], self.degree, orders[axis]) for axis in (0, 1))
        return [(rows[a][:, first] * columns[b][:, second]) @ self.table for a, b in derivatives]


def order_of(modes: int) -> int:
    """Return the largest degree of which there are no more polynomials of two variables than modes."""
    return int((np.sqrt(8.0 * modes + 1.0) - 3.0) / 2.0)


def modes_of(order: int) -> int:
    """Return the number of polynomials of two variables up to a degree."""
    return (order + 1) * (order + 2) // 2


@lru_cache(maxsize=16)
def _drawn(modes: int, seed: int) -> LocalFeatures:
    """Expand neurons in Legendre polynomials and keep the leading modes of all of them.

    tanh has its nearest pole π/2 lengths away, so the coefficients of a neuron fall at least as fast as 9^−degree.
    """
    degree = order_of(modes) + 6
    rng, count = np.random.default_rng(seed), _RAW * modes
    angles, lengths = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(NEAREST, FARTHEST, count)
    weights = np.stack([np.cos(angles), np.sin(angles)]) / lengths
    origins = rng.uniform(-1.0, 1.0, (count, 2))
    nodes, shares = gauss(degree + 8)
    nodes = 2.0 * nodes - 1.0
    x = np.stack([np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes))], axis=1)
    neurons = np.tanh(x @ weights - np.sum(origins.T * weights, axis=0))
    polynomials = legendre(nodes, degree, 0)[0]
    first, second = _exponents(degree)
    both = (polynomials[:, None, first] * polynomials[None, :, second]).reshape(len(x), -1)
    both *= (4.0 * np.outer(shares, shares)).reshape(-1, 1)
    expanded = both.T @ np.column_stack([neurons, np.ones(len(x))])
    leading, _, _ = sla.svd(expanded, full_matrices=False, check_finite=False)
    return LocalFeatures(degree, read_only(np.ascontiguousarray(leading[:, :modes])))


def legendre(x: Array, degree: int, derivatives: int) -> list[Array]:
    """Return Legendre polynomials that are orthonormal on [−1, 1], and their derivatives, each (n, degree + 1)."""
    values = np.polynomial.legendre.legvander(x, degree)
    scale = np.sqrt(np.arange(degree + 1) + 0.5)
    found, matrix = [values * scale], _derivative(degree)
    mixing = np.eye(degree + 1)
    for _ in range(derivatives):
        mixing = matrix @ mixing
        found.append(values @ (mixing * scale))
    return found


@lru_cache(maxsize=32)
def _derivative(degree: int) -> Array:
    """Return the matrix from Legendre coefficients to those of the derivative.

    Pₙ' is the sum of (2k + 1) Pₖ for k = n − 1, n − 3 and so on.
    """
    n = np.arange(degree + 1)
    below = (n[:, None] < n[None, :]) & ((n[None, :] - n[:, None]) % 2 == 1)
    return read_only(np.where(below, 2.0 * n[:, None] + 1.0, 0.0))


@lru_cache(maxsize=32)
def _exponents(degree: int) -> tuple[Array, Array]:
    """Return the degrees in x and in y of all products up to a total degree."""
    pairs = [(total - k, k) for total in range(degree + 1) for k in range(total + 1)]
    first, second = np.array(pairs).T
    return read_only(np.array(first)), read_only(np.array(second))
