"""Waves in an elastic plate: a vector.

    Uₜₜ = μ ΔU + (λ + μ) ∇(∇·U)  on the unit square, periodic

A longitudinal wave, sin(2πx) along x, runs at √(λ + 2μ); a transversal one, cos(2πx) along y, at √μ.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem(
        "U_tt = mu*lap(U) + (lam + mu)*grad(div(U))",  # div(U) makes U a vector, with the components Ux and Uy
        domain=fp.Box([0, 0], [1, 1], periodic=True),
        time=(0, 0.5),
        initial=["sin(2*pi*x)", "cos(2*pi*x)"],
        initial_velocity=0,
        parameters={"mu": 1, "lam": 2},
        exact=["sin(2*pi*x)*cos(4*pi*t)", "cos(2*pi*x)*cos(2*pi*t)"],
    )
    solution = fp.solve(problem)

    x = np.linspace(0, 1, 5)
    u = solution(x, 0.5, 0.1, field="U")  # the components come first: shape (2, 5)
    print("U at t = 0.1:", u.round(6))
    print("div U:", (solution(x, 0.5, 0.1, field="Ux", derivative="x")).round(6))

    assert np.allclose(u[0], np.sin(2 * np.pi * x) * np.cos(0.4 * np.pi), atol=1e-9)
    assert solution.error("U")["rel_l2"] < 1e-9


if __name__ == "__main__":
    main()
