"""Splines through values on a grid, axis by axis, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

Array = np.ndarray
_LEVELS = np.logspace(-8, 2, 21)  # penalties that are tried to make noisy values smooth
_PENALTIES = np.logspace(-6, 12, 73)  # penalties that are tried, in units of the mean spacing


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a grid: its places, in order, the degree of the spline along it, and its period if it has one."""

    places: Array
    degree: int
    period: float | None = None

    @classmethod
    def of(cls, places: Array, degree: int, period: float | None = None) -> Axis:
        """Return an axis with a degree that its number of places allows."""
        most = len(places) if period is not None else len(places) - 1
        return cls(places, min(degree, most - 1 + most % 2), period)

    def fitted(self, values: Array) -> tuple[Array, Array]:
        """Return knots and coefficients of the splines through values along the first dimension."""
        from scipy.interpolate import make_interp_spline

        if self.period is None:
            spline = make_interp_spline(self.places, values, k=self.degree, axis=0)
        else:
            places = np.append(self.places, self.places[0] + self.period)
            around = np.concatenate([values, values[:1]])
            spline = make_interp_spline(places, around, k=self.degree, axis=0, bc_type="periodic")
        return spline.t, spline.c

    def wrapped(self, x: Array) -> Array:
        """Return places inside the period; those beyond the ends of other axes stay, and are extrapolated."""
        return x if self.period is None else self.places[0] + np.mod(x - self.places[0], self.period)

    def every(self, step: int) -> Axis | None:
        """Return the axis with every second or fourth place only; None if they are too few."""
        kept = self.places[::step]
        around = self.period is not None and len(self.places) % step == 0
        if len(kept) <= max(self.degree, 3):
            return None
        return Axis(kept, self.degree, self.period if around else None)


@dataclass(frozen=True, eq=False)
class GridSpline:
    """A spline through values on a grid."""

    axes: tuple[Axis, ...]
    knots: tuple[Array, ...]
    coefficients: Array

    @classmethod
    def through(cls, axes: Sequence[Axis], values: Array) -> GridSpline:
        """Fit along one axis after the other."""
        coefficients, knots = np.asarray(values, dtype=float), []
        for i, axis in enumerate(axes):
            own, fitted = axis.fitted(np.moveaxis(coefficients, i, 0))
            knots.append(own)
            coefficients = np.moveaxis(fitted, 0, i)
        return cls(tuple(axes), tuple(knots), np.ascontiguousarray(coefficients))

    @property
    def degrees(self) -> tuple[int, ...]:
        """The degree along each axis."""
        return tuple(axis.degree for axis in self.axes)

    def __call__(self, places: Sequence[Any], orders: Sequence[int]) -> Array:
        """Return values, or derivatives of some orders, for one number or array per axis."""
        shape = np.broadcast_shapes(*(np.shape(p) for p in places))
        if any(order > axis.degree for order, axis in zip(orders, self.axes, strict=True)):
            return np.zeros(shape)
        tensor, open_axes = self.coefficients, [i for i, p in enumerate(places) if np.ndim(p)]
        for i in reversed(range(len(places))):  # a time for all points: one dimension less
            if i not in open_axes:
                tensor = self._at(i, float(places[i]), np.moveaxis(tensor, i, 0), orders[i])
        if not open_axes:
            return np.asarray(tensor)
        x = [np.broadcast_to(self.axes[i].wrapped(np.asarray(places[i], float)), shape) for i in open_axes]
        return self._scattered(tensor, open_axes, x, [orders[i] for i in open_axes])

    def _at(self, i: int, x: float, coefficients: Array, order: int) -> Array:
        """Return the coefficients along the other axes at one place of an axis; few functions are not zero there."""
        from scipy.interpolate import BSpline

        axis, knots = self.axes[i], self.knots[i]
        k, x = axis.degree, float(axis.wrapped(np.asarray(x)))
        last = len(knots) - k - 2
        cell = min(max(int(np.searchsorted(knots, x, "right")) - 1, k), last)
        own = np.ascontiguousarray(coefficients[cell - k : cell + 1])
        return np.asarray(BSpline.construct_fast(knots[cell - k : cell + k + 2], own, k)(x, nu=order))

    def _scattered(self, tensor: Array, axes: Sequence[int], x: Sequence[Array], orders: Sequence[int]) -> Array:
        from scipy.interpolate import BSpline, NdBSpline

        if len(axes) == 1:
            spline = BSpline.construct_fast(self.knots[axes[0]], np.ascontiguousarray(tensor), self.degrees[axes[0]])
            return np.asarray(spline(x[0], nu=orders[0]))
        knots, degrees = tuple(self.knots[i] for i in axes), tuple(self.degrees[i] for i in axes)
        return np.asarray(NdBSpline(knots, tensor, degrees)(np.stack(x, -1), nu=tuple(orders), extrapolate=True))

    def on_grid(self, places: Sequence[Array], orders: Sequence[int]) -> Array:
        """Return values, or derivatives, on the grid of some places along each axis."""
        return self._contracted(dict(enumerate(places)), orders)

    def _contracted(self, places: dict[int, Array], orders: Sequence[int]) -> Array:
        from scipy.interpolate import BSpline

        tensor = self.coefficients
        for i, x in places.items():
            axis = self.axes[i]
            moved = np.ascontiguousarray(np.moveaxis(tensor, i, 0))
            spline = BSpline(self.knots[i], moved, axis.degree, extrapolate=True)
            tensor = np.moveaxis(spline(axis.wrapped(x), nu=orders[i]), 0, i)
        return tensor


