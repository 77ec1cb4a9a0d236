"""How each method looks, everywhere the same: name, colour of the Okabe–Ito palette, shape, order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

BLUE, SKY, GREEN, ORANGE, VERMILLION, PURPLE = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"
GREY = "#7F7F7F"


class Look(NamedTuple):
    """A method's name for people and its marks; ``shape`` is a code of matplotlib, ``family`` groups for summaries."""

    name: str
    family: str
    colour: str
    shape: str
    dashes: tuple[float, ...] = ()


LOOKS: dict[tuple[str, str | None], Look] = {
    ("frozen-pinn", "best"): Look("frozen · best", "best", BLUE, "o"),
    ("frozen-pinn", "auto"): Look("frozen · auto", "auto", SKY, "D"),
    ("frozen-pinn", "paper"): Look("frozen · paper", "paper", GREEN, "s"),
    ("iga", None): Look("IGA", "mesh", VERMILLION, "^"),
    ("iga-exact", None): Look("IGA, exact in time", "mesh-exact", VERMILLION, "v", (5, 3)),
    ("fem", None): Look("FEM", "mesh", ORANGE, "^", (5, 3)),
    ("spectral", None): Look("spectral", "spectral", VERMILLION, "D", (2, 2)),
    ("py-pde", None): Look("py-pde", "grid", ORANGE, "s", (2, 2)),
    ("fastlsq", None): Look("FastLSQ", "fastlsq", GREEN, "v", (2, 2)),
    ("spacetime-elm", None): Look("space–time ELM", "spacetime", GREY, "P", (2, 2)),
    ("spacetime-swim", None): Look("space–time SWIM", "spacetime", GREY, "X", (5, 2)),
    ("pinn-adam", None): Look("PINN · Adam", "pinn", PURPLE, "X"),
    ("pinn-lbfgs", None): Look("PINN · L-BFGS", "pinn", PURPLE, "*", (5, 3)),
    ("causal-pinn", None): Look("causal PINN", "pinn", PURPLE, "p", (2, 2)),
}
_ORDER = {look: place for place, look in enumerate(LOOKS.values())}


def look_of(item: Mapping[str, Any]) -> Look:
    """Return the look of a record or of a curve; a method that is not known keeps its name and is grey."""
    method, recipe = str(item.get("method")), item.get("recipe")
    known = LOOKS.get((method, recipe)) or LOOKS.get((method, None))
    if known is not None:
        return known
    return Look(f"{method} · {recipe}" if recipe else method, "other", GREY, "h")


def order_of(item: Mapping[str, Any]) -> int:
    """Return the place of a method among the others: ours first."""
    return _ORDER.get(look_of(item), len(_ORDER))


#: Outlines of the shapes within a circle of radius 1, as the ``d`` of an SVG path.
OUTLINES = {
    "o": "M-.9 0a.9 .9 0 1 0 1.8 0a.9 .9 0 1 0-1.8 0Z",
    "D": "M0-1.1L1.1 0L0 1.1L-1.1 0Z",
    "s": "M-.8-.8H.8V.8H-.8Z",
    "^": "M0-1.1L1.05 .8H-1.05Z",
    "v": "M0 1.1L1.05-.8H-1.05Z",
    "P": "M-.35-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z",
    "X": "M-.95-.5L-.5-.95L0-.45L.5-.95L.95-.5L.45 0L.95 .5L.5 .95L0 .45L-.5 .95L-.95 .5L-.45 0Z",
    "*": "M0-1.2L.29-.4L1.14-.37L.47 .15L.71 .97L0 .5L-.71 .97L-.47 .15L-1.14-.37L-.29-.4Z",
    "p": "M0-1.05L1-.32L.62 .85H-.62L-1-.32Z",
    "h": "M0-1L.87-.5V.5L0 1L-.87 .5V-.5Z",
}


def marker(look: Look, x: float = 0.0, y: float = 0.0, size: float = 5.0, title: str = "", hollow: bool = False) -> str:
    """Draw a method's mark as part of an SVG picture; ``title`` (already escaped) is what hovering shows."""
    inner = f"<title>{title}</title>" if title else ""
    kind = "mark hollow" if hollow else "mark"
    return (
        f'<path class="{kind}" style="--c:{look.colour}" d="{OUTLINES[look.shape]}" '
        f'transform="translate({x:.1f} {y:.1f}) scale({size:g})">{inner}</path>'
    )


def glyph(look: Look, hollow: bool = False) -> str:
    """Draw a method's mark as a small picture within text."""
    mark = marker(look, size=5.5, hollow=hollow)
    return f'<svg class="glyph" viewBox="-7 -7 14 14" aria-hidden="true">{mark}</svg>'
