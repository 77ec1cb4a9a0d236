"""THE LIST of other forms of a problem that are easier to solve, each with the view back to the user's fields."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.fronts import KnownParts, WithoutFronts
from frozenpinn.transforms.logarithm import Logarithm
from frozenpinn.transforms.moving_frame import MovingFrame
from frozenpinn.transforms.multipliers import Multipliers, Recovered
from frozenpinn.transforms.potential import Potential
from frozenpinn.transforms.subspace import Restriction
from frozenpinn.transforms.units import Units
from frozenpinn.transforms.views import Transform, View

TRANSFORMS: list[type[Transform]] = [
    WithoutFronts,
    Multipliers,
    Potential,
    Restriction,
    Logarithm,
    Units,
]  #: in the order in which they are proposed, each for what the one before has left


def without_constraints(problem: Problem, without: Sequence[str] = ()) -> Problem:
    """Return the form of a problem in which linear constraints are kept without multipliers; most are in it already."""
    for transform in (Multipliers, Potential):
        form = None if transform.name in without else transform.propose(problem)
        problem = problem if form is None else form.forward(problem)
    return problem


def view_classes() -> Mapping[str, type[View]]:
    """Return all views by the names under which they are stored: transforms that are their own, and those of others."""
    own = [cast(Any, transform) for transform in TRANSFORMS if View in transform.__mro__]
    return {view.name: view for view in (*own, KnownParts, MovingFrame, Recovered)}


__all__ = [
    "TRANSFORMS",
    "KnownParts",
    "Logarithm",
    "MovingFrame",
    "Multipliers",
    "Potential",
    "Recovered",
    "Restriction",
    "Units",
    "View",
    "WithoutFronts",
    "view_classes",
    "without_constraints",
]
