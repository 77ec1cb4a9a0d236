"""Neurons on parts of a domain: besides those that know no interfaces, each once more on every part but the first.

A part is where some level functions have given signs. Sums of all these functions are smooth on each part, and
independent of each other there; rows of a boundary layer join them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from frozenpinn.basis.hidden import HiddenLayer, SpecialFunctions

Array = np.ndarray


class SubdomainFeatures:
    """Copies of neurons on parts of a domain.

    Parameters
    ----------
    table
        A JSON text as bytes: the level functions, the coordinates, the signs on each part, the neurons, and poles.
    """

    kind = "broken"

    def __init__(self, table: Array) -> None:
        self.table = np.array(table, dtype=np.uint8)
        self.table.flags.writeable = False
        self._about: dict[str, Any] = json.loads(self.table.tobytes().decode())
        self._signs = np.array(self._about["signs"], dtype=int)

    @classmethod
    def of(
        cls,
        hidden: HiddenLayer,
        levels: Sequence[str],
        coordinates: Sequence[str],
        signs: Sequence[Sequence[int]],
        poles: SpecialFunctions | None = None,
    ) -> SubdomainFeatures:
        """Return the neurons of a layer on all parts but the first, and poles on the parts that they are not in."""
        about = {
            "levels": list(levels),
            "coordinates": list(coordinates),
            "signs": [list(map(int, row)) for row in signs],
            "activation": hidden.activation,
            **{name: getattr(hidden, name).tolist() for name in ("weights", "origins", "offsets")},
            "poles": None if poles is None else poles.table.tolist(),
        }
        return cls(np.frombuffer(json.dumps(about).encode(), dtype=np.uint8))

    @cached_property
    def _hidden(self) -> HiddenLayer:
        from frozenpinn.basis.hidden import HiddenLayer

        about = self._about
        weights, origins, offsets = (np.array(about[name], dtype=float) for name in ("weights", "origins", "offsets"))
        return HiddenLayer(weights, origins, offsets, about["activation"])

    @cached_property
    def _levels(self) -> Any:
        from frozenpinn.language.jets import JetSpace
        from frozenpinn.language.parser import parse
        from frozenpinn.language.program import Program
        from frozenpinn.language.scope import Scope

        jets = JetSpace(tuple(self._about["coordinates"]))
        return Program([parse(text, Scope(jets)) for text in self._about["levels"]], list(jets.x))

    def part(self, x: Array) -> Array:
        """Return in which part points lie: where most signs agree."""
        with np.errstate(all="ignore"):
            values = np.stack([np.broadcast_to(v, len(x)) for v in self._levels(*x.T)], axis=1)
        signs = np.where(values > 0, 1, -1)
        return np.asarray(np.argmax(signs @ self._signs.T, axis=1))

    @cached_property
    def _poles(self) -> SpecialFunctions | None:
        from frozenpinn.basis.corners import SingularFunctions
        from frozenpinn.basis.poles import SpacePoles

        table = self._about["poles"]
        if table is None:
            return None
        return (SingularFunctions if len(self._about["coordinates"]) == 2 else SpacePoles)(np.array(table))

    @cached_property
    def _copies(self) -> int:
        return (len(self._signs) - 1) * self._hidden.size

    def __len__(self) -> int:
        return self._copies + (0 if self._poles is None else len(self._poles))

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        from frozenpinn.basis.hidden import Derivative, Term

        size, part = self._hidden.size, self.part(x)
        out = np.zeros((len(x), len(self)))
        for k in range(1, len(self._signs)):
            own = part == k
            if np.any(own):
                values = self._hidden.operator(x[own], [Term("", Derivative(alpha, laps))])
                out[own, (k - 1) * size : k * size] = values
        if self._poles is not None:
            home = self.part(self._poles.table[:, : x.shape[1]])
            for k in np.unique(home):
                outside = part != k
                columns = self._copies + np.flatnonzero(home == k)
                out[np.ix_(outside, columns)] = self._poles(x[outside], alpha, laps)[:, home == k]
        return out
