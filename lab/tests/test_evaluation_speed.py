"""Evaluation at very many points and on grids, against direct evaluation in the same run."""

import time
from functools import partial

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.results import many_points

COUNT = 200_000


@pytest.fixture(scope="module")
def line():
    problem = fp.Problem("u_t = 0.01*u_xx", fp.Interval(0, 1), (0, 1), "sin(5*pi*x) + x*(1 - x)", "u = 0")
    return fp.solve(problem, settings=fp.Settings(width=200))


@pytest.fixture(scope="module")
def plate():
    domain = fp.Box([0, 0], [1, 2])
    problem = fp.Problem("u_t = 0.1*lap(u)", domain, (0, 0.5), "sin(pi*x)*sin(3*pi*y/2)", "u = 0")
    return fp.solve(problem, settings=fp.Settings(width=48))


def seconds_per_value(evaluate):
    best = np.inf
    for _ in range(2):
        start = time.perf_counter()
        size = np.size(evaluate())
        best = min(best, (time.perf_counter() - start) / size)
    return best


def gain(solution, many, few, monkeypatch):
    """Return how much faster many values are than a few direct ones, per value."""
    fast = seconds_per_value(lambda: solution(*many))
    with monkeypatch.context() as direct:
        direct.setattr(many_points, "_FEWEST", 10**9)
        direct.setattr(many_points, "_FEWEST_PAIRS", 10**9)
        return seconds_per_value(lambda: solution(*few)) / fast


def places(solution, count):
    domain, rng = solution.problem.domain, np.random.default_rng(0)
    return [*rng.uniform(domain.lower, domain.upper, (count, domain.dimension)).T], rng.uniform(0, 0.5, count)


@pytest.mark.timing
@pytest.mark.parametrize("name", ["line", "plate"])
@pytest.mark.parametrize("derivative", ["", "xx"])
def test_scattered_points(name, derivative, request, monkeypatch):
    solution = request.getfixturevalue(name)
    x, _ = places(solution, COUNT)
    assert gain(partial(solution, derivative=derivative), (*x, 0.3), (*(c[:20_000] for c in x), 0.3), monkeypatch) > 1.5


@pytest.mark.timing
def test_pairs(line, monkeypatch):
    x, t = places(line, COUNT)
    assert gain(line, (*x, t), (x[0][:10_000], t[:10_000]), monkeypatch) > 2


@pytest.mark.timing
@pytest.mark.parametrize("derivative", ["", "xx", "t"])
def test_pairs_on_boxes(plate, derivative, monkeypatch):
    x, t = places(plate, COUNT)
    few = (*(c[:2_000] for c in x), t[:2_000])
    assert gain(partial(plate, derivative=derivative), (*x, t), few, monkeypatch) > 3


@pytest.mark.timing
def test_grids(plate, monkeypatch):
    x, y = np.linspace(0, 1, 500), np.linspace(0, 2, 500)
    points, _ = places(plate, 10_000)
    assert gain(plate, (x[:, None], y, 0.3), (*points, 0.3), monkeypatch) > 20
