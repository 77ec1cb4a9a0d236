"""Evolution on patches: u' = f(t) − A u − B û − n(t, u), or u'' of the same, where traces û obey C u + D û = 0.

Functions of a patch are orthonormal, so there is no mass matrix. What is linear with coefficients in x alone is kept
as the blocks A, B, C, D of all patches (hybrid.py); sources and data of walls follow from their values by matrices
that are kept, too; what else there is, is integrated at the points of the patches, with upwind jumps of its own. D is
block-diagonal by faces, so traces cost little; an implicit step solves (s + A) u + B û = r, C u + D û = 0, condensed
to the traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sps

from frozenpinn.assembly.hybrid import Assembly, Blocks, Condensed, Element, Places, applied, trace_numbers
from frozenpinn.assembly.hybrid_form import HybridForm
from frozenpinn.basis.local.features import LocalFeatures
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.geometry import BoundaryPoints, Side

Array = np.ndarray
_FEW = 4  # congruent patches up to which their matrices are repeated, so that others can join them
_SLIGHT = 1e-10  # of the largest weight of jumps: what holds traces where nothing flows through a face


class Unknown(NamedTuple):
    """What is known of the growth of modes: nothing, as the matrix is never written out."""

    abscissa: float = float("nan")
    structure: str = "general"


@dataclass(frozen=True, eq=False)
class PatchesInTime:
    """A problem on patches as a system in time.

    Attributes
    ----------
    form
        The problem.
    patches, features
        Where it is solved, and by which functions.
    elements
        The functions of each group of congruent patches.
    time
        Start and end.
    initial_state
        Coefficients of the orthonormal functions: by group, then patch, then field; velocities after all of them.
    """

    form: HybridForm
    patches: PatchSet
    features: LocalFeatures
    elements: tuple[Element, ...]
    time: tuple[float, float]
    initial_state: Array
    shortest: float = np.inf
    linear = Unknown()

    @classmethod
    def of(
        cls, form: HybridForm, patches: PatchSet, features: LocalFeatures, time: tuple[float, float], shortest: float
    ) -> PatchesInTime:
        """Divide the domain; the initial state is zero."""
        found = [(group, Element.of(patches, group, features, features.order + 1)) for group in patches.groups]
        found.sort(key=lambda own: (len(own[0]) > _FEW, len(own[1].patch.faces), own[1].size))  # those alike together
        patches = replace(patches, groups=tuple(group for group, _ in found))
        system = cls(form, patches, features, tuple(e for _, e in found), time, np.zeros(0), shortest)
        return replace(system, initial_state=np.zeros(system.size))

    # ---- what is kept ---------------------------------------------------------------------------------

    @property
    def order(self) -> int:
        """Order in time."""
        return self.form.problem.equations[0].order

    @property
    def has_constant_coefficients(self) -> bool:
        """Whether it is linear with coefficients in x alone."""
        return self.form.parts.rest is None

    @property
    def _fields(self) -> int:
        return len(self.form.fields)

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """Patches, and functions of all fields, of each group."""
        return [(len(e.shifts), self._fields * e.size) for e in self.elements]

    @cached_property
    def _bundles(self) -> list[range]:
        """Neighbouring groups whose matrices have the same shape, as one: large groups stay alone."""
        found: list[range] = []
        for k, e in enumerate(self.elements):
            first = self.elements[found[-1].start] if found else e
            alike = (len(first.patch.faces), first.size) == (len(e.patch.faces), e.size)
            if found and alike and max(len(first.shifts), len(e.shifts)) <= _FEW:
                found[-1] = range(found[-1].start, k + 1)
            else:
                found.append(range(k, k + 1))
        return found

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Patches, and functions of all fields, of each bundle of groups."""
        return [(sum(self.groups[k][0] for k in own), self.groups[own.start][1]) for own in self._bundles]

    def bundled(self, parts: Sequence[Array]) -> list[Array]:
        """Return what groups have as what bundles have: matrices of each patch one after another."""
        return [
            np.concatenate([self._repeated(parts[k], k) for k in b]) if len(b) > 1 else parts[b[0]]
            for b in self._bundles
        ]

    def _repeated(self, part: Array, k: int) -> Array:
        return np.broadcast_to(part, (self.groups[k][0], *part.shape[1:]))

    def unbundled(self, parts: Sequence[Array]) -> list[Array]:
        """Return what bundles have as what groups have."""
        found: list[Array] = []
        for own, part in zip(self._bundles, parts, strict=True):
            found += np.split(part, np.cumsum([self.groups[k][0] for k in own])[:-1])
        return found

    @cached_property
    def coefficients(self) -> int:
        """Number of coefficients of all fields."""
        return sum(rows * columns for rows, columns in self.shapes)

    @property
    def size(self) -> int:
        """Number of components of a state."""
        return self.order * self.coefficients

    def split(self, y: Array) -> list[Array]:
        """Return the coefficients of each bundle, (patches, fields · r)."""
        cuts = np.cumsum([rows * columns for rows, columns in self.shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(y, cuts), self.shapes, strict=True)]

    @cached_property
    def _traces(self) -> int:
        """Modes of a trace on a face."""
        own = [e.traces.shape[1] // len(e.patch.faces) for e in self.elements if e.patch.faces]
        return own[0] if own else 0

    @cached_property
    def _numbers(self) -> list[Array]:
        own = [trace_numbers(self.patches, group, self._traces, self._fields) for group in self.patches.groups]
        return self.bundled(own)

    @cached_property
    def _gather(self) -> sps.csr_array:
        """The matrix that sums what patches say of each trace."""
        places = np.concatenate([numbers.ravel() for numbers in self._numbers])
        count = len(self.patches.faces) * self._fields * self._traces
        return sps.csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(count, len(places)))

    @cached_property
    def _blocks(self) -> list[Blocks]:
        """The matrices of what is linear with coefficients in x."""
        form = self.form.parts.constant
        found = [Assembly(form, e, partial(_nothing, form, e)).blocks() for e in self.elements]
        sizes = [np.diagonal(b.traces, axis1=1, axis2=2) for b in found]
        least = _SLIGHT * max((float(np.max(own, initial=0.0)) for own in sizes), default=0.0) or 1.0
        held = [np.where(own < least, least, 0.0)[:, :, None] * np.eye(own.shape[1]) for own in sizes]
        return self._joined([b._replace(traces=b.traces + own) for b, own in zip(found, held, strict=True)])

    def _joined(self, blocks: Sequence[Blocks]) -> list[Blocks]:
        return [Blocks(*own) for own in zip(*(self.bundled(parts) for parts in zip(*blocks, strict=True)), strict=True)]

    @cached_property
    def _diagonal(self) -> Array:
        """D of each face and field, (faces · fields, m, m)."""
        return self._diagonal_of([b.traces for b in self._blocks])

    def _diagonal_of(self, matrices: Sequence[Array]) -> Array:
        m = self._traces
        out = np.zeros((len(self.patches.faces) * self._fields, m, m))
        for numbers, matrix in zip(self._numbers, matrices, strict=True):
            own = numbers[:, ::m] // m
            parts = matrix.reshape(len(matrix), own.shape[1], m, own.shape[1], m)
            every = np.arange(own.shape[1])
            np.add.at(out, own, np.swapaxes(parts[:, every, :, every], 0, 1))
        return out

    @cached_property
    def _inverse(self) -> Array:
        return np.linalg.inv(self._diagonal)

    # ---- the right-hand side --------------------------------------------------------------------------

    def rhs(self, t: float, y: Array) -> Array:
        """Return the right-hand side."""
        if self.order == 2:
            position, velocity = np.split(y, 2)
            return np.concatenate([velocity, self._highest(t, position)])
        return self._highest(t, y)

    def rates(self, times: Array, states: Array) -> Array:
        """Return the right-hand side at several times."""
        return np.array([self.rhs(float(t), y) for t, y in zip(times, states, strict=True)])

    def _highest(self, t: float, y: Array) -> Array:
        """Return the highest time derivatives."""
        parts, rest = self.split(y), self.form.parts.rest
        said = [-applied(b.back, u) for b, u in zip(self._blocks, parts, strict=True)]
        if rest is None:
            traces = self._traced(said, self._inverse)
            more = None
        else:
            now = rest.at(t)
            every = zip(self.elements, self.unbundled(parts), strict=True)
            more = [_Rest(Assembly(now, e, partial(_jets, now, e, u)), u) for e, u in every]
            said = [a + b for a, b in zip(said, self.bundled([own.said for own in more]), strict=True)]
            diagonal = self._diagonal + self._diagonal_of(self.bundled([own.matrix for own in more]))
            traces = self._traced(said, diagonal, solve=True)
        own = [traces[numbers] for numbers in self._numbers]
        out = [-applied(b.inner, u) - applied(b.outer, w) for b, u, w in zip(self._blocks, parts, own, strict=True)]
        found = np.concatenate([part.ravel() for part in out]) + self.forcing(t)
        if more is not None:
            integrals = [rest.integrals(w) for rest, w in zip(more, self.unbundled(own), strict=True)]
            found -= np.concatenate([part.ravel() for part in integrals])
        return found

    def _traced(self, said: Sequence[Array], matrix: Array, solve: bool = False) -> Array:
        """Return traces from what patches say of them."""
        right = (self._gather @ np.concatenate([own.ravel() for own in said])).reshape(-1, self._traces, 1)
        return np.asarray(np.linalg.solve(matrix, right) if solve else matrix @ right).ravel()

    @cached_property
    def forcing(self) -> PatchLoad:
        """Sources and data of walls, as a function of time."""
        return PatchLoad(self)

    # ---- implicit steps -------------------------------------------------------------------------------

    def linearised(self, t: float, y: Array) -> PatchJacobian:
        """Return the Jacobian at a state, by its blocks."""
        rest, blocks = self.form.parts.rest, self._blocks
        if rest is not None:
            now, parts = rest.at(t), self.unbundled(self.split(y[: self.coefficients]))
            more = self._joined([_of_rest(now, e, u) for e, u in zip(self.elements, parts, strict=True)])
            blocks = [_sum(a, b) for a, b in zip(blocks, more, strict=True)]
        return PatchJacobian(self, tuple(zip(self._numbers, blocks, strict=True)))

    def jacobian(self, t: float, y: Array) -> Array:
        """Return the Jacobian as a matrix, column by column: for tests and small systems."""
        middle = self.rhs(t, y)
        scale = 1.0 if self.has_constant_coefficients else 1e-7 * max(1.0, float(np.max(np.abs(y))))
        columns = [(self.rhs(t, y + scale * unit) - middle) / scale for unit in np.eye(self.size)]
        return np.stack(columns, axis=1)

    # ---- functions ------------------------------------------------------------------------------------

    def projected(self, values: Sequence[Array]) -> Array:
        """Return the coefficients of fields that are given by their values at the points of all patches."""
        found, start = list[Array](), 0
        for e in self.elements:
            count, n = len(e.shifts), len(e.inside.weights)
            own = [v[start : start + count * n].reshape(count, n) * e.inside.weights @ e.inside.values for v in values]
            found.append(np.concatenate(own, axis=1).ravel())
            start += count * n
        return np.concatenate(found)

    @cached_property
    def points(self) -> Array:
        """The points of all patches, group by group."""
        return np.concatenate([e.moved(e.inside.x) for e in self.elements])

    def of_features(self, states: Array) -> Array:
        """Return states in coefficients of the features, as the basis of the solution has them."""
        count, modes = len(states), self.features.size
        out = np.zeros((count, self.order, self._fields, len(self.patches), modes))
        for order in range(self.order):
            start = order * self.coefficients
            for group, e, (rows, columns) in zip(self.patches.groups, self.elements, self.groups, strict=True):
                own = states[:, start : start + rows * columns].reshape(count, rows, self._fields, e.size)
                out[:, order][:, :, list(group)] = np.swapaxes(own @ e.mixing.T, 1, 2)
                start += rows * columns
        return out.reshape(count, -1)


