"""The Python blocks of a page, run as a reader runs them: alone, from top to bottom, with nothing that the page hides.

A page starts as a fresh process in an empty folder. Packages of an extra can be imported only after the page has said
how to install it, as in ``pip install '.[geometry]'``. What a block prints, draws and writes is returned, so that the
site can show it.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import tomllib
import traceback
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)
INSTALL = re.compile(r"pip install '?(\./lab|\.)(?:\[([\w,]+)\])?")
SHOWN = {".png": "picture", ".svg": "picture", ".html": "page"}


class Block(NamedTuple):
    """Code, the line of the page before it, and the optional packages that the page has not named so far."""

    line: int
    code: str
    absent: list[str]


class BlockError(Exception):
    """A block raised an error; the text is its traceback, with lines of the page."""


def _packages(requirements: list[str]) -> set[str]:
    """Return the names under which required packages are imported."""
    names = {re.split(r"[<>=\[ ]", text)[0] for text in requirements}
    return {{"scikit-fem": "skfem", "py-pde": "pde"}.get(name, name.replace("-", "_")) for name in names}


def optional_packages() -> dict[tuple[str, str], set[str]]:
    """Return what each extra of the library (``"."``) and of the lab (``"./lab"``) installs; '' is the lab itself."""
    found = {("./lab", ""): {"frozenpinn_lab"}}
    for where in (".", "./lab"):
        project = tomllib.loads((ROOT / where / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for extra, requirements in project["optional-dependencies"].items():
            if extra not in ("dev", "docs"):
                found[where, extra] = _packages(requirements)
    return found


def _named(text: str, optional: dict[tuple[str, str], set[str]]) -> set[str]:
    """Return the optional packages that commands in a text install."""
    packages: set[str] = set()
    for where, extras in INSTALL.findall(text):
        for extra in ["", *extras.split(",")]:
            packages |= optional.get((where, extra), set())
    return packages


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page in their order."""
    optional = optional_packages()
    every = set().union(*optional.values())
    return [
        Block(text.count("\n", 0, found.start(1)), found[1], sorted(every - _named(text[: found.start()], optional)))
        for found in BLOCK.finditer(text)
    ]


def not_installed(text: str) -> list[str]:
    """Return the packages that a page says how to install, and that are not here."""
    return [name for name in sorted(_named(text, optional_packages())) if importlib.util.find_spec(name) is None]


def run(page: Path, folder: Path) -> list[list[tuple[str, str]]]:
    """Run the blocks of a page in a folder; return what each leaves: pairs of a kind (text, picture, page) and a value.

    Values are texts, or names of files in the folder.
    """
    command = [sys.executable, str(Path(__file__).resolve()), str(page)]
    asked = json.dumps(blocks(page.read_text(encoding="utf-8")))
    done = subprocess.run(command, input=asked, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BlockError(done.stderr)
    return json.loads(done.stdout)


def _results(page: Path, folder: Path) -> list[list[tuple[str, str]]]:
    """Return what the blocks of a page leave; it is run again only if its blocks have changed."""
    text = page.read_text(encoding="utf-8")
    key = hashlib.sha256((repr(blocks(text)) + Path(__file__).read_text(encoding="utf-8")).encode()).hexdigest()
    kept = folder / "results.json"
    if kept.exists() and (found := json.loads(kept.read_text(encoding="utf-8")))["key"] == key:
        return found["results"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        results = run(page, folder)
    except BlockError as error:
        if not any(name in str(error) for name in not_installed(text)):
            raise
        return []
    kept.write_text(json.dumps({"key": key, "results": results}), encoding="utf-8")
    return results


FORMS = {
    "text": "~~~~{{code-block}} text\n:class: result\n\n{value}\n~~~~\n",
    "picture": "![What this code draws]({folder}/{value})\n",
    "page": '<iframe class="moving" loading="lazy" src="{folder}/{value}" title="a page that moves"></iframe>\n',
}


def with_results(page: Path, folder: Path, address: str) -> str:
    """Return the text of a page, and below each block what it leaves; files are put into a folder with an address."""
    text = page.read_text(encoding="utf-8")
    ends = [found.end() for found in BLOCK.finditer(text)]
    for end, shown in reversed(list(zip(ends, _results(page, folder), strict=False))):
        forms = [FORMS[kind].format(folder=address, value=value.rstrip()) for kind, value in shown]
        text = text[:end] + "".join(f"\n\n{form}" for form in forms) + text[end:]
    return text


def _leaves(node: ast.stmt, page: str, names: dict[str, Any], last: bool) -> list[tuple[str, str]]:
    """Run one statement; return what a notebook would show of it, and the pictures and pages that it writes."""
    before = {file: file.stat().st_mtime_ns for file in Path().iterdir()}
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), page, "eval"), names)
        else:
            exec(compile(ast.Module([node], []), page, "exec"), names)
    written = [file for file in sorted(Path().iterdir()) if before.get(file) != file.stat().st_mtime_ns]
    shown = [(SHOWN[file.suffix], file.name) for file in written if file.suffix in SHOWN]
    if hasattr(value, "savefig"):
        if not shown:
            name = f"figure-{len(before)}.png"
            value.savefig(name, dpi=100)
            shown.append(("picture", name))
    elif last and value is not None and not shown:
        print(repr(value), file=printed)
    return ([("text", printed.getvalue())] if printed.getvalue() else []) + shown


class Plain:
    """Finds modules as another finder does, but none of the hidden packages."""

    def __init__(self, finder: Any, hidden: set[str]):
        self.finder, self.hidden = finder, hidden

    def find_spec(self, name: str, *more: Any) -> Any:
        """Return None for a hidden package, as if it were not installed."""
        return None if name.partition(".")[0] in self.hidden else self.finder.find_spec(name, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.finder, name)


def _joined(shown: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what a block leaves, with texts in a row as one."""
    found: list[tuple[str, str]] = []
    for kind, value in shown:
        if kind == "text" and found and found[-1][0] == "text":
            found[-1] = ("text", found[-1][1] + value)
        else:
            found.append((kind, value))
    return found


def _main() -> None:
    """Run the blocks that standard input lists, as one program."""
    names: dict[str, Any] = {"__name__": "__main__"}
    page, found = sys.argv[1], []
    sys.argv, sys.path[0] = ["page"], ""
    hidden: set[str] = set()
    sys.meta_path[:] = [Plain(finder, hidden) for finder in sys.meta_path]
    for line, code, absent in json.load(sys.stdin):
        hidden.clear()
        hidden.update(absent)
        tree = ast.increment_lineno(ast.parse(code), line)
        shown: list[tuple[str, str]] = []
        for node in tree.body:
            shown += _leaves(node, page, names, last=node is tree.body[-1])
        found.append(_joined(shown))
    print(json.dumps(found))


if __name__ == "__main__":
    try:
        _main()
    except Exception:
        sys.exit(traceback.format_exc())
