"""How often 95 % intervals contain the truth, over many draws of noise, with its size given and estimated."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from frozenpinn.errors import FrozenPinnError
from frozenpinn.inverse.infer import infer
from frozenpinn.inverse.result import Inferred
from frozenpinn_lab.cases.inverse import CASES
from frozenpinn_lab.cases.inverse_rough import ROUGH
from frozenpinn_lab.studies.inverse import covered, error_of
from frozenpinn_lab.studies.study import Announce, Row, Study, finish

DRAWS = 200  # of noise for each seed of the networks; the standard deviation of a share of 95 % is then 1.5 %
_FEW = 100  # draws for a field, of which each is seen at 500 points


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return two rows per case: noise given, and estimated."""
    return [_row(name, told, seeds, announce) for name in (*CASES, *ROUGH) for told in (True, False)]


def _row(name: str, told: bool, seeds: int, announce: Announce) -> Row:
    case, hits, errors = (CASES | ROUGH)[name], [], []
    label = f"{name.removeprefix('inverse-')}, σ {'given' if told else 'estimated'}"
    row: dict[str, Any] = {"case": label, "failures": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(seeds):
            announce(label)
            first: Inferred | None = None
            for draw in range(_FEW if case.field else DRAWS):
                data = case.data(seed + 1000 * draw, True, told)
                try:
                    found = infer(case.problem(), data, seed=seed) if first is None else first.again(data)
                except FrozenPinnError as error:
                    row["failures"].append(str(error))
                    continue
                first = found if first is None else first
                hits.append(covered(case, found))
                errors.append(error_of(case, found))
    return row | {
        "coverage": float(np.min(np.mean(hits, axis=0))),
        "most": float(np.max(np.mean(hits, axis=0))),
        "draws": len(hits),
        "error": float(np.median(errors)),
    }


def _draw(table: list[Row], figure: Any) -> None:
    """Draw the share of intervals that contain the truth, for the unknowns where it is least and most."""
    axis = figure.subplots()
    places = range(len(table))
    axis.hlines(places, [100 * r["coverage"] for r in table], [100 * r["most"] for r in table], color="#0072B2")
    axis.plot(
        [100 * r["coverage"] for r in table], places, "o", color="#0072B2", label="least and most of all unknowns"
    )
    axis.plot([100 * r["most"] for r in table], places, "o", color="#0072B2")
    axis.axvline(95, color="black", lw=0.8)
    axis.axvspan(90, 99, color="0.93")
    axis.set_yticks(places, labels=[r["case"] for r in table])
    axis.invert_yaxis()
    finish(axis, xlabel="intervals that contain the truth, %")


STUDY = Study(
    "coverage",
    "how often 95 % intervals contain the truth",
    "case",
    ("coverage", "most"),
    rows,
    details=("draws", "error"),
    draw=_draw,
    size=(8, 6),
)
