"""Named parts of a domain, and parameters that have a value in each: ``{"steel": 50, "air": 0.02}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.geometry import Ball, Box, Domain
from frozenpinn.language.functions import real_number
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import parse
from frozenpinn.language.program import Program
from frozenpinn.language.scope import HALF, Scope
from frozenpinn.statement.level_sets import reached

Array = np.ndarray
Region: TypeAlias = str | Domain
REST = "rest"  #: the region that is all that the others leave


def read_regions(given: Mapping[str, Region] | None, domain: Domain, jets: JetSpace) -> dict[str, sp.Expr]:
    """Return for each region the function that is 1 inside and 0 outside; together they must fill the domain."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ProblemError(f"regions is a dict such as {{'steel': 'x < 0.5', 'air': 'x > 0.5'}}, got {given!r}.")
    inside = {name: _inside(name, region, jets) for name, region in given.items() if region != REST}
    rest = [name for name, region in given.items() if region == REST]
    if len(rest) > 1:
        raise ProblemError(f"the regions {choices(rest)} are both the rest; one may be.")
    if rest:
        inside[rest[0]] = sp.Integer(1) - sp.Add(*inside.values())
    _check_cover(inside, domain, jets, bool(rest))
    return inside


def by_region(parameters: Mapping[str, Any], regions: Mapping[str, sp.Expr], jets: JetSpace) -> dict[str, Any]:
    """Return parameters in which a value for each region has become one expression, which may contain others."""

    def scope(name: str) -> Scope:
        return Scope(jets, parameters={other: sp.Symbol(other) for other in parameters if other != name})

    return {
        name: _combined(name, value, regions, scope(name)) if _is_by_region(value, regions) else value
        for name, value in parameters.items()
    }


def _is_by_region(value: Any, regions: Mapping[str, sp.Expr]) -> bool:
    if not isinstance(value, Mapping) or not value or any(key in value for key in ("start", "field", "file", "values")):
        return False
    return bool(regions) or all(isinstance(key, str) for key in value)


def _combined(name: str, value: Mapping[str, Any], regions: Mapping[str, sp.Expr], scope: Scope) -> sp.Expr:
    if not regions:
        raise ProblemError(
            f"parameter '{name}' has a value for each of {choices(value)}; say what these are: Problem(…, "
            "regions={'steel': 'x < 0.5', 'air': 'rest'})."
        )
    unknown = [key for key in value if key not in regions]
    missing = [key for key in regions if key not in value]
    if unknown or missing:
        what = (
            f"has a value for {choices(unknown)}, which is no region" if unknown else f"has none for {choices(missing)}"
        )
        raise ProblemError(f"parameter '{name}' {what}; the regions are {choices(regions)}.")
    total = []
    for key, entry in value.items():
        number = real_number(entry)
        if number is None and not isinstance(entry, str):
            raise ProblemError(f"parameter '{name}' in region '{key}' must be a number or text, got {entry!r}.")
        own = sp.Float(number) if number is not None else parse(str(entry), scope)
        total.append(own * regions[key])
    return sp.Add(*total)


def _inside(name: str, region: Region, jets: JetSpace) -> sp.Expr:
    if isinstance(region, Box):
        parts = []
        for x, a, b in zip(jets.x, region.lower, region.upper, strict=True):
            parts += [x - sp.Float(float(a)), sp.Float(float(b)) - x]
        return sp.Mul(*(sp.Heaviside(part, HALF) for part in parts))
    if isinstance(region, Ball):
        centre = np.asarray(region.center, dtype=float)
        square = sp.Add(*((x - sp.Float(float(c))) ** 2 for x, c in zip(jets.x, centre, strict=True)))
        return sp.Heaviside(sp.Float(float(region.radius)) ** 2 - square, HALF)
    if not isinstance(region, str):
        raise ProblemError(
            f"region '{name}' must be text such as 'x < 0.5 and y > 0', a box, a disk, a ball or 'rest'; "
            f"got {region!r}."
        )
    parts = [part for text in re.split(r"\band\b", region) for part in _compared(name, text, jets)]
    return sp.Mul(*(sp.Heaviside(part, HALF) for part in parts))


def _compared(name: str, text: str, jets: JetSpace) -> list[sp.Expr]:
    """Return functions that are positive where ``a < b``, or ``a < b < c``, holds."""
    pieces = re.split(r"(<=|>=|<|>)", text)
    if len(pieces) < 3:
        raise ProblemError(f"region '{name}' is '{text.strip()}'; write a comparison such as 'x < 0.5', or 'rest'.")
    sides, signs = [parse(piece, Scope(jets)) for piece in pieces[::2]], pieces[1::2]
    return [b - a if sign[0] == "<" else a - b for a, sign, b in zip(sides, signs, sides[1:], strict=False)]


def _check_cover(inside: Mapping[str, sp.Expr], domain: Domain, jets: JetSpace, rest: bool) -> None:
    places = 4000  # at which regions are tested
    x = domain.sample(places, "random", rng=0).x
    values = Program(list(inside.values()), list(jets.x))(*x.T)
    table = np.stack([np.broadcast_to(v, len(x)) for v in values])
    flags = table > 0.5
    below, count = np.min(table, axis=0) < -0.5, np.sum(flags, axis=0)
    for wrong, text in ((below | (count > 1), "overlap"), (count == 0, "leave a hole")):
        if np.any(wrong):
            at = int(np.argmax(wrong))
            place = ", ".join(f"{c:.3g}" for c in x[at])
            names = [name for name, flag in zip(inside, flags[:, at], strict=True) if flag]
            who = f": {choices(names)}" if len(names) > 1 else ""
            raise ProblemError(
                f"the regions {choices(inside)} {text} at ({place}){who}; together they must fill the domain, each "
                "place once. The last one may be 'rest'."
            )
    empty = [
        name
        for name, flag in zip(inside, flags, strict=True)
        if not np.any(flag) and not _has_small_part(inside[name], domain, jets)
    ]
    if empty:
        raise ProblemError(f"region '{empty[0]}' has no part in the domain; leave it out, or check its formula.")


def _has_small_part(inside: sp.Expr, domain: Domain, jets: JetSpace) -> bool:
    """Whether a region that random points miss has points in the domain, beside its edges."""
    aside = 1e-9  # distance from the edge, as a part of the domain
    start, own = domain.sample(4000, "random", rng=0).x, Program([inside], list(jets.x))
    for step in inside.atoms(sp.Heaviside):
        level = step.args[0]
        program = Program([level, *(sp.diff(level, x) for x in jets.x)], list(jets.x))
        x, normals, distance = reached(program, start)
        near = distance <= 1e-2 * aside * domain.size
        for sign in (-1.0, 1.0):
            places = x[near] + sign * aside * domain.size * normals[near]
            places = places[domain.contains(places, 0.0)] if len(places) else places
            if len(places) and np.any(np.broadcast_to(own(*places.T)[0], len(places)) > 0.5):
                return True
    return False
