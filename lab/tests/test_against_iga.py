"""Frozen networks against isogeometric analysis: accuracy and seconds of the whole solve, in one run."""

import time

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.peers.iga import solve_iga

CASES = ("advection", "euler-bernoulli", "euler-bernoulli-winkler")

# With our closed form in time, splines are still ahead of networks here. The assertions say what is wanted; take a mark
# away when it is reached.
LESS_ACCURATE = {"euler-bernoulli": "round-off: 1e-12 against 6e-15 of IGA"}
SLOWER = dict.fromkeys(
    CASES, "a spline basis costs half a millisecond, a network with its SVD layer and checks 3 to 10"
)


def cases(behind, strict):
    """Return all cases with both kinds of IGA, those that are behind marked as open."""
    pairs = [(name, integrator) for name in CASES for integrator in ("dop853", "exact")]
    return [
        pytest.param(
            name,
            integrator,
            marks=[pytest.mark.xfail(reason=behind[name], strict=strict)]
            if name in behind and integrator == "exact"
            else [],
        )
        for name, integrator in pairs
    ]


def solvers(name, integrator):
    """Return both solves of a case, on one constructed problem."""
    case = find_case(name)
    problem, options = case.problem(), case.options("best", "high", case.variants[0])
    settings = {**case.baselines["iga"].settings, "integrator": integrator}
    return lambda seed=0: fp.solve(problem, seed=seed, **options), lambda: solve_iga(problem, **settings)


def seconds(*functions, repetitions):
    """Return the median of each; they take turns, so that a busy moment hits all of them."""
    table = np.empty((repetitions, len(functions)))
    for function in functions:
        function()
    for row in table:
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            row[k] = time.perf_counter() - start
    return np.median(table, axis=0)


@pytest.mark.parametrize(("name", "integrator"), cases(LESS_ACCURATE, strict=True))
def test_at_least_as_accurate(name, integrator):
    ours, iga = solvers(name, integrator)
    errors = [ours(seed).error()["rel_l2"] for seed in range(3)]
    assert np.mean(errors) <= iga().error()["rel_l2"]


@pytest.mark.timing
@pytest.mark.parametrize(("name", "integrator"), cases(SLOWER, strict=False))
def test_at_least_as_fast(name, integrator):
    mine, theirs = seconds(*solvers(name, integrator), repetitions=21 if integrator == "exact" else 3)
    assert mine <= theirs
