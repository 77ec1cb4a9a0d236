"""Calibration of error estimates: the problems are well posed and various, the bars are counted rightly."""

import json
import math
import warnings
from collections import Counter

import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn_lab.calibration import (
    GROUPS,
    SEEDS,
    collection,
    describe,
    draft,
    manufactured,
    static_collection,
    static_describe,
    static_draft,
    static_generated,
    static_manufactured,
)
from frozenpinn_lab.calibration.entry import ROUND_OFF
from frozenpinn_lab.studies import STUDIES, calibration, find_study, plot_study

ENTRIES = collection()
FEW = ("heat, Robin", "advection", "generated 14")
#: Their initial values jump or have a corner, which a check may tell.
ROUGH = ("heat from a jump", "heat from a corner")


def quiet(_):
    """Tell nobody."""


def some(entries, group):
    """Return the entries of a group; of the generated ones, which all come about in the same way, a third."""
    found = [entry for entry in entries.values() if entry.group == group]
    return found[::3] if group == "generated" else found


# ---- the problems ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", GROUPS)
def test_problems_are_well_posed_and_their_solutions_solve_them(group):
    """A statement warns if its exact solution misses equation, initial or boundary values; warnings are errors."""
    linear = []
    for entry in some(ENTRIES, group):
        problem = entry.build()
        linear.append(problem.is_linear)
        assert set(problem.exact) >= set(problem.evolving or problem.fields), entry.name
        if entry.name not in ROUGH:
            fp.check(problem)
        assert entry.test_points is None or entry.test_points(problem).shape[1] == problem.domain.dimension
    assert len(linear) / 4 < sum(linear) < len(linear) * 9 / 10, "there are problems of both kinds"


def test_numbers_of_problems():
    counts = Counter(entry.group for entry in ENTRIES.values())
    assert counts["case"] >= 20
    assert counts["test"] >= 40
    assert counts["generated"] == len(SEEDS) >= 40
    assert all(ROUND_OFF <= entry.accuracy <= 1e-8 for entry in ENTRIES.values())


def test_cases_are_there_once():
    names = [name for name, entry in ENTRIES.items() if entry.group == "case"]
    assert "advection" in names
    assert "advection-fast, beta=10000" in names
    assert "advection-fast, beta=40" not in names, "the same as the first"
    assert not any("all directions" in name for name in names), "another setting, not another problem"
    assert "kuramoto-sivashinsky-long" not in names


@pytest.mark.parametrize("seed", [4, 13, 34])
def test_the_generator_repeats_itself(seed):
    first = manufactured(seed)
    text = describe(seed)
    draft.cache_clear()
    second = manufactured(seed)
    assert describe(seed) == text
    assert [str(e) for e in first.equations] == [str(e) for e in second.equations]
    assert (first.time, str(first.given)) == (second.time, str(second.given))
    assert draft(seed).exact != draft(seed + 1).exact


def test_the_generator_is_various():
    drafts = [draft(seed) for seed in SEEDS]
    dimensions = Counter(d.region.domain.dimension for d in drafts)
    assert dimensions[1] == len(SEEDS) // 2
    assert dimensions[2] >= 8
    assert dimensions[3] >= 3
    assert min(dimensions[d] for d in (4, 5, 6)) >= 1
    assert {(d.kind.order, d.kind.spatial) for d in drafts} == {(1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 4)}
    assert sum(len(d.kind.fields) == 2 for d in drafts) >= 5
    boundaries = Counter(d.boundary for d in drafts)
    for kind in ("periodic", "Dirichlet", "Neumann", "Robin", "mixed", "inflow"):
        assert boundaries[kind] >= 2, kind
    assert boundaries["supported"] + boundaries["clamped"] >= 2
    assert {d.region.kind for d in drafts} == {"interval", "box", "ball", "annulus", "polygon"}
    amplitudes = [d.amplitude for d in drafts]
    assert min(amplitudes) < 3e-3
    assert max(amplitudes) > 3e2
    profiles = [p for d in drafts for p in d.profiles.values()]
    assert len({p.shape for p in profiles}) == 5
    assert len({p.behaviour for p in profiles}) == 4
    assert len({d.kind.name for d in drafts}) == 18


# ---- bars -----------------------------------------------------------------------------------------------------------


def run_of(error, estimate, tol=1e-6, status="converged", group="test", accuracy=0.0):
    found = None if error is None else calibration.ratio(error, estimate, accuracy)
    return {
        "problem": "p", "group": group, "about": "", "tol": tol, "seed": 0, "error": error, "estimate": estimate,
        "ratio": found, "status": status, "seconds": 1.0, "accuracy": accuracy, "failures": [],
    }  # fmt: skip


