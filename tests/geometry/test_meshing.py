"""Meshes for pictures: they fill the domain, their boundary is closed, and no simplex is counted twice."""

import math

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.geometry.cells import fill

SHAPES = {
    "disk": (fp.Disk(), 1e-4),
    "L": (fp.Polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)]), 1e-7),
    "plate with a hole": (fp.Box([0, 0], [2, 1]) - fp.Disk([1, 0.5], 0.3), 1e-4),
    "box": (fp.Box([0, 0], [3, 1]), 1e-12),
    "ball": (fp.Ball([0, 0, 0], 1), 1e-2),
    "cube with a void": (fp.Box([0, 0, 0], [1, 1, 1]) - fp.Ball([0.5, 0.5, 0.5], 0.3), 3e-3),
}


def _counts(rows, size):
    parts = np.concatenate([np.delete(rows, k, axis=1) for k in range(size)])
    return np.unique(np.sort(parts, axis=1), axis=0, return_counts=True)[1]


@pytest.mark.parametrize("name", SHAPES)
def test_simplices_fill_the_domain(name):
    domain, accuracy = SHAPES[name]
    d = domain.dimension
    mesh = fill(domain.contains, domain.lower, domain.upper, 100 if d == 2 else 16)
    corners = mesh.points[mesh.simplices]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / math.factorial(d)
    assert np.sum(volumes) == pytest.approx(domain.measure, rel=accuracy)
    assert np.all(domain.contains(mesh.points))
    assert np.max(_counts(mesh.simplices, d + 1)) == 2, "neighbours agree on their faces"
    assert np.all(_counts(mesh.boundary, d) == 2), "the boundary is closed"


def test_nothing_inside_gives_no_simplices():
    mesh = fill(lambda x: np.zeros(len(x), dtype=bool), np.zeros(2), np.ones(2), 5)
    assert mesh.simplices.shape == (0, 3)
    assert mesh.points.shape == (0, 2)
