"""A sine wave that travels at speed 40 round a ring.

    uₜ + β uₓ = 0,  β = 40,  x ∈ [0, 2π] periodic,  u(x, 0) = sin x,  exact: u(x, t) = sin(x − βt)

The shortest program: state the problem, solve it, read the report. Networks over space and time struggle with
speeds like this one. Here the network lives in space only, and its coefficients are carried through time exactly.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem(
        "u_t + beta*u_x = 0",
        domain=fp.Interval(0, 2 * np.pi, periodic=True),
        time=(0, 1),
        initial="sin(x)",
        parameters={"beta": 40},
        exact="sin(x - beta*t)",  # optional: only to measure the error
    )
    solution = fp.solve(problem, seed=0)
    solution = fp.estimate_error(solution)  # by a second, independent solve; knows nothing of the exact solution
    print(solution.report)

    # A solution is a function: of numbers, of arrays that broadcast, and with any derivative.
    x, t = np.linspace(0, 2 * np.pi, 200), np.linspace(0, 1, 100)
    slope = solution(x[:, None], t, derivative="x")
    print(f"u(1, 0.5) = {solution(1.0, 0.5):.12f}, steepest slope {np.abs(slope).max():.9f}")

    error = solution.error()["rel_l2"]
    assert error < 2e-11, error
    assert error < 30 * solution.error_estimate["u"] < 1e-8, solution.error_estimate
    assert np.abs(slope - np.cos(x[:, None] - 40 * t)).max() < 4e-8


if __name__ == "__main__":
    main()
