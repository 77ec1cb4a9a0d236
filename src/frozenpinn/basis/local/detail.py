"""Where patches do not resolve a function: by what the highest of their modes carry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.basis.local.features import modes_of
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.tree import Cell

Array = np.ndarray
DENSE = 4.0  #: times the share of the tolerance that the highest modes of one patch may carry for its area


def tails(patches: PatchSet, local: Sequence[Array], order: int, sizes: Array | None = None) -> Array:
    """Return the squared norm of the highest modes of each patch, relative to that of the function; worst field.

    ``local`` are the coefficients of orthonormal functions, (patches, fields, r), group by group; ``sizes`` are squared
    norms of the fields, those of the function itself by default.
    """
    first, out = modes_of(order - 1), np.zeros(len(patches))
    if sizes is None:
        sizes = squared_sizes(local)
    for group, own in zip(patches.groups, local, strict=True):
        parts = np.sum(own[:, :, first:] ** 2, axis=2) / np.maximum(sizes, 1e-300)
        out[list(group)] = np.max(parts, axis=1)
    return out


def squared_sizes(local: Sequence[Array]) -> Array:
    """Return the squared norm of each field."""
    return np.asarray(sum(np.sum(own**2, axis=(0, 2)) for own in local))


def unresolved(patches: PatchSet, found: Array, goal: float) -> list[Cell]:
    """Return the leaves of patches that carry more than their share of a goal in their highest modes.

    A thin cut that is not resolved carries little, and may still spoil waves all over the domain: where the modes are
    larger than elsewhere by far, for the area of the patch, it is quartered, too.
    """
    least, areas = 1e-4, np.array([patch.area for patch in patches.patches])
    dense = found * np.sum(areas) / areas > (DENSE * goal) ** 2
    chosen = dense & (found > least * goal**2)
    if np.sum(found) > goal**2:
        order = np.argsort(-found)
        below = np.cumsum(found[order][::-1])[::-1]  # what would be left without refining from here on
        chosen[order] |= (below > 0.3 * goal**2) & (found[order] > 0.5 * goal**2 / len(found))
    return [cell for n in np.flatnonzero(chosen).tolist() for cell in patches.patches[n].cells]
