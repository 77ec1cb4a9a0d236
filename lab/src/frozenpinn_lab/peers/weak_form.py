"""Weak forms of linear operators with constant coefficients, and their eigenmodes.

Symmetric operators are diagonalised by shift and invert, M v = μ (sM − A) v. Of A v = κ M v itself, round-off of the
size of the largest κ would spoil the smallest: for a beam of degree 9, κ reaches from 1 to 3·10⁸.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import SettingsError
from frozenpinn.operators.eigen import WELL_CONDITIONED
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Coefficients: TypeAlias = Mapping[int, float]


class Eigenbasis(NamedTuple):
    """Eigenvalues and eigenvectors of M⁻¹A, and the map from load vectors to modal coordinates."""

    eigenvalues: Array
    vectors: Array
    left: Array


def read_coefficients(problem: Problem) -> tuple[Coefficients, float]:
    """Return the coefficients aₖ by order k, and the damping; refuse what IGA can't do here."""
    if problem.domain.dimension != 1 or len(problem.fields) != 1:
        raise SettingsError("IGA solves one equation in one dimension here; use frozenpinn.solve for others.")
    equation, name = problem.equations[0], problem.jets.name
    if not equation.is_linear or equation.linear_in_time:
        raise SettingsError(f"IGA needs a linear equation with constant coefficients here, got '{equation}'.")
    table: dict[int, float] = {}
    damping = 0.0
    for jet, coefficient in equation.linear.items():
        if not coefficient.is_number:
            raise SettingsError(f"IGA needs constant coefficients here; that of {name(jet)} is '{coefficient}'.")
        if jet.time and not jet.order:
            damping = float(coefficient)
        elif jet.time or jet.order > 4 or (jet.order % 2 and equation.order == 2):
            raise SettingsError(f"IGA has no weak form for {name(jet)} in '{equation}' here.")
        else:
            table[jet.order] = float(coefficient)
    if not is_well_posed(table):
        raise SettingsError(f"'{equation}' is not well posed: its highest even derivative has the wrong sign.")
    return table, damping


