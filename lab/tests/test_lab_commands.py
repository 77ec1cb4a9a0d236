"""The commands of the lab, end to end, as ``frozenpinn`` passes them on."""

import json
import sys
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import SettingsError, cli
from frozenpinn_lab import cases as registry
from frozenpinn_lab.cases import CASES, Case, Published, Variant
from frozenpinn_lab.runner import worst_error


def strict_json(text):
    """Parse JSON without the extensions that other programs can't read."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def run(*arguments):
    """Run a command in this process; errors of the library come out as exceptions."""
    return CliRunner().invoke(cli.app, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture
def refused(monkeypatch, capsys):
    """Return a function that runs main(), wants the exit code of bad input and returns what it says."""

    def call(*arguments, code=2):
        monkeypatch.setattr(sys, "argv", ["frozenpinn", *(str(a) for a in arguments)])
        monkeypatch.setattr(sys, "excepthook", sys.excepthook)
        with warnings.catch_warnings(), pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        assert stopped.value.code == code
        assert out == ""
        assert err.startswith("error: ")
        assert "Traceback" not in err
        return err

    return call


@pytest.fixture
def small_cases(monkeypatch):
    """Add small cases to the registry: one that works (two variants) and one that fails."""
    interval, exact = fp.Interval(0, 1), "exp(-pi**2*t)*sin(pi*x)"
    good = fp.Problem("u_t = u_xx", interval, (0, 0.1), "sin(pi*x)", "u = 0", exact=exact)
    backward = fp.Problem("u_t = -u_xx", interval, (0, 10), "sin(pi*x)", "u = 0", exact="exp(pi**2*t)*sin(pi*x)")
    settings = {("best", "high"): fp.Settings(width=30), ("paper", "high"): fp.Settings(sampler="elm", width=30)}
    two = (Variant("fast", {}, {("best", "high"): fp.Settings(width=20)}), Variant("slow"))
    cases = [
        Case("small", "heat", lambda: good, settings, {"high": Published(1e-3, 2.0)}),
        Case("sweep", "heat twice", lambda: good, settings, {}, two),
        Case("hopeless", "heat backwards", lambda: backward, {("best", "high"): fp.Settings(width=30)}),
    ]
    for case in cases:
        monkeypatch.setitem(registry.CASES, case.name, case)
    return cases


def test_list_shows_every_case_with_its_published_figures():
    result = run("list")
    assert result.exit_code == 0
    for name, case in registry.CASES.items():
        (line,) = [text for text in result.stdout.splitlines() if text.split() and text.split()[0] == name]
        for precision in case.published.values():
            if precision.rel_l2 is not None:
                assert f"{precision.rel_l2:.2e}" in line
    assert "best/high" in result.stdout


def test_solve_a_case_prints_the_report():
    result = run("solve", "advection")
    assert result.exit_code == 0
    for label in ("integration", "rank", "PDE residual u", "estimated error u", "true error u"):
        assert label in result.stdout


def test_unknown_case(refused):
    message = refused("solve", "advectoin")
    assert "unknown case 'advectoin'. Did you mean 'advection'? The cases are 'advection', " in message


def test_unknown_case_raises_in_python():
    with pytest.raises(SettingsError, match="Did you mean 'burgers'"):
        run("solve", "burger")


KEYS = {
    "case",
    "method",
    "recipe",
    "precision",
    "sampler",
    "seeds",
    "rel_l2",
    "rmse",
    "seconds",
    "estimate",
    "width",
    "rank",
    "points",
    "windows",
    "status",
    "reason",
    "paper",
}


def check_record(record, seeds):
    """Check keys, types and lengths that all comparisons rely on."""
    assert set(record) >= KEYS
    for key in ("case", "method", "recipe", "precision", "sampler", "status"):
        assert isinstance(record[key], str)
    assert record["seeds"] == list(range(seeds))
    assert set(record["paper"]) == {"rel_l2", "seconds"}
    assert set(record["rel_l2"]) == set(record["rmse"]) == {"mean", "std", "values"}
    assert set(record["seconds"]) == {"median", "values"}
    assert set(record["estimate"]) == {"values"}
    if record["status"] != "ok":
        assert isinstance(record["reason"], str)
        return
    assert record["reason"] is None
    for key in ("rel_l2", "rmse"):
        values = record[key]["values"]
        assert len(values) == seeds
        assert all(isinstance(v, float) and v >= 0 for v in values)
        assert record[key]["mean"] == pytest.approx(np.mean(values))
        assert record[key]["std"] == pytest.approx(np.std(values))
    assert len(record["seconds"]["values"]) == len(record["estimate"]["values"]) == seeds
    assert all(v > 0 for v in record["seconds"]["values"])
    assert record["seconds"]["median"] == pytest.approx(np.median(record["seconds"]["values"]))
    assert all(v is None or isinstance(v, float) for v in record["estimate"]["values"])
    assert all(type(record[key]) is int and record[key] > 0 for key in ("width", "rank", "points", "windows"))


def test_bench_json_obeys_the_contract():
    result = run("bench", "advection", "--json", "-")
    (record,) = strict_json(result.stdout)
    check_record(record, 3)
    assert record["case"] == "advection"
    assert (record["method"], record["recipe"], record["precision"]) == ("frozen-pinn", "best", "high")
    assert record["paper"] == {"rel_l2": 8.42e-9, "seconds": 0.70}
    assert record["rel_l2"]["mean"] <= 1e-10
    assert record["sampler"] == "multi-scale"
    for error, estimate in zip(record["rel_l2"]["values"], record["estimate"]["values"], strict=True):
        assert estimate > error / 30


def test_bench_two_recipes(tmp_path):
    file = tmp_path / "records.json"
    result = run("bench", "advection", "--recipe", "best", "--recipe", "paper", "--seeds", 1, "--json", file)
    assert result.exit_code == 0
    best, paper = strict_json(file.read_text(encoding="utf-8"))
    check_record(best, 1)
    check_record(paper, 1)
    assert (best["recipe"], paper["recipe"]) == ("best", "paper")
    assert paper["sampler"].lower() == "swim"
    assert paper["estimate"]["values"] == [None]
    assert best["rel_l2"]["mean"] < 1e-2 * paper["rel_l2"]["mean"]
    lines = result.stdout.splitlines()
    assert lines[0].split()[:2] == ["case", "recipe"]
    assert [line.split()[1] for line in lines[1:3]] == ["best/high", "paper/high"]
    assert "8.42e-09, 0.7 s" in lines[1]


def test_bench_low_precision():
    result = run("bench", "advection", "--precision", "low", "--seeds", 1, "--json", "-")
    (record,) = strict_json(result.stdout)
    check_record(record, 1)
    assert record["precision"] == "low"
    assert record["paper"] == {"rel_l2": 4.19e-3, "seconds": 0.67}
    assert record["rel_l2"]["mean"] < 4.19e-3


def test_bench_variants_and_samplers_by_name(small_cases):
    result = run("bench", "small", "sweep", "--recipe", "best", "--recipe", "paper", "--seeds", 2, "--json", "-")
    records = strict_json(result.stdout)
    for record in records:
        check_record(record, 2)
    labels = [(r["case"], r["recipe"], r["variant"]) for r in records]
    assert labels == [
        ("small", "best", ""),
        ("small", "paper", ""),
        ("sweep", "best", "fast"),
        ("sweep", "best", "slow"),
        ("sweep", "paper", "fast"),
        ("sweep", "paper", "slow"),
    ]
    assert [r["sampler"] for r in records[:2]] == ["multi-scale", "elm"]
    assert [r["width"] for r in records[2:4]] == [20, 30]


def test_bench_keeps_a_failure_in_the_table(small_cases):
    result = run("bench", "hopeless", "small", "--seeds", 1, "--json", "-")
    failed, ok = strict_json(result.stdout)
    check_record(failed, 1)
    check_record(ok, 1)
    assert failed["status"] == "failed"
    assert "grow" in failed["reason"]
    table = run("bench", "hopeless", "small", "--seeds", 1)
    assert table.exit_code == 0
    assert "failed: " in table.stdout
    assert "small" in table.stdout


def test_bench_all(small_cases, monkeypatch):
    """--all runs whatever has the wanted recipe and precision, and passes over the rest."""
    monkeypatch.setattr("frozenpinn_lab.cases.CASES", {c.name: c for c in small_cases})
    result = run("bench", "--all", "--recipe", "paper", "--seeds", 1, "--json", "-")
    assert {r["case"] for r in strict_json(result.stdout)} == {"small", "sweep"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("advektion",), "unknown case 'advektion'. Did you mean 'advection'?"),
        (("advection", "--recipe", "own"), "unknown recipe 'own'; choose one of 'auto', 'best', 'paper'."),
        (("--all", "--recipe", "own"), "unknown recipe 'own'; choose one of 'auto', 'best', 'paper'."),
        (("advection", "--precision", "medium"), "unknown precision 'medium'; choose one of 'high', 'low'."),
        (("--all", "--precision", "medium"), "unknown precision 'medium'; choose one of 'high', 'low'."),
        (("advection-fast", "--precision", "low"), "case 'advection-fast' has no settings for 'best/low', only for"),
        (
            ("bratu", "--recipe", "paper"),
            "case 'bratu' has no settings for 'paper/high', only for 'best/high', 'best/low'.",
        ),
        (("advection", "--method", "magic"), "unknown method 'magic'"),
        ((), "name one or more cases, or write --all; 'frozenpinn list' shows them."),
    ],
)
def test_refused_benchmarks(refused, arguments, text):
    assert text in refused("bench", *arguments)


def test_numbers_of_seeds_are_positive():
    result = CliRunner().invoke(cli.app, ["bench", "advection", "--seeds", "0"])
    assert result.exit_code == 2
    assert "--seeds" in result.stderr


def test_without_the_lab_its_commands_say_how_to_install_it(refused, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named '{name}'", name="frozenpinn_lab")

    monkeypatch.setattr("frozenpinn.cli.lab.import_module", missing)
    for command in (("bench", "advection"), ("study", "kappa"), ("list",), ("solve", "advection")):
        assert "in a clone of the repository, write: pip install ./lab." in refused(*command)


def test_errors_are_those_of_the_fields_that_are_known():
    problem = CASES["taylor-green"].problem()
    solution = fp.solve(problem, tol=1e-6)
    assert set(problem.exact) == {"Ux", "Uy"}
    assert worst_error(solution, problem)["rel_l2"] < 1e-6
