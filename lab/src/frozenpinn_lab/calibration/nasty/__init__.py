"""Problems made to hide something from solves: narrow peaks, pulses, growth, stiffness, corners; all with references.

Each class has a maker that draws its numbers from a seed. Most solutions are formulas: what is narrow in an equation is
derived from a solution that depends on it, so that a solve which does not see it is wrong. Others are found by spectral
elements placed by hand and SciPy's stiff integrators (lab/references), which share nothing with the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.entry import Entry
from frozenpinn_lab.calibration.nasty.growth import GROWTH
from frozenpinn_lab.calibration.nasty.moments import MOMENTS
from frozenpinn_lab.calibration.nasty.narrow import HIDDEN, NARROW
from frozenpinn_lab.calibration.nasty.parts import Draw
from frozenpinn_lab.calibration.nasty.plane import PLANE
from frozenpinn_lab.calibration.nasty.questions import INFERENCES, MODES, Question
from frozenpinn_lab.calibration.nasty.rest import REST
from frozenpinn_lab.calibration.nasty.rings import RINGS
from frozenpinn_lab.calibration.nasty.shapes import SHAPES
from frozenpinn_lab.calibration.nasty.space import SPACE
from frozenpinn_lab.calibration.nasty.stiff import STIFF

_MAKERS = (*NARROW, *SPACE, *MOMENTS, *GROWTH, *STIFF, *PLANE, *RINGS, *REST, *SHAPES)
CLASSES: Mapping[str, Callable[[Draw], Problem]] = {
    **HIDDEN,
    **{maker.__name__.replace("_", " "): maker for maker in _MAKERS},
}
#: Eigenvalues and inferences, which are asked for in their own way.
QUESTIONS: Mapping[str, Callable[[Draw], Question]] = {
    maker.__name__.replace("_", " "): maker for maker in (*MODES, *INFERENCES)
}
_ACCURACY = {"extinction front": 1e-5, "kinked wave": 1e-6}


def _made(name: str, number: int) -> Problem:
    return CLASSES[name](np.random.default_rng((sum(map(ord, name)), number)))


def nasty_ones(count: int) -> list[Entry]:
    """Return so many problems of each class."""
    return [
        Entry(
            f"{name} {number}",
            name,
            partial(_made, name, number),
            _ACCURACY.get(name, 1e-6 if name.startswith("hidden") else 1e-8),
        )
        for name in CLASSES
        for number in range(count)
    ]


def asked(name: str, number: int) -> Question:
    """Return a question of a class."""
    return QUESTIONS[name](np.random.default_rng((sum(map(ord, name)), number)))
