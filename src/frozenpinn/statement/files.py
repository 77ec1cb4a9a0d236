"""Problem files: a problem in TOML, read and written."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from frozenpinn.errors import ProblemError, StorageError
from frozenpinn.runtime.arguments import shown
from frozenpinn.runtime.paths import read_path, replacing
from frozenpinn.statement.document import plain_or_reason, problem_from_dict, problem_to_dict
from frozenpinn.statement.problem import Problem

_LONG_KEY = re.compile(r"""(?<![\w."'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){30}""")  # read in squares


def read_problem(file: str | Path) -> Problem:
    """Read a problem from a TOML file, as ``frozenpinn solve`` does.

    What stands under ``[solve]`` are options of that command, and not read here.

    Examples
    --------
    >>> import tempfile
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rod.save(f"{folder}/rod.toml")
    ...     again = fp.read_problem(f"{folder}/rod.toml")
    >>> again
    Problem(u_t = 0.1*u_xx on Interval([0, 1]), t in [0, 1])
    """
    document, folder = read_document(file)
    document.pop("solve", None)
    return problem_from_dict(document, folder=folder)


def read_document(file: str | Path) -> tuple[dict[str, Any], str]:
    """Read a TOML file, and return its folder, where paths in it begin."""
    most_bytes = 20_000_000  # of a file that is read
    path = read_path(file, ProblemError)
    try:
        if (size := os.path.getsize(path)) > most_bytes:
            raise ProblemError(f"'{path}' has {size:,} bytes; a problem file has {most_bytes:,} at most.")
        text = Path(path).read_text(encoding="utf-8")
        if (key := _LONG_KEY.search(text)) is not None:
            raise ProblemError(f"'{path}' has a key of very many parts: {shown(key[0])}.")
        document = tomllib.loads(text)
        _check_depth(document, path)
    except ProblemError:
        raise
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or nested too deeply
        raise ProblemError(f"'{path}' is not valid TOML: {error}") from None
    except OSError as error:
        raise ProblemError(f"can't read '{path}': {error.strerror or error}.") from None
    return document, str(Path(path).parent)


def _check_depth(document: Any, path: str) -> None:
    """Refuse tables and lists inside each other that are deeper than any problem needs."""
    deepest = 60  # tables and lists inside each other
    level = [document]
    for _ in range(deepest):
        inside = [own.values() if isinstance(own, Mapping) else own for own in level]
        level = [entry for own in inside for entry in own if isinstance(entry, Mapping | list)]
    if level:
        raise ProblemError(f"'{path}' has tables and lists that are nested deeper than {deepest} levels.")


def save_problem(problem: Problem, file: str | Path, overwrite: bool) -> None:
    """Write a problem as TOML; one that has no text of its own is refused with the reason."""
    most_numbers = 200_000  # of arrays in one file
    arrays: dict[str, Any] = {}
    document = problem_to_dict(problem, arrays)
    if document is None:
        raise StorageError(
            f"this problem can't be written as text: {plain_or_reason(problem)} Save a solution instead "
            "(solution.save), which can be evaluated without its problem."
        )
    if (count := sum(values.size for values in arrays.values())) > most_numbers:
        raise StorageError(
            f"the tables of this problem have {count:,} numbers; a text file takes {most_numbers:,}. Keep them in "
            'files of their own, and name these in the problem file: initial = {file = "start.npy"}.'
        )
    text = toml_text(_with_values(document, arrays))
    with replacing(file, overwrite) as part:
        Path(part).write_text(text, encoding="utf-8")


def _with_values(value: Any, arrays: Mapping[str, Any]) -> Any:
    """Return a part of a document with the numbers of its tables in it."""
    if isinstance(value, Mapping) and "array" in value:
        own = {name: entry for name, entry in value.items() if name not in ("array", "coordinates")}
        places = {name: arrays[f"{value['array']}/{name}"].tolist() for name in value["coordinates"]}
        return {"values": arrays[f"{value['array']}/values"].tolist(), **places, **own}
    if isinstance(value, Mapping):
        return {key: _with_values(entry, arrays) for key, entry in value.items()}
    return [_with_values(entry, arrays) for entry in value] if isinstance(value, list) else value


# ---- TOML -----------------------------------------------------------------------------------------


def toml_text(document: Mapping[str, Any]) -> str:
    """Return plain data as TOML: single values first, then tables with a heading each.

    >>> print(toml_text({"time": [0, 1.5], "domain": {"lower": [0]}, "initial": "sin(x)"}), end="")
    time = [0, 1.5]
    initial = "sin(x)"
    <BLANKLINE>
    [domain]
    lower = [0]
    """
    tables = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in document.items() if key not in tables]
    for key, table in tables.items():
        lines += ["", f"[{_key(key)}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    raise StorageError(f"{shown(value)} has no form in TOML.")
