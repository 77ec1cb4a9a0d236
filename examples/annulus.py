"""Heat in a pipe's wall and in a rod: polar and cylindrical coordinates.

    uₜ = Δu,  1 ≤ r ≤ 2,  0 ≤ θ ≤ 2π,  u(1, θ) = cos θ,  u(2, θ) = 0      (settles at cos θ (4/r − r)/3)
    uₜ = Δu,  0 ≤ r ≤ 1,  0 ≤ z ≤ 1,  u = 0 around                     (decays like exp(−(π² + j₀²) t))

Δ is that of the coordinates, an angle that makes a whole turn is periodic, and the axis r = 0 needs no condition.
"""

import numpy as np
from scipy.special import j0, jn_zeros

import frozenpinn as fp


def main() -> None:
    wall = fp.Problem(
        "u_t = lap(u)",
        domain=fp.Box([1, 0], [2, 2 * np.pi]),  # r and theta
        time=(0, 1.5),
        initial="cos(theta)*(4/r - r)/3 + sin(pi*(r - 1))*sin(theta)",
        boundary={"r-": "u = cos(theta)", "r+": "u = 0"},
        coordinates="polar",
    )
    solution = fp.solve(wall, tol=1e-6)
    settled = np.cos(0.3) * (4 / 1.5 - 1.5) / 3
    print(f"wall: u(1.5, 0.3, t=1.5) = {solution(1.5, 0.3, 1.5):.9f}, in the end {settled:.9f}")

    root = jn_zeros(0, 1)[0]
    rod = fp.Problem(
        "u_t = lap(u)",
        domain=fp.Box([0, 0], [1, 1]),  # r and z
        time=(0, 0.1),
        initial=lambda r, z: j0(root * r) * np.sin(np.pi * z),
        boundary="u = 0",
        coordinates="cylindrical",
        exact=lambda r, z, t: j0(root * r) * np.sin(np.pi * z) * np.exp(-(np.pi**2 + root**2) * t),
    )
    solution_rod = fp.solve(rod, tol=1e-8)
    print(f"rod: u(0, 0.5, t=0.1) = {solution_rod(0, 0.5, 0.1):.9f}, error {solution_rod.error()['rel_l2']:.1e}")

    assert abs(solution(1.5, 0.3, 1.5) - settled) < 1e-5
    assert solution_rod.error()["rel_l2"] < 1e-8


if __name__ == "__main__":
    main()
