"""Burgers: where the points are. The solution, the slope that guides them, and the points of every window of time.

``paper`` renews points and neurons in nine equal windows, ``best`` when the basis stops resolving the solution; both
are the recipes of the case ``burgers`` at high precision, with the first seed. At the start of a window the points are
drawn with the density of the slope |∂ₓu| of the solution so far, apart from a share that covers the whole interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.results.expansion import Piece
from frozenpinn.results.solution import Solution
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.studies.attempts import attempt
from frozenpinn_lab.studies.pictures import FIELDS, rounded
from frozenpinn_lab.studies.study import Announce, Row, Study, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECIPES = ("paper", "best")
NEAR = 0.05  # how far from the origin is near the shock
_SHOWN = 300  # points of a window that are kept for the picture
_FINE = 1001


def rows(_: int, announce: Announce) -> list[Row]:
    """Return one row per window of each recipe."""
    table: list[Row] = []
    for recipe in RECIPES:
        solution, _seconds = attempt(find_case("burgers"), announce, recipe)
        for place, piece in enumerate(solution.pieces):
            table.append({"recipe": recipe, "window": place + 1, **_window(solution, piece), "failures": []})
    return table


def _window(solution: Solution, piece: Piece) -> Row:
    network = piece.expansions[0].basis
    points = np.sort(network.points.x[:, 0])
    x = np.linspace(-1, 1, _FINE)
    slope = np.abs(solution(x, piece.start, derivative="x"))
    coarse, t = np.linspace(-1, 1, 101), np.linspace(piece.start, piece.end, 9)
    return {
        "start": piece.start,
        "end": piece.end,
        "points": len(points),
        "neurons": network.width,
        "near_shock": float(np.mean(np.abs(points) < NEAR)),
        "steepest": float(np.max(slope)),
        "x": rounded(points[:: max(1, len(points) // _SHOWN)]),
        "density": {"x": rounded(x[::5]), "p": rounded((slope / (np.mean(slope) * 2))[::5])},
        "solution": {"t": rounded(t, 6), "x": rounded(coarse), "u": rounded(solution(coarse[:, None], t))},
    }


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw the solution with its windows, the densities, and the points, one line of pictures per recipe."""
    from matplotlib import colormaps

    axes = figure.subplots(len(RECIPES), 3, squeeze=False)
    for (left, middle, right), recipe in zip(axes, RECIPES, strict=True):
        windows = [row for row in rows if row["recipe"] == recipe]
        shades = colormaps["viridis"](np.linspace(0.0, 0.9, len(windows)))
        for row, shade in zip(windows, shades, strict=True):
            _field(left, row["solution"])
            left.axvline(row["start"], color="0.3", linestyle="--", linewidth=0.8)
            density = row["density"]
            middle.semilogy(density["x"], density["p"], color=shade, label=f"t = {row['start']:.2f}")
            right.plot(row["x"], [row["start"]] * len(row["x"]), "|", color=shade, markersize=9, alpha=0.6)
        left.set(xlabel="t", ylabel="x", title=f"{recipe}: solution and windows")
        finish(middle, xlabel="x", ylabel="density", title="density by the slope", ylim=(1e-3, 3e3))
        middle.legend(fontsize=8, ncols=3, loc="upper center")
        right.set(xlabel="x", ylabel="start of the window", title="points (some of them)", xlim=(-1, 1))


def _field(axis: Any, shown: Row) -> None:
    style = {"cmap": FIELDS, "vmin": -1, "vmax": 1, "shading": "gouraud", "rasterized": True}
    axis.pcolormesh(np.array(shown["t"]), np.array(shown["x"]), np.array(shown["u"]), **style)


STUDY = Study(
    "burgers-points",
    "Burgers: points that follow the shock",
    "recipe",
    ("near_shock", "steepest"),
    rows,
    details=("window", "start", "end", "points", "neurons"),
    draw=draw,
    size=(15, 8),
)
