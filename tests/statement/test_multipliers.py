"""Which field is the multiplier of which constraint."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import ProblemError
from frozenpinn.statement.multipliers import multipliers, saddle, without_multipliers

SQUARE = fp.Box([0, 0], [1, 1])
FLOW = ["U_t + advect(U, U) = -grad(p) + nu*lap(U)", "div(U) = 0"]
STEADY = ["advect(U, U) = -grad(p) + nu*lap(U)", "div(U) = 0"]


def flow(equations=FLOW, **changed):
    own = {"initial": {"U": [0, 0]}, "boundary": "U = 0", "vectors": ("U",), "parameters": {"nu": 0.1}} | changed
    return fp.Problem(equations, own.pop("domain", SQUARE), (0, 1), **own)


def steady(equations=STEADY, **changed):
    own = {"boundary": "U = 0", "vectors": ("U",), "parameters": {"nu": 0.1}} | changed
    return fp.Problem(equations, SQUARE, **own)


def test_a_pressure_is_the_multiplier_of_the_divergence():
    (constraint,) = saddle(flow()).constraints
    assert constraint.multiplier == "p"
    assert constraint.terms == {"Ux": {(1, 0): 1.0}, "Uy": {(0, 1): 1.0}}
    assert constraint.factor == 1.0  # C* p = −∇p stands on the right
    assert constraint.is_gradient
    assert constraint.is_homogeneous


def test_equations_without_the_multiplier_keep_the_rest():
    inner = without_multipliers(flow())
    assert inner.fields == ("Ux", "Uy")
    assert inner.groups == (("Ux", "Uy"),)
    assert str(inner.equations[0]) == "Ux_t = -Ux*Ux_x - Ux_y*Uy + 0.1*lap(Ux)"


def test_static_equations_are_matched_and_scaled_to_each_other():
    written = ["2*p_x = 0.2*lap(u)", "-lap(v)/10 = -p_y", "v_y + u_x = 0", "lap(T) = u"]
    problem = fp.Problem(written, SQUARE, boundary=["u = 0", "v = 0", "T = 0"])
    found = saddle(problem)
    assert [c.multiplier for c in found.constraints] == ["p"]
    assert {e.field for e in found.equations} == {"u", "v", "T"}
    signs = {e.field: float(next(iter(e.linear.values()))) for e in found.equations if e.field != "T"}
    assert np.isclose(signs["u"], signs["v"])


def test_magnetic_fields_have_multipliers_of_their_own():
    equations = [*FLOW, "B_t = lap(B) - grad(q)", "div(B) = 0"]
    problem = flow(equations, initial={"U": [0, 0], "B": [0, 0]}, boundary=["U = 0", "B = 0"], vectors=("U", "B"))
    assert multipliers(problem) == ("p", "q")


@pytest.mark.parametrize(
    "equations",
    [
        ["U_t = -x*grad(p) + lap(U)", "div(U) = 0"],
        ["U_t = -grad(p) + lap(U) + [p, 0]", "div(U) = 0"],
        ["U_t = -grad(p**3) + lap(U)", "div(U) = 0"],
        ["U_t = [-p_x, -2*p_y] + lap(U)", "div(U) = 0"],
    ],
)
def test_what_enters_otherwise_is_no_multiplier(equations):
    problem = flow(equations, parameters=None)
    assert multipliers(problem) == ()
    with pytest.raises(ProblemError, match=r"can't keep 'Ux_x \+ Uy_y = 0': .* by its adjoint, as -grad\(p\)"):
        fp.solve(problem)


def test_no_condition_is_asked_of_a_multiplier_and_its_mean_is_zero():
    problem = steady()
    assert [c.text for c in problem.constraints] == ["mean(p) = 0"]
    assert steady(constraint="p(0, 0) = 1").constraints[0].text == "p(0, 0) = 1"


def test_other_fields_of_an_evolution_have_no_constraint():
    with pytest.raises(ProblemError, match="constraint= is for static problems"):
        flow(constraint="mean(Ux) = 0")
    assert flow(constraint="p(0, 0) = 2").constraints[0].value == 2.0


def test_given_pressures_must_not_change_along_a_side():
    sides = {"left": ["U_n = 0", "p = y"], "right": "U = 0", "bottom": "U = 0", "top": "U = 0"}
    with pytest.raises(ProblemError, match="gives 'p' values that change along it"):
        without_multipliers(flow(boundary=sides))
