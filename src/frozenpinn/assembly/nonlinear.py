"""The part of the equations that is evaluated at the points at each time: nonlinear or with b(x, t).

All derivatives of the fields that this part needs come from one matrix–vector product per space;
a compiled program turns them into values and, for the Jacobian, partial derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.nonlocal_terms import matrix_of
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Term
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Bound, Program
from frozenpinn.language.quantities import Quantity
from frozenpinn.operators import Block, Operator, by_transforms, stack
from frozenpinn.runtime.arrays import is_finite
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@remembered
def pointwise_terms(problem: Problem) -> Mapping[str, sp.Expr]:
    """Return what must be evaluated at the points in the equation of each field, where there is such a thing."""
    expressions: dict[str, sp.Expr] = {}
    for equation in problem.equations:
        timed = sum((c * problem.jets.symbol(j) for j, c in equation.linear_in_time.items()), sp.Integer(0))
        if equation.nonlinear + timed != 0:
            expressions[equation.field] = equation.nonlinear + timed
    return expressions


class _Hidden(NamedTuple):
    """A nonlocal quantity at the points: which jet it is, the matrix to it, programs of what is under the integral."""

    place: int
    matrix: Array
    value_program: Program
    slope_program: Program
    inner: tuple[int, ...]

    @classmethod
    def of(
        cls, problem: Problem, place: int, quantity: Quantity, jets: Sequence[Jet], x: Array, weights: Array
    ) -> _Hidden:
        """Prepare a quantity."""
        own = [jet for jet in jets if problem.jets.symbol(jet) in quantity.inner.free_symbols]
        slopes = [sp.diff(quantity.inner, problem.jets.symbol(jet)) for jet in own]
        programs = problem.compile([quantity.inner], own), problem.compile(slopes, own)
        return cls(place, matrix_of(problem, quantity, x, x, weights), *programs, tuple(jets.index(jet) for jet in own))

    def value(self, x: Array, t: float, values: Sequence[Array]) -> Array:
        """Return the quantity at the points."""
        with np.errstate(all="ignore"):
            inner = self.value_program(*x.T, t, *(values[j] for j in self.inner))[0]
        return np.broadcast_to(self.matrix @ np.broadcast_to(inner, len(x)), len(x))

    def slopes(self, x: Array, t: float, values: Sequence[Array]) -> list[tuple[int, Array]]:
        """Return the derivatives of what is under the integral by each jet in it."""
        with np.errstate(all="ignore"):
            found = self.slope_program(*x.T, t, *(values[j] for j in self.inner))
        return [(j, np.broadcast_to(slope, len(x))) for j, slope in zip(self.inner, found, strict=True)]


class _Read(NamedTuple):
    """What is known of expressions before there are points: their jets, programs and derivatives, (field, jet) each."""

    jets: tuple[Jet, ...]
    nonlocal_jets: tuple[Jet, ...]
    program: Program
    partials: list[tuple[str, int]]
    jacobian_program: Program


@remembered
def _read(problem: Problem, expressions: tuple[tuple[str, sp.Expr], ...]) -> _Read:
    """Differentiate and compile the expressions of some fields."""
    found: dict[Jet, None] = {}
    for _, expression in expressions:
        found.update(dict.fromkeys(problem.jets.jets_in(expression).values()))
    hidden = tuple(jet for jet in found if jet.field in problem.jets.quantities)
    for jet in hidden:
        found.update(dict.fromkeys(problem.jets.jets_in(problem.jets.quantities[jet.field].inner).values()))
    jets, places, partials = tuple(found), list[tuple[str, int]](), list[sp.Expr]()
    for name, expression in expressions:
        for k, jet in enumerate(jets):
            partial = sp.diff(expression, problem.jets.symbol(jet))
            if partial != 0:
                places.append((name, k))
                partials.append(partial)
    programs = problem.compile([own for _, own in expressions], jets), problem.compile(partials, jets)
    return _Read(jets, hidden, programs[0], places, programs[1])


class PointwisePart:
    """n(t, y) at the points, and its derivatives by the coefficients."""

    def __init__(self, problem: Problem, spaces: Sequence[Space], x: Array, expressions: Mapping[str, sp.Expr]) -> None:
        self.x = x
        self.spaces = tuple(spaces)
        read = _read(problem, tuple(expressions.items()))
        self.jets, self.partials = read.jets, read.partials
        self.quantities = {jet: problem.jets.quantities[jet.field] for jet in read.nonlocal_jets}
        self._names = list(expressions)
        self.space_index = {name: i for i, s in enumerate(spaces) for name in s.fields}
        self._program, self._jacobian_program = read.program, read.jacobian_program
        self._vectorised = self._program.is_vectorised and not self.quantities  # functions take points, not grids
        self._hidden = [
            _Hidden.of(problem, k, self.quantities[jet], self.jets, x, spaces[0].network.points.weights)
            for k, jet in enumerate(self.jets)
            if jet in self.quantities
        ]
        self._stack()

    def _stack(self) -> None:
        """Evaluate basis and lifting for every jet; stack those of one space and time order."""
        self.groups: dict[tuple[int, int], list[int]] = {}
        for k, jet in enumerate(self.jets):
            if jet not in self.quantities:
                self.groups.setdefault((self.space_index[jet.field], jet.time), []).append(k)
        self.operators: dict[tuple[int, int], Operator] = {}
        self._lift: dict[tuple[int, int], Operator] = {}
        for key, members in self.groups.items():
            network = self.spaces[key[0]].network
            terms = [[Term(self.jets[k].field, derivative_of(self.jets[k]))] for k in members]
            self.operators[key] = stack([network.at_points(term) for term in terms])
            if network.lift_size:
                self._lift[key] = stack([network.lift_at_points(term) for term in terms])
        self._lifted_cache: dict[tuple[tuple[int, int], float], Array] = {}
        self._dense: dict[int, Array] = {}

    @cached_property
    def at_points(self) -> Bound:
        """(t, jets) → the expressions at the points; what depends on the place alone is evaluated once."""
        return Bound(self._program, *map(np.ascontiguousarray, self.x.T))

    @cached_property
    def _slopes_at_points(self) -> Bound:
        return Bound(self._jacobian_program, *map(np.ascontiguousarray, self.x.T))

    @cached_property
    def _in_rows(self) -> Bound:
        """The same at several times at once."""
        return Bound(self._program, *(c[:, None] for c in self.x.T))

    def _lifted(self, key: tuple[int, int], t: float) -> Array | float:
        if key not in self._lift:
            return 0.0
        data = self.spaces[key[0]].data
        moment = (key, t if data.depends_on_time else 0.0)
        value = self._lifted_cache.get(moment)
        if value is None:
            if len(self._lifted_cache) >= 64:
                self._lifted_cache.clear()
            value = self._lifted_cache[moment] = np.asarray(self._lift[key] @ data(t, key[1]))
        return value

    def maps(self) -> list[Operator]:
        """Return the map from coefficients to each jet, where all spaces are products and there are no integrals."""
        return [self._part(k)[0] for k in range(len(self.jets))]

    def _part(self, k: int) -> tuple[Operator, int]:
        """Return an operator with the map to a jet, and where that stands in it, in numbers of points."""
        key = self.space_index[self.jets[k].field], self.jets[k].time
        operator, place = self.operators[key], self.groups[key].index(k)
        return (operator.rows[place][0] or operator, 0) if isinstance(operator, Block) else (operator, place)

    def lifts(self, t: float) -> list[Array | float] | None:
        """Return what boundary data add to each jet; None if there is nothing."""
        if not self._lift:
            return None
        n, found = len(self.x), list[Array | float]([0.0] * len(self.jets))
        for key in self._lift:
            lifted = np.asarray(self._lifted(key, t))
            for i, k in enumerate(self.groups[key]):
                found[k] = lifted[i * n : (i + 1) * n]
        return found

    def _rows(self, k: int) -> Array:
        """Return the matrix from coefficients to one jet at the points, whatever its size: the Jacobian needs it."""
        most = 1_000_000  # entries of a matrix of a product that is kept for further Jacobians
        if k in self._dense:
            return self._dense[k]
        n, (operator, i) = len(self.x), self._part(k)
        found = operator.dense(limit=operator.shape[0] * operator.shape[1])[i * n : (i + 1) * n]
        if found.size <= most:
            self._dense[k] = found
        return found

    def jet_values(self, t: float, state: Sequence[Sequence[Array]]) -> list[Array]:
        """Return the values of all jets at the points."""
        n = len(self.x)
        values: list[Array] = [np.empty(0)] * len(self.jets)
        for key, members in self.groups.items():
            space, order = key
            stacked = self.operators[key] @ state[space][order] + self._lifted(key, t)
            for i, k in enumerate(members):
                values[k] = stacked[i * n : (i + 1) * n]
        for hidden in self._hidden:
            values[hidden.place] = hidden.value(self.x, t, values)
        return values

    def values(self, t: float, state: Sequence[Sequence[Array]]) -> Iterator[tuple[int, str, Array]]:
        """Yield (space, field, values at the points) of the pointwise part of each equation."""
        with np.errstate(all="ignore"):
            results = self.at_points(t, *self.jet_values(t, state))
        for name, result in zip(self._names, results, strict=True):
            yield self.space_index[name], name, np.broadcast_to(result, len(self.x))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields whose equations have such a part."""
        return tuple(self._names)

    def transformed(self, rights: Sequence[Array], lefts: Mapping[str, Array]) -> Callable[[float, Array], Array]:
        """Return (t, z) → Σ lefts[field] · (values of its part) for the coefficients rights[space]·z.

        The matrices are multiplied once, so that a call takes one product before and one after the program.
        """
        n = len(self.x)
        keys = list(self.groups)
        if any(order for _, order in keys):
            raise ValueError("velocities are no functions of the coefficients")
        before = np.concatenate([self.operators[key] @ rights[key[0]] for key in keys])
        after = np.concatenate([lefts[name] for name in self._names], axis=1)
        stacked, results = np.empty(len(before)), np.empty(after.shape[1])
        views: list[Array] = [np.empty(0)] * len(self.jets)
        lifted: list[tuple[tuple[int, int], Array]] = []
        start = 0
        for key in keys:
            members = self.groups[key]
            for k in members:
                views[k] = stacked[start : start + n]
                start += n
            if key in self._lift:
                lifted.append((key, stacked[start - n * len(members) : start]))
        targets = [results[i * n : (i + 1) * n] for i in range(len(self._names))]
        program = self.at_points

        def evaluate(t: float, z: Array) -> Array:
            np.dot(before, z, out=stacked)
            for key, view in lifted:
                np.add(view, self._lifted(key, t), out=view)
            for target, result in zip(targets, program(t, *views), strict=True):
                target[:] = result
            return np.dot(after, results)

        return evaluate

    def transformed_by_axes(
        self, rights: Sequence[Operator], lefts: Mapping[str, Operator], blocks: Sequence[slice]
    ) -> Callable[[float, Array], Array]:
        """Return (t, z) → Σ lefts[field] · (values of its part), for operators on the coefficients of each space.

        The parts of z have the sizes of the blocks of coefficients.
        """
        n, size = len(self.x), blocks[-1].stop
        keys = {
            key: stack([by_transforms(self._part(k)[0] @ rights[key[0]], outward=True) for k in members])
            for key, members in self.groups.items()
        }
        lefts = {name: by_transforms(own, outward=False) for name, own in lefts.items()}
        program = self.at_points

        def evaluate(t: float, z: Array) -> Array:
            values: list[Array] = [np.empty(0)] * len(self.jets)
            for key, operator in keys.items():
                stacked = np.real(operator @ z[blocks[key[0]]])
                if key in self._lift:
                    stacked += self._lifted(key, t)
                for i, k in enumerate(self.groups[key]):
                    values[k] = stacked[i * n : (i + 1) * n]
            out = np.zeros(size, dtype=z.dtype)
            for name, result in zip(self._names, program(t, *values), strict=True):
                out[blocks[self.space_index[name]]] += lefts[name] @ np.broadcast_to(result, n)
            return out

        return evaluate

    def batch(self, times: Array, states: Sequence[Sequence[Array]]) -> Iterator[tuple[int, str, Array]]:
        """Yield (space, field, values of shape (m, n)) at m times, by matrix–matrix products where possible.

        ``states[space][order]`` has one column for each time.
        """
        if not self._vectorised:
            each = ([[c[:, i] for c in orders] for orders in states] for i in range(len(times)))
            rows = [list(self.values(float(t), state)) for t, state in zip(times, each, strict=True)]
            for k, (space, name, _) in enumerate(rows[0]):
                yield space, name, np.array([row[k][2] for row in rows])
            return
        n, jets = len(self.x), [np.empty(0)] * len(self.jets)
        for key, members in self.groups.items():
            stacked = self.operators[key] @ states[key[0]][key[1]]
            if key in self._lift:
                stacked += np.array([np.broadcast_to(self._lifted(key, float(t)), len(stacked)) for t in times]).T
            for i, k in enumerate(members):
                jets[k] = stacked[i * n : (i + 1) * n]
        with np.errstate(all="ignore"):
            results = self._in_rows(times[None, :], *jets)
        for name, result in zip(self._names, results, strict=True):
            yield self.space_index[name], name, np.broadcast_to(result, (n, len(times))).T

    def differential(self, t: float, state: Sequence[Sequence[Array]]) -> Differential:
        """Return the derivative of the values in the direction of other coefficients, without any matrix."""
        values = self.jet_values(t, state)
        inner = {part.place: (part.matrix, part.slopes(self.x, t, values)) for part in self._hidden}
        return Differential(self, self.slopes(t, values), inner)

    def slopes(self, t: float, values: Sequence[Array]) -> list[Array]:
        """Return the partial derivatives at the points.

        Where they are infinite, as that of √max(u, 0) at zero is, zero is taken: they steer iterations, no more.
        """
        with np.errstate(all="ignore"):
            slopes = self._slopes_at_points(t, *values)
        if all(map(is_finite, slopes)) or not all(map(is_finite, values)):
            return list(slopes)
        return [slope if is_finite(slope) else np.where(np.isfinite(slope), slope, 0.0) for slope in slopes]

    def mean_partials(
        self, t: float, state: Sequence[Sequence[Array]], weights: Array
    ) -> Iterator[tuple[str, Jet, float]]:
        """Yield (field, jet, mean of the derivative of the field's part by that jet)."""
        partials = self.slopes(t, self.jet_values(t, state))
        for (name, k), partial in zip(self.partials, partials, strict=True):
            if self.jets[k] not in self.quantities:
                yield name, self.jets[k], float(np.broadcast_to(partial, weights.shape) @ weights)

    def jacobian(self, t: float, state: Sequence[Sequence[Array]]) -> Iterator[tuple[int, str, int, int, Array]]:
        """Yield (row space, field, column space, time order, ∂values/∂coefficients)."""
        values = self.jet_values(t, state)
        partials = self.slopes(t, values)
        sums: dict[tuple[str, tuple[int, int]], Array] = {}
        hidden = {part.place: part for part in self._hidden}
        for (name, k), partial in zip(self.partials, partials, strict=True):
            column = np.broadcast_to(partial, len(self.x))[:, None]
            if k in hidden:
                inner = hidden[k].slopes(self.x, t, values)
                parts = [(j, column * (hidden[k].matrix @ (slope[:, None] * self._rows(j)))) for j, slope in inner]
            else:
                parts = [(k, self._rows(k) * column)]
            for j, scaled in parts:
                key = (self.space_index[self.jets[j].field], self.jets[j].time)
                sums[name, key] = sums[name, key] + scaled if (name, key) in sums else scaled
        for (name, key), matrix in sums.items():
            yield self.space_index[name], name, key[0], key[1], matrix


class Differential:
    """The derivative of the pointwise part at one state: directions in, changes of the values at the points out."""

    def __init__(
        self,
        part: PointwisePart,
        partials: Sequence[Array],
        hidden: Mapping[int, tuple[Array, list[tuple[int, Array]]]],
    ) -> None:
        self._part, self._factors, self._hidden = part, partials, hidden

    def __call__(self, direction: Sequence[Sequence[Array]]) -> Iterator[tuple[int, str, Array]]:
        """Yield (space, field, changes at the points) for coefficients split as states are."""
        part, n = self._part, len(self._part.x)
        moved = {key: part.operators[key] @ direction[key[0]][key[1]] for key in part.groups}

        def change(k: int) -> Array:
            if k in self._hidden:
                matrix, slopes = self._hidden[k]
                return np.asarray(matrix @ sum(slope * change(j) for j, slope in slopes))
            key = (part.space_index[part.jets[k].field], part.jets[k].time)
            i = part.groups[key].index(k)
            return np.asarray(moved[key][i * n : (i + 1) * n])

        for (name, k), factor in zip(part.partials, self._factors, strict=True):
            yield part.space_index[name], name, np.broadcast_to(factor * change(k), n)
