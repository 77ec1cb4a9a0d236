"""The documentation: every code block runs, links lead somewhere, every public name is in the reference."""

import ast
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import frozenpinn as fp
from frozenpinn.errors import FrozenPinnWarning

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
HIDDEN = re.compile(r"<!-- runs first\n(.*?)-->", re.S)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def code_of(page):
    """Return the code of a page in its order, what is needed but not shown included; lines keep their numbers."""
    text = page.read_text(encoding="utf-8")
    found = [*HIDDEN.finditer(text), *BLOCK.finditer(text)]
    return [(text.count("\n", 0, m.start(1)), m[1]) for m in sorted(found, key=lambda m: m.start())]


@pytest.mark.parametrize("page", [p for p in PAGES if code_of(p)], ids=lambda page: page.stem)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "documentation"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrozenPinnWarning)
        for line, code in code_of(page):
            exec(compile("\n" * line + code, str(page), "exec"), names)


ANCHOR = re.compile(r"[^\w\- ]", re.UNICODE)


def anchors(page):
    """Return what links to sections of a page may end in."""
    heads = re.findall(r"^#+ +(.*)$", page.read_text(encoding="utf-8"), re.M)
    return {ANCHOR.sub("", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        name, _, section = target.partition("#")
        base = DOCS if page.name == "CONTRIBUTING.md" else page.parent  # it is shown as a page of the site
        file = (base / name) if name else page
        made = name.startswith(("auto_gallery/", "reference/")) or name in ("contributing.md", "changelog.md")
        assert made or file.exists(), f"{page.name}: {target}"
        if section and file.suffix == ".md":
            assert section in anchors(file), f"{page.name}: {target}"


@pytest.fixture
def site(monkeypatch):
    """Let the modules beside the pages be imported."""
    monkeypatch.syspath_prepend(str(DOCS))
    yield
    for name in ("gallery_problems", "reference"):
        sys.modules.pop(name, None)


def test_the_gallery_has_forty_problems(site, tmp_path):
    import gallery_problems

    assert gallery_problems.write(tmp_path) >= 40
    scripts = sorted(tmp_path.rglob("plot_*.py"))
    for script in scripts:
        tree = ast.parse(script.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree)
        assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), script
    assert len({script.name for script in scripts}) == len(scripts)


def test_problems_of_the_gallery_are_sound(site):
    import gallery_problems

    for _, entries in gallery_problems.GROUPS.values():
        for entry in entries:
            tree = ast.parse(gallery_problems.script(entry))
            stop = next((k for k, node in enumerate(tree.body) if "fp.solve" in ast.unparse(node)), None)
            if stop is not None:  # the statement, which checks itself; solving is for the site
                names = {}
                exec(compile(ast.Module(tree.body[:stop], []), entry.name, "exec"), names)
                assert not fp.check(names["problem"]).of("error"), entry.name


def test_every_public_name_is_in_the_reference(site, tmp_path):
    import reference

    reference.write(tmp_path)
    text = "\n".join(file.read_text(encoding="utf-8") for file in tmp_path.glob("*.rst"))
    listed = set(re.findall(r"^\.\. auto\w+:: frozenpinn\.([\w.]+)$", text, re.M))
    for name in reference.names_of(fp):
        assert name in listed
    for module in ("boundary", "domains", "integrators", "samplers", "stages"):
        assert {f"{module}.{name}" for name in getattr(fp, module).__all__} <= listed


def test_the_site_builds_without_a_warning(tmp_path):
    """Pictures of the gallery are for ``make docs``; everything else is built, references and links included."""
    for name in ("docs", "examples"):
        made = shutil.ignore_patterns("_build", "gallery", "auto_gallery", "reference", "__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=made)
    for page in ROOT.glob("*.md"):
        shutil.copy(page, tmp_path)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0", "docs", "site"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "site" / "tutorials.html").exists()
    assert len(list((tmp_path / "site" / "auto_gallery").rglob("plot_*.html"))) >= 40
