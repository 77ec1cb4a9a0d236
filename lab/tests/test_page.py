"""The report as a page: complete and harmless as text, and sorted, filtered and laid out by a real browser."""

import json
import platform
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from frozenpinn.errors import EvaluationError, SettingsError
from frozenpinn_lab.page import Results, describe_machine, draw_work_precision, render_report, write_report
from frozenpinn_lab.page.charts import read_curves, work_precision
from frozenpinn_lab.page.rows import read_rows
from frozenpinn_lab.page.tables import COLUMNS

HOSTILE = "<script>document.title = 'taken'</script> & \"quoted\" 'text' https://example.org/x.js"
VOID = {"meta", "input", "img", "br", "link", "hr"}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def record(case="wave", method="frozen-pinn", recipe="best", error=1e-9, seconds=0.01, **more):
    return {
        "case": case,
        "variant": "",
        "method": method,
        "recipe": recipe,
        "precision": "high",
        "seeds": [0, 1],
        "rel_l2": {"mean": error, "std": error / 4, "values": [error, error]},
        "rmse": {"mean": error, "std": 0.0, "values": [error, error]},
        "seconds": {"median": seconds, "values": [seconds, seconds]},
        "estimate": {"values": [None, None]},
        "width": 40,
        "rank": None,
        "points": 200,
        "windows": 1,
        "sampler": "swim",
        "status": "ok",
        "reason": None,
        "paper": {"rel_l2": None, "seconds": None},
        "command": f"frozenpinn bench {case} --method {method}",
        **more,
    }


def failed(**more):
    nothing = {"mean": None, "std": None, "values": []}
    empty = {"rel_l2": nothing, "rmse": nothing, "seconds": {"median": None, "values": []}, "status": "failed"}
    return {**record(**more), **empty, "reason": HOSTILE}


def curve(method, recipe, *points):
    return {
        "method": method,
        "recipe": recipe,
        "points": [{"seconds": s, "rel_l2": e, "label": f"<b>{s}</b>"} for s, e in points],
    }


@pytest.fixture(scope="module")
def results():
    records = [
        record(error=4e-12, estimate={"values": [5e-12, 6e-12]}, paper={"rel_l2": 1.8e-6, "seconds": 0.56}),
        record(recipe="paper", error=6.6e-8, seconds=0.13, title="Wave & <i>more</i>"),
        record(recipe="auto", error=3e-9, seconds=0.03, tol=1e-8, verdict="converged"),
        record(method="pinn-adam", recipe=None, error=0.02, seconds=60.2, stopped=[True, True], budget=60.0),
        record(method="causal-pinn", recipe=None, error=0.1, seconds=61.0, stopped=[True, False], note=HOSTILE),
        failed(method="iga", recipe="paper"),
        record("advection", error=2e-10, seconds=0.2, variant="beta=40"),
        record("advection", recipe="paper", error=3e-7, seconds=0.1, variant="beta=40"),
        {"case": HOSTILE, "method": HOSTILE, "command": HOSTILE, "paper": None, "rel_l2": {"mean": float("nan")}},
        {"case": "bare", "method": "fem"},
    ]
    ours = curve("frozen-pinn", "best", (0.002, 1e-4), (0.004, 1e-8), (0.01, 0.0))
    training = curve("pinn-adam", None, *((0.1 * k, 1 / k) for k in range(1, 200)), (None, 1.0), (1.0, float("inf")))
    diagrams = [
        {"case": "wave", "title": "u_tt = c² u_xx", "curves": [training, ours, curve("fem", None, (1.0, 1e-3))]},
        {"case": HOSTILE, "title": None, "curves": []},
    ]
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>{HOSTILE}</script></svg>"
    figures = [
        {"title": "κ", "caption": HOSTILE, "svg": svg, "command": "frozenpinn study kappa"},
        {"title": "width", "caption": "", "png": PIXEL},
    ]
    return Results(records, diagrams, figures, {**describe_machine(), "extra <key>": HOSTILE})


@pytest.fixture(scope="module")
def page(results):
    return render_report(results)