@dataclass(frozen=True, eq=False)
class PatchJacobian:
    """Blocks of the Jacobian of a system on patches."""

    system: PatchesInTime
    parts: tuple[tuple[Array, Blocks], ...]

    def shifted(self, shift: complex) -> PatchSolver:
        """Return the factors of shift − J: for second order in time those of shift² + A − B D⁻¹ C."""
        square = shift**self.system.order
        square = square.real if np.imag(shift) == 0 else square
        parts = [(numbers, b._replace(inner=b.inner + square * np.eye(b.inner.shape[1]))) for numbers, b in self.parts]
        return PatchSolver(self.system, Condensed.of(parts, self.system._gather.shape[0], np.zeros(0)), shift)


@dataclass(frozen=True, eq=False)
class PatchSolver:
    """Factors of an implicit step."""

    system: PatchesInTime
    condensed: Condensed
    shift: complex

    def solve(self, right: Array) -> Array:
        """Solve with them."""
        if self.system.order == 1:
            return self._positions(right)
        first, second = np.split(right, 2)
        position = self._positions(second + self.shift * first)
        return np.concatenate([position, self.shift * position - first])

    def _positions(self, right: Array) -> Array:
        return np.concatenate([own.ravel() for own in self.condensed.solve(self.system.split(right))])


