"""Waves on a box: fast transforms between coefficients and values at equal distances, derivatives, sums anywhere.

An axis is periodic (exp(iκx), fast Fourier transform), or even or odd about both of its ends: cosines or sines at
midpoints (transforms of type II). Values are real: one periodic axis, the last, keeps half of its waves. Only a part of
all waves may be kept; the others are zero before, and dropped after, every transform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import fft

from frozenpinn_lab.peers.separable import Table

Array = np.ndarray
#: What a field is along an axis.
PERIODIC, EVEN, ODD = "periodic", "even", "odd"
Kinds = tuple[str, ...]


@dataclass(frozen=True)
class Axis:
    """One axis: its ends, its number of points, the fraction of waves that is kept, and whether only half is stored."""

    lower: float
    upper: float
    points: int
    keep: float
    periodic: bool
    halved: bool = False

    @cached_property
    def places(self) -> Array:
        """The points: from the lower end on where periodic, midpoints elsewhere."""
        shift = 0.0 if self.periodic else 0.5
        return self.lower + (self.upper - self.lower) * (np.arange(self.points) + shift) / self.points

    @cached_property
    def kept(self) -> int:
        """Number of waves, counted from the longest; of a periodic axis in one direction."""
        whole = self.points // 2 if self.periodic else self.points
        return whole + self.periodic if self.keep == 1 else max(1, int(np.ceil(self.keep * whole - 1e-9)))

    @cached_property
    def _numbers(self) -> Array:
        if not self.periodic or self.halved:
            return np.arange(self.kept)
        if self.keep == 1:
            return np.asarray(np.rint(fft.fftfreq(self.points) * self.points))
        return np.concatenate([np.arange(self.kept), np.arange(1 - self.kept, 0)])

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return len(self._numbers)

    def waves(self, kind: str) -> Array:
        """Return the wave numbers κ."""
        if self.periodic:
            return 2 * np.pi / (self.upper - self.lower) * self._numbers
        return np.pi / (self.upper - self.lower) * (self._numbers + (kind == ODD))

    def symbol(self, kind: str, order: int) -> Array:
        """Return the factors of a derivative; one of odd order turns cosines into sines (:meth:`turned`)."""
        waves = self.waves(kind)
        sign = (-1.0) ** ((order + (kind == EVEN)) // 2)
        if not self.periodic:
            return np.asarray(sign * waves**order)
        if order % 2:
            waves = np.where(2 * np.abs(self._numbers) == self.points, 0.0, waves)  # its sine is not seen by the grid
            return np.asarray(1j**order * waves**order)
        return np.asarray((-1.0) ** (order // 2) * waves**order)

    def turned(self, c: Array, kind: str, axis: int) -> Array:
        """Return coefficients of cosines as those of sines of the same wave numbers, or the reverse."""
        result = np.zeros_like(c)
        here, there = np.moveaxis(c, axis, 0), np.moveaxis(result, axis, 0)
        if kind == EVEN:
            there[:-1] = here[1:]
        else:
            there[1:] = here[:-1]
        return result

    def to_values(self, c: Array, kind: str, axis: int) -> Array:
        """Sum the waves at the points."""
        if not self.periodic:
            inverse = fft.idct if kind == EVEN else fft.idst
            return np.asarray(inverse(c, 2, self.points, axis, norm="forward"))
        if self.halved:
            return np.asarray(fft.irfft(c, self.points, axis, norm="forward"))
        if self.size < self.points:
            shape = [*c.shape]
            shape[axis] = self.points
            padded = np.zeros(shape, dtype=complex)
            head, tail = self._ends(axis, c.ndim)
            padded[head], padded[tail] = c[head], c[tail]
            c = padded
        return np.asarray(fft.ifft(c, axis=axis, norm="forward", overwrite_x=self.size < self.points))

    def to_coefficients(self, values: Array, kind: str, axis: int) -> Array:
        """Return the coefficients of the kept waves."""
        if not self.periodic:
            forward = fft.dct if kind == EVEN else fft.dst
            return _first(forward(values, 2, axis=axis, norm="forward"), self.kept, axis)
        if self.halved:
            return _first(fft.rfft(values, axis=axis, norm="forward"), self.kept, axis)
        c = fft.fft(values, axis=axis, norm="forward", overwrite_x=True)
        if self.size == self.points:
            return np.asarray(c)
        head, tail = self._ends(axis, c.ndim)
        return np.concatenate([c[head], c[tail]], axis=axis)

    def _ends(self, axis: int, ndim: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Return where waves of positive and of negative numbers are."""
        before = (slice(None),) * (axis % ndim)
        return (*before, slice(0, self.kept)), (*before, slice(1 - self.kept, None) if self.kept > 1 else slice(0, 0))

    def table(self, kind: str) -> Table:
        """Return the waves as functions of the coordinate, each as often as it counts in the sum."""

        def waves(x: Array) -> Array:
            phase = np.multiply.outer(x - self.lower, self.waves(kind))
            if self.periodic and not self.halved:
                return np.exp(1j * phase)
            weights = np.full(self.size, 2.0)
            last = self.size - 1
            if self.periodic:
                weights[0] = 1.0
                weights[last] = 1.0 if 2 * last == self.points else weights[last]
                return np.exp(1j * phase) * weights
            if kind == EVEN:
                weights[0] = 1.0
                return np.cos(phase) * weights
            weights[last] = 1.0 if self.size == self.points else 2.0
            return np.sin(phase) * weights

        return waves


