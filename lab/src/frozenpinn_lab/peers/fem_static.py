"""Finite elements in the plane for static quasilinear equations: Lagrange triangles and Newton's method.

    0 = a(x, u) Δu + b(x, u, ∇u),   u = g(x) or ∂u/∂n = 0 on the sides

Mesh, elements and weak form are those of :mod:`frozenpinn_lab.peers.fem`; the Jacobian is exact and factorised by
SuperLU in each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from frozenpinn.errors import ConvergenceError
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.fem import FemSolution, dirichlet, lagrange_basis, triangle_elements, value_conditions
from frozenpinn_lab.peers.quasilinear import Semidiscrete, WeakForm
from frozenpinn_lab.peers.score import Deadline

Array = np.ndarray
STEPS = 30  #: of Newton's method, at most
ROUND_OFF = 1e-11  #: relative change of the coefficients at which it stops: the next one would be its square


@dataclass(frozen=True, eq=False)
class Rest:
    """Coefficients that do not depend on time."""

    coefficients: Array
    starts: Array

    def __call__(self, times: Array) -> Array:
        """Return them for each time, shape (m, n)."""
        return np.tile(self.coefficients, (len(times), 1))


@lru_cache(maxsize=8)
def _weak_form(problem: Problem) -> WeakForm:
    """Return the weak form, read once for all meshes: the library reads a statement once for all networks, too."""
    return WeakForm(problem)


def solve_static_fem(
    problem: Problem, mesh_size: float, *, degree: int = 2, seconds: float | None = None
) -> FemSolution:
    """Solve a static problem in the plane.

    Parameters
    ----------
    problem
        One equation on a polygon or a rectangle.
    mesh_size
        Length of the edges of the triangles.
    degree
        Of the polynomials: 1, 2, 3 or 4; the error is of order degree + 1 in the mesh size.
    seconds
        Wall-clock budget; beyond it, IntegrationError is raised.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> exact = "sin(pi*x)*sin(pi*y)"
    >>> problem = fp.Problem(f"-lap(u) = 2*pi**2*{exact}", fp.Box([0, 0], [1, 1]), boundary="u = 0", exact=exact)
    >>> solve_static_fem(problem, mesh_size=0.2, degree=3).error()["rel_l2"] < 1e-3
    True
    """
    budget = Deadline(seconds)
    form = _weak_form(problem)
    if len(value_conditions(problem)) < len(problem.domain.sides):
        form.check_natural()
    basis = lagrange_basis(problem, mesh_size, degree, budget)
    with blas_threads(0.0):
        fixed, given = dirichlet(problem, basis)
        system = Semidiscrete(form, triangle_elements(basis), fixed, given)
        u = np.zeros(basis.N)
        u[fixed] = given(0.0)
        for step in range(1, STEPS + 1):
            budget.check(0.0)
            change = -system.factorised(0.0, -1.0, system.jacobian(u, 0.0)).solve(system.residual(u, 0.0))
            u[system.free] += change
            if problem.is_linear or np.linalg.norm(change) <= ROUND_OFF * np.linalg.norm(u):
                return FemSolution(problem, basis, Rest(u, np.zeros(step)))
    raise ConvergenceError(f"Newton's method of the finite elements did not converge in {STEPS} steps.")
