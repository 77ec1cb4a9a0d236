"""A solution of few coordinates as a solution of many: u(x, t) = v(P x, t), with all its derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from frozenpinn.analysis.subspace import Subspace, chain_rule
from frozenpinn.assembly.discretisation import System
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class _Around:
    """Stands for another object, but for what its own class says."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # while a copy is being made
            raise AttributeError(name)
        return getattr(self.inner, name)


class EmbeddedNetwork(_Around):
    """A network on a subspace, evaluated and differentiated at points of the full space."""

    def __init__(self, inner: Any, subspace: Subspace) -> None:
        super().__init__(inner)
        self.subspace = subspace

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D(field) of every basis function, shape (n, r)."""
        return np.asarray(self.inner.operator(self.subspace.project(x), self._terms(terms)))

    def lift_operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D(field) of every lifting function, shape (n, n_l)."""
        return np.asarray(self.inner.lift_operator(self.subspace.project(x), self._terms(terms)))

    def combine(self, x: Array, terms: Sequence[Term], coefficients: Array, lifted: Array | None = None) -> Array:
        """Return Σ coefficient·D(field) of the functions with given coefficients and data, shape (n, m)."""
        return np.asarray(self.inner.combine(self.subspace.project(x), self._terms(terms), coefficients, lifted))

    def evaluate(self, x: Array, name: str, derivative: Derivative) -> Array:
        """Return one derivative of the basis of one field, shape (n, r)."""
        return self.operator(x, [Term(name, derivative)])

    def _terms(self, terms: Sequence[Term]) -> list[Term]:
        """Apply the chain rule; the Laplacian of the full space is that of the subspace."""
        result = []
        for term in terms:
            for alpha, factor in chain_rule(term.derivative.alpha, self.subspace.rows).items():
                laps = term.derivative.laps
                own = Derivative((alpha[0] + 2 * laps,)) if len(alpha) == 1 else Derivative(alpha, laps)
                result.append(Term(term.field, own, factor * term.coefficient))
        return result or [Term(terms[0].field, Derivative((0,) * self.subspace.size), 0.0)]


class EmbeddedSpace(_Around):
    """A trial space whose network is embedded."""

    def __init__(self, inner: Any, subspace: Subspace) -> None:
        super().__init__(inner)
        self.network = EmbeddedNetwork(inner.network, subspace)


class EmbeddedSystem(_Around):
    """A semi-discrete system on a subspace; its coefficients belong to embedded networks."""

    def __init__(self, inner: Any, subspace: Subspace) -> None:
        super().__init__(inner)
        self.spaces = tuple(EmbeddedSpace(space, subspace) for space in inner.spaces)

    def space_of(self, field: str) -> tuple[int, EmbeddedSpace]:
        """Return the index and the space of a field."""
        index = self.inner.space_of(field)[0]
        return index, self.spaces[index]


def embed(reduced: Solution, problem: Problem, subspace: Subspace) -> Solution:
    """Return the solution of a problem whose restriction to a subspace has been solved."""
    pieces = [piece._replace(system=cast(System, EmbeddedSystem(piece.system, subspace))) for piece in reduced.pieces]
    solution = Solution(problem, pieces, reduced.sampler, reduced.seconds)
    solution.reduced, solution.subspace = reduced, subspace
    solution.width, solution.counts, solution.bytes = reduced.width, reduced.counts, reduced.bytes
    solution.notes = reduced.notes
    again = reduced.solve_again
    if again is not None:
        solution.solve_again = lambda full: embed(again(reduced.problem), full, subspace)
    return solution
