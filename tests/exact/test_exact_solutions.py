"""Problems with exact solutions, solved with default settings: generality is measured, not claimed.

Each bound is about ten times the error seen over three seeds.
"""

import numpy as np
import pytest

import frozenpinn as fp

PI = np.pi
UNIT = fp.Interval(0, 1)
CIRCLE = fp.Interval(0, 2 * PI, periodic=True)
SQUARE = fp.Box([0, 0], [1, 1])


def transport(beta, end=1.0):
    return fp.Problem(
        "u_t + beta*u_x = 0", CIRCLE, (0, end), "sin(x)", parameters={"beta": beta}, exact="sin(x - beta*t)"
    )


def heat_robin():
    # a·tan(a) = 1 makes cos(a·x) obey u_x = 0 on the left and u + u_n = 0 on the right
    a = 0.8603335890193797
    sides = {"left": fp.Neumann(0), "right": fp.Robin(1, 1, 0)}
    return fp.Problem("u_t = u_xx", UNIT, (0, 1), "cos(a*x)", sides, parameters={"a": a}, exact="exp(-a**2*t)*cos(a*x)")


def heat_moving_end(value):
    sides = {"left": "u = 0", "right": fp.Dirichlet(value)}
    return fp.Problem("u_t = u_xx", UNIT, (0, 1), "sin(x)", sides, exact="exp(-t)*sin(x)")


def variable_coefficient():
    # manufactured: u = e^{-t} sin 2x for u_t + (1 + x/2) u_x = ((1 + x²) u_x)_x + f
    f = "exp(-t)*(-sin(2*x) + (2 + x)*cos(2*x) - 4*x*cos(2*x) + 4*(1 + x**2)*sin(2*x))"
    return fp.Problem(
        "u_t + (1 + x/2)*u_x = dx((1 + x**2)*u_x) + f",
        UNIT,
        (0, 1),
        "sin(2*x)",
        fp.Dirichlet("exp(-t)*sin(2*x)"),
        parameters={"f": f},
        exact="exp(-t)*sin(2*x)",
    )


def python_source():
    def f(x, t):
        return (-np.sin(t) + PI**2 * np.cos(t)) * np.sin(PI * x)

    return fp.Problem(
        "u_t = u_xx + f(x, t)", UNIT, (0, 2), "sin(pi*x)", "u = 0", parameters={"f": f}, exact="cos(t)*sin(pi*x)"
    )


def outflow():
    sides = {"left": "u = -sin(3*t)", "right": fp.Free()}
    return fp.Problem("u_t + u_x = 0", UNIT, (0, 1), "sin(3*x)", sides, exact="sin(3*(x - t))")


def schroedinger():
    return fp.Problem(
        ["u_t = -v_xx/2", "v_t = u_xx/2"],
        fp.Interval(0, PI),
        (0, 5),
        {"u": "sin(x) + sin(2*x)", "v": 0},
        fp.Dirichlet(0),
        exact={"u": "sin(x)*cos(t/2) + sin(2*x)*cos(2*t)", "v": "-sin(x)*sin(t/2) - sin(2*x)*sin(2*t)"},
    )


def maxwell():
    return fp.Problem(
        {"E": "B_x", "B": "E_x"},
        fp.Interval(0, PI),
        (0, 10),
        {"E": "sin(x)", "B": 0},
        [fp.Dirichlet(0, field="E"), fp.Free("B")],
        exact={"E": "cos(t)*sin(x)", "B": "sin(t)*cos(x)"},
    )


def coupled_conditions():
    sides = {"left": ["u_x = 0", "v = 0"], "right": ["u_x + pi/2*v = 0", "v_x - pi/2*u = 0"]}
    return fp.Problem(
        ["u_t = u_xx", "v_t = v_xx"],
        UNIT,
        (0, 0.5),
        {"u": "cos(pi*x/2)", "v": "sin(pi*x/2)"},
        sides,
        exact={"u": "exp(-pi**2/4*t)*cos(pi*x/2)", "v": "exp(-pi**2/4*t)*sin(pi*x/2)"},
    )


def mixed_orders():
    # a wave u driven by a decaying field v: first and second order in one system
    return fp.Problem(
        ["u_tt = u_xx + v", "v_t = v_xx"],
        fp.Interval(0, PI),
        (0, 2),
        {"u": "sin(x)/2", "v": "sin(x)"},
        fp.Dirichlet(0),
        initial_velocity={"u": "-sin(x)/2"},
        exact={"u": "exp(-t)*sin(x)/2", "v": "exp(-t)*sin(x)"},
    )


