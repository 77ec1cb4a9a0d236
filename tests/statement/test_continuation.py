"""Runs that go on from a solution, and fields that are not differentiated in space."""

import numpy as np
import pytest

import frozenpinn as fp

WAVE = "u_tt = u_xx"


@pytest.fixture(scope="module")
def first():
    return fp.solve(fp.Problem(WAVE, fp.Interval(0, 1), (0, 0.4), "sin(pi*x)", "u = 0", 0))


def exact(x, t):
    return np.sin(np.pi * x) * np.cos(np.pi * t)


@pytest.mark.parametrize(("start", "at"), [(0.4, None), (0.15, 0.15)])
def test_a_run_goes_on(first, start, at):
    given = first if at is None else (first, at)
    second = fp.solve(fp.Problem(WAVE, fp.Interval(0, 1), (start, 1.0), given, "u = 0"))
    x = np.linspace(0, 1, 20)
    assert np.max(np.abs(second(x, 1.0) - exact(x, 1.0))) < 1e-10


def test_velocities_may_be_given_besides(first):
    problem = fp.Problem(WAVE, fp.Interval(0, 1), (0.4, 1), first, "u = 0", initial_velocity=0)
    assert np.all(problem.initial_velocity["u"](np.array([[0.3]])) == 0)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (lambda s: fp.Problem("v_t = v_xx", fp.Interval(0, 1), (0, 1), s, "v = 0"), "which has no 'v'"),
        (lambda s: fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), (s, 3), "u = 0"), "a time between 0 and 0.4"),
        (lambda s: fp.Problem("u_t = u_xx", fp.Interval(0, 2), (0, 1), s, "u = 0"), "does not reach"),
    ],
)
def test_solutions_that_do_not_fit(first, statement, words):
    with pytest.raises(fp.ProblemError, match=words):
        statement(first)


def test_local_fields_need_no_condition():
    equations = ["v_t = v_xx - w", "w_t = v - w + 1"]
    start = {"v": "sin(pi*x)", "w": 1}
    for boundary in ("v = 0", fp.Dirichlet(0), [fp.Dirichlet(0, field="v"), fp.Free("w")]):
        problem = fp.Problem(equations, fp.Interval(0, 1), (0, 1), start, boundary)
        assert {condition.fields for condition in problem.conditions} == {("v",)}
    alone = fp.Problem("w_t = -w*x", fp.Interval(0, 1), (0, 1), 1)
    assert alone.conditions == ()
    assert fp.solve(alone)(0.5, 1.0) == pytest.approx(np.exp(-0.5), rel=1e-9)
    with pytest.raises(fp.ProblemError, match="no condition for 'v'"):
        fp.Problem(equations, fp.Interval(0, 1), (0, 1), start, "w = 1")


def test_the_message_for_static_input():
    with pytest.raises(fp.ProblemError, match=r"leave out time= and initial=: fp\.Problem\('lap\(u\) = f', domain"):
        fp.Problem("lap(u) = 1", fp.Interval(0, 1), (0, 1), 0, "u = 0")


def test_normal_derivatives_of_expressions():
    problem = fp.Problem("u_t = -biharmonic(u)", fp.Disk(), (0, 1), 0, ["dn(u) = 0", "dn(lap(u)) = 0"])
    assert [str(jet.order) for jet in problem.conditions[1].jets] == ["3", "3"]
    plain = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 0, "dn(x*u) = u_n*x + 0")
    terms = [dict(zip(c.jets, c.coefficients, strict=True)) for c in plain.conditions]
    assert [list(map(str, term.values())) for term in terms] == [["-1"], ["1"]]
