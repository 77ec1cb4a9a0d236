"""Balls, ellipsoids and shells: exact moments, surfaces, uniform points in any dimension."""

from math import gamma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ellipe

from frozenpinn import ProblemError
from frozenpinn.geometry import Annulus, Ball, Disk, Ellipsoid, Shell
from frozenpinn.geometry.ball import ball_rule, sphere_rule


def sphere_moment(powers):
    """Return ∮ Π uᵢ^pᵢ over the unit sphere: 2 Π Γ((pᵢ+1)/2) / Γ(Σ(pᵢ+1)/2), zero for odd powers."""
    if any(p % 2 for p in powers):
        return 0.0
    halves = [(p + 1) / 2 for p in powers]
    return 2 * np.prod([gamma(h) for h in halves]) / gamma(sum(halves))


def ball_moment(powers):
    return sphere_moment(powers) / (len(powers) + sum(powers))


@pytest.mark.parametrize(("d", "n", "degree"), [(2, 4 * 9, 11), (2, 4 * 64, 31), (3, 8 * 8, 7), (3, 8 * 125, 19)])
def test_rules_in_the_ball_are_exact(d, n, degree):
    """k radii give degree 4k − 1: 4k² points in 2-d, 8k³ in 3-d."""
    x, weights = ball_rule(d, n)
    assert len(x) == n
    for powers in np.ndindex(*[degree + 1] * d):
        if sum(powers) <= degree:
            found = weights @ np.prod(x ** np.array(powers), axis=1)
            assert found == pytest.approx(ball_moment(powers), rel=1e-12, abs=1e-13)
    even = [degree + 1] + [0] * (d - 1)
    assert weights @ x[:, 0] ** (degree + 1) != pytest.approx(ball_moment(even), rel=1e-12)
    assert np.min(np.linalg.norm(x, axis=1)) > 0.5 / n ** (1 / d)  # no crowd at the centre


@pytest.mark.parametrize(("d", "n", "degree"), [(2, 20, 19), (3, 2 * 64, 15)])
def test_rules_on_the_sphere_are_exact(d, n, degree):
    x, weights = sphere_rule(d, n)
    assert len(x) == n
    for powers in np.ndindex(*[degree + 1] * d):
        if sum(powers) <= degree:
            found = weights @ np.prod(x ** np.array(powers), axis=1)
            assert found == pytest.approx(sphere_moment(powers), rel=1e-12, abs=1e-13)


