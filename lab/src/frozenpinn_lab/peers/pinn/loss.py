"""The loss of a PINN and its gradient, summed over small groups of points that fit into the cache.

    L = λ₁ mean |residual|² + λ₂ (mean |initial misfit|² + mean |boundary misfit|²)

A pass over all points at once spends its time on memory; groups of some hundred points are several times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from frozenpinn_lab.peers.pinn.residual import ResidualBlock, Rows, SpaceTimeField

Array: TypeAlias = Any  # of NumPy or JAX
Gradient: TypeAlias = Any  # the same structure as the parameters


class Objective:
    """The loss as a function of parameters and rows (points with their data).

    Parameters
    ----------
    field
        The network.
    interior
        The equations at their collocation points, with weights that sum to λ₁.
    conditions
        Initial and boundary conditions with their weights.
    group
        How many points are treated at a time.
    """

    def __init__(
        self, field: SpaceTimeField, interior: ResidualBlock, conditions: Sequence[ResidualBlock], group: int
    ) -> None:
        self.field, self.interior, self.conditions, self.group = field, interior, tuple(conditions), group

    @property
    def rows(self) -> dict[str, Any]:
        """All points and data, and what else controls the loss."""
        conditions = [(block.rows, block.weights) for block in self.conditions]
        return {"interior": (self.interior.rows, self.interior.weights), "conditions": conditions, "control": ()}

    @property
    def units(self) -> int:
        """How many parts the interior of a mini-batch is chosen from: here points."""
        return len(self.interior.weights)

    @property
    def counts(self) -> list[int]:
        """Number of units in the interior and of rows in each of the conditions."""
        return [self.units, *(len(block.weights) for block in self.conditions)]

    def pick(self, rows: dict[str, Any], indices: Sequence[Array]) -> dict[str, Any]:
        """Return some rows of the interior and of each condition, which weigh as much as all of them."""
        inside, *others = indices
        interior = self._pick_interior(rows["interior"], inside)
        conditions = [sample(*pair) for pair in zip(rows["conditions"], others, strict=True)]
        return {**rows, "interior": interior, "conditions": conditions}

    def _pick_interior(self, interior: Any, index: Array) -> Any:
        return sample(interior, index)

    def gradient(self, parameters: Any, rows: dict[str, Any]) -> tuple[Array, Gradient, Array]:
        """Return the loss, its gradient, and the smallest causal weight (1 where there is none)."""
        loss, gradient, weight = self._interior(parameters, rows)
        for block, part in zip(self.conditions, rows["conditions"], strict=True):
            value, change = self._sum(block, parameters, *part)
            loss, gradient = loss + value, add(gradient, change)
        return loss, gradient, weight

    def _interior(self, parameters: Any, rows: dict[str, Any]) -> tuple[Array, Gradient, Array]:
        return (*self._sum(self.interior, parameters, *rows["interior"]), jnp.ones(()))

    def _sum(self, block: ResidualBlock, parameters: Any, rows: Rows, weights: Array) -> tuple[Array, Gradient]:
        """Return the weighted sum of the squared residuals of one block, and its gradient."""

        def loss(p: Any, part: Rows, w: Array) -> Array:
            return w @ squares(block, self.field, p, part)

        both = jax.value_and_grad(loss)
        groups = -(-len(weights) // self.group)
        if groups == 1:
            return both(parameters, rows, weights)
        zero = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, parameters))
        parts = jax.tree.map(lambda a: fold(a, groups), (rows, weights))
        total, _ = jax.lax.scan(lambda total, part: (add(total, both(parameters, *part)), None), zero, parts)
        return total


def group_size(width: int, dimension: int) -> int:
    """Return how many points fit into the cache, with the derivatives of all neurons of a layer."""
    return int(np.clip(30_000 // (width * (dimension + 2)), 16, 1024))


def sample(weighted: tuple[Rows, Array], index: Array) -> tuple[Rows, Array]:
    """Return some rows, with their weights raised."""
    rows, weights = jax.tree.map(lambda a: a[index], weighted)
    return rows, weights * (len(weighted[1]) / len(index))


def squares(block: ResidualBlock, field: SpaceTimeField, parameters: Any, rows: Rows) -> Array:
    """Return the sum of the squared residuals at each row."""
    parts = [r**2 for r in block.residuals(field, parameters, rows)]
    return sum(parts[1:], parts[0])


def fold(rows: Array, groups: int) -> Array:
    """Cut rows into groups of equal size; missing ones are zero if they are weights, else repeat the last."""
    size = -(-len(rows) // groups)
    missing = groups * size - len(rows)
    if missing:
        filling = jnp.zeros(missing) if rows.ndim == 1 else jnp.repeat(rows[-1:], missing, axis=0)
        rows = jnp.concatenate([rows, filling])
    return rows.reshape((groups, size, *rows.shape[1:]))


def add(a: Any, b: Any) -> Any:
    """Add two trees of arrays."""
    return jax.tree.map(jnp.add, a, b)
