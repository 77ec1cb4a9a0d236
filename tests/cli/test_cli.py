"""The command line, end to end: what it prints where, what it writes, how it refuses."""

import json
import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import ProblemError, cli
from frozenpinn.cli.demo import burgers
from frozenpinn.cli.problem_file import read_problem_file
from frozenpinn.errors import InterruptionError

ROOT = Path(__file__).parents[2]
SMALL = """
equation = "u_t = k*u_xx"
time = [0, 0.1]
initial = "sin(pi*x)"
boundary = "u = 0"
exact = "exp(-k*pi**2*t)*sin(pi*x)"
[domain]
lower = 0
upper = 1
[parameters]
k = 1
[solve]
width = 30
"""
LINES = dict(line.split(" = ", 1) for line in SMALL.splitlines() if " = " in line)


def strict_json(text):
    """Parse JSON without the extensions that other programs can't read."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def problem_file(tmp_path):
    """Return a writer of problem files: the small problem with some lines replaced or appended."""

    def write(appended="", name="problem.toml", **replaced):
        text = SMALL
        for key, value in replaced.items():
            old = f"{key} = {LINES[key]}\n"
            assert old in text
            text = text.replace(old, "" if value is None else f"{key} = {value}\n")
        file = tmp_path / name
        file.write_text(text + appended, encoding="utf-8")
        return str(file)

    return write


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


def process(*arguments, cwd=None):
    """Run the command line as users do, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "frozenpinn", *(str(a) for a in arguments)],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


# ---- list and help --------------------------------------------------------------------------------


def test_without_a_command_help_is_shown():
    result = CliRunner().invoke(cli.app, [])
    assert "solve" in result.output
    assert "bench" in result.output


