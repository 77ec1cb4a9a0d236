"""Compare two source trees: errors and seconds of benchmark cases, and seconds of an import.

    python tools/compare_trees.py before/src after/src advection burgers --recipe best --recipe auto --repeats 5

Both trees are asked through the command line only, ``frozenpinn bench CASE --json -`` in a fresh process, so that they
may be laid out in any way. The processes take turns (first tree, second tree, first tree, …), so that a busy moment of
the machine hits both. Of the seconds the smallest counts, of the errors the largest, over all repeats and seeds.

A line is flagged if the error of the second tree is more than 1.5 times as large, if it takes more than 1.1 times as
long, or if it fails where the first does not; the exit code is then 1. Dependencies are those of the Python that runs
this script. The table is Markdown, on standard output; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORSE, SLOWER = 1.5, 1.1  # ratios from which on a line is flagged
COLUMNS = ("case", "recipe", "error A", "error B", "ratio", "seconds A", "seconds B", "ratio", "")
STATEMENTS = ("import frozenpinn", "from frozenpinn import Interval, Problem, solve")  # the latter is what scripts need
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
WHERE = "import frozenpinn; print(frozenpinn.__file__)"
IMPORTS = 5  # at least so many imports are timed


@dataclass(frozen=True)
class Outcome:
    """What a tree made of a line: the largest error and the smallest seconds, or why there are none."""

    error: float | None = None
    seconds: float | None = None
    reason: str = ""

    def joined(self, other: Outcome) -> Outcome:
        """Return the outcome of several runs; one that fails is the outcome of all."""
        if self.error is None or self.seconds is None or other.error is None or other.seconds is None:
            return self if self.reason else other
        return Outcome(max(self.error, other.error), min(self.seconds, other.seconds))


Outcomes = dict[str, Outcome]  # by case and variant


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all cases in both trees and print the table; return 1 if a line is flagged."""
    options = read_arguments(arguments)
    trees = (options.before, options.after)
    cases = options.cases or [name for name in listed(trees[0]) if name in listed(trees[1])]
    for line in (COLUMNS, ("---",) * len(COLUMNS)):
        print(f"| {' | '.join(line)} |")
    flagged = False
    for case in cases:
        for recipe in options.recipe or ["best"]:
            found = alternate(trees, case, recipe, options)
            for name in found[0] | found[1]:
                missing = Outcome(reason="not in this tree")
                cells = row(name, recipe, *(outcomes.get(name, missing) for outcomes in found))
                flagged |= "**" in cells[-1]
                print(f"| {' | '.join(cells)} |", flush=True)
    print()
    for statement in STATEMENTS:
        before, after = import_seconds(trees, statement, max(options.repeats, IMPORTS))
        print(f"`{statement}`: {before:.3f} s and {after:.3f} s, ratio {after / before:.2f}  ")
    return int(flagged)


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line, and see that each path gives the tree that it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="source root of the first tree: the folder with frozenpinn/")
    parser.add_argument("after", type=Path, help="source root of the second tree")
    parser.add_argument("cases", nargs="*", help="names of cases, as 'frozenpinn list' has them")
    parser.add_argument("--all", action="store_true", help="all cases that both trees have")
    parser.add_argument("--recipe", action="append", help="best (default), paper or auto; may be given several times")
    parser.add_argument("--repeats", type=int, default=3, help="processes per tree, case and recipe (default: 3)")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of each process (default: 1)")
    parser.add_argument("--precision", help="low or high (default)")
    parser.add_argument("--budget", type=float, help="seconds of one solve, after which it is cut")
    options = parser.parse_args(arguments)
    if bool(options.cases) == options.all:
        parser.error("name some cases, or write --all")
    if options.repeats < 1 or options.seeds < 1:
        parser.error("--repeats and --seeds are positive numbers")
    for root in (options.before, options.after):
        found = ask(root, "-c", WHERE)
        if not Path(found.stdout.strip()).is_relative_to(root.resolve()):
            parser.error(f"there is no tree in '{root}': frozenpinn comes from '{found.stdout.strip()}'")
    return options


