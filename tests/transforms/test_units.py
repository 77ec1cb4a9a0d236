"""Units do not matter: neither those of lengths, times and fields, nor fields of very different size."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.analysis.scales import Scales, nondimensional, scales_of, sizes_of
from frozenpinn.analysis.wellposedness import examine
from frozenpinn.transforms import Units


def units_of(solution):
    units = solution.pieces[0].view(Units)
    return None if units is None else units.scales


UNITS = [(1e-9, 1.0, 1.0), (1e9, 1e-9, 1e-9), (1.0, 1e9, 1e9), (1e-6, 1e-9, 1e6)]


def heat(L, T, U):
    given = {"k": 0.1 * L**2 / T, "U": U, "L": L, "T": T}
    data = {"left": "u = U*exp(0.1*t/T)", "right": "u_x = U/L*exp(1 + 0.1*t/T)"}
    exact = "U*exp(x/L + 0.1*t/T)"
    return fp.Problem("u_t = k*u_xx", fp.Interval(0, L), (0, T), "U*exp(x/L)", data, parameters=given, exact=exact)


def wave(L, T, U):
    given = {"c": L**2 / T**2, "U": U, "L": L, "T": T}
    exact = "U*sin(pi*x/L)*cos(pi*t/T)"
    return fp.Problem("u_tt = c*u_xx", fp.Interval(0, L), (0, T), "U*sin(pi*x/L)", "u = 0", 0, given, exact)


def burgers(L, T, U):
    given = {"q": L / T / U, "nu": 0.05 * L**2 / T, "U": U, "L": L, "T": T}
    exact = "U*(1 - tanh(5*(x/L - 0.3 - 0.5*t/T)))/2"
    sides = {"left": "u = " + exact.replace("x/L", "0"), "right": "u = " + exact.replace("x/L", "1")}
    start = exact.replace("t/T", "0")
    return fp.Problem("u_t + q*u*u_x = nu*u_xx", fp.Interval(0, L), (0, T), start, sides, parameters=given, exact=exact)


def plate(L, T, U):
    given = {"a": 0.1 * L**2 / T, "b": 1e3 * L**2 / T, "U": U, "L": L, "M": 100 * L, "T": T}
    exact = "U*sin(pi*x/L)*sin(pi*y/M)*exp(-0.2*pi**2*t/T)"
    box = fp.Box([0, 0], [L, 100 * L])
    initial = "U*sin(pi*x/L)*sin(pi*y/M)"
    return fp.Problem("u_t = a*u_xx + b*u_yy", box, (0, T), initial, "u = 0", parameters=given, exact=exact)


def rotation(U, V, c=1.0):
    """Two fields that feed each other, whatever their sizes; v starts from zero."""
    given = {"U": U, "V": V, "c": c}
    decay = "exp(-0.05*pi**2*t)*sin(pi*x)"
    exact = {"u": f"U*cos(c*t)*{decay}", "v": f"-V*sin(c*t)*{decay}"}
    equations = {"u": "0.05*u_xx + c*U/V*v", "v": "0.05*v_xx - c*V/U*u"}
    initial = {"u": "U*sin(pi*x)", "v": 0}
    return fp.Problem(equations, fp.Interval(0, 1), (0, 1), initial, fp.Dirichlet(0), parameters=given, exact=exact)


def reaction(U, V):
    """A nonlinear system with sources, conditions of two kinds, and Python functions as data."""
    given = {"U": U, "V": V, "a": 0.05 * np.pi**2 - 1}
    source_u = "U*exp(-t)*sin(pi*x)*(a - exp(-t)*cos(pi*x))"
    source_v = "V*exp(-t)*(a*cos(pi*x) - exp(-t)*sin(pi*x)**2)"
    equations = {"u": f"0.05*u_xx + u*v/V + {source_u}", "v": f"0.05*v_xx + V*(u/U)**2 + {source_v}"}
    initial = {"u": lambda x: U * np.sin(np.pi * x), "v": "V*cos(pi*x)"}
    exact = {"u": "U*sin(pi*x)*exp(-t)", "v": "V*cos(pi*x)*exp(-t)"}
    sides = [fp.Dirichlet(0, field="u"), fp.Neumann(0, field="v")]
    return fp.Problem(equations, fp.Interval(0, 1), (0, 1), initial, sides, parameters=given, exact=exact)


def solved(problem, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fp.solve(problem, settings=fp.Settings(**settings))


def errors(solution):
    return np.array([solution.error(name)["rel_l2"] for name in solution.problem.fields])


@pytest.mark.parametrize("build", [heat, wave, burgers, plate])
def test_units_do_not_change_relative_errors(build):
    settings = {"width": 24} if build is plate else {"width": 100}
    reference = errors(solved(build(1.0, 1.0, 1.0), **settings))
    for units in UNITS:
        assert np.all(errors(solved(build(*units), **settings)) < 10 * reference + 1e-12)


@pytest.mark.parametrize("build", [rotation, reaction])
def test_fields_of_very_different_size(build):
    reference = errors(solved(build(1.0, 1.0), width=100))
    for sizes in [(1e6, 1e-6), (1e-6, 1e6), (1.0, 1e9)]:
        solution = solved(build(*sizes), width=100)
        assert np.all(errors(solution) < 10 * reference + 1e-12)
        assert max(solution.residuals.pde.values()) < 1e-5
        assert np.all(np.fromiter(fp.estimate_error(solution).error_estimate.values(), float) < 100 * reference)


def test_weak_coupling():
    assert np.all(errors(solved(rotation(1e6, 1e-6, c=1e-3), width=100)) < 1e-9)


def test_even_fields_are_left_alone():
    assert scales_of(rotation(1.0, 10.0)) is None
    assert scales_of(heat(1e-9, 1.0, 1e9)) is None  # a single field has nothing to be compared with


def test_the_units_are_reported():
    problem = rotation(1e6, 1e-6)
    (finding,) = examine(problem)
    assert (finding.kind, finding.severity) == ("scales", "note")
    assert "u is measured in units of 1e+06, v in units of 1e-0" in finding.text


def test_derivatives_and_stored_solutions_are_in_the_units_of_the_user(tmp_path):
    solution = solved(reaction(1e6, 1e-6), width=100)
    x = np.linspace(0, 1, 9)
    slope = -np.pi * 1e-6 * np.sin(np.pi * x) * np.exp(-0.5)
    assert np.allclose(solution(x, 0.5, field="v", derivative="x"), slope, rtol=1e-6, atol=1e-14)
    assert np.allclose(solution(x, 0.5, field="v", derivative="xt"), -slope, rtol=1e-4, atol=1e-11)
    solution.save(str(tmp_path / "solution.npz"))
    loaded = fp.load(str(tmp_path / "solution.npz"))
    for name in ("u", "v"):
        assert np.array_equal(loaded(x, 0.5, field=name), solution(x, 0.5, field=name))


def test_a_field_that_grows_out_of_its_unit_is_solved_again():
    """An infection starts small and does not stay so: its initial size is no unit for it."""
    equations = {"S": "0.01*S_xx - 20*S*I", "I": "0.01*I_xx + 20*S*I - I"}
    start = {"S": 1, "I": "1e-5*(1 + cos(pi*x))"}
    problem = fp.Problem(equations, fp.Interval(0, 1), (0, 1), start, fp.Neumann(0))
    assert scales_of(problem) is not None
    solution = solved(problem, width=60)
    assert scales_of(problem) is not None  # what a solve has learnt changes nothing about the problem
    assert np.array_equal(
        solution(0.5, 1.0, field="S"), fp.solve(problem, settings=fp.Settings(width=60))(0.5, 1.0, field="S")
    )


def test_sizes_of_fields_without_data_follow_what_drives_them():
    sizes = sizes_of(rotation(1e6, 1e-6))
    assert 1e5 < sizes["u"] < 1e7
    assert 1e-7 < sizes["v"] < 1e-5
    assert sizes_of(rotation(1.0, 1.0, c=1e6))["v"] < 10  # fast rotation does not make it large


def test_conditions_that_couple_fields_are_scaled_together():
    boundary = {"left": ["u = 1e8*v", "u_x = 1e8*v_x"], "right": ["u = 0", "v = 0"]}
    initial = {"u": "1e8*cos(pi*x/2)", "v": "cos(pi*x/2)"}
    equations = {"u": "u_xx", "v": "v_xx"}
    problem = fp.Problem(equations, fp.Interval(0, 1), (0, 1), initial, boundary)
    scaled = nondimensional(problem, Scales({"u": 8, "v": 0}))
    first = scaled.conditions[0]
    points = problem.domain.sample_side("left", 1)
    assert [float(c[0]) for c in first.coefficients_at(points)] == [1.0, -1.0]
    assert float(scaled.initial["u"](np.zeros((1, 1)))[0]) == 1.0


@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1e6, 1e-6)])
def test_the_error_is_estimated_in_the_units_of_the_solution(sizes, monkeypatch):
    solution = solved(rotation(*sizes), width=40)
    monkeypatch.setattr("frozenpinn.evolution.kind.Evolution.sizes", None)  # they are known, and not looked for again
    assert fp.estimate_error(solution).witness.notes == solution.notes
    assert units_of(solution) == (None if sizes == (1.0, 1.0) else scales_of(solution.problem))


# ---- static systems: sizes show in a first solve ------------------------------------------------------


def coupled_statics(V, nonlinear=""):
    exact = {"u": "exp(x)*cos(y) + x*y", "v": "V*sin(x + 2*y)"}
    given = {
        "V": V,
        "f": f"(exp(x)*cos(y) + x*y)/10 + sin(x + 2*y){nonlinear.replace('u', '(exp(x)*cos(y) + x*y)')}",
        "g": "V*(exp(x)*cos(y) + x*y - 6*sin(x + 2*y))",
    }
    equations = [f"lap(u) + u/10 + v/V{nonlinear} = f", "lap(v) - v + V*u = g"]
    data = [f"{name} = {value}" for name, value in exact.items()]
    return fp.Problem(equations, fp.Disk(), boundary=data, parameters=given, exact=exact)


@pytest.mark.parametrize("nonlinear", ["", " - u^3/9"])
@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_static_fields_of_very_different_size(size, nonlinear):
    solution = fp.solve(coupled_statics(size, nonlinear), tol=1e-8)
    assert solution.status == "converged"
    assert max(solution.error(name)["rel_l2"] for name in ("u", "v")) < 1e-8
    assert "v in units of 1e" in solution.notes[-1]
    assert units_of(solution).unit("v") == pytest.approx(size)


def test_static_fields_of_similar_size_keep_their_units():
    assert units_of(fp.solve(coupled_statics(100.0), tol=1e-6)) is None


def test_sizes_without_which_no_first_solve_succeeds():
    exact = {"phi": "cos(2*x + y)", "n": "N*(1 + sin(3*x)*y/2)"}
    density, slope = "(1 + sin(3*x)*y/2)", "3*cos(3*x)*y/2*2*sin(2*x + y) + sin(3*x)/2*sin(2*x + y)"
    given = {
        "N": 1e21,
        "f": f"-5*cos(2*x + y) - {density}",
        "g": f"N*(-9*sin(3*x)*y/2 + {slope} + 5*{density}*cos(2*x + y))",
    }
    equations = ["lap(phi) - n/N = f", "div(grad(n) - n*grad(phi)) = g"]
    data = [f"{name} = {value}" for name, value in exact.items()]
    solution = fp.solve(fp.Problem(equations, fp.Disk(), boundary=data, parameters=given, exact=exact), tol=1e-8)
    assert solution.status == "converged"
    assert max(solution.error(name)["rel_l2"] for name in exact) < 1e-8


def test_boundary_data_that_are_round_off_say_nothing_of_sizes():
    wave, source = "sin(pi*x)*sin(pi*y)", "exp(x)*cos(y)"
    problem = fp.Problem(
        ["lap(u) - u + v^2 = f", "lap(v) - v^3 + u = g"],
        fp.Box([0, 0], [1, 1]),
        boundary=[f"u = {source}", f"v = {wave}"],  # 1e-16 on two sides
        parameters={"f": f"({wave})^2 - {source}", "g": f"-2*pi^2*{wave} - ({wave})^3 + {source}"},
        exact={"u": source, "v": wave},
    )
    solution = fp.solve(problem, tol=1e-8)
    assert (solution.status, units_of(solution)) == ("converged", None)
    assert solution.error("v")["rel_l2"] < 1e-8
    assert not any(finding.kind == "scales" for finding in examine(problem))


def test_a_pressure_that_vanishes_has_no_unit_of_its_own():
    equations = ["u*u_x + v*u_y = -p_x + lap(u)", "u*v_x + v*v_y = -p_y + lap(v)", "u_x + v_y = 0"]
    couette = fp.Problem(
        equations,
        fp.Box([0, 0], [1, 1]),
        boundary=["u = y", "v = 0", fp.Free("p")],
        constraint="mean(p) = 0",
        exact={"u": "y", "v": "0", "p": "0"},
    )
    solution = fp.solve(couette, tol=1e-6)
    assert solution.status == "converged"
    assert units_of(solution) is None
    assert solution.error("u")["rel_l2"] < 1e-6
    assert np.max(np.abs(solution(np.linspace(0.1, 0.9, 9), 0.4, field="p"))) < 1e-6
