"""Isogeometric analysis on one patch: B-splines of maximal smoothness, Galerkin in space.

    ∂ₜᵐ u = a₀ u + a₁ uₓ + a₂ uₓₓ + a₃ uₓₓₓ + a₄ uₓₓₓₓ + δ uₜ + f(x, t),   m = 1 or 2

(a₁ and a₃ only for m = 1, a₃ only on periodic intervals, δ only for m = 2.)

The knots are uniform: open ones (Hughes, Cottrell, Bazilevs 2005), or periodic ones on periodic intervals. Products of
basis functions are integrated exactly, by degree + 1 Gauss points per knot span. In the weak form

    a₀⟨v, u⟩ + a₁(⟨v, u'⟩ − ⟨v', u⟩)/2 − a₂⟨v', u'⟩ − a₃(⟨v', u''⟩ − ⟨v'', u'⟩)/2 + a₄⟨v'', u''⟩

conditions on u (and on uₓ of a clamped beam) are built into the space, the higher ones hold naturally. The initial
value is projected in L².

Time is left to an adaptive method for ordinary differential equations, as in the paper (which does not name it; by
default DOP853 or Radau, see :func:`frozenpinn_lab.peers.methods.solve_baseline`), or treated as for the frozen
networks, by the same code (``integrator="exact"``): eigenmodes in closed form, the load interpolated in time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg as sla
import sympy as sp

from frozenpinn.errors import IntegrationError, SettingsError, choices
from frozenpinn.integrators.interpolation import (
    DEGREE,
    TooManyWindowsError,
    Window,
    interpolate,
    one_by_one,
)
from frozenpinn.integrators.modal import Modes, forced, unforced
from frozenpinn.operators import Dense
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.evaluation import arranged
from frozenpinn_lab.peers.score import Deadline, Scored, check_rtol
from frozenpinn_lab.peers.splines import SplineSpace, spline_space
from frozenpinn_lab.peers.weak_form import (
    Matrices,
    assemble,
    decompose,
    derivatives_needed,
    essential_conditions,
    read_coefficients,
)

Array = np.ndarray
METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")


class IgaSolution(Scored):
    """u(x, t) = Σ cₖ(t) φₖ(x).

    Attributes
    ----------
    problem, space, trajectory
        What was solved, the splines, and c(t).
    size
        Number of basis functions.
    """

    def __init__(self, problem: Problem, space: SplineSpace, trajectory: Callable[[Array], Array]) -> None:
        self.problem, self.space, self.trajectory = problem, space, trajectory
        self.size = space.size

    def __call__(self, x: Array | float, t: Array | float, derivative: int = 0) -> Array:
        """Evaluate u, or a derivative by x, at coordinates and times that broadcast against each other."""
        points, times, shape = arranged(self.problem, (x, t))
        if not len(points):
            return np.empty(shape)
        distinct, inverse = np.unique(times, return_inverse=True)
        coefficients = self.trajectory(distinct)[inverse, : self.size]
        values = self.space.table(points[:, 0], derivative)
        return np.asarray(np.einsum("ij,ij->i", values, coefficients).reshape(shape))

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return the values at all points (n, d) and all times (m,), shape (n, m)."""
        return np.asarray(self.space.table(x[:, 0]) @ self.trajectory(times)[:, : self.size].T)


def solve_iga(
    problem: Problem,
    nodes: int,
    degree: int,
    integrator: str = "exact",
    rtol: float = 1e-10,
    seconds: float | None = None,
) -> IgaSolution:
    """Solve a linear problem in one dimension with constant coefficients.

    Parameters
    ----------
    problem
        What to solve: periodic, or with conditions such as u = 0 and u_xx = 0 at both ends.
    nodes
        Number of distinct knots, ends included. On periodic intervals, they may be fewer than the degree.
    degree
        Polynomial degree; the functions have ``degree - 1`` continuous derivatives.
    integrator
        ``"exact"``, or a method of :func:`scipy.integrate.solve_ivp`. On beams, stability limits the steps of explicit
        ones; ``"radau"`` has no such limit.
    rtol
        Relative accuracy of the time integration, or of the interpolation of the load in time.
    seconds
        Wall-clock budget of a step-by-step integration; beyond it, IntegrationError is raised.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0", exact="exp(-t)*sin(x)")
    >>> solution = solve_iga(problem, nodes=11, degree=5)
    >>> solution.size, solution.error()["rel_l2"] < 1e-6
    (13, True)
    """
    budget = Deadline(seconds)
    check_rtol(rtol)
    coefficients, damping = read_coefficients(problem)
    essential = None if problem.domain.periodic[0] else essential_conditions(problem, coefficients)
    space = spline_space(problem, nodes, degree, max(1, *derivatives_needed(coefficients)), essential)
    (field,), order = problem.fields, problem.equations[0].order
    with blas_threads(0.0):
        x, weights = space.quadrature()
        root = np.sqrt(weights)[:, None]
        tables = {k: root * space.table(x, k) for k in derivatives_needed(coefficients)}
        data = [
            datum[field](x[:, None], problem.time[0]) for datum in (problem.initial, problem.initial_velocity)[:order]
        ]
        matrices = assemble(tables, coefficients)
        try:
            if integrator != "exact":
                step = SplineStepper(
                    matrices, coefficients.get(0, 0.0), damping, (root * tables[0]).T, integrator, rtol
                )
                return IgaSolution(problem, space, step.integrate(problem, x, data, budget))
            eigenvalues, vectors, left = decompose(matrices, coefficients, float(problem.domain.measure))
        except sla.LinAlgError:
            raise SettingsError(f"{nodes} nodes of degree {degree} exceed double precision; use fewer.") from None
        modes = Modes(eigenvalues, order, damping)
        project = left @ (root * tables[0]).T  # from values at the quadrature points to modal coordinates
        state = np.stack([project @ values for values in data])
        windows = load_windows(problem, x, project, 0.1 * rtol)
        functions = Dense(vectors)
        trajectory = (
            forced(modes, functions, state, windows) if windows else unforced(modes, functions, state, *problem.time)
        )
    return IgaSolution(problem, space, trajectory)


