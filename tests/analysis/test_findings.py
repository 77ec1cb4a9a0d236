"""What is said against a problem before it is solved: every kind with its text, its size and a hint."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.analysis.wellposedness import check_well_posed, examine
from frozenpinn.statement.findings import Finding, Findings

LINE = fp.Interval(0, 1)
SQUARE = fp.Box([0, 0], [1, 1])


def stated(equation="u_t = u_xx", domain=LINE, time=(0, 1), initial="sin(pi*x)", boundary="u = 0", **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fp.Problem(equation, domain, time, initial, boundary, **more)


def test_a_sound_problem_has_no_findings():
    findings = examine(stated())
    assert str(findings) == "no objections"
    assert not findings
    assert len(findings) == 0


def test_findings_are_a_list_with_texts():
    findings = Findings((Finding("jump", "warning", "it jumps."), Finding("corner", "note", "it bends.")))
    assert [f.kind for f in findings] == ["jump", "corner"]
    assert findings.of("note") == (Finding("corner", "note", "it bends."),)
    assert str(findings) == "warning (jump): it jumps.\nnote (corner): it bends."


def test_examining_neither_raises_nor_warns():
    problem = stated("u_t = -u_xx", boundary={"left": "u = 1", "right": fp.Free()})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        findings = examine(problem)
    assert {(f.kind, f.severity) for f in findings} >= {("ill-posed", "error"), ("contradiction", "warning")}
    with pytest.raises(fp.ProblemError, match="ill posed"):
        check_well_posed(problem)


def test_checking_returns_what_was_warned_about():
    problem = stated(boundary={"left": "u = 0", "right": fp.Free()})
    with pytest.warns(fp.FrozenPinnWarning, match="too few") as caught:
        findings = check_well_posed(problem, without=("condition count",))
    assert [f.kind for f in findings] == ["count"]
    assert len(caught) == 1


# ---- contradictions ------------------------------------------------------------------------------


def test_round_off_of_data_that_begin_at_zero_is_no_contradiction():
    sides = {"left": "u_n = 0", "right": "u_n = 0", "bottom": "u = 0"}
    sides |= {"top": "u_n = (1 - exp(-4*t))*exp(-12*(x - 0.6)^2)"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = fp.Problem("u_t = 0.3*lap(u)", fp.Box([0, 0], [2, 1]), (0, 2), 0, sides)
    assert not [f for f in examine(problem) if f.kind == "contradiction"]
    beside = sides | {"top": "u_n = 1e-6 + (1 - exp(-4*t))*exp(-12*(x - 0.6)^2)"}
    wrong = stated("u_t = 0.3*lap(u)", problem.domain, (0, 2), 0, beside)
    assert [f for f in examine(wrong) if f.kind == "contradiction"]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_contradictions_do_not_depend_on_units(unit):
    given = {"U": unit, "L": 1e-3 / unit}
    domain = fp.Interval(0, given["L"])
    assert not examine(stated(domain=domain, initial="U*sin(pi*x/L)", parameters=given, equation="u_t = L**2*u_xx"))
    flat = stated(domain=domain, initial="U*cos(pi*x/L)", boundary="u_n = 0", parameters=given)
    assert not [f for f in examine(flat) if f.kind == "contradiction"]
    off = stated(domain=domain, initial="U*sin(pi*x/L)", boundary="u = U/1000", parameters=given)
    assert f"by {unit / 1000:.3g} at t = 0" in str(examine(off))


def test_velocities_against_moving_boundaries():
    problem = stated("u_tt = u_xx", initial=0, initial_velocity=0, boundary={"left": "u = sin(3*t)", "right": "u = 0"})
    (finding,) = examine(problem)
    assert finding.kind == "contradiction"
    assert (
        "the initial velocity contradicts the time derivative of the condition 'u = sin(3*t)' on side 'left' by 3"
        in (finding.text)
    )
    assert "t**2" in finding.text
    gentle = {"left": "u = t**2", "right": fp.Dirichlet(lambda t: 1 - np.cos(t))}
    assert not examine(stated("u_tt = u_xx", initial=0, initial_velocity=0, boundary=gentle))


def test_sides_that_contradict_each_other_where_they_meet():
    lid = {"left": "u = 0", "right": "u = 0", "bottom": "u = 0", "top": "u = t"}
    findings = examine(stated("u_t = lap(u)", SQUARE, initial=0, boundary=lid))
    assert [f.kind for f in findings] == ["contradiction"] * 2
    assert "'u = 0' on side 'left' and 'u = t' on side 'top' contradict each other by 1" in str(findings)
    assert "at x = (0, 1), t = 1" in str(findings)
    lid["top"] = "u = t*sin(pi*x)"
    assert not examine(stated("u_t = lap(u)", SQUARE, initial=0, boundary=lid))


def test_edges_in_space():
    sides = dict.fromkeys(["left", "right", "bottom", "top", "front", "back"], "u = x*y*z")
    sides["top"] = "u = x*y*z + z*(1 - z)"
    problem = stated("u_t = lap(u)", fp.Box([0] * 3, [1] * 3), initial="x*y*z", boundary=sides)
    edges = [f.text for f in examine(problem) if "where the sides meet" in f.text]
    assert len(edges) == 2  # it agrees with front and back
    assert "contradict each other by 0.25" in edges[0]


def test_two_values_on_one_side():
    with pytest.raises(fp.ProblemError, match=r"repeats a condition with another value: .* by 1. Keep one"):
        fp.Problem("u_t = u_xx", LINE, (0, 1), 0, {"left": ["u = 0", "2*u = 1"], "right": "u = 0"})
    with pytest.raises(fp.ProblemError, match=r"repeats a condition\.$"):
        fp.Problem("u_t = u_xx", LINE, (0, 1), 0, {"left": ["u = 1", "2*u = 2"], "right": "u = 0"})


# ---- exact solutions -----------------------------------------------------------------------------


def exact_findings(exact, **more):
    return [f.text for f in examine(stated(exact=exact, **more)) if f.kind == "exact"]


def test_an_exact_solution_says_by_how_much_and_where_it_is_wrong():
    (text,) = exact_findings("exp(-t)*sin(pi*x)")  # a lost factor π²
    assert "does not satisfy the equation of 'u': the relative residual is 0.899, largest at x = (" in text
    assert not exact_findings("exp(-pi**2*t)*sin(pi*x)")


def test_an_exact_solution_is_compared_with_the_boundary_conditions():
    texts = exact_findings(lambda x, t: np.sin(np.pi * x) + t)
    assert "misses the condition 'u = 0' on side 'left' by 1 at t = 1" in texts[0]
    assert len(texts) == 2
    (text,) = exact_findings("x*exp(0*t)", initial="x", boundary={"left": "u = 0", "right": "u_n = 1 + t"})
    assert "on side 'right' by 1 at t = 1. Check the boundary data and the sign of the normal derivative" in text


def test_an_exact_solution_is_compared_with_the_initial_velocity():
    (text,) = exact_findings("sin(pi*x)*cos(pi*t)", equation="u_tt = u_xx", initial_velocity="sin(pi*x)")
    assert "differs from the initial velocity of 'u' by 1 of its size" in text


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_exact_solutions_in_any_units(unit):
    given = {"U": unit}
    assert not exact_findings("U*exp(-pi**2*t)*sin(pi*x)", initial="U*sin(pi*x)", parameters=given)
    (text,) = exact_findings("U*exp(-t)*sin(pi*x)", initial="U*sin(pi*x)", parameters=given)
    assert "residual is 0.899" in text


def test_what_was_told_is_not_repeated():
    problem = stated(initial=lambda x: np.sign(x - 0.5), boundary="u_n = 0")
    with pytest.warns(fp.FrozenPinnWarning, match="jumps"):
        fp.check(problem)
    with pytest.warns(fp.FrozenPinnWarning, match="jumps"):
        fp.check(problem)  # who asks is answered
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fp.solve(problem, settings=fp.Settings(width=20))
    assert not any("jumps" in str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    ("equations", "initial", "refused"),
    [
        ("u_t = -u*u_x", "where(x < 0.5, 1, 0)", True),
        ("u_t = -u*u_x + 0.01*u_xx", "where(x < 0.5, 1, 0)", False),
        ("u_t = -u*u_x", "sin(pi*x)", False),
        ("u_t = -u_x - u**2", "where(x < 0.5, 1, 0)", False),
        (
            ["r_t = -dx(r*v)", "v_t = -v*v_x - p_x/r", "p_t = -v*p_x - 1.4*p*v_x"],
            {"r": "where(x < 0.5, 1, 0.125)", "v": 0, "p": "where(x < 0.5, 1, 0.1)"},
            True,
        ),
    ],
)
def test_jumps_that_become_shocks_are_refused(equations, initial, refused):
    problem = stated(equations, initial=initial, boundary=fp.Free())
    texts = [f.text for f in examine(problem) if f.severity == "error" and f.kind == "jump"]
    assert bool(texts) == refused
    if refused:
        with pytest.raises(fp.ProblemError, match=r"jumps from 1 to .*shocks are not supported\. Add viscosity"):
            fp.solve(problem, tol=1e-2)
