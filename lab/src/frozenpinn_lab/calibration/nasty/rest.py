"""Static problems: narrow potentials, hard edges, small inclusions, layers, corners, tiny holes, short waves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp
from scipy.special import j0

from frozenpinn.geometry import Ball, Box, Domain, Interval, Polygon
from frozenpinn.statement.conditions import Dirichlet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.nasty.parts import (
    LINE,
    PI,
    RING,
    Array,
    Draw,
    X,
    Y,
    drawn,
    kink,
    lap,
    passed,
    peak,
    place,
    scaled,
)

_SQUARE, _DISK, _BALL = Box([0, 0], [1, 1]), Ball([0, 0], 1.0), Ball([0, 0, 0], 1.0)
_ROOM = Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
_Z = sp.Symbol("z", real=True)


def _known(equation: str, domain: Domain, exact: sp.Expr, condition: str = "u = g", **parameters: sp.Expr) -> Problem:
    """Return a problem with boundary data of its solution."""
    return Problem(equation, domain, boundary=condition, parameters={"g": exact, **parameters}, exact=exact)


def _given(equation: str, domain: Domain, exact: Callable[..., Array]) -> Problem:
    return Problem(equation, domain, boundary=Dirichlet(exact), exact=exact)


# ---- narrow formulas ----------------------------------------------------------------------------------


def still_potential(rng: Draw) -> Problem:
    """Hide a potential between the points of an interval; the solution has a corner there."""
    exact = 1 + drawn(rng, 0.5, 2) * kink(X, place(rng), scaled(rng, -4, -1.5))
    return _known("u_xx - V*u = 0", LINE, exact, V=sp.diff(exact, X, 2) / exact)


def still_barrier(rng: Draw) -> Problem:
    """Hide a barrier in a diffusivity on an interval, over which most of the solution falls."""
    a, w, height = place(rng), scaled(rng, -4, -1.5), drawn(rng, 0.5, 3)
    exact = X + height * passed(X, a, w)
    return _known("dx(u_x/K) = 0", LINE, exact, K=1 + height / w * peak(X, a, w))


def _well(rng: Draw, domain: Domain, centre: tuple[float, ...], narrowest: float) -> Problem:
    symbols, w = (X, Y, _Z)[: len(centre)], scaled(rng, narrowest, -1)
    square = sum((s - a) ** 2 for s, a in zip(symbols, centre, strict=True))
    spot = sp.log(1 + square / w**2) if len(centre) == 2 else -w / sp.sqrt(square + w**2)
    exact = 2 + drawn(rng, 0.1, 0.3) * spot
    potential = sum(sp.diff(exact, s, 2) for s in symbols) / exact
    return _known("lap(u) - V*u = 0", domain, exact, V=sp.simplify(potential))


def still_well_on_disk(rng: Draw) -> Problem:
    """Hide a spot of a potential in a disk."""
    return _well(rng, _DISK, (drawn(rng, -0.5, 0.5), drawn(rng, -0.5, 0.5)), -2.5)


def still_well_in_square(rng: Draw) -> Problem:
    """Hide a spot of a potential in a square."""
    return _well(rng, _SQUARE, (place(rng), place(rng)), -2.5)


def still_well_in_room(rng: Draw) -> Problem:
    """Hide a spot of a potential in an L-shaped room."""
    return _well(rng, _ROOM, (drawn(rng, 0.2, 0.8), drawn(rng, 0.2, 1.8)), -2.5)


def still_well_in_ball(rng: Draw) -> Problem:
    """Hide a spot of a potential in a ball."""
    return _well(rng, _BALL, (drawn(rng, -0.4, 0.4), drawn(rng, -0.4, 0.4), drawn(rng, -0.4, 0.4)), -1.7)


def still_bending(rng: Draw) -> Problem:
    """Hide a load on a beam."""
    exact = peak(X, place(rng), scaled(rng, -2.5, -1)) + sp.sin(PI * X)
    f = sp.diff(exact, X, 4)
    conditions = {side: ["u = g", "u_x = h"] for side in ("left", "right")}
    parameters = {"f": f, "g": exact, "h": sp.diff(exact, X)}
    return Problem("u_xxxx = f", LINE, boundary=conditions, parameters=parameters, exact=exact)


def still_ring(rng: Draw) -> Problem:
    """Put a narrow source beside the seam of a periodic interval."""
    n, k, a = scaled(rng, -1, 1), scaled(rng, 1, 3.5), drawn(rng, -0.05, 0.05)
    exact = 1 / (1 + k * sp.sin(PI * (X - a)) ** 2)
    return Problem("k*u_xx - u = f", RING, parameters={"k": n, "f": n * sp.diff(exact, X, 2) - exact}, exact=exact)


def still_function(rng: Draw) -> Problem:
    """Hide a peak of a source that is a Python function."""
    a, w = place(rng), scaled(rng, -2.3, -1)
    exact = peak(X, a, w) + X
    f = sp.lambdify(X, sp.diff(exact, X, 2) - exact, "numpy")
    return Problem("u_xx - u = f(x)", LINE, boundary="u = g", parameters={"f": f, "g": exact}, exact=exact)


# ---- hard edges -------------------------------------------------------------------------------------------


def _hot(domain: Domain, a: float, b: float, radius: float) -> Problem:
    """Return a source on a disk of any size, with the potential of that disk as the solution."""

    def exact(x: Array, y: Array) -> Array:
        r = np.hypot(x - a, y - b)
        inside = (1.0 - (r / radius) ** 2) / 4.0 - np.log(radius) / 2.0
        return np.where(r < radius, inside, -np.log(np.maximum(r, radius)) / 2.0)

    spot = f"where((x - {a})**2 + (y - {b})**2 < {radius}**2, 1/{radius}**2, 0)"
    return _given(f"-lap(u) = {spot}", domain, exact)


def hard_spot_on_disk(rng: Draw) -> Problem:
    """Heat a small disk in a disk."""
    return _hot(_DISK, drawn(rng, -0.3, 0.3), drawn(rng, -0.3, 0.3), scaled(rng, -3, -0.7))


def hard_spot_in_square(rng: Draw) -> Problem:
    """Heat a small disk in a square."""
    return _hot(_SQUARE, drawn(rng, 0.3, 0.7), drawn(rng, 0.3, 0.7), scaled(rng, -3, -0.7))


def hard_spot_in_room(rng: Draw) -> Problem:
    """Heat a small disk in an L-shaped room."""
    return _hot(_ROOM, drawn(rng, 0.3, 0.7), drawn(rng, 0.3, 0.7), scaled(rng, -3, -0.7))


def hard_strip(rng: Draw) -> Problem:
    """Heat a short part of a rod."""
    a, w = place(rng), scaled(rng, -4, -1)

    def exact(x: Array) -> Array:
        h = np.abs(x - a)
        own = np.where(h < w, -(h**2) / (2 * w), -(h - w / 2))
        left, right = w / 2 - a, w / 2 - (1 - a)
        return own - left - (right - left) * x

    return _given(f"-u_xx = where(abs(x - {a}) < {w}, 1/{w}, 0)", LINE, exact)


def small_inclusion(rng: Draw) -> Problem:
    """Put a small disk of another conductivity into an even field."""
    a, b, radius, k = drawn(rng, -0.4, 0.4), drawn(rng, -0.4, 0.4), scaled(rng, -2.5, -0.5), scaled(rng, -3, 3)

    def exact(x: Array, y: Array) -> Array:
        r = np.hypot(x - a, y - b)
        outside = 1.0 + (1.0 - k) / (1.0 + k) * (radius / np.maximum(r, radius)) ** 2
        return (x - a) * np.where(r < radius, 2.0 / (1.0 + k), outside)

    domain = (_DISK, Box([-1, -1], [1, 1]))[int(rng.integers(2))]
    return _given(f"div(where((x - {a})**2 + (y - {b})**2 < {radius}**2, {k}, 1)*grad(u)) = 0", domain, exact)


def four_quadrants(rng: Draw) -> Problem:
    """Let two conductivities meet at a point in four quadrants (Kellogg)."""
    power = drawn(rng, 0.15, 0.8)
    contrast, quarter = float(np.tan(np.pi * power / 4) ** -2), np.pi / 4
    shift = quarter - np.pi / (2 * power)

    def exact(x: Array, y: Array) -> Array:
        r, angle = np.hypot(x, y), np.mod(np.arctan2(y, x), 2 * np.pi)
        half = np.pi / 2
        parts = [
            np.cos((half - shift) * power) * np.cos((angle - half + quarter) * power),
            np.cos(quarter * power) * np.cos((angle - np.pi + shift) * power),
            np.cos(shift * power) * np.cos((angle - np.pi - quarter) * power),
            np.cos((half - quarter) * power) * np.cos((angle - 3 * half - shift) * power),
        ]
        return r**power * np.select([angle < half, angle < np.pi, angle < 3 * half], parts[:3], parts[3])

    return _given(f"div(where(x*y > 0, {contrast:.17g}, 1)*grad(u)) = 0", Box([-1, -1], [1, 1]), exact)


# ---- corners, holes and layers ---------------------------------------------------------------------------


def _power(power: float, wave: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    def exact(x: Array, y: Array) -> Array:
        return np.hypot(x, y) ** power * wave(power * np.mod(np.arctan2(y, x), 2 * np.pi))

    return exact


def _sector(opening: float) -> Polygon:
    angles = np.linspace(0.0, opening, 11)
    return Polygon([(0.0, 0.0), *zip(np.cos(angles), np.sin(angles), strict=True)])


def pointed_corner(rng: Draw) -> Problem:
    """Open a corner by more than π, with a weak singularity or a strong one."""
    opening = drawn(rng, 1.1, 1.95) * np.pi
    return _given("lap(u) = 0", _sector(opening), _power(np.pi / opening, np.sin))


def foreign_corner(rng: Draw) -> Problem:
    """Prescribe a singularity that the corner does not have by itself."""
    opening = drawn(rng, 1.1, 1.95) * np.pi
    return _given("lap(u) = 0", _sector(opening), _power(drawn(rng, 0.2, 0.9), np.sin))


def half_slit(rng: Draw) -> Problem:
    """Change from a value to a slope in the middle of an edge (Motz)."""
    exact, a = _power(0.5, np.cos), drawn(rng, -0.3, 0.3)

    def moved(x: Array, y: Array) -> Array:
        return exact(x - a, y)

    conditions = {side: Dirichlet(moved) for side in ("left", "right", "top")}
    bottom = {"bottom": f"where(x < {a}, 1, 0)*u + where(x < {a}, 0, 1)*u_n = 0"}
    return Problem("lap(u) = 0", Box([-1, 0], [1, 1]), boundary={**conditions, **bottom}, exact=moved)


def tiny_hole(rng: Draw) -> Problem:
    """Let a logarithm or a power begin at a tiny distance."""
    start, power = scaled(rng, -7, -2), (0.0, drawn(rng, 0.2, 2))[int(rng.integers(2))]
    exact = sp.log(X) if power == 0 else X**power
    return _known(f"x**2*u_xx + x*u_x - {power}**2*u = 0", Interval(start, 1), exact)


def tiny_hole_in_plane(rng: Draw) -> Problem:
    """Let a logarithm begin at a tiny distance in the plane, in polar coordinates that are written out."""
    start = scaled(rng, -6, -1.5)
    exact = sp.log(X) + (X - start**2 / X) * sp.cos(Y) / (1 - start**2)
    domain = Box([start, 0], [1, 2 * np.pi], periodic=(False, True))
    return _known("x**2*u_xx + x*u_x + u_yy = 0", domain, exact)


def turned(rng: Draw) -> Problem:
    """Turn a velocity round inside, beside little diffusion."""
    n, a = scaled(rng, -9, -2), drawn(rng, -0.5, 0.5)
    exact = sp.erf((X - a) / sp.sqrt(n))
    return _known(f"{n}*u_xx + 2*(x - {a})*u_x = 0", Interval(-1, 1), exact)


def still_layer(rng: Draw) -> Problem:
    """Blow against a wall."""
    n = scaled(rng, -2.8, -1)
    exact = X - sp.exp((X - 1) / n) + sp.sin(3 * X)
    return _known(f"u_x - {n}*u_xx = f", LINE, exact, f=sp.diff(exact, X) - n * sp.diff(exact, X, 2))


def still_layer_in_plane(rng: Draw) -> Problem:
    """Let a field fall towards one side of a square."""
    n = scaled(rng, -4, -1)
    exact = (1 - sp.exp(-X / sp.sqrt(n))) * sp.cos(2 * Y)
    return _known(f"{n}*lap(u) - u = f", _SQUARE, exact, f=sp.simplify(n * lap(exact) - exact))


def still_front(rng: Draw) -> Problem:
    """Let a front stand oblique, nonlinear."""
    n, slope = scaled(rng, -2, -0.7), drawn(rng, 0.3, 2)
    exact = sp.tanh((X + slope * Y - 0.6 - slope / 3) / (n * np.sqrt(2.0 * (1 + slope**2))))
    return _known(f"{n}**2*lap(u) = u**3 - u", (_SQUARE, _DISK)[int(rng.integers(2))], exact)


# ---- short waves, many dimensions, offsets --------------------------------------------------------------


def short_waves(rng: Draw) -> Problem:
    """Radiate from outside a disk."""
    k, angle, away = drawn(rng, 15, 70), drawn(rng, 0, 6), drawn(rng, 1.2, 2)

    def exact(x: Array, y: Array) -> Array:
        return np.asarray(j0(k * np.hypot(x - away * np.cos(angle), y - away * np.sin(angle))))

    return _given(f"lap(u) + {k}**2*u = 0", _DISK, exact)


def short_waves_in_square(rng: Draw) -> Problem:
    """Let waves cross a square."""
    k, angle = drawn(rng, 15, 90), drawn(rng, 0, 6)
    return _known(f"lap(u) + {k}**2*u = 0", _SQUARE, sp.cos(k * (np.cos(angle) * X + np.sin(angle) * Y) + 1))


def many_dimensions(rng: Draw) -> Problem:
    """Give slopes on a ball in four or five dimensions."""
    domain = Ball([0.0] * int(rng.integers(4, 6)), 1.0)
    x = sp.symbols(" ".join(domain.coordinates), real=True)
    exact = sp.exp(drawn(rng, 0.3, 1) * x[0]) * sp.cos(x[1] + x[2]) + sp.sin(x[2] * x[3])
    f = sum(sp.diff(exact, s, 2) for s in x) - exact
    slope = sum(s * sp.diff(exact, s) for s in x)
    parameters = {"f": f, "g": slope}
    return Problem("lap(u) - u = f", domain, boundary="u_n = g", parameters=parameters, exact=exact)


def still_offset(rng: Draw) -> Problem:
    """Add a large number to what varies little."""
    exact = scaled(rng, 2, 6) + sp.exp(X * drawn(rng, 0.5, 2)) * sp.sin(3 * Y)
    return _known("lap(u) = f", _DISK, exact, f=lap(exact))


REST = (
    still_potential,
    still_barrier,
    still_well_on_disk,
    still_well_in_square,
    still_well_in_room,
    still_well_in_ball,
    still_bending,
    still_ring,
    still_function,
    hard_spot_on_disk,
    hard_spot_in_square,
    hard_spot_in_room,
    hard_strip,
    small_inclusion,
    four_quadrants,
    pointed_corner,
    foreign_corner,
    half_slit,
    tiny_hole,
    tiny_hole_in_plane,
    turned,
    still_layer,
    still_layer_in_plane,
    still_front,
    short_waves,
    short_waves_in_square,
    many_dimensions,
    still_offset,
)
