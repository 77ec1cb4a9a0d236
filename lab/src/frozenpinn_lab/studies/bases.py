"""Neurons that look at data (SWIM) and neurons that don't (ELM), for fronts of different steepness.

The function to fit is tanh((x − PLACE)/δ) on [−1, 1]. SWIM draws pairs of points, uniformly among points that follow
the slope apart from ``EVEN`` of them, as in the windows of the case ``burgers``; the same points carry the fit. ELM has
standard normal weights and biases in [−1, 1], ``elm_steep`` ten times that, ``multi_scale`` is our default sampler; all
of them on Gauss points, and four times as many of these, so that points are not what is missing. All layers have
``WIDTH`` neurons. The shock of Burgers is a front with δ of about 0.006: its neurons are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.basis.hidden import Derivative, HiddenLayer
from frozenpinn.basis.network import Network
from frozenpinn.basis.samplers import ELM, SWIM, MultiScale, Sampler
from frozenpinn.geometry import Interval, Points
from frozenpinn_lab.studies.attempts import relative
from frozenpinn_lab.studies.pictures import rounded
from frozenpinn_lab.studies.study import COLOURS, Announce, Row, Study, curves, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
PLACE = 0.2
EVEN = 0.3
WIDTH = 100
POINTS = 1000
CUTOFF = 1e-13
STEEPNESS = (1.0, 0.3, 0.1, 0.03, 0.006, 0.002, 0.001)
DRAWN = 0.006
SAMPLERS: dict[str, Sampler] = {
    "swim": SWIM(WIDTH),
    "elm": ELM(WIDTH),
    "elm_steep": ELM(WIDTH, eta=10.0, scale=10.0),
    "multi_scale": MultiScale(WIDTH),
}
PICTURED = ("swim", "elm", "elm_steep")
_NEURONS = 25


def front(x: Array, delta: float) -> Array:
    """Return the function to fit."""
    return np.asarray(np.tanh((x - PLACE) / delta))


def following(delta: float, rng: np.random.Generator) -> Points:
    """Return points drawn by the slope of the front, apart from some that are drawn evenly."""
    x = np.linspace(-1, 1, 100_001)
    height = front(x, delta)
    share = EVEN * (x + 1) / 2 + (1 - EVEN) * (height - height[0]) / (height[-1] - height[0])
    drawn = np.sort(np.interp(rng.random(POINTS), share, x))
    return Points(drawn[:, None], np.full(POINTS, 2 / POINTS), np.array([2 / POINTS]))


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors, one row per front; that which is drawn has some neurons of the first seed, too."""
    drawn = min(STEEPNESS, key=lambda delta: abs(np.log(delta / DRAWN)))
    table = []
    for delta in STEEPNESS:
        announce(f"front of width {delta:g}")
        row: Row = {"delta": delta}
        shown: Row = {"x": rounded(_grid()), "front": rounded(front(_grid(), delta))}
        for name, sampler in SAMPLERS.items():
            missed = []
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                points = following(delta, rng) if name == "swim" else Interval(-1, 1).sample(4 * POINTS, "gauss")
                hidden = sampler.sample(points, rng)
                missed.append(fit(hidden, points, delta))
                if seed == 0 and name in PICTURED:
                    shown[name] = rounded(hidden.features(_grid()[:, None])[:, :_NEURONS].T, 3)
            row[name] = float(np.median(missed))
        table.append(row | {"neurons": shown if delta == drawn else None})
    return table


def _grid() -> Array:
    return np.linspace(-1, 1, 401)


def fit(hidden: HiddenLayer, points: Points, delta: float) -> float:
    """Return the relative L² error of a least-squares fit, on an even grid that is fine enough for the front."""
    network = Network(hidden, points).compress(CUTOFF)
    coefficients = network.projector() @ front(points.x[:, 0], delta)
    x = np.linspace(-1, 1, 20_011)
    return relative(network.evaluate(x[:, None], "u", Derivative((0,))) @ coefficients, front(x, delta))


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw the neurons for one front, and errors against its width."""
    axes = figure.subplots(1, len(PICTURED) + 1, width_ratios=[1] * len(PICTURED) + [1.4])
    row = next(row for row in rows if row["neurons"] is not None)
    shown = row["neurons"]
    for axis, name, colour in zip(axes, PICTURED, COLOURS, strict=False):
        axis.plot(shown["x"], np.array(shown[name]).T, color=colour, linewidth=0.7, alpha=0.8)
        axis.plot(shown["x"], shown["front"], color="black", linewidth=1.8, label=f"front, δ = {row['delta']:g}")
        finish(axis, xlabel="x", ylim=(-1.3, 1.3), title=f"{name.replace('_', ' ')}: {_NEURONS} neurons")
    curves(axes[-1], "delta", tuple(SAMPLERS), rows)
    finish(axes[-1], xlabel="width δ of the front", ylabel="relative L² error", title=f"fit by {WIDTH} neurons")


STUDY = Study(
    "bases",
    "neurons that follow a front, and neurons that do not",
    "delta",
    tuple(SAMPLERS),
    rows,
    draw=draw,
    size=(17, 4.6),
)
