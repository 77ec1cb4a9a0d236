"""Domains given by a level function: inside where it is negative.

Isotropic chords: uniform points on the boundary of any region, and its measure, from inside tests alone.

The number of crossings of uniform random lines with a surface is proportional to its area, wherever and however it
lies (Cauchy–Crofton). A line through a ball crosses its sphere twice, which fixes the constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.geometry.array_arguments import place
from frozenpinn.geometry.ball import normal_points, sphere_measure
from frozenpinn.geometry.box import Box
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import SCATTERED_RULES, Points, Side
from frozenpinn.geometry.rare.columns import ScannedLines, column_lines
from frozenpinn.geometry.rare.level_surface import LevelBoundary, level_boundary, sign_table
from frozenpinn.geometry.rare.predicates import CutLevel, LevelFunction

Array = np.ndarray
STEPS = {2: 129, 3: 97}  # per line: what is narrower than this part of the bounding box may be missed


class Implicit(Domain):
    """The region where ``function`` < 0 within a bounding box.

    Parameters
    ----------
    function
        Text in the coordinates, such as ``"x^2 + y^2 - 1"``, or a NumPy function of the coordinates.
    lower, upper
        Corners of a box that contains the region.
    cut
        Whether the faces of the box bound the region where it reaches them; otherwise it must not reach them.

    Notes
    -----
    Parts narrower than about a hundredth of the bounding box may be missed: choose a tight one. In three dimensions,
    write solids with edges as ``max(f, g)`` (both), ``min(f, g)`` (either) or ``max(f, -g)`` (without) of smooth
    functions: each is then treated as smooth.

    Examples
    --------
    >>> flower = Implicit("sqrt(x^2 + y^2) - 1 - 0.3*cos(5*atan2(y, x))", [-1.5, -1.5], [1.5, 1.5])
    >>> round(flower.measure / np.pi, 5)  # 1 + 0.3²/2
    1.045
    """

    def __init__(self, function: Any, lower: Any, upper: Any, cut: bool = False) -> None:
        box = Box(lower, upper)
        if box.dimension < 2:
            raise ProblemError("an implicit domain has at least two dimensions; use Interval(a, b) in one.")
        self._bounds(box.lower, box.upper)
        level = LevelFunction(function, self.coordinates, "the function of an implicit domain")
        self._level = CutLevel(level, self.lower, self.upper) if cut else level
        self.function, self.cut = function, bool(cut)  # after the level, which explains what can't be pickled
        unit = SCATTERED_RULES["sobol"](2**14, self.dimension, np.random.default_rng(0))
        probes = self.lower + unit * self.lengths
        values = self._level(probes)
        if not np.any(values < 0):
            least = int(np.argmin(values))
            raise ProblemError(
                f"the function of the implicit domain is nowhere negative between {place(self.lower)} and "
                f"{place(self.upper)}; its least value found is {values[least]:g} at {place(probes[least])}. "
                "The inside is where it is below 0."
            )
        if not cut:
            self._check_distance(box)
        slopes = np.linalg.norm(self._level.gradient(probes[:1024], self.size), axis=1)
        self._steepest = float(np.max(slopes[np.isfinite(slopes)], initial=1e-300))

    def _check_distance(self, box: Box) -> None:
        """Refuse a region that reaches its bounding box."""
        for side in box.sides:
            edge = box.sample_side(
                side, 33 ** min(self.dimension - 1, 2), "sobol" if self.dimension > 3 else "uniform", 0
            )
            inside = self._level(edge.x) < 0
            if np.any(inside):
                raise ProblemError(
                    f"the implicit domain reaches the bounding box at {place(edge.x[int(np.argmax(inside))])}; "
                    "enlarge the box, or let it cut the region: Implicit(…, cut=True)."
                )

    def __repr__(self) -> str:
        text = self.function if isinstance(self.function, str) else getattr(self.function, "__name__", "function")
        where = "cut between" if self.cut else "between"
        return f"Implicit({text} < 0 {where} {place(self.lower)} and {place(self.upper)})"

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The whole boundary."""
        return (Side("boundary"),)

    def _inside(self, x: Array) -> Array:
        return np.asarray(self._level(x) < 0)

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        x = np.asarray(x, dtype=float)
        margin = tolerance * self.size
        found = np.all((x >= self.lower - abs(margin)) & (x <= self.upper + abs(margin)), axis=1)
        rows = np.flatnonzero(found)
        values = self._level(x[rows])
        found[rows] = values < 0
        if tolerance:  # |f|/|∇f| is the distance to the boundary, to first order
            close = np.flatnonzero(np.abs(values) <= 100.0 * abs(margin) * self._steepest)
            slopes = np.linalg.norm(self._level.gradient(x[rows[close]], self.size), axis=1)
            found[rows[close]] = values[close] <= margin * np.nan_to_num(slopes)
        return found

    # ---- inside ---------------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> ScannedLines:
        steps = STEPS.get(self.dimension, 97)
        return ScannedLines(self._inside, self.lower[-1], self.upper[-1], steps, self._level)

    @cached_property
    def measure(self) -> float:
        """Area or volume: of solids by flow through the boundary, else by a fine quadrature rule."""
        return float(self._inner_moments(0)[0]) if self.dimension == 3 else self._measured(self._lines)

    @cached_property
    def _intricate(self) -> bool:
        """Whether a solid has edges, or is met twice by lines along the last axis, or so its shadow; unlike a ball."""
        looks = 32  # cells per axis of the grid that decides whether a solid is intricate
        if self.dimension != 3 or len(self._level.smooth_parts) > 1:
            return self.dimension == 3
        inside = sign_table(self._level, self.lower, self.upper, np.full(3, looks))[0]
        for axis in (2, 1, 0):
            starts = np.sum(
                np.diff(np.pad(inside, [(0, 0)] * axis + [(1, 0)]).astype(np.int8), axis=axis) > 0, axis=axis
            )
            if np.any(starts > 1):
                return True
            inside = np.any(inside, axis=axis)
        return False

    def _inner_moments(self, degree: int) -> Array:
        return self._boundary.solid_moments(degree) if self._boundary.closed else super()._inner_moments(degree)

    def _rule(self, n: int) -> Points:
        return self._rule_by_points(n) if self._intricate else self._rule_by_lines(self._lines, n)

    # ---- boundary -------------------------------------------------------------------------------

    @property
    def _reach(self) -> float:
        return float(np.linalg.norm(self.lengths) / 2.0)

    @cached_property
    def _boundary(self) -> LevelBoundary:
        beyond = 0.02 * self.size * self.cut  # faces that cut must be seen from both sides
        grid = (self.lower - beyond, self.upper + beyond)
        found = level_boundary(self._level, self.lower, self.upper, grid)
        for piece in found.pieces:
            self._normals(piece.corners[:: 1 + len(piece.corners) // 500, 0])  # raises where there is none
        return found

    @cached_property
    def surface(self) -> float:
        """Length or area of the boundary: by columns, by curved triangles in 3-d, by Crofton's formula beyond."""
        if self.dimension == 2:
            return float(np.sum(self._columns(4000)[2]))
        if self.dimension == 3:
            return self._boundary.area
        return boundary_measure(self._inside, (self.lower + self.upper) / 2.0, self._reach)

    def _normals(self, x: Array) -> Array:
        slopes = self._level.gradient(x, self.size)
        lengths = np.linalg.norm(slopes, axis=1)
        if not np.all(np.isfinite(lengths) & (lengths > 1e-12 * self._steepest)):
            bad = int(np.argmin(np.where(np.isfinite(lengths), lengths, -1.0)))
            raise ProblemError(
                f"the function of the implicit domain has no slope at {place(x[bad])} on its boundary, so there is no "
                "normal; write it so that it crosses 0 there, for example f instead of f^3."
            )
        return slopes / lengths[:, None]

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        if self.dimension == 3:
            if method == "gauss":
                return self._boundary.spread(n)
            x, normals = self._boundary.points(n, method, rng)
            return x, normals, np.full(n, self.surface / n)
        if method == "gauss" and self.dimension == 2 and self._fewest <= 2 * n:
            x, normals, weights = self._columns(n)
            return x, normals, weights * (self.surface / np.sum(weights))
        chosen = "sobol" if method == "gauss" else method
        x = boundary_points(self._inside, (self.lower + self.upper) / 2.0, self._reach, n, chosen, rng)
        return x, self._normals(x), np.full(len(x), self.surface / len(x))

    @cached_property
    def _fewest(self) -> int:
        """The least number of boundary points by columns."""
        return sum(len(self._crossed(axis, 2.0 * self.size)[0]) for axis in range(self.dimension))

    def _columns(self, n: int) -> tuple[Array, Array, Array]:
        """Return boundary points where lines along each axis cross it: ∮ g = Σᵢ ∫ g |nᵢ| over the other axes."""
        d = self.dimension
        spacing = (2.0 * d * self.measure ** ((d - 1) / d) * d / n) ** (1.0 / (d - 1))
        before = np.inf
        for _ in range(3):
            parts = [self._crossed(axis, spacing) for axis in range(d)]
            x, normals, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
            if abs(np.log(len(x) / n)) < 0.2 or n < len(x) > 0.9 * before:
                break
            before = len(x) if len(x) > n else np.inf
            spacing *= (len(x) / n) ** (1.0 / (d - 1))
        return x, normals, weights

    def _crossed(self, axis: int, spacing: float) -> tuple[Array, Array, Array]:
        order = [i for i in range(self.dimension) if i != axis] + [axis]
        back = np.argsort(order)
        lines = ScannedLines(
            lambda x: self._inside(x[:, back]),
            self.lower[axis],
            self.upper[axis],
            STEPS[self.dimension],
            lambda x: self._level(x[:, back]),
        )
        base, weights = column_lines(lines, self.lower[order], self.upper[order], np.full(self.dimension, spacing))
        line, start, end = lines.intervals(base)
        ends = np.concatenate([start, end])
        x = np.column_stack([np.tile(base[line], (2, 1)), ends])[:, back]
        normals = self._normals(x)
        return x, normals, np.tile(weights[line], 2) * np.abs(normals[:, axis])


# ---- isotropic chords -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Chords:
    """Chords of the ball around ``center`` with radius ``radius``, uniform among all lines that meet it.

    Attributes
    ----------
    middle
        Middle points of the chords, shape (n, d).
    direction
        Unit directions, shape (n, d).
    half
        Half lengths, shape (n,).
    """

    middle: Array
    direction: Array
    half: Array


def uniform_chords(n: int, center: Array, radius: float, method: str, rng: np.random.Generator) -> Chords:
    """Return n chords: a uniform direction and, across it, a uniform point of the disk of d − 1 dimensions."""
    d = len(center)
    if d == 2:
        unit = SCATTERED_RULES[method](n, 2, rng)
        angle = np.pi * unit[:, 0]
        direction = np.column_stack([np.cos(angle), np.sin(angle)])
        offset = 2.0 * unit[:, 1] - 1.0
        across = np.column_stack([-direction[:, 1], direction[:, 0]]) * offset[:, None]
    else:
        unit = SCATTERED_RULES[method](n, 2 * d + 1, rng)
        direction = normal_points(unit[:, :d])
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        across = normal_points(unit[:, d : 2 * d])
        across -= np.sum(across * direction, axis=1, keepdims=True) * direction
        across *= (unit[:, -1] ** (1.0 / (d - 1)) / np.linalg.norm(across, axis=1))[:, None]
    half = radius * np.sqrt(np.maximum(1.0 - np.sum(across**2, axis=1), 0.0))
    return Chords(center + radius * across, direction, half)


def crossings(contains: Callable[[Array], Array], chords: Chords, steps: int = 96) -> Array:
    """Return the points (m, d) where chords cross the boundary, found at ``steps`` equal steps and by bisection."""
    bisections = 46
    s = np.linspace(-1.0, 1.0, steps + 1)
    n, d = chords.middle.shape
    inside = np.empty((n, steps + 1), dtype=bool)
    per_chunk = max(1, 2_000_000 // steps)
    for start in range(0, n, per_chunk):
        rows = slice(start, start + per_chunk)
        reach = chords.half[rows, None] * s
        x = chords.middle[rows, None, :] + reach[:, :, None] * chords.direction[rows, None, :]
        inside[rows] = contains(x.reshape(-1, d)).reshape(-1, steps + 1)
    row, step = np.nonzero(inside[:, 1:] != inside[:, :-1])
    low, high = chords.half[row] * s[step], chords.half[row] * s[step + 1]
    first = inside[row, step]
    middle, direction = chords.middle[row], chords.direction[row]
    for _ in range(bisections):
        half = (low + high) / 2.0
        same = contains(middle + half[:, None] * direction) == first if len(row) else first
        low, high = np.where(same, half, low), np.where(same, high, half)
    return np.asarray(middle + ((low + high) / 2.0)[:, None] * direction)


def boundary_measure(
    contains: Callable[[Array], Array], center: Array, radius: float, chords: int = 2**14, steps: int = 96
) -> float:
    """Return the measure of the boundary by Crofton's formula, with quasi-random chords."""
    lines = uniform_chords(chords, center, radius, "sobol", np.random.default_rng(0))
    found = len(crossings(contains, lines, steps))
    return found / chords / 2.0 * sphere_measure(len(center)) * radius ** (len(center) - 1)


def boundary_points(
    contains: Callable[[Array], Array], center: Array, radius: float, n: int, method: str, rng: np.random.Generator
) -> Array:
    """Return n uniformly distributed points on the boundary."""
    kept: list[Array] = []
    have, lines = 0, n + 16
    for _ in range(60):
        kept.append(crossings(contains, uniform_chords(lines, center, radius, method, rng)))
        have += len(kept[-1])
        if have >= n:
            return np.concatenate(kept)[:n]
        rate = max(len(kept[-1]) / lines, 1e-4)
        lines = int(min(1.1 * (n - have) / rate + 16, 500_000))
    raise SettingsError(f"found only {have} of {n} points on the boundary; it is too small for its bounding box.")
