"""Every example runs without a warning and asserts its own error."""

import ast
import importlib.util
from pathlib import Path

import pytest

import frozenpinn as fp
from frozenpinn.cli.problem_file import read_problem_file

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))


def test_there_are_examples():
    assert len(SCRIPTS) >= 8


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example(script, capsys):
    spec = importlib.util.spec_from_file_location(f"example_{script.stem}", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()
    assert capsys.readouterr().out.strip(), "an example shows something"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_reads_as_a_tutorial(script):
    text = script.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= 80
    assert set("ₜₓΔ") & set(ast.get_docstring(tree)), "the equation stands in the docstring, in Unicode"
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), "an example asserts its own error"


def test_problem_file():
    problem, options = read_problem_file(EXAMPLES / "problem_file.toml")
    for seed in range(3):
        assert fp.solve(problem, seed=seed, **options).error()["rel_l2"] < 1e-9
