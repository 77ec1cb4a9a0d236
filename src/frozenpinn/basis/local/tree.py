"""A quadtree over the bounding box of a plane domain: each leaf knows which curves of the boundary cut it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Domain
from frozenpinn.geometry.rare.curves import Curve, Outline, Segment, divided, points_of

Array = np.ndarray
_AXES = (np.array([1.0, 0.0]), np.array([0.0, 1.0]))
_LOOKS = (0.23, 0.5, 0.77)  # where a curve is looked at: one that touches a line may be on either side of it once
_BESIDE = 1e-9  # how far inside a curve one looks for the leaf that it belongs to, as a part of the leaf


class Cell(NamedTuple):
    """A cell of the tree: its level, and its column and row among all cells of this level."""

    level: int
    i: int
    j: int

    @property
    def children(self) -> tuple[Cell, ...]:
        """The four quarters."""
        return tuple(Cell(self.level + 1, 2 * self.i + a, 2 * self.j + b) for a in (0, 1) for b in (0, 1))


@dataclass(frozen=True, eq=False)
class Leaf:
    """A cell, or what of it is inside: its rectangle, and the curves in it or on its edges."""

    cell: Cell
    lower: Array
    upper: Array
    curves: tuple[Curve, ...]

    @cached_property
    def is_whole(self) -> bool:
        """Whether no curve cuts it: those that it has run along its edges."""
        return all(self._on_edge(curve) for curve in self.curves)

    def _on_edge(self, curve: Curve) -> bool:
        if not isinstance(curve, Segment):
            return False
        close = 1e-10 * (self.upper - self.lower)
        ends = np.stack([curve.start, curve.end])
        return any(
            bool(np.all(np.abs(ends[:, axis] - edge[axis]) <= close[axis]))
            for axis in (0, 1)
            for edge in (self.lower, self.upper)
        )

    @property
    def angle(self) -> float:
        """By how much curves turn in it."""
        return float(sum(curve.angle for curve in self.curves))


@dataclass(frozen=True, eq=False)
class Tree:
    """The leaves of a quadtree, in order.

    Attributes
    ----------
    domain
        What is divided.
    roots
        Columns and rows of the coarsest cells, which are nearly square.
    leaves
        What is not divided any further and not outside, by cell.
    area
        What the boundary encloses.
    """

    domain: Domain
    roots: tuple[int, int]
    leaves: dict[Cell, Leaf]
    area: float

    @classmethod
    def of(cls, domain: Domain, across: int) -> Tree:
        """Divide a domain into equal cells, as many along its longest edge."""
        curves = domain.outline() if domain.dimension == 2 else None
        if curves is None:
            raise ProblemError(
                "patches need a plane domain whose boundary is made of segments and arcs: boxes without periodic axes, "
                f"polygons, disks, ellipses, annuli and their combinations. {domain!r} is none; leave basis=Patches() "
                "out."
            )
        spacing = domain.size / across
        roots = (max(1, round(float(domain.lengths[0]) / spacing)), max(1, round(float(domain.lengths[1]) / spacing)))
        tree = cls(domain, roots, {}, Outline(curves).area)
        cells = [Cell(0, i, j) for i in range(roots[0]) for j in range(roots[1])]
        return replace(tree, leaves=tree._filled(cells, curves))

    @property
    def levels(self) -> int:
        """Number of levels from the coarsest leaf to the finest."""
        own = [cell.level for cell in self.leaves]
        return max(own) - min(own) + 1

    def corners(self, cell: Cell) -> tuple[Array, Array]:
        """Return the corners of a cell; neighbours have the same ones to the last bit."""
        counts = np.array(self.roots) * 2**cell.level
        at = np.array([cell.i, cell.j])
        lower, lengths = self.domain.lower, self.domain.lengths
        return lower + lengths * (at / counts), lower + lengths * ((at + 1) / counts)

    def _filled(self, cells: Sequence[Cell], curves: Sequence[Curve]) -> dict[Cell, Leaf]:
        """Return the leaves among cells that curves may cut."""
        found: dict[Cell, Leaf] = {}
        plain: list[Leaf] = []
        for cell, own in zip(cells, self._shared(cells, curves), strict=True):
            lower, upper = self.corners(cell)
            leaf = Leaf(cell, lower, upper, tuple(own))
            if own:
                found[cell] = leaf
            else:
                plain.append(leaf)
        centers = np.array([(leaf.lower + leaf.upper) / 2.0 for leaf in plain]).reshape(-1, 2)
        inside = self.domain.contains(centers, 0.0) if plain else np.empty(0, dtype=bool)
        found |= {leaf.cell: leaf for leaf, is_inside in zip(plain, inside, strict=True) if is_inside}
        return found

    def _shared(self, cells: Sequence[Cell], curves: Sequence[Curve]) -> list[list[Curve]]:
        """Return the curves of each cell: cut at the lines of these cells, and given to that on their inner side."""
        boxes = np.array([np.concatenate(self.corners(cell)) for cell in cells])
        pieces = list(curves)
        for axis in (0, 1):
            lines = np.unique(boxes[:, [axis, axis + 2]])
            pieces = [
                piece
                for curve in pieces
                for piece in divided(curve, (s for x in lines for s in curve.crossings(_AXES[axis], float(x)).tolist()))
            ]
        owned: list[list[Curve]] = [[] for _ in cells]
        if not pieces:
            return owned
        beside = _BESIDE * np.min(boxes[:, 2:] - boxes[:, :2])
        x = np.stack([x - beside * normals for x, normals in (points_of(pieces, s) for s in _LOOKS)])
        for k, box in enumerate(boxes):
            inside = np.all((x >= box[:2]) & (x <= box[2:]), axis=2)
            owned[k] = [pieces[n] for n in np.flatnonzero(np.sum(inside, axis=0) > len(_LOOKS) / 2).tolist()]
        return owned

    def refined(self, cells: Iterable[Cell]) -> Tree:
        """Return the tree with some leaves quartered, and with those beside them that would be four times as wide."""
        leaves = dict(self.leaves)
        waiting = [cell for cell in cells if cell in leaves]
        while waiting:
            cell = waiting.pop()
            leaf = leaves.pop(cell, None)
            if leaf is None:
                continue
            leaves |= self._filled(cell.children, leaf.curves)
            waiting += [wide for wide in self._wider_neighbours(cell) if wide in leaves]
        return replace(self, leaves=dict(sorted(leaves.items())))

    def coarsened(self, cells: Collection[Cell]) -> Tree:
        """Return the tree with four leaves made one where all are among some cells, and away from the boundary."""
        above = {Cell(c.level - k, c.i >> k, c.j >> k) for c in self.leaves for k in range(1, c.level + 1)}
        leaves = dict(self.leaves)
        for parent in sorted({Cell(c.level - 1, c.i // 2, c.j // 2) for c in cells if c.level}):
            own = parent.children
            plain = all(c in cells and c in self.leaves and not self.leaves[c].curves for c in own)
            around = {
                Cell(parent.level + 1, 2 * parent.i + a, 2 * parent.j + b) for a in range(-1, 3) for b in range(-1, 3)
            }
            if plain and not around & above:  # none beside it is a quarter as wide
                for cell in own:
                    del leaves[cell]
                leaves[parent] = Leaf(parent, *self.corners(parent), ())
        return replace(self, leaves=dict(sorted(leaves.items())))

    def _wider_neighbours(self, cell: Cell) -> list[Cell]:
        """Return the cells of the level above that touch a cell."""
        level, i, j = cell
        around = [(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
        return [Cell(level - 1, a // 2, b // 2) for a, b in around] if level else []

    def refined_while(self, wanted: Callable[[Sequence[Leaf]], Iterable[bool]], levels: int) -> Tree:
        """Return the tree with leaves quartered as long as it is wanted of them, down to a level."""
        tree = self
        while True:
            open_ = [leaf for leaf in tree.leaves.values() if leaf.cell.level < levels]
            marked = [leaf.cell for leaf, is_wanted in zip(open_, wanted(open_), strict=True) if is_wanted]
            if not marked:
                return tree
            tree = tree.refined(marked)
