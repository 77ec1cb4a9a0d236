"""Boundary layers: every coefficient vector obeys the rows, the lifting reproduces the data."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.assembly.boundary import boundary_rows
from frozenpinn.assembly.products import build_product_spaces
from frozenpinn.basis.boundary_layer import (
    Functional,
    NullSpace,
    TruncatedNullSpace,
    Unconstrained,
    boundary_layer,
)
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.network import Network

LAYERS = [NullSpace, TruncatedNullSpace]


def random_rows(count, size, seed=0):
    """Rows of very different length, as u, u_x and u_xxxx have them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, size)) * 10.0 ** rng.uniform(-3, 6, (count, 1))


# ---- linear algebra -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LAYERS)
@settings(max_examples=25)
@given(count=st.integers(1, 10), extra=st.integers(1, 60), seed=st.integers(0, 10_000))
def test_any_coefficients_obey_the_rows(kind, count, extra, seed):
    rows = random_rows(count, count + extra, seed)
    layer = kind(rows)
    assert layer.reduced == extra
    coefficients = np.random.default_rng(seed + 1).normal(size=(layer.reduced, 3))
    raw = layer.expand(coefficients)
    size = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(raw, axis=0)
    assert np.all(np.abs(rows @ raw) <= 1e-10 * size)


@pytest.mark.parametrize("kind", LAYERS)
@settings(max_examples=25)
@given(count=st.integers(1, 10), extra=st.integers(1, 60), seed=st.integers(0, 10_000))
def test_the_lifting_reproduces_the_data(kind, count, extra, seed):
    rows = random_rows(count, count + extra, seed)
    length = np.linalg.norm(rows, axis=1)
    assume(np.linalg.cond(rows / length[:, None]) < 1e4)
    data = length * np.random.default_rng(seed + 1).normal(size=count)
    layer = kind(rows)
    np.testing.assert_allclose(rows @ (layer.lifting @ data) / length, data / length, rtol=0, atol=1e-10)
    assert np.abs(layer.restrict(layer.lifting.T.copy())).max() <= 1e-10 * np.abs(layer.lifting).max()


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize(("count", "size"), [(1, 2), (4, 41), (16, 80)])
def test_the_layer_has_orthonormal_columns(kind, count, size):
    layer = kind(random_rows(count, size))
    matrix = layer.expand(np.eye(layer.reduced))
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(layer.reduced), atol=1e-13)
    features = np.random.default_rng(1).normal(size=(7, size))
    np.testing.assert_allclose(layer.restrict(features.copy()), features @ matrix, atol=1e-12)


def test_both_layers_span_the_same_space():
    rows = random_rows(5, 30)
    exact, truncated = (kind(rows) for kind in LAYERS)
    a, b = (layer.expand(np.eye(layer.reduced)) for layer in (exact, truncated))
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-12)
    np.testing.assert_allclose(exact.lifting, truncated.lifting, rtol=1e-9, atol=1e-12 * np.abs(exact.lifting).max())


def test_many_dependent_rows_cost_only_their_rank():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 25))
    layer = TruncatedNullSpace(rows)
    assert layer.reduced == 19
    assert np.abs(rows @ layer.expand(np.eye(19))).max() <= 1e-12 * np.abs(rows).max()
    data = rows @ rng.normal(size=25)  # data that the rows can take
    np.testing.assert_allclose(rows @ layer.lifting @ data, data, atol=1e-10 * np.abs(data).max())


def test_the_truncated_layer_violates_its_rows_by_at_most_the_cutoff():
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(n, 30)))[0] for n in (40, 50))
    rows = left * 10.0 ** -np.arange(30.0) @ right.T
    for cutoff in (1e-3, 1e-6, 1e-9):
        layer = TruncatedNullSpace(rows, cutoff)
        scaled = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        largest = np.linalg.norm(scaled, 2)
        assert np.linalg.norm(scaled @ layer.expand(np.eye(layer.reduced)), 2) <= cutoff * largest * (1 + 1e-6)
        assert 50 > layer.reduced >= 20


def test_zero_rows_of_a_truncated_layer_impose_nothing():
    rows = np.vstack([random_rows(2, 10), np.zeros((3, 10))])
    assert TruncatedNullSpace(rows).reduced == 8
    assert TruncatedNullSpace(np.zeros((3, 10))).reduced == 10


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (np.zeros((0, 9)), Unconstrained),
        (random_rows(4, 9), NullSpace),
        (random_rows(16, 40), NullSpace),
        (random_rows(17, 40), TruncatedNullSpace),
    ],
)
def test_the_layer_is_chosen_by_the_number_of_rows(rows, kind):
    assert type(boundary_layer(rows)) is kind


