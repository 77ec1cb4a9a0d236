"""The main table: per case the methods with errors, times, our estimate and the published figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from frozenpinn_lab.page.methods import glyph
from frozenpinn_lab.page.numbers import DASH, error_text, finite, ratio_text, seconds_text
from frozenpinn_lab.page.rows import Row

#: Key for sorting, heading, explanation, whether it holds numbers.
COLUMNS = (
    ("case", "Case", "problem and member of a sweep", False),
    ("method", "Method", "method and recipe", False),
    ("error", "Error", "relative L² error, mean ± standard deviation over the seeds", True),
    ("seconds", "Time", "median over the seeds", True),
    ("ratio", "Time / ours", "time divided by that of our recipe best in the same run", True),
    ("estimate", "Our estimate", "the program’s own estimate of its error, mean over the seeds", True),
    ("published", "Published error", "error that the paper reports", True),
    ("published-seconds", "Published time", "time that the paper reports, on its machine", True),
)


def main_table(rows: Sequence[Row]) -> str:
    """Return the table with its filter; sorting is done by the script of the page."""
    head = "".join(
        f'<th scope="col" role="columnheader" data-key="{key}" aria-sort="none"{_class("num" if numbers else "")}>'
        f'<button type="button" title="{escape(hint)}">{escape(name)}</button></th>'
        for key, name, hint, numbers in COLUMNS
    )
    options = "".join(f'<option value="{key}">{escape(name)}</option>' for key, name, _, _ in COLUMNS)
    return (
        '<div class="tools"><label>Filter <input id="filter" type="search" placeholder="e.g. heat best" '
        'autocomplete="off" spellcheck="false"></label>'
        f'<label class="phone">Sort by <select id="sort"><option value="">case order</option>{options}</select></label>'
        f'<output id="count" aria-live="polite">{len(rows)} rows</output></div>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Results, scrolls sideways">'
        '<table id="results" role="table">'
        "<caption>Relative L² errors and times of all methods. Bold: the smallest of its case. "
        "A click on a heading sorts; + shows seeds, sizes and the command that repeats a row.</caption>"
        f'<thead role="rowgroup"><tr role="row">{head}'
        '<th role="columnheader" scope="col"><span class="hidden">Details</span></th></tr></thead>'
        f"{''.join(_bodies(rows))}</table></div>"
    )


def _bodies(rows: Sequence[Row]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.case, row.variant), []).append(row)
    previous = None
    for number, row in enumerate(rows):
        group = [other for other in groups[row.case, row.variant] if not other.failed]
        yield _body(number, row, row.case == previous, group)
        previous = row.case


def _body(number: int, row: Row, repeated: bool, group: Sequence[Row]) -> str:
    least_error = min((other.error for other in group if other.error is not None), default=None)
    least_time = min(
        (other.seconds for other in group if other.seconds is not None and not other.stopped), default=None
    )
    several = len(group) > 1
    best_error = several and not row.failed and row.error is not None and row.error == least_error
    best_time = several and not row.failed and not row.stopped and row.seconds is not None and row.seconds == least_time
    ours = row.look.family == "best"
    bound = "≥ " if row.stopped else ""
    cells = (
        _cell("case", _case(row), text=f"{row.case} {row.variant}".strip(), header=True),
        _cell("method", _method(row), text=row.look.name),
        _cell("error", _error(row), row.error, kind="num best" if best_error else "num"),
        _cell("seconds", bound + seconds_text(row.seconds), row.seconds, kind="num best" if best_time else "num"),
        _cell(
            "ratio", "1" if ours and row.ratio else bound * (row.ratio is not None) + ratio_text(row.ratio), row.ratio
        ),
        _cell("estimate", error_text(row.estimate), row.estimate),
        _cell("published", error_text(row.published_error), row.published_error),
        _cell("published-seconds", seconds_text(row.published_seconds), row.published_seconds),
        f'<td role="cell" class="toggle"><button type="button" aria-expanded="false" aria-controls="more-{number}">'
        '<span class="hidden">Details and command</span></button></td>',
    )
    classes = " ".join(
        name
        for name, holds in (("ours", ours), ("failed", row.failed), ("stopped", row.stopped), ("repeat", repeated))
        if holds
    )
    return (
        f'<tbody role="rowgroup" data-order="{number}"{_class(classes)}>'
        f'<tr role="row" class="row">{"".join(cells)}</tr>'
        f'<tr role="row" class="more" id="more-{number}" hidden><td role="cell" colspan="{len(COLUMNS) + 1}">'
        f"{_details(row)}</td></tr></tbody>"
    )


def _cell(
    key: str, inner: str, value: float | None = None, text: str | None = None, kind: str = "num", header: bool = False
) -> str:
    """Return a cell; ``value`` or ``text`` is what it is sorted by, and without either it comes last."""
    by = "" if value is None else f' data-value="{value!r}"'
    if text is not None:
        by, kind = f' data-text="{escape(text)}"', "name"
    if inner == DASH:
        kind += " empty"
    label = next(name for column, name, _, _ in COLUMNS if column == key)
    tag, role = ("th", 'scope="row" role="rowheader"') if header else ("td", 'role="cell"')
    return f'<{tag} {role} class="{kind}" data-key="{key}" data-label="{escape(label)}"{by}>{inner}</{tag}>'


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _case(row: Row) -> str:
    title = row.record.get("title")
    hint = f' title="{escape(str(title))}"' if title else ""
    variant = f' <span class="variant">{escape(row.variant)}</span>' if row.variant else ""
    return f'<span class="case"{hint}>{escape(row.case)}</span>{variant}'


def _method(row: Row) -> str:
    notes = ""
    if row.failed:
        reason = str(row.record.get("reason") or "no reason was recorded")
        notes += (
            f'<span class="note bad clamp" title="{escape(reason)}"><strong>failed:</strong> {escape(reason)}</span>'
        )
    if row.stopped:
        when, _, error = escape(row.stopped_text).partition(" at error ")
        tail = f' <span class="nowrap">at error {error}</span>' if error else ""
        notes += f'<span class="note late">{when}{tail}</span>'
    if row.record.get("note"):
        notes += f'<span class="note">{escape(str(row.record["note"]))}</span>'
    tags = "".join(f' <span class="variant">{escape(tag)}</span>' for tag in _tags(row))
    return f"{glyph(row.look)}<span>{escape(row.look.name)}</span>{tags}{notes}"


def _tags(row: Row) -> Iterator[str]:
    """Yield what tells rows of one method apart."""
    precision, tol = row.record.get("precision"), finite(row.record.get("tol"))
    if precision not in {None, "high"}:
        yield f"{precision} precision"
    if row.look.family == "auto" and tol is not None:
        yield f"tol {error_text(tol, 0)}"
    if row.look.family == "mesh" and row.record.get("recipe") == "paper":
        yield "paper’s settings"


def _error(row: Row) -> str:
    if row.error is None:
        return '<span class="bad">failed</span>' if row.failed else DASH
    several = len((row.record.get("rel_l2") or {}).get("values") or ()) > 1
    spread = f' <span class="spread">± {error_text(row.spread)}</span>' if row.spread is not None and several else ""
    return error_text(row.error) + spread


def _details(row: Row) -> str:
    record = row.record
    facts: list[tuple[str, Any]] = [("Problem", record.get("title")), ("Settings", _settings(row))]
    facts.append(("Why it failed", record.get("reason") if row.failed else None))
    facts += [(name, record.get(key)) for name, key in (("Precision", "precision"), ("Verdict", "verdict"))]
    facts.append(("Tolerance", error_text(finite(record.get("tol"))) if finite(record.get("tol")) else None))
    facts.append(("Budget", seconds_text(finite(record.get("budget"))) if finite(record.get("budget")) else None))
    facts.append(("Seeds", ", ".join(map(str, record.get("seeds") or ()))))
    facts.append(("Errors", _list(record, "rel_l2", error_text)))
    facts.append(("Times", _list(record, "seconds", seconds_text)))
    facts.append(("RMSE", error_text(finite((record.get("rmse") or {}).get("mean")))))
    trivial = finite(record.get("trivial"))
    facts.append(("Trivial predictor", None if trivial is None else f"error {error_text(trivial)}"))
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(fact))}</dd></div>"
        for name, fact in facts
        if fact not in {None, "", DASH}
    )
    command = record.get("command")
    return f'<dl class="facts">{items}</dl>' + (command_box(str(command)) if command else "")


def _settings(row: Row) -> str:
    pairs = ((key, row.record.get(key)) for key in ("recipe", "sampler", "width", "rank", "points", "windows"))
    return " · ".join(f"{key} {value}" for key, value in pairs if value is not None)


def _list(record: Any, key: str, write: Any) -> str:
    return ", ".join(write(finite(value)) for value in (record.get(key) or {}).get("values") or ())


def command_box(command: str) -> str:
    """Return a command with a button that copies it."""
    return f'<div class="command"><code>{escape(command)}</code><button type="button" class="copy">Copy</button></div>'
