"""What is measured near a fit, as polynomials of degree two in the unknowns: new data are fitted without a solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frozenpinn.inverse.curvature import pairs_of
from frozenpinn.inverse.fit import Fit
from frozenpinn.inverse.model import Prediction
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.static import gauss_newton_step, meets_bound

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Local:
    """Values, slopes and second derivatives at one place.

    Attributes
    ----------
    centre, values
        The place, and what would be measured there, (m,).
    slopes, bends
        First derivatives, (m, p), and second ones, (m, pairs).
    """

    centre: Array
    values: Array
    slopes: Array
    bends: Array

    @classmethod
    def moved(cls, known: Fit, best: Fit) -> Local | None:
        """Return what is measured near a fit, with derivatives from close by; None if second ones are not known."""
        bends = known.prediction.bends
        if bends is None:
            return None
        there = cls(known.theta, known.prediction.values, known.prediction.slopes, bends)
        return cls(best.theta, best.prediction.values, there.at(best.theta).slopes, bends)

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured nearby."""
        step = theta - self.centre
        bent = np.zeros_like(self.slopes)
        for column, (i, j) in zip(self.bends.T, pairs_of(len(step)), strict=True):
            bent[:, i] += step[j] * column
            if i != j:
                bent[:, j] += step[i] * column
        return Prediction(self.values + self.slopes @ step + bent @ step / 2.0, self.slopes + bent, None)

    def reaches(self, theta: Array, sigmas: Array, noise: float, rules: InverseRules) -> bool:
        """Whether the third order does not matter: as much smaller than the second as that is than the first."""
        step = theta - self.centre
        straight = self.slopes @ step / sigmas
        first = float(np.linalg.norm(straight))
        second = float(np.linalg.norm((self.at(theta).values - self.values) / sigmas - straight))
        return second <= rules.bent * first and second**2 <= rules.remainder * noise * first


def local_fit(local: Local, question: Question, sigmas: Array, start: Array) -> Fit | None:
    """Fit data near an old fit; None if the polynomials do not reach so far, beside the noise."""
    data, numbers, rules, theta = question.data, question.numbers, question.rules, start
    for _ in range(rules.again):
        prediction = local.at(theta)
        left = (data.values - prediction.values) / sigmas
        squares = float(left @ left)
        noise = 1.0 if data.noise_is_known else np.sqrt(squares / max(len(left) - len(theta), 1))
        if not local.reaches(theta, sigmas, float(noise), rules):
            return None
        step = gauss_newton_step(prediction, data.values, sigmas, numbers, theta)
        small = np.linalg.norm(prediction.slopes @ step / sigmas) <= rules.noise_settled * noise
        if small and not meets_bound(theta, step, numbers):
            return Fit(theta, prediction, squares, ((squares, *map(float, theta)),))
        theta = theta + step
    return None
