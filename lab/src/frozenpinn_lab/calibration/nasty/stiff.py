"""Stiffness and corners of reactions: fast parts hide behind slow ones."""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp

from frozenpinn.geometry import Interval
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.nasty.parts import (
    LINE,
    NO_FLUX,
    PI,
    RING,
    Array,
    Draw,
    T,
    X,
    drawn,
    forcing,
    place,
    scaled,
    uniform,
)
from frozenpinn_lab.references.ordinary import Component, Course, LineReference, OneOf

# ---- stiffness ----------------------------------------------------------------------------------------


def _van_der_pol(mu: float, t: float, y: Array) -> Array:
    return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


def van_der_pol(rng: Draw) -> Problem:
    """Follow van der Pol's relaxation oscillations."""
    mu = scaled(rng, 0.5, 2)
    end = float(f"{drawn(rng, 1.2, 2.5) * mu + 4:.3g}")
    course = Course(partial(_van_der_pol, mu), np.array([2.0, 0.0]), (0.0, end), "Radau", 1e-11, 1e-13)
    return uniform(["u_t = 0.1*u_xx + v", f"v_t = 0.1*v_xx + {mu}*(1 - u**2)*v - u"], [2.0, 0.0], course, end)


def _robertson(k: float, t: float, y: Array) -> Array:
    first, second, third = 0.04 * y[0], 3e7 * k * y[1] ** 2, 1e4 * y[1] * y[2]
    return np.array([third - first, first - third - second, second])


def robertson(rng: Draw) -> Problem:
    """Follow Robertson's reaction."""
    k, end = drawn(rng, 0.3, 3), scaled(rng, -1, 2)
    course = Course(partial(_robertson, k), np.array([1.0, 0.0, 0.0]), (0.0, end), "Radau", 1e-11, 1e-16)
    equations = [
        "u_t = 0.1*u_xx - 0.04*u + 1e4*v*w",
        f"v_t = 0.1*v_xx + 0.04*u - 1e4*v*w - {3e7 * k}*v**2",
        f"w_t = 0.1*w_xx + {3e7 * k}*v**2",
    ]
    return uniform(equations, [1.0, 0.0, 0.0], course, end)


def chain(rng: Draw) -> Problem:
    """Decay in a chain, with very different rates."""
    a, b = scaled(rng, 1, 5), scaled(rng, -2, 0.5)
    u = sp.exp(-a * T)
    v = a / (b - a) * (sp.exp(-a * T) - sp.exp(-b * T))
    equations = [f"u_t = 0.1*u_xx - {a}*u", f"v_t = 0.1*v_xx + {a}*u - {b}*v"]
    return Problem(equations, LINE, (0, 1), [1, 0], NO_FLUX[2], exact=[u, v])


def quadratic_relaxation(rng: Draw) -> Problem:
    """Relax fast, from a state that is not balanced, to one that moves."""
    eps = scaled(rng, -5, -2)
    course = Course(partial(_relaxing, eps), np.array([3.0]), (0.0, 30 * eps, 1.0), "Radau", 1e-12, 1e-14)
    return uniform([f"u_t = 0.1*u_xx - {1 / eps}*(u**2 - (1 + t)**2)"], [3.0], course)


def _relaxing(eps: float, t: float, y: Array) -> Array:
    return -(y**2 - (1 + t) ** 2) / eps


def tight_coupling(rng: Draw) -> Problem:
    """Couple two fields very stiffly: only what they share lives on."""
    big = scaled(rng, 3, 8)
    g = (2 + sp.cos(PI * X)) * sp.exp(-T)
    f = forcing(g, lambda u: 0.1 * sp.diff(u, X, 2))
    equations = [f"u_t = 0.1*u_xx - {big}*(u - v) + f", f"v_t = 0.1*v_xx - {big}*(v - u) + f"]
    layer = sp.exp(-(2 * big) * T) / 2
    return Problem(
        equations,
        LINE,
        (0, 1),
        [g.subs(T, 0) + sp.Rational(1, 2), g.subs(T, 0) - sp.Rational(1, 2)],
        NO_FLUX[2],
        parameters={"f": f},
        exact=[g + layer, g - layer],
    )


