"""The isogeometric reference: orders of convergence, the paper's figures, what it refuses."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn.errors import EvaluationError, FrozenPinnWarning, IntegrationError, SettingsError
from frozenpinn_lab.cases import CASES, find_case
from frozenpinn_lab.peers.iga import solve_iga
from frozenpinn_lab.peers.iga_nonlinear import solve_nonlinear_iga, spline_elements
from frozenpinn_lab.peers.methods import solve_baseline
from frozenpinn_lab.peers.quasilinear import Semidiscrete, WeakForm
from frozenpinn_lab.peers.radau import integrate, integrate_adaptively
from frozenpinn_lab.peers.score import Deadline
from frozenpinn_lab.peers.splines import open_space, periodic_space

HINGED = ["u = 0", "u_xx = 0"]
RADAU = {"integrator": "radau"}


def heat():
    return fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 0.2), "sin(2*x)", "u = 0", exact="exp(-4*t)*sin(2*x)")


def wave():
    return fp.Problem("u_tt = u_xx", fp.Interval(0, np.pi), (0, 2), "sin(2*x)", "u = 0", 0, exact="sin(2*x)*cos(2*t)")


def advection():
    interval = fp.Interval(0, 2 * np.pi, periodic=True)
    return fp.Problem("u_t + 3*u_x = 0", interval, (0, 2), "sin(2*x)", exact="sin(2*(x - 3*t))")


def beam():
    interval = fp.Interval(0, np.pi)
    return fp.Problem("u_tt = -u_xxxx", interval, (0, 1), "sin(2*x)", HINGED, 0, exact="sin(2*x)*cos(4*t)")


def iga(case, **problem):
    return solve_iga(case.problem(**problem), **case.baselines["iga"].settings)


# ---- spaces -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2, 5, 9])
def test_open_splines_sum_to_one_and_obey_essential_conditions(degree):
    x = np.linspace(-1, 2, 50)
    assert open_space(-1, 2, 8, degree).table(x).sum(axis=1) == pytest.approx(1)
    ends = open_space(-1, 2, 8, degree, (1, 1)).table(np.array([-1.0, 2.0]))
    assert np.max(np.abs(ends)) == 0


@pytest.mark.parametrize(("nodes", "degree"), [(9, 3), (16, 8), (5, 7)])
def test_periodic_splines_match_in_all_derivatives(nodes, degree):
    space = periodic_space(0, 2, nodes, degree)
    assert space.size == nodes - 1
    assert space.table(np.linspace(0, 2, 30)).sum(axis=1) == pytest.approx(1)
    for k in range(degree):
        left, right = space.table(np.array([0.0, 2.0]), k)
        assert left == pytest.approx(right, abs=1e-9 * np.max(np.abs(left)))


@pytest.mark.parametrize("degree", [5, 8, 15])
@pytest.mark.parametrize("nodes", [4, 5, 6, 9])
def test_periodic_splines_that_overlap_themselves_are_a_good_space(nodes, degree):
    """Even where functions are longer than the interval, the error is that of the best approximation."""
    interval = fp.Interval(0, 2 * np.pi, periodic=True)
    problem = fp.Problem("u_t + u_x = 0", interval, (0, 2), "sin(x)", exact="sin(x - t)")
    space = periodic_space(0, 2 * np.pi, nodes, degree)
    x, w = space.quadrature()
    table, wave = np.sqrt(w)[:, None] * space.table(x), np.sqrt(w) * np.sin(x)
    best, _, rank, _ = np.linalg.lstsq(table, wave)
    assert rank == nodes - 1
    least = np.linalg.norm(table @ best - wave) / np.linalg.norm(wave)
    assert solve_iga(problem, nodes, degree).error()["rel_l2"] < 2 * least + 1e-12
    assert least < 0.02


def test_quadrature_is_exact_for_products():
    space = open_space(0, 3, 6, 4)
    x, w = space.quadrature()
    fine_x, fine_w = (
        np.concatenate(a) for a in zip(*(_gauss(a, a + 0.6, 40) for a in 0.6 * np.arange(5)), strict=True)
    )
    mass = (space.table(x).T * w) @ space.table(x)
    assert mass == pytest.approx((space.table(fine_x).T * fine_w) @ space.table(fine_x), abs=1e-13)


def _gauss(a, b, n):
    s, w = np.polynomial.legendre.leggauss(n)
    return (a + b) / 2 + (b - a) / 2 * s, (b - a) / 2 * w


# ---- accuracy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [heat, wave, advection, beam])
@pytest.mark.parametrize("degree", [3, 4, 5])
def test_order_of_convergence_is_degree_plus_one(problem, degree):
    spans = np.array([24, 32, 48, 64])
    errors = [solve_iga(problem(), int(n) + 1, degree).error()["rel_l2"] for n in spans]
    order = -np.polyfit(np.log(spans), np.log(errors), 1)[0]
    assert order == pytest.approx(degree + 1, abs=0.35)


@pytest.mark.parametrize(
    ("name", "size"), [("advection", 15), ("euler-bernoulli", 33), ("euler-bernoulli-winkler", 63)]
)
def test_published_figures_are_reached(name, size):
    case = find_case(name)
    solution = iga(case)
    assert solution.size == size
    assert solution.error()["rel_l2"] <= 3 * case.baselines["iga"].published.rel_l2


@pytest.mark.parametrize(("name", "bound"), [("advection-long", 1e-10), ("wave", 1e-11), ("wave-multiscale", 1e-8)])
def test_further_cases(name, bound):
    assert iga(find_case(name)).error()["rel_l2"] < bound


def test_small_eigenvalues_survive_large_ones():
    """A beam's spectrum reaches over nine orders of magnitude; sin x must not feel the upper end."""
    problem = find_case("euler-bernoulli").problem()
    assert solve_iga(problem, nodes=27, degree=9, integrator="exact").error()["rel_l2"] < 1e-12


