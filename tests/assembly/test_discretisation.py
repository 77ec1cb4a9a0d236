"""The semi-discrete system: exact Jacobian, shapes, initial data, forcing, all against finite differences."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.assembly.products import build_product_spaces
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.integrators.protocol import Guard


def discretized(problem, width=20, cutoff=1e-4, strategy=None, seed=0):
    points = problem.domain.sample(3 * width)
    hidden = fp.samplers.MultiScale(width).sample(points, seed)
    strategy = strategy or fp.boundary.NullSpaceLayer()
    spaces = [fp.stages.build_space(problem, hidden, points, group, strategy, cutoff) for group in problem.groups]
    return fp.stages.discretise(problem, spaces)


LINE, RING = fp.Interval(0, 1), fp.Interval(0, 1, periodic=True)
HILL = "x*(1 - x)"
NONLINEAR = {
    "Burgers": fp.Problem("u_t = 0.1*u_xx - u*u_x", LINE, (0, 1), HILL, "u = 0"),
    "two fields": fp.Problem(
        ["u_t = 0.1*u_xx - u*v**2 + (1 - u)", "v_t = 0.05*v_xx + u*v**2*v_x - sin(v)*u_x"],
        LINE, (0, 1), {"u": HILL, "v": f"2*{HILL}"}, ["u = 0", "v = 0"],
    ),
    "damped wave": fp.Problem(
        "u_tt = u_xx - 0.3*u_t - u**3 + u_t*u_x", LINE, (0, 1), HILL, "u = 0", initial_velocity=0
    ),
    "damping that depends on x": fp.Problem(
        "u_tt = u_xx - x*u_t + u_xxt", LINE, (0, 1), HILL, "u = 0", initial_velocity=0
    ),
    "coefficients in time": fp.Problem("u_t = (1 + t**2)*u_xx + exp(-t)*x*u_x", LINE, (0, 1), HILL, "u = 0"),
    "lifting": fp.Problem(
        "u_t = u*u_xx + u_x**2 + t*u", LINE, (0, 1), "1 + x", {"left": "u = 1 + t", "right": "u_x = cos(t)"}
    ),
    "lifting of a wave": fp.Problem(
        "u_tt = u_xx - u**2*u_t", LINE, (0, 1), 0, {"left": "u = sin(t)", "right": "u = t**3"}, initial_velocity="1 - x"
    ),
    "orders one and two": fp.Problem(
        ["u_t = u_xx + v*u", "v_tt = v_xx - u*v_t + u_x"],
        RING, (0, 1), {"u": "sin(2*pi*x)", "v": "cos(2*pi*x)"}, initial_velocity={"v": 0},
    ),
    "coupled at the boundary": fp.Problem(
        ["u_t = u_xx - u*v", "v_t = v_xx + u**2"],
        LINE, (0, 1), {"u": HILL, "v": HILL}, {"left": ["u - v = 0", "u_x + v_x = 2*t + 2"], "right": fp.Dirichlet(0)},
    ),
}  # fmt: skip


def central_difference(system, t, y, direction):
    """Fourth-order difference of the right-hand side along a direction."""
    step = 1e-3
    weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
    return sum(w * system.rhs(t, y + k * step * direction) for k, w in weights.items()) / step


# ---- Jacobian -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def systems():
    return {name: discretized(problem) for name, problem in NONLINEAR.items()}


@pytest.mark.parametrize("name", NONLINEAR)
@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), t=st.floats(0, 1))
def test_the_jacobian_agrees_with_differences_of_the_right_hand_side(systems, name, seed, t):
    system = systems[name]
    rng = np.random.default_rng(seed)
    y, direction = rng.normal(size=(2, system.size))
    found = system.jacobian(t, y) @ direction
    expected = central_difference(system, t, y, direction)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def test_the_jacobian_of_a_product_network():
    box = fp.Box([0, 0], [1, 2])
    problem = fp.Problem("u_t = lap(u) - u**3 + u_x*u_y", box, (0, 1), "x + y", fp.Dirichlet("(x + y)*exp(-t)"))
    layers = [fp.samplers.MultiScale(8).sample(box.axis(i).sample(12), i) for i in (0, 1)]
    system = fp.stages.discretise(problem, build_product_spaces(problem, layers, box.sample([12, 12]), 1e-3))
    y, direction = np.random.default_rng(0).normal(size=(2, system.size))
    expected = central_difference(system, 0.4, y, direction)
    np.testing.assert_allclose(system.jacobian(0.4, y) @ direction, expected, atol=1e-8 * np.abs(expected).max())


def test_the_jacobian_of_a_linear_system_is_its_matrix():
    system = discretized(fp.Problem("u_t = u_xx + x*u_x", LINE, (0, 1), HILL, "u = 0"))
    assert system.jacobian(0.3, np.ones(system.size)) is system.linear.matrix


# ---- shapes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NONLINEAR)
def test_states_split_into_fields_and_velocities(systems, name):
    system = systems[name]
    y = np.arange(float(system.size))
    parts = system.layout.split(y)
    assert len(parts) == len(system.spaces)
    assert [len(p) for p in parts] == [space.order for space in system.spaces]
    assert all(len(a) == space.network.size for p, space in zip(parts, system.spaces, strict=True) for a in p)
    positions, velocities = [p[0] for p in parts], [p[1] for p in parts if len(p) == 2]
    np.testing.assert_array_equal(np.concatenate(positions + velocities), y)
    assert system.rhs(0.2, y).shape == system.initial_state.shape == y.shape == system.state_forcing(0.2).shape
    assert system.jacobian(0.2, y).shape == system.linear.matrix.shape == (system.size, system.size)
    assert system.forcing(0.2).shape == (system.coefficients,)


def test_velocities_are_the_rates_of_positions(systems):
    for name in ("damped wave", "lifting of a wave", "orders one and two"):
        system = systems[name]
        y = np.random.default_rng(0).normal(size=system.size)
        for state, rate in zip(system.layout.split(y), system.layout.split(system.rhs(0.3, y)), strict=True):
            if len(state) == 2:
                np.testing.assert_array_equal(rate[0], state[1])


@pytest.mark.parametrize("name", NONLINEAR)
def test_rates_at_many_times_are_those_at_each(systems, name, monkeypatch):
    monkeypatch.setattr("frozenpinn.assembly.discretisation._AT_ONCE", 3)
    system = systems[name]
    times = np.linspace(*system.time, 7)
    states = system.initial_state + 0.1 * np.random.default_rng(1).normal(size=(7, system.size))
    one_by_one = np.array([system.rhs(t, y) for t, y in zip(times, states, strict=True)])
    np.testing.assert_allclose(system.rates(times, states), one_by_one, atol=1e-11 * np.abs(one_by_one).max())


@pytest.mark.parametrize(
    ("equation", "boundary", "linear", "autonomous"),
    [
        ("u_t = u_xx + x", "u = 0", True, True),
        ("u_t = u_xx + x", fp.Dirichlet(1), True, True),
        ("u_t = u_xx + t*x", "u = 0", True, False),
        ("u_t = u_xx", fp.Dirichlet("1 + t"), True, False),
        ("u_t = t*u_xx", "u = 0", False, False),
        ("u_t = u_xx + u**2", "u = 0", False, False),
    ],
)
@pytest.mark.filterwarnings("ignore:the initial data contradict")
def test_what_changes_in_time_is_known(equation, boundary, linear, autonomous):
    system = discretized(fp.Problem(equation, LINE, (0, 1), 0, boundary))
    assert system.has_constant_coefficients is linear
    assert system.is_autonomous is autonomous


def test_evaluations_are_counted():
    guard = Guard(discretized(NONLINEAR["Burgers"]), "by hand")
    y = guard.system.initial_state
    for _ in range(3):
        guard.rhs(0.0, y)
    guard.jacobian(0.0, y)
    assert guard.work == (3, 1)


# ---- consistency with exact solutions -----------------------------------------------------------------

X, T = sp.symbols("x t", real=True)
WAVE = sp.sin(2 * X + T) + X**2 * T
MANUFACTURED = {
    "linear": ("u_t = u_xx + sin(x)*u_x - u", 1),
    "nonlinear": ("u_t = u*u_xx - u_x**2 + u**3", 1),
    "coefficient in time": ("u_t = exp(-t)*u_xx + t*x*u", 1),
    "wave": ("u_tt = 2*u_xx - u", 2),
    "damped wave": ("u_tt = u_xx - x*u_t + u*u_t", 2),
}
BOUNDARIES = {
    "dirichlet": fp.Dirichlet,
    "neumann": lambda u: {"left": fp.Neumann(-sp.diff(u, X)), "right": fp.Neumann(sp.diff(u, X))},
    "robin": lambda u: {"left": fp.Robin(1, 2, u - 2 * sp.diff(u, X)), "right": fp.Dirichlet(u)},
    "free": lambda u: fp.Free(),
}


def manufactured(equation, boundary, exact=WAVE):
    """Add the source that makes ``exact`` the solution."""
    plain = fp.Problem(equation, LINE, (0, 1), 0, fp.Free(), **({"initial_velocity": 0} if "u_tt" in equation else {}))
    order = plain.equations[0].order
    source = sp.diff(exact, T, order) - plain.jets.substitute(plain.equations[0].right_side, {"u": exact})
    velocity = {"initial_velocity": sp.diff(exact, T).subs(T, 0)} if order == 2 else {}
    return fp.Problem(
        f"{equation} + f", LINE, (0, 1), exact.subs(T, 0), BOUNDARIES[boundary](exact),
        parameters={"f": source}, exact=exact, **velocity,
    )  # fmt: skip


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("name", MANUFACTURED)
def test_the_exact_solution_satisfies_the_system(name, boundary):
    """Projecting the exact solution at each time gives c(t) whose derivatives the right-hand side must return."""
    equation, order = MANUFACTURED[name]
    problem = manufactured(equation, boundary)
    system = discretized(problem, 50, 1e-9)
    space, x, t = system.spaces[0], system.points.x, 0.4

    def coefficients(time_order):
        values = problem.compile([sp.diff(WAVE, T, time_order)])(*x.T, t)[0]
        if space.network.lift_size:
            lift = space.network.lift_operator(x, [Term("u", Derivative((0,)))])
            values = values - lift @ space.data(t, time_order)
        return space.network.projector() @ values

    state = np.concatenate([coefficients(k) for k in range(order)])
    expected = np.concatenate([coefficients(k + 1) for k in range(order)])
    np.testing.assert_allclose(system.rhs(t, state), expected, atol=1e-5)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("name", ["linear", "wave", "damped wave"])
def test_initial_data_are_reproduced(name, boundary):
    problem = manufactured(MANUFACTURED[name][0], boundary)
    system = discretized(problem, 50, 1e-9)
    network, data = system.spaces[0].network, system.spaces[0].data
    unseen = problem.domain.sample(77, "random", 5).x
    value = [Term("u", Derivative((0,)))]
    for order, coefficients in enumerate(system.layout.split(system.initial_state)[0]):
        found = network.operator(unseen, value) @ coefficients + network.lift_operator(unseen, value) @ data(0.0, order)
        expected = problem.compile([sp.diff(WAVE, T, order).subs(T, 0)])(*unseen.T, 0.0)[0]
        np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_array_equal(system.c0, system.initial_state)


def test_initial_data_of_two_fields_stay_apart():
    problem = fp.Problem(
        ["u_t = v_xx", "v_t = u_xx"], RING, (0, 1), {"v": "sin(2*pi*x)", "u": lambda x: np.cos(2 * np.pi * x)}
    )
    system = discretized(problem, 60, 1e-9)
    x = problem.domain.sample(40, "random", 5).x
    for name, expected in (("u", np.cos(2 * np.pi * x[:, 0])), ("v", np.sin(2 * np.pi * x[:, 0]))):
        index, space = system.space_of(name)
        found = space.network.evaluate(x, name, Derivative((0,))) @ system.initial_state[system.layout.blocks[index]]
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_a_steady_state_between_constant_ends_stays():
    problem = fp.Problem("u_t = u_xx", LINE, (0, 1), "1 + 2*x", {"left": "u = 1", "right": "u = 3"})
    system = discretized(problem, 50, 1e-9)
    assert system.is_autonomous
    assert np.abs(system.rhs(0.0, system.initial_state)).max() < 1e-4
    found = fp.solve(problem, settings=fp.Settings(width=50))(np.array([0.25, 0.5]), 1.0)
    np.testing.assert_allclose(found, [1.5, 2.0], atol=1e-8)


def test_a_soft_and_a_hard_boundary_give_the_same_right_hand_side():
    """For a function that obeys the conditions at all times, both strategies return its derivative."""
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0")
    x = problem.domain.sample(31, "random", 0).x
    rates = []
    for strategy in (fp.boundary.NullSpaceLayer(), fp.boundary.AugmentedODE(1e3)):
        system = discretized(problem, 50, 1e-9, strategy)
        basis = system.spaces[0].network.evaluate(x, "u", Derivative((0,)))
        rates.append(basis @ system.rhs(0.0, system.initial_state))
    for rate in rates:
        np.testing.assert_allclose(rate, -np.sin(x[:, 0]), atol=1e-5)


# ---- evaluation and mistakes --------------------------------------------------------------------------


def test_numbers_in_numbers_out():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0")
    value = fp.solve(problem, settings=fp.Settings(width=40))(1.0, 0.5)
    assert np.shape(value) == ()
    assert float(value) == pytest.approx(np.exp(-0.5) * np.sin(1.0), rel=1e-6)


def test_singular_values_exist_without_an_svd_layer():
    system = discretized(fp.Problem("u_t = u_xx", LINE, (0, 1), HILL, "u = 0"), cutoff=None)
    np.testing.assert_array_equal(system.singular_values, np.ones(system.coefficients))


@pytest.mark.parametrize("width", [20, 40])
@pytest.mark.parametrize("rcond", [None, 1e-6])
@pytest.mark.parametrize("equation", ["u_t = u_xx", "u_t = -u_x"])
def test_without_an_svd_layer_the_answer_is_still_right(equation, rcond, width):
    """The raw features are nearly dependent: rcond has to hold for the projection of the operator as well."""
    exact, end = ("exp(-t)*sin(x)", np.pi) if "xx" in equation else ("sin(x - t)", 2 * np.pi)
    domain = fp.Interval(0, end, periodic="xx" not in equation)
    boundary = "u = 0" if "xx" in equation else None
    problem = fp.Problem(equation, domain, (0, 0.5), "sin(x)", boundary, exact=exact)
    assert fp.solve(problem, settings=fp.Settings(width=width, cutoff=None, rcond=rcond)).error()["rel_l2"] < 1e-4


def test_a_coefficient_that_is_not_finite_is_named():
    problem = fp.Problem("u_t = u_xx + log(x)*u", fp.Interval(-1, 1), (0, 1), 0, "u = 0")
    message = r"the coefficient 'log\(x\)' of u is not finite at some points of the domain"
    with pytest.raises(fp.EvaluationError, match=message):
        discretized(problem)


def test_a_forcing_that_is_not_finite_is_refused():
    problem = fp.Problem("u_t = u_xx + log(x)", fp.Interval(-1, 1), (0, 1), 0, "u = 0")
    with pytest.raises(fp.FrozenPinnError, match="not finite"):
        fp.solve(problem, settings=fp.Settings(width=20))


def test_too_few_points_without_an_svd_layer_are_refused():
    problem = fp.Problem("u_t = u_xx", LINE, (0, 1), HILL, "u = 0")
    points = LINE.sample(10)
    hidden = fp.samplers.MultiScale(30).sample(points, 0)
    space = fp.stages.build_space(problem, hidden, points, cutoff=None)
    with pytest.raises(fp.SettingsError, match="10 points are too few for 29 basis functions; use at least as many"):
        fp.stages.discretise(problem, space)


def test_an_unknown_field_has_no_space():
    with pytest.raises(KeyError):
        discretized(NONLINEAR["Burgers"]).space_of("w")
