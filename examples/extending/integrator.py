"""An integrator of your own: the implicit midpoint rule, with the exact Jacobian and steps of equal length.

    uₜ = uₓₓ + u(1 − u),  exact, also at both ends: u(x, t) = (1 + exp((x − 5t/√6)/√6))⁻²

``"midpoint": lambda rtol: Midpoint()`` in the ``INTEGRATORS`` of integrators/__init__.py makes it
``Settings(integrator="midpoint")``.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import frozenpinn as fp
from frozenpinn.integrators import NOBODY, Guard, HermiteTrajectory, Observer, OdeSystem


@dataclass(frozen=True)
class Midpoint:
    """y₁ = y₀ + h f(t + h/2, (y₀ + y₁)/2), solved by Newton's method: of second order, and stable on stiff systems."""

    count: int = 200
    name: str = "midpoint"

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> HermiteTrajectory:
        """Step to the end, or to where the observer wants to stop; states and rates define what lies between."""
        guard = Guard(system, self.name, observer)  # counts, passes steps on to the observer, tells what went wrong
        times, y = np.linspace(*system.time, self.count + 1), system.initial_state
        states, half = [y], (times[1] - times[0]) / 2
        for t in times[:-1]:
            y = self._step(guard, t + half, y, half)
            states.append(y)
            if guard.accept(t + 2 * half, y):
                break
        times, found = times[: len(states)], np.array(states)
        return HermiteTrajectory(times, found, system.rates(times, found), self.name, guard.work)

    def _step(self, guard: Guard, t: float, y: np.ndarray, half: float) -> np.ndarray:
        middle, matrix = y, np.eye(len(y)) - half * guard.jacobian(t, y)
        for _ in range(4):
            middle = middle - np.linalg.solve(matrix, middle - y - half * guard.rhs(t, middle))
        return 2 * middle - y


def main() -> None:
    wave = "(1 + exp((x - 5*t/sqrt(6))/sqrt(6)))**-2"
    start = wave.replace("5*t", "0")
    problem = fp.Problem("u_t = u_xx + u*(1 - u)", fp.Interval(-5, 5), (0, 1), start, f"u = {wave}", exact=wave)
    errors = []
    for count in (20, 40, 80):
        solution = fp.solve(problem, settings=fp.Settings(width=60, integrator=Midpoint(count)))
        errors.append(solution.error()["rel_l2"])
        print(f"{solution.integrator}, {count} steps, {solution.work.rhs} right-hand sides: error {errors[-1]:.1e}")
    assert errors[-1] < 1e-5, errors
    assert all(3.5 < a / b < 4.5 for a, b in pairwise(errors)), "of second order"


if __name__ == "__main__":
    main()
