"""A problem as a plain spectral code sees it: v' = L v + N(v, t) for the coefficients of all fields.

L has what is linear with constant coefficients and takes waves to themselves; it is solved exactly. Everything else is
N: computed at the points. Terms of order zero that couple fields, such as those of chemical reactions, are N unless L
couples the fields anyway or nothing else is left for N.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from frozenpinn.errors import SettingsError
from frozenpinn.geometry import Box, FlatSide
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.spectral.functions import Linear
from frozenpinn_lab.peers.spectral.grid import EVEN, ODD, PERIODIC, Grid, Kinds, derived

Array = np.ndarray
Terms = Mapping[Jet, sp.Expr]


def kinds_of(problem: Problem, periodic: bool = False) -> dict[str, Kinds]:
    """Return what each field is along each axis; refuse domains and conditions that waves do not fit.

    ``periodic`` takes all axes as periodic, whatever the conditions.
    """
    domain = problem.domain
    if not isinstance(domain, Box) or domain.dimension > 3:
        raise SettingsError(
            f"the spectral baseline solves on boxes of one, two or three dimensions, not on {domain!r}; "
            "use frozenpinn.solve for others."
        )
    if periodic:
        return dict.fromkeys(problem.fields, (PERIODIC,) * domain.dimension)
    return {name: tuple(_kind(problem, name, axis) for axis in range(domain.dimension)) for name in problem.fields}


def _kind(problem: Problem, field: str, axis: int) -> str:
    if problem.domain.periodic[axis]:
        return PERIODIC
    found: dict[int, set[str]] = {0: set(), 1: set()}
    for condition in problem.conditions:
        side = condition.side
        if isinstance(side, FlatSide) and side.axis == axis and field in condition.fields:
            found[side.end].add(_parity(condition, axis))
    if found[0] == found[1] and len(found[0]) == 1:
        return found[0].pop()
    name = problem.domain.coordinates[axis]
    raise SettingsError(
        f"the spectral baseline needs the same conditions at both ends of axis '{name}', u = 0 for sines or u_n = 0 "
        f"for cosines (or periodic=True); '{field}' has others."
    )


def _parity(condition: LinearCondition, axis: int) -> str:
    """Return which waves satisfy a condition."""
    if condition.value.expression != 0:
        raise SettingsError(
            f"the spectral baseline has conditions with the right-hand side 0 only, got '{condition.text}' on "
            f"'{condition.side.name}'; subtract a function that satisfies it."
        )
    orders = {jet.alpha[axis] % 2 for jet in condition.jets}
    along = all(sum(jet.alpha) == jet.alpha[axis] for jet in condition.jets)
    if len(orders) > 1 or len(condition.fields) > 1 or not along:
        raise SettingsError(
            f"the spectral baseline has no waves for '{condition.text}' on '{condition.side.name}'; it takes u = 0, "
            "u_n = 0 and periodic axes."
        )
    return EVEN if orders == {1} else ODD


class Form:
    """The linear part and the rest of a problem on a grid.

    Attributes
    ----------
    components
        Unknowns: (field, 0), and (field, 1) for the time derivative of a field of second order in time.
    linear
        L.
    is_linear
        Whether there is no N.
    """

    def __init__(self, problem: Problem, grid: Grid, kinds: Mapping[str, Kinds]) -> None:
        self.problem, self.grid, self.kinds = problem, grid, kinds
        self.components = tuple((e.field, k) for e in problem.equations for k in range(e.order))
        for equation in problem.equations:
            self._check_parity(equation)
        inside, couplings, outside = self._split()
        rest = [outside[e.field] + e.nonlinear + _terms(problem, e.linear_in_time) for e in problem.equations]
        coupled = any(jet.field != name for name, table in inside.items() for jet in table)
        explicit = any(expression != 0 for expression in rest) or any(e.forcing != 0 for e in problem.equations)
        if not explicit or coupled or any(e.order == 2 for e in problem.equations):
            inside = {name: {**inside[name], **couplings[name]} for name in inside}
        else:
            rest = [part + _terms(problem, couplings[e.field]) for part, e in zip(rest, problem.equations, strict=True)]
        self.linear = self._assemble(inside)
        self._compile(rest)

    def _check_parity(self, equation: Equation) -> None:
        """Refuse terms that are not even (or odd) about the ends of an axis if their field is.

        Coefficients that depend on place may make up for it; whether they do, the error shows.
        """
        terms = sp.Add.make_args(expanded(equation.right_side - equation.forcing))
        expression = sp.Add(*(term for term in terms if not term.free_symbols & {*self.problem.jets.x}))
        jets = self.problem.jets.jets_in(expression)
        for axis, kind in enumerate(self.kinds[equation.field]):
            if kind == PERIODIC:
                continue
            odd = [s for s, jet in jets.items() if derived(self.kinds[jet.field], jet.alpha)[axis] == ODD]
            mirrored = expression.xreplace({symbol: -symbol for symbol in odd})
            if expanded(mirrored + expression if kind == ODD else mirrored - expression) != 0:
                name = self.problem.domain.coordinates[axis]
                raise SettingsError(
                    f"'{equation}' does not go with {'sines' if kind == ODD else 'cosines'} along '{name}': some of "
                    f"its terms are not {kind} about the ends. The spectral baseline needs a periodic axis there."
                )

    def _split(self) -> tuple[dict[str, dict[Jet, sp.Expr]], dict[str, dict[Jet, sp.Expr]], dict[str, sp.Expr]]:
        """Sort linear terms by field: those that waves keep apart, couplings of order zero, and the others as a sum."""
        inside: dict[str, dict[Jet, sp.Expr]] = {e.field: {} for e in self.problem.equations}
        couplings: dict[str, dict[Jet, sp.Expr]] = {e.field: {} for e in self.problem.equations}
        outside: dict[str, dict[Jet, sp.Expr]] = {e.field: {} for e in self.problem.equations}
        for equation in self.problem.equations:
            name = equation.field
            for jet, coefficient in equation.linear.items():
                turned = any(o % 2 and k != PERIODIC for o, k in zip(jet.alpha, self.kinds[name], strict=True))
                apart = not turned and self.kinds[jet.field] == self.kinds[name]
                constant, varying = coefficient.as_independent(*self.problem.jets.x, as_Add=True)
                if not apart or not constant.is_number:
                    constant, varying = sp.Integer(0), coefficient
                outside[name][jet] = varying
                (couplings if jet.field != name and not jet.order else inside)[name][jet] = constant
        found = (
            {name: {j: c for j, c in t.items() if c != 0} for name, t in part.items()} for part in (inside, couplings)
        )
        return *found, {name: _terms(self.problem, table) for name, table in outside.items()}  # type: ignore[return-value]

    def _assemble(self, inside: Mapping[str, Terms]) -> Linear:
        place = {component: i for i, component in enumerate(self.components)}
        entries: dict[tuple[int, int], Array] = {}
        for equation in self.problem.equations:
            row = place[equation.field, equation.order - 1]
            if equation.order == 2:
                entries[place[equation.field, 0], row] = np.ones((1,) * len(self.grid.axes))
            for jet, coefficient in inside[equation.field].items():
                spot = row, place[jet.field, jet.time]
                symbol = float(coefficient) * self.grid.symbol(self.kinds[jet.field], jet.alpha, jet.laps)
                entries[spot] = entries.get(spot, np.zeros(1)) + symbol
        m, diagonal = len(self.components), all(i == j for i, j in entries)
        dtype = np.result_type(float, *entries.values())
        table = np.zeros(((m,) if diagonal else (m, m)) + self.grid.shape, dtype=dtype)
        for (i, j), symbol in entries.items():
            table[i if diagonal else (i, j)] = symbol
        return Linear(table, diagonal)

    def _compile(self, rest: Sequence[sp.Expr]) -> None:
        """Prepare N: its jets with their factors, its program, and forcing that does not change in time."""
        problem, grid = self.problem, self.grid
        steady = [_steady(problem, e.forcing) for e in problem.equations]
        moving = [part + e.forcing - s for part, e, s in zip(rest, problem.equations, steady, strict=True)]
        moving = [sp.sympify(part) for part in moving]
        self._rows = [self.components.index((e.field, e.order - 1)) for e in problem.equations]
        self._jets = sorted({jet for part in moving for jet in problem.jets.jets_in(part).values()})
        self._factors = [
            None if not jet.order else grid.symbol(self.kinds[jet.field], jet.alpha, jet.laps) for jet in self._jets
        ]
        self._moves = [part != 0 for part in moving]
        self._points = tuple(grid.points.T)
        fixed: dict[sp.Expr, sp.Symbol] = {}
        moving = [_with_names(part, {*problem.jets.x}, fixed) for part in moving]
        self._fixed = problem.compile(list(fixed))(*self._points, problem.time[0])
        symbols = (*problem.jets.x, problem.jets.t, *map(problem.jets.symbol, self._jets), *fixed.values())
        self._program = problem.parameters.compiled(tuple(moving), symbols)
        self._steady: dict[int, Array] = {}
        program = problem.compile(steady)
        values = program(*self._points, problem.time[0])
        for row, part, value in zip(self._rows, steady, values, strict=True):
            if part != 0:
                self._steady[row] = self._transformed(value, self.components[row][0])
        self.is_linear = not any(self._moves) and not self._steady

    def _transformed(self, values: Array | float, field: str) -> Array:
        full = values if np.size(values) == len(self._points[0]) else np.full(len(self._points[0]), values)
        return self.grid.to_coefficients(np.asarray(full).reshape(self.grid.counts), self.kinds[field])

    def explicit(self, v: Array, t: float) -> Array:
        """Return N(v, t)."""
        values = [self._values(v, jet, factor) for jet, factor in zip(self._jets, self._factors, strict=True)]
        found = self._program(*self._points, t, *values, *self._fixed)
        if len(self.components) == 1 and not self._steady:
            return self._transformed(found[0], self.components[0][0])[None]
        result = np.zeros_like(v)
        for row, moves, value in zip(self._rows, self._moves, found, strict=True):
            if moves:
                result[row] = self._transformed(value, self.components[row][0])
            if row in self._steady:
                result[row] += self._steady[row]
        return result

    def _values(self, v: Array, jet: Jet, factor: Array | None) -> Array:
        c = v[self.components.index((jet.field, jet.time))]
        kinds = self.kinds[jet.field]
        c = c if factor is None else self.grid.turned(factor * c, kinds, jet.alpha)
        return self.grid.to_values(c, derived(kinds, jet.alpha)).ravel()

    def initial(self) -> Array:
        """Return the coefficients of the initial data."""
        tables = (self.problem.initial, self.problem.initial_velocity)
        start = self.problem.time[0]
        rows = [
            self._transformed(tables[time][field](self.grid.points, start), field) for field, time in self.components
        ]
        return np.stack(rows)


def _terms(problem: Problem, table: Terms) -> sp.Expr:
    return sp.Add(*(coefficient * problem.jets.symbol(jet) for jet, coefficient in table.items()))


def _with_names(node: sp.Expr, places: set[sp.Symbol], names: dict[sp.Expr, sp.Symbol]) -> sp.Expr:
    """Give names to the parts of an expression that depend on place only, so that they are computed once."""
    if not node.args or not node.free_symbols & places:
        return node
    if node.free_symbols <= places:
        return names.setdefault(node, sp.Dummy(real=True))
    arguments = node.args
    if isinstance(node, sp.Add | sp.Mul):
        still = node.func(*(a for a in arguments if a.free_symbols and a.free_symbols <= places))
        others = [a for a in arguments if not (a.free_symbols and a.free_symbols <= places)]
        arguments = (still, *others) if still.free_symbols else tuple(others)
    return node.func(*(_with_names(argument, places, names) for argument in arguments))


def _steady(problem: Problem, forcing: sp.Expr) -> sp.Expr:
    """Return the terms of a forcing that do not change in time."""
    parts = sp.Add.make_args(forcing)
    return sp.Add(*(part for part in parts if problem.jets.t not in part.free_symbols))
