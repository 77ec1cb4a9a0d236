"""Viscous Burgers equation with a shock at x = 0.

    uₜ + u uₓ = ν uₓₓ,  ν = 0.01/π,  x ∈ [−1, 1],  u(x, 0) = −sin πx,  u(±1, t) = 0

Problem and reference are those of ``frozenpinn demo``.

Ours are the default settings with the tolerance that is asked for: the basis is renewed when it stops resolving the
solution. The paper renews it in nine windows; it leaves open their lengths (equal ones here), the share of points that
does not follow the slope (0.3 here, as in ours), the penalty of the boundary rows (10⁵ here, as in its beams) and the
integrator (LSODA here).
"""

from __future__ import annotations

from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.basis.samplers import SWIM
from frozenpinn.cli.demo import burgers
from frozenpinn.integrators import SciPy
from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases.case import Case, Published


def paper(width: int, pool: int, points: int, cutoff: float, rcond: float, tol: float) -> Settings:
    """Return the paper's way: nine equal windows, SWIM pairs and points by the slope, augmented ODE."""
    return Settings(
        sampler=SWIM(width, pool=pool),
        points=points,
        point_method="uniform",
        boundary=AugmentedODE(),
        cutoff=cutoff,
        rcond=rcond,
        windows=9,
        integrator=SciPy("lsoda", tol, tol),
    )


CASES = (
    Case(
        "burgers",
        "viscous Burgers equation, in which a shock forms",
        burgers,
        {
            ("best", "high"): Settings(rtol=1e-7),
            ("best", "low"): Settings(rtol=1e-3),
            ("paper", "high"): paper(450, 6000, 1000, 5e-11, 1e-13, 1e-6),
            ("paper", "low"): paper(300, 1000, 600, 1e-8, 1e-8, 1e-3),
        },
        {"low": Published(1.00e-3, 0.52), "high": Published(2.27e-7, 5.25)},
    ),
)
