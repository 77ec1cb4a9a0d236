"""Heat in a plate with a round hole: another condition on every side.

    uₜ = Δu + q on [0, 3] × [0, 2] without a disk, exact: u = e⁻ᵗ (sin x + xy/2)

Values on the left, slopes on the right and below, a Robin condition above, a flux through the hole. No mesh: the domain
is a difference of two shapes, and its sides are those of its parts.
"""

import numpy as np

import frozenpinn as fp

EXACT = "exp(-t)*(sin(x) + x*y/2)"  # chosen; source and fluxes follow from it


def main() -> None:
    plate = fp.Box([0, 0], [3, 2]) - fp.Disk(center=[1.5, 1], radius=0.4).named("hole")
    problem = fp.Problem(
        "u_t = lap(u) + q",
        domain=plate,
        time=(0, 1),
        initial="sin(x) + x*y/2",
        boundary={
            "left": fp.Dirichlet(EXACT),
            "right": fp.Neumann("exp(-t)*(cos(x) + y/2)"),  # the derivative along the outward normal
            "bottom": "u_y = exp(-t)*x/2",
            "top": f"u + u_n = {EXACT} + exp(-t)*x/2",
            "hole": fp.Neumann("-exp(-t)*((x - 1.5)*(cos(x) + y/2) + (y - 1)*x/2)/0.4"),  # towards its centre
        },
        parameters={"q": "-exp(-t)*x*y/2"},
        exact=EXACT,
    )
    solution = fp.solve(problem, settings=fp.Settings(width=300))
    print(solution.report)
    x, y = plate.sample(2000, "random", rng=1).x.T
    error = np.max(np.abs(solution(x, y, 0.5) - np.exp(-0.5) * (np.sin(x) + x * y / 2)))
    print(f"largest error at t = 0.5: {error:.1e}")
    assert error < 1e-7


if __name__ == "__main__":
    main()
