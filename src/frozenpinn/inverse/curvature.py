"""How the tangents of an evolution change with the unknown numbers of its problem: second derivatives, exactly.

With v_a the change of each jet and each number in a direction, s_ij = ∂²u/∂θᵢ∂θⱼ obeys s_t = Σ ∂F/∂jet · jet(s) +
Σ ∂²F/∂a∂b vᵢₐ vⱼ_b: the system of the tangents with another load, one column for each pair of directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import sympy as sp

from frozenpinn.inverse.tangent import Tangent
from frozenpinn.language.jets import Jet

Array = np.ndarray


def pairs_of(size: int) -> list[tuple[int, int]]:
    """Return the pairs of directions in the order of the columns."""
    return list(combinations_with_replacement(range(size), 2))


class Bend:
    """Second derivatives of an expression by symbols, compiled when they are asked for."""

    def __init__(self, expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> None:
        firsts = [(i, sp.diff(expression, a)) for i, a in enumerate(symbols) if expression.has(a)]
        seconds = [(i, j, sp.diff(f, b)) for i, f in firsts for j, b in enumerate(symbols) if j >= i and f.has(b)]
        self.places = [(i, j) for i, j, second in seconds if second != 0]
        self.partials = [second for _, _, second in seconds if second != 0]

    def along(self, changes: Sequence[Array], values: Sequence[Array]) -> Array:
        """Return Σ ∂²q/∂a∂b vᵢₐ vⱼ_b for all pairs of directions, (n, pairs).

        Parameters
        ----------
        changes
            v: by how much each symbol changes in every direction, shape (n, directions).
        values
            Of the partial derivatives.
        """
        count, size = changes[0].shape
        one, other = map(list, zip(*pairs_of(size), strict=True))
        total = np.zeros((count, len(one)))
        for (a, b), value in zip(self.places, values, strict=True):
            product = changes[a][:, one] * changes[b][:, other]
            if a != b:
                product = product + changes[b][:, one] * changes[a][:, other]
            total += np.broadcast_to(value, count)[:, None] * product
        return total


class Curvature:
    """All second derivatives, as columns that follow the tangents in :func:`integrate_columns`.

    Parameters
    ----------
    tangent
        The system of the first ones, of numbers only, none of which stands in a boundary condition but linearly.
    """

    def __init__(self, tangent: Tangent) -> None:
        self.tangent = tangent
        self.numbers = [symbol for unknown in tangent.unknowns for symbol in unknown.atoms]
        problem = tangent.problem
        self.jets = tuple({j: None for e in problem.equations for j in problem.jets.jets_in(e.right_side).values()})
        self.symbols = [*(problem.jets.symbol(jet) for jet in self.jets), *self.numbers]
        self._tables = self.tables(tangent.x, self.jets)
        self._bends = [Bend(equation.right_side, self.symbols) for equation in problem.equations]
        used = {j: None for bend in self._bends for e in bend.partials for j in problem.jets.jets_in(e).values()}
        tangent.attend(tuple(used))

    def tables(self, x: Array, jets: Sequence[Jet]) -> list[tuple[Array, Array]]:
        """Return what takes tangents to their jets at points."""
        return [self.tangent.space.groups[self._group(jet)].tables(x, jet) for jet in jets]

    def _group(self, jet: Jet) -> int:
        return self.tangent.space.group_of(jet.field)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(pairs_of(self.tangent.size))

    def forcing(self, t: float, state: Array) -> Array:
        """Return what drives the second derivatives, given the state of the tangents."""
        tangent, layout = self.tangent, self.tangent.layout
        changes = [*self.changes(self.jets, self._tables, t, state), *self.ones(len(tangent.x))]
        highest = np.zeros((layout.coefficients, self.size))
        for equation, bend in zip(tangent.problem.equations, self._bends, strict=True):
            if bend.partials:
                row = tangent.space.group_of(equation.field)
                load = bend.along(changes, tangent.evaluated(bend.partials, t))
                highest[layout.blocks[row]] += tangent.space.groups[row].own_projector(equation.field) @ load
        return layout.joined(highest.T, 0.0).T

    def changes(
        self, jets: Sequence[Jet], tables: Sequence[tuple[Array, Array]], t: float, state: Array
    ) -> list[Array]:
        """Return jets of all tangents at a time, from their state and tables at some points, (n, directions) each."""
        parts, found = self.tangent.layout.split(state), []
        for jet, (own, lift) in zip(jets, tables, strict=True):
            index = self._group(jet)
            values = own @ parts[index][jet.time]
            if self.tangent.space.groups[index].sides:
                values = values + lift @ self.tangent.data(index, t, jet.time)
            found.append(values)
        return found

    def ones(self, count: int) -> list[Array]:
        """Return the changes of the numbers themselves."""
        return [np.tile(row, (count, 1)) for row in np.eye(len(self.numbers))]

    @cached_property
    def initial(self) -> Array:
        """The second derivatives at the start."""
        problem, (start, _) = self.tangent.problem, self.tangent.problem.time
        parts = []
        for kind in (problem.initial, problem.initial_velocity):
            for group in self.tangent.space.groups:
                if kind is problem.initial_velocity and group.order < 2:
                    continue
                columns = [self._bent_start(kind[name].expression, start) for name in group.network.fields]
                parts.append(group.projector @ np.concatenate(columns))
        return np.concatenate(parts)

    def _bent_start(self, expression: sp.Expr | None, start: float) -> Array:
        x = self.tangent.x
        bend = Bend(sp.S.Zero if expression is None else expression, self.numbers)
        values = self.tangent.problem.compile(bend.partials)(*x.T, start) if bend.partials else []
        return bend.along(self.ones(len(x)), values)
