"""Numbers as people read them: 1.2e-12, 7.5 ms, 26×."""

from __future__ import annotations

import math
from typing import Any

DASH = "–"


def finite(value: Any) -> float | None:
    """Return a number as float; None for everything that is not one, and for inf and nan."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def error_text(value: float | None, digits: int = 1) -> str:
    """Write an error with an exponent of as few digits as possible.

    >>> error_text(7.3037e-13), error_text(0.0), error_text(1.2), error_text(None)
    ('7.3e-13', '0', '1.2', '–')
    """
    if value is None:
        return DASH
    if value == 0.0:
        return "0"
    if 0.095 <= abs(value) < 1000:
        return f"{value:.{digits + 1}g}"
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def seconds_text(value: float | None) -> str:
    """Write a time in the unit that suits it.

    >>> [seconds_text(s) for s in (2e-5, 0.00754, 0.2523, 12.99, 105.8, 423.0, 7500.0)]
    ['20 µs', '7.5 ms', '0.25 s', '13 s', '106 s', '7.0 min', '2.1 h']
    """
    if value is None:
        return DASH
    if value < 1e-3:
        return f"{_two(value * 1e6)} µs"
    if value < 0.0995:
        return f"{_two(value * 1e3)} ms"
    if value < 180:
        return f"{_two(value)} s"
    return f"{value / 60:.1f} min" if value < 5400 else f"{value / 3600:.1f} h"


def ratio_text(value: float | None) -> str:
    """Write a ratio.

    >>> [ratio_text(r) for r in (0.0123, 0.387, 1.04, 7.24, 26.3, 634.0, 2.4e6)]
    ['0.012×', '0.39×', '1.0×', '7.2×', '26×', '634×', '2.4e6×']
    """
    if value is None:
        return DASH
    if value >= 1e6 or 0 < value < 1e-3:
        return f"{error_text(value)}×"
    if value >= 999.5:
        return f"{round(value, 1 - int(math.log10(value)) + 1):,.0f}×".replace(",", "\u202f")
    return f"{_two(value)}×"


def _two(value: float) -> str:
    """Two digits that count, without an exponent."""
    if value <= 0:
        return "0"
    places = max(0, 1 - math.floor(math.log10(float(f"{value:.1e}"))))
    return f"{value:.{places}f}"
