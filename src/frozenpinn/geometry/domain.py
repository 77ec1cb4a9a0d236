"""What every domain is: a bounded region with named sides, points inside and on its boundary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache, wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from frozenpinn.errors import EvaluationError, ProblemError, SettingsError, choices, suggestion
from frozenpinn.geometry.array_arguments import LARGEST, SMALLEST, check_dimension, frozen
from frozenpinn.geometry.points import (
    SCATTERED_RULES,
    BoundaryPoints,
    Hole,
    Points,
    Side,
    check_count,
    check_method,
    generator,
)
from frozenpinn.language.jets import coordinate_names
from frozenpinn.runtime.arguments import between, reals, shown, spelled
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.geometry.rare.columns import Lines
    from frozenpinn.geometry.rare.curves import Curve

Array = np.ndarray
Predicate: TypeAlias = str | Callable[..., Any]
FINE = {2: 10_000, 3: 60_000}  # points of the rule by columns that measures a domain


class Domain(ABC):
    """A bounded region of R^d.

    Attributes
    ----------
    lower, upper
        Corners of a bounding box, one number per axis.
    dimension
        Number of spatial coordinates.
    coordinates
        Their names: ``x``, ``x, y``, ``x, y, z``, and ``x1, x2, …`` beyond.
    periodic
        One flag per axis; only boxes have periodic axes.
    """

    lower: Array
    upper: Array
    dimension: int
    coordinates: tuple[str, ...]
    periodic: tuple[bool, ...]

    def __init_subclass__(cls, **more: Any) -> None:
        """Let every kind of domain refuse misspelt arguments and points of another shape alike."""
        super().__init_subclass__(**more)
        if "__init__" in vars(cls):
            spelled(ProblemError)(cls)
        if "contains" in vars(cls):
            cls.contains = spelled(ProblemError)(_with_checked_points(cls.contains))  # type: ignore[method-assign]
        for name in {"sample", "sample_side", "side"} & set(vars(cls)):
            setattr(cls, name, spelled(ProblemError)(getattr(cls, name)))

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute once; domains don't change after they are built."""
        if name in self.__dict__:
            raise AttributeError(f"domains don't change; build a new one instead of setting '{name}'.")
        super().__setattr__(name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # pickling loses the flag

    def _bounds(self, lower: Array, upper: Array, periodic: Sequence[bool] = ()) -> None:
        """Set the bounding box and all that follows from it."""
        most_decades = 300  # before and after the point, of volumes that are floating point numbers
        check_dimension(len(lower))
        with np.errstate(over="ignore"):
            lengths = np.asarray(upper) - lower
        outside = (lengths != 0) & ~((lengths >= SMALLEST) & (lengths <= LARGEST))
        if np.any(outside):
            raise ProblemError(
                f"an edge of the domain is {lengths[np.argmax(outside)]:g} long; lengths between {SMALLEST:g} and "
                f"{LARGEST:g} can be computed with. Use other units."
            )
        decades = float(np.sum(np.log10(lengths[lengths > 0])))
        if abs(decades) > most_decades:
            raise ProblemError(f"the bounding box has a volume of 1e{decades:.0f}; use other units.")
        self.lower, self.upper = frozen(lower), frozen(upper)
        self.dimension = len(self.lower)
        self.coordinates = coordinate_names(self.dimension)
        self.periodic = tuple(periodic) or (False,) * self.dimension

    def with_coordinates(self, names: Sequence[str]) -> Domain:
        """Return the same domain with other names of its coordinates."""
        other = copy(self)
        vars(other).pop("sides", None)  # their names may be those of the axes
        vars(other)["coordinates"] = tuple(names)
        return other

    @property
    def lengths(self) -> Array:
        """Edge lengths of the bounding box."""
        return self.upper - self.lower

    @property
    def size(self) -> float:
        """Longest edge of the bounding box: tolerances are fractions of it."""
        return float(np.max(self.lengths))

    @property
    @abstractmethod
    def measure(self) -> float:
        """Length, area, volume."""

    @property
    @abstractmethod
    def sides(self) -> tuple[Side, ...]:
        """The named parts of the boundary, each point of it in exactly one."""

    @spelled(ProblemError)
    def side(self, name: str) -> Side:
        """Find a side by name or alias; the error lists what exists."""
        for side in self.sides if isinstance(name, str) else ():
            if name == side.name or name in side.aliases:
                return side
        known = [side.name for side in self.sides]
        raise ProblemError(f"unknown side '{name}'; the sides are {choices(known)}.{suggestion(str(name), known)}")

    @abstractmethod
    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""

    def wrap(self, x: Array) -> Array:
        """Map points into the domain along its periodic axes."""
        return x

    # ---- points ---------------------------------------------------------------------------------

    @spelled(ProblemError)
    def sample(
        self, n: int | Sequence[int], method: str = "gauss", rng: int | np.random.Generator | None = None
    ) -> Points:
        """Place points inside.

        Parameters
        ----------
        n
            Number of points, met approximately by quadrature rules and exactly by scattered ones.
        method
            ``gauss`` (the most accurate quadrature rule of the domain), ``uniform`` (equispaced, boxes only),
            ``latin-hypercube``, ``sobol`` or ``random``: uniformly distributed, of equal weights.
        rng
            Seed or generator for the scattered methods.
        """
        check_method(method)
        count = check_count(n)
        if method == "uniform":
            raise SettingsError("'uniform' places a tensor grid, which only boxes have; use 'gauss' or 'sobol'.")
        if method == "gauss":
            return self._rule(count)
        x = self._scatter(count, method, generator(rng))
        return Points(x, np.full(len(x), self.measure / len(x)), self._spacing(count))

    @abstractmethod
    def _rule(self, n: int) -> Points:
        """Return the quadrature rule of the domain with about n points."""

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        """Return n uniformly distributed points, by rejection from the bounding box."""
        share = min(max(self.measure / float(np.prod(self.lengths)), 1e-6), 1.0)
        kept: list[Array] = []
        have = 0
        for _ in range(200):
            missing = n - have
            batch = int(min(1.05 * missing / share + 4.0 * (missing / share) ** 0.5 + 16, 2_000_000))
            unit = SCATTERED_RULES[method](batch, self.dimension, rng)
            x = self.lower + unit * self.lengths
            kept.append(x[self.contains(x, 0.0)])
            have += len(kept[-1])
            if have >= n:
                return np.concatenate(kept)[:n]
        raise SettingsError(
            f"found only {have} of {n} points inside {self!r}: it fills too little of its bounding box."
        )

    @spelled(ProblemError)
    def sample_side(
        self, side: Side | str, n: int, method: str = "gauss", rng: int | np.random.Generator | None = None
    ) -> BoundaryPoints:
        """Place about n points on one side, with outward normals and weights that sum to its measure."""
        check_method(method)
        found = self.side(side.name if isinstance(side, Side) else side)
        if method == "uniform":
            raise SettingsError("'uniform' places a tensor grid, which only boxes have; use 'gauss' or 'sobol'.")
        source = generator(0 if method == "gauss" else rng)  # rules are the same every time
        x, normals, weights = self._side_points(found, check_count(n), method, source)
        return BoundaryPoints(x, normals, weights, found)

    @abstractmethod
    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return about n points on a side of the domain, their outward normals and weights."""

    @cached_property
    def reentrant_corners(self) -> tuple[tuple[float, float, float, float], ...]:
        """Corners of a plane domain that open by more than π: x, y, direction of the first edge, opening.

        Solutions are singular there. Known for polygons and for combinations of them.
        """
        return self.corners_beyond(np.pi)

    def corners_beyond(self, opening: float) -> tuple[tuple[float, float, float, float], ...]:
        """Return the corners of a plane domain of straight edges that open by more than an angle."""
        from frozenpinn.geometry.rare.polygon import corners_of

        shape = self._shape() if self.dimension == 2 else None
        return () if shape is None else corners_of(shape, opening)

    @property
    def hole_circles(self) -> tuple[Hole, ...]:
        """Holes that the boundary goes round, as far as they are known: of polygons, shells and differences.

        Examples
        --------
        >>> from frozenpinn.geometry import Box, Disk
        >>> (Box([0, 0], [2, 1]) - Disk([0.5, 0.5], 0.25)).hole_circles
        (Hole(center=(0.5, 0.5), radius=0.25),)
        """
        from frozenpinn.geometry.rare.polygon import holes_of

        shape = self._shape() if self.dimension == 2 else None
        return () if shape is None else holes_of(shape)

    def _shape(self) -> Any:
        """Return the domain as a shapely polygon if it is one and shapely is installed, else None."""
        return None

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the boundary of a plane domain as segments and arcs of ellipses; None if it is not made of these."""
        return None

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        """Return (line, height) of all places where lines along the last axis cross the boundary, in any order.

        A line is a point of the first d − 1 coordinates. The default, for domains without a better method.
        """
        line, start, end = self._lines.intervals(base)
        return np.concatenate([line, line]), np.concatenate([start, end])

    @cached_property
    def _lines(self) -> Lines:
        """Lines along the last axis."""
        from frozenpinn.geometry.rare.columns import ScannedLines

        return ScannedLines(self._strictly, self.lower[-1], self.upper[-1])

    def _strictly(self, x: Array) -> Array:
        return self.contains(x, 0.0)

    def _corners(self) -> Array:
        """Return the corners of the boundary as far as there are few: quadrature must know where it is not smooth."""
        return np.empty((0, self.dimension))

    # ---- other domains made of this one ---------------------------------------------------------

    def __or__(self, other: Domain) -> Domain:
        return self._combined("union", other)

    def __and__(self, other: Domain) -> Domain:
        return self._combined("intersection", other)

    def __sub__(self, other: Domain) -> Domain:
        return self._combined("difference", other)

    def _combined(self, kind: str, other: Domain) -> Domain:
        from frozenpinn.geometry.rare.combination import Combination

        if not isinstance(other, Domain):
            raise ProblemError(f"a domain is combined with another domain, got {shown(other)}.")
        return Combination(kind, self, other)

    def _alone(self, other: object) -> NoReturn:
        raise ProblemError(f"a domain is combined with another domain, got {shown(other)}.")

    __ror__ = __rand__ = __rsub__ = _alone

    @spelled(ProblemError)
    def named(self, name: str) -> Domain:
        """Return the same domain with its side called ``name``; several sides get it as a prefix.

        Examples
        --------
        >>> from frozenpinn.geometry import Box, Disk
        >>> plate = Box([0, 0], [2, 1]) - Disk([1, 0.5], 0.2).named("hole")
        >>> [side.name for side in plate.sides]
        ['left', 'right', 'bottom', 'top', 'hole']
        """
        from frozenpinn.geometry.rare.relabelled import Renamed

        return Renamed(self, name)

    def with_sides(self, sides: Mapping[str, Predicate] | None = None, /, **more: Predicate) -> Domain:
        """Return the same domain with parts of its boundary as sides of their own.

        Parameters
        ----------
        sides, **more
            Where each new side is: a comparison as text (``"x < 0.1"``, ``"0 < y < 1 and x > 2"``) or a function of
            the coordinates that returns booleans. The first that holds decides; the rest keeps its sides.

        Examples
        --------
        >>> from frozenpinn.geometry import Disk
        >>> [side.name for side in Disk().with_sides(hot="y > 0.5").sides]
        ['hot', 'boundary']
        """
        from frozenpinn.geometry.rare.relabelled import Parted

        return Parted(self, {**(sides or {}), **more})

    @spelled(ProblemError)
    def plot(self, n: int = 400, file: str | None = None) -> Any:
        """Draw points inside, boundary points coloured by side, and normals; return the figure."""
        from frozenpinn.geometry.drawing import draw

        if file is not None:
            checked_picture(file)

        return draw(self, n, file)

    # ---- plumbing of the rules ------------------------------------------------------------------

    def _share_inside(self, n: int) -> float:
        """Return which share of the bounding box is inside, by quasi-random points."""
        unit = SCATTERED_RULES["sobol"](n, self.dimension, np.random.default_rng(0))
        return float(np.mean(self.contains(self.lower + unit * self.lengths, 0.0)))

    def _measured(self, lines: Lines) -> float:
        """Return the measure by a fine rule: by columns up to three dimensions, by quasi-random points beyond."""
        from frozenpinn.geometry.rare.columns import column_measure

        if self.dimension <= 3:
            return column_measure(lines, self.lower, self.upper, FINE[self.dimension])
        return self._share_inside(2**18) * float(np.prod(self.lengths))

    def _rule_by_lines(self, lines: Lines, n: int) -> Points:
        """Return a rule by columns up to three dimensions, quasi-random points beyond."""
        from frozenpinn.geometry.rare.columns import fitted_rule

        if self.dimension > 3:
            return self._points(self._scatter(n, "sobol", np.random.default_rng(0)), np.full(n, self.measure / n))
        x, weights = fitted_rule(lines, self.lower, self.upper, n, self.measure)
        return self._points(x, weights * (self.measure / np.sum(weights)), stretched=True)

    @property
    def _intricate(self) -> bool:
        """Whether columns through this solid would begin and end too often to be a good rule."""
        return False

    @remembered
    def _inner_moments(self, degree: int) -> Array:
        """Return integrals of polynomials over the domain, by many quasi-random lines."""
        from frozenpinn.geometry.rare.columns import scattered_columns
        from frozenpinn.geometry.rare.moments import moments

        many = 2**13  # quasi-random lines that measure a solid too intricate for columns with cuts
        unit = SCATTERED_RULES["sobol"](many, self.dimension - 1, np.random.default_rng(0))
        x, weights = scattered_columns(self._lines, self.lower, self.upper, unit, degree // 2 + 1)
        return moments(x, weights, self.lower, self.upper, degree)

    def _rule_by_points(self, n: int) -> Points:
        """Return quasi-random points with weights that integrate polynomials."""
        from frozenpinn.geometry.rare.moments import degree_for, fitted_weights

        x = self._scatter(n, "sobol", np.random.default_rng(0))
        weights = fitted_weights(x, self._inner_moments(degree_for(n, self.dimension)), self.lower, self.upper)
        return Points(x, weights * (self.measure / np.sum(weights)), self._spacing(n))

    def _spacing(self, n: int) -> Array:
        """Return the distance between neighbours of n scattered points, for each axis."""
        return np.full(self.dimension, (self.measure / n) ** (1.0 / self.dimension))

    def _points(self, x: Array, weights: Array, stretched: bool = False) -> Points:
        """Wrap a quadrature rule; neighbours of Gauss points are up to π/2 times farther apart than on average.

        A stretched rule has its points nearer to each other along the shorter axes.
        """
        spacing = np.full(self.dimension, np.pi / 2 * (self.measure / len(x)) ** (1.0 / self.dimension))
        if stretched:
            spacing = spacing * self.lengths / np.prod(self.lengths) ** (1.0 / self.dimension)
        return Points(x, weights, spacing)


def within(domain: Domain, x: Array, tolerance: float) -> Array:
    """Return what ``contains`` does for points that have been checked already, as those of a part of a domain."""
    return np.asarray(_plain_test(type(domain))(domain, x, tolerance))


@lru_cache(maxsize=64)
def _plain_test(kind: type[Domain]) -> Callable[..., Array]:
    return unwrap(kind.contains)


def _with_checked_points(contains: Callable[..., Array]) -> Callable[..., Array]:
    """Return a test of points that refuses what is no table of points."""

    @wraps(contains)
    def checked(self: Domain, x: Any, tolerance: float = 1e-9) -> Array:
        points = reals(x, "points are rows of real numbers, all of the same length", EvaluationError)
        d = vars(self).get("dimension", points.shape[-1:])  # not known yet while a domain is being built
        if not between(tolerance, -1, 1):
            raise EvaluationError(f"tolerance is a number such as 1e-9, a part of the size; got {shown(tolerance)}.")
        if points.ndim != 2 or points.shape[1] not in np.atleast_1d(d):
            raise EvaluationError(f"points have the shape (n, {d}), one row per point; got shape {points.shape}.")
        return contains(self, points, tolerance)

    return checked
