"""What stands among the neurons of a static problem, and what an enrichment is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from frozenpinn.assembly.collocation import Function
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.special import joined
from frozenpinn.geometry import BoundaryPoints, Points
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.static.plan import StaticPlan


class MorePoints(Protocol):
    """Where special functions need points of their own."""

    def with_points(self, points: Points, count: int, problem: Problem, rng: np.random.Generator) -> Points:
        """Return points of the domain with more of them there."""

    def with_boundary(self, points: BoundaryPoints, problem: Problem) -> BoundaryPoints:
        """Return points of a side with more of them there."""


class Features(NamedTuple):
    """Special functions that may help, where they need points, and what to note if they are used.

    Functions of corners, holes, layers and boxes are noted by their class, so they need no decision of their own.
    """

    functions: SpecialFunctions
    sites: MorePoints | None = None
    decision: Decision | None = None


class Pilot(NamedTuple):
    """A narrow solve, which is offered special functions.

    Attributes
    ----------
    plan
        How it was made.
    found
        What it has found without them.
    detailed
        Whether sources may have too much detail for it.
    always
        Functions of corners at which gradients are unbounded: they are there in any case.
    corners, holes
        Functions of other corners, and multipoles of holes.
    """

    plan: StaticPlan
    found: Function
    detailed: bool
    always: SpecialFunctions | None
    corners: SpecialFunctions | None
    holes: SpecialFunctions | None

    @property
    def is_whole(self) -> bool:
        """Whether the domain is not cut into parts, each with neurons of its own."""
        return self.plan.problem.interfaces is None

    @property
    def without(self) -> tuple[str, ...]:
        """What the user has switched off."""
        return self.plan.task.settings.without


class Enrichment(Protocol):
    """An entry of the list: yields functions for a pilot to try, nothing for most problems."""

    def __call__(self, pilot: Pilot) -> Iterator[Features]:
        """Inspect a pilot and yield what may help."""


def beside(functions: SpecialFunctions, *others: SpecialFunctions | None) -> SpecialFunctions:
    """Return functions together with others."""
    return joined([functions, *others]) or functions
