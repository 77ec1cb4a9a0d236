"""The census of decisions, on tiny problems."""

import json

import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import SettingsError
from frozenpinn_lab.cli import app
from frozenpinn_lab.studies import census as study

HEAT = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0", exact="exp(-pi^2*t)*sin(pi*x)")
RING = fp.Problem("lap(u) = -1", fp.Disk() - fp.Disk((0.3, 0), 0.2), boundary="u = 0")
BACKWARD = fp.Problem("u_t = -u_xx", fp.Interval(0, 1), (0, 10), "sin(pi*x)", "u = 0")


@pytest.fixture
def small(monkeypatch):
    """Put two small collections in place of all."""

    def of(**problems):
        return lambda: ((name, study._solved(lambda p=p: p)) for name, p in problems.items())

    monkeypatch.setattr(study, "COLLECTIONS", {"one": of(heat=HEAT, ring=RING), "other": of(backward=BACKWARD)})


def test_decisions_are_counted_and_left_out(small, tmp_path):
    kept, told = tmp_path / "kept.jsonl", []
    rows = study.census(told.append, study.jobs(), ["holes"], 1e-3, 2.0, kept)
    assert [(row["problem"], row["without"], row["status"]) for row in rows] == [
        ("heat", None, "converged"),
        ("ring", None, "converged"),
        ("backward", None, "failed"),
        ("ring", "holes", "converged"),
    ]
    counts = {row["decision"]: row for row in study.counted(rows)}
    assert counts["closed form"]["problems"] == 1
    assert counts["holes"] | {"slower": 1} == {
        "decision": "holes",
        "problems": 1,
        "times": 1,
        "collections": "one 1",
        "tried": 1,
        "worse": counts["holes"]["worse"],
        "better": 0,
        "slower": 1,
        "faster": 0,
        "lost": 0,
        "gained": 0,
        "broken": 0,
    }
    assert len(told) == 4
    assert study.census(told.append, study.jobs(), ["holes"], 1e-3, 2.0, kept) == rows
    assert len(told) == 4
    kept.write_text(kept.read_text()[:-10])  # cut off
    assert study.census(told.append, study.jobs(["one"]), [], 1e-3, 2.0, kept) == rows[:2]


def test_the_command(small):
    found = CliRunner().invoke(app, ["census", "one", "--only", "heat", "--tol", "1e-3", "--json", "-"])
    table = json.loads(found.stdout)
    assert [row["problem"] for row in table["solves"]] == ["heat"]
    assert {"decision": "closed form", "problems": 1}.items() <= next(
        row for row in table["counts"] if row["decision"] == "closed form"
    ).items()
    shown = CliRunner().invoke(app, ["census", "one", "--only", "heat", "--each"])
    assert "1 problems, 0 solves failed" in shown.stdout


@pytest.mark.parametrize(
    ("decisions", "group", "problem"),
    [
        (["stable cut-off"], "calibration", "advection-long"),
        (["trial of products"], "gallery", "burgers"),
        (["following basis", "initial slopes"], "calibration", "Burgers front, ν = 0.01"),
        (["growing distance"], "nasty", "unstable 0"),
        (["errors of steps"], "calibration", "reaction"),
        (["chaos"], "nasty", "exponential blow up 0"),
        (["resolved axes"], "gallery", "heat-half-periodic"),
        (["rejected subspace"], "calibration", "wave-3d, damped"),
        (["imbalance"], "calibration", "heat, switched source"),
        (["units"], "calibration", "weakly coupled"),
        (["stretched waves"], "static-calibration", "generated 36"),
        (["blind residuals"], "static-calibration", "square, resonance 1e-2"),
        (["missed data"], "gallery", "static-robin"),
        (["missed forcing", "unresolved features"], "nasty", "laser 0"),
        (["integrator fallback"], "nasty", "relaxation 0"),
    ],
)
def test_decisions_of_known_problems(decisions, group, problem):
    (job,) = [job for job in study.jobs([group]) if job.name == problem]
    (row,) = study.census(lambda text: None, [job])
    assert set(decisions) <= row["decisions"].keys()


def test_unknown_collections_are_refused():
    with pytest.raises(SettingsError, match=r"unknown collection 'galery'. Did you mean 'gallery'\? There are"):
        study.jobs(["galery"])


def test_every_collection_has_problems():
    groups = {job.group for job in study.jobs()}
    assert groups == set(study.COLLECTIONS)
