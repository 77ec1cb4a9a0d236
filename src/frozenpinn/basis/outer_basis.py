"""Outer basis functions fitted by the hidden layer: the paper's first way to meet boundary conditions.

Known functions that obey the conditions (sines, cosines, or the user's own) are approximated by the
features on the points; the fitted combinations become the boundary-compliant layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.network import Network
from frozenpinn.errors import SettingsError, choices

Array = np.ndarray
Family = Callable[[Array, int], Array]


def fourier(s: Array, count: int) -> Array:
    """Return cos(2πks), sin(2πks) for k = 1, 2, …: periodic on [0, 1]."""
    k = np.arange(count) // 2 + 1
    return np.where(np.arange(count) % 2 == 0, np.cos(2 * np.pi * np.outer(s, k)), np.sin(2 * np.pi * np.outer(s, k)))


def sine(s: Array, count: int) -> Array:
    """Return sin(πks) for k = 1, 2, …: zero at both ends of [0, 1]."""
    return np.sin(np.pi * np.outer(s, np.arange(1, count + 1)))


def cosine(s: Array, count: int) -> Array:
    """Return cos(πks) for k = 1, 2, …: zero slope at both ends of [0, 1]."""
    return np.cos(np.pi * np.outer(s, np.arange(1, count + 1)))


#: name: (functions on [0, 1], whether the constant belongs to the family)
FAMILIES: dict[str, tuple[Family, bool]] = {"fourier": (fourier, True), "sine": (sine, False), "cosine": (cosine, True)}


@dataclass(frozen=True)
class OuterFunctions:
    """Known functions of one variable, represented by the hidden layer.

    Parameters
    ----------
    functions
        ``"fourier"`` (periodic), ``"sine"`` (zero Dirichlet), ``"cosine"`` (zero Neumann), or a list
        of functions of the coordinate that obey the homogeneous conditions.
    count
        Number of functions of a named family.
    rcond
        Relative cut-off of the least-squares fit.
    """

    functions: str | Sequence[Callable[[Array], Array]] = "fourier"
    count: int = 14
    rcond: float = 1e-10

    def __post_init__(self) -> None:
        if isinstance(self.functions, str) and self.functions not in FAMILIES:
            raise SettingsError(f"unknown outer basis '{self.functions}'; choose one of {choices(FAMILIES)}.")
        if not isinstance(self.functions, str) and not len(self.functions):
            raise SettingsError("an outer basis needs at least one function, got an empty list.")
        if self.count < 1:
            raise SettingsError(f"an outer basis needs at least one function, got count={self.count}.")

    def evaluate(self, x: Array, lower: float, upper: float) -> Array:
        """Return the outer functions at points of an interval, shape (n, count)."""
        if isinstance(self.functions, str):
            return FAMILIES[self.functions][0]((x - lower) / (upper - lower), self.count)
        columns = [np.broadcast_to(np.asarray(f(x), dtype=float), x.shape) for f in self.functions]
        return np.stack(columns, axis=1)

    def apply(self, network: Network, lower: float, upper: float) -> Network:
        """Return the network spanned by the fitted outer functions (and the constant, if it complies)."""
        if network.hidden.dimension != 1 or len(network.fields) != 1:
            raise SettingsError("outer basis functions are available in one dimension, for uncoupled fields.")
        features = network.hidden.features(network.points.x)
        root = np.sqrt(network.points.weights)[:, None]
        targets = self.evaluate(network.points.x[:, 0], lower, upper)
        mixing = sla.lstsq(root * features, root * targets, cond=self.rcond)[0]
        if isinstance(self.functions, str) and FAMILIES[self.functions][1]:
            constant = np.zeros((network.hidden.size, 1))
            constant[-1] = 1.0
            mixing = np.concatenate([mixing, constant], axis=1)
        return network.spanned_by(mixing)
