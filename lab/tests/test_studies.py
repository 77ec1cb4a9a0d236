"""Studies: the numbers behave as they must, and the command writes table, plots, JSON and CSV or refuses."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import roots_legendre
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.basis.samplers import ELM
from frozenpinn.cli.demo import cole_hopf
from frozenpinn.inverse import Alternating, Scan
from frozenpinn.inverse.infer import infer
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.high_dimension import box_points, heat, paper_heat
from frozenpinn_lab.studies import (
    STUDIES,
    Study,
    advection_convergence,
    advection_long,
    advection_speed,
    attempts,
    bases,
    burgers_points,
    dimension,
    directions,
    fields,
    find_study,
    half_waves,
    interior_points,
    inverse_ways,
    kappa,
    kuramoto_sivashinsky,
    paper,
    pinn_ablation,
    plot_study,
    rcond,
    runs,
    slices,
    snapshot,
    svd_layer,
    svd_threshold,
    width,
    width_burgers,
    width_heat,
    write_csv,
)

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
    nodes, weights = roots_legendre(4000)
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

    monkeypatch.setattr(attempts, "solve", fail)
    for row in kappa.rows(2, lambda _: None):
        assert row["total_rmse"] is None
        assert row["failures"] == [f"kappa = {row['kappa']:g}, seed {seed}: stopped" for seed in range(2)]


# ---- several dimensions ---------------------------------------------------------------------------------------------


def quiet(_):
    """Tell nobody."""


def test_width_on_the_tree():
    told = []
    small, paper = width.diffusion_rows(1, told.append, (50, 200))
    assert small["width"] == 50
    assert small["ours"] < 1e-3
    assert all(small[name] is None for name in ("swim", "elm_penalty", "published_swim"))
    assert told[0] == "ours, width 50, seed 0"
    assert paper["ours"] < 1e-7, "more neurons, less error"
    assert paper["swim_penalty"] < 1e-3
    assert (paper["published_swim"], paper["published_elm"]) == (1.34e-4, 4.92e-3)
    missing = [name for name in width.DIFFUSION if paper[name] is None]
    assert len(paper["failures"]) == len(missing)
    assert all(any(reason.startswith(f"{name}, width 200") for reason in paper["failures"]) for name in missing)


def test_width_of_the_reaction():
    (row,) = width.reaction_rows(1, quiet, (100,))
    assert row["failures"] == []
    assert row["projected"] < 1e-2
    assert row["projected_penalty"] < row["projected"]
    for suffix in ("", "_penalty"):
        assert 10 * row["projected" + suffix] < row["swim" + suffix] < row["elm" + suffix]
    assert 0.05 < row["projected_penalty"] / row["published_projected"] < 5
    assert row["swim_penalty"] < row["swim"]


def test_interior_points():
    first, second = interior_points.rows(1, quiet, (1000, 1500), width=100)
    assert (first["published_error"], first["published_seconds"]) == (9.99e-5, 12.43)
    assert second["published_error"] is None
    for row in (first, second):
        assert row["error_penalty"] < row["error"] < 1e-1
        assert row["seconds"] > 0
        assert row["failures"] == []


def test_dimension():
    two, ten = dimension.rows(1, quiet, (2, 10), ("default",))
    assert max(two["default"], ten["default"]) < 1e-12
    assert two["published_elm"] is None
    assert (ten["published_elm"], ten["published_accurate_seconds"]) == (4.46e-4, 182.91)
    assert ten["default_seconds"] > 0
    assert ten["elm"] is None


def test_wide_networks_run_once(monkeypatch):
    counts = []
    monkeypatch.setattr(width, "measure", lambda *a: counts.append(a[3]) or runs.Medians())
    rows = width.reaction_rows(3, quiet, (1000, 2000))
    assert counts == [3] * len(width.REACTION) + [1] * len(width.REACTION)
    assert rows[1]["published_elm"] == 1.67e-2


def test_slow_ways_run_once(monkeypatch):
    counts = {}

    def count(_problem, _at, options, seeds, *_):
        counts[str(options)] = seeds
        return runs.Medians()

    monkeypatch.setattr(dimension, "measure", count)
    dimension.rows(3, quiet, (3,))
    assert counts[str(dimension.WAYS["all_directions"])] == 1
    assert counts[str(dimension.WAYS["elm"])] == counts[str(dimension.WAYS["default"])] == 3


SMALL_HEAT = {
    "a": svd_layer.Comparison(
        lambda: _heat_and_points(3), runs.literal(paper_heat(120, 1e-6, 1e-3, points=480)), 22.8, 52.0
    ),
    "b": svd_layer.Comparison(
        lambda: _heat_and_points(10), runs.literal(paper_heat(120, 1e-10, 1e-3, points=480)), 1.4, None
    ),
}


def _heat_and_points(d):
    problem = heat(d)
    return problem, box_points(problem)


def test_svd_layer(monkeypatch):
    monkeypatch.setattr(svd_layer, "SETTINGS", SMALL_HEAT)
    few, many = svd_layer.rows(1, quiet, ("a", "b"))
    assert few["problem"] == "a"
    assert few["width"] == 120
    assert few["kept"] < 60
    assert few["compression"] == 120 / few["kept"]
    assert few["speed_up"] == few["seconds_without"] / few["seconds_with"]
    assert many["kept"] == 121, "nothing to compress, and the constant"
    assert many["error_with"] == pytest.approx(many["error_without"], rel=1e-2)
    assert many["published_speed_up"] is None
    assert few["failures"] == many["failures"] == []


def test_a_run_over_its_budget_is_told_and_no_other_seed_is_tried():
    problem, at = _heat_and_points(3)
    told = []
    found = runs.measure(problem, at, paper_heat(60, 1e-6, 1e-3, points=240), 3, told.append, "slow", budget=0.0)
    assert found.error is None
    assert told == ["slow, seed 0"]
    assert found.failures[0].startswith("slow, seed 0: scipy-lsoda stopped at t = ")
    assert found.failures[0].endswith("more than 0 s. Other seeds were not tried.")


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_measured_values_are_medians():
    problem, at = _heat_and_points(3)
    settings = paper_heat(60, 1e-6, 1e-3, points=240)
    found = runs.measure(problem, at, settings, 3, quiet, "x")
    each = [fp.solve(problem, seed=s, settings=settings).error(at=at)["rel_l2"] for s in range(3)]
    assert found.error == np.median(each)
    assert found.width == 60


def test_failures_do_not_hide_other_seeds(monkeypatch):
    problem, at = _heat_and_points(3)
    real = attempts.solve

    def second_fails(problem, seed, **options):
        if seed == 1:
            raise fp.IntegrationError("stopped")
        return real(problem, seed=seed, **options)

    monkeypatch.setattr(attempts, "solve", second_fails)
    found = runs.measure(problem, at, fp.Settings(), 2, quiet, "x")
    assert found.error < 1e-12
    assert found.failures == ["x, seed 1: stopped"]


def test_penalty_changes_the_boundary_only():
    before = runs.literal(paper_heat(60, 1e-6, 1e-3))
    after = runs.with_penalty(before)
    assert before.boundary == AugmentedODE(0.0)
    assert after == replace(before, boundary=AugmentedODE(runs.PENALTY))


def test_ratio():
    assert runs.ratio(3.0, 2.0) == 1.5
    assert runs.ratio(None, 2.0) is None
    assert runs.ratio(3.0, None) is None


def test_settings_of_the_paper_are_those_of_its_tables():
    settings = {name: s.settings for name, s in svd_layer.SETTINGS.items()}
    assert settings["nonlinear diffusion, elm"].sampler == ELM(300)
    assert settings["reaction 5d, projected"].sampler.width == 400
    heat_settings = settings["heat 3d, elm"]
    assert heat_settings.points / heat_settings.sampler.width == 4


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


def test_columns_and_cells():
    study = Study("s", "title", "name", ("a", "b"), lambda *_: [], beside=("c",), details=("d",))
    assert study.columns == ("name", "d", "a", "b", "c", "failures")
    row = {"name": "x", "a": None, "b": 1234.5, "c": 0.0, "d": 5, "failures": ["y"]}
    assert study.cells(row) == ["x", "5", "–", "1.23e+03", "0", "1"]


def test_plot_of_names_has_bars_and_two_pictures(tmp_path):
    study = find_study("svd-layer")
    rows = [{"problem": n, "failures": []} | dict.fromkeys((*study.quantities, *study.beside), 2.0) for n in "ab"]
    rows[0]["speed_up"] = None
    plot_study(study, rows, str(tmp_path / "s.svg"))
    text = (tmp_path / "s.svg").read_text(encoding="utf-8")
    labels = ("published compression", "speed up", "neurons / functions kept", "seconds without / with", "a", "b")
    for label in (*labels, study.title):
        assert f"<!-- {label} -->" in text


def test_plot_of_a_short_range_shows_its_values(tmp_path):
    study = find_study("dimension")
    rows = [{"dimension": d} | dict.fromkeys((*study.quantities, *study.beside), 0.1) for d in (2, 3, 7)]
    plot_study(study, rows, str(tmp_path / "s.svg"))
    text = (tmp_path / "s.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {d} -->" in text for d in (2, 3, 7))


def test_study_of_names_end_to_end(monkeypatch, tmp_path):
    monkeypatch.setattr(svd_layer, "SETTINGS", SMALL_HEAT)
    small = replace(svd_layer.STUDY, rows=lambda seeds, told: svd_layer.rows(seeds, told, ("a", "b"), budget=0.0))
    monkeypatch.setitem(STUDIES, "svd-layer", small)
    plot, table = tmp_path / "s.png", tmp_path / "s.json"
    result = run("study", "svd-layer", "--seeds", 1, "--plot", plot, "--json", table)
    assert result.exit_code == 0
    rows = json.loads(table.read_text(encoding="utf-8"))["rows"]
    assert [row["problem"] for row in rows] == ["a", "b"]
    assert all(len(row["failures"]) == 2 and row["speed_up"] is None for row in rows)
    assert result.stdout.splitlines()[0].split()[:3] == ["problem", "width", "kept"]
    assert result.stderr.count("failed: ") == 4
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_study_of_dimensions_end_to_end(monkeypatch, tmp_path):
    small = replace(dimension.STUDY, rows=lambda seeds, told: dimension.rows(seeds, told, (2, 3), ("default",)))
    monkeypatch.setitem(STUDIES, "dimension", small)
    plot, table = tmp_path / "s.svg", tmp_path / "s.json"
    result = run("study", "dimension", "--seeds", 1, "--plot", plot, "--json", table)
    rows = json.loads(table.read_text(encoding="utf-8"))["rows"]
    assert [row["dimension"] for row in rows] == [2, 3]
    line = next(line for line in result.stdout.splitlines() if line.startswith("2 "))
    assert float(line.split()[1]) == pytest.approx(rows[0]["default"], rel=1e-2)
    assert "…" not in result.stdout, "headings are wrapped, not cut"
    assert plot.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_named_in_the_help(name):
    assert name in run("study", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("snapshto",),
            r"unknown study 'snapshto'\. Did you mean 'snapshot'\? The studies are 'advection-convergence', ",
        ),
        (("xyz",), r"unknown study 'xyz'\. The studies are 'advection-convergence', .*'width-reaction'\."),
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


# ---- figures of the paper -------------------------------------------------------------------------------------------


def fewer(module, name, value):
    return lambda patch: patch.setattr(module, name, value)


def two_speeds(patch):
    case = find_case("advection-fast")
    patch.setattr(advection_speed, "find_case", lambda _: replace(case, variants=case.variants[2:5:2]))


def one_problem(patch):
    name = "nonlinear diffusion"
    patch.setattr(svd_threshold, "PROBLEMS", {name: svd_threshold.PROBLEMS[name]})
    patch.setattr(svd_threshold, "CUTOFFS", (1e-2, 1e-8))


def few_slices(patch):
    patch.setattr(slices, "LINES", {"heat-10d": (3,)})
    patch.setattr(slices, "GRID", (13, 11))
    patch.setattr(slices, "TIMES", (0.5,))


def two_fields(patch):
    patch.setattr(fields, "NAMES", ("advection", "nonlinear-diffusion"))
    patch.setattr(fields, "TIMES", (1.0,))
    patch.setattr(fields, "PLANE", (20, 25))
    patch.setattr(fields, "MESHES", ("iga",))


def small_scan(patch):
    case = inverse_ways.CASES[inverse_ways.POISSON]
    patch.setattr(inverse_ways, "CASES", {case.name: replace(case, paper=(Scan(6, 300, 700), 0.0))})


def small_networks(patch):
    found = dict(inverse_ways.CASES)
    for name, way in ((inverse_ways.POISSON, Scan(6, 300, 700)), (inverse_ways.HELMHOLTZ, Alternating(150, 200, 3))):
        found[name] = replace(found[name], paper=(way, 0.0))
    patch.setattr(inverse_ways, "CASES", found)
    patch.setattr(inverse_ways, "WAYS", ("paper",))
    patch.setattr(inverse_ways, "GRID", 21)


def short_run(patch):
    patch.setattr(kuramoto_sivashinsky, "RUNS", (kuramoto_sivashinsky.SHORT,))
    patch.setattr(kuramoto_sivashinsky, "RECIPES", ("best",))


def narrow(patch):
    patch.setattr(width_heat, "WIDTHS", (25, 50))
    patch.setattr(width_heat, "POINTS", 500)


#: How each study is made small.
TINY = {
    "advection-speed": two_speeds,
    "advection-convergence": fewer(advection_convergence, "WIDTHS", (6, 10, 16)),
    "advection-long": fewer(advection_long, "TIMES", (10.0, 100.0)),
    "rcond": fewer(rcond, "CUTOFFS", (1e-3, 1e-9, 1e-14)),
    "svd-threshold": one_problem,
    "bases": fewer(bases, "STEEPNESS", (1.0, 0.006)),
    "directions": fewer(directions, "WIDTHS", (10, 40)),
    "burgers-points": fewer(burgers_points, "RECIPES", ("best",)),
    "fields": two_fields,
    "slices": few_slices,
    "kuramoto-sivashinsky": short_run,
    "width-heat": narrow,
    "width-burgers": fewer(width_burgers, "FIGURES", {240: 4.27e-4}),
    "snapshot-fits": lambda _: None,
    "inverse-loss": small_scan,
    "inverse-fields": small_networks,
    "half-waves": fewer(half_waves, "WIDTHS", (20, 40)),
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """Return a function that runs a small study once: its rows from JSON, and its files without their endings."""
    found = {}

    def get(name):
        if name not in found:
            stem = tmp_path_factory.mktemp("studies") / name
            files = {kind: stem.with_suffix(f".{kind}") for kind in ("png", "svg", "csv", "json")}
            options = [
                f(k) for k in files for f in (lambda k: "--plot" if k in ("png", "svg") else f"--{k}", files.get)
            ]
            with pytest.MonkeyPatch.context() as patch:
                TINY[name](patch)
                result = run("study", name, "--seeds", 1, *options)
            assert result.exit_code == 0
            found[name] = json.loads(files["json"].read_text(encoding="utf-8"))["rows"], files
        return found[name]

    return get


@pytest.mark.parametrize("name", TINY)
def test_figures_have_columns_and_files(name, figures):
    rows, files = figures(name)
    study = find_study(name)
    assert len(rows) >= 1
    assert all(set(study.columns) - {"failures"} <= set(row) for row in rows)
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    text = files["svg"].read_text(encoding="utf-8")
    assert text.startswith("<?xml")
    assert f"<!-- {study.title} -->" in text


@pytest.mark.parametrize("name", TINY)
def test_csv_holds_the_same_numbers(name, figures):
    rows, files = figures(name)
    with files["csv"].open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert len(table) == len(rows)
    for line, row in zip(table, rows, strict=True):
        assert_same(line, row)


def assert_same(line, values, prefix=""):
    """Compare a line of a table with nested values."""
    for key, value in values.items():
        if isinstance(value, dict):
            assert_same(line, value, f"{prefix}{key}.")
        elif value is None:
            assert line[prefix + key] == ""
        else:
            read = json.loads if isinstance(value, list) else type(value)
            assert read(line[prefix + key]) == value


def test_every_study_is_described():
    text = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    for name in STUDIES:
        assert f"`{name}`" in text, name


def test_csv_of_rows_with_different_keys():
    stream = io.StringIO()
    write_csv([{"a": 1, "b": None}, {"a": 'x,"y"', "c": [1, None], "d": {"e": {"f": 2}}}], stream)
    assert stream.getvalue().splitlines() == ["a,b,c,d.e.f", "1,,,", '"x,""y""",,"[1, null]",2']


