"""What all commands share: where they print, exit codes, files to be written, and the problem that a user names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from frozenpinn.cli import values
from frozenpinn.cli.lab import lab_module
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.paths import checked_picture, checked_target

out = Console(soft_wrap=True, width=None if sys.stdout.isatty() else 160)
log = Console(stderr=True, soft_wrap=True)  # progress and notes, which --quiet leaves out
alarm = Console(stderr=True, soft_wrap=True)  # errors and warnings
FAILED, BAD_INPUT, REACHED = 1, 2, 3  #: exit codes
INTERRUPTED = 130  #: exit code after Ctrl-C, as shells have it


def announcer(status: Any) -> Callable[[str], None]:
    """Show progress in place on a terminal, and line by line in a log."""
    return status.update if log.is_terminal else log.print


def check_targets(plot: Path | None, *others: Path | None) -> None:
    """Refuse files that can't be written before minutes are spent on a solve."""
    for path in others:
        if path is not None:
            checked_target(path, SettingsError)
    if plot is not None:
        checked_picture(plot, SettingsError)


def write(text: str, target: str) -> None:
    """Write a text to a file, or to standard output if the target is '-'."""
    if target == "-":
        sys.stdout.write(text + "\n")
    else:
        Path(target).write_text(text + "\n", encoding="utf-8")
        log.print(f"wrote {target}")


def read_problem(
    what: str, tol: float | None = None, mesh: str | None = None, set_: list[str] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return a problem and its solve options, from a TOML file or a case of the lab.

    A tolerance replaces the options of a case. ``set_`` are other values of parameters, as texts such as ``nu=0.02``.
    """
    given = values.values(set_)
    problem, options = _stated(what, tol, mesh)
    return (problem.at(**given) if given else problem), options


def _stated(what: str, tol: float | None, mesh: str | None) -> tuple[Any, dict[str, Any]]:
    from frozenpinn.cli.problem_file import read_problem_file

    if not what.endswith(".toml"):
        find_case = lab_module("cases").find_case
        case = find_case(what) if mesh is None else find_case(what).with_mesh(mesh)
        variant = case.variants[-1]
        return case.problem(**variant.problem), {} if tol is not None else case.options("best", "high", variant)
    if mesh is not None:
        raise SettingsError("--mesh is for the case helmholtz-solid; in a file, write the mesh under [domain].")
    return read_problem_file(what)
