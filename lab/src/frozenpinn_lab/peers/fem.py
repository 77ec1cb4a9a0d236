"""Finite elements in the plane for quasilinear parabolic equations: Lagrange triangles, Radau IIA in time, Newton.

    uₜ = a(x, t, u) Δu + b(x, t, u, ∇u),   u = g(x, t) or ∂u/∂n = 0 on the sides

gmsh makes the mesh, scikit-fem the elements; weak form and time steps are those of
:mod:`frozenpinn_lab.peers.quasilinear` and :mod:`frozenpinn_lab.peers.radau`. Boundary values hold at the nodes.

The paper solves its nonlinear diffusion with 1193 linear functions and 1000 steps of size 0.001, whose kind it does not
tell: ``degree=1, stages=1`` (backward Euler) does the same. A specialist would take ``degree=2, stages=2``, both of
order 3, and a few dozen steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from frozenpinn.errors import SettingsError
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.evaluation import arranged
from frozenpinn_lab.peers.fem_mesh import located, need, sides_of, triangulated
from frozenpinn_lab.peers.quasilinear import Elements, Semidiscrete, WeakForm
from frozenpinn_lab.peers.radau import integrate, integrate_adaptively
from frozenpinn_lab.peers.score import Deadline, Scored, check_rtol

Array = np.ndarray
_BLOCK = 256  # times evaluated at once


class Course(Protocol):
    """Coefficients in time."""

    @property
    def starts(self) -> Array:
        """Where steps begin."""

    def __call__(self, times: Array) -> Array:
        """Return coefficients at times, shape (m, n)."""


class FemSolution(Scored):
    """u(x, t) = Σ cₖ(t) φₖ(x).

    Attributes
    ----------
    problem, basis, trajectory
        What was solved, scikit-fem's basis, and c(t).
    size, elements, steps
        Numbers of functions, triangles and time steps.
    """

    def __init__(self, problem: Problem, basis: Any, trajectory: Course) -> None:
        self.problem, self.basis, self.trajectory = problem, basis, trajectory
        self.size, self.elements, self.steps = int(basis.N), int(basis.mesh.nelements), len(trajectory.starts)

    def __call__(self, *where: Any) -> Array:
        """Evaluate: ``solution(x, y, t)``, ``solution(x[:, None], y[:, None], t)`` for all times at all points.

        Coordinates and t are numbers or arrays that broadcast against each other; or one array of points (n, 2), and t.
        """
        x, t, shape = arranged(self.problem, where)
        if not len(x):
            return np.empty(shape)
        values, dofs = self._functions(x)
        times, index = np.unique(t, return_inverse=True)
        result = np.empty(len(x))
        for first in range(0, len(times), _BLOCK):
            part = (first <= index) & (index < first + _BLOCK)
            coefficients = self.trajectory(times[first : first + _BLOCK])
            result[part] = np.sum(values[:, part] * coefficients[index[part] - first, dofs[:, part]], axis=0)
        return result.reshape(shape)

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return the values at all points (n, d) and all times (m,), shape (n, m)."""
        values, dofs = self._functions(x)
        rows = np.broadcast_to(np.arange(len(x)), values.shape)
        table = sparse.csr_matrix((values.ravel(), (rows.ravel(), dofs.ravel())), (len(x), self.size))
        return np.asarray(table @ self.trajectory(times).T)

    def _functions(self, x: Array) -> tuple[Array, Array]:
        """Return the functions that live at points (n, 2), and their numbers, shapes (k, n)."""
        mesh, element, mapping = self.basis.mesh, self.basis.elem, self.basis.mapping
        cells = located(mesh.p.T, mesh.t.T, x)
        local = mapping.invF(x.T[:, :, None], tind=cells)
        values = np.stack(
            [
                np.broadcast_to(element.gbasis(mapping, local, i, tind=cells)[0].value, (len(x), 1))[:, 0]
                for i in range(self.basis.element_dofs.shape[0])
            ]
        )
        return values, self.basis.element_dofs[:, cells]


def solve_fem(
    problem: Problem,
    mesh_size: float,
    *,
    degree: int = 2,
    stages: int = 2,
    steps: int | None = 100,
    rtol: float = 1e-6,
    seconds: float | None = None,
) -> FemSolution:
    """Solve a problem in the plane.

    Parameters
    ----------
    problem
        One equation of first order in time on a polygon or a rectangle.
    mesh_size
        Length of the edges of the triangles.
    degree
        Of the polynomials: 1, 2, 3 or 4; the error is of order degree + 1 in the mesh size.
    stages
        Of Radau IIA: 1 is backward Euler (order 1), 2 has order 3, 3 has order 5.
    steps
        Number of equal time steps; None for adaptive ones (with three stages).
    rtol
        Error per adaptive time step, relative to the solution.
    seconds
        Wall-clock budget; beyond it, IntegrationError is raised.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> square = fp.Box([0, 0], [1, 1])
    >>> exact = "exp(-2*pi**2*t)*sin(pi*x)*sin(pi*y)"
    >>> problem = fp.Problem("u_t = lap(u)", square, (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0", exact=exact)
    >>> solution = solve_fem(problem, mesh_size=0.2, steps=10)
    >>> solution.error()["rel_l2"] < 0.01
    True
    """
    budget = Deadline(seconds)
    check_rtol(rtol)
    form = WeakForm(problem)
    if len(value_conditions(problem)) < len(problem.domain.sides):
        form.check_natural()
    basis = lagrange_basis(problem, mesh_size, degree, budget)
    budget.check(problem.time[0])
    with blas_threads(0.0):
        fixed, given = dirichlet(problem, basis)
        elements = triangle_elements(basis)
        budget.check(problem.time[0])
        system = Semidiscrete(form, elements, fixed, given)
        budget.check(problem.time[0])
        initial = problem.initial[problem.fields[0]]
        system.check_diffusion(lambda x: initial(x, problem.time[0]), problem.time[0])
        start = initial(basis.doflocs.T, problem.time[0])
        start[fixed] = given(problem.time[0])
        if steps is None:
            trajectory = integrate_adaptively(system, problem.time, start, rtol, budget)
        else:
            trajectory = integrate(system, problem.time, start, stages, steps, budget)
    return FemSolution(problem, basis, trajectory)


