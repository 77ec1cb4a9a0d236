"""What the tolerance costs: the search and the estimate against the bare solve that they end with."""

import time
import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import CASES

LINEAR = ("advection", "advection-long", "euler-bernoulli", "euler-bernoulli-winkler", "wave", "wave-multiscale")


def seconds(run, repeats=7):
    """Return the median time of a solve, for different seeds."""
    times = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        run(0)
        for seed in range(repeats):
            start = time.perf_counter()
            run(seed)
            times.append(time.perf_counter() - start)
    return float(np.median(times))


@pytest.mark.timing
@pytest.mark.parametrize("name", LINEAR)
def test_automatic_against_settings_by_hand(name):
    case = CASES[name]
    problem, options = case.problem(), case.options("best", "high", case.variants[0])
    by_hand = seconds(lambda seed: fp.solve(problem, seed=seed, **options))
    automatic = seconds(lambda seed: fp.solve(problem, seed=seed, tol=1e-8))
    print(f"{name}: {automatic / by_hand:.1f} times the recipe 'best'")
    assert automatic < 5 * by_hand


@pytest.mark.timing
@pytest.mark.parametrize("name", [*LINEAR, "burgers", "nonlinear-diffusion", "reaction-diffusion-5d", "heat-3d"])
def test_estimate_against_the_bare_solve(name):
    """The bare solve has the width of the answer, which nobody knows beforehand; the search solves at least twice."""
    problem = CASES[name].problem(**CASES[name].variants[0].problem)
    found = fp.solve(problem, tol=1e-6)
    directions = {} if found.subspace is None else {"subspace": found.subspace.rows}
    windows = {"windows": None} if len(found.pieces) == 1 and problem.domain.dimension == 1 else {}
    repeats = 7 if sum(found.seconds.values()) < 0.5 else 1
    settings = fp.Settings(width=found.width, rtol=3e-7, **directions, **windows)
    bare = seconds(lambda seed: fp.solve(problem, seed=seed, settings=settings), repeats)
    with_estimate = seconds(lambda seed: fp.solve(problem, seed=seed, tol=1e-6), repeats)
    print(f"{name}: {with_estimate / bare:.1f} times the bare solve")
    assert with_estimate < 5 * bare
