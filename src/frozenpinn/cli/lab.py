"""The commands ``bench``, ``study`` and ``list``, which are passed on to the lab, a package of its own."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer

from frozenpinn.errors import MissingExtraError

_COMMANDS = {
    "bench": "Run benchmark cases: error against the exact solution, seconds, the program's own estimate (lab).",
    "study": "Run a study: a table, plots, and its numbers as JSON and CSV (lab).",
    "list": "List the benchmark cases with the figures published for them, and the peers that have settings (lab).",
}
_ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def lab_module(name: str) -> Any:
    """Return a module of the lab; where it is not installed, the error says how to install it."""
    try:
        return import_module(f"frozenpinn_lab.{name}")
    except ModuleNotFoundError as error:
        if error.name != "frozenpinn_lab":
            raise
        raise MissingExtraError(
            "benchmark cases, studies and peers are in the lab, a package of its own that is not installed; in a clone "
            "of the repository, write: pip install ./lab. A problem of your own is a TOML file."
        ) from None


def register(app: typer.Typer) -> None:
    """Add the commands to a command line."""
    for name, text in _COMMANDS.items():
        app.command(name, help=text, context_settings=_ANYTHING)(_forwarded(name))


def _forwarded(name: str) -> Any:
    def command(context: typer.Context) -> None:
        lab_module("cli").app([name, *context.args], prog_name="frozenpinn")

    return command