def left_out_error(axes: Sequence[Axis], values: Array) -> float | None:
    """Estimate the largest error between the values from splines through every second and every fourth of them.

    What a spline through every second value misses at the others, E₂, falls like E₂/E₄ with each halving, at best with
    the order of the spline. None if there are too few values.
    """
    missed = [_missed_by(axes, values, step) for step in (2, 4)]
    if missed[0] is None:
        return None
    rate = 1.0 if not missed[1] else min(1.0, missed[0] / missed[1])
    best = 0.5 ** (1 + max(axis.degree for axis in axes))
    return missed[0] * max(rate, best)


def _missed_by(axes: Sequence[Axis], values: Array, step: int) -> float | None:
    """Return how much a spline through every ``step``-th value misses at the others, at most."""
    kept = [axis.every(step) for axis in axes]
    if all(axis is None for axis in kept):
        return None
    part, inside, places = values, values, []
    for i, (axis, coarse) in enumerate(zip(axes, kept, strict=True)):
        x = axis.places
        if coarse is not None:
            part = part[(slice(None),) * i + (slice(None, None, step),)]
            within = x <= coarse.places[-1] if coarse.period is None else np.ones(len(x), dtype=bool)
            inside, x = np.compress(within, inside, axis=i), x[within]
        places.append(x)
    spline = GridSpline.through([c or a for a, c in zip(axes, kept, strict=True)], part)
    return float(np.max(np.abs(spline.on_grid(places, (0,) * len(axes)) - inside)))


# ---- scattered points -----------------------------------------------------------------------------


class Gridded(NamedTuple):
    """A spline, its error at values that were left out of the fit, and the noise that was removed."""

    spline: GridSpline
    error: float
    noise: float | None


