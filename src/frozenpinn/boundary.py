"""How boundary conditions are met, for ``Settings(boundary=…)``."""

from frozenpinn.assembly.spaces import AugmentedODE, NullSpaceLayer
from frozenpinn.basis.outer_basis import OuterBasis

__all__ = ["AugmentedODE", "NullSpaceLayer", "OuterBasis"]
