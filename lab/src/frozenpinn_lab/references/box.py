"""Spectral reference solutions on boxes in two and three dimensions, with ETDRK4 in time.

    ∂ₜ uᵢ = Lᵢ(∂) uᵢ + Nᵢ(x, u, ∇u),   i = 1 … m

All axes are periodic (Fourier), or u_n = 0 on all sides (cosines), or u = 0 (sines). Each equation is written out by
hand beside its case, as symbols Lᵢ and a function N of arrays: solvers that are judged by it share nothing with it.
Fields may be complex.

Steps are equal; a time between two of them is reached by one shorter step. Nothing is computed before a value is asked
for, and values at points and times that were asked for once are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import fft

from frozenpinn_lab.references.fourier import Coefficients, coefficients

Array = np.ndarray
Symbol = Callable[..., Array]
WAVES = ("fourier", "cosine", "sine")
_BLOCK = 1000  # points at a time


class Values(NamedTuple):
    """What N is made of: coordinates, fields at the grid, and their first derivatives."""

    x: tuple[Array, ...]
    fields: tuple[Array, ...]
    derivative: Callable[[int, int], Array]


class BoxReference:
    """A solution of several fields; :meth:`field` is what ``Problem(exact=…)`` takes.

    Parameters
    ----------
    lower, upper
        Corners of the box.
    linear
        One symbol per field, a function of the derivatives along the axes: ``lambda dx, dy: nu*(dx**2 + dy**2)``.
        On sines and cosines only even powers mean anything.
    initial
        One function of the coordinates per field.
    nonlinear
        N: takes :class:`Values` and returns one array per field.
    modes
        Points along each axis.
    step
        Time step.
    waves
        ``"fourier"``, ``"cosine"`` or ``"sine"``.
    keep
        Fraction of the wave numbers that is kept, to suppress aliasing.
    start
        Initial time.
    stride
        Steps between states that are kept.

    Examples
    --------
    >>> heat = BoxReference((0, 0), (1, 1), [lambda dx, dy: dx**2 + dy**2], [lambda x, y: np.sin(2 * np.pi * x)],
    ...                     lambda w: [0 * w.fields[0]], modes=8, step=0.1)
    >>> bool(abs(heat.field(0)(np.array([[0.25, 0.6]]), 0.05)[0] - np.exp(-4 * np.pi**2 * 0.05)) < 1e-14)
    True
    """

    def __init__(
        self,
        lower: Sequence[float],
        upper: Sequence[float],
        linear: Sequence[Symbol],
        initial: Sequence[Callable[..., Array]],
        nonlinear: Callable[[Values], Sequence[Array]],
        *,
        modes: int,
        step: float,
        waves: str = "fourier",
        keep: float = 1.0,
        start: float = 0.0,
        stride: int = 1,
    ) -> None:
        if modes < 4 or modes % 2 or not step > 0 or not 0 < keep <= 1 or waves not in WAVES:
            raise ValueError(f"a box reference needs an even number of modes, step > 0, 0 < keep ≤ 1, waves of {WAVES}")
        self.lower, self.lengths = np.array(lower, dtype=float), np.subtract(upper, lower).astype(float)
        self.initial, self.nonlinear, self.linear = tuple(initial), nonlinear, tuple(linear)
        self.modes, self.step, self.waves, self.keep = modes, step, waves, keep
        self.start, self.stride = start, stride
        self._values: dict[tuple[bytes, float], Array] = {}
        self._kept: dict[int, Array] = {}
        self._now = 0

    def field(self, index: int, part: Callable[[Array], Array] = np.real) -> FieldOf:
        """Return one field, or the real or imaginary part of it, as a function (points, t) -> values."""
        return FieldOf(self, index, part)

    def at(self, points: Array, t: float) -> Array:
        """Return all fields at points (n, d) and one time, shape (m, n)."""
        points, t = np.ascontiguousarray(points, dtype=float), float(t)
        if not t >= self.start:
            raise ValueError(f"t = {t:g} lies before the start, {self.start:g}")
        if t == self.start:
            return np.stack([np.broadcast_to(u(*points.T), len(points)) for u in self.initial])
        key = (points.tobytes(), t)
        if key not in self._values:
            self._values[key] = self._summed(self.spectrum(t), points)
        return self._values[key]

    # ---- time ---------------------------------------------------------------------------------------

    def spectrum(self, t: float) -> Array:
        """Return the coefficients of all fields at one time, shape (m, …)."""
        if not self._kept:
            self._prepare()
        number = int(np.floor((t - self.start) / self.step * (1 + 1e-14) + 1e-9))
        if number < self._now:
            before = max(n for n in self._kept if n <= number)
            self._now, self._state = before, self._kept[before]
        while self._now < number:
            self._state = self._advance(self._state, self._whole)
            self._now += 1
            if self._now % self.stride == 0:
                self._keep()
        rest = t - self.start - number * self.step
        return self._advance(self._state, self._steps(rest)) if rest > 1e-9 * self.step else self._state

    def _keep(self) -> None:
        if not np.all(np.isfinite(self._state)):
            raise FloatingPointError(f"not finite after {self._now} steps")
        self._kept[self._now] = self._state

    def _prepare(self) -> None:
        d, n = len(self.lengths), self.modes
        shift = 0.0 if self.waves == "fourier" else 0.5
        axes = [a + length * (np.arange(n) + shift) / n for a, length in zip(self.lower, self.lengths, strict=True)]
        self._x = tuple(np.meshgrid(*axes, indexing="ij"))
        start = [np.broadcast_to(u(*self._x), (n,) * d) for u in self.initial]
        self._complex = any(np.iscomplexobj(u) for u in start)
        self._numbers = [self._wave_numbers(axis) for axis in range(d)]
        mask = np.ones(1, dtype=bool)
        for number in self._numbers:
            limit = self.keep * (n // 2 if self.waves == "fourier" else n)
            mask = mask & (np.abs(number) < limit)
        factor = (2 if self.waves == "fourier" else 1) * np.pi
        self._derivatives = [1j * factor / length * k for k, length in zip(self._numbers, self.lengths, strict=True)]
        self._mask = np.broadcast_to(mask, self._transformed(start[0]).shape)
        shape = self._mask.shape
        symbols = [np.broadcast_to(np.asarray(symbol(*self._derivatives)), shape) for symbol in self.linear]
        self._eigenvalues = np.stack(symbols)
        self._state = np.stack([self._transformed(u) for u in start]) * self._mask
        self._kept = {0: self._state}
        self._whole: Coefficients = self._steps(self.step)

    def _wave_numbers(self, axis: int) -> Array:
        n, d = self.modes, len(self.lengths)
        if self.waves == "fourier":
            halved = axis == d - 1 and not self._complex
            numbers = np.arange(n // 2 + 1) if halved else np.rint(np.fft.fftfreq(n) * n)
        else:
            numbers = np.arange(n) + (self.waves == "sine")
        return np.asarray(numbers, dtype=float).reshape([-1 if i == axis else 1 for i in range(d)])

    def _steps(self, step: float) -> Coefficients:
        """Return the coefficients of a step; many waves share an eigenvalue."""
        distinct, inverse = np.unique(np.round(self._eigenvalues, 12), return_inverse=True)
        found = coefficients(distinct, step)
        real = not np.any(self._eigenvalues.imag)
        return Coefficients(*((c.real if real else c)[inverse].reshape(self._eigenvalues.shape) for c in found))

    def _advance(self, v: Array, c: Coefficients) -> Array:
        """Take one step of ETDRK4."""
        nv = self._rest(v)
        free = c.half * v
        a = free + c.stage * nv
        na = self._rest(a)
        nb = self._rest(free + c.stage * na)
        end = c.half * a + c.stage * (2 * nb - nv)
        return np.asarray(c.full * v + c.first * nv + c.middle * (na + nb) + c.last * self._rest(end))

    def _rest(self, state: Array) -> Array:
        fields = tuple(self._grid_values(c) for c in state)
        found = self.nonlinear(Values(self._x, fields, lambda i, axis: self._slope(state[i], axis)))
        return np.stack([self._transformed(n) for n in found]) * self._mask

    # ---- space --------------------------------------------------------------------------------------

    def _transformed(self, u: Array) -> Array:
        if self.waves == "fourier":
            return np.asarray((fft.fftn if self._complex else fft.rfftn)(u, norm="forward"))
        return np.asarray((fft.dctn if self.waves == "cosine" else fft.dstn)(u, norm="forward"))

    def _grid_values(self, c: Array) -> Array:
        if self.waves == "fourier":
            shape = (self.modes,) * len(self.lengths)
            return np.asarray(fft.ifftn(c, norm="forward") if self._complex else fft.irfftn(c, shape, norm="forward"))
        return np.asarray((fft.idctn if self.waves == "cosine" else fft.idstn)(c, norm="forward"))

    def _slope(self, c: Array, axis: int) -> Array:
        if self.waves != "fourier":
            raise NotImplementedError("first derivatives of sines and cosines are not needed by any case")
        inner = 2 * np.abs(self._numbers[axis]) < self.modes
        return self._grid_values(c * self._derivatives[axis] * inner)

    def _summed(self, state: Array, points: Array) -> Array:
        """Sum the waves of all fields at points, shape (m, n); axis by axis if the points are a tensor grid."""
        places, indices = zip(*(np.unique(column, return_inverse=True) for column in points.T), strict=True)
        if np.prod([len(place) for place in places]) == len(points):
            values = state
            for axis, place in enumerate(places):
                values = np.tensordot(values, self._table(axis, place), axes=(1, 1))
            values = values[:, *indices]
        else:
            blocks = [points[k : k + _BLOCK] for k in range(0, len(points), _BLOCK)]
            values = np.concatenate([self._scattered(state, block) for block in blocks], axis=1)
        return values if self._complex else np.asarray(values.real)

    def _scattered(self, state: Array, points: Array) -> Array:
        """Sum over the first axis for all points, then point by point; round-off at the ends of spectra is left out."""
        tables = [self._table(axis, column) for axis, column in enumerate(points.T)]
        size = np.max(np.abs(state), axis=0)
        for axis, table in enumerate(tables):
            others = tuple(i for i in range(size.ndim) if i != axis)
            kept = np.flatnonzero(np.max(size, axis=others) > 1e-16 * size.max())
            state, size, tables[axis] = np.take(state, kept, axis + 1), np.take(size, kept, axis), table[:, kept]
        values = np.tensordot(tables[0], state, axes=(1, 1))  # (n, m, b, c)
        for table in tables[1:]:
            values = np.einsum("nmk...,nk->nm...", values, table)
        return values.T

    def _table(self, axis: int, x: Array) -> Array:
        k = self._numbers[axis].ravel()
        phase = np.multiply.outer(x - self.lower[axis], np.abs(self._derivatives[axis].ravel()) * np.sign(k))
        if self.waves == "fourier":
            halved = axis == len(self.lengths) - 1 and not self._complex
            return np.exp(1j * phase) * (np.where((k > 0) & (2 * k < self.modes), 2.0, 1.0) if halved else 1.0)
        if self.waves == "cosine":
            return np.asarray(np.cos(phase) * np.where(k > 0, 2.0, 1.0))
        return np.asarray(np.sin(phase) * np.where(k < self.modes, 2.0, 1.0))


class FieldOf:
    """One field of a reference."""

    def __init__(self, reference: BoxReference, index: int, part: Callable[[Array], Array]) -> None:
        self.reference, self.index, self.part = reference, index, part

    def __call__(self, points: Array, t: float) -> Array:
        """Return the values at points (n, d) and one time."""
        return np.asarray(self.part(self.reference.at(points, t)[self.index]), dtype=float)
