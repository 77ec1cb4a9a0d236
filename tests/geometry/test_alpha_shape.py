"""Alpha shapes: radii, gaps that are filled or stay open, points on a lattice."""

import numpy as np
import pytest

from frozenpinn import ProblemError
from frozenpinn.geometry import Annulus, Disk, Polygon
from frozenpinn.geometry.rare.point_cloud import alpha_shape, circumradii, delaunay
from frozenpinn.geometry.rare.simplices import volumes


def test_circumradii():
    triangle = np.array([[[0, 0], [2, 0], [0, 2]]], dtype=float)
    assert circumradii(triangle) == pytest.approx([2**0.5])
    corner = np.concatenate([np.zeros((1, 3)), 2 * np.eye(3)])
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=float)
    assert circumradii(np.stack([corner, flat])) == pytest.approx([3**0.5, np.inf])


def test_lattices_have_no_flat_cells():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 6)] * 3), axis=-1).reshape(-1, 3)
    cells, _, moved = delaunay(grid)
    assert np.max(np.abs(moved - grid)) < 2e-9
    assert np.sum(volumes(moved[cells])) == pytest.approx(1, abs=1e-7)


def test_dents_stay_open_and_gaps_between_points_are_filled():
    l_shape = Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])
    x = np.concatenate([l_shape.sample(600, "random", rng=0).x, l_shape.sample_side("outer", 200).x])
    cells, moved, _ = alpha_shape(x, None)
    assert np.sum(volumes(moved[cells])) == pytest.approx(3, rel=0.03)


def test_holes_stay_open():
    ring = Annulus(0.5, 1)
    edges = [ring.sample_side(name, 120).x for name in ("inner", "outer")]
    cells, moved, _ = alpha_shape(np.concatenate([ring.sample(600, "sobol", rng=0).x, *edges]), None)
    assert np.sum(volumes(moved[cells])) == pytest.approx(0.75 * np.pi, rel=0.01)


def test_a_given_alpha():
    x = np.concatenate([Disk().sample(300, "sobol", rng=0).x, Disk().sample_side("boundary", 100).x])
    wide, _, alpha = alpha_shape(x, 100.0)
    assert alpha == 100.0
    assert np.sum(volumes(x[wide])) == pytest.approx(np.pi, rel=2e-3)  # the convex hull
    with pytest.raises(
        ProblemError, match=r"alpha = 0\.001 is too small for the cloud: 400 of its 400 points .* is 0\.\d+"
    ):
        alpha_shape(x, 0.001)
