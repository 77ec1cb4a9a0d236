"""The command ``frozenpinn infer``."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from frozenpinn.cli import app

PROBLEM = """
equation = "k*u_xx = -1"
boundary = "u = 0"

[domain]
lower = [0.0]
upper = [1.0]

[parameters]
k = {start = 1.0, lower = 0.1, upper = 10.0}
"""


@pytest.fixture
def files(tmp_path):
    problem, data = tmp_path / "problem.toml", tmp_path / "data.csv"
    problem.write_text(PROBLEM)
    x = np.linspace(0.1, 0.9, 9)
    lines = [f"{a},{b}" for a, b in zip(x, x * (1 - x) / 4, strict=True)]
    data.write_text("x,u\n" + "\n".join(lines) + "\n")
    return problem, data


def run(*arguments):
    return CliRunner().invoke(app, ["infer", *map(str, arguments)])


def test_the_report_and_a_picture(files, tmp_path):
    result = run(*files, "--plot", tmp_path / "fit.png")
    assert result.exit_code == 0, result.output
    assert "inferred from 9 measurements" in result.output
    assert re.search(r"k = (1\.99999999|2\.0000000)", result.output)
    assert (tmp_path / "fit.png").exists()


def test_json(files, tmp_path):
    result = run(*files, "--json", tmp_path / "found.json")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["parameters"]["k"]["value"] == pytest.approx(2.0, rel=1e-8)
    assert found["freedom"] == 8


def test_noise_is_a_number_or_a_percentage(files):
    result = run(*files, "--noise", "much")
    assert result.exit_code != 0
    assert "--noise takes a number or a percentage" in str(result.exception)


def test_a_table_that_is_no_unknown(files):
    problem, data = files
    problem.write_text(PROBLEM.replace("lower = 0.1", "least = 0.1"))
    result = run(problem, data)
    assert "parameter 'k' is an unknown with 'least'; it may have 'lower', 'start', 'upper'" in str(result.exception)


def test_an_unknown_function_from_a_file_with_two_columns(tmp_path):
    problem, data = tmp_path / "problem.toml", tmp_path / "data.csv"
    problem.write_text(
        """
equation = "u_t = 0.1*u_xx"
time = [0.0, 0.1]
initial = {start = 0.0, field = true}
boundary = "u = 0"

[domain]
lower = [0.0]
upper = [1.0]
"""
    )
    x, decay = np.linspace(0.02, 0.98, 25), np.exp(-0.1 * np.pi**2 * 0.1)
    columns = np.stack([x, 0 * x + 0.1, decay * np.sin(np.pi * x), np.pi * decay * np.cos(np.pi * x)], axis=1)
    data.write_text("x,t,u,u_x\n" + "\n".join(",".join(f"{v:.8g}" for v in row) for row in columns) + "\n")
    result = run(problem, data, "--json", tmp_path / "found.json", "--plot", tmp_path / "fit.png")
    assert result.exit_code == 0, result.output
    field = json.loads((tmp_path / "found.json").read_text())["fields"]["initial"]
    assert np.array(field["value"])[50] == pytest.approx(1.0, abs=0.02)
    assert (tmp_path / "fit.png").exists()


def test_data_that_are_not_there_or_no_text(files, tmp_path):
    problem, _ = files
    assert "there is no file" in str(run(problem, tmp_path / "none.csv").exception)
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\xff\xfe")
    assert "is not a text of columns: save it as CSV" in str(run(problem, tmp_path / "picture.csv").exception)
