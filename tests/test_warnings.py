"""Warnings: each kind once, at the user's line, and no false alarms; and what Ctrl-C leaves behind."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import InterruptionError, Summarised, warn

UNIT = fp.Interval(0, 1)


def test_warnings_that_differ_in_numbers_are_told_once():
    with pytest.warns(fp.FrozenPinnWarning) as caught, Summarised():  # noqa: PT031
        for k in range(314):
            warn(f"not resolved near t = {k / 100:g}")
        warn("something else")
    assert [str(w.message) for w in caught] == [
        "not resolved near t = 0 There are 313 more of this kind.",
        "something else",
    ]
    assert caught[0].filename == __file__


def test_an_error_is_worth_more_than_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyError, match="lost"), Summarised():  # noqa: PT012
            warn("first")
            raise KeyError("lost")


def test_one_solve_gives_few_warnings():
    """A callback that jumps all the time was warned of whenever its derivative was asked for."""

    def jumping(t):
        return float(int(2400 * t) % 2)

    problem = fp.Problem("u_t = u_xx", UNIT, (0, 0.05), 0, {"left": fp.Dirichlet(jumping), "right": "u = 0"})
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        fp.solve(problem, settings=fp.Settings(width=10, integrator="rk23", rtol=1e-2))
    assert len(caught) <= 4
    assert any("more of this kind" in str(w.message) for w in caught)
    assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize("initial", ["sin(pi*x)*sin(pi*y)", "sin(2*pi*x)*max(0, sin(pi*y))*0 + x*(1-x)*y*(1-y)"])
def test_round_off_along_a_line_is_no_jump(initial):
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.1), initial, "u = 0")
    assert str(fp.check(problem)) == "no objections"


def test_terms_that_cancel_leave_no_jump():
    problem = fp.Problem("u_t = u_xx", UNIT, (0, 0.1), "sin(3*x)**2 + cos(3*x)**2 - 1", "u = 0")  # no warning here
    assert "jump" not in str(fp.check(problem))
    assert "nois" not in str(fp.check(problem))


def test_what_is_lost_from_the_start_has_no_time_before():
    problem = fp.Problem("u_t = -u_x", fp.Interval(0, 1, periodic=True), (0, 1), "exp(cos(60*pi*x))")
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        fp.solve(problem, settings=fp.Settings(width=40, windows=None))
    texts = [str(w.message) for w in caught if "does not resolve" in str(w.message)]
    assert texts
    assert texts[0].startswith("the basis does not resolve u: its finest tenth carries")
    assert "before" not in texts[0]


def test_conditions_that_are_missed_are_not_said_to_be_obeyed():
    domain = fp.Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = fp.Problem("u_t = lap(u) + 1", domain, (0, 0.1), 0, "u = 0")
        solution = fp.solve(problem, settings=fp.Settings(width=60))
        told, missed = solution.report.choices["boundary"], solution.residuals.boundary
    assert missed > 1e-6
    assert (
        told
        == f"the basis obeys the conditions at points of the boundary; between them they are missed by {missed:.2g}"
    )


# ---- Ctrl-C ---------------------------------------------------------------------------------------


class Impatient:
    """Presses Ctrl-C when a stage begins for the n-th time."""

    def __init__(self, stage, count):
        self.stage, self.left = stage, count

    def __call__(self, text):
        self.left -= text.startswith(self.stage)
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.fixture
def kink():
    """A problem that takes several solves: its data have a corner."""
    return fp.Problem("u_t = u_xx", UNIT, (0, 0.1), "min(x, 0.7 - 0.7*x)", "u = 0")


def test_interruption_leaves_the_best_so_far(kink):
    with pytest.raises(
        InterruptionError, match=r"interrupted; the best so far \(.*\) is the error's 'solution'"
    ) as caught:
        fp.solve(kink, tol=1e-10, progress=Impatient("checks", 3))
    solution = caught.value.solution
    assert solution.status == "reached"
    assert solution.verdict.reason == "the solve was interrupted"
    assert np.isfinite(solution(0.5, 0.05))


@pytest.mark.parametrize("tol", [None, 1e-3])
def test_interruption_before_anything_was_found(kink, tol):
    with pytest.raises(KeyboardInterrupt, match=r"interrupted.* no solution yet|before there was a first") as caught:
        fp.solve(kink, tol=tol, progress=Impatient("points", 1))
    assert caught.value.solution is None
    assert not isinstance(caught.value, Exception), "loops that catch Exception are left, too"
