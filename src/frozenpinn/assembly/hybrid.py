"""Equations on patches: the hybrid interior-penalty form, condensed to traces on the faces between patches.

On each patch K, with a trace û of a few Legendre modes on each face, and û = g where a value is prescribed:

    Σ_K ∫ A∇u·∇v + (b·∇u + c u) v − ⟨n·A∇u, v − v̂⟩ − ⟨n·A∇v, u − û⟩ + ⟨τ(u − û), v − v̂⟩ + first-order terms on faces,

where τ grows with the number of modes and the inverse width of a patch. Functions of a patch meet others by traces
alone: they are eliminated patch by patch, and one sparse system is left for the traces. First-order terms are in split
form with upwind jumps: ½ ∫ b·∇u v − u b·∇v and |b·n| on faces, so that they produce no energy. Slopes prescribed are
natural conditions.

What solvers in time need is here by name. Functions of a patch are orthonormal, so the mass matrix is the identity.
:class:`Assembly` gives the :class:`Blocks` of a group of congruent patches, [A, B; C, D] in functions and traces, with
their right-hand side; :func:`trace_numbers` says where the traces of each patch stand among all of them. With
u' + A u + B û = f and C u + D û = 0, the operator on functions alone is A − B D⁻¹ C, whose D is block-diagonal by
faces; an implicit step adds 1/(γ dt) to the diagonal of A and is solved by :class:`Condensed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sps
import scipy.sparse.linalg as spla

from frozenpinn.assembly.hybrid_form import HybridForm, Matrix, Value
from frozenpinn.basis.local.features import LocalFeatures, legendre
from frozenpinn.basis.local.patches import Patch, PatchSet
from frozenpinn.basis.local.quadrature import curve_rule
from frozenpinn.errors import ConvergenceError
from frozenpinn.geometry import BoundaryPoints, Side
from frozenpinn.geometry.points import gauss
from frozenpinn.geometry.rare.curves import Curve
from frozenpinn.language.jets import Jet

Array = np.ndarray
PENALTY = 2.0  #: of jumps, times modes, times circumference over area: four times as large is no better
_BLOCK = 3_000_000  # numbers of weighted functions held at a time
_ORDERS = ((0, 0), (1, 0), (0, 1))
_ALONG = 1e-13  # part of a slope along the boundary that is round-off
_DEPENDENT = 1e-10  # functions on a cut patch whose part that others don't have is smaller are left out


class Places(NamedTuple):
    """Functions of a patch at places: weights (n,), values (n, r), both slopes (n, r); and outward normals (n, 2)."""

    x: Array
    weights: Array
    values: Array
    slopes: tuple[Array, Array]
    normals: Array


@dataclass(frozen=True, eq=False)
class Element:
    """The functions of a group of congruent patches, orthonormal on them.

    Attributes
    ----------
    mixing
        How they are made of the modes of the features, shape (modes, r).
    inside, faces, walls
        Places in the first patch of the group, on its faces one after another, and on each of its walls.
    traces
        Legendre modes of each face at the places on faces, shape (n, faces · traces).
    penalty
        τ, but for the diffusivity.
    shifts
        From the first patch of the group to each, shape (patches, 2).
    """

    patch: Patch
    mixing: Array
    inside: Places
    faces: Places
    walls: tuple[tuple[Curve, Places], ...]
    traces: Array
    penalty: float
    shifts: Array

    @classmethod
    def of(cls, patches: PatchSet, group: Sequence[int], features: LocalFeatures, traces: int) -> Element:
        """Evaluate the functions of a group."""
        patch = patches.patches[group[0]]
        raw = _evaluated(features, patch, patch.rule.x)
        mixing = _orthonormal(raw[0] * np.sqrt(patch.rule.weights)[:, None])

        def places(x: Array, weights: Array, normals: Array, raw: Sequence[Array] | None = None) -> Places:
            value, *slopes = (v @ mixing for v in (_evaluated(features, patch, x) if raw is None else raw))
            return Places(x, weights, value, (slopes[0], slopes[1]), normals)

        s, w = gauss(features.order + 3)
        own = [(patches.faces[number], sign) for number, sign in patch.faces]
        x = np.concatenate([np.empty((0, 2)), *(face.at(s) for face, _ in own)])
        weights = np.concatenate([np.empty(0), *(face.length * w for face, _ in own)])
        normals = np.zeros_like(x)
        rows = np.repeat([face.axis for face, _ in own], len(s)).astype(int)
        normals[np.arange(len(x)), rows] = np.repeat([sign for _, sign in own], len(s))
        modes = legendre(2.0 * s - 1.0, traces - 1, 0)[0]
        table = np.zeros((len(x), len(own) * traces))
        for k, (face, _) in enumerate(own):
            table[k * len(s) : (k + 1) * len(s), k * traces : (k + 1) * traces] = modes * np.sqrt(2.0 / face.length)
        walls = []
        for wall in patch.walls:
            at, normal, weight = curve_rule(wall, features.order + 3)
            walls.append((wall, places(at, weight, normal)))
        around = float(np.sum(weights)) + sum(float(np.sum(p.weights)) for _, p in walls)
        penalty = PENALTY * mixing.shape[1] * around / patch.area
        shifts = np.array([patches.patches[k].center - patch.center for k in group])
        inside = places(patch.rule.x, patch.rule.weights, np.empty((0, 2)), raw)
        return cls(patch, mixing, inside, places(x, weights, normals), tuple(walls), table, penalty, shifts)

    @property
    def size(self) -> int:
        """Number of functions."""
        return int(self.mixing.shape[1])

    def moved(self, x: Array) -> Array:
        """Return the same places in all patches of the group, shape (patches · n, 2)."""
        return np.asarray((x + self.shifts[:, None]).reshape(-1, 2))


def _evaluated(features: LocalFeatures, patch: Patch, x: Array) -> list[Array]:
    """Return values and slopes of the features of a patch."""
    found = features.values((x - patch.center) / patch.half, _ORDERS)
    return [found[0], found[1] / patch.half[0], found[2] / patch.half[1]]


def _orthonormal(weighted: Array) -> Array:
    """Return what makes functions orthonormal; those that depend on others are left out."""
    triangle = np.linalg.qr(weighted, mode="r")
    sizes = np.abs(np.diag(triangle))
    if np.min(sizes) > _DEPENDENT * np.max(sizes):
        return np.linalg.inv(triangle)
    _, values, right = np.linalg.svd(triangle)
    kept = values > _DEPENDENT * values[0]
    return np.asarray(right[kept].T / values[kept])


# ---- matrices of patches --------------------------------------------------------------------------


class Blocks(NamedTuple):
    """Matrices of a group: [inner, outer; back, traces] for functions and traces, and the right-hand side.

    Each has one matrix for all patches, or one for each of them: shape (1 or patches, …, …).
    """

    inner: Array
    outer: Array
    back: Array
    traces: Array
    load: Array


class Sums:
    """Blocks by equation and field, to which integrals are added."""

    def __init__(self, fields: int, rows: int, columns: int) -> None:
        self.parts = [[np.zeros((1, rows, columns)) for _ in range(fields)] for _ in range(fields)]

    def add(self, i: int, k: int, part: Array) -> None:
        """Add matrices of one field in one equation."""
        self.parts[i][k] = self.parts[i][k] + part

    @property
    def joined(self) -> Array:
        """All of them as one matrix for each patch."""
        count = max(part.shape[0] for row in self.parts for part in row)
        rows = [
            np.concatenate([np.broadcast_to(part, (count, *part.shape[1:])) for part in row], axis=2)
            for row in self.parts
        ]
        return np.concatenate(rows, axis=1)


def _weighted(left: Array, factor: Value, weights: Array, right: Array) -> Array:
    """Return ∫ left·factor·right; the factor is a number, has values at the places of one patch, or of many."""
    factors = np.asarray(factor)
    if factors.size in (1, len(weights)):
        return np.asarray((left * (factors.ravel() * weights)[:, None]).T @ right)[None]
    factors = factors.reshape(-1, len(weights)) * weights
    out = np.empty((len(factors), left.shape[1], right.shape[1]))
    step = max(1, _BLOCK // left.size)
    for k in range(0, len(factors), step):
        np.matmul(left.T * factors[k : k + step, None], right, out=out[k : k + step])
    return out


def _across(matrix: Matrix, normals: Array) -> tuple[Array, Array]:
    """Return both entries of nᵀA at the places of one patch, or of many."""
    size = max(np.size(entry) for row in matrix for entry in row)
    n = np.tile(normals, (max(1, size // max(1, len(normals))), 1)) if size > 1 else normals
    return tuple(n[:, 0] * matrix[0][a] + n[:, 1] * matrix[1][a] for a in (0, 1))  # type: ignore[return-value]


def _normal(flux: tuple[Array, Array], normals: Array) -> Array:
    """Return v·n at the places of one patch, or of many."""
    n = np.tile(normals, (len(flux[0]) // max(1, len(normals)), 1)) if len(normals) else normals
    return np.asarray(flux[0] * n[:, 0] + flux[1] * n[:, 1])


@dataclass(frozen=True, eq=False)
class Assembly:
    """Makes the blocks of one group of patches."""

    form: HybridForm
    element: Element
    jets: Callable[[int, Places], Sequence[Array]]

    def blocks(self) -> Blocks:
        """Return the matrices, linearised about the function that ``jets`` gives for each equation at some places."""
        fields, size, modes = len(self.form.fields), self.element.size, self.element.traces.shape[1]
        inner, outer = Sums(fields, size, size), Sums(fields, size, modes)
        back, traces = Sums(fields, modes, size), Sums(fields, modes, modes)
        load = Sums(1, size, 1).parts * fields
        self._inside(inner, load)
        self._on_faces(inner, outer, back, traces)
        for curve, places in self.element.walls:
            self._on_wall(curve, places, inner, load)
        count = max(part[0].shape[0] for part in load)
        loads = [np.broadcast_to(part[0][..., 0], (count, size)) for part in load]
        return Blocks(inner.joined, outer.joined, back.joined, traces.joined, np.concatenate(loads, axis=1))

    def _transport(self, i: int, k: int, places: Places) -> tuple[Value, Value]:
        """Return b in b·∇u of one field in one equation."""
        if not self.form.transports:
            return 0.0, 0.0
        partials, _ = self.form.reactions(i, self.element.moved(places.x), self.jets(i, places))
        return _slopes_of(partials, self.form.fields[k])

    def _inside(self, inner: Sums, load: list[list[Array]]) -> None:
        places = self.element.inside
        x, w = self.element.moved(places.x), places.weights
        for (i, k), matrix in self.form.diffusions(x).items():
            for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
                if np.any(matrix[a][b]):
                    inner.add(i, k, _weighted(places.slopes[a], matrix[a][b], w, places.slopes[b]))
        for i in range(len(self.form.fields)):
            partials, source = self.form.reactions(i, x, self.jets(i, places))
            load[i] = [_integrated(places.values, source, w)]
            for k, name in enumerate(self.form.fields):
                along = _slopes_of(partials, name)
                for a in (0, 1):
                    if np.any(along[a]):
                        inner.add(i, k, _weighted(places.values, along[a], w, places.slopes[a]))
                for jet, factor in partials.items():
                    if jet.field == name and not jet.order and np.any(factor):
                        inner.add(i, k, _weighted(places.values, factor, w, places.values))

    def _on_faces(self, inner: Sums, outer: Sums, back: Sums, traces: Sums) -> None:
        places, table = self.element.faces, self.element.traces
        w, values = places.weights, places.values
        if not len(w):
            return
        for (i, k), matrix in self.form.diffusions(self.element.moved(places.x)).items():
            flux = _across(matrix, places.normals)
            onto, traced = _fluxes(values, flux, places), _fluxes(table, flux, places)
            inner.add(i, k, -onto - np.swapaxes(onto, 1, 2))
            outer.add(i, k, np.swapaxes(traced, 1, 2))
            back.add(i, k, traced)
        for i in range(len(self.form.fields)):
            jump, drift = self._jumps(i, places)
            inner.add(i, i, _weighted(values, jump - drift, w, values))
            outer.add(i, i, -_weighted(values, jump - drift, w, table))
            back.add(i, i, -_weighted(table, jump, w, values))
            traces.add(i, i, _weighted(table, jump, w, table))

    def _jumps(self, i: int, places: Places) -> tuple[Array, Array]:
        """Return the weight of jumps of a field, τ n·A n + |b·n|, and b·n, at the places of one patch or of all."""
        normals = places.normals
        matrix = self.form.diffusions(self.element.moved(places.x)).get((i, i))
        stiff = np.zeros(len(normals))
        if matrix is not None:
            stiff = self.element.penalty * _normal(_across(matrix, normals), normals)
        along, across = self._transport(i, i, places)
        if not (np.any(along) or np.any(across)):
            return stiff, np.zeros(1)
        size = max(len(stiff), np.size(along), np.size(across))
        drift = _normal((np.broadcast_to(along, size), np.broadcast_to(across, size)), normals)
        return np.resize(stiff, size) + np.abs(drift), drift

    def _on_wall(self, curve: Curve, places: Places, inner: Sums, load: list[list[Array]]) -> None:
        form, x = self.form, self.element.moved(places.x)
        points = self.points_of(curve, places)
        for (i, k), matrix in form.diffusions(x).items():
            flux = _across(matrix, places.normals)
            onto = _fluxes(places.values, flux, places)
            if form.prescribes(curve.side, form.fields[k]):
                inner.add(i, k, -onto - np.swapaxes(onto, 1, 2))
            elif i != k:
                inner.add(i, k, -onto)
            else:
                self._add_slope(i, flux, points, places, inner)
        for i, name in enumerate(form.fields):
            if form.prescribes(curve.side, name):
                jump, drift = self._jumps(i, places)
                inner.add(i, i, _weighted(places.values, jump - drift, places.weights, places.values))
        for i, k, response in self.responses(curve, places):
            data = form.given(curve.side, form.fields[k], points).reshape(-1, len(places.weights))
            load[i][0] = load[i][0] + applied(response, data)[..., None]

    def points_of(self, curve: Curve, places: Places) -> BoundaryPoints:
        """Return the places on a wall of all patches of the group."""
        count = len(self.element.shifts)
        normals, weights = np.tile(places.normals, (count, 1)), np.tile(places.weights, count)
        return BoundaryPoints(self.element.moved(places.x), normals, weights, Side(curve.side))

    def responses(self, curve: Curve, places: Places) -> Iterator[tuple[int, int, Array]]:
        """Yield what data on a wall do to the right-hand side: equation, field of the data, (patches, r, places)."""
        form, side = self.form, curve.side
        for (i, k), matrix in form.diffusions(self.element.moved(places.x)).items():
            flux = _across(matrix, places.normals)
            if form.prescribes(side, form.fields[k]):
                along, across = (_respond(places.slopes[a], flux[a], places.weights) for a in (0, 1))
                yield i, k, -along - across
            elif i == k:
                points = self.points_of(curve, places)
                every = np.stack([np.resize(part, len(points.x)) for part in flux], axis=1)
                yield (
                    i,
                    k,
                    _respond(places.values, form.flux(side, form.fields[i], points, every).ratio, places.weights),
                )
        for i, name in enumerate(form.fields):
            if form.prescribes(side, name):
                jump, drift = self._jumps(i, places)
                yield i, i, _respond(places.values, jump - drift, places.weights)

    def _add_slope(
        self, i: int, flux: tuple[Array, Array], points: BoundaryPoints, places: Places, inner: Sums
    ) -> None:
        """Add a condition that prescribes a slope."""
        values, w = places.values, places.weights
        every = np.stack([np.resize(part, len(points.x)) for part in flux], axis=1)
        slope = self.form.flux(points.side.name, self.form.fields[i], points, every)
        inner.add(i, i, _weighted(values, slope.robin, w, values))
        if np.max(np.abs(slope.sliding)) > _ALONG * np.max(np.abs(every)):
            for a in (0, 1):
                inner.add(i, i, -_weighted(values, slope.sliding[:, a], w, places.slopes[a]))


def _respond(left: Array, factor: Array, weights: Array) -> Array:
    """Return the matrices from data at the places of a wall to ∫ left·factor·data, (1 or patches, r, places)."""
    factors = (np.resize(factor, max(np.size(factor), len(weights))).reshape(-1, len(weights))) * weights
    return np.asarray(left.T * factors[:, None])


def _fluxes(left: Array, flux: tuple[Array, Array], places: Places) -> Array:
    """Return ∫ left n·A∇u for the functions of one patch, or of many."""
    return np.asarray(
        _weighted(left, flux[0], places.weights, places.slopes[0])
        + _weighted(left, flux[1], places.weights, places.slopes[1])
    )


def _integrated(left: Array, factor: Value, weights: Array) -> Array:
    """Return ∫ left·factor."""
    return _weighted(left, factor, weights, np.ones((len(weights), 1)))


def _slopes_of(partials: dict[Jet, Value], field: str) -> tuple[Value, Value]:
    """Return the factors of the two first derivatives of a field."""
    return partials.get(Jet(field, (1, 0)), 0.0), partials.get(Jet(field, (0, 1)), 0.0)


# ---- the condensed system -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reduced:
    """A group of patches whose functions are eliminated: A⁻¹, A⁻¹B, C A⁻¹, and where its traces stand."""

    inverse: Array
    outer: Array
    back: Array
    places: Array
    load: Array


@dataclass(frozen=True, eq=False)
class Condensed:
    """The system of the traces, factorised; functions of patches follow from it.

    Attributes
    ----------
    groups
        What is known of each group.
    size
        Number of unknown traces, and of multipliers after them.
    factor
        What SuperLU has made of the matrix.
    constrained
        Values of the constraints.
    """

    groups: tuple[Reduced, ...]
    size: int
    factor: Any
    constrained: Array

    @classmethod
    def of(cls, parts: Sequence[tuple[Array, Blocks]], size: int, constrained: Array) -> Condensed:
        """Eliminate the functions of all patches; ``parts`` are numbers of traces, (patches, own), and blocks.

        Multipliers of constraints stand after the traces; ``constrained`` are the values that they are for.
        """
        size += len(constrained)
        groups, rows, columns, entries = [], [], [], []
        for places, blocks in parts:
            inverse = np.linalg.inv(blocks.inner)
            outer, back = inverse @ blocks.outer, blocks.back @ inverse
            schur = np.broadcast_to(blocks.traces - blocks.back @ outer, (len(places), *blocks.traces.shape[1:]))
            groups.append(Reduced(inverse, outer, back, places, blocks.load))
            rows.append(np.repeat(places, places.shape[1], axis=1).ravel())
            columns.append(np.tile(places, (1, places.shape[1])).ravel())
            entries.append(schur.ravel())
        if not size:
            return cls(tuple(groups), 0, None, constrained)
        table = (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns)))
        matrix = sps.csc_matrix(sps.coo_matrix(table, shape=(size, size)))
        try:
            factor = spla.splu(
                matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.001, options={"SymmetricMode": True}
            )
        except RuntimeError as error:
            raise ConvergenceError(
                "the system of all patches is singular: an eigenvalue is hit, or nothing determines the solution."
            ) from error
        return cls(tuple(groups), size, factor, constrained)

    @property
    def nonzeros(self) -> int:
        """Numbers in the factors."""
        return 0 if self.factor is None else int(self.factor.nnz)

    def solve(self, loads: Sequence[Array] | None = None) -> list[Array]:
        """Return coefficients (patches, fields · r) of each group, for its own loads or others of that shape."""
        given = [group.load for group in self.groups] if loads is None else loads
        right = np.zeros(self.size, dtype=np.result_type(*given, *(group.inverse for group in self.groups)))
        if loads is None:
            right[self.size - len(self.constrained) :] = self.constrained
        for group, load in zip(self.groups, given, strict=True):
            np.subtract.at(right, group.places, np.broadcast_to(applied(group.back, load), group.places.shape))
        traces = self.factor.solve(right) if self.size else right
        return [
            applied(group.inverse, load) - applied(group.outer, traces[group.places])
            for group, load in zip(self.groups, given, strict=True)
        ]

    @cached_property
    def weakest(self) -> tuple[float, float]:
        """The two smallest |L u| / |u|, about, by iteration with two functions; functions are orthonormal."""
        rng = np.random.default_rng(0)
        shapes = [(len(group.places), group.inverse.shape[1]) for group in self.groups]
        vectors = [[rng.normal(size=shape) for shape in shapes] for _ in range(2)]
        sizes = np.ones(2)
        for _ in range(4):
            found = [np.concatenate([part.ravel() for part in self.solve(vector)]) for vector in vectors]
            basis, triangle = np.linalg.qr(np.stack(found, axis=1))
            sizes = np.linalg.svd(triangle, compute_uv=False)
            cuts = np.cumsum([rows * columns for rows, columns in shapes])[:-1]
            vectors = [[p.reshape(s) for p, s in zip(np.split(v, cuts), shapes, strict=True)] for v in basis.T]
        low, high = sorted(1.0 / np.maximum(sizes, 1e-300))
        return float(low), float(high)


def applied(matrix: Array, vectors: Array) -> Array:
    """Return products of the matrices of all patches, or of one that all share, with vectors."""
    if len(matrix) == 1:
        return np.asarray(vectors @ matrix[0].T)
    return np.asarray((matrix @ vectors[:, :, None])[:, :, 0])


def constrained_blocks(blocks: Blocks, columns: Array, rows: Array) -> Blocks:
    """Return blocks with multipliers after the traces: columns (1, functions, n) and rows (patches, n, functions)."""
    count, more = max(len(blocks.back), len(rows)), rows.shape[1]
    back = [np.broadcast_to(part, (count, *part.shape[1:])) for part in (blocks.back, rows)]
    shape = (len(blocks.outer), *columns.shape[1:])
    return blocks._replace(
        outer=np.concatenate([blocks.outer, np.broadcast_to(columns, shape)], axis=2),
        back=np.concatenate(back, axis=1),
        traces=np.pad(blocks.traces, ((0, 0), (0, more), (0, more))),
    )


def trace_numbers(patches: PatchSet, group: Sequence[int], traces: int, fields: int) -> Array:
    """Return where the traces of the patches of a group stand in all of them, shape (patches, fields · own)."""
    own = np.array([[number for number, _ in patches.patches[k].faces] for k in group], dtype=int)
    blocks = (own[:, None, :] * fields + np.arange(fields)[:, None])[..., None] * traces + np.arange(traces)
    return np.asarray(blocks.reshape(len(group), -1))
