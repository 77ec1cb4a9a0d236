"""Weighted nonlinear least squares with bounds: Gauss–Newton in a trust region, from one start or several."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import ConvergenceError, EvaluationError, FrozenPinnError, IntegrationError
from frozenpinn.inverse.model import Model, Prediction, TwoStages
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensors import Data
from frozenpinn.inverse.unknowns import Numbers

Array = np.ndarray
_FAR = 1e4  # factor of the first guess within which other starts are looked for, where there are no bounds
FAILURES = (ConvergenceError, EvaluationError, IntegrationError)  #: of values at which an equation has no solution
_FAILED = 1e6  # weighted residual that stands for an equation without a solution


def corrected_slopes(slopes: Array, missed: Array, step: Array, scales: Array) -> Array:
    """Return slopes that explain a step, with the least change in scaled unknowns (Broyden 1965)."""
    along = step / scales**2
    return np.asarray(slopes + np.outer(missed, along) / max(float(step @ along), 1e-300))


class Fit(NamedTuple):
    """Values of the unknowns, what they predict, the sum of squares of weighted residuals, and the steps so far."""

    theta: Array
    prediction: Prediction
    squares: float
    steps: tuple[tuple[float, ...], ...]


@dataclass(eq=False)
class _Evaluations:
    """Predictions at the values that a fit asks for, each made once; a failed one counts as a bad fit.

    Where slopes cost as much as values do, they are computed at the start and at the end. On the way each step corrects
    them by what it has shown (Broyden 1965), unless that is much.
    """

    model: Model
    values: Array
    sigmas: Array
    scales: Array
    near: Any
    rules: InverseRules
    last: tuple[bytes, Prediction] | None = None
    known: tuple[Array, Array, Array] | None = None  # where slopes were asked for, values and slopes there
    history: list[tuple[float, ...]] = dataclasses.field(default_factory=list)

    def _at(self, scaled: Array) -> Prediction | None:
        key = scaled.tobytes()
        if self.last is not None and self.last[0] == key:
            return self.last[1]
        theta = scaled * self.scales
        if np.max(np.abs(scaled), initial=0.0) > self.rules.farthest:
            return None
        try:
            if isinstance(self.model, TwoStages):
                values, state = self.model.values(theta)
                prediction = Prediction(values, np.zeros((len(values), 0)), state)
            else:
                prediction = self.model.at(theta, self.near)
        except FAILURES:
            if self.near is None:
                raise
            return None
        self.near = prediction.state
        self.last = (key, prediction)
        return prediction

    def residuals(self, scaled: Array) -> Array:
        found = self._at(scaled)
        if found is None:
            return np.full(len(self.values), _FAILED)
        left = np.asarray((found.values - self.values) / self.sigmas)
        self.history.append((float(left @ left), *map(float, scaled * self.scales)))
        return left

    def slopes(self, scaled: Array) -> Array:
        found = self._at(scaled)
        assert found is not None
        slopes = found.slopes
        if isinstance(self.model, TwoStages):
            slopes = self._corrected(scaled, found)
            self.known = (scaled.copy(), found.values, slopes)
        return np.asarray(slopes * self.scales / self.sigmas[:, None])

    def _corrected(self, scaled: Array, found: Prediction) -> Array:
        """Return slopes that explain the last step, or exact ones if there was none or it says much against the old."""
        if self.known is not None:
            before, values, slopes = self.known
            step, change = (scaled - before) * self.scales, found.values - values
            missed = change - slopes @ step
            old, new = (np.linalg.norm((v - self.values) / self.sigmas) for v in (values, found.values))
            fits = np.linalg.norm(missed / self.sigmas) <= self.rules.secant * np.linalg.norm(change / self.sigmas)
            if fits and new**2 <= self.rules.secant_gain * old**2:
                return corrected_slopes(slopes, missed, step, self.scales)
        assert isinstance(self.model, TwoStages)
        return self.model.slopes(scaled * self.scales, found.state)

    def final(self, scaled: Array) -> Prediction:
        """Return the prediction with exact slopes, and second derivatives: together they cost little more."""
        found = self._at(scaled)
        assert found is not None
        if not isinstance(self.model, TwoStages):
            return found
        slopes, bends = self.model.bend(scaled * self.scales, found.state)
        return found._replace(slopes=slopes, bends=bends)


def fit(
    model: Model, data: Data, sigmas: Array, numbers: Numbers, start: Array, rules: InverseRules, near: Any = None
) -> Fit:
    """Fit the unknowns from one start."""
    from scipy.optimize import least_squares  # it takes a tenth of a second, which few need

    lower, upper = numbers.bounds
    scales = numbers.scales
    evaluations = _Evaluations(model, data.values, sigmas, scales, near, rules)
    inside = np.clip(start, lower, upper) / scales
    with np.errstate(all="ignore"):  # where the slopes vanish
        found = least_squares(
            evaluations.residuals,
            inside,
            evaluations.slopes,
            bounds=(lower / scales, upper / scales),
            x_scale="jac",
            xtol=rules.settled,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=rules.steps,
        )
    prediction = evaluations.final(found.x)
    left = (prediction.values - data.values) / sigmas
    return Fit(np.asarray(found.x * scales), prediction, float(left @ left), tuple(evaluations.history))


def is_poor(found: Fit, data: Data, numbers: Numbers, rules: InverseRules) -> bool:
    """Whether a fit leaves more than noise."""
    count = len(data.values)
    if data.noise_is_known:
        return found.squares > rules.poor * max(1, count - len(numbers.names)) + rules.poor * np.sqrt(2.0 * count)
    spread = float(np.std(data.values)) or 1.0
    return float(np.sqrt(np.mean((found.prediction.values - data.values) ** 2))) > rules.unexplained * spread


def other_starts(numbers: Numbers, count: int, seed: int) -> list[Array]:
    """Return starts spread over the bounds, in the logarithm where a bound is positive and far from the other.

    Where there is no bound, they spread over some powers of ten about the size of the first guess, with its sign.
    """
    lower, upper = _ranges(numbers)
    signs = np.where(upper <= 0, -1.0, 1.0)  # those below zero are drawn as their opposites
    lower, upper = np.where(signs < 0, -upper, lower), np.where(signs < 0, -lower, upper)
    from scipy.stats import qmc  # slow to import, rarely needed

    unit = qmc.Halton(len(lower), seed=seed).random(count)
    wide = (lower > 0) & (upper > 10.0 * lower)
    low, high = (
        np.where(wide, np.log(np.where(wide, lower, 1.0)), lower),
        np.where(wide, np.log(np.where(wide, upper, 1.0)), upper),
    )
    spread = low + unit * (high - low)
    return list(signs * np.where(wide, np.exp(np.where(wide, spread, 0.0)), spread))


def _ranges(numbers: Numbers) -> tuple[Array, Array]:
    """Return where other starts are looked for: between the bounds, or within powers of ten of the first guess."""
    ends = []
    for unknown, size in zip(numbers.table.values(), numbers.scales, strict=True):
        low, high = unknown.bounds
        near, far = size / _FAR, size * _FAR
        reach = (-far, -near) if unknown.start < 0 else (near, far) if unknown.start > 0 else (-size, size)
        low = low if np.isfinite(low) else min(reach[0], high - size if np.isfinite(high) else np.inf)
        high = high if np.isfinite(high) else max(reach[1], low + size)
        ends.append((low, high))
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


def fit_from_many(
    model: Model, data: Data, sigmas: Array, numbers: Numbers, rules: InverseRules, starts: int | None, seed: int
) -> list[Fit]:
    """Fit from the start, and from others over the bounds if that is poor or asked for; the best comes first."""
    fits, failure = [], None
    try:
        fits.append(fit(model, data, sigmas, numbers, numbers.start, rules))
    except FrozenPinnError as error:
        failure = error
    count = starts if starts is not None else 0
    if starts is None and (failure is not None or is_poor(fits[0], data, numbers, rules)):
        count = min(rules.starts * len(numbers.names), rules.most_starts)
    others = other_starts(numbers, count, seed) if count else []
    if starts is None and others:
        others = _promising(model, data, sigmas, others, rules.promising)
    for start in others:
        try:
            fits.append(fit(model, data, sigmas, numbers, start, rules))
        except FrozenPinnError:
            continue
    if not fits:
        tried = f", nor at {count} others that were tried" if count else ""
        raise ConvergenceError(
            f"the problem has no solution at the start of the unknowns, {numbers.shown_start}{tried}: {failure} Start "
            "elsewhere: Unknown(start=…)."
        ) from failure
    return distinct(sorted(fits, key=lambda f: f.squares), numbers, rules)


def _promising(model: Model, data: Data, sigmas: Array, starts: Sequence[Array], most: int) -> list[Array]:
    """Return the starts that leave least of the data, without fitting from any."""
    found = []
    values = getattr(model, "values", None) or (lambda theta: (model.at(theta).values, None))
    for start in starts:
        try:
            left = (values(start)[0] - data.values) / sigmas
        except FrozenPinnError:
            continue
        found.append((float(left @ left), start))
    found = [pair for pair in found if np.isfinite(pair[0])]
    return [start for _, start in sorted(found, key=lambda pair: pair[0])[:most]]


def distinct(fits: Sequence[Fit], numbers: Numbers, rules: InverseRules) -> list[Fit]:
    """Return the fits that are different minima, in order."""
    kept: list[Fit] = []
    for found in fits:
        sizes = np.maximum(np.abs(found.theta), 1e-3 * numbers.scales)
        if all(np.max(np.abs(found.theta - other.theta) / sizes) > rules.same for other in kept):
            kept.append(found)
    return kept
