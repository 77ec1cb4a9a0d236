"""Pseudo-spectral solutions of problems on boxes: fast transforms in space, exponentials in time.

    ∂ₜᵐ u = L u + N(x, t, u, ∇u, …),   m = 1 or 2,   u a field or several

Waves are exp(iκx) on periodic axes, cosines where u_n = 0 at both ends, sines where u = 0. What is linear with constant
coefficients, L, is solved exactly, wave by wave (a small matrix each, if it couples fields): without N there are no
time steps at all. Otherwise ETDRK4 (Cox and Matthews 2002; Kassam and Trefethen 2005), of order four, with equal steps.
N is computed at the points; ``keep`` is the fraction of waves that aliasing leaves clean, 2/3 for quadratic terms.

A state at a time between two steps is a shorter step from the one before; nothing is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers import separable
from frozenpinn_lab.peers.evaluation import arranged, field_of
from frozenpinn_lab.peers.score import Deadline, Scored
from frozenpinn_lab.peers.spectral.form import Form, kinds_of
from frozenpinn_lab.peers.spectral.functions import Step, advanced, applied, exponential, matrix_functions, step_of
from frozenpinn_lab.peers.spectral.grid import Grid

Array = np.ndarray
_MEMORY = 2.5e8  # bytes of states that are kept; between them, steps are taken again


class SpectralSolution(Scored):
    """u(x, t) = Σ cₖ(t) wₖ(x) with waves w.

    Attributes
    ----------
    problem, form
        What was solved, and its linear part and the rest.
    state
        The coefficients of all components at a time.
    size, points, steps
        Numbers of real coefficients of all fields, of grid points, and of time steps (0 where time is exact).
    """

    def __init__(self, problem: Problem, form: Form, state: Callable[[float], Array], steps: int) -> None:
        self.problem, self.form, self.state, self.steps = problem, form, state, steps
        complex_ones = any(axis.periodic for axis in form.grid.axes)
        self.size = int(np.prod(form.grid.shape)) * len(form.components) * (2 if complex_ones else 1)
        self.points = int(np.prod(form.grid.counts))

    def __call__(self, *where: Any, field: str | None = None) -> Array:
        """Evaluate a field: ``solution(x, y, t)`` with numbers or arrays that broadcast, or points (n, d) and t."""
        name = field_of(self.problem, field)
        x, t, shape = arranged(self.problem, where)
        result = np.empty(len(x))
        for time in np.unique(t):
            result[t == time] = self.outer(name, x[t == time], np.array([time]))[:, 0]
        return result.reshape(shape)

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return a field at all points (n, d) and all times (m,), shape (n, m)."""
        row = self.form.components.index((field, 0))
        tables = self.form.grid.tables(self.form.kinds[field])
        return separable.evaluate(tables, (self.state(float(t))[row] for t in times), x)


def solve_spectral(
    problem: Problem,
    modes: int | Sequence[int],
    step: float | None = None,
    keep: float = 1.0,
    periodic: bool = False,
    seconds: float | None = None,
) -> SpectralSolution:
    """Solve a problem on a box.

    Parameters
    ----------
    problem
        On a box of up to three dimensions whose axes are periodic or have u = 0, or u_n = 0, at both ends.
    modes
        Number of points along each axis, or one number per axis; even along periodic ones.
    step
        Time step; it is made a little shorter if it does not divide the time. Not needed for linear equations with
        constant coefficients and no forcing.
    keep
        Fraction of the waves that is kept: 2/3 for quadratic terms that need it, 1/2 for cubic ones, 1 for all.
    periodic
        Whether to take all axes as periodic whatever the conditions: for solutions that vanish near the sides.
    seconds
        Wall-clock budget; beyond it, IntegrationError is raised.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> square = fp.Box([0, 0], [1, 1])
    >>> exact = "exp(-2*pi**2*t)*sin(pi*x)*sin(pi*y)"
    >>> problem = fp.Problem("u_t = lap(u)", square, (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0", exact=exact)
    >>> solve_spectral(problem, modes=8).error()["rel_l2"] < 1e-14
    True
    """
    budget = Deadline(seconds)
    kinds = kinds_of(problem, periodic)
    domain = problem.domain
    flags = [True] * domain.dimension if periodic else list(domain.periodic)
    counts = _counts(modes, flags)
    if not (isinstance(keep, int | float) and 0 < keep <= 1):
        raise SettingsError(f"keep must be a fraction of the waves, 0 < keep ≤ 1, got {keep!r}.")
    grid = Grid.on(domain.lower, domain.upper, flags, counts, float(keep))
    form = Form(problem, grid, kinds)
    if form.is_linear:
        return SpectralSolution(problem, form, Exact(form), 0)
    if not (isinstance(step, int | float | np.number) and step > 0):
        raise SettingsError(
            f"the spectral baseline needs a time step for '{problem.equations[0]}', such as step=0.01, got {step!r}."
        )
    march = March(form, float(step), budget)
    return SpectralSolution(problem, form, march, march.steps)


