"""Growth: small errors are multiplied by what the problem does, though its solution need not grow."""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.nasty.parts import (
    LINE,
    PI,
    RING,
    Array,
    Draw,
    T,
    X,
    drawn,
    forcing,
    scaled,
    uniform,
)
from frozenpinn_lab.references.ordinary import Course, LineReference


def unstable_cubic(rng: Draw) -> Problem:
    """Stay at a state that others leave exponentially."""
    r = drawn(rng, 8, 20)
    exact = sp.cos(2 * T) * sp.sin(3 * PI * X) / 5
    f = forcing(exact, lambda u: 0.05 * sp.diff(u, X, 2) + r * (u - u**3))
    return Problem(
        f"u_t = 0.05*u_xx + {r}*(u - u**3) + f",
        LINE,
        (0, 1),
        exact.subs(T, 0),
        "u = 0",
        parameters={"f": f},
        exact=exact,
    )


def from_little(rng: Draw) -> Problem:
    """Grow from very little to a state that limits it."""
    r, small = drawn(rng, 15, 30), scaled(rng, -8, -4)
    e = sp.exp(r * T)
    exact = small * e / sp.sqrt(1 + small**2 * (e**2 - 1))
    return Problem(f"u_t = 0.1*u_xx + {r}*(u - u**3)", LINE, (0, 1), small, "u_n = 0", exact=exact)


def _cubic(r: float, x: Array, t: float, u: Array) -> Array:
    return r * (u - u**3)


def _seed(small: float, x: Array) -> Array:
    return small * (np.cos(np.pi * x) + 0.3 * np.cos(2 * np.pi * x))


def from_a_seed(rng: Draw) -> Problem:
    """Grow walls from a small seed."""
    r, small = drawn(rng, 15, 40), scaled(rng, -6, -3)
    edges = tuple(np.linspace(0, 1, 13).tolist())
    reference = LineReference(edges, (0.01,), partial(_cubic, r), partial(_seed, small), (0.0, 1.0), rtol=1e-10)
    start = f"{small}*(cos(pi*x) + 0.3*cos(2*pi*x))"
    return Problem(f"u_t = 0.01*u_xx + {r}*(u - u**3)", LINE, (0, 1), start, "u_n = 0", exact=reference)


def delayed(rng: Draw) -> Problem:
    """Decay for half of the time to next to nothing, then grow again."""
    r = drawn(rng, 40, 220)
    q = sp.exp(r * (T**2 - T) / 2)
    exact = q * sp.sin(PI * X)
    return Problem(f"u_t = 0.1*u_xx + ({r}*(t - 0.5) + 0.1*pi**2)*u", LINE, (0, 1), "sin(pi*x)", "u = 0", exact=exact)


def delayed_beside(rng: Draw) -> Problem:
    """Hide the same beside a part that stays."""
    r = drawn(rng, 40, 160)
    exact = sp.cos(T) * sp.sin(PI * X) + sp.sin(4 * PI * X) / 3
    f = forcing(exact, lambda u: 0.1 * sp.diff(u, X, 2) + (r * (T - sp.Rational(1, 2))) * u)
    return Problem(
        f"u_t = 0.1*u_xx + {r}*(t - 0.5)*u + f",
        LINE,
        (0, 1),
        exact.subs(T, 0),
        "u = 0",
        parameters={"f": f},
        exact=exact,
    )


def near_blow_up(rng: Draw) -> Problem:
    """End just before a solution blows up."""
    gap = scaled(rng, -3, -1)
    exact = 1 / (1 + gap - T)
    return Problem("u_t = 0.1*u_xx + u**2", LINE, (0, 1), 1 / (1 + gap), "u_n = 0", exact=exact)


def exponential_blow_up(rng: Draw) -> Problem:
    """End just before exp(u) blows up."""
    gap = scaled(rng, -4, -1)
    exact = -sp.log(1 + gap - T)
    return Problem("u_t = 0.1*u_xx + exp(u)", LINE, (0, 1), float(-np.log(1 + gap)), "u_n = 0", exact=exact)


def saddle_quadratic(rng: Draw) -> Problem:
    """Go to a saddle along the way that leads there: what misses it is multiplied."""
    r = drawn(rng, 8, 18)
    u, v = sp.exp(-T) * (2 + sp.cos(PI * X)) / 3, sp.exp(-2 * T) * (2 + sp.cos(PI * X)) ** 2 / 9  # v = u² is invariant
    f = forcing(u, lambda w: 0.05 * sp.diff(w, X, 2) - w)
    g = sp.diff(v, T) - 0.05 * sp.diff(v, X, 2) - r * (v - u**2)
    equations = ["u_t = 0.05*u_xx - u + f", f"v_t = 0.05*v_xx + {r}*(v - u**2) + g"]
    return Problem(
        equations,
        LINE,
        (0, 1),
        [u.subs(T, 0), v.subs(T, 0)],
        ["u_n = 0", "v_n = 0"],
        parameters={"f": f, "g": g},
        exact=[u, v],
    )


def fed_wave(rng: Draw) -> Problem:
    """Solve a wave equation with growth beside a solution that does not grow."""
    r = drawn(rng, 8, 20)
    exact = sp.cos(T) * sp.sin(2 * PI * X)
    f = forcing(exact, lambda u: 0.1 * sp.diff(u, X, 2) + r**2 * u, 2)
    return Problem(
        f"u_tt = 0.1*u_xx + {r**2}*u + f",
        LINE,
        (0, 1),
        exact.subs(T, 0),
        "u = 0",
        initial_velocity=0,
        parameters={"f": f},
        exact=exact,
    )


def _lorenz(t: float, y: Array) -> Array:
    return np.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])


def lorenz(rng: Draw) -> Problem:
    """Follow Lorenz's system."""
    start = [drawn(rng, 1, 10) for _ in range(3)]
    end = float(rng.integers(4, 14))
    equations = ["u_t = 0.1*u_xx + 10*(v - u)", "v_t = 0.1*v_xx + u*(28 - w) - v", "w_t = 0.1*w_xx + u*v - 8*w/3"]
    return uniform(equations, start, Course(_lorenz, np.array(start), (0.0, end), rtol=1e-13), end)


def bistable_choice(rng: Draw) -> Problem:
    """Choose between two states by a little: the difference is multiplied."""
    r, small = drawn(rng, 10, 25), scaled(rng, -6, -3)
    e = sp.exp(r * T)
    exact = small * e / sp.sqrt(1 + small**2 * (e**2 - 1))
    start = small
    return Problem(f"u_t = 0.1*u_xx + {r}*u*(1 - u)*(1 + u)", RING, (0, 1), start, None, exact=exact)


GROWTH = (
    unstable_cubic,
    from_little,
    from_a_seed,
    delayed,
    delayed_beside,
    near_blow_up,
    exponential_blow_up,
    saddle_quadratic,
    fed_wave,
    lorenz,
    bistable_choice,
)
