"""Unions, intersections and differences of any two domains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.domain import Domain, within
from frozenpinn.geometry.points import SCATTERED_RULES, Hole, Points, Side, distinct
from frozenpinn.geometry.rare.columns import CombinedLines
from frozenpinn.geometry.rare.curves import Curve, cut_by, points_of
from frozenpinn.geometry.rare.polygon import STRAIGHT, polygons_of, shapely_or_none, triangles_of
from frozenpinn.geometry.rare.relabelled import Wrapped
from frozenpinn.geometry.rare.simplices import scattered, simplex_rule

Array = np.ndarray
KINDS = {"union": "|", "intersection": "&", "difference": "-"}
CHECKED = {2: 4096, 3: 16384}  # points per side that decide how much of it bounds the result
EMPTY = {"intersection": "the parts don't overlap", "difference": "nothing is left"}


class Combination(Domain):
    """``A | B``, ``A & B`` or ``A - B``.

    The sides are those of the parts, as far as they bound the result; on a clash of names the second gets `` 2``
    appended. :meth:`Domain.named` gives them names of their own.

    Examples
    --------
    >>> from frozenpinn.geometry import Box, Disk
    >>> Box([0, 0], [1, 1]) - Disk([0, 0], 0.5)
    (Box([0, 1] × [0, 1]) - Disk(center (0, 0), radius 0.5))
    """

    def __init__(self, kind: str, first: Domain, second: Domain) -> None:
        if kind not in KINDS:
            raise ProblemError(f"domains are combined by {', '.join(map(repr, KINDS))}; got {kind!r}.")
        if first.dimension != second.dimension:
            raise ProblemError(
                f"only domains of equal dimension are combined; got {first.dimension} for {first!r} and "
                f"{second.dimension} for {second!r}."
            )
        for part in (first, second):
            if any(part.periodic):
                raise ProblemError(f"{part!r} has periodic axes and can't be combined; use a box without.")
        if first.dimension == 1:
            raise ProblemError("intervals are not combined; give the ends of the interval that you mean.")
        self.kind, self.first, self.second = kind, first, second
        if kind == "union":
            lower, upper = np.minimum(first.lower, second.lower), np.maximum(first.upper, second.upper)
        elif kind == "intersection":
            lower, upper = np.maximum(first.lower, second.lower), np.minimum(first.upper, second.upper)
        else:
            lower, upper = first.lower, first.upper
        if kind != "union" and (np.any(lower >= upper) or not self._any_inside(lower, upper)):
            raise ProblemError(f"{first!r} {KINDS[kind]} {second!r} is empty: {EMPTY[kind]}.")
        self._bounds(lower, upper)

    def __repr__(self) -> str:
        return f"({self.first!r} {KINDS[self.kind]} {self.second!r})"

    def _any_inside(self, lower: Array, upper: Array) -> bool:
        unit = SCATTERED_RULES["sobol"](2**14, len(lower), np.random.default_rng(0))
        if np.any(self.contains(lower + unit * (upper - lower), 0.0)):
            return True
        inside = self.first.sample(4096, "sobol", rng=0).x
        return bool(np.any(self.contains(inside, 0.0)))

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        x = np.asarray(x, dtype=float)
        found = within(self.first, x, tolerance)
        if self.kind == "union":
            rest = np.flatnonzero(~found)
            found[rest] = within(self.second, x[rest], tolerance)
        elif self.kind == "intersection":
            rest = np.flatnonzero(found)
            found[rest] = within(self.second, x[rest], tolerance)
        else:
            rest = np.flatnonzero(found)
            found[rest] = ~within(self.second, x[rest], -tolerance)
        return found

    # ---- inside ---------------------------------------------------------------------------------

    def _shape(self) -> Any:
        return self._polygons

    @cached_property
    def _polygons(self) -> Any:
        """The result as a shapely geometry if both parts are polygons, else None."""
        first, second, shapely = self.first._shape(), self.second._shape(), shapely_or_none()
        if first is None or second is None or shapely is None:
            return None
        shape = shapely.unary_union(polygons_of(getattr(first, self.kind)(second)))
        return shape if polygons_of(shape) else None

    @cached_property
    def _triangles(self) -> Array | None:
        return None if self._polygons is None else triangles_of(self._polygons)

    @cached_property
    def _lines(self) -> CombinedLines:
        corners = self._corners() if self.dimension == 2 else np.empty((0, self.dimension))
        return CombinedLines([leaf._crossings for leaf in self._leaves()], self._inside, self.size, corners[:, 0])

    def _leaves(self) -> list[Domain]:
        """Return the domains that are no combinations themselves."""
        return [leaf for part in (self.first, self.second) for leaf in _leaves(part)]

    def _inside(self, states: Array) -> Array:
        """Return from rows of booleans, one per leaf, what is inside."""
        count = len(_leaves(self.first))
        first, second = _inside(self.first, states[:, :count]), _inside(self.second, states[:, count:])
        if self.kind == "union":
            return first | second
        return first & (second if self.kind == "intersection" else ~second)

    def _corners(self) -> Array:
        return np.concatenate([self.first._corners(), self.second._corners()])

    def corners_beyond(self, opening: float) -> tuple[tuple[float, float, float, float], ...]:
        """Return the corners that open by more than an angle: of polygons, or of parts as far as they are left."""
        if self.dimension != 2 or self._shape() is not None:
            return super().corners_beyond(opening)
        found = []
        for term in self._terms:
            for x, y, start, own in term.domain.corners_beyond(0.0):
                turned = (start, own) if term.sign > 0 else (start + own, 2.0 * np.pi - own)
                if turned[1] > opening + STRAIGHT and self._is_wedge(np.array([x, y]), *turned):
                    found.append((x, y, *turned))
        return tuple(found)

    def _is_wedge(self, corner: Array, start: float, opening: float) -> bool:
        """Whether the domain is a wedge near a corner."""
        close = 1e-4  # distance from the corner at which this is tested, as a part of the size
        shares = (np.arange(24) + 0.5) / 24
        inside = start + opening * shares
        outside = start + opening + (2.0 * np.pi - opening) * shares
        angles = np.concatenate([inside, outside])
        x = corner + close * self.size * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return bool(np.array_equal(self.contains(x, 0.0), np.arange(48) < 24))

    @cached_property
    def measure(self) -> float:
        """Area or volume: exact for polygons, else by a fine quadrature rule or very many points."""
        if self._polygons is not None:
            return float(self._polygons.area)
        return float(self._inner_moments(0)[0]) if self._intricate else self._measured(self._lines)

    @cached_property
    def _intricate(self) -> bool:
        return any(leaf._intricate for leaf in self._leaves())

    def _rule(self, n: int) -> Points:
        if self._triangles is not None:
            return self._points(*simplex_rule(self._triangles, n)[:2])
        return self._rule_by_points(n) if self._intricate else self._rule_by_lines(self._lines, n)

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        if self._triangles is not None:
            return scattered(self._triangles, n, method, rng)[0]
        return super()._scatter(n, method, rng)

    # ---- boundary -------------------------------------------------------------------------------

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """Those sides of the parts that bound the result."""
        return tuple(self._owners)

    @cached_property
    def _terms(self) -> tuple[SignedPart, ...]:
        """The parts that are no combinations themselves, in order, and whether they are added or taken away."""
        sign = -1.0 if self.kind == "difference" else 1.0
        return (*_terms(self.first), *(SignedPart(t.domain, sign * t.sign) for t in _terms(self.second)))

    @cached_property
    def _owners(self) -> dict[Side, tuple[int, Side, float]]:
        """The number of the part and the side behind each side of the result, and which share of it bounds it."""
        kept: list[tuple[int, Side, float]] = []
        checked = CHECKED.get(self.dimension, 4096)
        for number, term in enumerate(self._terms):
            for side in term.domain.sides:
                points = term.domain.sample_side(side, checked, "sobol", rng=0)
                bounds = self._bounding(number, points.x, points.normals)
                if np.any(bounds):
                    kept.append((number, side, float(np.sum(points.weights[bounds]) / np.sum(points.weights))))
        if not kept:
            raise ProblemError(f"no side of the parts bounds {self!r}; what is left is too thin to be found.")
        names = distinct([side.name for _, side, _ in kept])
        taken = set(names)
        found: dict[Side, tuple[int, Side, float]] = {}
        for name, owner in zip(names, kept, strict=True):
            aliases = tuple(alias for alias in owner[1].aliases if alias not in taken) if name == owner[1].name else ()
            taken.update(aliases)
            found[Side(name, aliases)] = owner
        return found

    @property
    def hole_circles(self) -> tuple[Hole, ...]:
        """What is taken away from the inside of other parts, and holes of parts that stay holes."""
        if self._polygons is not None:
            return super().hole_circles
        whole = {number for number, _, _ in self._owners.values()}
        whole -= {number for number, _, share in self._owners.values() if share < 1.0}
        found = []
        for number, (part, sign) in enumerate((t.domain, t.sign) for t in self._terms):
            if sign < 0 and number in whole:
                middle = (part.lower + part.upper) / 2.0
                found.append(Hole(tuple(float(c) for c in middle), float(np.min(part.lengths)) / 2.0))
            elif sign > 0:
                found += part.hole_circles
        inside = self.contains(np.array([hole.center for hole in found]).reshape(-1, self.dimension), 0.0)
        return tuple(hole for hole, is_inside in zip(found, inside, strict=True) if not is_inside)

    def _bounding(self, number: int, x: Array, normals: Array) -> Array:
        """Return which points of the boundary of a part bound the result: inside on one side, outside on the other.

        A boundary that several parts have is left to the first of them that is inside where the result is.
        """
        probe = 1e-6  # distance, as a fraction of the size, at which both sides of a boundary are probed
        step = probe * min(term.domain.size for term in self._terms)
        outward = step * self._terms[number].sign * normals
        found = self.contains(x - outward, 0.0) & ~self.contains(x + outward, 0.0)
        for term in self._terms[:number]:
            rows = np.flatnonzero(found)
            before, after = (term.domain.contains(x[rows] + shift, 0.0) for shift in (-outward[rows], outward[rows]))
            found[rows] = (before == after) | (before != (term.sign > 0))
        return found

    def outline(self) -> tuple[Curve, ...] | None:
        """Return what of the curves of the parts bounds the result; None if a part has no such curves."""
        outlines = [term.domain.outline() for term in self._terms]
        if self.dimension != 2 or any(curves is None for curves in outlines):
            return None
        names = {(number, own.name): side.name for side, (number, own, _) in self._owners.items()}
        found = list[Curve]()
        for number, curves in enumerate(outlines):
            others = [c for k, own in enumerate(outlines) if k != number for c in own or ()]
            pieces = cut_by(curves or (), others)
            kept = self._bounding(number, *points_of(pieces))
            own = [
                replace(p, side=names.get((number, p.side), p.side))
                for p, is_kept in zip(pieces, kept, strict=True)
                if is_kept
            ]
            found += own if self._terms[number].sign > 0 else [piece.reversed for piece in own]
        return tuple(found)

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        number, own, share = self._owners[side]
        term = self._terms[number]
        wanted = max(int(np.ceil(n / share)), 4)
        for count in (wanted, max(wanted, CHECKED.get(self.dimension, 4096))):
            tried = term.domain.sample_side(own, count, method, rng)
            kept = self._bounding(number, tried.x, tried.normals)
            if np.any(kept):
                break
        weights = tried.weights[kept]
        if share < 1.0:  # a cut side loses whole points; its measure is known better than that
            weights = weights * (share * np.sum(tried.weights) / np.sum(weights))
        return tried.x[kept], term.sign * tried.normals[kept], weights


@dataclass(frozen=True)
class SignedPart:
    """A part of a combination, and 1 if it is added or −1 if it is taken away."""

    domain: Domain
    sign: float


def _terms(domain: Domain) -> tuple[SignedPart, ...]:
    return domain._terms if isinstance(domain, Combination) else (SignedPart(domain, 1.0),)


def _plain(domain: Domain) -> Domain:
    """Return the domain behind other names of its sides."""
    return _plain(domain.domain) if isinstance(domain, Wrapped) else domain


def _leaves(domain: Domain) -> list[Domain]:
    plain = _plain(domain)
    return plain._leaves() if isinstance(plain, Combination) else [plain]


def _inside(domain: Domain, states: Array) -> Array:
    plain = _plain(domain)
    return plain._inside(states) if isinstance(plain, Combination) else states[:, 0]
