"""Diagonalising axis by axis: V·diag(λ)·V⁻¹ plus what is left over is the operator, in every case."""

from functools import reduce

import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.state import StateLayout
from frozenpinn.integrators.decomposition import axis_modes, decompose
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring, is_sum_over_axes
from frozenpinn.operators import Block, Dense, Identity, KroneckerSum, Sum, kronecker

quick = settings(max_examples=25)
RNG = np.random.default_rng(0)


def linear_part(*table, order=1):
    """A linear part of given blocks."""
    rows = [list(row) for row in table]
    position = rows[0][0] if len(rows) == 1 else Block(tuple(map(tuple, rows)))
    sizes = tuple(row[i].shape[0] for i, row in enumerate(rows))
    return LinearPart(position, None, StateLayout(sizes, (order,) * len(sizes)))


def symmetric(n, rng=RNG):
    matrix = rng.normal(size=(n, n))
    return -(matrix @ matrix.T) - np.eye(n)


def skew(n, rng=RNG):
    matrix = rng.normal(size=(n, n))
    return matrix - matrix.T


def axis_sum(*matrices):
    """Σ I ⊗ … ⊗ Aₐ ⊗ … ⊗ I."""
    total = None
    for axis, matrix in enumerate(matrices):
        own = kronecker(*(matrix if k == axis else Identity(len(m)) for k, m in enumerate(matrices)))
        total = own if total is None else total + own
    return total


def put_together(modes):
    """V·diag(λ)·V⁻¹ + rest, written out; of pairs of conjugate modes one is there, and states are real parts."""
    vectors, left = modes.vectors.dense(), modes.left.dense()
    whole = np.real((vectors * modes.eigenvalues) @ left)
    return whole if modes.rest is None else whole + modes.rest.dense()


def agree(found, expected, digits=1e-10):
    np.testing.assert_allclose(found, expected, rtol=0, atol=digits * np.abs(expected).max())


def is_the_operator(modes, linear, digits=1e-10):
    agree(put_together(modes), linear.position.dense(), digits)
    agree(np.real((modes.vectors @ modes.left).dense()), np.eye(linear.position.shape[0]), digits)


# ---- sums over axes -----------------------------------------------------------------------------------


@quick
@given(sizes=st.lists(st.integers(1, 5), min_size=2, max_size=3), seed=st.integers(0, 100), shift=st.floats(-5, 5))
def test_symmetric_sums_are_diagonalised_completely(sizes, seed, shift):
    rng = np.random.default_rng(seed)
    operator = axis_sum(*(symmetric(n, rng) for n in sizes)) + shift * kronecker(*(Identity(n) for n in sizes))
    linear = linear_part([operator])
    modes = axis_modes(linear, True, 1.0)
    assert modes.rest is None
    assert np.isrealobj(modes.eigenvalues)
    is_the_operator(modes, linear)
    np.testing.assert_allclose(
        np.sort(modes.eigenvalues), sla.eigvalsh(operator.dense()), atol=1e-9 * np.abs(operator.dense()).max()
    )


@pytest.mark.parametrize("complete", [True, False])
def test_skew_sums_have_imaginary_eigenvalues(complete):
    linear = linear_part([axis_sum(skew(4), skew(5))])
    modes = axis_modes(linear, complete, 1.0)
    assert modes.rest is None
    assert np.all(modes.eigenvalues.real == 0)
    is_the_operator(modes, linear)


def test_drift_and_diffusion_of_one_axis_have_common_modes():
    drift = axis_sum(symmetric(4), symmetric(5)) + 0.5 * kronecker(skew(4), Identity(5))
    linear = linear_part([drift])
    modes = axis_modes(linear, True, 1.0)
    assert modes is not None
    assert modes.rest is None
    is_the_operator(modes, linear)


def test_a_drift_whose_modes_would_be_complex_is_left_over_in_steps():
    weak = skew(4)
    weak *= 30 / np.linalg.norm(weak)
    still = axis_sum(np.diag([-20.0, -20.0, -40.0, -40.0]), symmetric(3))
    linear = linear_part([still + kronecker(weak, Identity(3))])
    modes = axis_modes(linear, False, 1.0)
    assert np.isrealobj(modes.eigenvalues)
    agree(modes.rest.dense(), np.kron(weak, np.eye(3)))
    is_the_operator(modes, linear)


