"""The tuned numbers of eigenvalue problems, each a field that users may replace: ``Rules(modes=ModeRules(…))``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModeRules:
    """Sizes, and when a value is believed."""

    points: tuple[float, float, float] = (2.0, 4.0, 6.0)  #: points of the domain for each neuron
    cutoffs: tuple[float, ...] = (1e-13, 1e-11, 1e-9, 1e-7)  #: of the SVD layer, from fine to coarse
    more: int = 8  #: values that are looked at beyond those asked for
    small: float = 1e-2  #: part of the largest value asked for that is the scale of those near zero
    neutral: float = 1e-7  #: growth rate, relative to the size of the eigenvalues, that is none
