"""The progress bar: late, on terminals only, gone at the end."""

import io
import time

import pytest
from rich.console import Console

import frozenpinn as fp
from frozenpinn.runtime.progress import LateBar


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def test_a_short_solve_shows_nothing():
    console = terminal()
    with LateBar(0.5, console) as bar:
        bar("points")
    time.sleep(0.6)
    assert console.file.getvalue() == ""


def test_a_long_one_shows_its_stage_and_share():
    console = terminal()
    with LateBar(0.01, console) as bar:
        bar("operators")
        time.sleep(0.3)
        bar("integration, 40 %")
        time.sleep(0.3)
        assert bar._bar.tasks[0].percentage == 40
    shown = console.file.getvalue()
    assert "solving: operators" in shown
    assert "integration, 40 %" in shown


def test_nothing_is_shown_without_a_terminal(capsys):
    with LateBar(0.0) as bar:
        bar("points")
        time.sleep(0.2)
    assert capsys.readouterr() == ("", "")


def test_an_error_ends_the_bar():
    bar = LateBar(0.01, terminal())

    def fail():
        with bar:
            time.sleep(0.2)
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
