"""Active subspaces: the few directions of space on which everything in a problem depends.

If initial data, source, coefficients and boundary data are functions of P x, with k orthonormal rows P and k < d, the
solution may be one too: u(x, t) = v(P x, t). Gradients of all data are sampled, their singular vectors span the
candidate, and values at many points decide whether the data really depend on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.errors import FrozenPinnError
from frozenpinn.geometry import Box, Domain
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import ROUND_OFF
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.conditions import LinearCondition, normal_symbols
from frozenpinn.statement.data import Datum
from frozenpinn.statement.jumps import beside_jumps
from frozenpinn.statement.problem import Problem

Array = np.ndarray
MOST = 3  #: directions that are worth a reduction
_STEPS = (1e-3, 1e-4, 1e-5)  # of differences, relative to the domain: long ones for smooth data, short ones for fronts
_STENCIL = np.array([3 / 4, -3 / 20, 1 / 60])
_SNAP = 1e-8  # components this near to a simple fraction are that fraction
COMPARED = 2000  #: points and times at which data are compared


@dataclass(frozen=True, eq=False)
class Subspace:
    """The directions z = P x, and a section x(z) = origin + S z of the domain with P x(z) = z.

    Attributes
    ----------
    rows
        P, shape (k, d), orthonormal: the Laplacian of v(P x) is that of v.
    section, origin
        S, shape (d, k), and the point x(0).
    axes
        The coordinates that span the subspace; None if it is not spanned by coordinates.

    Examples
    --------
    >>> subspace = Subspace.spanned_by([[3.0, 4.0]], Box([0, 0], [1, 1]))
    >>> subspace.rows, subspace.project(np.array([[1.0, 1.0]]))
    (array([[0.6, 0.8]]), array([[1.4]]))
    """

    rows: Array
    section: Array
    origin: Array
    axes: tuple[int, ...] | None = None

    @classmethod
    def spanned_by(cls, directions: Sequence[Sequence[float]] | Array, domain: Domain) -> Subspace:
        """Return the subspace of independent directions (k, d), with simple numbers where they are meant."""
        reduced = _simplified(_echelon(np.asarray(directions, dtype=float)))
        if np.all(np.isin(reduced, (0.0, 1.0))) and np.all(np.count_nonzero(reduced, axis=1) == 1):
            axes = tuple(sorted(int(i) for i in np.flatnonzero(reduced.any(axis=0))))
            rows = np.eye(reduced.shape[1])[list(axes)]
            return cls(rows, rows.T.copy(), _off(rows, _center(domain)), axes)
        rows = np.linalg.qr(reduced.T)[0].T
        rows *= np.array([np.sign(row[np.argmax(np.abs(row) > 1e-12)]) for row in rows])[:, None]
        rows[np.abs(rows) < 1e-15] = 0.0
        section = _section(rows, domain)
        center = _center(domain)
        return cls(rows, section, center - section @ (rows @ center))

    @property
    def size(self) -> int:
        """Number of directions."""
        return len(self.rows)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.rows.shape[1])

    def project(self, x: Array) -> Array:
        """Return z = P x of points (n, d)."""
        return x[:, list(self.axes)] if self.axes is not None else x @ self.rows.T

    def lift(self, z: Array) -> Array:
        """Return the points x(z) of the section, shape (n, d)."""
        return self.origin + z @ self.section.T

    def describe(self, coordinates: Sequence[str]) -> str:
        """Return the directions as a text."""
        if self.axes is not None:
            return ", ".join(coordinates[i] for i in self.axes)
        return "; ".join(_direction(row, coordinates) for row in self.rows)


def chain_rule(alpha: Sequence[int], rows: Array) -> dict[tuple[int, ...], float]:
    """Write ∂ₓ^alpha of v(P x) as a combination of derivatives of v.

    Examples
    --------
    >>> chain_rule((1, 1), np.array([[0.6, 0.8]]))
    {(2,): 0.48}
    """
    k = len(rows)
    result: dict[tuple[int, ...], float] = {(0,) * k: 1.0}
    for axis, times in enumerate(alpha):
        for _ in range(times):
            longer: dict[tuple[int, ...], float] = {}
            for beta, factor in result.items():
                for a in np.flatnonzero(rows[:, axis]):
                    key = tuple(b + int(i == a) for i, b in enumerate(beta))
                    longer[key] = longer.get(key, 0.0) + factor * float(rows[a, axis])
            result = longer
    return result


def _center(domain: Domain) -> Array:
    return np.asarray((domain.lower + domain.upper) / 2.0)


def _off(rows: Array, x: Array) -> Array:
    return np.asarray(x - rows.T @ (rows @ x))


def _section(rows: Array, domain: Domain) -> Array:
    """Return S with P S = 1 that keeps the section inside the domain, or near it where that is impossible."""
    if not isinstance(domain, Box):
        return rows.T.copy()  # a ball contains its sections through the centre
    half = domain.lengths / 2.0
    if len(rows) == 1:  # from one corner to the opposite one
        return np.asarray((half * np.sign(rows[0]) / np.sum(np.abs(rows[0]) * half))[:, None])
    return np.asarray(half[:, None] * np.linalg.pinv(rows * half))


def _echelon(directions: Array) -> Array:
    """Return the same span with a unit matrix in some columns."""
    matrix = directions / np.linalg.norm(directions, axis=1, keepdims=True) if len(directions) else directions
    for row in range(len(matrix)):
        left = np.abs(matrix[row:])
        below, column = divmod(int(np.argmax(left > 0.999 * left.max())), matrix.shape[1])  # the first of the largest
        matrix[[row, row + below]] = matrix[[row + below, row]]
        matrix[row] /= matrix[row, column]
        others = np.arange(len(matrix)) != row
        matrix[others] -= np.outer(matrix[others, column], matrix[row])
    return matrix


def _simplified(matrix: Array) -> Array:
    """Return numbers that are near to simple fractions as these fractions."""
    denominator = 64
    simple = np.array([[float(Fraction(v).limit_denominator(denominator)) for v in row] for row in matrix])
    return np.where(np.abs(matrix - simple) < _SNAP, simple, matrix)


def _direction(row: Array, coordinates: Sequence[str]) -> str:
    used = [int(i) for i in np.flatnonzero(row)]
    size = np.abs(row[used])
    even = bool(np.ptp(size) < 1e-12)
    terms = [f"{'+' if row[i] > 0 else '−'} {'' if even else f'{abs(row[i]):.4g}·'}{coordinates[i]}" for i in used]
    if len(terms) > 4:
        terms = [terms[0], "+ …" if np.all(row[used] > 0) else "± …", terms[-1]]
    text = " ".join(terms).removeprefix("+ ")
    return f"({text})/√{len(used)}" if even and len(used) > 1 else text


# ---- detection ------------------------------------------------------------------------------------


def find_directions(problem: Problem, most: int = MOST, step: float = _STEPS[0]) -> Array | None:
    """Return directions (k, d) that span all gradients of the data; None if there are more than ``most``.

    An empty array means that the data do not depend on x at all.
    """
    faint = 1e-2  # directions below this fraction may be errors of the differences
    depends = 1e-7  # singular values above this fraction of the largest count as directions
    points = 16  # where gradients are sampled
    domain = problem.domain
    rng = np.random.default_rng(Seed.DIRECTIONS)
    d = domain.dimension
    center = _center(domain)
    x = center + (1.0 - 8.0 * step) * (domain.sample(points, "random", rng).x - center)  # room for the differences
    rows = np.zeros((0, d))
    basis = np.zeros((0, d))
    for given in given_data(problem):
        slopes = _scaled_gradients(given, x, step * domain.lengths, problem.time)
        if slopes is None:
            return None
        rows = np.concatenate([rows, slopes])
        if not len(rows):
            continue
        _, singular, vectors = np.linalg.svd(rows, full_matrices=False)
        basis = vectors[singular > depends * singular[0]]
        limit = min(most, d - 1)
        if len(basis) > limit:
            doubtful = singular[limit] < faint * singular[0] and step > _STEPS[-1]
            return find_directions(problem, most, step / 10.0) if doubtful else None
    basis = _echelon(basis)
    return np.where(np.abs(basis) < _SNAP, 0.0, basis) / domain.lengths


def _scaled_gradients(given: Given, x: Array, lengths: Array, time: tuple[float, float]) -> Array | None:
    """Return gradients by x/lengths, found with steps of these lengths and the largest of size 1.

    Nothing for a constant, None for what is not finite.
    """
    block_size = 2_000_000  # numbers held at a time while sampling gradients
    n, d = x.shape
    steps = np.concatenate([np.arange(1, 4), -np.arange(1, 4)])
    coefficients = np.concatenate([_STENCIL, -_STENCIL])
    result, largest = np.empty((n, d)), 0.0
    block = max(1, block_size // (6 * n * d))
    for first in range(0, d, block):
        axes = np.arange(first, min(first + block, d))
        shifts = np.zeros((len(axes), 6, d))
        shifts[np.arange(len(axes)), :, axes] = steps * lengths[axes, None]
        places = (x[:, None, None, :] + shifts).reshape(-1, d)
        values = given.at(places, np.repeat(np.arange(n), 6 * len(axes)), time)
        if not np.all(np.isfinite(values)):
            return None
        largest = max(largest, float(np.max(np.abs(values))))
        result[:, axes] = values.reshape(n, len(axes), 6) @ coefficients
    size = float(np.max(np.linalg.norm(result, axis=1)))
    return result / size if size > ROUND_OFF * largest else np.zeros((0, d))


def depends_on_nothing_else(problem: Problem, subspace: Subspace) -> bool:
    """Whether all data have the same values at points of the domain and at their images on the section.

    Points all over the domain may miss what is narrow; so formulas say where else to look.
    """
    equal = 1e-9  # data that differ by less than this fraction are the same
    x = problem.domain.sample(COMPARED, "random", Seed.RESTRICTION).x
    image, draw = subspace.lift(subspace.project(x)), np.arange(COMPARED)
    narrow, moments = _narrow_places(problem)
    aside = subspace.lift(subspace.project(narrow))
    for given in given_data(problem):
        here, there = given.at(x, draw, problem.time), given.at(image, draw, problem.time)
        if len(narrow):
            here = np.concatenate([here, given.during(narrow, moments)])
            there = np.concatenate([there, given.during(aside, moments)])
        scale = float(np.max(np.abs(here)))
        if not (np.isfinite(scale) and np.max(np.abs(here - there)) <= equal * scale):
            return False
    return True


def _narrow_places(problem: Problem) -> tuple[Array, Array]:
    """Return places (n, d) and times (n,) in what is narrow in the formulas of a problem, and beside jumps."""
    per_feature = 16  # places in each narrow feature of the formulas at which they are compared, too
    cells = [(f.low + f.high)[:per_feature] / 2.0 for f in formula_scales(problem).features]
    found = np.concatenate([np.zeros((0, problem.domain.dimension + 1)), *cells])
    jumps = beside_jumps(problem)
    times = np.linspace(*problem.time, len(jumps) + 2)[1:-1]
    return np.concatenate([found[:, :-1], jumps]), np.concatenate([found[:, -1], times])


@remembered
def find_subspace(problem: Problem) -> Subspace | None:
    """Return the subspace on which all data of a problem depend, if it has few directions; else None.

    Boundary conditions count as far as the start shows: a side on which the initial value contradicts a
    Dirichlet condition brings its axis into the subspace.
    """
    domain = problem.domain
    if domain.dimension < 2 or problem.laws or problem.jets.quantities:
        return None
    from frozenpinn.geometry.ball import Ball

    if not isinstance(domain, Box | Ball):
        return None
    try:
        for step in _STEPS:
            directions = find_directions(problem, step=step)
            if directions is None:
                return None
            subspace = Subspace.spanned_by(directions, domain) if len(directions) else _without_directions(problem)
            if subspace is not None and depends_on_nothing_else(problem, subspace):
                return with_axes(problem, subspace, contradicted_axes(problem))
    except (FrozenPinnError, Warning, ArithmeticError):  # data that can't be evaluated everywhere
        pass
    return None


def _without_directions(problem: Problem) -> Subspace | None:
    """Return the axes whose sides hold the solution fast, if no datum depends on x; the first axis if there is none."""
    if not isinstance(problem.domain, Box):
        return None
    held = {_axis(c) for c in problem.conditions if not (c.value.is_zero and all(jet.order for jet in c.jets))}
    axes = sorted(held) or [0]
    if len(axes) > min(MOST, problem.domain.dimension - 1):
        return None
    return Subspace.spanned_by(np.eye(problem.domain.dimension)[axes], problem.domain)


@remembered
def with_axes(problem: Problem, subspace: Subspace, axes: frozenset[int]) -> Subspace | None:
    """Return a subspace with further coordinates; None if it gets too large, or is not one of coordinates."""
    if not axes or (subspace.axes is not None and axes <= set(subspace.axes)):
        return subspace
    if subspace.axes is None:
        return None
    wanted = sorted(axes | set(subspace.axes))
    if len(wanted) > min(MOST, subspace.dimension - 1):
        return None
    return Subspace.spanned_by(np.eye(subspace.dimension)[wanted], problem.domain)


def contradicted_axes(problem: Problem) -> frozenset[int]:
    """Return the axes of a box with a side on which the initial value contradicts a Dirichlet condition."""
    result: set[int] = set()
    if not isinstance(problem.domain, Box) or problem.is_static:
        return frozenset()
    start = problem.time[0]
    for condition in problem.conditions:
        if not is_dirichlet(condition):
            continue
        points = problem.domain.sample_side(condition.side, 20, "random", Seed.SIZES)
        x = points.x
        known = condition.coefficients_at(points)[0] * problem.initial[condition.jets[0].field](x, start)
        wanted = condition.value(x, start)
        if np.max(np.abs(known - wanted)) > 1e-6 * max(1.0, float(np.max(np.abs(known)))):
            result.add(_axis(condition))
    return frozenset(result)


def is_dirichlet(condition: LinearCondition) -> bool:
    """Whether a condition prescribes the value of one field."""
    plain = Jet(condition.jets[0].field, (0,) * len(condition.jets[0].alpha))
    return condition.jets == (plain,)


def _axis(condition: LinearCondition) -> int:
    return int(condition.side.axis)  # type: ignore[attr-defined]


# ---- everything that may depend on x --------------------------------------------------------------


class Given(NamedTuple):
    """Something in a problem that may depend on x, as a function of points (n, d), unknowns and time.

    ``values(x, draw, t)`` takes for each point the number of a draw of the unknowns; ``vectorised`` says whether t may
    be one time per point, and ``changes`` whether there is more than one time.
    """

    values: Callable[[Array, Array, Any], Array]
    changes: bool
    vectorised: bool

    def at(self, x: Array, draw: Array, time: tuple[float, float]) -> Array:
        """Return the values at points, at times all over an interval; equal draws have equal times."""
        one_by_one = 32  # times of Python functions, which take one at a time
        start, end = time
        if not self.changes:
            return self.values(x, draw, start)
        count = COMPARED if self.vectorised else one_by_one
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
