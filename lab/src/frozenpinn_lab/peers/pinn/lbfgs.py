"""L-BFGS on all points: SciPy's L-BFGS-B, whose line search (Moré and Thuente) is robust, around a compiled gradient.

When the line search finds no better point, the memory is dropped and the search starts again from steepest descent,
until that does not help either.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.optimize import minimize

from frozenpinn_lab.peers.pinn.causal import CausalObjective
from frozenpinn_lab.peers.pinn.loss import Objective
from frozenpinn_lab.peers.pinn.monitor import Monitor

MEMORY = 50  # pairs of steps and gradient changes, as in Raissi's codes
REFRESH = 500  # iterations with the same causal weights


def run_lbfgs(objective: Objective, parameters: Any, monitor: Monitor, steps: int) -> Any:
    """Train for a number of iterations at most and return the parameters."""
    flat, unravel = ravel_pytree(parameters)
    x, rows = np.asarray(flat), jax.device_put(objective.rows)
    causal = objective if isinstance(objective, CausalObjective) else None
    if causal is not None:
        causal.stage = len(causal.epsilons) - 1
        rows["control"] = jax.device_put(causal.rows["control"])
        with monitor.compiling():
            weigh = jax.jit(lambda x, rows: causal.weights(unravel(x), rows)).lower(x, rows).compile()
    search = _Search(objective, unravel, monitor)
    left, idle = steps, 0
    while left > 0 and idle < 2 and not monitor.is_over:
        current = rows if causal is None else {**rows, "control": weigh(x, rows)}
        before, x, loss, count = search(x, current, left if causal is None else min(left, REFRESH))
        left -= count
        idle = 0 if loss < before * (1.0 - 1e-6) else idle + 1
    return unravel(x)


class _Search:
    """One run of L-BFGS-B with a fixed loss."""

    def __init__(self, objective: Objective, unravel: Any, monitor: Monitor) -> None:
        self.monitor, self.unravel = monitor, unravel
        self._compiled: Any = None

        def both(x: Any, rows: dict[str, Any]) -> tuple[Any, Any]:
            loss, gradient, _ = objective.gradient(unravel(x), rows)
            return loss, ravel_pytree(gradient)[0]

        self._function = jax.jit(both)

    def __call__(self, x: np.ndarray, rows: dict[str, Any], steps: int) -> tuple[float, np.ndarray, float, int]:
        """Return the loss before, the best point, its loss, and the number of iterations."""
        if self._compiled is None:
            with self.monitor.compiling():
                self._compiled = self._function.lower(x, rows).compile()

        def function(x: np.ndarray) -> tuple[float, np.ndarray]:
            loss, gradient = self._compiled(x, rows)
            if not np.isfinite(loss):
                self.monitor.record(0, float(loss), lambda: None)  # says what happened
            return float(loss), np.asarray(gradient)

        def report(intermediate_result: Any) -> None:
            point = intermediate_result.x
            if not self.monitor.record(1, float(intermediate_result.fun), lambda: self.unravel(np.array(point))):
                raise StopIteration

        before = function(x)[0]
        options = {"maxiter": steps, "maxfun": 100 * steps, "maxcor": MEMORY, "maxls": 50, "ftol": 0.0, "gtol": 0.0}
        found = minimize(function, x, jac=True, method="L-BFGS-B", callback=report, options=options)
        return before, np.array(found.x), float(found.fun), int(found.nit)
