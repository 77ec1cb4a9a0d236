"""Shapes, at rest and in time: hard edges that stay, dips, narrow loads of plates, bodies and flows, holes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from frozenpinn.geometry import Ball, Box, Disk, Domain, Polygon
from frozenpinn.statement.conditions import Dirichlet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.nasty.parts import PI, Array, Draw, T, X, Y, drawn, lap, peak, scaled

_SQUARE, _DISK = Box([-1, -1], [1, 1]), Ball([0, 0], 1.0)
_ROOM = Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
_SHAPES: tuple[Domain, ...] = (_SQUARE, _DISK, _ROOM)


def _any(rng: Draw) -> Domain:
    return _SHAPES[int(rng.integers(len(_SHAPES)))]


def _inside(rng: Draw) -> tuple[float, float]:
    return drawn(rng, -0.6, -0.2), drawn(rng, -0.6, -0.2)


def _spot(a: float, b: float, w: float) -> sp.Expr:
    return peak(X, a, w) * peak(Y, b, w)


def _held(equation: str, domain: Domain, exact: Callable[..., Array], end: float) -> Problem:
    """Return a problem in time that begins with its steady state, which must stay."""

    def kept(x: Array, y: Array, t: float) -> Array:
        return exact(x, y)

    return Problem(equation, domain, (0, end), exact, Dirichlet(exact), exact=kept)


def held_spot(rng: Draw) -> Problem:
    """Heat a disk with a hard edge for a long time."""
    (a, b), radius = _inside(rng), scaled(rng, -2, -0.7)

    def exact(x: Array, y: Array) -> Array:
        r = np.hypot(x - a, y - b)
        inside = (1.0 - (r / radius) ** 2) / 4.0 - np.log(radius) / 2.0
        return np.where(r < radius, inside, -np.log(np.maximum(r, radius)) / 2.0)

    spot = f"where((x - {a})**2 + (y - {b})**2 < {radius}**2, 1/{radius}**2, 0)"
    return _held(f"u_t = lap(u) + {spot}", _any(rng), exact, scaled(rng, -1.5, 0.5))


def held_inclusion(rng: Draw) -> Problem:
    """Keep an even flux around a small disk of another conductivity."""
    (a, b), radius, k = _inside(rng), scaled(rng, -2, -0.7), scaled(rng, -2, 2)

    def exact(x: Array, y: Array) -> Array:
        r = np.hypot(x - a, y - b)
        outside = 1.0 + (1.0 - k) / (1.0 + k) * (radius / np.maximum(r, radius)) ** 2
        return (x - a) * np.where(r < radius, 2.0 / (1.0 + k), outside)

    text = f"u_t = div(where((x - {a})**2 + (y - {b})**2 < {radius}**2, {k}, 1)*grad(u))"
    return _held(text, (_SQUARE, _DISK)[int(rng.integers(2))], exact, scaled(rng, -1.5, 0))


def region_inclusion(rng: Draw) -> Problem:
    """Give the conductivity of a small disk by a region."""
    (a, b), radius, k = _inside(rng), scaled(rng, -2.5, -0.5), scaled(rng, -3, 3)

    def exact(x: Array, y: Array) -> Array:
        r = np.hypot(x - a, y - b)
        outside = 1.0 + (1.0 - k) / (1.0 + k) * (radius / np.maximum(r, radius)) ** 2
        return (x - a) * np.where(r < radius, 2.0 / (1.0 + k), outside)

    return Problem(
        "div(k*grad(u)) = 0",
        (_SQUARE, _DISK)[int(rng.integers(2))],
        boundary=Dirichlet(exact),
        regions={"spot": Disk((a, b), radius), "around": "rest"},
        parameters={"k": {"spot": k, "around": 1.0}},
        exact=exact,
    )


def still_dip(rng: Draw) -> Problem:
    """Hide a dip of a diffusivity in a shape; its source is as narrow."""
    (a, b), w, depth = _inside(rng), scaled(rng, -2, -0.5), drawn(rng, 0.3, 0.95)
    k, exact = 1 - depth * _spot(a, b, w), X + sp.sin(PI * Y) / 2
    f = sum(sp.diff(k * sp.diff(exact, s), s) for s in (X, Y))
    parameters = {"k": k, "f": f, "g": exact}
    return Problem("div(k*grad(u)) = f", _any(rng), boundary="u = g", parameters=parameters, exact=exact)


def still_bump(rng: Draw) -> Problem:
    """Hide a narrow bump, in a nonlinear equation."""
    (a, b), w = _inside(rng), scaled(rng, -1.7, -0.5)
    exact = drawn(rng, 0.5, 2) * _spot(a, b, w) + sp.cos(X + Y)
    parameters = {"f": lap(exact) - exact**3, "g": exact}
    return Problem("lap(u) = u**3 + f", _any(rng), boundary="u = g", parameters=parameters, exact=exact)


def still_plate(rng: Draw) -> Problem:
    """Load a plate in a narrow place."""
    (a, b), w = _inside(rng), scaled(rng, -1, -0.3)
    exact = _spot(a, b, w) + X * Y
    slope = X * sp.diff(exact, X) + Y * sp.diff(exact, Y)
    parameters = {"f": lap(lap(exact)), "g": exact, "h": slope}
    return Problem("lap(lap(u)) = f", _DISK, boundary=["u = g", "u_n = h"], parameters=parameters, exact=exact)


def still_body(rng: Draw) -> Problem:
    """Push an elastic body in a narrow place."""
    (a, b), w, lame = _inside(rng), scaled(rng, -1.5, -0.3), drawn(rng, 0.5, 20)
    u, v = _spot(a, b, w) + X * Y, sp.sin(X) * _spot(b, a, w)
    both = sp.diff(u, X) + sp.diff(v, Y)
    parameters = {"p": lap(u) + lame * sp.diff(both, X), "q": lap(v) + lame * sp.diff(both, Y), "g": u, "h": v}
    equations = [f"lap(u) + {lame}*(u_xx + v_xy) = p", f"lap(v) + {lame}*(u_xy + v_yy) = q"]
    return Problem(equations, _any(rng), boundary=["u = g", "v = h"], parameters=parameters, exact=[u, v])


def still_slopes(rng: Draw) -> Problem:
    """Give slopes around a narrow source, so that nothing but the balance fixes the rest."""
    (a, b), w = _inside(rng), scaled(rng, -1.5, -0.3)
    exact = _spot(a, b, w) + X**2 - Y
    f, slope = lap(exact) - exact, X * sp.diff(exact, X) + Y * sp.diff(exact, Y)
    return Problem("lap(u) - u = f", _DISK, boundary="u_n = g", parameters={"f": f, "g": slope}, exact=exact)


def pierced(rng: Draw) -> Problem:
    """Make small holes in a square, around which a potential falls."""
    (a, b), radius = _inside(rng), scaled(rng, -2.5, -0.8)
    c, d = drawn(rng, 0.2, 0.6), drawn(rng, 0.2, 0.6)
    exact = sp.log((X - a) ** 2 + (Y - b) ** 2) - sp.log((X - c) ** 2 + (Y - d) ** 2) / 2 + X
    domain = _SQUARE - Disk((a, b), radius) - Disk((c, d), radius)
    return Problem("lap(u) = 0", domain, boundary="u = g", parameters={"g": exact}, exact=exact)


def leaning_layer(rng: Draw) -> Problem:
    """Let a layer lean against the boundary of a disk or a room."""
    n = scaled(rng, -2, -0.5)
    exact = sp.exp((X - 1) / n) + sp.cos(Y)
    f = n**2 * lap(exact) - exact
    return Problem(f"{n}**2*lap(u) - u = f", _any(rng), boundary="u = g", parameters={"f": f, "g": exact}, exact=exact)


def flashing_shape(rng: Draw) -> Problem:
    """Let a narrow spot flash up for a moment in a shape."""
    (a, b), w, moment, short = _inside(rng), scaled(rng, -1.2, -0.4), drawn(rng, 0.2, 0.8), scaled(rng, -2.5, -1)
    exact = _spot(a, b, w) * sp.exp(-(((T - moment) / short) ** 2)) + X * Y
    f = sp.diff(exact, T) - lap(exact) / 10
    given = {"f": f, "g": exact}
    return Problem("u_t = 0.1*lap(u) + f", _any(rng), (0, 1), exact.subs(T, 0), "u = g", parameters=given, exact=exact)


SHAPES = (
    held_spot,
    held_inclusion,
    region_inclusion,
    still_dip,
    still_bump,
    still_plate,
    still_body,
    still_slopes,
    pierced,
    leaning_layer,
    flashing_shape,
)
