"""Products of one-dimensional networks on boxes: derivatives, orthonormality, lifting of boundary data."""

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn.assembly.boundary import condition_terms
from frozenpinn.assembly.products import build_product_spaces
from frozenpinn.basis.hidden import Derivative, Term

X, Y, Z, T = sp.symbols("x y z t", real=True)
SIDES = ("left", "right", "bottom", "top")


def product_space(problem, width=16, cutoff=1e-5, seed=0):
    count = width + width // 4
    axes = [problem.domain.axis(i) for i in range(problem.domain.dimension)]
    layers = [fp.samplers.MultiScale(width).sample(axis.sample(count), seed + i) for i, axis in enumerate(axes)]
    points = problem.domain.sample([count] * len(axes))
    return build_product_spaces(problem, layers, points, cutoff)[0]


def homogeneous(dimension=2):
    box = fp.Box([-1.0, 0.5, 0.0][:dimension], [1.0, 2.0, 0.7][:dimension])
    return fp.Problem("u_t = lap(u)", box, (0, 1), 0, "u = 0")


# ---- basis --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_products_are_orthonormal_on_the_grid(dimension):
    network = product_space(homogeneous(dimension), 10 if dimension == 3 else 16).network
    assert network.is_orthonormal
    values = network.at_points([Term("u", Derivative((0,) * dimension))])
    np.testing.assert_allclose((network.projector() @ values).dense(), np.eye(network.size), atol=1e-12)
    basis = network.evaluate(network.points.x, "u", Derivative((0,) * dimension))
    gram = basis.T @ (network.points.weights[:, None] * basis)
    np.testing.assert_allclose(gram, np.eye(network.size), atol=1e-8)
    np.testing.assert_allclose(network.projector() @ basis, np.eye(network.size), atol=1e-8)


def test_all_products_of_the_functions_above_the_cutoff_are_kept():
    network = product_space(homogeneous(), cutoff=1e-5).network
    sigma = [f.singular_values / f.singular_values[0] for f in network.factors]
    assert all(s.min() > 1e-5 for s in sigma)
    assert network.size == len(sigma[0]) * len(sigma[1])
    assert network.singular_values[0] == 1.0
    np.testing.assert_allclose(network.singular_values.reshape(network.sizes), np.multiply.outer(*sigma))


def stencil(order, step):
    """Offsets and weights of a central difference of eighth order or more."""
    offsets = np.arange(-6, 7)
    moments = np.zeros(13)
    moments[order] = float(sp.factorial(order))
    return offsets * step, np.linalg.solve(offsets[None, :] ** np.arange(13.0)[:, None], moments) / step**order


@pytest.mark.parametrize("alpha", [(1, 0), (0, 1), (1, 1), (2, 0), (0, 3), (2, 2)])
def test_derivatives_agree_with_finite_differences(alpha):
    network = product_space(homogeneous(), 10, 1e-3).network
    x = np.random.default_rng(0).uniform([-0.5, 0.9], [0.5, 1.6], (5, 2))
    expected = np.zeros((5, network.size))
    offsets, weights = zip(*(stencil(k, 0.03) for k in alpha), strict=True)
    for a, u in zip(offsets[0], weights[0], strict=True):
        for b, v in zip(offsets[1], weights[1], strict=True):
            expected += u * v * network.evaluate(x + np.array([a, b]), "u", Derivative((0, 0)))
    found = network.evaluate(x, "u", Derivative(alpha))
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("dimension", [2, 3])
def test_laplacians_are_sums_of_pure_derivatives(dimension):
    problem = homogeneous(dimension)
    network = product_space(problem, 8, 1e-3).network
    x = problem.domain.sample(20, "random", 0).x
    zero, twice = (0,) * dimension, 2 * np.eye(dimension, dtype=int)

    def pure(*shifts):
        return network.evaluate(x, "u", Derivative(tuple(int(k) for k in sum(shifts, np.array(zero)))))

    laplacian = sum(pure(a) for a in twice)
    bilaplacian = sum(pure(a, b) for a in twice for b in twice)
    np.testing.assert_allclose(network.evaluate(x, "u", Derivative(zero, 1)), laplacian, rtol=1e-10, atol=1e-9)
    scale = np.abs(bilaplacian).max()
    np.testing.assert_allclose(network.evaluate(x, "u", Derivative(zero, 2)), bilaplacian, atol=1e-12 * scale)


def test_operators_with_variable_coefficients():
    problem = homogeneous()
    network = product_space(problem, 8, 1e-3).network
    x = problem.domain.sample(30, "random", 0).x
    wave = np.sin(3 * x[:, 0])
    terms = [Term("u", Derivative((1, 0)), wave), Term("u", Derivative((0, 0)), -2.0)]
    slope, value = (network.evaluate(x, "u", Derivative(alpha)) for alpha in ((1, 0), (0, 0)))
    np.testing.assert_allclose(network.operator(x, terms), wave[:, None] * slope - 2 * value, atol=1e-10)