# ---- what is not linear with coefficients in x ------------------------------------------------------


class _Rest:
    """The rest of the equations on the patches of a group at one state."""

    def __init__(self, assembly: Assembly, u: Array) -> None:
        self.assembly, self.u = assembly, u
        form, e = assembly.form, assembly.element
        self.fields, self.shape = len(form.fields), (len(u), len(form.fields), e.size)
        self.carried = form.transports and len(e.faces.weights) > 0
        m = e.traces.shape[1]
        self.said, self.matrix = np.zeros((len(u), self.fields * m)), np.zeros((1, self.fields * m, self.fields * m))
        self._flows: list[tuple[Array, Array]] = []
        if self.carried:
            self._look_at_faces(m)

    def _look_at_faces(self, m: int) -> None:
        places, table = self.assembly.element.faces, self.assembly.element.traces
        own, count = self.u.reshape(self.shape), len(self.u)
        self.matrix = np.zeros((count, self.fields * m, self.fields * m))
        for i in range(self.fields):
            jump, drift = (
                np.resize(v, (count, len(places.weights))) * places.weights for v in self.assembly._jumps(i, places)
            )
            values = own[:, i] @ places.values.T
            rows = slice(i * m, (i + 1) * m)
            self.said[:, rows] = (jump * values) @ table
            self.matrix[:, rows, rows] = (table.T * jump[:, None]) @ table
            self._flows.append((jump - drift, values))

    def integrals(self, traces: Array) -> Array:
        """Return n(t, u) of each patch, tested with all functions."""
        form, e = self.assembly.form, self.assembly.element
        x, w = e.moved(e.inside.x), e.inside.weights
        out = np.empty(self.shape)
        for i in range(self.fields):
            out[:, i] = (form.residual(i, x, self.assembly.jets(i, e.inside)).reshape(-1, len(w)) * w) @ e.inside.values
            if self.carried:
                m = e.traces.shape[1]
                flow, values = self._flows[i]
                out[:, i] += (flow * (values - traces[:, i * m : (i + 1) * m] @ e.traces.T)) @ e.faces.values
        return out.reshape(len(self.u), -1)


