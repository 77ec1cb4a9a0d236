"""Equations without a time derivative beside others: pointwise relations and elliptic fields."""

from dataclasses import replace

import numpy as np
import pytest

import frozenpinn as fp

LINE = fp.Interval(0, 1)
TORUS = fp.Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True)


def largest_errors(solution, places=7):
    """Return the largest error of each field, and of its time derivative by differences of the exact solution."""
    problem = solution.problem
    x = problem.domain.sample(places, "random", 1).x
    start, end = problem.time
    times = np.linspace(start, end, 5)[1:-1]
    found = {}
    for name in problem.fields:
        exact, step = problem.exact[name], 1e-5 * (end - start)
        values = np.stack([np.broadcast_to(exact(x, t), len(x)) for t in times], axis=1)
        rates = np.stack([(exact(x, t + step) - exact(x, t - step)) / (2 * step) for t in times], axis=1)
        jet = problem.jets.field(name)
        error = np.max(np.abs(solution.jet_values(x, times, jet) - values))
        rate = np.max(
            np.abs(solution.jet_values(x, times, replace(jet, time=1)) - np.broadcast_to(rates, values.shape))
        )
        found[name] = (float(error), float(rate))
    return found


def check(problem, tol=1e-6, within=1e-6, rates=1e-4, **settings):
    solution = fp.solve(problem, tol=tol, settings=fp.Settings(**settings) if settings else None)
    assert solution.status == "converged"
    for error, rate in largest_errors(solution).values():
        assert error < within
        assert rate < rates
    return solution


def test_a_linear_elliptic_field_leaves_a_closed_form():
    rate = -(np.pi**2) - 1 / (np.pi**2 + 1)
    problem = fp.Problem(
        ["u_t = u_xx - w", "w_xx - w = -u"],
        LINE,
        (0, 0.2),
        "sin(pi*x)",
        ["u = 0", "w = 0"],
        exact={"u": f"exp({rate}*t)*sin(pi*x)", "w": f"exp({rate}*t)*sin(pi*x)/(1 + pi^2)"},
    )
    solution = check(problem, within=1e-11)
    assert solution.pieces[0].trajectory.steps == 0


def test_a_pointwise_relation_that_is_not_linear():
    w = "(exp(-t)*sin(pi*x))"
    problem = fp.Problem(
        ["u_t = u_xx - w + f", "w + w^3 = u"],
        LINE,
        (0, 0.3),
        f"{w} + {w}^3".replace("exp(-t)", "1"),
        "u = 0",
        parameters={"f": f"dt({w} + {w}^3) - dxx({w} + {w}^3) + {w}"},
        exact={"u": f"{w} + {w}^3", "w": w},
    )
    check(problem)


@pytest.mark.parametrize("box", [TORUS, fp.Box([0, 0], [np.pi, np.pi])])
def test_vorticity_and_its_stream_function(box):
    problem = fp.Problem(
        ["w_t + psi_y*w_x - psi_x*w_y = nu*lap(w)", "lap(psi) = -w"],
        box,
        (0, 1),
        "2*sin(x)*sin(y)",
        ["w = 0", "psi = 0"] if box.sides else None,
        parameters={"nu": 0.1},
        exact={"w": "2*exp(-0.2*t)*sin(x)*sin(y)", "psi": "exp(-0.2*t)*sin(x)*sin(y)"},
    )
    check(problem, tol=1e-5)


def test_boundary_data_in_time_move_an_elliptic_field():
    problem = fp.Problem(
        ["u_t = u_xx + w + f", "w_xx = u*x"],
        LINE,
        (0, 1),
        0,
        {"left": ["u = 0", "w = 0"], "right": ["u = 0", "w = sin(3*t)"]},
        parameters={"f": "x - x^2 + 2*t - w_", "w_": "t*(x^4/12 - x^5/20 - x/30) + x*sin(3*t)"},
        exact={"u": "t*(x - x^2)", "w": "t*(x^4/12 - x^5/20 - x/30) + x*sin(3*t)"},
    )
    check(problem)


