"""Notations from elsewhere that the language does not have, and what to write instead of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

IMAGINARY = ("i", "j")
COMPLEX = "The imaginary unit is 'I', as in psi_t = I*psi_xx; numbers such as 2j are written 2*I."
DERIVATIVES = "Write derivatives as u_t, u_x, u_xx, as in u_t = u_xx, and those of an expression as dx(…)."
STEPS = (
    "Write where(x < 0.5, a, b), which is a where x < 0.5 and b elsewhere; conditions are joined by 'and' and 'or', "
    "and (x < 0.5) is 1 or 0. There are also heaviside(…), abs(…), min(…, …), max(…, …)."
)
NOISE = (
    "Noise is not supported: the program solves deterministic equations. Give one smooth realisation as a Python "
    "function of the coordinates and time, parameters={'f': …}."
)
_CASES = {"if", "elif", "else", "ifelse", "piecewise", "and", "or", "not"}
_NOISE = {
    "noise",
    "dw",
    "db",
    "dwdt",
    "dw_dt",
    "wiener",
    "white_noise",
    "whitenoise",
    "rand",
    "randn",
    "random",
    "brownian",
}
_OPERATORS = {"diff", "derivative", "partial"}
_POWER = r"(?:\^|\*\*)?([2-9²³⁴])"
_QUOTIENT = re.compile(  # du/dt, d2u/dx2, d^2u/dxdy, d(u)/dx, d/dx
    rf"[d∂](?:{_POWER})?\(?(?P<what>[^\W\d_]\w*?)?\)?/\(?(?P<by>(?:[d∂][txyz](?:{_POWER})?)+)(?!\w)"
)
_CALL = re.compile(  # diff(u, x, 2), Derivative(u(x, t), (x, 2)), D[u, x, x]
    r"(?:[Dd]iff|[Dd]erivative|partial|[Dd])[(\[](?P<what>[^\W\d]\w*)(?:\([^()]*\))?"
    r"(?P<by>(?:,\(?[txyz]\d*(?:,\d\)?)?)+)[)\]]"
)
_DIGITS = str.maketrans("²³⁴", "234")


def derivative_hint(text: str, position: int) -> str:
    """Say how to write the derivative that stands here as du/dt, ∂u/∂t or diff(u, t); nothing if none does."""
    place = re.sub(r"\s+", "", text[position : position + 80])
    if found := _QUOTIENT.match(place):
        what, powers = found["what"], re.findall(rf"[d∂]([txyz])(?:{_POWER})?", found["by"])
        suffix = "".join(axis * int((power or "1").translate(_DIGITS)) for axis, power in powers)
        if len(suffix) == int((found[1] or "1").translate(_DIGITS)) and (what or len(suffix) == 1):
            if not what:
                return f"Write 'd{suffix}(…)' instead of '{found[0]}', or u_{suffix} for the derivative of u."
            if place[found.end() : found.end() + 1] != "(":  # else dx(…) is in use, and this is a quotient
                return _instead(_differentiated(what, suffix), found[0])
        return DERIVATIVES
    if found := _CALL.match(place):
        pairs = re.findall(r",\(?([txyz]\d*)(?:,(\d))?", found["by"])
        return _instead(_differentiated(found["what"], "".join(a * int(n or 1) for a, n in pairs)), found[0])
    word = re.match(r"\w+", place)
    called = word is not None and place[word.end() : word.end() + 1] in ("(", "[")
    return DERIVATIVES if word and called and word[0].lower() in _OPERATORS else ""


def foreign_name(word: str, kind: str, coordinates: Sequence[str]) -> str:
    """Say what to write instead of a name that means something elsewhere; nothing if it means nothing."""
    if word.lower() in _NOISE:
        return NOISE
    if word[0] in "Δ∇" and len(word) > 1:
        return f"Write lap({word[1:]}) for the Laplacian."
    if kind != "cartesian" and word in ("x", "y", "z"):
        return (
            f"'{word}' is a Cartesian coordinate, and coordinates=\"{kind}\" are {', '.join(coordinates)}: write the "
            "whole problem in these, or leave coordinates= out."
        )
    if kind == "cartesian" and word in ("r", "theta", "phi", "rho", "θ", "φ"):
        return (
            f'The coordinates are {", ".join(coordinates)}; for others write coordinates="polar", "cylindrical" or '
            f"\"spherical\", or define it: parameters={{'{word}': …}}."
        )
    return ""


def case_hint(word: str) -> str:
    """Say how to write a distinction of cases, if this word starts one."""
    return STEPS if word.lower() in _CASES else ""


def character_hint(text: str, position: int) -> str:
    """Say what to write instead of a character that the language does not have."""
    character = text[position]
    if character in "≤≥≠&!":
        return STEPS
    if character == "∂":
        return derivative_hint(text, position) or DERIVATIVES
    if character in "'’" or text.startswith(".diff(", position):
        return DERIVATIVES
    if text.startswith(".where(", position):
        return STEPS
    return {
        ".": "Attribute access is not part of the language: write sin(x), not np.sin(x).",
        "∇": "Write grad(u), div(…), lap(u).",
        "|": "Write abs(…).",
        "·": "Write '*' for a product of numbers and dot(…, …) for one of vectors.",
        "×": "Write '*' for a product of numbers and cross(…, …) for one of vectors.",
        "√": "Write sqrt(…).",
        "∫": "Write integral(…).",
    }.get(character, "")


def _differentiated(name: str, suffix: str) -> str:
    return f"{name}{suffix}" if re.search(r"_[txyz]+$", name) else f"{name}_{suffix}"


def _instead(name: str, got: str) -> str:
    return f"Write '{name}' instead of '{got}', as in u_t = u_xx."
