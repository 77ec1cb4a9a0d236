"""Logarithmic axes for pictures drawn as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class LogAxis:
    """Maps positive numbers between two powers of ten to a range of pixels.

    >>> axis = LogAxis.covering([2e-3, 5e0], 0.0, 400.0)
    >>> axis.first, axis.last, axis(1e-1)
    (-3, 1, 200.0)
    """

    first: int
    last: int
    start: float
    end: float

    @classmethod
    def covering(cls, values: Iterable[float], start: float, end: float) -> LogAxis:
        """Return the axis between the powers of ten around all values; zero and what is not finite are left out."""
        logs = [math.log10(value) for value in values if value > 0 and math.isfinite(value)] or [0.0]
        first, last = math.floor(min(logs) - 0.02), math.ceil(max(logs) + 0.02)
        return cls(first, max(last, first + 1), start, end)

    def __call__(self, value: float) -> float:
        """Return the place of a value; what is outside is put on the edge."""
        share = (math.log10(value) - self.first) / (self.last - self.first) if value > 0 else 0.0
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[int]:
        """Return the exponents to label, at most so many."""
        step = max(1, math.ceil((self.last - self.first) / most))
        return [exponent for exponent in range(self.first, self.last + 1) if exponent % step == 0]


def power_label(exponent: int) -> str:
    """Write a power of ten as SVG text."""
    if exponent in {0, 1}:
        return str(10**exponent)
    return f'10<tspan dy="-4" font-size="75%">{str(exponent).replace("-", "−")}</tspan>'


def time_label(exponent: int) -> str:
    """Write a power of ten of seconds with its unit.

    >>> [time_label(k) for k in (-6, -4, -2, 0, 2, 4)]
    ['1 µs', '100 µs', '10 ms', '1 s', '100 s', '10⁴ s']
    """
    if exponent >= 4:
        return f"10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))} s"
    unit = 0 if exponent >= 0 else -3 if exponent >= -3 else -6
    names = {0: "s", -3: "ms", -6: "µs"}
    return f"{10.0 ** (exponent - unit):g} {names[unit]}"
