"""Where things stand in the state y = [c, v] of a first-order system: the one place that knows of second time orders.

c collects the coefficients of all spaces; v = c' those of spaces whose equations are of second order in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class StateLayout:
    """The parts of a state: how many coefficients each space has, and of which order in time its equations are.

    Examples
    --------
    >>> layout = StateLayout((2, 3), (1, 2))
    >>> layout.size, layout.blocks, layout.moving
    (8, (slice(0, 2, None), slice(2, 5, None)), array([2, 3, 4]))
    >>> layout.split(np.arange(8.0))[1]
    [array([2., 3., 4.]), array([5., 6., 7.])]
    """

    sizes: tuple[int, ...]
    orders: tuple[int, ...]

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """The coefficients of each space."""
        return tuple(slice(a, b) for a, b in pairwise(accumulate(self.sizes, initial=0)))

    @cached_property
    def coefficients(self) -> int:
        """Number of coefficients of all spaces."""
        return sum(self.sizes)

    @cached_property
    def second(self) -> Array:
        """Which coefficients are of second order, shape (coefficients,)."""
        return np.repeat(np.array(self.orders) == 2, self.sizes)

    @cached_property
    def moving(self) -> Array:
        """The indices of these coefficients."""
        return np.flatnonzero(self.second) if 2 in self.orders else np.empty(0, dtype=int)

    @property
    def size(self) -> int:
        """Number of components of a state."""
        return self.coefficients + len(self.moving)

    @property
    def order(self) -> int | None:
        """The order in time if it is the same for all, else None."""
        return self.orders[0] if len(set(self.orders)) == 1 else None

    def split(self, y: Array) -> list[list[Array]]:
        """Return the coefficients (and velocities) of each space: ``split(y)[space][order]``.

        Of several states at once, ``y`` has one in each column.
        """
        result: list[list[Array]] = []
        start = self.coefficients
        for block, order, size in zip(self.blocks, self.orders, self.sizes, strict=True):
            parts = [y[block]]
            if order == 2:
                parts.append(y[start : start + size])
                start += size
            result.append(parts)
        return result

    def joined(self, highest: Array, velocity: Array | float) -> Array:
        """Return y' from the highest time derivatives of all coefficients and the velocities, in the last axis."""
        if not len(self.moving):
            return highest
        out = np.concatenate([highest, highest[..., self.moving]], axis=-1)
        out[..., self.moving] = velocity
        return out

    def matrix(self, position: Array, velocity: Array) -> Array:
        """Return A with y' = A y, where ∂ₜᵐc = position·c + velocity·v; shapes (R, R) and (R, R₂)."""
        if not len(self.moving):
            return position
        count, rows, first = self.coefficients, self.moving, np.flatnonzero(~self.second)
        full = np.zeros((self.size, self.size))
        full[np.ix_(first, np.arange(count))] = position[first]
        full[first, count:] = velocity[first]
        full[rows, count + np.arange(len(rows))] = 1.0
        full[count:, :count] = position[rows]
        full[count:, count:] = velocity[rows]
        return full

    def kept(self, chosen: Array) -> StateLayout:
        """Return the layout of some of the coefficients, given as a mask."""
        sizes = tuple(int(np.count_nonzero(chosen[block])) for block in self.blocks)
        return StateLayout(sizes, self.orders)