def _counts(modes: int | Sequence[int], periodic: Sequence[bool]) -> list[int]:
    d = len(periodic)
    counts = [modes] * d if isinstance(modes, int) else list(modes) if isinstance(modes, Sequence) else []
    good = len(counts) == d and all(isinstance(n, int) and not isinstance(n, bool) and n >= 4 for n in counts)
    if not good or any(n % 2 and p for n, p in zip(counts, periodic, strict=True)):
        raise SettingsError(
            f"modes must be a whole number of points of at least 4, even along periodic axes, or {d} of them; "
            f"got {modes!r}."
        )
    return counts


class Exact:
    """exp(tL) v₀, at any time."""

    def __init__(self, form: Form) -> None:
        self.form, self.start = form, form.problem.time[0]
        self.initial = form.initial()

    def __call__(self, t: float) -> Array:
        """Return the state at a time."""
        (propagator,) = matrix_functions(exponential, self.form.linear, t - self.start)
        return applied(propagator, self.initial)


class March:
    """Equal steps of ETDRK4; states are kept as far as memory goes."""

    def __init__(self, form: Form, step: float, budget: Deadline) -> None:
        self.form = form
        self.start, self.end = form.problem.time
        self.steps = int(np.ceil((self.end - self.start) / step * (1 - 1e-12)))
        self.step = (self.end - self.start) / self.steps
        self.whole = step_of(form.linear, self.step)
        state = form.initial()
        self.stride = max(1, int(np.ceil(self.steps * state.nbytes / _MEMORY)))
        self.states = [state]
        with np.errstate(all="ignore"):
            for number in range(1, self.steps + 1):
                state = self._walked(state, number - 1, number)
                t = self.start + number * self.step
                budget.check(t)
                if not np.isfinite(state[0].flat[0]):
                    raise IntegrationError(
                        f"the steps of the spectral baseline, {self.step:.3g}, are unstable: not finite at "
                        f"t = {t:.4g}. Take shorter ones.",
                        t,
                    )
                if number % self.stride == 0:
                    self.states.append(state)

    def _walked(self, state: Array, first: int, last: int) -> Array:
        """Take whole steps."""
        for number in range(first, last):
            state = self._advanced(state, number, self.step, self.whole)
        return state

    def _advanced(self, state: Array, number: int, h: float, c: Step) -> Array:
        return advanced(state, self.start + number * self.step, h, c, self.form.explicit)

    def __call__(self, t: float) -> Array:
        """Return the state at a time: that after the last whole step, and a shorter one."""
        place = (t - self.start) / self.step
        number = min(int(np.floor(place * (1 + 1e-14) + 1e-12)), self.steps)
        kept = min(number // self.stride, len(self.states) - 1)
        state = self._walked(self.states[kept], kept * self.stride, number)
        rest = t - self.start - number * self.step
        if rest <= 1e-10 * self.step:
            return state
        return self._advanced(state, number, rest, step_of(self.form.linear, rest))