def test_an_elliptic_operator_that_evolves():
    problem = fp.Problem(
        ["u_t = u_xx + phi - g", "dx((1 + u)*phi_x) = s"],
        LINE,
        (0, 0.5),
        0,
        {"left": ["u = 0", "phi = 0"], "right": ["u = 0", "phi = 1 + t"]},
        parameters={"g": "phi0 - 2*t - x + x^2", "phi0": "x*(1 + t)", "s": "(1 + t)*t*(1 - 2*x)"},
        exact={"u": "t*(x - x^2)", "phi": "x*(1 + t)"},
    )
    check(problem)


def test_a_law_couples_fields_with_and_without_time_derivative():
    n, phi = "(1 + x*exp(-t)/4)", "(x^2*(1 + t)/2)"
    problem = fp.Problem(
        ["n_t = n_xx + dx(n*phi_x) + f", "phi_xx = n + g"],
        LINE,
        (0, 0.3),
        "1 + x/4",
        {
            "left": ["n_n + n*phi_n = -exp(-t)/4", "phi = 0"],
            "right": [f"n_n + n*phi_n = exp(-t)/4 + {n}*(1 + t)", "phi = (1 + t)/2"],
        },
        parameters={"f": f"dt({n}) - dxx({n}) - dx({n}*dx({phi}))", "g": f"1 + t - {n}"},
        exact={"n": n, "phi": phi},
    )
    check(problem, tol=1e-5, within=1e-5)


def test_a_time_derivative_of_a_determined_field():
    decay = "exp(-2*pi^2*t)"
    problem = fp.Problem(
        ["dt(p + u_x) = p_xx", "u_xx = p_x"],
        LINE,
        (0, 0.1),
        "sin(2*pi*x)",
        ["p = 0", "u = 0"],
        exact={"p": f"{decay}*sin(2*pi*x)", "u": f"{decay}*(1 - cos(2*pi*x))/(2*pi)"},
    )
    check(problem, within=1e-10)


def test_a_first_order_system_of_determined_fields():
    problem = fp.Problem(
        ["c_t + q*c_x = f", "q = -p_x", "q_x = c"],
        LINE,
        (0, 0.5),
        "2*x",
        {"left": ["p = 0", "c = 0"], "right": ["p = -exp(-t)/3", fp.Free("c")]},
        parameters={"f": "-2*x*exp(-t) + 2*x^2*exp(-2*t)"},
        exact={"c": "2*x*exp(-t)", "q": "x^2*exp(-t)", "p": "-x^3*exp(-t)/3"},
    )
    check(problem, tol=1e-5, within=1e-5)


def test_a_determined_field_beside_a_wave():
    problem = fp.Problem(
        ["u_tt = u_xx - phi", "phi_xx = -u"],
        LINE,
        (0, 1),
        "sin(pi*x)",
        ["u = 0", "phi = 0"],
        initial_velocity=0,
        exact={"u": "cos(k*t)*sin(pi*x)", "phi": "cos(k*t)*sin(pi*x)/pi^2"},
        parameters={"k": float(np.sqrt(np.pi**2 + np.pi**-2))},
    )
    check(problem, within=1e-8)


def test_what_an_operator_leaves_open_has_mean_zero():
    problem = fp.Problem(
        ["u_t = u_xx - dx(u*phi_x)", "phi_xx = u - 1"],
        fp.Interval(0, 1, periodic=True),
        (0, 0.1),
        "1 + cos(2*pi*x)/2",
    )
    assert "its mean is taken to be zero" in str(fp.check(problem))
    solution = fp.solve(problem, tol=1e-6)
    assert solution.status == "converged"
    x = np.linspace(0, 1, 65)[:-1]
    assert abs(np.mean(solution(x, 0.1, field="phi"))) < 1e-9


def test_sources_that_do_not_balance_are_refused():
    problem = fp.Problem(["u_t = u_xx", "phi_xx = u - 1"], LINE, (0, 0.1), 2, ["u_n = 0", "phi_n = 0"])
    with pytest.raises(fp.ProblemError, match="determines 'phi' up to a constant, and its sources do not balance"):
        fp.solve(problem, tol=1e-4)


