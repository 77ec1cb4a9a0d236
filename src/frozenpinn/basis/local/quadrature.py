"""Quadrature on what a boundary leaves of a rectangle: columns between the places where curves begin, end or turn back.

Between two such places the domain is made of strips, each with a curve or a straight line below and above. A strip with
one arc is a smooth image of a square, if x follows the angle of the arc, so Gauss points converge as fast as on squares
and all weights are positive. Strips between two arcs are parted by a line between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frozenpinn.geometry.points import gauss
from frozenpinn.geometry.rare.curves import Arc, Curve, divided

Array = np.ndarray
_HALVINGS = 8  # of a strip between two arcs that no straight line parts


class Rule(NamedTuple):
    """Points (n, 2) and their positive weights."""

    x: Array
    weights: Array


class Strip(NamedTuple):
    """low < x < high between two curves; a number stands for a straight line."""

    low: float
    high: float
    below: Curve | float
    above: Curve | float

    @property
    def is_plain(self) -> bool:
        """Whether no curve bounds it, so that nothing tells whether it is inside."""
        return isinstance(self.below, float) and isinstance(self.above, float)

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of a strip that no curve bounds."""
        assert isinstance(self.below, float)
        assert isinstance(self.above, float)
        return 0.5 * (self.low + self.high), 0.5 * (self.below + self.above)


def cut_rules(
    cells: Sequence[tuple[Sequence[Curve], Array, Array]], count: int, contains: Callable[[Array], Array]
) -> list[Rule]:
    """Return the rules of rectangles that are cut by curves, exact for products of about 2·count powers.

    ``contains`` is asked once, for all columns that no curve crosses.
    """
    found = [list(strips(*cell)) for cell in cells]
    plain = [(k, strip) for k, own in enumerate(found) for strip in own if strip.is_plain]
    if plain:
        places = np.array([strip.middle for _, strip in plain])
        outside = ~contains(places)
        gone = {id(strip) for (_, strip), is_outside in zip(plain, outside, strict=True) if is_outside}
        found = [[strip for strip in own if id(strip) not in gone] for own in found]
    return [_joined([_strip_rule(part, count) for strip in own for part in _parted(strip)]) for own in found]


def _joined(rules: Sequence[Rule]) -> Rule:
    if not rules:
        return Rule(np.empty((0, 2)), np.empty(0))
    return Rule(np.concatenate([rule.x for rule in rules]), np.concatenate([rule.weights for rule in rules]))


def square_rule(lower: Array, upper: Array, count: int) -> Rule:
    """Return the Gauss points of a rectangle."""
    s, w = gauss(count)
    x, y = lower[0] + (upper[0] - lower[0]) * s, lower[1] + (upper[1] - lower[1]) * s
    weights = np.outer((upper[0] - lower[0]) * w, (upper[1] - lower[1]) * w).ravel()
    return Rule(np.stack([np.repeat(x, count), np.tile(y, count)], axis=1), weights)


def count_along(curve: Curve, count: int) -> int:
    """Return how many Gauss points a curve needs where a straight line needs ``count``."""
    return max(count, int(np.ceil(0.5 * count * curve.angle)) + 10) if curve.angle else count


def curve_rule(curve: Curve, count: int) -> tuple[Array, Array, Array]:
    """Return points of a curve, the normals that point out of the domain, and weights."""
    s, w = gauss(count_along(curve, count))
    ahead = curve.tangents(s)
    speed = np.linalg.norm(ahead, axis=1)
    return curve.at(s), np.stack([ahead[:, 1], -ahead[:, 0]], axis=1) / speed[:, None], w * speed


def strips(curves: Sequence[Curve], lower: Array, upper: Array) -> Iterator[Strip]:
    """Yield the strips that fill what is inside, and those that no curve bounds."""
    close = 1e-12 * float(np.max(upper - lower))
    parts = [part for curve in curves for part in divided(curve, curve.turns)]
    ends = np.array([(part.start[0], part.end[0]) for part in parts]).reshape(-1, 2)
    breaks = np.clip(np.concatenate([[lower[0], upper[0]], ends.ravel()]), lower[0], upper[0])
    breaks = np.unique(breaks)
    breaks = breaks[np.diff(breaks, prepend=-np.inf) > close]
    for low, high in pairwise(breaks):
        middle = 0.5 * (low + high)
        spanning = np.flatnonzero((np.min(ends, axis=1) < middle) & (np.max(ends, axis=1) > middle))
        found = [(float(parts[k].heights(np.array([middle]))[0]), k) for k in spanning.tolist()]
        heights = [(float(lower[1]), -1), *sorted(found), (float(upper[1]), -1)]
        for (y, k), (z, n) in pairwise(heights):
            if z - y <= close:
                continue
            inside = True
            if k >= 0:
                inside = bool(ends[k, 1] > ends[k, 0])  # the domain is on the left
            elif n >= 0:
                inside = bool(ends[n, 1] < ends[n, 0])
            if inside:
                yield Strip(low, high, parts[k] if k >= 0 else y, parts[n] if n >= 0 else z)


def _parted(strip: Strip, depth: int = 0) -> Iterator[Strip]:
    """Yield parts with one arc each."""
    low, high, below, above = strip
    if not (isinstance(below, Arc) and isinstance(above, Arc)) or depth == _HALVINGS:
        yield strip
        return
    floor, ceiling = _range(below, low, high)[1], _range(above, low, high)[0]
    if floor < ceiling:
        middle = 0.5 * (floor + ceiling)
        yield Strip(low, high, below, middle)
        yield Strip(low, high, middle, above)
        return
    half = 0.5 * (low + high)
    yield from _parted(Strip(low, half, below, above), depth + 1)
    yield from _parted(Strip(half, high, below, above), depth + 1)


def _range(arc: Arc, low: float, high: float) -> tuple[float, float]:
    places = [low, high, *([arc.center[0]] if low < arc.center[0] < high else [])]
    y = arc.heights(np.array(places))
    return float(np.min(y)), float(np.max(y))


def _strip_rule(strip: Strip, count: int) -> Rule:
    low, high, below, above = strip
    leading = next((c for c in (below, above) if isinstance(c, Arc)), None)
    s, w = gauss(count)
    if leading is None:
        along, slopes, shares = low + (high - low) * s, np.full(count, high - low), w
    else:
        turn = np.diff(np.arccos(np.clip((np.array([high, low]) - leading.center[0]) / leading.axes[0], -1.0, 1.0)))
        t, shares = gauss(max(count + 2, int(np.ceil(0.5 * count * float(turn[0]))) + 10))
        along, slopes = leading.along(low, high, t)
    bottom, top = (np.full(len(along), c) if isinstance(c, float) else c.heights(along) for c in (below, above))
    y = bottom[:, None] + (top - bottom)[:, None] * s
    weights = (slopes * shares * (top - bottom))[:, None] * w
    return Rule(np.stack([np.repeat(along, count), y.ravel()], axis=1), weights.ravel())