class Reader(HTMLParser):
    """Checks that elements are closed in their order; keeps references, scripts, identifiers and the table."""

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.count, self.names, self.rows = [], [], {}, [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.references += [value for key, value in attrs if key in {"src", "href", "srcset", "action", "xlink:href"}]
        self.names += [value for key, value in attrs if key == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append((dict(attrs).get("class"), []))
        if tag in {"td", "th"}:
            self.rows[-1][1].append(dict(attrs))

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_well_formed_and_refers_to_nothing_outside(page):
    reader = Reader(page)
    assert reader.count["script"] == 1
    assert len(reader.names) == len(set(reader.names))
    assert all(reference.startswith(("#", "data:image/")) for reference in reader.references)
    assert {reference[1:] for reference in reader.references if reference[0] == "#"} <= set(reader.names)
    assert "url(" not in page
    assert "@import" not in page
    assert "https://" not in page.replace(escape(HOSTILE), "")
    assert len(page) < 3e6


def test_every_row_of_the_table_has_every_column(page, results):
    rows = Reader(page).rows
    assert [kind for kind, _ in rows] == [None] + ["row", "more"] * len(results.records)
    assert all(len(cells) == len(COLUMNS) + 1 for kind, cells in rows if kind != "more")
    assert all(cells[0]["colspan"] == str(len(COLUMNS) + 1) for kind, cells in rows if kind == "more")


def test_numbers_stand_in_the_page_as_people_read_them(page):
    for text in (
        "4.0e-12",
        "10 ms",
        "≥ 60 s",
        "13×",
        "≥ 6\u202f020×",
        "stopped after 60 s",
        "tol 1e-8",
        "1 of 2 seeds stopped",
    ):
        assert text in page, text
    assert "frozenpinn bench wave --method pinn-adam" in page
    assert "nan" not in page.lower().replace("nance", "")


def test_ratio_compares_with_our_row_of_the_same_variant_only():
    rows = read_rows(
        [
            record(seconds=0.1, variant="a"),
            record(recipe="paper", seconds=0.4, variant="a"),
            record(recipe="paper", seconds=0.4, variant="b"),
            failed(method="iga", variant="a"),
        ]
    )
    assert [row.ratio for row in rows] == [1.0, pytest.approx(4.0), None, None]


def test_headline_counts_a_sweep_once_and_says_when_ours_is_slower():
    sweep = [
        record("sweep", recipe=recipe, seconds=s, variant=f"n={k}")
        for k in range(5)
        for recipe, s in (("best", 0.1), ("paper", 10.0))
    ]
    other = [record("other", seconds=0.1), record("other", recipe="paper", seconds=0.2)]
    page = render_report(Results(sweep + other))
    assert '<span class="figure">51×</span><span class="what">faster than the paper’s recipe' in page
    slower = render_report(Results([record(seconds=1.0), record(method="iga", recipe=None, seconds=0.5)]))
    assert '<span class="figure">2.0×</span><span class="what">slower than IGA and FEM' in slower


def test_empty_results_still_give_a_page():
    reader = Reader(render_report(Results([])))
    assert reader.count["h2"] == 1


def test_results_survive_json_and_refuse_nonsense(results):
    text = json.dumps(results.as_dict())
    assert render_report(Results.from_dict(json.loads(text))) == render_report(results)
    with pytest.raises(SettingsError, match="not extra"):
        Results.from_dict({"records": [], "extra": 1})
    with pytest.raises(SettingsError, match="record 0 of the results has no method"):
        Results([{"case": "wave"}])
    with pytest.raises(SettingsError, match="diagram 0"):
        Results([], [{"case": "wave"}])
    with pytest.raises(SettingsError, match="figure 0"):
        Results([], figures=[{"title": "wave"}])


def test_machine_is_described_without_naming_it():
    machine = describe_machine()
    assert {"cpu", "cores", "memory", "os", "python", "blas", "versions", "date"} == set(machine)
    assert "numpy" in machine["versions"]
    text = json.dumps(machine)
    assert not {platform.node(), Path.home().name} & set(re.findall(r"[\w.-]+", text))
    assert "/home" not in text
    assert "site-packages" not in text


def test_diagrams_label_every_curve_and_mark_long_ones_sparsely(results):
    curves = read_curves(results.diagrams[0])
    assert [curve.look.name for curve in curves] == ["frozen · best", "FEM", "PINN · Adam"]
    assert len(curves[2].points) == 199
    drawing = work_precision(results.diagrams[0])
    assert all(f">{curve.look.name}</text>" in drawing for curve in curves)
    assert drawing.count("<title>PINN") == 9
    assert "<b>" not in drawing


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_overview_is_drawn_for_the_readme(results, tmp_path, suffix):
    file = tmp_path / f"overview.{suffix}"
    draw_work_precision(results.diagrams, file)
    assert file.stat().st_size > 5000
    with pytest.raises(EvaluationError, match="nothing to draw"):
        draw_work_precision(results.diagrams[1:], file)


# --- in a browser ---------------------------------------------------------------------------------------------------

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")
QUIET = "--no-first-run --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars"


def browse(folder, url, *options):
    """Open a page in headless Chromium and return what it prints; an error in the page's script fails the test."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *QUIET.split()]
    command += ["--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", *options, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def file(results, tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, file)
    return file


def column(dom, key):
    """Return what a column is sorted by, in the order of the rows shown."""
    rows = [cells for kind, cells in Reader(dom).rows if kind == "row"]
    cells = [next(cell for cell in row if cell.get("data-key") == key) for row in rows]
    return [cell.get("data-value", cell.get("data-text")) for cell in cells]


@in_browser
@pytest.mark.parametrize(("wish", "sign"), [("seconds", 1), ("-error", -1)])
def test_browser_sorts_by_the_address(file, tmp_path, wish, sign):
    dom = browse(tmp_path, f"{file.as_uri()}#sort={wish}", "--dump-dom")
    values = column(dom, wish.lstrip("-"))
    known = [float(value) for value in values if value is not None]
    assert known == sorted(known, reverse=sign < 0)
    assert None not in values[: len(known)]
    assert f'aria-sort="{"ascending" if sign > 0 else "descending"}"' in dom
    assert "<title>frozenpinn: benchmarks</title>" in dom


ACTIONS = """
const report = {};
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument, root = page.documentElement;
  const order = () => [...page.querySelectorAll("#results tbody")].map((body) => Number(body.dataset.order));
  const head = page.querySelector('thead [data-key="seconds"]');
  const button = head.querySelector("button"), found = { width: root.clientWidth, overflow: root.scrollWidth };
  button.focus();
  found.focused = page.activeElement === button;
  found.orders = [order()];
  found.sorts = [];
  for (let k = 0; k < 3; k++) { button.click(); found.orders.push(order()); found.sorts.push(head.ariaSort); }
  const select = page.getElementById("sort");
  select.value = "error";
  select.dispatchEvent(new frame.contentWindow.Event("change"));
  found.selected = page.querySelector('thead [data-key="error"]').ariaSort;
  const filter = page.getElementById("filter");
  filter.value = "WAVE pinn";
  filter.dispatchEvent(new frame.contentWindow.Event("input"));
  found.count = page.getElementById("count").textContent;
  found.shown = [...page.querySelectorAll("#results tbody")].filter((body) => body.offsetHeight > 0).length;
  filter.value = "";
  filter.dispatchEvent(new frame.contentWindow.Event("input"));
  for (const toggle of page.querySelectorAll(".toggle button")) toggle.click();
  found.details = [...page.querySelectorAll(".more")].every((row) => row.offsetHeight > 0);
  found.overflowOpen = root.scrollWidth;
  report[frame.id] = found;
}
document.getElementById("report").textContent = JSON.stringify(report);
"""


@in_browser
def test_browser_sorts_by_click_filters_and_never_scrolls_sideways(page, tmp_path):
    frames = "".join(
        f'<iframe id="{name}" style="border:0;width:{width}px;height:800px" srcdoc="{escape(page)}"></iframe>'
        for name, width in (("phone", 390), ("narrow", 320), ("tablet", 800), ("desk", 1280))
    )
    file = tmp_path / "frames.html"
    script = f"addEventListener('load', () => {{{ACTIONS}}});"
    file.write_text(
        f"<!DOCTYPE html><meta charset='utf-8'>{frames}<pre id='report'></pre><script>{script}</script>",
        encoding="utf-8",
    )
    dom = browse(tmp_path, file.as_uri(), "--dump-dom")
    report = json.loads(dom.split('<pre id="report">')[1].split("</pre>")[0])
    assert {name: found["width"] for name, found in report.items()} == {
        "phone": 390,
        "narrow": 320,
        "tablet": 800,
        "desk": 1280,
    }
    for found in report.values():
        assert found["overflow"] == found["overflowOpen"] == found["width"]
        start, up, down, back = found["orders"]
        assert start == back == sorted(start)
        assert sorted(up) == sorted(down) == start != up != down
        assert found["sorts"] == ["ascending", "descending", "none"]
        assert (found["count"], found["shown"]) == ("2 of 10 rows", 2)
        assert found["selected"] == "ascending"
        assert found["focused"]
        assert found["details"]


@in_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_browser_draws_the_page(file, tmp_path, width, scheme):
    picture = tmp_path / "report.png"
    options = (f"--window-size={width},1600", f"--blink-settings=preferredColorScheme={scheme}")
    browse(tmp_path, file.as_uri(), f"--screenshot={picture}", *options)
    image = matplotlib.image.imread(picture)[..., :3]
    assert image.shape[:2] == (1600, width)
    assert len(np.unique((image * 255).round() @ [1, 256, 65536])) > 100
    corner = image[:4, :4].mean()
    assert corner > 0.95 if scheme else corner < 0.15