def test_speed_does_not_matter_to_a_frozen_basis(figures):
    for row in figures("advection-speed")[0]:
        assert row["best"] < 1e-11
        assert row["paper"] < row["published_paper"] == 1e-4
        assert row["best"] / 10 < row["estimate"] < 10 * row["best"]
        assert row["iga"] < 1e-8
    slow, fast = figures("advection-speed")[0]
    for name in ("spacetime_elm", "spacetime_swim"):
        assert slow[name] < 1e-3
        assert fast[name] > 0.5, "space–time networks fail"


def test_errors_fall_exponentially_with_the_width(figures):
    rows = figures("advection-convergence")[0]
    assert rows[0]["best"] > 1e2 * rows[1]["best"] > 1e4 * rows[2]["best"]
    assert rows[0]["rate"] < -0.5
    a, b, c = (np.log(row["exponential"]) for row in rows)
    assert (b - a) / 4 == pytest.approx((c - b) / 6) == pytest.approx(rows[0]["rate"])


def test_no_line_through_a_single_width():
    found = advection_convergence._with_line([{"width": 4, "best": 0.1}, {"width": 6, "best": None}])
    assert [row["exponential"] for row in found] == [None, None]


def test_errors_grow_slowly_with_time(figures):
    early, late = figures("advection-long")[0]
    assert early["best"] < late["best"] < 1e-11
    assert early["paper"] < late["paper"] < 1e-4
    assert late["best"] / 5 < late["estimate"] < 5 * late["best"]


