"""Other methods, to compare with; each needs ``pip install './lab[peers]'`` or a part of it."""

from __future__ import annotations

from frozenpinn_lab.peers.methods import BASELINES, solve_baseline

__all__ = ["BASELINES", "solve_baseline"]
