"""Boxes: sides, normals, measures, quadrature, and points that lie where they should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn import Box, Interval, ProblemError, SettingsError
from frozenpinn.geometry import FlatSide

METHODS = ["gauss", "uniform", "random", "latin-hypercube", "sobol"]
SCATTERED = METHODS[2:]


# ---- geometry ------------------------------------------------------------------------------------


def test_an_interval_is_a_box_of_one_dimension():
    interval = Interval(-1, 3)
    assert (interval.dimension, interval.coordinates, interval.periodic) == (1, ("x",), (False,))
    assert (interval.measure, interval.center.tolist(), interval.lengths.tolist()) == (4.0, [1.0], [4.0])
    assert repr(interval) == "Interval([-1, 3])"
    assert repr(Interval(0, 1, periodic=True)) == "Interval([0, 1] periodic)"


def test_a_box():
    box = Box([0, -1, 2], [2, 2, 2.5], periodic=[False, True, False])
    assert (box.dimension, box.coordinates, box.measure) == (3, ("x", "y", "z"), 3.0)
    assert box.lengths.tolist() == [2, 3, 0.5]
    assert box.center.tolist() == [1, 0.5, 2.25]
    assert repr(box) == "Box([0, 2] × [-1, 2] periodic × [2, 2.5])"
    assert [box.axis(i).lower[0] for i in range(3)] == [0, -1, 2]
    assert [box.axis(i).periodic for i in range(3)] == [(False,), (True,), (False,)]


def test_coordinates_beyond_three_dimensions():
    box = Box([0] * 4, [1] * 4)
    assert box.coordinates == ("x1", "x2", "x3", "x4")
    assert [side.name for side in box.sides] == ["x1-", "x1+", "x2-", "x2+", "x3-", "x3+", "x4-", "x4+"]


def test_sides_and_their_names():
    box = Box([0, 0, 0], [1, 2, 3])
    assert [side.name for side in box.sides] == ["left", "right", "bottom", "top", "front", "back"]
    assert [side.aliases for side in box.sides] == [("x-",), ("x+",), ("y-",), ("y+",), ("z-",), ("z+",)]
    for name, alias in [("left", "x-"), ("top", "y+"), ("back", "z+")]:
        assert box.side(name) is box.side(alias)
    assert box.side("top") == FlatSide("top", ("y+",), 1, 1)


def test_periodic_axes_have_no_sides():
    box = Box([0, 0], [2, 1], periodic=[True, False])
    assert [side.name for side in box.sides] == ["bottom", "top"]
    assert Interval(0, 1, periodic=True).sides == ()
    with pytest.raises(ProblemError, match="axis 'x' is periodic, so it has no side 'right'; leave it out"):
        box.side("right")
    with pytest.raises(
        ProblemError, match=r"unknown side 'botom'; the sides are 'bottom', 'top'\. Did you mean 'bottom'\?"
    ):
        box.side("botom")
    with pytest.raises(ProblemError, match=r"unknown side 'nowhere'; the sides are 'bottom', 'top'\.$"):
        box.side("nowhere")


def test_with_periodic_adds_axes():
    box = Box([0, 0], [2, 1], periodic=[True, False])
    assert box.with_periodic([1]).periodic == (True, True)
    assert box.with_periodic([]).periodic == (True, False)
    assert isinstance(Interval(0, 1).with_periodic([0]), Interval)
    assert box.periodic == (True, False)


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
@pytest.mark.parametrize("method", METHODS)
def test_points_on_sides(dimension, method):
    box = Box(np.arange(dimension), np.arange(dimension) + 2.0 + np.arange(dimension))
    for side in box.sides:
        points = box.sample_side(side, 16, method, rng=1)
        assert points.x.shape == points.normals.shape == (len(points), dimension)
        assert points.side is side
        assert len(points) == (1 if dimension == 1 else 16)
        end = (box.lower, box.upper)[side.end][side.axis]
        assert np.all(points.x[:, side.axis] == end)
        assert np.all(box.contains(points.x))
        outward = points.x + 1e-3 * points.normals
        assert not np.any(box.contains(outward))
        np.testing.assert_array_equal(np.linalg.norm(points.normals, axis=1), 1.0)
        face = box.measure / box.lengths[side.axis] if dimension > 1 else 1.0
        assert points.weights.sum() == pytest.approx(face)


def test_the_divergence_theorem():
    """∫ div F = ∮ F·n for a polynomial field: volume and surface rules and normals fit together."""
    box = Box([0, -1], [2, 0.5])
    inside = box.sample([6, 6])
    x, y = inside.x.T
    volume = inside.weights @ (3 * x**2 * y + 2 * x * y)  # F = (x³y, xy²)
    surface = 0.0
    for side in box.sides:
        points = box.sample_side(side, 6)
        a, b = points.x.T
        surface += points.weights @ np.sum(points.normals * np.stack([a**3 * b, a * b**2], axis=1), axis=1)
    assert surface == pytest.approx(volume, rel=1e-13)


def test_contains():
    box = Box([0, 0], [2, 1], periodic=[True, False])
    points = np.array([[1, 0.5], [5, 0.5], [1, 1.5], [0, 0], [2, 1], [1, 1 + 1e-12], [1, 1 + 1e-3]])
    assert box.contains(points).tolist() == [True, True, False, True, True, True, False]
    assert box.contains(points, tolerance=0.01)[-1]


def test_wrap():
    box = Box([1, 0], [3, 1], periodic=[True, False])
    points = np.array([[1, 7], [3, 0], [3.5, 0], [0.5, -1], [7.25, 0], [-100, 0]])
    assert box.wrap(points).tolist() == [[1, 7], [3, 0], [1.5, 0], [2.5, -1], [1.25, 0], [2, 0]]
    plain = Interval(0, 1)
    assert plain.wrap(points[:, :1]) is not None
    np.testing.assert_array_equal(plain.wrap(points[:, :1]), points[:, :1])


@given(st.floats(-1e6, 1e6), st.floats(-10, 10), st.floats(0.01, 100))
def test_wrapped_points_lie_in_the_box_a_whole_number_of_periods_away(x, lower, length):
    interval = Interval(lower, lower + length, periodic=True)
    wrapped = interval.wrap(np.array([[x]]))[0, 0]
    period = interval.lengths[0]
    assert interval.lower[0] - 1e-9 * period <= wrapped <= interval.upper[0] + 1e-9 * period
    periods = (x - wrapped) / period
    assert abs(periods - round(periods)) < 1e-6


# ---- quadrature ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_gauss_integrates_polynomials_exactly(n):
    """n points are exact up to degree 2n − 1, and not beyond."""
    points = Interval(-1, 2).sample(n)
    x = points.x[:, 0]
    for degree in range(2 * n):
        exact = (2.0 ** (degree + 1) - (-1.0) ** (degree + 1)) / (degree + 1)
        assert points.weights @ x**degree == pytest.approx(exact, rel=1e-12)
    beyond = (2.0 ** (2 * n + 1) - (-1.0) ** (2 * n + 1)) / (2 * n + 1)
    assert points.weights @ x ** (2 * n) != pytest.approx(beyond, rel=1e-13)


def test_gauss_in_three_dimensions():
    points = Box([0, 0, -1], [1, 2, 1]).sample([2, 3, 4])
    assert len(points) == 24
    assert [len(axis) for axis in points.axes] == [2, 3, 4]
    x, y, z = points.x.T
    assert points.weights @ (x**3 * y**5 * z**6) == pytest.approx(1 / 4 * 2**6 / 6 * 2 / 7, rel=1e-13)


def test_a_tensor_grid_is_the_product_of_its_axes():
    points = Box([0, 5], [1, 7]).sample([3, 4], "uniform")
    assert points.axes[0].tolist() == [0, 0.5, 1]
    grid = [[a, b] for a in points.axes[0] for b in points.axes[1]]
    np.testing.assert_array_equal(points.x, grid)
    np.testing.assert_allclose(points.weights, np.outer(*points.axis_weights).ravel(), rtol=1e-15)


def test_uniform_points_carry_the_trapezoidal_rule():
    points = Interval(0, 3).sample(4, "uniform")
    assert points.x[:, 0].tolist() == [0, 1, 2, 3]
    assert points.weights.tolist() == [0.5, 1, 1, 0.5]
    assert points.weights @ (2 * points.x[:, 0] + 1) == pytest.approx(12)


@pytest.mark.parametrize(
    ("n", "dimension", "count"), [(100, 1, 100), (100, 2, 100), (100, 3, 125), (1000, 3, 1000), (1, 4, 1)]
)
def test_one_number_is_the_total(n, dimension, count):
    assert len(Box([0] * dimension, [1] * dimension).sample(n)) == count


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 5)), min_size=1, max_size=4),
    st.sampled_from(METHODS),
    st.integers(1, 80),
)
@settings(max_examples=150)
def test_weights_sum_to_the_measure(axes, method, n):
    lower = np.array([a for a, _ in axes])
    box = Box(lower, lower + [length for _, length in axes])
    points = box.sample(n, method, rng=0)
    assert points.weights.sum() == pytest.approx(box.measure, rel=1e-12)
    assert points.weights.shape == (len(points),)
    assert np.all(box.contains(points.x))
    assert np.all(points.spacing > 0)
    assert points.dimension == box.dimension


# ---- scattered points ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", SCATTERED)
@pytest.mark.parametrize("n", [1, 7, 64])
def test_scattered_points(method, n):
    box = Box([0, -3, 10], [1, -1, 20])
    points = box.sample(n, method, rng=5)
    assert points.x.shape == (n, 3)
    assert points.axes == ()
    assert np.all((points.x >= box.lower) & (points.x <= box.upper))
    np.testing.assert_array_equal(points.x, box.sample(n, method, rng=5).x)
    np.testing.assert_array_equal(points.x, box.sample(n, method, rng=np.random.default_rng(5)).x)
    assert not np.array_equal(points.x, box.sample(n, method, rng=6).x)


def test_a_generator_moves_on():
    rng = np.random.default_rng(0)
    first, second = (Interval(0, 1).sample(5, "random", rng).x for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_a_latin_hypercube_has_one_point_in_each_stratum(n):
    box = Box([0, -3], [1, 5])
    strata = np.floor((box.sample(n, "latin-hypercube", rng=2).x - box.lower) / box.lengths * n)
    for column in strata.T:
        assert sorted(column) == list(range(n))


def test_sobol_points_are_balanced():
    """2ᵏ Sobol points: the same number in each half, in each quarter, along every axis."""
    x = Box([0, 0, 0], [1, 1, 1]).sample(64, "sobol", rng=3).x
    for parts in (2, 4, 8, 64):
        for column in x.T:
            assert np.bincount((column * parts).astype(int), minlength=parts).tolist() == [64 // parts] * parts


def test_sobol_integrates_better_than_random():
    box = Box([0, 0], [1, 1])

    def error(method):
        return np.mean(
            [
                abs(np.mean(np.sin(3 * p.x[:, 0]) * p.x[:, 1]) - (1 - np.cos(3)) / 6)
                for p in (box.sample(256, method, rng=seed) for seed in range(10))
            ]
        )

    assert error("sobol") < 0.2 * error("random")


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper", "periodic", "words"),
    [
        ([0, 1], [1, 0], False, r"axis 1 runs from 1 to 0; the upper end must be larger"),
        ([0], [0], False, r"axis 0 runs from 0 to 0"),
        ([0], [np.inf], False, "the ends of a box must be finite; map an infinite domain"),
        ([-np.inf], [0], False, "must be finite"),
        ([np.nan], [1], False, "must be finite"),
        ([0, 0], [1], False, r"one number per axis each, got shapes \(2,\) and \(1,\)"),
        ([[0, 0]], [[1, 1]], False, r"one number per axis each, got shapes \(1, 2\)"),
        ([0, 0], [1, 1], [True], r"periodic needs one flag per axis \(2\), got 1"),
        ([0], [1], [True, False], r"one flag per axis \(1\), got 2"),
    ],
)
def test_wrong_boxes(lower, upper, periodic, words):
    with pytest.raises(ProblemError, match=words):
        Box(lower, upper, periodic)


def test_an_interval_takes_two_numbers():
    with pytest.raises(ProblemError, match=r"Interval takes two numbers; use Box"):
        Interval([0, 0], [1, 1])
    with pytest.raises(ProblemError, match="axis 0 runs from 1 to 0"):
        Interval(1, 0)


@pytest.mark.parametrize(("lower", "upper"), [([], []), (["a"], ["b"]), ([[0], [0, 1]], [1, 2])])
def test_what_is_no_box(lower, upper):
    with pytest.raises(ProblemError, match="lower and upper need one number per axis"):
        Box(lower, upper)


@pytest.mark.parametrize("flag", [1, np.True_, np.array([1, 1]), (True, True)])
def test_flags(flag):
    assert Box([0, 0], [1, 1], periodic=flag).periodic == (True, True)


@pytest.mark.parametrize(
    ("n", "method", "words"),
    [
        (
            10,
            "gaus",
            "unknown sampling method 'gaus'; choose one of 'gauss', 'latin-hypercube', 'random', 'sobol', 'spectral', ",
        ),
        (0, "gauss", "a positive whole number of points is needed, got 0"),
        (-1, "random", "a positive whole number of points is needed, got -1"),
        ([2.5, 3], "gauss", "a positive whole number of points is needed, got 2.5"),
        ([3], "gauss", r"one number of points per axis is needed \(2\), got 1"),
        ([3, 3, 3], "uniform", r"one number of points per axis is needed \(2\), got 3"),
        ([3, 3], "sobol", r"'sobol' places n points in total; give one number, got \[3, 3\]"),
        (
            [10**6, 10**6],
            "gauss",
            r"points is too large: it takes 2\.4e\+04 GB, and this machine has .*; use method='sobol'",
        ),
        (10**9, "uniform", "at most 100000000"),
    ],
)
def test_wrong_points(n, method, words):
    with pytest.raises(SettingsError, match=words):
        Box([0, 0], [1, 1]).sample(n, method)


@pytest.mark.parametrize("n", [10.5, None, 10.0, "10"])
@pytest.mark.parametrize("method", ["gauss", "random"])
def test_what_is_no_number_of_points(n, method):
    with pytest.raises(SettingsError, match="number"):
        Interval(0, 1).sample(n, method)


# ---- points for products ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, 4.5), (1000.0, 1000.5)])
def test_spectral_points_integrate_waves_of_periodic_axes_exactly(low, high):
    axis = Interval(low, high, periodic=True)
    for n in (4, 9):
        points = axis.sample(n, "spectral")
        assert points.x[0, 0] == low  # of the two ends, which are one point, the first
        np.testing.assert_allclose(points.weights, (high - low) / n)
        phase = 2 * np.pi * (points.x[:, 0] - low) / (high - low)
        for k in range(1, n):
            assert abs(points.weights @ np.cos(k * phase + 0.3)) < 1e-11 * (high - low)
        assert abs(points.weights @ np.cos(n * phase)) > 0.9 * (high - low)  # the first that is taken for a constant


def test_spectral_points_are_those_of_gauss_on_other_axes():
    box = Box([0, -1], [2, 1], [True, False])
    found, gauss = box.sample([6, 5], "spectral"), box.sample([6, 5], "gauss")
    np.testing.assert_array_equal(found.axes[1], gauss.axes[1])
    np.testing.assert_array_equal(found.axis_weights[1], gauss.axis_weights[1])
    np.testing.assert_allclose(found.axes[0], np.arange(6) / 3)
    x, y = found.x.T
    np.testing.assert_allclose(found.weights @ (np.sin(np.pi * x) ** 2 * y**8), 1.0 * 2 / 9, rtol=1e-13)
    assert found.weights.sum() == pytest.approx(box.measure)
