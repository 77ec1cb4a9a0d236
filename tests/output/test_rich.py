"""What notebooks and consoles show of problems and results."""

import re
import sys
import time
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.runtime.html import Readable
from frozenpinn.runtime.stopwatch import CellBar, LateBar, listening
from frozenpinn.statement.findings import Finding

PLATE = fp.Box([0, 0], [2, 1]) - fp.Disk([1, 0.5], 0.3).named("hole")


class Balanced(HTMLParser):
    """Refuses tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag not in ("img", "br", "path", "circle", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "path":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def shown(value):
    return " ".join(Balanced(value._repr_html_()).words)


@pytest.fixture(scope="module")
def heat():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0")
    return fp.solve(problem, tol=1e-4, progress=False)


def test_solutions_tell_status_and_error(heat):
    assert ", converged, estimated error u " in repr(heat)
    text = shown(heat)
    assert "✔ converged, tolerance 0.0001" in text
    assert "estimated error of u" in text
    assert "data:image/png;base64," in heat._repr_html_()
    bare = fp.solve(heat.problem, settings=fp.Settings(width=20))
    assert ", unchecked, " in repr(bare)
    assert "unchecked: no tolerance was given" in shown(bare)


def test_reports_read_without_print(heat):
    assert repr(heat.report) == str(heat.report)
    assert "\\n" not in repr(heat.report)
    assert "verdict" in shown(heat.report)
    text = Readable("two\nlines")
    assert repr(text) == "two\nlines"
    assert isinstance(text, str)


def test_problems_show_mathematics_and_their_domain():
    sides = {"left": "u = 1", **dict.fromkeys(("right", "bottom", "top", "hole"), "u_n = 0")}
    problem = fp.Problem("u_t = 0.1*lap(u) - u**3", PLATE, (0, 1), "1 + x*0", sides)
    text = problem._repr_html_()
    assert "<math" in text
    assert "Δu" in shown(problem)
    assert text.count("M") >= 2, "the outline and the hole"
    words = shown(problem)
    assert "on left u = 1" in words
    assert "on right, bottom, top, hole u_n = 0" in words
    assert "<svg" in fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 0, "u = 0")._repr_html_()
    solid = fp.Problem("lap(u) = -1", fp.Ball([0, 0, 0], 1), boundary="u = 0")
    assert "<svg" not in solid._repr_html_()


def test_names_are_escaped():
    domain = fp.Disk().with_sides({"a<b>": "x > 0"})
    text = fp.Problem("lap(u) = -1", domain, boundary="u = 0")._repr_html_()
    assert "<b>" not in text


def test_findings_and_modes():
    jump = Finding("jump", "warning", "the initial value jumps.")
    small = Finding("scales", "note", "the fields differ in size.")
    assert re.search(r"● +note.*", shown(fp.Findings((small,))))
    words = shown(fp.Findings((small, jump)))
    assert words.index("▲ warning (jump) the initial value jumps.") < words.index("note"), "the worst first"
    assert "no objections" in shown(fp.Findings())
    membrane = fp.Problem("-u_xx = lam*u", fp.Interval(0, np.pi), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})
    modes = fp.modes(membrane, 2, progress=False)
    assert "2 modes" in shown(modes)
    assert repr(modes.report) == str(modes.report)


def test_inferences():
    problem = fp.Problem(
        "u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.2)}
    )
    data = fp.Measurements([0.5, 0.5], [0.61, 0.37], times=[0.5, 1.0], noise=0.01)
    found = fp.infer(problem, data, progress=False)
    assert "k = 0.1005 ± 0.0021" in shown(found)
    assert repr(found.report) == str(found.report)


# ---- progress --------------------------------------------------------------------------------------------------------


class Handle:
    def __init__(self, data):
        self.seen = [data]

    def update(self, data, raw):
        assert raw
        self.seen.append(data)


@pytest.fixture
def notebook(monkeypatch):
    """Stand in for IPython in a notebook, and collect what it displays."""
    handles = []

    def display(data, raw, display_id):
        assert raw
        assert display_id
        handles.append(Handle(data))
        return handles[-1]

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return handles


def test_bars_in_notebooks(notebook):
    with CellBar(0.0) as bar:
        bar("points")
        time.sleep(0.15)
        bar("integration, 40 %")
    (handle,) = notebook
    assert "solving: points" in handle.seen[0]["text/html"]
    assert 'value="40"' in handle.seen[1]["text/html"]
    assert handle.seen[-1]["text/html"] == "", "gone at the end"


def test_who_listens(notebook, monkeypatch):
    assert isinstance(listening(None), CellBar)
    monkeypatch.delitem(sys.modules, "IPython")
    assert isinstance(listening(True), LateBar)
    heard = []
    with listening(heard.append) as told:
        told("points")
    assert heard == ["points"]
    with listening(False) as told:
        told("nobody hears it")
    with pytest.raises(fp.SettingsError, match="or False to show nothing; got 5"):
        listening(5)


def test_an_error_in_a_notebook_shows_the_users_lines_and_the_message():
    def typed_in_a_cell():
        fp.Problem("u_t = u_xy", fp.Interval(0, 1), (0, 1), 0, "u = 0")

    with pytest.raises(fp.ProblemError) as caught:
        typed_in_a_cell()
    *where, last = caught.value._render_traceback_()
    assert [line.split(":  ")[1] for line in where][
        -1
    ] == 'fp.Problem("u_t = u_xy", fp.Interval(0, 1), (0, 1), 0, "u = 0")'
    assert len(where) <= 2
    assert last.startswith("ExpressionError: unknown name 'u_xy'")