def test_products_are_not_truncated():
    network = product_space(homogeneous()).network
    assert network.truncate(network.size) is network
    with pytest.raises(fp.SettingsError, match="can't be truncated; give a larger cutoff to its factors"):
        network.truncate(9)


def test_the_share_of_the_finest_functions_is_that_along_each_axis():
    network = product_space(homogeneous()).network
    tensor = np.zeros(network.sizes)
    tensor[-1, 0], tensor[0, 0] = 3.0, 4.0
    assert network.shares(tensor.ravel()) == (3.0, 0.0)


def test_without_data_there_is_no_lifting():
    network = product_space(homogeneous()).network
    assert network.lift_size == 0
    assert network.lift_operator(network.points.x[:3], [Term("u", Derivative((0, 0)))]).shape == (3, 0)


# ---- lifting ------------------------------------------------------------------------------------------

SMOOTH = sp.exp(-T) * sp.sin(X + 0.3) * sp.cos(0.7 * Y) + T * X * Y**2
OUTWARD = {
    "left": -sp.diff(SMOOTH, X),
    "right": sp.diff(SMOOTH, X),
    "bottom": -sp.diff(SMOOTH, Y),
    "top": sp.diff(SMOOTH, Y),
}
BOUNDARIES = {
    "dirichlet": {side: fp.Dirichlet(SMOOTH) for side in SIDES},
    "neumann": {side: fp.Neumann(OUTWARD[side]) for side in SIDES},
    "dirichlet and neumann": {
        side: fp.Dirichlet(SMOOTH) if side in SIDES[:2] else fp.Neumann(OUTWARD[side]) for side in SIDES
    },
    "one of each": {
        "left": fp.Dirichlet(SMOOTH),
        "right": fp.Neumann(OUTWARD["right"]),
        "bottom": fp.Robin(1, 2, SMOOTH + 2 * OUTWARD["bottom"]),
        "top": fp.Free(),
    },
    "only the left side carries data": {"left": fp.Dirichlet(sp.cos(T) * sp.sin(sp.pi * (Y - 0.2) / 1.5))}
    | {side: fp.Dirichlet(0) for side in SIDES[1:]},
}


def lifted_problem(boundary):
    box = fp.Box([-0.5, 0.2], [1.0, 1.7])
    initial = SMOOTH.subs(T, 0)
    if boundary.startswith("only"):
        initial = sp.sin(sp.pi * (Y - 0.2) / 1.5) * (1 - X) / 1.5
    return fp.Problem("u_t = lap(u)", box, (0, 1), initial, BOUNDARIES[boundary])


def lifting_error(problem, space, t, order=0):
    """Largest difference between B(lifting) and the data on all sides, relative to the data."""
    worst, scale = 0.0, 0.0
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, 40, "random", 1)
        x = points.x
        found = space.network.lift_operator(x, condition_terms(condition, points)) @ space.data(t, order)
        expected = condition.value.time_derivative(order, x, t, problem.time)
        worst, scale = max(worst, np.abs(found - expected).max()), max(scale, np.abs(expected).max())
    return worst / scale


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_the_lifting_reproduces_time_dependent_data_on_all_sides(boundary):
    """Values and first time derivative. Slopes at corners come from a fit of the data along a side."""
    problem = lifted_problem(boundary)
    space = product_space(problem, 24, 1e-13)
    for t in (0.0, 0.37, 1.0):
        assert lifting_error(problem, space, t) < 5e-8
    assert lifting_error(problem, space, 0.37, order=1) < 5e-8


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_the_lifting_converges_with_the_width(boundary):
    problem = lifted_problem(boundary)
    narrow, wide = (lifting_error(problem, product_space(problem, width, 1e-13), 0.37) for width in (6, 24))
    assert wide < 1e-7
    assert wide < 1e-2 * narrow


def test_the_lifting_on_a_box_in_three_dimensions():
    exact = sp.cos(X) * sp.exp(-Y / 2) * sp.sin(Z + T)
    problem = fp.Problem(
        "u_t = lap(u)", fp.Box([0, 0, 0], [1, 0.8, 1.2]), (0, 1), exact.subs(T, 0), fp.Dirichlet(exact)
    )
    space = product_space(problem, 14, 1e-10)
    assert lifting_error(problem, space, 0.6) < 1e-6


def test_the_lifting_joins_a_periodic_axis():
    exact = sp.cos(2 * sp.pi * X) * (Y + T)
    sides = {"bottom": fp.Dirichlet(exact), "top": fp.Dirichlet(exact)}
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1], [True, False]), (0, 1), exact.subs(T, 0), sides)
    space = product_space(problem, 48, 1e-10)
    assert lifting_error(problem, space, 0.6) < 1e-7


