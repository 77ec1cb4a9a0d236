"""Problem files: a problem in TOML, and the options of its solve under ``[solve]``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from frozenpinn.errors import SettingsError, suggestion
from frozenpinn.runtime.arguments import shown
from frozenpinn.search.settings import Settings
from frozenpinn.statement.document import problem_from_dict
from frozenpinn.statement.files import read_document
from frozenpinn.statement.problem import Problem


def read_problem_file(path: str | Path) -> tuple[Problem, dict[str, Any]]:
    """Read a problem and the options under ``[solve]`` from a TOML file."""
    document, folder = read_document(path)
    options = document.pop("solve", {})
    if not isinstance(options, dict):
        raise SettingsError(
            f"'solve' is a table of settings, [solve] and lines such as 'tol = 1e-6'; got {shown(options)}."
        )
    choices = tuple(field.name for field in fields(Settings))
    known = ("seed", *choices, "tol", "time_limit", "memory_limit", "stop", "quantity")
    for key in options:
        if key not in known:
            close = suggestion(key, known)
            raise SettingsError(f"unknown key '{key}' under [solve]; the keys are {', '.join(known)}.{close}")
    given = {key: options.pop(key) for key in choices if key in options}
    problem = problem_from_dict(document, folder=folder)
    return problem, options | ({"settings": Settings(**given)} if given else {})
