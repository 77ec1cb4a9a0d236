"""Functions of corners of systems, and eigenvalues that need them."""

from __future__ import annotations

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.enrichments.mode_functions import mode_combinations

L_SHAPE = fp.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
ELASTIC = ["-(lap(u) + 3*(u_xx + v_xy)) = lam*u", "-(lap(v) + 3*(u_xy + v_yy)) = lam*v"]
CLAMPED = ["u = 0", "v = 0"]


def stated(equations, boundary, domain=L_SHAPE):
    return fp.Problem(equations, domain, boundary=boundary, parameters={"lam": fp.Eigenvalue()})


def near_the_corner(count=40):
    """Points of the re-entrant corner, of its first and of its last edge."""
    rng = np.random.default_rng(0)
    angles, radii = rng.uniform(0.05, 1.5 * np.pi - 0.05, count), rng.uniform(0.1, 0.9, count)
    inside = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    zero = np.zeros(count)
    return inside, np.concatenate([np.stack([radii, zero], axis=1), np.stack([zero, -radii], axis=1)])


def test_combinations_solve_elasticity_and_are_clamped():
    found = mode_combinations(stated(ELASTIC, CLAMPED), 2.0)
    own = np.flatnonzero(np.all(found.functions.table[:, :2] == 0.0, axis=1))  # of the corner at the origin
    matrix = found.matrix[:, own]
    matrix = matrix[:, :, np.any(matrix, axis=(0, 1))]
    assert matrix.shape[2] == 5  # 0.59, 0.77, 1.17, 1.61, 1.67
    inside, edges = near_the_corner()

    def values(field, x, alpha):
        return found.functions(x, alpha)[:, own] @ matrix[field]

    sums = [
        4 * values(0, inside, (2, 0)) + values(0, inside, (0, 2)) + 3 * values(1, inside, (1, 1)),
        values(1, inside, (2, 0)) + 4 * values(1, inside, (0, 2)) + 3 * values(0, inside, (1, 1)),
    ]
    assert np.max(np.abs(values(0, inside, (2, 0)))) > 1e-2
    assert np.max(np.abs(sums)) < 1e-6 * np.max(np.abs(values(0, inside, (2, 0))))
    assert max(np.max(np.abs(values(k, edges, (0, 0)))) for k in (0, 1)) < 1e-7


def test_higher_powers_follow_from_lower_ones():
    with_series, without = (mode_combinations(stated(ELASTIC, CLAMPED), most).matrix.shape[2] for most in (3.5, 2.5))
    powers = mode_combinations(stated("-u_xx - 2*u_yy = lam*u", "u = 0"), 3.0).functions.table[:, 5:7].sum(axis=1)
    assert with_series > without
    assert sorted(set(np.round(powers, 6))) == pytest.approx([2 / 3, 4 / 3, 8 / 3], abs=1e-5)


@pytest.mark.parametrize(
    "problem",
    [
        stated("-lap(u) = lam*u", "u = 0"),
        stated(ELASTIC, CLAMPED, fp.Disk()),
        stated("-u_xx = lam*(u + u_yy)", "u = 0"),
    ],
)
def test_none_for_laplacians_smooth_sides_and_leading_parts_with_the_eigenvalue(problem):
    assert mode_combinations(problem, 4.0) is None


def test_an_elastic_l_shape():
    found = fp.modes(stated(ELASTIC, CLAMPED), 1, settings=fp.Settings(width=160))
    assert found.values[0] == pytest.approx(14.873295, rel=2e-7)  # elements of degree 4, graded: 14.8732953 from above
    assert found.errors[0] < 1e-5


def test_an_anisotropic_drum_is_a_stretched_one():
    settings = fp.Settings(width=240)
    anisotropic = fp.modes(stated("-u_xx - 2*u_yy = lam*u", "u = 0"), 2, settings=settings)
    corners = [(x, y / np.sqrt(2)) for x, y in [(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)]]
    stretched = fp.modes(stated("-lap(u) = lam*u", "u = 0", fp.Polygon(corners)), 2, settings=settings)
    assert anisotropic.values == pytest.approx(stretched.values, rel=1e-6)


def test_a_clamped_l_shaped_plate():
    found = fp.modes(stated("lap(lap(u)) = lam*u", ["u = 0", "u_n = 0"]), 4)
    assert found.values[0] == pytest.approx(418.9755, rel=1e-5)  # Argyris elements, graded: 418.97555 from above
    assert abs(found.values[0] - 418.9755) <= 10 * found.errors[0]
