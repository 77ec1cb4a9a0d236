"""The other methods: what each case is solved with, by whom, and what the paper reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.methods import PINNS


@dataclass(frozen=True)
class Published:
    """What the paper reports (Datar et al., Frozen-PINN): relative L² error, seconds, and if these are of a GPU."""

    rel_l2: float | None = None
    seconds: float | None = None
    gpu: bool = False


@dataclass(frozen=True)
class Baseline:
    """How another method solves a case (at high precision): settings, figures, whether both are the paper's.

    ``recipe`` is ``"paper"`` for settings of the paper, None for our own.
    """

    settings: Mapping[str, Any]
    published: Published = Published()
    recipe: str | None = "paper"
    note: str = ""


def baselines_of(case: str) -> dict[str, Baseline]:
    """Return all methods that have settings for a case, by name."""
    from frozenpinn_lab.cases.peer_settings import SETTINGS
    from frozenpinn_lab.cases.pinn_settings import SETTINGS as PINN_SETTINGS

    trained = PINN_SETTINGS.get(case, {})  # some are further networks of the paper's appendix
    return {
        **SETTINGS.get(case, {}),
        **{name: training.baseline for name, training in trained.items() if name in PINNS},
    }


def solve_peer(
    method: str,
    problem: Problem,
    settings: Mapping[str, Any],
    seed: int = 0,
    seconds: float | None = None,
    checkpoints: tuple[float, ...] = (),
) -> Any:
    """Solve a problem by another method, within a budget of seconds.

    ``checkpoints`` are seconds at which the error of a network in training is measured.
    """
    from frozenpinn_lab.peers import solve_baseline

    course = {"checkpoints": checkpoints} if method in PINNS else {}
    return solve_baseline(method, problem, seed=seed, seconds=seconds, **course, **settings)
