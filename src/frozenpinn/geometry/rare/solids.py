"""Solids from plane figures: extruded along a further axis, or revolved around one."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.ball import circle
from frozenpinn.geometry.box import Box, Interval
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import SCATTERED_RULES, FlatSide, Points, Side, distinct, gauss

Array = np.ndarray


class Extruded(Domain):
    """A domain of d − 1 dimensions times an interval of the last axis.

    Its sides are those of the base and the two ends: ``front`` and ``back`` (also ``z-``, ``z+``) in three
    dimensions, ``bottom`` and ``top`` in two.

    Examples
    --------
    >>> from frozenpinn.geometry import Disk
    >>> [side.name for side in Extruded(Disk(name="wall"), 0, 2).sides]
    ['wall', 'front', 'back']
    """

    def __init__(self, base: Domain, lower: float, upper: float) -> None:
        if not isinstance(base, Domain):
            raise ProblemError(f"the base of an extruded domain is a domain such as Disk(), got {base!r}.")
        if any(base.periodic):
            raise ProblemError(f"the base {base!r} has periodic axes; extrude a box without, or use Box in more axes.")
        self.base, self.interval = base, Interval(lower, upper)
        self._bounds(np.append(base.lower, self.interval.lower), np.append(base.upper, self.interval.upper))

    def __repr__(self) -> str:
        return f"Extruded({self.base!r}, {self.lower[-1]:g} to {self.upper[-1]:g})"

    @property
    def measure(self) -> float:
        """Area or volume."""
        return self.base.measure * self.interval.measure

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The sides of the base, then the two ends."""
        ends = [Box(np.zeros(self.dimension), np.ones(self.dimension))._side(self.dimension - 1, end) for end in (0, 1)]
        names = distinct([side.name for side in (*self.base.sides, *ends)])
        around = [Side(name, side.aliases) for name, side in zip(names, self.base.sides, strict=False)]
        return (*around, *(Side(name, end.aliases) for name, end in zip(names[-2:], ends, strict=True)))

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        x = np.asarray(x, dtype=float)
        found = self.interval.contains(x[:, -1:], tolerance)
        rows = np.flatnonzero(found)
        found[rows] = self.base.contains(x[rows, :-1], tolerance)
        return found

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        met = np.flatnonzero(self.base.contains(base, 0.0))
        return np.tile(met, 2), np.repeat([self.lower[-1], self.upper[-1]], len(met))

    def _counts(self, n: int, measure: float, k: int) -> tuple[int, int]:
        """Return the numbers of points over a part of the base of dimension k and along the interval.

        Neurons are stretched to the domain, so a thin one needs as many points across as a thick one.
        """
        along = max(1, round(n ** (1.0 / (k + 1))))
        return max(1, round(n / along)), along

    def _rule(self, n: int) -> Points:
        over, along = self._counts(n, self.base.measure, self.dimension - 1)
        base = self.base.sample(over)
        s, w = gauss(max(1, round(n / len(base))) if len(base) > 2 * over else along)
        x, weights = self._product(base.x, base.weights, self.lower[-1] + self.interval.measure * s, w)
        widest = np.pi / 2 * self.interval.measure / len(s)  # Gauss points are widest apart in the middle
        return replace(self._points(x, weights), spacing=np.append(base.spacing, widest))

    def _product(self, x: Array, weights: Array, heights: Array, w: Array) -> tuple[Array, Array]:
        points = np.column_stack([np.repeat(x, len(heights), axis=0), np.tile(heights, len(x))])
        return points, np.outer(weights, w * self.interval.measure).ravel()

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        heights = SCATTERED_RULES[method](n, 1, rng)[:, 0]
        base = self.base.sample(n, method, rng).x
        if method != "random":  # low discrepancy of each is not one of the product
            heights = rng.permutation(heights)
        return np.column_stack([base, self.lower[-1] + self.interval.measure * heights])

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        number = self.sides.index(side)
        if number >= len(self.base.sides):
            end = number - len(self.base.sides)
            base = self.base.sample(n, method, rng)
            x = np.column_stack([base.x, np.full(len(base), (self.lower, self.upper)[end][-1])])
            normals = np.zeros_like(x)
            normals[:, -1] = (-1.0, 1.0)[end]
            return x, normals, base.weights
        own = self.base.sides[number]
        if method == "gauss":
            measure = float(np.sum(self.base.sample_side(own, 64).weights))
            over, along = (1, n) if self.dimension == 2 else self._counts(n, measure, self.dimension - 2)
            around = self.base.sample_side(own, over)
            s, w = gauss(max(along, 2))
            x, weights = self._product(around.x, around.weights, self.lower[-1] + self.interval.measure * s, w)
            normals = np.repeat(around.normals, len(s), axis=0)
        else:
            around = self.base.sample_side(own, n, method, rng)
            rows = np.resize(np.arange(len(around)), n)
            heights = rng.permutation(SCATTERED_RULES[method](n, 1, rng)[:, 0])
            x = np.column_stack([around.x[rows], self.lower[-1] + self.interval.measure * heights])
            normals = around.normals[rows]
            weights = np.full(n, np.sum(around.weights) * self.interval.measure / n)
        return x, np.column_stack([normals, np.zeros(len(normals))]), weights


