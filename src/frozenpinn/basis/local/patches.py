"""Patches: the leaves of a quadtree, small cuts merged with a neighbour, and the faces between them.

Patches that are congruent, with faces and walls in the same places, form a group: what does not depend on the place is
computed once for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frozenpinn.basis.local.quadrature import Rule, cut_rules, square_rule
from frozenpinn.basis.local.tree import Cell, Leaf, Tree
from frozenpinn.errors import ProblemError
from frozenpinn.geometry.rare.curves import Curve, Segment

Array = np.ndarray
SMALL = 0.3  #: of the area of its cell: what is smaller is merged with a neighbour
_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_AREA = 1e-8  # part of the area that may be missing
_CLOSE = 1e-9  # of the edge of a cell: what is nearer is one place


class Face(NamedTuple):
    """A part of the edge between two patches: its axis is that of the normal, which points from the first to the other.

    ``start`` and ``end`` are the ends along the other axis, ``height`` the place along this one.
    """

    axis: int
    height: float
    start: float
    end: float
    below: int
    above: int

    def at(self, s: Array) -> Array:
        """Return points at parameters from 0 to 1, shape (n, 2)."""
        x = np.empty((len(s), 2))
        x[:, self.axis] = self.height
        x[:, 1 - self.axis] = self.start + (self.end - self.start) * s
        return x

    @property
    def length(self) -> float:
        """Its length."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class Patch:
    """One patch: its box, quadrature, its faces (numbers, and 1 if it is below, −1 if above) and walls.

    Attributes
    ----------
    lower, upper
        The box that its functions are stretched to.
    rule
        Quadrature points and weights.
    cells
        The leaves that it is made of.
    faces
        Numbers of its faces, and the sign of their normals as seen from it.
    walls
        Its parts of the boundary.
    """

    lower: Array
    upper: Array
    rule: Rule
    cells: tuple[Cell, ...]
    faces: tuple[tuple[int, int], ...]
    walls: tuple[Curve, ...]

    @property
    def half(self) -> Array:
        """Half the edges of the box."""
        return (self.upper - self.lower) / 2.0

    @property
    def center(self) -> Array:
        """The middle of the box."""
        return (self.upper + self.lower) / 2.0

    @property
    def area(self) -> float:
        """What it covers."""
        return float(np.sum(self.rule.weights))


