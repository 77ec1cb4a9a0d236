"""Balls, disks, ellipsoids, shells and annuli, in any dimension from two."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from math import gamma, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.array_arguments import check_dimension, frozen
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import SCATTERED_RULES, Hole, Points, Side, gauss, gauss_power
from frozenpinn.runtime.arguments import reals, shown
from frozenpinn.runtime.round_off import ROUND_OFF

if TYPE_CHECKING:
    from frozenpinn.geometry.rare.curves import Curve

Array = np.ndarray
GOLDEN = 0.6180339887498949


# ---- unit spheres and balls -----------------------------------------------------------------------


def ball_measure(d: int) -> float:
    """Return the volume of the unit ball."""
    return float(pi ** (d / 2) / gamma(d / 2 + 1))


def sphere_measure(d: int) -> float:
    """Return the surface of the unit ball."""
    return d * ball_measure(d)


def circle(counts: Array) -> tuple[Array, Array]:
    """Return angles of several circles with the given numbers of points, and the number of the circle of each.

    Circles are turned against each other by the golden ratio, so that their points don't line up.
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    turns = (np.arange(len(owner)) - first[owner] + np.mod(GOLDEN * owner, 1.0)) / counts[owner]
    return 2.0 * pi * turns, owner


def sphere_rule(d: int, n: int) -> tuple[Array, Array]:
    """Return about n points and weights on the unit sphere: a product rule up to 3-d, equal weights beyond."""
    if d == 2:
        return _directions_2d(max(n, 3))
    if d == 3:
        return _directions_3d(max(2, round((n / 2.0) ** 0.5)))
    x = sphere_points(n, d, "sobol", np.random.default_rng(0))
    return x, np.full(len(x), sphere_measure(d) / len(x))


def _directions_2d(count: int, turn: float = 0.5) -> tuple[Array, Array]:
    angle = 2.0 * pi * (np.arange(count) + turn) / count
    return np.column_stack([np.cos(angle), np.sin(angle)]), np.full(count, 2.0 * pi / count)


def _directions_3d(rings: int, turn: float = 0.0) -> tuple[Array, Array]:
    """Return Gauss points in cos θ times equal angles φ, exact up to degree 2·rings − 1."""
    s, w = gauss(rings)
    height = 2.0 * s - 1.0
    angle, ring = circle(np.full(rings, 2 * rings))
    angle = angle + turn
    radius = np.sqrt(1.0 - height**2)[ring]
    x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height[ring]])
    return x, 2.0 * w[ring] * pi / rings


def ball_rule(d: int, n: int) -> tuple[Array, Array]:
    """Return about n points and weights in the unit ball.

    In polar coordinates, with Gauss points in s = r²: odd powers of r come with odd harmonics, which the angular
    rule integrates to zero, so k radii with 4k angles are exact up to degree 4k − 1 in 2-d (4k² points) and k radii
    with 2k × 4k angles in 3-d (8k³ points), and no points crowd at the centre.
    """
    if d > 3:
        x = ball_points(n, d, "sobol", np.random.default_rng(0))
        return x, np.full(len(x), ball_measure(d) / len(x))
    k = max(1, round((n / (4.0 if d == 2 else 8.0)) ** (1.0 / d)))
    s, w = gauss(k) if d == 2 else gauss_power(k, 0.5)
    return _layers(d, np.sqrt(s), w / 2.0, 4 * k if d == 2 else 2 * k)


def shell_rule(d: int, n: int, inner: float, outer: float) -> tuple[Array, Array]:
    """Return about n points and weights between two spheres around 0."""
    if d > 3:
        x = shell_points(n, d, inner, outer, "sobol", np.random.default_rng(0))
        return x, np.full(n, ball_measure(d) * (outer**d - inner**d) / n)
    round_trip = pi * (inner + outer) / (outer - inner)  # circumference in the middle over thickness
    share = round_trip if d == 2 else round_trip**2 / 2.0
    k = max(2, round((n / share) ** (1.0 / d)))
    s, w = gauss(k)
    radii = inner + (outer - inner) * s
    angles = max(5, round(n / k)) if d == 2 else max(3, round((n / k / 2.0) ** 0.5))
    return _layers(d, radii, (outer - inner) * w * radii ** (d - 1), angles)


def _layers(d: int, radii: Array, weights: Array, angles: int) -> tuple[Array, Array]:
    """Return the product of radii with equal rules on spheres, each turned against the next."""
    x, w = [], []
    for i, (radius, weight) in enumerate(zip(radii, weights, strict=True)):
        turn = float(np.mod(GOLDEN * i, 1.0))
        directions, share = _directions_2d(angles, turn) if d == 2 else _directions_3d(angles, 2.0 * pi * turn)
        x.append(radius * directions)
        w.append(weight * share)
    return np.concatenate(x), np.concatenate(w)


