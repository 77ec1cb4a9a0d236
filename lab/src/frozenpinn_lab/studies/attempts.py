"""Solves for studies that look at the solution itself: warnings are silent, failures are told among the rows."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import FrozenPinnError, IntegrationError
from frozenpinn.integrators import Integrator, Observer, OdeSystem, Trajectory
from frozenpinn.integrators.protocol import NOBODY
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.search.settings import Settings
from frozenpinn.solve import check, solve
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case, Variant
from frozenpinn_lab.runner import own_estimate, timed
from frozenpinn_lab.studies.study import Announce

Array = np.ndarray


class OverBudgetError(IntegrationError):
    """The time integration was given up."""


@dataclass(frozen=True)
class Within:
    """An integrator that gives up after some seconds."""

    integrator: Integrator
    seconds: float

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.integrator.name

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """Integrate, and look at the clock after every accepted step."""
        deadline, (_, end) = time.perf_counter() + self.seconds, system.time

        def watch(t: float, y: Array) -> bool:
            if time.perf_counter() > deadline:
                raise OverBudgetError(
                    f"{self.name} stopped at t = {t:.3g} (of {end:g}): more than {self.seconds:g} s.", time=t
                )
            return observer.stop is not None and observer.stop(t, y)

        return self.integrator.integrate(system, replace(observer, stop=watch))


class TimedSolution(NamedTuple):
    """A solution and the seconds that it took."""

    solution: Solution
    seconds: float


def attempts(
    problem: Problem, settings: Settings, seeds: int, announce: Announce, label: str, failures: list[str]
) -> list[TimedSolution]:
    """Solve once per seed; the reasons of those that fail are added to a list.

    After a run that took too long, other seeds are not tried.
    """
    found = []
    for seed in range(seeds):
        announce(f"{label}, seed {seed}")
        try:
            found.append(TimedSolution(*timed(_solved, problem, seed=seed, settings=settings)))
        except OverBudgetError as error:
            rest = " Other seeds were not tried." if seed + 1 < seeds else ""
            failures.append(f"{label}, seed {seed}: {error}{rest}")
            break
        except FrozenPinnError as error:
            failures.append(f"{label}, seed {seed}: {error}")
    return found


def _solved(problem: Problem, **options: Any) -> Solution:
    solution: Solution = solve(problem, **options)
    return solution


def attempt(case: Case, announce: Announce, recipe: str = "best", variant: Variant | None = None) -> TimedSolution:
    """Solve a case once, by a recipe at high precision; errors are raised. The check of the problem is not timed."""
    variant = variant or case.variants[0]
    announce(f"{case.name} {variant.label}".strip() + f", {recipe}")
    problem = case.problem(**variant.problem)
    timed(check, problem)
    return TimedSolution(*timed(_solved, problem, **case.options(recipe, "high", variant)))


def estimate(solution: Solution) -> ErrorEstimate:
    """Return the program's own estimate of the relative L² error, silently."""
    return timed(own_estimate, solution)[0]


def median(values: Iterable[float]) -> float | None:
    """Return the median, None of nothing."""
    found = list(values)
    return float(np.median(found)) if found else None


def relative(found: Array, exact: Array) -> float:
    """Return the relative L² difference of two arrays."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def exponential(x: Array, y: Array) -> tuple[float, float]:
    """Return a and r of a·exp(r x) through positive values, by least squares of the logarithms.

    Examples
    --------
    >>> a, r = exponential(np.array([0.0, 1.0, 2.0]), 3 * np.exp([0.0, -2.0, -4.0]))
    >>> round(a, 12), round(r, 12)
    (3.0, -2.0)
    """
    rate, offset = np.polyfit(x, np.log(y), 1)
    return float(np.exp(offset)), float(rate)
