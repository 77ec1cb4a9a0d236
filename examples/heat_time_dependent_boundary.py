"""Seasons in the ground: the temperature of the surface swings, the swing sinks in, weaker and later.

    uₜ = uₓₓ,  x ∈ [0, 5],  u(0, t) = cos 2t,  u(5, t) = e⁻⁵ cos(2t − 5),  u(x, 0) = e⁻ˣ cos x
    exact: u(x, t) = e⁻ˣ cos(2t − x)

Boundary data that change in time are text, SymPy or Python functions of t. A lifting carries them; its rate of
change, which enters the equation, is found by symbolic differentiation or, for Python functions, by differences.
"""

import numpy as np

import frozenpinn as fp


def deep_temperature(t: float) -> float:
    """Return the temperature at a depth of 5."""
    return np.exp(-5) * np.cos(2 * t - 5)


def main() -> None:
    problem = fp.Problem(
        "u_t = u_xx",
        domain=fp.Interval(0, 5),
        time=(0, 2 * np.pi),
        initial="exp(-x)*cos(x)",
        boundary={"left": "u = cos(2*t)", "right": fp.Dirichlet(deep_temperature)},
        exact="exp(-x)*cos(2*t - x)",
    )
    solution = fp.solve(problem)
    print(solution.report)

    # When is the ground at depth 2 warmest in the second half of the year? Its phase lags by x/2.
    t = np.linspace(np.pi, 2 * np.pi, 2001)
    warmest = t[np.argmax(solution(2.0, t))] - np.pi
    print(f"at depth 2 the warmest day comes {warmest:.3f} after the surface's (exact: 1)")

    error = solution.error()["rel_l2"]
    assert error < 2e-11, error
    assert abs(warmest - 1) < 0.005


if __name__ == "__main__":
    main()
