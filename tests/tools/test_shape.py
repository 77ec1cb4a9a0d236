"""The mirror: what it counts, on a small tree."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    import sys

    spec = importlib.util.spec_from_file_location("shape", ROOT / "tools" / "shape.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["shape"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_counts_of_a_small_tree(tool, tmp_path):
    package = tmp_path / "src" / "frozenpinn"
    (package / "search").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "search" / "__init__.py").write_text("")
    (package / "solve.py").write_text(
        "from frozenpinn.search.rules import SearchRules\n_MOST, NAME = 3, 'x'\nLIMIT = -2.0\n"
    )
    rules = "class SearchRules:\n    step: float = 1.0\n    static: 'StaticRules' = None\n"
    (package / "search" / "rules.py").write_text(rules)
    (package / "unused.py").write_text("import warnings\nfrom frozenpinn.search.rules import SearchRules\n" * 2)
    with (package / "unused.py").open("a") as stream:
        stream.write("with warnings.catch_warnings():\n    isinstance(1, SearchRules), isinstance(1, int)\n")
    rows = tool.shape(tmp_path, solves=False)
    assert rows["modules"] == 5
    assert rows["rule fields"] == 1
    assert rows["numeric constants at module level"] == 1
    assert rows["isinstance on own classes"] == 1
    assert rows["catch_warnings"] == 1
    assert rows["lines reachable from solve.py"] == 3 + 3
    assert rows["lines of the kernel, without rare shapes"] == 3


def test_the_library_itself_can_be_counted(tool):
    rows = tool.shape(ROOT, solves=False)
    assert rows["lines of the library"] > rows["lines of the kernel, without rare shapes"] > 0
