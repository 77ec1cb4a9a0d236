"""B-splines of maximal smoothness on uniform knots of an interval, open or periodic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.interpolate import BSpline

from frozenpinn.errors import SettingsError
from frozenpinn.statement.problem import Problem

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


def spline_space(
    problem: Problem, nodes: int, degree: int, least: int, essential: tuple[int, int] | None, folded: bool = True
) -> SplineSpace:
    """Return the trial space of a problem, or refuse its mesh.

    Parameters
    ----------
    problem
        In one dimension.
    nodes, degree
        Number of distinct knots, ends included, and polynomial degree.
    least
        The lowest degree whose derivatives suffice for the weak form.
    essential
        See :func:`open_space`; None on periodic intervals.
    folded
        Whether periodic functions may be longer than the interval, see :func:`periodic_space`.
    """
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in (nodes, degree)):
        raise SettingsError(f"nodes and degree of IGA must be whole numbers, got {nodes!r}, {degree!r}.")
    if nodes < 3 or degree < least:
        raise SettingsError(f"IGA needs at least 3 nodes and degree {least} for this equation, got {nodes}, {degree}.")
    lower, upper = float(problem.domain.lower[0]), float(problem.domain.upper[0])
    if essential is not None:
        return open_space(lower, upper, nodes, degree, essential)
    if nodes <= degree + 1 and not folded:
        raise SettingsError(f"periodic IGA of degree {degree} needs more than {degree + 1} nodes here, got {nodes}.")
    return periodic_space(lower, upper, nodes, degree)


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
    """Return periodic splines: functions that differ by one period share a coefficient.

    With ``nodes <= degree + 1``, functions are longer than the interval and overlap themselves. They are independent
    nevertheless, as many as spans, and few of a high degree come close to trigonometric polynomials: 4 functions of
    degree 8 give one wave with an error of 5e-5, 8 of them with 2e-8. Of course 3 functions hold one wave, not two.
    """
    spans = nodes - 1
    distinct = np.linspace(lower, upper, nodes)
    knots = lower + (upper - lower) / spans * np.arange(-degree, spans + degree + 1)
    knots[degree : degree + nodes] = distinct
    shared = np.eye(spans)[np.arange(spans + degree) % spans]
    return SplineSpace(BSpline(knots, shared, degree), distinct)
