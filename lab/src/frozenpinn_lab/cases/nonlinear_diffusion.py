"""Nonlinear diffusion on a tree-like domain, with boundary values that change in time.

    uₜ − u Δu = f,  (x, y) ∈ Ω,  t ∈ [0, 1],  exact: u = 5 e⁻ᵗ sin(πx) y⁻³

The forcing that belongs to this solution is f = 5 e⁻ᵗ sin(πx) y⁻³ (−1 + 5 e⁻ᵗ sin(πx) y⁻⁵ (−12 + π² y²)); the paper
prints it without the second factor 5. It shows its domain in a picture only, so ``TREE`` is our own drawing: a trunk
and four branches, everywhere fat enough that the boundary values alone do not fix the solution, and inside 0 < x < 1,
where the coefficient of diffusion is positive.

Our reading of the paper's settings: SWIM or ELM features, the augmented ODE, 1500 points and a tolerance of 10⁻⁶ are
printed (L 2620–2645 of its LaTeX source). Rows uₜ = gₜ alone blow up here for most seeds (``frozenpinn-lab study
width-diffusion``), so they are uₜ = gₜ − κ(u − g) with κ = 100. The integrator is open: LSODA, one of the two that the
paper names (L 218). Test points are 5000 at random inside and on the boundary.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.basis.samplers import ELM, SWIM, Sampler
from frozenpinn.geometry import Polygon
from frozenpinn.integrators import SciPy
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case, Published

Array = np.ndarray

#: Corners of the tree, counter-clockwise from the left foot of the trunk.
TREE = (
    (0.38, 1.00), (0.62, 1.00), (0.60, 1.22), (0.80, 1.30), (0.95, 1.26), (0.95, 1.44), (0.80, 1.50), (0.62, 1.46),
    (0.62, 1.64), (0.78, 1.72), (0.90, 1.70), (0.88, 1.88), (0.74, 1.90), (0.60, 1.84), (0.60, 1.98), (0.52, 2.10),
    (0.44, 2.02), (0.42, 1.86), (0.26, 1.96), (0.12, 1.92), (0.12, 1.74), (0.26, 1.76), (0.40, 1.66), (0.40, 1.48),
    (0.22, 1.56), (0.06, 1.50), (0.06, 1.32), (0.20, 1.36), (0.40, 1.24),
)  # fmt: skip

EXACT = "5*exp(-t)*sin(pi*x)/y**3"
FORCING = "5*exp(-t)*sin(pi*x)/y**3*(-1 + 5*exp(-t)*sin(pi*x)/y**5*(-12 + pi**2*y**2))"


def nonlinear_diffusion() -> Problem:
    """Return the problem on the tree."""
    return Problem(
        f"u_t - u*lap(u) = {FORCING}",
        domain=Polygon(TREE),
        time=(0, 1),
        initial="5*sin(pi*x)/y**3",
        boundary=f"u = {EXACT}",
        exact=EXACT,
    )


def tree_points(problem: Problem) -> Array:
    """Return 5000 random points, four fifths inside and the rest on the boundary."""
    domain = problem.domain
    edge = domain.sample_side(domain.sides[0], 1000, "random", 9876)
    return np.concatenate([domain.sample(4000, "random", 9875).x, edge.x])


def paper(sampler: Sampler, cutoff: float) -> Settings:
    """Return the paper's way."""
    return Settings(
        sampler=sampler,
        points=1500,
        point_method="random",
        boundary_points=1500,
        boundary=AugmentedODE(100.0),
        cutoff=cutoff,
        rcond=cutoff,
        integrator=SciPy("lsoda", 1e-6, 1e-6),
    )


CASES = (
    Case(
        "nonlinear-diffusion",
        "nonlinear diffusion on a tree-like domain",
        nonlinear_diffusion,
        {
            ("best", "high"): Settings(width=200),
            ("best", "low"): Settings(width=50, rtol=1e-4),
            ("paper", "high"): paper(SWIM(500), 1e-15),
            ("paper", "low"): paper(ELM(350), 5e-11),
        },
        {"low": Published(2.60e-3, 0.56), "high": Published(2.00e-6, 423.0)},
        test_points=tree_points,
    ),
)