def test_a_bad_initial_fit_is_a_bad_solution(figures):
    coarse, fine, finest = figures("rcond")[0]
    assert coarse["paper"] > 1e-2 > 1e3 * fine["paper"]
    assert coarse["paper_initial"] > 1e4 * fine["paper_initial"]
    assert coarse["ours"] == pytest.approx(finest["ours"], rel=1e-3)
    assert finest["ours_without_svd"] is None
    assert len(finest["failures"]) == 1


def test_a_finer_cut_off_keeps_more_and_is_better(figures):
    coarse, fine = figures("svd-threshold")[0]
    assert coarse["kept"] < fine["kept"] <= 201
    assert coarse["error"] > 1e2 * fine["error"]


def test_runs_that_fail_are_drawn_as_triangles(tmp_path):
    row = {"problem": "burgers", "cutoff": 1e-2, "error": None, "kept": None, "seconds": None, "failures": ["x"]}
    rows = [row, row | {"cutoff": 1e-4, "error": 1e-3, "kept": 5, "seconds": 1.0, "failures": []}]
    plot_study(svd_threshold.STUDY, rows, str(tmp_path / "s.svg"))
    assert "<!-- failed -->" in (tmp_path / "s.svg").read_text(encoding="utf-8")


def test_neurons_that_follow_a_front_fit_it(figures):
    smooth, steep = figures("bases")[0]
    assert max(smooth["swim"], smooth["elm"]) < 1e-12
    assert steep["swim"] < 1e-6 < 1e-2 < min(steep["elm"], steep["elm_steep"], steep["multi_scale"])
    assert smooth["neurons"] is None
    assert [len(steep["neurons"][name]) for name in bases.PICTURED] == [25, 25, 25]