@pytest.mark.parametrize(
    ("text", "boundary", "exact"),
    [
        ("u_t = 2*u_xx + 3*u", "u = 0", "exp(-5*t)*sin(2*x)"),
        ("u_t = u_xx", "u_x = 0", "exp(-4*t)*cos(2*x)"),
        ("u_t = -u_xxxx - u_xx", HINGED, "exp(-12*t)*sin(2*x)"),
        ("u_t = -u_xxxx - 6*u_xx", HINGED, "exp(8*t)*sin(2*x)"),
        ("u_t = u_xx + f", "u = 0", "exp(-t)*x*(pi - x)"),
        ("u_t = u_xx + f", "u = 0", "sin(t + x)*x*(pi - x)"),
        ("u_t + u_x = u_xx + f", "u = 0", "cos(3*t)*sin(2*x)"),
        ("u_t = -u_xxxx + f", ["u = 0", "u_x = 0"], "cos(t)*sin(x)**2"),
        ("u_t = -u_xxxx + f", ["u_xx = 0", "u_xxx = 0"], "cos(t)*(x*(pi - x))**4"),
        ("u_t = u_xx + f", "u = 0", "x*(pi - x)"),
        ("u_tt + u_t/2 = u_xx + f", "u = 0", "cos(3*t)*sin(2*x)"),
    ],
)
def test_terms_conditions_and_loads(text, boundary, exact):
    problem = manufactured(text, fp.Interval(0, np.pi), boundary, exact)
    assert solve_iga(problem, 33, 7).error()["rel_l2"] < 1e-8


@pytest.mark.parametrize(
    "text",
    [
        "u_t + 3*u_x = u_xx/10",
        "u_t + 3*u_x = 2*u",
        "u_t = -u_xxxx + u_x",
        "u_tt = u_xx - 5*u",
        "u_t = u_xxx",
        "u_t + u_x/2 = -u_xxx + u",
        "u_t = u_xx + u_xxx",
        "u_t = -u_xxxx/50 - u_xx/5 + u_xxx",
    ],
)
def test_periodic_terms(text):
    problem = manufactured(text + " + f", fp.Interval(-1, 1, periodic=True), None, "cos(t)*exp(sin(pi*(x - t)))")
    assert solve_iga(problem, 41, 7).error()["rel_l2"] < 1e-8


