"""The SVD layer: orthonormal values, an honest cut-off, the same result on both of its paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.basis import svd_layer
from frozenpinn.basis.samplers import Sines
from frozenpinn.basis.svd_layer import compress


def features(n, m, decay=1.0, seed=0):
    """A matrix with singular values 10^(−decay·k)."""
    rng = np.random.default_rng(seed)
    rank = min(n, m)
    left, right = (np.linalg.qr(rng.normal(size=(k, rank)))[0] for k in (n, m))
    return left * 10.0 ** (-decay * np.arange(rank)) @ right.T


@settings(max_examples=40)
@given(
    n=st.integers(1, 60),
    m=st.integers(1, 40),
    decay=st.floats(0.05, 1.5),
    cutoff=st.floats(1e-12, 1e-1),
    size=st.floats(1e-6, 1e6),
    seed=st.integers(0, 1000),
)
def test_any_features_become_orthonormal_above_the_cutoff(n, m, decay, cutoff, size, seed):
    matrix = size * features(n, m, decay, seed)
    svd = compress(matrix.copy(), cutoff)
    rank = len(svd.singular)
    np.testing.assert_allclose(svd.values.T @ svd.values, np.eye(rank), atol=1e-12)
    assert np.all(np.diff(svd.all_singular) <= 0)
    assert np.all(svd.singular > cutoff * svd.all_singular[0])
    assert np.all(svd.all_singular[rank:] <= cutoff * svd.all_singular[0])
    np.testing.assert_array_equal(svd.singular, svd.all_singular[:rank])
    np.testing.assert_allclose(matrix @ svd.mixing, svd.values, atol=1e-14 / cutoff + 1e-13)


@pytest.mark.parametrize(("n", "m"), [(40, 30), (200, 30), (30, 40), (36, 30)])
def test_singular_values_are_those_of_numpy(n, m):
    matrix = features(n, m, 0.3)
    expected = np.linalg.svd(matrix, compute_uv=False)
    np.testing.assert_allclose(compress(matrix.copy(), 1e-10).all_singular, expected, rtol=0, atol=1e-14)


def test_both_paths_agree():
    """Rows of zeros change nothing but lead past the QR factorisation's threshold."""
    square = features(30, 30, 0.4)
    direct = compress(square.copy(), 1e-8)
    by_qr = compress(np.vstack([square, np.zeros((30, 30))]), 1e-8)
    assert len(direct.singular) == len(by_qr.singular)
    np.testing.assert_allclose(by_qr.all_singular, direct.all_singular, atol=1e-14)
    np.testing.assert_allclose(by_qr.values[30:], 0, atol=1e-14)
    rows = by_qr.values[:30]
    np.testing.assert_allclose(rows @ rows.T, direct.values @ direct.values.T, atol=1e-7)
    signs = np.sign(np.sum(rows * direct.values, axis=0))
    scale = np.linalg.norm(direct.mixing, axis=0)
    np.testing.assert_allclose(by_qr.mixing * signs / scale, direct.mixing / scale, atol=1e-6)


def test_the_span_keeps_what_lies_above_the_cutoff():
    matrix = features(80, 30, 0.5)
    svd = compress(matrix.copy(), 1e-6)
    missing = matrix - svd.values @ (svd.values.T @ matrix)
    assert np.linalg.norm(missing, 2) <= 1e-6


@pytest.mark.parametrize("cutoff", [0, 1, -1e-3, 2.0, float("nan")])
def test_the_cutoff_lies_between_zero_and_one(cutoff):
    with pytest.raises(fp.SettingsError, match="the SVD cut-off must lie between 0 and 1, got "):
        compress(features(5, 5), cutoff)


def test_a_cutoff_that_is_no_number_is_a_settings_error():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 0, "u = 0")
    with pytest.raises(fp.SettingsError, match="cut"):
        fp.solve(problem, settings=fp.Settings(width=10, cutoff="fine"))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused(bad):
    matrix = features(5, 5)
    matrix[2, 3] = bad
    with pytest.raises(fp.SettingsError, match="values that are not finite; its weights are too large"):
        compress(matrix, 1e-8)


# ---- features that are orthogonal already ---------------------------------------------------------------


@settings(max_examples=30)
@given(m=st.integers(2, 12), more=st.integers(0, 10), seed=st.integers(0, 100), size=st.floats(1e-6, 1e6))
def test_orthogonal_features_are_scaled_and_keep_their_order(m, more, seed, size):
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(m + more, m)))[0]
    lengths = size * rng.choice([1.0, 0.5, 0.2], m)
    svd = compress(q * lengths, 1e-8)
    order = np.argsort(-lengths, kind="stable")
    np.testing.assert_allclose(svd.values, q[:, order], atol=1e-13)
    np.testing.assert_allclose(svd.singular, lengths[order], rtol=1e-13)
    np.testing.assert_array_equal(np.argmax(svd.mixing != 0, axis=0), order)  # one feature for each function …
    assert np.all(np.count_nonzero(svd.mixing, axis=0) == 1)  # … and no other
    np.testing.assert_allclose(q * lengths @ svd.mixing, svd.values, atol=1e-13)


@pytest.mark.parametrize("spoilt", ["nearly parallel", "of very different sizes", "nothing"])
def test_other_features_are_rotated(spoilt):
    q = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 4)))[0]
    if spoilt == "nearly parallel":
        q[:, 1] += 1e-6 * q[:, 2]
    elif spoilt == "of very different sizes":
        q[:, 1] *= 1e-3
    else:
        q[:, 1] = 0.0
    svd = compress(q.copy(), 1e-8)
    np.testing.assert_allclose(svd.singular, np.linalg.svd(q, compute_uv=False)[: len(svd.singular)], atol=1e-14)
    assert len(svd.singular) == (3 if spoilt == "nothing" else 4)


def test_waves_on_a_periodic_axis_stay_as_they_are():
    axis = fp.Interval(0, 2, periodic=True)
    points = axis.sample(30, "spectral")
    hidden = Sines(12, period=2.0).sample(points, 0)
    weighted = np.sqrt(points.weights)[:, None] * hidden.features(points.x)
    svd = compress(weighted.copy(), 1e-9)
    # the constant, whose feature is the last, and then from long waves to short ones
    np.testing.assert_array_equal(np.argmax(svd.mixing != 0, axis=0), [12, *range(12)])
    np.testing.assert_allclose(svd.singular, [np.sqrt(2.0), *[1.0] * 12], rtol=1e-12)


@pytest.mark.parametrize("twice", [False, True])
def test_a_matrix_on_which_the_fast_way_gives_up_has_a_pseudo_inverse(monkeypatch, twice):
    matrix = np.random.default_rng(0).normal(size=(30, 4)) @ np.random.default_rng(1).normal(size=(4, 9))
    usual, rank = svd_layer.pseudo_inverse(matrix, 1e-10)
    svd = svd_layer.sla.svd

    def gives_up(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    def slow(a, lapack_driver="gesdd", **options):
        return gives_up() if twice and lapack_driver == "gesdd" else svd(a, lapack_driver=lapack_driver, **options)

    monkeypatch.setattr(svd_layer.sla, "pinv", gives_up)
    monkeypatch.setattr(svd_layer.sla, "svd", slow)
    other, same = svd_layer.pseudo_inverse(matrix, 1e-10)
    assert rank == same == 4
    np.testing.assert_allclose(other, usual, atol=1e-13)
