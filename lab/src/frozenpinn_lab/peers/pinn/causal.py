"""Causal weights (Wang, Sankaran and Perdikaris 2022): later times count once earlier ones are solved.

    L = λ₁/N Σᵢ wᵢ Lᵢ + …,   wᵢ = exp(−ε Σ_{k<i} L_k),   Lᵢ = mean |residual|² at time tᵢ

The weights are not differentiated. Adam computes them anew in every step; L-BFGS needs one fixed function for its line
search, so there they are frozen for some hundred iterations at a time. If a sequence of ε is given, the next is taken
when the last weight exceeds 0.99.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.pinn.loss import Gradient, Objective, add, squares
from frozenpinn_lab.peers.pinn.residual import ResidualBlock, Rows, SpaceTimeField

Array: TypeAlias = Any  # of NumPy or JAX
SOLVED = 0.99


class CausalObjective(Objective):
    """The loss with causal weights; the interior points lie on time levels, in the order of time.

    Parameters
    ----------
    field, interior, conditions, group
        As for :class:`Objective`; the rows of ``interior`` are those of :func:`time_levels`.
    levels
        Number of time levels.
    epsilons
        One ε, or several of increasing size.
    """

    def __init__(
        self,
        field: SpaceTimeField,
        interior: ResidualBlock,
        conditions: Sequence[ResidualBlock],
        group: int,
        levels: int,
        epsilons: Array,
    ) -> None:
        super().__init__(field, interior, conditions, group)
        self.levels, self.epsilons, self.stage = levels, tuple(epsilons), 0

    @property
    def rows(self) -> dict[str, Any]:
        """All points and data by level, and ε."""
        by_level = jax.tree.map(lambda a: a.reshape(self.levels, self.units, *a.shape[1:]), self.interior.rows)
        return {**super().rows, "interior": by_level, "control": np.asarray(float(self.epsilons[self.stage]))}

    @property
    def units(self) -> int:
        """Number of points on each level: a mini-batch has some of them, on all levels."""
        return len(self.interior.weights) // self.levels

    def _pick_interior(self, interior: Any, index: Array) -> Any:
        return jax.tree.map(lambda a: a[:, index], interior)

    def advance(self, weight: float) -> bool:
        """Take the next ε if the last weight is near 1; return whether there was one."""
        if weight <= SOLVED or self.stage + 1 >= len(self.epsilons):
            return False
        self.stage += 1
        return True

    def weights(self, parameters: Any, rows: dict[str, Any]) -> Array:
        """Return the weights of all levels, to be frozen as ``rows["control"]``."""

        def step(past: Array, part: Rows) -> tuple[Array, Array]:
            return self._weigh(self._losses(parameters, part), rows["control"], past)

        return jax.lax.scan(step, jnp.zeros(()), self._groups(rows["interior"]))[1].ravel()

    def _interior(self, parameters: Any, rows: dict[str, Any]) -> tuple[Array, Gradient, Array]:
        groups, control = self._groups(rows["interior"]), rows["control"]
        frozen = control.ndim > 0
        count = len(jax.tree.leaves(groups)[0])
        fixed = control.reshape(count, -1) if frozen else jnp.zeros((count, 1))
        share = float(np.sum(self.interior.weights)) / self.levels

        def step(state: Any, part: tuple[Rows, Array]) -> tuple[Any, Array]:
            total, past = state
            values, back = jax.vjp(lambda p: self._losses(p, part[0]), parameters)
            past, weights = (past, part[1]) if frozen else self._weigh(values, control, past)
            (change,) = back(share * weights)
            return (add(total, (share * weights @ values, change)), past), weights[-1]

        zero = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, parameters))
        ((loss, gradient), _), last = jax.lax.scan(step, (zero, jnp.zeros(())), (groups, fixed))
        return loss, gradient, last[-1]

    def _groups(self, rows: Rows) -> Rows:
        """Cut the levels into groups of some hundred points: a divisor of their number per group."""
        each = rows[1].shape[1]
        size = max(k for k in range(1, self.levels + 1) if self.levels % k == 0 and k * each <= max(self.group, each))
        return jax.tree.map(lambda a: a.reshape(self.levels // size, size, *a.shape[1:]), rows)

    def _losses(self, parameters: Any, rows: Rows) -> Array:
        """Return the mean squared residual of each level of a group."""
        size, each = rows[1].shape[:2]
        flat = jax.tree.map(lambda a: a.reshape(size * each, *a.shape[2:]), rows)
        return squares(self.interior, self.field, parameters, flat).reshape(size, each).mean(axis=1)

    @staticmethod
    def _weigh(losses: Array, epsilon: Array, past: Array) -> tuple[Array, Array]:
        """Return the sum of all losses so far, and exp(−ε·sum) before each level."""
        until = past + jnp.cumsum(losses)
        return until[-1], jnp.exp(-epsilon * (until - losses))


def time_levels(problem: Problem, count: int, levels: int, rng: np.random.Generator) -> Array:
    """Return points of space and time: other points on each of many equidistant levels, from start to end."""
    each = max(1, round(count / levels))
    times = np.repeat(np.linspace(*problem.time, levels), each)
    x = np.concatenate([problem.domain.sample(each, "latin-hypercube", rng).x for _ in range(levels)])
    return np.column_stack([x, times])
