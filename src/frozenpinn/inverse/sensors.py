"""Sensors: what is measured as an expression over jets of the solution and unknowns, and its exact slopes.

A value is Σ weight · q(x, t, jets of u, θ) over the nodes of its region; one node of weight one for a point. Its
derivative by θ is Σ weight · (Σ ∂q/∂jet · jet(∂u/∂θ) + ∂q/∂θ).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Domain
from frozenpinn.inverse.sensitivity import Directions, partials, slopes_by
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.normals import normal_symbols
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_NODES, _ON_SIDE = 400, 64  # nodes of an average over a region and over a side
_NORMALS = 2000  # points of a side among which normals are looked up
_FAR = 1e-2  # of the domain, by which a point may miss its side


@dataclass(frozen=True, eq=False)
class Sensor:
    """One set of measurements as nodes: where and when, which value each belongs to, and its weight."""

    expression: sp.Expr
    symbols: Mapping[sp.Symbol, Jet]
    x: Array
    times: Array | None
    normals: Array
    owner: Array
    weights: Array
    count: int

    @classmethod
    def of(cls, part: Measurements, problem: Problem) -> Sensor:
        """Place the nodes of measurements."""
        expression = _without_normals(part.expression(problem), problem)
        x, normals, owner, weights = _nodes(part, problem.domain)
        times = None if part.times is None else part.times[owner]
        return cls(expression, problem.jets.jets_in(expression), x, times, normals, owner, weights, len(part))

    @cached_property
    def is_plain(self) -> bool:
        """Whether every value is that of one node."""
        return len(self.x) == self.count

    @property
    def jets(self) -> tuple[Jet, ...]:
        """The jets of the solution that are needed."""
        return tuple(self.symbols.values())

    @cached_property
    def _by_jets(self) -> list[sp.Expr]:
        return [sp.diff(self.expression, symbol) for symbol in self.symbols]

    def gathered(self, values: Array) -> Array:
        """Return what is measured from what is at the nodes, shape (count, …)."""
        if self.is_plain:
            return values
        out = np.zeros((self.count, *values.shape[1:]))
        np.add.at(out, self.owner, (self.weights if values.ndim == 1 else self.weights[:, None]) * values)
        return out

    def computed(self, problem: Problem, expressions: Sequence[sp.Expr], values: Sequence[Array]) -> list[Array]:
        """Return expressions in the jets at the nodes."""
        space, d = problem.jets, self.x.shape[1]
        symbols = [*space.x, space.t, *normal_symbols(d), *self.symbols]
        program = Program(list(expressions), symbols, problem.parameters.functions)
        t = 0.0 if self.times is None else self.times
        with np.errstate(all="ignore"):
            found = program(*self.x.T, t, *self.normals.T, *values)
        return [np.broadcast_to(value, len(self.x)) for value in found]

    def values(self, problem: Problem, values: Sequence[Array]) -> Array:
        """Return what would be measured if the jets have these values at the nodes."""
        return self.gathered(self.computed(problem, [self.expression], values)[0])

    def factors(self, problem: Problem, values: Sequence[Array]) -> list[Array]:
        """Return the derivatives by the jets at the nodes."""
        return self.computed(problem, self._by_jets, values) if self.symbols else []

    def direct(self, problem: Problem, values: Sequence[Array], unknowns: Sequence[Directions]) -> Array | None:
        """Return the derivatives by the unknowns at the nodes, at fixed jets; None if there are none."""
        if not any(partials(self.expression, unknown.atoms) for unknown in unknowns):
            return None
        t = 0.0 if self.times is None else self.times
        return slopes_by(
            problem, self.expression, unknowns, lambda slopes: self.computed(problem, slopes, values), self.x, t
        )


def _without_normals(expression: sp.Expr, problem: Problem) -> sp.Expr:
    """Write normal derivatives as Σ nᵢ ∂ᵢ."""
    jets, normals = problem.jets, normal_symbols(problem.domain.dimension)
    while table := {s: j for s, j in jets.jets_in(expression).items() if j.normal}:
        expression = expression.xreplace(
            {
                symbol: sum(
                    n * jets.symbol(jets.shifted(replace(jet, normal=jet.normal - 1), axis))
                    for axis, n in enumerate(normals)
                )
                for symbol, jet in table.items()
            }
        )
    return expression


def _nodes(part: Measurements, domain: Domain) -> tuple[Array, Array, Array, Array]:
    """Return nodes, normals, which value each belongs to, and weights."""
    if part.regions is None:
        n = len(part)
        normals = np.zeros(part.points.shape) if part.side is None else _normals(part.points, part.side, domain)
        return part.points, normals, np.arange(n), np.ones(n)
    cache: dict[object, tuple[Array, Array, Array]] = {}
    found = []
    for region in part.regions:
        key = region if isinstance(region, str) else id(region)
        if key not in cache:
            cache[key] = _of_region(region, domain, part.integral)
        found.append(cache[key])
    owner = np.repeat(np.arange(len(found)), [len(x) for x, _, _ in found])
    x, normals, weights = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return x, normals, owner, weights


def _of_region(region: Domain | str, domain: Domain, integral: bool) -> tuple[Array, Array, Array]:
    if isinstance(region, str):
        side = domain.sample_side(region, 1 if domain.dimension == 1 else _ON_SIDE, "gauss", 0)
        x, normals, weights = side.x, side.normals, side.weights
    else:
        points = region.sample(24 if domain.dimension == 1 else _NODES, "gauss", 0)
        x, normals, weights = points.x, np.zeros(points.x.shape), points.weights
    return x, normals, weights if integral else weights / np.sum(weights)


def _normals(x: Array, side: str, domain: Domain) -> Array:
    """Return outward normals at points of a side, between those at the nearest points that are known."""
    known = domain.sample_side(side, 1 if domain.dimension == 1 else _NORMALS, "gauss", 0)
    apart = np.linalg.norm(x[:, None] - known.x[None], axis=2)
    nearest = np.argsort(apart, axis=1)[:, : min(domain.dimension, len(known))]
    near = np.take_along_axis(apart, nearest, axis=1)
    if np.any(near[:, 0] > _FAR * np.max(domain.lengths)):
        at = int(np.argmax(near[:, 0]))
        raise ProblemError(
            f"side='{side}', but the point ({', '.join(f'{c:g}' for c in x[at])}) does not lie on it; normal "
            "derivatives are measured on the side."
        )
    shares = 1.0 / np.maximum(near, 1e-12 * np.max(domain.lengths))
    mixed = np.einsum("ij,ijk->ik", shares, known.normals[nearest])
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))
