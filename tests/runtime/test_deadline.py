"""Limits of time hold where nothing looks at the clock."""

import contextlib
import cProfile
import time

import pytest

import frozenpinn as fp
from frozenpinn.runtime.budget import OverrunError, deadline


def spin():
    while True:
        sum(range(100))


def test_a_block_is_broken_off():
    with pytest.raises(fp.BudgetError, match="in the midst of a stage"), deadline(0.05):
        spin()


def test_what_ends_in_time_is_left_alone():
    with deadline(0.02):
        pass
    time.sleep(0.05)
    with deadline(None):
        pass


def test_profilers_go_on_afterwards():
    profile = cProfile.Profile()
    profile.enable()
    try:
        for seconds in (60.0, 0.01):
            with contextlib.suppress(OverrunError), deadline(seconds):
                if seconds < 1:
                    spin()
            assert sum(map(abs, range(-3, 3))) == 9
            str(fp.Interval(0, 1))  # enters Python functions
    finally:
        profile.disable()
    assert profile.getstats()


def test_nothing_arrives_after_the_block():
    for k in range(300):  # ends at about the time of the exception
        with contextlib.suppress(OverrunError), deadline(1e-4 * (k % 7)):
            sum(range(300 * (k % 11)))
    until = time.perf_counter() + 0.6
    while time.perf_counter() < until:
        sum(range(100))


def spin_on():
    with contextlib.suppress(OverrunError):
        spin()
    spin()


def test_what_is_swallowed_is_raised_again():
    with pytest.raises(OverrunError), deadline(0.02):
        spin_on()


def spin_in_disguise():
    try:
        spin()
    except Exception as error:
        raise TypeError("'axis' must be an integer") from error


def test_what_is_turned_into_another_error_is_told_as_it_is():
    with pytest.raises(OverrunError), deadline(0.02):
        spin_in_disguise()


def test_other_errors_stay_as_they_are():
    with pytest.raises(ZeroDivisionError), deadline(60.0):
        _ = 1 / 0


def test_a_solve_ends_though_a_function_of_the_user_takes_its_time():
    calls = []

    def slow(x, t):
        calls.append(t)
        time.sleep(0.02)
        return 0.0 * x

    problem = fp.Problem("u_t = 0.1*u_xx + f", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"f": slow})
    with pytest.raises(fp.BudgetError, match=r"time limit"):
        fp.solve(problem, tol=1e-8, time_limit=0.2)
    assert len(calls) < 3000  # a minute; hours without a limit
