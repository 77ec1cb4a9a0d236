"""What is narrow in a problem: places and times at which formulas or functions vary fast, and over which widths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Array = np.ndarray
_PER_CELL = 2.5  # width of a Gaussian, in cells on which it varies by half of its range at most


class Stretch(NamedTuple):
    """A part of an axis in which something varies over a width."""

    low: float
    high: float
    width: float

    @property
    def middle(self) -> float:
        """Half-way between its ends."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, eq=False)
class Feature:
    """A function in a formula that varies fast somewhere.

    Attributes
    ----------
    what, kind
        The function, and "peak", "front" or "jump".
    narrow
        Along which of the axes (coordinates, then time) it is narrow.
    low, high
        Cells that hold it, (n, d + 1).
    lasting
        Whether it belongs to equations or conditions, not to initial data alone.
    """

    what: str
    kind: str
    narrow: tuple[bool, ...]
    low: Array
    high: Array
    lasting: bool = True

    def stretches(self, axis: int) -> list[Stretch]:
        """Return where it is along an axis, neighbouring cells together."""
        if not self.narrow[axis]:
            return []
        cells = sorted(zip(self.low[:, axis].tolist(), self.high[:, axis].tolist(), strict=True))
        found: list[list[tuple[float, float]]] = []
        for a, b in cells:
            if found and a <= max(high for _, high in found[-1][-4:]) + 2 * _PER_CELL * (b - a):
                found[-1].append((a, b))
            else:
                found.append([(a, b)])
        return list(map(_stretch, found))

    def describe(self, names: tuple[str, ...]) -> str:
        """Say what it is, where, and how narrow."""
        texts = []
        for axis in (i for i, narrow in enumerate(self.narrow) if narrow):
            stretches = self.stretches(axis)
            first, width = stretches[0], min(s.width for s in stretches)
            if len(stretches) > 1:
                place = f"{len(stretches)} places of {names[axis]}, the first of them {first.middle:.6g}"
            elif first.high - first.low > 20 * first.width:
                place = f"{names[axis]} from {first.low:.4g} to {first.high:.4g}"
            else:
                place = f"{names[axis]} = {first.middle:.6g}"
            texts.append(place if self.kind == "jump" else f"{place} (width {width:.1g})")
        return f"a {self.kind} of {self.what} at {' and '.join(texts)}"


def _stretch(cells: list[tuple[float, float]]) -> Stretch:
    """Join neighbouring cells; those that are much longer than others only touch the feature."""
    shortest = min(b - a for a, b in cells)
    kept = [(a, b) for a, b in cells if b - a <= 4 * shortest]
    return Stretch(min(a for a, _ in kept), max(b for _, b in kept), _PER_CELL * shortest)


@dataclass(frozen=True, eq=False)
class FormulaScales:
    """What is narrow in the formulas of a problem.

    Attributes
    ----------
    features
        Functions that vary fast somewhere.
    breaks
        Times at which formulas have jumps or corners.
    undecided
        Functions whose values have no bounds.
    """

    features: tuple[Feature, ...] = ()
    breaks: tuple[float, ...] = ()
    undecided: tuple[str, ...] = ()

    def stretches(self, axis: int) -> list[Stretch]:
        """Return where something is narrow along an axis (time is the last), in order; they may overlap."""
        return sorted(s for f in self.features if f.kind != "jump" for s in f.stretches(axis))


NOTHING = FormulaScales()
