"""What a quick report leaves out, by case."""

from __future__ import annotations

#: Cases that a quick report trains networks for; the others take minutes for a few hundred steps.
QUICK_TRAINED = ("advection", "euler-bernoulli", "wave", "burgers", "nonlinear-diffusion", "reaction-diffusion-5d")
#: What takes longer than a quick report has: chaos to the end, and sweeps.
QUICK_SKIPPED = ("kuramoto-sivashinsky-long", "advection-fast", "advection-convergence")
#: Cases without a diagram in a quick report: tolerance after tolerance takes minutes.
QUICK_UNDRAWN = ("kuramoto-sivashinsky",)
