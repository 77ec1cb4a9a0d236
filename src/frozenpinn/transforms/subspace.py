"""A problem on the few directions that its data depend on: the equations of v, where u(x, t) = v(P x, t), and its data.

Derivatives become combinations of derivatives of v (∂ᵢ = Σ Pₐᵢ ∂ₐ; the Laplacian stays one, as the rows of P are
orthonormal), data are taken on the section x(z), and the domain is projected: boxes to boxes, balls to balls, boxes on
skew planes to intervals, polygons and polyhedra (zonotopes).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.analysis.subspace import Subspace, chain_rule, find_subspace, is_dirichlet
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.errors import FrozenPinnError, SettingsError, silenced
from frozenpinn.geometry import Box, Domain, Interval
from frozenpinn.language.jets import TIME, Jet, JetSpace, coordinate_names
from frozenpinn.language.printer import as_text
from frozenpinn.language.program import Program
from frozenpinn.runtime.arguments import reals
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.conditions import Free, LinearCondition, normal_symbols
from frozenpinn.statement.data import Datum
from frozenpinn.statement.multipliers import multipliers
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.views import Inner, Request, Transform, View

Array = np.ndarray


class NotReducibleError(Exception):
    """A problem can't be restricted to a subspace; the text says why."""


def read_subspace(given: Any, problem: Problem) -> Subspace:
    """Check directions that a user insists on."""
    d = problem.domain.dimension
    if multipliers(problem):
        raise SettingsError(
            f"'{multipliers(problem)[0]}' keeps a constraint in this problem, which is solved in all coordinates; "
            "leave subspace= out."
        )
    if problem.interfaces is not None:
        raise SettingsError(
            "coefficients jump in this problem, which is solved in all coordinates; leave subspace= out."
        )
    fix = f"write subspace=[[…], …] with less than {d} independent rows of {d} numbers, 'auto' or None"
    if isinstance(given, str):
        raise SettingsError(f"unknown subspace '{given}'; {fix}.")
    directions = np.atleast_2d(reals(given, f"a subspace is an array of directions ({fix})", SettingsError))
    if directions.ndim != 2 or directions.shape[1] != d or not 0 < len(directions) < d:
        raise SettingsError(f"the subspace has shape {directions.shape} in a problem of dimension {d}; {fix}.")
    if not np.all(np.isfinite(directions)):
        raise SettingsError(f"a direction of the subspace is not finite; {fix}.")
    if np.linalg.matrix_rank(directions) < len(directions):
        raise SettingsError(f"the {len(directions)} directions of the subspace are not independent; {fix}.")
    return Subspace.spanned_by(directions, problem.domain)


