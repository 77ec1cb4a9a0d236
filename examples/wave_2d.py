"""A membrane, clamped on two sides and free on the other two.

    uₜₜ = c² Δu,  (x, y) ∈ [0, 2] × [0, 1],  u = 0 left and right,  ∂u/∂n = 0 bottom and top
    u(x, y, 0) = sin πx cos πy,  uₜ(x, y, 0) = 0,  exact: u = sin πx cos πy cos(√2 π c t)

On boxes the network is a product of one network per axis, so that the conditions hold exactly on every side.
An equation of second order in time needs an initial velocity; it is not turned into a system.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem(
        "u_tt = c**2*lap(u)",
        domain=fp.Box([0, 0], [2, 1]),
        time=(0, 1),
        initial="sin(pi*x)*cos(pi*y)",
        initial_velocity=0,
        boundary={"left": "u = 0", "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"},
        parameters={"c": 2},
        exact="sin(pi*x)*cos(pi*y)*cos(sqrt(2)*pi*c*t)",
    )
    solution = fp.solve(problem)
    print(solution.report)

    # Energy, ½∫ uₜ² + c²|∇u|², by quadrature at any time: points of shape (n, 2) and one time per call.
    points = problem.domain.sample([40, 40])

    def energy(t: float) -> float:
        rate, dx, dy = (solution(points.x, t, derivative=d) for d in ("t", "x", "y"))
        return 0.5 * (rate**2 + 4 * (dx**2 + dy**2)) @ points.weights

    start, later = energy(0.0), energy(0.77)
    print(f"energy {start:.9f} at t = 0 and {later:.9f} at t = 0.77 (exact: 2π² = {2 * np.pi**2:.9f})")

    error = solution.error()["rel_l2"]
    assert error < 2e-8, error
    assert abs(later / start - 1) < 1e-6


if __name__ == "__main__":
    main()
