"""Other methods, to compare with; each needs ``pip install 'frozenpinn[baselines]'`` or a part of it."""

from __future__ import annotations

from frozenpinn.lab.peers.methods import BASELINES, solve_baseline

__all__ = ["BASELINES", "solve_baseline"]