@pytest.mark.parametrize("boundary", ["dirichlet", "neumann", "one of each"])
def test_heat_with_lifted_data_converges_to_the_exact_solution(boundary):
    source = sp.diff(SMOOTH, T) - sp.diff(SMOOTH, X, 2) - sp.diff(SMOOTH, Y, 2)
    problem = fp.Problem(
        "u_t = lap(u) + f", fp.Box([-0.5, 0.2], [1.0, 1.7]), (0, 1), SMOOTH.subs(T, 0),
        BOUNDARIES[boundary] | ({"top": fp.Dirichlet(SMOOTH)} if boundary == "one of each" else {}),
        parameters={"f": source}, exact=SMOOTH,
    )  # fmt: skip
    assert fp.solve(problem, settings=fp.Settings(width=16)).error()["rel_l2"] < 3e-6


# ---- data axis by axis ----------------------------------------------------------------------------------


def sine_space(problem, width=24, cutoff=1e-11):
    axes = [problem.domain.axis(i).sample(width + 14, "spectral") for i in range(problem.domain.dimension)]
    layers = [fp.samplers.Sines(width).sample(axis, i) for i, axis in enumerate(axes)]
    return build_product_spaces(problem, layers, problem.domain.sample([width + 14] * len(axes), "spectral"), cutoff)[0]


FIELDS = {2: sp.exp(X / 2) * sp.cos(Y) + X * Y, 3: sp.exp(X / 2) * sp.cos(Y) * sp.sin(Z + 1) + X * Y * Z}
NAMES = (("left", "right"), ("bottom", "top"), ("front", "back"))


def data_on_all_sides(dimension, kinds):
    """Conditions of given kinds (one letter for each axis) with data of one smooth field, which agree at all edges."""
    field, sides = FIELDS[dimension], {}
    for axis, kind in enumerate(kinds):
        for end, name in enumerate(NAMES[axis]):
            slope = (-1, 1)[end] * sp.diff(field, (X, Y, Z)[axis])
            sides[name] = {
                "d": fp.Dirichlet(field), "n": fp.Neumann(slope), "r": fp.Robin(2, 1, 2 * field + slope)
            }[kind]  # fmt: skip
    box = fp.Box([0, -0.5, 0][:dimension], [1, 1, 1][:dimension])
    return fp.Problem("u_t = lap(u)", box, (0, 1), field, sides)


@pytest.mark.parametrize("kinds", ["dd", "nn", "rr", "dn", "nd", "rd", "ddd", "dnr", "ndd"])
def test_data_that_agree_at_edges_are_met_on_all_sides(kinds):
    problem = data_on_all_sides(len(kinds), kinds)
    narrow, wide = (
        lifting_error(problem, sine_space(problem, n), 0.0) for n in ((8, 16) if len(kinds) == 3 else (12, 24))
    )
    assert wide < 1e-2 * narrow
    assert wide < (2e-5 if len(kinds) == 3 else 2e-6)


def value_on(space, problem, side, at):
    """The lifted function along a side."""
    condition = next(c for c in problem.conditions if c.side.name == side)
    axis, other = condition.side.axis, 1 - condition.side.axis
    x = np.empty((len(at), 2))
    x[:, axis], x[:, other] = (problem.domain.lower, problem.domain.upper)[condition.side.end][axis], at
    return space.network.lift_operator(x, [Term("u", Derivative((0, 0)))]) @ space.data(0.0, 0)


@pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")
def test_data_that_contradict_each_other_at_a_corner_are_met_in_the_mean_and_away_from_it():
    """One on the left side, zero on the others: x comes first, so left and right are met everywhere."""
    sides = {"left": "u = 1", "right": "u = 0", "bottom": "u = 0", "top": "u = 0"}
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), 0, sides)
    away, everywhere = np.linspace(0.2, 1, 60), np.linspace(0, 1, 400)
    means, worst = [], []
    for width in (20, 40):
        space = sine_space(problem, width)
        found = {side: value_on(space, problem, side, everywhere) for side in sides}
        middle = np.abs(everywhere - 0.5) < 0.3
        np.testing.assert_allclose(found["left"][middle], 1.0, atol=0.1)
        np.testing.assert_allclose(found["right"], 0.0, atol=1e-6)
        means.append(max(np.sqrt(np.mean(found[side] ** 2)) for side in ("bottom", "top")))
        worst.append(np.max(np.abs(value_on(space, problem, "bottom", away))))
        assert max(np.max(np.abs(found[side])) for side in ("bottom", "top")) < 1.3  # no larger than what contradicts
    assert means[1] < 0.8 * means[0]  # like the root of the width
    assert worst[1] < 0.1