def manufactured(text, interval, boundary, exact):
    """Return the problem whose solution is given: the forcing f makes up for what the equation leaves."""
    import sympy as sp

    x, t = sp.symbols("x t", real=True)
    u = sp.sympify(exact, {"x": x, "t": t})
    table = {f"u_{'x' * k}": sp.diff(u, x, k) for k in (1, 2, 3, 4)}
    table |= {"x": x, "t": t, "u": u, "u_t": sp.diff(u, t), "u_tt": sp.diff(u, t, 2), "f": 0}
    left, right = (sp.sympify(side, table) for side in text.split("="))
    velocity = {"initial_velocity": sp.diff(u, t).subs(t, 0)} if "u_tt" in text else {}
    parameters = {"f": sp.expand(left - right)} if "f" in text else {}
    return fp.Problem(text, interval, (0, 0.5), u.subs(t, 0), boundary, parameters=parameters, exact=u, **velocity)


# ---- the solution as a function -----------------------------------------------------------------------


def test_solution_evaluates_anywhere():
    solution = solve_iga(beam(), 21, 7)
    x, t = np.linspace(0, np.pi, 9)[:, None], np.linspace(0, 1, 4)
    assert solution(x, t) == pytest.approx(np.sin(2 * x) * np.cos(4 * t), abs=1e-6)
    assert solution(x, t, derivative=2) == pytest.approx(-4 * np.sin(2 * x) * np.cos(4 * t), abs=1e-4)
    assert solution(0.5, 0.25).shape == ()
    periodic = solve_iga(advection(), 21, 7)
    assert periodic(7.0, 1.0) == pytest.approx(periodic(7.0 - 2 * np.pi, 1.0), abs=1e-12)
    for place in ((4.0, 0.5), (1.0, 1.5), (np.nan, 0.5)):
        with pytest.raises(EvaluationError, match="outside"):
            solution(*place)


def test_error_is_defined_as_for_frozen_networks():
    """On a coarse mesh, where errors are no round-off: both functions, evaluated alike, have the same distance."""
    problem = heat()
    solution = solve_iga(problem, 6, 2)
    x, t = np.linspace(0, np.pi, 256), np.linspace(0, 0.2, 100)
    exact = np.exp(-4 * t) * np.sin(2 * x[:, None])
    gap = solution(x[:, None], t) - exact
    expected = np.linalg.norm(gap) / np.linalg.norm(exact)
    assert solution.error()["rel_l2"] == pytest.approx(expected, rel=1e-9)
    assert solution.error("u")["rmse"] == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-9)
    assert set(solution.error()) == set(fp.solve(problem, settings=fp.Settings(width=20)).error())


def test_error_needs_an_exact_solution():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    with pytest.raises(EvaluationError, match="no exact solution"):
        solve_iga(problem, 6, 2).error()


# ---- what it refuses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "boundary", "text"),
    [
        ("u_t + u*u_x = u_xx", "u = 0", "linear equation"),
        ("u_t = (1 + t)*u_xx", "u = 0", "linear equation"),
        ("u_t = (1 + x)*u_xx", "u = 0", "that of u_xx is"),
        (
            "u_t = u_xxx",
            {"left": "u = 0", "right": ["u = 0", "u_x = 0"]},
            "with a third derivative, IGA solves periodic",
        ),
        ("u_t = -u_xxxxxx", ["u = 0", "u_xx = 0", "u_xxxx = 0"], "no weak form for u_xxxxxx"),
        ("u_t = -u_xx", "u = 0", "not well posed"),
        ("u_t = u_xxxx", HINGED, "not well posed"),
        ("u_t + u_x = 0", {"left": "u = 0", "right": fp.Free()}, "periodic problems only"),
        ("u_t = u_xx", fp.Dirichlet("x"), "homogeneous"),
        ("u_t = u_xx", "u + u_x = 0", "homogeneous"),
        ("u_t = u_xx + u_x", "u_x = 0", "do not fit the weak form"),
        ("u_t = u_xx", ["u = 0", "u_x = 0"], "do not fit the weak form"),
        ("u_t = -u_xxxx", ["u = 0", "u_xxx = 0"], "do not fit the weak form"),
        ("u_t = -u_xxxx", ["u_x = 0", "u_xxx = 0"], "do not fit the weak form"),
        ("u_t = -u_xxxx", "u = 0", "do not fit the weak form"),
        ("u_t + 200*u_x = u_xx", "u = 0", "no usable eigenvectors"),
        ("u_t = u_xx + sin(1e6*t*t)", "u = 0", "too rapidly"),
    ],
)
def test_refused_problems(equation, boundary, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrozenPinnWarning)
        problem = fp.Problem(equation, fp.Interval(0, 1), (0, 1), 0, boundary)
    with pytest.raises(SettingsError, match=text):
        solve_iga(problem, 60, 4)