def gridded(points: Array, values: Array, ends: Sequence[tuple[float, float]], smooth: bool | float) -> Gridded:
    """Return a cubic spline on a grid over a box."""
    seed = 0
    most = 40_000  # places of the grid
    finer = 2.0  # places of the grid for each point, along an axis
    low, high = np.array(ends, dtype=float).T
    unit = (points - low) / (high - low)
    halves = np.random.default_rng(seed).permutation(len(values))
    fit, test = halves[::2], halves[1::2]
    level, noise = 0.0, None
    if smooth is not False:
        level, noise = _level(unit, values, fit, test, smooth)
    half = _radial(unit[fit], values[fit], level)
    if noise is None:
        error = float(np.sqrt(np.mean((half(unit[test]) - values[test]) ** 2)))
    else:  # how much two smooth functions differ that are made of different values
        error = 0.5 * float(np.sqrt(np.mean((half(unit) - _radial(unit[test], values[test], level)(unit)) ** 2)))
    dimension = len(ends)
    count = int(np.clip(finer * len(values) ** (1 / dimension), 6, most ** (1 / dimension)))
    places = np.linspace(0.0, 1.0, count)
    mesh = np.stack(np.meshgrid(*[places] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    grid = _radial(unit, values, level)(mesh).reshape([count] * dimension)
    axes = [Axis.of(a + (b - a) * places, 3) for a, b in ends]
    return Gridded(GridSpline.through(axes, grid), error, noise)


def _radial(points: Array, values: Array, level: float) -> Callable[[Array], Array]:
    from scipy.interpolate import RBFInterpolator

    few_points = 2000  # points up to which every one acts everywhere
    neighbours = 80  # that act at a place if there are more points than that
    near = None if len(values) <= few_points else neighbours
    return cast(
        Callable[[Array], Array],
        RBFInterpolator(points, values, neighbors=near, smoothing=level, kernel="cubic"),
    )


def _level(points: Array, values: Array, fit: Array, test: Array, smooth: bool | float) -> tuple[float, float]:
    """Return the penalty with which half of the values predicts the other half best, and the noise."""
    best, least = 0.0, np.inf
    for level in (0.0, *_LEVELS):
        found = _radial(points[fit], values[fit], level)
        missed = float(np.sqrt(np.mean((found(points[test]) - values[test]) ** 2)))
        if missed < least:
            best, least = float(level), missed
    return best, least if smooth is True else float(smooth)


class Smoothed(NamedTuple):
    """Smooth values, the standard deviation of the noise, and that of what is left of it in the smooth values."""

    values: Array
    noise: float
    error: float


def smoothed(axes: Sequence[Axis], values: Array, noise: float | None) -> Smoothed:
    """Return values without noise; how much there is, is given or found by generalised cross-validation."""
    bases, penalties = zip(*(_modes(axis) for axis in axes), strict=True)
    modes = _along(values, [basis.T for basis in bases])
    total = sum(np.reshape(p, [-1 if i == j else 1 for j in range(len(axes))]) for i, p in enumerate(penalties))
    count = values.size
    best, least = _PENALTIES[0], np.inf
    for level in _PENALTIES:
        kept = 1.0 / (1.0 + level * total)
        rest = float(np.sum(((1.0 - kept) * modes) ** 2))
        free = count - float(np.sum(kept))
        if noise is None:
            score = count * rest / free**2 if free > 0.01 * count else np.inf
        else:
            score = abs(np.log(max(rest, 1e-300) / max(free, 1e-3)) - 2.0 * np.log(noise))
        if score < least:
            best, least = level, score
    kept = 1.0 / (1.0 + best * total)
    free = max(count - float(np.sum(kept)), 1.0)
    sigma = float(np.sqrt(np.sum(((1.0 - kept) * modes) ** 2) / free)) if noise is None else noise
    result = _along(kept * modes, list(bases))
    return Smoothed(result, sigma, sigma * float(np.sqrt(np.sum(kept**2) / count)))


def _modes(axis: Axis) -> tuple[Array, Array]:
    """Return orthonormal vectors along an axis, and how rough each is."""
    difference_order = 3  # of the differences that are penalised
    n, order = len(axis.places), min(difference_order, len(axis.places) - 1)
    if axis.period is not None:
        difference = np.eye(n)
        for _ in range(order):
            difference = np.roll(difference, -1, axis=0) - difference
    else:
        spacing = float(axis.places[-1] - axis.places[0]) / max(n - 1, 1)
        difference, x = np.eye(n), axis.places / spacing if spacing else axis.places
        for k in range(1, order + 1):
            difference = k * np.diff(difference, axis=0) / (x[k:] - x[:-k])[:, None]
    rough, basis = np.linalg.eigh(difference.T @ difference)
    return basis, np.maximum(rough, 0.0)


def _along(values: Array, matrices: Sequence[Array]) -> Array:
    for i, matrix in enumerate(matrices):
        values = np.moveaxis(np.tensordot(matrix, values, axes=(1, i)), 0, i)
    return values
