"""A hot rod that radiates at one end, and a wave that leaves through both ends: conditions beyond the linear ones.

    uₜ = uₓₓ on [0, 1],  ∂u/∂n = 0 on the left,  ∂u/∂n = 1 − u⁴ on the right
    uₜₜ = uₓₓ on [−1, 1],  uₜ + ∂u/∂n = 0 on both sides

Nonlinear conditions, and those with time derivatives, are written as they stand.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    rod = fp.Problem(
        "u_t = u_xx",
        domain=fp.Interval(0, 1),
        time=(0, 1),
        initial="2 + 15*x**2*(1 - x)",
        boundary={"left": "u_n = 0", "right": "u_n = 1 - u**4"},
    )
    solution = fp.solve(rod, tol=1e-7)
    times = np.linspace(0.01, 1, 12)
    gap = solution(1.0, times, derivative="x") - 1 + solution(1.0, times) ** 4
    print(
        f"estimated error {max(solution.error_estimate.values()):.1e}, the condition is met to {np.abs(gap).max():.1e}"
    )
    assert np.abs(gap).max() < 1e-6

    wave = fp.Problem(
        "u_tt = u_xx",
        domain=fp.Interval(-1, 1),
        time=(0, 2),
        initial="exp(-60*x**2)",
        initial_velocity=0,
        boundary="u_t + u_n = 0",
        exact="(exp(-60*(x - t)**2) + exp(-60*(x + t)**2))/2",
    )
    solution = fp.solve(wave, tol=1e-6)
    left = np.abs(solution(np.linspace(-1, 1, 101), 2.0)).max()
    print(f"what is left of the wave after it has passed: {left:.1e}")
    assert left < 1e-6
    assert solution.error()["rel_l2"] < 1e-6


if __name__ == "__main__":
    main()