class SplineStepper:
    """M c⁽ᵐ⁾ = A c + δ M c' + f(t) by an adaptive method of SciPy."""

    def __init__(
        self, matrices: Matrices, reaction: float, damping: float, load: Array, method: str, rtol: float
    ) -> None:
        factor = sla.cho_factor(matrices.mass)
        self.project = sla.cho_solve(factor, load)  # from values at the quadrature points to coefficients
        self.operator = sla.cho_solve(factor, matrices.even + matrices.skew)
        self.operator[np.diag_indices_from(self.operator)] += reaction
        self.damping, self.method, self.rtol = damping, method, rtol

    def integrate(
        self, problem: Problem, x: Array, data: Sequence[Array], budget: Deadline
    ) -> Callable[[Array], Array]:
        """Integrate; the result gives the coefficients (and velocities) at given times, shape (m, order·size)."""
        from scipy.integrate import solve_ivp

        state = np.concatenate([self.project @ values for values in data])
        source, matrix = separate(problem, problem.equations[0].forcing, x, self.project)
        size, order = len(self.operator), len(data)

        def rhs(t: float, y: Array) -> Array:
            budget.check(t)
            highest = self.operator @ y[:size] + matrix @ source(np.array([t]))[0]
            if not np.all(np.isfinite(highest)):
                raise IntegrationError(f"IGA with {self.method}: the solution is not finite at t = {t:.4g}.", t)
            return highest if order == 1 else np.concatenate([y[size:], highest + self.damping * y[size:]])

        size_of_solution = max(float(np.max(np.abs(state))), self.response(source, matrix, problem.time, order))
        scale = self.rtol * (size_of_solution or 1.0)
        name = {method.lower(): method for method in METHODS}.get(self.method.lower())
        if name is None:
            raise SettingsError(f"the integrator of IGA is 'exact' or one of {choices(METHODS)}, got {self.method!r}.")
        more = {"jac": self.jacobian(order)} if name in ("Radau", "BDF") else {}
        found = solve_ivp(rhs, problem.time, state, name, dense_output=True, rtol=self.rtol, atol=scale, **more)
        if not found.success:
            raise IntegrationError(f"IGA with {self.method} failed: {found.message}")
        return lambda times: found.sol(times).T

    def response(self, source: Callable[[Array], Array], matrix: Array, time: tuple[float, float], order: int) -> float:
        """Return about how large the coefficients become by the load alone: |f|/(σ + |A|), with 1/σ from the duration.

        The shift is complex, so that the system is regular also for growing modes.
        """
        start, length = time[0], time[1] - time[0]
        with np.errstate(all="ignore"):
            loads = matrix @ source(start + length * (np.arange(1, 65) * 0.6180339887 % 1)).T
        loads[:, ~np.all(np.isfinite(loads), axis=0)] = 0  # the integration tells where
        shift = (1 + 1j) / length**order
        return float(np.max(np.abs(np.linalg.solve(shift * np.eye(len(self.operator)) - self.operator, loads))))

    def jacobian(self, order: int) -> Array:
        """Return the constant matrix of the first-order system, for implicit methods."""
        if order == 1:
            return self.operator
        one = np.eye(len(self.operator))
        return np.block([[0 * one, one], [self.operator, self.damping * one]])


def load_windows(problem: Problem, x: Array, project: Array, rtol: float) -> list[Window]:
    """Interpolate the load in time, in modal coordinates; no window if there is none."""
    forcing, (start, end) = problem.equations[0].forcing, problem.time
    if forcing == 0:
        return []
    source, modal = separate(problem, forcing, x, project)
    if problem.jets.t not in forcing.free_symbols:
        constant = np.zeros((DEGREE + 1, len(modal)), dtype=modal.dtype)
        constant[0] = modal @ source(np.array([start]))[0]
        return [Window(start, end - start, constant)]
    try:
        windows = interpolate(source, start, end, rtol)
    except TooManyWindowsError:
        raise SettingsError("the forcing varies too rapidly in time to be interpolated.") from None
    return [Window(w.start, w.length, w.coefficients @ modal.T) for w in windows]


def separate(problem: Problem, forcing: sp.Expr, x: Array, project: Array) -> tuple[Callable[[Array], Array], Array]:
    """Write the load in modal coordinates as matrix · source(t), where ``source`` takes several times at once.

    If f is a sum of products g(x)·h(t), the source has one component for each; otherwise, one for each point.
    """
    factors = [term.as_independent(*problem.jets.x) for term in sp.Add.make_args(forcing)]
    if any(problem.jets.t in g.free_symbols for _, g in factors):
        program = problem.compile([forcing])
        return one_by_one(lambda t: np.broadcast_to(program(x, t)[0], x.shape)), project
    in_time = problem.compile([h for h, _ in factors])
    shapes = problem.compile([g for _, g in factors])(x, problem.time[0])
    values = np.stack([np.broadcast_to(g, x.shape) for g in shapes], axis=1)
    scales = np.maximum(np.linalg.norm(values, axis=0), 1e-300)  # components weigh as much as they contribute

    def source(times: Array) -> Array:
        return scales * np.stack([np.broadcast_to(h, times.shape) for h in in_time(x[0], times)], axis=1)

    return source, project @ (values / scales)