def test_eigenvectors_that_are_nearly_parallel_are_not_used():
    jordan = np.diag(np.full(5, -1.0)) + np.diag(np.full(4, 1.0), 1)
    linear = linear_part([axis_sum(jordan, symmetric(3))])
    assert axis_modes(linear, True, 1.0) is None
    modes = axis_modes(linear, False, 1.0)
    agree(modes.rest.dense(), np.kron(jordan + np.eye(5), np.eye(3)))  # its diagonal joins the modes
    is_the_operator(modes, linear)


# ---- products over axes ---------------------------------------------------------------------------------


def test_products_that_are_diagonal_in_the_modes_join_them():
    """As in Δ² where conditions allow it: A² ⊗ I + 2 A ⊗ B + I ⊗ B²."""
    a, b = symmetric(4), symmetric(5)
    squares = axis_sum(*(-(m @ m + (m @ m).T) / 2 for m in (a, b)))
    linear = linear_part([squares + (-2.0) * kronecker(a, b)])
    for complete in (True, False):
        modes = axis_modes(linear, complete, 1.0)
        assert modes.rest is None
        is_the_operator(modes, linear, 1e-8)


def test_other_products_are_left_over_but_for_their_diagonal():
    a, b = symmetric(4), symmetric(5)
    other = kronecker(np.diag([1.0, 2.0, 3.0, 4.0]), symmetric(5))
    linear = linear_part([axis_sum(a, b) + other])
    assert axis_modes(linear, True, 1.0) is None
    modes = axis_modes(linear, False, 1.0)
    assert modes.rest is not None
    is_the_operator(modes, linear)
    in_modes = (modes.left @ modes.rest @ modes.vectors).dense()
    assert np.max(np.abs(np.diag(in_modes))) < 1e-10 * np.max(np.abs(modes.eigenvalues))


def test_a_product_stands_for_an_axis_that_has_nothing_of_its_own():
    """As in (1 + x²) u_yy beside u_xx: the mean of the coefficient times u_yy is diagonalised."""
    b = symmetric(5)
    slowly = kronecker(np.diag([1.0, 1.1, 1.2, 1.3]), b)
    linear = linear_part([kronecker(symmetric(4), Identity(5)) + slowly])
    modes = axis_modes(linear, False, 1.0)
    is_the_operator(modes, linear)
    assert np.linalg.norm(modes.rest.dense()) < 0.15 * np.linalg.norm(slowly.dense())


def test_what_is_no_sum_of_products_is_left_over():
    dense = Dense(RNG.normal(size=(12, 12)))
    whole = axis_sum(symmetric(3), symmetric(4)) + dense
    linear = linear_part([whole])
    assert axis_modes(linear, True, 1.0) is None
    modes = axis_modes(linear, False, 1.0)
    assert modes.rest is dense
    is_the_operator(modes, linear)


def test_multiples_of_sums_are_not_lost():
    """A multiple of a sum of operators of different kinds."""
    plain, dense = axis_sum(symmetric(3), symmetric(4)), Dense(RNG.normal(size=(12, 12)))
    for whole in (3.0 * (plain + dense), Sum((plain, dense), (2.0, -1.0)), plain + 2.0 * (plain + dense)):
        linear = linear_part([whole])
        is_the_operator(axis_modes(linear, False, 1.0), linear)


def test_operators_without_products_have_no_modes_by_axes():
    assert axis_modes(linear_part([Dense(np.eye(3))]), False, 1.0) is None


# ---- fields ---------------------------------------------------------------------------------------------


def test_fields_by_themselves():
    one, other = axis_sum(symmetric(3), symmetric(4)), axis_sum(symmetric(2), symmetric(5))
    linear = linear_part([one, None], [None, other])
    modes = axis_modes(linear, True, 1.0)
    assert modes.rest is None
    is_the_operator(modes, linear)


def test_a_weak_coupling_is_left_over():
    one, other = axis_sum(symmetric(3), symmetric(4)), axis_sum(symmetric(2), symmetric(5))
    coupling = kronecker(RNG.normal(size=(3, 2)), RNG.normal(size=(4, 5)))
    linear = linear_part([one, coupling], [None, other])
    assert axis_modes(linear, True, 1.0) is None
    modes = axis_modes(linear, False, 1.0)
    assert modes.rest.rows[0][1] is coupling
    is_the_operator(modes, linear)


