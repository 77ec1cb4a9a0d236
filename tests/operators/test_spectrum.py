"""Eigenvalues and eigenvectors, what is solved with them, and what is solved by iteration."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.errors import ConvergenceError, FrozenPinnError, IntegrationError, SettingsError
from frozenpinn.operators import (
    Dense,
    Diagonal,
    Identity,
    IterativeFactor,
    KroneckerSum,
    MatrixFree,
    Product,
    Selection,
    Sparse,
    Tag,
    as_linear_operator,
    detect,
    kronecker,
    protocol,
    symmetric_modes,
)
from frozenpinn.operators.factors import SpectralFactor

quick = settings(max_examples=25)
KINDS = {
    "symmetric": lambda a: a + a.T,
    "skew": lambda a: a - a.T,
    "general": lambda a: a + 3.0 * np.diag(np.arange(len(a))),
}


def reconstructs(operator, spectrum):
    matrix, vectors = operator.dense(), spectrum.vectors.dense()
    scale = max(1.0, np.abs(matrix).max()) * spectrum.condition
    np.testing.assert_allclose(vectors @ spectrum.left.dense(), np.eye(len(matrix)), atol=1e-12 * spectrum.condition)
    np.testing.assert_allclose((vectors * spectrum.eigenvalues) @ spectrum.left.dense(), matrix, atol=1e-12 * scale)
    np.testing.assert_allclose(spectrum.condition, np.linalg.cond(vectors), rtol=1e-6)
    x = np.arange(1.0, len(matrix) + 1)
    np.testing.assert_allclose(
        spectrum.apply(spectrum.eigenvalues**2, x), matrix @ (matrix @ x), atol=1e-10 * scale**2 * len(x)
    )


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(size=st.integers(1, 12), seed=st.integers(0, 10_000))
def test_a_dense_spectrum_reconstructs_the_operator(kind, size, seed):
    matrix = KINDS[kind](np.random.default_rng(seed).normal(size=(size, size)))
    operator = Dense(matrix, detect(matrix))
    spectrum = operator.spectrum()
    reconstructs(operator, spectrum)
    if kind != "general":
        assert spectrum.condition == 1.0
    if kind == "symmetric":
        assert np.isrealobj(spectrum.eigenvalues)
    if kind == "skew" and size > 1:
        assert np.all(spectrum.eigenvalues.real == 0.0)


def test_claimed_tags_decide_how_a_matrix_is_diagonalised():
    """LAPACK reads one triangle of a symmetric matrix: a wrong claim is seen, a missing one is not needed."""
    matrix = np.array([[1.0, 9.0], [2.0, 3.0]])
    lower = np.array([[1.0, 2.0], [2.0, 3.0]])
    claimed = Dense(matrix, frozenset({Tag.SYMMETRIC})).spectrum()
    np.testing.assert_allclose(claimed.eigenvalues, np.linalg.eigvalsh(lower))
    np.testing.assert_allclose(np.sort(Dense(matrix).spectrum().eigenvalues), np.sort(np.linalg.eigvals(matrix)))


def test_matrices_without_eigenvectors_have_no_spectrum():
    jordan = np.array([[2.0, 1.0], [0.0, 2.0]])
    assert Dense(jordan).spectrum() is None
    assert Dense(np.ones((2, 3))).spectrum() is None
    assert kronecker(jordan, Identity(2)).spectrum() is None
    assert Sparse(sp.eye_array(2)).spectrum() is None
    np.testing.assert_array_equal(Diagonal(np.array([3.0, 1.0])).spectrum().eigenvalues, [3.0, 1.0])


def stiff(size=12):
    """Return a symmetric matrix, graded as in a basis from smooth to rough functions, and its eigenvalues."""
    root = np.eye(size) + 0.2 * np.random.default_rng(3).normal(size=(size, size))
    grading = np.geomspace(1.0, 1e5, size)
    matrix = -grading[:, None] * (root @ root.T) * grading
    matrix = (matrix + matrix.T) / 2
    with mpmath.workdps(50):
        exact = mpmath.eigsy(mpmath.matrix(matrix.tolist()), eigvals_only=True)
    return matrix, np.sort(np.array([float(value) for value in exact]))


def test_a_rate_keeps_the_digits_of_small_eigenvalues():
    matrix, exact = stiff()
    operator = Dense(matrix, frozenset({Tag.SYMMETRIC}))
    accurate, plain = operator.spectrum(rate=1.0), operator.spectrum()
    np.testing.assert_allclose(np.sort(accurate.eigenvalues), exact, rtol=1e-10)
    assert np.max(np.abs(np.sort(plain.eigenvalues) / exact - 1)) > 1e-7
    np.testing.assert_array_equal(accurate.eigenvalues, symmetric_modes(matrix, 1.0)[0])
    vectors = accurate.vectors.dense()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-13)
    both = kronecker(matrix, Identity(12)) + kronecker(Identity(12), matrix)
    sums = np.sort(np.add.outer(exact, exact).ravel())
    np.testing.assert_allclose(np.sort(both.spectrum(rate=1.0).eigenvalues), sums, rtol=1e-10)
    assert np.max(np.abs(np.sort(both.spectrum().eigenvalues) / sums - 1)) > 1e-7


def test_a_rate_keeps_the_digits_of_large_eigenvalues():
    """They are small in the inverse, so that Rayleigh quotients are needed."""
    vectors, exact = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0], -np.geomspace(1e8, 1.0, 20)
    matrix = (vectors * exact) @ vectors.T
    operator = Dense((matrix + matrix.T) / 2, frozenset({Tag.SYMMETRIC}))
    np.testing.assert_allclose(np.sort(operator.spectrum(rate=1.0).eigenvalues)[:3], exact[:3], rtol=1e-12)


def test_a_growing_equation_is_diagonalised_as_well():
    """Eigenvalues to the right of every shift that is tried: the plain solver takes over."""
    matrix = np.diag([1e9, -1.0]) + 1e3 * np.array([[0.0, 1.0], [1.0, 0.0]])
    operator = Dense(matrix, frozenset({Tag.SYMMETRIC}))
    np.testing.assert_allclose(operator.spectrum(rate=1.0).eigenvalues, np.linalg.eigvalsh(matrix), rtol=1e-6)
    moderate = Dense(np.array([[30.0, 2.0], [2.0, -1.0]]), frozenset({Tag.SYMMETRIC}))
    reconstructs(moderate, moderate.spectrum(rate=1.0))


def kronecker_sum(rng, sizes, kind, selection=None):
    same = [Identity(n) for n in sizes]
    products = [Product(tuple(same), 0.7)]
    for axis, n in enumerate(sizes):
        for scale in (1.0, -0.3):
            factors = list(same)
            factors[axis] = KINDS[kind](rng.normal(size=(n, n)))
            products.append(Product(tuple(factors), scale))
    return KroneckerSum(tuple(products), selection, selection)


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(sizes=st.lists(st.integers(1, 5), min_size=2, max_size=3), shuffled=st.booleans(), seed=st.integers(0, 10_000))
def test_a_kronecker_sum_is_diagonalised_axis_by_axis(kind, sizes, shuffled, seed):
    rng, sizes = np.random.default_rng(seed), tuple(sizes)
    everything = np.stack(np.unravel_index(rng.permutation(int(np.prod(sizes))), sizes), axis=1)
    operator = kronecker_sum(rng, sizes, kind, Selection(everything, sizes) if shuffled else None)
    spectrum = operator.spectrum()
    reconstructs(operator, spectrum)
    assert isinstance(spectrum.vectors, KroneckerSum)
    for computed in spectrum.eigenvalues:  # each is one of the dense matrix
        gap = np.min(np.abs(np.linalg.eigvals(operator.dense()) - computed))
        assert gap < 1e-6 * max(1.0, np.abs(spectrum.eigenvalues).max())
    np.testing.assert_allclose(spectrum.eigenvalues.sum(), np.trace(operator.dense()), atol=1e-9)
    shift, block = 40.0, rng.normal(size=(operator.shape[0], 2))
    factor = operator.factorise(shift)
    assert isinstance(factor, SpectralFactor)
    found = factor.solve(block)
    assert np.isrealobj(found)
    np.testing.assert_allclose(shift * found - operator @ found, block, atol=1e-9)
    found = operator.factorise(1j * shift).solve(block)
    np.testing.assert_allclose(1j * shift * found - operator @ found, block, atol=1e-9)


def test_other_kronecker_sums_have_no_spectrum_but_factors():
    rng = np.random.default_rng(0)
    a, same = rng.normal(size=(4, 4)), Identity(4)
    some = Selection(np.argwhere(np.add.outer(np.arange(4), np.arange(4)) < 4), (4, 4))
    for operator in (
        kronecker(a, a),
        KroneckerSum((Product((a, same), 1.0, rng.normal(size=16)),)),
        KroneckerSum((Product((a, same), 1.0, None, rng.normal(size=16)),)),
        kronecker(a, same, rows=some, columns=some),
    ):
        assert operator.spectrum() is None
        b = rng.normal(size=operator.shape[0])
        x = operator.factorise(7.0).solve(b)
        np.testing.assert_allclose(7.0 * x - operator @ x, b, atol=1e-10)
    assert kronecker(rng.normal(size=(2, 3)), same).spectrum() is None


def test_badly_conditioned_eigenvectors_are_not_used_to_solve():
    nearly = np.array([[2.0, 1.0], [1e-15, 2.0]])
    operator = kronecker(nearly, Identity(3)) + kronecker(Identity(2), np.diag([1.0, 2.0, 3.0]))
    assert operator.spectrum().condition > 1e6
    factor = operator.factorise(0.5)
    assert not isinstance(factor, SpectralFactor)
    b = np.arange(1.0, 7.0)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(0.5 * np.eye(6) - operator.dense(), b), rtol=1e-13)


@pytest.mark.parametrize(
    "operator",
    [
        Dense(np.diag([1.0, 2.0])),
        Sparse(sp.diags_array([1.0, 2.0])),
        Diagonal(np.array([1.0, 2.0])),
        kronecker(np.diag([1.0, 2.0])),
        Diagonal(np.array([1.0, 2.0])) @ Identity(2),
    ],
    ids=["dense", "sparse", "diagonal", "kronecker", "composition"],
)
def test_a_shift_that_is_an_eigenvalue_is_refused(operator):
    with pytest.raises(SettingsError, match=r"2·I − A is singular: 2 is an eigenvalue of the operator; use another"):
        operator.factorise(2.0)
    np.testing.assert_allclose(operator.factorise(3.0).solve(np.ones(2)), [0.5, 1.0])


# ---- iteration ------------------------------------------------------------------------------------


def second_difference(x):
    out = -2.0 * x
    out[1:] += x[:-1]
    out[:-1] += x[1:]
    return 1e4 * out


LAPLACIAN = Sparse(1e4 * sp.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(400, 400)))


def test_gmres_that_does_not_converge_says_what_to_do():
    plain = MatrixFree(second_difference, second_difference, (400, 400), frozenset({Tag.SYMMETRIC}))
    b = np.random.default_rng(0).normal(size=400)
    with pytest.raises(
        ConvergenceError, match=r"400 unknowns.*20 × 50 iterations.*of b, not 1e-10.*preconditioner"
    ) as e:
        plain.factorise(1.0).solve(b)
    assert isinstance(e.value, FrozenPinnError)
    assert not isinstance(e.value, IntegrationError)


@pytest.mark.parametrize("shift", [1.0, 1.0 + 5.0j])
def test_a_preconditioner_makes_gmres_converge(shift):
    near = LAPLACIAN + -1.0 * Sparse(sp.diags_array(np.linspace(0.0, 3.0, 400)))
    operator = MatrixFree(second_difference, second_difference, (400, 400), preconditioner=near)
    b = np.random.default_rng(0).normal(size=(400, 2))
    for op in (operator, operator.T):
        x = op.factorise(shift).solve(b)
        np.testing.assert_allclose(x, LAPLACIAN.factorise(shift).solve(b), rtol=1e-6, atol=1e-9)


def test_the_transposed_operator_has_the_transposed_preconditioner():
    matrix = np.triu(np.ones((4, 4)))
    operator = MatrixFree(np.cumsum, None, (4, 4), preconditioner=Dense(matrix))
    turned = replace(operator, apply_transposed=np.flip).T
    np.testing.assert_array_equal(turned.preconditioner.dense(), matrix.T)


def test_operators_too_large_for_a_matrix_are_solved_by_iteration(monkeypatch):
    operator = Diagonal(np.linspace(1.0, 2.0, 30)) @ Identity(30)
    b = np.ones(30)
    assert not isinstance(operator.factorise(3.0), IterativeFactor)
    monkeypatch.setattr(protocol, "DENSE_LIMIT", 899)
    factor = operator.factorise(3.0)
    assert isinstance(factor, IterativeFactor)
    np.testing.assert_allclose(factor.solve(b), 1.0 / (3.0 - np.linspace(1.0, 2.0, 30)), rtol=1e-9)


def test_scipy_takes_any_operator():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(5, 5))
    operator = kronecker(a + a.T - 12.0 * np.eye(5), Identity(6)) + kronecker(Identity(5), np.diag(np.arange(6.0)))
    view, matrix, b = as_linear_operator(operator), operator.dense(), rng.normal(size=30)
    x, info = spla.gmres(view, b, rtol=1e-12, restart=30)
    assert info == 0
    np.testing.assert_allclose(x, np.linalg.solve(matrix, b), rtol=1e-8)
    largest = spla.eigs(view, k=1, which="LM", v0=np.ones(30), return_eigenvectors=False)[0]
    np.testing.assert_allclose(largest, np.linalg.eigvalsh(matrix)[0], rtol=1e-8)
    expected = spla.expm_multiply(0.1 * matrix, b)
    np.testing.assert_allclose(spla.expm_multiply(0.1 * view, b, traceA=0.1 * np.trace(matrix)), expected, rtol=1e-9)


def test_the_adjoint_of_a_complex_operator_is_conjugated():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))
    view, block = as_linear_operator(Dense(matrix)), rng.normal(size=(3, 2)) + 1j
    assert view.dtype == complex
    np.testing.assert_allclose(view.H @ block, matrix.conj().T @ block)
    np.testing.assert_allclose(view.rmatvec(block[:, 0]), matrix.conj().T @ block[:, 0])
