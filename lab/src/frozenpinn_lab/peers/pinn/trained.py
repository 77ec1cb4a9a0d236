"""What a training returns: a function of space and time, with its history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.language.jets import Jet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.evaluation import arranged, field_of
from frozenpinn_lab.peers.score import Scored

if TYPE_CHECKING:
    from frozenpinn_lab.peers.pinn.monitor import Monitor
    from frozenpinn_lab.peers.pinn.network import FullyConnected

Array = np.ndarray
_BLOCK = 50_000  # points evaluated at a time


class TrainedNetwork(Scored):
    """u(x, t) by a trained network.

    Attributes
    ----------
    problem, network, parameters
        What was solved, by which network, with which weights.
    size, points
        Number of parameters and of collocation points inside.
    history
        (seconds, iteration, loss).
    errors
        (seconds, relative L² error of the first field) at the checkpoints.
    seconds, compile_seconds, iterations
        Training time with compilation, the share of the latter, and steps of all optimizers.
    stopped
        Whether the budget of time ended the training.
    """

    def __init__(
        self, problem: Problem, network: FullyConnected, parameters: Any, points: int, monitor: Monitor
    ) -> None:
        self.problem, self.network, self.parameters, self.points = problem, network, parameters, points
        self.size = network.size
        self.history, self.errors, self.stopped = monitor.history, monitor.errors, monitor.stopped
        self.seconds, self.compile_seconds = monitor.elapsed, monitor.compile_seconds
        self.iterations = monitor.iterations

    def __repr__(self) -> str:
        return f"TrainedNetwork({self.problem!r}, {self.size} parameters, {self.seconds:.3g} s)"

    def __call__(self, *where: Any, derivative: str = "", field: str | None = None) -> Array:
        """Evaluate a field or a derivative: ``trained(x, t)``, ``trained(x, y, t, derivative="xx")``.

        Coordinates and t are numbers or arrays that broadcast against each other; or one array of points (n, d), and t.
        """
        name = field_of(self.problem, field)
        jet = self.problem.jets.parse_suffix(derivative)
        if jet is None:
            raise EvaluationError(f"derivative='{derivative}' is not made of the coordinates and t.")
        x, t, shape = arranged(self.problem, where)
        return self._values(np.column_stack([x, t]), Jet(name, jet.alpha, 0, jet.time)).reshape(shape)

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return the values at all points (n, d) and all times (m,), shape (n, m)."""
        z = np.column_stack([np.tile(x, (len(times), 1)), np.repeat(times, len(x))])
        return self._values(z, self.problem.jets.field(field)).reshape(len(times), len(x)).T

    def _values(self, z: Array, jet: Jet) -> Array:
        """Return one derivative at points of space and time, block by block."""
        import jax

        with jax.enable_x64(True):
            evaluate = jax.jit(lambda p, z: self.network.values(p, z, [jet])[0])
            parts = [evaluate(self.parameters, z[i : i + _BLOCK]) for i in range(0, len(z), _BLOCK)]
            return np.concatenate([np.asarray(p) for p in parts]) if parts else np.empty(0)
