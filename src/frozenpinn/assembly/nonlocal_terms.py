"""Nonlocal quantities as matrices between points: from values of an expression at nodes to values anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.basis.hidden import Term
from frozenpinn.geometry import Box
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.language.quantities import FRACTIONAL, MEAN, Quantity
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_NODES = 600  # at which solutions are evaluated for a nonlocal quantity
_RESOLVED = 0.3  # waves that n points of a Gauss rule resolve together with what they are multiplied by, as part of n


def matrix_of(problem: Problem, quantity: Quantity, x: Array, nodes: Array, weights: Array) -> Array:
    """Return K with quantity(x) = K·(values of its expression at the nodes), shape (n, nodes) or (1, nodes)."""
    if quantity.kind == FRACTIONAL:
        return _fractional(problem, quantity.power, x, nodes, weights)
    volume = np.abs(np.broadcast_to(problem.compile([quantity.volume])(*nodes.T, 0.0)[0], len(nodes))) * weights
    if quantity.is_constant:
        return np.asarray(volume / np.sum(volume) if quantity.kind == MEAN else volume)[None]
    program = Program([quantity.kernel], [*problem.jets.x, *quantity.variables], problem.parameters.functions)
    places = [np.broadcast_to(s, (len(x), len(nodes))) for s in nodes.T]
    for axis, periodic in enumerate(problem.domain.periodic):
        if periodic:  # the nearest copy
            length = problem.domain.lengths[axis]
            places[axis] = places[axis] + length * np.round((x[:, axis, None] - places[axis]) / length)
    targets = [np.broadcast_to(c[:, None], (len(x), len(nodes))).ravel() for c in x.T]
    with np.errstate(all="ignore"):
        values = program(*targets, *(p.ravel() for p in places))[0]
    return np.asarray(np.broadcast_to(values, len(x) * len(nodes)).reshape(len(x), len(nodes)) * volume)


def _fractional(problem: Problem, power: float, x: Array, nodes: Array, weights: Array) -> Array:
    """Return (−Δ)^power by Fourier series on a periodic box."""
    domain = problem.domain
    assert isinstance(domain, Box)
    count = max(2, int(_RESOLVED * len(nodes) ** (1.0 / domain.dimension)))
    each = [2.0 * np.pi * np.arange(-count, count + 1) / length for length in domain.lengths]
    waves = np.stack([k.ravel() for k in np.meshgrid(*each, indexing="ij")], axis=1)
    symbol = np.sum(waves**2, axis=1) ** power
    outer, inner = np.exp(1j * x @ waves.T), np.exp(-1j * nodes @ waves.T)
    return np.asarray(((outer * symbol) @ inner.T).real * weights / domain.measure)


class LinearQuantity(NamedTuple):
    """coefficient(x)·K·(a(s)·jet) as a matrix between points, and the jet as a term."""

    matrix: Array
    term: Term


def linear_quantities(problem: Problem, equation: Equation, x: Array, weights: Array) -> list[LinearQuantity]:
    """Return the linear nonlocal terms of an equation at the points."""
    found = []
    for jet, coefficient in equation.nonlocal_linear.items():
        quantity = problem.jets.quantities[jet.field]
        factor = np.broadcast_to(problem.compile([coefficient])(*x.T, 0.0)[0], len(x))
        matrix = factor[:, None] * matrix_of(problem, quantity, x, x, weights)
        split = problem.jets.affine(quantity.inner)
        assert split is not None
        for inner, own in split[0].items():
            value = problem.compile([own])(*x.T, 0.0)[0]
            found.append(LinearQuantity(matrix, Term(inner.field, derivative_of(inner), value)))
    return found


def quantity_values(
    problem: Problem, values: Callable[[Array, Array, Jet], Array], x: Array, times: Array, jet: Jet
) -> Array:
    """Return a nonlocal quantity at points and times, (n, m), from a function that evaluates jets."""
    quantity = problem.jets.quantities[jet.field]
    nodes = problem.domain.sample(_NODES, "gauss")
    own = list(problem.jets.jets_in(quantity.inner).values())
    program = problem.compile([quantity.inner], own)
    tables = [values(nodes.x, times, inner) for inner in own]
    with np.errstate(all="ignore"):
        inside = [program(*nodes.x.T, float(t), *(v[:, k] for v in tables))[0] for k, t in enumerate(times)]
    stacked = np.stack([np.broadcast_to(v, len(nodes.x)) for v in inside], axis=1)
    found = matrix_of(problem, quantity, x, nodes.x, nodes.weights) @ stacked
    return np.array(np.broadcast_to(found, (len(x), len(times))))
