"""What a quick report leaves out, by case."""

from __future__ import annotations

#: Cases that a quick report trains networks for; the others take minutes for a few hundred steps.
QUICK_TRAINED = ("advection", "euler-bernoulli", "wave", "burgers", "nonlinear-diffusion", "reaction-diffusion-5d")
#: Cases that a quick report solves by py-pde, which compiles for half a minute in each.
QUICK_COMPILED = ("heat-anisotropic-2d",)
#: What takes longer than a quick report has: chaos to the end, sweeps, and some of many similar boxes.
QUICK_SKIPPED = (
    "kuramoto-sivashinsky-long",
    "advection-fast",
    "advection-convergence",
    "brusselator-2d",
    "gray-scott-2d",
    "swift-hohenberg-2d",
    "allen-cahn-3d",
    "swirl-2d",
    "schroedinger-2d",
    "helmholtz-solid",
    "plate",
    "poisson-holes",
    "elasticity-hole",
    "liouville",
    "minimal-surface",
    "ethier-steinman-3d",
    "lamb-oseen",
    "poiseuille-startup",
)
#: Cases without a diagram in a quick report: tolerance after tolerance takes minutes.
QUICK_UNDRAWN = (
    *("kuramoto-sivashinsky", "allen-cahn-2d", "gray-scott-2d", "burgers-2d"),
    *("liouville", "nonlinear-helmholtz", "bratu", "l-shape"),
    *("taylor-green", "lamb-oseen", "poiseuille-startup", "ethier-steinman-3d"),
)
