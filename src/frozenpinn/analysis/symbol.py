"""The equations on plane waves: what the judgement of well-posedness is read off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.linalg as sla
import sympy as sp

from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import ROUND_OFF

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
USUAL = 0.37  # part of the time after which coefficients are evaluated


class Symbol:
    """The equations on plane waves: for each equation a list of (jet, coefficient at a point).

    With ``centred``, lower derivatives take into account that coefficients change along a wave (Weyl's rule): those of
    dx(a*u_x) have no first derivative then, as the operator is symmetric. ``complete`` is whether all coefficients are
    known, ``frozen`` whether those of a nonlinear part were taken at the initial data, ``order`` the highest spatial
    derivative.
    """

    def __init__(self, problem: Problem, *, centred: bool = False) -> None:
        self.problem = problem
        found = _linearised(problem)
        self.complete, self.frozen = found.complete, found.frozen
        tables = [_centred(table, problem) if centred else table for table in found.tables]
        self.rows: list[list[Jet]] = [list(table) for table in tables]
        expressions = [coefficient for table in tables for coefficient in table.values()]
        self._left = [list(equation.mass) for equation in problem.equations]
        self._count = len(expressions)
        expressions += [c for equation in problem.equations for c in equation.mass.values()]
        self._program = problem.compile(expressions)
        self.varies = any(problem.jets.t in expression.free_symbols for expression in expressions)
        self._second = [i for i, e in enumerate(problem.equations) if e.order == 2]
        self.order = max((jet.order for jets in (*self.rows, *self._left) for jet in jets), default=0)

    def coefficients(self, x: Array, share: float = USUAL) -> list[float]:
        """Return all coefficients at one point after a part of the time: by default not where they tend to vanish."""
        with np.errstate(all="ignore"):
            start, end = self.problem.time
            values = self._program(*(np.array([c]) for c in x), start + share * (end - start))
        return [float(np.ravel(v)[0]) for v in values]

    def matrix(self, coefficients: list[float], exponents: Array) -> Array:
        """Return the first-order matrices of the amplitudes of waves exp(κ·x), for each κ in ``exponents`` (…, d)."""
        fields, count = self.problem.fields, len(self.problem.fields)
        size = count + len(self._second)
        matrix = np.zeros((*exponents.shape[:-1], size, size), dtype=complex)
        values = iter(coefficients[: self._count])
        for i, jets in enumerate(self.rows):
            row = count + self._second.index(i) if i in self._second else i
            if i in self._second:
                matrix[..., i, row] = 1.0
            for jet in jets:
                j = fields.index(jet.field)
                column = count + self._second.index(j) if jet.time == 1 and j in self._second else j
                matrix[..., row, column] += next(values) * wave(jet, exponents)
        return matrix

    def mass(self, coefficients: list[float], exponents: Array) -> Array:
        """Return the matrices of the left-hand sides, with rows and columns as :meth:`matrix`; identities mostly."""
        fields, count = self.problem.fields, len(self.problem.fields)
        size = count + len(self._second)
        mass = np.broadcast_to(np.eye(size, dtype=complex), (*exponents.shape[:-1], size, size)).copy()
        values = iter(coefficients[self._count :])
        for i, jets in enumerate(self._left):
            if not self.problem.equations[i].order:  # the field is determined at each moment
                mass[..., i, i] = 0.0
                continue
            row = count + self._second.index(i) if i in self._second else i
            mass[..., row, :] = mass[..., row, :] if not jets else 0.0
            for jet in jets:
                j = fields.index(jet.field)
                column = count + self._second.index(j) if j in self._second else j
                mass[..., row, column] += next(values) * wave(jet, exponents)
        return mass

    def rates(self, coefficients: list[float], exponents: Array) -> Array:
        """Return the λ of waves exp(κ·x), shape (…, n); not a number where the left-hand side vanishes on them."""
        matrix = self.matrix(coefficients, exponents)
        if not self.is_implicit:
            return np.asarray(np.linalg.eigvals(matrix))
        mass, size = self.mass(coefficients, exponents), matrix.shape[-1]
        pairs = zip(matrix.reshape(-1, size, size), mass.reshape(-1, size, size), strict=True)
        found = np.array([_finite_eigenvalues(*pair) for pair in pairs]).reshape(matrix.shape[:-1])
        return found

    @property
    def is_implicit(self) -> bool:
        """Whether a left-hand side is more than a time derivative."""
        return any(self._left) or any(not equation.order for equation in self.problem.equations)


def _finite_eigenvalues(matrix: Array, mass: Array) -> Array:
    """Return the eigenvalues of a pencil; not a number for infinite ones, up to round-off."""
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(mass))):
        return np.full(len(matrix), np.nan + 0j)
    top, bottom = sla.eigvals(matrix, mass, homogeneous_eigvals=True)
    small = np.abs(bottom) <= ROUND_OFF * np.max(np.abs(mass))
    return np.where(small, np.nan, top / np.where(small, 1.0, bottom))


class _Linearised(NamedTuple):
    """Coefficients of each equation; whether there are all, and whether some were taken at the initial data."""

    tables: tuple[dict[Jet, sp.Expr], ...]
    complete: bool
    frozen: bool


@remembered
def _linearised(problem: Problem) -> _Linearised:
    initial = {name: datum.expression for name, datum in problem.initial.items()}
    velocity = {name: datum.expression for name, datum in problem.initial_velocity.items()}
    complete, frozen, tables = True, False, []
    for equation in problem.equations:
        table = {**equation.linear}
        for jet, coefficient in equation.linear_in_time.items():
            table[jet] = table.get(jet, sp.Integer(0)) + coefficient
        for symbol, jet in problem.jets.jets_in(equation.nonlinear).items():
            if jet.field in problem.jets.quantities:  # does not make short waves grow
                continue
            slope = sp.diff(equation.nonlinear, symbol)
            values = at_initial(slope, problem, initial, velocity)
            if values is None:
                complete = False
            else:
                table[jet] = table.get(jet, sp.Integer(0)) + values
                frozen = True
        tables.append(table)
    return _Linearised(tuple(tables), complete, frozen)


def _centred(table: dict[Jet, sp.Expr], problem: Problem) -> dict[Jet, sp.Expr]:
    """Take half of what derivatives of each coefficient add to lower derivatives from these."""
    result = dict(table)
    for jet, coefficient in table.items():
        for axis, x in enumerate(problem.jets.x):
            slope = sp.diff(coefficient, x) if jet.order > 1 else sp.Integer(0)
            if slope == 0 or slope.has(sp.Derivative, sp.Subs, sp.DiracDelta):
                continue
            unit = tuple(int(k == axis) for k in range(len(jet.alpha)))
            lower = {}
            if jet.alpha[axis]:
                alpha = tuple(a - u for a, u in zip(jet.alpha, unit, strict=True))
                lower[replace(jet, alpha=alpha)] = sp.Rational(jet.alpha[axis], 2)
            if jet.laps:
                alpha = tuple(a + u for a, u in zip(jet.alpha, unit, strict=True))
                lower[replace(jet, alpha=alpha, laps=jet.laps - 1)] = sp.Integer(jet.laps)
            for other, factor in lower.items():
                result[other] = result.get(other, sp.Integer(0)) - factor * slope
    return result


def at_initial(
    expression: sp.Expr, problem: Problem, initial: dict[str, sp.Expr | None], velocity: dict[str, sp.Expr | None]
) -> sp.Expr | None:
    """Evaluate a coefficient of a nonlinear part at the initial data; None if these are Python functions."""
    table = {}
    for symbol, jet in problem.jets.jets_in(expression).items():
        function = (initial if jet.time == 0 else velocity).get(jet.field)
        if function is None:
            return None
        table[symbol] = problem.jets.differentiate(function, jet.spatial)
    return expression.subs(table, simultaneous=True)


def wave(jet: Jet, exponents: Array) -> Array:
    """Return what a derivative does to exp(κ·x), for each κ in ``exponents`` (…, d)."""
    value = np.prod(exponents ** np.array(jet.alpha), axis=-1)
    return np.asarray(value * np.sum(exponents**2, axis=-1) ** jet.laps if jet.laps else value)


def fastest(rates: Array, least: float) -> Array:
    """Return the largest growth among the rates of each wave, at least some number."""
    return np.asarray(np.fmax.reduce(rates.real, axis=-1, initial=least))