@given(
    st.lists(st.floats(-2, 2), min_size=2, max_size=3),
    st.floats(0.2, 3),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
@settings(max_examples=60)
def test_moments_about_the_centre(center, radius, powers):
    domain = Ball(center, radius)
    points = domain.sample(1000)
    used = powers[: len(center)]
    found = points.weights @ np.prod(((points.x - center) / radius) ** np.array(used), axis=1)
    assert found == pytest.approx(ball_moment(used) * radius ** len(center), rel=1e-11, abs=1e-12)


def test_neighbours_have_about_equal_distances():
    for domain in (Disk(), Ball(), Annulus(0.5, 1), Shell(1, 1.3)):
        x = domain.sample(1000).x
        distance = np.sort(np.linalg.norm(x[:, None] - x[None], axis=2), axis=1)[:, 1]
        mean = (domain.measure / len(x)) ** (1 / domain.dimension)
        assert np.median(distance) > 0.3 * mean
        assert np.max(distance) < 2.5 * mean


@pytest.mark.parametrize("d", [2, 3, 4, 7, 20])
@pytest.mark.parametrize("method", ["random", "latin-hypercube", "sobol"])
def test_uniform_points_in_balls(d, method):
    domain = Ball(np.arange(d), 2.0)
    x = (domain.sample(8000, method, rng=1).x - domain.center) / 2.0
    radius = np.linalg.norm(x, axis=1)
    assert np.max(radius) <= 1
    assert np.mean(radius**d) == pytest.approx(0.5, abs=0.02)  # r^d is uniform on [0, 1]
    assert np.var(radius**d) == pytest.approx(1 / 12, abs=0.01)
    np.testing.assert_allclose(np.mean(x, axis=0), 0, atol=0.05)
    second = x.T @ x / len(x)
    np.testing.assert_allclose(second, np.eye(d) / (d + 2), atol=0.03)
    on = domain.sample_side("boundary", 8000, method, rng=1)
    u = on.normals
    np.testing.assert_allclose(u.T @ u / len(u), np.eye(d) / d, atol=0.03)
    np.testing.assert_allclose(on.x, domain.center + 2 * u, atol=1e-12)


def test_measures_in_many_dimensions():
    assert Ball(0, 2, dimension=4).measure == pytest.approx(np.pi**2 / 2 * 16)
    assert Shell(1, 2, dimension=5).measure == pytest.approx(8 * np.pi**2 / 15 * 31)
    side = Ball(0, 2, dimension=6).sample_side("boundary", 100)
    assert side.weights.sum() == pytest.approx(np.pi**3 * 2**5)


# ---- ellipsoids ----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(1, 1), (2, 1), (10, 1), (1, 1000)])
def test_circumference_of_ellipses(axes):
    a, b = max(axes), min(axes)
    exact = 4 * a * ellipe(1 - (b / a) ** 2)
    assert Ellipsoid([0, 0], axes).surface == pytest.approx(exact, rel=1e-12)


def test_surface_of_ellipsoids():
    """Spheres in any dimension, spheroids in closed form, and Knud Thomsen's example by the rule."""
    for d in (2, 3, 6):
        sphere = Ellipsoid(np.zeros(d), np.full(d, 2.0))
        assert sphere.surface == pytest.approx(Ball(0, 2, dimension=d).sample_side("boundary", 50).weights.sum())
    e = (1 - 1 / 9) ** 0.5
    prolate = 2 * np.pi * (1 + 3 / e * np.arcsin(e))
    assert Ellipsoid([0] * 3, [1, 3, 1]).surface == pytest.approx(prolate, rel=1e-12)
    oblate = 2 * np.pi * 9 * (1 + (1 - e**2) / e * np.arctanh(e))
    assert Ellipsoid([0] * 3, [3, 3, 1]).surface == pytest.approx(oblate, rel=1e-12)
    three = Ellipsoid([0] * 3, [1, 2, 3])
    assert three.sample_side("boundary", 20_000).weights.sum() == pytest.approx(three.surface, rel=1e-12)


def test_moments_of_ellipsoids():
    domain = Ellipsoid([1, -1, 0], [2, 1, 0.5])
    points = domain.sample(600)
    local = (points.x - domain.center) / domain.semi_axes
    for powers in [(2, 0, 0), (2, 2, 0), (4, 0, 2), (1, 0, 0)]:
        found = points.weights @ np.prod(local ** np.array(powers), axis=1)
        assert found == pytest.approx(ball_moment(powers), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("method", ["random", "latin-hypercube", "sobol"])
def test_points_on_ellipsoids_are_uniform_in_area(method):
    """Each octant of parameters gets its share of area, not of parameters: the tip of a needle is small."""
    domain = Ellipsoid([0, 0, 0], [5, 1, 1])
    points = domain.sample_side("boundary", 20_000, method, rng=0)
    fine = domain.sample_side("boundary", 80_000)
    for cut in (1.0, 3.0, 4.5):
        share = fine.weights[np.abs(fine.x[:, 0]) > cut].sum() / domain.surface
        assert np.mean(np.abs(points.x[:, 0]) > cut) == pytest.approx(share, abs=0.012)


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Disk(0, 0), "the radius of a disk must be positive and finite, got 0"),
        (lambda: Ball(0, -1), "the radius of a ball must be positive and finite, got -1"),
        (lambda: Ball(0, np.nan), "must be positive and finite, got nan"),
        (lambda: Ball(0, "big"), "the radius of a ball is a positive number, got 'big'"),
        (lambda: Disk([0, 0, 0]), r"the center of a disk needs 2 numbers, got \[0, 0, 0\]"),
        (lambda: Ball([1, np.inf]), r"the center of a ball must be finite, got \(1, inf\)"),
        (lambda: Ball([1]), r"a ball has at least two dimensions; use Interval\(a, b\) in one"),
        (lambda: Ball("origin"), "the center of a ball is a number or a list of numbers, got 'origin'"),
        (lambda: Ball([0, 0], dimension=3), "the center of a ball needs 3 numbers"),
        (lambda: Annulus(1, 1), "an annulus needs an inner radius below the outer one; got 1 and 1"),
        (lambda: Shell(2, 1), "a shell needs an inner radius below the outer one; got 2 and 1"),
        (lambda: Shell(0, 1), "the inner radius of a shell must be positive and finite, got 0"),
        (lambda: Ellipsoid(0, [1]), "one semi-axis per dimension, at least 2"),
        (lambda: Ellipsoid(0, [1, 0]), "each semi-axis of an ellipsoid must be positive and finite, got 0"),
        (lambda: Ellipsoid([0, 0, 0], [1, 1]), "the center of an ellipsoid needs 2 numbers"),
    ],
)
def test_what_is_no_ball(build, words):
    with pytest.raises(ProblemError, match=words):
        build()


def test_names_and_texts():
    assert repr(Ball([0, 0.5, 1], 2)) == "Ball(center (0, 0.5, 1), radius 2)"
    assert repr(Annulus(0.5, 1)) == "Annulus(center (0, 0), radii 0.5 to 1)"
    assert [side.name for side in Disk(name="rim").sides] == ["rim"]
    assert [side.name for side in Annulus(1, 2).sides] == ["inner", "outer"]
    assert Ball().dimension == 3


def test_a_radius_that_is_lost_beside_its_center_is_refused():
    with pytest.raises(ProblemError, match=r"a radius of 2 is lost in round-off beside the center \(1e\+30, 0\)"):
        Disk((1e30, 0.0), 2.0)
