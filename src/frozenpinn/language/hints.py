"""Notations from elsewhere that the language does not have, and what to write instead of each."""

from __future__ import annotations

import re

IMAGINARY = ("i", "I", "j")
COMPLEX = (
    "Equations are real and have no imaginary unit: write a complex one as two, for its real and its imaginary part. "
    "With w = u + i*v, i*w_t + w_xx = 0 is u_t = -v_xx and v_t = u_xx."
)
DERIVATIVES = "Write derivatives as u_t, u_x, u_xx, as in u_t = u_xx, and those of an expression as dx(…)."
STEPS = (
    "There are no conditions and comparisons in the language: write heaviside(x - 0.5), which is 1 where x > 0.5 "
    "and 0 below, or abs(…), min(…, …), max(…, …)."
)

_CASES = {"if", "elif", "else", "where", "ifelse", "piecewise", "and", "or", "not"}
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


def case_hint(word: str) -> str:
    """Say how to write a distinction of cases, if this word starts one."""
    return STEPS if word.lower() in _CASES else ""


def character_hint(text: str, position: int) -> str:
    """Say what to write instead of a character that the language does not have."""
    character = text[position]
    if character in "<>":
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
    }.get(character, "")


def _differentiated(name: str, suffix: str) -> str:
    return f"{name}{suffix}" if re.search(r"_[txyz]+$", name) else f"{name}_{suffix}"


def _instead(name: str, got: str) -> str:
    return f"Write '{name}' instead of '{got}', as in u_t = u_xx."
