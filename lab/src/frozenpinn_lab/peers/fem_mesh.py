"""Triangular meshes of plane domains by gmsh, and what finite elements need to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from frozenpinn.errors import MissingExtraError, SettingsError
from frozenpinn.geometry import Box, Domain, FlatSide, Polygon

Array = np.ndarray


def need(name: str) -> Any:
    """Return gmsh or skfem, or say how to install them."""
    try:
        return import_module(name)
    except (ImportError, OSError):  # OSError: gmsh misses a library of the system
        raise MissingExtraError(
            "the finite element baseline needs gmsh and scikit-fem: pip install './lab[peers]'."
        ) from None


def outline(domain: Domain) -> list[tuple[Array, list[str]]]:
    """Return the rings of a polygon or a rectangle: corners (n, 2), and the name of the side of each edge."""
    if isinstance(domain, Polygon):
        names = ["outer"] * len(domain.ring)
        for side, members in domain.edges.items():
            for edge in members:
                names[edge] = side
        holes = [(hole, [f"hole {i + 1}"] * len(hole)) for i, hole in enumerate(domain.holes)]
        return [(domain.ring, names), *holes]
    if isinstance(domain, Box) and domain.dimension == 2 and not any(domain.periodic):
        (a, b), (c, d) = domain.lower, domain.upper
        ring = np.array([[a, b], [c, b], [c, d], [a, d]])
        name = {(side.axis, side.end): side.name for side in domain.sides if isinstance(side, FlatSide)}
        return [(ring, [name[1, 0], name[0, 1], name[1, 1], name[0, 0]])]
    raise SettingsError(f"finite elements need a polygon or a rectangle that is not periodic, got {domain!r}.")


def triangulated(domain: Domain, size: float) -> tuple[Array, Array]:
    """Return vertices (n, 2) and triangles (m, 3) whose edges are about ``size`` long."""
    rings = outline(domain)
    if not isinstance(size, int | float | np.number) or not 0 < size < np.inf:
        raise SettingsError(f"the mesh size must be a positive number, got {size!r}.")
    gmsh = need("gmsh")
    own = not gmsh.isInitialized()
    if own:
        gmsh.initialize(["", "-nopopup"], interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.add("frozenpinn")
        geometry = gmsh.model.geo
        loops = [geometry.addCurveLoop(_lines(geometry, corners, size)) for corners, _ in rings]
        geometry.addPlaneSurface(loops)
        geometry.synchronize()
        gmsh.model.mesh.generate(2)
        tags, coordinates, _ = gmsh.model.mesh.getNodes()
        _, triangles = gmsh.model.mesh.getElementsByType(2)
        gmsh.model.remove()
    finally:
        if own:
            gmsh.finalize()
    return _compressed(np.asarray(tags), np.asarray(coordinates).reshape(-1, 3)[:, :2], np.asarray(triangles))


def _lines(geometry: Any, corners: Array, size: float) -> list[int]:
    points = [geometry.addPoint(float(x), float(y), 0.0, size) for x, y in corners]
    return [geometry.addLine(p, q) for p, q in zip(points, points[1:] + points[:1], strict=True)]


def _compressed(tags: Array, x: Array, triangles: Array) -> tuple[Array, Array]:
    """Give numbers from 0 on to the vertices of the triangles, and leave out the others."""
    used, cells = np.unique(triangles.astype(np.int64), return_inverse=True)
    place = np.empty(int(tags.max()) + 1, dtype=np.int64)
    place[tags.astype(np.int64)] = np.arange(len(tags))
    return x[place[used]], cells.reshape(-1, 3)


def sides_of(domain: Domain, x: Array) -> Array:
    """Return the name of the nearest side for points (n, 2) on the boundary."""
    names: list[str] = []
    distances: list[Array] = []
    for corners, sides in outline(domain):
        for start, end, name in zip(corners, np.roll(corners, -1, axis=0), sides, strict=True):
            along = end - start
            s = np.clip((x - start) @ along / (along @ along), 0, 1)
            distances.append(np.linalg.norm(x - start - s[:, None] * along, axis=1))
            names.append(name)
    return np.array(names)[np.argmin(np.stack(distances), axis=0)]


def located(vertices: Array, cells: Array, x: Array, candidates: Sequence[int] = (8, 64)) -> Array:
    """Return the triangle of each point, the nearest one for points that round-off puts outside."""
    corners = vertices[cells]
    tree = KDTree(corners.mean(axis=1))
    found = np.zeros(len(x), dtype=int)
    open_points = np.arange(len(x))
    for count in candidates:
        _, near = tree.query(x[open_points], k=min(count, len(cells)))
        near = near.reshape(len(open_points), -1)
        base = corners[near, 0]
        sides = np.stack([corners[near, 1] - base, corners[near, 2] - base], axis=-1)
        local = np.linalg.solve(sides, (x[open_points][:, None] - base)[..., None])[..., 0]
        inside = np.minimum(local.min(axis=-1), 1 - local.sum(axis=-1))
        best = np.argmax(inside, axis=1)
        rows = np.arange(len(open_points))
        found[open_points] = near[rows, best]
        open_points = open_points[inside[rows, best] < -1e-10]
        if not len(open_points):
            break
    return found
