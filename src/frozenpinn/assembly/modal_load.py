"""The load of a system in modal coordinates, as exponential integrators ask for it: many times, so it is made fast.

    (t, z) → left·(rest·y + b(t) + n(t, y)),   y = vectors·z

All maps are multiplied by ``vectors`` and ``left`` beforehand: as matrices, or as the small matrices of each axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from frozenpinn.assembly.nonlinear import PointwisePart
from frozenpinn.operators import Composition, Dense, Operator, diagonal_blocks

if TYPE_CHECKING:
    from frozenpinn.assembly.discretisation import Discretisation

Array = np.ndarray
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
