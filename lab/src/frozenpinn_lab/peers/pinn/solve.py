"""One call from a problem to a trained network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from frozenpinn.errors import MissingExtraError, SettingsError, choices
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.pinn.monitor import Monitor
from frozenpinn_lab.peers.pinn.settings import DEFAULTS, PinnSettings
from frozenpinn_lab.peers.pinn.trained import TrainedNetwork


def solve_pinn(
    problem: Problem,
    *,
    optimizer: str = "lbfgs",
    seed: int = 0,
    seconds: float | None = None,
    checkpoints: Sequence[float] = (),
    **hyper_parameters: Any,
) -> TrainedNetwork:
    """Solve a problem by a physics-informed network that is trained by gradients, in double precision.

    Parameters
    ----------
    problem
        What to solve: any dimension, systems, orders one and two in time, periodic axes.
    optimizer
        ``"adam"``; ``"lbfgs"``, after ``adam_steps`` of Adam if they are asked for; or ``"causal"``: Adam and then
        L-BFGS, with causal weights.
    seed
        Of points, initial weights and mini-batches.
    seconds
        Budget of wall-clock time, with compilation; the network that was reached by then is returned.
    checkpoints
        Seconds at which the error is measured (outside the budget); needs ``problem.exact``.
    **hyper_parameters
        Those of :class:`PinnSettings`, such as ``layers=4, width=20, interior=10_000``.

    Raises
    ------
    IntegrationError
        If the loss is not finite any more.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0", exact="exp(-t)*sin(x)")
    >>> trained = solve_pinn(problem, layers=2, width=10, interior=200, conditions=90, lbfgs_steps=300)
    >>> trained.error()["rel_l2"] < 1e-2
    True
    """
    require_jax()
    settings = read_settings(optimizer, hyper_parameters)
    import jax

    with jax.enable_x64(True):
        return _train(problem, settings, seed, seconds, checkpoints)


def require_jax() -> None:
    """Refuse to go on without the optional dependencies."""
    try:
        import jax
        import optax

        del jax, optax
    except ImportError:
        raise MissingExtraError("a gradient-trained PINN needs jax and optax: pip install './lab[peers]'") from None


def read_settings(optimizer: str, given: dict[str, Any]) -> PinnSettings:
    """Return the settings of an optimizer with some of them changed."""
    if optimizer not in DEFAULTS:
        raise SettingsError(f"unknown optimizer '{optimizer}'; choose one of {choices(DEFAULTS)}.")
    known = vars(DEFAULTS[optimizer])
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SettingsError(f"unknown hyper-parameter {choices(unknown)}; known are {choices(known)}.")
    settings = replace(DEFAULTS[optimizer], **{**given, "optimizer": optimizer})
    settings.check()
    return settings


def _train(
    problem: Problem, settings: PinnSettings, seed: int, seconds: float | None, checkpoints: Sequence[float]
) -> TrainedNetwork:
    from frozenpinn_lab.peers.pinn.adam import run_adam
    from frozenpinn_lab.peers.pinn.lbfgs import run_lbfgs
    from frozenpinn_lab.peers.pinn.network import FullyConnected

    if checkpoints and not problem.exact:
        raise SettingsError("checkpoints measure the error, which needs an exact solution: Problem(…, exact=…).")

    def measure(parameters: Any) -> float:
        trained = TrainedNetwork(problem, network, parameters, settings.interior, monitor)
        return trained.error(problem.fields[0])["rel_l2"]

    monitor = Monitor(seconds, checkpoints, measure)
    rng = np.random.default_rng(seed)
    network = FullyConnected(problem, settings.layers, settings.width, periodic_embedding=settings.periodic_embedding)
    parameters: Any = network.initial(rng)
    objective = _objective(problem, network, settings, rng)
    if settings.adam_steps:
        batch = settings.batch
        if batch is not None and settings.optimizer == "causal":
            batch = max(1, batch // settings.levels)
        rate = settings.learning_rate
        parameters = run_adam(objective, parameters, monitor, settings.adam_steps, rate, batch, rng)
    if settings.lbfgs_steps and not monitor.is_over:
        parameters = run_lbfgs(objective, parameters, monitor, settings.lbfgs_steps)
    return TrainedNetwork(problem, network, parameters, settings.interior, monitor)


def _objective(problem: Problem, network: Any, settings: PinnSettings, rng: np.random.Generator) -> Any:
    """Place the points and put the loss together."""
    from frozenpinn_lab.peers.pinn import residual
    from frozenpinn_lab.peers.pinn.causal import CausalObjective, time_levels
    from frozenpinn_lab.peers.pinn.loss import Objective, group_size

    pde, others = settings.weights
    group = group_size(settings.width, problem.domain.dimension)
    conditions = residual.condition_blocks(problem, settings.conditions, others, rng)
    if settings.optimizer == "causal":
        z = time_levels(problem, settings.interior, settings.levels, rng)
        interior = residual.equations(problem, z, pde)
        return CausalObjective(network, interior, conditions, group, settings.levels, settings.epsilons)
    x = problem.domain.sample(settings.interior, "latin-hypercube", rng).x
    z = np.column_stack([x, residual.stratified(problem.time, len(x), rng)])
    return Objective(network, residual.equations(problem, z, pde), conditions, group)
