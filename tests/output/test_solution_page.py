"""The page that moves: its numbers are those of Python, it fits on a phone, and asks nobody for anything."""

import base64
import json
import re
import shutil
import subprocess
import warnings
from functools import partial
from html import escape
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
import xarray as xr

import frozenpinn as fp
import zoo
from frozenpinn import EvaluationError, StorageError
from frozenpinn.geometry.cells import loops
from frozenpinn.output.page import page_data
from frozenpinn.output.page.modes import followed
from frozenpinn.output.page.tables import dataset_data

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")
QUIET = "--no-first-run --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars"
CORNER = fp.Polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)])
RING = fp.Interval(0, 2 * np.pi, periodic=True)


SOLVES = {
    "burgers": partial(zoo.solved, "burgers"),
    "system": partial(zoo.solved, "quantum"),
    "box": lambda: fp.solve(
        fp.Problem("u_t = lap(u)", fp.Box([0, 0], [2, 1]), (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = x*(2 - x)*t"),
        settings=fp.Settings(width=16),
    ),
    "hole": lambda: fp.solve(
        fp.Problem("u_t = lap(u)", fp.Disk() - fp.Disk([0, 0], 0.3), (0, 0.1), "1 + x", "u = 1 + x + t"),
        settings=fp.Settings(width=150, cutoff=1e-9),
    ),
    "corner": partial(zoo.solved, "corner"),
    "elastic corner": lambda: fp.solve(
        fp.Problem("lap(U) + 2*grad(div(U)) = [0, 1]", CORNER, boundary="U = 0"), settings=fp.Settings(width=150)
    ),
    "layer": partial(zoo.solved, "layer"),
}


@pytest.fixture(scope="module")
def solutions():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)  # widths are small here
        return {name: solve() for name, solve in SOLVES.items()}


@pytest.fixture(scope="module")
def pages(solutions, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {name: solution.page(folder / f"{name}.html") for name, solution in solutions.items()}


def questions(solution, count=12):
    """Return fields, derivatives, places and times, with what Python says there."""
    problem = solution.problem
    rng = np.random.default_rng(5)
    x = problem.domain.sample(count, "random", rng).x
    names = ["", "x", "xx", *([] if problem.domain.dimension == 1 else ["y", "xy"])]
    for field in problem.fields:
        for derivative in [*names, *([] if problem.is_static else ["t"])]:
            times = np.zeros(count) if problem.is_static else rng.uniform(*problem.time, count)
            when = () if problem.is_static else (times,)
            values = solution(*x.T, *when, field=field, derivative=derivative)
            for place, t, value in zip(x.tolist(), times.tolist(), values.tolist(), strict=True):
                yield field, derivative, place, t, value


def browse(folder, url, *options):
    """Open a page in headless Chromium, offline, and return what it prints; an error in its script fails the test."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *QUIET.split()]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"]
    command += [f"--user-data-dir={folder / 'profile'}", *options, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


ACTIONS = """
const report = {};
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument, frozen = frame.contentWindow.frozen, found = {};
  found.values = QUESTIONS[frame.id].map(([field, how, place, t]) => frozen.evaluate(field, place, t, how));
  const fire = (id, value, kind) => {
    const node = page.getElementById(id);
    node.value = value;
    node.dispatchEvent(new frame.contentWindow.Event(kind));
  };
  const canvas = page.querySelector("canvas"), before = canvas.toDataURL();
  if (page.getElementById("time")) { fire("time", 0.7, "input"); found.now = page.getElementById("now").textContent; }
  found.moved = canvas.toDataURL() !== before;
  found.options = [...page.querySelectorAll("#quantity option")].map((o) => o.textContent);
  const seen = canvas.toDataURL();
  if (page.getElementById("quantity")) fire("quantity", "x", "change");
  found.switched = canvas.toDataURL() !== seen;
  if (found.options.some((text) => text.includes("error"))) fire("quantity", "error", "change");
  const box = canvas.getBoundingClientRect();
  const at = { clientX: box.left + 0.25 * box.width, clientY: box.top + 0.6 * box.height };
  canvas.dispatchEvent(new frame.contentWindow.PointerEvent("pointermove", at));
  found.hint = page.getElementById("hint").textContent;
  found.width = page.documentElement.clientWidth; found.overflow = page.documentElement.scrollWidth;
  found.fps = frozen.framesPerSecond(20);
  report[frame.id] = found;
}
document.getElementById("report").textContent = JSON.stringify(report);
"""


def read(file):
    return Path(file).read_text(encoding="utf-8")


def in_frames(folder, files, asked, width=390):
    frames = "".join(
        f'<iframe id="{name}" style="border:0;width:{width}px;height:800px" srcdoc="{escape(read(file))}"></iframe>'
        for name, file in files.items()
    )
    questions = json.dumps({name: [row[:4] for row in rows] for name, rows in asked.items()})
    script = f"const QUESTIONS = {questions}; addEventListener('load', () => {{{ACTIONS}}});"
    target = folder / "frames.html"
    target.write_text(
        f"<!DOCTYPE html><meta charset='utf-8'>{frames}<pre id='report'></pre><script>{script}</script>",
        encoding="utf-8",
    )
    dom = browse(folder, target.as_uri(), "--dump-dom")
    return json.loads(dom.split('<pre id="report">')[1].split("</pre>")[0].replace("&gt;", ">").replace("&lt;", "<"))


@pytest.fixture(scope="module")
def asked(solutions):
    return {name: list(questions(solution)) for name, solution in solutions.items()}


@pytest.fixture(scope="module")
def answers(pages, asked, tmp_path_factory):
    return in_frames(tmp_path_factory.mktemp("browser"), pages, asked)


EXPRESSIONS = {
    "flux": "-k*u_x",
    "energy": "(u_t^2 + u_x^2)/2 + sqrt(1 + u^2)",
    "both": "max(u, 0.1)*exp(-x)*sin(t) - abs(u)/(1 + x)",
}
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="no Node on the PATH")
def test_expressions_are_those_of_python(tmp_path):
    problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.3})
    solution = fp.solve(problem)
    data = page_data(solution, EXPRESSIONS)
    assert [entry["name"] for entry in data["formulas"]] == list(EXPRESSIONS)
    rng = np.random.default_rng(1)
    places, times = rng.uniform(size=9), rng.uniform(size=9)
    script = Path(fp.__file__).parent / "output" / "page" / "evaluate.js"
    shim = "globalThis.window = {}; globalThis.document = { getElementById: () => ({ textContent: TEXT }) };"
    asked = json.dumps([[name, x, t] for name in EXPRESSIONS for x, t in zip(places, times, strict=True)])
    program = f"const TEXT = {json.dumps(json.dumps(data))}; {shim}\n{script.read_text(encoding='utf-8')}\n"
    program += f"console.log(JSON.stringify({asked}.map(([name, x, t]) => frozen.evaluate(name, [x], t))));"
    file = tmp_path / "page.cjs"
    file.write_text(program.replace('"use strict";', ""), encoding="utf-8")
    done = subprocess.run([NODE, str(file)], capture_output=True, text=True, check=True, timeout=60)
    wanted = np.concatenate([solution(text, places, times) for text in EXPRESSIONS.values()])
    np.testing.assert_allclose(json.loads(done.stdout), wanted, atol=1e-6)
    assert "flux" in read(solution.page(str(tmp_path / "page.html"), expressions=EXPRESSIONS))


def test_expressions_that_a_page_does_not_know(tmp_path):
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    solution, file = fp.solve(problem), str(tmp_path / "page.html")
    with pytest.raises(EvaluationError, match=r"needs u_xxx, which a page does not know; show a table"):
        solution.page(file, expressions={"third": "u_xxx"})
    with pytest.raises(EvaluationError, match=r"'erf' in 'erf\(u\)' is not known to a page"):
        solution.page(file, expressions={"odd": "erf(u)"})
    with pytest.raises(EvaluationError, match="shows real numbers; of"):
        solution.page(file, expressions={"pair": "[u, u]"})
    with pytest.raises(fp.FrozenPinnError, match="unknown name 'v'"):
        solution.page(file, expressions={"wrong": "v"})


@in_browser
@pytest.mark.parametrize("name", SOLVES)
def test_values_are_those_of_python(answers, asked, name):
    for field in {row[0] for row in asked[name]}:
        for derivative in {row[1] for row in asked[name]}:
            rows = [k for k, row in enumerate(asked[name]) if row[:2] == (field, derivative)]
            mine = np.array([answers[name]["values"][k] for k in rows])
            true = np.array([asked[name][k][4] for k in rows])
            accuracy = 1e-6 if derivative == "" else 1e-4  # differences of time and round-off in derivatives
            np.testing.assert_allclose(mine, true, atol=accuracy * max(np.max(np.abs(true)), 1e-3), err_msg=derivative)


@in_browser
def test_sliders_switches_and_the_pointer(answers):
    burgers = answers["burgers"]
    assert burgers["now"] == "0.7"
    assert burgers["moved"]
    assert burgers["switched"]
    assert burgers["options"] == ["u", "u_x", "u_xx", "u_t", "estimated error of u"]
    assert re.fullmatch(r"x = \S+, t = 0\.7: {2}estimated error of u = \S+", burgers["hint"])
    assert answers["corner"]["options"] == ["u", "u_x", "u_y", "u_xx", "u_xy", "u_yy"]
    assert "t =" not in answers["corner"]["hint"], "a static solution has no time"
    assert answers["hole"]["moved"]


@in_browser
def test_phones_never_scroll_sideways(answers):
    assert {found["overflow"] for found in answers.values()} == {390}


@in_browser
@pytest.mark.timing
def test_thirty_frames_a_second(answers):
    assert min(found["fps"] for found in answers.values()) > 30


@in_browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, 0), (390, 1)], ids=["dark", "light on a phone"])
def test_browser_draws_the_page(pages, tmp_path, width, scheme):
    picture = tmp_path / "page.png"
    options = (f"--window-size={width},900", f"--blink-settings=preferredColorScheme={scheme}")
    browse(tmp_path, f"file://{pages['hole']}", f"--screenshot={picture}", *options)
    image = matplotlib.image.imread(picture)[..., :3]
    assert len(np.unique((image * 255).round() @ [1, 256, 65536])) > 100
    corner = image[:4, :4].mean()
    assert corner > 0.95 if scheme else corner < 0.15


@pytest.mark.parametrize("name", SOLVES)
def test_pages_are_small_closed_and_checked(pages, solutions, name):
    text = read(pages[name])
    assert len(text) < 2_000_000
    assert not re.search(r"(src|href)=|https?://|@import|fetch\(|XMLHttpRequest", text)
    assert "default-src 'none'" in text
    assert page_data(solutions[name])["agreement"] < 1e-7


def test_parameters_of_a_sweep_have_sliders(tmp_path):
    nu, x, t = np.array([0.1, 0.2, 0.4]), np.linspace(0, 1, 21), np.linspace(0, 1, 11)
    values = nu[:, None, None] + x[:, None] * t
    runs = xr.Dataset(
        {"u": (("nu", "x", "t"), values), "error": (("nu",), nu)},
        coords={"nu": nu, "x": x, "t": t},
        attrs={"problem": "u_t = nu*u_xx"},
    )
    file = fp.page(runs, tmp_path / "sweep.html")
    text = read(file)
    assert "<title>u_t = nu*u_xx</title>" in text
    assert '"parameters": [{"name": "nu", "values": [0.1, 0.2, 0.4]}]' in text
    if CHROMIUM is None:
        return
    script = (
        "JSON.stringify([frozen.evaluate('u', [0.55], 0.25, '', [0.3]), frozen.evaluate('u', [0.5], 1, '', [0.1])])"
    )
    probe = text.replace("</body>", f"<pre id=probe></pre><script>byId('probe').textContent = {script}</script></body>")
    (tmp_path / "probe.html").write_text(probe, encoding="utf-8")
    dom = browse(tmp_path, (tmp_path / "probe.html").as_uri(), "--dump-dom")
    found = json.loads(re.search(r'<pre id="probe">(.*?)</pre>', dom)[1])
    np.testing.assert_allclose(found, [0.3 + 0.55 * 0.25, 0.6], atol=1e-6)
    assert 'id="parameter-nu"' in dom


def test_pages_of_sweeps(tmp_path):
    problem = fp.Problem(
        "u_t = k*u_xx - c*u", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1, "c": 0}
    )
    runs = fp.sweep(problem, {"k": [0.3, 0.1], "c": [0, 1, 2]}, points=9, times=[0, 1])
    data = dataset_data(runs)
    assert data["equations"] == ["u_t = k*u_xx - c*u"]
    assert [(p["name"], p["values"]) for p in data["parameters"]] == [("k", [0.1, 0.3]), ("c", [0, 1, 2])]
    assert [field["name"] for field in data["fields"]] == ["u"]
    table = data["fields"][0]["table"]
    values = np.frombuffer(base64.b64decode(table["values"]["data"]), "<f4").reshape(2, 3, 9, 2)
    np.testing.assert_allclose(values[1, 2, :, 1], fp.solve(problem.at(k=0.3, c=2))(np.linspace(0, 1, 9), 1), atol=1e-6)
    fp.page(runs, tmp_path / "grid.html")
    one = dataset_data(fp.sweep(problem, {"k": fp.Uniform(0.1, 0.3)}, samples=3, points=9, times=[0, 1]))
    assert [p["name"] for p in one["parameters"]] == ["k"]
    assert one["parameters"][0]["values"] == sorted(one["parameters"][0]["values"])
    two = {"k": fp.Uniform(0.1, 0.3), "c": fp.Uniform(0, 1)}
    scattered = dataset_data(fp.sweep(problem, two, samples=3, points=9, times=[0, 1]))
    assert [p["name"] for p in scattered["parameters"]] == ["run"], "a slider through the runs"


@pytest.mark.parametrize(
    ("file", "kind", "text"),
    [
        ("a.txt", StorageError, "a page is an HTML file: 'a.txt' must end in .html"),
        ("no/where.html", StorageError, "can't write 'no/where.html': there is no folder 'no'"),
        (3, StorageError, "a file is given by its path"),
    ],
)
def test_targets_that_are_refused(solutions, file, kind, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=text):
        solutions["burgers"].page(file)
    assert not list(tmp_path.iterdir())


def test_what_has_no_page(tmp_path):
    with pytest.raises(EvaluationError, match=r"page\(\) takes a Solution or an xarray Dataset, got int"):
        fp.page(3, "a.html")
    with pytest.raises(EvaluationError, match="tables over x, or x and y, with or without t; the dimensions are 'q'"):
        fp.page(xr.Dataset({"u": ("q", np.zeros(3))}), tmp_path / "a.html")
    with pytest.raises(EvaluationError, match="no variable has the dimensions 'x'"):
        fp.page(xr.Dataset(coords={"x": [0.0, 1.0]}), tmp_path / "a.html")
    ball = fp.Problem("lap(u) = -1 - x*y*z", fp.Ball([0, 0, 0], 1), boundary="u = 0")
    solid = fp.solve(ball, settings=fp.Settings(width=60))
    with pytest.raises(EvaluationError, match="a page shows one and two dimensions, and the domain has 3"):
        solid.page(tmp_path / "a.html")


def test_derivatives_follow_the_names_of_coordinates():
    settings = fp.Settings(width=20)
    line = fp.Problem("u_t = u_ss", fp.Interval(0, 1), (0, 0.1), "sin(pi*s)", "u = 0", coordinates=("s",))
    data = page_data(fp.solve(line, settings=settings))
    assert (data["derivatives"], data["alphas"]) == (["", "s", "ss", "t"], [[0], [1], [2]])
    ring = fp.Problem("lap(u) = 0", fp.Box([1, 0], [2, 1]), boundary="u = r*cos(theta)", coordinates="polar")
    data = page_data(fp.solve(ring, settings=fp.Settings(width=8)))
    assert data["derivatives"] == ["", "r", "theta", "rr", "rtheta", "thetatheta"]


def test_known_parts_and_kinks_are_shown_as_tables(tmp_path):
    settings, target = fp.Settings(width=20), tmp_path / "u.html"
    start, ends = "heaviside(x - 0.5)", {"left": "u = 0", "right": "u = 1"}
    front = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), start, ends), settings=settings)
    with pytest.raises(EvaluationError, match="a part of the solution is known in closed form, because data jump"):
        front.page(target)
    fp.page(front.grid(points=9, times=3), target)
    kink = fp.Problem("dx((1 + heaviside(x - 0.5))*u_x) = 1", fp.Interval(0, 1), boundary="u = 0")
    with pytest.raises(EvaluationError, match=r"bend where a coefficient jumps can't be put on a page\. Show a table"):
        fp.solve(kink, settings=settings).page(target)
    disk = fp.Problem("lap(u) = -4", fp.Interval(0, 2), boundary="u = 0", coordinates="polar")
    fp.page(fp.solve(disk, settings=settings).grid(points=9), target)


def test_courses_follow_layers_in_time():
    course = followed(lambda t: np.stack([np.exp(-200 * t), np.cos(3 * t)], axis=1), 0.0, 1.0)
    t = np.linspace(0, 1, 57)
    np.testing.assert_allclose(course(t), np.stack([np.exp(-200 * t), np.cos(3 * t)], axis=1), atol=1e-9)
    lengths = np.diff(course.breaks)
    assert lengths[0] < lengths[-1], "cells are short where it changes fast"


def test_outlines_are_closed_loops():
    outer, inner = sorted(loops(fp.Disk() - fp.Disk([0, 0], 0.3)), key=lambda loop: -np.max(np.abs(loop)))
    np.testing.assert_allclose(np.linalg.norm(outer, axis=1), 1.0, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(inner, axis=1), 0.3, atol=1e-8)
    assert len(loops(CORNER)) == 1
