"""Boxes and shapes: the same in several dimensions; dispersive waves."""

from __future__ import annotations

import numpy as np
import sympy as sp

from frozenpinn.geometry import Ball, Box, Interval
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.nasty.parts import (
    PI,
    Draw,
    T,
    X,
    Y,
    drawn,
    forcing,
    kink,
    lap,
    passed,
    peak,
    place,
    scaled,
)

_SQUARE = Box([0, 0], [1, 1])
_DISK = Ball([0, 0], 1.0)


def spot(rng: Draw) -> Problem:
    """Hide a source that is narrow along both axes of a square."""
    a, b, w, k = place(rng), place(rng), scaled(rng, -2, -1), 0.1
    exact = (1 - sp.exp(-3 * T)) * peak(X, a, w) * peak(Y, b, w) + sp.exp(-T) * sp.sin(PI * X) * sp.sin(PI * Y)
    f = forcing(exact, lambda u: k * lap(u))
    return Problem(
        f"u_t = {k}*lap(u) + f",
        _SQUARE,
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"f": f, "g": exact},
        exact=exact,
    )


def ridge(rng: Draw) -> Problem:
    """Hide a narrow ridge of a potential across a square."""
    a, w, k = place(rng), scaled(rng, -3.5, -1.5), 0.1
    exact = sp.exp(-T) * (1 + kink(X, a, w)) * sp.cos(PI * Y)
    v = drawn(rng, 0.5, 2) / w * peak(X, a, w)
    f = forcing(exact, lambda u: k * lap(u) - v * u)
    return Problem(
        f"u_t = {k}*lap(u) - V*u + f",
        _SQUARE,
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"f": f, "g": exact, "V": v},
        exact=exact,
    )


def oblique_ridge(rng: Draw) -> Problem:
    """Hide a ridge of a source that lies oblique in a square."""
    w, k, slope = scaled(rng, -2.3, -1), 0.1, drawn(rng, 0.3, 1.5)
    exact = sp.exp(-T) * (1 + kink(X + slope * Y, 0.6 + slope / 3, w))
    f = forcing(exact, lambda u: k * lap(u))
    return Problem(
        f"u_t = {k}*lap(u) + f",
        _SQUARE,
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"f": f, "g": exact},
        exact=exact,
    )


def plane_barrier(rng: Draw) -> Problem:
    """Hide a barrier in a diffusivity across a square."""
    a, w, k = place(rng), scaled(rng, -3, -1.5), 0.1
    size = drawn(rng, 0.1, 0.5)
    climb = X + size * sp.sqrt(PI) / 2 * (sp.erf((X - a) / w) + 1)  # its slope is 1 + size/w·peak
    hindered = k / (1 + size / w * peak(X, a, w))
    exact = sp.exp(-T) * climb * sp.sin(PI * Y)
    f = -exact + hindered * PI**2 * exact
    return Problem(
        "u_t = dx(q*u_x) + dy(q*u_y) + f",
        _SQUARE,
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"f": f, "g": exact, "q": hindered},
        exact=exact,
    )


def plane_reaction_pulse(rng: Draw) -> Problem:
    """Hide a quadratic reaction that acts for a moment, in a square."""
    a, w, size = place(rng), scaled(rng, -3.5, -2), drawn(rng, 0.1, 0.4)
    exact = 1 / (sp.Float(1.5) - size * passed(T, a, w))
    return Problem(
        "u_t = 0.1*lap(u) + r*u**2",
        _SQUARE,
        (0, 1),
        1 / 1.5,
        "u_n = 0",
        parameters={"r": size / w * peak(T, a, w)},
        exact=exact,
    )


def plane_robin(rng: Draw) -> Problem:
    """Feed a solution from all sides of a square."""
    m, k = drawn(rng, 1, 3), 0.3
    beta = float(m * np.tanh(m))
    exact = sp.exp(2 * k * m**2 * T) * sp.cosh(m * X) * sp.cosh(m * Y)
    return Problem(f"u_t = {k}*lap(u)", Box([-1, -1], [1, 1]), (0, 1), exact.subs(T, 0), f"u_n = {beta}*u", exact=exact)


def plane_growth(rng: Draw) -> Problem:
    """Solve beside a growing mode, in a square."""
    r, k = drawn(rng, 10, 25), 0.05
    exact = sp.cos(T) * sp.sin(3 * PI * X) * sp.sin(2 * PI * Y)
    f = forcing(exact, lambda u: k * lap(u) + r * u)
    return Problem(
        f"u_t = {k}*lap(u) + {r}*u + f", _SQUARE, (0, 1), exact.subs(T, 0), "u = 0", parameters={"f": f}, exact=exact
    )


def plane_saddle(rng: Draw) -> Problem:
    """Go to a saddle, in a square, by a way that is the same along lines; what misses it is multiplied."""
    r, slope = drawn(rng, 8, 16), drawn(rng, 0.5, 3)
    u = sp.exp(-T) * (2 + sp.sin(slope * X + Y)) / 3
    v = u**2
    f, g = forcing(u, lambda w: 0.05 * lap(w) - w), forcing(v, lambda w: 0.05 * lap(w) + r * (w - u**2))
    return Problem(
        ["u_t = 0.05*lap(u) - u + f", f"v_t = 0.05*lap(v) + {r}*(v - u**2) + g"],
        _SQUARE,
        (0, 1),
        [u.subs(T, 0), v.subs(T, 0)],
        ["u = p", "v = q"],
        parameters={"f": f, "g": g, "p": u, "q": v},
        exact=[u, v],
    )


