"""THE LIST of other forms of a problem that are easier to solve, each with the view back to the user's fields."""

from collections.abc import Mapping, Sequence

from frozenpinn.transforms.fronts import KnownParts, WithoutFronts
from frozenpinn.transforms.logarithm import Logarithm
from frozenpinn.transforms.moving_frame import MovingFrame
from frozenpinn.transforms.subspace import Restriction
from frozenpinn.transforms.units import Units
from frozenpinn.transforms.views import Transform, View

TRANSFORMS: Sequence[type[Transform]] = (
    WithoutFronts,
    Restriction,
    Logarithm,
    Units,
)  #: in the order in which they are proposed, each for what the one before has left

VIEWS: Mapping[str, type[View]] = {
    view.name: view for view in (KnownParts, Restriction, Logarithm, Units, MovingFrame)
}  #: by the names under which they are stored

__all__ = [
    "TRANSFORMS",
    "VIEWS",
    "KnownParts",
    "Logarithm",
    "MovingFrame",
    "Restriction",
    "Units",
    "View",
    "WithoutFronts",
]
