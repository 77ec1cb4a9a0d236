"""Rates between the steps of an implicit method: those of the right-hand side, unless it has only noise to tell."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.integrators.cvode import without_noise, without_sliver
from frozenpinn.integrators.hermite import HermiteTrajectory

TIMES = np.cumsum(np.random.default_rng(0).uniform(0.02, 0.03, 40))


def waves(derivative=0):
    return np.stack([np.cos(TIMES + k + derivative * np.pi / 2) for k in range(3)], axis=1)


def test_noise_of_stiff_components_is_left_out():
    noise = 1e-9 * np.random.default_rng(1).normal(size=(len(TIMES), 3))
    rates = waves(1) + 1e6 * noise
    found = without_noise(TIMES, waves() + noise, rates)
    assert np.max(np.abs(rates - waves(1))) > 1e-3
    assert np.max(np.abs(found - waves(1))[5:]) < 1e-6
    assert np.array_equal(found[:5], rates[:5])


def test_good_rates_stay_as_they_are():
    assert np.array_equal(without_noise(TIMES, waves(), waves(1)), waves(1))


def test_rates_of_few_steps_stay_as_they_are():
    assert without_noise(TIMES[:4], waves()[:4], waves(1)[:4]).shape == (4, 3)


def test_solutions_are_as_good_between_the_last_steps_as_elsewhere():
    """The last step is cut to end in time; rates there were wrong by Newton's residuals."""
    exact = "exp(-t)*cos(pi*x)*cos(2*pi*y)"
    source = "-{u} + 5*pi**2*{u}*(1 + {u}**2) - 2*{u}*({u_x}**2 + {u_y}**2)".format(
        u=f"({exact})", u_x="(-pi*exp(-t)*sin(pi*x)*cos(2*pi*y))", u_y="(-2*pi*exp(-t)*cos(pi*x)*sin(2*pi*y))"
    )
    problem = fp.Problem(
        f"u_t = div((1 + u**2)*grad(u)) + {source}",
        fp.Box([0, 0], [1, 1]),
        (0, 1.1),
        "cos(pi*x)*cos(2*pi*y)",
        "u_n = 0",
        exact=exact,
    )
    solution = fp.solve(problem, settings=fp.Settings(width=16, integrator=fp.integrators.CVODE(rtol=3e-6)))
    x = problem.domain.sample(200, "random", 0).x
    steps = solution.pieces[0].trajectory.times
    between = steps[:-1] + 0.4 * np.diff(steps)

    def errors(times):
        found = np.stack([solution(*x.T, t) for t in times])
        wanted = np.exp(-times)[:, None] * np.cos(np.pi * x[:, 0]) * np.cos(2 * np.pi * x[:, 1])
        return np.sqrt(np.mean((found - wanted) ** 2, axis=1))

    assert np.max(errors(between[-4:])) < np.max(errors(steps))


@pytest.mark.parametrize("value", [0.0, 2.5])
def test_what_stands_still(value):
    states = np.full((len(TIMES), 2), value)
    assert np.max(np.abs(without_noise(TIMES, states, np.zeros_like(states)))) < 1e-12


@pytest.mark.parametrize("last", [1e-2, 1e-4, 1e-9])
def test_a_last_step_that_is_next_to_nothing_adds_no_noise(last):
    times = [*np.linspace(0.0, 1.0, 41), 1.0 + last]
    kept, states = without_sliver(times, list(np.sin(times)))
    assert (len(kept), kept[-1]) == (41 if last < 0.05 / 40 else 42, times[-1])
    dense = HermiteTrajectory(np.array(kept), np.array(states)[:, None], np.cos(kept)[:, None])
    t = np.linspace(0.96, 1.0 + last, 300)
    assert np.max(np.abs(dense(t)[:, 0] - np.sin(t))) < 2e-13


def test_other_last_steps_are_kept():
    times, states = [0.0, 0.5, 1.0, 1.2], [np.ones(1)] * 4
    assert without_sliver(times, states) == (times, states)
    assert without_sliver([0.0, 1e-9], states[:2])[0] == [0.0, 1e-9]
