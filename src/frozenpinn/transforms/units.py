"""Solving with every field in units of its own size: scale the problem, solve it, return it in the user's units."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from frozenpinn.analysis.scales import Scales, nondimensional, scales_of, uneven
from frozenpinn.assembly.discretisation import System
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.errors import IntegrationError, warn
from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Run = Callable[[Problem], Solution]


def solve_in_units(problem: Problem, run: Run) -> Solution:
    """Solve a problem, with its fields in units of their own if their sizes are very different.

    Sizes are a guess until the solution is known: if it is out of balance in these units, it is solved once more in
    those that it has turned out to need.
    """
    scales = scales_of(problem)
    if scales is None:
        return run(problem)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = _run(problem, scales, run)
        sizes = measured_sizes(solution)
    balanced = {name: size / scales.unit(name) for name, size in sizes.items()}
    if uneven(balanced):
        better = Scales.of(sizes) if uneven(sizes) else None
        return run(problem) if better is None else _run(problem, better, run)
    for warning in caught:
        warn(warning.message)
    return solution


def measured_sizes(solution: Solution) -> dict[str, float]:
    """Return the largest value of each field at some points and times."""
    problem = solution.problem
    x = problem.domain.sample(60, "random", 23).x
    times = np.linspace(*problem.time, 9)
    return {
        name: float(np.max(np.abs(solution.jet_values(x, times, problem.jets.field(name))))) for name in problem.fields
    }


def _run(problem: Problem, scales: Scales, run: Run) -> Solution:
    try:
        return dimensional(run(nondimensional(problem, scales)), problem, scales)
    except IntegrationError as error:
        if error.solution is not None:
            error.solution = dimensional(error.solution, problem.during(error.solution.problem.time), scales)
        raise


def dimensional(scaled: Solution, problem: Problem, scales: Scales) -> Solution:
    """Return the solution of a problem that has been solved in other units."""
    solution = copy(scaled)
    solution.__dict__.pop("residuals", None)  # those of the scaled problem
    solution.problem = problem
    solution.pieces = tuple(
        piece._replace(system=cast(System, ScaledSystem(piece.system, scales))) for piece in scaled.pieces
    )
    solution.notes = (*scaled.notes, f"fields of very different sizes: while solving, {scales}")
    again = scaled.solve_again
    if again is not None:
        solution.solve_again = lambda whole: dimensional(again(scaled.problem), whole, scales)
    return solution


class ScaledSystem:
    """A semi-discrete system whose coefficients belong to networks in the user's units."""

    def __init__(self, inner: System, scales: Scales) -> None:
        self.inner = inner
        self.spaces = tuple(_Space(space, scales) for space in inner.spaces)

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # while a copy is being made
            raise AttributeError(name)
        return getattr(self.inner, name)

    def space_of(self, field: str) -> tuple[int, Any]:
        """Return the index and the space of a field."""
        index = self.inner.space_of(field)[0]
        return index, self.spaces[index]


class _Space:
    """A trial space with its network in the user's units."""

    def __init__(self, inner: Any, scales: Scales) -> None:
        self.inner = inner
        self.network = in_units(inner.network, scales)

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


def in_units(network: Network | ProductNetwork, scales: Scales) -> Network | ProductNetwork:
    """Return a network whose functions are multiplied by the units of their fields; coefficients stay."""
    if isinstance(network, ProductNetwork):  # one factor is enough
        first = cast(Network, in_units(network.factors[0], scales))
        return replace(network, factors=(first, *network.factors[1:]))
    units = np.array([scales.unit(name) for name in network.fields])[:, None, None]
    mixing, lifting = units * network.mixing, units * network.lifting
    layer = cast(Any, SimpleNamespace(lifting=lifting.reshape(network.raw_size, -1)))
    return replace(
        network, layer=layer, active=None, shapes=None, outer=mixing.reshape(network.raw_size, -1), values=None
    )
