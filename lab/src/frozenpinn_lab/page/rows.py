"""Records read once: the numbers of each row, how it ended, and its time against ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from frozenpinn_lab.page.methods import Look, look_of, order_of
from frozenpinn_lab.page.numbers import error_text, finite, seconds_text

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """One record as the page shows it.

    Attributes
    ----------
    ratio
        Seconds of this row over those of our recipe ``best`` for the same case, variant and precision; None where
        there is none. A stopped run would have taken longer: its ratio is a lower bound.
    better
        Whether our recipe ``best`` is there at least as accurate; None where that cannot be told.
    """

    record: Record
    look: Look
    error: float | None
    spread: float | None
    seconds: float | None
    estimate: float | None
    published_error: float | None
    published_seconds: float | None
    ratio: float | None = None
    better: bool | None = None

    @property
    def case(self) -> str:
        """Name of the case."""
        return str(self.record["case"])

    @property
    def variant(self) -> str:
        """Member of a sweep; empty if there is only one."""
        return str(self.record.get("variant") or "")

    @property
    def failed(self) -> bool:
        """Whether at least one seed failed."""
        return self.record.get("status", "ok") != "ok"

    @property
    def stopped(self) -> bool:
        """Whether at least one seed was cut at its budget."""
        return any(self.record.get("stopped") or ())

    @property
    def stopped_text(self) -> str:
        """What is said of runs that were cut; empty if none was."""
        flags = list(self.record.get("stopped") or ())
        if not any(flags):
            return ""
        cut = _values(self.record, "seconds", flags)
        after = finite(self.record.get("budget")) if not cut else cut[0]
        errors = _values(self.record, "rel_l2", flags)
        who = "stopped" if all(flags) else f"{sum(map(bool, flags))} of {len(flags)} seeds stopped"
        when = "" if after is None else f" after {seconds_text(after)}"
        return f"{who}{when}" + (f" at error {error_text(fmean(errors))}" if errors else "")


def _values(record: Record, key: str, flags: Sequence[Any]) -> list[float]:
    values = (record.get(key) or {}).get("values") or ()
    chosen = [finite(value) for value, flag in zip(values, flags, strict=False) if flag]
    return [value for value in chosen if value is not None]


def _read(record: Record) -> Row:
    error, seconds = record.get("rel_l2") or {}, record.get("seconds") or {}
    estimates = [finite(value) for value in (record.get("estimate") or {}).get("values") or ()]
    known = [value for value in estimates if value is not None]
    paper = record.get("paper") or {}
    return Row(
        record,
        look_of(record),
        finite(error.get("mean")),
        finite(error.get("std")),
        finite(seconds.get("median")),
        fmean(known) if known else None,
        finite(paper.get("rel_l2")),
        finite(paper.get("seconds")),
    )


def read_rows(records: Sequence[Record]) -> list[Row]:
    """Read all records, grouped by case and variant in the order in which these appear, ours first."""
    cases: dict[str, int] = {}
    variants: dict[tuple[str, str], int] = {}
    rows = [_read(record) for record in records]
    for row in rows:
        cases.setdefault(row.case, len(cases))
        variants.setdefault((row.case, row.variant), len(variants))
    rows.sort(key=lambda row: (cases[row.case], variants[row.case, row.variant], order_of(row.record)))
    ours = [row for row in rows if row.look.family == "best" and row.seconds and not row.failed]
    return [_compare(row, _partner(row, ours)) for row in rows]


def _partner(row: Row, ours: Sequence[Row]) -> Row | None:
    """Return our row for the same case and variant, of the same precision if there is one."""
    found = [our for our in ours if (our.case, our.variant) == (row.case, row.variant)]
    same = [our for our in found if our.record.get("precision") == row.record.get("precision")]
    if row.look.family == "best":
        return next((our for our in found if our.record is row.record), None)
    return same[0] if same else found[0] if len(found) == 1 else None


def _compare(row: Row, ours: Row | None) -> Row:
    if ours is None or not row.seconds or not ours.seconds or row.failed:
        return row
    known = row.error is not None and ours.error is not None
    better = bool(ours.error <= row.error) if known else None  # type: ignore[operator]
    return Row(**{**vars(row), "ratio": row.seconds / ours.seconds, "better": better})
