"""What a benchmark run leaves behind, in a form that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from frozenpinn.errors import SettingsError

Record = Mapping[str, Any]
_PARTS = ("records", "diagrams", "figures", "machine")


@dataclass(frozen=True)
class Results:
    """The data of a report.

    Attributes
    ----------
    records
        One entry per case, variant, method and recipe, as :mod:`frozenpinn_lab.runner` writes them. Optional
        keys: ``title`` of the case, ``tol``, ``verdict``, ``budget`` in seconds, ``stopped`` (one truth value per
        seed: cut at its budget), ``command`` that repeats the row, ``note``, ``trivial``.
    diagrams
        Error against time: ``{"case", "title", "curves": [{"method", "recipe", "points": [{"seconds", "rel_l2",
        "label"}]}]}``.
    figures
        Pictures of studies: ``{"title", "caption", "svg" (text) or "png" (base64 text), "command"}``.
    machine
        What :func:`frozenpinn_lab.page.describe_machine` returns.
    """

    records: Sequence[Record]
    diagrams: Sequence[Record] = ()
    figures: Sequence[Record] = ()
    machine: Record = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, record in enumerate(self.records):
            missing = [key for key in ("case", "method") if not isinstance(record.get(key), str)]
            if missing:
                raise SettingsError(f"record {number} of the results has no {' and no '.join(missing)}.")
        for number, diagram in enumerate(self.diagrams):
            if "case" not in diagram or "curves" not in diagram:
                raise SettingsError(f"diagram {number} of the results needs 'case' and 'curves'.")
        for number, figure in enumerate(self.figures):
            if not (figure.get("svg") or figure.get("png")):
                raise SettingsError(f"figure {number} of the results needs 'svg' (text) or 'png' (base64 text).")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Results:
        """Read what :meth:`as_dict` wrote; parts may be missing, unknown ones are refused."""
        unknown = sorted(set(data) - set(_PARTS))
        if unknown:
            raise SettingsError(f"results have the parts {', '.join(_PARTS)}, not {', '.join(unknown)}.")
        lists = {name: tuple(data.get(name) or ()) for name in _PARTS[:3]}
        return cls(**lists, machine=dict(data.get("machine") or {}))

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and dictionaries, ready for :func:`json.dump`."""
        return {
            "records": [dict(record) for record in self.records],
            "diagrams": [dict(diagram) for diagram in self.diagrams],
            "figures": [dict(figure) for figure in self.figures],
            "machine": dict(self.machine),
        }
