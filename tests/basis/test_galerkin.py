"""Projection on boxes, axis by axis: equal to P·(L ψ) written out, with symmetry made exact."""

import numpy as np
import pytest
import scipy.linalg as sla

import frozenpinn as fp
from frozenpinn.assembly.products import build_product_spaces
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.samplers import Sines
from frozenpinn.operators import Identity, KroneckerSum, Tag, tensor

BOX = fp.Box([-1.0, 0.5], [1.0, 2.0])
KINDS = {"u = 0": fp.Dirichlet, "u_n = 0": fp.Neumann}


def networks(conditions, box=BOX, width=10, cutoff=1e-7):
    """One product network for each of some conditions on all sides; none of them on periodic axes."""
    fields = tuple("uvw"[: len(conditions)])
    boundary = [KINDS[c](0, f) for c, f in zip(conditions, fields, strict=True)]
    periods = [float(n) if p else None for n, p in zip(box.lengths, box.periodic, strict=True)]
    problem = fp.Problem(
        {f: f"lap({f})" for f in fields}, box, (0, 1), dict.fromkeys(fields, 0), None if all(box.periodic) else boundary
    )
    axes = [box.axis(i).sample(width + 14, "spectral") for i in range(box.dimension)]
    layers = [Sines(width, period=p).sample(a, i) for i, (a, p) in enumerate(zip(axes, periods, strict=True))]
    points = box.sample([width + 14] * box.dimension, "spectral")
    return [space.network for space in build_product_spaces(problem, layers, points, cutoff)]


def written_out(target, source, terms):
    return target.projector().dense() @ source.at_points(terms).dense()


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7 * np.abs(expected).max())


X, Y = BOX.sample([24, 24], "spectral").x.T
COEFFICIENTS = {
    "a number": -2.5,
    "constant at all points": np.full(len(X), 3.0),
    "of one axis": 1 + X**2,
    "separable": np.exp(X) * np.sin(Y),
    "two products": X + Y**2,
    "four products": X + np.sin(3 * X) * Y + Y**3 * np.exp(X) + np.cos(X) * np.cos(Y),
    "not separable": 1 / (1.5 + np.sin(X * Y)),
    "not separable, of mean zero": np.sin(5 * X * Y) - np.mean(np.sin(5 * X * Y)),
}
DERIVATIVES = [(0, 0), (1, 0), (0, 2), (1, 1), (2, 2)]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("alpha", DERIVATIVES)
def test_any_term_is_its_projection(coefficient, alpha):
    (network,) = networks(["u = 0"])
    terms = [Term("u", Derivative(alpha), COEFFICIENTS[coefficient])]
    agree(network.galerkin(terms, network).dense(), written_out(network, network, terms))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_only_coefficients_of_many_products_are_evaluated_at_the_points(coefficient):
    (network,) = networks(["u = 0"])
    terms = [Term("u", Derivative((2, 0)), COEFFICIENTS[coefficient])]
    assert isinstance(network.galerkin(terms, network), KroneckerSum) != coefficient.startswith("not separable")


def test_many_terms_are_added_up_along_their_axes():
    (network,) = networks(["u = 0"])
    terms = [
        Term("u", Derivative((0, 0), 1), 0.5),
        Term("u", Derivative((2, 0)), X**2),
        Term("u", Derivative((1, 0)), 2 * X),
        Term("u", Derivative((0, 0)), -1.0),
        Term("u", Derivative((0, 1)), 3.0),
        Term("u", Derivative((1, 1)), 0.25),
    ]
    found = network.galerkin(terms, network)
    agree(found.dense(), written_out(network, network, terms))
    kept = [tensor.active_axes(p.factors) for p in found.products]
    # the mixed one, the constant, x as one matrix (symmetric as a whole), y as a symmetric and a skew one
    assert kept == [[0, 1], [], [0], [1], [1]]


def test_no_term_is_zero():
    (network,) = networks(["u = 0"])
    found = network.galerkin([], network)
    assert found.shape == (network.size, network.size)
    assert not np.any(found.dense())


