"""Adaptive interpolation in time: Chebyshev polynomials on dyadic windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from frozenpinn.errors import IntegrationError

Array = np.ndarray
DEGREE = 16
FEW_PROBES, MANY_PROBES = (
    32,
    2048,
)  # probes besides the nodes: of a function that is costly, or cheap to evaluate


@dataclass(frozen=True)
class Window:
    """A polynomial on [start, start + length]: Chebyshev coefficients, shape (DEGREE + 1, size)."""

    start: float
    length: float
    coefficients: Array


class TooManyWindowsError(Exception):
    """The function can't be interpolated with a reasonable number of windows."""


@lru_cache(maxsize=1)
def chebyshev_nodes() -> tuple[Array, Array]:
    """Return Chebyshev–Gauss nodes on [−1, 1] and the map from values there to coefficients."""
    s = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    return s, np.linalg.inv(np.polynomial.chebyshev.chebvander(s, DEGREE))


@lru_cache(maxsize=64)
def _probes(count: int) -> tuple[Array, Array]:
    """Return points on [−1, 1] that are no nodes, one in each of ``count`` equal cells, and their Chebyshev values."""
    offsets = (0.5 + 0.4 * np.sin(1.7 * np.arange(count) + 0.9)) / count
    s = 2.0 * (np.arange(count) / count + offsets) - 1.0
    return s, np.polynomial.chebyshev.chebvander(s, DEGREE)


def interpolate(
    function: Callable[[Array], Array],
    start: float,
    end: float,
    tolerance: float,
    probes: int = FEW_PROBES,
    first: int = 4,
    most: int = 4000,
    least: float = 0.0,
) -> list[Window]:
    """Interpolate a vector function of time to a relative tolerance, halving windows where needed.

    A window is accepted if its last coefficients are small and the polynomial agrees with the function at points that
    were no nodes. Jumps are enclosed in ever shorter windows, until these do not matter.

    Parameters
    ----------
    function
        From times (m,) to values (m, size).
    start, end, tolerance
        The interval, and the accuracy relative to the largest value.
    probes
        How many probes there are besides the nodes, spread over the interval: a pulse between two of them is missed.
    first, most
        Windows at the start, and at most.
    least
        A size to which the tolerance refers at least: what is much smaller may be round-off.
    """
    smallest = 2.0**-36  # windows this short (relative) hold a jump; what they miss does not matter
    floor = 1e-9
    s, to_coefficients = chebyshev_nodes()
    length = (end - start) / first
    pending = [(start + k * length, length, np.inf) for k in reversed(range(first))]
    scale = float(np.max(np.linalg.norm(_values(function, start, end - start, _probes(first)[0]), axis=1)))
    scale = max(scale, least)
    done: list[Window] = []
    while pending:
        a, h, before = pending.pop()
        values = _values(function, a, h, s)
        scale = max(scale, float(np.max(np.linalg.norm(values, axis=1))))
        coefficients = to_coefficients @ values
        tail = float(np.max(np.linalg.norm(coefficients[-3:], axis=1)))
        accepted = tail <= tolerance * scale
        if accepted:
            # halving depth by depth, the same places are never asked twice: fewer for shorter windows
            places, vandermonde = _probes(max(2, int(probes * h / (end - start))))
            missed = _values(function, a, h, places) - vandermonde @ coefficients
            accepted = float(np.max(np.linalg.norm(missed, axis=1))) <= 10 * tolerance * scale
        # a short window does not help against round-off: there the tail stays as it is
        noise = 0.2 * before < tail <= floor * scale
        if accepted or noise or h < smallest * (end - start):
            done.append(Window(a, h, coefficients))
        else:
            pending += [(a + h / 2, h / 2, tail), (a, h / 2, tail)]
        if len(done) + len(pending) > most:
            raise TooManyWindowsError
        if not pending:  # what made a window short may reach into its neighbours
            done, pending = _balanced(done)
    return done


def _balanced(windows: list[Window]) -> tuple[list[Window], list[tuple[float, float, float]]]:
    """Take out windows that are much longer than a neighbour, to be halved; all others are kept."""
    balance = 8.0  # how much longer than its neighbour a window may be
    windows = sorted(windows, key=lambda window: window.start)
    lengths = np.array([window.length for window in windows])
    shortest = np.minimum(np.append(lengths[1:], np.inf), np.insert(lengths[:-1], 0, np.inf))
    kept, halves = [], []
    for window, neighbour in zip(windows, shortest, strict=True):
        if window.length > balance * neighbour:
            half = window.length / 2
            halves += [(window.start + half, half, np.inf), (window.start, half, np.inf)]
        else:
            kept.append(window)
    return kept, halves


def one_by_one(function: Callable[[float], Array]) -> Callable[[Array], Array]:
    """Turn a function of one time into a function of many."""
    return lambda times: np.array([function(float(t)) for t in times])


def _values(function: Callable[[Array], Array], start: float, length: float, nodes: Array) -> Array:
    values = function(start + length * (nodes + 1) / 2)
    if not np.all(np.isfinite(values)):
        end = start + length
        raise IntegrationError(
            f"forcing or boundary data are not finite between t = {start:.6g} and t = {end:.6g}.", time=start
        )
    return values
