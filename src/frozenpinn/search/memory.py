"""About how much memory a solve of some sizes takes, and which sizes would fit into what there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

_BYTES = 48.0  # of a number in a table of the basis, with its copies
_COPIES = 12.0  # of a state and of values at the points that a solve on a product holds
_SHRINK = 0.95  # factor from one size that is tried to the next


@dataclass(frozen=True)
class Appetite:
    """What a kind of basis needs: whether it is a product, how many tensors are a state, and at how many steps."""

    product: bool
    tensors: int
    steps: int

    def tables(self, widths: Sequence[float], counts: Sequence[float]) -> float:
        """Return the bytes of the tables of a basis, or of the states and values on the grid of a product."""
        if not self.product:
            return _BYTES * prod(counts) * prod(widths)
        tables = sum(n * width for n, width in zip(counts, widths, strict=True))
        return 8.0 * _COPIES * self.tensors * (prod(counts) + 2 * prod(widths)) + _BYTES * tables

    def kept(self, widths: Sequence[float]) -> float:
        """Return the bytes of the states that are kept at the fewest steps."""
        return 16.0 * self.tensors * self.steps * prod(widths) if self.product else 0.0

    def whole(self, widths: Sequence[float], counts: Sequence[float]) -> float:
        """Return both together."""
        return self.tables(widths, counts) + self.kept(widths)


@dataclass(frozen=True)
class Numbers:
    """Numbers of neurons and of points of a plan.

    Attributes
    ----------
    more
        Points of each axis that do not become fewer with its neurons.
    given
        Whether the points are the user's choice, and not the program's by the neurons.
    """

    widths: tuple[int, ...]
    counts: tuple[int, ...]
    more: int
    given: bool

    def fitting(self, appetite: Appetite, allowed: float) -> str:
        """Say which settings would fit into some bytes.

        The longest axes become shorter first: few neurons on an axis are a choice, and would not free much. Points that
        were given become fewer before neurons do, as long as there are enough of them.
        """
        if self.given and (counts := self._fewer_points(appetite, allowed)) is not None:
            return f"points={_told(counts)} would fit"
        most = float(max(self.widths))
        while most >= 2.0:
            widths = [min(float(n), most) for n in self.widths]
            if appetite.whole(widths, self._points_of(widths)) <= allowed:
                fit = tuple(max(2, 2 * int(n / 2)) for n in widths)
                points = f", points={_told(tuple(map(int, self._points_of(fit))))}" if self.given else ""
                return f"width={_told(fit)}{points} would fit"
            most *= _SHRINK
        return "no width would fit"

    def _points_of(self, widths: Sequence[float]) -> list[float]:
        """Return about how many points belong to other numbers of neurons."""
        if self.given:
            parts = zip(self.counts, _spread(widths, len(self.counts)), strict=True)
            return [min(float(n), 2.0 * width + self.more) for n, width in parts]
        if len(self.counts) != len(widths):
            return [n * min(widths) / min(self.widths) for n in self.counts]
        shares = [new / old for new, old in zip(widths, self.widths, strict=True)]
        return [n * share + (0 if share == 1.0 else self.more) for n, share in zip(self.counts, shares, strict=True)]

    def _fewer_points(self, appetite: Appetite, allowed: float) -> tuple[int, ...] | None:
        """Return fewer points that fit, if they are still twice as many as the neurons."""
        most = float(max(self.counts))
        least = [2.0 * width for width in _spread(self.widths, len(self.counts))]
        while any(min(n, most) > fewest for n, fewest in zip(self.counts, least, strict=True)):
            counts = [min(float(n), max(most, fewest)) for n, fewest in zip(self.counts, least, strict=True)]
            if appetite.whole(self.widths, counts) <= allowed:
                return tuple(int(n) for n in counts)
            most *= _SHRINK
        return None


def _spread(widths: Sequence[float], count: int) -> list[float]:
    """Return a width for each count: of its own axis, or all neurons where these belong to no axis."""
    return [*widths] if len(widths) == count else [float(prod(widths))] * count


def _told(sizes: tuple[int, ...]) -> str:
    """Write sizes as a setting: one number if they are all the same."""
    return str(sizes if len(set(sizes)) > 1 else sizes[0])
