"""How to write (…)_x, the derivative of an expression, which the language has no suffix for."""

from __future__ import annotations

from collections.abc import Sequence

from frozenpinn.errors import choices
from frozenpinn.language.chart import Chart
from frozenpinn.language.jets import TIME, JetSpace
from frozenpinn.language.lexer import Token


def suffix_hint(text: str, tokens: Sequence[Token], i: int, names: Sequence[str], jets: JetSpace | Chart) -> str:
    """Say how to write (…)_x, the derivative of an expression; nothing if no such suffix stands at token ``i``."""
    suffix = tokens[i].text[1:]
    if not i or tokens[i - 1].text != ")" or not tokens[i].text.startswith("_") or not suffix:
        return ""
    start, level = i - 1, 1
    while level and start:
        start -= 1
        level += (tokens[start].text == ")") - (tokens[start].text == "(")
    if start and tokens[start - 1].kind == "name":  # sin(u)_x
        inner = text[tokens[start - 1].position : tokens[i - 1].position + 1]
    else:
        inner = text[tokens[start].position + 1 : tokens[i - 1].position].strip()
    inner = inner if len(inner) <= 40 else "…"
    split = jets.split_name(f"u_{suffix}")
    jet = None if split is None else split[1]
    if jet is None or jet.order + jet.time > 4:
        return f"Write the derivative of an expression as dx(…); the coordinates are {choices([*names, TIME])}."
    for name, count in zip((*names, TIME), (*jet.alpha, jet.time), strict=True):
        for _ in range(count):
            inner = f"d{name}({inner})"
    return f"Write the derivative of an expression as {inner}."
