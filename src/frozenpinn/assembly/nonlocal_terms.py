"""Nonlocal quantities as matrices between points: from values of an expression at nodes to values anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sps
import sympy as sp

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.basis.hidden import HiddenLayer, Term
from frozenpinn.geometry import Box
from frozenpinn.language.fluxes import levels_of
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.language.quantities import FRACTIONAL, MEAN, Quantity
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Function(Protocol):
    """Something whose derivatives are known."""

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the fields at points (n, d), shape (n,) each."""


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
    resolved = 0.3  # part of n: waves that a Gauss rule of n points resolves in a product
    domain = problem.domain
    assert isinstance(domain, Box)
    count = max(2, int(resolved * len(nodes) ** (1.0 / domain.dimension)))
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


class Rule(NamedTuple):
    """Nodes, and the matrix from values of an expression there to a quantity at some places; one row if constant."""

    nodes: Array
    matrix: Array | sps.csr_array


def rule_of(problem: Problem, quantity: Quantity, x: Array) -> Rule:
    """Return how a quantity at places follows from values at nodes.

    A kernel on an interval that jumps where s = x, such as that of Volterra's equations, has nodes on both sides.
    """
    count = 600  # at which solutions are evaluated for a nonlocal quantity
    if problem.domain.dimension == 1 and not any(problem.domain.periodic) and _jumps_at_its_place(problem, quantity):
        return _split_rule(problem, quantity, x)
    nodes = problem.domain.sample(count, "gauss")
    return Rule(nodes.x, matrix_of(problem, quantity, x, nodes.x, nodes.weights))


def _jumps_at_its_place(problem: Problem, quantity: Quantity) -> bool:
    place = dict(zip(quantity.variables, problem.jets.x, strict=False))
    return any(sp.expand(level.xreplace(place)) == 0 for level in levels_of(quantity.kernel))


def _split_rule(problem: Problem, quantity: Quantity, x: Array) -> Rule:
    """Return a rule with nodes of their own for each place, on both sides of it."""
    each_side = 40  # nodes on both sides of a place at which a kernel jumps
    program = Program([quantity.kernel], [*problem.jets.x, *quantity.variables], problem.parameters.functions)
    unit, weights = np.polynomial.legendre.leggauss(each_side)
    unit, weights = (unit + 1) / 2, weights / 2
    low, high = float(problem.domain.lower[0]), float(problem.domain.upper[0])
    at = x[:, :1]
    nodes = np.concatenate([low + (at - low) * unit, at + (high - at) * unit], axis=1)
    shares = np.concatenate([(at - low) * weights, (high - at) * weights], axis=1)
    volume = np.abs(np.broadcast_to(problem.compile([quantity.volume])(nodes.ravel(), 0.0)[0], nodes.size))
    with np.errstate(all="ignore"):
        kernel = np.broadcast_to(program(np.repeat(at, nodes.shape[1]), nodes.ravel())[0], nodes.size)
    rows = np.arange(0, nodes.size + 1, nodes.shape[1])
    matrix = sps.csr_array((kernel * volume * shares.ravel(), np.arange(nodes.size), rows), (len(x), nodes.size))
    return Rule(nodes.reshape(-1, 1), matrix)


def jets_at(problem: Problem, function: Function, x: Array, jets: Sequence[Jet]) -> list[Array]:
    """Return derivatives of fields, and nonlocal quantities of them, at points."""
    own = [jet for jet in jets if jet.field not in problem.jets.quantities]
    if len(own) == len(jets):
        return function.jets(x, jets)
    found = dict(zip(own, function.jets(x, own), strict=True))
    for jet in jets:
        if jet not in found:
            rule = rule_of(problem, problem.jets.quantities[jet.field], x)
            inside = _inner(problem, jet, rule.nodes, function)[0]
            found[jet] = np.array(np.broadcast_to(rule.matrix @ inside, len(x)))
    return [found[jet] for jet in jets]


def _inner(problem: Problem, jet: Jet, nodes: Array, function: Function) -> tuple[Array, list[Term], Array]:
    """Return the expression under an integral at nodes, its linearisation as terms, and that of the function itself."""
    quantity = problem.jets.quantities[jet.field]
    own = list(problem.jets.jets_in(quantity.inner).values())
    partials = [sp.diff(quantity.inner, problem.jets.symbol(inner)) for inner in own]
    program, values = problem.compile([quantity.inner, *partials], own), function.jets(nodes, own)
    with np.errstate(all="ignore"):
        value, *slopes = (np.broadcast_to(v, len(nodes)) for v in program(*nodes.T, 0.0, *values))
    terms = [Term(inner.field, derivative_of(inner), slope) for inner, slope in zip(own, slopes, strict=True)]
    along = np.sum([s * v for s, v in zip(slopes, values, strict=True)], axis=0)
    return value, terms, along


def quantity_rows(
    problem: Problem, jet: Jet, x: Array, about: Function, hidden: HiddenLayer
) -> tuple[dict[str, Array], Array]:
    """Return a quantity, linearised about a function, as rows on the features of each field, and of the function."""
    rule = rule_of(problem, problem.jets.quantities[jet.field], x)
    _, terms, along = _inner(problem, jet, rule.nodes, about)
    rows = {}
    for name in problem.fields:
        own = [term for term in terms if term.field == name]
        if own:
            rows[name] = np.broadcast_to(rule.matrix @ hidden.operator(rule.nodes, own), (len(x), hidden.size))
    return rows, np.broadcast_to(rule.matrix @ along, len(x))


def quantity_values(
    problem: Problem, values: Callable[[Array, Array, Jet], Array], x: Array, times: Array, jet: Jet
) -> Array:
    """Return a nonlocal quantity at points and times, (n, m), from a function that evaluates jets."""
    quantity = problem.jets.quantities[jet.field]
    rule = rule_of(problem, quantity, x)
    own = list(problem.jets.jets_in(quantity.inner).values())
    program = problem.compile([quantity.inner], own)
    tables = [values(rule.nodes, times, inner) for inner in own]
    with np.errstate(all="ignore"):
        inside = [program(*rule.nodes.T, float(t), *(v[:, k] for v in tables))[0] for k, t in enumerate(times)]
    stacked = np.stack([np.broadcast_to(v, len(rule.nodes)) for v in inside], axis=1)
    return np.array(np.broadcast_to(rule.matrix @ stacked, (len(x), len(times))))
