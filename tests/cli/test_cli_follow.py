"""The command that follows a path."""

import json

import pytest
from typer.testing import CliRunner

from frozenpinn.cli import app
from frozenpinn.errors import ProblemError

TEXT = """
equation = "u_xx + lam*exp(u) = 0"
boundary = "u = 0"
domain = {lower = 0, upper = 1}
parameters = {lam = 1.0}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "bratu.toml").write_text(TEXT, encoding="utf-8")
    return str(tmp_path / "bratu.toml")


def test_report_and_picture(file, tmp_path):
    picture = tmp_path / "path.png"
    result = CliRunner().invoke(app, ["follow", file, "lam", "0", "4", "--steps", "20", "--plot", str(picture)])
    assert result.exit_code == 0
    assert "fold" in result.stdout
    assert "lam = 3.513830719" in result.stdout
    assert picture.stat().st_size > 1000


def test_json(file):
    result = CliRunner().invoke(app, ["follow", file, "lam", "0", "1", "--norm", "max", "--json", "-"])
    path = json.loads(result.stdout)
    assert path["reason"] == "it reaches lam = 1"
    assert path["norms"][-1] == pytest.approx(0.1405392, abs=1e-5)


def test_unknown_names(file):
    result = CliRunner().invoke(app, ["follow", file, "lma", "0", "1"])
    assert isinstance(result.exception, ProblemError)
    assert "Did you mean 'lam'?" in str(result.exception)
