import pytest

import frozenpinn as fp

RING = fp.Interval(0, 1, periodic=True)
TUBE = fp.Box((0, 0), (1, 1), periodic=(True, False))


@pytest.mark.parametrize(
    "equation",
    ["u_t = dx((1 + x)*u_x)", "u_t = u_xx + dx(x*u)", "u_t + dx((1 + x)*u**2/2) = 0.1*u_xx", "u_t = (1 + x)*u_xx"],
)
def test_coefficients_that_jump_across_a_seam_are_refused(equation):
    problem = fp.Problem(equation, RING, (0, 0.1), "sin(2*pi*x)")
    with pytest.raises(fp.ProblemError, match=r"jumps across its seam, from .* at x = 1 to .* at x = 0"):
        fp.solve(problem, tol=1e-3)


def test_those_of_static_problems_and_along_one_axis_are_refused():
    for problem in (
        fp.Problem("dx((1 + x)*u_x) - u = -1", RING),
        fp.Problem("div((1 + x*y)*grad(u)) = 1", TUBE, boundary="u = 0"),
    ):
        with pytest.raises(fp.ProblemError, match="jumps across its seam"):
            fp.solve(problem)


def test_a_user_who_insists_gets_continuous_slopes():
    problem = fp.Problem("u_t = (1 + x)*u_xx", RING, (0, 0.01), "sin(2*pi*x)")
    with pytest.warns(fp.FrozenPinnWarning, match="jumps across its seam"):
        fp.solve(problem, settings=fp.Settings(without=("seams",)))


@pytest.mark.parametrize(
    "equation",
    [
        "u_t = -sin(2*pi*x)*u_x",  # which is 2e-16 at one end
        "u_t = dx((1 + abs(x - 0.5))*u_x)",  # its derivative jumps, which a continuous flux allows
        "u_t = dx((1 + abs(x - 0.5))*(1 + u**2)*u_x)",
        "u_t = dx((2 + sin(2*pi*x))*u_x)",
        "u_t = u_xx - x*u",
        "u_t = u_xx + x",
        "u_t = dx((1 + x)*where(x < 0.5, 1, 10)*u_x)",  # cut into parts, between which fluxes are continuous
    ],
)
def test_others_are_not(equation):
    problem = fp.Problem(equation, RING, (0, 0.1), "sin(2*pi*x)")
    assert not any(finding.kind == "seam" for finding in fp.check(problem))
