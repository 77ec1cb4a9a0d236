"""A solitary wave of the Benjamin–Bona–Mahony equation: spatial derivatives of the time derivative.

    uₜ − uₓₓₜ + uₓ + u uₓ = 0 on a periodic line
    exact: u(x, t) = 3(c − 1)/cosh²(k(x − ct)) with k = √((c − 1)/c)/2, up to its tail at the ends

The left-hand side is an operator, 1 − ∂ₓₓ; its matrix is divided once. Any such equation is written as it stands.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem(
        "u_t - u_xxt + u_x + u*u_x = 0",
        domain=fp.Interval(-50, 50, periodic=True),
        time=(0, 10),
        initial="3*(c - 1)/cosh(k*x)**2",
        parameters={"c": 1.5, "k": "sqrt((c - 1)/c)/2"},
        exact="3*(c - 1)/cosh(k*(x - c*t))**2",
    )
    solution = fp.solve(problem, tol=1e-6)
    print(solution.report)

    x = np.linspace(-20, 40, 601)
    error = np.max(np.abs(solution(x, 10.0) - 1.5 / np.cosh(np.sqrt(1 / 3) / 2 * (x - 15)) ** 2))
    mass = [np.mean(solution(np.linspace(-50, 50, 1000, endpoint=False), t)) * 100 for t in (0, 5, 10)]
    print(f"largest error at the end: {error:.1e}; mass {mass[0]:.8f}, {mass[1]:.8f}, {mass[2]:.8f}")
    assert error < 1e-6
    assert np.ptp(mass) < 1e-6


if __name__ == "__main__":
    main()
