"""Newton's method for static systems whose fields have no size of their own."""

import numpy as np

import frozenpinn as fp


def test_pressure_that_vanishes_beside_a_large_viscosity():
    walls = ["u = y", "v = 0", fp.Free("p")]
    flow = fp.Problem(
        ["u*u_x + v*u_y + p_x = nu*lap(u)", "u*v_x + v*v_y + p_y = nu*lap(v)", "u_x + v_y = 0"],
        fp.Box([0, 0], [2, 1]),
        boundary=walls,
        parameters={"nu": 1e5},
        constraint="mean(p) = 0",
    )
    solution = fp.solve(flow, tol=1e-6)
    assert solution.status == "converged"
    assert len(solution.facts.steps) <= 3
    assert abs(solution(1.3, 0.4, field="u") - 0.4) < 1e-6
    assert np.abs(solution(1.3, 0.4, field="v")) < 1e-6
