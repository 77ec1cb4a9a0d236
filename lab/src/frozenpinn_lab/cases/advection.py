"""Linear advection of a sine on a periodic interval.

    uₜ + β uₓ = 0,  x ∈ [0, 2π],  u(x, 0) = sin x,  exact: u(x, t) = sin(x − βt)

Space–time networks fail here as β grows, because they must resolve every oscillation in time. A frozen
basis in space carries two functions back and forth, however fast: the error should stay at the
level of the spatial fit for β = 10⁴ and for a thousand time units.

Our reading of the paper's settings: SWIM or ELM features fitted to 14 outer functions and SciPy's RK45 are printed. Its
rule for the outer functions, sin kx for even and cos kx for odd k, lacks sin x, the initial value: read as cos and sin
of each frequency. Open are the points (1000 uniform ones here, 500 for the long time), for β ≠ 40 the tolerance (10⁻⁸
here), and for the convergence study the number of outer functions (2 here, as narrow layers fit no more). The printed
tolerances, 10⁻⁴ and 10⁻⁸, are taken as 10⁻⁸ and 10⁻⁹: relative and absolute ones alike, as otherwise the error in time
decides. For IGA the paper gives 16 nodes and degree 8 at speed 40, taken here for the long time, too.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.assembly.strategies import OuterBasis
from frozenpinn.basis.samplers import ELM, SWIM, MultiScale
from frozenpinn.geometry import Interval
from frozenpinn.integrators import SciPy
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case, Published, Variant


def advection(beta: float = 40.0, end: float = 1.0) -> Problem:
    """Return the problem for a speed β and a final time."""
    return Problem(
        "u_t + beta*u_x = 0",
        domain=Interval(0, 2 * np.pi, periodic=True),
        time=(0, end),
        initial="sin(x)",
        parameters={"beta": beta},
        exact="sin(x - beta*t)",
    )


BEST = Settings(sampler=MultiScale(100), points=200)
BEST_LOW = Settings(sampler=MultiScale(24), points=48)


def paper(sampler: ELM | SWIM, functions: int, rcond: float, rtol: float, points: int = 1000) -> Settings:
    """Return the paper's way: outer sine and cosine functions, uniform points, RK45."""
    return Settings(
        sampler=sampler,
        points=points,
        point_method="uniform",
        boundary=OuterBasis("fourier", functions, rcond),
        cutoff=1e-12,
        integrator=SciPy("rk45", rtol, rtol),
    )


PAPER_LOW = paper(ELM(50, eta=4), 14, 1e-10, 1e-8)
PAPER_HIGH = paper(SWIM(380), 14, 1e-14, 1e-9)
PAPER_SPEED = paper(SWIM(380), 14, 1e-10, 1e-8)
PAPER_LONG = paper(SWIM(250), 25, 1e-10, 1e-8, 500)

SPEEDS = (1e-2, 1e-1, 1.0, 10.0, 40.0, 100.0, 1e3, 1e4)
WIDTHS = (4, 6, 8, 10, 12, 16, 20, 24, 30, 40, 60, 80, 100)

CASES = (
    Case(
        "advection",
        "advection at speed 40",
        advection,
        {
            ("best", "high"): BEST,
            ("best", "low"): BEST_LOW,
            ("paper", "high"): PAPER_HIGH,
            ("paper", "low"): PAPER_LOW,
        },
        {"low": Published(4.19e-3, 0.67), "high": Published(8.42e-9, 0.70)},
    ),
    Case(
        "advection-fast",
        "advection at speeds from 0.01 to 10000",
        advection,
        {("best", "high"): BEST, ("paper", "high"): PAPER_SPEED},
        {"high": Published(1e-4, None)},
        tuple(Variant(f"beta={beta:g}", {"beta": beta}) for beta in SPEEDS),
    ),
    Case(
        "advection-long",
        "advection at speed 1 for 1000 time units",
        lambda: advection(1.0, 1000.0),
        {("best", "high"): BEST, ("paper", "high"): PAPER_LONG},
        {"high": Published(1e-5, 0.94)},
    ),
    Case(
        "advection-convergence",
        "advection at speed 10, error against width",
        lambda: advection(10.0),
        {("best", "high"): Settings(points=200), ("paper", "high"): PAPER_SPEED},
        {},
        tuple(
            Variant(
                f"width={width}",
                {},
                {
                    ("best", "high"): Settings(sampler=MultiScale(width), points=200),
                    ("paper", "high"): paper(SWIM(width), 2, 1e-10, 1e-8),
                },
            )
            for width in WIDTHS
        ),
    ),
)