def sphere_points(n: int, d: int, method: str, rng: np.random.Generator, extra: int = 0) -> Array:
    """Return n uniformly distributed points on the unit sphere; ``extra`` appends uniform columns."""
    if d > 3:
        unit = SCATTERED_RULES[method](n, d + extra, rng)
        x = normal_points(unit[:, :d])
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return np.column_stack([x, unit[:, d:]]) if extra else x
    unit = SCATTERED_RULES[method](n, d - 1 + extra, rng)
    angle = 2.0 * pi * unit[:, 0]
    if d == 2:
        x = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        height = 2.0 * unit[:, 1] - 1.0
        radius = np.sqrt(1.0 - height**2)
        x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    return np.column_stack([x, unit[:, d - 1 :]]) if extra else x


def ball_points(n: int, d: int, method: str, rng: np.random.Generator) -> Array:
    """Return n uniformly distributed points in the unit ball."""
    return shell_points(n, d, 0.0, 1.0, method, rng)


def shell_points(n: int, d: int, inner: float, outer: float, method: str, rng: np.random.Generator) -> Array:
    """Return n uniformly distributed points between two spheres around 0."""
    x = sphere_points(n, d, method, rng, extra=1)
    radius = (inner**d + x[:, -1] * (outer**d - inner**d)) ** (1.0 / d)
    return np.asarray(x[:, :-1] * radius[:, None])


def normal_points(unit: Array) -> Array:
    """Return normally distributed numbers from uniform ones."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(unit, 1e-12, 1.0 - 1e-12)))


# ---- domains --------------------------------------------------------------------------------------


class Ball(Domain):
    """The ball |x − center| ≤ radius.

    Parameters
    ----------
    center
        One number per axis, or one for all axes.
    radius
        A positive number.
    dimension
        Number of axes; that of the center if it is a list, else 3.
    name
        Name of its side.

    Examples
    --------
    >>> Ball([0, 0, 1], 2)
    Ball(center (0, 0, 1), radius 2)
    >>> Ball(0, 1, dimension=10).measure
    2.550164039877345
    """

    def __init__(
        self, center: Any = 0.0, radius: float = 1.0, dimension: int | None = None, name: str = "boundary"
    ) -> None:
        self.center = _center(center, dimension, f"a {type(self).__name__.lower()}")
        self.radius = _positive(radius, f"the radius of a {type(self).__name__.lower()}")
        self.name = name
        if self.radius < ROUND_OFF * float(np.max(np.abs(self.center))):
            raise ProblemError(
                f"a radius of {self.radius:g} is lost in round-off beside the center {_tuple(self.center)}; move the "
                "origin of the coordinates closer to it."
            )
        self._bounds(self.center - self.radius, self.center + self.radius)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(center {_tuple(self.center)}, radius {self.radius:g})"

    @property
    def measure(self) -> float:
        """Area or volume."""
        return ball_measure(self.dimension) * self.radius**self.dimension

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The sphere."""
        return (Side(self.name),)

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed ball, up to a fraction of its size."""
        reach = self.radius + tolerance * self.size
        return np.asarray(np.sum((np.asarray(x) - self.center) ** 2, axis=1) <= (reach**2 if reach > 0 else -1.0))

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the circle as arcs."""
        from frozenpinn.geometry.rare.curves import ellipse

        return ellipse(self.name, self.center, np.full(2, self.radius)) if self.dimension == 2 else None

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        return _through(base, self.center, np.full(self.dimension, self.radius))

    def _rule(self, n: int) -> Points:
        x, weights = ball_rule(self.dimension, n)
        return self._points(self.center + self.radius * x, weights * self.radius**self.dimension)

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        return np.asarray(self.center + self.radius * ball_points(n, self.dimension, method, rng))

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        return _on_sphere(self.center, self.radius, n, method, rng)


class Disk(Ball):
    """The disk |x − center| ≤ radius in the plane.

    Examples
    --------
    >>> Disk([1, 0], 0.5)
    Disk(center (1, 0), radius 0.5)
    """

    def __init__(self, center: Any = 0.0, radius: float = 1.0, name: str = "boundary") -> None:
        super().__init__(center, radius, 2, name)


