"""Powers of the distance from a corner that an elliptic system has there, found numerically.

Near a corner the leading parts of equations and conditions decide. They have solutions r^λ φ(θ); with these, equations
and conditions turn into a polynomial eigenvalue problem in λ for φ on the opening of the corner, which collocation at
Chebyshev points solves. All φ consist of powers of z = x + ρ y, one ρ for each root of the symbol: Laplacians have
ρ = i, isotropic elasticity and plates have it twice, which adds z̄ z^(λ−1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.corners import Corner
from frozenpinn.basis.hidden import Derivative, pure
from frozenpinn.geometry import BoundaryPoints, Side
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Terms = list[tuple[int, tuple[int, ...], float]]  #: field, derivative and coefficient of each term of an equation
_AGREE = 1e-7  # relative distance up to which two collocations agree on a power
_SAME = 1e-4  # roots as near to each other count as one


class Wedge(NamedTuple):
    """What a corner looks like to a system.

    Attributes
    ----------
    powers
        All λ with Im λ ≥ 0, from low to high.
    roots
        All ρ with Im ρ > 0, each with its multiplicity.
    order
        Of the equations.
    values
        Whether values are prescribed on one of the edges, which may jump at the corner.
    terms, edges
        The leading terms of each equation, and of the conditions on both edges.
    """

    powers: tuple[complex, ...]
    roots: tuple[tuple[complex, int], ...]
    order: int
    values: bool
    terms: list[Terms]
    edges: list[list[Terms]]

    @property
    def is_strong(self) -> bool:
        """Whether the equations of a solution are not square integrable there, so that least squares fails."""
        return any(power.real < self.order - 1 - _SAME for power in self.powers if not _is_smooth(power))


def _is_smooth(power: complex) -> bool:
    """Whether a power may be that of a polynomial."""
    return abs(power.imag) < _AGREE and abs(power.real - round(power.real)) < _AGREE


@remembered
def wedge_at(problem: Problem, corner: Corner, highest: float) -> Wedge | None:
    """Return the powers of a corner, up to the highest; None if the system is of another kind than is known here."""
    equations = _leading(problem, corner)
    edges = [_conditions(problem, corner, start) for start in (True, False)]
    if equations is None:
        return None
    order, terms = equations
    roots = _roots(terms, order)
    if roots is None or any(len(edge) != order * len(terms) // 2 for edge in edges):
        return None
    counts = (28, 36)  # points of two collocations, which must agree on a power
    found = [_powers(terms, edges, corner, order, n, highest) for n in counts]
    agreed = [a for a in found[0] if any(abs(a - b) < _AGREE * max(1.0, abs(a)) for b in found[1])]
    values = any(not sum(alpha) for edge in edges for row in edge for _, alpha, _ in row)
    return Wedge(tuple(agreed), roots, order, values, terms, edges)


# ---- leading parts ------------------------------------------------------------------------------------


def _leading(problem: Problem, corner: Corner) -> tuple[int, list[Terms]] | None:
    """Return the order of all equations and their leading terms at a corner; None if they differ or are nonlinear."""
    orders = {problem.spatial_order(name) for name in problem.fields}
    if len(orders) != 1 or (order := orders.pop()) not in (2, 4):
        return None
    found, place = [], np.array([[corner.x, corner.y]])
    for equation in problem.equations:
        if any(jet.order >= order for jet in problem.jets.jets_in(equation.nonlinear).values()):
            return None
        leads = {jet: c for jet, c in equation.linear.items() if jet.order == order}
        with np.errstate(all="ignore"):
            values = problem.compile(list(leads.values()))(*place.T, 0.0)
        found.append(_pure(problem, list(leads), [float(np.ravel(value)[0]) for value in values]))
    return (order, found) if all(np.isfinite(c) for terms in found for _, _, c in terms) else None


def _pure(problem: Problem, jets: Sequence[Jet], coefficients: Sequence[float]) -> Terms:
    """Write terms without Laplacians."""
    return [
        (problem.fields.index(jet.field), alpha, coefficient * factor)
        for jet, coefficient in zip(jets, coefficients, strict=True)
        for alpha, factor in pure(Derivative(jet.alpha, jet.laps), 2)
    ]


def _conditions(problem: Problem, corner: Corner, first: bool) -> list[Terms]:
    """Return the leading terms of the linear conditions on one of the two edges."""
    angle = corner.start if first else corner.start + corner.opening
    along = np.array([np.cos(angle), np.sin(angle)])
    normal = np.array([along[1], -along[0]]) if first else np.array([-along[1], along[0]])
    side = _side_along(problem, np.array([corner.x, corner.y]), along)
    found = []
    for condition in problem.conditions:
        if condition.side.name == side:
            place = BoundaryPoints(np.array([[corner.x, corner.y]]), normal[None], np.ones(1), condition.side)
            found.append(_condition(problem, condition, place))
    return found


def _condition(problem: Problem, condition: LinearCondition, place: BoundaryPoints) -> Terms:
    """Return the leading terms of one condition."""
    order = max(jet.order for jet in condition.jets)
    terms = [(jet, float(np.ravel(c)[0])) for jet, c in condition.terms_at(place) if jet.order == order]
    return _pure(problem, [jet for jet, _ in terms], [c for _, c in terms])


def _side_along(problem: Problem, corner: Array, along: Array) -> str | None:
    """Return the name of the side that leaves a corner in a direction."""
    nearest, found = np.inf, None
    size = float(np.max(problem.domain.lengths))
    for side, x in _samples(problem):
        offset = x - corner
        distance = offset @ along
        beside = np.abs(offset[:, 0] * along[1] - offset[:, 1] * along[0])
        own = distance[(beside < 1e-9 * size) & (distance > 0)]
        if len(own) and float(np.min(own)) < nearest:
            nearest, found = float(np.min(own)), side.name
    return found


@remembered
def _samples(problem: Problem) -> list[tuple[Side, Array]]:
    """Return points of all sides."""
    rng, domain = np.random.default_rng(Seed.STATIC_RESIDUALS), problem.domain
    return [(side, domain.sample_side(side, 400, "random", rng).x) for side in domain.sides]


def _roots(terms: Sequence[Terms], order: int) -> tuple[tuple[complex, int], ...] | None:
    """Return the roots ρ, Im ρ > 0, of the determinant of the symbol; None if it is not elliptic."""
    n = len(terms)
    nodes = np.exp(2j * np.pi * np.arange(n * order + 1) / (n * order + 1))
    values = []
    for node in nodes:
        matrix = np.zeros((n, n), dtype=complex)
        for i, row in enumerate(terms):
            for j, alpha, coefficient in row:
                matrix[i, j] += coefficient * node ** alpha[1]
        values.append(np.linalg.det(matrix))
    polynomial = np.fft.fft(values) / len(nodes)  # by rising powers
    if abs(polynomial[-1]) < 1e-12 * np.max(np.abs(polynomial)):
        return None
    roots = sorted((r for r in np.roots(polynomial[::-1].real) if r.imag > _SAME), key=lambda r: (r.real, r.imag))
    found: list[list[complex]] = []
    for root in roots:
        near = [group for group in found if abs(np.mean(group) - root) < np.sqrt(_SAME)]
        if near:
            near[0].append(root)
        else:
            found.append([root])
    if len(roots) != n * order // 2:
        return None
    return tuple((complex(np.mean(group)), len(group)) for group in found)


# ---- powers ---------------------------------------------------------------------------------------------


def _powers(
    terms: Sequence[Terms], edges: Sequence[list[Terms]], corner: Corner, order: int, n: int, highest: float
) -> list[complex]:
    """Return the powers that collocation at n Chebyshev points finds."""
    radius = 3.0  # of the circle on which polynomials in λ are sampled
    nodes = radius * np.exp(2j * np.pi * np.arange(order + 1) / (order + 1))
    sampled = np.array([_matrix(terms, edges, corner, order, n, node) for node in nodes])
    parts = np.fft.fft(sampled, axis=0) / len(nodes)
    parts /= (radius ** np.arange(order + 1))[:, None, None]
    scale = np.max(np.abs(parts), axis=(0, 2))  # rows of equations and of conditions differ by powers of n
    parts = parts.real / scale[:, None]
    size = parts.shape[1]
    left, right = np.eye(order * size), np.eye(order * size)
    left[-size:] = -np.concatenate(parts[:-1], axis=1)
    left[:-size] = np.eye(order * size)[size:]
    right[-size:, -size:] = parts[-1]
    values = sla.eig(left, right, right=False)
    constant = 1e-3  # powers that exceed the least that has an energy by less are those of constants
    least = order // 2 - 1 + constant  # lower ones have no energy
    kept = [v for v in values if np.isfinite(v) and least < v.real <= highest and v.imag > -_AGREE]
    found: list[complex] = []
    for value in sorted(kept, key=lambda v: (v.real, v.imag)):
        if all(abs(value - other) > 1e-5 for other in found):
            found.append(complex(value.real, value.imag if value.imag > _AGREE else 0.0))
    return found


def _matrix(
    terms: Sequence[Terms], edges: Sequence[list[Terms]], corner: Corner, order: int, n: int, power: complex
) -> Array:
    """Return what equations inside and conditions at both ends make of r^λ φ, φ being given at n points."""
    tau, slopes = _chebyshev(n)
    theta = corner.start + corner.opening * (1.0 - tau) / 2.0
    slopes = slopes * (-2.0 / corner.opening)
    cosines, sines, fields = np.cos(theta), np.sin(theta), len(terms)

    def derivative(alpha: tuple[int, ...]) -> Array:
        """Return what ∂^alpha makes of φ, r^(λ − |alpha|) taken out."""
        out, exponent = np.eye(n, dtype=complex), power
        for axis, count in enumerate(alpha):
            along, across = (cosines, -sines) if axis == 0 else (sines, cosines)
            for _ in range(count):
                out = exponent * along[:, None] * out + across[:, None] * (slopes @ out)
                exponent = exponent - 1.0
        return out

    def rows(part: Terms, which: slice | list[int]) -> Array:
        block = np.zeros((len(np.arange(n)[which]), fields, n), dtype=complex)
        for j, alpha, coefficient in part:
            block[:, j] += coefficient * derivative(alpha)[which]
        return block.reshape(len(block), -1)

    inner = slice(order // 2, n - order // 2)
    blocks = [rows(part, inner) for part in terms]
    blocks += [rows(part, [place]) for edge, place in zip(edges, (0, n - 1), strict=True) for part in edge]
    return np.concatenate(blocks)


def _chebyshev(n: int) -> tuple[Array, Array]:
    """Return Chebyshev points from 1 to −1 and the matrix that differentiates there."""
    x = np.cos(np.pi * np.arange(n) / (n - 1))
    weights = np.where((np.arange(n) == 0) | (np.arange(n) == n - 1), 2.0, 1.0) * (-1.0) ** np.arange(n)
    gaps = x[:, None] - x[None, :] + np.eye(n)
    slopes = np.outer(weights, 1.0 / weights) / gaps
    return x, slopes - np.diag(np.sum(slopes, axis=1))
