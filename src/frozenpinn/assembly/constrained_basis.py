"""Neurons that obey a linear constraint by themselves: a·σ(w·x + b) with amplitudes in the null space of its symbol.

For C with constant coefficients and derivatives of one order k, C(∂) a σ(w·x + b) = (C(w)·a) σ⁽ᵏ⁾(w·x + b): with
a ⊥ w, a velocity has no divergence anywhere, not just at points. The multiplier enters the equations by the adjoint of
C, so the Galerkin projection onto such functions does not see it.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from frozenpinn.assembly.boundary import condition_terms, periodic_functionals
from frozenpinn.basis.boundary_layer import Functional, boundary_layer, functional_rows
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.svd_layer import compress
from frozenpinn.errors import SettingsError
from frozenpinn.statement.multipliers import LinearConstraint
from frozenpinn.statement.problem import Problem

Array = np.ndarray


def obeying(problem: Problem, network: Network) -> csr_array | None:
    """Return the combinations of features that obey all constraints of their fields, in columns; None without any."""
    kept = [c for c in problem.kept if set(c.fields) <= set(network.fields)]
    if not kept:
        return None
    for constraint in kept:
        if not constraint.is_homogeneous:
            raise SettingsError(
                f"the constraint of '{constraint.multiplier}' has derivatives of several orders, or a right-hand side; "
                "beside equations in time, only homogeneous ones such as div(U) = 0 can be kept."
            )
    hidden, fields = network.hidden, network.fields
    symbols = np.zeros((hidden.width, len(kept), len(fields)))
    for row, constraint in enumerate(kept):
        for name, column in zip(constraint.fields, constraint.symbol(hidden.weights).T, strict=True):
            symbols[:, row, fields.index(name)] = column
    amplitudes = np.swapaxes(np.linalg.svd(symbols)[2][:, len(kept) :], 1, 2)  # (neurons, fields, free ones)
    neurons, free = hidden.width, amplitudes.shape[2]
    rows = np.arange(neurons)[:, None, None] + hidden.size * np.arange(len(fields))[None, :, None]
    columns = (free * np.arange(neurons))[:, None, None] + np.arange(free)
    shape = (neurons, len(fields), free)
    constants = hidden.size * np.arange(len(fields)) + hidden.width
    entries = np.concatenate([amplitudes.ravel(), np.ones(len(fields))])
    where = (
        np.concatenate([np.broadcast_to(rows, shape).ravel(), constants]),
        np.concatenate([np.broadcast_to(columns, shape).ravel(), free * neurons + np.arange(len(fields))]),
    )
    return csr_array((entries, where), shape=(len(fields) * hidden.size, free * neurons + len(fields)))


def images_of_multipliers(problem: Problem, network: Network, per_side: int) -> Array | None:
    """Return an orthonormal basis of what multipliers can add to the equations at the points; None without any.

    Values are stacked by field and weighted. Functions that obey the constraint and all conditions are orthogonal to
    it; those of a network obey conditions up to its cut-off, and multipliers would pass what is left.
    """
    cutoff = 1e-9  # of singular values: combinations below it are round-off
    kept = [c for c in problem.kept if set(c.fields) <= set(network.fields)]
    if not kept:
        return None
    hidden, x = network.hidden, network.points.x
    root = np.sqrt(network.points.weights)[:, None]
    blocks = []
    for constraint in kept:
        own = np.zeros((len(network.fields), len(x), hidden.size))
        for name in (name for name in constraint.fields if constraint.terms[name]):
            terms = [Term("", Derivative(alpha), c) for alpha, c in constraint.adjoint(name).items()]
            own[network.fields.index(name)] = root * hidden.operator(x, terms)
        rows = functional_rows(_functionals(problem, constraint, per_side, hidden), hidden, (constraint.multiplier,))
        blocks.append(boundary_layer(rows).restrict(own.reshape(-1, hidden.size)))
    return compress(np.concatenate(blocks, axis=1), cutoff).values


def _functionals(
    problem: Problem, constraint: LinearConstraint, per_side: int, hidden: HiddenLayer
) -> list[Functional]:
    """Return what multipliers obey: periods, and their homogeneous conditions, as that of a given pressure."""
    repeats = hidden.repeats(problem.domain.lengths, problem.domain.periodic)
    found = [] if repeats else periodic_functionals(problem, (constraint.multiplier,), per_side, "gauss", 0)
    for condition in constraint.conditions:
        points = problem.domain.sample_side(condition.side, per_side, "gauss", 0)
        found.append(Functional(((points.x, condition_terms(condition, points)),)))
    return found


def projector_beside(images: Array, network: Network) -> Array:
    """Return the least-squares projector onto a network of functions and images of multipliers together."""
    zero = Derivative((0,) * network.hidden.dimension)
    root = np.sqrt(network.points.weights)[:, None]
    values = np.concatenate([root * network.evaluate(network.points.x, name, zero) for name in network.fields])
    free = values - images @ (images.T @ values)
    weights = np.tile(root[:, 0], len(network.fields))
    return np.asarray(np.linalg.solve(free.T @ free, free.T) * weights)