def verdicts(runs):
    return [(row["status"], row["ratio"]) for row in calibration.bars(runs)]


def test_bars_that_hold():
    runs = [run_of(1e-7, 2e-7)] * 18 + [run_of(1e-9, 2e-8), run_of(2e-6, 4e-7)]
    within, least, met, worst = verdicts(runs)
    assert within == ("holds", 0.95)
    assert least == ("holds", pytest.approx(0.2))
    assert met == ("holds", 0.95)
    assert worst == ("holds", pytest.approx(2.0))


def test_bars_that_are_missed():
    runs = [run_of(1e-7, 2e-7)] * 8 + [run_of(4e-6, 3e-7), run_of(5e-6, 4e-6)]
    within, least, met, worst = calibration.bars(runs)
    assert (within["status"], within["ratio"]) == ("missed", 0.9)
    assert (least["status"], least["ratio"]) == ("missed", pytest.approx(0.075))
    assert (met["status"], met["ratio"]) == ("missed", 0.8)
    assert (worst["status"], worst["ratio"]) == ("missed", pytest.approx(5.0))
    assert within["failures"] == ["share of estimates within a factor of 10 (at least 0.95): 0.9"]


def test_runs_that_reach_less_are_not_held_to_their_tolerance():
    runs = [run_of(1e-7, 1e-7), run_of(1e-2, 1e-2, status="reached")]
    assert [status for status, _ in verdicts(runs)] == ["holds"] * 4


def test_a_missing_estimate_is_not_within_and_a_failed_run_is_no_run():
    runs = [run_of(1e-7, 1e-7), run_of(1e-7, math.nan), run_of(None, None)]
    assert calibration.bars(runs)[0]["ratio"] == 0.5
    assert all(row["ratio"] is None and row["status"] == "holds" for row in calibration.bars([run_of(None, None)]))


def test_bars_by_group():
    runs = [run_of(1e-7, 1e-7, group="case"), run_of(1e-7, 1e-5, group="generated")]
    assert calibration.bars(runs)[0]["by_group"] == {"case": 1.0, "test": None, "generated": 0.0}


@pytest.mark.parametrize(
    ("error", "estimate", "accuracy", "expected"),
    [
        (1e-6, 3e-6, 0, 3.0),
        (1e-8, 1e-9, 1e-8, 1.0),  # the reference is not better than that
        (1e-8, 1e-9, 5e-9, 0.2),
        (1e-15, 2.02e-12, 2e-13, 2.02e-12 / 2.01e-13),
        (0.0, 0.0, 0, 1.0),
        (1e-6, math.nan, 0, None),
    ],
)
def test_ratio(error, estimate, accuracy, expected):
    assert calibration.ratio(error, estimate, accuracy) == (None if expected is None else pytest.approx(expected))


# ---- runs -----------------------------------------------------------------------------------------------------------


def test_tolerances_go_round_and_respect_the_reference():
    jobs = list(calibration._jobs(3, ["advection", "heat, Robin", "allen-cahn"]))
    assert [job.tol for job in jobs] == [1e-3, 1e-6, 1e-9, 1e-6, 1e-9, 1e-3, 1e-3, 1e-6, 1e-3]
    assert [job.seed for job in jobs] == [0, 1, 2] * 3
    alone = [job.tol for job in calibration._jobs(1, list(ENTRIES)[:3])]
    assert alone == [1e-3, 1e-6, 1e-9]


def test_failures_are_rows_with_their_reason(monkeypatch):
    def fail(*_, **__):
        raise fp.IntegrationError("stopped")

    monkeypatch.setattr(calibration, "solve", fail)
    row = calibration.measure(calibration.CalibrationRun("advection", 1e-3, 1))
    assert row["error"] is row["estimate"] is row["ratio"] is None
    assert row["failures"] == ["advection, tol = 0.001, seed 1: stopped"]