def test_refused_second_order_terms():
    for equation in ("u_tt = u_xx + u_x", "u_tt = u_xx + u_xxt"):
        problem = fp.Problem(equation, fp.Interval(0, 1), (0, 1), 0, "u = 0", 0)
        with pytest.raises(SettingsError, match="no weak form"):
            solve_iga(problem, 20, 4)


def test_refused_dimensions_and_systems():
    square = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), 0, "u = 0")
    system = fp.Problem(["u_t = u_xx", "v_t = v_xx"], fp.Interval(0, 1), (0, 1), [0, 0], ["u = 0", "v = 0"])
    for problem in (square, system):
        with pytest.raises(SettingsError, match="one equation in one dimension"):
            solve_iga(problem, 20, 4)


@pytest.mark.parametrize(("nodes", "degree"), [(2, 3), (20, 1)])
def test_refused_meshes(nodes, degree):
    with pytest.raises(SettingsError, match="at least 3 nodes and degree 2"):
        solve_iga(beam(), nodes, degree)


@pytest.mark.parametrize(
    ("nodes", "degree", "text"),
    [(40.5, 3, "40.5, 3"), (40, 3.0, "40, 3.0"), ("40", 3, "'40', 3"), (40, True, "40, True")],
)
def test_meshes_are_given_by_whole_numbers(nodes, degree, text):
    for solve, problem in ((solve_iga, beam()), (solve_iga, advection()), (solve_nonlinear_iga, shock_free())):
        with pytest.raises(SettingsError, match=rf"must be whole numbers, got {text}\."):
            solve(problem, nodes, degree)
    assert solve_iga(heat(), np.int64(8), np.int32(3)).size == 8


def test_refused_beyond_double_precision():
    with pytest.raises(SettingsError, match="double precision"):
        solve_iga(beam(), 700, 20)


# ---- benchmark ----------------------------------------------------------------------------------------


def bench(*arguments):
    result = CliRunner().invoke(cli.app, ["bench", *arguments, "--json", "-"], catch_exceptions=False)
    return json.loads(result.stdout)


def test_bench_records_have_the_same_form():
    ours, iga_record = bench("advection", "--method", "frozen-pinn", "--method", "iga", "--seeds", "2")
    assert set(ours) == set(iga_record)
    assert (ours["method"], iga_record["method"]) == ("frozen-pinn", "iga")
    assert iga_record["paper"] == {"rel_l2": 1.17e-10, "seconds": 0.07}
    assert iga_record["recipe"] == "paper"
    assert iga_record["rank"] == iga_record["width"] == 15
    assert iga_record["seeds"] == [0, 1]
    assert len(set(iga_record["rel_l2"]["values"])) == 1
    assert iga_record["estimate"]["values"] == [None, None]
    assert len(iga_record["seconds"]["values"]) == 2


