"""Implicit domains and chords: measures, surfaces, normals, what is refused."""

import numpy as np
import pytest

from frozenpinn import EvaluationError, ProblemError
from frozenpinn.geometry import Box, Ellipsoid, Implicit
from frozenpinn.geometry.rare.implicit import boundary_measure, boundary_points, uniform_chords

SQUARE = ([-1.5, -1.5], [1.5, 1.5])


def test_text_and_functions_agree():
    text = Implicit("x^2 + 2*y^2 - 1", *SQUARE)
    function = Implicit(lambda x, y: x**2 + 2 * y**2 - 1, *SQUARE)
    exact = Ellipsoid([0, 0], [1, 0.5**0.5])
    for domain in (text, function):
        assert domain.measure == pytest.approx(exact.measure, rel=1e-12)
        assert domain.surface == pytest.approx(exact.surface, rel=1e-10)
    a, b = (domain.sample_side("boundary", 100) for domain in (text, function))
    np.testing.assert_allclose(a.x, b.x, atol=1e-12)
    np.testing.assert_allclose(a.normals, b.normals, atol=1e-9)
    gradient = a.x * [1, 2]
    np.testing.assert_allclose(a.normals, gradient / np.linalg.norm(gradient, axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(a.x[:, 0] ** 2 + 2 * a.x[:, 1] ** 2, 1, atol=1e-12)
    assert repr(text) == "Implicit(x^2 + 2*y^2 - 1 < 0 between (-1.5, -1.5) and (1.5, 1.5))"


def test_moments():
    points = Implicit("x^2 + 2*y^2 - 1", *SQUARE).sample(500)
    x, y = points.x.T
    assert points.weights @ x**2 == pytest.approx(np.pi / 4 / 2**0.5, rel=1e-10)
    assert points.weights @ (x**2 * y**2) == pytest.approx(np.pi / 24 / 2**1.5, rel=1e-9)


def test_several_pieces_and_holes():
    two = Implicit("((x - 0.7)^2 + y^2 - 0.25) * ((x + 0.7)^2 + y^2 - 0.25)", *SQUARE)
    assert two.measure == pytest.approx(np.pi / 2, rel=1e-9)
    assert two.surface == pytest.approx(2 * np.pi, rel=1e-7)
    ring = Implicit("(x^2 + y^2 - 1) * (x^2 + y^2 - 0.25)", *SQUARE)
    assert ring.measure == pytest.approx(np.pi * 0.75, rel=1e-6)


def test_tolerance_is_a_distance():
    """Also for functions that are no distances."""
    domain = Implicit("1000*(x^2 + y^2 - 1)", *SQUARE)
    radius = np.array([0.99, 0.9999, 1.0001, 1.01])
    x = np.column_stack([radius, 0 * radius])
    assert domain.contains(x, 0.0).tolist() == [True, True, False, False]
    assert domain.contains(x, 1e-3).tolist() == [True, True, True, False]
    assert domain.contains(x, -1e-3).tolist() == [True, False, False, False]
    assert not domain.contains(np.array([[9.0, 9.0]]))[0]


# ---- solids --------------------------------------------------------------------------------------

GYROID = "sin(x)*cos(y) + sin(y)*cos(z) + sin(z)*cos(x) - 0.3"


def gyroid(x, y, z):
    return np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x) - 0.3


@pytest.fixture(scope="module")
def sponge():
    return Implicit(f"max({GYROID}, x^2 + y^2 + z^2 - 9)", [-3.2] * 3, [3.2] * 3)


def test_rules_in_a_gyroid(sponge):
    """Volume and integrals against half a million quasi-random points, and the divergence theorem."""
    unit = np.concatenate([Box([-3.2] * 3, [3.2] * 3).sample(2**18, "sobol", rng=seed).x for seed in range(2)])
    kept = unit[sponge.contains(unit, 0.0)]
    assert sponge.measure == pytest.approx(len(kept) / len(unit) * 6.4**3, rel=1e-3)
    rule = sponge.sample(4000)
    assert len(rule) == 4000
    assert np.all(rule.weights > 0)
    wave = lambda x: np.exp(0.3 * x[:, 0] + 0.2 * x[:, 1] - 0.4 * x[:, 2])  # noqa: E731
    assert rule.weights @ wave(rule.x) == pytest.approx(np.mean(wave(kept)) * sponge.measure, rel=1e-3)
    edge = sponge.sample_side("boundary", 1600)
    flow = edge.weights @ (np.sum(edge.normals * [0.3, 0.2, -0.4], axis=1) * wave(edge.x))
    assert flow == pytest.approx(0.29 * rule.weights @ wave(rule.x), abs=0.01 * edge.weights.sum())


def test_points_on_a_gyroid(sponge):
    for method in ("gauss", "sobol", "random"):
        points = sponge.sample_side("boundary", 1600, method, rng=0)
        assert abs(len(points) - 1600) < 50
        assert points.weights.sum() == pytest.approx(sponge.surface)
        assert np.all(sponge.contains(points.x))
        assert np.max(np.abs(sponge._level(points.x))) < 1e-11
        assert not np.any(sponge.contains(points.x + 1e-6 * points.normals, 0.0))
    outer = np.linalg.norm(points.x, axis=1) > 3 - 1e-9
    assert 0.2 < np.mean(outer) < 0.8  # both the gyroid and the ball


def test_text_and_functions_agree_in_three_dimensions():
    box = ([-np.pi] * 3, [np.pi] * 3)
    text, function = Implicit(GYROID, *box, cut=True), Implicit(gyroid, *box, cut=True)
    assert text.measure == pytest.approx(function.measure, rel=1e-9)
    assert text.surface == pytest.approx(function.surface, rel=1e-9)
    a, b = (domain.sample_side("boundary", 200, "sobol", rng=0) for domain in (text, function))
    np.testing.assert_allclose(a.x, b.x, atol=1e-9)
    np.testing.assert_allclose(a.normals, b.normals, atol=1e-8)


def test_plain_solids_keep_columns():
    """An ellipsoid is measured by its surface, and its rule resolves waves that a fit of degree 10 does not."""
    domain = Implicit("x^2 + 2*y^2 + 3*z^2 - 1", [-1.1] * 3, [1.1] * 3)
    exact = Ellipsoid([0, 0, 0], [1, 0.5**0.5, 3**-0.5])
    assert domain.measure == pytest.approx(exact.measure, rel=1e-7)
    assert domain.surface == pytest.approx(exact.surface, rel=1e-7)
    rules = domain.sample(4000), exact.sample(8000)
    values = [rule.weights @ np.cos(8 * rule.x[:, 0] + 4 * rule.x[:, 1]) for rule in rules]
    assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_the_box_cuts_in_the_plane():
    domain = Implicit("x^2 + y^2 - 1", [-1.2, -1.2], [1.2, 0], cut=True)
    assert domain.measure == pytest.approx(np.pi / 2, rel=1e-6)
    assert domain.surface == pytest.approx(np.pi + 2, rel=1e-3)
    assert repr(domain) == "Implicit(x^2 + y^2 - 1 < 0 cut between (-1.2, -1.2) and (1.2, 0))"
    floor = domain.sample_side("boundary", 200)
    flat = np.abs(floor.x[:, 1]) < 1e-12
    np.testing.assert_allclose(floor.normals[flat], np.tile([0, 1], (np.sum(flat), 1)), atol=1e-12)


# ---- chords --------------------------------------------------------------------------------------


def sphere(x):
    return np.sum(x**2, axis=1) < 1


@pytest.mark.parametrize("d", [2, 3, 4])
def test_chords_are_uniform_among_lines(d):
    """The mean chord of a body is c·volume/surface (Cauchy): here of the ball that all chords meet."""
    chords = uniform_chords(20_000, np.zeros(d), 2.0, "sobol", np.random.default_rng(0))
    mean = {2: np.pi, 3: 8 / 3, 4: 3 * np.pi / 4}[d]  # π/2·r, 4/3·r, 3π/8·r for r = 2
    assert np.mean(2 * chords.half) == pytest.approx(mean, rel=2e-3)
    np.testing.assert_allclose(np.sum(chords.middle * chords.direction, axis=1), 0, atol=1e-12)
    second = chords.direction.T @ chords.direction / 20_000
    np.testing.assert_allclose(second, np.eye(d) / d, atol=5e-3)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_surfaces_by_crofton(d):
    exact = {2: 2 * np.pi, 3: 4 * np.pi, 4: 2 * np.pi**2}[d]
    assert boundary_measure(sphere, np.full(d, 0.1), 1.7) == pytest.approx(exact, rel=0.01)


def test_chords_place_points_uniformly_on_an_ellipse():
    exact = Ellipsoid([0, 0], [1, 0.25])
    x = boundary_points(exact.contains, np.zeros(2), 1.1, 20_000, "random", np.random.default_rng(0))
    np.testing.assert_allclose(x[:, 0] ** 2 + 16 * x[:, 1] ** 2, 1, atol=1e-6)
    fine = exact.sample_side("boundary", 4000)
    for cut in (0.5, 0.9, 0.99):
        share = fine.weights[np.abs(fine.x[:, 0]) > cut].sum() / exact.surface
        assert np.mean(np.abs(x[:, 0]) > cut) == pytest.approx(share, abs=0.015)


def test_four_dimensions():
    domain = Implicit("x1^2 + x2^2 + x3^2 + x4^2 - 1", [-1.1] * 4, [1.1] * 4)
    assert domain.measure == pytest.approx(np.pi**2 / 2, rel=5e-3)
    assert domain.surface == pytest.approx(2 * np.pi**2, rel=1e-2)
    points = domain.sample_side("boundary", 200)
    np.testing.assert_allclose(points.normals, points.x, atol=1e-9)


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "box", "words"),
    [
        (
            "x^2 + y^2 + 1",
            SQUARE,
            r"is nowhere negative between \(-1\.5, -1\.5\).*its least value found is 1\.\d+ at \(",
        ),
        ("x^2 + y^2 - 9", SQUARE, r"reaches the bounding box at \(-1\.5, -1\.5\); enlarge the box, or let it cut"),
        ("x - 1", SQUARE, r"reaches the bounding box at \(-1\.5"),
        ("x^2 + t", SQUARE, "depends on t, but domains don't move in time"),
        ("x^2 + q", SQUARE, "unknown name 'q'"),
        ("x^2 - 1", ([-2], [2]), r"at least two dimensions; use Interval\(a, b\) in one"),
        (lambda x, y, z: x, SQUARE, "depends on t"),
        ("x^2 + y^2 - 1", ([1, 1], [0, 0]), "the upper end must be larger"),
    ],
)
def test_what_is_no_implicit_domain(function, box, words):
    with pytest.raises(ProblemError, match=words):
        Implicit(function, *box)


def test_functions_must_be_finite():
    with pytest.raises(EvaluationError, match=r"the function of an implicit domain is nan at x = \("):
        Implicit("log(x) + y^2 - 1", *SQUARE)


def test_a_boundary_without_slope_is_refused():
    plane = Implicit("(x^2 + y^2 - 1)^3", *SQUARE)
    solid = Implicit("(x^2 + y^2 + z^2 - 1)^3", [-1.5] * 3, [1.5] * 3)
    for domain in (plane, solid):
        with pytest.raises(ProblemError, match=r"has no slope at \(.*write it so that it crosses 0 there"):
            domain.sample_side("boundary", 50)
