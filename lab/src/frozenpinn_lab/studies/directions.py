"""Directions of neurons: random pairs of points, and pairs projected onto the gradient (the paper's toy function).

The function sin(π (x + y)) on a square varies in one direction only. SWIM takes the direction of a pair of points for
that of a neuron; projected pairs take the gradient's. ``angle`` is the median angle between both, in degrees; errors
are those of least-squares fits, on points that no fit has seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.network import Network
from frozenpinn.basis.samplers import SWIM, ProjectedSWIM, Sampler
from frozenpinn.geometry import Box
from frozenpinn_lab.studies.attempts import relative
from frozenpinn_lab.studies.pictures import FIELDS, rounded
from frozenpinn_lab.studies.study import Announce, Row, Study, curves, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
WIDTHS = (10, 20, 40, 80, 160, 320)
POINTS = 2000
CUTOFF = 1e-12
SAMPLERS = ("swim", "projected")
DIRECTION = np.array([1.0, 1.0])
_SHOWN = 45  # points per side of the pictures


def target(x: Array) -> Array:
    """Return a function that varies along ``DIRECTION`` only."""
    return np.asarray(np.sin(np.pi * x @ DIRECTION))


def gradient(x: Array) -> Array:
    """Return its gradient."""
    return np.pi * np.cos(np.pi * x @ DIRECTION)[:, None] * DIRECTION


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors and angles, one row per width; the first has one neuron of each kind, too."""
    domain = Box([-1, -1], [1, 1])
    points, unseen = domain.sample(POINTS, "latin-hypercube", 0), domain.sample(5000, "random", 1).x
    grid = np.linspace(-1, 1, _SHOWN)
    plane = np.stack([g.ravel() for g in np.meshgrid(grid, grid)], axis=1)
    table: list[Row] = []
    for width in WIDTHS:
        announce(f"width {width}")
        row: Row = {"width": width}
        shown: Row = {"x": rounded(grid), "function": rounded(_square(target(plane)))}
        samplers: tuple[Sampler, ...] = SWIM(width), ProjectedSWIM(width, gradient)
        for name, sampler in zip(SAMPLERS, samplers, strict=True):
            layers = [sampler.sample(points, seed) for seed in range(seeds)]
            networks = [Network(hidden, points).compress(CUTOFF) for hidden in layers]
            row[name] = float(np.median([_error(network, unseen) for network in networks]))
            row[f"{name}_angle"] = float(np.median([_angle(hidden.weights) for hidden in layers]))
            shown[name] = rounded(_square(layers[0].features(plane)[:, 0]))
        table.append(row | {"neuron": None if table else shown})
    return table


def _square(values: Array) -> Array:
    return values.reshape(_SHOWN, _SHOWN)


def _error(network: Network, x: Array) -> float:
    coefficients = network.projector() @ target(network.points.x)
    return relative(network.evaluate(x, "u", Derivative((0, 0))) @ coefficients, target(x))


def _angle(weights: Array) -> float:
    cosine = np.abs(weights @ DIRECTION) / np.linalg.norm(weights, axis=1) / np.linalg.norm(DIRECTION)
    return float(np.degrees(np.median(np.arccos(np.minimum(cosine, 1.0)))))


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw the function, one neuron of each kind, and errors against the width."""
    axes = figure.subplots(1, 4, width_ratios=[1, 1, 1, 1.4])
    shown, x = rows[0]["neuron"], np.array(rows[0]["neuron"]["x"])
    for axis, name in zip(axes, ("function", *SAMPLERS), strict=False):
        values = np.array(shown[name])
        axis.pcolormesh(x, x, values, cmap=FIELDS, vmin=-1, vmax=1, shading="gouraud", rasterized=True)
        title = name if name == "function" else f"neuron of {name} pairs".replace("swim", "random")
        axis.set(xlabel="x", ylabel="y", title=title, aspect="equal")
    curves(axes[-1], "width", SAMPLERS, rows)
    finish(axes[-1], ylabel="relative L² error", title="least-squares fit")


STUDY = Study(
    "directions",
    "neurons along the gradient",
    "width",
    SAMPLERS,
    rows,
    details=tuple(f"{name}_angle" for name in SAMPLERS),
    draw=draw,
    size=(16, 4.4),
)
