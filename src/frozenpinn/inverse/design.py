"""Which sensors tell most about the unknowns: a greedy choice by the determinant of the information they give."""

from __future__ import annotations

import numpy as np

from frozenpinn.inverse.design_result import Design
from frozenpinn.inverse.evolution import EvolutionModel
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.static import StaticInference

Array = np.ndarray
_IGNORANCE = 1e-6  # information before the first sensor, relative to that of all of them


def slopes_at_start(question: Question) -> Array:
    """Return how what sensors would show depends on the unknowns, at their start, in units of the noise."""
    numbers, data = question.numbers, question.data
    if numbers.problem.is_static:
        inference = StaticInference(numbers, question.task, question.rules)
        prediction = inference.coarse(data).model.at(numbers.start)
    else:
        prediction = EvolutionModel(numbers, data, question.task, question.rules.tangent).at(numbers.start)
    return np.asarray(prediction.slopes / data.sigmas(question.rules)[:, None])


def chosen_sensors(question: Question, count: int) -> Design:
    """Choose sensors one after another, each the one that shrinks the volume of the error bars most."""
    numbers, slopes = question.numbers, slopes_at_start(question)
    scaled = slopes * numbers.scales
    information = _IGNORANCE * float(np.linalg.norm(scaled, 2)) ** 2 * np.eye(scaled.shape[1])
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
