"""Films: as many frames as asked for, and clear words where none can be made."""

import html
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from PIL import Image

import frozenpinn as fp
from frozenpinn.output.plotting.quantities import colours
from frozenpinn.runtime.html import Shown


@pytest.fixture(scope="module")
def heat():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.2), "sin(pi*x)", "u = 0")
    return fp.solve(problem, settings=fp.Settings(width=20))


def test_a_film_has_its_frames_and_moves(heat, tmp_path):
    backend = matplotlib.get_backend()
    heat.animate(tmp_path / "u.gif", frames=3, fps=5)
    with Image.open(tmp_path / "u.gif") as film:
        assert film.n_frames == 3
        first = film.convert("RGB").tobytes()
        film.seek(2)
        assert film.convert("RGB").tobytes() != first
    assert matplotlib.get_backend() == backend


def test_a_film_of_a_shape(tmp_path):
    problem = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 0.2), "1 - x**2 - y**2", "u = 0")
    fp.solve(problem, settings=fp.Settings(width=40)).animate(tmp_path / "u.gif", frames=2, points=21)
    with Image.open(tmp_path / "u.gif") as film:
        assert film.n_frames == 2


@pytest.mark.parametrize(
    ("file", "more", "error", "text"),
    [
        ("u.avi", {}, fp.StorageError, r"ends in '\.avi'; films end in \.gif or \.mp4"),
        ("u.gif", {"frames": 0}, fp.EvaluationError, "frames is a whole number from 1 to 10000, got 0"),
        ("u.gif", {"fps": "fast"}, fp.EvaluationError, "fps is a whole number from 1 to 200, got 'fast'"),
        ("u.gif", {"field": "w"}, fp.EvaluationError, "unknown field 'w'"),
    ],
)
def test_films_that_make_no_sense(heat, tmp_path, file, more, error, text):
    with pytest.raises(error, match=text):
        heat.animate(tmp_path / file, **more)


def test_mp4_without_ffmpeg_is_told(heat, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(fp.StorageError, match=r"needs the program ffmpeg, which is not installed; write a \.gif"):
        heat.animate(tmp_path / "u.mp4")


def test_static_solutions_do_not_move(tmp_path):
    solution = fp.solve(fp.Problem("u_xx = 1", fp.Interval(0, 1), boundary="u = 0"))
    with pytest.raises(fp.EvaluationError, match="a static solution does not move"):
        solution.animate(tmp_path / "u.gif")


def test_a_film_is_shown_in_notebooks(heat, tmp_path):
    film = heat.animate(tmp_path / "u.gif", frames=2)
    assert film == str(tmp_path / "u.gif")
    assert film._repr_html_().startswith('<img style="max-width:100%" alt="a film" src="data:image/gif;base64,R0lGOD')
    (tmp_path / "u.gif").unlink()
    assert film._repr_html_() == f"<code>{film}</code>"


def test_a_page_is_shown_in_notebooks(heat, tmp_path):
    page = heat.page(tmp_path / "u.html")
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!')
    assert html.unescape(shown).count("</html>") == 1
    large = Shown(tmp_path / "large.gif")
    (tmp_path / "large.gif").write_bytes(bytes(20_000_001))
    assert "too large to be shown here" in large._repr_html_()


def test_films_of_fields_that_hardly_change_sign_keep_their_colours(tmp_path):
    assert colours(np.array([-0.001, 1.0]))[0]["cmap"] == "viridis"
    assert colours(np.array([-0.1, 1.0]))[0]["cmap"] == "RdBu_r"


def test_ffmpeg_gets_all_pictures(heat, tmp_path, monkeypatch):
    given = {}

    def run(command, input, **_):
        given.update(command=command, bytes=len(input))
        Path(command[-1]).write_bytes(b"film")
        return SimpleNamespace(returncode=0, stderr=b"")

    monkeypatch.setattr("shutil.which", lambda _: "ffmpeg")
    monkeypatch.setattr("subprocess.run", run)
    film = heat.animate(tmp_path / "u.mp4", frames=3, fps=7)
    width, height = map(int, given["command"][given["command"].index("-s") + 1].split("x"))
    assert given["bytes"] == 3 * 3 * width * height
    assert '<video controls loop style="max-width:100%" src="data:video/mp4;base64' in film._repr_html_()
    monkeypatch.setattr("subprocess.run", lambda *_, **__: SimpleNamespace(returncode=1, stderr=b"no such codec"))
    with pytest.raises(fp.StorageError, match="ffmpeg could not write the film: no such codec"):
        heat.animate(tmp_path / "v.mp4")
