"""CVODE of SUNDIALS (by scikit-sundae) with the exact Jacobian: the workhorse for stiff nonlinear systems."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.integrators.decomposition import axis_modes
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.integrators.protocol import NOBODY, Guard, Observer, OdeSystem, Trajectory, Work, longest_step
from frozenpinn.integrators.scipy_ivp import SciPy
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.threads import blas_threads

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class CVODE:
    """Variable-order, variable-step BDF (stiff) or Adams (not stiff).

    ``rtol`` is relative to each coefficient and, through the absolute tolerance, to the whole
    solution: coefficients that hardly contribute are not resolved to their own last digit.

    ``linear_solver`` is ``"dense"`` (the Jacobian as a matrix, factorised), ``"krylov"`` (GMRES by products with the
    Jacobian; on boxes its mean over the domain, which is diagonalised axis by axis, is the preconditioner) or
    ``"auto"``: GMRES for products on boxes with more than ``small`` coefficients.

    BDF is not stable on all of the left half-plane: waves that decay slowly keep its steps short, whatever the
    accuracy. If very many steps are in sight, ``fallback`` shows how far it comes with few, and takes over from the
    start if that is farther.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.solve(rod, settings=fp.Settings(integrator=fp.integrators.CVODE(rtol=1e-8))).integrator
    'cvode-bdf'
    """

    rtol: float = 1e-10
    method: str = "BDF"
    max_steps: int = 500_000
    fallback: SciPy | None = None
    trial: int = 1000  #: steps after which …
    trial_share: float = 0.125  #: … this part of the time must be behind us, or the fallback is tried
    costly: int = 5  #: steps of BDF that take as long as one of the fallback
    linear_solver: str = "auto"
    small: int = 400
    krylov_dimension: int = 40

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in ("BDF", "Adams"):
            raise SettingsError(f"unknown CVODE method {self.method!r}; choose 'BDF' or 'Adams'.")
        if not isinstance(self.linear_solver, str) or self.linear_solver not in ("auto", "dense", "krylov"):
            raise SettingsError(
                f"unknown linear solver {self.linear_solver!r} of CVODE; choose 'auto', 'dense' or 'krylov'."
            )

    @property
    def name(self) -> str:
        """How reports call it."""
        return f"cvode-{self.method.lower()}"

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """Step from start to end, keeping every accepted step for dense output."""
        import sksundae.cvode  # noqa: F401  # its BLAS library must be loaded before its threads can be set

        with blas_threads(float(system.size) ** 3), _quiet():
            return self._marched(system, observer)

    def _marched(self, system: OdeSystem, observer: Observer) -> Trajectory:
        from sksundae import cvode

        guard = Guard(system, self.name, observer)
        start, end = system.time
        y = system.initial_state

        def rhs(t: float, y: Array, out: Array) -> None:
            out[:] = guard.rhs(t, y)

        solver = cvode.CVODE(
            rhs,
            method=self.method,
            rtol=max(self.rtol, 1e-14),
            atol=guard.absolute(self.rtol),
            max_step=0.0 if np.isinf(longest := longest_step(system)) else longest,
            **self._linear_solver(system, guard),
        )
        solver.init_step(start, y)
        times, states = [start], [y.copy()]
        try:
            while times[-1] < end:
                result = solver.step(end, method="onestep", tstop=end)
                t, y = float(np.ravel(result.t)[0]), np.array(result.y, dtype=float).ravel()
                if not result.success:
                    raise guard.failure(t, t - times[-1], str(result.message).rstrip("."))
                stop = guard.accept(t, y)
                times.append(t)
                states.append(y)
                if stop:
                    break
                stuck = len(times) == self.trial and t - start < self.trial_share * (end - start)
                if stuck and (faster := self._outrun_by(system, t)) is not None:
                    return faster.integrate(system, observer)
                if len(times) > self.max_steps:
                    raise guard.failure(t, times[-1] - times[-2], f"more than {self.max_steps} steps were needed")
        except IntegrationError as error:
            error.trajectory = _dense(guard, times, states) if len(times) > 1 else None
            raise
        return _dense(guard, times, states)

    def _linear_solver(self, system: OdeSystem, guard: Guard) -> dict[str, Any]:
        """Return the options of the linear systems inside BDF steps; Adams steps have none."""
        if self.method == "Adams":
            return {}
        large = not system.linear.is_dense and system.size > self.small
        if self.linear_solver == "krylov" or (self.linear_solver == "auto" and large):
            return _krylov(system, guard, self.krylov_dimension)

        def jacobian(t: float, y: Array, _: Array, out: Array) -> None:
            out[:] = guard.jacobian(t, y)

        return {"jacfn": jacobian, "linsolver": "dense" if guard.system.size < 150 else "lapackdense"}

    def _outrun_by(self, system: OdeSystem, t: float) -> SciPy | None:
        """Return the fallback if it gets farther than this, though its steps cost several of ours."""
        if self.fallback is None:
            return None
        try:
            reached = replace(self.fallback, max_steps=self.trial // self.costly).integrate(system).end
        except IntegrationError:
            return None
        return self.fallback if reached > t else None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what SUNDIALS says to itself: a failure is an error of ours, with the same words.

    Its warnings go where a variable of the environment says when a solver is made, its errors through Python's print.
    """
    name = "SUNLOGGER_WARNING_FILENAME"
    before = os.environ.get(name)
    os.environ[name] = os.devnull if before is None else before
    try:
        with redirect_stdout(_WithoutErrors(sys.stdout)):
            yield
    finally:
        if before is None:
            del os.environ[name]


