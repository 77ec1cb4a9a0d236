"""Print the shape of the library: how much there is to read, to know and to run.

    make shape
    python tools/shape.py --json -
    python tools/shape.py --root another/clone

Everything is read off the source, but the functions of a solve: they are counted while a problem is stated and solved
for the second time.
The numbers are a mirror, not a law: where one of them works against clarity, clarity wins.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "frozenpinn"
KERNEL = [
    "errors",
    "runtime",
    "language",
    "tables",
    "statement",
    "geometry",
    "operators",
    "basis",
    "assembly",
    "analysis",
    "integrators",
    "search",
]
RARE = f"{PACKAGE}.geometry.rare"
RULES = re.compile(r"Rules$|Grid$")
PRODUCT = re.compile(
    r"isinstance\([^()]*\b(?:ProductNetwork|Kronecker\w*|width, tuple)\)|\bis_product\b|\bproduct_axes\b|\bas_product\b"
)
WARM = {
    "heat": 'fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")',
    "Burgers": 'fp.Problem("u_t + u*u_x = 0.01*u_xx", fp.Interval(-1, 1), (0, 0.5), "-sin(pi*x)", "u = 0")',
    "Allen–Cahn in 2-d": (
        'fp.Problem("u_t = 0.01*lap(u) + u - u**3", fp.Box([0, 0], [1, 1]), (0, 1), "0.5*cos(pi*x)*cos(2*pi*y)", '
        '"dn(u) = 0")'
    ),
}
COUNT = """
import sys, warnings
warnings.simplefilter("ignore")
import frozenpinn as fp
def solve():
    fp.solve({problem}, tol=1e-6)
solve()
seen = set()
def note(frame, event, _):
    if event == "call" and "frozenpinn" in frame.f_code.co_filename and not frame.f_code.co_name.startswith("<"):
        seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))
sys.setprofile(note)
solve()
sys.setprofile(None)
print(len(seen), len({{file for file, _ in seen}}))
"""


@dataclass(frozen=True)
class Module:
    """One file of the library."""

    name: str
    text: str

    @property
    def lines(self) -> int:
        """How long it is."""
        return self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        """What it says."""
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        """The folder below the package, or the module itself."""
        return self.name.split(".")[1] if "." in self.name else ""

    def imported(self, known: dict[str, Module]) -> Iterator[str]:
        """Yield the modules that are imported with it, before anything is called."""
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in known else node.module
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in known)


def modules_of(root: Path) -> dict[str, Module]:
    """Return all modules of the library by name, without the lab."""
    source = root / "src"
    found = {}
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name.split(".")[1:2] != ["lab"]:
            found[name] = Module(name, path.read_text(encoding="utf-8"))
    return found


def reachable(modules: dict[str, Module], start: str) -> set[str]:
    """Return the modules that one of them needs before a problem asks for more."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in modules:
            continue
        seen.add(name)
        packages = [name.rsplit(".", k)[0] for k in range(1, name.count(".") + 1)]
        waiting += [*modules[name].imported(modules), *packages]
    return seen - {PACKAGE}


def rule_fields(modules: dict[str, Module]) -> int:
    """Count the numbers that are fields of rules."""
    classes = (node for m in modules.values() for node in ast.walk(m.tree) if isinstance(node, ast.ClassDef))
    return sum(
        isinstance(line, ast.AnnAssign) and "Rules" not in ast.unparse(line.annotation)
        for node in classes
        if RULES.search(node.name)
        for line in node.body
    )


def constants(modules: dict[str, Module]) -> int:
    """Count the names at module level that stand for numbers."""
    count = 0
    for module in modules.values():
        for node in module.tree.body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            count += value is not None and _numeric(value)
    return count


def _numeric(node: ast.expr) -> bool:
    """Whether an expression consists of numbers, and of at least one."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(_numeric(e) for e in node.elts)
    if isinstance(node, ast.UnaryOp):
        return _numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return _numeric(node.left) and _numeric(node.right)
    return False


def own_instances(modules: dict[str, Module]) -> int:
    """Count the questions whether something is of a class of the library."""
    own = {n.name for m in modules.values() for n in ast.walk(m.tree) if isinstance(n, ast.ClassDef)}
    count = 0
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                asked |= {n.attr for n in ast.walk(node.args[1]) if isinstance(n, ast.Attribute)}
                count += bool(asked & own)
    return count


def functions_of_a_solve(root: Path, problem: str) -> str:
    """Count the named functions of the library that run in a solve, and their files."""
    code = COUNT.format(problem=problem)
    environment = {**os.environ, "PYTHONPATH": str((root / "src").resolve())}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return "failed: " + done.stderr.strip().splitlines()[-1]
    functions, files = done.stdout.split()
    return f"{functions} in {files} files"


def lines_below(folder: Path) -> int:
    """Count the lines of all Python files."""
    return sum(path.read_text(encoding="utf-8").count("\n") for path in folder.rglob("*.py")) if folder.is_dir() else 0


def shape(root: Path, solves: bool = True) -> dict[str, object]:
    """Return all counts by what they are called."""
    modules = modules_of(root)
    kernel = [m for m in modules.values() if m.room in KERNEL and not m.name.startswith(RARE)]
    reached = [modules[name] for name in reachable(modules, f"{PACKAGE}.solve")]
    text = {name: m.text for name, m in modules.items()}
    rows: dict[str, object] = {
        "lines of the library": sum(m.lines for m in modules.values()),
        "lines of the kernel, without rare shapes": sum(m.lines for m in kernel),
        "lines reachable from solve.py": sum(m.lines for m in reached),
        "modules": len(modules),
        "rule fields": rule_fields(modules),
        "numeric constants at module level": constants(modules),
        "modules that ask is_static": sum("is_static" in t for t in text.values()),
        "modules that test for products": sum(bool(PRODUCT.search(t)) for t in text.values()),
        "isinstance on own classes": own_instances(modules),
        "catch_warnings": sum(t.count("catch_warnings(") for t in text.values()),
        "lines of tests": lines_below(root / "tests"),
        "lines of the lab and its tests": lines_below(root / "lab") or lines_below(root / "src" / PACKAGE / "lab"),
    }
    for name, problem in WARM.items() if solves else ():
        rows[f"functions of a warm solve: {name}"] = functions_of_a_solve(root, problem)
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="a clone (this one)")
    parser.add_argument("--json", help="write the counts; '-' for standard output")
    parser.add_argument("--no-solves", action="store_true", help="leave out what must be run")
    options = parser.parse_args()
    rows = shape(options.root, not options.no_solves)
    if options.json:
        text = json.dumps(rows, indent=2, ensure_ascii=False)
        print(text) if options.json == "-" else Path(options.json).write_text(text + "\n", encoding="utf-8")
    if options.json != "-":
        for name, count in rows.items():
            print(f"{name:45} {count:>20}" if isinstance(count, str) else f"{name:45} {count:>20,}")


if __name__ == "__main__":
    main()
