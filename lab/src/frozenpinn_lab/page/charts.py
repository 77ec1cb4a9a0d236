"""Work–precision diagrams as inline SVG: error against time, both logarithmic, curves labelled where they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

from frozenpinn_lab.page.axes import LogAxis, power_label, time_label
from frozenpinn_lab.page.methods import Look, look_of, marker, order_of
from frozenpinn_lab.page.numbers import error_text, finite, seconds_text

WIDTH, HEIGHT = 350.0, 310.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 340.0, 10.0, 268.0
MOST_MARKS = 9  # on one curve; a history of training has hundreds of points


class Point(NamedTuple):
    """A run: seconds, error, what it was."""

    seconds: float
    error: float
    label: str


class Curve(NamedTuple):
    """The runs of one method, in their order."""

    look: Look
    points: list[Point]


def read_curves(diagram: Mapping[str, Any]) -> list[Curve]:
    """Return the curves of a diagram that have points with a positive time and a finite error, ours first."""
    curves = []
    for curve in sorted(diagram["curves"], key=order_of):
        points = []
        for point in curve.get("points") or ():
            seconds, error = finite(point.get("seconds")), finite(point.get("rel_l2"))
            if seconds is not None and error is not None and seconds > 0 and error >= 0:
                points.append(Point(seconds, max(error, 1e-17), str(point.get("label") or "")))
        if points:
            curves.append(Curve(look_of(curve), points))
    return curves


def work_precision(diagram: Mapping[str, Any]) -> str:
    """Draw one diagram as a figure of HTML."""
    curves = read_curves(diagram)
    case = escape(str(diagram["case"]))
    title = escape(str(diagram.get("title") or ""))
    caption = f"<figcaption><strong>{case}</strong>{f' <span>{title}</span>' if title else ''}</figcaption>"
    if not curves:
        nothing = '<p class="note">No run of this case has both a time and an error.</p>'
        return f'<figure class="chart">{caption}{nothing}</figure>'
    every = [point for curve in curves for point in curve.points]
    x = LogAxis.covering((point.seconds for point in every), LEFT, RIGHT)
    y = LogAxis.covering((point.error for point in every), BOTTOM, TOP)
    drawing = _grid(x, y) + "".join(_line(curve, x, y) for curve in reversed(curves)) + _labels(curves, x, y)
    names = ", ".join(escape(curve.look.name) for curve in curves)
    return (
        f'<figure class="chart">{caption}<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="Error against time for {case}: {names}">{drawing}</svg></figure>'
    )


def _grid(x: LogAxis, y: LogAxis) -> str:
    parts = []
    for exponent in x.ticks(5):
        at = x(10.0**exponent)
        anchor = "end" if exponent == x.last else "middle"
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP:g}V{BOTTOM:g}"/>')
        parts.append(
            f'<text class="tick" x="{min(at, RIGHT + 8):.1f}" y="{BOTTOM + 17:g}" text-anchor="{anchor}">'
            f"{time_label(exponent)}</text>"
        )
    for exponent in y.ticks(7):
        at = y(10.0**exponent)
        parts.append(f'<path class="grid" d="M{LEFT:g} {at:.1f}H{RIGHT:g}"/>')
        parts.append(
            f'<text class="tick" x="{LEFT - 6:g}" y="{at + 4:.1f}" text-anchor="end">{power_label(exponent)}</text>'
        )
    middle = (LEFT + RIGHT) / 2
    parts.append(f'<text class="axis" x="{middle:g}" y="{HEIGHT - 5:g}" text-anchor="middle">time</text>')
    turned = f'transform="translate(10 {(TOP + BOTTOM) / 2:g}) rotate(-90)"'
    parts.append(f'<text class="axis" {turned} text-anchor="middle">relative error</text>')
    return "".join(parts)


def _line(curve: Curve, x: LogAxis, y: LogAxis) -> str:
    """Draw a curve; of many points only some carry a mark, always the last."""
    places = [(x(point.seconds), y(point.error)) for point in curve.points]
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    dashes = f' stroke-dasharray="{" ".join(f"{dash:g}" for dash in curve.look.dashes)}"' if curve.look.dashes else ""
    line = f'<path class="line" style="--c:{curve.look.colour}"{dashes} d="M{path}"/>' if len(places) > 1 else ""
    last = len(places) - 1
    count = min(MOST_MARKS, len(places))
    chosen = sorted({round(k * last / (count - 1)) for k in range(count)}) if count > 1 else [0]
    return line + "".join(marker(curve.look, *places[k], 5.0, hover(curve.look, curve.points[k])) for k in chosen)


def hover(look: Look, point: Point) -> str:
    """Return what hovering over a run shows, escaped."""
    label = f"\n{point.label}" if point.label else ""
    return escape(f"{look.name}: error {error_text(point.error)} in {seconds_text(point.seconds)}{label}")


def _labels(curves: Sequence[Curve], x: LogAxis, y: LogAxis) -> str:
    """Write each method's name near the end of its curve, where no other label and few marks are."""
    marks = [place for curve in curves for place in _places(curve, x, y)]
    taken: list[tuple[float, float, float, float]] = []
    parts = []
    for curve in curves:
        width = 6.3 * len(curve.look.name) + 14
        spots = [spot for point in _ends(curve) for spot in _around(x(point.seconds), y(point.error), width)]
        box = min(spots, key=lambda spot: _crowding(spot, marks, taken))
        taken.append(box)
        left, top, _, bottom = box
        middle = (top + bottom) / 2
        parts.append(marker(curve.look, left + 5, middle, 3.8))
        parts.append(f'<text class="label" x="{left + 12:.1f}" y="{middle + 4:.1f}">{escape(curve.look.name)}</text>')
    return "".join(parts)


def _places(curve: Curve, x: LogAxis, y: LogAxis) -> list[tuple[float, float]]:
    """Return the places of the marks and some along the lines between them."""
    marks = [(x(point.seconds), y(point.error)) for point in curve.points]
    between = [
        (a + share * (c - a), b + share * (d - b))
        for (a, b), (c, d) in pairwise(marks)
        for share in (0.2, 0.4, 0.6, 0.8)
    ]
    return marks + between


def _ends(curve: Curve) -> list[Point]:
    points = curve.points
    return [points[-1], points[0], points[len(points) // 2]]


def _around(a: float, b: float, width: float) -> list[tuple[float, float, float, float]]:
    """Return boxes around a place, the preferred ones first, all within the axes."""
    boxes = []
    for distance in (12.0, 24.0, 38.0, 54.0):
        for wish, height in (
            (a + 9, b), (a - width / 2, b - distance), (a - width / 2, b + distance), (a - width - 8, b),
            (a + 6, b - distance), (a - width - 4, b - distance), (a + 6, b + distance), (a - width - 4, b + distance),
        ):  # fmt: skip
            left = min(max(wish, LEFT + 2), RIGHT - width)
            middle = min(max(height, TOP + 8), BOTTOM - 8)
            boxes.append((left, middle - 7.5, left + width, middle + 7.5))
    return boxes


def _crowding(
    box: tuple[float, float, float, float],
    marks: Sequence[tuple[float, float]],
    taken: Sequence[tuple[float, float, float, float]],
) -> float:
    """Count what a label would cover; other labels weigh most."""
    left, top, right, bottom = box
    covered = sum(left - 5 < a < right + 5 and top - 5 < b < bottom + 5 for a, b in marks)
    overlaps = sum(left < other[2] and other[0] < right and top < other[3] and other[1] < bottom for other in taken)
    return covered + 100.0 * overlaps
