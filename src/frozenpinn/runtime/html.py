"""Small pieces of HTML for notebooks, in their own colours, light or dark; and text that reads well without print."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

_CARD = (
    "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.5em .9em;display:inline-block;max-width:100%;"
    "overflow:auto;line-height:1.45"
)
_CELL = "padding:.1em .9em .1em 0;text-align:left;vertical-align:top;background:none"


class Readable(str):
    """Text that a console shows as it would print it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Shown(str):
    """The path of a page or a film, which notebooks show below the cell that has written it.

    Files that are gone, or too large for a notebook, are named only.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        most = 20_000_000  # bytes inside a notebook
        try:
            with open(self, "rb") as file:
                data = file.read(most + 1)
        except OSError:
            return f"<code>{escape(self)}</code>"
        if len(data) > most:
            return f"<code>{escape(self)}</code> (too large to be shown here)"
        if self.lower().endswith((".html", ".htm")):
            page = escape(data.decode("utf-8", "replace"))
            return (
                f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0" title="a page that moves"></iframe>'
            )
        coded = base64.b64encode(data).decode("ascii")
        if self.lower().endswith(".mp4"):
            return f'<video controls loop style="max-width:100%" src="data:video/mp4;base64,{coded}"></video>'
        return f'<img style="max-width:100%" alt="a film" src="data:image/gif;base64,{coded}">'


def card(title: str, *parts: str) -> str:
    """Return a framed block; ``parts`` are HTML, the title is text."""
    return f'<div style="{_CARD}"><div style="font-weight:600">{escape(title)}</div>{"".join(parts)}</div>'


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Return a table of texts."""
    top = "".join(f'<th style="{_CELL}">{escape(cell)}</th>' for cell in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f'<table style="border:none">{f"<tr>{top}</tr>" if top else ""}{body}</table>'


def lines(texts: Iterable[str]) -> str:
    """Return texts below each other."""
    return "".join(f"<div>{escape(text)}</div>" for text in texts)


def aligned(text: str) -> str:
    """Return a text whose columns are aligned by blanks."""
    return f'<pre style="margin:.3em 0;background:none;white-space:pre">{escape(text)}</pre>'