@pytest.mark.parametrize("condition", ["u = 0", "u_n = 0"])
@pytest.mark.parametrize(
    ("terms", "tag"),
    [
        ([Term("u", Derivative((0, 0), 1))], Tag.SYMMETRIC),
        ([Term("u", Derivative((2, 0)), 1 + X**2), Term("u", Derivative((1, 0)), 2 * X)], Tag.SYMMETRIC),
        ([Term("u", Derivative((0, 0)), np.exp(X))], Tag.SYMMETRIC),
    ],
    ids=["laplacian", "divergence form", "reaction"],
)
def test_symmetry_is_exact(condition, terms, tag):
    (network,) = networks([condition])
    found = network.galerkin(terms, network)
    assert tag in found.tags
    matrix = found.dense()
    np.testing.assert_array_equal(matrix, matrix.T)


def test_drift_is_exactly_skew_where_the_ends_allow_it():
    (held,), (open_,) = networks(["u = 0"]), networks(["u_n = 0"])
    slope = [Term("u", Derivative((1, 0)))]
    assert Tag.SKEW in held.galerkin(slope, held).tags
    assert open_.galerkin(slope, open_).tags == frozenset()


def test_waves_on_periodic_axes_are_exact():
    box = fp.Box([0, 0], [2 * np.pi, 1], [True, True])
    (network,) = networks(["u = 0"], box, 8)
    found = network.galerkin([Term("u", Derivative((0, 0), 1))], network)
    x, y = found.axis_matrices()
    k = np.repeat(np.arange(1, 5), 2)
    np.testing.assert_allclose(np.sort(np.diag(x)), np.sort([0, *(-(k**2))]), atol=1e-12)
    np.testing.assert_allclose(np.sort(np.diag(y)), np.sort([0, *(-((2 * np.pi * k) ** 2))]), atol=1e-10)


# ---- from one field to another -------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_projection_of_functions_with_other_conditions(coefficient):
    held, open_ = networks(["u = 0", "u_n = 0"])
    assert held.sizes != open_.sizes or held.factors[0] is not open_.factors[0]
    for alpha in ((0, 0), (2, 0), (1, 1)):
        terms = [Term("v", Derivative(alpha), COEFFICIENTS[coefficient])]
        agree(held.galerkin(terms, open_).dense(), written_out(held, open_, terms))


def test_fields_with_the_same_conditions_share_their_networks():
    one, other, third = networks(["u = 0", "u = 0", "u_n = 0"])
    assert all(a is b for a, b in zip(one.factors, other.factors, strict=True))
    assert not any(a is b for a, b in zip(one.factors, third.factors, strict=True))
    found = one.galerkin([Term("v", Derivative((0, 0)), 2.0)], other)
    assert found.multiple_of_identity(1e-9) == 2.0
    assert all(isinstance(f, Identity) for f in found.products[0].factors)


def test_three_axes():
    box = fp.Box([0, 0, 0], [1, 2, 1])
    (network,) = networks(["u = 0"], box, 6, 1e-5)
    x, y, z = network.points.x.T
    terms = [
        Term("u", Derivative((0, 0, 0), 1), 0.1),
        Term("u", Derivative((1, 0, 1)), x * z),
        Term("u", Derivative((0, 1, 0)), np.sin(x + y + z)),
        Term("u", Derivative((0, 0, 0)), np.exp(x * y * z)),
    ]
    agree(network.galerkin(terms, network).dense(), written_out(network, network, terms))


def test_the_laplacian_has_its_eigenvalues():
    (network,) = networks(["u = 0"], fp.Box([0, 0], [np.pi, np.pi]), 20, 1e-10)
    matrices = network.galerkin([Term("u", Derivative((0, 0), 1))], network).axis_matrices()
    for matrix in matrices:
        found = np.sort(-sla.eigvalsh(matrix))
        np.testing.assert_allclose(found[:5], np.arange(1, 6) ** 2, rtol=1e-6)
