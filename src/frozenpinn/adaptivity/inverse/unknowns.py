"""The unknowns of a problem as one vector: numbers first, then coefficients of fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.assembly.sensitivity import Directions
from frozenpinn.errors import ProblemError
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.rebinding import with_values
from frozenpinn.statement.unknowns import Unknown, UnknownField

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Numbers:
    """The unknown numbers of a problem.

    Attributes
    ----------
    problem
        What they are unknowns of.
    """

    problem: Problem

    @cached_property
    def table(self) -> dict[str, Unknown]:
        """The unknown numbers by name."""
        return {name: u for name, u in self.problem.parameters.inferred.items() if isinstance(u, Unknown)}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.table)

    @cached_property
    def start(self) -> Array:
        """The first guess."""
        return np.array([u.start for u in self.table.values()])

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
        return [Directions((sp.Symbol(n, real=True),), 1, _one) for n in self.names]

    def at(self, theta: Array) -> Problem:
        """Return the problem with values of the unknowns."""
        return with_values(self.problem, self.values(theta))

    def values(self, theta: Array) -> dict[str, float]:
        """Return the values by name."""
        return {name: float(value) for name, value in zip(self.names, theta, strict=True)}


def _one(x: Array) -> Sequence[Array]:
    return [np.ones((len(x), 1))]


def check_present(problem: Problem) -> None:
    """Refuse unknowns that stand in no equation, condition or datum."""
    texts: list[sp.Expr] = [e.right_side for e in problem.equations]
    for condition in problem.conditions:
        texts += [*condition.coefficients, condition.value.expression]
    texts += [datum.expression for datum in problem.initial_data]
    known = [text for text in texts if text is not None]
    for name, unknown in problem.parameters.inferred.items():
        inner = f"log{name}" if isinstance(unknown, UnknownField) and unknown.positive else name
        used = {s.name for text in known for s in text.free_symbols}
        used |= {f.func.__name__.split("_")[0] for text in known for f in text.atoms(sp.core.function.AppliedUndef)}
        if inner not in used:
            raise ProblemError(
                f"the unknown '{name}' does not appear in the equations, the boundary conditions or the initial value, "
                "so nothing can be learnt about it; leave it out, or write it into the problem."
            )
