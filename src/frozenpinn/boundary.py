"""How boundary conditions are met, for ``Settings(boundary=…)``; what a strategy of your own needs."""

from frozenpinn.assembly.strategies import AugmentedODE, BoundaryStrategy, NullSpaceLayer, OuterBasis

__all__ = ["AugmentedODE", "BoundaryStrategy", "NullSpaceLayer", "OuterBasis"]
