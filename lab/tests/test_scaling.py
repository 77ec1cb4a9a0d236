"""The study of scaling: sizes are read, right-hand sides measured, exponents fitted."""

import tracemalloc

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.studies import find_study, plot_study, scaling


def quiet(_):
    """Tell nobody."""


def test_sizes_are_measured_and_drawn(tmp_path):
    rows = scaling.rows(1, quiet, ["8x8", "4x4x4", "6x6"])
    assert [row["size"] for row in rows] == [
        "6 × 6",
        "8 × 8",
        "fit in 2 dimensions",
        "4 × 4 × 4",
        "fit in 3 dimensions",
    ]
    small, large, fitted, solid, alone = rows
    assert small["unknowns"] < large["unknowns"] <= large["points"]
    assert solid["points"] >= solid["unknowns"] > 1
    for row in (small, large, solid):
        assert row["failures"] == []
        assert row["seconds"] > 0
        assert row["memory"] > 1, "state and values are among what is allocated"
    assert (fitted["law"], alone["law"]) == (1.5, 1 + 1 / 3)
    assert np.isfinite(fitted["exponent"])
    assert alone["exponent"] is None, "one size has no slope"
    assert not tracemalloc.is_tracing()
    plot_study(find_study("scaling"), rows, str(tmp_path / "s.svg"))
    text = (tmp_path / "s.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {label} -->" in text for label in ("N^1.50", "N^1.33", "3 dimensions", "unknowns N"))


def test_the_exponent_is_that_of_the_larger_half():
    counts = np.array([10, 100, 1000, 10000])
    seconds = np.maximum(1e-4, 1e-8 * counts**1.5)
    found = [{"dimension": 2, "unknowns": int(n), "seconds": float(s)} for n, s in zip(counts, seconds, strict=True)]
    missing = {"dimension": 2, "unknowns": None, "seconds": None}
    assert scaling.fit([*found, missing])["exponent"] == pytest.approx(1.5)


def test_a_failure_is_a_row_with_its_reason(monkeypatch, tmp_path):
    def fail(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(scaling, "solve", fail)
    row, fitted = scaling.rows(1, quiet, ["6x6"])
    assert row["failures"] == ["6 × 6, seed 0: MemoryError: no room"]
    assert (row["seconds"], fitted["exponent"]) == (None, None)
    assert not tracemalloc.is_tracing()
    plot_study(find_study("scaling"), [row, fitted], str(tmp_path / "s.png"))


@pytest.mark.parametrize("text", ["64", "0x4", "4x", "4x4x4x4", "a x b"])
def test_sizes_that_are_none_are_refused(text):
    with pytest.raises(fp.SettingsError, match=f"two or three numbers of neurons such as 64x64 or .*, got '{text}'"):
        scaling.rows(1, quiet, [text])
