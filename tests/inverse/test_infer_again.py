"""New data for a problem whose unknowns were inferred before: as good as a new inference, and almost without solves."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.inverse import evolution
from frozenpinn.search.single import solve_once

PLACES = np.linspace(0.1, 0.9, 20)
TIMES = np.tile([0.1, 0.25, 0.4, 0.5], 5)


def cooling(k, r=1.0):
    return fp.Problem(
        "u_t = k*u_xx - r*u**2", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0", parameters={"k": k, "r": r}
    )


def draw(seed, noise=0.01):
    exact = fp.solve(cooling(0.2, 1.5), tol=1e-7)
    values = np.array([exact(x, t) for x, t in zip(PLACES, TIMES, strict=True)]).ravel()
    return fp.Measurements(
        PLACES, values + noise * np.random.default_rng(seed).standard_normal(20), times=TIMES, noise=noise
    )


UNKNOWN = cooling(fp.Unknown(0.1, 0.01, 1.0), fp.Unknown(1.0))


@pytest.fixture(scope="module")
def found():
    return fp.infer(UNKNOWN, draw(0))


def counted(monkeypatch):
    """Count the solves from here on."""
    widths = []

    def solve(problem, task, knowledge):
        widths.append(task.settings.width)
        return solve_once(problem, task, knowledge)

    monkeypatch.setattr(evolution, "solve_once", solve)
    return widths


def test_new_data_need_quick_solves_and_tell_what_an_inference_would(found, monkeypatch):
    found.again(draw(0))  # which solves quickly at the old fit
    with monkeypatch.context() as patch:
        widths = counted(patch)
        again = found.again(draw(1))
    assert set(widths) == {80}
    assert len(widths) <= 3
    anew = fp.infer(UNKNOWN, draw(1))
    for name, estimate in again.parameters.items():
        other = anew.parameters[name]
        assert abs(estimate.value - other.value) < 0.05 * other.std
        assert estimate.std == pytest.approx(other.std, rel=0.05)
    assert again.solution(0.5, 0.5) == pytest.approx(anew.solution(0.5, 0.5), abs=1e-3)


def test_a_small_change_needs_no_solve(found, monkeypatch):
    widths, (part,) = counted(monkeypatch), found.data
    again = found.again(fp.Measurements(part.points, part.values + 1e-5, times=part.times, noise=part.noise))
    assert again.parameters["k"].std > 0
    assert not widths


def test_what_came_before_does_not_matter(found):
    one = found.again(draw(1)).parameters
    found.again(draw(2, noise=0.05))
    assert found.again(draw(1)).parameters == one


def test_data_far_from_the_old_fit_are_solved_for(found):
    far = fp.solve(cooling(0.5, 0.2), tol=1e-7)
    values = np.array([far(x, t) for x, t in zip(PLACES, TIMES, strict=True)]).ravel()
    again = found.again(fp.Measurements(PLACES, values, times=TIMES))
    assert again.parameters["k"].value == pytest.approx(0.5, rel=1e-4)
    assert again.parameters["r"].value == pytest.approx(0.2, rel=1e-2)


def test_a_pickle_has_its_solution(found):
    again = found.again(draw(1))
    copy = pickle.loads(pickle.dumps(again))
    assert copy.solution(0.5, 0.5) == again.solution(0.5, 0.5)


def test_fields_from_new_data_are_those_of_an_inference():
    x, rng = np.linspace(0.02, 0.98, 60), np.random.default_rng(0)
    problem = fp.Problem(
        "u_xx - gamma*u = -2", fp.Interval(0, 1), boundary="u = 0", parameters={"gamma": fp.UnknownField(4.0)}
    )
    exact = fp.solve(problem.at(gamma="3 + 2*sin(2*pi*x)"), tol=1e-8)(x)

    def data():
        return fp.Measurements(x, exact + 1e-4 * rng.standard_normal(60), noise=1e-4)

    first, second = data(), data()
    again, anew = fp.infer(problem, first).again(second), fp.infer(problem, second)
    one, other = again.field("gamma"), anew.field("gamma")
    inside = np.linspace(0.1, 0.9, 30)
    value, deviation = other(inside, std=True)
    assert np.max(np.abs(one(inside) - value) / deviation) < 0.2
    assert np.median(one(inside, std=True)[1] / deviation) == pytest.approx(1.0, abs=0.1)


def test_a_far_start_among_many_minima():
    rng = np.random.default_rng(0)
    x, t = rng.uniform(0.05, 0.95, 40), rng.uniform(0, 4, 40)
    values = np.cos(1.7 * np.pi * t) * np.sin(np.pi * x) + 0.01 * rng.standard_normal(40)
    speed = fp.Unknown(0.6, 0.2, 3.0)
    wave = fp.Problem("u_tt = c**2*u_xx", fp.Interval(0, 1), (0, 4), "sin(pi*x)", "u = 0", 0, parameters={"c": speed})
    found = fp.infer(wave, fp.Measurements(x, values, times=t, noise=0.01))
    assert found.parameters["c"].value == pytest.approx(1.7, abs=2e-3)
    assert found.minima  # the others are told


def test_sets_of_measurements_have_their_own_noise():
    rng, x = np.random.default_rng(3), np.linspace(0.05, 0.95, 60)
    problem = fp.Problem(
        "u_xx - c*u = -pi**2*sin(pi*x)", fp.Interval(0, 1), boundary="u = 0", parameters={"c": fp.UnknownField(0.5)}
    )
    exact = fp.solve(problem.at(c=1.0), tol=1e-8)(x)
    rough = fp.Measurements(x, exact + 0.05 * rng.standard_normal(60))
    fine = fp.Measurements(x, exact + 0.001 * rng.standard_normal(60))
    found = fp.infer(problem, [rough, fine])
    first, second = np.split(found.sigmas, 2)
    assert 20 < np.mean(first) / np.mean(second) < 120
