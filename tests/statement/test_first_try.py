"""Statements as people write them the first time: what is understood, and what is said about the rest."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import ExpressionError

LINE = fp.Interval(0, 1)
SQUARE = fp.Box([0, 0], [1, 1])


def rod(equation="u_t = u_xx", boundary="u = 0", **more):
    return fp.Problem(equation, LINE, (0, 0.1), "sin(pi*x)", boundary, **more)


def test_ln_is_log():
    assert rod("u_t = u_xx + ln(1 + u**2)").equations == rod("u_t = u_xx + log(1 + u**2)").equations


def test_unknown_functions_are_answered_with_all_that_are_known():
    with pytest.raises(ExpressionError, match=r"unknown function 'foo'[^\n]*curl.*where, delta, dx, dt"):
        rod("u_t = u_xx + foo(u)")


def test_components_of_the_normal_have_names():
    disk = fp.Disk((0, 0), 1)
    named = fp.solve(fp.Problem("lap(u) - u = 3 - x**2 - 0*y", disk, boundary="u_n = 2*x*nx"), tol=1e-6)
    dotted = fp.solve(fp.Problem("lap(u) - u = 3 - x**2 - 0*y", disk, boundary="u_n = dot(n, [2*x, 0])"), tol=1e-6)
    places = np.array([[0.1, 0.2], [0.5, -0.4]])
    np.testing.assert_allclose(named(places), dotted(places))
    with pytest.raises(ExpressionError, match=r"The outward normal n = \[nx, ny\] is known in boundary conditions"):
        fp.Problem("lap(u) = nx", disk, boundary="u = 0")
    own = fp.Problem("lap(u) = 1", disk, boundary="u_n = nx", parameters={"nx": 0.5})
    assert own.conditions[0].value.expression == 0.5


def test_data_at_the_end_of_the_time_are_recognised():
    for name in ("terminal", "final"):
        with pytest.raises(fp.ProblemError, match="replace t by T - t in all texts: these data are then initial ones"):
            rod(**{name: "sin(pi*x)"})
    with pytest.raises(fp.ProblemError, match="If the data are those at the end T of the time, replace t by T - t"):
        fp.check(rod("u_t = -u_xx"))


def test_an_unknown_field_is_not_taken_for_a_slip():
    with pytest.raises(ExpressionError, match="another unknown field needs an equation of its own") as caught:
        fp.Problem("U_t + advect(U, U) = -grad(p)", SQUARE, (0, 1), "U = 0", "U = 0")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    "equation", ["u_t = lap(max(u - 2, 0))", "u_t = u_xx + dx(heaviside(u))", "u_t = u_xx + dxx(abs(u))"]
)
def test_kinks_in_fields_are_not_differentiated_twice(equation):
    with pytest.raises(ExpressionError, match=r"contains a delta function where .* = 0: .*Smooth it over a small"):
        rod(equation)


def test_kinks_in_fields_may_be_differentiated_once():
    assert str(rod("u_t = u_xx + dx(max(u, 0))").equations[0]) == "u_t = u_x*Heaviside(u) + u_xx"


def test_unused_parameters_are_told():
    assert "note (unused): the parameters 'mu', 'nu' are used nowhere: are their names in the equation others?" in str(
        fp.check(rod(parameters={"nu": 1, "mu": 2}))
    )
    assert "the parameter 'nu' is used nowhere: is its name in" in str(fp.check(rod(parameters={"nu": 1})))


@pytest.mark.parametrize(
    "used",
    [
        {"equation": "u_t = u_xx + q"},
        {"boundary": "u = q"},
        {"boundary": fp.Dirichlet("q")},
        {"boundary": {"left": ["u = q"], "right": fp.Dirichlet(0)}},
        {"exact": "q*v", "parameters": {"q": 1, "v": "exp(-pi**2*t)*sin(pi*x)"}},
        {"equation": "u_t = u_xx + p", "parameters": {"q": 0, "p": "q**2"}},
        {"equation": "u_t = u_xx + κ", "parameters": {"kappa": 0}},
        {"equation": "u_t = u_xx + q_x", "parameters": {"q": lambda x: 0 * x, "q_x": lambda x: 0 * x}},
    ],
)
def test_parameters_may_be_used_anywhere(used):
    assert "unused" not in {finding.kind for finding in fp.check(rod(**{"parameters": {"q": 0}, **used}))}


def test_fields_that_need_no_condition_are_free():
    waves, start = ["p_t = -v_x", "v_t = -p_x"], {"p": "cos(pi*x)", "v": 0}
    exact = {"p": "cos(pi*x)*cos(pi*t)", "v": "sin(pi*x)*sin(pi*t)"}
    short = fp.Problem(waves, LINE, (0, 1), start, "v = 0", exact=exact)
    long = fp.Problem(waves, LINE, (0, 1), start, ["v = 0", fp.Free("p")], exact=exact)
    assert short.conditions[0].text == long.conditions[0].text
    assert len(short.conditions) == len(long.conditions)
    solution = fp.solve(short, tol=1e-6)
    assert solution.status == "converged"
    assert max(solution.error(field)["relative"] for field in "pv") < 1e-6
    assert "nothing is imposed on 'p' on the sides 'left', 'right'" in str(fp.check(short))


def test_fields_that_need_a_condition_are_not_free():
    with pytest.raises(fp.ProblemError, match="no condition for 'v' on side 'left'"):
        fp.Problem(["u_t = u_xx", "v_t = v_xx + u"], LINE, (0, 1), [0, 0], "u = 0")
    carried = fp.Problem(["u_t = u_xx", "v_t = -v_x + u"], LINE, (0, 1), [0, 0], "u = 0")
    with pytest.raises(
        fp.ProblemError, match=r"side 'left' has 1 condition\(s\) for 2 field\(s\), but the equations need 2"
    ):
        fp.solve(carried)


def test_hints_use_the_names_of_the_fields():
    with pytest.raises(fp.ProblemError, match=r"write boundary=Dirichlet\(0\), boundary=\{'left': 'T = 0', …\}"):
        fp.Problem("T_t = T_xx", LINE, (0, 1), "sin(pi*x)")


def test_many_warnings_alike_are_one_line():
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        fp.Problem([f"{u}_t = {u}_xx" for u in "abcd"], LINE, (0, 1), ["1"] * 4, [f"{u} = 0" for u in "abcd"])
    assert len(caught) == 1
    assert str(caught[0].message).endswith("There are 7 more of this kind.")


def test_contradictions_below_the_tolerance_are_silent(recwarn):
    problem = fp.Problem("u_t = u_xx", LINE, (0, 0.1), "sin(pi*x) + 1e-9", "u = 0")
    assert fp.solve(problem, tol=1e-4).status == "converged"
    assert not recwarn.list


@pytest.mark.parametrize(
    ("gap", "offset", "tol", "at_statement", "at_solve"),
    [
        (1e-5, 0, 1e-3, 0, 0),
        (1e-5, 0, 1e-6, 0, 2),
        (1e-5, 0, None, 0, 2),
        (1e-2, 0, 1e-3, 2, 0),
        (1e-2, 300, 1e-3, 2, 0),
    ],
)
def test_contradictions_that_are_below_the_tolerance_are_no_warning(gap, offset, tol, at_statement, at_solve):
    def told(call):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            value = call()
        return value, sum("contradict" in str(w.message) for w in found)

    initial = f"{offset + gap} + sin(pi*x)"
    problem, first = told(lambda: fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), initial, f"u = {offset}"))
    _, later = told(lambda: fp.solve(problem, tol=tol))
    assert (first, later) == (at_statement, at_solve)
    assert len(fp.check(problem)) == 2
