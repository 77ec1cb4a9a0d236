"""The boundary of a plane domain as smooth curves: segments and arcs of ellipses, each with the domain on its left.

Everything that patches ask of a boundary has a closed form on these: where it crosses a line, where it turns back, how
high it is above a place. Domains whose boundary is not made of them have no outline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

Array = np.ndarray
_CLOSE = 1e-12  # parameters of a curve that are nearer to each other are one place


@dataclass(frozen=True, eq=False)
class Segment:
    """The straight line from ``start`` to ``end``, on a side of the domain."""

    side: str
    start: Array
    end: Array

    def at(self, s: Array) -> Array:
        """Return the points at parameters from 0 to 1, shape (n, 2)."""
        return self.start + np.multiply.outer(s, self.end - self.start)

    def tangents(self, s: Array) -> Array:
        """Return the derivatives of the points by the parameter, shape (n, 2)."""
        return np.broadcast_to(self.end - self.start, (len(s), 2))

    def part(self, low: float, high: float) -> Segment:
        """Return what lies between two parameters."""
        start, end = self.at(np.array([low, high]))
        return replace(self, start=start, end=end)

    @property
    def reversed(self) -> Segment:
        """The same curve run through the other way round."""
        return replace(self, start=self.end, end=self.start)

    @property
    def turns(self) -> Array:
        """Parameters at which it runs straight up or down, and so turns back."""
        return np.empty(0)

    def heights(self, x: Array) -> Array:
        """Return y above places, of a curve that is not vertical."""
        slope = (self.end[1] - self.start[1]) / (self.end[0] - self.start[0])
        return np.asarray(self.start[1] + slope * (x - self.start[0]))

    def along(self, low: float, high: float, s: Array) -> tuple[Array, Array]:
        """Return places x between two and dx/ds, so that y is a smooth function of s."""
        return low + (high - low) * s, np.full(len(s), high - low)

    def crossings(self, normal: Array, offset: float) -> Array:
        """Return the parameters at which normal·x = offset."""
        rate = float((self.end - self.start) @ normal)
        if abs(rate) <= 1e-14 * float(np.linalg.norm(normal) * np.linalg.norm(self.end - self.start)):
            return np.empty(0)
        return _proper(np.array([(offset - float(self.start @ normal)) / rate]))

    def meets(self, other: Curve) -> Array:
        """Return the parameters at which it meets another curve, or what that one would be continued to."""
        if isinstance(other, Segment):
            ahead = other.end - other.start
            normal = np.array([ahead[1], -ahead[0]])
            return self.crossings(normal, float(normal @ other.start))
        p = (self.start - other.center) / other.axes
        v = (self.end - self.start) / other.axes
        a, b, c = float(v @ v), 2.0 * float(p @ v), float(p @ p) - 1.0
        root = np.sqrt(complex(b * b - 4.0 * a * c))
        return np.empty(0) if root.imag else _proper(np.array([-b - root.real, -b + root.real]) / (2.0 * a))

    @property
    def angle(self) -> float:
        """By how much it turns."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Arc:
    """The arc center + axes·(cos φ, sin φ) of an ellipse, from one angle to another, on a side of the domain."""

    side: str
    center: Array
    axes: Array
    first: float
    last: float

    def _angles(self, s: Array) -> Array:
        return np.asarray(self.first + (self.last - self.first) * s)

    def at(self, s: Array) -> Array:
        """Return the points at parameters from 0 to 1, shape (n, 2)."""
        angles = self._angles(np.asarray(s))
        return self.center + self.axes * np.stack([np.cos(angles), np.sin(angles)], axis=-1)

    def tangents(self, s: Array) -> Array:
        """Return the derivatives of the points by the parameter, shape (n, 2)."""
        angles = self._angles(s)
        return (self.last - self.first) * self.axes * np.stack([-np.sin(angles), np.cos(angles)], axis=-1)

    def part(self, low: float, high: float) -> Arc:
        """Return what lies between two parameters."""
        return replace(self, first=float(self._angles(np.array(low))), last=float(self._angles(np.array(high))))

    @property
    def reversed(self) -> Arc:
        """The same curve run through the other way round."""
        return replace(self, first=self.last, last=self.first)

    @property
    def start(self) -> Array:
        """Where it begins."""
        return self.at(np.array(0.0))

    @property
    def end(self) -> Array:
        """Where it ends."""
        return self.at(np.array(1.0))

    @property
    def turns(self) -> Array:
        """Parameters at which it runs straight up or down, and so turns back."""
        return self._where(np.array([0.0, np.pi]))

    def heights(self, x: Array) -> Array:
        """Return y above places, of an arc that does not turn back."""
        upper = np.sin(float(self._angles(np.array(0.5)))) > 0
        rest = np.maximum(1.0 - ((x - self.center[0]) / self.axes[0]) ** 2, 0.0)
        return np.asarray(self.center[1] + (1.0 if upper else -1.0) * self.axes[1] * np.sqrt(rest))

    def along(self, low: float, high: float, s: Array) -> tuple[Array, Array]:
        """Return places x between two and dx/ds, so that y is a smooth function of s."""
        ends = np.arccos(np.clip((np.array([low, high]) - self.center[0]) / self.axes[0], -1.0, 1.0))
        angles = ends[0] + (ends[1] - ends[0]) * s
        return self.center[0] + self.axes[0] * np.cos(angles), (ends[0] - ends[1]) * self.axes[0] * np.sin(angles)

    def crossings(self, normal: Array, offset: float) -> Array:
        """Return the parameters at which normal·x = offset."""
        along = normal * self.axes
        size = float(np.hypot(*along))
        cosine = (offset - float(normal @ self.center)) / size
        if abs(cosine) > 1.0:
            return np.empty(0)
        turn = float(np.arccos(cosine))
        return self._where(np.arctan2(along[1], along[0]) + np.array([-turn, turn]))

    def meets(self, other: Curve) -> Array:
        """Return the parameters at which it meets another curve, or what that one would be continued to."""
        if isinstance(other, Segment):
            ahead = other.end - other.start
            normal = np.array([ahead[1], -ahead[0]])
            return self.crossings(normal, float(normal @ other.start))
        s = np.linspace(0.0, 1.0, 257)

        def outside(s: Array) -> Array:
            return np.asarray(np.sum(((self.at(s) - other.center) / other.axes) ** 2, axis=-1) - 1.0)

        signs = outside(s) > 0
        k = np.flatnonzero(signs[1:] != signs[:-1])
        low, high, above = s[k], s[k + 1], signs[k]
        for _ in range(50):
            middle = 0.5 * (low + high)
            same = (outside(middle) > 0) == above
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return _proper(0.5 * (low + high))

    def _where(self, angles: Array) -> Array:
        """Return the parameters of angles, which repeat after a turn."""
        turns = 2.0 * np.pi * np.arange(-3, 4)
        return _proper((np.add.outer(angles, turns).ravel() - self.first) / (self.last - self.first))

    @property
    def angle(self) -> float:
        """By how much it turns."""
        return abs(self.last - self.first)


