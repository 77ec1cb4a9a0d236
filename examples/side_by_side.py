"""One problem, four methods: frozen network, splines, random features in space-time, a network trained by gradients.

    uₜ + u uₓ = 0.05 uₓₓ,  x ∈ [−1, 1],  u(x, 0) = −sin πx,  u(±1, t) = 0

All take the same problem. The reference is a frozen network that was asked for more. Needs the peers:
``pip install './lab[peers]'``.
"""

import time

import numpy as np

import frozenpinn as fp
from frozenpinn_lab.peers import solve_baseline


def main() -> None:
    problem = fp.Problem("u_t + u*u_x = 0.05*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
    ways = {
        "frozen network": lambda: fp.solve(problem, tol=1e-6),
        "splines": lambda: solve_baseline("iga", problem, nodes=60, degree=5, rtol=1e-6),
        "space-time features": lambda: solve_baseline("spacetime-elm", problem, width=300, scale=3.0, iterations=10),
        "trained network": lambda: solve_baseline(
            "pinn-lbfgs", problem, layers=3, width=20, interior=1000, conditions=300, lbfgs_steps=300
        ),
    }
    reference = fp.solve(problem, tol=1e-9)
    x = np.linspace(-1, 1, 400)
    errors = {}
    for name, solve in ways.items():
        started = time.perf_counter()
        solution = solve()
        seconds = time.perf_counter() - started
        errors[name] = np.linalg.norm(solution(x, 0.8) - reference(x, 0.8)) / np.linalg.norm(reference(x, 0.8))
        print(f"{name:20s} error {errors[name]:.1e} in {seconds:.2f} s")
    assert errors["frozen network"] < 1e-6
    assert errors["splines"] < 1e-4
    assert errors["space-time features"] < 0.05
    assert errors["trained network"] < 0.1


if __name__ == "__main__":
    main()
