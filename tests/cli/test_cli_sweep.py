"""The commands ``check`` and ``sweep``, ``--set``, files of ``solve``, exit codes, switches for everything."""

import json
import logging
import sys
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn.cli import values as cli_values

TEXT = """
equation = "u_t = k*u_xx"
time = [0, 0.5]
initial = "sin(pi*x)"
boundary = "u = 0"
[domain]
lower = 0
upper = 1
[parameters]
k = 0.1
[solve]
width = 12
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "heat.toml").write_text(TEXT)
    return tmp_path / "heat.toml"


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture
def main(monkeypatch, capsys):
    """Run main() as the command does; return exit code, output and errors."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["frozenpinn", *(str(a) for a in arguments)])
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            with pytest.raises(SystemExit) as stopped:
                cli.main()
        return stopped.value.code, *capsys.readouterr()

    return call


# ---- check and --set ---------------------------------------------------------------------------------


def test_check_tells_what_was_found(file):
    result = run("check", file)
    assert result.exit_code == 0
    assert "u_t = 0.1*u_xx" in result.stdout
    assert "no objections" in result.stdout
    assert "u_t = 0.3*u_xx" in run("check", file, "--set", "k=0.3").stdout


def test_check_refuses_what_is_ill_posed(file, main):
    code, _, err = main("check", file, "--set", "k=-1")
    assert code == 2
    assert "error: the problem is ill posed" in err


def test_other_values_of_parameters(file):
    result = run("solve", file, "--set", "k=0.3", "--no-estimate")
    assert result.exit_code == 0
    assert "u_t = 0.3*u_xx" in result.stdout


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("kk=3", "'kk' is not a parameter of this problem"),
        ("k", "--set takes a name and a value, such as nu=0.02; got 'k'"),
        ("k=sin(", "the expression ends too early"),
    ],
)
def test_values_that_make_no_sense(file, main, given, text):
    code, out, err = main("solve", file, "--set", given)
    assert (code, out) == (2, "")
    assert text in err


# ---- files and exit codes ----------------------------------------------------------------------------


def test_files_of_a_solve(file, tmp_path):
    names = {"--csv": "u.csv", "--netcdf": "u.nc", "--vtk": "u.pvd", "--save": "u.fpinn", "--page": "u.html"}
    options = [text for flag, name in names.items() for text in (flag, tmp_path / name)]
    result = run("solve", file, "--no-estimate", *options, "--json", "-")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["width"] == 12
    assert "PDE residual u" in result.stderr
    for name in names.values():
        assert (tmp_path / name).exists()
        assert f"wrote {tmp_path / name}" in result.stderr
    assert (tmp_path / "u.csv").read_text().startswith("x,t,u\n")


def test_files_that_are_there_are_kept(file, tmp_path, main):
    (tmp_path / "u.csv").write_text("precious")
    code, _, err = main("solve", file, "--csv", tmp_path / "u.csv")
    assert code == 2
    assert "there is a file" in err
    assert (tmp_path / "u.csv").read_text() == "precious"
    assert run("solve", file, "--no-estimate", "--csv", tmp_path / "u.csv", "--overwrite").exit_code == 0
    assert (tmp_path / "u.csv").read_text() != "precious"


def test_exit_codes(file, tmp_path, main):
    assert run("solve", file, "--tol", "1e-3").exit_code == 0
    code, out, err = main("solve", file, "--tol", "1e-12")
    assert code == 3
    assert "reached" in out
    assert "warning:" in err
    file.write_text(TEXT.replace('"u_t = k*u_xx"', '"u_t = 100*u**3"').replace("[0, 0.5]", "[0, 5]"))
    code, _, err = main("solve", file)
    assert code == 1
    assert "error:" in err


def test_version_quiet_and_verbose(file):
    assert run("--version").stdout.strip() == f"frozenpinn {fp.__version__}"
    quiet = run("--quiet", "solve", file, "--no-estimate", "--json", "-")
    assert quiet.stderr == ""
    logger = logging.getLogger("frozenpinn")
    before = list(logger.handlers)
    try:
        run("-v", "solve", file, "--no-estimate")
        assert logger.level == logging.INFO
        run("-vv", "solve", file, "--no-estimate")
        assert logger.level == logging.DEBUG
    finally:
        logger.handlers[:], logger.level = before, logging.WARNING
        cli.log.quiet = False


def test_stages_are_logged(caplog):
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    with caplog.at_level(logging.DEBUG, logger="frozenpinn"):
        fp.solve(problem, tol=1e-4)
    assert any("integration" in record.message for record in caplog.records)
    assert any(record.message.startswith("converged: ") for record in caplog.records)


# ---- sweep -------------------------------------------------------------------------------------------


def test_a_sweep_into_a_store(file, tmp_path):
    command = ("sweep", file, "--set", "k=0.1:0.3:3", "--points", 5, "--times", "0,0.5", "--out", tmp_path / "r.zarr")
    result = run(*command)
    assert result.exit_code == 0
    assert "3 runs: 3 unchecked" in result.stdout
    found = fp.sweeps.open_sweep(tmp_path / "r.zarr")
    np.testing.assert_allclose(found.k, [0.1, 0.2, 0.3])
    assert found.t.values.tolist() == [0.0, 0.5]
    assert run(*command).exit_code == 0


def test_failed_runs_are_told_and_change_the_exit_code(file):
    result = run("sweep", file, "--set", "k=0.1,-1", "--points", 5, "--times", 2)
    assert result.exit_code == 1
    assert "run 1 failed: the problem is ill posed" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "say what varies, such as --set nu=0.01:0.1:20"),
        (("--set", "k=1:2"), "--set k=1:2 makes no sense; write nu=0.01:0.1:20"),
        (("--set", "k=1:2:1"), "makes no sense"),
        (("--set", "k=1:1:5"), "the range is empty"),
        (("--set", "k=0:1:5:log"), "not positive as a logarithmic one must be"),
        (("--set", "k=a:1:5"), "'a' is not a number"),
        (("--set", "k=normal(1,0.1)"), "say how many samples to draw"),
        (("--set", "k=1,2", "--set", "k=3"), "--set gives 'k' twice"),
        (("--set", "k=1,2", "--times", "soon"), "--times takes how many, 5, or a list such as 0,0.5,1; got 'soon'"),
    ],
)
def test_sweeps_that_make_no_sense(file, main, arguments, text):
    code, out, err = main("sweep", file, *arguments)
    assert (code, out) == (2, "")
    assert text in err.replace("\n", " ")


def test_what_varies_on_the_command_line():
    found = cli_values.varied(["a=1:100:3:log", "b=1,x**2", "c=uniform(0,2)", "initial=gaussian(0.3)", "d=normal(1,2)"])
    np.testing.assert_allclose(found["a"], [1, 10, 100])
    assert found["b"] == [1.0, "x**2"]
    assert found["c"] == fp.Uniform(0, 2)
    assert found["initial"] == fp.sweeps.GaussianField(0.3)
    assert found["d"] == fp.Normal(1, 2)
