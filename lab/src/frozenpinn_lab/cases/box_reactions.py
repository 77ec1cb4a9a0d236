"""Reactions and patterns on boxes in two and three dimensions.

allen-cahn-2d, allen-cahn-3d, on [−1, 1]^d, periodic or without flux:

    uₜ = ε² Δu + u − u³

Two phases, u ≈ ±1, separate within a time of about 3; the layer between them, of width √2 ε, then moves by its
curvature.

brusselator-2d, on [0, 1]² without flux:

    uₜ = D Δu + a − (b + 1) u + u² v,   vₜ = D Δv + b u − u² v

For b < 1 + a² all decays to (a, b/a) in waves; beyond, it oscillates for ever, with steep rises.

gray-scott-2d, on [−1, 1]² periodic:

    uₜ = D Δu − u v² + F (1 − u),   vₜ = D/2 Δv + u v² − (F + k) v

A spot of v grows into a ring, or divides.

swift-hohenberg-2d, on [0, 12π]² periodic:

    uₜ = r u − (1 + Δ)² u + g u² − u³

Waves of length 2π grow to stripes (g = 0) or to hexagons (g = 1), and all others decay.

References are spectral methods in lab/references, each within 1e-8 of itself with more modes and half the step.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from frozenpinn.geometry import Box
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.box_common import OUTPUTS, widths
from frozenpinn_lab.cases.case import Case, Variant
from frozenpinn_lab.references import BoxReference

Array = np.ndarray
PI = np.pi


def _laplacian(*d: Array) -> Array:
    return np.asarray(sum(component**2 for component in d))


# ---- Allen–Cahn -------------------------------------------------------------------------------------------

_START = {
    2: ("0.6*sin(pi*x)*cos(pi*y) + 0.3*cos(2*pi*(x + y))", "0.4*cos(pi*x)*cos(2*pi*y) - 0.3*cos(pi*y)"),
    3: (
        "0.6*sin(pi*x)*cos(pi*y) + 0.4*cos(pi*z)*sin(pi*y) + 0.2*cos(pi*(x + z))",
        "0.5*cos(pi*x)*cos(pi*y) + 0.4*cos(pi*z) - 0.2*cos(pi*y)*cos(pi*z)",
    ),
}


def _allen_cahn_start(periodic: bool, *x: Array) -> Array:
    s, c = [np.sin(PI * a) for a in x], [np.cos(PI * a) for a in x]
    if len(x) == 2:
        wave = 0.6 * s[0] * c[1] + 0.3 * np.cos(2 * PI * (x[0] + x[1]))
        return np.asarray(wave if periodic else 0.4 * c[0] * np.cos(2 * PI * x[1]) - 0.3 * c[1])
    wave = 0.6 * s[0] * c[1] + 0.4 * c[2] * s[1] + 0.2 * np.cos(PI * (x[0] + x[2]))
    return np.asarray(wave if periodic else 0.5 * c[0] * c[1] + 0.4 * c[2] - 0.2 * c[1] * c[2])


@cache
def allen_cahn_reference(
    dimension: int, width: float, periodic: bool, end: float, modes: int, substeps: int
) -> BoxReference:
    """Return the Fourier or cosine solution."""
    return BoxReference(
        (-1,) * dimension,
        (1,) * dimension,
        [lambda *d: 1 + width**2 * _laplacian(*d)],
        [lambda *x: _allen_cahn_start(periodic, *x)],
        lambda w: [-(w.fields[0] ** 3)],
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
        waves="fourier" if periodic else "cosine",
    )


def allen_cahn(dimension: int = 2, width: float = 0.05, periodic: bool = True, end: float = 4.0) -> Problem:
    """Return the separation of two phases with a layer of a given width ε."""
    sizes = (128, 3) if dimension == 2 else (40, 1)
    reference = allen_cahn_reference(dimension, width, periodic, end, *sizes)
    return Problem(
        "u_t = eps**2*lap(u) + u - u**3",
        domain=Box([-1] * dimension, [1] * dimension, periodic=periodic),
        time=(0, end),
        initial=_START[dimension][0 if periodic else 1],
        boundary=None if periodic else "u_n = 0",
        parameters={"eps": width},
        exact=reference.field(0),
    )


# ---- Brusselator ------------------------------------------------------------------------------------------


@cache
def brusselator_reference(
    a: float, b: float, diffusion: float, end: float, modes: int = 80, substeps: int = 14
) -> BoxReference:
    """Return the cosine solution."""

    def reaction(u: Array, v: Array) -> list[Array]:
        made = u * u * v
        return [a + made, b * u - made]

    return BoxReference(
        (0, 0),
        (1, 1),
        [lambda *d: diffusion * _laplacian(*d) - (b + 1), lambda *d: diffusion * _laplacian(*d)],
        [
            lambda x, y: a + 0.5 * np.cos(PI * x) * np.cos(2 * PI * y),
            lambda x, y: b / a + 0.4 * np.cos(2 * PI * x) - 0.3 * np.cos(PI * y),
        ],
        lambda w: reaction(*w.fields),
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
        waves="cosine",
    )


def brusselator(a: float = 1.0, b: float = 1.7, diffusion: float = 5e-4, end: float = 5.0) -> Problem:
    """Return two chemicals in a vessel without flux."""
    reference = brusselator_reference(a, b, diffusion, end)
    return Problem(
        ["u_t = D*lap(u) + a - (b + 1)*u + u**2*v", "v_t = D*lap(v) + b*u - u**2*v"],
        domain=Box([0, 0], [1, 1]),
        time=(0, end),
        initial={
            "u": "a + 0.5*cos(pi*x)*cos(2*pi*y)",
            "v": "b/a + 0.4*cos(2*pi*x) - 0.3*cos(pi*y)",
        },
        boundary=["u_n = 0", "v_n = 0"],
        parameters={"a": a, "b": b, "D": diffusion},
        exact={"u": reference.field(0), "v": reference.field(1)},
    )


# ---- Gray–Scott -------------------------------------------------------------------------------------------


@cache
def gray_scott_reference(
    feed: float, kill: float, diffusion: float, end: float, modes: int = 128, substeps: int = 12
) -> BoxReference:
    """Return the Fourier solution."""

    def spot(x: Array, y: Array) -> Array:
        return np.asarray(np.exp(-5 * (2 - np.cos(PI * x) - np.cos(PI * y))) * (1 + 0.3 * np.sin(PI * x)))

    def reaction(u: Array, v: Array) -> list[Array]:
        made = u * v * v
        return [feed - made, made]

    return BoxReference(
        (-1, -1),
        (1, 1),
        [lambda *d: diffusion * _laplacian(*d) - feed, lambda *d: diffusion / 2 * _laplacian(*d) - (feed + kill)],
        [lambda x, y: 1 - spot(x, y) / 2, lambda x, y: 0.4 * spot(x, y)],
        lambda w: reaction(*w.fields),
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
    )


def gray_scott(feed: float = 0.04, kill: float = 0.06, diffusion: float = 4e-4, end: float = 100.0) -> Problem:
    """Return a spot of one chemical that feeds on another."""
    reference = gray_scott_reference(feed, kill, diffusion, end)
    spot = "exp(-5*(2 - cos(pi*x) - cos(pi*y)))*(1 + 0.3*sin(pi*x))"
    return Problem(
        ["u_t = D*lap(u) - u*v**2 + F*(1 - u)", "v_t = D/2*lap(v) + u*v**2 - (F + k)*v"],
        domain=Box([-1, -1], [1, 1], periodic=True),
        time=(0, end),
        initial={"u": f"1 - {spot}/2", "v": f"0.4*{spot}"},
        parameters={"D": diffusion, "F": feed, "k": kill},
        exact={"u": reference.field(0), "v": reference.field(1)},
    )


# ---- Swift–Hohenberg --------------------------------------------------------------------------------------


@cache
def swift_hohenberg_reference(r: float, g: float, end: float, modes: int = 96, substeps: int = 8) -> BoxReference:
    """Return the Fourier solution."""
    return BoxReference(
        (0, 0),
        (12 * PI, 12 * PI),
        [lambda *d: r - (1 + _laplacian(*d)) ** 2],
        [lambda x, y: 0.3 * np.cos(x) + 0.2 * np.sin((5 * x + 4 * y) / 6) - 0.1 * np.cos(y + x / 3)],
        lambda w: [g * w.fields[0] ** 2 - w.fields[0] ** 3],
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
    )


def swift_hohenberg(r: float = 0.4, g: float = 0.0, end: float = 10.0) -> Problem:
    """Return stripes or hexagons that grow."""
    reference = swift_hohenberg_reference(r, g, end)
    return Problem(
        "u_t = (r - 1)*u - 2*lap(u) - lap(lap(u)) + g*u**2 - u**3",
        domain=Box([0, 0], [12 * PI, 12 * PI], periodic=True),
        time=(0, end),
        initial="0.3*cos(x) + 0.2*sin((5*x + 4*y)/6) - 0.1*cos(y + x/3)",
        parameters={"r": r, "g": g},
        exact=reference.field(0),
    )


CASES = (
    Case(
        "allen-cahn-2d",
        "separation of two phases on a square",
        allen_cahn,
        widths(64, 32),
        variants=(
            Variant("periodic"),
            Variant(
                "no flux",
                {"width": 0.08, "periodic": False},
                peers={"spectral": {"modes": 48, "step": 0.08}},
                settings=widths(56, 28),
            ),
        ),
    ),
    Case(
        "brusselator-2d",
        "two chemicals on a square without flux",
        brusselator,
        widths(32, 16),
        variants=(
            Variant("damped"),
            Variant(
                "oscillating",
                {"b": 3.0, "diffusion": 2e-3},
                peers={"spectral": {"modes": 48, "step": 1 / 60}},
                settings=widths(64, 28),
            ),
        ),
    ),
    Case(
        "gray-scott-2d",
        "a spot of one chemical that feeds on another",
        gray_scott,
        widths(80, 40),
        variants=(
            Variant("ring"),
            Variant(
                "division",
                {"feed": 0.03, "diffusion": 8e-4, "end": 150.0},
                peers={"spectral": {"modes": 64, "step": 0.5}},
                settings=widths(56, 28),
            ),
        ),
    ),
    Case(
        "swift-hohenberg-2d",
        "stripes and hexagons, of fourth order",
        swift_hohenberg,
        widths(44, 36),
        variants=(Variant("stripes"), Variant("hexagons", {"r": 0.1, "g": 1.0}, settings=widths(56, 36))),
    ),
    Case(
        "allen-cahn-3d",
        "separation of two phases in a cube",
        allen_cahn,
        widths(24, 12),
        variants=(
            Variant("periodic", {"dimension": 3, "width": 0.13, "end": 3.0}),
            Variant("no flux", {"dimension": 3, "width": 0.15, "periodic": False, "end": 3.0}, settings=widths(28, 16)),
        ),
    ),
)
