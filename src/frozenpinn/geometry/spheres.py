"""Rules and uniform points on the unit sphere and in the unit ball of R^d."""

from __future__ import annotations

from math import gamma, pi

import numpy as np

from frozenpinn.geometry.points import SCATTERED_RULES, gauss, gauss_power

Array = np.ndarray
GOLDEN = 0.6180339887498949


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