def is_well_posed(coefficients: Coefficients) -> bool:
    """Whether short waves decay, or at least don't grow."""
    even = [k for k in coefficients if k and k % 2 == 0]
    return not even or (-1) ** (max(even) // 2) * coefficients[max(even)] <= 0


def has_constant_coefficients(problem: Problem) -> bool:
    """Whether neither place nor time changes the coefficients of linear equations; loads may vary."""
    return all(
        not equation.linear_in_time and all(c.is_number for c in equation.linear.values())
        for equation in problem.equations
    )


def is_stiff(problem: Problem) -> bool:
    """Whether a linear problem of first order in time has a third or higher derivative in space.

    Stable explicit steps then shrink with the third or fourth power of the mesh size. Those of beams, of second order
    in time, shrink with the second only, as those of diffusion.
    """
    return any(jet.order > 2 for equation in problem.equations if equation.order == 1 for jet in equation.linear)


def essential_conditions(problem: Problem, coefficients: Coefficients) -> tuple[int, int]:
    """Return how many conditions each end imposes on the space; check that the others hold naturally.

    Of an operator of order 2m, a condition on the derivative k < m is essential; instead of it, one on the
    derivative 2m − 1 − k may hold naturally.
    """
    highest = max(coefficients, default=0)
    if highest < 2:
        raise SettingsError("without a second or fourth derivative, IGA solves periodic problems only here.")
    if 3 in coefficients:
        raise SettingsError("with a third derivative, IGA solves periodic problems only here.")
    counts = []
    for side in problem.domain.sides:
        conditions = [c for c in problem.conditions if c.side == side]
        if not all(len(c.jets) == 1 and c.value.is_zero for c in conditions):
            raise SettingsError("IGA takes homogeneous conditions on one derivative here, such as u = 0, u_xx = 0.")
        given = {c.jets[0].order for c in conditions}
        strong = sorted(k for k in given if 2 * k < highest)
        natural = {highest - 1 - k for k in range(highest // 2) if k not in strong}
        more_terms = any(k in coefficients for k in range(1, highest))  # they change the condition of a free value
        if given != {*strong, *natural} or strong != list(range(len(strong))) or (more_terms and not strong):
            texts = ", ".join(c.text for c in conditions) or "none"
            raise SettingsError(f"the conditions on side '{side.name}' ({texts}) do not fit the weak form of IGA.")
        counts.append(len(strong))
    return counts[0], counts[1]


class Matrices(NamedTuple):
    """⟨v, u⟩, and the even and odd derivatives of the operator; the term a₀u is left out."""

    mass: Array
    even: Array
    skew: Array


def assemble(tables: Mapping[int, Array], coefficients: Coefficients) -> Matrices:
    """Integrate products of basis functions.

    ``tables`` holds the derivatives of the functions at the quadrature points, times the roots of the weights, shape
    (points, functions); or those of all elements at once, shape (elements, points, functions).
    """
    mass = tables[0].mT @ tables[0]
    even, skew = np.zeros_like(mass), np.zeros_like(mass)
    for k, coefficient in coefficients.items():
        product = (-1) ** (k // 2) * coefficient * (tables[k // 2].mT @ tables[(k + 1) // 2])
        if k % 2:
            skew += (product - product.mT) / 2
        elif k:
            even += product
    return Matrices(mass, even, skew)


def derivatives_needed(coefficients: Coefficients) -> set[int]:
    """Return which derivatives of the functions the weak form contains."""
    return {0, *(k // 2 for k in coefficients), *((k + 1) // 2 for k in coefficients)}


def decompose(matrices: Matrices, coefficients: Coefficients, length: float) -> Eigenbasis:
    """Diagonalise the operator on an interval of the given length."""
    mass, even, skew = matrices
    reaction = coefficients.get(0, 0.0)
    if not any(k % 2 for k in coefficients):
        eigenvalues, vectors, left = _symmetric(mass, even, _shift(coefficients, length))
        return Eigenbasis(eigenvalues + reaction, vectors, left)
    if all(k % 2 or not k for k in coefficients):
        frequencies, rotations = sla.eigh(1j * skew, mass, check_finite=False)
        return Eigenbasis(reaction - 1j * frequencies, rotations, rotations.conj().T)
    eigenvalues, vectors, left = _general(mass, even + skew)
    return Eigenbasis(eigenvalues + reaction, vectors, left)


def _shift(coefficients: Coefficients, length: float) -> float:
    """Return a number beyond the spectrum of a₂∂² + a₄∂⁴, as near as its smallest eigenvalues are to zero."""
    a2, a4 = coefficients.get(2, 0.0), coefficients.get(4, 0.0)
    growth = a2**2 / (4 * abs(a4)) if a2 < 0 else 0.0
    return growth + (abs(a2) + abs(a4) / length**2) / length**2 or 1.0


def _symmetric(mass: Array, operator: Array, shift: float) -> Eigenbasis:
    mu, vectors = sla.eigh(mass, shift * mass - operator, check_finite=False)
    if mu[0] <= 1e-15 * mu[-1]:
        raise sla.LinAlgError("the spectrum is too wide")
    vectors = vectors / np.sqrt(mu)
    left = sla.cho_solve(sla.cho_factor(mass), np.linalg.inv(vectors).T).T
    return Eigenbasis(shift - 1 / mu, vectors, left)


def _general(mass: Array, operator: Array) -> Eigenbasis:
    factor = sla.cholesky(mass, lower=True)
    inverse = sla.solve_triangular(factor, np.eye(len(mass)), lower=True)
    eigenvalues, vectors = np.linalg.eig(inverse @ operator @ inverse.T)
    if np.linalg.cond(vectors) > WELL_CONDITIONED:
        raise SettingsError("advection outweighs diffusion so much that IGA has no usable eigenvectors here.")
    return Eigenbasis(eigenvalues, inverse.T @ vectors, np.linalg.solve(vectors, inverse))
