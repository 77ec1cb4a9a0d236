"""A quantum particle in a harmonic trap: a complex field.

    i ψₜ = −½ ψₓₓ + V ψ,  V = x²/2,  x ∈ [−9, 9],  ψ(±9, t) = 0

The coherent state, a Gaussian that starts at x₀ = 2, swings to and fro without changing its shape:
    ψ = π^(−¼) exp(−(x − x₀ cos t)²/2 − i (t/2 + x₀ x sin t − ¼ x₀² sin 2t))
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem(
        "I*psi_t = -psi_xx/2 + V*psi",
        domain=fp.Interval(-9, 9),
        time=(0, 2 * np.pi),
        initial="pi**(-1/4)*exp(-(x - x0)**2/2)",
        boundary="psi = 0",
        parameters={"V": "x**2/2", "x0": 2, "phase": "t/2 + x0*x*sin(t) - x0**2*sin(2*t)/4"},
        exact="pi**(-1/4)*exp(-(x - x0*cos(t))**2/2 - I*phase)",
    )
    solution = fp.solve(problem)
    print(solution.report)
    print(f"ψ(0.3, 1) = {solution(0.3, 1.0):.9f}")

    # The mean position follows the classical path x₀ cos t; xarray keeps the names of axes and fields.
    table = solution.grid(points=401, times=9)
    position = (abs(table.psi) ** 2 * table.x).integrate("x")
    for t, x in zip(table.t.values, position.values, strict=True):
        print(f"t = {t:5.3f}   <x> = {x:+.9f}   x0 cos t = {2 * np.cos(t):+.9f}")

    assert solution.error()["rel_l2"] < 2e-10
    assert np.abs(position - 2 * np.cos(table.t)).max() < 1e-9


if __name__ == "__main__":
    main()
