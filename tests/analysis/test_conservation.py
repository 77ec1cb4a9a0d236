import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.analysis.conservation import balance_law

ROD, SQUARE = fp.Interval(0, 1), fp.Box([0, 0], [1, 1])


def law(equation, domain=ROD, **given):
    problem = fp.Problem(equation, domain, (0, 1), "0", **{"boundary": "u = 0", **given})
    return balance_law(problem, "u")


@pytest.mark.parametrize(
    ("equation", "flux", "rest"),
    [
        ("u_t = dx((1 + x)*u_x) + x", "u_x*(x + 1)", "x"),
        ("u_t + u*u_x = 2*u_xx", "-u**2/2 + 2*u_x", "0"),
        ("u_t = dx(u^2*u_x) - u", "u**2*u_x", "-u"),
        ("u_t = x*u_xx", "-u + u_x*x", "0"),
        ("u_t = dx(where(x < 0.3, 1, 5)*u_x)", "u_x*(5 - 4*Heaviside(0.3 - x))", "0"),
        ("u_t = where(x < 0.3, 1, 5)*u_xx", "0", "-4*u_xx*Heaviside(0.3 - x) + 5*u_xx"),
    ],
)
def test_fluxes_and_the_rest(equation, flux, rest):
    found = law(equation)
    assert (str(found.stored), str(found.fluxes[0]), str(found.rest)) == ("u_t", flux, rest)


def test_laplacians_of_laplacians_are_fluxes_through_and_through():
    found = law("u_t = lap(u^3 - u - lap(u))", SQUARE, boundary=["u_n = 0", "dn(lap(u)) = 0"])
    assert found.rest == 0


def test_coefficients_that_are_python_functions_stay_inside():
    found = law("u_t = k(x)*u_xx", parameters={"k": lambda x: 1 + x})
    assert found.fluxes == (0,)
    assert "k(x)" in str(found.rest)


def test_polar_coordinates_have_their_volume_element():
    ring = fp.Box([0.1, 0], [1, 2 * np.pi], periodic=(False, True))
    found = balance_law(fp.Problem("lap(u) = 1", ring, coordinates="polar", boundary="u = 0"), "u")
    assert [str(flux) for flux in found.fluxes] == ["r*u_r", "u_theta/r"]
    assert str(found.rest) == "-r"


CHANNEL = ["lap(u) = p_x", "lap(v) = p_y", "u_x + v_y = 0"]


def flow(outlet):
    walls = {side: ["u = 0", "v = 0"] for side in ("bottom", "top")}
    ends = {"left": ["u = y*(1 - y)", "v = 0"], "right": [f"u = {outlet}", "v = 0"]}
    return fp.Problem(CHANNEL, fp.Box([0, 0], [2, 1]), boundary={**walls, **ends}, constraint="mean(p) = 0")


def test_inflow_and_outflow_that_differ_are_refused():
    with pytest.raises(
        fp.ProblemError, match=r"data of 'u' and 'v' contradict .* add up to 0\.167, 0\.33 of their size"
    ):
        fp.check(flow("2*y*(1 - y)"))
    assert not [f for f in fp.check(flow("y*(1 - y)")) if f.kind == "contradiction"]
