"""Texts as tokens: what the language of equations is made of, and where each piece stands."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from frozenpinn.errors import ExpressionError
from frozenpinn.language.hints import character_hint

MAX_CHARACTERS = 10_000

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<operator>\*\*|<=|>=|==|[-+*/^(),\[\]=<>])|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A lexical unit and where it stands in the text."""

    kind: str
    text: str
    position: int


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens; refuse what the language does not know."""
    if not isinstance(text, str):
        raise ExpressionError(f"expected an expression as text, got {type(text).__name__}: {text!r}")
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"the expression has {len(text)} characters; at most {MAX_CHARACTERS} are read. "
            "Move large formulas into a Python function and pass it as a parameter."
        )
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, word = match.lastgroup or "other", match.group()
        if kind == "space":
            continue
        # lastgroup names the innermost closed group; numbers carry inner groups
        kind = "number" if match.group("number") is not None else kind
        if kind == "other":
            message = f"unexpected character {word!r}. {character_hint(text, match.start())}".rstrip()
            raise ExpressionError(pointed(text, match.start(), message))
        if kind == "name" and "__" in word:
            raise ExpressionError(pointed(text, match.start(), f"names with '__' are refused: {word!r}."))
        if raised := re.search("[⁰¹²³⁴-⁹]", word):
            base = word[: raised.start()] or "…"
            power = unicodedata.normalize("NFKC", word[raised.start() :])
            raise ExpressionError(pointed(text, match.start(), f"write the power as {base}**{power}, got {word!r}."))
        tokens.append(Token(kind, word, match.start()))
    return tokens


def pointed(text: str, position: int, message: str) -> str:
    """Format an error with a marker below the offending place."""
    start = max(0, position - 60)
    line = text[start : position + 40].replace("\n", " ").replace("\t", " ")
    return f"{message}\n    {line}\n    {' ' * (position - start)}^"


def shortened(text: str, length: int = 80) -> str:
    """Return a text that fits into an error message."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
