"""B-splines of maximal smoothness on uniform knots of an interval, open or periodic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.interpolate import BSpline

Array = np.ndarray


@dataclass(frozen=True)
class SplineSpace:
    """B-splines that obey the essential conditions.

    Attributes
    ----------
    splines
        All basis functions as one vector-valued spline.
    nodes
        The distinct knots.
    """

    splines: BSpline
    nodes: Array

    @property
    def size(self) -> int:
        """Number of basis functions."""
        return int(self.splines.c.shape[1])

    def table(self, x: Array, derivative: int = 0) -> Array:
        """Return a derivative of all functions at points, shape (len(x), size)."""
        return np.asarray(self.splines(x, nu=derivative))

    def quadrature(self) -> tuple[Array, Array]:
        """Return points and weights, degree + 1 per knot span: exact for products of two functions."""
        s, w = gauss_rule(self.splines.k + 1)
        h = np.diff(self.nodes)[:, None]
        return (self.nodes[:-1, None] + h * s).ravel(), (h * w).ravel()


@lru_cache(maxsize=16)
def gauss_rule(n: int) -> tuple[Array, Array]:
    """Return the Gauss rule on [0, 1]."""
    s, w = np.polynomial.legendre.leggauss(n)
    return (s + 1) / 2, w / 2


def open_space(lower: float, upper: float, nodes: int, degree: int, essential: tuple[int, int] = (0, 0)) -> SplineSpace:
    """Return splines on open knots; at each end, the first ``essential`` derivatives from 0 on vanish.

    Only the first k + 1 functions have a derivative k at the left end that is not zero: they are left out.
    """
    distinct = np.linspace(lower, upper, nodes)
    knots = np.concatenate([[lower] * degree, distinct, [upper] * degree])
    count = nodes - 1 + degree
    kept = np.eye(count)[:, essential[0] : count - essential[1]]
    return SplineSpace(BSpline(knots, kept, degree), distinct)


def periodic_space(lower: float, upper: float, nodes: int, degree: int) -> SplineSpace:
    """Return periodic splines: functions that differ by one period share a coefficient."""
    spans = nodes - 1
    distinct = np.linspace(lower, upper, nodes)
    knots = lower + (upper - lower) / spans * np.arange(-degree, spans + degree + 1)
    knots[degree : degree + nodes] = distinct
    shared = np.eye(spans)[np.arange(spans + degree) % spans]
    return SplineSpace(BSpline(knots, shared, degree), distinct)
