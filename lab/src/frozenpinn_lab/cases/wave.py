"""Vibrating string with two and with three frequencies.

    uₜₜ = 4 uₓₓ,  x ∈ [0, 1],  u(0, t) = u(1, t) = 0,  uₜ(x, 0) = 0
    u(x, 0) = sin πx + ½ sin 4πx (+ ¼ sin 9πx)
    exact: sin πx cos 2πt + ½ sin 4πx cos 8πt (+ ¼ sin 9πx cos 18πt)

The paper fits SWIM features to 30 outer sine functions. It does not name the points (1000 uniform ones here), the
cut-off (1e-12 here), nor integrator and tolerance (RK45 with 1e-8 here). It gives no settings of IGA for these cases:
40 nodes and degree 8 are our choice.
"""

from __future__ import annotations

from frozenpinn.assembly.strategies import OuterBasis
from frozenpinn.basis.samplers import SWIM, MultiScale
from frozenpinn.geometry import Interval
from frozenpinn.integrators import SciPy
from frozenpinn.search.settings import Settings
from frozenpinn.statement.conditions import Dirichlet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case, Published

INITIAL = "sin(pi*x) + sin(4*pi*x)/2"
EXACT = "sin(pi*x)*cos(2*pi*t) + sin(4*pi*x)*cos(8*pi*t)/2"


def wave(third: bool = False) -> Problem:
    """Return the string, with or without its third frequency."""
    return Problem(
        "u_tt = 4*u_xx",
        domain=Interval(0, 1),
        time=(0, 1),
        initial=INITIAL + third * " + sin(9*pi*x)/4",
        initial_velocity=0,
        boundary=Dirichlet(0),
        exact=EXACT + third * " + sin(9*pi*x)*cos(18*pi*t)/4",
    )


PAPER = Settings(
    sampler=SWIM(400),
    points=1000,
    point_method="uniform",
    boundary=OuterBasis("sine", 30, 1e-12),
    cutoff=1e-12,
    integrator=SciPy("rk45", 1e-8, 1e-8),
)

CASES = (
    Case(
        "wave",
        "vibrating string with two frequencies",
        wave,
        {("best", "high"): Settings(sampler=MultiScale(80), points=160), ("paper", "high"): PAPER},
        {"high": Published(1.81e-6, 0.56)},
    ),
    Case(
        "wave-multiscale",
        "vibrating string with three frequencies",
        lambda: wave(third=True),
        {("best", "high"): Settings(sampler=MultiScale(100), points=200), ("paper", "high"): PAPER},
        {"high": Published(1e-5, None)},
    ),
)
