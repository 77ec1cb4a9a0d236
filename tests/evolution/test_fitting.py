"""Slopes fitted to the data, boundary data in few shapes, ranges of wide layers."""

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn.assembly.boundary import BoundaryData, boundary_rows
from frozenpinn.basis import svd_layer
from frozenpinn.basis.svd_layer import compress, find_range
from frozenpinn.evolution import spaces
from frozenpinn.evolution.spaces import SCALES, fitted
from frozenpinn.language.separation import compiled, is_smooth, separate

T = sp.Symbol("t")


def problem_with(initial, d=5, domain=None, boundary="u = 0", **options):
    box = fp.Box([-1] * d, [1] * d) if domain is None else domain
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(fp.FrozenPinnWarning)
        return fp.Problem("u_t = lap(u)", box, (0, 1), initial, boundary, **options)


def chosen(problem, width=200):
    points = problem.domain.sample(4 * width, "sobol", 0)
    return fitted(problem, fp.samplers.Orthogonal(width), points, 0)


def held_out(problem, scale, antithetic, width=200):
    points = problem.domain.sample(4 * width, "sobol", 0)
    x, targets = spaces._targets(problem, points, width)
    layer = fp.samplers.Orthogonal(width, scale=scale, antithetic=antithetic).sample(points, 0)
    return spaces.held_out(layer.features(x), targets, 4 * len(x) // 5)


@pytest.mark.parametrize(
    ("initial", "boundary"),
    [
        ("cos((x1 + x2 + x3 + x4 + x5)/5)", "u = 0"),
        ("sin(2*x1 + x2)*cos(x3 - 2*x5)", "u = 0"),
        ("exp(-4*(x1**2 + x2**2))", "u = 0"),
        ("0", "u = t*sin(x1 - 2*x3)"),  # boundary data decide if nothing else does
    ],
)
def test_the_chosen_scale_fits_best(initial, boundary):
    problem = problem_with(initial, boundary=boundary)
    found = chosen(problem)
    best = held_out(problem, found.scale, found.antithetic)
    assert best <= 1.2 * min(held_out(problem, scale, True) for scale in SCALES)
    assert best < 0.9 * held_out(problem, 2.0, True)


def test_smooth_data_get_flat_neurons_and_rough_data_steep_ones():
    assert chosen(problem_with("cos((x1 + x2 + x3 + x4 + x5)/5)")).scale < 0.1
    assert chosen(problem_with("sin(2*x)*cos(2*y)", d=2), 400).scale > 0.1


def test_isotropic_data_get_antithetic_pairs():
    square = lambda points: np.sum(points**2, axis=1)  # noqa: E731
    ball = fp.Ball(dimension=40)
    found = chosen(problem_with(square, domain=ball, boundary="u = 1"), width=80)
    assert found.antithetic


def test_constant_data_say_nothing():
    problem = problem_with("3", boundary="u = 3")
    sampler = fp.samplers.Orthogonal(50)
    assert fitted(problem, sampler, problem.domain.sample(200, "sobol", 0), 0) is sampler


# ---- boundary data ----------------------------------------------------------------------------------


def data_of(text, **options):
    square = fp.Box([0, 0], [1, 1])
    problem = problem_with("0", domain=square, boundary=text, **options)
    return boundary_rows(problem, ("u",), 20).data()


def test_data_of_one_shape_become_one_number():
    data = data_of("u = sin(t)*exp(x + y)")
    few = data.compressed()
    assert (data.size, few.size) == (80, 1)
    for t in (0.1, 0.7):
        for order in (0, 1, 2):
            assert few.shapes @ few(t, order) == pytest.approx(data(t, order), rel=1e-12, abs=1e-12)


def test_a_travelling_wave_has_two_shapes():
    data = data_of("u = sin(3*x + y - 5*t)")
    few = data.compressed()
    assert few.size == 2
    assert few.shapes @ few(0.437) == pytest.approx(data(0.437), abs=1e-12)


def test_python_functions_are_compressed_too():
    data = data_of(fp.Dirichlet(lambda x, y, t: np.cos(x) * t**2 + y))
    few = data.compressed()
    assert few.size == 2
    assert few.shapes @ few(0.3) == pytest.approx(data(0.3), abs=1e-12)


def test_a_late_pulse_is_not_lost():
    """What snapshots miss, further times find; data that can't be compressed stay as they are."""
    data = data_of("u = exp(-((t - 0.5771)/0.002)**2)*x + t*y")
    few = data.compressed()
    assert few.shapes is None or few.shapes @ few(0.5771) == pytest.approx(data(0.5771), abs=1e-10)


def test_few_data_are_left_alone():
    data = BoundaryData(2, (0.0, 1.0))
    assert data.compressed() is data


def test_separable_data_at_many_times():
    data = data_of("u = sin(t)*exp(x + y) + x")
    assert data.is_separable
    times = np.linspace(0, 1, 5)
    for order in (0, 1, 2):
        assert data.batch(times, order) == pytest.approx(np.array([data(t, order) for t in times]), abs=1e-13)
    assert not data_of("u = sin(x - t)").is_separable
    assert not data_of("u = x*abs(t - 0.5)").is_separable, "has a corner: differentiated elsewhere, with a message"


def test_separation():
    x = sp.Symbol("x")
    constant, shapes, histories, rest = separate(x + 2 * sp.sin(T) * x**2 + sp.exp(x * T), T)
    assert (constant, shapes, histories, rest) == (x, (2 * x**2,), (sp.sin(T),), sp.exp(x * T))
    assert compiled((sp.sin(T),), T, 1)(0.3)[0] == pytest.approx(np.cos(0.3))
    assert is_smooth(sp.exp(T))
    assert not is_smooth(sp.Abs(T))


# ---- wide layers --------------------------------------------------------------------------------------


def wide_features(scale, width=900, d=3):
    points = fp.Box([-1] * d, [1] * d).sample(2 * width, "latin-hypercube", 0)
    return fp.samplers.ELM(width, scale=scale).sample(points, 0).features(points.x) / np.sqrt(2 * width)


def test_the_randomised_range_gives_the_same_basis(monkeypatch):
    features = wide_features(0.05)
    assert find_range(features) is not None, "few dimensions: it is used"
    quick = compress(features.copy(), 1e-10)
    monkeypatch.setattr(svd_layer, "LARGE", 10**9)
    exact = compress(features.copy(), 1e-10)
    assert len(quick.singular) == len(exact.singular) < 200
    assert quick.singular == pytest.approx(exact.singular, rel=1e-4)
    outside = exact.values - quick.values @ (quick.values.T @ exact.values)
    errors = np.linalg.norm(outside, axis=0) * exact.singular / exact.singular[0]
    assert np.max(errors) < 1e-14, "what is missed is round-off of the features"
    assert quick.values.T @ quick.values == pytest.approx(np.eye(len(quick.singular)), abs=1e-12)


def test_many_dimensions_are_not_forced_into_few():
    assert find_range(wide_features(1.0, d=8)) is None
