"""Data given for all fields at once, as a table, a list or one datum, sorted by real field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.language.greek import same_name
from frozenpinn.language.scope import Scope
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.parts import apart


def data_by_field(
    given: Any, what: str, required: Sequence[str], composites: Composites, scope: Scope
) -> dict[str, Any]:
    """Return one datum for each real field that is ``required``."""
    names = [name for name in composites.names if set(composites.parts(name)) & set(required)]
    if not isinstance(given, Mapping):
        given = _table(given, what, names, composites)
    result: dict[str, Any] = {}
    for key, value in given.items():
        name = _known(key, what, names, required, composites)
        result |= {name: value} if name in required else apart(value, name, composites, scope, what)
    missing = [name for name in required if name not in result]
    if missing:
        owners = dict.fromkeys(next((n for n in names if part in composites.parts(n)), part) for part in missing)
        raise ProblemError(f"{what} is missing for {choices(owners)}.")
    return {name: result[name] for name in required}


def _table(given: Any, what: str, names: Sequence[str], composites: Composites) -> dict[str, Any]:
    """Return data that are not a table as one."""
    alone = names[0] if len(names) == 1 else None
    if isinstance(given, list | tuple) and alone not in composites.vectors:
        if len(given) != len(names):
            raise ProblemError(f"{what} needs {len(names)} entries ({', '.join(names)}), got {len(given)}.")
        return dict(zip(names, given, strict=True))
    if alone is None:
        raise ProblemError(
            f"{what} is one expression for {len(names)} fields; "
            f"write a dict such as {{'{names[0]}': …, '{names[1]}': …}}."
        )
    return {alone: given}


def _known(key: object, what: str, names: Sequence[str], required: Sequence[str], composites: Composites) -> str:
    """Return the field, component or real part that a key names."""
    components = [component for name in names for component in composites.components(name)]
    name = same_name(key, dict.fromkeys([*names, *components, *required])) if isinstance(key, str) else None
    if name is None:
        raise ProblemError(
            f"{what} is given for {choices([str(key)])}; the fields are {choices(names)}.{suggestion(str(key), names)}"
        )
    return name
