"""The other methods: what each case is solved with, by whom, and what the paper reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from frozenpinn.lab.peers.methods import PINNS
from frozenpinn.statement.problem import Problem


@dataclass(frozen=True)
class Published:
    """What the paper reports (Datar et al., Frozen-PINN): relative L² error and seconds."""

    rel_l2: float | None = None
    seconds: float | None = None


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
    from frozenpinn.lab.cases.peer_settings import SETTINGS
    from frozenpinn.lab.cases.pinn_settings import SETTINGS as PINN_SETTINGS

    found = {}
    for name, own in SETTINGS.get(case, {}).items():
        figures = Published(own.rel_l2, own.seconds)
        found[name] = Baseline(own.options, figures, "paper" if own.paper else None, own.note)
    for name, trained in PINN_SETTINGS.get(case, {}).items():
        if name not in PINNS:  # further networks of the paper's appendix
            continue
        figures = Published(trained.published.rel_l2, trained.published.seconds)
        notes = (trained.own, "published seconds are those of a GPU" if trained.published.gpu else "")
        recipe = "paper" if figures.rel_l2 is not None and not trained.own else None
        found[name] = Baseline(trained.hyper_parameters, figures, recipe, "; ".join(filter(None, notes)))
    return found


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
    from frozenpinn.lab.peers import solve_baseline

    course = {"checkpoints": checkpoints} if method in PINNS else {}
    return solve_baseline(method, problem, seed=seed, seconds=seconds, **course, **settings)
