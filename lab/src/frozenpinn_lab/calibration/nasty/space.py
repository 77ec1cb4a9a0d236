"""Narrow in space: coefficients, sources, layers and fronts, at rest and moving."""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp

from frozenpinn.geometry import Interval
from frozenpinn.statement.conditions import Free
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
    kink,
    peak,
    place,
    scaled,
)
from frozenpinn_lab.references.ordinary import LineReference


def lorentz_potential(rng: Draw) -> Problem:
    """Hide 1/(1 + z²) in a potential; its wings are wide."""
    a, w, k = place(rng), scaled(rng, -4, -2.3), 0.1
    well = drawn(rng, 0.5, 2) / (1 + ((X - a) / w) ** 2)
    exact = sp.exp(-T) * (1 + kink(X, a, 3 * w))
    f = forcing(exact, lambda u: k * sp.diff(u, X, 2) - well / w * u)
    return Problem(
        f"u_t = {k}*u_xx - V*u + f",
        LINE,
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"V": well / w, "f": f, "g": exact},
        exact=exact,
    )


def moving_source(rng: Draw) -> Problem:
    """Hide a source that moves: a bend of the solution goes along with it."""
    w, k, v = scaled(rng, -3.3, -1.7), 0.1, drawn(rng, 0.2, 0.6)
    exact = kink(X - v * T, 0.2, w)
    f = forcing(exact, lambda u: k * sp.diff(u, X, 2))
    return Problem(
        f"u_t = {k}*u_xx + f", LINE, (0, 1), exact.subs(T, 0), "u = g", parameters={"f": f, "g": exact}, exact=exact
    )


def _edges(a: float, w: float) -> tuple[float, ...]:
    near = (float(np.clip(a + s * w, 0, 1)) for s in (-100, -30, -10, -5, -2, 0, 2, 5, 10, 30, 100))
    return tuple(sorted({*np.linspace(0, 1, 7).tolist(), *near}))


def _wave(x: Array) -> Array:
    return np.sin(np.pi * x)


def _gaussian_source(a: float, w: float, size: float, power: int, x: Array, t: float, u: Array) -> Array:
    return np.asarray(size * np.exp(-(((x - a) / w) ** 2)) * u**power)


def _zeros(t: float) -> Array:
    return np.zeros((1, 2))


def hidden_reaction(rng: Draw) -> Problem:
    """Hide a nonlinear reaction that takes place in a narrow stretch only."""
    a, w, power = place(rng), scaled(rng, -3.5, -1.5), int(rng.integers(2, 4))
    size = drawn(rng, 0.3, 0.8) / w
    reference = LineReference(
        _edges(a, w), (0.1,), partial(_gaussian_source, a, w, -size, power), _wave, (0.0, 1.0), _zeros
    )
    s = size * peak(X, a, w)
    return Problem(
        f"u_t = 0.1*u_xx - s*u**{power}", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"s": s}, exact=reference
    )


def _nothing(x: Array, t: float, u: Array) -> Array:
    return np.zeros_like(u)


def hidden_layer(rng: Draw) -> Problem:
    """Hide a boundary layer at the outflow, which forms in time."""
    eps = scaled(rng, -3, -1.7)
    edges = tuple(sorted({*np.linspace(0, 1, 9).tolist(), *(1 - eps * s for s in (1, 3, 6, 12, 25) if eps * s < 0.9)}))
    reference = LineReference(edges, (eps,), _nothing, _wave, (0.0, 1.0), _zeros, velocity=1.0)
    return Problem(f"u_t = {eps}*u_xx - u_x", LINE, (0, 1), "sin(pi*x)", "u = 0", exact=reference)


def stokes_layer(rng: Draw) -> Problem:
    """Hide a layer at a wall that swings: u = exp(−sx) sin(ωt − sx)."""
    k, omega = 0.1, scaled(rng, 1.5, 4)
    s = float(np.sqrt(omega / (2 * k)))
    exact = sp.exp(-s * X) * sp.cos(omega * T - s * X)
    return Problem(f"u_t = {k}*u_xx", LINE, (0, 1), exact.subs(T, 0), "u = g", parameters={"g": exact}, exact=exact)


def carried_peak(rng: Draw) -> Problem:
    """Carry a narrow peak around."""
    w, v = scaled(rng, -2.7, -1.3), drawn(rng, 0.5, 3.0)
    z = sp.sin(PI * (X - 0.3 - v * T))
    exact = sp.exp(-((z / (PI * w)) ** 2))
    return Problem(f"u_t = -{v}*u_x", RING, (0, 1), exact.subs(T, 0), None, exact=exact)


