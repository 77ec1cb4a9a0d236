"""Trial spaces: which basis represents which fields, with which boundary data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from frozenpinn.assembly.boundary import BoundaryData
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis
from frozenpinn.basis.svd_layer import Truncation
from frozenpinn.geometry import BoundaryPoints
from frozenpinn.statement.laws import BoundaryLaw

Array = np.ndarray


class Relaxation(NamedTuple):
    """What soft boundary rows of one space add: to the highest derivative, and to c' if of second order.

    ``data`` and ``drift_data`` map boundary data to the same places: {time derivative of g: matrix}.
    """

    position: Array
    velocity: Array
    data: dict[int, Array]
    drift_position: Array
    drift_velocity: Array
    drift_data: dict[int, Array]


class SoftConditions(Protocol):
    """Conditions that no function of the basis obeys by itself, and that are met while the solution evolves."""

    @property
    def data(self) -> BoundaryData:
        """What the solution is pulled towards."""

    def during(self, time: tuple[float, float]) -> SoftConditions:
        """Restrict the conditions to a part of the time in which nothing switches."""

    def projector(self, network: Basis) -> Array:
        """Return the least-squares projector of the equation's rows and the conditions' rows together."""

    def relaxation(self, network: Basis, order: int, projector: Array) -> Relaxation:
        """Return what the conditions add to the system."""


@dataclass(frozen=True, eq=False)
class Space:
    """The representation of a group of fields: a basis, the data of its lifting, soft conditions if any.

    ``laws`` are kept while the solution evolves, at points of their sides. ``images`` is an orthonormal basis of what
    multipliers of constraints add to the equations, weighted values at the points.
    """

    network: Basis
    data: BoundaryData
    order: int
    soft: SoftConditions | None = None
    laws: tuple[tuple[BoundaryLaw, BoundaryPoints], ...] = ()
    images: Array | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields represented by this space."""
        return self.network.fields

    @property
    def obeys_conditions(self) -> bool:
        """Whether every function obeys the boundary conditions."""
        return self.soft is None

    @property
    def boundary_data(self) -> BoundaryData:
        """The boundary data: lifted, or pulled towards by soft conditions."""
        return self.data if self.soft is None else self.soft.data

    def during(self, time: tuple[float, float]) -> Space:
        """Return the space for a part of the time in which neither data nor laws switch."""
        laws = tuple((law.during(time), points) for law, points in self.laws)
        soft = None if self.soft is None else self.soft.during(time)
        data = self.data.during(time)
        same = data is self.data and all(a is b for (a, _), (b, _) in zip(laws, self.laws, strict=True))
        if same and (soft is None or (self.soft is not None and soft.data is self.soft.data)):
            return self
        return replace(self, data=data, soft=soft, laws=laws)

    def truncate(self, rank: int) -> Space:
        """Keep the leading basis functions."""
        return replace(self, network=self.network.truncate(rank))


def compressed(network: Network, cutoff: Truncation) -> Network:
    """Put the SVD layer on a network, if there is to be one."""
    return network if cutoff is None else network.compress(cutoff)
