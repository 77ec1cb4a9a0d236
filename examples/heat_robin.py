"""A rod that is insulated on the left and loses heat to the air on the right.

    uₜ = uₓₓ,  x ∈ [0, 1],  uₓ(0, t) = 0,  u(1, t) + uₓ(1, t) = 0,  u(x, 0) = cos kx with k tan k = 1
    exact: u(x, t) = exp(−k² t) cos kx

Sides are named, and each gets exactly one set of conditions. Neumann and Robin conditions use the outward normal
derivative ∂u/∂n; the same may be written as text: "u_n = 0" and "u + u_n = 0".
"""

import numpy as np
from scipy.optimize import brentq

import frozenpinn as fp


def main() -> None:
    k = brentq(lambda k: k * np.tan(k) - 1, 0.1, 1.5, xtol=1e-15)
    problem = fp.Problem(
        "u_t = u_xx",
        domain=fp.Interval(0, 1),
        time=(0, 2),
        initial="cos(k*x)",
        boundary={"left": fp.Neumann(0), "right": fp.Robin(alpha=1, beta=1, value=0)},
        parameters={"k": k},
        exact="exp(-k**2*t)*cos(k*x)",
    )
    solution = fp.solve(problem)
    print(solution.report)

    # Every basis function obeys the boundary conditions, so the solution does, whatever its coefficients are.
    t = np.linspace(0, 2, 9)
    robin = solution(1.0, t) + solution(1.0, t, derivative="x")
    print(f"largest violation of the Robin condition: {np.abs(robin).max():.1e}")

    error = solution.error()["rel_l2"]
    assert error < 2e-10, error
    assert np.abs(robin).max() < 1e-10


if __name__ == "__main__":
    main()
