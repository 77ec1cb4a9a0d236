"""Studies: the numbers behave as they must, and the command writes table, plot and JSON or refuses."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn.benchmarks.burgers import cole_hopf
from frozenpinn.benchmarks.studies import STUDIES, Study, find_study, kappa, plot_study, snapshot

FOLLOWING = ("swim", "swim_uniform_pairs", "multi_scale_by_slope")
AGNOSTIC = ("elm", "multi_scale", "fourier", "chebyshev")


def fitted(name, functions, seeds=3):
    count = 1 if name in snapshot.WITHOUT_CHANCE else seeds
    return np.median([snapshot.BASES[name](functions, np.random.default_rng(s)).error for s in range(count)])


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(a) for a in arguments], catch_exceptions=False)


# ---- the snapshot ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def at_102():
    """Return the errors with the paper's number of functions."""
    return {name: fitted(name, 102) for name in snapshot.BASES}


@pytest.mark.parametrize("following", FOLLOWING)
@pytest.mark.parametrize("other", AGNOSTIC)
def test_bases_that_follow_the_shock_beat_those_that_do_not(at_102, following, other):
    assert at_102[following] < 1e-2 * at_102[other]


def test_errors_at_the_number_of_functions_of_the_paper(at_102):
    assert at_102["swim"] < 1e-4
    assert max(at_102["swim_uniform_pairs"], at_102["multi_scale_by_slope"]) < 1e-6
    assert min(at_102[name] for name in AGNOSTIC) > 1e-3


@pytest.mark.parametrize("name", [n for n in snapshot.BASES if n != "chebyshev"])  # Runge: equispaced points
def test_more_functions_are_better(name, at_102):
    assert at_102[name] < 0.5 * fitted(name, 25)


def test_fourier_agrees_with_the_best_approximation():
    """The least-squares fit on many points can't be far from the truncated series, whose tail FFT tells."""
    n = 4096
    x = -1 + 2 * np.arange(n) / n
    spectrum = np.abs(np.fft.fft(cole_hopf(x, 0.99)))
    waves = np.abs(np.fft.fftfreq(n, 1 / n))
    tail = np.sqrt(np.sum(spectrum[waves > 50] ** 2) / np.sum(spectrum**2))
    assert fitted("fourier", 101) == pytest.approx(tail, rel=0.1)


def test_chebyshev_agrees_with_its_best_approximation():
    nodes, weights = np.polynomial.legendre.leggauss(4000)
    basis = np.polynomial.legendre.legvander(nodes, 50)  # the same space, orthogonal in L²
    u = cole_hopf(nodes, 0.99)
    best = (basis.T @ (weights * u)) * (np.arange(51) + 0.5)
    missed = np.sqrt(weights @ (u - basis @ best) ** 2 / (weights @ u**2))
    assert fitted("chebyshev", 51) == pytest.approx(missed, rel=0.1)


def test_a_function_in_the_span_is_found(monkeypatch):
    """The fit and its error measure themselves: sin πx is a Fourier function."""
    monkeypatch.setattr(snapshot, "target", lambda x: np.sin(np.pi * x))
    monkeypatch.setattr(
        snapshot, "unseen", lambda: (np.linspace(-0.9, 0.9, 77), np.sin(np.pi * np.linspace(-0.9, 0.9, 77)))
    )
    assert fitted("fourier", 13) < 1e-13
    assert fitted("chebyshev", 25) < 1e-11
    assert fitted("elm", 51) < 1e-3  # steep neurons are not made for it


def test_errors_are_measured_where_no_fit_has_looked():
    x, values = snapshot.unseen()
    fits = [snapshot.equispaced(), *(snapshot.resampled(np.random.default_rng(s)) for s in range(3))]
    for points in fits:
        assert not np.any(np.isin(x, points.x))
    assert np.sum(np.abs(x) < 0.02) > 50, "the shock is seen"
    np.testing.assert_allclose(values, cole_hopf(x, 0.99, nodes=240), atol=1e-13)


def test_points_follow_the_slope():
    x = snapshot.resampled(np.random.default_rng(0)).x[:, 0]
    u = cole_hopf(np.array([-0.05, 0.05]), 0.99)
    total = 4 * np.max(np.abs(cole_hopf(np.linspace(-1, 1, 20001), 0.99)))  # up, down through the shock, up
    assert np.mean(np.abs(x) < 0.05) == pytest.approx(abs(u[1] - u[0]) / total, abs=0.04)


