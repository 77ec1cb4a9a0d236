"""Periodic intervals: what is narrow, sudden or bent, in equations that waves or neurons that follow may solve."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.nasty.parts import PI, RING, Draw, T, X, drawn, forcing, scaled


def _ring(equation: str, right: Callable[[sp.Expr], sp.Expr], exact: sp.Expr) -> Problem:
    """Return a problem whose source makes a solution exact."""
    f = forcing(exact, right)
    return Problem(f"u_t = {equation} + f", RING, (0, 1), exact.subs(T, 0), None, parameters={"f": f}, exact=exact)


def _advected(u: sp.Expr) -> sp.Expr:
    return -u * sp.diff(u, X)


def ring_bump(rng: Draw) -> Problem:
    """Carry a narrow bump around, dispersed."""
    n, k, a, c = scaled(rng, -5, -3), scaled(rng, 1, 3.3), drawn(rng, 0.1, 0.9), drawn(rng, -1, 1)
    exact = 1 / (1 + k * sp.sin(PI * (X - a - c * T)) ** 2)
    return _ring(f"-{n}*u_xxx - u*u_x", lambda u: _advected(u) - n * sp.diff(u, X, 3), exact)


def ring_flash(rng: Draw) -> Problem:
    """Let a narrow bump flash up for a moment, diffused."""
    n, k, w = scaled(rng, -3, -1.3), scaled(rng, 1, 2.8), scaled(rng, -3, -1)
    a, moment = drawn(rng, 0.1, 0.9), drawn(rng, 0.2, 0.8)
    flash = sp.sech((T - moment) / w) ** 2 / (1 + k * sp.sin(PI * (X - a)) ** 2)
    return _ring(f"{n}*u_xx - u*u_x", lambda u: _advected(u) + n * sp.diff(u, X, 2), sp.sin(2 * PI * X) + flash)


def ring_ramp(rng: Draw) -> Problem:
    """Change an amplitude suddenly, beside growth and saturation."""
    n, moment, w = scaled(rng, -3, -1), drawn(rng, 0.2, 0.8), scaled(rng, -3.5, -1)
    exact = (1 + sp.erf((T - moment) / w) / 2) * sp.cos(2 * PI * X) + sp.sin(4 * PI * X) / 3
    return _ring(f"{n}*u_xx + 4*u - 4*u^3", lambda u: n * sp.diff(u, X, 2) + 4 * u - 4 * u**3, exact)


def ring_corner(rng: Draw) -> Problem:
    """Let a rounded corner grow, smoothed by a fourth derivative."""
    n, a, w = scaled(rng, -5, -3.5), drawn(rng, 0, 1), scaled(rng, -2, -1)
    exact = sp.sqrt(w**2 + sp.sin(PI * (X - a)) ** 2) * (1 + T)
    return _ring(f"-{n}*u_xxxx - u*u_x", lambda u: _advected(u) - n * sp.diff(u, X, 4), exact)


RINGS = (ring_bump, ring_flash, ring_ramp, ring_corner)
