"""Kuramoto–Sivashinsky: errors at points while they mean something, then statistics against two reference runs."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.case import Variant
from frozenpinn_lab.cases.kuramoto_sivashinsky import reference, statistics

AMPLITUDES = (1.0, 1 + 1e-6)


def solve(name, seed=0):
    case = find_case(name)
    return fp.solve(case.problem(), seed=seed, **case.options("best", "high", Variant()))


def test_error_and_estimate():
    solution = solve("kuramoto-sivashinsky")
    assert solution.error()["rel_l2"] < 2e-6  # round-off, too, is amplified by 1e4
    assert fp.estimate_error(solution).error_estimate["u"] < 2e-6


@pytest.fixture(scope="module")
def two_references():
    """Two runs that differ by 1e-6 in their initial data, and so completely after t = 2."""
    return [reference(256, 4e-4, amplitude) for amplitude in AMPLITUDES]


@pytest.fixture(scope="module")
def two_statistics(two_references):
    return [statistics(run) for run in two_references]


def within(run, references):
    """Whether the means of a run over t from 1 to 5 lie in the band of the references.

    The band: smallest and largest mean over half a time unit in either of them, for the energy and for its share in
    each of six bands of wave numbers, whose sizes differ by more than five orders of magnitude.
    """
    for mine, theirs in zip(run, zip(*references, strict=True), strict=True):
        low, high, mean = np.min(theirs, axis=(0, 1)), np.max(theirs, axis=(0, 1)), np.mean(mine, axis=0)
        if not np.all((low < mean) & (mean < high)):
            return False
    return True


@pytest.mark.parametrize("seed", [0, 1])
def test_long_run_is_bounded_and_has_the_right_statistics(two_statistics, seed):
    solution = solve("kuramoto-sivashinsky-long", seed)
    x, t = np.linspace(0, 2 * np.pi, 200), np.linspace(0, 5, 101)
    assert np.max(np.abs(solution(x[:, None], t))) < 5.0
    assert within(statistics(solution), two_statistics)


def test_statistics_tell_an_unresolved_run(two_statistics):
    problem = find_case("kuramoto-sivashinsky-long").problem()
    with pytest.warns(fp.FrozenPinnWarning, match="does not resolve"):
        narrow = statistics(fp.solve(problem, settings=fp.Settings(width=120, rtol=1e-4, windows=None)))
    assert not within(narrow, two_statistics)


def test_the_two_references_part(two_references):
    a, b = two_references
    x = np.linspace(0, 2 * np.pi, 100)
    early, late = (np.max(np.abs(a(x, t) - b(x, t))) for t in (0.1, 3.0))
    assert early < 1e-4
    assert late > 0.3


def test_reference_is_converged_at_one():
    # in time at half the step, in space at two thirds of the modes: both would show in the solution of the case
    x = np.linspace(0, 2 * np.pi, 100)
    default = reference()(x, 1.0)
    scale = np.sqrt(np.mean(default**2))
    assert np.sqrt(np.mean((reference(step=1 / 39600)(x, 1.0) - default) ** 2)) < 1e-7 * scale
    coarse = [reference(modes, 1 / 2500)(x, 1.0) for modes in (384, 768)]
    assert np.sqrt(np.mean((coarse[0] - coarse[1]) ** 2)) < 1e-8 * scale
