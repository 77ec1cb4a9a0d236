"""Isogeometric analysis of nonlinear equations in one dimension, such as those of Burgers and Korteweg and de Vries.

    uₜ = a(x, t, u) uₓₓ + b(x, t, u, uₓ) + a₃ uₓₓₓ + a₄ uₓₓₓₓ     (constant a₃, a₄, on periodic intervals only)

B-splines of maximal smoothness on one patch as in :mod:`frozenpinn_lab.peers.iga`, the weak form of
:mod:`frozenpinn_lab.peers.quasilinear`, and Radau IIA in time, of order 5 with adaptive steps unless their number is
given. Third and fourth derivatives have the weak form of the linear case. The paper names neither quadrature nor
integrator; its figure for Burgers' equation is 1.12e-7 in 76 s.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline

from frozenpinn.errors import SettingsError
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.iga import IgaSolution
from frozenpinn_lab.peers.quasilinear import Elements, Semidiscrete, WeakForm
from frozenpinn_lab.peers.radau import integrate, integrate_adaptively
from frozenpinn_lab.peers.score import Deadline, check_rtol
from frozenpinn_lab.peers.splines import SplineSpace, gauss_rule, spline_space
from frozenpinn_lab.peers.weak_form import Coefficients, assemble

Array = np.ndarray


def solve_nonlinear_iga(
    problem: Problem,
    nodes: int,
    degree: int,
    *,
    rtol: float = 1e-8,
    steps: int | None = None,
    stages: int = 3,
    seconds: float | None = None,
) -> IgaSolution:
    """Solve a quasilinear problem in one dimension: periodic, or with u = 0 or u_x = 0 at the ends.

    Parameters
    ----------
    problem
        What to solve.
    nodes, degree
        Number of distinct knots, ends included, and polynomial degree. Periodic functions must fit into the interval:
        there, more than ``degree + 1`` knots are needed, as elements have each of their functions once.
    rtol
        Error per time step, relative to the solution, if ``steps`` is not given.
    steps, stages
        Number of equal time steps, and stages of Radau IIA (1, 2, 3: orders 1, 3, 5).
    seconds
        Wall-clock budget; beyond it, IntegrationError is raised.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t + u*u_x = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    >>> solution = solve_nonlinear_iga(problem, nodes=11, degree=4)
    >>> solution.size
    12
    """
    budget = Deadline(seconds)
    check_rtol(rtol)
    if problem.domain.dimension != 1:
        raise SettingsError("IGA solves one equation in one dimension here; use frozenpinn.solve for others.")
    form = WeakForm(problem)
    space = spline_space(
        problem, nodes, degree, 2 if form.higher else 1, _essential(problem, form.higher), folded=False
    )
    if any(jet.order for condition in problem.conditions for jet in condition.jets):
        form.check_natural()
    with blas_threads(0.0):
        system = Semidiscrete(form, spline_elements(space, problem.domain.periodic[0], form.higher))

        def initial(x: Array) -> Array:
            return problem.initial[problem.fields[0]](x, problem.time[0])

        system.check_diffusion(initial, problem.time[0])
        start = system.projected(initial, problem.time[0])
        if steps is None:
            trajectory = integrate_adaptively(system, problem.time, start, rtol, budget)
        else:
            trajectory = integrate(system, problem.time, start, stages, steps, budget)
    return IgaSolution(problem, space, trajectory)


def _essential(problem: Problem, higher: Coefficients) -> tuple[int, int] | None:
    """Return on which ends u = 0 is imposed; u_x = 0 holds naturally. None on periodic intervals."""
    if problem.domain.periodic[0]:
        return None
    if higher:
        raise SettingsError("IGA takes third and fourth derivatives of nonlinear equations on periodic intervals only.")
    essential = []
    for side in problem.domain.sides:
        conditions = [c for c in problem.conditions if c.side == side]
        if len(conditions) != 1 or len(conditions[0].jets) != 1 or not conditions[0].value.is_zero:
            raise SettingsError("IGA takes one homogeneous condition on each end here, u = 0 or u_x = 0.")
        if conditions[0].jets[0].order > 1:
            raise SettingsError(f"IGA can't impose '{conditions[0].text}' here, only u = 0 or u_x = 0.")
        essential.append(1 - conditions[0].jets[0].order)
    return essential[0], essential[1]


def spline_elements(space: SplineSpace, periodic: bool, higher: Coefficients) -> Elements:
    """Return the functions span by span; products of three of them are integrated exactly.

    Spans next to an end with u = 0 have one function less; another that vanishes there takes its place.
    """
    degree, spans = space.splines.k, len(space.nodes) - 1
    s, w = gauss_rule((3 * degree + 2) // 2)
    h = np.diff(space.nodes)[:, None]
    x = space.nodes[:-1, None] + h * s
    if periodic:
        dofs = (np.arange(spans)[:, None] + np.arange(degree + 1)) % spans
    else:
        dropped = int(np.max(np.abs(space.table(space.nodes[:1]))) == 0)
        first = np.clip(np.arange(spans) - dropped, 0, space.size - degree - 1)
        dofs = first[:, None] + np.arange(degree + 1)
    tables = np.empty((3 if higher else 2, *x.shape, degree + 1))
    for chunk in np.array_split(np.arange(spans), max(1, spans // 32)):  # few functions live on few spans
        columns, place = np.unique(dofs[chunk], return_inverse=True)
        part = SplineSpace(BSpline(space.splines.t, space.splines.c[:, columns], degree), space.nodes)
        place = place.reshape(len(chunk), 1, degree + 1)
        for k, out in enumerate(tables):
            table = part.table(x[chunk].ravel(), k).reshape(len(chunk), len(s), -1)
            out[chunk] = np.take_along_axis(table, place, axis=2)
    operator = None
    if higher:
        _, even, skew = assemble(dict(enumerate(tables * np.sqrt(h * w)[..., None])), higher)
        operator = even + skew
    return Elements(tables[0], tables[1:2], x[None], h * w, dofs, space.size, operator)
