"""The progress bar: late, on terminals only, gone at the end."""

import io
import time

import pytest
from rich.console import Console

import frozenpinn as fp
from frozenpinn.runtime.stopwatch import LateBar


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def wait_until(happened):
    """Wait as long as it takes on a busy machine."""
    for _ in range(6000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError


def test_a_short_solve_shows_nothing():
    console = terminal()
    with LateBar(3600.0, console) as bar:
        bar("points")
        timer = bar._timer
    assert timer.finished.is_set()
    assert console.file.getvalue() == ""


def test_a_long_one_shows_its_stage_and_share():
    console = terminal()
    with LateBar(0.01, console) as bar:
        bar("operators")
        wait_until(lambda: "solving: operators" in console.file.getvalue())
        bar("integration, 40 %")
        wait_until(lambda: "integration, 40 %" in console.file.getvalue())
        assert bar._bar.tasks[0].percentage == 40


def test_nothing_is_shown_without_a_terminal(capsys):
    with LateBar(0.0) as bar:
        bar("points")
        assert bar._timer is None
    assert capsys.readouterr() == ("", "")


def test_an_error_ends_the_bar():
    bar = LateBar(0.01, terminal())

    def fail():
        with bar:
            wait_until(lambda: bar._bar is not None)
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert bar._bar.finished or not bar._bar.live.is_started


def test_solves_tell_their_stages_and_how_far_they_are():
    problem = fp.Problem("u_t + u*u_x = 0.003*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
    told = []
    fp.solve(problem, progress=told.append)
    assert told[0] == "points"
    shares = [int(text.split(", ")[1].removesuffix(" %")) for text in told if text.startswith("integration, ")]
    assert shares
    assert all(0 <= share <= 100 for share in shares)