def plane_carried(rng: Draw) -> Problem:
    """Carry a narrow peak around a torus."""
    w, v = scaled(rng, -1.7, -1), drawn(rng, 0.3, 1.0)
    z1, z2 = sp.sin(PI * (X - 0.3 - v * T)), sp.sin(PI * (Y - 0.4 + 0.5 * v * T))
    exact = sp.exp(-((z1 / (PI * w)) ** 2) - (z2 / (PI * w)) ** 2)
    domain = Box([0, 0], [1, 1], periodic=True)
    return Problem(f"u_t = -{v}*u_x + {0.5 * v}*u_y", domain, (0, 1), exact.subs(T, 0), None, exact=exact)


def disk_spot(rng: Draw) -> Problem:
    """Hide a narrow source in a disk."""
    a, w, k = drawn(rng, -0.5, 0.5), scaled(rng, -1.7, -0.7), 0.1
    exact = (1 - sp.exp(-3 * T)) * peak(X, a, w) * peak(Y, 0.1, w) + sp.exp(-T) * (1 - X**2 - Y**2)
    f = forcing(exact, lambda u: k * lap(u))
    return Problem(
        f"u_t = {k}*lap(u) + f", _DISK, (0, 1), exact.subs(T, 0), "u = g", parameters={"f": f, "g": exact}, exact=exact
    )


def disk_pulse(rng: Draw) -> Problem:
    """Hide a diffusivity that is large for a moment, in a disk."""
    a, w, size = place(rng), scaled(rng, -3.5, -2), drawn(rng, 0.05, 0.2)
    q = sp.exp(-size * passed(T, a, w))
    k = size / (4 * w) * peak(T, a, w)
    exact = q * (1 - X**2 - Y**2) + q
    f = forcing(exact, lambda u: k * lap(u))
    return Problem(
        "u_t = k*lap(u) + f",
        _DISK,
        (0, 1),
        exact.subs(T, 0),
        "u = g",
        parameters={"f": f, "g": exact, "k": k},
        exact=exact,
    )


def disk_growth(rng: Draw) -> Problem:
    """Solve beside a growing mode, in a disk."""
    r = drawn(rng, 6, 15)
    exact = sp.cos(T) * (1 - X**2 - Y**2) * sp.sin(2 * X - Y)
    f = forcing(exact, lambda u: 0.1 * lap(u) + r * u)
    return Problem(
        f"u_t = 0.1*lap(u) + {r}*u + f", _DISK, (0, 1), exact.subs(T, 0), "u = 0", parameters={"f": f}, exact=exact
    )


def disk_wave(rng: Draw) -> Problem:
    """Drive a membrane by a burst."""
    a, w = place(rng), scaled(rng, -2.7, -1.5)
    q = 1 + sp.erf((T - a) / w) / 2
    exact = q * (1 - X**2 - Y**2) * sp.exp(X)
    f = forcing(exact, lambda u: 0.3 * lap(u), 2)
    start, speed = exact.subs(T, 0), sp.diff(exact, T).subs(T, 0)
    return Problem(
        "u_tt = 0.3*lap(u) + f", _DISK, (0, 1), start, "u = 0", initial_velocity=speed, parameters={"f": f}, exact=exact
    )


def soliton(rng: Draw) -> Problem:
    """Carry a narrow wave of the Korteweg–de Vries equation."""
    c = scaled(rng, 1.3, 2.8)
    s = float(np.sqrt(c)) / 2
    exact = c / 2 / sp.cosh(s * (X - c * T)) ** 2
    end = float(f"{2 / c:.3g}")
    return Problem(
        "u_t = -6*u*u_x - u_xxx", Interval(-5, 5, periodic=True), (0, end), exact.subs(T, 0), None, exact=exact
    )


def dispersion(rng: Draw) -> Problem:
    """Disperse a packet (Schrödinger's equation)."""
    w, k0 = scaled(rng, -1.3, -0.5), drawn(rng, 5, 40)

    size, angle = sp.sqrt(w**4 + 4 * T**2), sp.atan(2 * T / w**2) / 2
    z = X - 2 * k0 * T
    envelope = w / sp.sqrt(size) * sp.exp(-(z**2) * w**2 / (2 * size**2))
    phase = z**2 * T / size**2 - angle + k0 * X - k0**2 * T
    end = float(f"{min(0.5 / k0, 0.3 * w):.3g}")
    u, v = envelope * sp.cos(phase), envelope * sp.sin(phase)
    domain = Interval(-4, 4, periodic=True)
    return Problem(["u_t = -v_xx", "v_t = u_xx"], domain, (0, end), [u.subs(T, 0), v.subs(T, 0)], None, exact=[u, v])


def cube_pulse(rng: Draw) -> Problem:
    """Hide a decay that acts for a moment, in a cube."""
    a, w, size = place(rng), scaled(rng, -3.5, -2), drawn(rng, 0.3, 1.0)
    exact = sp.sin(PI * X) * sp.sin(PI * Y) * sp.Symbol("z", real=True) * 0 + 1 / (1 + size * passed(T, a, w))
    return Problem(
        "u_t = 0.1*lap(u) - r*u**2",
        Box([0, 0, 0], [1, 1, 1]),
        (0, 1),
        1,
        "u_n = 0",
        parameters={"r": size / w * peak(T, a, w)},
        exact=exact,
    )


PLANE = (
    spot,
    ridge,
    oblique_ridge,
    plane_barrier,
    plane_reaction_pulse,
    plane_robin,
    plane_growth,
    plane_saddle,
    plane_carried,
    disk_spot,
    disk_pulse,
    disk_growth,
    disk_wave,
    soliton,
    dispersion,
    cube_pulse,
)
