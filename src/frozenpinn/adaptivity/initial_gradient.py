"""Gradients of the initial value, for samplers that orient their neurons by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from frozenpinn.basis.samplers import ProjectedSWIM, Sampler
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_STEP = 1e-6  # of differences, relative to the domain


def with_initial_gradient(sampler: Sampler, problem: Problem) -> Sampler:
    """Give a sampler that asks for gradients those of the problem's initial value; others stay as they are."""
    if isinstance(sampler, ProjectedSWIM) and sampler.gradient is None:
        return replace(sampler, gradient=initial_gradient(problem))
    return sampler


def initial_gradient(problem: Problem) -> Callable[[Array], Array]:
    """Return the gradients of all initial values as a function from points (n, d) to an array (n, fields, d)."""
    domain, start = problem.domain, problem.time[0]

    def gradient(x: Array) -> Array:
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

    return gradient
