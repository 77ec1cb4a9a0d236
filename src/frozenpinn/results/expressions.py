"""Expressions in the fields of a solution: fluxes, stresses, vorticity, energies; read once, evaluated anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.parser import parse_value
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope
from frozenpinn.language.values import Complex, Value, each, is_matrix, scalars
from frozenpinn.results.evaluation import check_inside, frame_of
from frozenpinn.runtime.arguments import shown
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.composites import flat
from frozenpinn.statement.conditions import normal_symbols

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Expression:
    """A number, a complex number, a vector or a matrix made of fields, derivatives, coordinates and parameters.

    Attributes
    ----------
    text
        As it was written.
    value
        What it stands for, over the derivatives of the fields in the coordinates that are solved in.
    jets
        These derivatives.
    space
        How they are called.
    program
        One number for each real part, from the coordinates, the time, on sides the normal, and the derivatives.
    at_once
        Whether many times may be given at once: Python functions may take one at a time.
    on_side
        Whether the outward normal is known.
    """

    text: str
    value: Value
    jets: tuple[Jet, ...]
    space: JetSpace
    program: Program
    at_once: bool
    on_side: bool

    @classmethod
    def read(cls, problem: Problem, text: Any, on_side: bool = False, weighted: bool = False) -> Expression:
        """Read a text; on a side of the domain there are the outward normal ``n``, and derivatives along it, ``u_n``.

        ``weighted`` multiplies by the volume element of the coordinates that are solved in.
        """
        if not isinstance(text, str):
            raise EvaluationError(f"an expression is text such as 'u**2', got {shown(text)}.")
        return _read(problem, text, on_side, weighted)

    @property
    def shape(self) -> tuple[int, ...]:
        """() of a number, (d,) of a vector, (d, d) of a matrix."""
        if not isinstance(self.value, tuple):
            return ()
        return (len(self.value), len(self.value[0])) if is_matrix(self.value) else (len(self.value),)

    @property
    def is_complex(self) -> bool:
        """Whether any component is complex."""
        return any(isinstance(number, Complex) for number in scalars(self.value))

    @property
    def is_linear(self) -> bool:
        """Whether it is linear in the fields, without a part that does not depend on them."""
        splits = [self.space.affine(part) for part in flat(self.value)]
        return all(split is not None and split[1] == 0 for split in splits)

    def combined(self, coordinates: Sequence[Array], t: Any, values: Sequence[Array]) -> Array:
        """Return the values, components first, from those of the derivatives; arrays that broadcast."""
        arrays = [*coordinates, t, *values]
        shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
        with np.errstate(all="ignore"):
            if self.program.is_vectorised:
                parts = self.program(*arrays)
            else:
                parts = self._time_by_time([np.broadcast_to(a, shape).ravel() for a in arrays])
        return self._assembled([np.broadcast_to(part, shape) if np.shape(part) != shape and np.size(part) == 1
                                else np.reshape(part, shape) for part in parts], shape)  # fmt: skip

    def _time_by_time(self, columns: Sequence[Array]) -> list[Array]:
        """Evaluate Python functions at places (n,), at one time after the other if they depend on it."""
        d, n = len(self.space.coordinates), len(columns[0])
        times = columns[d]
        if self.at_once or n == 0:
            return [np.broadcast_to(part, n) for part in self.program(*columns)]
        out = [np.empty(n) for _ in self.program.expressions]
        for t in np.unique(times):
            some = times == t
            own = [c[some] for c in columns]
            for part, found in zip(out, self.program(*own[:d], float(t), *own[d + 1 :]), strict=True):
                part[some] = found
        return out

    def _assembled(self, parts: Sequence[Array], shape: tuple[int, ...]) -> Array:
        """Return numbers, complex where they are, from their real parts."""
        left, numbers = iter(parts), list[Array]()
        for number in scalars(self.value):
            re = next(left)
            numbers.append(re + 1j * next(left) if isinstance(number, Complex) else re)
        return np.array(numbers[0]) if not self.shape else np.stack(numbers).reshape(*self.shape, *shape)

    # ---- where it is evaluated ------------------------------------------------------------------

    def spread(self, solution: Solution, coordinates: Sequence[Array], t: Array, shape: tuple[int, ...]) -> Array:
        """Return the values at arrays of the same rank that broadcast to a shape."""
        frame, inner = frame_of(solution.problem), list(coordinates)
        if frame is not None:
            space = np.broadcast_shapes(*(c.shape for c in coordinates))
            places = np.stack([np.broadcast_to(c, space).ravel() for c in coordinates], axis=1)
            check_inside(solution.problem, places, t, solution.problem.stated)
            slopes = any(jet.order for jet in self.jets)
            inner = frame.to_inner(*(frame.off_axis(coordinates) if slopes else coordinates))
            inner = [np.broadcast_to(c, np.broadcast_shapes(*(c.shape for c in inner))) for c in inner]
        elif not self.jets:
            solution._broadcast(coordinates, t, shape, self.space.field(solution.problem.fields[0]))  # the checks
        found = self.combined(inner, t, [solution._broadcast(inner, t, shape, jet) for jet in self.jets])
        return np.broadcast_to(found, (*self.shape, *shape))

    def outer(self, solution: Solution, x: Array, times: Array, normals: Array | None = None) -> Array:
        """Return the values at all points (n, d) of the solve and all times (m,), shape (…, n, m)."""
        values = [_outer(solution, jet, x, times, normals) for jet in self.jets]
        if self.on_side:
            assert normals is not None
            values = [*(c[:, None] for c in normals.T), *values]
        columns = [c[:, None] for c in x.T]
        found = self.combined(columns, times[None, :], values)
        return np.broadcast_to(found, (*self.shape, len(x), len(times)))


def field_or_expression(solution: Solution, given: Any) -> str | Expression:
    """Return the name of a field, or an expression in the fields where that is what a text is."""
    if given is None or not isinstance(given, str) or solution.problem.composites.known(given) is not None:
        return solution._field(given)
    base = given.partition("_")[0] if "_" in given else ""
    if given.isidentifier() and solution.problem.composites.known(base) is None:
        return solution._field(given)  # which says that there is no such field
    return Expression.read(solution.problem, given)


def table_of_expressions(solution: Solution, given: Any) -> dict[str, Expression]:
    """Return the expressions of columns ``{"flux": "-k*u_x"}`` that tables have besides the fields."""
    if given is None:
        return {}
    problem, found = solution.problem, {}
    if not isinstance(given, Mapping):
        raise EvaluationError(f"expressions is a table such as {{'flux': '-k*u_x'}}; got {shown(given)}.")
    taken = (*problem.stated.coordinates, TIME, *problem.composites.tabulated, *problem.fields)
    for name, text in given.items():
        if not isinstance(name, str) or not name.isidentifier() or name in taken:
            raise EvaluationError(
                f"expressions={{…}} needs plain names that are not taken already, such as 'flux'; got {shown(name)}."
            )
        found[name] = Expression.read(problem, text)
    return found


def _outer(solution: Solution, jet: Jet, x: Array, times: Array, normals: Array | None) -> Array:
    if not jet.normal:
        return solution.jet_values(x, times, jet)
    assert normals is not None
    total = np.zeros((len(x), len(times)))
    for axis, component in enumerate(normals.T):
        alpha = tuple(a + (k == axis) for k, a in enumerate(jet.alpha))
        total += component[:, None] * solution.jet_values(x, times, replace(jet, alpha=alpha, normal=0))
    return total


@remembered
def _read(problem: Problem, text: str, on_side: bool, weighted: bool) -> Expression:
    space = problem.jets
    parameters = getattr(problem, "parameters", None)  # a problem that was stored without its functions has none
    if parameters is None:
        composed = problem.composites.values(space)
        scope = Scope(space, problem.fields, {}, {}, on_side, composites=composed)
    else:
        scope = parameters.scope(space, problem.fields, normal=on_side)
    normal = normal_symbols(space.dimension) if on_side else ()
    outward = normal if on_side and problem.frame is None else None  # in other coordinates there is u_n alone
    value = parse_value(text, replace(scope, static=problem.is_static, solved=True, normal=outward))
    if weighted and problem.frame is not None:
        weight = problem.frame.weight(space)
        value = each(lambda part: part * weight, value)
    parts = tuple(flat(value))
    for name in () if parameters is None else parameters.unknown:
        if any(symbol.name == name for part in parts for symbol in part.free_symbols):
            raise EvaluationError(f"'{name}' in '{text}' is the eigenvalue; leave it out, and multiply by mode.value.")
    jets = tuple(dict.fromkeys(jet for part in parts for jet in space.jets_in(part).values()))
    _check(problem, space, jets, text)
    symbols = (*space.x, space.t, *normal, *(space.symbol(jet) for jet in jets))
    program = Program(parts, symbols) if parameters is None else parameters.compiled(parts, symbols)
    timed = () if parameters is None else parameters.arguments.values()
    return Expression(text, value, jets, space, program, not any(TIME in names for names in timed), on_side)


def _check(problem: Problem, space: JetSpace, jets: Sequence[Jet], text: str) -> None:
    """Refuse derivatives that a solution does not have."""
    for jet in jets:
        if jet.field in space.quantities:
            if space is not problem.jets:
                raise EvaluationError(f"'{text}': a solution that was stored without its functions has no integrals.")
            continue
        order = problem.equation(jet.field).order
        if jet.time > order:
            raise EvaluationError(
                f"'{space.name(jet)}' has more time derivatives than the equation of '{jet.field}', which is of "
                f"order {order}."
            )
        if jet.normal > 1:
            raise EvaluationError(f"'{space.name(jet)}' is not known; on a side there is u_n, and no higher one.")