Curve: TypeAlias = Segment | Arc


def _proper(s: Array) -> Array:
    """Return the parameters between the ends."""
    return np.sort(s[(s > _CLOSE) & (s < 1.0 - _CLOSE)])


def divided(curve: Curve, places: Iterable[float]) -> list[Curve]:
    """Return the parts between some parameters, in order."""
    inner = np.unique(np.round(np.fromiter(places, dtype=float), 13))
    cuts = [0.0, *inner[np.diff(inner, prepend=-1.0) > _CLOSE].tolist(), 1.0]
    if len(cuts) == 2:
        return [curve]
    return [curve.part(a, b) for a, b in pairwise(cuts)]


def ring(points: Array, sides: Sequence[str]) -> tuple[Curve, ...]:
    """Return the segments of a polygon whose inside is on the left, with the side of each."""
    return tuple(Segment(side, a, b) for side, a, b in zip(sides, points, np.roll(points, -1, axis=0), strict=True))


def ellipse(side: str, center: Array, axes: Array, hole: bool = False) -> tuple[Curve, ...]:
    """Return a whole ellipse, as the outer boundary or as that of a hole."""
    first, last = (2.0 * np.pi, 0.0) if hole else (0.0, 2.0 * np.pi)
    return (Arc(side, np.asarray(center), np.asarray(axes), first, last),)


class Bounds:
    """Boxes around curves, with which most that do not meet are told apart."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.lower, self.upper = (np.array([box_of(c)[k] for c in curves]).reshape(-1, 2) for k in (0, 1))

    def near(self, lower: Array, upper: Array, margin: float) -> Array:
        """Return the numbers of the curves whose boxes meet a box."""
        apart = (self.lower > upper + margin) | (self.upper < lower - margin)
        return np.flatnonzero(~np.any(apart, axis=1))


def box_of(curve: Curve) -> tuple[Array, Array]:
    """Return the corners of the box around a curve."""
    places = [0.0, 1.0]
    if isinstance(curve, Arc):
        places += curve._where(0.5 * np.pi * np.arange(4)).tolist()
    x = curve.at(np.array(places))
    return np.min(x, axis=0), np.max(x, axis=0)


def cut_by(curves: Sequence[Curve], others: Sequence[Curve]) -> list[Curve]:
    """Return curves divided where they meet others."""
    bounds, found = Bounds(others), list[Curve]()
    for curve in curves:
        lower, upper = box_of(curve)
        near = bounds.near(lower, upper, 1e-9 * float(np.max(upper - lower)))
        found += divided(curve, (s for k in near.tolist() for s in curve.meets(others[k]).tolist()))
    return found


def points_of(curves: Sequence[Curve], s: float = 0.5) -> tuple[Array, Array]:
    """Return a point of each curve, in its middle by default, and the normal there that points out of the domain."""
    half = np.array([s])
    x = np.array([curve.at(half)[0] for curve in curves]).reshape(-1, 2)
    ahead = np.array([curve.tangents(half)[0] for curve in curves]).reshape(-1, 2)
    normals = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
    return x, normals / np.linalg.norm(normals, axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Outline:
    """The boundary of a domain as curves."""

    curves: tuple[Curve, ...]

    @cached_property
    def area(self) -> float:
        """What the curves enclose, ∮ x dy."""
        from frozenpinn.geometry.points import gauss

        s, w = gauss(40)
        return float(sum(w @ (c.at(s)[:, 0] * c.tangents(s)[:, 1]) for c in self.curves))
