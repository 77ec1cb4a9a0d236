"""Functions on all patches as one basis, which can be evaluated and differentiated anywhere.

A place belongs to the patch of the leaf that it lies in; between two patches functions jump by as much as the solve has
left. Coefficients are those of the modes of the features, stretched to the box of each patch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frozenpinn.basis.hidden import Derivative, Term, pure
from frozenpinn.basis.local.features import LocalFeatures
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.protocol import Basis, NoPoints
from frozenpinn.errors import EvaluationError
from frozenpinn.operators import Dense, Operator, ProductSum

Array = np.ndarray
_BLOCK = 2_000_000  # numbers of functions held at a time


@dataclass(frozen=True, eq=False)
class PatchBasis:
    """Modes of frozen neurons on every patch, for one field or several.

    Attributes
    ----------
    fields
        Names of the fields, whose coefficients stand one after another.
    features
        The modes.
    boxes
        Middle and half edges of the box of each patch, shape (patches, 2, 2).
    cells
        Leaves of the quadtree, sorted: level, column, row and number of the patch, shape (leaves, 4).
    grid
        Lower corner of the quadtree, and edges of its coarsest cells, shape (2, 2).
    places
        A point in each patch.
    """

    fields: tuple[str, ...]
    features: LocalFeatures
    boxes: Array
    cells: Array
    grid: Array
    lift_size = 0
    is_orthonormal = False
    is_product = False
    is_broken = True

    @classmethod
    def of(cls, patches: PatchSet, features: LocalFeatures, fields: Sequence[str]) -> PatchBasis:
        """Make the basis of all patches."""
        domain = patches.tree.domain
        rows, owners = patches.cells
        grid = np.stack([domain.lower, domain.lengths / np.array(patches.tree.roots)])
        return cls(tuple(fields), features, patches.boxes, np.column_stack([rows, owners]), grid)

    @property
    def points(self) -> NoPoints:
        """No points: nothing is projected onto it."""
        return NoPoints(2)

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return len(self.fields) * len(self.boxes) * self.features.size

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the coefficients."""
        return (self.size,)

    @property
    def factors(self) -> tuple[()]:
        """No networks of axes."""
        return ()

    @property
    def width(self) -> int:
        """Functions that a value takes."""
        return self.features.size

    @property
    def raw_size(self) -> int:
        """Functions of all patches."""
        return len(self.boxes) * self.features.size

    @property
    def flops(self) -> float:
        """Operations of a value in each patch."""
        return 2.0 * self.size

    @property
    def singular_values(self) -> Array:
        """Ones: the modes are orthonormal."""
        return np.ones(self.features.size)

    all_singular_values = singular_values

    # ---- values -------------------------------------------------------------------------------------

    def widths(self, x: Array) -> Array:
        """Return the width of the leaf in which each point lies; infinity where none is."""
        _, levels = self._located(x, False)
        return np.where(levels < 0, np.inf, np.max(self.grid[1]) * 2.0 ** -np.maximum(levels, 0.0))

    def owners(self, x: Array) -> Array:
        """Return the number of the patch of each point."""
        return self._located(x)[0]

    def _located(self, x: Array, nearest: bool = True) -> tuple[Array, Array]:
        """Return the number of the patch of each point, or of the nearest one, and the level of its leaf."""
        found, scaled = np.full(len(x), -1), (x - self.grid[0]) / self.grid[1]
        depths = np.full(len(x), -1)
        for level, (rows, numbers) in self._levels.items():
            waiting = np.flatnonzero(found < 0)
            at = np.floor(scaled[waiting] * 2.0**level).astype(np.int64)
            keys = _key(at[:, 0], at[:, 1])
            k = np.minimum(np.searchsorted(rows, keys), len(rows) - 1)
            hit = rows[k] == keys
            found[waiting[hit]] = numbers[k[hit]]
            depths[waiting[hit]] = level
        for n in np.flatnonzero(found < 0).tolist() if nearest else ():  # on the boundary, or cut off by round-off
            gaps = np.max(np.abs(x[n] - self.boxes[:, 0]) / self.boxes[:, 1], axis=1)
            found[n] = int(np.argmin(gaps))
        return found, depths

    @cached_property
    def _levels(self) -> dict[int, tuple[Array, Array]]:
        """Sorted keys of the leaves of each level, and the numbers of their patches; finest level first."""
        levels = {}
        for level in sorted(set(self.cells[:, 0].tolist()), reverse=True):
            own = self.cells[self.cells[:, 0] == level]
            keys = _key(own[:, 1], own[:, 2])
            order = np.argsort(keys)
            levels[level] = keys[order], own[order, 3]
        return levels

    def _rows(self, x: Array, owners: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of the modes of the patch of each point, shape (n, modes)."""
        places = (x - self.boxes[owners, 0]) / self.boxes[owners, 1]
        parts = [(alpha, factor, t) for t in terms for alpha, factor in pure(t.derivative, 2)]
        values = self.features.values(places, tuple((a[0], a[1]) for a, _, _ in parts))
        out = np.zeros((len(x), self.features.size))
        for (alpha, factor, term), value in zip(parts, values, strict=True):
            scale = factor / np.prod(self.boxes[owners, 1] ** np.array(alpha), axis=1)
            out += np.reshape(np.asarray(term.coefficient) * scale, (-1, 1)) * value
        return out

    def combine(self, x: Array, terms: Sequence[Term], coefficients: Array, lifted: Array | None = None) -> Array:
        """Return Σ coefficient·D of the functions with given coefficients, one column for each."""
        table = coefficients.reshape(len(self.fields), len(self.boxes), self.features.size, -1)
        out, step = np.zeros((len(x), table.shape[-1])), max(1, _BLOCK // (8 * self.features.size * table.shape[-1]))
        for start in range(0, len(x), step):
            part = slice(start, start + step)
            owners = self.owners(x[part])
            for k, name in enumerate(self.fields):
                own = [_cut(term, part, len(x)) for term in terms if term.field == name]
                if own:
                    rows = self._rows(x[part], owners, own)
                    out[part] += np.einsum("nr,nrm->nm", rows, table[k, owners])
        return out

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every function anywhere, shape (n, size): for few points."""
        owners, out = self.owners(x), np.zeros((len(x), len(self.fields), len(self.boxes), self.features.size))
        for k, name in enumerate(self.fields):
            own = [term for term in terms if term.field == name]
            if own:
                out[np.arange(len(x)), k, owners] = self._rows(x, owners, own)
        return out.reshape(len(x), -1)

    def evaluate(self, x: Array, name: str, derivative: Derivative) -> Array:
        """Return one derivative of the basis of one field."""
        return self.operator(x, [Term(name, derivative)])

    def lift_operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return nothing: no data are lifted."""
        return np.zeros((len(x), 0))

    # ---- what solvers of one network ask for ----------------------------------------------------------

    def at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the empty map: there are no points."""
        return Dense(np.zeros((0, self.size)))

    lift_at_points = at_points

    def shares(self, coefficients: Array) -> tuple[float, ...]:
        """Return the norm of the finest third of the modes."""
        table = coefficients.reshape(-1, self.features.size)
        return (float(np.linalg.norm(table[:, 2 * self.features.size // 3 :])),)

    def projector(self, rcond: float | None = None) -> Operator:
        """Refuse it: values at points don't determine functions on patches."""
        raise EvaluationError("functions on patches are not projected from values at points.")

    def galerkin(self, terms: Sequence[Term], source: Basis) -> Operator | None:
        """Return nothing: there are no axes."""
        return None

    def lifted_projection(self, terms: Sequence[Term], lifted: Array) -> Array | None:
        """Return nothing: no data are lifted."""
        return None

    def projected_products(self, tables: Sequence[Array]) -> ProductSum | None:
        """Return nothing: there are no axes."""
        return None

    def truncate(self, rank: int) -> PatchBasis:
        """Return the same basis: its functions are not ordered over all patches."""
        return self

    # ---- storage --------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define it."""
        return {"table": self.features.table, "boxes": self.boxes, "cells": self.cells, "grid": self.grid}

    @classmethod
    def from_arrays(cls, fields: Sequence[str], degree: int, arrays: dict[str, Array]) -> PatchBasis:
        """Rebuild a stored basis."""
        features = LocalFeatures(degree, arrays["table"])
        return cls(tuple(fields), features, arrays["boxes"], arrays["cells"].astype(np.int64), arrays["grid"])


def _key(i: Array, j: Array) -> Array:
    """Return one number for each column and row."""
    return np.asarray(i * np.int64(2**31) + j)


def _cut(term: Term, part: slice, count: int) -> Term:
    coefficient = term.coefficient
    return (
        term
        if np.ndim(coefficient) == 0 or np.size(coefficient) != count
        else term._replace(coefficient=np.asarray(coefficient)[part])
    )
