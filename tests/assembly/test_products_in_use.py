"""Linear parts, their means and their modes on products of networks, beside the matrices written out."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.integrators.decomposition import axis_modes
from frozenpinn.operators import Dense

SQUARE, TORUS = fp.Box([0, 0], [1, 1]), fp.Box([0, 0], [2 * np.pi, 1], periodic=True)
pytestmark = pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")  # few neurons are enough here


def system_of(equation, domain=SQUARE, boundary="u = 0", width=8, cutoff=1e-6, initial=0, **options):
    problem = fp.Problem(equation, domain, (0, 0.01), initial, boundary if domain is SQUARE else None, **options)
    chosen = fp.Settings(width=width, cutoff=cutoff, subspace=None, integrator="rk23")
    return fp.solve(problem, settings=chosen).system


# ---- growth ---------------------------------------------------------------------------------------------

GROWTH = {
    "diffusion": ("u_t = lap(u) + 3*u", {}),
    "transport": ("u_t = u_x - 2*u_y + u", {}),
    "waves": ("u_tt = lap(u)", {"initial_velocity": 0}),
    "damped waves": ("u_tt = lap(u) + 30*u - 5*u_t", {"initial_velocity": 0}),
    "driven waves": ("u_tt = lap(u) + 0.5*u_t", {"initial_velocity": 0}),
}


@pytest.mark.parametrize(
    ("name", "domain"), [(n, d) for n in GROWTH for d in (SQUARE, TORUS) if n != "transport" or d is TORUS]
)
def test_growth_is_told_without_a_matrix(name, domain, monkeypatch):
    equation, options = GROWTH[name]
    linear = system_of(equation, domain, **options).linear
    assert not isinstance(linear.position, Dense)
    expected = float(np.max(np.linalg.eigvals(linear.matrix).real))
    monkeypatch.setattr("frozenpinn.assembly.linear_part._SMALL", 0)
    vars(linear).pop("abscissa", None)
    monkeypatch.setattr(type(linear), "matrix", property(lambda self: pytest.fail("the matrix was written out")))
    size = max(abs(expected), float(np.max(np.abs(linear.position.spectrum().eigenvalues))) ** 0.5, 1.0)
    assert linear.abscissa == pytest.approx(expected, abs=1e-6 * size)


@pytest.mark.parametrize("equation", ["u_t = lap(u) + u_xy", "u_tt = lap(u) - x*u_t"])
def test_growth_that_takes_a_large_matrix_is_not_a_number(equation, monkeypatch):
    linear = system_of(equation, **({"initial_velocity": 0} if "tt" in equation else {})).linear
    monkeypatch.setattr("frozenpinn.assembly.linear_part._SMALL", 0)
    vars(linear).pop("abscissa", None)
    assert np.isnan(linear.abscissa)


# ---- means ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "mean"),
    [
        ("u_t = lap(u) + 2*u - u**3", "u_t = lap(u) + (2 - 3*m2)*u"),
        ("u_t = dx(u*u_x) + u_yy + t*u_x", "u_t = m1*u_xx + u_yy + 0.007*u_x + mxx*u + 2*mx*u_x"),
        ("u_t = lap(u) + x*y*u_x", "u_t = lap(u) + x*y*u_x"),
    ],
)
def test_the_mean_of_a_derivative_is_that_over_the_domain(equation, mean):
    initial = "1 + sin(pi*x)*sin(pi*y)*(1 + x)"
    system = system_of(equation, boundary=fp.Neumann(0), initial=initial, width=12)
    y, network, weights = system.initial_state, system.spaces[0].network, system.points.weights

    def average(alpha, power=1):
        return float(weights @ (network.at_points([Term("u", Derivative(alpha))]) @ y) ** power)

    values = {"m1": average((0, 0)), "m2": average((0, 0), 2), "mx": average((1, 0)), "mxx": average((2, 0))}
    used = {name: value for name, value in values.items() if name in mean}
    expected = system_of(mean, boundary=fp.Neumann(0), width=12, parameters=used).linear.position.dense()
    found = system.mean_linear(0.007, y).position.dense()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_the_mean_of_a_system_has_a_block_for_each_pair_of_fields():
    problem = fp.Problem(
        {"u": "lap(u) + u*v", "v": "lap(v) - u**2"}, SQUARE, (0, 0.01), {"u": 2, "v": 3}, fp.Neumann(0)
    )
    system = fp.solve(problem, settings=fp.Settings(width=6, cutoff=1e-5, subspace=None, integrator="rk23")).system
    found = system.mean_linear(0.0, system.initial_state).position.dense() - system.linear.position.dense()
    n = system.layout.sizes[0]
    expected = np.kron(np.array([[3.0, 2.0], [-4.0, 0.0]]), np.eye(n))  # of states that are constant
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_without_other_terms_the_mean_is_the_linear_part_itself():
    system = system_of("u_t = lap(u)")
    assert system.mean_linear(0.0, system.initial_state) is system.linear


# ---- in modes -----------------------------------------------------------------------------------------------

SEMILINEAR = {
    "mixed derivative": ("u_t = lap(u) + u_xy + t", "u = 0"),
    "coefficient of both": ("u_t = (1 + exp(x*y))*lap(u) + u - u**3", "u = 0"),
    "drift": ("u_t = lap(u) - x*u_x - u*u_y", "u = 0"),
    "data": ("u_t = lap(u) + x*y*u - u**2", "u = 1 + t*x"),
}


@pytest.mark.parametrize("name", SEMILINEAR)
def test_what_is_no_part_of_the_modes_is_in_the_rest(name):
    equation, boundary = SEMILINEAR[name]
    system = system_of(equation, boundary=boundary, initial="1 + x*(1 - x)*y" if name == "data" else 0)
    modes = axis_modes(system.linear, False, 100.0)
    function = system.modal_semilinear(modes.vectors, modes.left, modes.rest)
    rng = np.random.default_rng(0)
    for t in (0.0, 0.004, 0.004, 0.01):
        y = rng.normal(size=system.size)
        z = modes.left.dense() @ y
        expected = modes.left.dense() @ system.rhs(t, y) - modes.eigenvalues * z
        scale = np.abs(modes.eigenvalues).max() * np.abs(z).max()
        np.testing.assert_allclose(function(t, z), expected, rtol=0, atol=1e-10 * scale)


def test_coupled_fields_in_modes():
    problem = fp.Problem(
        {"u": "-lap(v) + v*(u**2 + v**2)", "v": "lap(u) - u*(u**2 + v**2)"},
        SQUARE, (0, 0.01), {"u": "sin(pi*x)*sin(pi*y)", "v": 0}, fp.Dirichlet(0),
    )  # fmt: skip
    system = fp.solve(problem, settings=fp.Settings(width=8, cutoff=1e-6, subspace=None, integrator="rk23")).system
    modes = axis_modes(system.linear, False, 100.0)
    function = system.modal_semilinear(modes.vectors, modes.left, modes.rest)
    y = np.random.default_rng(0).normal(size=system.size)
    z = modes.left @ y
    expected = modes.left @ system.rhs(0.0, y) - modes.eigenvalues * z
    np.testing.assert_allclose(function(0.0, z), expected, rtol=0, atol=1e-9 * np.abs(modes.eigenvalues * z).max())


# ---- CVODE ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("small", "free"), [(10_000, False), (10, True)])
def test_cvode_takes_gmres_for_large_products(small, free, monkeypatch):
    system = system_of("u_t = lap(u) - u**3 + 1", initial="sin(pi*x)*sin(pi*y)", width=10)
    called = []
    plain = type(system).jacobian
    monkeypatch.setattr(type(system), "jacobian", lambda *a: called.append("matrix") or plain(*a))
    other = type(system).jacobian_operator
    monkeypatch.setattr(type(system), "jacobian_operator", lambda *a: called.append("products") or other(*a))
    found = fp.integrators.CVODE(1e-8, small=small).integrate(system)
    assert set(called) == {"products" if free else "matrix"}
    expected = fp.integrators.SciPy("radau", rtol=1e-9).integrate(system)
    times = np.linspace(0, 0.01, 5)
    np.testing.assert_allclose(found(times), expected(times), atol=1e-6)


def test_cvode_keeps_matrices_where_there_are_no_products(monkeypatch):
    problem = fp.Problem("u_t = u_xx - u**3", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    cvode = fp.integrators.CVODE(1e-8, small=1)
    monkeypatch.setattr("frozenpinn.integrators.cvode._krylov", lambda *a: pytest.fail("GMRES was taken"))
    fp.solve(problem, settings=fp.Settings(width=30, windows=None, integrator=cvode))
