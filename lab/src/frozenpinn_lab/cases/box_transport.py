"""Transport on boxes in two and three dimensions.

burgers-2d, on [0, 1]² periodic:

    uₜ + u uₓ + v u_y = ν Δu,   vₜ + u vₓ + v v_y = ν Δv

Fronts form where the flow runs together, as thin as ν allows, and decay.

swirl-2d: a profile is carried around. In the square [−2, 2]² with u = 0 on its sides, by a rigid rotation,

    uₜ = ω (y uₓ − x u_y) + D Δu

A Gaussian goes round and spreads; what reaches the sides is below 1e-12, so the solution in the plane is exact. On
[0, 2π]² periodic, by eddies:

    uₜ = ω (sin(y) uₓ − sin(x) u_y) + D Δu

Filaments are drawn out until diffusion stops them.

advection-diffusion-3d, on [−1, 1]³ or [0, 2π]³ periodic:

    uₜ + a uₓ + b u_y + c u_z = D Δu

A Gaussian that stays away from the sides, in closed form; or exp(α(cos x + cos y + cos z)), whose waves have Bessel
functions as coefficients, several times around.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import ive

from frozenpinn.geometry import Box
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.box_common import OUTPUTS, widths
from frozenpinn_lab.cases.case import Case, Variant
from frozenpinn_lab.references import BoxReference
from frozenpinn_lab.references.box import Values

Array = np.ndarray
PI = np.pi


@cache
def burgers_reference(viscosity: float, end: float, shear: float, modes: int = 160, substeps: int = 3) -> BoxReference:
    """Return the Fourier solution."""

    def transport(w: Values) -> list[Array]:
        u, v = w.fields
        return [-u * w.derivative(i, 0) - v * w.derivative(i, 1) for i in (0, 1)]

    def diffusion(dx: Array, dy: Array) -> Array:
        return np.asarray(viscosity * (dx**2 + dy**2))

    return BoxReference(
        (0, 0),
        (1, 1),
        [diffusion, diffusion],
        [
            lambda x, y: np.sin(2 * PI * x) * np.cos(2 * PI * y) + shear * np.cos(2 * PI * y),
            lambda x, y: 0.5 * np.cos(2 * PI * x) + 0.5 * np.sin(2 * PI * y),
        ],
        transport,
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
    )


def burgers(viscosity: float = 0.012, end: float = 0.4, shear: float = 0.0) -> Problem:
    """Return the vector equation."""
    reference = burgers_reference(viscosity, end, shear)
    return Problem(
        ["u_t + u*u_x + v*u_y = nu*lap(u)", "v_t + u*v_x + v*v_y = nu*lap(v)"],
        domain=Box([0, 0], [1, 1], periodic=True),
        time=(0, end),
        initial={
            "u": "sin(2*pi*x)*cos(2*pi*y) + s*cos(2*pi*y)",
            "v": "0.5*cos(2*pi*x) + 0.5*sin(2*pi*y)",
        },
        parameters={"nu": viscosity, "s": shear},
        exact={"u": reference.field(0), "v": reference.field(1)},
    )


def rotation(speed: float = 2 * PI, diffusion: float = 1e-3, end: float = 0.5, variance: float = 0.016) -> Problem:
    """Return a Gaussian that goes round the centre of a square, once in a time 2π/speed."""
    place = "(x - cos(w*t))**2 + (y - sin(w*t))**2"
    exact = f"s/(s + 2*D*t)*exp(-({place})/(2*(s + 2*D*t)))"
    return Problem(
        "u_t = w*(y*u_x - x*u_y) + D*lap(u)",
        domain=Box([-2, -2], [2, 2]),
        time=(0, end),
        initial="exp(-((x - 1)**2 + y**2)/(2*s))",
        boundary="u = 0",
        parameters={"w": speed, "D": diffusion, "s": variance},
        exact=exact,
    )


@cache
def eddies_reference(speed: float, diffusion: float, end: float, modes: int = 96, substeps: int = 4) -> BoxReference:
    """Return the Fourier solution."""

    def transport(w: Values) -> list[Array]:
        x, y = w.x
        return [speed * (np.sin(y) * w.derivative(0, 0) - np.sin(x) * w.derivative(0, 1))]

    return BoxReference(
        (0, 0),
        (2 * PI, 2 * PI),
        [lambda dx, dy: diffusion * (dx**2 + dy**2)],
        [lambda x, y: np.exp(np.cos(x - 1) + np.cos(y))],
        transport,
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
    )


def eddies(speed: float = 1.0, diffusion: float = 0.01, end: float = 4.0) -> Problem:
    """Return a profile that periodic eddies draw out."""
    return Problem(
        "u_t = w*(sin(y)*u_x - sin(x)*u_y) + D*lap(u)",
        domain=Box([0, 0], [2 * PI, 2 * PI], periodic=True),
        time=(0, end),
        initial="exp(cos(x - 1) + cos(y))",
        parameters={"w": speed, "D": diffusion},
        exact=eddies_reference(speed, diffusion, end).field(0),
    )


def swirl(flow: str = "rotation") -> Problem:
    """Return the rotation in a square, or periodic eddies."""
    return rotation() if flow == "rotation" else eddies()


class Travelling:
    """exp(α Σ (cos xᵢ − 1)), carried by a constant velocity and smoothed by diffusion, on [0, 2π]³."""

    def __init__(self, alpha: float, velocity: tuple[float, float, float], diffusion: float) -> None:
        self.alpha, self.velocity, self.diffusion = alpha, velocity, diffusion

    def __call__(self, points: Array, t: float) -> Array:
        """Return the values: a product of sums of waves, with Bessel functions as coefficients."""
        k = np.arange(1, 60)
        weights = 2 * ive(k, self.alpha) * np.exp(-self.diffusion * k**2 * t)
        phases = points - t * np.array(self.velocity)
        return np.asarray(np.prod(ive(0, self.alpha) + np.cos(phases[..., None] * k) @ weights, axis=1))


def advection_diffusion(shape: str = "gaussian", diffusion: float = 2e-3) -> Problem:
    """Return a Gaussian, or a periodic profile, that moves and spreads."""
    if shape != "gaussian":
        velocity = (3.0, -2.0, 1.0)
        return Problem(
            "u_t + 3*u_x - 2*u_y + u_z = D*lap(u)",
            domain=Box([0] * 3, [2 * PI] * 3, periodic=True),
            time=(0, 6),
            initial="exp(4*(cos(x) + cos(y) + cos(z) - 3))",
            parameters={"D": diffusion},
            exact=Travelling(4.0, velocity, diffusion),
        )
    square = "(x + 0.2 - 0.8*t)**2 + (y + 0.1 - 0.4*t)**2 + (z - 0.2 + 0.6*t)**2"
    return Problem(
        "u_t + 0.8*u_x + 0.4*u_y - 0.6*u_z = D*lap(u)",
        domain=Box([-1] * 3, [1] * 3, periodic=True),
        time=(0, 0.5),
        initial="exp(-((x + 0.2)**2 + (y + 0.1)**2 + (z - 0.2)**2)/(2*s))",
        parameters={"D": diffusion, "s": 0.01},
        exact=f"(s/(s + 2*D*t))**1.5*exp(-({square})/(2*(s + 2*D*t)))",
    )


CASES = (
    Case(
        "burgers-2d",
        "Burgers' equation for a velocity in the plane",
        burgers,
        widths(80, 36),
        variants=(
            Variant("meeting"),
            Variant(
                "sheared",
                {"viscosity": 0.02, "end": 0.5, "shear": 0.7},
                peers={"spectral": {"modes": 48, "step": 0.008}},
                settings=widths(44, 24),
            ),
        ),
    ),
    Case(
        "swirl-2d",
        "a profile that is carried around",
        swirl,
        widths(72, 48),
        variants=(
            Variant("rotation"),
            Variant(
                "eddies",
                {"flow": "eddies"},
                peers={"spectral": {"step": 0.05, "periodic": False}},
                settings=widths(56, 32),
            ),
        ),
    ),
    Case(
        "advection-diffusion-3d",
        "a profile that moves and spreads in space",
        advection_diffusion,
        widths(32, 24),
        variants=(
            Variant("gaussian"),
            Variant(
                "periodic",
                {"shape": "periodic", "diffusion": 0.01},
                peers={"spectral": {"modes": 24}},
                settings=widths(24, 16),
            ),
        ),
    ),
)