class Ellipsoid(Domain):
    """The ellipsoid Σ ((xᵢ − centerᵢ) / semi_axesᵢ)² ≤ 1, an ellipse in the plane.

    Examples
    --------
    >>> Ellipsoid([0, 0], [2, 1])
    Ellipsoid(center (0, 0), semi-axes (2, 1))
    """

    def __init__(self, center: Any, semi_axes: Any, name: str = "boundary") -> None:
        axes = np.atleast_1d(reals(semi_axes, "semi_axes are numbers, one per axis", ProblemError))
        if axes.ndim != 1 or len(axes) < 2:
            raise ProblemError(f"an ellipsoid needs one semi-axis per dimension, at least 2; got {semi_axes!r}.")
        for length in axes:
            _positive(length, "each semi-axis of an ellipsoid")
        self.center = _center(center, len(axes), "an ellipsoid")
        self.semi_axes = frozen(axes)
        self.name = name
        self._bounds(self.center - axes, self.center + axes)

    def __repr__(self) -> str:
        return f"Ellipsoid(center {_tuple(self.center)}, semi-axes {_tuple(self.semi_axes)})"

    @property
    def measure(self) -> float:
        """Area or volume."""
        return ball_measure(self.dimension) * float(np.prod(self.semi_axes))

    @cached_property
    def surface(self) -> float:
        """Length or area of the boundary.

        The surface element of the map from the sphere is Π a · |u/a|. Its mean over the sphere is E|z/a| / E|z| for
        normally distributed z, and E√q = ∫₀^∞ (1 − E exp(−tq)) t^(−3/2) dt / (2√π) has a closed integrand.
        """
        from scipy.integrate import quad
        from scipy.special import gammaln

        d, smallest = self.dimension, float(np.min(self.semi_axes))
        squares = (smallest / self.semi_axes) ** 2

        def integrand(v: float) -> float:  # t = exp(2v)
            t = np.exp(2.0 * v)
            return float(-np.expm1(-0.5 * np.sum(np.log1p(2.0 * t * squares))) * np.exp(-v))

        cuts = np.linspace(-40.0, 40.0, 41)
        total = sum(quad(integrand, a, b, epsabs=0.0, epsrel=1e-13)[0] for a, b in pairwise(cuts))
        total += np.sum(squares) * np.exp(-40.0)  # below, 1 − E exp(−tq) = t Σ squares
        total += np.exp(-40.0)  # above, it is 1
        mean = total / np.sqrt(np.pi) / (np.sqrt(2.0) * np.exp(gammaln((d + 1) / 2) - gammaln(d / 2)))
        return float(sphere_measure(d) * np.prod(self.semi_axes) / smallest * mean)

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The whole boundary."""
        return (Side(self.name),)

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed ellipsoid, up to a fraction of its size."""
        reach = np.maximum(self.semi_axes + tolerance * self.size, 1e-300)
        return np.asarray(np.sum(((np.asarray(x) - self.center) / reach) ** 2, axis=1) <= 1.0)

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the ellipse as arcs."""
        from frozenpinn.geometry.rare.curves import ellipse

        return ellipse(self.name, self.center, self.semi_axes) if self.dimension == 2 else None

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        return _through(base, self.center, self.semi_axes)

    def _rule(self, n: int) -> Points:
        x, weights = ball_rule(self.dimension, n)
        return self._points(self.center + self.semi_axes * x, weights * float(np.prod(self.semi_axes)), stretched=True)

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        return np.asarray(self.center + self.semi_axes * ball_points(n, self.dimension, method, rng))

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        if method == "gauss" and self.dimension <= 3:
            u, weights = sphere_rule(self.dimension, n)
            stretch = np.linalg.norm(u / self.semi_axes, axis=1)
            weights = weights * stretch * float(np.prod(self.semi_axes))
        else:
            u = self._uniform(n, "sobol" if method == "gauss" else method, rng)
            weights = np.full(n, self.surface / n)
        normals = u / self.semi_axes
        return self.center + self.semi_axes * u, normals / np.linalg.norm(normals, axis=1, keepdims=True), weights

    def _uniform(self, n: int, method: str, rng: np.random.Generator) -> Array:
        """Return n points of the sphere whose images have equal density on the ellipsoid, by rejection."""
        kept: list[Array] = []
        have, smallest = 0, float(np.min(self.semi_axes))
        while have < n:
            tried = sphere_points(2 * (n - have) + 64, self.dimension, method, rng, extra=1)
            u = tried[:, :-1]
            kept.append(u[tried[:, -1] < smallest * np.linalg.norm(u / self.semi_axes, axis=1)])
            have += len(kept[-1])
        return np.concatenate(kept)[:n]


class Shell(Domain):
    """The region between two concentric spheres, with the sides ``inner`` and ``outer``.

    Examples
    --------
    >>> shell = Shell(1, 2)
    >>> shell, [side.name for side in shell.sides]
    (Shell(center (0, 0, 0), radii 1 to 2), ['inner', 'outer'])
    """

    def __init__(self, inner: float, outer: float, center: Any = 0.0, dimension: int | None = None) -> None:
        kind = "an annulus" if isinstance(self, Annulus) else "a shell"
        self.inner = _positive(inner, f"the inner radius of {kind}")
        self.outer = _positive(outer, f"the outer radius of {kind}")
        if self.inner >= self.outer:
            raise ProblemError(
                f"{kind} needs an inner radius below the outer one; got {self.inner:g} and {self.outer:g}."
            )
        self.center = _center(center, dimension, kind)
        self._bounds(self.center - self.outer, self.center + self.outer)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(center {_tuple(self.center)}, radii {self.inner:g} to {self.outer:g})"

    @property
    def measure(self) -> float:
        """Area or volume."""
        return ball_measure(self.dimension) * (self.outer**self.dimension - self.inner**self.dimension)

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The two spheres."""
        return (Side("inner"), Side("outer"))

    @property
    def hole_circles(self) -> tuple[Hole, ...]:
        """What the inner sphere encloses."""
        return (Hole(tuple(float(c) for c in self.center), self.inner),)

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed shell, up to a fraction of its size."""
        margin = tolerance * self.size
        squared = np.sum((np.asarray(x) - self.center) ** 2, axis=1)
        low, high = max(self.inner - margin, 0.0), max(self.outer + margin, 0.0)
        return np.asarray((squared >= low**2) & (squared <= high**2))

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the two circles as arcs."""
        from frozenpinn.geometry.rare.curves import ellipse

        if self.dimension != 2:
            return None
        inner, outer = (np.full(2, radius) for radius in (self.inner, self.outer))
        return (*ellipse("outer", self.center, outer), *ellipse("inner", self.center, inner, hole=True))

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        spheres = [_through(base, self.center, np.full(self.dimension, r)) for r in (self.inner, self.outer)]
        return np.concatenate([s[0] for s in spheres]), np.concatenate([s[1] for s in spheres])

    def _rule(self, n: int) -> Points:
        x, weights = shell_rule(self.dimension, n, self.inner, self.outer)
        return self._points(self.center + x, weights)

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        return np.asarray(self.center + shell_points(n, self.dimension, self.inner, self.outer, method, rng))

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        if side.name == "outer":
            return _on_sphere(self.center, self.outer, n, method, rng)
        x, normals, weights = _on_sphere(self.center, self.inner, n, method, rng)
        return x, -normals, weights


