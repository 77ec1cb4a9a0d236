"""The network: orthonormal basis, truncation, projection, lifting, several fields."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.network import Network

VALUE, SLOPE = Derivative((0,)), Derivative((1,))
DOMAIN = fp.Interval(-1, 2)


def network(width=40, points=80, method="gauss", fields=("u",)):
    cloud = DOMAIN.sample(points, method, 0)
    return Network(fp.samplers.MultiScale(width).sample(cloud, 0), cloud, fields)


def at(x, *terms):
    return Functional(((np.array([[x]]), terms),))


ENDS = [at(-1.0, Term("u", VALUE)), at(2.0, Term("u", SLOPE, 2.0), Term("u", VALUE, -1.0))]


@pytest.mark.parametrize("method", ["gauss", "uniform", "random"])
@pytest.mark.parametrize("functionals", [[], ENDS], ids=["free", "bound"])
def test_the_basis_is_orthonormal_in_the_weighted_inner_product(method, functionals):
    net = network(method=method).comply_with(functionals).compress(1e-6)
    assert net.is_orthonormal
    basis = net.evaluate(net.points.x, "u", VALUE)
    np.testing.assert_allclose(basis.T @ (net.points.weights[:, None] * basis), np.eye(net.size), atol=1e-9)
    np.testing.assert_allclose(np.sqrt(net.points.weights)[:, None] * basis, net.values, atol=1e-9)


def test_with_gauss_points_the_basis_is_orthonormal_in_l2():
    net = network().comply_with(ENDS).compress(1e-6)
    fine = DOMAIN.sample(300)
    basis = net.evaluate(fine.x, "u", VALUE)
    np.testing.assert_allclose(basis.T @ (fine.weights[:, None] * basis), np.eye(net.size), atol=1e-9)


def test_finer_cutoffs_keep_more_functions():
    sizes = [network().compress(cutoff).size for cutoff in (1e-2, 1e-5, 1e-8, 1e-11)]
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("derivative", [SLOPE, Derivative((2,)), Derivative((3,))])
def test_derivatives_of_the_basis_agree_with_interpolation(derivative):
    """A Chebyshev interpolant of the basis, differentiated: an independent way to its derivatives."""
    net = network(20).comply_with(ENDS).compress(1e-4)
    basis = np.polynomial.chebyshev.Chebyshev
    nodes = np.polynomial.chebyshev.chebpts1(120) * 1.5 + 0.5
    table = net.evaluate(nodes[:, None], "u", VALUE)
    x = np.linspace(-0.9, 1.9, 23)
    found = net.evaluate(x[:, None], "u", derivative)
    for j in range(net.size):
        interpolant = basis.fit(nodes, table[:, j], 119, domain=[-1, 2])
        expected = interpolant.deriv(derivative.order)(x)
        np.testing.assert_allclose(found[:, j], expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("compressed", [False, True])
def test_the_lifting_reproduces_boundary_data(compressed):
    net = network().comply_with(ENDS)
    net = net.compress(1e-10) if compressed else net
    assert net.lift_size == 2
    for k, functional in enumerate(ENDS):
        row = sum(net.lift_operator(x, terms) for x, terms in functional.parts)[0]
        np.testing.assert_allclose(row, np.eye(2)[k], atol=1e-12)


@pytest.mark.parametrize("fields", [("u",), ("u", "v")])
def test_all_functions_are_those_of_the_basis_and_of_the_lifting(fields):
    basis = network(fields=fields).comply_with(ENDS).compress(1e-8)
    x, terms = np.linspace(0, 1, 7)[:, None], [Term("u", SLOPE, 2.0), Term("u", VALUE)]
    both = np.concatenate([basis.operator(x, terms), basis.lift_operator(x, terms)], axis=1)
    tolerance = 1e-9 * np.abs(both).max()  # raw coefficients reach 1/cutoff, and round-off with them
    np.testing.assert_allclose(basis.all_functions(x, terms), both, rtol=1e-10, atol=tolerance)


@pytest.mark.parametrize("count", [1, 5, 200])  # fewer and more than the basis functions
@pytest.mark.parametrize("fields", [("u",), ("u", "v")])
def test_functions_of_given_coefficients(count, fields):
    basis = network(fields=fields).comply_with(ENDS).compress(1e-8)
    rng = np.random.default_rng(0)
    c, data = rng.normal(size=(basis.size, count)), rng.normal(size=(basis.lift_size, count))
    x, terms = rng.random((30, 1)), [Term(fields[-1], SLOPE, 2.0), Term("u", VALUE, rng.random(30))]
    plain, lifted = basis.operator(x, terms) @ c, basis.lift_operator(x, terms) @ data
    scale = np.abs(plain).max()
    np.testing.assert_allclose(basis.combine(x, terms, c), plain, atol=1e-9 * scale)
    np.testing.assert_allclose(basis.combine(x, terms, c, data), plain + lifted, atol=1e-9 * scale)


@pytest.mark.parametrize("active", [(), (0,), (1,), (0, 1)])
def test_only_active_rows_are_lifted(active):
    everything, some = network().comply_with(ENDS), network().comply_with(ENDS, active)
    assert some.lift_size == len(active)
    np.testing.assert_array_equal(some.lifting, everything.lifting[:, :, list(active)])


def test_truncation_keeps_the_leading_functions():
    net = network().comply_with(ENDS).compress(1e-8)
    short = net.truncate(7)
    x = np.linspace(-1, 2, 9)[:, None]
    assert short.size == len(short.singular_values) == 7
    np.testing.assert_allclose(short.evaluate(x, "u", SLOPE), net.evaluate(x, "u", SLOPE)[:, :7], atol=1e-10)
    np.testing.assert_array_equal(short.singular_values, net.singular_values[:7])
    np.testing.assert_array_equal(short.projector().dense(), net.projector().dense()[:7])
    np.testing.assert_array_equal(short.lifting, net.lifting)
    assert net.truncate(net.size) is net
    assert net.truncate(10_000) is net


@pytest.mark.parametrize("functionals", [[], ENDS], ids=["free", "bound"])
@pytest.mark.parametrize("cutoff", [1e-4, 1e-7])
def test_the_projector_inverts_evaluation(functionals, cutoff):
    net = network().comply_with(functionals).compress(cutoff)
    identity = net.projector() @ net.evaluate(net.points.x, "u", VALUE)
    np.testing.assert_allclose(identity, np.eye(net.size), atol=1e-14 / cutoff)


def test_the_projection_is_the_best_approximation():
    net = network().compress(1e-6)
    target = np.exp(np.sin(net.points.x[:, 0]))
    residual = target - net.evaluate(net.points.x, "u", VALUE) @ (net.projector() @ target)
    assert np.abs(net.projector() @ residual).max() < 1e-9
    assert np.linalg.norm(residual) < 1e-5 * np.linalg.norm(target)


@pytest.mark.parametrize("method", ["gauss", "random"])
def test_without_an_svd_layer_the_projector_is_the_weighted_pseudo_inverse(method):
    """Penrose's four conditions, in the inner product of the quadrature weights."""
    net = network(8, 60, method).comply_with(ENDS)
    assert not net.is_orthonormal
    root = np.sqrt(net.points.weights)[:, None]
    features, inverse = root * net.evaluate(net.points.x, "u", VALUE), net.projector().dense() / root.T
    size = np.linalg.norm(inverse)
    np.testing.assert_allclose(features @ inverse @ features, features, atol=1e-14 * size)
    np.testing.assert_allclose(inverse @ features @ inverse, inverse, atol=1e-14 * size**2)
    np.testing.assert_allclose(features @ inverse, (features @ inverse).T, atol=1e-14 * size)
    np.testing.assert_allclose(inverse @ features, (inverse @ features).T, atol=1e-14 * size)


