"""One picture of the whole run: per case a line, on it the methods, by time and by error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from frozenpinn_lab.page.axes import LogAxis, power_label, time_label
from frozenpinn_lab.page.charts import Point, hover
from frozenpinn_lab.page.methods import GREY, Look, marker
from frozenpinn_lab.page.numbers import error_text, seconds_text
from frozenpinn_lab.page.rows import Row

WIDTH, LEFT, RIGHT, STEP, TOP = 350.0, 138.0, 340.0, 19.0, 24.0
PUBLISHED = Look("published", "published", GREY, "o")


def dot_charts(rows: Sequence[Row]) -> str:
    """Draw times and errors of all cases that have at least one; of a sweep its middle member is shown."""
    groups = [group for group in _groups(rows) if any(row.seconds or row.error for row in group)]
    if not groups:
        return ""
    times = _chart(
        "Time", "seconds on a logarithmic scale; further left is faster", groups,
        lambda row: row.seconds, lambda row: row.published_seconds, time_label, seconds_text,
    )  # fmt: skip
    errors = _chart(
        "Error", "relative L² error on a logarithmic scale; further left is more accurate", groups,
        lambda row: row.error, lambda row: row.published_error, power_label, error_text,
    )  # fmt: skip
    return f'<div class="charts wide">{times}{errors}</div>'


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    cases: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        cases.setdefault(row.case, {}).setdefault(row.variant, []).append(row)
    chosen = []
    for variants in cases.values():
        most = max(len(group) for group in variants.values())
        full = [group for group in variants.values() if len(group) == most]
        chosen.append(variants.get("") or full[len(full) // 2])
    return chosen


def _chart(
    title: str,
    hint: str,
    groups: Sequence[Sequence[Row]],
    value: Callable[[Row], float | None],
    published: Callable[[Row], float | None],
    tick: Callable[[int], str],
    write: Callable[[float | None], str],
) -> str:
    known = [v for group in groups for row in group for v in (value(row), published(row)) if v]
    axis = LogAxis.covering(known, LEFT, RIGHT)
    bottom = TOP + STEP * len(groups)
    parts = []
    for exponent in axis.ticks(5):
        at = axis(10.0**exponent)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP - 6:g}V{bottom:g}"/>')
        anchor = "end" if exponent == axis.last else "middle"
        parts.append(
            f'<text class="tick" x="{at + 8 * (anchor == "end"):.1f}" y="13" text-anchor="{anchor}">'
            f"{tick(exponent)}</text>"
        )
    for number, group in enumerate(groups):
        y = TOP + STEP * (number + 0.5)
        parts.append(f'<text class="tick strong" x="0" y="{y + 4:g}">{_name(group[0])}</text>')
        places = [(row, v) for row in group if (v := value(row))]
        theirs = next((v for row in group if row.look.family == "best" and (v := published(row))), None)
        every = [v for _, v in places] + ([theirs] if theirs else [])
        if every:
            parts.append(f'<path class="span" d="M{axis(min(every)):.1f} {y:g}H{axis(max(every)):.1f}"/>')
        if theirs:
            note = escape(f"published: {write(theirs)}")
            parts.append(marker(PUBLISHED, axis(theirs), y, 3.8, note, hollow=True))
        lanes = _lanes([axis(v) for _, v in places])
        for (row, v), lane in reversed(list(zip(places, lanes, strict=True))):
            point = Point(row.seconds or 0.0, row.error or 0.0, row.stopped_text)
            parts.append(marker(row.look, axis(v), y + lane, 4.3, hover(row.look, point)))
    return (
        f'<figure class="chart dots"><figcaption><strong>{title}</strong> <span>{hint}</span></figcaption>'
        f'<svg viewBox="0 0 {WIDTH:g} {bottom + 6:g}" role="img" '
        f'aria-label="{title} of each method per case; the table below has the numbers">{"".join(parts)}</svg></figure>'
    )


def _lanes(places: Sequence[float]) -> list[float]:
    """Return how far up or down each mark moves so that neighbours stay visible; the first ones stay in the middle."""
    lanes: list[float] = []
    for k, place in enumerate(places):
        near = [lanes[j] for j in range(k) if abs(places[j] - place) < 7.0]
        lanes.append(min((0.0, -5.0, 5.0), key=near.count))
    return lanes


def _name(row: Row) -> str:
    """Return the case's name, with the variant if both fit, shortened if need be."""
    full = f"{row.case} {row.variant}".strip()
    name = full if len(full) <= 25 else row.case
    return f"<title>{escape(full)}</title>{escape(name if len(name) <= 26 else name[:25] + '…')}"
