"""Gradients of the initial value, for samplers that orient their neurons by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frozenpinn.statement.problem import Problem

Array = np.ndarray
_STEP = 1e-6  # of differences, relative to the domain


@dataclass(frozen=True)
class InitialGradient:
    """The gradients of all initial values, by differences: from points (n, d) to an array (n, fields, d)."""

    problem: Problem

    def __call__(self, x: Array) -> Array:
        """Return the gradients at points."""
        problem, domain, start = self.problem, self.problem.domain, self.problem.time[0]
        result = np.empty((len(x), len(problem.fields), domain.dimension))
        for axis in range(domain.dimension):
            step = np.zeros(domain.dimension)
            step[axis] = _STEP * domain.lengths[axis]
            after, before = np.minimum(x + step, domain.upper), np.maximum(x - step, domain.lower)
            distance = after[:, axis] - before[:, axis]
            for i, name in enumerate(problem.fields):
                datum = problem.initial[name]
                result[:, i, axis] = (datum(after, start) - datum(before, start)) / distance
        return result
