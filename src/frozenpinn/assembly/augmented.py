"""The paper's augmented ODE: boundary rows beside the PDE rows, solved together in least squares.

With the basis ψ at the points and B ψ on the boundary, the pseudo-inverse of [ψ; Bψ] splits into P (points) and
P_b (boundary). A field of first order follows

    c' = P·(equation) + P_b·(g' − κ(B c − g)),

one of second order relaxes both its values and its velocities, as the doubled system [c, v] of the paper does:

    c' = v − P_b·((B v − g') + κ(B c − g)),      v' = P·(equation) + P_b·(g'' − κ(B v − g')).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative

Array = np.ndarray


class Relaxation(NamedTuple):
    """What the boundary rows of one space add: to the highest derivative, and to c' if of second order.

    ``data`` and ``drift_data`` map boundary data to the same places: {time derivative of g: matrix}.
    """

    position: Array
    velocity: Array
    data: dict[int, Array]
    drift_position: Array
    drift_velocity: Array
    drift_data: dict[int, Array]


def row_count(space: Space) -> int:
    """Return the number of boundary rows."""
    return sum(len(functional.parts[0][0]) for functional in space.soft)


def boundary_matrix(space: Space) -> Array:
    """Return the boundary operator applied to the basis."""
    return np.concatenate([sum(space.network.operator(x, terms) for x, terms in f.parts) for f in space.soft])


def augmented_projector(space: Space) -> Array:
    """Return [P, P_b]; the points carry their quadrature weights, scaled to mean one."""
    network = space.network
    mean = network.points.weights.mean()
    root = np.tile(np.sqrt(network.points.weights / mean), len(network.fields))
    rows = boundary_matrix(space)
    if network.is_orthonormal:  # [ψ; Bψ] = [U, 0; 0, 1]·[1; B] up to scales: a factorisation of the second factor does
        values = network.projector()  # Uᵀ times √weight
        q, r = sla.qr(np.concatenate([np.eye(network.size), np.sqrt(mean) * rows]), mode="economic", overwrite_a=True)
        inner = sla.solve_triangular(r, q[: network.size].T @ values)
        return np.concatenate([inner, sla.solve_triangular(r, q[network.size :].T * np.sqrt(mean))], axis=1)
    zero = Derivative((0,) * network.points.x.shape[1])
    values = np.concatenate([network.evaluate(network.points.x, name, zero) for name in network.fields])
    scale = np.concatenate([root, np.ones(len(rows))])
    return np.asarray(sla.pinv(scale[:, None] * np.concatenate([values, rows]), rtol=1e-13) * scale)


def relaxation(space: Space, projector: Array) -> Relaxation:
    """Return the terms that pull the solution towards its boundary data at rate κ."""
    p, kappa = projector[:, -row_count(space) :], space.kappa
    pull = p @ boundary_matrix(space)
    none = np.zeros_like(pull)
    if space.soft_data is not None and space.soft_data.shapes is not None:
        p = p @ space.soft_data.shapes
    if space.order == 1:
        return Relaxation(-kappa * pull, none, {0: kappa * p, 1: p}, none, none, {})
    return Relaxation(none, -kappa * pull, {1: kappa * p, 2: p}, -kappa * pull, -pull, {0: kappa * p, 1: p})
