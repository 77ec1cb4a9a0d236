"""The outline of a plane domain as closed loops."""

from __future__ import annotations

import numpy as np

from frozenpinn.geometry.box import Box
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.meshing import fill

Array = np.ndarray
_CELLS = 140


def loops(domain: Domain, cells: int = _CELLS) -> list[Array]:
    """Return the boundary of a plane domain as polygons, holes among them; a box has one."""
    if isinstance(domain, Box):
        (a, c), (b, d) = domain.lower[:2], domain.upper[:2]
        return [np.array([[a, c], [b, c], [b, d], [a, d]])]
    mesh = fill(domain.contains, domain.lower, domain.upper, cells)
    following: dict[int, list[int]] = {}
    for i, j in mesh.boundary.tolist():
        following.setdefault(i, []).append(j)
        following.setdefault(j, []).append(i)
    found, left = [], set(following)
    while left:
        here = first = min(left)
        loop, previous = [], -1
        while here in left:
            left.discard(here)
            loop.append(here)
            ahead = [k for k in following[here] if k != previous and (k in left or k == first)]
            previous, here = here, ahead[0] if ahead else first
        found.append(mesh.points[loop])
    return [_straightened(loop) for loop in found if len(loop) > 2]


def _straightened(loop: Array) -> Array:
    """Return a polygon without points between which it goes straight on."""
    before, after = loop - np.roll(loop, 1, axis=0), np.roll(loop, -1, axis=0) - loop
    turn = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
    bent = turn > 1e-6 * np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    return loop[bent] if np.sum(bent) > 2 else loop
