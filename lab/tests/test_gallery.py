"""The study of other people's galleries: problems are well posed, rows tell the truth, bad input is refused."""

import json

import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn_lab.studies import find_study, gallery, plot_study
from frozenpinn_lab.studies.gallery_problems import GALLERY

QUICK = ("heat-insulated", "diffusion-heterogeneous")  # one with a formula, one without


def quiet(_):
    """Tell nobody."""


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(a) for a in arguments], catch_exceptions=False)


@pytest.mark.filterwarnings("ignore:.*contradict:frozenpinn.FrozenPinnWarning")
@pytest.mark.parametrize("name", GALLERY)
def test_problems_are_stated_without_objections(name):
    """Warnings are errors in tests, and exact solutions are checked when a problem is stated.

    Galleries do have data that contradict each other.
    """
    findings = fp.check(GALLERY[name].build())
    assert {finding.kind for finding in findings.of("error", "warning")} <= {"contradiction"}


def test_the_gallery_is_large_and_has_eight_sources():
    assert len(GALLERY) > 120
    own = {"py-pde", "FiPy", "PINNacle", "DeepXDE", "scikit-fem", "DOLFINx", "Dedalus", "exponax"}
    assert {problem.source for problem in GALLERY.values()} == own
    assert sum(bool(problem.build().exact) for problem in list(GALLERY.values())[:6]) == 6


@pytest.fixture(scope="module")
def rows():
    return gallery.rows(1, quiet, QUICK, tol=1e-2, time_limit=60.0)


def test_rows_know_the_true_error(rows):
    exact, own, last = rows
    assert (exact["truth"], own["truth"]) == ("exact", "own")
    for row in (exact, own):
        assert row["status"] == "converged"
        assert 0 < row["error"] < 3e-2
        assert row["error"] / 10 < row["estimate"] < 10 * row["error"] + 1e-2
        assert int(row["width"].split(" × ")[0]) > 0
        assert row["failures"] == []
    assert last["problem"] == "2 of 2 converged"
    assert last["seconds"] == pytest.approx(exact["seconds"] + own["seconds"])


def test_progress_is_told(monkeypatch):
    told = []
    row = {"status": "failed", "estimate": None, "error": None, "seconds": 1.0, "tol": 1e-4}
    monkeypatch.setattr(gallery, "measure", lambda *_: row)
    gallery.rows(2, told.append, QUICK[:1])
    assert told == [
        "1 of 2: heat-insulated, seed 0",
        "heat-insulated: failed, 1.0 s",
        "2 of 2: heat-insulated, seed 1",
        "heat-insulated: failed, 1.0 s",
    ]


@pytest.mark.parametrize("error", [fp.IntegrationError("stopped"), MemoryError("no room")])
def test_a_failure_is_a_row_with_its_reason(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(gallery, "solve", fail)
    row, last = gallery.rows(1, quiet, QUICK[:1])
    reason = "stopped" if isinstance(error, fp.IntegrationError) else "MemoryError: no room"
    assert row["status"] == "failed"
    assert row["failures"] == [f"heat-insulated, seed 0, failed: {reason}"]
    assert last["problem"] == "0 of 1 converged"


def test_what_has_not_converged_says_why_and_false_claims_are_told():
    row = {"status": "reached", "error": None, "tol": 1e-4}
    assert gallery._objections(row, "too slow") == ["reached: too slow"]
    row = {"status": "converged", "error": 2e-4, "tol": 1e-4}
    assert gallery._objections(row, "") == []
    assert gallery._objections(row | {"error": 5e-4}, "") == ["converged, but its true error is 0.0005"]


def test_a_missing_truth_says_why(monkeypatch):
    problem = GALLERY[QUICK[1]].build()
    solution = fp.solve(problem, tol=1e-1)
    assert solution.status == "converged"
    monkeypatch.setattr(gallery, "_solved", lambda *_: (None, "stopped"))
    assert gallery._true_error(solution, 0, 1e-1, 9.0) == {"no_truth": "the finer solution failed: stopped"}
    monkeypatch.setattr(gallery, "_solved", lambda *_: (solution, "slow"))
    known = solution.error_estimate.worst
    assert gallery._true_error(solution, 0, known, 9.0) == {"no_truth": f"the finer solution has {known:.1e}: slow"}
    unjudged = fp.solve(problem, settings=fp.Settings(width=12))
    expected = {"no_truth": "unchecked, so that no finer solution was asked for"}
    assert gallery._true_error(unjudged, 0, 1e-4, 9.0) == expected


def test_the_command_takes_names_tolerance_and_limit(tmp_path):
    files = [tmp_path / name for name in ("g.json", "g.csv", "g.svg")]
    options = ["--json", files[0], "--csv", files[1], "--plot", files[2]]
    result = run("study", "gallery", "--seeds", 1, "--only", QUICK[0], "--tol", 1e-1, "--time-limit", 9, *options)
    assert result.exit_code == 0
    assert "1 of 1 converged" in result.output
    row, last = json.loads(files[0].read_text(encoding="utf-8"))["rows"]
    assert (row["problem"], row["tol"], last["status"]) == (QUICK[0], 1e-1, "100 %")
    assert f"<!-- {QUICK[0]} -->" in files[2].read_text(encoding="utf-8")


def test_runs_without_values_are_drawn(tmp_path, rows):
    empty = rows[0] | {"status": "failed", "estimate": None, "error": None}
    plot_study(find_study("gallery"), [empty, rows[-1]], str(tmp_path / "g.png"))
    plot_study(find_study("gallery"), [gallery.summary([])], str(tmp_path / "e.png"))
    assert (tmp_path / "g.png").exists()


def test_unknown_problems_are_refused():
    with pytest.raises(
        fp.SettingsError, match=r"unknown problem 'heat-tours' of the gallery\. Did you mean 'heat-torus'"
    ):
        gallery.rows(1, quiet, ["heat-tours"])


def test_options_of_other_studies_are_refused():
    with pytest.raises(fp.SettingsError, match="'bases' does not know --tol; it takes no such options"):
        find_study("bases").compute(1, quiet, tol=1e-3)
    with pytest.raises(fp.SettingsError, match="'scaling' does not know --time-limit; it takes '--size'"):
        find_study("scaling").compute(1, quiet, time_limit=3.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"tol": -1.0}, "tol must lie between 0 and 1"), ({"time_limit": 0.0}, "time_limit is a positive number")],
)
def test_bad_limits_are_refused_before_any_solve(monkeypatch, options, message):
    monkeypatch.setattr(gallery, "measure", None)
    with pytest.raises(fp.SettingsError, match=message):
        gallery.rows(1, quiet, **options)
