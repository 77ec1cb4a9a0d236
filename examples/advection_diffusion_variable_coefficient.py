"""A cloud of particles that drifts back to the origin while it spreads (Ornstein–Uhlenbeck).

    uₜ = (a(x) u)ₓ + D uₓₓ,  a(x) = x,  x ∈ [−7, 7],  u(±7, t) = 0
    exact: the normal density with mean 2e⁻ᵗ and variance s(t) = D + (s₀ − D) e⁻²ᵗ

Coefficients may be text: the product rule is then applied for you. Or they may be Python functions, for example an
interpolated measurement: whatever derivative the equation needs is then given beside it, under the name a_x.
"""

import numpy as np

import frozenpinn as fp

DENSITY = "exp(-(x - 2*exp(-t))**2/(2*s))/sqrt(2*pi*s)"


def drift(x: np.ndarray) -> np.ndarray:
    """Return the drift towards the origin; arrays in, arrays out."""
    return x


def cloud(**coefficients) -> fp.Problem:
    """Return the problem for a given drift."""
    numbers = {"D": 0.5, "s0": 0.2, "s": "D + (s0 - D)*exp(-2*t)"}  # a text may use the others
    return fp.Problem(
        "u_t = dx(a*u) + D*u_xx",
        domain=fp.Interval(-7, 7),
        time=(0, 2),
        initial="exp(-(x - 2)**2/(2*s0))/sqrt(2*pi*s0)",
        boundary="u = 0",
        parameters={**coefficients, **numbers},
        exact=DENSITY,
    )


def main() -> None:
    as_text = fp.solve(cloud(a="x"))
    as_functions = fp.solve(cloud(a=drift, a_x=np.ones_like))
    print(as_functions.report)

    # Nothing gets lost: the integral over all particles stays one.
    points = as_text.problem.domain.sample(200)  # Gauss points with weights
    mass = as_text(points.x[:, 0], 2.0) @ points.weights
    print(f"mass at t = 2: {mass:.12f}")

    for solution in (as_text, as_functions):
        error = solution.error()["rel_l2"]
        assert error < 1e-10, error
    assert abs(mass - 1) < 1e-9


if __name__ == "__main__":
    main()
