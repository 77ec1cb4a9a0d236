"""Values of solutions in the coordinates of their statement: polar, cylindrical, spherical."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.results.evaluation import check_inside

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.frames import Frame
    from frozenpinn.statement.problem import Problem

Array = np.ndarray


def frame_of(problem: Problem) -> Frame | None:
    """Return the frame whose coordinates solutions are called with, if it is not that of the solve."""
    frame = problem.frame
    return frame if frame is not None and frame.is_called else None


def charted(solution: Solution, coordinates: Sequence[Array], t: Array, jet: Jet) -> Array:
    """Evaluate a derivative in coordinates of the statement, given as arrays of the same rank that broadcast."""
    problem = solution.problem
    assert problem.frame is not None
    shape = np.broadcast_shapes(*(c.shape for c in coordinates), t.shape)
    places = np.stack(
        [np.broadcast_to(c, np.broadcast_shapes(*(c.shape for c in coordinates))).ravel() for c in coordinates], axis=1
    )
    check_inside(problem, places, t, problem.stated)
    jets = problem.jets
    expression = problem.frame.chart(jets).differentiated(jet.field, jet)
    inner = problem.frame.to_inner(*(problem.frame.off_axis(coordinates) if any(jet.alpha) else coordinates))
    found = jets.affine(expression)
    assert found is not None
    terms, _ = found
    program = Program(tuple(terms.values()), jets.x)
    spread = [np.broadcast_to(c, np.broadcast_shapes(*(c.shape for c in inner))) for c in inner]
    with np.errstate(all="ignore"):
        factors = program(*spread)
    total = np.zeros(shape)
    for own, factor in zip(terms, factors, strict=True):
        total += factor * solution._broadcast(spread, t, shape, own)
    return total
