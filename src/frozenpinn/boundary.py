"""How boundary conditions are met, for ``Settings(boundary=…)``; what a strategy of your own needs."""

from frozenpinn.assembly.boundary import boundary_rows
from frozenpinn.assembly.spaces import Space, compressed
from frozenpinn.assembly.strategies import AugmentedODE, BoundaryStrategy, NullSpaceLayer, OuterBasis

__all__ = [
    "AugmentedODE",
    "BoundaryStrategy",
    "NullSpaceLayer",
    "OuterBasis",
    "Space",
    "boundary_rows",
    "compressed",
]