def _first(c: Array, count: int, axis: int) -> Array:
    return np.asarray(c[(*(slice(None),) * (axis % c.ndim), slice(0, count))])


@dataclass(frozen=True)
class Grid:
    """The axes of a box."""

    axes: tuple[Axis, ...]

    @classmethod
    def on(
        cls,
        lower: Array,
        upper: Array,
        periodic: Sequence[bool],
        points: Sequence[int],
        keep: float,
    ) -> Grid:
        """Return the grid of a box; of the periodic axes the last keeps half of its waves."""
        last = max((i for i, flag in enumerate(periodic) if flag), default=-1)
        rows = zip(lower, upper, points, periodic, strict=True)
        return cls(tuple(Axis(a, b, n, keep, p, i == last) for i, (a, b, n, p) in enumerate(rows)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the coefficients."""
        return tuple(axis.size for axis in self.axes)

    @cached_property
    def points(self) -> Array:
        """All points in the order of values, shape (n, d)."""
        mesh = np.meshgrid(*(axis.places for axis in self.axes), indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=1)

    @cached_property
    def _order(self) -> list[int]:
        """Axes from complex to real ones: whole periodic, halved, and those without period."""
        return sorted(range(len(self.axes)), key=lambda i: (not self.axes[i].periodic, self.axes[i].halved))

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Shape of the values."""
        return tuple(axis.points for axis in self.axes)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether one library call does it: all axes periodic, and all waves kept."""
        return all(axis.periodic and axis.keep == 1 for axis in self.axes)

    def to_values(self, c: Array, kinds: Kinds) -> Array:
        """Return values at the points."""
        if self._is_plain:
            return np.asarray(fft.irfftn(c, self.counts, norm="forward"))
        for i in self._order:
            c = self.axes[i].to_values(c, kinds[i], i)
        return c

    def to_coefficients(self, values: Array, kinds: Kinds) -> Array:
        """Return coefficients of values at the points."""
        if self._is_plain:
            return np.asarray(fft.rfftn(values, norm="forward"))
        for i in reversed(self._order):
            values = self.axes[i].to_coefficients(values, kinds[i], i)
        return values

    def symbol(self, kinds: Kinds, alpha: Sequence[int], laps: int = 0) -> Array:
        """Return the factors of ∂^alpha Δ^laps, as an array that broadcasts to the coefficients."""
        d = len(self.axes)
        result: Array = np.ones((1,) * d)
        for i, (axis, order) in enumerate(zip(self.axes, alpha, strict=True)):
            result = result * _along(axis.symbol(kinds[i], order), i, d) if order else result
        if laps:
            squares = sum((_along(axis.symbol(kinds[i], 2), i, d) for i, axis in enumerate(self.axes)), np.zeros(1))
            result = result * squares**laps
        return result

    def turned(self, c: Array, kinds: Kinds, alpha: Sequence[int]) -> Array:
        """Rename waves after a derivative of odd order along axes that are not periodic."""
        for i in range(len(self.axes)):
            if alpha[i] % 2 and kinds[i] != PERIODIC:
                c = self.axes[i].turned(c, kinds[i], i)
        return c

    def tables(self, kinds: Kinds) -> list[Table]:
        """Return the functions of each axis."""
        return [axis.table(kind) for axis, kind in zip(self.axes, kinds, strict=True)]


def _along(values: Array, axis: int, dimension: int) -> Array:
    return values.reshape([-1 if i == axis else 1 for i in range(dimension)])


def derived(kinds: Kinds, alpha: Sequence[int]) -> Kinds:
    """Return what a derivative of a field is along each axis."""
    other = {EVEN: ODD, ODD: EVEN, PERIODIC: PERIODIC}
    return tuple(other[kind] if order % 2 else kind for kind, order in zip(kinds, alpha, strict=True))
