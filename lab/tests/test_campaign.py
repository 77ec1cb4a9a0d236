"""Reports: what is run, that nothing is run twice, and that the same seeds give the same errors."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from frozenpinn import cli
from frozenpinn.errors import MissingExtraError
from frozenpinn.search.settings import Settings
from frozenpinn_lab import campaign, runner
from frozenpinn_lab.campaign import Selection, lines, perform, points
from frozenpinn_lab.cases import CASES
from frozenpinn_lab.cases.case import METHODS, RECIPES
from frozenpinn_lab.cases.peers import Baseline, baselines_of
from frozenpinn_lab.markdown import write_table
from frozenpinn_lab.peers.methods import PINNS
from frozenpinn_lab.runner import BenchRun, carry_out, peer_job
from frozenpinn_lab.store import Store, diagrams
from frozenpinn_lab.studies import find_study
from frozenpinn_lab.tasks import DiagramPoint, StudyFigure, TableLine

ALL = Selection(METHODS, RECIPES)
REPEATS = runner.REPEATS
QUICK = Selection(METHODS, RECIPES, ("high",), quick=True)


def line(name, **options):
    case = CASES[name]
    return TableLine(BenchRun(case, case.variants[0], **options))


# ---- what is to be done ---------------------------------------------------------------------------------


def test_every_case_method_and_recipe_is_there():
    found = lines(CASES.values(), ALL)
    assert len({task.key for task in found}) == len(found)
    told = {(task.run.case.name, task.run.method, task.run.recipe) for task in found}
    for name, case in CASES.items():
        assert (name, "frozen-pinn", "auto") in told
        assert {m for c, m, _ in told if c == name} >= {"frozen-pinn", *case.baselines}
        for recipe, precision in case.settings:
            assert any((t.run.case.name, t.run.recipe, t.run.precision) == (name, recipe, precision) for t in found)


def test_trainings_are_cut():
    assert all(task.run.budget == campaign.BUDGET for task in lines(CASES.values(), ALL) if task.run.method in PINNS)
    given = lines([CASES["advection"]], Selection(("pinn-adam",), RECIPES, budget=7.0, steps=30))
    assert [(task.run.budget, task.run.steps) for task in given] == [(7.0, 30)]


def test_quick_reports_do_not_depend_on_the_machine():
    found = lines(CASES.values(), QUICK)
    assert all(task.run.budget is None for task in found)  # seconds cut nothing: errors can be repeated
    steps = {task.run.method: task.run.steps for task in found if task.run.method in PINNS}
    assert steps == campaign.QUICK_STEPS
    names = {task.run.case.name for task in found}
    assert {"advection", "burgers", "wave", "nonlinear-diffusion", "heat-10d", "heat-100d"} <= names
    drawn = points(CASES.values(), QUICK)
    assert sum(task.guess for task in [*found, *drawn]) < 1000
    assert not {task.case.name for task in drawn} & set(campaign.QUICK_UNDRAWN)


def test_diagrams_compare_all_recipes_with_the_meshes():
    found = points(CASES.values(), ALL)
    assert len({task.key for task in found}) == len(found)
    for name in ("advection", "burgers", "nonlinear-diffusion"):
        told = {(task.method, task.recipe) for task in found if task.case.name == name}
        assert {("frozen-pinn", "auto"), ("frozen-pinn", "best"), ("frozen-pinn", "paper")} <= told
        assert told & {("iga", None), ("fem", None)}


def test_diagrams_of_static_cases_compare_with_elements_where_there_are_some():
    found = points(CASES.values(), ALL)
    told = {(task.case.name, task.method, task.recipe) for task in found if task.case.is_static}
    for name in ("nonlinear-poisson", "nonlinear-helmholtz", "bratu", "liouville", "l-shape"):
        assert {(name, "fem", None), (name, "frozen-pinn", "auto"), (name, "frozen-pinn", "best")} <= told
    assert ("helmholtz-solid", "frozen-pinn", "paper") in told
    assert not any(name == "membrane-modes" for name, *_ in told)


def test_points_of_static_diagrams_are_solved():
    found = points([CASES["bratu-line"]], ALL)
    record = next(task for task in found if task.recipe == "best").carry_out(lambda text: None)
    assert record["rel_l2"] < 1e-2


def test_peers_have_settings():
    assert {"iga", "spacetime-elm", "spacetime-swim", *PINNS} == set(baselines_of("advection"))
    assert "fem" in baselines_of("nonlinear-diffusion")
    assert baselines_of("burgers")["iga"].published.rel_l2 == 1.12e-7
    assert baselines_of("nothing") == {}


# ---- doing it ---------------------------------------------------------------------------------------------


def test_nothing_is_run_twice(tmp_path):
    store, told = Store(tmp_path / "runs.jsonl"), []
    tasks = [line("advection", seeds=(0,)), line("wave", seeds=(0,))]
    perform(tasks[:1], store, told.append)
    assert told
    assert "1 of 1, about" in told[0]
    with (tmp_path / "runs.jsonl").open("a") as handle:
        handle.write('{"key": "cut off')  # the machine was switched off while writing
    again, more = Store(tmp_path / "runs.jsonl"), []
    assert again.records == store.records
    perform(tasks, again, more.append)
    assert all("wave" in text for text in more)
    assert "2 of 2" in more[0]


def test_runs_from_elsewhere_are_told(tmp_path):
    first = Store(tmp_path / "runs.jsonl", "old machine")
    first.put('["line", "wave"]', {"x": 1})
    assert Store(tmp_path / "runs.jsonl", "old machine").others == set()
    assert Store(tmp_path / "runs.jsonl", "new machine").others == {"old machine"}
    page = tmp_path / "report.html"
    page.with_suffix(".runs.jsonl").write_text(
        json.dumps({"key": '["figure", "none", 1]', "record": {}, "origin": "VAX"})
    )
    result = bench("wave", "--report", page, "--method", "iga-exact", "--no-studies")
    assert "were made elsewhere or with other versions: VAX" in " ".join(result.stderr.split())
    assert "<dt>Runs kept from</dt><dd>VAX</dd>" in page.read_text()


def test_failures_are_records():
    record = carry_out(BenchRun(CASES["advection"], CASES["advection"].variants[0], recipe="paper", budget=1e-9))
    assert record["status"] == "failed"
    assert "the time limit of 1e-09 s was over" in record["reason"]
    assert record["command"] == "frozenpinn bench advection --recipe paper --budget 1e-09"


def test_failures_of_other_libraries_do_not_end_a_campaign(monkeypatch):
    def singular(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr("frozenpinn_lab.runner.solve", singular)
    monkeypatch.setattr("frozenpinn_lab.tasks.solve", singular)
    record = carry_out(BenchRun(CASES["advection"], CASES["advection"].variants[0]))
    assert (record["status"], record["reason"]) == ("failed", "LinAlgError: SVD did not converge")
    record = DiagramPoint(
        CASES["advection"], "frozen-pinn", "best", "width 40", {"settings": Settings(width=40)}, 10.0
    ).carry_out(lambda _: None)
    assert record["reason"] == "LinAlgError: SVD did not converge"


def test_slow_first_solves_are_no_warm_up(monkeypatch):
    announced = []
    run = BenchRun(CASES["advection"], CASES["advection"].variants[0], seeds=(0,))
    solves = []
    original = runner.solve
    monkeypatch.setattr(runner, "solve", lambda *a, **k: solves.append(1) or original(*a, **k))
    monkeypatch.setattr(runner, "WARM_UP", 1e9)
    carry_out(run, announced.append)
    assert (len(solves), announced) == (2, ["advection frozen-pinn best/high: seed 0"])
    monkeypatch.setattr(runner, "WARM_UP", 0.0)
    carry_out(run)
    assert len(solves) == 3


@pytest.mark.parametrize(("seconds", "repeats"), [(0.001, 100), (0.01, 15), (0.3, 5), (0.6, 0)])
def test_short_solves_are_timed_several_times(monkeypatch, seconds, repeats):
    run = BenchRun(CASES["advection"], CASES["advection"].variants[0], seeds=(0,))
    times, known = iter([9.0, seconds, *range(repeats + 1, 1, -1)]), []

    def told(job, seed):
        known[:] = known or [job.solve(seed)]
        return known[0], float(next(times))

    monkeypatch.setattr(runner, "_solved", told)
    monkeypatch.setattr(runner, "REPEATS", REPEATS)
    monkeypatch.setattr(runner, "WARM_UP", 10.0)
    assert carry_out(run)["seconds"]["median"] == (2.0 if repeats else seconds)
    assert next(times, None) is None


def test_missing_libraries_are_asked_for_again(tmp_path, monkeypatch):
    def missing(*_, **__):
        raise MissingExtraError("needs jax: pip install")

    store = Store(tmp_path / "runs.jsonl")
    monkeypatch.setattr("frozenpinn_lab.runner.solve_peer", missing)
    perform([line("wave", method="iga", seeds=(0,))], store, lambda text: None)
    assert store.lines()[0]["reason"] == "needs jax: pip install"
    assert not Store(tmp_path / "runs.jsonl").records


def test_a_cut_line_costs_nothing_but_itself(tmp_path):
    file = tmp_path / "runs.jsonl"
    key = json.dumps(["line", "wave"])
    file.write_bytes(b'\xff\x00{"key": "not json", "record": {}}\n{"key": "[1]", "record": {}}\n{"key": "[\\"li')
    store = Store(file)
    assert not store.records
    store.put(key, {"x": 1})
    assert Store(file).records == {key: {"x": 1}}


def test_what_is_asked_for_last_is_shown(tmp_path):
    store = Store(tmp_path / "runs.jsonl")
    one, three = [line("wave", seeds=(0,))], [line("wave", seeds=(0, 1, 2))]
    for tasks, seeds in ((one, [0]), (three, [0, 1, 2]), (one, [0])):
        perform(tasks, store, lambda text: None)
        assert [record["seeds"] for record in store.lines()] == [seeds]


def test_fresh_repeats_its_own_rows_only(tmp_path):
    page = tmp_path / "r.html"
    common = ("--report", page, "--method", "iga-exact", "--method", "iga", "--no-studies", "--precision", "high")
    assert bench("wave", "advection", *common).exit_code == 0
    count = len(page.with_suffix(".runs.jsonl").read_text().splitlines())
    again = bench("wave", *common, "--fresh")
    assert "wave iga-exact: seed 0" in again.stderr
    assert "advection" not in again.stderr
    entries = page.with_suffix(".runs.jsonl").read_text().splitlines()
    assert len(entries) > count
    assert {json.loads(entry)["record"]["case"] for entry in entries} == {"wave", "advection"}


def test_points_obey_the_budget():
    point = DiagramPoint(CASES["burgers"], "frozen-pinn", "auto", "tol 1e-8", {"tol": 1e-8}, 0.01)
    assert "the time limit of 0.01 s was over" in point.carry_out(lambda text: None)["reason"]
    assert {task.budget for task in points([CASES["wave"]], replace(QUICK, budget=7.0))} == {7.0}
    assert {task.run.steps for task in lines([CASES["wave"]], replace(QUICK, steps=9)) if task.run.method in PINNS} == {
        9
    }


def test_only_cut_trainings_are_stopped():
    pytest.importorskip("jax")
    few = {"layers": 1, "width": 4, "interior": 50, "conditions": 20, "lbfgs_steps": 4}
    case = CASES["advection"]
    for steps, stopped in ((3, True), (4, False), (None, False)):
        run = BenchRun(case, case.variants[0], "pinn-lbfgs", seeds=(0,), steps=steps)
        job = peer_job(case.problem(), run, Baseline(few))
        assert job.is_cut is stopped


def test_variants_have_commands_of_their_own():
    runs = [task.run for task in lines([CASES["heat-100d"]], Selection(("frozen-pinn",), ("best",), ("high",)))]
    assert [run.command for run in runs] == [
        "frozenpinn bench heat-100d --recipe best --variant 'by volume'",
        "frozenpinn bench heat-100d --recipe best --variant 'by radius'",
    ]
    result = bench("heat-100d", "--variant", "by radius", "--seeds", 1, "--json", "-")
    assert [record["variant"] for record in json.loads(result.stdout)] == ["by radius"]


def test_what_is_ours_is_not_called_the_papers():
    wave, advection = CASES["wave"], CASES["advection"]
    assert wave.baseline("pinn-lbfgs", "high").recipe is None
    assert "smaller network" in wave.baseline("pinn-lbfgs", "high").note
    assert advection.baseline("pinn-lbfgs", "high").recipe == "paper"
    exact = advection.baseline("iga-exact", "high")
    assert (exact.recipe, exact.published.rel_l2) == (None, None)
    assert exact.settings == advection.baseline("iga", "high").settings


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.can_run("iga-exact", "best", "high")])
def test_splines_in_closed_form_solve_what_splines_solve(name):
    record = carry_out(BenchRun(CASES[name], CASES[name].variants[0], "iga-exact", seeds=(0,)))
    assert (record["status"], record["recipe"]) == ("ok", None)
    assert record["rel_l2"]["mean"] < 1e-7


def test_an_interrupted_report_says_so(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "perform", interrupted)
    result = bench("wave", "--report", tmp_path / "r.html", "--method", "iga", "--no-studies")
    assert result.exit_code == 130
    assert "the same command goes on from there" in " ".join(result.stderr.split())
    assert (tmp_path / "r.html").exists()


def test_trainings_leave_their_course(tmp_path):
    pytest.importorskip("jax")
    run = line("advection", method="pinn-lbfgs", recipe="paper", seeds=(0,), steps=3)
    store = Store(tmp_path / "runs.jsonl")
    point = DiagramPoint(CASES["advection"], "frozen-pinn", "best", "width 40", {"settings": Settings(width=40)}, 10.0)
    perform([run, point], store, lambda text: None)
    record = store.records[run.key]
    assert record["stopped"] == [True]
    assert record["note"] == "cut after 3 of 5000 iterations"
    assert record["command"] == "frozenpinn bench advection --method pinn-lbfgs --steps 3 --seeds 1"
    (diagram,) = diagrams(store)
    curves = {(c["method"], c["recipe"]): c["points"] for c in diagram["curves"]}
    assert curves["pinn-lbfgs", None][-1]["label"] == "end"
    assert curves["frozen-pinn", "best"][0]["rel_l2"] < 1e-8


def test_ladders_run_from_coarse_to_fine(tmp_path):
    store = Store(tmp_path / "runs.jsonl")
    for name, seconds, error in (("wide", 0.01, 1e-9), ("narrow", 0.02, 1e-3), ("middle", 0.005, 1e-6)):
        key = json.dumps(["point", "wave", "frozen-pinn", "best", name])
        head = {"case": "wave", "title": "", "method": "frozen-pinn", "recipe": "best"}
        store.put(key, {**head, "label": name, "seconds": seconds, "rel_l2": error})
    (diagram,) = diagrams(store)
    assert [point["label"] for point in diagram["curves"][0]["points"]] == ["narrow", "middle", "wide"]


def test_figures_of_studies():
    study = find_study("bases")
    assert StudyFigure(study).key != StudyFigure(study, 3).key
    record = StudyFigure(study).carry_out(lambda text: None)
    assert base64.b64decode(record["png"]).startswith(b"\x89PNG")
    assert record["command"] == "frozenpinn study bases --seeds 1 --plot bases.png"


def test_a_report_shows_all_that_is_stored(tmp_path):
    store = Store(tmp_path / "runs.jsonl")
    tasks = [line("wave", seeds=(0,)), line("advection", seeds=(0,)), line("advection", seeds=(1, 0))]
    perform(tasks, store, lambda text: None)
    assert [(r["case"], r["seeds"]) for r in store.lines()] == [("advection", [1, 0]), ("wave", [0])]
    table = write_table(store.lines())
    assert "| advection | " in table
    assert table.startswith("| case | best | published |")  # no columns for what was not run
    assert " ms | 8.4e-09, 0.7 s |" in table


# ---- the command -------------------------------------------------------------------------------------------


def bench(*arguments):
    return CliRunner().invoke(cli.app, ["bench", *map(str, arguments)], catch_exceptions=True)


def test_a_quick_report_is_reproducible(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "QUICK_STUDIES", ())
    monkeypatch.setattr(campaign, "TOLERANCES", (1e-2, 1e-4))
    records = []
    for name in ("a", "b"):
        page, file = tmp_path / f"{name}.html", tmp_path / f"{name}.json"
        methods = ("--method", "frozen-pinn", "--method", "iga")
        result = bench("wave", "--quick", "--report", page, *methods, "--json", file, "--picture", tmp_path / "p.png")
        assert result.exit_code == 0, result.output
        assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        records.append(json.loads(file.read_text()))
    assert (tmp_path / "p.png").stat().st_size > 10_000
    first, second = ([record["rel_l2"]["values"] for record in run] for run in records)
    assert first == second
    assert {(r["method"], r["recipe"]) for r in records[0]} == {
        ("frozen-pinn", "best"),
        ("frozen-pinn", "paper"),
        ("frozen-pinn", "auto"),
        ("iga", None),
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("advection", "--quick"), "--quick, --fresh and --picture belong to a report"),
        (("advection", "--tol", "1e-6"), "--tol belongs to the automatic recipe; write --recipe auto --tol 1e-6."),
        (("advection", "--budget", "-1"), "--budget is a positive number of seconds, got -1."),
        (("advection", "--budget", "nan"), "--budget is a positive number of seconds, got nan."),
        (("advection", "--report", "/"), "can't write '/': it is a folder; add the name of a file."),
        (("advection", "--table", "nowhere/t.md"), "can't write 'nowhere/t.md': there is no folder 'nowhere'."),
        (("heat-100d", "--variant", "by night"), "unknown variant 'by night'; choose one of 'by radius', 'by volume'"),
        (
            ("wave", "--report", "r.html", "--method", "fem", "--no-studies"),
            "none of the cases has settings for fem at",
        ),
    ],
)
def test_refused_options(arguments, text):
    assert text in str(bench(*arguments).exception)


def test_automatic_recipe_in_the_benchmark():
    result = bench("advection", "--recipe", "auto", "--tol", "1e-6", "--seeds", "1", "--json", "-")
    (record,) = json.loads(result.stdout)
    assert (record["recipe"], record["tol"], record["verdict"]) == ("auto", 1e-6, "converged")
    assert record["rel_l2"]["mean"] < 1e-6
    assert record["estimate"]["values"][0] < 1e-6
    assert record["command"] == "frozenpinn bench advection --recipe auto --tol 1e-06 --seeds 1"
