"""Which sensors determine the unknowns best: a greedy choice by the determinant of the information they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.inverse.evolution import EvolutionModel
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.static import StaticForward
from frozenpinn.runtime.arguments import reals, spelled
from frozenpinn.search.settings import Settings
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Design:
    """What :func:`frozenpinn.design` returns.

    Attributes
    ----------
    chosen
        Which of the candidates, the most telling one first.
    points, times
        Where, and when.
    names
        The unknowns.
    deviations
        The standard deviations to expect of the unknowns with the first, the first two, … sensors, shape (count,
        unknowns).
    with_all
        The same if all candidates were used.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_xx = -k", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(1.0)})
    >>> fp.design(rod, [0.1, 0.2, 0.5, 0.9], 1).chosen
    (2,)
    """

    chosen: tuple[int, ...]
    points: Array
    times: Array | None
    names: tuple[str, ...]
    deviations: Array
    with_all: Array

    def __str__(self) -> str:
        lines = [f"{len(self.chosen)} sensors"]
        for k, (index, x) in enumerate(zip(self.chosen, self.points, strict=True)):
            place = ", ".join(f"{c:.4g}" for c in x)
            when = "" if self.times is None else f", t = {self.times[k]:.4g}"
            bars = ", ".join(f"{n} ± {d:.2g}" for n, d in zip(self.names, self.deviations[k], strict=True))
            lines.append(f"  {index}: ({place}){when}: {bars}")
        bars = ", ".join(f"{n} ± {d:.2g}" for n, d in zip(self.names, self.with_all, strict=True))
        return "\n".join([*lines, f"  all candidates: {bars}"])


def slopes_at_start(question: Question) -> Array:
    """Return how what sensors would show depends on the unknowns, at their start, in units of the noise."""
    numbers, data = question.numbers, question.data
    if numbers.problem.is_static:
        prediction = StaticForward.begin(question).rough.at(numbers.start)
    else:
        prediction = EvolutionModel(numbers, data, question.task, question.rules).at(numbers.start)
    with np.errstate(over="ignore"):  # noise out of proportion is told below
        return np.asarray(prediction.slopes / data.sigmas(question.rules)[:, None])


def chosen_sensors(question: Question, count: int) -> Design:
    """Choose sensors one after another, each the one that shrinks the volume of the error bars most."""
    numbers, slopes = question.numbers, slopes_at_start(question)
    scaled = slopes * numbers.scales
    if not 1e-100 < float(np.linalg.norm(scaled)) < 1e100:
        raise ProblemError(
            "what the candidates would measure does not depend on the unknowns, or their noise= is out of proportion."
        )
    information = (
        1e-6
        * float(  # before the first sensor, relative to that of all of them
            np.linalg.norm(scaled, 2)
        )
        ** 2
        * np.eye(scaled.shape[1])
    )
    chosen, deviations = list[int](), []
    for _ in range(count):
        inverse = np.linalg.inv(information)
        gains = np.einsum("ij,jk,ik->i", scaled, inverse, scaled)
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        chosen.append(best)
        information = information + np.outer(scaled[best], scaled[best])
        deviations.append(numbers.scales * np.sqrt(np.diag(np.linalg.inv(information))))
    everything = np.linalg.pinv(scaled.T @ scaled)
    whole = numbers.scales * np.sqrt(np.diag(everything))
    (part,) = question.data.parts
    times = None if part.times is None else part.times[chosen]
    return Design(tuple(chosen), part.points[chosen], times, numbers.names, np.array(deviations), whole)


@spelled(SettingsError)
def design(
    problem: Problem,
    points: Any,
    count: int,
    *,
    times: Any = None,
    field: str | None = None,
    noise: float = 1.0,
    seed: int = 0,
    settings: Settings | None = None,
) -> Design:
    """Choose sensors among candidates: those from which the unknowns can be inferred best.

    They are chosen one after another, each the one that shrinks the volume of the error bars most, at the start of the
    unknowns. Nothing is measured for that.

    Parameters
    ----------
    problem
        With :class:`Unknown` among its parameters.
    points, times
        Where candidates are, shape (n, d), and when, shape (n,).
    count
        How many to choose.
    field
        What they would measure, if there are several fields.
    noise
        Their standard deviation.
    seed, settings
        As for :func:`infer`.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(1.0)})
    >>> design(problem, [0.1, 0.2, 0.5, 0.9], 1).chosen
    (2,)
    """
    n = len(np.atleast_1d(reals(points, "points are where candidates are, of shape (n, d)", ProblemError)))
    candidates = Measurements(points, np.zeros(n), times, field, noise=noise)
    question = Question.asked("design", problem, candidates, seed, settings, None)
    if problem.parameters.unknown_fields:
        raise SettingsError("design() chooses sensors for unknown numbers; give the unknown fields values with at(…).")
    if not isinstance(count, int) or not 0 < count <= n:
        raise SettingsError(f"count must lie between 1 and the number of candidates, {n}; got {count!r}.")
    return chosen_sensors(question, count)
