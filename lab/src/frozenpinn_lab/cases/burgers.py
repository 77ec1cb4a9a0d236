"""Viscous Burgers equation with a shock at x = 0.

    uₜ + u uₓ = ν uₓₓ,  ν = 0.01/π,  x ∈ [−1, 1],  u(x, 0) = −sin πx,  u(±1, t) = 0

Problem and reference are those of ``frozenpinn demo``.

Ours are the default settings with the tolerance that is asked for: the basis is renewed when it stops resolving the
solution.

Our reading of the paper's settings (L: line of its LaTeX source):

* printed: nine windows, neurons, pools, points, cut-offs and regularisations (L 2420–2450); pairs by the *supervised*
  density for this equation (L 194–197); augmented ODE with κ = 10⁵ (L 250)
* printed, but of another basis: tolerances of 10⁻³ and 10⁻⁶ for coefficients of the functions V_rᵀAΦ, which are as
  small as their singular values. Ours are of size one, so that 10⁻⁸, and 10⁻³ with 10⁻⁶ absolutely, are taken
* open: lengths of the windows (equal), the share of points that does not follow the slope (0.3), the integrator (LSODA,
  named in L 218)
"""

from __future__ import annotations

from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.basis.samplers import SWIM
from frozenpinn.cli.demo import burgers
from frozenpinn.integrators import SciPy
from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases.case import Case, Published


def paper(width: int, pool: int, points: int, cutoff: float, rcond: float, rtol: float, atol: float) -> Settings:
    """Return the paper's way: nine equal windows, SWIM pairs and points by the slope, augmented ODE."""
    return Settings(
        sampler=SWIM(width, pool=pool, supervised=True),
        points=points,
        point_method="uniform",
        boundary=AugmentedODE(),
        cutoff=cutoff,
        rcond=rcond,
        windows=9,
        integrator=SciPy("lsoda", rtol, atol),
    )


CASES = (
    Case(
        "burgers",
        "viscous Burgers equation, in which a shock forms",
        burgers,
        {
            ("best", "high"): Settings(rtol=1e-7),
            ("best", "low"): Settings(rtol=1e-3),
            ("paper", "high"): paper(450, 6000, 1000, 5e-11, 1e-13, 1e-8, 1e-8),
            ("paper", "low"): paper(300, 1000, 600, 1e-8, 1e-8, 1e-3, 1e-6),
        },
        {"low": Published(1.00e-3, 0.52), "high": Published(2.27e-7, 5.25)},
    ),
)
