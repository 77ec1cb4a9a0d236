"""How accurate would you like it? One knob, and an answer that knows its own error.

    uₜ + u uₓ = ν uₓₓ,  ν = 0.01/π,  x ∈ [−1, 1],  u(x, 0) = −sin πx,  u(±1, t) = 0

A sine steepens into a shock. The tolerance decides how many neurons are taken and when they are renewed; the solution
says what was reached, in numbers, in time, in space, and in words. No exact solution is given: the last lines compare
with a solution that was asked to be a hundred times more accurate.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem(
        "u_t + u*u_x = nu*u_xx",
        domain=fp.Interval(-1, 1),
        time=(0, 1),
        initial="-sin(pi*x)",
        boundary="u = 0",
        parameters={"nu": 0.01 / np.pi},
    )
    print(fp.check(problem))  # before anything is computed: no objections
    solution = fp.solve(problem, tol=1e-4)
    print(solution.report)

    estimate = solution.error_estimate
    print(f"{solution.status}: estimated error {estimate['u']:.1e}")
    for t in (0.1, 0.4, 0.9):
        print(f"  t = {t}: {estimate.at(t):.1e} of the solution, {solution.error_at(0.02, t):.1e} at x = 0.02")

    finer = fp.solve(problem, tol=1e-6)
    x, t = np.linspace(-1, 1, 300)[:, None], np.linspace(0, 1, 50)
    error = np.linalg.norm(solution(x, t) - finer(x, t)) / np.linalg.norm(finer(x, t))
    print(f"distance from a finer solution {error:.1e}")
    assert solution.status == "converged"
    assert error < 1e-4
    assert error / 10 < estimate["u"] < 10 * error


if __name__ == "__main__":
    main()
