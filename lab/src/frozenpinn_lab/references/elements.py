"""A reference for u_t = (k u_x)_x − V u + s on an interval with narrow features: spectral elements placed by hand.

Elements are short around the feature, polynomials of high degree on each, and time is solved in closed form, mode by
mode. It shares nothing with the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import legendre
from scipy.interpolate import BarycentricInterpolator
from scipy.linalg import eigh

Array = np.ndarray
Coefficient = Callable[[Array], Array]
_DEGREE = 24


def _lobatto(degree: int) -> tuple[Array, Array]:
    """Return the Gauss–Lobatto nodes on [−1, 1] and their weights."""
    top = np.zeros(degree + 1)
    top[-1] = 1.0
    inner = legendre.legroots(legendre.legder(top))
    nodes = np.concatenate([[-1.0], inner, [1.0]])
    return nodes, 2.0 / (degree * (degree + 1) * legendre.legval(nodes, top) ** 2)


def _differentiation(nodes: Array) -> Array:
    """Return the matrix from values at the nodes to derivatives there."""
    gaps = nodes[:, None] - nodes[None, :] + np.eye(len(nodes))
    weights = 1.0 / np.prod(gaps, axis=1)
    matrix = weights[None, :] / weights[:, None] / gaps
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix


@dataclass(frozen=True, eq=False)
class ElementReference:
    """u(x, t) for zero values at both ends, as a function that a problem takes for its exact solution.

    Parameters
    ----------
    edges
        Of the elements.
    start
        The initial value.
    diffusivity, potential, source
        Functions of x.
    """

    edges: tuple[float, ...]
    start: Coefficient
    diffusivity: Coefficient
    potential: Coefficient
    source: Coefficient
    _modes: list[Array] = field(default_factory=list, repr=False)

    def _solved(self) -> list[Array]:
        if self._modes:
            return self._modes
        nodes, weights = _lobatto(_DEGREE)
        slope, count = _differentiation(nodes), len(self.edges) - 1
        size = count * _DEGREE + 1
        mass, stiffness, x = np.zeros(size), np.zeros((size, size)), np.zeros(size)
        for k in range(count):
            a, b = self.edges[k], self.edges[k + 1]
            own, half = slice(k * _DEGREE, (k + 1) * _DEGREE + 1), (b - a) / 2
            places = a + half * (nodes + 1)
            x[own] = places
            mass[own] += half * weights
            stiffness[own, own] += slope.T @ np.diag(weights / half * self.diffusivity(places)) @ slope
        stiffness += np.diag(mass * self.potential(x))
        inside = slice(1, -1)
        rates, modes = eigh(stiffness[inside, inside], np.diag(mass[inside]))
        first, push = ((modes.T * mass[inside]) @ f(x)[inside] for f in (self.start, self.source))
        self._modes.extend([x, rates, modes, first, push])
        return self._modes

    def __call__(self, x: Array, t: float) -> Array:
        """Return the values at places and a time."""
        places, rates, modes, first, push = self._solved()
        decay = np.exp(-rates * t)
        values = np.zeros(len(places))
        values[1:-1] = modes @ (decay * first + (1.0 - decay) / rates * push)
        result = np.zeros(np.shape(x))
        where = np.clip(np.searchsorted(self.edges, x) - 1, 0, len(self.edges) - 2)
        for k in np.unique(where):
            own = slice(k * _DEGREE, (k + 1) * _DEGREE + 1)
            result[where == k] = BarycentricInterpolator(places[own], values[own])(np.asarray(x)[where == k])
        return result
