"""The coordinates that a problem is written in: own names of Cartesian ones, or polar, cylindrical, spherical ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.geometry import Domain
from frozenpinn.language.jets import NORMAL, TIME
from frozenpinn.language.scope import CONSTANTS, FUNCTIONS, OPERATORS
from frozenpinn.runtime.arguments import shown
from frozenpinn.statement.frames import NAMES, Frame, make_frame

Coordinates: TypeAlias = str | Sequence[str]
_KINDS = ("cartesian", *NAMES)
_KNOWN = {  # names that can mean nothing else
    ("r", "theta"): "polar",
    ("r", "z"): "cylindrical",
    ("r", "theta", "z"): "cylindrical",
    ("r", "theta", "phi"): "spherical",
}


def read_coordinates(domain: Domain, coordinates: Coordinates | None) -> tuple[Domain, Frame | None]:
    """Return a domain whose coordinates have the given names, and a frame if they are not Cartesian."""
    if coordinates is None:
        return domain, None
    if not isinstance(coordinates, str | list | tuple):
        raise ProblemError(f'coordinates= is a kind such as "polar" or names such as ("s",), got {shown(coordinates)}.')
    words = (coordinates,) if isinstance(coordinates, str) else tuple(coordinates)
    kind, names = (words[0], words[1:]) if words and words[0] in _KINDS else (_KNOWN.get(words, "cartesian"), words)
    if words == ("r",):
        raise ProblemError(
            'coordinates=("r",) may be a distance from a centre in the plane or in space: write coordinates="polar" or '
            '"spherical"; for a Cartesian coordinate of this name write coordinates=("cartesian", "r").'
        )
    if isinstance(coordinates, str) and coordinates not in _KINDS and (close := suggestion(coordinates, _KINDS)):
        raise ProblemError(f"unknown coordinates {shown(coordinates)}; the kinds are {choices(_KINDS)}.{close}")
    for name in names:
        _check(name)
    if len(set(names)) < len(names):
        raise ProblemError(f"coordinates= names one of them twice: {', '.join(names)}.")
    if names and len(names) != domain.dimension:
        close = suggestion(str(names[0]), _KINDS) if len(names) == 1 else ""
        raise ProblemError(
            f"coordinates= names {len(names)} of them, {shown(list(names))}, and the domain has {domain.dimension} "
            f"dimension(s); the names are {', '.join(domain.coordinates)} if none are given, and the kinds are "
            f"{choices(_KINDS)}.{close}"
        )
    if kind == "cartesian":
        return (domain.with_coordinates(names) if names else domain), None
    frame = make_frame(kind, names or None, domain)
    return frame.stated, frame


def _check(name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d_][^\W_]*", name):
        raise ProblemError(f"a coordinate needs a plain name such as 's', without underscores; got {shown(name)}.")
    if name in (TIME, NORMAL) or name in FUNCTIONS or name in CONSTANTS or name in OPERATORS:
        use = {TIME: "time", NORMAL: "the outward normal"}.get(name, "a built-in name")
        raise ProblemError(f"'{name}' is {use} and can't be a coordinate; choose another name.")
