"""Limits and faults: little memory, Ctrl-C at any moment, messages of libraries, calls that are misspelt."""

import sys
import tracemalloc

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.integrators.cvode import _WithoutErrors
from frozenpinn.search.search import Search

ROD = {
    "equation": "u_t = u_xx",
    "domain": fp.Interval(0, 1),
    "time": (0, 0.1),
    "initial": "sin(pi*x)",
    "boundary": "u = 0",
}
ELL = fp.Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])


# ---- memory ------------------------------------------------------------------------------------------


def test_a_limit_that_is_too_small_for_any_solve_is_refused():
    text = r"\d+ neurons need .* more than memory_limit=100000, of which any solve takes 0\.2 MB; no width would fit"
    with pytest.raises(fp.BudgetError, match=text):
        fp.solve(fp.Problem(**ROD), tol=1e-6, memory_limit=1e5)
    with pytest.raises(fp.BudgetError, match=text.removeprefix(r"\d+ neurons need .* ")):
        fp.solve(fp.Problem("lap(u) = -1", ELL, boundary="u = 0"), tol=1e-6, memory_limit=1e5)


@pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")
@pytest.mark.parametrize("limit", [1e7, 3e7])
def test_limits_of_memory_hold(limit):
    problem = fp.Problem("lap(u) = u**3 - exp(x*y)", ELL, boundary="u = 0")
    fp.solve(problem, settings=fp.Settings(width=30))  # modules are loaded
    tracemalloc.start()
    try:
        fp.solve(problem, tol=1e-12, memory_limit=limit, time_limit=60)
        assert tracemalloc.get_traced_memory()[1] < 1.2 * limit
    finally:
        tracemalloc.stop()


# ---- Ctrl-C ------------------------------------------------------------------------------------------


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_an_early_interruption_has_no_solution(monkeypatch):
    monkeypatch.setattr(sys.modules["frozenpinn.solve"], "check_well_posed", interrupted)
    with pytest.raises(KeyboardInterrupt, match="interrupted; there is no solution yet") as caught:
        fp.solve(fp.Problem(**ROD), tol=1e-6)
    assert caught.value.solution is None


def test_a_second_interruption_has_an_attribute_too(monkeypatch):
    monkeypatch.setattr(Search, "_advance", interrupted)
    monkeypatch.setattr(Search, "_finish", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        fp.solve(fp.Problem(**ROD), tol=1e-6)
    assert caught.value.solution is None


def test_other_questions_can_be_interrupted_early():
    unknown = fp.Problem(**ROD | {"equation": "u_t = k*u_xx"}, parameters={"k": fp.Unknown(1.0)})
    drum = fp.Problem("-u_xx = lam*u", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})
    for call in (
        lambda: fp.infer(unknown, fp.Measurements([0.5, 0.6], [0.4, 0.4], times=0.1), progress=interrupted),
        lambda: fp.modes(drum, progress=interrupted),
    ):
        with pytest.raises(KeyboardInterrupt) as caught:
            call()
        assert caught.value.solution is None


# ---- what libraries say ------------------------------------------------------------------------------


def test_cvode_is_quiet_where_steps_shrink_to_nothing(capfd):
    """Its own warnings and errors would stand between those of the library."""
    blowing = fp.Problem("u_t = u**2", fp.Interval(0, 1, periodic=True), (0, 2), "1 + sin(2*pi*x)/2")
    cvode = fp.integrators.CVODE(rtol=1e-14)
    with pytest.raises(fp.IntegrationError):
        fp.solve(blowing, settings=fp.Settings(width=30, integrator=cvode, windows=None))
    assert capfd.readouterr() == ("", "")


def test_what_a_users_function_prints_is_shown(capsys):
    def source(x, t):
        print("called")
        return 0.0 * x

    problem = fp.Problem(**ROD | {"equation": "u_t = u_xx - u**3 + s"}, parameters={"s": source})
    fp.solve(problem, settings=fp.Settings(width=20, integrator="cvode"))
    assert "called\n" in capsys.readouterr().out


def test_errors_of_sundials_are_dropped_with_the_end_of_their_line(capsys):
    stream = _WithoutErrors(sys.stdout)
    print("\n[cvHandleFailure, Error: -4] At t = 0.9 the corrector failed.\n", file=stream)
    print("mine", file=stream)
    assert capsys.readouterr().out == "mine\n"


# ---- misspelt calls ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fp.infer(fp.Problem(**ROD), None, sead=1), r"infer\(\) has no argument 'sead'. Did you mean 'seed'"),
        (lambda: fp.design(None, [0.1], 1, nose=1.0), r"design\(\) has no argument 'nose'. Did you mean 'noise'"),
        (lambda: fp.modes(None, cuont=3), r"modes\(\) has no argument 'cuont'. Did you mean 'count'"),
        (lambda: fp.follow(None, "k", spam=(0, 1)), r"follow\(\) has no argument 'spam'. Did you mean 'span'"),
        (lambda: fp.model(None, sead=1), r"model\(\) has no argument 'sead'. Did you mean 'seed'"),
        (
            lambda: fp.Measurements([0.1], [0.2], tmes=0.1),
            r"Measurements\(\) has no argument 'tmes'. Did you mean 'times'",
        ),
        (lambda: fp.Unknown(1.0, lowr=0), r"Unknown\(\) has no argument 'lowr'. Did you mean 'lower'"),
        (lambda: fp.UnknownField(positiv=True), r"UnknownField\(\) has no argument 'positiv'. Did you mean 'positive'"),
        (fp.Table, r"Table\(\): missing a required argument: 'values'"),
        (lambda: fp.sweeps.summary(None), r"summary\(\) takes the Dataset that fp.sweep\(…\) .* returns; got None"),
        (lambda: fp.sweeps.surrogate(None), r"surrogate\(\) takes the Dataset that fp.sweep\(…\)"),
        (lambda: fp.sweeps.sensitivity(np.ones(3)), r"sensitivity\(\) takes the Dataset that fp.sweep\(…\)"),
    ],
)
def test_misspelt_calls(call, text):
    with pytest.raises(fp.FrozenPinnError, match=text):
        call()
