"""Two phases that keep their amounts, and a heated rod whose control follows a mean: nonlocal terms and coupled ODEs.

    uₜ = 0.01 uₓₓ + u − u³ − mean(u − u³),  ∂u/∂n = 0
    uₜ = uₓₓ,  ∂u/∂n = w − u on the right,  wₜ = 1 − ∫u dx

Integrals and means are written as they are meant. A field without spatial derivatives needs no boundary condition.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    phases = fp.Problem(
        "u_t = 0.01*u_xx + u - u**3 - mean(u - u**3)",
        domain=fp.Interval(0, 1),
        time=(0, 2),
        initial="0.3 + 0.5*cos(pi*x)",
        boundary="u_n = 0",
    )
    solution = fp.solve(phases, tol=1e-7)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    mass = [weights @ solution((nodes + 1) / 2, t) / 2 for t in (0, 1, 2)]
    print(f"mass at t = 0, 1, 2: {mass[0]:.10f}, {mass[1]:.10f}, {mass[2]:.10f}")
    assert np.ptp(mass) < 1e-8

    control = fp.Problem(
        ["u_t = u_xx", "w_t = 1 - integral(u)"],
        domain=fp.Interval(0, 1),
        time=(0, 20),
        initial={"u": 0, "w": 0},
        boundary={"left": "u_n = 0", "right": "u_n = w - u"},
    )
    solution = fp.solve(control, tol=1e-6)
    print(f"temperature at the end: {solution(0.5, 20.0, field='u'):.4f}, control {solution(0.0, 20.0, field='w'):.4f}")
    assert abs(solution(0.5, 20.0, field="u") - 1) < 0.05


if __name__ == "__main__":
    main()
