"""The same program unrolled: every stage of a solve is an object to look at, change or replace.

    uₜ + u uₓ = ν uₓₓ,  x ∈ [−1, 1],  exact: u(x, t) = c − a tanh(a (x − c t)/(2ν)), its values given at both ends

Points → hidden layer → boundary and SVD layer → system c' = A c + b(t) + n(t, c) → integrator → solution.
"""

import numpy as np

import frozenpinn as fp
from frozenpinn.integrators import HermiteTrajectory, Observer, OdeSystem


class RungeKutta4:
    """An integrator has a name and turns a system into a trajectory: here the classical method, equal steps."""

    name = "rk4"

    def integrate(self, system: OdeSystem, observer: Observer, steps: int = 250) -> HermiteTrajectory:
        """Step from start to end; states and rates at the steps define the states in between."""
        times, states, f = np.linspace(*system.time, steps + 1), [system.initial_state], system.rhs
        h = times[1] - times[0]
        for t in times[:-1]:
            y = states[-1]
            k1 = f(t, y)
            k2 = f(t + h / 2, y + h / 2 * k1)
            k3 = f(t + h / 2, y + h / 2 * k2)
            states.append(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(t + h, y + h * k3)))
        rates = [f(t, y) for t, y in zip(times, states, strict=True)]
        return HermiteTrajectory(times, np.array(states), np.array(rates))


def main() -> None:
    exact, numbers = "c - a*tanh(a*(x - c*t)/(2*nu))", {"nu": 0.1, "c": 0.5, "a": 0.5}
    start, domain = "c - a*tanh(a*x/(2*nu))", fp.Interval(-1, 1)
    problem = fp.Problem("u_t + u*u_x = nu*u_xx", domain, (0, 1), start, f"u = {exact}", None, numbers, exact)

    points = problem.domain.sample(120)  # Gauss points with their quadrature weights
    hidden = fp.samplers.MultiScale(width=60).sample(points, rng=0)  # weights, origins: drawn once, then frozen
    space = fp.stages.build_space(problem, hidden, points, cutoff=1e-7)  # boundary-compliant and orthonormal
    sigma, system = space.network.all_singular_values, fp.stages.discretise(problem, space)
    print(f"{hidden.width} neurons, {system.size} functions kept; singular values {sigma[0]:.1e} … {sigma[-1]:.1e}")

    y = system.initial_state  # the coefficients c at the start
    stiffness = np.abs(np.linalg.eigvals(system.jacobian(0, y))).max()
    print(f"A {system.linear.matrix.shape}, abscissa {system.linear.abscissa:.3g}; RK4 needs h < {2.8 / stiffness:.1e}")
    direction, h = np.cos(np.arange(system.size)), 1e-6
    slope = (system.rhs(0, y + h * direction) - system.rhs(0, y - h * direction)) / (2 * h)
    assert np.allclose(system.jacobian(0, y) @ direction, slope, rtol=1e-6, atol=1e-6)  # the Jacobian is exact

    by_hand = fp.Solution.of(problem, system, RungeKutta4().integrate(system, Observer()))
    in_one_call = fp.solve(problem, settings=fp.Settings(width=60, points=120, cutoff=1e-7, integrator=RungeKutta4()))
    for solution in (by_hand, in_one_call):
        error = solution.error()["rel_l2"]
        print(f"error with 250 steps of RK4: {error:.1e}")
        assert error < 5e-7, error


if __name__ == "__main__":
    main()
