"""What a boundary strategy is."""

from __future__ import annotations

from typing import Protocol

from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.network import Network
from frozenpinn.basis.svd_layer import Truncation
from frozenpinn.statement.problem import Problem


class BoundaryStrategy(Protocol):
    """Turns the raw network of a group of fields into a space in which their boundary conditions are met."""

    @property
    def name(self) -> str:
        """How settings and reports call it."""

    @property
    def renewable(self) -> bool:
        """Whether a basis may be renewed while the solution evolves."""

    @property
    def separable(self) -> bool:
        """Whether products of functions of one variable that obey the conditions serve as well, without ``build``."""

    @property
    def cutoff(self) -> float | None:
        """The finest cut-off of the SVD layer that makes sense; None leaves it to the problem."""

    def build(self, network: Network, problem: Problem, cutoff: Truncation, per_side: int) -> Space:
        """Put boundary layer and SVD layer on a network, with so many boundary points on each side."""