@pytest.mark.parametrize("complete", [True, False])
def test_fields_that_are_coupled_by_common_operators(complete):
    """As in i ψₜ = −Δψ + ψ for real and imaginary part."""
    laplacian = axis_sum(symmetric(3), symmetric(4))
    constant = kronecker(Identity(3), Identity(4))
    linear = linear_part([0.0 * constant, (-1.0) * laplacian + constant],
                         [laplacian + (-1.0) * constant, 0.0 * constant])  # fmt: skip
    modes = axis_modes(linear, complete, 1.0)
    assert modes.rest is None
    is_the_operator(modes, linear)
    assert np.max(np.abs(modes.eigenvalues.real)) < 1e-10 * np.max(np.abs(modes.eigenvalues))


def test_coupled_fields_with_a_rest():
    laplacian = axis_sum(symmetric(3), symmetric(4))
    potential = kronecker(np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 2.0, 3.0, 5.0]))
    nothing = 0.0 * kronecker(Identity(3), Identity(4))
    linear = linear_part([nothing, (-1.0) * laplacian + potential], [laplacian + (-1.0) * potential, nothing])
    assert axis_modes(linear, True, 1.0) is None
    modes = axis_modes(linear, False, 1.0)
    is_the_operator(modes, linear)
    assert modes.rest is not None


def test_coupled_fields_with_other_modes_or_of_second_order_have_none():
    one, other = axis_sum(symmetric(3), symmetric(4)), axis_sum(symmetric(3), symmetric(4))
    weak = 1e-3 * kronecker(Identity(3), Identity(4))
    assert axis_modes(linear_part([weak, one], [other, weak]), False, 1.0) is None
    assert axis_modes(linear_part([weak, one], [one, weak], order=2), False, 1.0) is None


# ---- of problems ------------------------------------------------------------------------------------------

SQUARE, TORUS = fp.Box([0, 0], [1, 1]), fp.Box([0, 0], [2 * np.pi, 1], periodic=True)
HINGED = {s: ["u = 0", f"u_{'xx' if s in ('left', 'right') else 'yy'} = 0"] for s in ("left", "right", "bottom", "top")}
CLAMPED = {s: ["u = 0", f"u_{'x' if s in ('left', 'right') else 'y'} = 0"] for s in ("left", "right", "bottom", "top")}
EQUATIONS = {  # equation, domain, conditions, whether there is a complete decomposition
    "heat": ("u_t = lap(u)", SQUARE, "u = 0", True),
    "drift": ("u_t = 0.1*lap(u) - u_x", TORUS, None, True),
    "transport": ("u_t = u_x - 2*u_y", TORUS, None, True),
    "coefficients of one axis": ("u_t = dx((1 + x)*u_x) + u_yy + sin(y)*u", SQUARE, fp.Neumann(0), True),
    "a separable coefficient": ("u_t = lap(u) + x*y*u", SQUARE, "u = 0", False),
    "mixed derivative": ("u_t = lap(u) + u_xy", SQUARE, "u = 0", False),
    "mixed derivative on a torus": ("u_t = lap(u) + 0.2*u_xy", TORUS, None, True),
    "coefficient of both": ("u_t = (1 + exp(x*y))*lap(u)", SQUARE, "u = 0", False),
    "biharmonic on a torus": ("u_t = -lap(lap(u)) - lap(u)", TORUS, None, True),
    "hinged plate": ("u_t = -lap(lap(u))", SQUARE, HINGED, None),
    "clamped plate": ("u_t = -lap(lap(u))", SQUARE, CLAMPED, False),
}


def system_of(equation, domain, boundary, width=8, **options):
    problem = fp.Problem(equation, domain, (0, 0.01), 0, boundary, **options)
    solution = fp.solve(problem, settings=fp.Settings(width=width, cutoff=1e-6, subspace=None, integrator="dop853"))
    return solution.system


@pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")
@pytest.mark.parametrize("name", EQUATIONS)
def test_equations_and_their_rest(name):
    equation, domain, boundary, expected = EQUATIONS[name]
    linear = system_of(equation, domain, boundary).linear
    modes = axis_modes(linear, True, 100.0)
    assert expected is None or (modes is not None) == expected
    if modes is not None:
        assert modes.rest is None
        is_the_operator(modes, linear, 1e-8)
    modes = axis_modes(linear, False, 100.0)
    is_the_operator(modes, linear, 1e-8)


