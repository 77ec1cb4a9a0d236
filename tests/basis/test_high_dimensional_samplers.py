"""Samplers for many dimensions: orthogonal antithetic blocks, and pairs projected onto gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.analysis.initial_gradient import InitialGradient
from frozenpinn.basis.samplers import ELM, SWIM, MultiScale, Orthogonal, ProjectedSWIM, adapted, sampler_by_name
from frozenpinn.basis.samplers.orthogonal import random_rotation
from frozenpinn.basis.samplers.projected import project
from frozenpinn.basis.samplers.swim import HALF


def cloud(dimension, n=400, low=-1.0, high=1.0):
    return fp.Box([low] * dimension, [high] * dimension).sample(n, "sobol", 0)


def misfit(layer, function, dimension, low=-1.0, high=1.0):
    """Return the relative error of a least-squares fit at points that the fit has not seen."""
    domain = fp.Box([low] * dimension, [high] * dimension)
    fit, test = domain.sample(2000, "random", 1).x, domain.sample(500, "random", 2).x
    c = np.linalg.lstsq(layer.features(fit), function(fit), rcond=1e-12)[0]
    return np.linalg.norm(layer.features(test) @ c - function(test)) / np.linalg.norm(function(test))


# ---- orthogonal blocks ----------------------------------------------------------------------------


@settings(max_examples=40)
@given(d=st.integers(1, 12), blocks=st.integers(1, 4), rest=st.integers(0, 5), seed=st.integers(0, 9999))
def test_blocks_are_orthogonal_and_antithetic(d, blocks, rest, seed):
    layer = Orthogonal(2 * d * blocks + min(rest, 2 * d)).sample(cloud(d, 64), seed)
    assert layer.width == 2 * d * blocks + min(rest, 2 * d)
    pairs = layer.width // 2
    np.testing.assert_array_equal(layer.weights[0 : 2 * pairs : 2], -layer.weights[1 : 2 * pairs : 2])
    np.testing.assert_array_equal(layer.offsets[0 : 2 * pairs : 2], layer.offsets[1 : 2 * pairs : 2])
    for block in range(blocks):
        w = layer.weights[2 * d * block : 2 * d * (block + 1) : 2]
        gram = w @ w.T
        np.testing.assert_allclose(gram, gram[0, 0] * np.eye(d), atol=1e-12 * gram[0, 0])


def test_rotations_are_uniform():
    """The trace of a uniformly distributed orthogonal matrix has mean 0 and variance 1; QR alone is biased."""
    rng = np.random.default_rng(0)
    traces = np.array([np.trace(random_rotation(4, rng)) for _ in range(4000)])
    assert abs(traces.mean()) < 0.06
    assert abs(traces.var() - 1) < 0.1


@pytest.mark.parametrize("d", [3, 10, 20])
def test_one_block_represents_the_squared_distance(d):
    """2d neurons are |x|² up to O(slope²); as many Gaussian ones are nowhere near."""
    errors = [
        misfit(Orthogonal(2 * d, scale=s).sample(cloud(d), 0), lambda x: np.sum(x**2, axis=1), d) for s in (0.1, 0.05)
    ]
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.25)
    gaussian = misfit(ELM(2 * d, eta=1.0, scale=0.1).sample(cloud(d), 0), lambda x: np.sum(x**2, axis=1), d)
    if d > 3:
        assert gaussian > 30 * errors[0]


def test_the_middle_of_the_points_is_the_middle_of_the_block():
    def function(x):
        return np.sum((x - 5.0) ** 2, axis=1)

    assert misfit(Orthogonal(12, scale=0.05).sample(cloud(6, low=4, high=6), 0), function, 6, 4, 6) < 2e-3


def test_slopes_follow_the_size_of_the_points():
    small = Orthogonal(40).sample(cloud(5, low=-1e-3, high=1e-3), 3)
    large = Orthogonal(40).sample(cloud(5, low=-1e3, high=1e3), 3)
    np.testing.assert_allclose(small.weights * 1e-3, large.weights * 1e3, rtol=1e-9)
    np.testing.assert_allclose(small.offsets, large.offsets)


def test_slopes_and_biases_fill_their_ranges():
    d, spread = 5, np.sqrt(1 / 3)
    layer = Orthogonal(2000, scale=(0.1, 3.0), biases=0.7).sample(cloud(d, 4096), 0)
    slopes = np.linalg.norm(layer.weights, axis=1) * spread
    assert 0.099 < slopes.min() < 0.12
    assert 2.7 < slopes.max() < 3.01
    assert layer.offsets.min() >= 0
    assert np.all(layer.offsets <= 0.7 * np.maximum(1, slopes) * 1.001)
    assert layer.offsets[slopes < 1].max() > 0.68
    assert len(np.unique(layer.offsets)) == 1000


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(x**2, axis=1),
        lambda x: np.exp(-np.sum(x**2, axis=1) / 4),
        lambda x: np.cos(np.sqrt(np.sum(x**2, axis=1))),
    ],
)
def test_few_orthogonal_neurons_beat_as_many_others_for_isotropic_functions(function):
    d, width = 10, 40
    mine = misfit(Orthogonal(width).sample(cloud(d), 0), function, d)
    others = [misfit(s.sample(cloud(d), 0), function, d) for s in (ELM(width), MultiScale(width), SWIM(width))]
    assert mine < 0.5 * min(others)


@pytest.mark.filterwarnings("ignore:the network represents", "ignore:the basis does not resolve")
@pytest.mark.filterwarnings("ignore:the solution misses the condition")  # few neurons
def test_a_solve_with_orthogonal_neurons():
    """u_t = Δu with u = |x|² + 2d·t in six dimensions: no subspace, sixty neurons, which others need hundreds for."""
    d = 6
    squares = " + ".join(f"x{i + 1}^2" for i in range(d))
    exact = f"{squares} + {2 * d}*t"
    problem = fp.Problem("u_t = lap(u)", fp.Box([-1] * d, [1] * d), (0, 0.2), squares, f"u = {exact}", exact=exact)
    mine = fp.solve(problem, settings=fp.Settings(sampler=Orthogonal(10 * d, scale=(0.02, 0.1))))
    assert mine.error()["rel_l2"] < 1e-3
    other = fp.solve(problem, settings=fp.Settings(sampler=MultiScale(10 * d)))
    assert other.error()["rel_l2"] > 20 * mine.error()["rel_l2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width must be a positive whole number"),
        ({"width": 5, "scale": 0}, r"Orthogonal needs a positive scale or a range \(low, high\) of it, got 0"),
        ({"width": 5, "scale": (2, 1)}, r"got \(2, 1\)"),
        ({"width": 5, "scale": (1, 2, 3)}, "positive scale"),
        ({"width": 5, "scale": "x"}, "positive scale"),
        ({"width": 5, "scale": np.inf}, "positive scale"),
        ({"width": 5, "biases": -1}, "positive number for biases, got -1"),
        ({"width": 5, "biases": "x"}, "positive number for biases"),
    ],
)
def test_orthogonal_settings(options, message):
    with pytest.raises(fp.SettingsError, match=message):
        Orthogonal(**options)


# ---- projected pairs ------------------------------------------------------------------------------


@settings(max_examples=50)
@given(m=st.integers(1, 10), k=st.integers(1, 4), d=st.integers(1, 6), seed=st.integers(0, 9999))
def test_projection(m, k, d, seed):
    rng = np.random.default_rng(seed)
    vectors, directions = rng.normal(size=(m, d)), rng.normal(size=(m, k, d))
    result = project(vectors, directions)
    np.testing.assert_allclose(project(result, directions), result, atol=1e-10)  # a second time changes nothing
    rest = np.einsum("mkd,md->mk", directions, vectors - result)
    np.testing.assert_allclose(rest, 0.0, atol=1e-9)  # what is left is perpendicular to all directions
    if k >= d:
        np.testing.assert_allclose(result, vectors, atol=1e-7)


def test_parallel_gradients_span_a_line_and_none_span_nothing():
    vector = np.array([[1.0, 1.0, 1.0]])
    line = np.array([[[2.0, 0.0, 0.0], [1.0, 1e-12, 0.0]]])
    np.testing.assert_allclose(project(vector, line), [[1.0, 0.0, 0.0]], atol=1e-10)
    np.testing.assert_array_equal(project(vector, np.zeros((1, 2, 3))), [[0.0, 0.0, 0.0]])


def ridge(direction):
    return lambda x: np.cos(x @ direction)[:, None] * direction


def test_all_neurons_are_aligned_with_a_function_of_one_direction():
    direction = np.array([1.0, -2.0, 0.5, 0.0, 1.0])
    direction /= np.linalg.norm(direction)
    points = cloud(5)
    for gradient in (ridge(direction), ridge(direction)(points.x)):
        layer = ProjectedSWIM(300, gradient).sample(points, 0)
        off = layer.weights - np.outer(layer.weights @ direction, direction)
        assert np.max(np.linalg.norm(off, axis=1) / np.linalg.norm(layer.weights, axis=1)) < 1e-7
    assert np.ptp(layer.biases) > 0.5


def test_neurons_rise_between_the_points_of_the_projected_pair():
    direction = np.array([0.6, 0.8])
    points = cloud(2, 50)
    layer = ProjectedSWIM(40, ridge(direction)).sample(points, 1)
    start, length = layer.origins, 2 * HALF / np.linalg.norm(layer.weights, axis=1)
    end = start + layer.weights / np.linalg.norm(layer.weights, axis=1)[:, None] * length[:, None]
    np.testing.assert_allclose(np.tanh(np.diag(layer.pre_activation(start))), -0.5, atol=1e-12)
    np.testing.assert_allclose(np.tanh(np.diag(layer.pre_activation(end))), 0.5, atol=1e-12)
    known = {tuple(x) for x in points.x.round(12)}
    assert all(tuple(x) in known for x in start.round(12))
    distances = np.abs((points.x[:, None, :] - points.x[None, :, :]) @ direction)
    assert all(np.min(np.abs(distances - value)) < 1e-9 for value in length)  # of the projections of pairs


def test_gradients_that_turn_span_planes():
    """u = x₁·x₂ has gradients (x₂, x₁, 0, 0): neurons see these two coordinates and no others."""
    layer = ProjectedSWIM(200, lambda x: np.stack([x[:, 1], x[:, 0], 0 * x[:, 0], 0 * x[:, 0]], axis=1)).sample(
        cloud(4), 0
    )
    assert np.max(np.abs(layer.weights[:, 2:])) < 1e-9 * np.max(np.abs(layer.weights))
    assert np.linalg.matrix_rank(layer.weights[:, :2]) == 2


def test_several_fields_share_their_gradients():
    def gradients(x):
        zero = 0 * x[:, 0]
        return np.stack(
            [np.stack([np.cos(x[:, 0]), zero, zero], axis=1), np.stack([zero, np.cos(x[:, 1]), zero], axis=1)], axis=1
        )

    layer = ProjectedSWIM(100, gradients).sample(cloud(3), 0)
    assert np.max(np.abs(layer.weights[:, 2])) < 1e-12 * np.max(np.abs(layer.weights))
    assert np.all(np.linalg.norm(layer.weights[:, :2], axis=0) > 0)


def test_without_any_gradient_pairs_stay_as_they_are():
    points = cloud(3, 30)
    flat = ProjectedSWIM(50, np.zeros_like).sample(points, 4)
    none = ProjectedSWIM(50).sample(points, 4)
    np.testing.assert_array_equal(flat.weights, none.weights)
    assert np.linalg.matrix_rank(none.weights) == 3


def test_pairs_that_say_nothing_are_left_out():
    """Half of the points have no gradient at all; a pair of two of these is used only if it must be."""

    def gradient(x):
        return np.where(x[:, :1] > 0, np.array([[1.0, 0.0, 0.0]]), 0.0)

    layer = ProjectedSWIM(200, gradient).sample(cloud(3), 0)
    assert np.max(np.abs(layer.weights[:, 1:])) == 0.0


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (np.ones((7, 2)), r"gradients of shape \(7, 2\) for 20 points in 2 dimension\(s\); expected \(20, 2\)"),
        (np.ones(20), r"gradients of shape \(20,\)"),
        (lambda x: np.ones((len(x), 3)), r"gradients of shape \(20, 3\)"),
        (lambda x: np.full_like(x, np.nan), "a gradient that is not finite"),
    ],
)
def test_gradients_that_do_not_fit(gradient, message):
    with pytest.raises(fp.SettingsError, match=message):
        ProjectedSWIM(5, gradient).sample(cloud(2, 20), 0)


def test_one_point_makes_no_pair():
    with pytest.raises(fp.SettingsError, match="at least 2 points"):
        ProjectedSWIM(5).sample(cloud(2, 1), 0)


# ---- with a problem -------------------------------------------------------------------------------


def problem_5d():
    return fp.Problem("u_t = lap(u)", fp.Box([-1] * 5, [1] * 5), (0, 1), "sin(x1)*x2^3", "u = 0*x1 + sin(x1)*x2^3")


def test_gradients_of_the_initial_value():
    gradient = InitialGradient(problem_5d())
    x = fp.Box([-1] * 5, [1] * 5).sample(50, "random", 0).x
    x[0], x[1] = 1.0, -1.0  # at the corners differences stay inside
    exact = np.zeros((50, 1, 5))
    exact[:, 0, 0], exact[:, 0, 1] = np.cos(x[:, 0]) * x[:, 1] ** 3, 3 * np.sin(x[:, 0]) * x[:, 1] ** 2
    np.testing.assert_allclose(gradient(x), exact, atol=5e-6)


def test_only_samplers_that_ask_get_gradients():
    problem = problem_5d()
    for other in (SWIM(10), MultiScale(10), Orthogonal(10)):
        assert adapted(other, "oriented", InitialGradient(problem)) is other
    own = ProjectedSWIM(10, ridge(np.eye(5)[0]))
    assert adapted(own, "oriented", InitialGradient(problem)) is own
    filled = adapted(sampler_by_name("projected-swim", 10), "oriented", InitialGradient(problem))
    assert filled.width == 10
    layer = filled.sample(cloud(5), 0)
    assert np.max(np.abs(layer.weights[:, 2:])) < 1e-6 * np.max(np.abs(layer.weights))


@pytest.mark.filterwarnings("ignore:the network represents", "ignore:.*the basis does not resolve")
@pytest.mark.filterwarnings("ignore:the solution misses the condition")  # few neurons
def test_projected_pairs_in_a_solve():
    """Two of five coordinates matter: neurons that see only these are far more accurate."""
    exact = "sin(pi/2*x1)*cos(pi/2*x2)*exp(-pi^2/2*t)"
    box = fp.Box([-1] * 5, [1] * 5)
    problem = fp.Problem("u_t = lap(u)", box, (0, 0.2), "sin(pi/2*x1)*cos(pi/2*x2)", f"u = {exact}", exact=exact)
    projected = fp.solve(problem, settings=fp.Settings(sampler="projected-swim", width=150))
    assert projected.report.sampler == "projected-swim"
    weights = projected.system.spaces[0].network.hidden.weights
    assert np.max(np.abs(weights[:, 2:])) < 1e-6 * np.max(np.abs(weights))
    plain = fp.solve(problem, settings=fp.Settings(sampler="swim", width=150))
    assert projected.error()["rel_l2"] < 1e-4
    assert plain.error()["rel_l2"] > 100 * projected.error()["rel_l2"]
