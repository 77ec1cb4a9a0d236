"""Problems with manufactured solutions: random equations, domains, conditions and exact solutions.

The exact solution is chosen first. What is left over when it is put into the equation becomes the source, and its
values and slopes on the sides become the boundary data. All numbers come from the seed and nothing else; no seed was
left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.statement.conditions import Dirichlet, Free, Neumann, Robin
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.equations import KINDS, EquationKind, EquationScales, Right, T
from frozenpinn_lab.calibration.profiles import Profile, profile
from frozenpinn_lab.calibration.regions import Region, Rng, magnitude, number, region

SEEDS = range(40)
BOUNDARIES = ("Dirichlet", "Neumann", "Robin", "mixed")
ENDS = ("supported", "clamped")
#: Dimensions of odd seeds; even seeds are in one dimension.
DIMENSIONS = (2, 2, 3, 2, 2, 4, 2, 3, 2, 5, 2, 6)
_OFFSET = 1.5  # of solutions that must be positive, beside values about in [−1, 1]


@dataclass(frozen=True)
class Draft:
    """What the seed decides, before it becomes a problem."""

    kind: EquationKind
    region: Region
    boundary: str
    time: tuple[float, float]
    amplitude: float
    profiles: dict[str, Profile]
    exact: dict[str, sp.Expr]
    right: Right
    conditions: dict[str, list[Any]]

    @property
    def description(self) -> str:
        """One line about it."""
        first = self.profiles["u"]
        words = (first.way, first.shape, first.behaviour)
        shape = " ".join(word for word in words if word)
        where = f"{self.region.domain.dimension}-d {self.region.kind}"
        return f"{self.kind.name}, {where}, {self.boundary}, {shape}, amplitude {self.amplitude:.2g}"


def manufactured(seed: int) -> Problem:
    """Return the problem of a seed."""
    plan = draft(seed)
    functions = {name: sp.Function(name)(*plan.region.coordinates, T) for name in plan.kind.fields}
    right, known = plan.right(functions), plan.right(plan.exact)
    order, start = plan.kind.order, plan.time[0]
    sources = {name: sp.diff(u, T, order) - known[name] for name, u in plan.exact.items()}
    equations = [sp.Eq(sp.diff(f, T, order), right[name] + sp.Symbol(f"f{name}")) for name, f in functions.items()]
    velocity = {name: sp.diff(u, T).subs(T, start) for name, u in plan.exact.items()}
    return Problem(
        equations,
        plan.region.domain,
        plan.time,
        {name: u.subs(T, start) for name, u in plan.exact.items()},
        plan.conditions or None,
        velocity if order == 2 else None,
        {f"f{name}": source for name, source in sources.items()},
        plan.exact,
    )


def describe(seed: int) -> str:
    """Return one line about the problem of a seed."""
    return draft(seed).description


@lru_cache(maxsize=len(SEEDS))
def draft(seed: int) -> Draft:
    """Decide everything about the problem of a seed."""
    rng = np.random.default_rng([seed, 2718])
    odd, place = seed % 2, seed // 2
    dimension = DIMENSIONS[place % len(DIMENSIONS)] if odd else 1
    kinds = [kind for kind in KINDS if not (odd and kind.line)]
    kind = kinds[place % len(kinds)]
    turn = place % 4 == 3 and dimension <= 3 and kind.conditions in ("second", "fourth")
    periodic = kind.conditions == "periodic" or turn
    where = region(rng, dimension, periodic, boxed=kind.conditions == "flow")
    start, duration = float(rng.choice([0.0, 0.0, 0.0, 1.0])), float(magnitude(rng, 0.1, 10))
    tau, amplitude = (T - start) / duration, float(magnitude(rng, 1e-3, 1e3))
    right = kind.draw(rng, EquationScales(where, tau, duration, amplitude))
    profiles = {name: profile(rng, where, tau) for name in kind.fields}
    offset = sp.Float(_OFFSET) if kind.positive else sp.Integer(0)
    exact = {name: amplitude * (offset + p.expression) for name, p in profiles.items()}
    boundary, conditions = _conditions(rng, kind, where, exact)
    return Draft(kind, where, boundary, (start, start + duration), amplitude, profiles, exact, right, conditions)


def _conditions(
    rng: Rng, kind: EquationKind, where: Region, exact: dict[str, sp.Expr]
) -> tuple[str, dict[str, list[Any]]]:
    """Return what kind of conditions there are, and the conditions by side."""
    if where.periodic:
        return "periodic", {}
    if kind.conditions == "fourth":
        name = str(rng.choice(ENDS))
        derivative = {"supported": "xx", "clamped": "x"}[name]
        return name, {side: _two(exact["u"], where, derivative) for side in where.normals}
    if kind.conditions == "flow":
        return "inflow", {side: _flow(exact["u"], normal) for side, normal in where.normals.items()}
    if kind.conditions == "pair":
        return "Dirichlet", {side: [Dirichlet(exact["u"], field="u"), Free("v")] for side in where.normals}
    name = str(rng.choice(BOUNDARIES))
    conditions = {}
    for side, normal in where.normals.items():
        chosen = str(rng.choice(BOUNDARIES[:3])) if name == "mixed" else name
        conditions[side] = [condition_on(rng, chosen, u, field, normal, where) for field, u in exact.items()]
    return name, conditions


def condition_on(rng: Rng, chosen: str, u: sp.Expr, field: str, normal: tuple[sp.Expr, ...], where: Region) -> Any:
    """Return a condition on one field."""
    if chosen == "Dirichlet":
        return Dirichlet(u, field=field)
    slope = sp.Add(*(n * sp.diff(u, c) for n, c in zip(normal, where.coordinates, strict=True)))
    if chosen == "Neumann":
        return Neumann(slope, field=field)
    alpha = number(rng, 0.2, 3) / where.length
    return Robin(alpha, 1, alpha * u + slope, field=field)


def _two(u: sp.Expr, where: Region, derivative: str) -> list[Any]:
    """Return value and another derivative, for equations of fourth order on a line."""
    data = sp.diff(u, where.coordinates[0], len(derivative))
    return [Dirichlet(u), f"u_{derivative} = {data}"]


def _flow(u: sp.Expr, normal: tuple[sp.Expr, ...]) -> list[Any]:
    """Return values where the flow, along all axes, enters."""
    return [Dirichlet(u)] if sum(normal) < 0 else [Free()]
