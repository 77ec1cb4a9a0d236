"""The unknowns of a problem as one vector: numbers first, then coefficients of fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, silenced
from frozenpinn.inverse.field_basis import FieldBasis
from frozenpinn.inverse.sensitivity import Directions
from frozenpinn.statement.fronts import fronts_of
from frozenpinn.statement.problem import Problem, with_values
from frozenpinn.statement.unknowns import Unknown, UnknownField, atoms
from frozenpinn.transforms.fronts import known_parts

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Numbers:
    """The unknown numbers of a problem, and the coefficients of its unknown fields if these have got a basis.

    Attributes
    ----------
    problem
        What they are unknowns of.
    fields
        The functions that unknown fields are combined of.
    """

    problem: Problem
    fields: tuple[FieldBasis, ...] = ()

    @cached_property
    def table(self) -> dict[str, Unknown]:
        """The unknown numbers by name."""
        return {name: u for name, u in self.problem.parameters.inferred.items() if isinstance(u, Unknown)}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.table)

    @cached_property
    def conditions_are_known(self) -> bool:
        """Whether no unknown stands in a boundary condition."""
        texts = [e for c in self.problem.conditions for e in (*c.coefficients, c.value.expression) if e is not None]
        texts += [law.residual for law in self.problem.laws]
        atoms = [atom for direction in self.directions for atom in direction.atoms]
        return not any(text.has(atom) for text in texts for atom in atoms)

    @cached_property
    def is_affine(self) -> bool:
        """Whether the solution depends on all unknowns linearly: they are sources or data of a linear problem."""
        problem, atoms = self.problem, [atom for direction in self.directions for atom in direction.atoms]
        factors = [c for e in problem.equations for c in (*e.linear.values(), *e.linear_in_time.values())]
        factors += [c for condition in problem.conditions for c in condition.coefficients]
        texts = [e.forcing for e in problem.equations] + [c.value.expression for c in problem.conditions]
        texts += [datum.expression for datum in problem.initial_data]
        curved = (sp.diff(t, a, b) for t in texts if t is not None for a in atoms for b in atoms if t.has(a))
        return problem.is_linear and not any(c.has(a) for c in factors for a in atoms) and all(d == 0 for d in curved)

    @cached_property
    def start(self) -> Array:
        """The first guess."""
        return np.array([u.start for u in self.table.values()] + [0.0] * sum(f.size for f in self.fields))

    @property
    def shown_start(self) -> str:
        """The first guess of the numbers, as text."""
        return ", ".join(f"{name} = {unknown.start:g}" for name, unknown in self.table.items())

    def parts(self) -> list[tuple[FieldBasis, slice]]:
        """Return which entries belong to each field."""
        found, at = [], len(self.names)
        for basis in self.fields:
            found.append((basis, slice(at, at + basis.size)))
            at += basis.size
        return found

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds."""
        pairs = np.array([u.bounds for u in self.table.values()]).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    @cached_property
    def scales(self) -> Array:
        """The size of each: that of its start, or of its bounds if it starts at zero."""
        sizes = []
        for unknown in self.table.values():
            finite = [abs(b) for b in unknown.bounds if np.isfinite(b) and b != 0]
            sizes.append(abs(unknown.start) or max(finite, default=1.0))
        return np.array(sizes)

    @property
    def directions(self) -> list[Directions]:
        """In which directions they may change."""
        numbers = [Directions((sp.Symbol(n, real=True),), 1, _one) for n in self.names]
        return [*numbers, *(basis.directions for basis in self.fields)]

    def at(self, theta: Array) -> Problem:
        """Return the problem with values of the unknowns."""
        values: dict[str, Any] = dict(self.values(theta))
        for basis, own in self.parts():
            values |= basis.functions(theta[own])
        return with_values(self.problem, values)

    def solved_at(self, theta: Array) -> Problem:
        """Return the problem to solve for some values: stated anew where tangents do not know what they change."""
        if self.fields or self.problem.is_static or not beyond_tangents(self.problem):
            return self.at(theta)
        with silenced():  # a solve will warn again
            return self.problem.at(**self.values(theta))

    def stated(self, theta: Array) -> Problem:
        """Return the problem as if it had been stated with these values; they stay symbols in its equations."""
        other, values = self.at(theta), self.values(theta)
        given = {**self.problem.given, "parameters": {**self.problem.given["parameters"], **values}}
        given = {} if self.fields else given
        return other.replaced(parameters=replace(other.parameters, inferred={}), given=given)

    def values(self, theta: Array) -> dict[str, float]:
        """Return the values by name."""
        return {name: float(value) for name, value in zip(self.names, theta, strict=False)}


def _one(x: Array, t: float | Array, wanted: Sequence[int]) -> Sequence[Array]:
    return [np.ones((len(x), 1))]


def beyond_tangents(problem: Problem) -> str:
    """Return what a problem has that tangents know nothing of; empty if there is nothing."""
    if problem.laws and not problem.is_static:
        plain = all(law.is_linear and not law.depends_on_time and not law.time_order for law in problem.laws)
        return "conditions whose data need the normal of a curved side" if plain else "nonlinear boundary conditions"
    if problem.determined:
        return "equations without a time derivative beside others"
    if problem.interfaces is not None:
        return "coefficients that jump"
    if any(equation.mass for equation in problem.equations):
        return "spatial derivatives of time derivatives"
    if not problem.is_static and _spreads(problem):
        return "fronts that spread from jumps of data as fast as the unknowns say"
    jets = [jet for e in problem.equations for jet in problem.jets.jets_in(e.right_side).values()]
    return "nonlocal terms" if any(jet.field not in problem.fields for jet in jets) else ""


def _spreads(problem: Problem) -> bool:
    """Whether what spreads from jumps of the data, which is known in closed form, depends on the unknowns."""
    fronts = fronts_of(problem)
    unknown = {sp.Symbol(name, real=True) for name in problem.parameters.inferred}
    return fronts is not None and any(
        formula.free_symbols & unknown for formula in known_parts(problem, fronts).values()
    )


def check_present(problem: Problem) -> None:
    """Refuse unknowns that stand in no equation, condition or datum."""
    texts: list[sp.Expr] = [text for e in problem.equations for text in (e.right_side, *e.mass.values())]
    for condition in problem.conditions:
        texts += [*condition.coefficients, condition.value.expression]
    texts += [datum.expression for datum in problem.initial_data] + [law.residual for law in problem.laws]
    known = [text for text in texts if text is not None]
    for name, unknown in problem.parameters.inferred.items():
        own = [sp.Symbol(name, real=True)]
        if isinstance(unknown, UnknownField):
            own = atoms(name, unknown, problem.jets)
        if not any(text.has(*own) for text in known):
            raise ProblemError(
                f"the unknown '{name}' does not appear in the equations, the boundary conditions or the initial value, "
                "so nothing can be learnt about it; leave it out, or write it into the problem."
            )
