"""Maps from modal coordinates to states as arrays, and the way back: matrices, Kronecker products, blocks of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from frozenpinn.errors import FrozenPinnError
from frozenpinn.operators.algebra import Block, Composition, diagonal_blocks
from frozenpinn.operators.dense import Dense
from frozenpinn.operators.kronecker import KroneckerSum, kronecker
from frozenpinn.operators.mode_matrices import ModeMatrices
from frozenpinn.operators.protocol import Array, Operator


def operator_arrays(operator: Operator, name: str) -> dict[str, Array]:
    """Return the arrays of an operator, under a name.

    >>> sorted(operator_arrays(kronecker(np.ones((2, 2)), np.ones((3, 3))), "V"))
    ['V/0/0', 'V/0/1']
    """
    if isinstance(operator, Dense):
        return {name: operator.matrix}
    if isinstance(operator, Composition) and isinstance(operator.inner, ModeMatrices):
        return {f"{name}/modes": operator.inner.matrices, **operator_arrays(operator.outer, name)}
    blocks = diagonal_blocks(operator)
    if blocks is None or not all(isinstance(o, KroneckerSum) and len(o.products) == 1 for o in blocks):
        raise FrozenPinnError(f"an operator of class {type(operator).__name__} can't be stored.")
    arrays = {}
    for k, block in enumerate(blocks):
        assert isinstance(block, KroneckerSum)
        for axis, factor in enumerate(block.products[0].factors):
            arrays[f"{name}/{k}/{axis}"] = factor if isinstance(factor, np.ndarray) else np.eye(factor.shape[0])
    return arrays


def operator_from_arrays(arrays: Mapping[str, Array], name: str) -> Operator:
    """Rebuild an operator."""
    if name in arrays:
        return Dense(arrays[name])
    keys = [key.removeprefix(f"{name}/").split("/") for key in arrays if key.startswith(f"{name}/")]
    places = sorted((int(key[0]), int(key[1])) for key in keys if len(key) == 2)
    counts = {k: sum(1 for other, _ in places if other == k) for k, _ in places}
    blocks = [kronecker(*(arrays[f"{name}/{k}/{axis}"] for axis in range(n))) for k, n in counts.items()]
    whole: Operator = blocks[0]
    if len(blocks) > 1:
        whole = Block(tuple(tuple(b if i == j else None for j in range(len(blocks))) for i, b in enumerate(blocks)))
    modes = arrays.get(f"{name}/modes")
    return whole if modes is None else whole @ ModeMatrices(modes)
