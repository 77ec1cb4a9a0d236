"""A static problem: the Helmholtz equation on a shape, to a tolerance.

    Δu + k² u = f  on a disk with a flat side,  u = g on the boundary

There is no time. The equation becomes rows at points inside, the conditions rows at points of the boundary, and one
least-squares problem gives the coefficients of frozen waves. The solution is known here, so that the error can be seen.
"""

import numpy as np

import frozenpinn as fp


def main() -> None:
    exact = "cos(3*x)*sin(4*y) + x"
    problem = fp.Problem(
        "lap(u) + k**2*u = f",
        domain=fp.Disk() & fp.Box([-1, -1], [0.5, 1]),
        boundary=fp.Dirichlet(exact),
        parameters={"k": 2.0, "f": "-21*cos(3*x)*sin(4*y) + 4*x"},
        exact=exact,
    )
    solution = fp.solve(problem, tol=1e-8)
    print(solution.report)

    x = np.linspace(-0.6, 0.4, 5)
    print("u along y = 0.1:", solution(x, 0.1))
    print("its slope in y: ", solution(x, 0.1, derivative="y"))
    smallest, _ = solution.facts.singular
    print(f"the operator is at least {smallest:.2f} away from a singular one: no resonance")

    error = solution.error()["rel_l2"]
    print(f"{solution.status}: estimated error {solution.error_estimate['u']:.1e}, true error {error:.1e}")
    assert solution.status == "converged"
    assert error < 1e-8


if __name__ == "__main__":
    main()
