"""Adam with an exponentially decaying rate, on all points or on mini-batches of the interior ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy as np
import optax

from frozenpinn.baselines.pinn.causal import CausalObjective
from frozenpinn.baselines.pinn.loss import Objective
from frozenpinn.baselines.pinn.monitor import Monitor

TOGETHER = 20  # steps between two looks at the clock
DECAY, DECAY_STEPS = 0.9, 2000  # as recommended by Wang, Sankaran, Wang and Perdikaris (2023)


def run_adam(
    objective: Objective,
    parameters: Any,
    monitor: Monitor,
    steps: int,
    learning_rate: float,
    batch: int | None,
    rng: np.random.Generator,
) -> Any:
    """Train and return the parameters.

    Parameters
    ----------
    objective, parameters, monitor
        The loss, where to start, and the clock.
    steps
        Number of steps at most.
    learning_rate
        At the start; it falls by a tenth every 2000 steps.
    batch
        Interior points (for causal weights: points on each time level) of one step; None for all.
    rng
        Source of the mini-batches.
    """
    if monitor.is_over:
        return parameters
    optimizer = optax.adam(optax.exponential_decay(learning_rate, DECAY_STEPS, DECAY))
    whole = batch is None or batch >= objective.units
    size = objective.units if batch is None or whole else batch

    def step(rows: dict[str, Any], state: Any, index: Any) -> tuple[Any, Any]:
        parameters, memory = state
        chosen = rows if whole else objective.pick(rows, index)
        loss, gradient, weight = objective.gradient(parameters, chosen)
        change, memory = optimizer.update(gradient, memory)
        return (optax.apply_updates(parameters, change), memory), (loss, weight)

    def several(state: Any, rows: dict[str, Any], indices: Any) -> tuple[Any, Any]:
        state, (losses, weights) = jax.lax.scan(lambda s, i: step(rows, s, i), state, indices)
        return state, (losses.mean(), weights[-1])

    rows = jax.device_put(objective.rows)
    batches = _batches(objective.units, 1 if whole else size, rng)
    state = (parameters, optimizer.init(parameters))
    with monitor.compiling():
        run = jax.jit(several).lower(state, rows, next(batches)).compile()
    for _ in range(-(-steps // TOGETHER)):
        if monitor.is_over:
            break
        state, (loss, weight) = run(state, rows, next(batches))
        found = state[0]
        if not monitor.record(TOGETHER, float(loss), partial(_same, found)):
            break
        if isinstance(objective, CausalObjective) and objective.advance(float(weight)):
            rows = {**rows, "control": objective.rows["control"]}
    return state[0]


def _same(parameters: Any) -> Any:
    return parameters


def _batches(units: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Return indices of mini-batches, shape (steps, size): each unit once in every epoch."""
    pool = np.empty(0, dtype=int)
    while True:
        while len(pool) < TOGETHER * size:
            pool = np.concatenate([pool, rng.permutation(units)])
        yield pool[: TOGETHER * size].reshape(TOGETHER, size)
        pool = pool[TOGETHER * size :]
