"""Hostile texts: nested, long, wild and broken equations, as equations, data and conditions of a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from frozenpinn.geometry import Box, Interval
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.fuzzing.trial import Trial

FUNCTIONS = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sech"),
    *("exp", "log", "sqrt", "abs", "sign", "erf", "heaviside"),
)
PAIRS = ("min", "max", "atan2")
OPERATORS = ("dx", "dt", "lap", "div", "grad", "biharmonic")
ATOMS = (
    "u",
    "u_x",
    "u_xx",
    "u_xxxx",
    "u_t",
    "x",
    "t",
    "k",
    "pi",
    "0",
    "1",
    "2.5",
    "1e300",
    "1e-300",
    "17",
    "v",
    "u_tt",
)
JUNK = (
    "(",
    ")",
    ",",
    "=",
    "**",
    "^",
    "*",
    "/",
    "-",
    "+",
    "[",
    "]",
    ".",
    "_",
    "__",
    "'",
    "\\",
    "\n",
    "\0",
    "é",
    "∂",
    "π",
    "²",
    ";",
    "{",
    "0x1",
    "1e",
    "e9",
)
TREE = 6  # levels of a random formula


def texts(rng: np.random.Generator, count: int) -> Iterator[Trial]:
    """Yield texts as equations, initial values, conditions and parameters."""
    makers = (_formula, _formula, _deep, _many, _broken, _noise, _powers, _wide)
    for i in range(count):
        text = makers[i % len(makers)](rng)
        place = i // len(makers) % 5
        yield Trial(
            f"{('equation', 'initial', 'boundary', 'parameter', 'plane')[place]}: {text[:300]}", _use(text, place)
        )


def _use(text: str, place: int) -> Callable[[], object]:
    line, unit = Interval(0.1, 1), {"k": 2.0}

    def state() -> object:
        if place == 1:
            return Problem("u_t = u_xx", line, (0, 1), text, "u = 0", parameters=unit)
        if place == 2:
            return Problem("u_t = u_xx", line, (0, 1), 0, text, parameters=unit)
        if place == 3:
            return Problem("u_t = a*u_xx", line, (0, 1), 0, "u = 0", parameters={**unit, "a": text})
        if place == 4:
            return Problem(f"u_t = {text}", Box([0.1, 0.1], [1, 1]), (0, 1), 0, "u = 0", parameters=unit)
        return Problem(f"u_t = {text}", line, (0, 1), 0, "u = 0", parameters=unit)

    return state


def _one(rng: np.random.Generator, names: tuple[str, ...]) -> str:
    return names[int(rng.integers(len(names)))]


def _formula(rng: np.random.Generator, depth: int = TREE) -> str:
    """Return a random formula of the language."""
    choice = rng.random()
    if depth == 0 or choice < 0.2:
        return _one(rng, ATOMS)
    inner = [_formula(rng, depth - 1) for _ in range(2)]
    if choice < 0.45:
        return f"{_one(rng, FUNCTIONS)}({inner[0]})"
    if choice < 0.55:
        return f"{_one(rng, PAIRS)}({inner[0]}, {inner[1]})"
    if choice < 0.65:
        return f"{_one(rng, OPERATORS)}({inner[0]})"
    return f"({inner[0]}){_one(rng, ('+', '-', '*', '/', '**'))}({inner[1]})"


def _deep(rng: np.random.Generator) -> str:
    """Return functions and derivatives inside each other, up to a hundred levels."""
    text = _one(rng, ATOMS)
    names = [_one(rng, (*FUNCTIONS, *PAIRS, *OPERATORS[:3])) for _ in range(int(rng.integers(1, 3)))]
    for i in range(int(rng.integers(2, 100))):
        name = names[i % len(names)]
        text = f"{name}({text}, {_one(rng, ATOMS)}*{i})" if name in PAIRS else f"{name}({text})"
    return text


def _many(rng: np.random.Generator) -> str:
    """Return a sum or a product of hundreds of terms."""
    name, sign = _one(rng, (*PAIRS, *FUNCTIONS)), _one(rng, ("+", "*", "-"))
    n = int(rng.integers(50, 600))
    terms = [f"{name}(u, x*{i})" if name in PAIRS else f"{name}(x*{i} + u)" for i in range(n)]
    text = sign.join(terms)
    return f"dx({text})" if rng.random() < 0.3 else text


def _broken(rng: np.random.Generator) -> str:
    """Return a formula with a piece cut out, doubled or replaced."""
    text = _formula(rng)
    a, b = sorted(int(n) for n in rng.integers(0, len(text) + 1, 2))
    return _one(rng, (text[:a] + text[b:], text[:b] + text[a:], text[:a] + _one(rng, JUNK) + text[b:]))


def _noise(rng: np.random.Generator) -> str:
    """Return words in any order, or any characters."""
    if rng.random() < 0.3:
        return "".join(chr(int(n)) for n in rng.integers(1, 0x2FFF, int(rng.integers(1, 60))))
    words = (*ATOMS, *FUNCTIONS, *PAIRS, *OPERATORS, *JUNK)
    return "".join(_one(rng, words) for _ in range(int(rng.integers(1, 60))))


def _powers(rng: np.random.Generator) -> str:
    """Return towers of powers and factors that grow when multiplied out."""
    base = _one(rng, ("x", "u", "(x+u)", "(1+x+u+u_x+t)", "9", "99999", "0", "1e-9"))
    exponents = [
        _one(rng, ("2", "9", "99", "-1", "0.5", "x", "-99", "1/3", "1e9")) for _ in range(int(rng.integers(1, 5)))
    ]
    text = base + "".join(f"**{e}" for e in exponents)
    return _one(rng, (text, f"({text})*({text})", f"dx({text})", "*".join([f"({text}+1)"] * 30)))


def _wide(rng: np.random.Generator) -> str:
    """Return long numbers, long names, long texts."""
    n = int(10 ** rng.uniform(1, 4.2))
    return _one(
        rng,
        (
            "1" * n,
            "x" * n,
            "u+" * (n // 2) + "u",
            "(" * n + "u" + ")" * n,
            "-" * n + "u",
            "1." + "0" * n,
            "u_" + "x" * n,
            " " * n + "u",
        ),
    )
