"""The classes of special functions by name, for storage, and several of them side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from frozenpinn.basis.boxed import BoxFunctions
from frozenpinn.basis.corners import SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.basis.poles import SpacePoles
from frozenpinn.basis.subdomain_features import SubdomainFeatures

Array = np.ndarray

#: What a stored table is read by.
SPECIAL: Mapping[str, Callable[[Array], SpecialFunctions]] = {
    SingularFunctions.kind: SingularFunctions,
    SpacePoles.kind: SpacePoles,
    LayerFunctions.kind: LayerFunctions,
    BoxFunctions.kind: BoxFunctions,
    SubdomainFeatures.kind: SubdomainFeatures,
}


class JoinedFunctions:
    """Special functions of different kinds side by side, in the order of ``SPECIAL``."""

    kind = "joined"

    def __init__(self, parts: Sequence[SpecialFunctions]) -> None:
        self.parts = tuple(sorted(parts, key=lambda part: [*SPECIAL].index(part.kind)))

    @property
    def table(self) -> Array:
        """There is none: the parts have theirs."""
        return np.zeros((0, 0))

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        return np.concatenate([part(x, alpha, laps) for part in self.parts], axis=1)


def parts_of(functions: SpecialFunctions | None) -> tuple[SpecialFunctions, ...]:
    """Return special functions kind by kind."""
    return functions.parts if isinstance(functions, JoinedFunctions) else () if functions is None else (functions,)


def joined(parts: Sequence[SpecialFunctions | None]) -> SpecialFunctions | None:
    """Return all functions together, one table for each kind; None if there are none."""
    found: dict[str, SpecialFunctions] = {}
    for part in (one for several in parts for one in parts_of(several) if len(one)):
        before = found.get(part.kind)
        table = part.table if before is None else np.concatenate([before.table, part.table])
        found[part.kind] = SPECIAL[part.kind](table)
    return JoinedFunctions([*found.values()]) if len(found) > 1 else next(iter(found.values()), None)