@pytest.mark.parametrize("command", ["list", "solve", "bench", "demo"])
def test_every_command_has_help(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout


# ---- solve ----------------------------------------------------------------------------------------


def test_solve_a_file_prints_the_report(problem_file):
    result = run("solve", problem_file())
    assert result.exit_code == 0
    assert "u_t = u_xx" in result.stdout
    assert "width 30" in result.stdout


def test_solve_stops_at_an_event_and_for_a_number(problem_file):
    result = run("solve", problem_file(), "--stop", "max(u) < 0.5")
    assert result.exit_code == 0
    assert "it stops at the time of max(u) < 0.5, t = 0.0702304" in result.stdout
    result = run("solve", problem_file('stop = "max(u) < 0.5"\n'), "--tol", "1e-6")
    assert "the time of max(u) < 0.5 = 0.0702304" in result.stdout
    result = run("solve", problem_file(), "--tol", "1e-6", "--quantity", "value(u, x=0.5)")
    assert "value(u, x=0.5) = 0.3727078" in result.stdout


def test_no_estimate(problem_file):
    result = run("solve", problem_file(), "--no-estimate")
    assert "estimated error" not in result.stdout
    assert "true error u" in result.stdout


def test_solve_writes_picture_solution_and_json(problem_file, tmp_path):
    picture, stored, report = tmp_path / "u.png", tmp_path / "u.fpinn", tmp_path / "u.json"
    result = run("solve", problem_file(), "--plot", picture, "--save", stored, "--json", report)
    assert result.exit_code == 0
    assert result.stdout == "", "the report went to the file"
    for file in (picture, stored, report):
        assert str(file) in result.stderr.replace("\n", "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    loaded = fp.load(stored)
    assert float(loaded(0.5, 0.1)) == pytest.approx(np.exp(-(np.pi**2) * 0.1), rel=1e-8)
    table = strict_json(report.read_text(encoding="utf-8"))
    assert table["error"]["u"] < 1e-8
    assert table["error_estimate"] == loaded.error_estimate


def test_solve_json_to_standard_output(problem_file):
    result = run("solve", problem_file(), "--json", "-")
    table = strict_json(result.stdout)
    assert set(table) == {
        "problem",
        "seconds",
        "sampler",
        "windows",
        "width",
        "points",
        "rank",
        "compression",
        "condition",
        "structure",
        "spectral_abscissa",
        "integrator",
        "steps",
        "rhs_evaluations",
        "jacobian_evaluations",
        "residuals",
        "error_estimate",
        "absolute_estimate",
        "balances",
        "constraints",
        "error",
        "subspace",
        "status",
        "tol",
        "choices",
        "decisions",
        "error_curve",
    }
    assert table["width"] == 30
    assert next(iter(table["seconds"])) == "points"


def test_json_of_a_zero_solution_is_still_json(problem_file):
    result = run("solve", problem_file(initial="0", exact="0"), "--json", "-")
    assert strict_json(result.stdout)["error"] == {"u": 0.0}


def solved(*arguments):
    return strict_json(run("solve", *arguments, "--no-estimate", "--json", "-").stdout)


def test_seed_is_obeyed(problem_file):
    file = problem_file()
    first, again, other = solved(file), solved(file, "--seed", 0), solved(file, "--seed", 1)
    assert first["residuals"] == again["residuals"]
    assert first["residuals"] != other["residuals"]


def test_seed_of_the_file_is_obeyed_and_can_be_overridden(problem_file):
    plain, file = problem_file(), problem_file("seed = 5\n", name="seeded.toml")
    assert solved(file)["residuals"] == solved(plain, "--seed", 5)["residuals"]
    assert solved(file, "--seed", 1)["residuals"] == solved(plain, "--seed", 1)["residuals"]


def test_tolerance_is_obeyed_and_overrides_the_file(problem_file):
    file = problem_file('integrator = "cvode"\ntol = 1e-3\n')
    loose, tight = solved(file), solved(file, "--tol", 1e-9)
    assert tight["steps"] > 2 * loose["steps"]
    assert tight["error"]["u"] < 1e-2 * loose["error"]["u"]


def test_settings_of_a_file_reach_the_solver(problem_file):
    text = 'points = 90\nsampler = "elm"\npoint_method = "uniform"\ncutoff = 1e-8\nintegrator = "radau"\n'
    table = solved(problem_file(text))
    assert (table["points"], table["sampler"], table["integrator"]) == (90, "elm", "scipy-radau")


def test_boundary_conditions_by_side(problem_file):
    text = '[boundary]\nleft = {kind = "dirichlet", value = 0}\nright = ["u = 0"]\n'
    assert solved(problem_file(text, boundary=None))["error"]["u"] < 1e-8


def test_periodic_domain_and_systems(tmp_path):
    file = tmp_path / "system.toml"
    file.write_text(
        'equation = ["a_t = -b_xx", "b_t = a_xx"]\n'
        "time = [0, 1]\n"
        'initial = {a = "cos(x)", b = 0}\n'
        'exact = {a = "cos(x)*cos(t)", b = "-cos(x)*sin(t)"}\n'
        "domain = {lower = 0, upper = 6.283185307179586, periodic = true}\n"
        "solve = {width = 40}\n"
    )
    assert max(solved(file)["error"].values()) < 1e-8


def test_two_dimensions(tmp_path):
    file = tmp_path / "plate.toml"
    file.write_text(
        'equation = "u_tt = lap(u)"\n'
        "time = [0, 1]\n"
        'initial = "sin(pi*x)*sin(pi*y)"\n'
        "initial_velocity = 0\n"
        'boundary = "u = 0"\n'
        'exact = "sin(pi*x)*sin(pi*y)*cos(sqrt(2)*pi*t)"\n'
        "domain = {lower = [0, 0], upper = [1, 1]}\n"
        "solve = {width = 20, points = [30, 32]}\n"
    )
    table = solved(file)
    assert table["error"]["u"] < 1e-4
    assert table["points"] == 30 * 32


# ---- refusals: a message, exit code 1, no traceback -----------------------------------------------


def test_missing_file(refused):
    assert "there is no file 'nowhere.toml'." in refused("solve", "nowhere.toml")


def test_folder_instead_of_a_file(refused, tmp_path):
    (tmp_path / "folder.toml").mkdir()
    assert "folder.toml" in refused("solve", tmp_path / "folder.toml")


@pytest.mark.parametrize("content", [b"equation = \n", b"= 3", b'equation = "u_t', b"\xff\xfe"])
def test_broken_toml(refused, tmp_path, content):
    file = tmp_path / "broken.toml"
    file.write_bytes(content)
    message = refused("solve", file)
    assert "broken.toml' is not valid TOML: " in message


@pytest.mark.parametrize(
    ("replaced", "appended", "text"),
    [
        ({}, "widht = 3\n", "unknown key 'widht' under [solve]; the keys are seed, width, points,"),
        ({}, "[bondary]\nleft = 0\n", "unknown key 'bondary'; the keys are 'boundary', "),
        ({}, "[bondary]\nleft = 0\n", "Did you mean 'boundary'?"),
        ({"lower": "0\nmiddle = 3"}, "", "unknown key 'middle' in the domain; the keys are"),
        ({"lower": "0\nuper = 3"}, "", "'lower', 'upper' and 'periodic'. Did you mean 'upper'? Other shapes need"),
        ({"equation": None}, "", "the key 'equation' is missing."),
        ({"initial": None}, "", "the key 'initial' is missing; a static problem has neither"),
        ({"upper": None}, "", "the domain needs the keys 'lower' and 'upper'."),
        ({"boundary": None}, "", "no boundary condition for the sides 'left', 'right'"),
        ({"boundary": "5"}, "", "a boundary condition is text such as 'u = 0', a list or a table by side; got 5."),
        ({"boundary": '{kind = "dirichlt"}'}, "", "unknown kind of boundary condition 'dirichlt'; choose one of"),
        ({"boundary": '{kind = "dirichlet", valu = 0}'}, "", "'valu'"),
        ({"boundary": '{kind = "robin", alpha = 1}'}, "", "'beta'"),
        ({"time": "3"}, "", "time must be (start, end), got 3"),
        ({"time": '["a", "b"]'}, "", "time must be (start, end)"),
        ({"time": "[1, 0]"}, "", "time must run forward"),
        ({"lower": '"a"'}, "", "'a'"),
        ({"lower": "[0, 0]"}, "", "lower and upper need one number per axis each"),
        ({"initial": '"sin(pi*z)"'}, "", "'z'"),
        ({"equation": '"u_t = k*u_xx +"'}, "", "u_t = k*u_xx +"),
        ({"equation": "7"}, "", "an equation is text"),
        ({"k": '"__import__"'}, "", "names with '__' are refused"),
        ({"width": "20.5"}, "", "width must be a positive whole number of neurons, got 20.5."),
        ({"width": '"wide"'}, "", "width must be a positive whole number"),
        ({}, 'tol = "small"\n', "tol must lie between 0 and 1, got 'small';"),
        ({}, "tol = 7\n", "tol must lie between 0 and 1, got 7;"),
        ({}, "seed = -1\n", "seed must be a whole number from 0 on, got -1."),
        ({}, 'seed = "x"\n', "seed must be a whole number from 0 on, got 'x'."),
        ({}, 'points = "many"\n', "points"),
        ({}, "points = 0\n", "points"),
        ({}, 'cutoff = "small"\n', "got 'small'."),
        ({}, "cutoff = 2.0\n", "must lie between 0 and 1, got 2.0."),
        ({}, 'sampler = "swimm"\n', "unknown sampler 'swimm'; choose one of 'elm', 'multi-scale', 'orthogonal'"),
        ({}, 'integrator = "euler"\n', "unknown integrator 'euler'; choose one of 'bdf', 'cvode',"),
        ({}, 'boundary = "penalty"\n', "unknown boundary strategy 'penalty'; choose one of 'augmented-ode',"),
        ({}, 'point_method = "grid"\n', "unknown sampling method 'grid'; choose one of 'gauss',"),
    ],
)
def test_refused_files(refused, problem_file, replaced, appended, text):
    assert text in refused("solve", problem_file(appended, **replaced)).replace("\n    ", " ")


@pytest.mark.parametrize("document", ["domain = 5", "solve = 5"])
def test_tables_that_are_none(refused, tmp_path, document):
    file = tmp_path / "flat.toml"
    rest = 'equation = "u_t = u_xx"\ntime = [0, 1]\ninitial = 0\nboundary = "u = 0"\n'
    file.write_text(rest + document + ("" if "domain" in document else "\ndomain = {lower = 0, upper = 1}"))
    assert "table" in refused("solve", file)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--tol", 7), "tol must lie between 0 and 1, got 7.0;"),
        (("--seed", -1), "seed must be a whole number from 0 on, got -1."),
        (("--plot", "nowhere/u.png"), "nowhere"),
        (("--plot", "u.picture"), "picture"),
        (("--save", "nowhere/u.fpinn"), "nowhere"),
        (("--json", "nowhere/u.json"), "nowhere"),
    ],
)
def test_refused_options(refused, problem_file, arguments, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert text in refused("solve", problem_file(), "--no-estimate", *arguments)


def test_targets_are_checked_before_the_solve(refused, problem_file, monkeypatch, tmp_path):
    """Nobody should wait for a solve to learn that its result can't be written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fp, "solve", lambda *_, **__: pytest.fail("solved first"))
    refused("solve", problem_file(), "--save", "nowhere/u.fpinn")


def test_integration_failure_is_a_message(refused, problem_file):
    message = refused("solve", problem_file(equation='"u_t = -u_xx"', time="[0, 50]", exact=None), "--no-estimate")
    assert "grow" in message


# ---- demo -----------------------------------------------------------------------------------------


def test_demo_solves_burgers_and_draws_it(monkeypatch, tmp_path):
    """With more viscosity than the real one, which takes seconds."""
    monkeypatch.setattr("frozenpinn.cli.demo.burgers", partial(burgers, nu=0.1))
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0
    assert "u*u_x" in result.stdout
    assert "true error u" in result.stdout
    assert "estimated error u" in result.stdout
    assert (tmp_path / "demo.png").stat().st_size > 5000


# ---- real processes -------------------------------------------------------------------------------


def test_process_json_is_pure_and_warnings_go_to_standard_error(problem_file, tmp_path):
    """The initial data miss the boundary value: a warning, not part of the JSON."""
    file = problem_file(initial='"sin(pi*x) + 1e-4"', exact=None)
    done = process("solve", file, "--json", "-", "--plot", "u.png", cwd=tmp_path)
    assert done.returncode == 0
    assert strict_json(done.stdout)["integrator"] == "exact"
    assert "warning: the initial data contradict the condition 'u = 0' on side 'left' by 0.0001" in done.stderr
    assert "FrozenPinnWarning" not in done.stderr
    assert "wrote u.png" in done.stderr


def test_process_refuses_without_a_traceback():
    done = process("solve", "advectoin")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: unknown case 'advectoin'. Did you mean 'advection'?")
    assert "Traceback" not in done.stderr


def test_process_wrong_option_is_a_usage_error():
    done = process("solve", "problem.toml", "--sede", 3)
    assert done.returncode == 2
    assert "--seed" in done.stderr


def test_installed_command_solves_the_example():
    command = Path(sys.executable).with_name("frozenpinn")
    if not command.exists():
        pytest.fail("the package is not installed with its command")
    done = subprocess.run(
        [command, "solve", "examples/problem_file.toml", "--json", "-"],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert strict_json(done.stdout)["error"]["u"] < 1e-9


def test_problem_error_of_a_file_is_raised_in_python(problem_file):
    with pytest.raises(ProblemError, match="no boundary condition"):
        read_problem_file(Path(problem_file(boundary=None)))


@pytest.mark.parametrize("found", [True, False])
def test_interruption(problem_file, monkeypatch, tmp_path, found):
    """Ctrl-C: a word, the best so far if there is one, and the exit code of shells."""
    solve = fp.solve

    def interrupted(problem, **options):
        best = solve(problem, settings=fp.Settings(width=20)) if found else None
        raise InterruptionError("the solve was interrupted.", best)

    monkeypatch.setattr(fp, "solve", interrupted)
    result = run("solve", problem_file(), "--save", tmp_path / "best.fpinn")
    assert result.exit_code == 130
    assert "the solve was interrupted." in result.stderr
    assert ("residual" in result.stdout) == found
    assert (tmp_path / "best.fpinn").exists() == found


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "frozenpinn", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"frozenpinn {fp.__version__}"
