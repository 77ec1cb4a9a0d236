"""An ordinary solve at the values that were found: both networks of a fit may be wrong alike, at corners and layers.

Its tolerance follows the noise. Where it says something else at the sensors, the models are moved by that, and the fit
is made again; what then remains, or what the solve itself is uncertain of, widens the error bars.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import FrozenPinnError, noted, repeat
from frozenpinn.inverse.fit import Fit, refined
from frozenpinn.inverse.model import Forward, Model, Prediction
from frozenpinn.inverse.priors import Prior
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.sensors import Data
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import Budget
from frozenpinn.runtime.stopwatch import Progress
from frozenpinn.search.search import Search
from frozenpinn.search.settings import Settings, Tolerances
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_SEED = 2000  # of the ordinary solve, beyond that of the fit


@dataclass(frozen=True, eq=False)
class Ordinary:
    """What an ordinary solve says at the sensors.

    Attributes
    ----------
    solution
        The solution, with its estimated error; None if there is none.
    tol
        What was asked of it.
    apart
        By how much it differs from the fit at the sensors, and what it may be wrong by there.
    doubt
        The latter.
    distance
        The root mean square of the former, in deviations of the noise.
    moved
        The same of the first solve, if the fit was made again because of it; else 0.
    failure
        Why there is no solution.
    """

    solution: Solution | None
    tol: float
    apart: Array
    doubt: Array
    distance: float
    moved: float = 0.0
    failure: str = ""

    @property
    def error(self) -> float:
        """Its estimated relative error."""
        known = self.solution is not None and self.solution.error_estimate is not None
        return self.solution.error_estimate.worst if known else float("nan")  # type: ignore[union-attr]

    @property
    def is_apart(self) -> bool:
        """Whether it differs from the fit by more than it may be wrong by."""
        return self.moved > 0.0 or _rms(self.apart) > 3.0 * _rms(self.doubt)

    @property
    def is_sure(self) -> bool:
        """Whether it is within its tolerance."""
        return self.solution is not None and self.solution.status == "converged"


class Confirmed(NamedTuple):
    """A fit that an ordinary solve has looked at: models, the fit, deviations, and what was said."""

    forward: Forward
    fit: Fit
    sigmas: Array
    ordinary: Ordinary


def confirmed(forward: Forward, prior: Prior, fit: Fit, sigmas: Array, seconds: float, progress: Progress) -> Confirmed:
    """Compare a fit with an ordinary solve, and move the models and fit again while that says something else.

    ``seconds`` is how long one solve may take.
    """
    rounds, visible = 3, 0.2  # visible: a change of the unknowns, in their own deviations
    question, moved = prior.question, 0.0
    for remaining in reversed(range(rounds)):
        ordinary = _solved(question, fit, noise_of(question, fit, sigmas), seconds, progress)
        ordinary = replace(ordinary, moved=moved)
        if not remaining or not _contradicts(ordinary, prior, fit, sigmas, visible):
            return Confirmed(forward, fit, sigmas, ordinary)
        moved = moved or ordinary.distance
        assert ordinary.solution is not None
        forward = MovedForward(forward, ordinary.apart, ordinary.solution, question.data, fit.theta)
        fit, sigmas = refined(forward.fine, prior, sigmas, fit)
    raise AssertionError("the last round returns")


def noise_of(question: Question, fit: Fit, sigmas: Array) -> Array:
    """Return the standard deviations of the noise, also where they are estimated."""
    if question.data.noise_is_known:
        return sigmas
    return sigmas * np.sqrt(fit.squares / max(len(sigmas) - len(question.free), 1))


def response(prior: Prior, fit: Fit, sigmas: Array, change: Array) -> Array:
    """Return by how much the unknowns change if all predictions do."""
    plain, other = (
        prior.posterior(fit.prediction._replace(values=values), fit.theta, sigmas, covariance=False).mean
        for values in (fit.prediction.values, fit.prediction.values + change)
    )
    return np.asarray(other - plain)


def _contradicts(ordinary: Ordinary, prior: Prior, fit: Fit, sigmas: Array, visible: float) -> bool:
    """Whether a solve says something else than a fit: more than it may be wrong by, and than noise would hide."""
    surely = 3.0  # how many times its own uncertainty
    apart = _rms(ordinary.apart)
    if ordinary.solution is None or apart <= max(
        surely * _rms(ordinary.doubt), ordinary.tol * _rms(fit.prediction.values)
    ):
        return False
    noise = noise_of(prior.question, fit, sigmas)
    change = fit.prediction.slopes @ response(prior, fit, sigmas, ordinary.apart) / noise
    return bool(np.linalg.norm(change) > visible or ordinary.distance > visible)


def _solved(question: Question, fit: Fit, noise: Array, seconds: float, progress: Progress) -> Ordinary:
    """Solve the problem at the values of a fit, as anybody would."""
    data, problem, task = question.data, question.numbers.solved_at(fit.theta), question.task
    tol, own = _tolerance(question, noise), task.settings
    settings = Settings(scale=own.scale, relative_to=own.relative_to, without=own.without, rules=own.rules)
    tolerances = Tolerances.of(tol, None, settings.rules.search)
    asked = replace(task, settings=settings, seed=task.seed + _SEED, tolerances=tolerances)
    try:
        with noted() as caught:
            solution = Search(problem, asked, Budget(seconds), progress).solve()
    except FrozenPinnError as error:
        nothing = np.zeros(len(noise))
        return Ordinary(None, tol, nothing, nothing, float("nan"), failure=str(error))
    if solution.status == "converged" and not question.numbers.fields:
        repeat(caught)
    apart, doubt = values_at(data, problem, solution) - fit.prediction.values, _doubt(data, problem, solution)
    stated = replace(solution, problem=question.numbers.stated(fit.theta))
    return Ordinary(stated, tol, apart, doubt, _rms(apart / noise))


def _tolerance(question: Question, noise: Array) -> float:
    """Return the relative error that moves the unknowns by a small part of what the noise does."""
    part, least, most = 0.2, 1e-6, 1e-2
    levels, count = [], max(1.0, len(noise) / max(len(question.free), 1))
    for _, own in question.data.slices():
        levels.append(_rms(noise[own]) / max(_rms(question.data.values[own]), 1e-300))
    return float(np.clip(part * min(levels) / np.sqrt(count), least, most))


def values_at(data: Data, problem: Problem, solution: Solution) -> Array:
    """Return what would be measured of a solution."""
    found = []
    for sensor in data.sensors:
        if sensor.times is None:
            jets = [solution.jet_values(sensor.x, np.zeros(1), jet)[:, 0] for jet in sensor.jets]
        else:
            jets = [solution.paired_values(sensor.x, sensor.times, jet) for jet in sensor.jets]
        found.append(sensor.values(problem, jets))
    return np.concatenate(found)


def _doubt(data: Data, problem: Problem, solution: Solution) -> Array:
    """Return by how much a solution may be wrong at the sensors: the part of its distance from its witness."""
    values, estimate = values_at(data, problem, solution), solution.error_estimate
    if solution.witness is None or estimate is None:
        return np.abs(values) * (1.0 if estimate is None or not np.isfinite(estimate.worst) else estimate.worst)
    parts = []
    for sensor in data.sensors:
        times = np.zeros(sensor.count) if sensor.times is None or not sensor.is_plain else sensor.times
        parts.append(np.max([estimate.part(times, name) for name in problem.fields], axis=0))
    return np.asarray(np.concatenate(parts) * np.abs(values_at(data, problem, solution.witness) - values))


def ordinary_failure(ordinary: Ordinary) -> list[str]:
    """Say that there is no ordinary solution, if so."""
    return [
        f"there is no ordinary solution at these values: {ordinary.failure} The error bars contain the distance of two "
        "networks, but not what both have missed."
    ] * (ordinary.solution is None)


def ordinary_notes(ordinary: Ordinary, noise_is_known: bool) -> list[str]:
    """Say what an ordinary solve makes of a fit."""
    if ordinary.solution is None:
        return []
    deviations = "deviations of the noise" if noise_is_known else "deviations of the estimated noise"
    notes = [
        f"an ordinary solve at these values differs from the fit by {ordinary.distance:.2g} {deviations} at the "
        f"sensors (root mean square); its estimated error is {ordinary.error:.1e}"
    ]
    if ordinary.moved:
        notes.append(
            f"an ordinary solve at the values of the first fit differed from it by {ordinary.moved:.2g} {deviations}, "
            "so that the models of the fit were moved by it, and the fit was made again"
        )
    if not ordinary.is_sure:
        notes.append(f"the ordinary solve did not reach tol={ordinary.tol:.1e}; its error is part of the error bars")
    return notes


def widened(covariance: Array, prior: Prior, fit: Fit, sigmas: Array, ordinary: Ordinary) -> Array:
    """Return a covariance with what an ordinary solve leaves open: its distance, and its own error if that is large."""
    changes = [ordinary.apart] if ordinary.is_apart and len(ordinary.apart) == len(sigmas) else []
    if not ordinary.is_sure and np.isfinite(ordinary.error):
        changes.append(ordinary.error * fit.prediction.values)  # as if all of it were too large by that
    for change in changes:
        shift = response(prior, fit, sigmas, change)
        covariance = covariance + np.outer(shift, shift)
    return covariance


# ---- models that are moved ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MovedModel:
    """A model whose predictions are moved by the same everywhere."""

    plain: Model
    shift: Array

    @property
    def follows(self) -> bool:
        """Whether the last, small step may be taken to first order."""
        return self.plain.follows

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured."""
        found = self.plain.at(theta, near)
        return found._replace(values=found.values + self.shift)


