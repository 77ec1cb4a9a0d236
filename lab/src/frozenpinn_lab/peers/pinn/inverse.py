"""Inference by a physics-informed network: unknown numbers are trained with it, unknown fields are networks beside it.

L = mean |residual|² / |source|² + λ (mean |conditions|² + mean |u − data|² / mean |data|²)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import SettingsError
from frozenpinn.language.jets import TIME, Jet
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown, UnknownField, atoms, field_words
from frozenpinn_lab.peers.pinn.monitor import Monitor
from frozenpinn_lab.peers.pinn.residual import (
    ResidualBlock,
    Rows,
    SpaceTimeField,
    condition_blocks,
    equations,
    linear,
    stratified,
    together,
)
from frozenpinn_lab.peers.pinn.settings import PinnSettings
from frozenpinn_lab.peers.pinn.solve import read_settings, require_jax

Array: TypeAlias = Any  # of NumPy or JAX
_HEAVY = 100.0  # λ: conditions and data beside the equation
_FIRST = 2000  # steps of Adam before L-BFGS, as is usual


@dataclass(frozen=True)
class TrainedUnknowns:
    """Numbers and fields that were trained, seconds of the training, and sizes."""

    numbers: dict[str, float]
    functions: dict[str, Any]
    seconds: float
    size: int
    points: int
    iterations: int
    stopped: bool
    errors: tuple[tuple[float, float], ...] = field(default=())


class _Unknowns:
    """The unknowns of a problem as parameters of a training: numbers in units of their start, fields as networks."""

    def __init__(self, problem: Problem, settings: PinnSettings) -> None:
        from frozenpinn_lab.peers.pinn.network import FullyConnected

        self.problem, table = problem, problem.parameters.inferred
        self.numbers = {n: u for n, u in table.items() if isinstance(u, Unknown)}
        self.fields = {n: u for n, u in table.items() if isinstance(u, UnknownField)}
        self.scales = np.array([abs(u.start) or 1.0 for u in self.numbers.values()])
        self.networks = {n: FullyConnected(problem, settings.layers, settings.width) for n in self.fields}
        for name, network in self.networks.items():
            network.fields, network.sizes = (name,), [*network.sizes[:-1], 1]
        words = {n: atoms(n, u, problem.jets) for n, u in self.fields.items()}
        self.atoms: tuple[sp.Expr, ...] = (
            *(sp.Symbol(n, real=True) for n in self.numbers),
            *(atom for own in words.values() for atom in own),
        )

    def check(self) -> None:
        """Refuse unknowns beside the equations."""
        problem = self.problem
        texts = [e for c in problem.conditions for e in (*c.coefficients, c.value.expression)]
        texts += [datum.expression for datum in problem.initial_data]
        if any(text is not None and text.has(*self.atoms) for text in texts):
            raise SettingsError("the PINN trains unknowns of equations, not of boundary conditions or initial values.")

    def initial(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return where the training starts."""
        starts = np.array([u.start for u in self.numbers.values()]) / self.scales
        return {"numbers": starts, "fields": {n: network.initial(rng) for n, network in self.networks.items()}}

    def values(self, parameters: Any, z: Array) -> list[Array]:
        """Return the value of each atom at points."""
        import jax.numpy as jnp

        found = [
            jnp.full(len(z), 1.0) * (value * scale)
            for value, scale in zip(parameters["numbers"], self.scales, strict=True)
        ]
        for name in self.fields:
            found += self.inner(name, parameters, z)
        return found

    def inner(self, name: str, parameters: Any, z: Array, only_value: bool = False) -> list[Array]:
        """Return a field, or its logarithm, and all derivatives; it depends on its arguments only."""
        import jax.numpy as jnp

        unknown, network, words = self.fields[name], self.networks[name], (*self.problem.jets.coordinates, TIME)
        arguments = unknown.arguments(self.problem.jets)
        seen = np.array([word in arguments for word in words])
        jets = []
        for order in field_words(name, unknown, self.problem.jets).values():
            by = dict(zip(arguments, order, strict=True))
            jets.append(Jet(name, tuple(by.get(c, 0) for c in words[:-1]), 0, by.get(TIME, 0)))
        scale = 1.0 if unknown.positive else abs(unknown.start) or 1.0
        wanted = jets[:1] if only_value else jets
        values = network.values(parameters["fields"][name], jnp.where(seen, z, network.center), wanted)
        shift = [unknown.inner_start, *[0.0] * (len(wanted) - 1)]
        return [scale * value + start for value, start in zip(values, shift, strict=True)]


