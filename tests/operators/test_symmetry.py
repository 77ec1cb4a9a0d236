"""Symmetry that is found and kept, ranks that are stable, eigenvalues to the right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.state import StateLayout
from frozenpinn.evolution.stability import stable_cutoff
from frozenpinn.operators import Dense
from frozenpinn.operators.symmetry import keep_structure, spectral_abscissa

SIGNS = {"symmetric": 1, "skew-symmetric": -1}


def structured(kind, size=30, seed=0):
    matrix = np.random.default_rng(seed).normal(size=(size, size))
    return matrix + SIGNS[kind] * matrix.T


def noisy(matrix, singular, seed=1):
    """Add what round-off adds: an error of 1e-16/σⱼ in column j."""
    rng = np.random.default_rng(seed)
    return matrix + 1e-16 * np.linalg.norm(matrix) * rng.normal(size=matrix.shape) / singular


@pytest.mark.parametrize("kind", SIGNS)
@settings(max_examples=25)
@given(size=st.integers(2, 30), seed=st.integers(0, 10_000), decay=st.floats(0.0, 0.45))
def test_symmetry_is_found_and_made_exact(kind, size, seed, decay):
    exact, singular = structured(kind, size, seed), 10.0 ** (-decay * np.arange(size))
    result = keep_structure(noisy(exact, singular), singular)
    assert result.kind == kind
    np.testing.assert_array_equal(result.matrix, SIGNS[kind] * result.matrix.T)
    np.testing.assert_allclose(result.matrix, exact, atol=1e-13 * np.linalg.norm(exact) / singular[-1])


@pytest.mark.parametrize("kind", SIGNS)
def test_noise_of_the_trailing_columns_does_not_reach_the_others(kind):
    """Row i, column j of the result comes from whichever of i and j has the larger singular value."""
    exact, singular = structured(kind), 10.0 ** -np.linspace(0, 13, 30)
    spoiled = noisy(exact, singular)
    result = keep_structure(spoiled, singular).matrix
    error = np.abs(result - exact) / np.linalg.norm(exact)
    trusted = np.maximum.outer(singular, singular)
    assert np.all(error <= 1e-15 / trusted)
    averaged = np.abs((spoiled + SIGNS[kind] * spoiled.T) / 2 - exact) / np.linalg.norm(exact)
    assert averaged[0].max() > 1e6 * error[0].max()


def test_the_order_of_the_singular_values_does_not_matter():
    exact, singular = structured("symmetric"), 10.0 ** -np.linspace(0, 12, 30)
    shuffle = np.random.default_rng(2).permutation(30)
    spoiled = noisy(exact, singular)
    sorted_first = keep_structure(spoiled, singular).matrix[np.ix_(shuffle, shuffle)]
    shuffled_first = keep_structure(spoiled[np.ix_(shuffle, shuffle)], singular[shuffle]).matrix
    np.testing.assert_array_equal(sorted_first, shuffled_first)


@pytest.mark.parametrize(
    "matrix",
    [
        np.random.default_rng(0).normal(size=(12, 12)),
        structured("symmetric", 12) + 1e-6 * structured("skew-symmetric", 12),
        np.zeros((4, 4)),
        np.full((3, 3), np.nan),
    ],
    ids=["random", "almost symmetric", "zero", "not finite"],
)
def test_other_matrices_are_left_alone(matrix):
    result = keep_structure(matrix, np.ones(len(matrix)))
    assert result.kind == "general"
    assert result.matrix is matrix


@pytest.mark.parametrize(
    ("equation", "boundary", "kind"),
    [
        ("u_t = u_xx - 3*u", "u = 0", "symmetric"),
        ("u_t = dx((2 + sin(x))*u_x)", fp.Neumann(0), "symmetric"),
        ("u_t = -u_xxxx", ["u = 0", "u_xx = 0"], "symmetric"),
        ("u_t = 2*u_x", None, "skew-symmetric"),
        ("u_t = u_xxx + u_x", None, "skew-symmetric"),
        ("u_t = u_xx + u_x", None, "split"),
        ("u_t = u_xx + u_x", "u = 0", "split"),
        ("u_t = u_xx + u_x", fp.Neumann(0), "general"),
        ("u_t = x*u_xx", "u = 0", "general"),
        ("u_t = -u_x", {"left": "u = 0", "right": fp.Free()}, "general"),
    ],
)
def test_the_structure_of_equations_is_found(equation, boundary, kind):
    domain = fp.Interval(0, 2 * np.pi, periodic=boundary is None)
    problem = fp.Problem(equation, domain, (0, 1), 0, boundary)
    points = domain.sample(120)
    hidden = fp.samplers.MultiScale(60).sample(points, 0)
    system = fp.stages.discretise(problem, fp.stages.build_space(problem, hidden, points))
    assert system.linear.structure == kind
    if kind in SIGNS:
        position = system.linear.position.dense()
        np.testing.assert_array_equal(position, SIGNS[kind] * position.T)


# ---- spectra ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eigenvalues", [[-3.0, -1.0, 2.5], [-3.0, -2.0, -0.5], [0.0, 0.0, 0.0]])
def test_the_abscissa_is_the_largest_real_part(eigenvalues):
    basis = np.random.default_rng(0).normal(size=(3, 3))
    matrix = basis @ np.diag(eigenvalues) @ np.linalg.inv(basis)
    assert spectral_abscissa(matrix) == pytest.approx(max(eigenvalues), abs=1e-12)


def test_the_abscissa_ignores_imaginary_parts():
    assert spectral_abscissa(np.array([[-0.5, 40.0], [-40.0, -0.5]])) == pytest.approx(-0.5)
    assert spectral_abscissa(np.zeros((0, 0))) == 0.0


def growing_tail(rates, size=12):
    """Stable leading modes; modes with σ = 1e-9, 1e-10, … grow at the given rates."""
    singular = np.concatenate([np.linspace(1, 0.1, size), 10.0 ** -(9.5 + np.arange(len(rates)))])
    return np.diag(np.concatenate([-np.arange(1.0, size + 1), rates])), singular


def first_order_part(matrix):
    return LinearPart(Dense(matrix), None, StateLayout((len(matrix),), (1,)))


CUTOFFS = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([-5, -5, -5], 1e-13),
        ([-5, -5, 50], 1e-11),
        ([-5, 50, -5], 1e-10),
        ([50, -5, -5], 1e-9),
        ([0.4, 0.4, 0.4], 1e-13),
    ],
)
def test_the_finest_cutoff_without_spurious_growth_is_taken(rates, expected):
    matrix, singular = growing_tail(rates)
    matrix_at = first_order_part(matrix).restricted
    assert stable_cutoff(matrix_at, singular, 2.0, CUTOFFS, 1e-8) == expected


def test_growth_of_the_equation_itself_is_allowed():
    matrix, singular = growing_tail([7.3, 7.3, 7.3])
    matrix[0, 0] = 7.0
    matrix_at = first_order_part(matrix).restricted
    assert stable_cutoff(matrix_at, singular, 2.0, CUTOFFS, 1e-8) == 1e-13
    assert stable_cutoff(matrix_at, singular, 20.0, CUTOFFS, 1e-8) == 1e-9


def test_if_nothing_is_stable_the_reference_is_taken():
    matrix, singular = growing_tail([50, 50, 50])
    matrix_at = first_order_part(matrix).restricted
    assert stable_cutoff(matrix_at, singular, 2.0, (1e-13, 1e-12), 1e-8) == 1e-8


def test_the_cutoff_of_an_advection_equation_with_inflow_is_stable():
    hill, boundary = "exp(-100*(x - 0.5)**2)", {"left": "u = 0", "right": fp.Free()}
    problem = fp.Problem("u_t = -u_x", fp.Interval(0, 1), (0, 5), hill, boundary)
    solution = fp.solve(problem, settings=fp.Settings(width=100))
    assert solution.system.linear.abscissa * 5 < 1.0
    assert np.abs(solution(np.linspace(0, 1, 20), 5.0)).max() < 1e-6  # everything has left the domain


# ---- first-order form -----------------------------------------------------------------------------


@pytest.mark.parametrize("second", [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]])
def test_the_first_order_form_carries_velocities(second):
    second = np.array(second, dtype=bool)
    rng = np.random.default_rng(0)
    count, moving = 3, int(second.sum())
    position, velocity = rng.normal(size=(count, count)), rng.normal(size=(count, moving))
    c, v = rng.normal(size=count), rng.normal(size=moving)
    highest = position @ c + velocity @ v
    expected_c = highest.copy()
    expected_c[second] = v
    layout = StateLayout((1, 1, 1), tuple(1 + second))
    found = layout.matrix(position, velocity) @ np.concatenate([c, v])
    np.testing.assert_allclose(found, np.concatenate([expected_c, highest[second]]), rtol=1e-14)


def test_a_restricted_matrix_is_that_of_the_kept_functions():
    rng = np.random.default_rng(0)
    layout = StateLayout((2, 3), (1, 2))
    position, velocity = rng.normal(size=(5, 5)), rng.normal(size=(5, 3))
    kept = np.array([1, 0, 1, 0, 1], dtype=bool)
    kept_layout = StateLayout((1, 2), (1, 2))
    expected = kept_layout.matrix(position[np.ix_(kept, kept)], velocity[np.ix_(kept, [True, False, True])])
    np.testing.assert_array_equal(LinearPart(Dense(position), Dense(velocity), layout).restricted(kept), expected)


@pytest.mark.parametrize(
    ("equation", "exact"),
    [
        ("u_t + 5*u_x = 0.05*u_xx", "exp(-0.05*t)*sin(x - 5*t)"),
        ("u_t + u_xxx = 0.01*u_xx", "exp(-0.01*t)*sin(x + t)"),
        ("u_t + 40*u_x = -0.01*u_xxxx - u", "exp(-1.01*t)*sin(x - 40*t)"),
    ],
)
def test_even_and_odd_derivatives_keep_their_own_structure(equation, exact):
    problem = fp.Problem(equation, fp.Interval(0, 2 * np.pi, periodic=True), (0, 1), "sin(x)", exact=exact)
    solution = fp.solve(problem)
    assert solution.system.linear.structure == "split"
    assert solution.integrator == "exact"
    assert solution.system.linear.abscissa < 1e-9
    assert solution.error()["rel_l2"] < 1e-9


def test_coefficients_in_space_spoil_the_split():
    problem = fp.Problem("u_t + sin(x)*u_x = 0.05*u_xx", fp.Interval(0, 2 * np.pi, periodic=True), (0, 1), "sin(x)")
    assert fp.solve(problem).system.linear.structure == "general"


def test_a_dispersive_dissipative_nonlinear_wave():
    problem = fp.Problem(
        "u_t + u*u_x + 0.01*u_xxx = 0.01*u_xx", fp.Interval(-1, 1, periodic=True), (0, 0.5), "cos(pi*x)"
    )
    solution = fp.solve(problem)
    assert solution.integrator == "exponential"
    assert fp.estimate_error(solution).error_estimate["u"] < 1e-6