def factors_of(modes):
    return modes.vectors.products[0].factors


def test_axes_that_are_alike_are_diagonalised_once():
    alike = axis_modes(system_of("u_t = 3*lap(u) - u", SQUARE, "u = 0").linear, True, 100.0)
    assert factors_of(alike)[0] is factors_of(alike)[1]
    for equation in ("u_t = u_xx + 2*u_yy", "u_t = lap(u) + 0.1*u_x"):
        linear = system_of(equation, SQUARE, "u = 0").linear
        modes = axis_modes(linear, True, 100.0)
        assert factors_of(modes)[0] is not factors_of(modes)[1]
        is_the_operator(modes, linear, 1e-8)


def test_waves_have_the_modes_of_their_positions():
    system = system_of("u_tt = lap(u) - 3*u_t", SQUARE, "u = 0", initial_velocity=0)
    parts = decompose(system)
    assert parts.modes.order == 2
    assert parts.modes.damping == -3.0
    agree((parts.vectors.dense() * parts.modes.eigenvalues) @ parts.left.dense(), system.linear.position.dense(), 1e-9)
    varying = system_of("u_tt = lap(u) - x*u_t", SQUARE, "u = 0", initial_velocity=0)
    assert decompose(varying) is None
    drifting = system_of("u_tt = lap(u) - 50*u_x", TORUS, None, initial_velocity=0)
    assert decompose(drifting) is None  # whose modes are complex


# ---- exponentials axis by axis ------------------------------------------------------------------------


@quick
@given(sizes=st.lists(st.integers(1, 4), min_size=2, max_size=3), seed=st.integers(0, 100), start=st.floats(-2, 2))
def test_exponentials_of_axes_are_the_exponential_of_the_whole(sizes, seed, start):
    rng = np.random.default_rng(seed)
    matrices = tuple(rng.normal(size=(n, n)) - np.eye(n) for n in sizes)
    state = rng.normal(size=int(np.prod(sizes)))
    powers = ScalingAndSquaring(start, start + 1.5, matrices, state, len(state))
    whole = sum(
        reduce(np.kron, [m if k == axis else np.eye(len(own)) for k, own in enumerate(matrices)])
        for axis, m in enumerate(matrices)
    )
    times = start + np.array([0.0, 0.013, 0.7, 1.5])
    expected = np.array([sla.expm(whole * (t - start)) @ state for t in times])
    agree(powers(times), expected)
    agree(powers.rates(times), expected @ whole.T)
    back = ScalingAndSquaring.from_arrays(powers.arrays())
    np.testing.assert_array_equal(back(times), powers(times))


def test_states_are_carried_some_times_at_a_time(monkeypatch):
    powers = ScalingAndSquaring(0.0, 1.0, (symmetric(3), skew(4)), RNG.normal(size=12), 12)
    times = np.linspace(0, 1, 11)
    whole = powers(times)
    monkeypatch.setattr("frozenpinn.integrators.scaling_and_squaring._HELD", 30)
    agree(powers(times), whole, 1e-14)


@pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")
def test_only_sums_without_forcing_are_carried_axis_by_axis():
    plain = system_of("u_t = 0.01*lap(u) - 3*u_x", SQUARE, "u = 0")
    assert is_sum_over_axes(plain)
    assert len(ScalingAndSquaring.of(plain).matrices) == 2
    for equation, boundary in (
        ("u_t = 0.01*lap(u) + 1", "u = 0"),
        ("u_t = 0.01*lap(u)", "u = 1"),
        ("u_t = lap(u) + u_xy", "u = 0"),
        ("u_t = lap(u) - u**3", "u = 0"),
    ):
        assert not is_sum_over_axes(system_of(equation, SQUARE, boundary))
    assert not is_sum_over_axes(system_of("u_tt = lap(u)", SQUARE, "u = 0", initial_velocity=0))


def test_the_sum_of_all_kinds_is_still_the_operator():
    operator = axis_sum(symmetric(3), skew(4)) + kronecker(symmetric(3), skew(4)) + kronecker(skew(3), skew(4))
    assert isinstance(operator, KroneckerSum)
    linear = linear_part([operator])
    is_the_operator(axis_modes(linear, False, 1.0), linear)