def initial_layer(rng: Draw) -> Problem:
    """Begin off a state that moves and attracts."""
    eps = scaled(rng, -6, -2)
    target = sp.cos(3 * T) * (2 + sp.cos(PI * X))
    exact = target + sp.exp(-T / eps)
    f = forcing(target, lambda u: 0.1 * sp.diff(u, X, 2) - u / eps)
    return Problem(
        f"u_t = 0.1*u_xx - u/{eps} + f", LINE, (0, 1), exact.subs(T, 0), "u_n = 0", parameters={"f": f}, exact=exact
    )


def _ignition(a: float, e: float, t: float, y: Array) -> Array:
    return np.array([a * (2 - y[0]) * np.exp(-e / y[0])])


def ignition(rng: Draw) -> Problem:
    """Ignite after a delay (Arrhenius)."""
    e = drawn(rng, 8, 25)
    a = float(f"{np.exp(e) / e * drawn(rng, 1.2, 2.0):.4g}")  # the delay is about 1/(rate at the start)
    course = Course(partial(_ignition, a, e), np.array([1.0]), (0.0, 1.0), "Radau", 1e-12, 1e-14)
    return uniform([f"u_t = 0.1*u_xx + {a}*(2 - u)*exp(-{e}/u)"], [1.0], course)


def _brusselator(a: float, b: float, x: Array, t: float, u: Array) -> Array:
    square = u[0] ** 2 * u[1]
    return np.stack([a - (b + 1) * u[0] + square, b * u[0] - square])


def _off_rest(a: float, b: float, x: Array) -> Array:
    return np.stack([a + 0.1 * np.cos(np.pi * x), b / a + 0.2 * np.cos(2 * np.pi * x)])


def brusselator(rng: Draw) -> Problem:
    """Follow the Brusselator's oscillations."""
    a, b, end = drawn(rng, 0.8, 1.5), drawn(rng, 2.5, 4.5), float(rng.integers(5, 15))
    reference = LineReference(
        tuple(np.linspace(0, 1, 5).tolist()),
        (0.02, 0.02),
        partial(_brusselator, a, b),
        partial(_off_rest, a, b),
        (0.0, end),
        rtol=1e-10,
    )
    equations = [f"u_t = 0.02*u_xx + {a} - {b + 1}*u + u**2*v", f"v_t = 0.02*v_xx + {b}*u - u**2*v"]
    start = [f"{a} + 0.1*cos(pi*x)", f"{b / a} + 0.2*cos(2*pi*x)"]
    return Problem(equations, LINE, (0, end), start, NO_FLUX[2], exact=[OneOf(reference, i) for i in range(2)])


# ---- corners ------------------------------------------------------------------------------------------


def _root_sink(c: float, x: Array, t: float, u: Array) -> Array:
    return -c * np.sqrt(np.maximum(u, 0.0))


def _uneven(x: Array) -> Array:
    return 1 + 0.5 * np.cos(np.pi * x)


def extinction_front(rng: Draw) -> Problem:
    """Use a substance up, here earlier than there."""
    c = drawn(rng, 2.5, 5)
    reference = LineReference(
        tuple(np.linspace(0, 1, 25).tolist()),
        (0.05,),
        partial(_root_sink, c),
        _uneven,
        (0.0, 1.0),
        degree=6,
        rtol=1e-8,
        method="RK45",
    )
    return Problem(
        f"u_t = 0.05*u_xx - {c}*sqrt(max(u, 0))", LINE, (0, 1), "1 + 0.5*cos(pi*x)", "u_n = 0", exact=reference
    )


def power_extinction(rng: Draw) -> Problem:
    """Use a substance up by a reaction of a broken order."""
    p, end = drawn(rng, 0.2, 0.8), drawn(rng, 0.3, 0.9)
    q = 1 / (1 - p)
    exact = sp.Max(1 - T / end, 0) ** q
    return Problem(f"u_t = 0.1*u_xx - {q / end}*max(u, 0)**{p}", LINE, (0, 1), 1, "u_n = 0", exact=exact)


def triggered(rng: Draw) -> Problem:
    """Switch a source on when the solution passes a threshold."""
    c, more = drawn(rng, 0.2, 0.8), drawn(rng, 1, 20)
    exact = T + more * sp.Max(T - c, 0)
    return Problem(f"u_t = 0.1*u_xx + 1 + {more}*heaviside(u - {c})", LINE, (0, 1), 0, "u_n = 0", exact=exact)


