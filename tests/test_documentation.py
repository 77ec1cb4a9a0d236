"""The documentation: every code block runs, links lead somewhere, every public name is in the reference."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import frozenpinn as fp

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
SHOWN = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "lab" / "README.md"]


def name_of(page):
    return str(page.relative_to(ROOT).with_suffix(""))


@pytest.fixture(autouse=True)
def site(monkeypatch):
    """Let the modules beside the pages be imported."""
    monkeypatch.syspath_prepend(str(DOCS))
    yield
    for name in ("blocks", "gallery_problems", "reference"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("page", [p for p in SHOWN if "```python" in p.read_text(encoding="utf-8")], ids=name_of)
def test_a_page_runs_as_a_reader_copies_it(page, tmp_path):
    import blocks

    text = page.read_text(encoding="utf-8")
    try:
        assert len(blocks.run(page, tmp_path)) == text.count("\n```python\n")
    except blocks.BlockError as error:
        lacking = [name for name in blocks.not_installed(text) if name in str(error)]
        if not lacking:
            raise
        pytest.skip(f"{', '.join(lacking)}: the page says how to install it")


def test_a_page_gets_no_name_and_no_package_that_it_does_not_show(tmp_path):
    import blocks

    page = tmp_path / "page.md"
    page.write_text("<!--\n```text\nx = 1\n```\n-->\n```python\nprint(x)\n```\n", encoding="utf-8")
    with pytest.raises(blocks.BlockError, match=r"(?s)page\.md., line 7.*NameError: name 'x'"):
        blocks.run(page, tmp_path)
    code = "```python\nfrom frozenpinn.domains import Polygon\nPolygon([(0, 0), (1, 0), (0, 1)]).measure\n```\n"
    page.write_text(code, encoding="utf-8")
    with pytest.raises(blocks.BlockError, match="polygons need the package shapely"):
        blocks.run(page, tmp_path)
    page.write_text("First `pip install '.[3d,geometry]'`.\n" + code, encoding="utf-8")
    assert blocks.run(page, tmp_path) == [[["text", "0.5\n"]]]


def test_what_a_block_shows(tmp_path):
    import blocks

    page = tmp_path / "page.md"
    page.write_text("```python\nimport frozenpinn as fp\n1\nprint(2)\nfp.Disk().plot()\n3\n```\n", encoding="utf-8")
    (shown,) = blocks.run(page, tmp_path)
    (kind, name) = shown.pop(1)
    assert shown == [["text", "2\n"], ["text", "3\n"]]  # values are shown at the end only
    assert kind == "picture"
    assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize("page", [p for p in SHOWN if "```toml" in p.read_text(encoding="utf-8")], ids=name_of)
def test_problem_files_of_a_page_are_sound(page, tmp_path):
    for k, text in enumerate(re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M)):
        file = tmp_path / f"{k}.toml"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "frozenpinn", "check", str(file)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


ANCHOR = re.compile(r"[^\w\- ]", re.UNICODE)


def anchors(page):
    """Return what links to sections of a page may end in."""
    heads = re.findall(r"^#+ +(.*)$", page.read_text(encoding="utf-8"), re.M)
    return {ANCHOR.sub("", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", SHOWN, ids=name_of)
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


def test_the_gallery_has_forty_problems(tmp_path):
    import gallery_problems

    assert gallery_problems.write(tmp_path) >= 40
    scripts = sorted(tmp_path.rglob("plot_*.py"))
    for script in scripts:
        tree = ast.parse(script.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree)
        assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), script
    assert len({script.name for script in scripts}) == len(scripts)


def test_problems_of_the_gallery_are_sound():
    import gallery_problems

    for _, entries in gallery_problems.GROUPS.values():
        for entry in entries:
            tree = ast.parse(gallery_problems.script(entry))
            stop = next((k for k, node in enumerate(tree.body) if "fp.solve" in ast.unparse(node)), None)
            if stop is not None:  # the statement, which checks itself; solving is for the site
                names = {}
                exec(compile(ast.Module(tree.body[:stop], []), entry.name, "exec"), names)
                assert not fp.check(names["problem"]).of("error"), entry.name


def test_every_public_name_is_in_the_reference(tmp_path):
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
