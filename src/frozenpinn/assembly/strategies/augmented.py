"""The paper's augmented ODE: boundary rows below the PDE rows, solved together in least squares.

With the basis ψ at the points and B ψ on the boundary, the pseudo-inverse of [ψ; Bψ] splits into P (points) and
P_b (boundary). A field of first order follows

    c' = P·(equation) + P_b·(g' − κ(B c − g)),

one of second order relaxes both its values and its velocities, as the doubled system [c, v] of the paper does:

    c' = v − P_b·((B v − g') + κ(B c − g)),      v' = P·(equation) + P_b·(g'' − κ(B v − g')).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sla

from frozenpinn.assembly.boundary import BoundaryData, boundary_rows
from frozenpinn.assembly.spaces import Relaxation, Space, compressed
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis
from frozenpinn.basis.svd_layer import Truncation, pseudo_inverse
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import MAX_NUMBER, between, shown, spelled
from frozenpinn.statement.laws import refuse_laws
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class AugmentedODE:
    """Boundary strategy of the paper: extra rows (Bu)ₜ = gₜ − κ(Bu − g) below the PDE rows.

    κ = 0 leaves (Bu)ₜ = gₜ, the paper's way for time-dependent Dirichlet and Neumann data. For equations of second
    order in time, values and velocities relax alike (see the top of this file).

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> solution = fp.solve(rod, settings=fp.Settings(boundary=fp.boundary.AugmentedODE(kappa=1e4)))
    >>> bool(0 < abs(solution(0.0, 0.05)) < 1e-3)  # soft; the null space has zero
    True
    """

    kappa: float = 1e5
    name: str = "augmented-ode"
    renewable = False
    separable = False
    cutoff = 1e-10

    def __post_init__(self) -> None:
        if not between(self.kappa, 0, MAX_NUMBER):
            raise SettingsError(f"kappa is a finite number and must not be negative, got {shown(self.kappa)}.")

    def build(self, network: Network, problem: Problem, cutoff: Truncation, per_side: int) -> Space:
        """Build periodicity into the basis and leave the conditions to soft rows."""
        refuse_laws(problem.laws, "boundary='augmented-ode'")
        rows = boundary_rows(problem, network.fields, per_side)
        compliant = compressed(network.comply_with(rows.periodicity, active=()), cutoff)
        order = problem.equation(network.fields[0]).order
        soft = SoftRows(rows.conditions, rows.data(zeros=True).compressed(), self.kappa) if rows.conditions else None
        return Space(compliant, BoundaryData(0, problem.time), order, soft)


@dataclass(frozen=True, eq=False)
class SoftRows:
    """Boundary rows that pull the solution towards their data at rate κ."""

    functionals: tuple[Functional, ...]
    data: BoundaryData
    kappa: float

    def during(self, time: tuple[float, float]) -> SoftRows:
        """Restrict the conditions to a part of the time in which nothing switches."""
        return replace(self, data=self.data.during(time))

    def matrix(self, network: Basis) -> Array:
        """Return the boundary operator applied to the basis."""
        return np.concatenate([sum(network.operator(x, terms) for x, terms in f.parts) for f in self.functionals])

    def projector(self, network: Basis) -> Array:
        """Return [P, P_b]; the points carry their quadrature weights, scaled to mean one."""
        mean = network.points.weights.mean()
        rows = self.matrix(network)
        if network.is_orthonormal:  # [ψ; Bψ] = [U, 0; 0, 1]·[1; B] up to scales: factorising the second factor does
            values = network.projector().dense()  # Uᵀ times √weight
            stacked = np.concatenate([np.eye(network.size), np.sqrt(mean) * rows])
            q, r = sla.qr(stacked, mode="economic", overwrite_a=True)
            inner = sla.solve_triangular(r, q[: network.size].T @ values)
            return np.concatenate([inner, sla.solve_triangular(r, q[network.size :].T * np.sqrt(mean))], axis=1)
        root = np.tile(np.sqrt(network.points.weights / mean), len(network.fields))
        zero = Derivative((0,) * network.points.x.shape[1])
        values = np.concatenate([network.evaluate(network.points.x, name, zero) for name in network.fields])
        scale = np.concatenate([root, np.ones(len(rows))])
        return pseudo_inverse(scale[:, None] * np.concatenate([values, rows]), 1e-13)[0] * scale

    def relaxation(self, network: Basis, order: int, projector: Array) -> Relaxation:
        """Return the terms that pull the solution towards its boundary data, given [P, P_b]."""
        rows, kappa = self.matrix(network), self.kappa
        p = projector[:, -len(rows) :]
        pull = p @ rows
        none = np.zeros_like(pull)
        if self.data.shapes is not None:
            p = p @ self.data.shapes
        if order == 1:
            return Relaxation(-kappa * pull, none, {0: kappa * p, 1: p}, none, none, {})
        return Relaxation(none, -kappa * pull, {1: kappa * p, 2: p}, -kappa * pull, -pull, {0: kappa * p, 1: p})
