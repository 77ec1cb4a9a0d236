"""Incompressible flow, with exact solutions: U_t + U·∇U = −∇p + νΔU, div U = 0.

taylor-green:       vortices that decay, (sin x cos y, −cos x sin y)·exp(−2νt), p = (cos 2x + cos 2y)·exp(−4νt)/4;
                    on a periodic box, and on a disk with values on its boundary
lamb-oseen:         a vortex that spreads, u_φ = (1 − exp(−r²/(4ν(1 + t))))/r, off the middle of a box
poiseuille-startup: a channel that a pressure sets in motion, 1 − exp(−3t) at its inlet: a series of sines
ethier-steinman-3d: C. R. Ethier and D. A. Steinman (1994), with a = π/4 and d = π/2, ν = 1
flow-kovasznay:     the steady flow behind a grid at Re = 40 (L. I. G. Kovasznay, 1948)

"""

from __future__ import annotations

import re
from math import pi

import numpy as np

from frozenpinn.geometry import Box, Disk, Domain
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case, Variant

Array = np.ndarray
FLOW = ["U_t + advect(U, U) = -grad(p) + nu*lap(U)", "div(U) = 0"]


def _flow(domain: Domain, end: float, velocity: list[str], nu: float, force: str = "") -> Problem:
    """Return a flow with its exact velocity, which is given on all sides."""
    start = [re.sub(r"\bt\b", "0", text) for text in velocity]
    sides = [f"U[{i}] = {text}" for i, text in enumerate(velocity)]
    walls = None if all(domain.periodic) else sides
    return Problem(
        [FLOW[0] + force, FLOW[1]],
        domain,
        (0, end),
        {"U": start},
        walls,
        parameters={"nu": nu},
        exact={"U": velocity},
        vectors={"U": len(velocity)},
    )


def taylor_green(shape: str = "periodic") -> Problem:
    """Return vortices that decay, on a periodic box or on a disk."""
    domain = Box([0, 0], [2 * pi, 2 * pi], periodic=True) if shape == "periodic" else Disk((0.3, 0.2), 1.0)
    return _flow(domain, 1.0, ["sin(x)*cos(y)*exp(-2*nu*t)", "-cos(x)*sin(y)*exp(-2*nu*t)"], 0.05)


def lamb_oseen() -> Problem:
    """Return a vortex that spreads."""
    r = "((x - 0.1)**2 + (y + 0.2)**2)"
    turn = f"(1 - exp(-{r}/(4*nu*(1 + t))))/{r}"
    return _flow(Box([-1, -1], [1, 1]), 1.0, [f"-(y + 0.2)*{turn}", f"(x - 0.1)*{turn}"], 0.02)


def _startup(x: Array, y: Array, t: float) -> Array:
    """Return the speed in the channel: what slow changes would give, and a series that falls off like n⁻⁵."""
    nu, n = 0.1, np.arange(1, 200, 2)[:, None]
    rate = nu * (n * np.pi) ** 2
    series = 12 / (n * np.pi) * np.sin(n * np.pi * y) * (np.exp(-rate * t) - np.exp(-3 * t)) / (rate * (rate - 3))
    return np.asarray(y * (1 - y) / (2 * nu) * (1 - np.exp(-3 * t)) + np.sum(series, axis=0))


def poiseuille_startup() -> Problem:
    """Return a channel that a given pressure sets in motion, slowly at first."""
    ends = ["U[1] = 0", "dn(U[0]) = 0"]
    return Problem(
        FLOW,
        Box([0, 0], [1, 1]),
        (0, 1),
        {"U": [0, 0]},
        {"left": [*ends, "p = 1 - exp(-3*t)"], "right": [*ends, "p = 0"], "bottom": "U = 0", "top": "U = 0"},
        parameters={"nu": 0.1},
        exact={"U": [_startup, "0"], "p": "(1 - exp(-3*t))*(1 - x)"},
        vectors=("U",),
    )


def ethier_steinman() -> Problem:
    """Return a flow in a cube with terms of all kinds."""
    names, velocity = "xyz", []
    for i in range(3):
        x, y, z = (names[(i + k) % 3] for k in range(3))
        shape = f"exp(A*{x})*sin(A*{y} + D*{z}) + exp(A*{z})*cos(A*{x} + D*{y})"
        velocity.append(f"-A*({shape})*exp(-nu*D**2*t)".replace("A", "(pi/4)").replace("D", "(pi/2)"))
    return _flow(Box([-1] * 3, [1] * 3), 0.5, velocity, 1.0)


CASES = (
    Case(
        "taylor-green",
        "Taylor–Green vortices",
        taylor_green,
        {("best", "high"): Settings(width=(8, 8))},
        variants=(
            Variant("periodic"),
            Variant("disk", {"shape": "disk"}, settings={("best", "high"): Settings(width=240)}),
        ),
    ),
    Case("lamb-oseen", "Lamb–Oseen vortex", lamb_oseen, {("best", "high"): Settings(width=700)}),
    Case("poiseuille-startup", "Channel set in motion", poiseuille_startup, {("best", "high"): Settings(width=400)}),
    Case(
        "ethier-steinman-3d",
        "Ethier–Steinman flow in a cube",
        ethier_steinman,
        {("best", "high"): Settings(width=500)},
        costly=("best", "auto"),
    ),
)
