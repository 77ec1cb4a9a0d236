"""Diffusion with a direction, waves in space, and quantum waves: linear ones in closed form.

heat-anisotropic-2d, on [0, 1]² with u = 0 on its sides, or on [−2, 2]² periodic:

    uₜ = uₓₓ + 0.01 u_yy,   or   uₜ = 0.02 uₓₓ + 0.032 u_xy + 0.016 u_yy

Ten waves in y live as long as one in x; or a Gaussian spreads fastest across the axes, and nothing of it reaches the
sides.

wave-3d, on [0, 1]³ with u = 0 on its sides, or on [0, 2π]³ periodic:

    uₜₜ = Δu,   or   uₜₜ = Δu − 0.2 uₜ

Standing waves of a room with walls; without walls, decaying ones, and two pulses that cross each other.

schroedinger-2d, on [0, 2π]² periodic, for ψ = u + iv:

    i ψₜ = −½ Δψ + V ψ + β |ψ|² ψ

With β = 2 and V = 0 modulated waves exchange energy; with β = 0 and V = 4 (2 + cos x + cos y) a packet swings in a
well. The number of particles, ∫|ψ|², does not change. The reference is a Fourier method with a complex field.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from frozenpinn.geometry import Box
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.box_common import OUTPUTS, widths
from frozenpinn_lab.cases.case import Case, Variant
from frozenpinn_lab.references import BoxReference
from frozenpinn_lab.references.box import Values

Array = np.ndarray
PI = np.pi


def heat(oblique: bool = False) -> Problem:
    """Return diffusion that is faster in one direction than in another."""
    if oblique:
        xx, xy, yy = "(s + 0.04*t)", "(0.032*t)", "(s + 0.032*t)"
        determinant = f"({xx}*{yy} - {xy}**2)"
        return Problem(
            "u_t = 0.02*u_xx + 0.032*u_xy + 0.016*u_yy",
            domain=Box([-2, -2], [2, 2], periodic=True),
            time=(0, 0.5),
            initial="exp(-(x**2 + y**2)/(2*s))",
            parameters={"s": 0.01},
            exact=f"s/sqrt{determinant}*exp(-({yy}*x**2 - 2*{xy}*x*y + {xx}*y**2)/(2*{determinant}))",
        )
    return Problem(
        "u_t = u_xx + 0.01*u_yy",
        domain=Box([0, 0], [1, 1]),
        time=(0, 0.2),
        initial="sin(pi*x)*sin(pi*y) + sin(pi*x)*sin(10*pi*y)/2",
        boundary="u = 0",
        exact="exp(-1.01*pi**2*t)*sin(pi*x)*sin(pi*y) + exp(-2*pi**2*t)*sin(pi*x)*sin(10*pi*y)/2",
    )


def wave(kind: str = "walls") -> Problem:
    """Return sound in a room with walls, damped sound without, or two pulses that cross."""
    periodic = Box([0] * 3, [2 * PI] * 3, periodic=True)
    if kind == "walls":
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
    if kind == "damped":
        one, two = "sin(x + y - z)", "cos(2*x - y + 2*z)"
        return Problem(
            "u_tt = lap(u) - 0.2*u_t",
            domain=periodic,
            time=(0, 4),
            initial=f"{one} + {two}",
            initial_velocity=f"-0.1*{one} - 0.1*{two}",
            exact=f"exp(-0.1*t)*(cos(sqrt(2.99)*t)*{one} + cos(sqrt(8.99)*t)*{two})",
        )
    one, two = "x + y - z - sqrt(3)*t", "x - y + sqrt(2)*t"
    before, after = (text.partition(" - sqrt")[0].partition(" + sqrt")[0] for text in (one, two))
    return Problem(
        "u_tt = lap(u)",
        domain=periodic,
        time=(0, 4),
        initial=f"exp(3*cos({before}) - 3) + exp(3*cos({after}) - 3)",
        initial_velocity=(
            f"3*sqrt(3)*sin({before})*exp(3*cos({before}) - 3) - 3*sqrt(2)*sin({after})*exp(3*cos({after}) - 3)"
        ),
        exact=f"exp(3*cos({one}) - 3) + exp(3*cos({two}) - 3)",
    )


def _packet(x: Array, y: Array) -> Array:
    return np.asarray(np.exp(5 * (np.cos(x - PI) + np.cos(y - PI) - 2) + 4j * x))


def _modulated(x: Array, y: Array) -> Array:
    return np.asarray(1 + 0.5 * np.sin(3 * x) * np.cos(y) + 0.3j * np.cos(2 * y + x))


@cache
def schroedinger_reference(well: bool, end: float, modes: int = 72, substeps: int = 18) -> BoxReference:
    """Return the Fourier solution, one complex field."""

    def rest(w: Values) -> list[Array]:
        (psi,), (x, y) = w.fields, w.x
        return [-1j * (4 * (np.cos(x) + np.cos(y)) * psi if well else 2 * np.abs(psi) ** 2 * psi)]

    return BoxReference(
        (0, 0),
        (2 * PI, 2 * PI),
        [lambda dx, dy: 0.5j * (dx**2 + dy**2) - (8j if well else 0)],
        [_packet if well else _modulated],
        rest,
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
    )


def schroedinger(well: bool = False, end: float = 2.0) -> Problem:
    """Return a field with cubic interaction, or a packet in a well whose lowest point is (π, π)."""
    reference = schroedinger_reference(well, end)
    potential = "4*(2 + cos(x) + cos(y))" if well else "2*(u**2 + v**2)"
    size = "exp(5*(cos(x - pi) + cos(y - pi) - 2))"
    initial = {"u": f"{size}*cos(4*x)", "v": f"{size}*sin(4*x)"}
    return Problem(
        [f"u_t = -lap(v)/2 + {potential}*v", f"v_t = lap(u)/2 - {potential}*u"],
        domain=Box([0, 0], [2 * PI, 2 * PI], periodic=True),
        time=(0, end),
        initial=initial if well else {"u": "1 + 0.5*sin(3*x)*cos(y)", "v": "0.3*cos(2*y + x)"},
        exact={"u": reference.field(0), "v": reference.field(0, np.imag)},
    )


CASES = (
    Case(
        "heat-anisotropic-2d",
        "diffusion that is faster in one direction",
        heat,
        widths(24, 20),
        variants=(
            Variant("along the axes"),
            Variant(
                "oblique",
                {"oblique": True},
                peers={"spectral": {"modes": 64}, "py-pde": {"points": 96}},
                settings=widths(64, 44),
            ),
        ),
    ),
    Case(
        "wave-3d",
        "waves in a room",
        wave,
        widths(20, 12),
        variants=(
            Variant("walls"),
            Variant("damped", {"kind": "damped"}, settings=widths(12, 12)),
            Variant("pulses", {"kind": "pulses"}, peers={"spectral": {"modes": 22}}, settings=widths(20, 12)),
        ),
    ),
    Case(
        "schroedinger-2d",
        "quantum waves in the plane as two real fields",
        schroedinger,
        widths(32, 20),
        variants=(
            Variant("interaction"),
            Variant("well", {"well": True}, peers={"spectral": {"modes": 36, "step": 0.005}}, settings=widths(32, 24)),
        ),
    ),
)
