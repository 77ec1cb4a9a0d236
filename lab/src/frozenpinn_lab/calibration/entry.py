"""What a problem of the calibration study is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frozenpinn.statement.problem import Problem

#: Formulas are evaluated in floating point: no error can be measured below this.
ROUND_OFF = 1e-13
GROUPS = ("case", "test", "generated")


@dataclass(frozen=True)
class Entry:
    """A problem with a known solution.

    Attributes
    ----------
    name, group
        How it is called, unique; and where it comes from: ``"case"``, ``"test"`` or ``"generated"``.
    build
        Makes the problem.
    accuracy
        Relative L² error of its exact solution: round-off of a formula, or what a numerical reference has.
    test_points
        Where errors are measured; None takes the common grid.
    describe
        Returns a few words about it, if the name does not tell.
    """

    name: str
    group: str
    build: Callable[[], Problem]
    accuracy: float = ROUND_OFF
    test_points: Callable[[Problem], np.ndarray] | None = None
    describe: Callable[[], str] = str  # nothing
