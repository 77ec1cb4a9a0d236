"""Objections to fluxes, starts and pressures."""

import pytest

import frozenpinn as fp
from frozenpinn.errors import ProblemError, silenced

FLOW = ["U_t + advect(U, U) = -grad(p) + nu*lap(U)", "div(U) = 0"]
CLOSED = {"bottom": "U = 0", "top": "U = 0"}


def flow(initial=(0, 0), boundary="U = 0", domain=None):
    domain = fp.Box([0, 0], [1, 1]) if domain is None else domain
    return fp.Problem(FLOW, domain, (0, 1), {"U": list(initial)}, boundary, vectors=("U",), parameters={"nu": 0.1})


def objection(problem):
    with silenced(Warning), pytest.raises(ProblemError) as error:
        fp.check(problem)
    return str(error.value)


def test_unbalanced_fluxes_are_refused_with_their_size():
    sides = {**CLOSED, "left": ["U[0] = t*y*(1 - y)", "U[1] = 0"], "right": ["U[0] = 2*t*y*(1 - y)", "U[1] = 0"]}
    text = objection(flow(boundary=sides))
    assert (
        "the fluxes through the sides are not balanced: 0.04167 more leaves than enters at t = 0.25, of 0.125" in text
    )
    assert "'Ux_x + Uy_y = 0' allows for none" in text


def test_fluxes_through_a_circle_are_added_up():
    text = objection(flow(["x", "0"], ["U[0] = x", "U[1] = 0"], fp.Disk([0, 0], 1)))
    assert "3.142 more leaves than enters" in text


def test_balanced_fluxes_and_open_sides_are_not():
    inflow = ["U[0] = t*y*(1 - y)", "U[1] = 0"]
    for outflow in (inflow, ["U_n = 0", "p = 0"]):
        fp.check(flow(boundary={**CLOSED, "left": inflow, "right": outflow}))


def test_pressures_and_velocities_along_the_normal_are_not_given_together():
    inflow = ["U[0] = t*y*(1 - y)", "U[1] = 0"]
    text = objection(flow(boundary={**CLOSED, "left": inflow, "right": [*inflow, "p = 0"]}))
    assert "'right' has both 'p = 0' and a condition for what passes through" in text
    assert "'p' is over-determined" in text


def test_starts_off_the_constraint_are_told_with_their_size():
    text = objection(flow(["sin(pi*x)*sin(pi*y)", "0"]))
    assert "the initial values of 'Ux', 'Uy' violate 'Ux_x + Uy_y = 0' by 0.5" in text
    assert "without=('consistent start',)" in text


def test_the_mean_of_a_pressure_is_told():
    texts = [finding.text for finding in fp.check(flow())]
    assert any("'p' is determined up to a constant; its mean is taken to be 0" in text for text in texts)
    assert not any("nothing is imposed on 'p'" in text for text in texts)