def test_a_root_that_vanishes_is_told_with_its_time():
    problem = fp.Problem(["u_t = 4 + 0*u_xx", "w^3 - 3*w = u"], LINE, (0, 1), {"u": 0, "w": -1.8}, fp.Free())
    with pytest.raises(
        fp.IntegrationError, match=r"stopped at t = 0\.(49\d*|5|50\d*): the solution of .* for 'w' is lost"
    ):
        fp.solve(problem, tol=1e-4)


def test_a_start_chooses_the_root():
    for start in (-1.8, 0.1, 1.8):
        problem = fp.Problem(
            ["u_t = -u + 0*u_xx", "w^3 - 3*w = u"], LINE, (0, 1), {"u": "0.1*x", "w": start}, fp.Free()
        )
        solution = fp.solve(problem, tol=1e-6)
        assert abs(solution(0.0, 1.0, field="w") - np.sign(np.round(start)) * np.sqrt(3)) < 1e-6


def test_a_start_without_a_root_is_refused():
    problem = fp.Problem(["u_t = u_xx - w", "w^2 + 1 = u"], LINE, (0, 1), {"u": 0, "w": 1}, fp.Free("u"))
    with pytest.raises(fp.ConvergenceError, match=r"for 'w' is lost at t = 0: .* Give a value near it in initial"):
        fp.solve(problem, tol=1e-4)


def test_stored_solutions_have_all_fields(tmp_path):
    problem = fp.Problem(["u_t = u_xx - w", "w + w^3 = u"], LINE, (0, 0.2), "sin(pi*x)", "u = 0")
    solution = fp.solve(problem, tol=1e-5)
    file = tmp_path / "solution.fpinn"
    solution.save(str(file))
    x = np.linspace(0, 1, 9)
    for t in (0.0, 0.07, 0.2):
        assert np.allclose(fp.load(str(file))(x, t, field="w"), solution(x, t, field="w"), atol=1e-6)


def test_steady_states_and_their_stability():
    cells = fp.Problem(
        ["u_t = u_xx - dx(u*c_x)", "c_xx - c = -u"], LINE, (0, 1), "1 + cos(pi*x)/2", ["u_n = 0", "c_n = 0"]
    )
    found = fp.stability(fp.steady(cells, constraint="mean(u) = 1"), 3).values
    square = (np.pi * np.arange(3)) ** 2
    assert np.allclose(found, square / (1 + square) - square, atol=1e-6)


def test_a_stop_and_a_quantity_of_a_determined_field():
    problem = fp.Problem(["u_t = u_xx", "w_xx = -pi^2*u"], LINE, (0, 0.3), "sin(pi*x)", ["u = 0", "w = 0"])
    stopped = fp.solve(problem, tol=1e-6, stop="max(w) < 0.5")
    assert abs(float(stopped.event) - np.log(2) / np.pi**2) < 1e-6
    mean = fp.solve(problem, tol=1e-6, quantity="mean(w, t=0.1)").quantity
    assert abs(float(mean) - 2 / np.pi * np.exp(-0.1 * np.pi**2)) < 1e-6


def test_modes_of_products_are_shared_with_the_fields_that_follow():
    from frozenpinn.assembly.modal_equations import _with_determined

    problem = fp.Problem(
        ["u_t = 0.1*lap(m) + p_x*u_y - p_y*u_x", "m = u^3 - u - 0.01*lap(u)", "lap(p) = -u"],
        fp.Box([0, 0], [1, 1], periodic=True),
        (0, 0.1),
        "sin(2*pi*x)*cos(2*pi*y)",
    )
    system = fp.solve(problem, settings=fp.Settings(width=12)).system
    z, y = system.elimination.determined, system.initial_state
    modes = system.linear.position.spectrum()
    load = _with_determined(z, system.pointwise, modes.vectors, modes.left, system.layout.blocks)
    wanted = modes.left @ (system.rhs(0.0, y) - system.linear @ y)
    assert np.allclose(load(0.0, modes.left @ y), wanted, atol=1e-9 * np.max(np.abs(wanted)))
