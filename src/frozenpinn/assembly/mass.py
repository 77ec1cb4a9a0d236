"""The left-hand sides of implicit equations as matrices: M ∂ₜᵐ c = …, solved for ∂ₜᵐ c once and for all.

With M⁻¹P in the place of the projector P, everything that is projected afterwards is already divided: linear terms,
forcing, lifted boundary data and nonlinear terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.errors import EvaluationError, ProblemError
from frozenpinn.geometry import Box
from frozenpinn.operators import Dense, Inverse, Operator
from frozenpinn.operators.inverse import SINGULAR, vanishing
from frozenpinn.operators.symmetry import keep_structure
from frozenpinn.runtime.arrays import is_finite
from frozenpinn.statement.mass import is_divergence
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_SHARES = (0.0, 0.21, 0.47, 0.73, 1.0)  # of the time, at which the mean of a forcing is looked at
_BALANCED = 1e-9  # of its size: a smaller mean is round-off


def left_terms(problem: Problem, x: Array) -> Mapping[str, list[Term]]:
    """Return the terms of every implicit left-hand side, without their time derivatives, at the points."""
    table: dict[str, list[Term]] = {}
    for equation in problem.equations:
        if not equation.mass:
            continue
        with np.errstate(all="ignore"):
            values = problem.compile(list(equation.mass.values()))(*x.T, problem.time[0])
        for jet, value in zip(equation.mass, values, strict=True):
            if not is_finite(value):
                raise EvaluationError(
                    f"the coefficient '{equation.mass[jet]}' of {problem.jets.name(jet)} is not finite at some points "
                    "of the domain; a division by zero?"
                )
            term = Term(jet.field, derivative_of(replace(jet, time=0)), value)
            table.setdefault(equation.field, []).append(term)
    return table


def inverse_mass(
    problem: Problem, space: Space, columns: Mapping[str, Operator], terms: Mapping[str, list[Term]]
) -> Operator | None:
    """Return M⁻¹ on the coefficients of a space, given the projector of each field; None if M is the identity."""
    if not any(name in terms for name in space.fields):
        return None
    network = space.network
    if isinstance(network, ProductNetwork):
        return _inverse_on_product(problem, space, network.galerkin(terms[space.fields[0]], network))
    matrix = np.zeros((network.size, network.size))
    for name in space.fields:
        own = terms.get(name) or [Term(name, derivative_of(problem.jets.field(name)), 1.0)]
        matrix += (columns[name] @ network.at_points(own)).dense()
    if network.is_orthonormal and space.obeys_conditions:
        matrix = keep_structure(matrix, network.singular_values / network.singular_values.max()).matrix
    return Dense(_inverted(problem, space, matrix))


def _inverse_on_product(problem: Problem, space: Space, mass: Operator) -> Operator:
    """Divide in the modes of the axes where there are such, else by the matrix."""
    inverse = Inverse.of(mass)
    if inverse is None:
        return Dense(_inverted(problem, space, mass.dense()))
    _check_determined(problem, space, inverse.spectrum_of.eigenvalues)
    return inverse


def _inverted(problem: Problem, space: Space, matrix: Array) -> Array:
    if _check_determined(problem, space, np.linalg.svd(matrix, compute_uv=False)):
        return np.asarray(np.linalg.inv(matrix))
    return np.asarray(np.linalg.pinv(matrix, rcond=SINGULAR))


def _check_determined(problem: Problem, space: Space, values: Array) -> bool:
    """Return whether no eigenvalue or singular value vanishes; one may, if it belongs to a mean that stands still."""
    count = int(np.sum(vanishing(values)))
    if count > 1 or (count and not keeps_mean(problem, space.fields)):
        raise ProblemError(_undetermined(problem, space))
    return not count


def keeps_mean(problem: Problem, fields: Sequence[str]) -> bool:
    """Whether equations whose left-hand sides vanish on constants say nothing about the mean: it may stand still then.

    So it is on periodic domains if the right-hand side is a divergence, whatever the fields, and the mean of the
    forcing is zero: lap(psi_t) = nu*lap(lap(psi)) − psi_y*lap(psi)_x + psi_x*lap(psi)_y is one.
    """
    domain = problem.domain
    if not isinstance(domain, Box) or domain.sides or problem.frame is not None:
        return False
    points = domain.sample(4096)
    for equation in (problem.equation(name) for name in fields):
        if equation.nonlocal_linear or not is_divergence(equation.right_side - equation.forcing, problem.jets):
            return False
        if equation.forcing != 0:
            start, end = problem.time
            program = problem.compile([equation.forcing])
            for share in _SHARES:
                values = np.broadcast_to(program(*points.x.T, start + share * (end - start))[0], len(points.x))
                if abs(points.weights @ values) > _BALANCED * (points.weights @ np.abs(values)):
                    return False
    return True


def _undetermined(problem: Problem, space: Space) -> str:
    equation = next(e for name in space.fields if (e := problem.equation(name)).mass)
    left = str(equation).partition(" = ")[0]
    return (
        f"the left-hand side '{left}' can't be solved for the time derivative: with these boundary conditions there "
        "are functions, such as constants, on which it vanishes. Prescribe a value on some side, or add a term "
        f"without spatial derivatives, as in '{equation.field}_t - {equation.field}_xxt'. (On periodic domains the "
        "mean may stay as it is, if the right-hand side is a divergence and the mean of its forcing is zero.)"
    )