class _WithoutErrors:
    """A stream that passes on all but the errors of SUNDIALS: what users' functions print is theirs."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._dropped = stream, False

    def write(self, text: str) -> int:
        """Pass on a text, unless it is an error or the end of its line."""
        dropped = re.match(r"\n\[\w+, Error: -?\d+\] ", text) is not None
        if not dropped and not (self._dropped and text == "\n"):
            self._stream.write(text)
        self._dropped = dropped
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _dense(guard: Guard, times: list[float], states: list[Array]) -> HermiteTrajectory:
    times, states = without_sliver(times, states)
    moments, stacked = np.array(times), np.array(states)
    rates = without_noise(moments, stacked, guard.system.rates(moments, stacked))
    return HermiteTrajectory(
        moments, stacked, rates, guard.name, Work(guard.rhs_calls + len(times), guard.jacobian_calls)
    )


def without_sliver(times: list[float], states: list[Array]) -> tuple[list[float], list[Array]]:
    """Leave out the last state but one if the last step, which is cut to end in time, is next to nothing.

    Polynomials through states that are so near to each other multiply round-off.

    Examples
    --------
    >>> without_sliver([0.0, 0.5, 1.0 - 1e-9, 1.0], ["a", "b", "c", "d"])
    ([0.0, 0.5, 1.0], ['a', 'b', 'd'])
    """
    sliver = 0.05  # of the step before: a shorter last one multiplies round-off by the cube of the ratio
    if len(times) < 3 or times[-1] - times[-2] >= sliver * (times[-2] - times[-3]):
        return times, states
    return [*times[:-2], times[-1]], [*states[:-2], states[-1]]


def without_noise(times: Array, states: Array, rates: Array) -> Array:
    """Return rates for dense output: where the right-hand side is only noise, those of the states themselves.

    What Newton's iteration leaves of stiff components is small, but its rate is not, above all after the last step,
    which is cut to end in time. Polynomials through the states do not see it. Where two of them agree far better with
    each other than with the right-hand side, they are right.
    """
    outlier = 10.0  # by how much the right-hand side must differ from them, in differences of two of them
    behind = 5  # states behind one through which polynomials pass: as many as BDF uses at most
    if len(times) <= behind + 1:
        return rates
    last = np.arange(behind, len(times))
    nodes = times[last[:, None] - np.arange(behind + 1)]  # the newest first
    with np.errstate(all="ignore"):  # steps may have shrunk to nothing
        lower, higher = (_backward_slopes(nodes[:, :count], states, last) for count in (behind, behind + 1))
        doubt = np.linalg.norm(higher - lower, axis=1)
        noisy = np.linalg.norm(rates[last] - higher, axis=1) > outlier * doubt
    return np.concatenate([rates[:behind], np.where(noisy[:, None], higher, rates[last])])


def _backward_slopes(nodes: Array, states: Array, last: Array) -> Array:
    """Return the slopes, at the first of some nodes (m, k), of the polynomials through the states there."""
    weights = np.empty_like(nodes)
    gaps = nodes[:, :1] - nodes[:, 1:]
    for k in range(1, nodes.shape[1]):
        others = np.delete(nodes, [0, k], axis=1)
        factors = (nodes[:, :1] - others) / (nodes[:, k : k + 1] - others)
        weights[:, k] = np.prod(factors, axis=1) / (nodes[:, k] - nodes[:, 0])
    weights[:, 0] = np.sum(1.0 / gaps, axis=1)
    return np.asarray(sum(weights[:, k, None] * states[last - k] for k in range(nodes.shape[1])))


def _krylov(system: OdeSystem, guard: Guard, dimension: int) -> dict[str, Any]:
    """Return the options for GMRES: products with the exact Jacobian, and a preconditioner if there is one."""
    from sksundae import cvode

    current = dict[str, Any]()

    def renew(t: float, y: Array, rate: Array) -> None:
        guard.jacobian_calls += 1
        current["jacobian"] = system.jacobian_operator(t, np.array(y))

    def product(t: float, y: Array, rate: Array, v: Array, out: Array) -> None:
        guard.rhs_calls += 1  # it costs as much
        with np.errstate(all="ignore"):
            out[:] = current["jacobian"] @ np.array(v)

    def simplify(t: float, y: Array, rate: Array, still_good: int, renewed: list[int], gamma: float) -> None:
        renewed[0] = int(not still_good or "modes" not in current)
        if renewed[0]:
            current["modes"] = axis_modes(system.mean_linear(t, np.array(y)), False, 1.0 / (guard.end - guard.start))

    def precondition(
        t: float, y: Array, rate: Array, r: Array, out: Array, gamma: float, delta: float, side: int
    ) -> None:
        modes = current["modes"]
        if modes is None:
            out[:] = r
        else:
            scaled = (modes.left @ np.array(r)) / (1.0 - gamma * modes.eigenvalues)
            out[:] = np.real(modes.vectors @ scaled)

    options: dict[str, Any] = {"linsolver": "gmres", "krylov_dim": dimension}
    options["jactimes"] = cvode.CVODEJacTimes(renew, product)
    if system.linear.order == 1:
        options["precond"] = cvode.CVODEPrecond(simplify, precondition)
    return options
