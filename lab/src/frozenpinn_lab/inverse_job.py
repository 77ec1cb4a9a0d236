"""Inverse cases for the bench, with exact data: the error is that of the unknowns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.inverse.field_basis import where_defined
from frozenpinn.inverse.infer import infer
from frozenpinn.runtime.budget import Progress
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.inverse_case import InverseCase
from frozenpinn_lab.peers.methods import OPTIMIZERS

INVERSE_PEERS = ("pinn-adam", "pinn-lbfgs")  #: trained networks that find unknowns, too


@dataclass(frozen=True)
class JudgedUnknowns:
    """What was found, beside the truth; sizes of networks, and the program's own estimate if there is one."""

    found: dict[str, float]
    sizes: dict[str, Any]
    estimate: float | None = None
    seconds: float | None = None
    stopped: bool = False

    def error(self, field: str | None = None, **where: Any) -> dict[str, float]:
        """Return the errors of the unknowns; those of the solution are not asked for."""
        return self.found


def judged_unknowns(
    case: InverseCase, problem: Problem, recipe: str, seed: int, progress: Progress, settings: Settings
) -> JudgedUnknowns:
    """Find the unknowns from exact data, by a recipe."""
    if recipe == "paper":
        assert case.paper is not None
        guess = case.paper[0](problem, case.data(seed, noisy=False)[0], seed, progress)
        return JudgedUnknowns(case.error(guess.numbers, guess.function, problem.domain), {"width": guess.width})
    found = infer(problem, case.data(seed, noisy=False), seed=seed, progress=progress, settings=settings)
    sizes = {"width": getattr(found.solution, "width", None)}
    if case.field is None:
        bars = [e.std / max(abs(e.value), 1e-300) for e in found.parameters.values()]
        return JudgedUnknowns(case.error(found.parameters, None, problem.domain), sizes, max(bars))
    field = found.field(case.field[0])
    x = field.domain.sample(500, "random", seed).x
    values, deviations = field(*x.T, std=True)
    bar = float(np.linalg.norm(deviations) / np.linalg.norm(values))
    return JudgedUnknowns(case.error({}, lambda points: field(*points.T), field.domain), sizes, bar)


def trained_unknowns(
    case: InverseCase, problem: Problem, method: str, seed: int, seconds: float | None, steps: int | None
) -> JudgedUnknowns:
    """Find the unknowns from exact data, by a network that is trained with them."""
    from frozenpinn_lab.peers.pinn.inverse import infer_pinn

    if method not in INVERSE_PEERS:
        raise SettingsError(f"'{method}' finds no unknowns; {choices(INVERSE_PEERS)} do.")
    cut = {} if steps is None else {"adam_steps": steps}
    cut |= {"lbfgs_steps": steps} if steps is not None and method == "pinn-lbfgs" else {}
    found = infer_pinn(
        problem, case.data(seed, noisy=False), optimizer=OPTIMIZERS[method], seed=seed, seconds=seconds, **cut
    )
    function = None if case.field is None else found.functions[case.field[0]]
    domain = problem.domain if case.field is None else where_defined(case.field[0], problem)
    sizes = {"width": found.size, "rank": found.size, "points": found.points}
    judged = case.error(found.numbers, function, domain)
    return JudgedUnknowns(judged, sizes, seconds=found.seconds, stopped=found.stopped)