def compression(rng: Draw) -> Problem:
    """Compress a solution into a peak that gets narrower exponentially."""
    r = drawn(rng, 2.0, 5.0)
    exact = sp.exp(r * T) * sp.exp(-((3 * (X - 0.1) * sp.exp(r * T)) ** 2))
    return Problem(
        f"u_t = dx({r}*(x - 0.1)*u)",
        Interval(-1, 1),
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"g": exact},
        exact=exact,
    )


def expansion(rng: Draw) -> Problem:
    """Begin with a narrow peak, which is spread."""
    r, w = drawn(rng, 1.0, 3.0), scaled(rng, -3, -1.5)
    exact = sp.exp(-(((X - 0.1) * sp.exp(-r * T) / w) ** 2))
    return Problem(
        f"u_t = -{r}*(x - 0.1)*u_x",
        Interval(-1, 1),
        (0, 1),
        exact.subs(T, 0),
        {"left": Free(), "right": Free()},
        exact=exact,
    )


def burgers_front(rng: Draw) -> Problem:
    """Move a thin front."""
    nu, a, c = scaled(rng, -3.7, -2), drawn(rng, 0.3, 1.0), drawn(rng, 0.1, 0.5)
    exact = c - a * sp.tanh(a * (X - 0.25 - c * T) / (2 * nu))
    return Problem(
        f"u_t = {nu}*u_xx - u*u_x", LINE, (0, 1), exact.subs(T, 0), "u = g", parameters={"g": exact}, exact=exact
    )


def fisher_front(rng: Draw) -> Problem:
    """Move a thin front of a reaction: Ablowitz and Zeppetella's."""
    r = scaled(rng, 2, 4)
    k = 1 / r  # speed 5/√6, thickness √(6)/r
    s = float(np.sqrt(r / (6 * k)))
    exact = (1 + sp.exp(s * (X - 0.1) - 5 * r / 6 * T)) ** -2
    end = float(f"{0.5 * s / (5 * r / 6):.3g}")
    return Problem(
        f"u_t = {k}*u_xx + {r}*u*(1 - u)",
        LINE,
        (0, end),
        exact.subs(T, 0),
        "u = g",
        parameters={"g": exact},
        exact=exact,
    )


def bistable_front(rng: Draw) -> Problem:
    """Move a thin front between two states (Nagumo's equation)."""
    eps, alpha = scaled(rng, -3, -1.7), drawn(rng, 0.1, 0.4)
    c = (1 - 2 * alpha) / np.sqrt(2)
    exact = (1 - sp.tanh((X - 0.3 - c * T) / (2 * np.sqrt(2) * eps))) / 2
    return Problem(
        f"u_t = {eps}*u_xx + {1 / eps}*u*(1 - u)*(u - {alpha})",
        LINE,
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"g": exact},
        exact=exact,
    )


def ripples(rng: Draw) -> Problem:
    """Hide ripples of a diffusivity that are finer than any network: only their harmonic mean is felt."""
    n = int(2 ** rng.integers(5, 10))
    depth, k = drawn(rng, 0.5, 0.9), 0.1
    # u_x = g(t) / k(x): the flux is even
    ripple = sp.Integer(1) + depth * sp.cos(2 * PI * n * X)
    climb = X + depth / (2 * PI * n) * sp.sin(2 * PI * n * X)
    exact = sp.exp(-T) * climb
    f = -sp.exp(-T) * climb
    return Problem(
        f"u_t = dx({k}/q*u_x) + f",
        LINE,
        (0, 1),
        climb,
        "u = g",
        parameters={"q": ripple, "f": f, "g": exact},
        exact=exact,
    )


def shifted_origin(rng: Draw) -> Problem:
    """Solve far away from the origins of space and time, in small units."""
    a, b, small = drawn(rng, 10, 1000), drawn(rng, 10, 1000), scaled(rng, -1.5, 2)
    w = scaled(rng, -2.5, -1)
    domain = Interval(a, a + small)
    z, s = (X - a) / small, (T - b) / small**2
    exact = sp.cos(s) * (sp.sin(PI * z) + peak(z, 0.5, w) - peak(sp.Integer(0), 0.5, w))
    f = forcing(exact, lambda u: 0.1 * sp.diff(u, X, 2))
    return Problem(
        "u_t = 0.1*u_xx + f",
        domain,
        (b, b + small**2),
        exact.subs(T, b),
        "u = g",
        parameters={"f": f, "g": exact},
        exact=exact,
    )


SPACE = (
    lorentz_potential,
    moving_source,
    hidden_reaction,
    hidden_layer,
    stokes_layer,
    carried_peak,
    compression,
    expansion,
    burgers_front,
    fisher_front,
    bistable_front,
    ripples,
    shifted_origin,
)
