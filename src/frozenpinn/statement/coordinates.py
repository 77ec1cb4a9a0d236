"""The coordinates that a problem is written in: own names for those of the domain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Domain
from frozenpinn.language.jets import NORMAL, TIME
from frozenpinn.language.scope import CONSTANTS, FUNCTIONS, OPERATORS
from frozenpinn.runtime.arguments import shown

Coordinates: TypeAlias = str | Sequence[str]


def named_axes(domain: Domain, coordinates: Coordinates | None) -> Domain:
    """Return a domain whose coordinates have the given names."""
    if coordinates is None:
        return domain
    names = (coordinates,) if isinstance(coordinates, str) else tuple(coordinates)
    if len(names) != domain.dimension:
        raise ProblemError(
            f"coordinates= names {len(names)} of them, {shown(list(names))}, and the domain has {domain.dimension} "
            f"dimension(s); the names are {', '.join(domain.coordinates)} if none are given."
        )
    for name in names:
        _check(name)
    if len(set(names)) < len(names):
        raise ProblemError(f"coordinates= names one of them twice: {', '.join(names)}.")
    return domain.with_coordinates(names)


def _check(name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d_][^\W_]*", name):
        raise ProblemError(f"a coordinate needs a plain name such as 's', without underscores; got {shown(name)}.")
    if name in (TIME, NORMAL) or name in FUNCTIONS or name in CONSTANTS or name in OPERATORS:
        use = {TIME: "time", NORMAL: "the outward normal"}.get(name, "a built-in name")
        raise ProblemError(f"'{name}' is {use} and can't be a coordinate; choose another name.")