def test_bench_runs_a_baseline_once_whatever_the_recipes():
    records = bench("wave", "--method", "iga", "--recipe", "best", "--recipe", "paper", "--seeds", "1")
    assert [(r["method"], r["recipe"], r["status"]) for r in records] == [("iga", None, "ok")]
    table = CliRunner().invoke(cli.app, ["bench", "wave", "--method", "iga", "--seeds", "1"]).stdout
    assert "own/high" in table


def test_bench_all_takes_the_cases_with_settings():
    records = bench("--all", "--method", "fem", "--seeds", "1")
    assert {r["case"] for r in records} == {name for name, case in CASES.items() if "fem" in case.baselines}
    assert all(r["status"] == "ok" for r in records)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("advection", "--method", "magic"), "unknown method 'magic'; choose one of .*'frozen-pinn', 'iga', "),
        (
            ("burgers", "--method", "fem"),
            "case 'burgers' has no settings for the method 'fem', only for .*'frozen-pinn', 'iga'",
        ),
        (("advection", "--method", "iga", "--precision", "low"), "high precision only"),
    ],
)
def test_refused_methods(arguments, text):
    with pytest.raises(SettingsError, match=text):
        bench(*arguments)


def test_baselines_load_lazily():
    """Only their names are known before one is asked for."""
    code = "import sys, frozenpinn.cli, frozenpinn_lab.runner; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert {name for name in loaded if "lab.peers." in name} <= {"frozenpinn_lab.peers.methods"}
    assert not loaded & {"jax", "optax", "skfem", "gmsh"}


def test_runge_kutta_agrees_with_the_closed_form():
    for problem, method in ((heat(), "radau"), (wave(), "dop853"), (advection(), "dop853"), (beam(), "radau")):
        exact, stepped = (solve_iga(problem, 12, 5, integrator=name) for name in ("exact", method))
        x, t = np.linspace(problem.domain.lower[0], problem.domain.upper[0], 20)[:, None], np.linspace(*problem.time, 5)
        assert np.max(np.abs(exact(x, t) - stepped(x, t))) < 1e-8


@pytest.mark.parametrize("text", ["u_t = -2*u_xxxx", "u_t = u_xxx - u_x"])
def test_first_order_with_higher_derivatives_is_integrated_implicitly(text):
    problem = manufactured(text + " + f", fp.Interval(0, np.pi, periodic=True), None, "exp(-t)*sin(2*x)")
    solution, implicit = (solve_baseline("iga", problem, nodes=40, degree=6, **more) for more in ({}, RADAU))
    assert np.array_equal(solution(1.0, [0.1, 0.3]), implicit(1.0, [0.1, 0.3]))
    assert solution.error()["rel_l2"] < 1e-7


@pytest.mark.parametrize("problem", [heat, wave, advection, beam])
def test_other_linear_equations_are_integrated_explicitly(problem):
    solution, explicit, implicit = (
        solve_baseline("iga", problem(), nodes=10, degree=5, **more) for more in ({}, {"integrator": "dop853"}, RADAU)
    )
    assert np.array_equal(solution(1.0, [0.1, 0.2]), explicit(1.0, [0.1, 0.2]))
    assert not np.array_equal(solution(1.0, [0.1, 0.2]), implicit(1.0, [0.1, 0.2]))


def test_unknown_integrators_are_refused():
    with pytest.raises(SettingsError, match="'exact' or one of 'BDF', 'DOP853'"):
        solve_iga(heat(), 12, 5, integrator="euler")


def test_budget_ends_a_step_by_step_solve():
    with pytest.raises(IntegrationError, match=r"budget of 1e-06 s was exceeded"):
        solve_iga(heat(), 40, 5, integrator="rk45", seconds=1e-6)


# ---- nonlinear equations ------------------------------------------------------------------------------


def shock_free(boundary="u = 0", periodic=False):
    """Return Burgers' equation with a variable diffusion and a forcing."""
    exact = {"u = 0": "cos(2*t)*sin(x)", "u_x = 0": "2 + cos(2*t)*cos(x)", None: "2 + cos(2*t)*sin(2*x)"}[boundary]
    interval = fp.Interval(0, np.pi, periodic=periodic)
    return manufactured("u_t + u*u_x = (1 + u**2)*u_xx - u**3 + f", interval, boundary, exact)


