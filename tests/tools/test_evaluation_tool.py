"""The table of evaluation speed: its shape, and that values at many places are those at single ones."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["pairs (x, t), Burgers", "80 × 90, closed form"])
def test_the_table_has_a_line_for_each_solution(name, capsys):
    spec = importlib.util.spec_from_file_location("evaluation_speed", ROOT / "tools" / "evaluation_speed.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.main(["--points", "5000", "--only", name])
    heading, _, line = capsys.readouterr().out.splitlines()
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    assert len(cells) == len(heading.strip("| ").split("|"))
    assert cells[0] == name
    assert float(cells[-1]) < 1e-9
