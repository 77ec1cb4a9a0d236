"""Sums over functions of axes and time: the same with and without tables, compressed and not."""

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebvander

from frozenpinn.basis.axis_tables import tabulated
from frozenpinn.basis.local_sums import AxisFunctions, LocalSum

RNG = np.random.default_rng(4)
LIMIT = 1e-13


def waves(count):
    return lambda x: np.cos(np.pi * np.arange(count) * x[:, None])


def made(sizes, moments, count, rank=None, spans=3):
    """Tensors of some spans, functions of the axes, places with spans and times, and the sums multiplied out."""
    axes = tuple(AxisFunctions(None, (), tabulated(waves(r), np.linspace(0, 1, 4))) for r in sizes)
    core = RNG.normal(size=(spans, moments, *sizes))
    if rank is not None:
        core = np.einsum("ik,stk...->sti...", RNG.normal(size=(sizes[0], rank)), core[:, :, :rank])
    x = RNG.uniform(0, 1, (len(sizes), count))
    span, times = RNG.integers(0, spans, count), RNG.uniform(-1, 1, count)
    letters = "abc"[: len(sizes)]
    each = ",".join(f"n{letter}" for letter in letters)
    functions = [waves(r)(own) for r, own in zip(sizes, x, strict=True)]
    expected = np.zeros(count)
    for k in range(spans):
        own = span == k
        parts = [chebvander(times[own], moments - 1), *(f[own] for f in functions)]
        expected[own] = np.einsum(f"t{letters},nt,{each}->n", core[k], *parts, optimize=True)
    return core, axes, (x, span, times), expected


@pytest.mark.parametrize("count", [20, 3000])  # too few for pieces, and enough
@pytest.mark.parametrize("sizes", [(30,), (12, 30), (9, 20, 6)])
def test_sums_are_those_multiplied_out(sizes, count):
    core, axes, places, expected = made(sizes, 5, count)
    size = np.max(np.abs(expected))
    for own in (LocalSum(core, axes, LIMIT), LocalSum(core, axes, LIMIT).compressed()):
        assert np.max(np.abs(own.at(*places) - expected)) < 1e-12 * size


def test_few_combinations_are_found():
    core, axes, places, expected = made((40, 10), 4, 2000, rank=3)
    own = LocalSum(core, axes, 1e-11).compressed()
    assert own.core.shape == (3, 4, 3, 10)
    assert np.max(np.abs(own.at(*places) - expected)) < 1e-11 * np.max(np.abs(expected))


def test_degrees_below_the_limit_are_left_out():
    core, axes, places, expected = made((30, 8), 4, 3000)
    fine, rough = LocalSum(core, axes, 1e-13), LocalSum(core, axes, 1e-4)
    degrees = [own.polynomials[0][0].coefficients.shape[1] for own in (rough, fine)]
    assert degrees[0] < degrees[1] <= axes[0].table.coefficients.shape[1]
    assert np.max(np.abs(rough.at(*places) - expected)) < 1e-4


@pytest.mark.parametrize("count", [20, 3000])
def test_high_degrees_go_with_the_first_polynomials_in_time(count):
    """Products of two small ones are smaller than round-off."""
    core, axes, places, _ = made((20, 6), 8, count)
    core = core * 10.0 ** (-2.0 * np.arange(8)[:, None, None] - np.arange(20)[:, None])
    x, span, times = places
    own = LocalSum(core, axes, LIMIT)
    counts = own._best_way(count).counts
    assert counts == sorted(counts, reverse=True)
    assert 0 < counts[-1] < counts[0] / 2
    functions = [waves(r)(c) for r, c in zip((20, 6), x, strict=True)]
    expected = np.einsum("ntab,nt,na,nb->n", core[span], chebvander(times, 7), *functions, optimize=True)
    assert np.max(np.abs(own.at(*places) - expected)) < LIMIT


def test_pieces_are_merged_for_as_long_as_polynomials_suffice():
    core, axes, *_ = made((6, 3), 2, 20)
    own = LocalSum(core, axes, 1e-12)
    counts = [len(table.coefficients) for table in own.polynomials[0]]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0] / 2
    for table in own.polynomials[0]:
        values = table(np.linspace(0, 1, 77))
        assert np.max(np.abs(values - waves(6)(np.linspace(0, 1, 77)))) < 1e-11