def lagrange_basis(problem: Problem, mesh_size: float, degree: int, budget: Deadline | None = None) -> Any:
    """Return scikit-fem's basis of a degree on a new mesh."""
    skfem = need("skfem")
    kinds = {1: "ElementTriP1", 2: "ElementTriP2", 3: "ElementTriP3", 4: "ElementTriP4"}
    if degree not in kinds:
        raise SettingsError(f"the degree of finite elements must be 1, 2, 3 or 4, got {degree!r}.")
    vertices, cells = triangulated(problem.domain, mesh_size)
    if budget is not None:
        budget.check(problem.time[0])
    mesh = skfem.MeshTri(np.ascontiguousarray(vertices.T), np.ascontiguousarray(cells.T))
    return skfem.Basis(mesh, getattr(skfem, kinds[degree])(), intorder=3 * degree)


def triangle_elements(basis: Any) -> Elements:
    """Return scikit-fem's tables in our form; u·∇u·∇v is integrated exactly."""
    functions = [fields[0] for fields in basis.basis]
    shape = basis.dx.shape
    values = np.stack([np.broadcast_to(np.asarray(f), shape) for f in functions], axis=-1)
    gradients = np.stack([np.broadcast_to(f.grad, (2, *shape)) for f in functions], axis=-1)
    points = np.asarray(basis.global_coordinates())
    return Elements(values, gradients, points, np.asarray(basis.dx), basis.element_dofs.T.astype(int), int(basis.N))


def dirichlet(problem: Problem, basis: Any) -> tuple[Array, Callable[[float], Array]]:
    """Return the numbers of the coefficients at sides with u = g, and their values at a time."""
    facets = basis.mesh.boundary_facets()
    middle = basis.mesh.p[:, basis.mesh.facets[:, facets]].mean(axis=1).T
    names = sides_of(problem.domain, middle)
    parts: list[tuple[Array, LinearCondition]] = []
    taken = np.zeros(basis.N, dtype=bool)
    for condition in value_conditions(problem):
        dofs = basis.get_dofs(facets[names == condition.side.name]).flatten()
        dofs = dofs[~taken[dofs]]  # at a corner of two sides, the first one decides
        taken[dofs] = True
        parts.append((dofs, condition))

    def given(t: float) -> Array:
        values = [c.value(basis.doflocs[:, dofs].T, t) / float(c.coefficients[0]) for dofs, c in parts]
        return np.concatenate(values) if values else np.zeros(0)

    return np.concatenate([dofs for dofs, _ in parts]) if parts else np.zeros(0, dtype=int), given


def value_conditions(problem: Problem) -> list[LinearCondition]:
    """Return the conditions u = g; the others must be ∂u/∂n = 0, which holds naturally, one on each side."""
    found = []
    for side in problem.domain.sides:
        conditions = [c for c in problem.conditions if c.side == side]
        if len(conditions) != 1:
            texts = " and ".join(f"'{c.text}'" for c in conditions) or "none (Free)"
            raise SettingsError(
                f"finite elements take one condition on each side, u = g or u_n = 0; '{side.name}' has {texts}."
            )
        (condition,) = conditions
        if len(condition.jets) == 1 and condition.jets[0].order == 0 and condition.coefficients[0].is_number:
            found.append(condition)
        elif not _is_natural(problem, condition):
            raise SettingsError(
                f"finite elements take u = g or u_n = 0 here, not '{condition.text}' on side '{side.name}'."
            )
    return found


def _is_natural(problem: Problem, condition: LinearCondition) -> bool:
    """Whether a condition says ∂u/∂n = 0: no value, no datum, and coefficients of ∇u parallel to the normal."""
    if not condition.value.is_zero or any(jet.order != 1 for jet in condition.jets):
        return False
    points = problem.domain.sample_side(condition.side, 64, "random", rng=0)
    slopes = np.zeros_like(points.normals)
    for jet, values in zip(condition.jets, condition.coefficients_at(points), strict=True):
        slopes[:, jet.alpha.index(1)] = values
    along = np.sum(slopes * points.normals, axis=1)
    across = np.linalg.norm(slopes - along[:, None] * points.normals, axis=1)
    return bool(np.all(across <= 1e-12 * np.abs(along)) and np.all(along != 0))
