"""Which equation determines which field, in systems where some have no time derivative."""

import pytest

import frozenpinn as fp
from frozenpinn import Box, Interval, Problem, ProblemError

LINE = Interval(0, 1)
SQUARE = Box([0, 0], [1, 1])
TORUS = Box([0, 0], [1, 1], periodic=True)


def orders(problem):
    return {equation.field: equation.order for equation in problem.equations}


@pytest.mark.parametrize(
    ("equations", "domain", "initial", "boundary", "determined"),
    [
        (["u_t = u_xx - w", "w + w^3 = u"], LINE, 0, "u = 0", {"w": "pointwise"}),
        (["w + w^3 = u", "u_t = u_xx - w"], LINE, 0, "u = 0", {"w": "pointwise"}),
        ({"u": "u_xx - w", "w": "w^3 + w = u"}, LINE, 0, "u = 0", {"w": "pointwise"}),
        (["u_t = mu_xx", "mu = u^3 - u - 0.01*u_xx"], LINE, 0, ["u_n = 0", "mu_n = 0"], {"mu": "pointwise"}),
        (["w_t + psi_y*w_x - psi_x*w_y = lap(w)", "lap(psi) = -w"], TORUS, 0, None, {"psi": "elliptic"}),
        (["psi_t = I*lap(psi) - I*V*psi", "lap(V) = abs(psi)^2"], TORUS, 0, None, {"V": "elliptic"}),
        (
            ["dt(p + div(U)) = lap(p)", "lap(U) + grad(div(U)) = grad(p)"],  # U_t stands in the equation of p
            SQUARE,
            0,
            ["U = 0", "p = 0"],
            {"Ux": "elliptic", "Uy": "elliptic"},
        ),
        (
            ["U_t + advect(U, U) = -grad(p) + lap(U)", "div(U) = 0"],
            SQUARE,
            {"U": [0, 0]},
            "U = 0",
            {"p": "multiplier"},
        ),
        (["u_t = u_xx", "w = u_xt"], LINE, 0, "u = 0", {"w": "pointwise"}),
    ],
)
def test_fields_without_a_time_derivative_are_found(equations, domain, initial, boundary, determined):
    problem = Problem(equations, domain, (0, 1), initial, boundary)
    assert problem.determined == determined
    assert {name for name, order in orders(problem).items() if not order} == set(determined)
    assert not problem.is_static
    assert set(problem.initial) == set(problem.evolving)


def test_a_time_derivative_of_another_field_is_inserted():
    problem = Problem(["u_t = u_xx", "w = u_xt"], LINE, (0, 1), 0, "u = 0")
    assert str(problem.equation("w")) in ("-u_xxx + w = 0", "w - u_xxx = 0")


def test_initial_data_are_asked_for_what_evolves_only():
    equations = ["u_t = u_xx - w", "w + w^3 = u"]
    assert Problem(equations, LINE, (0, 1), "sin(pi*x)", "u = 0").guess == {}
    for given in ({"u": 0, "w": 1}, [0, 1]):
        problem = Problem(equations, LINE, (0, 1), given, "u = 0")
        assert set(problem.initial) == {"u"}
        assert set(problem.guess) == {"w"}
    with pytest.raises(ProblemError, match="the initial value is missing for 'u'"):
        Problem(equations, LINE, (0, 1), {"w": 0}, "u = 0")


def test_the_check_tells_which_field_an_equation_determines():
    problem = Problem(["u_t = u_xx - w", "w + w^3 = u"], LINE, (0, 1), "sin(pi*x)", "u = 0")
    assert "note (structure): '-u + w**3 + w = 0' determines 'w' point by point." in str(fp.check(problem))


@pytest.mark.parametrize(
    ("equations", "words"),
    [
        (["u_t = u_xx + q_x", "lap(phi) = u"], "2 equation(s) for 3 field(s) ('phi', 'q', 'u')"),
        (["u_t = u_xx - w", "w = u", "w = 2*u"], "3 equation(s) for 2 field(s) ('u', 'w')"),
        (["u_t = u_xx + p + q", "u_x = 0", "u = 0"], "no equation is left that determines"),
        (
            ["u_t = v", "v_t = w*u", "u = sin(x)"],
            "the equations have the differentiation index 3, and up to 2 is supported: until all fields have a time "
            "derivative, one would have to differentiate 'u_t - v = 0' once and 'u - sin(x) = 0' twice by t",
        ),
        (["u_t - u_xxt = u", "w = u_t"], "is not solved for it; write one that is"),
    ],
)
def test_what_no_equation_determines(equations, words):
    with pytest.raises(ProblemError) as error:
        Problem(equations, LINE, (0, 1), 0, "u = 0")
    assert words in str(error.value)
