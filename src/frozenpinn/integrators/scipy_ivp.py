"""SciPy's solve_ivp methods by name: what the paper uses, and DOP853 for problems that are not stiff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frozenpinn.errors import FrozenPinnError, IntegrationError, SettingsError, choices
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.integrators.protocol import NOBODY, EvolvingSystem, Guard, Observer, Trajectory, Work, longest_step
from frozenpinn.runtime.arguments import spelled

Array = np.ndarray
SCIPY_METHODS = {
    "rk45": "RK45",
    "rk23": "RK23",
    "dop853": "DOP853",
    "lsoda": "LSODA",
    "radau": "Radau",
    "bdf": "BDF",
}


@spelled(SettingsError)
@dataclass(frozen=True)
class SciPy:
    """One of ``scipy.integrate.solve_ivp``'s methods with its own dense output.

    Parameters
    ----------
    method
        ``rk45``, ``rk23``, ``dop853``, ``lsoda``, ``radau`` or ``bdf``.
    rtol, atol
        Tolerances; ``atol=None`` follows the size of the solution, as in :class:`CVODE`.
    max_steps
        After how many steps to stop, wherever that is; None goes to the end.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.solve(rod, settings=fp.Settings(integrator=fp.integrators.SciPy("radau", rtol=1e-6))).integrator
    'scipy-radau'
    """

    method: str
    rtol: float = 1e-10
    atol: float | None = None
    max_steps: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in SCIPY_METHODS:
            raise SettingsError(f"unknown SciPy method {self.method!r}; choose one of {choices(SCIPY_METHODS)}.")

    @property
    def name(self) -> str:
        """How reports call it."""
        return f"scipy-{self.method}"

    def integrate(self, system: EvolvingSystem, observer: Observer = NOBODY) -> Trajectory:
        """Run solve_ivp's stepper by hand, so that failures can be explained and partial results kept."""
        from scipy import integrate

        guard = Guard(system, self.name, observer)
        start, end = system.time
        y = system.initial_state
        atol = guard.absolute(self.rtol) if self.atol is None else self.atol
        options: dict[str, Any] = {"rtol": max(self.rtol, 2.3e-14), "atol": atol, "max_step": longest_step(system)}
        if self.method in ("radau", "bdf", "lsoda"):
            options["jac"] = guard.jacobian
        solver = getattr(integrate, SCIPY_METHODS[self.method])(guard.rhs, start, y, end, **options)
        pieces: list[Any] = []
        times = [start]
        try:
            while solver.status == "running":
                with np.errstate(all="ignore"):  # an overflowing trial step is rejected and shortened
                    message = _step(solver)
                if solver.status == "failed":
                    raise guard.failure(solver.t, 0.0, str(message).rstrip("."))
                stop = guard.accept(solver.t, solver.y)
                pieces.append(solver.dense_output())
                times.append(solver.t)
                if stop or len(pieces) == self.max_steps:
                    break
        except IntegrationError as error:
            error.trajectory = (
                PiecewiseTrajectory(system, np.array(times), tuple(pieces), self.name, guard.work) if pieces else None
            )
            raise
        return PiecewiseTrajectory(system, np.array(times), tuple(pieces), self.name, guard.work)


def _step(solver: Any) -> str | None:
    """Take one step; a Jacobian that is not finite fails the step instead of escaping as a SciPy error."""
    try:
        return solver.step()
    except (ValueError, np.linalg.LinAlgError) as error:
        if isinstance(error, FrozenPinnError):
            raise
        solver.status = "failed"
        return f"the Jacobian can't be factorised: {error}"


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseTrajectory:
    """The dense output that SciPy's method itself defines on each step.

    Attributes
    ----------
    system
        What was integrated.
    times, pieces
        Accepted steps, and the interpolant of each.
    name, work
        Which method has produced them, and what it took.
    """

    system: EvolvingSystem
    times: Array
    pieces: tuple[Any, ...]
    name: str
    work: Work
    kind = "hermite"  # what it is stored as

    @property
    def steps(self) -> int:
        """Number of accepted steps."""
        return len(self.pieces)

    @property
    def end(self) -> float:
        """Up to which time it reaches."""
        return float(self.times[-1])

    @property
    def breaks(self) -> Array:
        """Times between which it is smooth: the steps."""
        return self.times

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        times = np.asarray(times, dtype=float)
        piece = np.clip(np.searchsorted(self.times, times) - 1, 0, len(self.pieces) - 1)
        out: Array | None = None
        for k in np.unique(piece):
            values = np.asarray(self.pieces[k](times[piece == k])).T
            if out is None:
                out = np.empty((len(times), values.shape[1]))
            out[piece == k] = values
        return np.zeros((0, self.system.size)) if out is None else out

    def rates(self, times: Array) -> Array:
        """Return the derivative of the dense output, by a difference that stays inside the step."""
        times = np.asarray(times, dtype=float)
        right = np.clip(np.searchsorted(self.times, times), 1, len(self.times) - 1)
        begin, end = self.times[right - 1], self.times[right]
        h = 1e-3 * (end - begin)
        low, high = np.maximum(times - h, begin), np.minimum(times + h, end)
        return (self(high) - self(low)) / (high - low)[:, None]

    def arrays(self) -> dict[str, Array]:
        """Return a Hermite trajectory: SciPy's interpolants have no common form.

        The long steps of methods of high order are cut: on a whole step of DOP853, degree five loses four digits.
        """
        parts = {"scipy-dop853": 8, "scipy-lsoda": 4}.get(self.name, 2)
        inner = self.times[:-1, None] + np.diff(self.times)[:, None] * np.arange(parts) / parts
        times = np.append(inner.ravel(), self.times[-1])
        states = self(times)
        rates = self.system.rates(times, states)
        return HermiteTrajectory(times, states, rates).arrays()
