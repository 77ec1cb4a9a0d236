"""Where to sample data: places that see peaks which fall between the points of a basis.

Data are cheap to evaluate, a network is not. So initial values, velocities and forcings are scanned at thousands of
places, and a few hundred are kept: evenly spread ones, and those where the data bend most or are extreme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.geometry.points import tensor_grid
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_SCANNED = 2**13
_KEPT = 256  # a power of two
_TIMES = (0.0, 0.37, 1.0)
_PARTS = {2: 32, 3: 10, 4: 6, 5: 4}  # of each axis of a box, by the number of axes


class Probe(NamedTuple):
    """Places (n, d) and weights with which values there add up to a mean over the domain."""

    x: Array
    weights: Array

    def rms(self, values: Array) -> Array:
        """Return the root mean square over the domain of values at the places, shape (n,) or (n, m)."""
        return np.asarray(np.sqrt(self.weights @ values**2))


@remembered
def probe(problem: Problem) -> Probe:
    """Return the places for a problem."""
    return _on_a_line(problem) if problem.domain.dimension == 1 else _scattered(problem)


def forcings(problem: Problem, field: str, x: Array, shares: Sequence[float] = _TIMES) -> list[Array]:
    """Return the forcing of a field at some shares of the time, which may be infinite in places; none if it is zero."""
    forcing, (start, end) = problem.equation(field).forcing, problem.time
    if forcing == 0:
        return []
    program = problem.compile([forcing])
    with np.errstate(all="ignore"):
        return [np.broadcast_to(program(*x.T, start + s * (end - start))[0], len(x)) for s in shares]


def known_values(problem: Problem, x: Array, shares: Sequence[float] = _TIMES) -> list[Array]:
    """Return initial values and velocities at points, and forcings, which may be infinite, at shares of the time."""
    values = [datum(x, problem.time[0]) for datum in problem.initial_data]
    return values + [forcing for name in problem.fields for forcing in forcings(problem, name, x, shares)]


def _varying(problem: Problem, x: Array) -> list[Array]:
    return [v for v in known_values(problem, x) if np.all(np.isfinite(v)) and np.ptp(v) > 0]


@remembered
def grid_probe(problem: Problem) -> Probe:
    """Return a grid of places on a box, for solutions that are evaluated axis by axis.

    Each of some equal parts of an axis has a place at random; the extreme places of the data are places of the grid.
    """
    extremes = 2  # data whose extreme places belong to a grid
    domain, rng = problem.domain, np.random.default_rng(Seed.PROBE)
    scan = domain.sample(_SCANNED // 2, "random", rng).x
    extreme = [scan[[np.argmin(v), np.argmax(v)]] for v in _varying(problem, scan)[:extremes]]
    parts = _PARTS[domain.dimension]
    axes, weights = [], []
    for axis, (lower, length) in enumerate(zip(domain.lower, domain.lengths, strict=True)):
        even = lower + length * (np.arange(parts) + rng.random(parts)) / parts
        narrow = _narrow_places(problem, axis)
        own = np.unique(np.concatenate([even, narrow, *(places[:, axis] for places in extreme)]))
        axes.append(own)
        weights.append(_shares(own, lower, lower + length))
    grid = tensor_grid(axes, weights, domain.lengths / parts)
    return Probe(read_only(grid.x), grid.weights)


def _on_a_line(problem: Problem) -> Probe:
    """Keep every 32nd place of a fine grid, and those with the largest second differences."""
    lower, upper = float(problem.domain.lower[0]), float(problem.domain.upper[0])
    x = lower + (upper - lower) * (np.arange(_SCANNED) + 0.5) / _SCANNED
    kept = {*range(0, _SCANNED, _SCANNED // _KEPT), 0, _SCANNED - 1}
    for values in _varying(problem, x[:, None]):
        bends = np.abs(np.diff(values, 2))
        steepest = np.argsort(bends)[-_KEPT // 2 :] + 1
        kept.update(int(i) for i in steepest[bends[steepest - 1] > 0])
    places = np.array(sorted(kept))
    if len(narrow := _narrow_places(problem, 0)):
        own = np.unique(np.concatenate([x[places], narrow]))
        return Probe(own[:, None], _shares(own, lower, upper))
    edges = np.concatenate([[0.0], (places[1:] + places[:-1] + 1) / 2, [float(_SCANNED)]])
    return Probe(x[places, None], np.diff(edges) / _SCANNED)


def _shares(places: Array, lower: float, upper: float) -> Array:
    """Return the part of an interval that is nearest to each place."""
    edges = np.concatenate([[lower], (places[1:] + places[:-1]) / 2, [upper]])
    return np.asarray(np.diff(edges) / (upper - lower))


def _narrow_places(problem: Problem, axis: int) -> Array:
    """Return places along an axis in and around what is narrow in the formulas of a problem."""
    features = 12  # of the formulas, at most
    per_feature = 11  # places in each
    around = 2.0  # widths by which these places reach beyond it
    found = [
        np.linspace(s.low - around * s.width, s.high + around * s.width, per_feature)
        for s in formula_scales(problem).stretches(axis)[:features]
    ]
    if not found:
        return np.empty(0)
    places = np.concatenate(found)
    return places[(places > problem.domain.lower[axis]) & (places < problem.domain.upper[axis])]


def _scattered(problem: Problem) -> Probe:
    """Keep random places for all, and the extreme ones for themselves."""
    x = problem.domain.sample(4 * _SCANNED if problem.domain.dimension <= 3 else _SCANNED // 2, "random", Seed.PROBE).x
    extreme: set[int] = set()
    for values in _varying(problem, x):
        order = np.argsort(values)
        extreme.update(int(i) for i in (*order[: _KEPT // 8], *order[-_KEPT // 8 :]))
    special = np.array(sorted(extreme), dtype=int)
    others = np.setdiff1d(np.arange(len(x)), special)
    usual = others[:: max(1, len(others) // _KEPT)]
    weights = np.concatenate([np.full(len(special), 1.0), np.full(len(usual), len(others) / len(usual))]) / len(x)
    return Probe(x[np.concatenate([special, usual])], weights)