class Annulus(Shell):
    """The region between two concentric circles.

    Examples
    --------
    >>> Annulus(0.5, 1)
    Annulus(center (0, 0), radii 0.5 to 1)
    """

    def __init__(self, inner: float, outer: float, center: Any = 0.0) -> None:
        super().__init__(inner, outer, center, 2)


def _on_sphere(
    center: Array, radius: float, n: int, method: str, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    d = len(center)
    if method == "gauss":
        u, weights = sphere_rule(d, n)
    else:
        u = sphere_points(n, d, method, rng)
        weights = np.full(n, sphere_measure(d) / n)
    return center + radius * u, u, weights * radius ** (d - 1)


def _through(base: Array, center: Array, axes: Array) -> tuple[Array, Array]:
    """Return (line, height) where lines along the last axis cross an ellipsoid."""
    rest = 1.0 - np.sum(((base - center[:-1]) / axes[:-1]) ** 2, axis=1)
    met = np.flatnonzero(rest > 0)
    half = axes[-1] * np.sqrt(rest[met])
    return np.tile(met, 2), np.concatenate([center[-1] - half, center[-1] + half])


def _center(given: Any, dimension: int | None, what: str) -> Array:
    center = reals(given, f"the center of {what} is a number or a list of numbers", ProblemError)
    if dimension is not None:
        check_dimension(dimension)
    if center.ndim == 0:
        center = np.full(3 if dimension is None else dimension, float(center))
    if center.ndim != 1 or (dimension is not None and len(center) != dimension):
        wanted = "one number per axis" if dimension is None else f"{dimension} numbers"
        raise ProblemError(f"the center of {what} needs {wanted}, got {given!r}.")
    if len(center) < 2:
        raise ProblemError(f"{what} has at least two dimensions; use Interval(a, b) in one.")
    if not np.all(np.isfinite(center)):
        raise ProblemError(f"the center of {what} must be finite, got {_tuple(center)}.")
    return frozen(center)


def _positive(given: Any, what: str) -> float:
    array = reals(given, f"{what} is a positive number", ProblemError)
    if array.ndim:
        raise ProblemError(f"{what} is a positive number, got {shown(given)}.")
    value = float(array)
    if not (np.isfinite(value) and value > 0):
        raise ProblemError(f"{what} must be positive and finite, got {value:g}.")
    return value


def _tuple(values: Array) -> str:
    return f"({', '.join(f'{v:g}' for v in values)})"
