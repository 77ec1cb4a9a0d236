"""Ill-posed statements are recognised from the symbol, before any time is spent."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.analysis.wellposedness import examine

UNIT = fp.Interval(0, 1)
FREE = fp.Free()


def statement(equation, boundary, domain=UNIT, initial="sin(pi*x)**4", **more):
    if "u_tt" in equation:
        more.setdefault("initial_velocity", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fp.Problem(equation, domain, (0, 1), initial, boundary, **more)


@pytest.mark.parametrize(
    ("equation", "boundary"),
    [
        ("u_t = -u_xx", "u = 0"),
        ("u_t = u_xxxx", ["u = 0", "u_x = 0"]),
        ("u_tt = -u_xx", "u = 0"),
        ("u_tt = u_xxxx", ["u = 0", "u_xx = 0"]),
        ("u_t = (x - 1/2)*u_xx", "u = 0"),
        ("u_t = -u_xx + u_xxx", {"left": ["u = 0", "u_x = 0"], "right": "u = 0"}),
    ],
)
def test_exploding_waves_are_refused(equation, boundary):
    with pytest.raises(fp.ProblemError, match=r"ill posed at x = .* grow like exp\(.*Check the sign"):
        fp.solve(statement(equation, boundary))


def test_exploding_waves_of_a_system_in_two_dimensions_are_refused():
    box = fp.Box([0, 0], [1, 1], periodic=True)
    problem = fp.Problem({"u": "lap(v)", "v": "lap(u)"}, box, (0, 1), {"u": "sin(2*pi*x)", "v": 0})
    with pytest.raises(fp.ProblemError, match="ill posed"):
        fp.check(problem)


@pytest.mark.parametrize(
    ("equation", "boundary"),
    [
        ("u_t = u_xx + 50*u", "u = 0"),
        ("u_t = -u_xx - u_xxxx", ["u = 0", "u_xx = 0"]),
        ("u_t + u_x = 0", {"left": "u = 0", "right": FREE}),
        ("u_t = u_x", {"left": FREE, "right": "u = 0"}),
        ("u_t + u_xxx = 0", {"left": "u = 0", "right": ["u = 0", "u_x = 0"]}),
        ("u_tt = u_xx - u_t", {"left": "u = 0", "right": "u_x = 0"}),
        ("u_tt = -u_xxxx", {"left": ["u = 0", "u_x = 0"], "right": ["u_xx = 0", "u_xxx = 0"]}),
        ("u_t + u*u_x = 0.1*u_xx", "u = 0"),
        ("u_t = -u**3", "u = 0"),
        ("dt(u_xx) = u_xxxx", ["u = 0", "u_x = 0"]),
        ("dt(u_xx) = u_xx", "u = 0"),
    ],
)
def test_well_posed_statements_pass_without_a_word(equation, boundary):
    fp.check(statement(equation, boundary))


@pytest.mark.parametrize(
    ("equation", "boundary", "message"),
    [
        ("u_t + u_x = 0", "u = 0", r"side 'right' has 1 condition\(s\).*need 0.*too many"),
        ("u_t = u_xx", {"left": "u = 0", "right": FREE}, r"side 'right' has 0 condition\(s\).*need 1.*too few"),
        ("u_tt = -u_xxxx", {"left": ["u = 0", "u_x = 0"], "right": "u = 0"}, "side 'right' has 1 .*need 2.*too few"),
        ("u_t = u_xx", {"left": ["u = 0", "u_x = 0"], "right": "u = 0"}, "side 'left' has 2 .*need 1.*too many"),
    ],
)
def test_surplus_and_missing_conditions_are_flagged(equation, boundary, message):
    with pytest.raises(fp.ProblemError, match=message):
        fp.check(statement(equation, boundary))


def test_maxwell_needs_one_condition_per_side():
    def maxwell(conditions):
        initial = {"E": "sin(pi*x)", "B": 0}
        return fp.Problem({"E": "B_x", "B": "E_x"}, UNIT, (0, 1), initial, conditions)

    fp.check(maxwell([fp.Dirichlet(0, field="E"), fp.Free("B")]))
    with pytest.raises(fp.ProblemError, match="need 1; that is too many"):
        fp.check(maxwell([fp.Dirichlet(0, field="E"), fp.Dirichlet(0, field="B")]))


def test_a_nonlinear_statement_is_judged_at_its_initial_data():
    with pytest.warns(fp.FrozenPinnWarning, match="ill posed"):
        fp.check(statement("u_t = dx(u*u_x)", "u = -1", initial="-1 - sin(pi*x)**4"))
    fp.check(statement("u_t = dx(u*u_x)", "u = 1", initial="1 + sin(pi*x)**4"))


def test_a_problem_is_checked_once():
    problem = statement("u_t + u_x = 0", "u = 0", initial="sin(pi*x)**4")
    settings = fp.Settings(width=40, without=("condition count",))
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        fp.solve(problem, settings=settings)
    texts = [str(warning.message) for warning in caught]
    assert any("too many" in text for text in texts)
    assert any("does not resolve u" in text for text in texts)  # the layer at the outflow
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message="side")
        solution = fp.solve(problem, settings=settings)
    assert np.isfinite(solution(0.5, 0.5))


@pytest.mark.parametrize("kind", ["evolution", "static"])
def test_a_user_who_insists_is_only_warned_about_numbers_of_conditions(kind):
    if kind == "evolution":
        problem = statement("u_t = u_xx", {"left": ["u = 0", "u_x = 0"], "right": "u = 0"})
    else:
        problem = fp.Problem("u_xx = 1", UNIT, boundary={"left": ["u = 0", "u_x = -1/2"], "right": "u = 0"})
    words = r"that is too many: .*pass settings=fp\.Settings\(without=\('condition count',\)\)\."
    with pytest.raises(fp.ProblemError, match=words):
        fp.solve(problem, tol=1e-3)
    with pytest.warns(fp.FrozenPinnWarning, match="that is too many"):
        fp.solve(problem, settings=fp.Settings(width=30, without=("condition count",)))


def test_slopes_with_the_normal_balance_a_source():
    """Data such as dot(n, …) are known on the boundary only."""
    disk, constraint = fp.Disk((0, 0), 1), "u(0, 0) = 0"
    data = "u_n = dot(n, [2*x, 2*y])"
    fp.check(fp.Problem("lap(u) = 4", disk, boundary=data, constraint=constraint))
    with pytest.raises(fp.ProblemError, match=r"source and the fluxes through the boundary add up to 3\.14"):
        fp.check(fp.Problem("lap(u) = 3", disk, boundary=data, constraint=constraint))


def test_terms_that_cancel_at_the_exponents_looked_at():
    """κ² − 1 = 0 for κ = 30/30."""
    problem = fp.Problem("u_tt = u_xx - u", fp.Interval(0, 30), (0, 1), "sin(pi*x/30)", "u = 0", initial_velocity=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fp.check(problem)


def test_conditions_that_feed_the_solution():
    def findings(left):
        problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 1, {"left": left, "right": "u_n = 0"})
        return [str(finding) for finding in examine(problem) if finding.kind == "conditions"]

    (text,) = findings("u - 0.001*u_n = 1")
    assert "feeds the solution: a layer of thickness 0.001 there grows like exp(1e+06·t)" in text
    assert findings("u + 0.001*u_n = 1") == []
    assert findings("u_n = u - 1") == []  # grows, but slowly


@pytest.mark.parametrize(
    "text", ["exp((x - 1)/0.001)", "1/(1 + exp((x - 0.5)/0.0005))", "1/(1 + exp(-(x - 0.5)/0.0005))"]
)
def test_thin_layers_as_text(text):
    problem = fp.Problem("u_t = 0.1*u_xx", fp.Interval(0, 1), (0, 1), text, fp.Free())
    values = problem.initial["u"](np.linspace(0, 1, 50)[:, None], 0.0)
    assert np.all((values >= 0) & (values <= 1))


def turning(boundary, speed="cos(t)", **more):
    """Return advection that turns back and forth, with its exact data where there are any."""
    return fp.Problem(f"u_t + ({speed})*u_x = 0", fp.Interval(-1, 1), (0, 6), "exp(-10*x**2)", boundary, **more)


def test_conditions_are_counted_at_several_times():
    given = "u = exp(-10*(x - sin(t))**2)"
    with pytest.warns(
        fp.FrozenPinnWarning, match=r"side 'left' has 0 .* need 0 at some times and 1 at others .* Give 1: "
    ):
        fp.check(turning({"left": FREE, "right": given}))
    both = fp.check(turning({"left": given, "right": given}))
    assert [finding.severity for finding in both] == ["note", "note"]
    assert "they must agree with what arrives there" in str(both)
    assert not fp.check(turning({"left": "u = exp(-10)", "right": FREE}, "2 + cos(t)"))


@pytest.mark.parametrize("equation", ["psi_t = I*dx((1 + x**2)*psi_x)", "psi_t = -I*dxx((1 + x**2)*psi_xx)"])
def test_symmetric_operators_with_coefficients_that_change_let_no_wave_grow(equation):
    line = fp.Interval(-1, 1)
    boundary = ["psi = 0"] if "dxx" not in equation else ["psi = 0", "psi_n = 0"]
    problem = fp.Problem(equation, line, (0, 1), "(1 - x**2)**4", boundary)
    assert not [finding for finding in fp.check(problem) if finding.kind == "ill-posed"]
    with pytest.raises(fp.ProblemError, match="ill posed"):
        fp.check(fp.Problem("psi_t = I*psi_xx - psi_xx/9", line, (0, 1), "(1 - x**2)**4", "psi = 0"))


@pytest.mark.parametrize(
    ("k", "where"),
    [
        ("0.1 - 0.105*exp(-((x - 0.43713)/3e-4)^2)", "x = (0.4371"),
        ("0.1 - 3*exp(-((t - 0.43713)/3e-4)^2)", "t = 0.4371"),
    ],
)
def test_a_diffusivity_that_is_negative_in_a_narrow_place_or_for_a_moment(k, where):
    problem = fp.Problem("u_t = dx(k*u_x)", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": k})
    with pytest.raises(fp.ProblemError, match="ill posed") as caught:
        fp.solve(problem, tol=1e-3)
    assert where in str(caught.value)


def test_a_narrow_barrier_is_well_posed():
    k = "0.1 - 0.0999*exp(-((x - 0.43713)/3e-4)^2)"
    problem = fp.Problem("u_t = dx(k*u_x)", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": k})
    assert not [finding for finding in fp.check(problem) if finding.severity == "error"]
