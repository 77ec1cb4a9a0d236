"""Viscous flow behind a grid (Kovasznay): the steady Navier–Stokes equations, written with a stream function.

    ν ΔΔψ = ψ_y (Δψ)ₓ − ψₓ (Δψ)_y,  velocity (ψ_y, −ψₓ)
    exact: ψ = y − exp(λx) sin(2πy)/(2π),  λ = 1/(2ν) − √(1/(4ν²) + 4π²)

A stream function makes the flow free of divergence and needs no pressure. Two conditions stand on each side: the value
gives the flow through it, the normal derivative the flow along it.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    flow = "y - exp(rate*x)*sin(2*pi*y)/(2*pi)"
    problem = fp.Problem(
        "nu*lap(lap(psi)) = dy(psi)*dx(lap(psi)) - dx(psi)*dy(lap(psi))",
        domain=fp.Box([-0.5, -0.5], [1, 1.5]),
        boundary=["psi = flow", "psi_n = dn(flow)"],
        parameters={"nu": 1 / 40, "rate": "1/(2*nu) - sqrt(1/(4*nu**2) + 4*pi**2)", "flow": flow},
        exact=flow,
    )
    solution = fp.solve(problem, tol=1e-8)
    print(solution.report)

    rate = 20 - np.sqrt(400 + 4 * np.pi**2)
    x, y = np.random.default_rng(0).uniform([-0.5, -0.5], [1, 1.5], (500, 2)).T
    along = solution(x, y, derivative="y")
    error = np.max(np.abs(along - (1 - np.exp(rate * x) * np.cos(2 * np.pi * y))))
    print(f"largest error of the velocity along x at points of our own: {error:.1e}")
    assert solution.status == "converged"
    assert error < 1e-7


if __name__ == "__main__":
    main()
