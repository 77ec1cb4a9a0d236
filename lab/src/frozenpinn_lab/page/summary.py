"""The headline of the page: a few figures, each computed from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import geometric_mean, median

from frozenpinn_lab.page.numbers import finite, ratio_text
from frozenpinn_lab.page.rows import Row

_RIVALS = (
    ("paper", "the paper’s recipe, run beside ours"),
    ("pinn", "trained PINNs"),
    ("mesh", "IGA and FEM"),
    ("mesh-exact", "splines with our closed form in time"),
    ("spectral", "a plain spectral code on boxes"),
    ("grid", "py-pde on boxes"),
    ("fastlsq", "FastLSQ on static problems"),
    ("spacetime", "space–time random features"),
)


def summary_cards(rows: Sequence[Row]) -> str:
    """Return the headline: what was run, and how our recipe ``best`` compares."""
    cards = [_extent(rows)]
    cards += [card for family, name in _RIVALS if (card := _speed(rows, family, name))]
    cards += [card for card in (_published(rows), _tolerance(rows), _estimate(rows)) if card]
    return f'<ul class="cards">{"".join(cards)}</ul>'


def _card(figure: str, what: str, detail: str = "") -> str:
    small = f'<span class="detail">{escape(detail)}</span>' if detail else ""
    large = f'<span class="figure">{escape(figure)}</span><span class="what">{escape(what)}</span>'
    return f'<li class="card">{large}{small}</li>'


def _extent(rows: Sequence[Row]) -> str:
    failed, stopped = sum(row.failed for row in rows), sum(row.stopped for row in rows)
    count = len({row.case for row in rows})
    detail = f"{len(rows)} rows · {failed} failed · {stopped} stopped at the budget"
    return _card(str(count), "case" if count == 1 else "cases", detail)


def _speed(rows: Sequence[Row], family: str, name: str) -> str:
    """Median over the cases, in each the geometric mean over its rows, so that a sweep counts once."""
    cases: dict[str, list[Row]] = {}
    for row in rows:
        if row.look.family == family and row.ratio is not None:
            cases.setdefault(row.case, []).append(row)
    if not cases:
        return ""
    typical = median(geometric_mean(row.ratio or 1.0 for row in group) for group in cases.values())
    compared = [row for group in cases.values() for row in group]
    bound = "≥ " if sum(row.stopped for row in compared) * 2 > len(compared) else ""
    accurate = sum(row.better is True for row in compared)
    faster = typical >= 1.0
    what = f"{'faster' if faster else 'slower'} than {name}"
    plural = "" if len(cases) == 1 else "s"
    return _card(
        f"{bound if faster else ''}{ratio_text(typical if faster else 1.0 / typical)}",
        what,
        f"median over {len(cases)} case{plural}; ours at least as accurate in {accurate} of {len(compared)} rows",
    )


def _published(rows: Sequence[Row]) -> str:
    ours = [row for row in rows if row.look.family == "best" and row.published_error is not None]
    if not ours:
        return ""
    reached = sum(
        row.error is not None and not row.failed and row.error <= (row.published_error or 0.0) for row in ours
    )
    return _card(f"{reached} of {len(ours)}", "rows with an error no larger than the published one", "recipe best")


def _tolerance(rows: Sequence[Row]) -> str:
    asked = [row for row in rows if row.look.family == "auto" and row.record.get("tol")]
    if not asked:
        return ""
    kept = sum(row.error is not None and not row.failed and row.error <= row.record["tol"] for row in asked)
    return _card(
        f"{kept} of {len(asked)}", "tolerances kept by auto", "true error no larger than the tolerance asked for"
    )


def _estimate(rows: Sequence[Row]) -> str:
    pairs = [
        (estimate, error)
        for row in rows
        for guess, truth in zip(
            (row.record.get("estimate") or {}).get("values") or (),
            (row.record.get("rel_l2") or {}).get("values") or (),
            strict=False,
        )
        if (estimate := finite(guess)) is not None and (error := finite(truth))
    ]
    if not pairs:
        return ""
    near = sum(0.1 <= estimate / error <= 10.0 for estimate, error in pairs)
    above = sum(estimate >= error for estimate, error in pairs)
    detail = f"of {len(pairs)} runs with an estimate; at or above the true error in {above / len(pairs):.0%}"
    return _card(f"{near / len(pairs):.0%}", "of our error estimates within a factor 10", detail)
