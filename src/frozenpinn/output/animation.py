"""Films of solutions: a curve that moves in one dimension, colours on the domain in two."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, StorageError
from frozenpinn.geometry.cells import cells_of
from frozenpinn.results.expressions import Expression, field_or_expression
from frozenpinn.runtime.arguments import is_whole, shown, spelled
from frozenpinn.runtime.html import Shown
from frozenpinn.runtime.paths import checked_target, replacing

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

Array = np.ndarray


@spelled(EvaluationError)
def animate(
    self: Solution,
    file: str,
    field: str | None = None,
    frames: int = 60,
    fps: int = 15,
    points: int | None = None,
    overwrite: bool = False,
) -> str:
    """Write a film of one field, or of an expression in the fields, in time; return its path, shown in notebooks.

    Parameters
    ----------
    file
        ``wave.gif``, or ``wave.mp4`` if the program ``ffmpeg`` is installed.
    field
        Which field, may be left out if there is one; or an expression, such as ``"v_x - u_y"``.
    frames, fps
        How many pictures, and how many of them in a second.
    points
        How many along the longest edge.
    overwrite
        Whether to replace a file that is there.
    """
    target, drawn = checked_target(file, StorageError, overwrite), field_or_expression(self, field)
    if self.problem.is_static:
        raise EvaluationError("a static solution does not move; solution.plot('u.png') draws it.")
    if not is_whole(frames) or not 1 <= frames <= 10_000:
        raise EvaluationError(f"frames is a whole number from 1 to 10000, got {shown(frames)}.")
    if not is_whole(fps) or not 1 <= fps <= 200:
        raise EvaluationError(f"fps is a whole number from 1 to 200, got {shown(fps)}.")
    if points is not None and (not is_whole(points) or points < 2):
        raise EvaluationError(f"points is a whole number from 2 on, got {shown(points)}.")
    write = _writer(target)
    fewer = self.reduced is not None and self.problem.domain.dimension > 2 and isinstance(drawn, str)
    shown_solution = self.reduced if fewer and self.reduced is not None else self
    if shown_solution.problem.domain.dimension > 2:
        raise EvaluationError(
            "films are drawn in one and two dimensions; write a series for ParaView: solution.to_vtk('u.pvd')."
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    times = np.linspace(*self.problem.time, frames)
    line = shown_solution.problem.domain.dimension == 1
    moving, draw = (_curve if line else _colours)(figure, shown_solution, drawn, times, points)
    with replacing(file, overwrite) as part:
        write(part, _pictures(figure, moving, draw, frames), fps)
    return Shown(target)


def _pictures(figure: Any, moving: Sequence[Any], draw: Callable[[int], None], frames: int) -> Iterator[Array]:
    """Yield pictures as arrays of colours; what does not move is drawn and laid out once."""
    canvas = figure.canvas
    draw(0)
    canvas.draw()
    figure.set_layout_engine("none")
    for artist in moving:
        artist.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    for k in range(frames):
        canvas.restore_region(still)
        draw(k)
        for artist in moving:
            figure.draw_artist(artist)
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _writer(target: str) -> Callable[[str, Iterator[Array], int], None]:
    """Return what writes pictures into a file of this kind."""
    ending = os.path.splitext(target)[1].lower()
    if ending == ".gif":
        return _write_gif
    if ending != ".mp4":
        raise StorageError(f"'{target}' ends in '{ending}'; films end in .gif or .mp4.")
    if shutil.which("ffmpeg") is None:
        raise StorageError(
            f"'{target}' needs the program ffmpeg, which is not installed; write a .gif, or install it "
            "(apt install ffmpeg, conda install ffmpeg)."
        )
    return _write_mp4


def _write_gif(part: str, pictures: Iterator[Array], fps: int) -> None:
    """Write a film that repeats; all pictures have the colours of some that are spread over the film."""
    from PIL import Image

    images = [Image.fromarray(picture) for picture in pictures]
    some = np.concatenate([np.asarray(image)[::2, ::2] for image in images[:: max(1, len(images) // 6)]])
    colours = Image.fromarray(some).quantize(256)
    first, *others = [image.quantize(palette=colours, dither=Image.Dither.NONE) for image in images]
    first.save(part, format="GIF", save_all=True, append_images=others, duration=round(1000 / fps), loop=0)


def _write_mp4(part: str, pictures: Iterator[Array], fps: int) -> None:
    """Write a film by the program ffmpeg, which takes pictures as they come."""
    first = next(pictures)
    even = "scale=trunc(iw/2)*2:trunc(ih/2)*2"  # the codec takes no others
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{first.shape[1]}x{first.shape[0]}", "-r", str(fps), "-i", "-", "-vf", even]
    command += ["-vcodec", "libx264", "-pix_fmt", "yuv420p", part]
    given = b"".join(picture.tobytes() for picture in chain([first], pictures))
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        raise StorageError(f"ffmpeg could not write the film: {done.stderr.decode(errors='replace').strip()[-300:]}")


def _sizes(solution: Solution, x: Array, times: Array, drawn: str | Expression) -> Array:
    """Return the values of a real field or expression, the size of a complex one or of a vector."""
    if isinstance(drawn, Expression):
        found = drawn.outer(solution, x, times)
        found = np.abs(found) if drawn.is_complex else found
        return np.asarray(found if not drawn.shape else np.linalg.norm(found.reshape(-1, len(x), len(times)), axis=0))
    parts = solution.problem.composites.parts(drawn)
    values = [solution.jet_values(x, times, solution.problem.jets.field(part)) for part in parts]
    return values[0] if len(values) == 1 else np.linalg.norm(values, axis=0)


def _name(drawn: str | Expression) -> str:
    return drawn if isinstance(drawn, str) else drawn.text


def _curve(
    figure: Any, solution: Solution, drawn: str | Expression, times: Array, points: int | None
) -> tuple[Sequence[Any], Callable[[int], None]]:
    domain = solution.problem.domain
    x = np.linspace(domain.lower[0], domain.upper[0], points or 401)
    values = _sizes(solution, x[:, None], times, drawn)
    low, high = _limits(values)
    axis = figure.add_subplot()
    (curve,) = axis.plot(x, values[:, 0])
    axis.set(xlabel=domain.coordinates[0], ylabel=_name(drawn), xlim=(x[0], x[-1]), ylim=(low, high))
    title = axis.set_title("")

    def draw(k: int) -> None:
        curve.set_ydata(values[:, k])
        title.set_text(f"t = {times[k]:.3g}")

    return (curve, title), draw


def _colours(
    figure: Any, solution: Solution, drawn: str | Expression, times: Array, points: int | None
) -> tuple[Sequence[Any], Callable[[int], None]]:
    from frozenpinn.output.plotting.quantities import colours

    domain = solution.problem.domain
    cells = cells_of(domain, points or 121)
    values = _sizes(solution, cells.points, times, drawn)
    axis = figure.add_subplot()
    corners = cells.cells
    triangles = corners if cells.kind == "triangle" else np.concatenate([corners[:, :3], corners[:, [0, 2, 3]]])
    image = axis.tripcolor(
        *cells.points.T,
        triangles,
        values[:, 0],
        shading="gouraud",
        **colours(values)[0],
    )
    figure.colorbar(image, ax=axis, label=_name(drawn))
    axis.set(xlabel=domain.coordinates[0], ylabel=domain.coordinates[1], aspect="equal")
    title = axis.set_title("")

    def draw(k: int) -> None:
        image.set_array(values[:, k])
        title.set_text(f"t = {times[k]:.3g}")

    return (image, title), draw


def _limits(values: Array) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin
