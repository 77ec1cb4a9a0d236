"""Everything in a problem that may depend on x: initial data, sources, coefficients, boundary data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.data import Datum
from frozenpinn.statement.normals import normal_symbols
from frozenpinn.statement.problem import Problem

Array = np.ndarray
COMPARED = 2000  #: points and times at which data are compared, …
_ONE_BY_ONE = 32  # … and times of Python functions, which take one at a time


class Given(NamedTuple):
    """Something in a problem that may depend on x, as a function of points (n, d), unknowns and time.

    ``values(x, draw, t)`` takes for each point the number of a draw of the unknowns; ``vectorised`` tells whether t may
    be one time per point, and ``changes`` whether there is more than one time.
    """

    values: Callable[[Array, Array, Any], Array]
    changes: bool
    vectorised: bool

    def at(self, x: Array, draw: Array, time: tuple[float, float]) -> Array:
        """Return the values at points, at times all over an interval; equal draws have equal times."""
        start, end = time
        if not self.changes:
            return self.values(x, draw, start)
        count = COMPARED if self.vectorised else _ONE_BY_ONE
        moments = start + (end - start) * np.random.default_rng(Seed.GRADIENTS_IN_TIME).permutation(
            np.linspace(0.0, 1.0, count)
        )
        which = draw % count
        if self.vectorised:
            return self.values(x, draw, moments[which])
        result = np.empty(len(x))
        for k in np.unique(which):
            result[which == k] = self.values(x[which == k], draw[which == k], float(moments[k]))
        return result

    def during(self, x: Array, times: Array) -> Array:
        """Return the values at points, each at its own time, with one draw of the unknowns."""
        draw = np.zeros(len(x), dtype=int)
        if self.vectorised:
            return self.values(x, draw, times)
        pairs = zip(x, times.tolist(), strict=True)
        return np.concatenate([self.values(place[None], draw[:1], t) for place, t in pairs])


def given_data(problem: Problem) -> Iterator[Given]:
    """Yield everything that may depend on x, each thing once."""
    seen: set[object] = set()
    one = dict.fromkeys(normal_symbols(problem.domain.dimension), sp.Integer(1))  # normals follow from the domain
    initial = problem.initial_data
    parts: list[Datum | sp.Expr] = [*initial, *(condition.value for condition in problem.conditions)]
    for equation in problem.equations:
        parts += [equation.forcing, equation.nonlinear]
        parts += [*equation.linear.values(), *equation.linear_in_time.values(), *equation.mass.values()]
    parts += [c.xreplace(one) for condition in problem.conditions for c in condition.coefficients]
    for part in parts:
        expression = part.expression if isinstance(part, Datum) else part
        if expression is None:
            assert isinstance(part, Datum)
            changes = part.depends_on_time and part not in initial
            key = (id(part.source), changes)
            if key not in seen:
                seen.add(key)
                yield Given(lambda x, _, t, datum=part: datum(x, t), changes, vectorised=False)  # type: ignore[misc]
        elif expression not in seen and not expression.free_symbols.isdisjoint(problem.jets.x):
            seen.add(expression)
            yield _term(expression, problem)


def _term(expression: sp.Expr, problem: Problem) -> Given:
    """Return an expression as a function of x, with random values for the unknowns in it."""
    jets = list(problem.jets.jets_in(expression).values())
    program = problem.compile([expression], jets)
    rng = np.random.default_rng(Seed.GRADIENTS)
    table = rng.uniform(0.2, 2.0, (64, len(jets)))  # logarithms and roots are defined there
    x = problem.domain.sample(32, "random", rng).x
    for column, jet in enumerate(jets):  # and where the solution starts, if that is elsewhere
        if jet.order == 0 and jet.time == 0 and jet.field in problem.initial:
            start = problem.initial[jet.field](x, problem.time[0])
            table[32:, column] = start + 0.1 * np.ptp(start) * rng.normal(size=32)

    def values(x: Array, draw: Array, t: Any) -> Array:
        with np.errstate(all="ignore"):
            result = program(*x.T, t, *table[draw % 64].T)[0]
        return np.broadcast_to(np.asarray(result, dtype=float), len(x))

    return Given(values, problem.jets.t in expression.free_symbols, vectorised=True)