def test_a_coarse_rcond_gives_smaller_coefficients():
    net = network(30, 60)
    target = np.exp(-10 * net.points.x[:, 0] ** 2)
    fine, coarse = (np.linalg.norm(net.projector(rcond) @ target) for rcond in (1e-12, 1e-3))
    assert coarse < 1e-2 * fine


def test_an_rcond_that_leaves_nothing_is_refused():
    with pytest.raises(fp.SettingsError, match=r"rcond=1 leaves nothing of the basis; use a smaller value\."):
        network(8, 30).projector(rcond=1.0)


def test_singular_values_are_ones_without_an_svd_layer():
    """As the class documents it; ``Discretisation.singular_values`` and the report rely on it for cutoff=None."""
    net = network(8, 30)
    np.testing.assert_array_equal(net.singular_values, np.ones(net.size))
    bound = net.comply_with(ENDS)
    np.testing.assert_array_equal(bound.singular_values, np.ones(bound.size))


def test_two_fields_share_one_orthonormal_basis():
    couple = [at(-1.0, Term("u", VALUE), Term("v", VALUE, -1.0)), at(2.0, Term("u", SLOPE), Term("v", SLOPE))]
    net = network(20, 50, fields=("u", "v")).comply_with(couple).compress(1e-6)
    u, v = (net.evaluate(net.points.x, name, VALUE) for name in ("u", "v"))
    weights = net.points.weights[:, None]
    np.testing.assert_allclose(u.T @ (weights * u) + v.T @ (weights * v), np.eye(net.size), atol=1e-9)
    both = [Term("u", VALUE, 2.0), Term("v", SLOPE, -0.5)]
    expected = 2.0 * u - 0.5 * net.evaluate(net.points.x, "v", SLOPE)
    np.testing.assert_allclose(net.operator(net.points.x, both), expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(net.projector() @ np.concatenate([u, v]), np.eye(net.size), atol=1e-9)
    for name, values in (("u", u), ("v", v)):
        np.testing.assert_allclose(net.point_values(name), values, atol=1e-9 * np.abs(values).max())
    assert np.linalg.matrix_rank(np.concatenate([u, v]), tol=1e-6) == net.size


def test_terms_of_an_unknown_field_contribute_nothing():
    net = network(10, 20).compress(1e-4)
    np.testing.assert_array_equal(net.operator(net.points.x, [Term("w", VALUE)]), np.zeros((20, net.size)))
    assert net.lift_operator(net.points.x, [Term("u", VALUE)]).shape == (20, 0)
