"""Allen–Cahn and Korteweg–de Vries equations, the standard problems of physics-informed networks beside Burgers'.

    uₜ = 10⁻⁴ uₓₓ + 5u − 5u³,           u(x, 0) = x² cos πx
    uₜ + u uₓ + 0.0025 uₓₓₓ = 0,        u(x, 0) = cos πx,        both periodic on [−1, 1], t ∈ [0, 1]

They are not in the paper. The references are Fourier methods, converged to 1e-8 (tests/exact/test_standards.py). The
initial value of Allen–Cahn has the slopes 2 and −2 at the ends of its period: a corner, which diffusion rounds off over
√(10⁻⁴ t). It is solved with default settings.

The solitons of Korteweg and de Vries spread over the whole period, so that one basis does for all times. Its size and
tolerance are the smallest of the widths 100, 150, 200, 250, 300, 400 (with 1.5 points for each neuron) and the loosest
of 1e-4, 1e-6, 1e-7, 1e-8 for which ``fp.estimate_error(solution)`` of the first seed stays below 1e-8, for low
precision 1e-5; errors against the reference were printed beside the estimates.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.basis.samplers import MultiScale
from frozenpinn.geometry import Interval
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case
from frozenpinn_lab.references import FourierReference

PERIOD = Interval(-1, 1, periodic=True)
TIMES = 99  # Solution.error looks at multiples of 1/99: steps that divide it need no shorter ones between


def allen_cahn_reference(modes: int = 4096, step: float = 1 / (5 * TIMES)) -> FourierReference:
    """Return the Fourier solution of the Allen–Cahn equation."""
    return FourierReference(
        -1,
        1,
        lambda d: 1e-4 * d**2 + 5,
        lambda x: x**2 * np.cos(np.pi * x),
        reaction=lambda u: -5 * u**3,
        modes=modes,
        step=step,
        keep=1 / 2,
    )


def korteweg_de_vries_reference(modes: int = 256, step: float = 1 / (20 * TIMES)) -> FourierReference:
    """Return the Fourier solution of the Korteweg–de Vries equation."""
    return FourierReference(
        -1,
        1,
        lambda d: -0.0025 * d**3,
        lambda x: np.cos(np.pi * x),
        flux=lambda u: -(u**2) / 2,
        modes=modes,
        step=step,
    )


def allen_cahn() -> Problem:
    """Return the Allen–Cahn problem."""
    return Problem("u_t = 1e-4*u_xx + 5*u - 5*u**3", PERIOD, (0, 1), "x**2*cos(pi*x)", exact=allen_cahn_reference())


def korteweg_de_vries() -> Problem:
    """Return the Korteweg–de Vries problem."""
    return Problem("u_t + u*u_x + 0.0025*u_xxx = 0", PERIOD, (0, 1), "cos(pi*x)", exact=korteweg_de_vries_reference())


CASES = (
    Case(
        "allen-cahn",
        "Allen–Cahn equation from data with a corner",
        allen_cahn,
        {("best", "high"): Settings(), ("best", "low"): Settings(rtol=1e-5)},
    ),
    Case(
        "korteweg-de-vries",
        "Korteweg–de Vries equation: solitons form",
        korteweg_de_vries,
        {
            ("best", "high"): Settings(sampler=MultiScale(250), points=375, rtol=1e-6, windows=None),
            ("best", "low"): Settings(sampler=MultiScale(150), points=225, rtol=1e-4, windows=None),
        },
    ),
)