@dataclass(frozen=True, eq=False)
class Restriction(Transform, View):
    """Solves a problem on the few directions that its data depend on: u(x, t) = v(P x, t)."""

    subspace: Subspace
    name: ClassVar[str] = "subspace"
    keeps_axes: ClassVar[bool] = False
    note: ClassVar[str] = ""  # the report lists the directions

    @classmethod
    def propose(cls, problem: Problem) -> Restriction | None:
        """Return the directions of the data if they are few; interfaces stay where they are."""
        whole = problem.domain.dimension < 2 or problem.interfaces is not None or bool(problem.determined)
        subspace = None if whole else find_subspace(problem)
        return None if subspace is None else cls(subspace)

    def decision(self, problem: Problem) -> Decision:
        """Return the directions."""
        return Decision("subspace", f"the data depend on {self.subspace.describe(problem.domain.coordinates)} alone")

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of v."""
        return restrict(problem, self.subspace)

    def values(self, inner: Inner, request: Request) -> Array:
        """Apply the chain rule; the Laplacian of u is that of v."""
        terms = []
        for term in request.terms:
            for alpha, factor in chain_rule(term.derivative.alpha, self.subspace.rows).items():
                laps = term.derivative.laps
                own = Derivative((alpha[0] + 2 * laps,)) if len(alpha) == 1 else Derivative(alpha, laps)
                terms.append(Term(term.field, own, factor * term.coefficient))
        terms = terms or [Term(request.field, Derivative((0,) * self.subspace.size), 0.0)]
        places = request.places._replace(x=self.subspace.project(request.places.x))
        return inner(Request(places, tuple(terms), request.time))

    def as_dict(self) -> dict[str, Any]:
        """Return the directions and the section."""
        own = self.subspace
        arrays = {name: getattr(own, name).tolist() for name in ("rows", "section", "origin")}
        return {**arrays, "axes": None if own.axes is None else list(own.axes)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Restriction:
        """Return directions that were stored."""
        rows, section, origin = (np.array(stored[name], dtype=float) for name in ("rows", "section", "origin"))
        return cls(Subspace(rows, section, origin, None if stored["axes"] is None else tuple(stored["axes"])))


@remembered
def restrict(problem: Problem, subspace: Subspace) -> Problem:
    """Return the problem of v(z, t) on a subspace.

    Whether v(P x, t) solves the full problem is another question: conditions on sides that are not seen from the
    subspace may contradict it.

    Raises
    ------
    NotReducibleError
        If the domain or the conditions have no counterpart on the subspace.
    """
    if problem.laws:
        raise NotReducibleError(f"the condition '{problem.laws[0].text}' is nonlinear or changes in time.")
    domain = project_domain(problem.domain, subspace)
    writer = _Writer(problem, subspace)
    try:
        boundary = _boundary(problem, subspace, domain, writer)
        equations = []
        for e in problem.equations:
            left = sp.Add(*(c * problem.jets.symbol(jet) for jet, c in e.left_side(problem.jets).items()))
            equations.append(f"{as_text(writer.restricted(left))} = {as_text(writer.restricted(e.right_side))}")
        initial = {name: writer.datum(d) for name, d in problem.initial.items()}
        velocity = {name: writer.datum(d) for name, d in problem.initial_velocity.items()}
        with silenced():  # the full problem has warned already
            if problem.is_static:
                if problem.constraints:
                    raise NotReducibleError("a constraint refers to all coordinates.")
                return Problem(equations, domain, boundary=boundary, parameters=writer.functions)
            reduced = Problem(
                equations, domain, problem.time, initial, boundary, velocity or None, parameters=writer.functions
            )
            return _keeping(reduced, problem, subspace) if problem.kept else reduced
    except (FrozenPinnError, TypeError) as error:  # no form as text, or names that clash
        raise NotReducibleError(str(error)) from error


def _keeping(reduced: Problem, problem: Problem, subspace: Subspace) -> Problem:
    """Return a problem on a subspace with the constraints of the full one, as far as they say anything there."""
    kept = []
    for constraint in problem.kept:
        terms: dict[str, dict[tuple[int, ...], float]] = {name: {} for name in constraint.fields}
        for name, own in constraint.terms.items():
            for full, c in own.items():
                for alpha, factor in chain_rule(full, subspace.rows).items():
                    terms[name][alpha] = terms[name].get(alpha, 0.0) + c * factor
        if any(terms.values()):
            kept.append(replace(constraint, terms=terms))
    keeping = reduced.replaced(kept=tuple(kept))
    return keeping.replaced(groups=keeping.coupled_fields())


@dataclass(frozen=True, eq=False)
class OnSection:
    """A Python function of the full problem as a function of z and, if ``start`` is None, of time."""

    values: Datum | Program
    subspace: Subspace
    start: float | None

    @property
    def __signature__(self) -> inspect.Signature:
        names = (*coordinate_names(self.subspace.size), *((TIME,) if self.start is None else ()))
        return inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names])

    def __call__(self, *where: Any) -> Array:
        """Return the values at places of the section."""
        n = max(np.size(w) for w in where)
        z = np.stack([np.broadcast_to(w, n) for w in where[: self.subspace.size]], axis=1)
        x, t = self.subspace.lift(z), where[-1] if self.start is None else self.start
        values = self.values(x, float(t)) if isinstance(self.values, Datum) else self.values(*x.T, t)[0]
        return np.broadcast_to(values, n)


class _Writer:
    """Writes expressions of the full problem in the coordinates of the subspace."""

    def __init__(self, problem: Problem, subspace: Subspace) -> None:
        self.problem, self.subspace = problem, subspace
        self.jets = JetSpace(coordinate_names(subspace.size))
        self.functions: dict[str, OnSection] = {}
        self._known: dict[object, sp.Symbol] = {}
        self._places = dict(zip(problem.jets.x, map(self._place, range(subspace.dimension)), strict=True))
        from frozenpinn.geometry.ball import Ball

        if isinstance(problem.domain, Ball):  # the outward normal is (x − centre)/radius
            for i, normal in enumerate(normal_symbols(subspace.dimension)):
                distance = self._place(i) - _number(problem.domain.center[i])
                self._places[normal] = distance / _number(problem.domain.radius)

    def _place(self, axis: int) -> sp.Expr:
        """Return xᵢ on the section."""
        terms = [_number(s) * z for s, z in zip(self.subspace.section[axis], self.jets.x, strict=True)]
        return sp.Add(_number(self.subspace.origin[axis]), *terms)

    def restricted(self, expression: sp.Expr) -> sp.Expr:
        """Return an expression with derivatives of v, taken on the section."""
        table: dict[sp.Basic, sp.Basic] = dict(self._places)
        table |= {symbol: self.derivative(jet) for symbol, jet in self.problem.jets.jets_in(expression).items()}
        table |= {node: self._function(node) for node in expression.atoms(AppliedUndef)}
        return expression.xreplace(table)

    def derivative(self, jet: Jet) -> sp.Expr:
        """Return one derivative of u as a combination of derivatives of v."""
        terms = []
        for alpha, factor in chain_rule(jet.alpha, self.subspace.rows).items():
            if self.subspace.size == 1:
                own = replace(jet, alpha=(alpha[0] + 2 * jet.laps,), laps=0)
            else:
                own = replace(jet, alpha=alpha)
            terms.append(_number(factor) * self.jets.symbol(own))
        return sp.Add(*terms)

    def datum(self, datum: Datum) -> sp.Expr:
        """Return a datum on the section; a Python function becomes a parameter."""
        if datum.expression is not None:
            return self.restricted(datum.expression)
        return self._parameter(datum, datum, datum.depends_on_time)

    def _function(self, node: sp.Expr) -> sp.Symbol:
        return self._parameter(node, self.problem.compile([node]), self.problem.jets.t in node.free_symbols)

    def _parameter(self, key: object, values: Datum | Program, in_time: bool) -> sp.Symbol:
        if key not in self._known:
            name = f"given{len(self.functions) + 1}"
            self.functions[name] = OnSection(values, self.subspace, None if in_time else self.problem.time[0])
            self._known[key] = sp.Symbol(name)
        return self._known[key]

    def condition(self, condition: LinearCondition) -> str:
        """Return a boundary condition as a text."""
        left = sp.Add(
            *(
                self.restricted(c) * self.derivative(jet)
                for jet, c in zip(condition.jets, condition.coefficients, strict=True)
            )
        )
        return f"{as_text(left)} = {as_text(self.datum(condition.value))}"


def _number(value: float) -> sp.Expr:
    """Return a float as a SymPy number, whole numbers exactly."""
    value = float(value)
    return sp.Integer(int(value)) if value.is_integer() else sp.Float(value)


# ---- domains --------------------------------------------------------------------------------------


def project_domain(domain: Domain, subspace: Subspace) -> Domain:
    """Return P(Ω)."""
    rows, axes = subspace.rows, subspace.axes
    if isinstance(domain, Box):
        if axes is not None:
            return domain.axis(axes[0]) if len(axes) == 1 else _box(domain, axes)
        if any(periodic and rows[:, i].any() for i, periodic in enumerate(domain.periodic)):
            raise NotReducibleError("a direction of it mixes a periodic axis with others.")
        if np.all(np.count_nonzero(rows, axis=0) <= 1):  # each axis is seen in one direction only
            lower, upper = np.sort([rows * domain.lower, rows * domain.upper], axis=0).sum(axis=2)
            return Box(lower, upper) if len(rows) > 1 else Interval(float(lower[0]), float(upper[0]))
        from frozenpinn.geometry.rare.simplicial import ConvexPolytope

        return ConvexPolytope(rows @ domain.center + zonotope((rows * domain.lengths / 2.0).T))
    from frozenpinn.geometry.ball import Ball

    if isinstance(domain, Ball):
        center = rows @ domain.center
        if len(rows) == 1:
            return Interval(float(center[0]) - domain.radius, float(center[0]) + domain.radius)
        return Ball(center, domain.radius)
    raise NotReducibleError(f"only boxes and balls are projected, and the domain is {domain!r}.")


def _box(domain: Box, axes: Sequence[int]) -> Box:
    chosen = list(axes)
    return Box(domain.lower[chosen], domain.upper[chosen], [domain.periodic[i] for i in chosen])


def zonotope(generators: Array) -> Array:
    """Return the vertices of {Σ sᵢ gᵢ : |sᵢ| ≤ 1} for generators (d, k) in two or three dimensions.

    Examples
    --------
    >>> zonotope(np.eye(2))
    array([[ 1., -1.],
           [ 1.,  1.],
           [-1.,  1.],
           [-1., -1.]])
    """
    generators = generators[np.linalg.norm(generators, axis=1) > 1e-12 * np.abs(generators).max()]
    return _zonogon(generators) if generators.shape[1] == 2 else _zonohedron(generators)


def _zonogon(generators: Array) -> Array:
    """Walk around the boundary: the edges are the generators in the order of their angles."""
    upper = np.where((generators[:, 1] < 0) | ((generators[:, 1] == 0) & (generators[:, 0] < 0)), -1.0, 1.0)
    edges = generators * upper[:, None]
    edges = edges[np.argsort(np.arctan2(edges[:, 1], edges[:, 0]))]
    walk = -edges.sum(axis=0) + 2.0 * np.cumsum(edges, axis=0)  # from the lowest vertex to the highest
    return np.concatenate([walk, -walk])


def _zonohedron(generators: Array) -> Array:
    """Collect the vertices of all faces: each is a zonogon of the generators in its plane."""
    vertices: list[Array] = []
    size = np.abs(generators).max()
    for i, j in combinations(range(len(generators)), 2):
        normal = np.cross(generators[i], generators[j])
        if np.linalg.norm(normal) < 1e-12 * size**2:
            continue
        normal /= np.linalg.norm(normal)
        heights = generators @ normal
        flat = np.abs(heights) < 1e-9 * size
        if np.flatnonzero(flat)[0] < i:  # seen with an earlier pair
            continue
        rest = np.sum(generators[~flat] * np.sign(heights[~flat])[:, None], axis=0)
        first = generators[i] / np.linalg.norm(generators[i])
        plane = np.stack([first, np.cross(normal, first)])
        face = _zonogon(generators[flat] @ plane.T) @ plane
        vertices += [face + rest, -face - rest]
    return np.unique(np.concatenate(vertices).round(14), axis=0)


# ---- conditions -----------------------------------------------------------------------------------


def _boundary(problem: Problem, subspace: Subspace, domain: Domain, writer: _Writer) -> Any:
    """Return the conditions on the sides of P(Ω)."""
    full = problem.domain
    by_side: dict[str, list[LinearCondition]] = {side.name: [] for side in full.sides}
    for condition in problem.conditions:
        by_side[condition.side.name].append(condition)
    if not domain.sides:
        return None
    if not isinstance(full, Box):  # the one side of a ball is seen from everywhere
        return _written(problem, next(iter(by_side.values())), writer)
    if subspace.axes is not None:
        names = {(s.axis, s.end): s.name for s in full.sides}
        assert isinstance(domain, Box)
        return {
            side.name: _written(problem, by_side[names[subspace.axes[side.axis], side.end]], writer)
            for side in domain.sides
        }
    if not all(map(is_dirichlet, problem.conditions)):
        raise NotReducibleError("on a direction that is not a coordinate, only Dirichlet conditions are possible.")
    if subspace.size == 1:
        corners = [_at_corner(full, subspace, end, by_side) for end in (0, 1)]
        return {side.name: _written(problem, c, writer) for side, c in zip(domain.sides, corners, strict=True)}
    touched = [by_side[s.name] for s in full.sides if subspace.rows[:, s.axis].any()]
    return _written(problem, _common(touched), writer)


def _at_corner(
    domain: Box, subspace: Subspace, end: int, by_side: dict[str, list[LinearCondition]]
) -> list[LinearCondition]:
    """Return the conditions in the corner of a box over one end of its image on a line."""
    row = subspace.rows[0]
    touching = [by_side[s.name] for s in domain.sides if row[s.axis] and (row[s.axis] > 0) == (s.end == end)]
    if any({c.fields for c in other} != {c.fields for c in touching[0]} for other in touching):
        raise NotReducibleError("sides that meet in a corner have conditions for different fields.")
    return touching[0]  # what the others say is checked afterwards, on the whole boundary


def _common(sides: Sequence[list[LinearCondition]]) -> list[LinearCondition]:
    """Return the conditions of all sides, which must be the same."""

    def key(condition: LinearCondition) -> object:
        return condition.jets, condition.coefficients, condition.value.source

    first = {key(c) for c in sides[0]}
    if any({key(c) for c in side} != first for side in sides):
        raise NotReducibleError("on a plane that is not one of coordinates, all sides must have the same conditions.")
    return sides[0]


def _written(problem: Problem, conditions: Sequence[LinearCondition], writer: _Writer) -> list[Any]:
    covered = {name for condition in conditions for name in condition.fields}
    free = [Free(name) for name in problem.fields if name not in covered]
    return [*map(writer.condition, conditions), *free]