def friction(rng: Draw) -> Problem:
    """Come to rest by friction that does not depend on the speed."""
    c, eps = drawn(rng, 1.5, 4), scaled(rng, -6, -3)
    course = Course(
        partial(_rubbing, c, eps),
        np.array([1.0]),
        (0.0, 0.98 / c, 1.1 / c, 1.0) if c > 1.2 else (0.0, 1.0),
        "Radau",
        1e-11,
        1e-14,
    )
    return uniform([f"u_t = 0.1*u_xx - {c}*tanh(u/{eps})"], [1.0], course)


def _rubbing(c: float, eps: float, t: float, y: Array) -> Array:
    return -c * np.tanh(y / eps)


def sliding(rng: Draw) -> Problem:
    """Slide along a value at which a force changes its sign all of a sudden: one step of many passes it first."""
    a, eps, hum = drawn(rng, 0.3, 0.7), scaled(rng, -4.5, -3), drawn(rng, 0.1, 0.5)
    course = Course(partial(_pulled, a, eps, hum), np.array([1.0]), (0.0, 1.5), "Radau", 1e-11, 1e-13)
    return uniform([f"u_t = 0.1*u_xx - tanh((u - {a})/{eps}) + {hum}*cos(5*t)"], [1.0], course, 1.5)


def _pulled(a: float, eps: float, hum: float, t: float, y: Array) -> Array:
    return np.asarray(-np.tanh((y - a) / eps) + hum * np.cos(5 * t))


def kinked_wave(rng: Draw) -> Problem:
    """Swing about a spring that pulls harder on one side."""
    a, b, end = drawn(rng, 5, 15), drawn(rng, 20, 60), float(rng.integers(2, 8))
    course = Course(partial(_one_sided, a, b), np.array([1.0, 0.0]), (0.0, end), "DOP853", 1e-12, 1e-14)
    equation = f"u_tt = u_xx - {a**2}*max(u, 0) - {b**2}*min(u, 0)"
    return Problem(equation, LINE, (0, end), 1, "u_n = 0", initial_velocity=0, exact=Component(course))


def _one_sided(a: float, b: float, t: float, y: Array) -> Array:
    return np.array([y[1], -(a**2) * max(y[0], 0.0) - b**2 * min(y[0], 0.0)])


def barenblatt(rng: Draw) -> Problem:
    """Spread with an edge that moves (porous medium)."""
    t0 = drawn(rng, 0.005, 0.05)
    s = T + t0
    # u_t = (u²)_xx: u = s^(-1/3) (c - x²/(12 s^(2/3)))₊
    c = drawn(rng, 0.1, 0.3)
    exact = s ** sp.Rational(-1, 3) * sp.Max(c - X**2 / (12 * s ** sp.Rational(2, 3)), 0)
    end = drawn(rng, 0.02, 0.1)
    return Problem("u_t = dx(2*u*u_x)", Interval(-2, 2), (0, end), exact.subs(T, 0), "u = 0", exact=exact)


def tiny(rng: Draw) -> Problem:
    """Solve in units in which everything is tiny, or huge."""
    size = 10.0 ** int(rng.integers(-14, 14))
    exact = size * (1 + sp.cos(PI * X) * sp.sin(5 * T) / 2)
    f = forcing(exact, lambda u: 0.1 * sp.diff(u, X, 2) - u**2 / size)
    return Problem(
        f"u_t = 0.1*u_xx - u**2/{size} + f", LINE, (0, 1), exact.subs(T, 0), "u_n = 0", parameters={"f": f}, exact=exact
    )


def uneven_fields(rng: Draw) -> Problem:
    """Hide a small field beside a large one that hardly feels it."""
    small = scaled(rng, -9, -3)
    a = place(rng)
    v = small * sp.exp(-T) * (2 + sp.sin(2 * PI * (X - a)))
    g = forcing(v, lambda w: 0.05 * sp.diff(w, X, 2))
    u = sp.cos(T) * (2 + sp.cos(2 * PI * X))
    f = forcing(u, lambda w: 0.05 * sp.diff(w, X, 2)) - v * 1e-3
    equations = ["u_t = 0.05*u_xx + 0.001*v + f", "v_t = 0.05*v_xx + g"]
    return Problem(
        equations, RING, (0, 1), [u.subs(T, 0), v.subs(T, 0)], None, parameters={"f": f, "g": g}, exact=[u, v]
    )


STIFF = (
    van_der_pol,
    robertson,
    chain,
    quadratic_relaxation,
    tight_coupling,
    initial_layer,
    ignition,
    brusselator,
    extinction_front,
    power_extinction,
    triggered,
    friction,
    sliding,
    kinked_wave,
    barenblatt,
    tiny,
    uneven_fields,
)
