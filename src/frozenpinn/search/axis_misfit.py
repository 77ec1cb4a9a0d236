"""What narrower networks would miss of a state on a product, axis by axis: it shows which width an axis needs.

The singular functions of a network of sines are not ordered from smooth to rough: one long wave is spread over all of
them, and the share of the last ones says little. The neurons are ordered, by frequency. So the values along an axis are
fitted with the slower part of its neurons: the misfit is what a network of that width would be wrong by, and its fall
from one width to the next shows where it reaches a tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.svd_layer import compress
from frozenpinn.operators.dense import Identity
from frozenpinn.results.expansion import Piece
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
SHARES = (0.5, 0.65, 0.8)  #: of the neurons of an axis
_TIMES = (2, 5)  # how many states are evaluated: of linear equations, whose solutions get no finer, and of others


def axis_misfits(solution: Solution) -> tuple[float, ...]:
    """Return what the slower neurons of each axis miss of a solution at any time; () if it has no axes."""
    found: list[tuple[int, float, Array]] = []
    for piece in solution.pieces:
        system, times = piece.system, np.linspace(piece.start, piece.end, _TIMES[not solution.problem.is_linear])
        if system is None or not all(space.network.is_product for space in system.spaces):
            return ()
        first = piece.trajectory(times[:1])[0] if solution.problem.is_static else piece.initial_state
        states = [first[: system.coefficients], *_positions(piece, system, times[1:])]
        for t, y in zip(times, states, strict=True):
            for k, (block, space) in enumerate(zip(system.layout.blocks, system.spaces, strict=True)):
                misfits = narrower_misfits(space, y[block], float(t), SHARES[-1:])[:, 0]
                found.append((k, state_size(space, y[block], float(t)), misfits))
    return tuple(worst_misfits(found).tolist())


def worst_misfits(found: Sequence[tuple[int, float, Array]]) -> Array:
    """Return the largest misfits of states of several fields, each relative to the largest state of its field.

    What a field that sets out from rest misses at first is as small as it is then.
    """
    largest = {k: max(size for field, size, _ in found if field == k) for k, _, _ in found}
    shares = [size / largest[k] if largest[k] else 1.0 for k, size, _ in found]
    return np.asarray(np.max([share * misfits for share, (_, _, misfits) in zip(shares, found, strict=True)], axis=0))


def state_size(space: Space, coefficients: Array, t: float) -> float:
    """Return the size of a state, in units that are the same at all times."""
    grid = _lifted_values(space, coefficients, t)
    return float(np.linalg.norm(coefficients if grid is None else grid))


def _positions(piece: Piece, system: Discretisation, times: Array) -> Array:
    """Return the coefficients of all fields at some times; those of one field without velocities if that is cheaper."""
    mapped, network = getattr(piece.trajectory, "mapped", None), system.spaces[0].network
    if mapped is None or len(system.spaces) > 1 or not isinstance(network, ProductNetwork):
        return piece.trajectory(times)[:, : system.coefficients]
    return np.asarray(mapped(times, [Identity(size) for size in network.sizes]))


def narrower_misfits(space: Space, coefficients: Array, t: float, shares: Sequence[float] = SHARES) -> Array:
    """Return what shares of the neurons of each axis miss of a state, relative to it, shape (axes, shares)."""
    network = space.network
    assert isinstance(network, ProductNetwork)
    grid, found = _lifted_values(space, coefficients, t), []
    for axis, factor in enumerate(network.factors):
        counts = [max(2, 2 * int(s * factor.width / 2)) for s in shares]
        if grid is None:  # functions of the other axes are orthonormal: coefficients serve
            lines = _unfolded(coefficients.reshape(network.sizes), axis)
            missed = [float(np.linalg.norm(_beyond(factor, count) @ lines)) for count in counts]
        else:
            lines = _unfolded(grid, axis)
            lines = np.sqrt(factor.points.weights)[:, None] * (lines @ _combinations(lines.shape[1], axis))
            bases = [_slower(factor, count) for count in counts]
            missed = [float(np.linalg.norm(lines - basis @ (basis.T @ lines))) for basis in bases]
        size = float(np.linalg.norm(lines))
        found.append([one / size if size else 0.0 for one in missed])
    return np.array(found)


def _lifted_values(space: Space, coefficients: Array, t: float) -> Array | None:
    """Return the values of a state on the grid if boundary data are lifted, by functions that are not orthonormal."""
    network = space.network
    assert isinstance(network, ProductNetwork)
    if not network.lift_size:
        return None
    terms = [Term(space.fields[0], Derivative((0,) * len(network.factors)))]
    values = network.at_points(terms) @ coefficients + network.lift_at_points(terms) @ space.data(t, 0)
    return np.asarray(values.reshape([len(f.points.weights) for f in network.factors]))


def _unfolded(tensor: Array, axis: int) -> Array:
    """Return the lines of a tensor along an axis as columns."""
    return np.moveaxis(tensor, axis, 0).reshape(tensor.shape[axis], -1)


@lru_cache(maxsize=8)
def _combinations(count: int, axis: int) -> Array:
    """Return random combinations of lines."""
    columns = 8  # random combinations of the lines along an axis that are fitted
    return read_only(np.random.default_rng(axis).normal(size=(count, columns)))


@remembered
def _slower(factor: Network, count: int) -> Array:
    """Return an orthonormal basis of the first of the neurons of an axis, and of the constant, at its points."""
    round_off = 1e-13
    features = np.sqrt(factor.points.weights)[:, None] * factor.hidden.features(factor.points.x)
    return read_only(compress(np.concatenate([features[:, :count], features[:, -1:]], axis=1), round_off).values)


@remembered
def _beyond(factor: Network, count: int) -> Array:
    """Return what the first of the neurons of an axis miss of its functions; the norm is that over the axis."""
    table = factor.at_points([Term(factor.fields[0], Derivative((0,)))]).dense()
    table, basis = np.sqrt(factor.points.weights)[:, None] * table, _slower(factor, count)
    return read_only(np.asarray(np.linalg.qr(table - basis @ (basis.T @ table), mode="r")))


def needed_width(misfits: Sequence[float], width: int, wanted: float, digits: float, noise: float) -> float:
    """Return the width whose misfit is the wanted one, as if it fell exponentially.

    What steps in time leave over, up to ``noise``, does not fall with the width. Where that is reached, the function is
    resolved, and from there on its misfit falls by ``digits`` with every neuron, at least.

    >>> round(needed_width((1e-2, 1e-4, 1e-6), 40, 1e-7, 0.25, 1e-3))
    35
    """
    logs, widths = np.log10(np.maximum(misfits, 1e-300)), width * np.array(SHARES)
    rates = -np.diff(logs) / np.diff(widths)
    if misfits[-1] > noise:
        rate = float(rates[-1])
        return float(widths[-1] + (logs[-1] - np.log10(wanted)) / rate) if rate > 0 else np.inf
    rate = max(digits, float(np.max(rates)))
    return float(np.min(widths + (logs - np.log10(wanted)) / rate))
