"""Diffusion in ten dimensions: the program finds out that one direction is enough, and says so.

uₜ = Δu − 9/10 cos(x̄) e⁻ᵗ on [−1, 1]¹⁰, x̄ the mean of the coordinates, exact: u = cos(x̄) e⁻ᵗ
"""

import numpy as np

import frozenpinn as fp

D = 10
MEAN = "(" + " + ".join(f"x{i + 1}" for i in range(D)) + ")/10"

problem = fp.Problem(
    f"u_t = lap(u) - 9/10*cos({MEAN})*exp(-t)",
    domain=fp.Box([-1] * D, [1] * D),
    time=(0, 1),
    initial=f"cos({MEAN})",
    boundary=f"u = cos({MEAN})*exp(-t)",
)


def main() -> None:
    solution = fp.solve(problem)
    print(solution.report.subspace)
    x = np.random.default_rng(0).uniform(-1, 1, (10_000, D))
    error = np.max(np.abs(solution(*x.T, 0.7) - np.cos(x.mean(axis=1)) * np.exp(-0.7)))
    print(f"largest error at 10,000 points: {error:.1e}")
    assert error < 1e-10

    full = fp.solve(problem, settings=fp.Settings(subspace=None, width=400))  # neurons in all directions
    error = np.max(np.abs(full(*x.T, 0.7) - np.cos(x.mean(axis=1)) * np.exp(-0.7)))
    print(f"the same without: {error:.1e}, estimated {fp.estimate_error(full).error_estimate['u']:.1e}")
    assert error < 1e-2


if __name__ == "__main__":
    main()
