"""Adaptive interpolation in time: Chebyshev polynomials on dyadic windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from frozenpinn.errors import IntegrationError

Array = np.ndarray
DEGREE = 16
_NOISE = 1e-9
_SMALLEST = 2.0**-36  # windows this short (relative) hold a jump; what they miss does not matter


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


def interpolate(
    function: Callable[[float], Array],
    start: float,
    end: float,
    tolerance: float,
    first: int = 4,
    most: int = 4000,
) -> list[Window]:
    """Interpolate a vector function of time to a relative tolerance, halving windows where needed.

    A window is accepted if its last coefficients are small and the polynomial agrees with the function at a point
    that was not a node. Jumps are enclosed in ever shorter windows, until these do not matter.
    """
    s, to_coefficients = chebyshev_nodes()
    length = (end - start) / first
    pending = [(start + k * length, length, np.inf) for k in reversed(range(first))]
    scale = max(float(np.linalg.norm(_values(function, a, h, np.array([-0.26])))) for a, h, _ in pending)
    done: list[Window] = []
    while pending:
        a, h, before = pending.pop()
        values = _values(function, a, h, s)
        scale = max(scale, float(np.max(np.linalg.norm(values, axis=1))))
        coefficients = to_coefficients @ values
        tail = float(np.max(np.linalg.norm(coefficients[-3:], axis=1)))
        accepted = tail <= tolerance * scale
        if accepted:
            probe = 0.7390851 * np.sign(np.cos(len(done)))
            between = np.polynomial.chebyshev.chebval(probe, coefficients)
            missed = float(np.linalg.norm(function(a + h * (probe + 1) / 2) - between))
            accepted = missed <= 10 * tolerance * scale
        # a short window does not help against round-off: there the tail stays as it is
        noise = 0.2 * before < tail <= _NOISE * scale
        if accepted or noise or h < _SMALLEST * (end - start):
            done.append(Window(a, h, coefficients))
        else:
            pending += [(a + h / 2, h / 2, tail), (a, h / 2, tail)]
        if len(done) + len(pending) > most:
            raise TooManyWindowsError
    return done


def _values(function: Callable[[float], Array], start: float, length: float, nodes: Array) -> Array:
    values = np.array([function(start + length * (node + 1) / 2) for node in nodes])
    if not np.all(np.isfinite(values)):
        end = start + length
        raise IntegrationError(
            f"forcing or boundary data are not finite between t = {start:.6g} and t = {end:.6g}.", time=start
        )
    return values