@pytest.mark.parametrize(("boundary", "periodic"), [("u = 0", False), ("u_x = 0", False), (None, True)])
@pytest.mark.parametrize("degree", [2, 3, 4])
def test_nonlinear_order_is_degree_plus_one(boundary, periodic, degree):
    problem, spans = shock_free(boundary, periodic), np.array([12, 18, 27])
    errors = [solve_nonlinear_iga(problem, int(n) + 1, degree, rtol=1e-9).error()["rel_l2"] for n in spans]
    assert -np.polyfit(np.log(spans), np.log(errors), 1)[0] == pytest.approx(degree + 1, abs=0.4)


def test_linear_equations_agree_with_the_linear_solver():
    problem = heat()
    one, other = solve_iga(problem, 12, 4), solve_nonlinear_iga(problem, 12, 4, rtol=1e-11)
    x, t = np.linspace(0, np.pi, 20)[:, None], np.linspace(0, 0.2, 7)
    assert one.size == other.size
    assert np.max(np.abs(one(x, t) - other(x, t))) < 1e-8


@pytest.mark.parametrize(("stages", "expected"), [(1, 1), (2, 3), (3, 5)])
def test_order_in_time(stages, expected):
    problem, x = shock_free(), np.linspace(0, np.pi, 20)
    reference = solve_nonlinear_iga(problem, 12, 4, steps=200)(x, 0.5)
    steps = np.array([8, 12, 18]) * (1 if stages == 3 else 3)
    errors = [
        np.linalg.norm(solve_nonlinear_iga(problem, 12, 4, steps=int(n), stages=stages)(x, 0.5) - reference)
        for n in steps
    ]
    assert -np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(expected, abs=0.5)


def test_burgers_reaches_the_published_error():
    """1.12e-7 with 750 nodes of degree 9."""
    solution = solve_nonlinear_iga(find_case("burgers").problem(), 750, 9, rtol=1e-7)
    assert solution.size == 756
    assert solution.error()["rel_l2"] == pytest.approx(1.12e-7, rel=0.1)
    assert solution.error(at=np.array([[-0.5], [0.5]]))["rel_l2"] < 1e-7


@pytest.mark.parametrize(
    ("equation", "boundary", "settings", "text"),
    [
        ("u_t = -u_xxxx - u*u_x", HINGED, {}, "third and fourth derivatives of nonlinear equations on periodic"),
        ("u_t = -(1 + u**2)*u_xxxx", HINGED, {}, "not of the form .*, plus constants times u_xxx and u_xxxx"),
        ("u_t = -(1 + x)*u_xxxx - u*u_x", HINGED, {}, "not of the form"),
        ("u_t = u_xx - u**2", "u = 1", {}, "one homogeneous condition"),
        ("u_t = u_xx - u**2", "u + u_x = 0", {}, "one homogeneous condition"),
        ("u_t = u_xx - u**2", "u_xx = 0", {}, "can't impose 'u_xx = 0'"),
        ("u_t = -u_xx - u**2", "u = 0", {}, "not well posed: the coefficient of the second derivatives is -1 "),
        ("u_t = u_xx - u**2", fp.Free(), {}, "one homogeneous condition"),
        ("u_t = -u*u_x", "u_x = 0", {}, "no second derivatives"),
        ("u_t = u_xx - u**2", "u = 0", {"nodes": 2}, "at least 3 nodes"),
        ("u_t = u_xx - u**2", "u = 0", {"rtol": 0}, "rtol must lie"),
    ],
)
def test_refused_nonlinear_problems(equation, boundary, settings, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrozenPinnWarning)
        problem = fp.Problem(equation, fp.Interval(0, 1), (0, 1), 0, boundary)
    with pytest.raises(SettingsError, match=text):
        solve_nonlinear_iga(problem, **{"nodes": 10, "degree": 3, **settings})