def test_without_rows_nothing_changes():
    layer, features = boundary_layer(np.zeros((0, 6))), np.arange(12.0).reshape(2, 6)
    assert layer.reduced == 6
    assert layer.lifting.shape == (6, 0)
    np.testing.assert_array_equal(layer.restrict(features), features)
    np.testing.assert_array_equal(layer.expand(features.T), features.T)


def test_rows_that_say_the_same_are_refused():
    rows = random_rows(3, 20)
    rows[2] = 2 * rows[0] - 1e3 * rows[1]
    with pytest.raises(fp.SettingsError, match="two boundary conditions at the same point say the same; remove one"):
        NullSpace(rows)


def test_a_row_of_zeros_is_refused():
    rows = random_rows(3, 20)
    rows[1] = 0
    with pytest.raises(fp.SettingsError, match="acts on none of the basis functions; use a wider network"):
        NullSpace(rows)


@pytest.mark.parametrize("count", [5, 8])
def test_more_rows_than_features_are_refused(count):
    message = rf"{count} boundary rows leave no basis function of 5 features free; use a wider network"
    with pytest.raises(fp.SettingsError, match=message):
        boundary_layer(random_rows(count, 5))


def test_dependent_conditions_of_a_problem_are_refused():
    """Whether the statement itself shows it, or only the rows on the features do."""

    def solve():
        conditions = ["u = 0", "u + u_x = 0", "u_x = 0"]
        return fp.solve(
            fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 0, conditions), settings=fp.Settings(width=20)
        )

    with pytest.raises(fp.FrozenPinnError, match=r"say the same|repeats a condition"):
        solve()


def test_functionals_of_two_fields_fill_their_own_blocks():
    points = fp.Interval(0, 1).sample(10)
    hidden = fp.samplers.MultiScale(6).sample(points, 0)
    end, value = np.array([[1.0]]), Derivative((0,))
    both = Functional(((end, (Term("u", value, 2.0), Term("v", Derivative((1,)), -3.0))),))
    rows = both.rows(hidden, ("u", "v")).reshape(2, hidden.size)
    np.testing.assert_allclose(rows[0], 2 * hidden.features(end)[0], rtol=1e-14)
    np.testing.assert_allclose(rows[1], -3 * hidden.operator(end, [Term("u", Derivative((1,)))])[0], rtol=1e-14)


# ---- through the public interface --------------------------------------------------------------------

CONDITIONS = {
    "dirichlet": fp.Dirichlet(0),
    "neumann": fp.Neumann(0),
    "robin": fp.Robin(2, 0.5),
    "absorbing": "u_n + 3*u = 0",
    "bending": ["u = 0", "u_xx = 0"],
    "clamped": ["u = 0", "u_n = 0"],
    "free end": ["u_xx = 0", "u_xxx = 0"],
    "free": fp.Free(),
}
ends = st.sampled_from(sorted(CONDITIONS))
places = st.tuples(st.floats(-50, 50), st.floats(0.1, 100))


def worst_violation(network, functionals, inside, coefficients):
    """Largest |B u| at the ends, relative to the largest value of B's terms inside."""
    worst = 0.0
    for functional in functionals:
        residual = sum(network.operator(x, terms) @ coefficients for x, terms in functional.parts)
        everywhere = [
            np.ravel(term.coefficient)[0] * network.evaluate(inside, term.field, term.derivative) @ coefficients
            for _, terms in functional.parts
            for term in terms
        ]
        worst = max(worst, np.abs(residual).max() / max(np.abs(e).max() for e in everywhere))
    return worst


def interval_space(problem, width, cutoff, seed):
    points = problem.domain.sample(2 * width)
    hidden = fp.samplers.MultiScale(width).sample(points, seed)
    return fp.stages.build_space(problem, hidden, points, cutoff=cutoff)


@settings(max_examples=60)
@given(place=places, left=ends, right=ends, seed=st.integers(0, 1000), order=st.sampled_from([2, 4]))
def test_any_function_on_an_interval_obeys_the_conditions(place, left, right, seed, order):
    equation = {2: "u_t = u_xx", 4: "u_t = -u_xxxx"}[order]
    domain = fp.Interval(place[0], place[0] + place[1])
    boundary = {"left": CONDITIONS[left], "right": CONDITIONS[right]}
    problem = fp.Problem(equation, domain, (0, 1), 0, boundary)
    network = interval_space(problem, 40, 1e-4, seed).network
    coefficients = np.random.default_rng(seed).normal(size=network.size)
    inside = domain.sample(101, "uniform").x
    assert worst_violation(network, boundary_rows(problem, ("u",)).functionals, inside, coefficients) <= 1e-10