@dataclass(frozen=True, eq=False)
class MovedForward:
    """The models of a problem, moved by what an ordinary solution says at the sensors.

    ``data`` are those that ``shift`` belongs to, and ``centre`` the unknowns of the ordinary solution.
    """

    plain: Forward
    shift: Array
    exact: Solution
    data: Data
    centre: Array

    @property
    def rough(self) -> Model:
        """Where fits are looked for."""
        return MovedModel(self.plain.rough, self.shift)

    @property
    def fine(self) -> Model:
        """Where they are refined."""
        return MovedModel(self.plain.fine, self.shift)

    def refined(self, fit: Fit) -> MovedForward:
        """Return the same: what is moved is refined already."""
        return self

    def twin(self, question: Question, theta: Array, fit: Fit, sigmas: Array) -> Model:
        """Return a model on other networks, moved alike."""
        return MovedModel(self.plain.twin(question, theta, self._back(fit), sigmas), self.shift)

    def solution(self, fit: Fit, known: Solution | None = None) -> Solution:
        """Return the solution at a fit."""
        return self.plain.solution(fit, known)

    def predict(self, fit: Fit) -> Callable[[Array], Array]:
        """Return the function from unknowns to what would be measured."""
        inner = self.plain.predict(self._back(fit))
        return lambda theta: inner(theta) + self.shift

    def renewed(self, data: Data, fit: Fit, noise: Array) -> tuple[MovedForward, list[Model]]:
        """Return the models for new data; at other places they are moved by what the ordinary solution says there."""
        back = self._back(fit)
        plain, models = self.plain.renewed(data, back, noise)
        shift = self.shift
        if not data.has_places_of(self.data):
            shift = values_at(data, self.exact.problem, self.exact) - plain.predict(back)(self.centre)
        other = MovedForward(plain, shift, self.exact, data, self.centre)
        return other, [MovedModel(model, shift) for model in models]

    def _back(self, fit: Fit) -> Fit:
        return fit._replace(prediction=fit.prediction._replace(values=fit.prediction.values - self.shift))


def _rms(values: Array) -> float:
    size = float(np.max(np.abs(values), initial=0.0)) or 1.0  # squares may overflow
    return size * float(np.sqrt(np.mean(np.square(values / size))))