@pytest.mark.parametrize("term", ["u_xxx", "-u_xxx/3", "-u_xxxx/9", "u_xxx - u_xxxx/9 - u_xx/2"])
@pytest.mark.parametrize("degree", [3, 4])
def test_order_with_higher_derivatives(term, degree):
    """The error of a Galerkin method for an operator of order 2m falls with the power min(p + 1, 2(p + 1 - m))."""
    text, spans = f"u_t + u*u_x = {term} + f", np.array([24, 32, 48])
    problem = manufactured(text, fp.Interval(0, np.pi, periodic=True), None, "cos(2*t)*exp(sin(2*x))")
    errors = [solve_nonlinear_iga(problem, int(n) + 1, degree, rtol=1e-9).error()["rel_l2"] for n in spans]
    assert -np.polyfit(np.log(spans), np.log(errors), 1)[0] == pytest.approx(degree + 1, abs=0.6)


def test_higher_derivatives_agree_with_the_linear_solver():
    interval = fp.Interval(-1, 1, periodic=True)
    problem = fp.Problem("u_t = u_xxx/100 - u_xx/20 - u_xxxx/1000 - u_x", interval, (0, 1), "exp(sin(pi*x))")
    one, other = solve_iga(problem, 20, 5), solve_nonlinear_iga(problem, 20, 5, rtol=1e-10)
    x, t = np.linspace(-1, 1, 20)[:, None], np.linspace(0, 1, 7)
    assert np.max(np.abs(one(x, t) - other(x, t))) < 1e-7 * np.max(np.abs(one(x, t)))


def test_dispersion_conserves_energy():
    problem = fp.Problem("u_t + u*u_x = -u_xxx/400", fp.Interval(-1, 1, periodic=True), (0, 1), "cos(pi*x)")
    solution = solve_nonlinear_iga(problem, 60, 5, rtol=1e-8)
    x = -1 + np.arange(400) / 200
    energies = np.sum(solution(x[:, None], np.linspace(0, 1, 9)) ** 2, axis=0)
    np.testing.assert_allclose(energies, energies[0], rtol=1e-5)


def test_refused_higher_derivatives():
    interval = fp.Interval(0, 1, periodic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrozenPinnWarning)
        growing = fp.Problem("u_t = u_xxxx - u*u_x", interval, (0, 1), 0)
        fine = fp.Problem("u_t = u_xxx - u*u_x", interval, (0, 1), 0)
    with pytest.raises(SettingsError, match="not well posed: its fourth derivative has the wrong sign"):
        solve_nonlinear_iga(growing, 20, 4)
    with pytest.raises(SettingsError, match="at least 3 nodes and degree 2"):
        solve_nonlinear_iga(fine, 20, 1)


def test_refused_nonlinear_periodic_meshes_and_dimensions():
    for nodes, degree in ((6, 5), (4, 9), (5, 8)):
        with pytest.raises(SettingsError, match=f"more than {degree + 1} nodes here, got {nodes}"):
            solve_nonlinear_iga(shock_free(None, True), nodes, degree)
    assert solve_nonlinear_iga(shock_free(None, True), 7, 5, rtol=1e-4).size == 6
    square = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), 0, "u = 0")
    with pytest.raises(SettingsError, match="one dimension"):
        solve_nonlinear_iga(square, 10, 3)


def test_budget_ends_a_nonlinear_solve():
    with pytest.raises(IntegrationError, match="budget of"):
        solve_nonlinear_iga(find_case("burgers").problem(), 300, 5, seconds=0.05)


def test_blow_up_is_reported():
    problem = fp.Problem("u_t = u_xx + 50*u**3", fp.Interval(0, 1), (0, 1), "5*sin(pi*x)", "u = 0")
    with np.errstate(all="ignore"), pytest.raises(IntegrationError, match="became too small") as caught:
        solve_nonlinear_iga(problem, 10, 3, rtol=1e-4)
    assert 0 < caught.value.time < 0.1


# ---- from rest, and what is not finite ----------------------------------------------------------------

