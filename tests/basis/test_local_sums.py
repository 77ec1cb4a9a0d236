"""Sums over functions of axes and time: the same with and without tables, compressed and not."""

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebvander

from frozenpinn.basis.axis_tables import tabulated
from frozenpinn.basis.local_sums import AxisPlaces, LocalSum, summed

RNG = np.random.default_rng(4)
LIMIT = 1e-13


def waves(count):
    return lambda x: np.cos(np.pi * np.arange(count) * x[:, None])


def places_of(table, x):
    piece = np.searchsorted(table.edges, x, side="right") - 1
    low, high = table.edges[piece], table.edges[piece + 1]
    return AxisPlaces(None, (), x, table, piece, (2 * x - low - high) / (high - low))


def made(sizes, moments, count, rank=None):
    """A tensor whose entries decay, tables, sorted places and the sum multiplied out."""
    tables = [tabulated(waves(r), np.linspace(0, 1, 4)) for r in sizes]
    core = RNG.normal(size=(sizes[0], moments, *sizes[1:]))
    if rank is not None:
        core = np.einsum("ik,k...->i...", RNG.normal(size=(sizes[0], rank)), core[:rank])
    x = RNG.uniform(0, 1, (len(sizes), count))
    x[0] = np.sort(x[0])
    in_time = chebvander(RNG.uniform(-1, 1, count), moments - 1)
    functions = [waves(r)(own) for r, own in zip(sizes, x, strict=True)]
    letters = "abc"[: len(sizes)]
    each = ",".join(f"n{letter}" for letter in letters)
    expected = np.einsum(f"at{letters[1:]},nt,{each}->n", core, in_time, *functions)
    return core, tables, [places_of(t, own) for t, own in zip(tables, x, strict=True)], in_time, expected


@pytest.mark.parametrize("count", [20, 3000])  # too few for pieces, and enough
@pytest.mark.parametrize("sizes", [(30,), (30, 12), (20, 9, 6)])
def test_sums_are_those_multiplied_out(sizes, count):
    core, tables, places, in_time, expected = made(sizes, 5, count)
    size = np.max(np.abs(expected))
    for own in (LocalSum(core, tables, LIMIT), LocalSum(core, tables, LIMIT).compressed()):
        assert np.max(np.abs(own.at(places, in_time) - expected)) < 1e-12 * size
    plain = summed(core, [p.functions(p.table) for p in places], in_time)
    assert np.max(np.abs(plain - expected)) < 1e-12 * size


def test_few_combinations_are_found():
    core, tables, places, in_time, expected = made((40, 10), 4, 2000, rank=3)
    own = LocalSum(core, tables, 1e-11).compressed()
    assert own.core.shape == (3, 4, 10)
    assert np.max(np.abs(own.at(places, in_time) - expected)) < 1e-11 * np.max(np.abs(expected))


def test_degrees_below_the_limit_are_left_out():
    core, tables, places, in_time, expected = made((30, 8), 4, 3000)
    fine, rough = LocalSum(core, tables, 1e-13), LocalSum(core, tables, 1e-4)
    assert rough.degrees < fine.degrees <= tables[0].coefficients.shape[1]
    assert np.max(np.abs(rough.at(places, in_time) - expected)) < 1e-4
