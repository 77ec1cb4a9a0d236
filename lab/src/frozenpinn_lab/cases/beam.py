"""Euler–Bernoulli beams, simply supported: fourth order in space, second order in time.

    uₜₜ + uₓₓₓₓ + κu = f(x, t),   u = uₓₓ = 0 at both ends,   u(x, 0) = sin x,   uₜ(x, 0) = 0

* classical: κ = 0 on [0, π], f = (1 − 16π²) sin x cos 4πt, exact u = sin x cos 4πt
* on a Winkler foundation: κ = 1 on [0, 8π], f = (2 − π²) sin x cos πt, exact u = sin x cos πt

Our reading of the paper's settings: widths, cut-offs, regularisations and η = 2 are printed, as is the augmented ODE
with κ = 10⁵. Open are the points (1000 uniform ones here, 4000 for the SWIM network), the deviation of Gaussian weights
(1, or 2), the integrator and its tolerance (LSODA with 10⁻¹⁰, and 10⁻⁵ or 10⁻⁴ for low precision). On [0, 8π] biases in
[−2, 2] put all neurons near 0, and no fit of sin x is better than 0.25: there x is measured from the middle of the
interval, in units of half its length. Our width of the classical beam is the smallest of 40, 60 and 80 whose estimate
is below 1e-12 (true errors were known).
"""

from __future__ import annotations

import numpy as np

from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.basis.samplers import ELM, SWIM, MultiScale
from frozenpinn.geometry import Interval
from frozenpinn.integrators import SciPy
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case, Published

SUPPORTED = ["u = 0", "u_xx = 0"]


def beam() -> Problem:
    """Return the classical beam."""
    return Problem(
        "u_tt + u_xxxx = (1 - 16*pi**2)*sin(x)*cos(4*pi*t)",
        domain=Interval(0, np.pi),
        time=(0, 1),
        initial="sin(x)",
        initial_velocity=0,
        boundary=SUPPORTED,
        exact="sin(x)*cos(4*pi*t)",
    )


def winkler() -> Problem:
    """Return the beam on a Winkler foundation."""
    return Problem(
        "u_tt + u_xxxx + u = (2 - pi**2)*sin(x)*cos(pi*t)",
        domain=Interval(0, 8 * np.pi),
        time=(0, 1),
        initial="sin(x)",
        initial_velocity=0,
        boundary=SUPPORTED,
        exact="sin(x)*cos(pi*t)",
    )


def paper(sampler: ELM | SWIM, cutoff: float, rcond: float, rtol: float, points: int = 1000) -> Settings:
    """Return the paper's way: augmented ODE, uniform points, LSODA."""
    return Settings(
        sampler=sampler,
        points=points,
        point_method="uniform",
        boundary=AugmentedODE(),
        cutoff=cutoff,
        rcond=rcond,
        integrator=SciPy("lsoda", rtol, rtol),
    )


CASES = (
    Case(
        "euler-bernoulli",
        "simply supported beam under a harmonic load",
        beam,
        {
            ("best", "high"): Settings(width=60),
            ("best", "low"): Settings(sampler=MultiScale(16), points=32),
            ("paper", "high"): paper(ELM(100, eta=2), 1e-12, 1e-10, 1e-10),
            ("paper", "low"): paper(ELM(50, eta=2), 1e-6, 1e-6, 1e-5),
        },
        {"low": Published(2.82e-4, 0.05), "high": Published(9.33e-9, 6.90)},
    ),
    Case(
        "euler-bernoulli-winkler",
        "simply supported beam on an elastic foundation",
        winkler,
        {
            ("best", "high"): Settings(sampler=MultiScale(100), points=200),
            ("best", "low"): Settings(sampler=MultiScale(50), points=100),
            ("paper", "high"): paper(SWIM(400), 1e-10, 1e-10, 1e-10, 4000),
            ("paper", "low"): paper(ELM(200, eta=2, scale=2, unit=True), 1e-6, 1e-6, 1e-4),
        },
        {"low": Published(1.41e-2, 0.05), "high": Published(1.42e-7, 2.41)},
    ),
)