@settings(max_examples=20)
@given(place=places, seed=st.integers(0, 1000), order=st.sampled_from([1, 2, 3, 4]))
def test_any_function_on_a_periodic_interval_is_periodic(place, seed, order):
    domain = fp.Interval(place[0], place[0] + place[1], periodic=True)
    problem = fp.Problem(f"u_t = u_{'x' * order}", domain, (0, 1), 0)
    network = interval_space(problem, 40, 1e-4, seed).network
    coefficients = np.random.default_rng(seed).normal(size=network.size)
    functionals = boundary_rows(problem, ("u",)).functionals
    assert len(functionals) == max(2, order)
    assert worst_violation(network, functionals, domain.sample(101, "uniform").x, coefficients) <= 1e-10


@pytest.mark.parametrize("boundary", [fp.Dirichlet(0), fp.Neumann(0), ["u = 0", "u_xx = 0"]], ids=str)
@pytest.mark.parametrize("cutoff", [1e-4, 1e-7, 1e-10, 1e-13])
def test_the_conditions_hold_to_round_off_divided_by_the_cutoff(boundary, cutoff):
    """Functions with a small singular value are differences of large numbers: ε/cutoff is what is left."""
    problem = fp.Problem("u_t = -u_xxxx", fp.Interval(-1, 2), (0, 1), 0, boundary)
    network = interval_space(problem, 60, cutoff, 0).network
    coefficients = np.random.default_rng(0).normal(size=network.size)
    inside, functionals = problem.domain.sample(101, "uniform").x, boundary_rows(problem, ("u",)).functionals
    assert worst_violation(network, functionals, inside, coefficients) <= 4 * np.finfo(float).eps / cutoff


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "boundary",
    [
        fp.Dirichlet(0),
        {"left": fp.Dirichlet(0), "right": fp.Neumann(0), "bottom": fp.Robin(1, 2), "top": fp.Free()},
        {"left": ["u = 0", "u_xx = 0"], "right": fp.Dirichlet(0), "bottom": fp.Periodic(), "top": fp.Periodic()},
    ],
    ids=["dirichlet", "mixed", "half periodic"],
)
def test_any_function_on_a_box_obeys_the_conditions(boundary, seed):
    problem = fp.Problem("u_t = lap(u)", fp.Box([-1, 3], [2, 3.7]), (0, 1), 0, boundary)
    axes = [problem.domain.axis(i) for i in (0, 1)]
    layers = [fp.samplers.MultiScale(20).sample(axis.sample(30), seed + i) for i, axis in enumerate(axes)]
    network = build_product_spaces(problem, layers, problem.domain.sample([30, 30]), 1e-4)[0].network
    coefficients = np.random.default_rng(seed).normal(size=network.size)
    inside = problem.domain.sample([15, 15], "uniform").x
    functionals = boundary_rows(problem, ("u",), per_side=13).functionals
    assert len(functionals) >= 3
    assert worst_violation(network, functionals, inside, coefficients) <= 1e-10


def test_a_coupling_condition_binds_both_fields():
    """u = v at the left end and u_x + v_x = 0 at the right: one basis for the pair of fields."""
    problem = fp.Problem(
        ["u_t = u_xx", "v_t = 2*v_xx"],
        fp.Interval(0, 1),
        (0, 1),
        {"u": 0, "v": 0},
        {"left": ["u - v = 0", "u_x + 2*v_x = 0"], "right": [fp.Dirichlet(0)]},
    )
    points = problem.domain.sample(60)
    hidden = fp.samplers.MultiScale(30).sample(points, 0)
    network = fp.stages.build_space(problem, hidden, points, cutoff=1e-4).network
    assert isinstance(network, Network)
    functionals = boundary_rows(problem, ("u", "v")).functionals
    assert len(functionals) == 4
    coefficients = np.random.default_rng(0).normal(size=network.size)
    inside = problem.domain.sample(51, "uniform").x
    assert worst_violation(network, functionals, inside, coefficients) <= 1e-10


def test_many_points():
    """The work space of LAPACK grows with the points; that of a single row is not enough for 4193 of them."""
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.01), "sin(pi*x)", "u = 0")
    assert fp.solve(problem, settings=fp.Settings(width=60, points=9000))(0.5, 0.01) == pytest.approx(
        np.exp(-0.01 * np.pi**2), abs=1e-9
    )
