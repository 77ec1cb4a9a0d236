"""Solves for studies: medians over seeds, within a budget of time, failures with their reasons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.integrators import SciPy
from frozenpinn.results.solution import Solution
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.studies.attempts import Within, attempts
from frozenpinn_lab.studies.study import Announce

Array = np.ndarray
BUDGET = 60.0
#: κ of boundary rows uₜ = gₜ − κ (u − g), where the paper writes uₜ = gₜ; see the study of the width.
PENALTY = 100.0


@dataclass
class Medians:
    """Medians over the seeds that succeeded, None if none did; why the others failed.

    ``width`` counts neurons, ``rank`` the coefficients that evolve in time.
    """

    error: float | None = None
    seconds: float | None = None
    width: float | None = None
    rank: float | None = None
    failures: list[str] = field(default_factory=list)


def posed(name: str) -> tuple[Problem, Array]:
    """Return the problem of a case, and where its errors are measured."""
    case = find_case(name)
    assert case.test_points is not None
    problem = case.problem()
    return problem, case.test_points(problem)


def measure(
    problem: Problem,
    at: Array,
    settings: Settings,
    seeds: int,
    announce: Announce,
    label: str,
    budget: float = BUDGET,
) -> Medians:
    """Solve for each seed and compare with the exact solution at given points.

    Parameters
    ----------
    problem, at, settings
        What to solve, where errors are measured, numerical choices.
    seeds, announce, label
        How many seeds, whom to tell, and as what.
    budget
        Seconds for the time integration, if the settings hold an integrator. After a run that took longer, other seeds
        are not tried.
    """
    given = settings.integrator
    if given is not None and not isinstance(given, str):
        settings = replace(settings, integrator=Within(given, budget))
    out = Medians()
    found = [
        (
            attempt.solution.error(problem.fields[0], at=at)["rel_l2"],
            attempt.seconds,
            *_sizes(attempt.solution),
        )
        for attempt in attempts(problem, settings, seeds, announce, label, out.failures)
    ]
    if found:
        out.error, out.seconds, out.width, out.rank = np.median(found, axis=0).tolist()
    return out


def _sizes(solution: Solution) -> tuple[int, int]:
    """Return neurons and coefficients; static solutions have one coefficient for each neuron."""
    if solution.problem.is_static:
        width = int(np.prod(solution.width))
        return width, width * len(solution.problem.fields)
    return solution.system.spaces[0].network.width, solution.system.coefficients


def literal(settings: Settings) -> Settings:
    """Return settings with the boundary rows of the paper, uₜ = gₜ, where nothing pulls the solution back."""
    return replace(settings, boundary=AugmentedODE(0.0))


def stiff(settings: Settings) -> Settings:
    """Return settings with LSODA instead of RK45, which takes minutes for the same errors on the tree."""
    given = settings.integrator
    assert isinstance(given, SciPy)
    return replace(settings, integrator=SciPy("lsoda", given.rtol, given.atol))


def with_penalty(settings: Settings) -> Settings:
    """Return settings whose boundary rows pull the solution to the boundary values."""
    return replace(settings, boundary=AugmentedODE(PENALTY))


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """Return a quotient, if there are both."""
    return None if numerator is None or denominator is None else numerator / denominator
