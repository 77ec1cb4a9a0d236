"""The commands modes and stability."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli

STRING = """
equation = "-u_xx = lam*u"
eigenvalue = "lam"
boundary = "u = 0"
[domain]
lower = 0
upper = 3.141592653589793
"""
FISHER = """
equation = "u_t = u_xx + 20*u*(1 - u)"
time = [0, 1]
initial = 0
boundary = "u = 0"
[domain]
lower = 0
upper = 1
"""


@pytest.fixture
def run(tmp_path):
    def run(text, command, *options):
        file = tmp_path / "problem.toml"
        file.write_text(text, encoding="utf-8")
        return CliRunner().invoke(cli.app, [command, str(file), *options])

    return run


def test_table_and_picture(run, tmp_path):
    picture, stored = tmp_path / "modes.png", tmp_path / "modes.npz"
    result = run(STRING, "modes", "3", "--plot", str(picture), "--save", str(stored))
    assert result.exit_code == 0, result.output
    lines = [line.split()[0] for line in result.stdout.splitlines() if line.startswith(" ")]
    assert [float(value) for value in lines[1:]] == pytest.approx([1, 4, 9], rel=1e-10)
    assert picture.stat().st_size > 5000
    assert fp.load(str(stored)).values == pytest.approx([1, 4, 9], rel=1e-10)


def test_json_and_near(run):
    result = run(STRING, "modes", "2", "--near", "50", "--json", "-")
    report = json.loads(result.stdout)
    assert report["values"] == pytest.approx([49, 64], rel=1e-10)
    assert report["status"] == "estimated"


def test_stability(run):
    told = json.loads(run(FISHER, "stability", "2", "--json", "-").stdout)
    assert told["verdict"] == "unstable"
    assert told["growth"] == pytest.approx(20 - np.pi**2, rel=1e-9)
    assert "unstable: the fastest disturbances grow like exp(10.1304 t)" in run(FISHER, "stability").stdout


def test_wrong_files(run):
    twice = run(STRING + "[parameters]\nlam = 3\n", "modes")
    assert "'lam' is the eigenvalue and has a value under [parameters], too" in str(twice.exception)
    number = run(STRING.replace('"lam"', "1", 1), "modes")
    assert "'eigenvalue' is the name of the unknown number" in str(number.exception)
    none = run(FISHER, "modes")
    assert "there is no eigenvalue in the problem" in str(none.exception)
