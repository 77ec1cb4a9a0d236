"""Special functions that eigenfunctions consist of near corners and around holes.

For Laplacians, near a corner u = Σ J_α(√λ r) sin αθ = Σ r^α (1 − λr²/(4α + 4) + …) sin αθ, α = kπ/ω; around a hole
Bessel functions of the second kind join, which have r^(2j−m) cos mθ and r^(m+2j) log r cos mθ. Other equations and
systems have other powers, and combinations of all fields.

Strong derivatives of r^λ are not square integrable where λ is small, so no field of a system may have such a function
alone: only combinations of all fields by which the leading parts of equations and conditions vanish are offered.
Eigenfunctions L u = Λ W u go on with powers that are higher by the order of L: L ψ₁ = W ψ₀, L ψ₂ = W ψ₁, …
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.basis.corners import LOG_R, PLAIN, Corner, Power, SingularFunctions, is_whole
from frozenpinn.enrichments.corners import is_laplacian, step_and_phases, unbounded_beyond
from frozenpinn.enrichments.wedges import Terms, Wedge, wedge_at
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.eigenvalue import sides_of
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Combinations(NamedTuple):
    """Functions of corners, and which combinations of them solve the leading part: shape (fields, functions, k)."""

    functions: SingularFunctions
    matrix: Array

    @classmethod
    def joined(cls, parts: list[Combinations]) -> Combinations:
        """Return those of several corners as one."""
        columns = sum(part.matrix.shape[2] for part in parts)
        matrix = np.zeros((parts[0].matrix.shape[0], sum(len(part.functions) for part in parts), columns))
        row = column = 0
        for part in parts:
            _, rows, own = part.matrix.shape
            matrix[:, row : row + rows, column : column + own] = part.matrix
            row, column = row + rows, column + own
        return cls(SingularFunctions.joined([part.functions for part in parts]), matrix)


def wedge_functions(
    corner: Corner, wedge: Wedge, mass: Array | None, highest: float, unit: float
) -> Combinations | None:
    """Return the functions of all powers of a corner that no polynomial has, up to the highest; None if there are none.

    ``mass`` is W at the corner, shape (fields, fields), or None if it is no matrix: then powers have no series. Lengths
    are measured in ``unit``.
    """
    parts: list[Combinations] = []
    nearly = 1e-7  # powers as near to a whole number are those of polynomials
    for power in wedge.powers:
        if not (power.imag == 0.0 and is_whole(power.real, nearly)):
            parts += _series(_Place(corner, wedge, unit), power, mass, highest)
    return Combinations.joined(parts) if parts else None


class _Place(NamedTuple):
    """A corner, what it looks like to the system, and the unit of length."""

    corner: Corner
    wedge: Wedge
    unit: float

    def points(self, shares: Array) -> Array:
        """Return points at parts of the opening, on arcs of all radii."""
        angles = self.corner.start + self.corner.opening * shares
        along = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        arcs = [self.unit * radius * along for radius in (1.0, 0.6)]
        return np.array([self.corner.x, self.corner.y]) + np.concatenate(arcs)

    def rows(self, functions: SingularFunctions, inside: Array) -> tuple[Array, Array]:
        """Return what functions in each field leave of equations at parts of the opening, then of conditions.

        The second array has the size of the largest term of each function.
        """
        ends = [(np.array([float(end)]), own) for end, edge in enumerate(self.wedge.edges) for own in edge]
        parts = [self._row(functions, own, at) for at, own in [*((inside, own) for own in self.wedge.terms), *ends]]
        return np.concatenate([left for left, _ in parts]), np.max([size for _, size in parts], axis=0)

    def _row(self, functions: SingularFunctions, terms: Terms, shares: Array) -> tuple[Array, Array]:
        x, size = self.points(shares), 0.0
        out = np.zeros((len(x), len(self.wedge.terms), len(functions)))
        for field, alpha, coefficient in terms:
            part = coefficient * self.unit ** sum(alpha) * functions(x, alpha)
            out[:, field] += part
            size = np.maximum(size, np.max(np.abs(part), axis=0))
        return out.reshape(len(x), -1), np.tile(size, len(self.wedge.terms))


def _series(place: _Place, power: complex, mass: Array | None, highest: float) -> Iterator[Combinations]:
    """Yield the combinations of one power, then those of the powers above it that follow from them."""
    wedge, fields = place.wedge, len(place.wedge.terms)
    before: Combinations | None = None
    vanishes = 1e-7  # part of their terms up to which sums of them are zero
    for step in range(int((highest - power.real) / wedge.order + 1e-9) + 1):
        if step and (mass is None or len(wedge.roots) > 1):  # several roots would need products of their powers
            return
        functions = SingularFunctions.at(place.corner, list(_powers(wedge, power, step * wedge.order)), place.unit)
        inside = (np.arange(len(functions) + 4) + 0.5) / (len(functions) + 4)
        rows, scale = place.rows(functions, inside)
        if before is None:
            _, sizes, right = np.linalg.svd(rows / scale, full_matrices=True)
            found = right[np.count_nonzero(sizes > vanishes * sizes[0]) :].T
        else:
            assert mass is not None
            values = _values(place, before, mass, inside)
            target = np.concatenate([values, np.zeros((len(rows) - len(values), values.shape[1]))])
            found = np.linalg.lstsq(rows / scale, target, rcond=1e-12)[0]
            if np.linalg.norm(rows / scale @ found - target) > vanishes * np.linalg.norm(target):
                return
        if not found.shape[1]:
            return
        found = found / scale[:, None]
        found = found / np.linalg.norm(found, axis=0)
        before = Combinations(functions, found.reshape(fields, len(functions), -1))
        yield before


def _values(place: _Place, before: Combinations, mass: Array, inside: Array) -> Array:
    """Return W ψ at the places of the equations, in their units, shape (rows, k)."""
    table = before.functions(place.points(inside), (0, 0))
    values = np.einsum("nf,ifk->ink", table, before.matrix)
    return np.einsum("ij,jnk->ink", mass, values).reshape(-1, values.shape[2])


def _powers(wedge: Wedge, power: complex, degree: int) -> Iterator[Power]:
    """Yield all z^p z̄^q of a power and a degree above it."""
    for own in [power] if power.imag == 0.0 else [power, power.conjugate()]:
        for root, times in wedge.roots:
            for q in range(degree + times):
                yield from (Power(own + degree - q, float(q), 0, phase, root) for phase in (0.0, np.pi / 2))


_FEW = 12  # corners up to which all have functions of their own; of more, those with unbounded gradients


@remembered
def mode_functions(problem: Problem, highest: float, order: int) -> SingularFunctions | None:
    """Return the functions of corners up to a power of the distance, and of holes up to an order; None without any."""
    if problem.domain.dimension != 2 or not all(is_laplacian(problem, equation) for equation in problem.equations):
        return None
    corners = [Corner(*corner) for corner in problem.domain.corners_beyond(0.0)]
    if len(corners) > _FEW:
        corners = [corner for corner in corners if corner.opening > unbounded_beyond(problem)]
    size = float(np.max(problem.domain.lengths))
    parts = [SingularFunctions.at(corner, list(_of_corner(problem, corner, highest)), size) for corner in corners]
    for hole in problem.domain.hole_circles:
        place = Corner(hole.center[0], hole.center[1], 0.0, 2.0 * np.pi)
        parts.append(SingularFunctions.at(place, list(_of_hole(order)), hole.radius))
    found = SingularFunctions.joined([part for part in parts if len(part)])
    return found if len(found) else None


@remembered
def mode_combinations(problem: Problem, highest: float) -> Combinations | None:
    """Return the functions of corners of equations and systems other than Laplacians; None if there are none."""
    if problem.domain.dimension != 2 or all(is_laplacian(problem, equation) for equation in problem.equations):
        return None
    rights = [sides_of(problem)[e.field].right for e in problem.equations] if problem.parameters.unknown else None
    order = max(map(problem.spatial_order, problem.fields))
    corners = [Corner(*corner) for corner in problem.domain.corners_beyond(0.0)]
    if (
        problem.interfaces is not None
        or len(corners) > _FEW
        or (rights and any(jet.order >= order for right in rights for jet in right))
    ):
        return None
    size, parts = float(np.max(problem.domain.lengths)), []
    for corner in corners:
        wedge = wedge_at(problem, corner, highest)
        if wedge is None:
            return None
        found = wedge_functions(corner, wedge, _mass(problem, rights, corner), highest, size)
        parts += [] if found is None else [found]
    return Combinations.joined(parts) if parts else None


def _mass(problem: Problem, rights: Sequence[Mapping[Jet, sp.Expr]] | None, corner: Corner) -> Array | None:
    """Return W at a corner, the identity without any; None if W contains derivatives."""
    if rights is None:
        return np.eye(len(problem.fields))
    if any(jet.order for right in rights for jet in right):
        return None
    found = np.zeros((len(problem.fields),) * 2)
    for i, right in enumerate(rights):
        values = problem.compile(list(right.values()))(corner.x, corner.y, 0.0)
        for jet, value in zip(right, values, strict=True):
            found[i, problem.fields.index(jet.field)] = float(value)
    return found


def _of_corner(problem: Problem, corner: Corner, highest: float) -> Iterator[Power]:
    step, phases = step_and_phases(problem)
    for k in np.arange(step, highest * corner.opening / np.pi, step):
        power = float(k * np.pi / corner.opening)
        if not is_whole(power):  # whole powers are smooth
            for j in range(max(1, int(np.floor((highest - power) / 2.0)) + 1)):
                yield from (Power(power + j, float(j), PLAIN, phase) for phase in phases)


def _of_hole(order: int) -> Iterator[Power]:
    """Yield the series of Bessel functions of the second kind."""
    for m in range(order + 1):
        for phase in (0.0, np.pi / 2) if m else (0.0,):
            yield from (Power(float(j - m), float(j), PLAIN, phase) for j in range(m))
            yield from (Power(float(j + m), float(j), LOG_R, phase) for j in range(3))
