"""The page: everything inside one file, no request to anywhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from frozenpinn_lab.page.charts import read_curves, work_precision
from frozenpinn_lab.page.dots import PUBLISHED, dot_charts
from frozenpinn_lab.page.machine import machine_list
from frozenpinn_lab.page.methods import LOOKS, Look, glyph
from frozenpinn_lab.page.results import Results
from frozenpinn_lab.page.rows import Row, read_rows
from frozenpinn_lab.page.summary import summary_cards
from frozenpinn_lab.page.tables import command_box, main_table

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def write_report(results: Results, file: Path) -> None:
    """Write the report as one HTML file that needs no network."""
    Path(file).write_text(render_report(results), encoding="utf-8")


def render_report(results: Results) -> str:
    """Return the report as HTML."""
    rows = read_rows(results.records)
    sections = (
        ("overview", "At a glance", _overview(rows)),
        ("diagrams", "Error against time", _diagrams(results.diagrams)),
        ("table", "All results", main_table(rows) if rows else ""),
        ("studies", "Studies", "".join(_figure(figure) for figure in results.figures)),
        ("machine", "Machine and versions", machine_list(results.machine) if results.machine else ""),
    )
    shown = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in shown)
    body = "".join(f'<section id="{name}"><h2>{title}</h2>{inner}</section>' for name, title, inner in shown)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>frozenpinn: benchmarks</title><style>{_asset('style.css')}</style>"
        "<noscript><style>tr.more[hidden]{display:table-row!important}.tools,.copy,.toggle{display:none}</style></noscript></head>"
        f"<body><header><div><h1>frozenpinn <span>benchmarks</span></h1><p>{_lead(results)}</p></div>"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header><main>{body}</main>'
        f"<script>{_asset('script.js')}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _lead(results: Results) -> str:
    machine = results.machine
    parts = ["Time-dependent PDEs solved by frozen random networks, beside other methods run on the same machine"]
    if machine.get("cpu"):
        parts.append(f" ({escape(str(machine['cpu']))})")
    date = f", {escape(str(machine['date']))}" if machine.get("date") else ""
    return f"{''.join(parts)}{date}."


def _overview(rows: Sequence[Row]) -> str:
    if not rows:
        return "<p>There are no records.</p>"
    chart = dot_charts(rows)
    return summary_cards(rows) + (_legend((row.look for row in rows), published=True) + chart if chart else "")


def _diagrams(diagrams: Sequence[Mapping[str, Any]]) -> str:
    if not diagrams:
        return ""
    looks = (curve.look for diagram in diagrams for curve in read_curves(diagram))
    charts = "".join(work_precision(diagram) for diagram in diagrams)
    return (
        "<p>Further down is more accurate, further left is faster. Each mark is one run, or one moment of a training; "
        f'hover over it for its numbers.</p>{_legend(looks)}<div class="charts">{charts}</div>'
    )


def _legend(looks: Iterable[Look], published: bool = False) -> str:
    """Return the marks of the methods that appear, in the usual order."""
    order = {look: place for place, look in enumerate(LOOKS.values())}
    unique = sorted(set(looks), key=lambda look: order.get(look, len(order)))
    items = [f"<li>{glyph(look)}{escape(look.name)}</li>" for look in unique]
    if published:
        items.append(f"<li>{glyph(PUBLISHED, hollow=True)}published</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def _figure(figure: Mapping[str, Any]) -> str:
    """Show a picture of a study; as an image it can neither run a script nor load anything."""
    if figure.get("svg"):
        kind, data = "svg+xml", base64.b64encode(str(figure["svg"]).encode()).decode()
    else:
        kind, data = "png", str(figure["png"])
    title, caption = escape(str(figure.get("title") or "")), escape(str(figure.get("caption") or ""))
    command = command_box(str(figure["command"])) if figure.get("command") else ""
    return (
        f'<figure class="study"><h3>{title}</h3><img alt="{title}" src="data:image/{kind};base64,{escape(data)}">'
        f"<figcaption>{caption}</figcaption>{command}</figure>"
    )