@dataclass(frozen=True, eq=False)
class PatchSet:
    """All patches of a domain.

    Attributes
    ----------
    tree
        The quadtree.
    patches, faces
        PatchSet, and the faces between them.
    groups
        Numbers of patches that are congruent.
    """

    tree: Tree
    patches: tuple[Patch, ...]
    faces: tuple[Face, ...]
    groups: tuple[tuple[int, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, tree: Tree, count: int) -> PatchSet:
        """Divide a domain; quadrature integrates products of about 2·count powers."""
        if not tree.leaves:
            raise ProblemError(f"no patch is inside {tree.domain!r}: it is thinner than the finest patch.")
        leaves = list(tree.leaves.values())
        inside = _inside(tree)
        cut = cut_rules([(leaf.curves, leaf.lower, leaf.upper) for leaf in leaves if not leaf.is_whole], count, inside)
        waiting = iter(cut)
        rules = [square_rule(leaf.lower, leaf.upper, count) if leaf.is_whole else next(waiting) for leaf in leaves]
        edges = list(_edges(tree, leaves, inside))
        owner = _merged(leaves, rules, edges)
        numbers = {k: n for n, k in enumerate(sorted(set(owner)))}
        owner = [numbers[k] for k in owner]
        faces = tuple(
            Face(e.axis, e.height, e.start, e.end, owner[e.below], owner[e.above])
            for e in edges
            if owner[e.below] != owner[e.above]
        )
        members: dict[int, list[int]] = defaultdict(list)
        for k, n in enumerate(owner):
            members[n].append(k)
        touching: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, face in enumerate(faces):
            touching[face.below].append((number, 1))
            touching[face.above].append((number, -1))
        patches, keys = [], defaultdict[object, list[int]](list)
        for n in range(len(numbers)):
            own = [leaves[k] for k in members[n]]
            patch = _patch(own, [rules[k] for k in members[n]], [(f, s, faces[f]) for f, s in touching[n]])
            patches.append(patch)
            plain = len(own) == 1 and own[0].is_whole
            keys[_signature(own[0], patch, faces) if plain else n].append(n)
        _check_area(tree, sum(patch.area for patch in patches))
        return cls(tree, tuple(patches), faces, tuple(map(tuple, keys.values())))

    def __len__(self) -> int:
        return len(self.patches)

    @cached_property
    def cells(self) -> tuple[Array, Array]:
        """All leaves as rows (level, column, row), sorted, and the number of the patch of each."""
        table = sorted((*cell, n) for n, patch in enumerate(self.patches) for cell in patch.cells)
        rows = np.array(table, dtype=np.int64)
        return rows[:, :3], rows[:, 3]

    @cached_property
    def boxes(self) -> Array:
        """Middle and half edges of each box, shape (patches, 2, 2)."""
        return np.array([(patch.center, patch.half) for patch in self.patches])


def _check_area(tree: Tree, area: float) -> None:
    """Refuse patches that do not fill their domain: a curve was lost, or parts of the boundary touch."""
    if abs(area - tree.area) > _AREA * tree.area:
        raise ProblemError(
            f"patches fill {area:.6g} of the area {tree.area:.6g} of {tree.domain!r}: parts of its boundary touch, or "
            "are closer than the finest patch. Move them apart or join them, or leave basis=Patches() out."
        )


def _inside(tree: Tree) -> Callable[[Array], Array]:
    def inside(x: Array) -> Array:
        return np.asarray(tree.domain.contains(x, 0.0))

    return inside


def _edges(tree: Tree, leaves: Sequence[Leaf], inside: Callable[[Array], Array]) -> Iterator[Face]:
    """Yield what two leaves have in common of their edges, with the numbers of leaves in place of patches."""
    numbers = {leaf.cell: k for k, leaf in enumerate(leaves)}
    waiting: list[Face] = []
    for k, leaf in enumerate(leaves):
        for a, b in _STEPS:
            other = _beside(leaf.cell, a, b, numbers)
            if other is None or (leaves[other].cell.level == leaf.cell.level and a + b < 0):
                continue
            axis, sign = (0, a) if a else (1, b)
            height = float((leaf.upper if sign > 0 else leaf.lower)[axis])
            start, end = float(leaf.lower[1 - axis]), float(leaf.upper[1 - axis])
            pair = (k, other) if sign > 0 else (other, k)
            if leaf.is_whole and leaves[other].is_whole:
                yield Face(axis, height, start, end, *pair)
                continue
            cuts = _cuts(axis, height, start, end, (*leaf.curves, *leaves[other].curves))
            waiting += [Face(axis, height, s, e, *pair) for s, e in pairwise(cuts)]
    if not waiting:
        return
    middle = np.concatenate([face.at(np.array([0.5])) for face in waiting])
    steps = np.zeros_like(middle)
    steps[np.arange(len(waiting)), [face.axis for face in waiting]] = 1e-7 * min(f.length for f in waiting)
    open_ = inside(middle - steps) & inside(middle + steps)
    yield from (face for face, is_open in zip(waiting, open_, strict=True) if is_open)


def _beside(cell: Cell, a: int, b: int, numbers: dict[Cell, int]) -> int | None:
    """Return the leaf of the same level or above next to a cell; None if there is none."""
    level, i, j = cell.level, cell.i + a, cell.j + b
    while level >= 0:
        found = numbers.get(Cell(level, i, j))
        if found is not None:
            return found
        level, i, j = level - 1, i // 2, j // 2
    return None


def _cuts(axis: int, height: float, start: float, end: float, curves: Sequence[Curve]) -> list[float]:
    """Return where curves begin or end on an edge, with its own ends."""
    close = _CLOSE * (end - start)
    places = np.array([end for curve in curves for end in (curve.start, curve.end)]).reshape(-1, 2)
    on = np.abs(places[:, axis] - height) <= close
    inner = np.unique(places[on, 1 - axis])
    inner = inner[(inner > start + close) & (inner < end - close)]
    inner = inner[np.diff(inner, prepend=start) > close]
    return [start, *inner.tolist(), end]


def _merged(leaves: Sequence[Leaf], rules: Sequence[Rule], edges: Sequence[Face]) -> list[int]:
    """Return for each leaf the one that its patch is named after: small ones go with the longest common edge."""
    cells = np.array([np.prod(leaf.upper - leaf.lower) for leaf in leaves])
    areas = np.array([np.sum(rule.weights) for rule in rules])
    owner, total, whole = list(range(len(leaves))), areas.copy(), cells.copy()
    common: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for edge in edges:
        common[edge.below][edge.above] += edge.length
        common[edge.above][edge.below] += edge.length

    def root(k: int) -> int:
        while owner[k] != k:
            k = owner[k]
        return k

    for k in np.argsort(areas / cells).tolist():
        here = root(k)
        if total[here] >= SMALL * whole[here]:
            continue
        lengths: dict[int, float] = defaultdict(float)
        for n, length in common[k].items():
            if root(n) != here:
                lengths[root(n)] += length * (1.0 if leaves[n].cell.level == leaves[k].cell.level else 0.5)
        if not lengths:
            continue
        large = {n: length for n, length in lengths.items() if total[n] >= SMALL * whole[n]}  # two strips stay thin
        lengths = large or lengths
        other = max(lengths, key=lambda n: (lengths[n], -n))
        owner[here] = other
        total[other] += total[here]
        whole[other] = max(whole[other], whole[here])
    return [root(k) for k in range(len(leaves))]


def _patch(leaves: Sequence[Leaf], rules: Sequence[Rule], faces: Sequence[tuple[int, int, Face]]) -> Patch:
    walls = tuple(curve for leaf in leaves for curve in leaf.curves)
    rule = rules[0]
    if len(leaves) > 1:
        rule = Rule(np.concatenate([r.x for r in rules]), np.concatenate([r.weights for r in rules]))
    if len(leaves) == 1 and leaves[0].is_whole:
        lower, upper = leaves[0].lower, leaves[0].upper
    else:
        ends = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
        x = np.concatenate([rule.x, *(f.at(ends) for _, _, f in faces), *(w.at(ends) for w in walls)])
        lower, upper = np.min(x, axis=0), np.max(x, axis=0)
    return Patch(lower, upper, rule, tuple(leaf.cell for leaf in leaves), tuple((f, s) for f, s, _ in faces), walls)


def _signature(leaf: Leaf, patch: Patch, faces: Sequence[Face]) -> object:
    """Return what congruent patches have in common: the level, and the places of faces and walls."""
    half, center = patch.half, patch.center
    edges = 2.0 * half * (1.0 - _CLOSE)
    if (
        not patch.walls
        and len(patch.faces) == 4
        and all(faces[n].length > edges[1 - faces[n].axis] for n, _ in patch.faces)
    ):
        return (leaf.cell.level, tuple((faces[n].axis, sign) for n, sign in patch.faces))
    own = [faces[number] for number, _ in patch.faces]
    along = [1 - face.axis for face in own]
    places = [
        (f.axis, s, round((f.start - center[a]) / half[a], 6), round((f.end - center[a]) / half[a], 6))
        for f, (_, s), a in zip(own, patch.faces, along, strict=True)
    ]
    walls = []
    for wall in patch.walls:
        assert isinstance(wall, Segment)
        ends = np.round((np.stack([wall.start, wall.end]) - center) / half, 6) + 0.0
        walls.append((wall.side, *ends.ravel().tolist()))
    return (leaf.cell.level, tuple(places), tuple(walls))
