"""The network of a PINN: a fully connected one over space and time, with tanh and scaled inputs.

Coordinates and time are mapped to [−1, 1]. Weights start as proposed by Glorot and Bengio (2010), biases at zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np

from frozenpinn.language.jets import Jet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.pinn.taylor import Index, directional, multi_indices, tanh_laplacian, tanh_series

Array: TypeAlias = Any  # of NumPy or JAX
Parameters: TypeAlias = list[tuple[Array, Array]]


class JetPlan(NamedTuple):
    """What one pass must carry: directions with their orders, whether a Laplacian, and how jets are made of them."""

    orders: dict[Index, int]
    laplacian: bool
    recipes: list[tuple[int, list[tuple[float, Index, int]] | None]]  # None: the Laplacian


class FullyConnected:
    """u(x, t) as a fully connected network.

    Parameters
    ----------
    problem
        Gives the fields, the box that inputs are scaled by, and which axes are periodic.
    layers, width
        Number of hidden layers and of neurons in each.
    periodic_embedding
        Replace each periodic coordinate by its cosine and sine, so that periodicity holds by construction.
    """

    def __init__(self, problem: Problem, layers: int, width: int, *, periodic_embedding: bool = False) -> None:
        domain, (start, end) = problem.domain, problem.time
        self.fields = problem.fields
        self.center = np.append((domain.lower + domain.upper) / 2.0, (start + end) / 2.0)
        self.half = np.append(domain.lengths / 2.0, (end - start) / 2.0 or 1.0)  # a static problem rests at t = 0
        flags = domain.periodic if periodic_embedding else (False,) * domain.dimension
        self.embedded = (*flags, False)
        self.width = width
        inputs = len(self.half) + sum(self.embedded)
        self.sizes = [inputs, *[width] * layers, len(self.fields)]
        self._plans: dict[tuple[Jet, ...], JetPlan] = {}

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum((a + 1) * b for a, b in zip(self.sizes[:-1], self.sizes[1:], strict=True))

    def initial(self, rng: np.random.Generator) -> Parameters:
        """Draw weights and biases."""
        pairs = zip(self.sizes[:-1], self.sizes[1:], strict=True)
        return [(rng.normal(0.0, math.sqrt(2.0 / (a + b)), (a, b)), np.zeros(b)) for a, b in pairs]

    def values(self, parameters: Parameters, z: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives at points ``z`` of space and time, shape (n, d + 1); one array (n,) for each jet."""
        plan = self._plan(tuple(jets))
        scaled = (z - self.center) / self.half
        value, series, spread = self._inputs(scaled, plan)
        for depth, (weights, bias) in enumerate(parameters):
            if depth:
                value, series, spread = _activate(value, series, spread, plan)
            value = value @ weights + bias
            series = {direction: [a @ weights for a in s] for direction, s in series.items()}
            spread = None if spread is None else (spread[0] @ weights, spread[1] @ weights)
        result = []
        for field, recipe in plan.recipes:
            if recipe is None:
                assert spread is not None
                result.append(spread[1][:, field])
            else:
                result.append(sum(c * (series[v][k - 1] if k else value)[:, field] for c, v, k in recipe))
        return result

    def _plan(self, jets: tuple[Jet, ...]) -> JetPlan:
        if jets not in self._plans:
            self._plans[jets] = self._make_plan(jets)
        return self._plans[jets]

    def _make_plan(self, jets: tuple[Jet, ...]) -> JetPlan:
        plan = JetPlan({}, any(map(_is_laplacian, jets)), [])
        for jet in jets:
            recipe: list[tuple[float, Index, int]] = []
            for alpha, count in multi_indices(jet).items():
                order = sum(alpha)
                scale = count * math.factorial(order) / math.prod(h**a for h, a in zip(self.half, alpha, strict=True))
                if order == 0:
                    recipe.append((scale, alpha, 0))
                    continue
                recipe += [(scale * c, direction, order) for direction, c in directional(alpha).items()]
            if not _is_laplacian(jet):
                for _, direction, order in recipe:
                    if order:
                        plan.orders[direction] = max(order, plan.orders.get(direction, 0))
            plan.recipes.append((self.fields.index(jet.field), None if _is_laplacian(jet) else recipe))
        return plan

    def _inputs(self, z: Array, plan: JetPlan) -> tuple[Array, dict[Index, list[Array]], tuple[Array, Array] | None]:
        """Return what enters the first layer: values, Taylor coefficients by direction, gradient and Laplacian."""
        value = self._series(z, (0,) * len(self.half), 0)[0]
        series = {v: self._series(z, v, k if any(self.embedded) else 1)[1:] for v, k in plan.orders.items()}
        if not plan.laplacian:
            return value, series, None
        gradient, laplacian = [], jnp.zeros((1, value.shape[1]))
        for axis, half in enumerate(self.half[:-1]):
            direction = tuple(int(i == axis) for i in range(len(self.half)))
            _, first, second = self._series(z, direction, 2)
            gradient.append(first / half)
            laplacian = laplacian + 2.0 * second / half**2
        return value, series, (jnp.stack(gradient), laplacian)

    def _series(self, z: Array, direction: Index, order: int) -> list[Array]:
        """Return the Taylor coefficients of the inputs along a direction; cos and sin for embedded coordinates."""
        result = []
        for k in range(order + 1):
            if k and not any(self.embedded):  # the same at all points
                result.append(np.array([direction], dtype=float) * (k == 1))
                continue
            columns: list[Array] = []
            for axis, step in enumerate(direction):
                if self.embedded[axis]:  # cos(πz + πs) and its derivatives: shifted by π/2 each
                    angle, factor = jnp.pi * z[:, axis] + k * jnp.pi / 2, (np.pi * step) ** k / math.factorial(k)
                    columns += [factor * jnp.cos(angle), factor * jnp.sin(angle)]
                elif k == 0:
                    columns.append(z[:, axis])
                else:
                    columns.append(jnp.full_like(z[:, axis], step if k == 1 else 0.0))
            result.append(jnp.stack(columns, axis=1))
        return result


def _is_laplacian(jet: Jet) -> bool:
    return jet.laps == 1 and not any(jet.alpha) and jet.time == 0


def _activate(
    value: Array, series: dict[Index, list[Array]], spread: tuple[Array, Array] | None, plan: JetPlan
) -> tuple[Array, dict[Index, list[Array]], tuple[Array, Array] | None]:
    """Send values and derivatives through tanh."""
    outer = jnp.tanh(value)
    slope = 1.0 - outer * outer
    new = {v: tanh_series(outer, slope, s, plan.orders[v]) for v, s in series.items()}
    return outer, new, None if spread is None else tanh_laplacian(outer, slope, *spread)
