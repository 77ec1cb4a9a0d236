"""Tables of cases and records for the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from frozenpinn_lab.cases.case import Case


def cases_table(cases: Iterable[Case]) -> Table:
    """Return all cases with the figures published for them, and the peers that have settings."""
    columns = ("case", "problem", "recipes", "published, low", "published, high", "peers")
    table = Table(*columns, box=None, pad_edge=False)
    for case in cases:
        recipes = ", ".join(sorted({f"{recipe}/{precision}" for recipe, precision in case.settings}))
        published = [case.figures(precision, case.variants[0]) for precision in ("low", "high")]
        figures = [_figure(p.rel_l2, p.seconds) for p in published]
        table.add_row(case.name, case.title, recipes, *figures, ", ".join(case.baselines) or "–")
    return table


def records_table(records: Sequence[dict[str, Any]]) -> Table:
    """Return errors, estimates and times of a benchmark."""
    headings = ("case", "recipe", "method", "relative L² error", "estimate", "seconds", "rank", "published")
    table = Table(*headings, box=None, pad_edge=False)
    for r in records:
        name = f"{r['case']} {r['variant']}".strip()
        recipe = f"{r['recipe'] or 'own'}/{r['precision']}"
        if r.get("tol") is not None:
            recipe = f"{r['recipe']}/{r['tol']:.0e}"
        published = _figure(r["paper"]["rel_l2"], r["paper"]["seconds"])
        if r["status"] != "ok":
            table.add_row(name, recipe, r["method"], f"failed: {escape(r['reason'])}", "", "", "", published)
            continue
        estimates = [v for v in r["estimate"]["values"] if v is not None]
        table.add_row(
            name,
            recipe,
            r["method"],
            f"{r['rel_l2']['mean']:.2e} ± {r['rel_l2']['std']:.1e}",
            f"{sum(estimates) / len(estimates):.2e}" if estimates else "–",
            f"{r['seconds']['median']:.4f}",
            "–" if r["rank"] is None else str(r["rank"]),
            published,
        )
    return table


def _figure(error: float | None, seconds: float | None) -> str:
    parts = [f"{error:.2e}" if error is not None else "", f"{seconds:.3g} s" if seconds is not None else ""]
    return ", ".join(part for part in parts if part) or "–"
