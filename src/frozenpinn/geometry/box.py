"""Interval and Box: axis-aligned domains in any dimension, each axis periodic or with two sides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import (
    SCATTERED_RULES,
    TENSOR_RULES,
    BoundaryPoints,
    FlatSide,
    Points,
    Side,
    check_count,
    check_method,
    equispaced,
    generator,
    tensor_grid,
)
from frozenpinn.runtime.arguments import is_number, is_whole, reals, shown
from frozenpinn.runtime.budget import amount, physical_memory

if TYPE_CHECKING:
    from frozenpinn.geometry.rare.curves import Curve

Array = np.ndarray
_FLAG = bool | np.bool_ | int | np.integer
_COMMON_NAMES = (("left", "right"), ("bottom", "top"), ("front", "back"))


class Box(Domain):
    """The box [lower₁, upper₁] × … × [lower_d, upper_d].

    Parameters
    ----------
    lower, upper
        Corner coordinates, one number per axis.
    periodic
        One flag for all axes, or one per axis. A periodic axis has no sides.

    Notes
    -----
    Sides are called ``left, right, bottom, top, front, back`` up to three dimensions, and
    ``x1-, x1+, x2-, …`` beyond; ``x-``, ``x+``, … are understood everywhere.

    Examples
    --------
    >>> box = Box([0, 0], [2, 1], periodic=[True, False])
    >>> [side.name for side in box.sides]
    ['bottom', 'top']
    """

    def __init__(
        self, lower: Sequence[float] | Array, upper: Sequence[float] | Array, periodic: bool | Sequence[bool] = False
    ) -> None:
        bottom, top = _corner(lower), _corner(upper)
        if bottom.ndim != 1 or bottom.shape != top.shape or not bottom.size:
            raise ProblemError(
                f"lower and upper need one number per axis each, got shapes {bottom.shape} and {top.shape}."
            )
        if not (np.all(np.isfinite(bottom)) and np.all(np.isfinite(top))):
            raise ProblemError("the ends of a box must be finite; map an infinite domain to a finite one first.")
        if np.any(top <= bottom):
            axis = int(np.argmax(top <= bottom))
            raise ProblemError(
                f"axis {axis} runs from {bottom[axis]:g} to {top[axis]:g}; the upper end must be larger."
            )
        flags = list(periodic) if isinstance(periodic, list | tuple | np.ndarray) else [periodic] * len(bottom)
        if isinstance(periodic, str) or not all(isinstance(flag, _FLAG) and flag in (0, 1) for flag in flags):
            raise ProblemError(f"periodic is True or False, or one of them per axis; got {shown(periodic)}.")
        if len(flags) != len(bottom):
            raise ProblemError(f"periodic needs one flag per axis ({len(bottom)}), got {len(flags)}.")
        self._bounds(bottom, top, [bool(flag) for flag in flags])

    def __repr__(self) -> str:
        ends = " × ".join(
            f"[{a:g}, {b:g}]{' periodic' if p else ''}"
            for a, b, p in zip(self.lower, self.upper, self.periodic, strict=True)
        )
        return f"{type(self).__name__}({ends})"

    @property
    def measure(self) -> float:
        """Length, area, volume."""
        return float(np.prod(self.lengths))

    @property
    def center(self) -> Array:
        """Midpoint of the box."""
        return (self.lower + self.upper) / 2.0

    @cached_property
    def sides(self) -> tuple[FlatSide, ...]:
        """The sides of all axes that are not periodic."""
        return tuple(
            self._side(axis, end) for axis in range(self.dimension) if not self.periodic[axis] for end in (0, 1)
        )

    def _side(self, axis: int, end: int) -> FlatSide:
        systematic = f"{self.coordinates[axis]}{'-+'[end]}"
        if self.dimension > 3:
            return FlatSide(systematic, (), axis, end)
        return FlatSide(_COMMON_NAMES[axis][end], (systematic,), axis, end)

    def side(self, name: str) -> FlatSide:
        """Find a side by name or alias; the error lists what exists."""
        for axis in range(self.dimension):
            periodic = (
                [self._side(axis, end) for end in (0, 1)] if self.periodic[axis] and isinstance(name, str) else []
            )
            if any(name == s.name or name in s.aliases for s in periodic):
                raise ProblemError(
                    f"axis '{self.coordinates[axis]}' is periodic, so it has no side '{name}'; leave it out."
                )
        return cast(FlatSide, super().side(name))

    def with_periodic(self, axes: Sequence[int]) -> Box:
        """Return the same box with further axes made periodic."""
        flags = [p or i in axes for i, p in enumerate(self.periodic)]
        if self.dimension == 1:
            return Interval(self.lower[0], self.upper[0], periodic=flags[0])
        return Box(self.lower, self.upper, periodic=flags)

    def axis(self, index: int) -> Interval:
        """Return one axis as an interval of its own."""
        return Interval(self.lower[index], self.upper[index], periodic=self.periodic[index])

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point whether it lies in the box (periodic axes contain everything)."""
        margin = tolerance * self.lengths
        inside = (x >= self.lower - margin) & (x <= self.upper + margin)
        return np.asarray(np.all(inside | np.array(self.periodic), axis=1))

    def wrap(self, x: Array) -> Array:
        """Map points into the box along its periodic axes."""
        if not any(self.periodic):
            return x
        inside = (x >= self.lower) & (x <= self.upper)
        if inside.all():
            return x
        wrapped = self.lower + np.mod(x - self.lower, self.lengths)
        return np.where(inside | ~np.array(self.periodic), x, wrapped)

    # ---- points ---------------------------------------------------------------------------------

    def sample(
        self,
        n: int | Sequence[int],
        method: str = "gauss",
        rng: int | np.random.Generator | None = None,
    ) -> Points:
        """Place points in the box.

        Parameters
        ----------
        n
            Number of points; for ``gauss``, ``spectral`` and ``uniform`` also one number per axis. A single number
            is then the total, distributed evenly over the axes.
        method
            ``gauss`` (tensor Gauss–Legendre), ``spectral`` (the same, with equispaced points on periodic axes),
            ``uniform`` (tensor grid), ``latin-hypercube``, ``sobol`` or ``random``.
        rng
            Seed or generator for the random methods.
        """
        check_method(method)
        if method in TENSOR_RULES:
            return self._tensor(n, method)
        if not is_whole(n):
            raise SettingsError(f"'{method}' places n points in total; give one number, got {shown(n)}.")
        count = check_count(n)
        unit = SCATTERED_RULES[method](count, self.dimension, generator(rng))
        spacing = self.lengths / count ** (1.0 / self.dimension)
        return Points(self.lower + unit * self.lengths, np.full(count, self.measure / count), spacing)

    def _tensor(self, n: int | Sequence[int], method: str) -> Points:
        part = 0.5  # of the memory that the points of a grid may take
        if is_number(n):
            counts = [max(1, round(check_count(n) ** (1.0 / self.dimension)))] * self.dimension
        elif isinstance(n, str) or not (isinstance(n, Sequence) or (isinstance(n, np.ndarray) and n.ndim == 1)):
            raise SettingsError(f"'{method}' needs a whole number of points or one number per axis, got {shown(n)}.")
        else:
            counts = [check_count(k) for k in n[: self.dimension + 1]]
        if len(counts) != self.dimension:
            raise SettingsError(f"one number of points per axis is needed ({self.dimension}), got {len(counts)}.")
        needed = 8.0 * (self.dimension + 1) * float(np.prod(np.array(counts, dtype=float)))
        if needed > part * physical_memory():
            raise SettingsError(
                f"a tensor grid of {' × '.join(map(str, counts))} points is too large: it takes {amount(needed)}, and "
                f"this machine has {amount(physical_memory())}; "
                "use method='sobol' or 'latin-hypercube' in high dimension."
            )
        suited = [equispaced if method == "spectral" and p else TENSOR_RULES[method] for p in self.periodic]
        rules = [rule(k) for rule, k in zip(suited, counts, strict=True)]
        axes = tuple(a + length * r[0] for a, length, r in zip(self.lower, self.lengths, rules, strict=True))
        axis_weights = tuple(length * r[1] for length, r in zip(self.lengths, rules, strict=True))
        widest = np.pi / 2 if method != "uniform" else 1.0  # Gauss points are widest apart in the middle
        return tensor_grid(axes, axis_weights, widest * self.lengths / np.array(counts))

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        points = self.sample_side(side, n, method, rng)
        return points.x, points.normals, points.weights

    def _shape(self) -> Any:
        from frozenpinn.geometry.rare.polygon import shapely_or_none

        shapely = shapely_or_none()
        return (
            shapely.box(*self.lower, *self.upper)
            if shapely and self.dimension == 2 and not any(self.periodic)
            else None
        )

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the four edges of a plane box; None if it is no such box, or has periodic axes."""
        from frozenpinn.geometry.rare.curves import ring

        if self.dimension != 2 or any(self.periodic):
            return None
        (a, c), (b, d) = self.lower, self.upper
        names = [self._side(axis, end).name for axis, end in ((1, 0), (0, 1), (1, 1), (0, 0))]
        return ring(np.array([[a, c], [b, c], [b, d], [a, d]]), names)

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        met = np.flatnonzero(np.all((base >= self.lower[:-1]) & (base < self.upper[:-1]), axis=1))
        return np.tile(met, 2), np.repeat([self.lower[-1], self.upper[-1]], len(met))

    def _corners(self) -> Array:
        return np.stack([self.lower, self.upper])  # their coordinates are those of all corners

    def _rule(self, n: int) -> Points:
        return self._tensor(n, "gauss")

    def sample_side(
        self, side: Side | str, n: int, method: str = "gauss", rng: int | np.random.Generator | None = None
    ) -> BoundaryPoints:
        """Place points on one side (exactly one in 1-d), with outward normals."""
        if not isinstance(side, FlatSide):  # the ends of periodic axes are none of the sides, but have points too
            side = self.side(side if isinstance(side, str) else side.name)
        others = [i for i in range(self.dimension) if i != side.axis]
        if others:
            face = Box(self.lower[others], self.upper[others]).sample(n, method, rng)
            count, weights = len(face), face.weights
        else:
            count, weights = 1, np.ones(1)
        x = np.empty((count, self.dimension))
        x[:, side.axis] = (self.lower, self.upper)[side.end][side.axis]
        if others:
            x[:, others] = face.x
        normals = np.zeros_like(x)
        normals[:, side.axis] = (-1.0, 1.0)[side.end]
        return BoundaryPoints(x, normals, weights, side)


class Interval(Box):
    """The interval [lower, upper], with sides ``left`` and ``right`` or periodic.

    Examples
    --------
    >>> Interval(0, 1)
    Interval([0, 1])
    """

    def __init__(self, lower: float, upper: float, periodic: bool = False) -> None:
        if any(np.ndim(reals(end, "an interval needs two numbers", ProblemError)) for end in (lower, upper)):
            raise ProblemError("Interval takes two numbers; use Box([…], […]) for several dimensions.")
        super().__init__([lower], [upper], periodic)


def _corner(given: Sequence[float] | Array) -> Array:
    return np.atleast_1d(reals(given, "lower and upper need one number per axis each", ProblemError))
