"""Functions on a box around a domain: sums of products of networks of the axes, made once and used as features.

Narrow sources on a shape need many features, but few of the axes of a box: what a product of networks makes of a source
there is one feature on the shape, which carries all of its detail.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frozenpinn.basis.along_axes import at_scattered, on_grid
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import NoPoints
from frozenpinn.geometry.points import FEW_PLACES, axes_of

Array = np.ndarray


class Axis(NamedTuple):
    """Waves of one axis, and the combinations of them (and of the constant) that a box function consists of."""

    weights: Array
    origins: Array
    offsets: Array
    mixing: Array

    @classmethod
    def of(cls, network: Network) -> Axis:
        """Return the functions of a network of one variable, which has one field and sines as neurons."""
        hidden = network.hidden
        return cls(hidden.weights[:, 0], hidden.origins[:, 0], hidden.offsets, network.mixing[0])

    @property
    def numbers(self) -> Array:
        """Everything in one row."""
        return np.concatenate([self.weights, self.origins, self.offsets, self.mixing.ravel()])

    def network(self) -> Network:
        """Return the functions as a network."""
        hidden = HiddenLayer(self.weights[:, None], self.origins[:, None], self.offsets, "sin")
        return Network(hidden, _NOWHERE, outer=self.mixing)


_NOWHERE = NoPoints(1)


class BoxFunctions:
    """Functions Σ C_ij… φ_i(x) φ_j(y) … with common axes.

    Parameters
    ----------
    table
        One row per function: number of axes, number of waves and of combinations of each, then the axes, then the
        tensor of coefficients.
    """

    kind = "boxed"

    def __init__(self, table: Array) -> None:
        self.table = np.atleast_2d(np.array(table, dtype=float))
        self.table.flags.writeable = False

    @classmethod
    def of(cls, axes: Sequence[Axis], tensors: Sequence[Array]) -> BoxFunctions:
        """Return the functions with given coefficients on common axes."""
        sizes = [float(n) for axis in axes for n in (len(axis.weights), axis.mixing.shape[1])]
        head = np.concatenate([[float(len(axes))], sizes, *(axis.numbers for axis in axes)])
        return cls(np.stack([np.concatenate([head, tensor.ravel()]) for tensor in tensors]))

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def _parts(self) -> tuple[tuple[Network, ...], Array]:
        """The axes, and the coefficients of all functions, shape (r₁, r₂, …, functions)."""
        row, d = self.table[0], int(self.table[0, 0])
        sizes = row[1 : 1 + 2 * d].astype(int).reshape(d, 2)
        place, networks = 1 + 2 * d, []
        for n, r in sizes:
            ends = np.cumsum([n, n, n, (n + 1) * r])
            parts = np.split(row[place : place + ends[-1]], ends[:-1])
            networks.append(Axis(parts[0], parts[1], parts[2], parts[3].reshape(n + 1, r)).network())
            place += int(ends[-1])
        cores = self.table[:, place:].reshape(len(self), *sizes[:, 1])
        return tuple(networks), np.moveaxis(cores, 0, -1)

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        networks, full = self._parts
        terms, axes = [Term("u", Derivative(alpha, laps))], axes_of(x, FEW_PLACES)
        if axes is None:
            return at_scattered(networks, x, terms, full)
        return on_grid(networks, axes, terms, full).reshape(len(x), -1)
