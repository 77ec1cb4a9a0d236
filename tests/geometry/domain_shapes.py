"""Shapes that several tests use, and what all of them have in common."""

import numpy as np
from scipy.spatial import ConvexHull

from frozenpinn.geometry import (
    Annulus,
    Ball,
    Box,
    ConvexPolytope,
    Disk,
    Ellipsoid,
    Extruded,
    Implicit,
    Interval,
    PointCloud,
    Polygon,
    Revolved,
    Shell,
    Simplicial,
    SurfaceMesh,
)

L_SHAPE = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
CUBE = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], indexing="ij")).reshape(3, -1).T
FLOWER = "sqrt(x^2 + y^2) - 1 - 0.2*cos(3*atan2(y, x))"


def sphere_mesh(times: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an octahedron whose faces are cut into four ``times`` times, with its corners on the unit sphere."""
    x = np.concatenate([np.eye(3), -np.eye(3)])
    for _ in range(times):
        faces = ConvexHull(x).simplices
        middles = np.concatenate([x[faces[:, i]] + x[faces[:, (i + 1) % 3]] for i in range(3)])
        middles /= np.linalg.norm(middles, axis=1, keepdims=True)
        x = np.unique(np.round(np.concatenate([x, middles]), 14), axis=0)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, ConvexHull(x).simplices


def circle(n: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def square_mesh(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit square in n × n × 2 triangles."""
    grid = np.linspace(0, 1, n + 1)
    x = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=2).reshape(-1, 2)
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    lower = np.column_stack([corner, corner + n + 1, corner + n + 2])
    upper = np.column_stack([corner, corner + n + 2, corner + 1])
    return x, np.concatenate([lower, upper])


# name: (domain, exact measure, exact measure of the boundary, relative accuracy of the rules)
SHAPES = {
    "L": (lambda: Polygon(L_SHAPE, sides={"floor": [0]}), 3.0, 8.0, 1e-12),
    "holes": (
        lambda: Polygon([[0, 0], [3, 0], [3, 2], [0, 2]], [[[1, 0.5], [2, 0.5], [2, 1.5], [1, 1.5]]]),
        5.0,
        14.0,
        1e-12,
    ),
    "hexagon": (lambda: ConvexPolytope(circle(6)), 1.5 * 3**0.5, 6.0, 1e-12),
    "cube": (lambda: ConvexPolytope(2 * CUBE - 1), 8.0, 24.0, 1e-12),
    "disk": (lambda: Disk([1, -2], 1.5), np.pi * 2.25, 3 * np.pi, 1e-12),
    "ball": (lambda: Ball([1, 0, -1], 2), np.pi * 32 / 3, 16 * np.pi, 1e-12),
    "annulus": (lambda: Annulus(0.5, 1, [3, 3]), 0.75 * np.pi, 3 * np.pi, 1e-12),
    "shell": (lambda: Shell(1, 2), 28 / 3 * np.pi, 20 * np.pi, 1e-12),
    "ellipse": (lambda: Ellipsoid([0, 1], [2, 1]), 2 * np.pi, 9.688448220547675, 1e-12),
    "spheroid": (
        lambda: Ellipsoid([0, 0, 0], [1, 1, 2]),
        8 / 3 * np.pi,
        2 * np.pi * (1 + 2 / 0.75**0.5 * np.arcsin(0.75**0.5)),
        1e-9,
    ),
    "plate": (lambda: Box([0, 0], [2, 1]) - Disk([1, 0.5], 0.25), 2 - np.pi / 16, 6 + np.pi / 2, 1e-10),
    "step": (lambda: Box([0, 0], [2, 2]) - Box([1, 1], [3, 3]), 3.0, 8.0, 1e-12),
    "cavity": (lambda: Box([0] * 3, [1] * 3) - Ball([0.5] * 3, 0.25), 1 - np.pi / 48, 6 + np.pi / 4, 2e-4),
    "flower": (lambda: Implicit(FLOWER, [-1.5, -1.5], [1.5, 1.5]), np.pi * 1.02, 6.819840479796358, 1e-4),
    "torus": (
        lambda: Implicit("(sqrt(x^2 + y^2) - 1)^2 + z^2 - 0.16", [-1.5, -1.5, -0.5], [1.5, 1.5, 0.5]),
        2 * np.pi**2 * 0.16,
        4 * np.pi**2 * 0.4,
        5e-3,
    ),
    "half ball": (
        lambda: Implicit("x^2 + y^2 + z^2 - 1", [-1.2, -1.2, -1.2], [1.2, 1.2, 0], cut=True),
        2 / 3 * np.pi,
        3 * np.pi,
        1e-3,
    ),
    "cylinder": (lambda: Extruded(Disk(name="wall"), -1, 1), 2 * np.pi, 6 * np.pi, 1e-12),
    "strip": (lambda: Extruded(Interval(0, 2), 0, 1), 2.0, 6.0, 1e-12),
    "ring": (lambda: Revolved(Disk([2, 0], 0.5)), np.pi**2, 4 * np.pi**2, 1e-10),
    "cone": (lambda: Revolved(Polygon([[0, 0], [1, 0], [0, 2]])), 2 / 3 * np.pi, np.pi * (1 + 5**0.5), 1e-10),
    "mesh": (lambda: Simplicial(*square_mesh(5)), 1.0, 4.0, 1e-12),
    "box surface": (lambda: SurfaceMesh(CUBE, ConvexHull(CUBE).simplices), 1.0, 6.0, 1e-11),
    "polyhedron": (
        lambda: SurfaceMesh(*sphere_mesh(4)),
        ConvexHull(sphere_mesh(4)[0]).volume,
        ConvexHull(sphere_mesh(4)[0]).area,
        2e-3,
    ),
    "cloud": (
        lambda: PointCloud(0.93 * Disk().sample(200, "sobol", rng=0).x, circle(80)),
        40 * np.sin(np.pi / 40),
        160 * np.sin(np.pi / 80),
        2e-3,
    ),
    "parted": (lambda: Box([0, 0], [2, 1]).with_sides(inlet="x < 0.5 & y > 0.5"), 2.0, 6.0, 1e-9),
    "named": (lambda: Disk().named("rim"), np.pi, 2 * np.pi, 1e-12),
    "ball in 5-d": (lambda: Ball(0, 1, dimension=5), 8 * np.pi**2 / 15, 8 * np.pi**2 / 3, 2e-2),
    "shell in 4-d": (lambda: Shell(1, 2, dimension=4), np.pi**2 * 7.5, 2 * np.pi**2 * 9, 2e-2),
    "ellipsoid in 4-d": (lambda: Ellipsoid([0] * 4, [1, 1, 1, 1]), np.pi**2 / 2, 2 * np.pi**2, 2e-2),
}
_BUILT: dict = {}


def shape(name):
    """Return a shape of the table, built once."""
    if name not in _BUILT:
        _BUILT[name] = SHAPES[name][0]()
    return _BUILT[name]