def fisher():
    front = "1/(1 + exp(x - 5*t))**2"
    initial = "1/(1 + exp(x))**2"
    return fp.Problem(
        "u_t = u_xx + 6*u*(1 - u)", fp.Interval(-5, 15), (0, 2), initial, fp.Dirichlet(front), exact=front
    )


def nonlinear_system():
    forcing = {
        "f": "-exp(-2*t)*sin(x)*cos(x) + exp(-3*t)*sin(x)**3",
        "g": "exp(-2*t)*sin(x)*cos(x)",
    }
    return fp.Problem(
        ["u_t = u_xx + u*v - u**3 + f", "v_t = v_xx - u*v + g"],
        fp.Interval(0, PI),
        (0, 1),
        {"u": "sin(x)", "v": "cos(x)"},
        ["u = 0", "v_x = 0"],
        parameters=forcing,
        exact={"u": "exp(-t)*sin(x)", "v": "exp(-t)*cos(x)"},
    )


def burgers_front():
    front = "(1 - tanh((x - t/2)/(4*nu)))/2"
    return fp.Problem(
        "u_t + dx(u**2/2) = nu*u_xx",
        fp.Interval(-1, 1),
        (0, 0.5),
        "(1 - tanh(x/(4*nu)))/2",
        fp.Dirichlet(front),
        parameters={"nu": 0.02},
        exact=front,
    )


def klein_gordon():
    u = "(x*cos(pi*t) + (x*t)**3)"
    f = f"-pi**2*x*cos(pi*t) + 6*x**3*t - 6*x*t**3 + {u}**3"
    return fp.Problem(
        "u_tt - u_xx + u**3 = f", UNIT, (0, 1), "x", fp.Dirichlet(u), initial_velocity=0, parameters={"f": f}, exact=u
    )


def kdv_soliton():
    return fp.Problem(
        "u_t + 6*u*u_x + u_xxx = 0",
        fp.Interval(-15, 15, periodic=True),
        (0, 1),
        "2*sech(x)**2",
        exact="2*sech(x - 4*t)**2",
    )


def heat_2d_all_conditions():
    sides = {
        "left": "u = exp(-3*t)*sin(2*y)",
        "right": fp.Neumann("exp(1 - 3*t)*sin(2*y)"),
        "bottom": fp.Dirichlet(0),
        "top": fp.Robin(1, 1, "exp(x - 3*t)*(sin(2) + 2*cos(2))"),
    }
    return fp.Problem("u_t = lap(u)", SQUARE, (0, 0.5), "exp(x)*sin(2*y)", sides, exact="exp(x - 3*t)*sin(2*y)")


def anisotropic_2d():
    return fp.Problem(
        "u_t = div([u_x, u_y/4])",
        fp.Box([0, 0], [2 * PI, 1], periodic=[True, False]),
        (0, 0.3),
        "sin(x)*sin(pi*y)",
        "u = 0",
        exact="exp(-(1 + pi**2/4)*t)*sin(x)*sin(pi*y)",
    )


def heat_4d():
    u = "x1 + x2**2 + x3*x4 + 2*t"
    box = fp.Box([0] * 4, [1] * 4)
    return fp.Problem("u_t = lap(u)", box, (0, 0.2), "x1 + x2**2 + x3*x4", fp.Dirichlet(u), exact=u)


