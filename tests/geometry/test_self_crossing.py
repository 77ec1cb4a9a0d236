"""Surfaces that cross themselves: where, what is told, what is inside."""

import numpy as np
import pytest
from domain_shapes import sphere_mesh

from frozenpinn.errors import FrozenPinnWarning
from frozenpinn.geometry import SurfaceMesh
from frozenpinn.geometry.documents import domain_from_dict, domain_to_dict
from frozenpinn.geometry.rare.surface_mesh import crossing_faces


def two_balls(shift):
    vertices, faces = sphere_mesh(3)
    return np.concatenate([vertices, vertices + shift]), np.concatenate([faces, faces + len(vertices)])


def test_which_faces_cross():
    assert len(crossing_faces(*sphere_mesh(4))) == 0
    assert len(crossing_faces(*two_balls([2.5, 0, 0]))) == 0
    points, faces = two_balls([1.0, 0.1, 0.2])
    pairs = crossing_faces(points, faces)
    half = len(faces) // 2
    assert len(pairs) > 40
    assert np.all((pairs[:, 0] < half) & (pairs[:, 1] >= half))
    middles = np.mean(points[faces[pairs]], axis=(1, 2))
    assert np.all(np.abs(np.linalg.norm(middles, axis=1) - 1) < 0.15)  # near the circle where both balls meet
    assert np.all(np.abs(np.linalg.norm(middles - [1.0, 0.1, 0.2], axis=1) - 1) < 0.15)


def test_crossing_surfaces_are_told():
    points, faces = two_balls([1.0, 0.1, 0.2])
    with pytest.warns(
        FrozenPinnWarning, match=r"crosses itself: \d+ pairs of faces do, the first near \(.*\)\. What an odd"
    ):
        domain = SurfaceMesh(points, faces)
    assert domain.crosses
    again = domain_from_dict(domain_to_dict(domain))  # which was accepted before
    assert again.crosses


def test_what_an_odd_number_of_sheets_encloses():
    """Volume, normals and points agree with each other: the divergence theorem holds."""
    domain = SurfaceMesh(*two_balls([1.0, 0.1, 0.2]), crossing=True)
    inside = domain.contains(np.array([[-0.5, 0, 0], [0.5, 0.05, 0.1], [1.5, 0.1, 0.2]]))
    assert inside.tolist() == [True, False, True]
    distance = np.linalg.norm([1.0, 0.1, 0.2])
    lens = np.pi * (2 - distance) ** 2 * (distance**2 + 4 * distance) / (12 * distance)
    assert domain.measure == pytest.approx(8 / 3 * np.pi - 2 * lens, rel=0.03)  # inscribed polyhedra are smaller
    points = domain.sample_side("boundary", 20_000)
    assert points.weights @ np.sum(points.x * points.normals, axis=1) / 3 == pytest.approx(domain.measure, rel=5e-3)
    assert not np.any(domain.contains(points.x + 1e-5 * points.normals, 0.0))
    rule = domain.sample(3000)
    assert rule.weights.sum() == pytest.approx(domain.measure)
    assert np.all(domain.contains(rule.x))