def ask(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with a tree, in a folder where nothing else is found."""
    environment = {**os.environ, "PYTHONPATH": str(root.resolve()), "COLUMNS": "160"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or every process would compile the whole tree again
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True, check=False
        )


def listed(root: Path) -> list[str]:
    """Return the names of all cases that ``bench --all`` takes: the first column of the list, without inverse ones."""
    lines = ask(root, "-m", "frozenpinn", "list").stdout.splitlines()[1:]
    names = [line.split()[0] for line in lines if line.strip() and not line.startswith(" ")]
    return [name for name in names if not name.startswith("inverse-")]


def alternate(
    trees: tuple[Path, Path], case: str, recipe: str, options: argparse.Namespace
) -> tuple[Outcomes, Outcomes]:
    """Run a case in both trees by turns; return the outcomes of both."""
    found: tuple[Outcomes, Outcomes] = ({}, {})
    for repeat in range(options.repeats):
        for letter, root, outcomes in zip("AB", trees, found, strict=True):
            print(f"{case}, {recipe}: {letter}, {repeat + 1} of {options.repeats}", file=sys.stderr)
            for name, outcome in bench(root, case, recipe, options).items():
                outcomes[name] = outcomes[name].joined(outcome) if name in outcomes else outcome
    return found


def bench(root: Path, case: str, recipe: str, options: argparse.Namespace) -> Outcomes:
    """Run a case in one tree; nothing comes back if it has no settings for the recipe."""
    command = ["bench", case, "--recipe", recipe, "--method", "frozen-pinn", "--seeds", str(options.seeds)]
    command += ["--precision", options.precision] if options.precision else []
    command += ["--budget", str(options.budget)] if options.budget else []
    result = ask(root, "-m", "frozenpinn", *command, "--json", "-")
    if result.returncode:
        lines = result.stderr.strip().splitlines()
        lacking = any("has no settings for" in line for line in lines)
        return {} if lacking else {case: Outcome(reason=lines[-1] if lines else f"exit code {result.returncode}")}
    return {f"{r['case']} {r['variant']}".strip(): outcome_of(r) for r in json.loads(result.stdout)}


def outcome_of(record: dict[str, Any]) -> Outcome:
    """Return what a record of the benchmark tells."""
    if record["status"] != "ok":
        return Outcome(reason=str(record["reason"]))
    return Outcome(max(record["rel_l2"]["values"]), min(record["seconds"]["values"]))


def row(name: str, recipe: str, before: Outcome, after: Outcome) -> tuple[str, ...]:
    """Return the cells of a line; the last one says what is wrong."""
    errors, seconds = ratio(before.error, after.error), ratio(before.seconds, after.seconds)
    flags = [
        text
        for text, holds in (
            ("**worse**", errors is not None and not errors <= WORSE),
            ("**slower**", seconds is not None and seconds > SLOWER),
            ("**fails**", bool(after.reason) and not before.reason),
        )
        if holds
    ]
    reasons = [f"{letter}: {o.reason}" for letter, o in (("A", before), ("B", after)) if o.reason]
    numbers = (before.error, after.error), (before.seconds, after.seconds)
    shown = [[cell(value, form) for value in pair] for pair, form in zip(numbers, (".2e", ".4f"), strict=True)]
    note = ", ".join(flags + reasons).replace("|", "/").replace("\n", " ")
    return (name, recipe, *shown[0], cell(errors, ".2f"), *shown[1], cell(seconds, ".2f"), note)


def ratio(before: float | None, after: float | None) -> float | None:
    """Return how many times as large a number has become; None if one of them is missing."""
    if before is None or after is None:
        return None
    return after / before if before else (1.0 if after == before else float("inf"))


def cell(value: float | None, form: str) -> str:
    """Write a number; a dash if there is none."""
    return "–" if value is None else format(value, form)


def import_seconds(trees: tuple[Path, Path], statement: str, repeats: int) -> list[float]:
    """Return the least seconds of an import of each tree; they take turns, too."""
    rounds = [[float(ask(root, "-c", TIMED.format(statement)).stdout) for root in trees] for _ in range(repeats)]
    return [min(values) for values in zip(*rounds, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
