"""What an axis of a product is made of, in the fast ways and in the plain ones."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.products import _has_data
from frozenpinn.basis.boundary_layer import Functional, functional_rows
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.product import axis_table, inverse_of, projected_table
from frozenpinn.operators import kronecker, mapping
from frozenpinn.search.settings import Settings, Task, Tolerances
from frozenpinn.search.sizing import make_plan

BOX = fp.Box([0, 0], [1, 2])


def space_of(boundary="u = x*y", width=10):
    problem, settings = fp.Problem("lap(u) + u^2 = 1", BOX, boundary=boundary), Settings()
    plan = make_plan(problem, Task(settings, 0, Tolerances.of(None, None, settings.rules.search)), (width, width))
    return plan.product_spaces(problem, plan.place_points(problem))[0]


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_tables_are_derivatives_of_all_functions(order):
    factor = space_of().network.factors[0]
    wanted = factor.all_functions(factor.points.x, [Term("u", Derivative((order,)))])
    scale = np.max(np.abs(wanted))
    assert axis_table(factor, order) == pytest.approx(wanted, rel=1e-8, abs=1e-8 * scale)
    assert projected_table(factor, order) == pytest.approx(factor.projector() @ wanted, rel=1e-7, abs=1e-7 * scale)


def test_lifted_data_are_projected_as_at_the_points():
    space = space_of()
    network, lifted = space.network, space.data(0.0)
    terms = [Term("u", Derivative((0, 0), 1), 2.0), Term("u", Derivative((1, 1)), -0.5), Term("u", Derivative((0, 0)))]
    wanted = network.projector() @ (network.lift_at_points(terms) @ lifted)
    assert network.lifted_projection(terms, lifted) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    varying = [Term("u", Derivative((0, 0)), network.points.x[:, 0])]
    assert network.lifted_projection(varying, lifted) is None


@pytest.mark.parametrize("inside", [1.0, 1e-3, 1e-9])
def test_inverse_of_a_basis_and_others(inside):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(30, 8)))[0]
    others = basis @ rng.normal(size=(8, 2)) + inside * rng.normal(size=(30, 2))
    both = np.concatenate([basis, others], axis=1)
    assert inverse_of(basis, others) @ both == pytest.approx(np.eye(10), abs=1e-13 / inside)
    assert inverse_of(basis, others[:, :0]) == pytest.approx(basis.T)


def test_rows_at_single_places_are_those_of_each_functional():
    hidden = space_of().network.factors[0].hidden
    terms = [(Term("u", Derivative((1,)), 2.0), Term("u", Derivative((0,)), 3.0)), (Term("u", Derivative((0,))),)]
    functionals = [Functional(((np.array([[x]]), own),)) for x, own in zip((0.0, 1.0), terms, strict=True)]
    wanted = np.concatenate([f.rows(hidden, ["u"]) for f in functionals])
    assert functional_rows(functionals, hidden, ["u"]) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("boundary", "lifts"), [("u = sin(pi*x)*y*(y - 2)", False), ("u = sin(3*x)*sin(pi*y)", True), ("u = 0", False)]
)
def test_data_that_vanish_on_their_sides_are_not_lifted(boundary, lifts):
    problem = fp.Problem("lap(u) + u^2 = 1", BOX, boundary=boundary)
    assert _has_data(problem, "u") is lifts
    assert bool(space_of(boundary).network.lift_size) is lifts


@pytest.mark.parametrize("shapes", [((3, 5), (4, 2)), ((5, 3), (2, 4)), ((3, 3), (2, 4), (5, 2))])
def test_mappings_are_products_with_operators(shapes):
    rng = np.random.default_rng(0)
    operator = 2.0 * kronecker(*(rng.normal(size=shape) for shape in shapes))
    x = rng.normal(size=operator.shape[1])
    assert mapping(operator)(x) == pytest.approx(operator @ x)
    assert mapping(operator + operator)(x) == pytest.approx(2.0 * (operator @ x))
