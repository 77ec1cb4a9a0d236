"""How sure a fit is: covariance from the slopes at the sensors and the noise, given or estimated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtr, chdtrc, ndtri, stdtrit

from frozenpinn.errors import ProblemError
from frozenpinn.inverse.rules import InverseRules

Array = np.ndarray
_CLEAR = 3.0  # by which a slope must exceed what it may be wrong by


class Spread(NamedTuple):
    """Covariance of the unknowns, χ² and degrees of freedom, the noise, and how many deviations a level means."""

    covariance: Array
    chi_square: float
    freedom: int
    noise: float | None
    quantile: float


def relative_sight(slopes: Array, sigmas: Array, scales: Array) -> float:
    """Return how well the combination of unknowns is seen that is seen worst, relative to that which is seen best."""
    singular = np.linalg.svd(slopes * scales / sigmas[:, None], compute_uv=False)
    return float(singular[-1] / max(singular[0], 1e-300))


def check_seen(slopes: Array, error: Array, sigmas: Array, names: tuple[str, ...], scales: Array, blind: float) -> None:
    """Refuse unknowns, or combinations of them, that no sensor sees, given by how much the slopes may be wrong.

    What counts is by how much the data change, in units of the noise, or of their size, if an unknown changes by its
    own: beside the one that is seen best, and at all.
    """
    weighted = slopes * scales / sigmas[:, None]
    if not np.all(np.isfinite(weighted)):
        raise ProblemError("the slopes of what is measured by the unknowns are not finite.")
    _, singular, right = np.linalg.svd(weighted, full_matrices=False)
    noise = float(np.linalg.norm(error * scales / sigmas[:, None] @ right[-1]))
    if singular[-1] > max(blind * max(float(singular[0]), 1.0), _CLEAR * noise):
        return
    worst = right[-1] * np.sign(right[-1][np.argmax(np.abs(right[-1]) > 1e-3)])  # the first one counts as positive
    direction = worst * scales
    parts = [(name, float(c)) for name, c, r in zip(names, direction, worst, strict=True) if abs(r) > 1e-3]
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


def spread_of(residuals: Array, slopes: Array, sigmas: Array, known: bool, level: float) -> Spread:
    """Return the covariance of a fit.

    With known noise it is (JᵀWJ)⁻¹. Otherwise each residual tells of its own noise, which need not be the same
    everywhere: the sandwich (JᵀJ)⁻¹ Jᵀ diag(r²/(1 − h)²) J (JᵀJ)⁻¹, with leverages h (MacKinnon & White 1985, HC3).
    That is itself uncertain, and too small where few data count: no deviation is smaller than noise that is the same
    everywhere would make it (Angrist & Pischke 2009, section 8.1).
    """
    count, size = slopes.shape
    left, weighted = residuals / sigmas, slopes / sigmas[:, None]
    norms = np.linalg.norm(weighted, axis=0)
    norms = np.where(norms > 0, norms, 1.0)
    q, r = np.linalg.qr(weighted / norms)
    inverse = np.linalg.inv(r) / norms[:, None]
    squares, freedom = float(left @ left), max(count - size, 0)
    if known:
        return Spread(inverse @ inverse.T, squares, freedom, None, float(ndtri(0.5 + level / 2)))
    leverage = np.minimum(np.einsum("ij,ij->i", q, q), 1.0 - 1e-6)
    meat = (q * (left / (1.0 - leverage))[:, None] ** 2).T @ q
    quantile = float(stdtrit(max(freedom, 1), 0.5 + level / 2))
    noise = float(np.sqrt(np.sum(residuals**2) / max(freedom, 1)))
    covariance, even = inverse @ meat @ inverse.T, squares / max(freedom, 1) * np.sum(inverse**2, axis=1)
    wider = np.sqrt(np.maximum(even / np.maximum(np.diag(covariance), 1e-300), 1.0))
    return Spread(covariance * wider * wider[:, None], squares, freedom, noise, quantile)


def noise_objection(chi_square: float, freedom: int, rules: InverseRules) -> str | None:
    """Say that noise as given does not fit what is left of the data; None if it does."""
    if freedom < 1:
        return None
    each = chi_square / freedom
    if chdtrc(freedom, chi_square) < rules.inconsistent:
        return (
            f"the fit leaves χ² = {each:.3g} per degree of freedom: the noise is about {np.sqrt(each):.2g} times as "
            "large as given, or the equation does not describe the data. Give a larger noise=, or noise=None to "
            "estimate it."
        )
    if chdtr(freedom, chi_square) < rules.inconsistent:
        smaller = 1.0 / np.sqrt(max(each, 1e-300))
        return (
            f"the fit leaves χ² = {each:.3g} per degree of freedom: the noise is about {smaller:.2g} times smaller "
            "than given, so the error bars are too wide. Give a smaller noise=, or noise=None to estimate it."
        )
    return None