class Revolved(Domain):
    """A plane figure in (r, z), r ≥ 0, revolved around the z-axis: a solid in (x, y, z).

    The sides are those of the figure, without what lies on the axis.

    Examples
    --------
    >>> cylinder = Revolved(Box([0, 0], [1, 3]))
    >>> [side.name for side in cylinder.sides], round(cylinder.measure / np.pi, 12)
    (['right', 'bottom', 'top'], 3.0)
    """

    def __init__(self, profile: Domain) -> None:
        if not isinstance(profile, Domain) or profile.dimension != 2 or any(profile.periodic):
            raise ProblemError(f"a profile is a domain in the plane of r and z without periodic axes, got {profile!r}.")
        if profile.lower[0] < -1e-9 * profile.size:
            raise ProblemError(
                f"the profile reaches r = {profile.lower[0]:g}; its first coordinate is the distance from the axis, "
                "so it must not be negative."
            )
        self.profile = profile
        reach = profile.upper[0]
        self._bounds(
            np.array([-reach, -reach, profile.lower[1]]),
            np.array([reach, reach, profile.upper[1]]),
        )

    def __repr__(self) -> str:
        return f"Revolved({self.profile!r})"

    @cached_property
    def measure(self) -> float:
        """Volume: 2π ∫ r over the profile."""
        points = self.profile.sample(4000)
        return float(2.0 * np.pi * points.weights @ points.x[:, 0])

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The sides of the profile that don't lie on the axis."""
        found = []
        for side in self.profile.sides:
            if np.any(self._off_axis(self.profile.sample_side(side, 200).x)):
                found.append(Side(side.name) if isinstance(side, FlatSide) else side)
        return tuple(found)

    def _off_axis(self, x: Array) -> Array:
        return np.asarray(x[:, 0] > 1e-9 * self.profile.size)

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        x = np.asarray(x, dtype=float)
        return self.profile.contains(np.column_stack([np.hypot(x[:, 0], x[:, 1]), x[:, 2]]), tolerance)

    def _turned(self, x: Array, weights: Array, spacing: float) -> tuple[Array, Array, Array, Array]:
        """Return points on circles around the axis, their weights, angles, and the number of the circle of each.

        Small circles get few points: the harmonic of order m of a smooth function is of size r^m there.
        """
        counts = np.ceil(2.0 * np.pi * x[:, 0] / spacing).astype(int) + 6
        angle, owner = circle(counts)
        r = x[owner, 0]
        points = np.column_stack([r * np.cos(angle), r * np.sin(angle), x[owner, 1]])
        return points, (2.0 * np.pi * x[:, 0] * weights / counts)[owner], angle, owner

    def _rule(self, n: int) -> Points:
        spacing = (self.measure / n) ** (1.0 / 3.0)
        for _ in range(4):
            profile = self.profile.sample(max(1, round(self.profile.measure / spacing**2)))
            x, weights, _, _ = self._turned(profile.x, profile.weights, spacing)
            if abs(np.log(len(x) / n)) < 0.15:
                break
            spacing *= (len(x) / n) ** (1.0 / 3.0)
        return self._points(x, weights)

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        own = self.profile.side(side.name)
        fine = self.profile.sample_side(own, 400)
        area = float(2.0 * np.pi * fine.weights @ fine.x[:, 0])
        if method != "gauss":
            return self._scattered_side(own, area, n, method, rng)
        spacing, length = (area / n) ** 0.5, float(np.sum(fine.weights))
        for _ in range(4):
            points = self.profile.sample_side(own, max(2, round(length / spacing)))
            kept = self._off_axis(points.x)
            x, weights, angle, owner = self._turned(points.x[kept], points.weights[kept], spacing)
            if abs(np.log(len(x) / n)) < 0.2:
                break
            spacing *= (len(x) / n) ** 0.5
        return x, _turned_normals(points.normals[kept][owner], angle), weights

    def _scattered_side(
        self, own: Side, area: float, n: int, method: str, rng: np.random.Generator
    ) -> tuple[Array, Array, Array]:
        """Accept points of the profile's side in proportion to their distance from the axis."""
        kept: list[Array] = []
        have, reach = 0, self.profile.upper[0]
        for _ in range(60):
            points = self.profile.sample_side(own, 2 * (n - have) + 32, method, rng)
            choice = points.x[:, 0] > reach * rng.random(len(points))
            kept.append(np.column_stack([points.x, points.normals])[choice])
            have += len(kept[-1])
            if have >= n:
                break
        rows = np.concatenate(kept)[:n]
        angle = 2.0 * np.pi * rng.permutation(SCATTERED_RULES[method](len(rows), 1, rng)[:, 0])
        x = np.column_stack([rows[:, 0] * np.cos(angle), rows[:, 0] * np.sin(angle), rows[:, 1]])
        return x, _turned_normals(rows[:, 2:], angle), np.full(len(rows), area / len(rows))


def _turned_normals(normals: Array, angle: Array) -> Array:
    return np.column_stack([normals[:, 0] * np.cos(angle), normals[:, 0] * np.sin(angle), normals[:, 1]])
