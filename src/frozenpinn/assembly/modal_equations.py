"""Equations in the modes of their linear part, made fast for those who ask many times.

    (t, z) → left·(rest·y + b(t) + n(t, y)),   y = vectors·z    exponential integrators
    F(z) = λ z + left·(b + n(vectors·z))                        Newton's method for static problems

All maps are multiplied by ``vectors`` and ``left`` beforehand, as matrices or axis by axis. For Newton's method,
derivatives of n by its jets are kept with a state: products with the Jacobian need nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frozenpinn.operators import Operator, diagonal_blocks, mapping

if TYPE_CHECKING:
    from frozenpinn.assembly.determined import Determined
    from frozenpinn.assembly.discretisation import Discretisation
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from frozenpinn.assembly.nonlinear import PointwisePart
from frozenpinn.operators import Composition, Dense, Identity
from frozenpinn.runtime.round_off import ALIKE, TINY

Array = np.ndarray


class ModalState(NamedTuple):
    """Coefficients, what they leave of the equations, and the jets of all fields at the points if they are kept."""

    z: Array
    left: Array
    jets: list[Array]


class ModalEquations:
    """F(z) and its derivatives, for a system all of whose spaces are products and whose modes are real.

    Parameters
    ----------
    system
        The discretisation; without integrals of the solution.
    eigenvalues, vectors, left, rest
        Modes of ``linear + means``, as blocks on the diagonal if there are several spaces, and what they leave of it.
    means
        What the modes contain beyond the linear part: numbers by which jets are multiplied in the equation of a field,
        one for each partial derivative of the pointwise part.
    """

    def __init__(
        self,
        system: Discretisation,
        eigenvalues: Array,
        vectors: Operator,
        left: Operator,
        rest: Operator | None = None,
        means: Sequence[float] = (),
    ) -> None:
        part, layout = system.pointwise, system.layout
        inner, outer = diagonal_blocks(vectors), diagonal_blocks(left)
        assert part is not None
        assert inner is not None, "as is_modal has found"
        assert outer is not None, "as is_modal has found"
        self._part, self._blocks, self._sizes = part, layout.blocks, (layout.coefficients, len(part.x))
        self._own = eigenvalues
        self._load = left @ system.forcing(0.0)
        self._rest = None if rest is None else left @ rest @ vectors
        spaces = [part.space_index[jet.field] for jet in part.jets]
        self._before = [(mapping(own @ inner[i]), layout.blocks[i]) for own, i in zip(part.maps(), spaces, strict=True)]
        self._lifts = part.lifts(0.0)
        rows = [part.space_index[name] for name in part.fields]
        self._after = [
            (mapping(outer[i] @ system.field_projector(name)), layout.blocks[i])
            for i, name in zip(rows, part.fields, strict=True)
        ]
        places = {name: k for k, name in enumerate(part.fields)}
        self._partials = [(places[name], k) for name, k in part.partials]
        self._means = [(*pair, mean) for pair, mean in zip(self._partials, means, strict=False) if mean]
        self._one = len(layout.blocks) == 1

    def _raw(self, z: Array) -> list[Array]:
        """Return the jets without what boundary data lift."""
        return [own(z) if self._one else own(z[block]) for own, block in self._before]

    def _projected(self, values: Sequence[Array | float]) -> Array:
        """Return the modal coefficients of values of some equations at the points."""
        size, n = self._sizes
        if self._one and len(values) == 1:
            only = np.asarray(values[0])
            return self._after[0][0](only if only.shape == (n,) else np.broadcast_to(only, n))
        out = np.zeros(size)
        for (own, block), value in zip(self._after, values, strict=True):
            out[block] += own(np.broadcast_to(value, n))
        return out

    def at(self, z: Array) -> ModalState:
        """Evaluate the equations."""
        raw = self._raw(z)
        jets = raw if self._lifts is None else [own + lift for own, lift in zip(raw, self._lifts, strict=True)]
        values = self._part.at_points(0.0, *jets)
        for row, k, mean in self._means:
            values[row] = values[row] - mean * raw[k]
        return ModalState(z, self._linear(z) + self._load + self._projected(values), jets)

    def _linear(self, z: Array) -> Array:
        """Return what the modes and what they leave make of coefficients."""
        return self._own * z if self._rest is None else self._own * z + self._rest @ z

    def slopes(self, state: ModalState) -> list[Array]:
        """Return the partial derivatives of the pointwise part at a state, without their means."""
        found = self._part.slopes(0.0, state.jets)
        if not self._means:
            return found
        means = {(row, k): mean for row, k, mean in self._means}
        return [own - means.get(pair, 0.0) for own, pair in zip(found, self._partials, strict=True)]

    def product(self, slopes: list[Array], direction: Array) -> Array:
        """Return the derivative of the equations in a direction."""
        raw, values = self._raw(direction), list[Array | float]([0.0] * len(self._after))
        for (row, k), slope in zip(self._partials, slopes, strict=True):
            values[row] = values[row] + slope * raw[k]
        return self._linear(direction) + self._projected(values)

    def shifted(self, slopes: list[Array], weights: Array) -> Array:
        """Return the eigenvalues with the means of what is left of the derivatives of each field by itself."""
        out, n = self._own.copy(), len(weights)
        for (row, k), slope in zip(self._partials, slopes, strict=True):
            jet, field = self._part.jets[k], self._part.fields[row]
            mean = float(np.broadcast_to(slope, n) @ weights)
            if jet.field == field and not jet.order and np.isfinite(mean):
                out[self._after[row][1]] += mean
        return out


def is_modal(system: Discretisation, eigenvalues: Array, vectors: Operator, left: Operator) -> bool:
    """Whether equations can be written in such modes."""
    part = system.pointwise
    return (
        part is not None
        and not part.quantities
        and np.isrealobj(eigenvalues)
        and not system.linear.is_dense
        and not any(jet.time for jet in part.jets)
        and diagonal_blocks(vectors) is not None
        and diagonal_blocks(left) is not None
    )


Load: TypeAlias = Callable[[float, Array], Array]


def modal_load(system: Discretisation, vectors: Operator, left: Operator, rest: Operator | None) -> Load:
    """Return the load of a system of first order in time."""
    if isinstance(vectors, Composition) and isinstance(left, Composition):  # small complex matrices for each mode
        inner, outer = vectors.inner, left.outer
        load = modal_load(system, vectors.outer, left.inner, rest)
        if np.iscomplexobj(vectors.outer @ np.zeros(vectors.outer.shape[1])):  # waves that travel along an axis
            return lambda t, z: outer @ load(t, inner @ z)
        return lambda t, z: outer @ load(t, np.real(inner @ z))
    push = _pushed(system, left)
    linear = None if rest is None else left @ rest @ vectors
    pointwise = None if system.pointwise is None else _pointwise(system, system.pointwise, vectors, left)

    def semilinear(t: float, z: Array) -> Array:
        out = push(t).copy() if pointwise is None else pointwise(t, z) + push(t)
        return out if linear is None else out + linear @ z

    return semilinear


def _pushed(system: Discretisation, left: Operator) -> Callable[[float], Array]:
    """Return t → left·b(t)."""
    forcing = system.forcing
    constant = left @ forcing(system.time[0]) if forcing.is_constant else None
    recent: dict[float, Array] = {}  # a step asks twice for the same time

    def push(t: float) -> Array:
        if constant is not None:
            return constant
        if t not in recent:
            recent.clear()
            recent[t] = left @ forcing(t)
        return recent[t]

    return push


def _pointwise(system: Discretisation, part: PointwisePart, vectors: Operator, left: Operator) -> Load:
    """Return (t, z) → left·n(t, vectors·z), with as much multiplied beforehand as the operators allow."""
    layout = system.layout
    if system.elimination is not None:
        return _with_determined(system.elimination.determined, part, vectors, left, layout.blocks)
    indices = {name: system.space_of(name)[0] for name in part.fields}
    if isinstance(vectors, Dense) and isinstance(left, Dense) and not part.quantities:
        rights = [vectors.matrix[block] for block in layout.blocks]
        parts = {name: left.matrix[:, layout.blocks[i]] for name, i in indices.items()}
        lefts = {name: (system.field_projector(name).T @ own.T).T for name, own in parts.items()}
        return part.transformed(rights, lefts)
    before, after = diagonal_blocks(vectors), diagonal_blocks(left)
    if before is not None and after is not None and not part.quantities:
        maps = {name: after[i] @ system.field_projector(name) for name, i in indices.items()}
        return part.transformed_by_axes(before, maps, layout.blocks)

    def general(t: float, z: Array) -> Array:
        states = layout.split(np.real(vectors @ z))
        out = np.zeros(layout.coefficients)
        for rows, name, values in part.values(t, states):
            out[layout.blocks[rows]] += system.field_projector(name) @ values
        return left @ out

    return general


def _with_determined(
    z: Determined, part: PointwisePart, vectors: Operator, left: Operator, blocks: Sequence[slice]
) -> Load:
    """Return the same where terms contain fields that follow linearly, or are terms of their equations."""
    layout, names = z.layout, part.fields
    rows = {name: z.whole.space_of(name)[0] for name in names}
    back = -1.0 * (z.through if isinstance(z.chain, Identity) else z.through @ z.chain)
    if isinstance(vectors, Dense) and isinstance(left, Dense):
        rights = [vectors.matrix[block] for block in blocks]
        moved = z.of_position @ vectors.matrix
        rights += [moved[b.start - z.count : b.stop - z.count] for b in layout.blocks[len(blocks) :]]
        whole = np.concatenate([left.matrix, left.matrix @ back.dense()], axis=1)
        lefts = {n: (z.whole.field_projector(n).T @ whole[:, layout.blocks[i]].T).T for n, i in rows.items()}
        return part.transformed(rights, lefts)
    inner, outer = diagonal_blocks(vectors), diagonal_blocks(left)
    shared = None if inner is None or outer is None else _shared_modes(z, inner, outer, back, blocks)
    if inner is None or outer is None or shared is None:

        def general(t: float, modes: Array) -> Array:
            y = np.real(vectors @ modes)
            found = z.projected(part, t, z.joined(y, z.linearly(y)))
            return np.asarray(left @ (found[z.own] + back @ found[z.other]))

        return general
    before, after = shared
    count, size = len(layout.blocks) - len(blocks), blocks[-1].stop
    spread = [slice(size + k * before.shape[2], size + (k + 1) * before.shape[2]) for k in range(count)]
    maps = {
        n: outer[i] @ z.whole.field_projector(n) if i < len(blocks) else outer[0] @ z.whole.field_projector(n)
        for n, i in rows.items()
    }
    plain = part.transformed_by_axes([*inner, *([inner[0]] * count)], maps, [*blocks, *spread])

    def fast(t: float, modes: Array) -> Array:
        parts = np.stack([modes[block] for block in blocks])
        found = plain(t, np.concatenate([modes, np.einsum("kij,ij->kj", before, parts).ravel()]))
        out = found[:size]
        pushed = np.einsum("ikj,kj->ij", after, found[size:].reshape(count, -1))
        for block, own in zip(blocks, pushed, strict=True):
            out[block] += own
        return out

    return fast


def _shared_modes(
    z: Determined, inner: Sequence[Operator], outer: Sequence[Operator], back: Operator, blocks: Sequence[slice]
) -> tuple[Array, Array] | None:
    """Return what the modes of each evolving field do to those of each determined one, (k, i, n), and back, (i, k, n).

    None if they are not the same functions. Modes with number j of all fields belong together.
    """
    sizes = {block.stop - block.start for block in z.layout.blocks}
    if len(sizes) > 1:
        return None
    (n,), count = sizes, len(z.layout.blocks) - len(blocks)
    rng, total = np.random.default_rng(0), blocks[-1].stop
    before, after = np.zeros((count, len(blocks), n)), np.zeros((len(blocks), count, n))
    for values, keep in ((np.ones(n), True), (rng.normal(size=n), False)):
        for i, block in enumerate(blocks):
            whole = np.zeros(total)
            whole[block] = inner[i] @ values
            moved = (z.of_position @ whole).reshape(count, n)
            for k in range(count):
                if keep:
                    before[k, i] = outer[0] @ moved[k]
                elif not _alike(inner[0] @ (before[k, i] * values), moved[k]):
                    return None
        for k in range(count):
            found = np.zeros((count, n))
            found[k] = inner[0] @ values
            pushed = back @ found.ravel()
            for i, block in enumerate(blocks):
                if keep:
                    after[i, k] = outer[i] @ pushed[block]
                elif not _alike(inner[i] @ (after[i, k] * values), pushed[block]):
                    return None
    return before, after


def _alike(first: Array, second: Array) -> bool:
    size = float(np.linalg.norm(first)) + float(np.linalg.norm(second))
    return float(np.linalg.norm(first - second)) <= ALIKE * max(size, TINY)
