"""Nonlinear terms beyond a shape, as sources on a box around it.

A solution on the shape consists of functions on the box, which carry its detail, and of features that are smooth there
but mean nothing beyond. These are replaced by polynomials that agree with them on the shape and stay small on the box.
So the detail that nonlinear terms inherit from the solution is known on the whole box, and can be resolved there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import sympy as sp
from numpy.polynomial import chebyshev

from frozenpinn.assembly.collocation import Combination, slopes_of
from frozenpinn.assembly.nonlocal_terms import jets_at
from frozenpinn.basis.along_axes import grid_axes
from frozenpinn.basis.boxed import BoxFunctions
from frozenpinn.basis.hidden import Derivative, pure
from frozenpinn.basis.special import parts_of
from frozenpinn.geometry import Box
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import Jet
from frozenpinn.operators import LeastSquares
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_DEGREES = {2: 24, 3: 10}  # of the polynomials, by dimension
_POINTS = 3  # at which they agree with a function, for each of them
_RIDGE = 1e-11  # of their fit, relative to the lowest polynomials, …
_FALL = 1.6  # … by which higher ones are more expensive from degree to degree, lest they grow beyond the shape


@dataclass(frozen=True, eq=False)
class Continued:
    """Fields on a box: functions of the box, and products of Chebyshev polynomials.

    Attributes
    ----------
    detail, shares
        Functions of the box and their coefficients, shape (fields, functions).
    polynomials
        Coefficients of the products, one tensor for each field.
    """

    fields: tuple[str, ...]
    box: Box
    detail: BoxFunctions
    shares: Array
    polynomials: Array

    @classmethod
    def of(cls, state: Combination, problem: Problem, box: Box) -> Continued | None:
        """Continue a function of a shape to a box around it; None if it has no functions of a box."""
        detail, columns = _boxed(state)
        if detail is None:
            return None
        d = box.dimension
        highest, (n, m) = _DEGREES[d], (_DEGREES[d] + 1, len(state.fields))
        chosen = np.array([k for k in product(range(n), repeat=d) if sum(k) <= highest])
        x = problem.domain.sample(_POINTS * len(chosen), "random", np.random.default_rng(Seed.STATIC_RESIDUALS)).x
        blocks = state.coefficients.reshape(m, -1)
        smooth = blocks.copy()
        smooth[:, columns] = 0.0
        rest = state.moved(smooth.ravel())
        values = np.stack(rest.jets(x, [problem.jets.field(name) for name in state.fields]), axis=1)
        tables = _tables(box, list(x.T), (0,) * d)
        rows = np.prod([table[:, chosen[:, axis]] for axis, table in enumerate(tables)], axis=0)
        falling = _FALL ** -np.sum(chosen, axis=1).astype(float)
        polynomials = np.zeros((m, *(n,) * d))
        polynomials[:, *chosen.T] = falling * LeastSquares.of(rows * falling, _RIDGE).solve(values).T
        return cls(state.fields, box, detail, blocks[:, columns], polynomials)

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the fields."""
        axes, found = grid_axes(x), []
        for jet in jets:
            i = self.fields.index(jet.field)
            value = self.detail(x, jet.alpha, jet.laps) @ self.shares[i]
            for alpha, factor in pure(Derivative(jet.alpha, jet.laps), x.shape[1]):
                tables = _tables(self.box, list(x.T) if axes is None else axes, alpha)
                value += factor * _combined(tables, self.polynomials[i], axes is not None)
            found.append(value)
        return found


def with_nonlinear_sources(problem: Problem, linear: Problem, about: Continued) -> Problem:
    """Return a linear problem whose sources are, in addition, the nonlinear terms of another one about a function."""
    coordinates, functions, arguments, equations = linear.jets.coordinates, {}, {}, []
    for k, (equation, own) in enumerate(zip(linear.equations, problem.equations, strict=True)):
        name = f"nonlinear terms {k}"
        only = problem.replaced(
            equations=tuple(
                replace(e, right_side=own.nonlinear, linear={}, forcing=sp.Integer(0)) if e is own else e
                for e in problem.equations
            )
        )
        functions[name] = UserFunction(_Terms(only, own.field, about), name, coordinates, ("points",))
        arguments[name] = coordinates
        source = sp.Function(name, real=True)(*linear.jets.x)
        equations.append(replace(equation, right_side=equation.right_side + source, forcing=equation.forcing + source))
    known = linear.parameters
    return linear.replaced(
        equations=tuple(equations),
        parameters=replace(
            known, functions={**known.functions, **functions}, arguments={**known.arguments, **arguments}
        ),
    )


@dataclass(frozen=True, eq=False)
class _Terms:
    """The nonlinear terms of one equation about a function, at points (n, d)."""

    problem: Problem
    field: str
    about: Continued

    def __call__(self, points: Array) -> Array:
        slopes = slopes_of(self.problem, self.field)
        with np.errstate(all="ignore"):
            value = slopes.value(*points.T, 0.0, *jets_at(self.problem, self.about, points, slopes.jets))[0]
        return np.array(np.broadcast_to(value, len(points)), dtype=float)


def _boxed(state: Combination) -> tuple[BoxFunctions | None, list[int]]:
    """Return the functions of a box that a combination contains, and their columns."""
    first = state.hidden.width + 1
    for part in parts_of(state.hidden.singular):
        if isinstance(part, BoxFunctions):
            return part, list(range(first, first + len(part)))
        first += len(part)
    return None, []


def _tables(box: Box, coordinates: Sequence[Array], alpha: tuple[int, ...]) -> list[Array]:
    """Return derivatives of the Chebyshev polynomials of each axis of a box, shape (n, number)."""
    found = []
    for axis, (x, order) in enumerate(zip(coordinates, alpha, strict=True)):
        half = float(box.lengths[axis]) / 2.0
        s = (x - float(box.lower[axis])) / half - 1.0
        slopes = chebyshev.chebder(np.eye(_DEGREES[box.dimension] + 1), order)
        found.append(chebyshev.chebval(s, slopes).T / half**order)
    return found


def _combined(tables: Sequence[Array], tensor: Array, on_grid: bool) -> Array:
    """Return a combination of products, at the points of a grid or at scattered ones."""
    if on_grid:
        for axis, table in enumerate(tables):
            tensor = np.moveaxis(np.tensordot(table, tensor, axes=(1, axis)), 0, axis)
        return np.asarray(tensor.ravel())
    part = tables[0] @ tensor.reshape(len(tensor), -1)
    for table in tables[1:]:
        part = np.einsum("ni,nik->nk", table, part.reshape(*table.shape, -1))
    return np.asarray(part[:, 0])
