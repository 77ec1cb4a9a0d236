"""Values that an argument should not have, but may be given."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2.5, 3, 10**9, 10**400, -0.0, math.nan, math.inf, -math.inf, 1e-320, 1e308, -1e-9),
    *("a", "", "5", "1e-3", "x", "u = 0", "inf", "\0", "é" * 50, b"x", 1j, complex(0, math.nan)),
    *(
        [],
        [1],
        [1, 2],
        [[1, 2], [3]],
        [["a"]],
        [None],
        (),
        (1, 2),
        (0, 0),
        {},
        {"a": 1},
        {1: 2},
        {1, 2},
        [[[]]],
        [10**400],
    ),
    *(
        object(),
        int,
        str,
        len,
        print,
        lambda: 0,
        lambda a: a,
        lambda x, t: "text",
        lambda x: 1 / 0,
        NotImplemented,
        ...,
    ),
    *(np.array([1, 2]), np.array("a"), np.array([1j]), np.zeros((0, 2)), np.zeros((2, 3, 4)), np.array([np.nan, 1])),
    *(np.float32(0.5), np.int8(3), np.bool_(True), np.datetime64("2020"), np.array([[1, 2]], dtype=object)),
    *(range(3), range(10**12), Decimal("0.1"), Fraction(1, 3), Path("/"), Path("nowhere/s"), datetime.date(2020, 1, 1)),
    *(sp.Symbol("x"), sp.I, sp.oo, sp.Rational(1, 3), sp.Matrix([1, 2]), slice(None), bytearray(b"abc"), type),
)


def some(rng: np.random.Generator) -> Any:
    """Return one of them."""
    return JUNK[int(rng.integers(len(JUNK)))]


def spoiled(given: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return keyword arguments of which one or two are junk, misspelt, missing or too many."""
    changed = dict(given)
    for _ in range(1 if rng.random() < 0.7 else 2):
        key, choice = list(given)[int(rng.integers(len(given)))], rng.random()
        if choice < 0.85:
            changed[key] = some(rng)
        elif choice < 0.9:
            changed.pop(key, None)
        elif choice < 0.95:
            changed[key[:-1] or "q"] = changed.pop(key, 0)
        else:
            changed[f"{key}s"] = some(rng)
    return changed


def called(name: str, given: Mapping[str, Any]) -> str:
    """Return a call as text."""
    return f"{name}({', '.join(f'{key}={_text(value)}' for key, value in given.items())})"


def _text(value: Any) -> str:
    try:
        return repr(value)[:60]
    except ValueError:  # a number of many digits has no text
        return f"10**{round(math.log10(value))}"
