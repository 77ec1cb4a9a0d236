"""Whether data hold a fit on both sides: at the ends of an interval they must be fitted worse than at its middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from frozenpinn.errors import ConvergenceError, FrozenPinnError, ProblemError
from frozenpinn.inverse.fit import Fit
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.uncertainty import Spread

Array = np.ndarray
_MOST = 700.0  # logarithm of the largest number


def open_ends(
    question: Question, best: Fit, sigmas: Array, spread: Spread, predict: Callable[[Array], Array], poor: bool
) -> list[str]:
    """Return notes about intervals beyond one end of which the data are fitted as well; refuse to tell what has no end.

    Where the sum of squares is flat, it was flat on the way, too, and the value that was found means nothing. Intervals
    that are narrow beside the value are taken to have ends.
    """
    numbers, notes = question.numbers, list[str]()
    for i, name in enumerate(numbers.names):
        std = float(np.sqrt(spread.covariance[i, i]))
        size = max(abs(best.theta[i]), question.rules.same * numbers.scales[i])
        if numbers.is_affine or std <= question.rules.wide * size:
            continue
        step = spread.quantile * spread.covariance[:, i] / std
        ends = {side: best.theta + side * step for side in (-1, 1)}
        flat = [side for side, end in ends.items() if _is_flat(question, best, sigmas, spread, predict, end)]
        if len(flat) == 2 or (flat and poor):
            raise ConvergenceError(
                f"the data push '{name}' to infinity: the fit went to {best.theta[i]:.3g}, and beyond, at "
                f"{' and '.join(f'{ends[side][i]:.3g}' for side in flat)}, it is as {'bad' if poor else 'good'}. "
                f"{_remedy(question, i)}"
            )
        notes += [_open(name, side, ends[side][i], question, i) for side in flat]
    return notes


def _is_flat(
    question: Question, best: Fit, sigmas: Array, spread: Spread, predict: Callable[[Array], Array], end: Array
) -> bool:
    """Whether the sum of squares rises much less towards an end of an interval than it should."""
    (lower, upper), farthest = question.numbers.bounds, question.rules.farthest * question.numbers.scales
    if not np.all((end >= lower) & (end <= upper)):
        return False
    if np.any(np.abs(end) > farthest):
        return True
    try:
        left = (question.data.values - predict(end)) / sigmas
    except FrozenPinnError:
        return False
    here = (question.data.values - best.prediction.values) / sigmas
    unit = 1.0 if question.data.noise_is_known else spread.chi_square / max(spread.freedom, 1)
    return float(left @ left - here @ here) < question.rules.flat * spread.quantile**2 * unit


def _open(name: str, side: int, end: float, question: Question, index: int) -> str:
    where = "above" if side > 0 else "below"
    return (
        f"values of '{name}' {where} {end:.3g} fit the data as well: its interval is open there. Give a bound, "
        f"{_bounded(question, index)}, or see what found.mcmc() says."
    )


def _bounded(question: Question, index: int) -> str:
    return f"Unknown({question.numbers.start[index]:g}, lower=…, upper=…)"


def _remedy(question: Question, index: int) -> str:
    return f"Look for outliers, give the noise, or bounds: {_bounded(question, index)}."


def refuse_unseen(question: Question, theta: Array, poor: bool, objection: ProblemError) -> NoReturn:
    """Raise an objection to slopes that vanish at a fit, and say so if that has run away or explains nothing."""
    moved = np.max(np.abs(theta - question.numbers.start)[: len(question.numbers.names)], initial=0.0) > 0
    moved = moved or any(np.any(theta[own]) for _, own in question.numbers.parts())
    if not (poor and moved) and runaway(question, theta) is None:
        raise objection
    values = ", ".join(f"{name} = {value:.3g}" for name, (value, _) in _sizes(question, theta).items())
    raise ConvergenceError(
        f"no values fit the data: the fit went to {values}, where {objection} Look for outliers, give the noise, or "
        "bounds, or start elsewhere."
    ) from objection


def runaway(question: Question, theta: Array) -> str | None:
    """Return which unknown has gone farthest, and where to, if that is far away from its start."""
    sizes = _sizes(question, theta)
    name = max(sizes, key=lambda own: sizes[own][1])
    return f"{name} to {sizes[name][0]:.3g}" if sizes[name][1] > question.rules.away else None


def _sizes(question: Question, theta: Array) -> dict[str, tuple[float, float]]:
    """Return the numbers and the means of fields, and how large they are beside their starts."""
    numbers = question.numbers
    found = {
        n: (v, abs(v) / scale) for (n, v), scale in zip(numbers.values(theta).items(), numbers.scales, strict=True)
    }
    for basis, own in numbers.parts():
        mean = basis.unknown.inner_start + basis.scale * float(theta[own.start])
        if basis.unknown.positive:
            mean = float(np.exp(min(mean, _MOST)))
        found[f"the mean of {basis.name}"] = (mean, abs(mean) / (abs(basis.unknown.start) or 1.0))
    return found
