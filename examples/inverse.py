"""How fast does a rod conduct heat, and how strong is the source in it? From 40 readings with 1 % noise.

∂ₜu = k ∂ₓₓu + s sin(πx),  u(x, 0) = 0,  u = 0 at both ends.

The readings are made of the exact solution, u = s/(kπ²) (1 − exp(−kπ²t)) sin(πx), with k = 0.1 and s = 2.
"""

import numpy as np

import frozenpinn as fp

TRUTH = {"k": 0.1, "s": 2.0}


def readings(seed: int) -> fp.Measurements:
    """Read thermometers at random places and times."""
    rng = np.random.default_rng(seed)
    x, t = rng.uniform(0.05, 0.95, 40), rng.uniform(0.05, 1.0, 40)
    k, s = TRUTH["k"], TRUTH["s"]
    exact = s / (k * np.pi**2) * (1 - np.exp(-k * np.pi**2 * t)) * np.sin(np.pi * x)
    return fp.Measurements(x, exact * (1 + 0.01 * rng.standard_normal(40)), times=t, noise=fp.Relative(0.01))


def main() -> None:
    problem = fp.Problem(
        "u_t = k*u_xx + s*sin(pi*x)",
        fp.Interval(0, 1),
        time=(0, 1),
        initial=0,
        boundary="u = 0",
        parameters={"k": fp.Unknown(0.3, lower=0.01, upper=1.0), "s": fp.Unknown(1.0)},
    )
    found = fp.infer(problem, readings(0))
    print(found.report)
    for name, truth in TRUTH.items():
        estimate = found.parameters[name]
        assert abs(estimate.value - truth) < 4 * estimate.std < 0.1 * truth
    assert 0.5 < found.misfit < 1.6
    best = fp.design(problem, np.full(10, 0.5), 2, times=np.linspace(0.1, 1.0, 10), noise=0.01)
    print(f"two readings at x = 0.5 tell most at t = {best.times[0]:.1f} and t = {best.times[1]:.1f}")


if __name__ == "__main__":
    main()
