"""Where finished runs of a report are kept, and the diagrams that are made of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from frozenpinn_lab.cases import CASES
from frozenpinn_lab.cases.case import AUTO, METHODS
from frozenpinn_lab.peers.methods import PINNS
from frozenpinn_lab.runner import Record

_KINDS = ("line", "point", "figure")


@dataclass
class Store:
    """Finished tasks in a file, one JSON text per line; a line that was cut off is ignored.

    ``origin`` tells by what and where tasks are run now; ``others`` are those of tasks that were there already.
    """

    file: Path
    origin: str = ""
    records: dict[str, Record] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        text = self.file.read_text(encoding="utf-8", errors="replace") if self.file.exists() else ""
        self._torn = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                entry = json.loads(line)
                kind, record = json.loads(entry["key"])[0], dict(entry["record"])
            except (ValueError, LookupError, TypeError):
                continue
            if kind in _KINDS:
                self.records[entry["key"]] = record
                self.others |= {str(entry.get("origin", ""))} - {self.origin, ""}

    def of(self, kind: str) -> list[Record]:
        """Return all records of a kind: ``"line"``, ``"point"`` or ``"figure"``."""
        return [record for key, record in self.records.items() if json.loads(key)[0] == kind]

    def lines(self) -> list[Record]:
        """Return the lines of the table in the order of the cases; of those with other seeds, the last."""
        places = {name: place for place, name in enumerate(CASES)}
        latest = {
            (r["case"], r["variant"], r["method"], r["recipe"], r["precision"], r["tol"]): r for r in self.of("line")
        }
        methods = {name: place for place, name in enumerate(METHODS)}
        recipes = {name: place for place, name in enumerate(("best", AUTO, "paper", None))}
        return sorted(
            latest.values(),
            key=lambda r: (places.get(r["case"], len(places)), methods[r["method"]], recipes[r["recipe"]]),
        )

    def recall(self, key: str) -> None:
        """Count a record as the latest: it was asked for again."""
        self.records[key] = self.records.pop(key)

    def forget(self, keys: Iterable[str]) -> None:
        """Leave records out, so that they are made again; on disk the old ones stand until then."""
        for key in keys:
            self.records.pop(key, None)

    def put(self, key: str, record: Record) -> None:
        """Keep a record, on disk at once; what failed for want of a library is tried again next time."""
        self.records[key] = record
        if record.get("missing"):
            return
        with self.file.open("a", encoding="utf-8") as handle:
            if self._torn:  # the last line was cut off
                handle.write("\n")
                self._torn = False
            handle.write(json.dumps({"key": key, "record": record, "origin": self.origin}) + "\n")


def diagrams(store: Store) -> list[Record]:
    """Return the work–precision diagrams: points of one method and recipe form a curve, and so does a training."""
    tables: dict[str, dict[tuple[str, str | None], list[Record]]] = {}
    titles: dict[str, str] = {}
    latest = {(r["case"], r["method"], r["recipe"], r["label"]): r for r in store.of("point")}
    for record in latest.values():
        titles[record["case"]] = record["title"]
        if record["rel_l2"] is not None:
            curves = tables.setdefault(record["case"], {})
            curves.setdefault((record["method"], record["recipe"]), []).append(_point(record))
    for record in store.lines():
        if record["method"] in PINNS and record["case"] in tables and record["seconds"]["values"]:
            tables[record["case"]][record["method"], None] = _training(record)
    return [
        {
            "case": case,
            "title": titles[case],
            "curves": [
                {"method": method, "recipe": recipe, "points": _in_order(method, marks)}
                for (method, recipe), marks in curves.items()
            ],
        }
        for case, curves in tables.items()
    ]


def _in_order(method: str, marks: list[Record]) -> list[Record]:
    """Sort a training by time, and a ladder from coarse to fine: small solves differ in milliseconds of noise."""
    if method in PINNS:
        return sorted(marks, key=lambda mark: mark["seconds"])
    return sorted(marks, key=lambda mark: -mark["rel_l2"])


def _point(record: Record) -> Record:
    return {name: record[name] for name in ("seconds", "rel_l2", "label")}


def _training(record: Record) -> list[Record]:
    """Return the course of a training, and where it ended (the first seed of several)."""
    end, error = record["seconds"]["values"][0], record["rel_l2"]["values"][0]
    steps = [(t, e, f"after {t:.0f} s") for t, e in record["curve"] if t < end]
    return [{"seconds": t, "rel_l2": e, "label": label} for t, e, label in (*steps, (end, error, "end"))]
