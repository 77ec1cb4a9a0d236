"""Static problems with manufactured solutions: random equations, domains, conditions and exact solutions.

As in :mod:`frozenpinn_lab.calibration.generated`, all numbers come from the seed, and no seed was left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.statement.conditions import Dirichlet, Neumann
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.equations import EquationScales, Right
from frozenpinn_lab.calibration.generated import BOUNDARIES, ENDS, condition_on
from frozenpinn_lab.calibration.profiles import Profile, profile
from frozenpinn_lab.calibration.regions import Region, Rng, magnitude, region
from frozenpinn_lab.calibration.static_equations import KINDS, StaticKind

SEEDS = range(42)
DIMENSIONS = (2, 1, 2, 3, 2, 1, 2, 2, 5, 1, 2, 3, 4)  #: by seed, in turn
_REST = sp.Integer(0)  # the time of profiles


@dataclass(frozen=True)
class StaticDraft:
    """What the seed decides, before it becomes a problem."""

    kind: StaticKind
    region: Region
    boundary: str
    amplitude: float
    profiles: dict[str, Profile]
    exact: dict[str, sp.Expr]
    left: Right
    conditions: dict[str, list[Any]]

    @property
    def description(self) -> str:
        """One line about it."""
        first = self.profiles["u"]
        shape = " ".join(word for word in (first.way, first.shape) if word)
        where = f"{self.region.domain.dimension}-d {self.region.kind}"
        return f"{self.kind.name}, {where}, {self.boundary}, {shape}, amplitude {self.amplitude:.2g}"


def static_manufactured(seed: int) -> Problem:
    """Return the static problem of a seed."""
    plan = static_draft(seed)
    functions = {name: sp.Function(name)(*plan.region.coordinates) for name in plan.kind.fields}
    left, known = plan.left(functions), plan.left(plan.exact)
    return Problem(
        [sp.Eq(left[name], sp.Symbol(f"f{name}")) for name in functions],
        plan.region.domain,
        boundary=plan.conditions or None,
        parameters={f"f{name}": source.doit() for name, source in known.items()},
        exact=plan.exact,
    )


def static_describe(seed: int) -> str:
    """Return one line about the static problem of a seed."""
    return static_draft(seed).description


@lru_cache(maxsize=len(SEEDS))
def static_draft(seed: int) -> StaticDraft:
    """Decide everything about the static problem of a seed."""
    rng = np.random.default_rng([seed, 1618])
    dimension = DIMENSIONS[seed % len(DIMENSIONS)]
    kinds = [kind for kind in KINDS if dimension > 1 or not kind.several]
    kind = kinds[seed % len(kinds)]
    periodic = seed % 9 == 8 and dimension <= 3 and not kind.valued
    where = region(rng, dimension, periodic, boxed=False)
    amplitude = float(magnitude(rng, 1e-3, 1e3))
    left = kind.draw(rng, EquationScales(where, _REST, 1.0, amplitude))
    profiles = {name: profile(rng, where, _REST) for name in kind.fields}
    exact = {name: amplitude * p.expression for name, p in profiles.items()}
    boundary, conditions = _conditions(rng, kind, where, exact)
    return StaticDraft(kind, where, boundary, amplitude, profiles, exact, left, conditions)


def _conditions(
    rng: Rng, kind: StaticKind, where: Region, exact: dict[str, sp.Expr]
) -> tuple[str, dict[str, list[Any]]]:
    """Return what kind of conditions there are, and the conditions by side."""
    if where.periodic:
        return "periodic", {}
    if kind.conditions == "fourth":
        name = str(rng.choice(ENDS))
        return name, {side: _two(name, exact["u"], normal, where) for side, normal in where.normals.items()}
    name, conditions = str(rng.choice(BOUNDARIES)), {}
    if kind.valued and name != "Robin":
        name = "mixed" if name == "mixed" and len(where.normals) > 1 else "Dirichlet"
    for i, (side, normal) in enumerate(where.normals.items()):
        chosen = str(rng.choice(BOUNDARIES[:3])) if name == "mixed" else name
        chosen = "Dirichlet" if kind.valued and name == "mixed" and i == 0 else chosen
        conditions[side] = [condition_on(rng, chosen, u, field, normal, where) for field, u in exact.items()]
    return name, conditions


def _two(name: str, u: sp.Expr, normal: tuple[sp.Expr, ...], where: Region) -> list[Any]:
    """Return the conditions of a plate: value and slope, or value and Laplacian."""
    if name == "clamped":
        return [Dirichlet(u), Neumann(_slope(u, normal, where))]
    return [Dirichlet(u), f"lap(u) = {sp.Add(*(sp.diff(u, c, 2) for c in where.coordinates))}"]


def _slope(u: sp.Expr, normal: tuple[sp.Expr, ...], where: Region) -> sp.Expr:
    return sp.Add(*(n * sp.diff(u, c) for n, c in zip(normal, where.coordinates, strict=True)))