def test_end_to_end(monkeypatch, tmp_path):
    told = []

    def few(seeds, announce):
        return calibration.rows(seeds, lambda text: (told.append(text), announce(text)), FEW, workers=1)

    monkeypatch.setitem(STUDIES, "calibration", type(calibration.STUDY)(**{**vars(calibration.STUDY), "rows": few}))
    plot, table = tmp_path / "c.svg", tmp_path / "c.json"
    command = ["study", "calibration", "--seeds", "1", "--plot", str(plot), "--json", str(table)]
    result = CliRunner().invoke(cli.app, command, catch_exceptions=False)
    assert result.exit_code == 0
    found = json.loads(table.read_text(encoding="utf-8"))["rows"]
    runs, bars = found[:3], found[3:]
    assert [run["problem"] for run in runs] == list(FEW)
    assert [run["tol"] for run in runs] == [1e-3, 1e-6, 1e-9]
    assert runs[2]["about"] == describe(14)
    assert all(run["error"] < 1e-4 and run["estimate"] < 1e-3 and run["seconds"] > 0 for run in runs)
    assert [bar["group"] for bar in bars] == ["bar"] * 4
    assert len(told) == 3
    assert told[0].startswith("1 of 3: heat, Robin")
    lines = result.stdout.splitlines()
    assert lines[0].split() == [*calibration.STUDY.columns]
    assert lines[1].startswith("heat, Robin")
    text = plot.read_text(encoding="utf-8")
    for label in ("true relative L² error", "estimated relative L² error", "estimated against true errors"):
        assert f"<!-- {label} -->" in text


def test_runs_in_other_processes_are_the_same():
    here, there = (calibration.rows(1, quiet, FEW[:2], workers) for workers in (1, 2))
    for a, b in zip(here, there, strict=True):
        assert {**a, "seconds": None} == {**b, "seconds": None}


def test_plot_of_groups_and_statuses(tmp_path):
    runs = [run_of(1e-7, 2e-7, group=g, status=s) for g in GROUPS for s in ("converged", "reached")]
    runs += [run_of(0.0, 1e-15), run_of(None, None)]
    study = find_study("calibration")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_study(study, [*runs, *calibration.bars(runs)], str(tmp_path / "c.svg"))
        plot_study(study, [], str(tmp_path / "empty.png"))
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    for group in GROUPS:
        assert f"<!-- {group}, converged -->" in text
        assert f"<!-- {group}, reached -->" in text


def test_the_table_shows_words_numbers_and_gaps():
    study = find_study("calibration")
    cells = study.cells(run_of(None, None, status=None))
    assert cells == ["p", "", "1e-06", "–", "–", "–", "–", "1", "0"]
    assert study.cells(run_of(1e-7, 2e-7))[3:7] == ["1e-07", "2e-07", "2", "converged"]


# ---- static problems ------------------------------------------------------------------------------------------------

STATIC = static_collection()


@pytest.mark.parametrize("group", ["test", "generated"])
def test_static_problems_are_well_posed_and_their_solutions_solve_them(group):
    linear = []
    assert sum(entry.group == group for entry in STATIC.values()) >= 30
    for entry in some(STATIC, group):
        problem = entry.build()
        assert problem.is_static
        assert set(problem.exact) >= set(problem.evolving or problem.fields), entry.name
        fp.check(problem)
        linear.append(problem.is_linear)
    assert len(linear) / 4 < sum(linear) < len(linear)


def test_static_problems_are_various():
    drafts = [static_draft(seed) for seed in static_generated.SEEDS]
    dimensions = Counter(d.region.domain.dimension for d in drafts)
    assert dimensions[1] >= 8
    assert dimensions[2] >= 15
    assert dimensions[3] >= 4
    assert min(dimensions[4], dimensions[5]) >= 2
    assert {d.boundary for d in drafts} >= {"Dirichlet", "Neumann", "Robin", "mixed", "periodic", "clamped"}
    assert {d.region.kind for d in drafts} >= {"interval", "box", "ball", "annulus", "polygon"}
    assert len({d.kind.name for d in drafts}) == 14
    assert not any(entry.build().is_static for name, entry in ENTRIES.items() if entry.group == "test")
    assert static_manufactured(7) is not static_manufactured(7)
    assert static_describe(7) == "reaction pair, 2-d polygon, Dirichlet, plane wave front, amplitude 53"


def test_static_study():
    study = find_study("static-calibration")
    rows = study.compute(1, quiet, only=["line, Poisson", "line, slopes and mean"])
    runs = [row for row in rows if row["group"] != calibration.BAR]
    assert [run["status"] for run in runs] == ["converged", "converged"]
    assert all(0.1 <= run["ratio"] <= 10 for run in runs)
    with pytest.raises(fp.errors.SettingsError, match=r"there is no problem 'line, Poison' here\. Did you mean"):
        study.compute(1, quiet, only=["line, Poison"])