def test_points_that_follow_a_front():
    x = bases.following(0.006, np.random.default_rng(0)).x[:, 0]
    assert np.mean(np.abs(x - bases.PLACE) < 0.02) == pytest.approx(0.7, abs=0.05)


def test_projected_neurons_look_along_the_gradient(figures):
    narrow, wide = figures("directions")[0]
    assert max(narrow["projected_angle"], wide["projected_angle"]) < 1e-3
    assert wide["swim_angle"] > 20
    assert wide["projected"] < 1e-2 * wide["swim"]


def test_points_gather_at_the_shock(figures):
    rows = figures("burgers-points")[0]
    assert [row["window"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["end"] for row in rows[:-1]] == [row["start"] for row in rows[1:]]
    assert rows[-1]["near_shock"] > 5 * rows[0]["near_shock"]
    density = rows[-1]["density"]
    assert np.trapezoid(density["p"], density["x"]) == pytest.approx(1.0, rel=0.05)


def test_fields_stand_beside_the_truth(figures):
    advection, *tree = [row for row in figures("fields")[0] if row["way"] == "best"]
    assert [row["t"] for row in tree] == [1.0]
    assert advection["error"] < 1e-11
    assert max(row["error"] for row in tree) < 1e-7
    shown = advection["picture"]
    x, t = np.array(shown["up"]), np.array(shown["across"])
    np.testing.assert_allclose(shown["exact"], np.sin(x[:, None] - 40 * t), atol=2e-2)  # t has four digits
    outside = [value is None for line in tree[0]["picture"]["exact"] for value in line]
    assert 0.3 < np.mean(outside) < 0.8


def test_slices_run_through_the_middle(figures):
    line, diagonal, plane = figures("slices")[0]
    assert (line["slice"], diagonal["slice"], plane["slice"]) == ("x3", "diagonal", "x1, x2")
    x, t = (np.array(line["picture"][key]) for key in ("up", "across"))
    np.testing.assert_allclose(line["picture"]["exact"], np.cos(x[:, None] / 10) * np.exp(-t), rtol=1e-3)
    np.testing.assert_allclose(diagonal["picture"]["exact"], np.cos(x[:, None]) * np.exp(-t), rtol=1e-3)
    assert max(row["error"] for row in (line, diagonal, plane)) < 1e-7


def test_distance_from_the_reference_over_time(figures, tmp_path):
    (short,) = figures("kuramoto-sivashinsky")[0]
    assert short["error_at_1"] < 1e-5
    assert short["course"]["distance"][-1] == pytest.approx(short["error_at_1"], rel=1e-3)
    assert short["energy"] is None
    spectrum = {
        "bands": [1, 8, 16],
        **{k: [1.0, 0.5] for k in ("found", "found_spread", "reference", "reference_spread")},
    }
    long = short | {"run": "other", "growth": None, "spectrum": spectrum}
    plot_study(kuramoto_sivashinsky.STUDY, [short, long], str(tmp_path / "s.svg"))
    text = (tmp_path / "s.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {label} -->" in text for label in ("1–7", "8–15", "other", "wave numbers"))


def test_statistics_of_waves():
    """The energy of a standing wave and its band are known."""

    class Wave:
        def __init__(self, amplitude):
            self.problem = SimpleNamespace(exact={"u": lambda x, t: np.cos(10 * x[:, 0])})
            self.amplitude = amplitude

        def __call__(self, x, t):
            return self.amplitude * np.cos(10 * x)

    found = kuramoto_sivashinsky._statistics(Wave(2.0))
    assert found["energy"] == pytest.approx(4 * np.pi)
    assert (found["reference_energy"], found["energy_spread"]) == pytest.approx((np.pi, 0.0))
    assert found["spectrum"]["found"][1] == pytest.approx(4 * np.pi, rel=1e-3)
    assert max(found["spectrum"]["found"][2:]) < 1e-12


def test_wider_layers_are_better_in_many_dimensions(figures):
    narrow, wide = figures("width-heat")[0]
    assert wide["elm_3d"] < 0.3 * narrow["elm_3d"]
    assert wide["swim_3d"] < 0.7 * narrow["swim_3d"]


def test_burgers_is_near_the_published_error(figures):
    (row,) = figures("width-burgers")[0]
    assert row["swim"] / row["published_swim"] < 10


def test_fits_of_the_snapshot_oscillate_or_follow(figures):
    rows = {row["basis"]: row for row in figures("snapshot-fits")[0]}
    assert rows["swim"]["error"] < 1e-3
    for name in ("elm", "fourier", "chebyshev"):
        assert rows[name]["overshoot"] > 0.02
        assert rows[name]["away"] > 1e2 * rows["swim"]["away"]
    errors = {name: fitted(name, 102, seeds=1) for name in ("fourier", "chebyshev", "swim", "elm")}
    assert {name: rows[name]["error"] for name in errors} == pytest.approx(errors, rel=1e-6)


def test_a_figure_draws_from_the_rows_that_were_stored(figures, tmp_path):
    """What is seen is in the files: a plot of the rows read from JSON is the same plot."""
    rows, files = figures("burgers-points")
    again = tmp_path / "again.png"
    with pytest.MonkeyPatch.context() as patch:
        TINY["burgers-points"](patch)
        plot_study(find_study("burgers-points"), rows, str(again))
    assert again.read_bytes() == files["png"].read_bytes()


def test_fields_are_shown_by_several_ways(figures):
    rows = figures("fields")[0]
    ways = {(row["problem"], row["way"]) for row in rows}
    assert ways == {(n, w) for n in ("advection", "nonlinear-diffusion") for w in ("best", "paper")} | {
        ("advection", "iga")
    }
    assert all(row["error"] < 1e-5 for row in rows)


def test_the_loss_is_least_at_the_truth(figures):
    rows = figures("inverse-loss")[0]
    values = [row["alpha"] for row in rows]
    assert values == sorted(values)
    assert set(np.linspace(0, 2, 6)) <= set(values)
    assert min(rows, key=lambda row: row["misfit"])["alpha"] == pytest.approx(1.0, abs=1e-3)


def test_fields_of_the_papers_inverse_problems(figures):
    rows = figures("inverse-fields")[0]
    errors = {(row["problem"], row["field"]): row["error"] for row in rows}
    assert set(errors) == {("inverse-poisson", "u"), ("inverse-helmholtz", "u"), ("inverse-helmholtz", "gamma")}
    assert all(row["published_error"] == inverse_ways.FIGURES[row["problem"], row["field"]] for row in rows)
    assert errors["inverse-poisson", "u"] < 1e-2
    assert errors["inverse-helmholtz", "u"] < 0.1


def test_trained_networks_of_several_widths(monkeypatch):
    pytest.importorskip("jax")
    training = pinn_ablation.SETTINGS["advection"]["pinn-lbfgs"]
    few = training._replace(settings=replace(training.settings, lbfgs_steps=40, interior=200, conditions=60))
    monkeypatch.setattr(pinn_ablation, "SETTINGS", {"advection": {"pinn-lbfgs": few}})
    figures = {"advection, speed 10": {"width": {5: 1e-3}}, "advection, speed 40": {"width": {10: 2e-3}}}
    monkeypatch.setattr(pinn_ablation, "FIGURES", figures)
    rows = STUDIES["pinn-ablation"].compute(1, lambda text: None, time_limit=300.0)
    assert [(row["value"], row["published_error"], row["cut"]) for row in rows] == [("5", 1e-3, "0"), ("10", 2e-3, "0")]
    assert all(0 < row["error"] < 2 for row in rows)


def test_sines_resolve_more_half_waves_than_steps(figures):
    rows = figures("half-waves")[0]
    assert [row["width"] for row in rows] == [20, 40]
    assert rows[1]["sines"] > 3 * rows[1]["tanh"]
    assert 1.2 * rows[1]["sines"] < rows[1]["sines_functions"] <= 40


def test_the_papers_tables_beside_ours():
    (row,) = STUDIES["paper"].compute(1, lambda text: None, only=["advection, swim"])
    assert row["line"] == "487"
    assert row["published"] == 8.42e-9
    assert row["recipe"] < 2 * row["published"]
    assert row["default"] < 1e-10
    with pytest.raises(fp.SettingsError, match=r"no line 'advection, swin' in the paper\. Did you mean"):
        STUDIES["paper"].compute(1, lambda text: None, only=["advection, swin"])


def test_the_papers_inverse_problems_beside_ours(monkeypatch):
    case = inverse_ways.CASES[inverse_ways.HELMHOLTZ]
    small = replace(case, paper=(Alternating(150, 200, 3), 0.0))
    monkeypatch.setattr(paper, "CASES", {case.name: small})
    runs_of = []
    monkeypatch.setattr(inverse_ways, "infer", lambda *given, **named: runs_of.append(named) or infer(*given, **named))
    paper._unknowns.cache_clear()
    rows = STUDIES["paper"].compute(1, quiet, only=["inverse-helmholtz, u", "inverse-helmholtz, gamma"])
    paper._unknowns.cache_clear()
    assert [(row["line"], row["published"]) for row in rows] == [("633", 1.85e-2), ("634", 1.23e-2)]
    assert all(row["default"] < 1e-6 for row in rows)
    assert all(row["default"] < row["recipe"] < 1 for row in rows)
    assert len(runs_of) == 1, "lines of one problem share their run"


def test_each_figure_of_the_paper_has_one_line():
    names = [line.name for line in paper.LINES]
    assert len(names) == len(set(names))
    assert sum(line.line < 600 for line in paper.LINES) >= 16, "all frozen networks of the first table"
    assert all("bound" in line.name for line in paper.LINES if line.line in (350, 366, 2270))
