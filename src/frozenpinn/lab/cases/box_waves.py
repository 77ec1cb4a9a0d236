"""Diffusion with a direction, waves in space, and quantum waves: linear ones in closed form.

heat-anisotropic-2d, on [0, 1]² with u = 0 on its sides, or on [0, 2π]² periodic:

    uₜ = uₓₓ + 0.01 u_yy,   or   uₜ = uₓₓ + 1.6 u_xy + 0.8 u_yy

Ten waves in y live as long as one in x; or the fast direction lies across the axes.

wave-3d, on [0, 1]³ with u = 0 on its sides, or on [0, 2π]³ periodic with damping:

    uₜₜ = Δu,   or   uₜₜ = Δu − 0.2 uₜ

Standing waves of a room; or a decaying one in a room without walls.

schroedinger-2d, on [0, 2π]² periodic, for ψ = u + iv:

    i ψₜ = −½ Δψ + V ψ + β |ψ|² ψ

With β = 1 and V = 0 modulated waves exchange energy; with β = 0 and V = 2 + cos x + cos y a packet swings in a well. The
number of particles, ∫|ψ|², does not change. The reference is a Fourier method with a complex field.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from frozenpinn.adaptivity.settings import Settings
from frozenpinn.geometry import Box
from frozenpinn.lab.cases.case import Case, Variant
from frozenpinn.lab.references import BoxReference
from frozenpinn.lab.references.box import Values
from frozenpinn.statement.problem import Problem

Array = np.ndarray
PI = np.pi
OUTPUTS = 99  #: intervals between the times at which errors are measured; steps of references divide them


def heat(oblique: bool = False) -> Problem:
    """Return diffusion that is faster in one direction than in another."""
    if oblique:
        return Problem(
            "u_t = u_xx + 1.6*u_xy + 0.8*u_yy",
            domain=Box([0, 0], [2 * PI, 2 * PI], periodic=True),
            time=(0, 0.5),
            initial="cos(x - y) + sin(3*x - 4*y)/2 + cos(2*x + y)/4",
            exact="exp(-0.2*t)*cos(x - y) + exp(-2.6*t)*sin(3*x - 4*y)/2 + exp(-8*t)*cos(2*x + y)/4",
        )
    return Problem(
        "u_t = u_xx + 0.01*u_yy",
        domain=Box([0, 0], [1, 1]),
        time=(0, 0.2),
        initial="sin(pi*x)*sin(pi*y) + sin(pi*x)*sin(10*pi*y)/2",
        boundary="u = 0",
        exact="exp(-1.01*pi**2*t)*sin(pi*x)*sin(pi*y) + exp(-2*pi**2*t)*sin(pi*x)*sin(10*pi*y)/2",
    )


def wave(walls: bool = True) -> Problem:
    """Return sound in a room with walls, or damped and without."""
    if walls:
        one, two = "sin(pi*x)*sin(pi*y)*sin(pi*z)", "sin(2*pi*x)*sin(pi*y)*sin(3*pi*z)/2"
        return Problem(
            "u_tt = lap(u)",
            domain=Box([0] * 3, [1] * 3),
            time=(0, 2),
            initial=f"{one} + {two}",
            initial_velocity=0,
            boundary="u = 0",
            exact=f"cos(sqrt(3)*pi*t)*{one} + cos(sqrt(14)*pi*t)*{two}",
        )
    one, two = "sin(x + y - z)", "cos(2*x - y + 2*z)"
    return Problem(
        "u_tt = lap(u) - 0.2*u_t",
        domain=Box([0] * 3, [2 * PI] * 3, periodic=True),
        time=(0, 4),
        initial=f"{one} + {two}",
        initial_velocity=f"-0.1*{one} - 0.1*{two}",
        exact=f"exp(-0.1*t)*(cos(sqrt(2.99)*t)*{one} + cos(sqrt(8.99)*t)*{two})",
    )


def _packet(x: Array, y: Array) -> Array:
    return np.asarray(np.exp(2 * (np.cos(x - PI) + np.cos(y - PI) - 2) + 2j * x))


def _modulated(x: Array, y: Array) -> Array:
    return np.asarray(1 + 0.5 * np.sin(x) * np.cos(y) + 0.3j * np.cos(2 * y))


@cache
def schroedinger_reference(well: bool, end: float, modes: int = 64, substeps: int = 16) -> BoxReference:
    """Return the Fourier solution, one complex field."""

    def rest(w: Values) -> list[Array]:
        (psi,), (x, y) = w.fields, w.x
        return [-1j * ((2 + np.cos(x) + np.cos(y)) * psi if well else np.abs(psi) ** 2 * psi)]

    return BoxReference(
        (0, 0),
        (2 * PI, 2 * PI),
        [lambda dx, dy: 0.5j * (dx**2 + dy**2)],
        [_packet if well else _modulated],
        rest,
        modes=modes,
        step=end / (OUTPUTS * substeps),
    )


def schroedinger(well: bool = False, end: float = 2.0) -> Problem:
    """Return a field with cubic interaction, or a packet in a well whose lowest point is (π, π)."""
    reference = schroedinger_reference(well, end)
    potential = "(2 + cos(x) + cos(y))" if well else "(u**2 + v**2)"
    size = "exp(2*(cos(x - pi) + cos(y - pi) - 2))"
    initial = {"u": f"{size}*cos(2*x)", "v": f"{size}*sin(2*x)"}
    return Problem(
        [f"u_t = -lap(v)/2 + {potential}*v", f"v_t = lap(u)/2 - {potential}*u"],
        domain=Box([0, 0], [2 * PI, 2 * PI], periodic=True),
        time=(0, end),
        initial=initial if well else {"u": "1 + 0.5*sin(x)*cos(y)", "v": "0.3*cos(2*y)"},
        exact={"u": reference.field(0), "v": reference.field(0, np.imag)},
    )


def _widths(high: int, low: int) -> dict[tuple[str, str], Settings]:
    return {("best", "high"): Settings(width=high), ("best", "low"): Settings(width=low, rtol=1e-4)}


CASES = (
    Case(
        "heat-anisotropic-2d",
        "diffusion that is faster in one direction",
        heat,
        _widths(40, 30),
        variants=(Variant("along the axes"), Variant("oblique", {"oblique": True})),
    ),
    Case(
        "wave-3d",
        "waves in a room",
        wave,
        _widths(20, 14),
        variants=(Variant("walls"), Variant("damped", {"walls": False})),
    ),
    Case(
        "schroedinger-2d",
        "quantum waves in the plane as two real fields",
        schroedinger,
        _widths(40, 24),
        variants=(Variant("interaction"), Variant("well", {"well": True})),
    ),
)