def _of_rest(form: HybridForm, element: Element, u: Array) -> Blocks:
    """Return the matrices of the rest, linearised; walls take no part in it."""
    inner = Element(**{**vars(element), "walls": ()})
    return Assembly(form, inner, partial(_jets, form, element, u)).blocks()


def _sum(a: Blocks, b: Blocks) -> Blocks:
    return Blocks(a.inner + b.inner, a.outer + b.outer, a.back + b.back, a.traces + b.traces, a.load)


def _nothing(form: HybridForm, element: Element, i: int, places: Places) -> list[Array]:
    """Return zeros for the jets of an equation, of which linear terms know nothing."""
    return [np.zeros(len(element.shifts) * len(places.x))] * len(form.lower[i].jets)


def _jets(form: HybridForm, element: Element, u: Array, i: int, places: Places) -> list[Array]:
    """Return the jets of an equation at places in all patches of a group."""
    own = u.reshape(len(u), len(form.fields), element.size)
    tables = (places.values, *places.slopes)
    return [
        (own[:, form.fields.index(jet.field)] @ tables[0 if not jet.order else 1 + jet.alpha.index(1)].T).ravel()
        for jet in form.lower[i].jets
    ]


# ---- sources and data -------------------------------------------------------------------------------


class PatchLoad:
    """f(t): sources and data of walls, tested with all functions."""

    is_separable = False

    def __init__(self, system: PatchesInTime) -> None:
        self._system, self._form = system, system.form.parts.constant
        changing = any(c.value.depends_on_time for c in system.form.problem.conditions)
        self._is_constant = not (system.form.parts.is_driven or changing)
        self._walls = self._wall_responses()
        self._kept: Array | None = None

    @property
    def is_constant(self) -> bool:
        """Whether nothing depends on time."""
        return self._is_constant

    def batch(self, times: Array) -> Array:
        """Return it at several times."""
        return np.array([self(float(t)) for t in times])

    def __call__(self, t: float) -> Array:
        """Return it at one time, for the highest time derivatives."""
        if not self._is_constant:
            return self._at(t)
        if self._kept is None:
            self._kept = self._at(t)
        return self._kept

    def _at(self, t: float) -> Array:
        system, total = self._system, np.zeros(self._system.coefficients)
        x = system.points
        values = [np.broadcast_to(np.asarray(v, dtype=float), len(x)) for v in system.form.parts.sources(*x.T, t)]
        if any(np.any(v) for v in values):
            total += system.projected(values)
        now = self._form.at(t)
        for (side, k), (points, response) in self._walls.items():
            total += response @ now.given(side, now.fields[k], points)
        return total

    def _wall_responses(self) -> dict[tuple[str, int], tuple[BoundaryPoints, sps.csr_array]]:
        """Return the points of each side for each field, and the matrix from data there to right-hand sides."""
        parts: dict[tuple[str, int], list[tuple[BoundaryPoints, Array, Array, Array]]] = {}
        start = 0
        for e, (count, width) in zip(self._system.elements, self._system.groups, strict=True):
            assembly = Assembly(self._form, e, partial(_nothing, self._form, e))
            for curve, places in e.walls:
                found: dict[int, Array] = {}
                for i, k, response in assembly.responses(curve, places):
                    table = found.setdefault(k, np.zeros((count, width, len(places.weights))))
                    table[:, i * e.size : (i + 1) * e.size] += response
                for k, table in found.items():
                    rows = start + np.arange(count * width).reshape(count, width, 1)
                    columns = np.arange(count * len(places.weights)).reshape(count, 1, -1)
                    entry = (assembly.points_of(curve, places), table, rows, columns)
                    parts.setdefault((curve.side, k), []).append(entry)
            start += count * width
        return {key: _joined(key[0], entries, start) for key, entries in parts.items()}


def _joined(
    side: str, entries: Sequence[tuple[BoundaryPoints, Array, Array, Array]], size: int
) -> tuple[BoundaryPoints, sps.csr_array]:
    """Put the points of all walls of a side one after another, and make one matrix of their responses."""
    x, normals, weights = (
        np.concatenate([getattr(entry[0], name) for entry in entries]) for name in ("x", "normals", "weights")
    )
    points = BoundaryPoints(x, normals, weights, Side(side))
    rows, columns, values, start = [], [], [], 0
    for own, table, row, column in entries:
        shape = table.shape
        rows.append(np.broadcast_to(row, shape).ravel())
        columns.append(np.broadcast_to(column + start, shape).ravel())
        values.append(table.ravel())
        start += len(own.x)
    where = (np.concatenate(rows), np.concatenate(columns))
    return points, sps.csr_array((np.concatenate(values), where), shape=(size, start))
