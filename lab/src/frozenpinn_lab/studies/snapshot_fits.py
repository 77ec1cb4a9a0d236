"""Fits of the Burgers snapshot by 102 functions of four kinds: where they oscillate.

The bases and their settings are those of the study ``snapshot``, with the first seed. ``overshoot`` tells how far a fit
leaves the range of the snapshot, and ``away`` is the largest error farther than ``FAR`` from the shock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.network import Network
from frozenpinn.basis.samplers import ELM, SWIM, Sampler
from frozenpinn.geometry import Points
from frozenpinn_lab.studies import snapshot
from frozenpinn_lab.studies.attempts import relative
from frozenpinn_lab.studies.pictures import rounded
from frozenpinn_lab.studies.study import COLOURS, Announce, Row, Study, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
Curve = Callable[[Array], Array]
FUNCTIONS = 102
FAR = 0.1
_NEAR = 0.15  # what the picture shows around the shock


def _neurons(sampler: Sampler, points: Points, rng: np.random.Generator) -> Curve:
    network = Network(sampler.sample(points, rng), points).compress(snapshot.CUTOFF).truncate(FUNCTIONS)
    coefficients = network.projector() @ snapshot.target(points.x[:, 0])
    return lambda x: network.evaluate(x[:, None], "u", Derivative((0,))) @ coefficients


def _functions(basis: Callable[[Array, int], Array]) -> Curve:
    points = snapshot.equispaced().x[:, 0]
    coefficients = sla.lstsq(basis(points, FUNCTIONS), snapshot.target(points), cond=snapshot.CUTOFF)[0]
    return lambda x: np.asarray(basis(x, FUNCTIONS) @ coefficients)


def fits() -> dict[str, Curve]:
    """Return the fits by name."""
    rng, width = np.random.default_rng(0), snapshot.WIDER * FUNCTIONS
    points = snapshot.resampled(rng)
    return {
        "swim": _neurons(SWIM(width, snapshot.target(points.x[:, 0])), points, rng),
        "elm": _neurons(ELM(width, eta=10.0, scale=10.0), snapshot.equispaced(), np.random.default_rng(0)),
        "fourier": _functions(snapshot.waves),
        "chebyshev": _functions(snapshot.polynomials),
    }


def rows(_: int, announce: Announce) -> list[Row]:
    """Return one row per basis."""
    unseen, truth = snapshot.unseen()
    x = np.concatenate([np.linspace(-1, -_NEAR, 60), np.linspace(-_NEAR, _NEAR, 301), np.linspace(_NEAR, 1, 60)])
    table = []
    for name, fit in fits().items():
        announce(name)
        found = fit(unseen)
        row: Row = {
            "basis": name,
            "error": relative(found, truth),
            "overshoot": max(0.0, float(np.max(np.abs(found)) - np.max(np.abs(truth)))),
            "away": float(np.max(np.abs(found - truth)[np.abs(unseen) > FAR])),
        }
        table.append(row | {"x": rounded(x), "fit": rounded(fit(x), 9), "exact": rounded(snapshot.target(x), 9)})
    return table


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw every fit around the shock, and its error everywhere."""
    axes = figure.subplots(2, len(rows), squeeze=False, sharey="row")
    for (top, bottom), row, colour in zip(axes.T, rows, COLOURS, strict=False):
        x, fit, exact = (np.array(row[key]) for key in ("x", "fit", "exact"))
        top.plot(x, exact, color="0.6", linewidth=3, label="exact")
        top.plot(x, fit, color=colour, linewidth=1.2, label=row["basis"])
        finish(top, xlabel="x", title=f"{row['basis']}: {row['error']:.1e}", xlim=(-_NEAR, _NEAR), ylim=(-1.3, 1.3))
        bottom.semilogy(x, np.maximum(np.abs(fit - exact), 1e-7), color=colour, linewidth=0.9)
        finish(bottom, xlabel="x", ylim=(1e-7, 2))
    axes[0, 0].set_ylabel("u")
    axes[1, 0].set_ylabel("absolute error")


STUDY = Study(
    "snapshot-fits",
    f"Burgers at t = 0.99, fitted by {FUNCTIONS} functions",
    "basis",
    ("error", "overshoot", "away"),
    rows,
    draw=draw,
    size=(15, 7),
)