def test_shares_of_the_variation_go_straight_on_beyond_the_ends():
    step = np.diff(snapshot.by_slope(np.array([-0.2, -0.1, 0.0])))
    assert snapshot.by_slope(np.array([0.0, 0.5, 1.0])) == pytest.approx([-1.0, 0.0, 1.0], abs=1e-9)
    assert step[0] == pytest.approx(step[1])
    assert np.all(step > 0)


def test_rows_are_the_same_each_time_and_told(monkeypatch):
    monkeypatch.setattr(snapshot, "FUNCTIONS", (7, 13))
    told = []
    first, second = snapshot.rows(2, told.append), snapshot.rows(2, lambda _: None)
    assert first == second
    assert len(told) == 2 * len(snapshot.BASES)
    assert told[0] == "7 functions, swim"
    for row in first:
        assert all(1 <= kept <= row["functions"] for kept in row["kept"].values())


# ---- penalty --------------------------------------------------------------------------------------------------------


def test_a_failure_is_a_row_without_values(monkeypatch):
    def fail(*_, **__):
        raise fp.IntegrationError("stopped")

    monkeypatch.setattr(kappa, "solve", fail)
    rows = kappa.rows(2, lambda _: None)
    assert all(row["total_rmse"] is None and row["failures"] == ["stopped", "stopped"] for row in rows)


# ---- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(snapshot, "FUNCTIONS", (7, 13))


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_study_end_to_end(small, tmp_path, suffix, magic):
    plot, table = tmp_path / f"study.{suffix}", tmp_path / "study.json"
    result = run("study", "snapshot", "--seeds", 1, "--plot", plot, "--json", table)
    assert result.exit_code == 0
    document = json.loads(table.read_text(encoding="utf-8"))
    assert document["study"] == "snapshot"
    assert [row["functions"] for row in document["rows"]] == [7, 13]
    assert set(snapshot.BASES) < set(document["rows"][0])
    assert plot.read_bytes().startswith(magic)
    lines = result.stdout.splitlines()
    assert lines[0].split()[:3] == ["functions", "swim", "elm"]
    assert float(lines[2].split()[1]) == pytest.approx(document["rows"][1]["swim"], rel=1e-2)


def test_json_to_standard_output_is_nothing_but_json(small):
    result = run("study", "snapshot", "--seeds", 1, "--json", "-")
    assert json.loads(result.stdout)["rows"][0]["functions"] == 7


def test_plot_has_labels_and_distinct_curves(tmp_path):
    study = find_study("snapshot")
    rows = [{"functions": n, "failures": []} | dict.fromkeys(study.quantities, 1 / n) for n in (1, 10)]
    rows[0]["swim"] = None
    plot_study(study, rows, str(tmp_path / "study.svg"))
    text = (tmp_path / "study.svg").read_text(encoding="utf-8")
    for label in ("relative L² error on unseen points", "functions", study.title, "multi scale by slope"):
        assert f"<!-- {label} -->" in text


def test_plot_survives_quantities_without_any_value(tmp_path):
    study = Study("s", "title", "n", ("a", "b"), lambda *_: [])
    plot_study(study, [{"n": 1, "a": None, "b": 2.0, "failures": ["x"]}], str(tmp_path / "s.png"))
    assert (tmp_path / "s.png").exists()


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_named_in_the_help(name):
    assert name in run("study", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("snapshto",), r"unknown study 'snapshto'\. Did you mean 'snapshot'\? The studies are 'kappa', 'snapshot'\."),
        (("xyz",), r"unknown study 'xyz'\. The studies are 'kappa', 'snapshot'\."),
        (("snapshot", "--plot", "nowhere/s.png"), "there is no folder 'nowhere'"),
        (("snapshot", "--plot", "s.picture"), "the file must end in one of"),
        (("snapshot", "--json", "nowhere/s.json"), "there is no folder 'nowhere'"),
    ],
)
def test_refusals_come_before_any_work(arguments, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(snapshot, "FUNCTIONS", ())
    with pytest.raises(fp.SettingsError, match=message):
        run("study", *arguments)


def test_no_seeds_are_refused():
    assert CliRunner().invoke(cli.app, ["study", "snapshot", "--seeds", "0"]).exit_code == 2
