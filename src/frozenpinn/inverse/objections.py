"""What speaks against a fit: unknowns that nothing sees, noise that does not suit, numbers that run away."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import chdtr, chdtrc

from frozenpinn.errors import ConvergenceError, FrozenPinnError, ProblemError
from frozenpinn.inverse.fit import FARTHEST, Fit
from frozenpinn.inverse.question import Question

Array = np.ndarray


# ---- what is not seen ---------------------------------------------------------------------------------


def check_seen(question: Question, fit: Fit, error: Array, sigmas: Array, poor: bool) -> None:
    """Refuse unknowns, or combinations of them, that no sensor sees, given by how much the slopes may be wrong.

    What counts is by how much the data change, in units of the noise, or of their size, if an unknown changes by its
    own: relative to the one that is seen best, and at all. If the fit has run away or explains nothing, that is said.
    """
    names, scales = question.free_names, question.free_scales
    try:
        slopes = fit.prediction.slopes[:, question.free]
        blind = 1e-10 if question.numbers.problem.is_static or question.numbers.fields else 1e-7
        _refuse_blind(slopes * scales / sigmas[:, None], error * scales / sigmas[:, None], names, scales, blind)
    except ProblemError as objection:
        _refuse_unseen(question, fit.theta, poor, objection)


def _refuse_blind(weighted: Array, error: Array, names: tuple[str, ...], scales: Array, blind: float) -> None:
    if not np.all(np.isfinite(weighted)):
        raise ProblemError("the slopes of what is measured by the unknowns are not finite.")
    _, singular, right = np.linalg.svd(weighted, full_matrices=False)
    noise = float(np.linalg.norm(error @ right[-1]))
    if singular[-1] > max(blind * max(float(singular[0]), 1.0), 3.0 * noise):
        return
    worst = right[-1] * np.sign(right[-1][np.argmax(np.abs(right[-1]) > 1e-3)])  # the first one counts as positive
    parts = [(name, float(c)) for name, c, r in zip(names, worst * scales, worst, strict=True) if abs(r) > 1e-3]
    if len(parts) == 1:
        name = parts[0][0]
        field = name.removeprefix("the mean of ")
        known = "give it a number" if field == name else f"say what it is somewhere, Measurements(…, field='{field}')"
        raise ProblemError(
            f"the measurements do not depend on '{name}', so nothing can be learnt about it; measure elsewhere, or "
            f"{known}."
        )
    size = max(abs(c) for _, c in parts)
    text = " ".join(f"{'+' if c >= 0 else '-'} {abs(c) / size:.3g}·{name}" for name, c in parts).removeprefix("+ ")
    raise ProblemError(
        f"the measurements can't tell {', '.join(repr(n) for n, _ in parts)} apart: they do not change along the "
        f"direction {text}. Measure something else, or give one of them a number."
    )


def _refuse_unseen(question: Question, theta: Array, poor: bool, objection: ProblemError) -> NoReturn:
    """Raise an objection to slopes that vanish at a fit, and say so if that has run away or explains nothing."""
    moved = np.max(np.abs(theta - question.numbers.start)[: len(question.numbers.names)], initial=0.0) > 0
    moved = moved or any(np.any(theta[own]) for _, own in question.numbers.parts())
    if not (poor and moved) and _runaway(question, theta) is None:
        raise objection
    values = ", ".join(f"{name} = {value:.3g}" for name, (value, _) in _sizes(question, theta).items())
    raise ConvergenceError(
        f"no values fit the data: the fit went to {values}, where {objection} Look for outliers, give the noise, or "
        "bounds, or start elsewhere."
    ) from objection


# ---- what runs away -----------------------------------------------------------------------------------


def check_field_stays(question: Question, fit: Fit) -> None:
    """Refuse a field that explains nothing where it has gone."""
    away = _runaway(question, fit.theta)
    if away is not None:
        raise ConvergenceError(
            f"the data push {away}, and are not explained there: the equation does not describe them. Look for "
            "outliers, give the noise, or start elsewhere."
        )


def _runaway(question: Question, theta: Array) -> str | None:
    """Return which unknown has gone farthest, and where to, if that is a hundred times the size of its start."""
    sizes = _sizes(question, theta)
    name = max(sizes, key=lambda own: sizes[own][1])
    return f"{name} to {sizes[name][0]:.3g}" if sizes[name][1] > 1e2 else None


def _sizes(question: Question, theta: Array) -> dict[str, tuple[float, float]]:
    """Return the numbers and the means of fields, and how large they are relative to their starts."""
    numbers = question.numbers
    found = {
        n: (v, abs(v) / scale) for (n, v), scale in zip(numbers.values(theta).items(), numbers.scales, strict=True)
    }
    for basis, own in numbers.parts():
        mean = basis.unknown.inner_start + basis.scale * float(theta[own.start])
        if basis.unknown.positive:
            mean = float(np.exp(min(mean, 700.0)))  # the logarithm of the largest number
        found[f"the mean of {basis.name}"] = (mean, abs(mean) / (abs(basis.unknown.start) or 1.0))
    return found


def open_ends(
    question: Question,
    fit: Fit,
    sigmas: Array,
    covariance: Array,
    quantile: float,
    predict: Callable[[Array], Array],
    poor: bool,
) -> list[str]:
    """Return notes about intervals beyond one end of which the data are fitted as well; refuse a fit that has no end.

    Where the sum of squares is flat, it was flat on the way, too, and the value that was found means nothing. Intervals
    that are narrow relative to the value are taken to have ends.
    """
    numbers, data, notes = question.numbers, question.data, list[str]()
    here = (data.values - fit.prediction.values) / sigmas
    unit = 1.0 if data.noise_is_known else float(here @ here) / max(len(here) - len(fit.theta), 1)

    def is_flat(end: Array) -> bool:
        """Whether the sum of squares rises much less towards an end of an interval than it should."""
        lower, upper = numbers.bounds
        if not np.all((end >= lower) & (end <= upper)):
            return False
        if np.any(np.abs(end) > FARTHEST * numbers.scales):
            return True
        try:
            left = (data.values - predict(end)) / sigmas
        except FrozenPinnError:
            return False
        return float(left @ left - here @ here) < 0.1 * quantile**2 * unit

    for i, name in enumerate(numbers.names):
        std = float(np.sqrt(covariance[i, i]))
        if numbers.is_affine or std <= 0.1 * max(abs(fit.theta[i]), 1e-3 * numbers.scales[i]):
            continue
        ends = {side: fit.theta + side * quantile * covariance[:, i] / std for side in (-1, 1)}
        flat = [side for side, end in ends.items() if is_flat(end)]
        bound = f"Unknown({numbers.start[i]:g}, lower=…, upper=…)"
        if len(flat) == 2 or (flat and poor):
            raise ConvergenceError(
                f"the data push '{name}' to infinity: the fit went to {fit.theta[i]:.3g}, and beyond, at "
                f"{' and '.join(f'{ends[side][i]:.3g}' for side in flat)}, it is as {'bad' if poor else 'good'}. "
                f"Look for outliers, give the noise, or bounds: {bound}."
            )
        notes += [
            f"values of '{name}' {'above' if side > 0 else 'below'} {ends[side][i]:.3g} fit the data as well: its "
            f"interval is open there. Give a bound, {bound}, or see what found.mcmc() says."
            for side in flat
        ]
    return notes


# ---- what is left -------------------------------------------------------------------------------------


def objection_to_rest(question: Question, fit: Fit, chi_square: float, freedom: int, poor: bool) -> list[str]:
    """Say that what a fit leaves does not suit the noise as given, or, if it is not given, the equation."""
    data, fields = question.data, question.numbers.fields
    if data.noise_is_known:
        objection = _noise_objection(chi_square, freedom)
        if objection and poor and not fields:
            objection += " Or a better minimum was missed: give bounds, and starts=100."
        return [objection] if objection else []
    left, spread = data.values - fit.prediction.values, float(np.std(data.values)) or float(np.max(np.abs(data.values)))
    rest = float(np.sqrt(np.mean(left**2)))
    alike = likeness(question, left) if poor and not fields else 0.0
    if alike:
        noise = float(np.sqrt(np.sum(left**2) / max(freedom, 1)))
        return [
            f"the fit leaves {noise:.2g} of data that vary by {spread:.2g}, and what is left at neighbouring places is "
            f"alike (correlation {alike:.2g}): the equation does not describe them, or a better minimum was missed. "
            "Give bounds, Unknown(1.0, lower=0.1, upper=10), and starts=20."
        ]
    return [
        f"the fit leaves {rest:.2g} of data that vary by {spread:.2g}: they are mostly noise, or the equation does "
        "not describe them. Look for outliers, or give the noise."
    ] * (rest > 0.5 * spread)


def likeness(question: Question, left: Array) -> float:
    """Return the correlation of what is left of the data at neighbouring places; 0 if chance explains it."""
    ends, total, count = question.numbers.problem.domain.lengths, 0.0, 0
    for sensor, own in question.data.slices():
        e = left[own]
        if not sensor.is_plain or len(e) < 8:
            continue
        places = sensor.x / ends
        if sensor.times is not None:
            start, end = question.numbers.problem.time
            places = np.column_stack([places, sensor.times / (end - start)])
        nearest = cKDTree(places).query(places, 2)[1]
        other = np.where(nearest[:, 0] == np.arange(len(e)), nearest[:, 1], nearest[:, 0])
        total, count = total + float(e @ e[other]) / max(float(e @ e), 1e-300) * len(e), count + len(e)
    by_chance = 4.0 / np.sqrt(max(count, 1))  # neighbours come in pairs, so that half of the products are independent
    return total / count if count and total / count > by_chance else 0.0


def _noise_objection(chi_square: float, freedom: int) -> str | None:
    """Say that noise as given does not fit what is left of the data; None if it does."""
    if freedom < 1:
        return None
    each = chi_square / freedom
    if chdtrc(freedom, chi_square) < 1e-3:
        return (
            f"the fit leaves χ² = {each:.3g} per degree of freedom: the noise is about {np.sqrt(each):.2g} times as "
            "large as given, or the equation does not describe the data. Give a larger noise=, or noise=None to "
            "estimate it."
        )
    if chdtr(freedom, chi_square) < 1e-3:
        smaller = 1.0 / np.sqrt(max(each, 1e-300))
        return (
            f"the fit leaves χ² = {each:.3g} per degree of freedom: the noise is about {smaller:.2g} times smaller "
            "than given, so the error bars are too wide. Give a smaller noise=, or noise=None to estimate it."
        )
    return None
