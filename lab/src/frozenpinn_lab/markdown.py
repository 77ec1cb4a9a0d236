"""The table of the README, from the records of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frozenpinn_lab.cases.case import AUTO, FROZEN_PINN
from frozenpinn_lab.page.numbers import seconds_text
from frozenpinn_lab.peers.methods import PINNS

Record = dict[str, Any]
_SWEEP = 4  # more variants than this are a sweep
_NOTHING = "–"
HEADINGS = (
    "case",
    "best",
    "auto",
    "paper's recipe",
    "splines, elements",
    "trained PINN",
    "spectral",
    "py-pde",
    "FastLSQ",
    "published",
)


def write_table(records: Sequence[Record]) -> str:
    """Return a Markdown table at high precision: a row per case and variant, error and time by method that was run."""
    rows: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record["precision"] == "high":
            rows.setdefault((record["case"], record["variant"]), []).append(record)
    variants: dict[str, list[str]] = {}
    for (case, variant), found in rows.items():
        if _ours(found, "best") is not None:
            variants.setdefault(case, []).append(variant)
    table = [list(HEADINGS)]
    for (case, variant), found in rows.items():
        known = variants.get(case, [variant])
        if variant not in known or (len(known) > _SWEEP and variant != known[-1]):  # the last of a sweep stands for all
            continue
        name = f"{case}, {variant}" if variant else case
        cells = [
            _cell(_ours(found, "best")),
            _cell(_ours(found, AUTO)),
            _cell(_ours(found, "paper")),
            _cell(_most_accurate(found, ("iga", "fem"))),
            _cell(_most_accurate(found, PINNS)),
            _cell(_most_accurate(found, ("spectral",))),
            _cell(_most_accurate(found, ("py-pde",))),
            _cell(_most_accurate(found, ("fastlsq",))),
            _published(found),
        ]
        table.append([name, *cells])
    used = [k for k in range(len(HEADINGS)) if any(row[k] != _NOTHING for row in table[1:])]
    lines = ["| " + " | ".join(row[k] for k in used) + " |" for row in table]
    return "\n".join([lines[0], "|" + "---|" * len(used), *lines[1:]]) + "\n"


def _ours(records: Sequence[Record], recipe: str) -> Record | None:
    return next((r for r in records if r["method"] == FROZEN_PINN and r["recipe"] == recipe), None)


def _most_accurate(records: Sequence[Record], methods: Sequence[str]) -> Record | None:
    good = [r for r in records if r["method"] in methods and r["rel_l2"]["mean"] is not None]
    return min(good, key=lambda r: r["rel_l2"]["mean"]) if good else None


def _cell(record: Record | None) -> str:
    if record is None:
        return _NOTHING
    if record["rel_l2"]["mean"] is None:
        return "failed"
    text = f"{record['rel_l2']['mean']:.1e}, {seconds_text(record['seconds']['median'])}"
    if record["verdict"] == "reached":
        return f"{text} (reached)"
    return f"{text} (stopped)" if any(record["stopped"]) else text


def _published(records: Sequence[Record]) -> str:
    ours = [r for r in records if r["method"] == FROZEN_PINN]
    paper = ours[0]["paper"] if ours else {"rel_l2": None, "seconds": None}
    parts = [f"{paper['rel_l2']:.1e}" if paper["rel_l2"] is not None else ""]
    parts += [f"{paper['seconds']:.3g} s" if paper["seconds"] is not None else ""]
    return ", ".join(part for part in parts if part) or _NOTHING
