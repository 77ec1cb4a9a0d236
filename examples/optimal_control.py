"""Heaters that warm a rod to a given profile with little effort: optimal control by exact gradients.

    uₜ = k uₓₓ + a₁ sin πx + a₂ sin 2πx + a₃ sin 3πx,  x ∈ [0, 1],  u = 0 at both ends and at t = 0
    wanted: the a that make ∫ (u(x, 1) − x(1 − x))² dx + c (a₁² + a₂² + a₃²) smallest
    exact: u(x, 1) = Σ gₙ aₙ sin nπx with gₙ = (1 − exp(−k n²π²))/(k n²π²), so aₙ = gₙ bₙ/(gₙ² + 2c), where bₙ are the
    coefficients of x(1 − x): 8/(nπ)³ for odd n, zero for even ones

A model is the problem as a function of its parameters; ``objective`` returns a number of its solution with the exact
derivatives by all of them, which is what optimizers ask for.
"""

import numpy as np
from scipy.optimize import minimize

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem(
        "u_t = k*u_xx + a1*sin(pi*x) + a2*sin(2*pi*x) + a3*sin(3*pi*x)",
        domain=fp.Interval(0, 1),
        time=(0, 1),
        initial=0,
        boundary="u = 0",
        parameters={"k": 0.1, "c": 1e-4, "a1": 0.5, "a2": 0.5, "a3": 0.5},
    )
    model = fp.model(problem, tol=1e-8)
    cost = model.objective("integral((u - x*(1 - x))^2 + c*(a1^2 + a2^2 + a3^2), t=1)", wrt=("a1", "a2", "a3"))
    found = minimize(cost, cost.start, jac=True, method="BFGS", options={"gtol": 1e-9})
    print(f"heaters {found.x.round(6)} after {found.nfev} solves with gradients")

    n = np.arange(1, 4)
    g = -np.expm1(-0.1 * (n * np.pi) ** 2) / (0.1 * (n * np.pi) ** 2)
    b = np.where(n % 2, 8 / (n * np.pi) ** 3, 0.0)
    exact = g * b / (g**2 + 2e-4)
    error = np.abs(found.x - exact).max() / np.abs(exact).max()
    print(f"error of the best heaters: {error:.1e}")
    assert error < 1e-6, error

    # Who else wants to know: what the best cost is sensitive to.
    best = dict(zip(cost.names, found.x, strict=True))
    value, slope = model.gradient(cost.quantity, wrt="k", **best)
    print(f"cost {value:.6f}, its derivative by k {slope:.6f}")


if __name__ == "__main__":
    main()
