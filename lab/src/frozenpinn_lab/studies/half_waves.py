"""Neurons for one axis of a box: how many half-waves the functions of a network resolve, sines beside steps of tanh.

The functions vanish at both ends and are orthonormal, cut off at 1e-10. sin(kπx) is projected onto them, and judged at
points in between: k is resolved up to where the error exceeds 1e-8 for the first time. A Fourier series in sines would
resolve as many half-waves as it has functions, but only solutions that can be continued oddly beyond the ends.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.samplers import MultiScale, Sampler, Sines
from frozenpinn.geometry import Interval
from frozenpinn_lab.studies.study import Announce, Row, Study

WIDTHS = (20, 40, 60, 80, 100, 120)
CUTOFF, ACCURACY = 1e-10, 1e-8


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return medians over seeds, one row per width."""
    table = []
    for width in WIDTHS:
        announce(f"width {width}")
        row: Row = {"width": width, "failures": []}
        samplers: dict[str, Sampler] = {"sines": Sines(width), "tanh": MultiScale(width)}
        for name, sampler in samplers.items():
            found = np.median([_resolved(sampler, seed) for seed in range(seeds)], axis=0)
            row[f"{name}_functions"], row[name] = int(found[0]), max(int(found[1]), 1)
        table.append(row)
    return table


def _resolved(sampler: Sampler, seed: int) -> tuple[int, int]:
    """Return how many functions a network has, and how many half-waves they resolve."""
    axis = Interval(0, 1)
    points = axis.sample(int(1.25 * sampler.width) + 12)
    ends = [Functional(((end[None], (Term("u", Derivative((0,))),)),)) for end in (axis.lower, axis.upper)]
    hidden = sampler.sample(points, np.random.default_rng(seed))
    network = Network(hidden, points).comply_with(ends, ()).compress(CUTOFF)
    x = axis.sample(400, "random", 1).x
    values, projector = network.evaluate(x, "u", Derivative((0,))), network.projector()
    for k in range(1, 4 * sampler.width):
        gap = values @ (projector @ np.sin(k * np.pi * points.x[:, 0])) - np.sin(k * np.pi * x[:, 0])
        if np.sqrt(2.0 * np.mean(gap**2)) > ACCURACY:
            return network.size, k - 1
    raise AssertionError("a network resolves no more half-waves than it has functions")


STUDY = Study(
    "half-waves",
    "half-waves that the neurons of one axis resolve to 1e-8",
    "width",
    ("sines", "tanh"),
    rows,
    "half-waves",
    details=("sines_functions", "tanh_functions"),
)