class _Solution:
    """The network of the solution among all parameters."""

    def __init__(self, network: Any) -> None:
        self.network = network

    def values(self, parameters: Any, z: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the solution."""
        return list(self.network.values(parameters["u"], z, jets))


def infer_pinn(
    problem: Problem,
    data: Sequence[Measurements],
    *,
    optimizer: str = "lbfgs",
    seed: int = 0,
    seconds: float | None = None,
    **hyper_parameters: Any,
) -> TrainedUnknowns:
    """Train a network, the unknown numbers and networks for unknown fields together, from measured values.

    Parameters
    ----------
    problem, data
        A problem with unknowns in its equations, and values of fields, or of unknown fields, at points.
    optimizer, seed, seconds, hyper_parameters
        As for :func:`solve_pinn`; L-BFGS follows 2000 steps of Adam.
    """
    require_jax()
    given = {"adam_steps": _FIRST, **hyper_parameters} if optimizer == "lbfgs" else hyper_parameters
    settings = read_settings(optimizer, given)
    import jax

    with jax.enable_x64(True):
        return _trained(problem, data, settings, seed, seconds)


def _trained(
    problem: Problem, data: Sequence[Measurements], settings: PinnSettings, seed: int, seconds: float | None
) -> TrainedUnknowns:
    import jax

    from frozenpinn_lab.peers.pinn.adam import run_adam
    from frozenpinn_lab.peers.pinn.lbfgs import run_lbfgs
    from frozenpinn_lab.peers.pinn.loss import Objective, group_size
    from frozenpinn_lab.peers.pinn.network import FullyConnected

    monitor, rng, unknowns = Monitor(seconds), np.random.default_rng(seed), _Unknowns(problem, settings)
    unknowns.check()
    network = FullyConnected(problem, settings.layers, settings.width)
    parameters: Any = {"u": network.initial(rng), **unknowns.initial(rng)}
    x = problem.domain.sample(settings.interior, "latin-hypercube", rng).x
    z = np.column_stack([x, stratified(problem.time, len(x), rng)])
    inside = equations(problem, z, 1.0, unknowns)
    source = np.max(np.mean(inside.rows[1] ** 2, axis=0), initial=1.0)
    inside = inside._replace(weights=inside.weights / source)
    seen = [_data(problem, part, unknowns) for part in data]
    blocks = [*condition_blocks(problem, settings.conditions, _HEAVY, rng), *seen]
    group = group_size(settings.width, problem.domain.dimension)
    objective = Objective(_Solution(network), inside, blocks, group)
    if settings.adam_steps:
        parameters = run_adam(objective, parameters, monitor, settings.adam_steps, settings.learning_rate, None, rng)
    if settings.lbfgs_steps and not monitor.is_over:
        parameters = run_lbfgs(objective, parameters, monitor, settings.lbfgs_steps)
    numbers = dict(zip(unknowns.numbers, map(float, parameters["numbers"] * unknowns.scales), strict=True))

    def function(name: str) -> Any:
        return lambda x: _evaluated(unknowns, name, parameters, x)

    size = sum(leaf.size for leaf in jax.tree.leaves(parameters))
    functions = {name: function(name) for name in unknowns.fields}
    return TrainedUnknowns(
        numbers, functions, monitor.elapsed, size, settings.interior, monitor.iterations, monitor.stopped
    )


def _data(problem: Problem, part: Measurements, unknowns: _Unknowns) -> ResidualBlock:
    """Return measured values of a field of the problem, or of an unknown one."""
    if part.regions is not None or part.quantity or part.derivative:
        raise SettingsError("the PINN knows values of fields at points; averages and other quantities it does not.")
    times = np.full(len(part), problem.time[0]) if part.times is None else part.times
    z = np.column_stack([part.points, times])
    weight = _HEAVY / max(float(np.mean(part.values**2)), 1e-300)
    name = part.field or problem.fields[0]
    if name in problem.fields:
        return together([linear(z, [(problem.jets.field(name), 1.0)], part.values, weight)])[0]

    def residuals(field: SpaceTimeField, parameters: Any, rows: Rows) -> list[Array]:
        (points,), data = rows
        return [_outer(unknowns, name, parameters, points) - data[:, 0]]

    return ResidualBlock(((z,), part.values[:, None]), np.full(len(part), weight / len(part)), residuals)


def _outer(unknowns: _Unknowns, name: str, parameters: Any, z: Array) -> Array:
    import jax.numpy as jnp

    (inner,) = unknowns.inner(name, parameters, z, only_value=True)
    return jnp.exp(inner) if unknowns.fields[name].positive else inner


def _evaluated(unknowns: _Unknowns, name: str, parameters: Any, x: Array) -> np.ndarray:
    """Return a field where its arguments are ``x``."""
    import jax

    words = (*unknowns.problem.jets.coordinates, TIME)
    z = np.tile(unknowns.networks[name].center, (len(x), 1))
    z[:, [words.index(word) for word in unknowns.fields[name].arguments(unknowns.problem.jets)]] = x
    with jax.enable_x64(True):
        return np.asarray(_outer(unknowns, name, parameters, z))