CASES = {
    "transport, β = 40": (lambda: transport(40), 2e-11),
    "transport, β = 10⁴": (lambda: transport(1e4), 4e-10),
    "transport for 1000 time units": (lambda: transport(1, 1000), 5e-11),
    "transport of a steep profile": (
        lambda: fp.Problem("u_t + 10*u_x = 0", CIRCLE, (0, 1), "exp(sin(3*x))", exact="exp(sin(3*(x - 10*t)))"),
        2e-10,
    ),
    "transport with outflow": (outflow, 5e-8),
    "transport, speed cos t": (
        lambda: fp.Problem("u_t + cos(t)*u_x = 0", CIRCLE, (0, 5), "sin(x)", exact="sin(x - sin(t))"),
        3e-9,
    ),
    "heat, Robin": (heat_robin, 3e-11),
    "heat, Neumann": (
        lambda: fp.Problem(
            "u_t = u_xx", UNIT, (0, 0.5), "1 + cos(2*pi*x)", fp.Neumann(), exact="1 + exp(-4*pi**2*t)*cos(2*pi*x)"
        ),
        2e-10,
    ),
    "heat, end value by text": (lambda: heat_moving_end("exp(-t)*sin(1)"), 2e-9),
    "heat, end value by function": (lambda: heat_moving_end(lambda t: np.exp(-t) * np.sin(1)), 2e-9),
    "heat, Python source": (python_source, 2e-8),
    "advection–diffusion": (
        lambda: fp.Problem("u_t + u_x = 0.1*u_xx", CIRCLE, (0, 2), "sin(x)", exact="exp(-0.1*t)*sin(x - t)"),
        5e-11,
    ),
    "advection–diffusion, variable coefficients": (variable_coefficient, 2e-9),
    "wave, variable speed": (
        lambda: fp.Problem(
            "u_tt = dx((1 + x)**2*u_x)",
            UNIT,
            (0, 1),
            "sin(pi*log(1 + x)/log(2))/sqrt(1 + x)",
            "u = 0",
            initial_velocity=0,
            exact="sin(pi*log(1 + x)/log(2))/sqrt(1 + x)*cos(t*sqrt(pi**2/log(2)**2 + 1/4))",
        ),
        2e-11,
    ),
    "damped wave": (
        lambda: fp.Problem(
            "u_tt + 2*u_t = u_xx",
            fp.Interval(0, PI),
            (0, 3),
            "sin(2*x)",
            "u = 0",
            initial_velocity="-sin(2*x)",
            exact="exp(-t)*cos(sqrt(3)*t)*sin(2*x)",
        ),
        1e-10,
    ),
    "beam, simply supported": (
        lambda: fp.Problem(
            "u_tt + u_xxxx = 0",
            fp.Interval(0, PI),
            (0, 1),
            "sin(x)",
            ["u = 0", "u_xx = 0"],
            initial_velocity=0,
            exact="cos(t)*sin(x)",
        ),
        2e-8,
    ),
    "Schrödinger": (schroedinger, 1e-11),
    "Maxwell": (maxwell, 1e-11),
    "conditions that couple two fields": (coupled_conditions, 1e-8),
    "first and second order in one system": (mixed_orders, 1e-8),
    "Fisher–KPP": (fisher, 5e-7),
    "nonlinear system": (nonlinear_system, 5e-8),
    "Burgers front": (burgers_front, 5e-8),
    "Klein–Gordon": (klein_gordon, 1e-8),
    "Korteweg–de Vries soliton": (kdv_soliton, 2e-4),
    "2-d heat": (
        lambda: fp.Problem(
            "u_t = lap(u)",
            SQUARE,
            (0, 0.1),
            "sin(pi*x)*sin(2*pi*y)",
            "u = 0",
            exact="exp(-5*pi**2*t)*sin(pi*x)*sin(2*pi*y)",
        ),
        2e-8,
    ),
    "2-d heat, four kinds of conditions": (heat_2d_all_conditions, 2e-7),
    "2-d heat, anisotropic, half periodic": (anisotropic_2d, 2e-8),
    "2-d wave": (
        lambda: fp.Problem(
            "u_tt = lap(u)",
            SQUARE,
            (0, 1),
            "sin(pi*x)*sin(2*pi*y)",
            "u = 0",
            initial_velocity=0,
            exact="cos(sqrt(5)*pi*t)*sin(pi*x)*sin(2*pi*y)",
        ),
        2e-8,
    ),
    "4-d heat": (heat_4d, 1e-5),
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_error_against_the_exact_solution(name, seed):
    build, bound = CASES[name]
    solution = fp.solve(build(), seed=seed)
    for field in solution.problem.fields:
        assert solution.error(field)["rel_l2"] < bound


@pytest.mark.parametrize("name", ["transport of a steep profile", "2-d heat", "Fisher–KPP"])
def test_estimate_follows_the_true_error(name):
    solution = fp.estimate_error(fp.solve(CASES[name][0](), seed=0, settings=fp.Settings(width=60)))
    field = solution.problem.fields[0]
    truth = solution.error(field)["rel_l2"]
    assert truth / 30 < solution.error_estimate[field] < truth * 30
