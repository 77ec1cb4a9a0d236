"""Files that somebody has made up: refused with one kind of error, in bounded time."""

import os
import time

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import visible
from frozenpinn.results.archive import FORMAT, Reader, write_archive

PROBLEM = """equation = "u_t = nu*u_xx"
time = [0, 1]
initial = "-sin(pi*x)"
boundary = "u = 0"
[domain]
lower = [-1]
upper = [1]
[parameters]
nu = 0.01
"""


@pytest.fixture(autouse=True)
def bounded_time():
    started = time.process_time()
    yield
    assert time.process_time() - started < 10


def read(folder, text):
    (folder / "problem.toml").write_text(text)
    return fp.read_problem(folder / "problem.toml")


# ---- problem files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1000, 100_000])
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (lambda n: "more = " + "[" * n + "]" * n, "not valid TOML: maximum recursion depth"),
        (lambda n: "more = " + "{a = " * n + "1" + "}" * n, "not valid TOML: maximum recursion depth"),
        (lambda n: f"{'.'.join(['a'] * n)} = 1", "has a key of very many parts"),
        (lambda n: f"[{' . '.join(['a'] * n)}]\nb = 1", "has a key of very many parts"),
        (lambda n: '"a"' + ".'b'" * n + " = 1", "has a key of very many parts"),
    ],
)
def test_deep_documents(tmp_path, more, message, depth):
    with pytest.raises(fp.ProblemError, match=message):
        read(tmp_path, PROBLEM + more(depth))


def test_tables_that_toml_takes_may_still_be_too_deep(tmp_path):
    with pytest.raises(fp.ProblemError, match="tables and lists that are nested deeper than 60 levels"):
        read(tmp_path, PROBLEM + "more = " + "[" * 200 + "]" * 200)


def test_many_parameters(tmp_path):
    with pytest.raises(fp.ProblemError, match=r"100,001 parameters are given; a problem has 3,000 at most"):
        read(tmp_path, PROBLEM + "".join(f"p{i} = {i}\n" for i in range(100_000)))


def test_large_files(tmp_path):
    with pytest.raises(fp.ProblemError, match=r"bytes; a problem file has 20,000,000 at most"):
        read(tmp_path, PROBLEM + "#" * 21_000_000)


# ---- messages ----------------------------------------------------------------------------------------


def test_control_characters_of_a_text_do_not_reach_the_terminal(tmp_path):
    with pytest.raises(fp.ProblemError) as caught:
        read(tmp_path, PROBLEM.replace("nu*u_xx", r"nu*u_xx + \u001b[31mred\u0007"))
    assert "\x1b" not in str(caught.value)
    assert r"nu*u_xx + \x1b[31mred\x07" in str(caught.value)
    with pytest.raises(fp.ProblemError) as caught:
        fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 0, {"left\x1b]0;title\x07": "u = 0"})
    assert "\x1b" not in str(caught.value)
    assert visible("a\tb\nc\u202e") == "a\tb\nc\\u202e"


# ---- meshes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "text"), [("m.off", "OFF\n"), ("m.off", "OFF\n#a"), ("m.node", "")])
def test_meshes_that_end_too_early(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(fp.ProblemError, match="could not be read as a mesh within the time that its size allows for"):
        fp.read_mesh(tmp_path / name)


# ---- stored solutions with right checksums -----------------------------------------------------------


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    file = tmp_path_factory.mktemp("stored") / "u.fpinn"
    moving = {"left": "u = sin(t)", "right": "u_n = 0"}
    problem = fp.Problem("u_t = u_xx - u**3", fp.Interval(0, 1), (0, 1), 0, moving)
    fp.solve(problem, settings=fp.Settings(width=20, windows=None)).save(file)
    return file


def reversed_times(meta, arrays):
    arrays["0/trajectory/times"] = arrays["0/trajectory/times"][::-1]


def fewer_states(meta, arrays):
    arrays["0/trajectory/states"] = arrays["0/trajectory/states"][:-1]


def no_number(meta, arrays):
    arrays["0/trajectory/states"] = np.where(np.arange(arrays["0/trajectory/states"].size) == 7, np.nan, 0.0).reshape(
        arrays["0/trajectory/states"].shape
    )


def negative_lengths(meta, arrays):
    name = next(name for name in arrays if name.endswith("/lengths"))
    arrays[name] = -arrays[name]


def large_order(meta, arrays):
    meta["pieces"][0]["expansions"][0]["order"] = 1_000_000_000


def late_start(meta, arrays):
    meta["pieces"][0]["start"] = 0.5


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (reversed_times, "'0/trajectory/times' does not increase"),
        (fewer_states, "the arrays times, states, rates of '0/trajectory' have different lengths"),
        (no_number, "'0/trajectory/states' has entries that are not finite"),
        (negative_lengths, "has lengths that are not positive"),
        (large_order, "a field has time derivatives of order 1000000000"),
        (late_start, "the windows in time do not cover the time of the problem"),
    ],
)
def test_forged_solutions(stored, tmp_path, forge, message):
    meta, arrays = Reader(stored, FORMAT).read()
    forge(meta, arrays)
    write_archive(os.fspath(tmp_path / "forged.fpinn"), meta, arrays)
    with pytest.raises(fp.StorageError, match=message):
        fp.load(tmp_path / "forged.fpinn")


def test_fields_are_named_by_texts():
    solution = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0"), tol=1e-3)
    with pytest.raises(fp.EvaluationError, match="3"):
        solution.plot(field=3)
