"""Problems without time: what is read, what is refused."""

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn.errors import ProblemError
from frozenpinn.statement.document import problem_from_dict, problem_to_dict

SQUARE = fp.Box([0, 0], [1, 1])
LINE = fp.Interval(0, 1)


def test_parts_of_a_static_equation():
    problem = fp.Problem("lap(u) - k*u = f + u**3", SQUARE, boundary="u = 0", parameters={"k": 2, "f": "sin(x)"})
    (equation,) = problem.equations
    assert problem.is_static
    assert problem.time == (0.0, 0.0)
    assert equation.order == 0
    assert {problem.jets.name(jet): c for jet, c in equation.linear.items()} == {"lap(u)": 1, "u": -2}
    assert equation.nonlinear == -(problem.jets.symbol(problem.jets.field("u")) ** 3)
    assert str(equation).endswith(" = 0")
    assert "t in" not in repr(problem)


def test_an_evolution_is_not_static():
    assert not fp.Problem("u_t = u_xx", LINE, (0, 1), 0, "u = 0").is_static


@pytest.mark.parametrize(
    ("texts", "fields"),
    [
        (["lap(u) = v", "lap(v) = 1"], ("u", "v")),
        (["u_x = v", "v_x = -u"], ("u", "v")),
        (["div(k*grad(p)) = w", "w_xx + w_yy = 1"], ("p", "w")),
        (["lap(u*v) = 1", "u - v = x"], ("u", "v")),
    ],
)
def test_unknowns_are_what_is_differentiated(texts, fields):
    conditions = [f"{name} = 0" for name in fields]
    assert fp.Problem(texts, SQUARE, boundary=conditions, parameters={"k": "1 + x"}).fields == fields


def test_a_dict_without_equals_means_zero():
    problem = fp.Problem({"u": "lap(u) - u"}, SQUARE, boundary="u = 1")
    assert problem.is_static


def test_sympy_equations():
    x, u = sp.Symbol("x", real=True), sp.Function("u")
    problem = fp.Problem(sp.Eq(u(x).diff(x, 2), sp.sin(x)), LINE, boundary="u = 0")
    assert problem.fields == ("u",)


def test_equations_go_with_the_field_that_they_differentiate_most():
    problem = fp.Problem(["lap(v) = u_x", "lap(u) = v"], SQUARE, boundary=["u = 0", "v = 0"])
    assert "lap(u)" in str(problem.equation("u"))
    assert "lap(v)" in str(problem.equation("v"))


@pytest.mark.parametrize(
    ("equation", "given", "words"),
    [
        ("u_t = u_xx", {}, r"'u_t' stands in a problem without time; write fp.Problem\(…, time=\(0, 1\), initial=…\)"),
        ("u_xx = t", {}, r"'t' stands in a problem without time"),
        ("u_xx = u", {"initial": "x"}, r"initial is given, but no time: a static problem has no initial data"),
        ("u = x", {}, r"no derivative in u = x: the unknown must be differentiated, as in lap\(u\) = 1"),
        ("u_aa + u_bb = 1", {}, r"as in lap\(u\) = 1 or u_xx = u\. The coordinates are x"),
        (["u_xx = v_x", "u_xx = 1", "v_x = 0"], {}, r"3 equation\(s\) for 2 unknown\(s\)"),
        ("u_xx = f_x", {}, r"1 equation\(s\) for 2 unknown\(s\).*'f', 'u'.*go into parameters"),
        ("u_xx = g", {}, r"unknown name 'g'"),
        ("u_xx = 0", {"exact": "x*t"}, r"the exact solution of u depends on t, but the problem has no time"),
    ],
)
def test_refused(equation, given, words):
    with pytest.raises(ProblemError, match=words):
        fp.Problem(equation, LINE, boundary="u = 0", **given)


def test_boundary_data_do_not_depend_on_time():
    with pytest.raises(ProblemError, match="depends on t, but the problem has no time"):
        fp.Problem("u_xx = 0", LINE, boundary="u = t")


def test_initial_data_are_needed_with_time():
    with pytest.raises(ProblemError, match=r"initial is missing: a problem with time=\(start, end\) needs"):
        fp.Problem("u_t = u_xx", LINE, (0, 1), boundary="u = 0")


def test_no_span_of_time():
    with pytest.raises(ProblemError, match=r"a static problem has no time; during\(…\)"):
        fp.Problem("u_xx = 0", LINE, boundary="u = 0").during((0, 1))


def test_constraints():
    problem = fp.Problem("lap(u) = 0", SQUARE, boundary="u_n = 0", constraint=["mean(u) = 2*pi", "u(0.5, 1/4) = -1"])
    mean, point = problem.constraints
    assert mean.point is None
    assert mean.value == pytest.approx(2 * np.pi)
    assert point.point.tolist() == [[0.5, 0.25]]
    assert point.value == -1.0


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ("u = 0", r"the constraint 'u = 0' is not understood; write for example constraint='mean\(u\) = 0'"),
        ("mean(w) = 0", r"names 'w'; the fields are 'u'"),
        ("u(2, 2) = 0", "lies outside the domain"),
        ("u(0) = 0", r"has 1 coordinate\(s\); there are 2"),
        ("mean(u) = x", "has 'x' where a number is needed"),
        (5, "a constraint is text, got 5"),
    ],
)
def test_bad_constraints(constraint, words):
    with pytest.raises(ProblemError, match=words):
        fp.Problem("lap(u) = 0", SQUARE, boundary="u_n = 0", constraint=constraint)


def test_constraints_are_for_static_problems():
    with pytest.raises(ProblemError, match="constraint= is for static problems"):
        fp.Problem("u_t = u_xx", LINE, (0, 1), 0, "u_n = 0", constraint="mean(u) = 0")


def test_other_values_stay_static():
    problem = fp.Problem("u_xx = k*u", LINE, boundary="u = 1", parameters={"k": 1.0})
    assert problem.at(k=2).is_static
    assert problem.with_symbols(["k"]).is_static


def test_documents():
    document = {
        "equation": "lap(u) - u = f",
        "domain": {"kind": "disk", "radius": 2.0},
        "boundary": "u_n = 0",
        "parameters": {"f": "x"},
        "constraint": "mean(u) = 0",
    }
    problem = problem_from_dict(document)
    assert problem.is_static
    again = problem_from_dict(problem_to_dict(problem))
    assert str(again.equations[0]) == str(problem.equations[0])
    assert again.constraints[0].text == "mean(u) = 0"


@pytest.mark.parametrize("key", ["time", "initial"])
def test_half_a_static_document(key):
    document = {"equation": "u_t = u_xx", "domain": {"lower": [0], "upper": [1]}, key: [0, 1]}
    with pytest.raises(ProblemError, match="is missing; a static problem has neither 'time' nor 'initial'"):
        problem_from_dict(document)


def test_an_exact_solution_is_checked():
    with pytest.warns(fp.FrozenPinnWarning, match=r"does not satisfy the equation of 'u': the relative residual is"):
        fp.Problem("u_xx = 2", LINE, boundary="u = x**3", exact="x**3")
    with pytest.warns(fp.FrozenPinnWarning, match=r"misses the condition 'u = 0' on side 'right' by 1\. Check"):
        fp.Problem("u_xx = 2", LINE, boundary="u = 0", exact="x**2")
