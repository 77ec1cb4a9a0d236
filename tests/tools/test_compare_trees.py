"""The comparison of two source trees: what it runs, what it flags, what it refuses."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("compare_trees", ROOT / "tools" / "compare_trees.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_tree_beside_itself(tool, capsys, monkeypatch):
    monkeypatch.setattr(tool, "IMPORTS", 1)
    tool.main([str(SOURCE), str(SOURCE), "wave", "--repeats", "1"])
    out, told = capsys.readouterr()
    heading, rule, line, _, whole, last = out.splitlines()
    assert heading.startswith("| case | recipe | error A | error B | ratio | seconds A | seconds B | ratio |")
    assert rule.startswith("| --- |")
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    assert cells[:2] == ["wave", "best"]
    assert cells[2] == cells[3]
    assert cells[4] == "1.00"
    assert whole.startswith("`import frozenpinn`: ")
    assert last.startswith("`from frozenpinn import Interval, Problem, solve`: ")
    assert told.splitlines() == ["wave, best: A, 1 of 1", "wave, best: B, 1 of 1"]


def test_all_cases_are_found(tool):
    from frozenpinn_lab.cases import CASES

    assert tool.listed(SOURCE) == list(CASES)


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        ((1e-8, 1.0), (1.4e-8, 1.05), ""),
        ((1e-8, 1.0), (1.6e-8, 1.05), "**worse**"),
        ((1e-8, 1.0), (1e-9, 1.2), "**slower**"),
        ((1e-8, 1.0), (float("nan"), 1.2), "**worse**, **slower**"),
        ((1e-8, 1.0), (None, None, "blew | up"), "**fails**, B: blew / up"),
        ((None, None, "blew up"), (None, None, "blew up"), "A: blew up, B: blew up"),
        ((0.0, 1.0), (0.0, 1.0), ""),
        ((0.0, 1.0), (1e-300, 1.0), "**worse**"),
    ],
)
def test_flags(tool, before, after, note):
    assert tool.row("wave", "best", tool.Outcome(*before), tool.Outcome(*after))[-1] == note


def test_largest_error_and_least_seconds_count(tool):
    joined = tool.Outcome(1e-8, 2.0).joined(tool.Outcome(2e-8, 1.0))
    assert joined == tool.Outcome(2e-8, 1.0)
    assert joined.joined(tool.Outcome(reason="blew up")).reason == "blew up"


def test_missing_settings_are_no_line(tool):
    options = tool.argparse.Namespace(seeds=1, precision=None, budget=None)
    assert tool.bench(SOURCE, "allen-cahn", "paper", options) == {}
    assert "unknown case" in tool.bench(SOURCE, "nonsense", "best", options)["nonsense"].reason


@pytest.mark.parametrize("arguments", [[], ["wave", "--all"], ["wave", "--repeats", "0"]])
def test_wrong_arguments_are_refused(tool, arguments, capsys):
    with pytest.raises(SystemExit):
        tool.main([str(SOURCE), str(SOURCE), *arguments])
    assert "error:" in capsys.readouterr().err


def test_a_path_without_a_tree_is_refused(tool, tmp_path, capsys):
    with pytest.raises(SystemExit):
        tool.main([str(SOURCE), str(tmp_path), "wave"])
    assert f"there is no tree in '{tmp_path}'" in capsys.readouterr().err
