"""Adam with an exponentially decaying rate, on all points or on mini-batches of the interior ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
import optax

from frozenpinn_lab.peers.pinn.causal import CausalObjective
from frozenpinn_lab.peers.pinn.loss import Objective
from frozenpinn_lab.peers.pinn.monitor import Monitor

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
        Interior points (for causal weights: points on each time level) of one step, with the same share of the
        initial and boundary points; None for all.
    rng
        Source of the mini-batches.
    """
    if monitor.is_over:
        return parameters
    optimizer = optax.adam(optax.exponential_decay(learning_rate, DECAY_STEPS, DECAY))
    share = 1.0 if batch is None else min(1.0, batch / objective.units)

    def step(rows: dict[str, Any], state: Any, index: Any) -> tuple[Any, Any]:
        parameters, memory = state
        chosen = rows if share == 1.0 else objective.pick(rows, index)
        loss, gradient, weight = objective.gradient(parameters, chosen)
        change, memory = optimizer.update(gradient, memory)
        return (optax.apply_updates(parameters, change), memory), (loss, weight)

    def several(state: Any, rows: dict[str, Any], indices: Any) -> tuple[Any, Any]:
        state, (losses, weights) = jax.lax.scan(lambda s, i: step(rows, s, i), state, indices)
        return state, (losses.mean(), weights[-1])

    rows = jax.device_put(objective.rows)
    batches = _batches(objective.counts if share < 1.0 else [1], share, rng)
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


def _batches(counts: Sequence[int], share: float, rng: np.random.Generator) -> Iterator[list[np.ndarray]]:
    """Return the rows of some steps, (steps, rows) for each block: a share of each, but not less than 32."""
    streams = [_shuffled(n, min(n, max(32, round(share * n))) if k else max(1, round(share * n)), rng)
               for k, n in enumerate(counts)]  # fmt: skip
    while True:
        yield [next(stream) for stream in streams]


def _shuffled(count: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Return indices, shape (steps, size): all of them once in every epoch."""
    pool = np.empty(0, dtype=int)
    while True:
        while len(pool) < TOGETHER * size:
            pool = np.concatenate([pool, rng.permutation(count)])
        yield pool[: TOGETHER * size].reshape(TOGETHER, size)
        pool = pool[TOGETHER * size :]