REST = {
    "heat": ("u_t = u_xx + sin(pi*x)", "u = 0", "(1 - exp(-pi**2*t))*sin(pi*x)/pi**2"),
    "growth": ("u_t = u_xx + u + 1", "u_x = 0", "exp(t) - 1"),
    "wave": ("u_tt = u_xx + sin(pi*x)", "u = 0", "(1 - cos(pi*t))*sin(pi*x)/pi**2"),
    "small": ("u_tt = u_xx + 1e-20*sin(pi*x)*(1 + pi**2*t**2/2)", "u = 0", "1e-20*t**2/2*sin(pi*x)"),
    "nothing": ("u_t = u_xx", "u = 0", "0"),
}


@pytest.mark.parametrize("integrator", ["dop853", "radau"])
@pytest.mark.parametrize("name", REST)
def test_start_from_rest(name, integrator):
    equation, boundary, exact = REST[name]
    velocity = {"initial_velocity": 0} if "u_tt" in equation else {}
    problem = fp.Problem(equation, fp.Interval(0, 1), (0, 1), "0", boundary, **velocity, exact=exact)
    solution = solve_baseline("iga", problem, nodes=12, degree=4, integrator=integrator, rtol=1e-8, seconds=20)
    assert solution.error()["rel_l2"] < 1e-6


@pytest.mark.parametrize("integrator", ["dop853", "radau"])
def test_a_load_that_is_not_finite_ends_a_linear_solve(integrator):
    problem = fp.Problem("u_t = u_xx + sqrt(0.1 - t)*x", fp.Interval(0, 1), (0, 1), "x*(1 - x)", "u = 0")
    with np.errstate(all="ignore"), pytest.raises(IntegrationError, match="not finite at t = ") as caught:
        solve_baseline("iga", problem, nodes=8, degree=3, integrator=integrator, seconds=20)
    assert 0.1 < caught.value.time < 1


@pytest.mark.parametrize("steps", [None, 20])
@pytest.mark.parametrize("term", ["sqrt(0.1 - t)*u**2", "exp(1000*u)", "u**2 + exp(2000*t)"])
def test_what_is_not_finite_ends_a_nonlinear_solve(term, steps):
    problem = fp.Problem(f"u_t = u_xx + {term}", fp.Interval(0, 1), (0, 1), "x*(1 - x)", "u = 0")
    with np.errstate(all="ignore"), pytest.raises(IntegrationError, match=r"at t = \d") as caught:
        solve_nonlinear_iga(problem, 8, 3, rtol=1e-4, steps=steps, seconds=60)
    assert "budget" not in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_states_that_are_not_finite_are_not_returned(bad):
    system = Semidiscrete(WeakForm(shock_free()), spline_elements(open_space(0, 1, 8, 3, (1, 1)), False, {}))
    state = np.full(system.elements.size, bad)
    for run in (
        lambda: integrate(system, (0, 1), state, 2, 4, Deadline(20)),
        lambda: integrate_adaptively(system, (0, 1), state, 1e-6, Deadline(20)),
    ):
        with pytest.raises(IntegrationError, match="not finite at t = 0"):
            run()


# ---- variable coefficients ------------------------------------------------------------------------------


@pytest.mark.parametrize("term", ["(1 + x)*u_xx", "(1 + t)*u_xx - x*u_x", "u_xx + sin(x)*u"])
def test_variable_coefficients_are_solved_by_name(term):
    problem = manufactured(f"u_t = {term} + f", fp.Interval(0, np.pi), "u = 0", "exp(-t)*sin(x)")
    assert problem.is_linear
    assert solve_baseline("iga", problem, nodes=20, degree=4).error()["rel_l2"] < 1e-6
    for method, more in (("iga", {"integrator": "radau"}), ("iga-exact", {})):
        with pytest.raises(SettingsError, match="constant coefficients"):
            solve_baseline(method, problem, nodes=20, degree=4, **more)


def test_variable_coefficients_of_second_order_in_time_are_refused():
    problem = fp.Problem("u_tt = (1 + x)*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", 0)
    with pytest.raises(SettingsError, match="constant coefficients"):
        solve_baseline("iga", problem, nodes=20, degree=4)
