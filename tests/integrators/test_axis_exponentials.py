"""Exponentials of the axes of a product against exponentials of the whole matrix."""

import numpy as np
import pytest
import scipy.linalg as sla

import frozenpinn as fp
from frozenpinn.integrators.axis_exponentials import AxisExponentials
from frozenpinn.operators.eigen import detect, eigensystem

SIZES = (3, 4, 5)
TIMES = np.array([0.5, 0.7, 1.6])


def matrices(skew):
    """Return a matrix for each axis: symmetric and falling off, or with a rotation besides, as transport has it."""
    rng, found = np.random.default_rng(1), []
    for n in SIZES:
        a = rng.normal(size=(n, n))
        found.append(-a @ a.T / n + skew * (a - a.T))
    return found


def made(skew=0.0, constant=0.0):
    """Return a trajectory from t = 0.5 on, and the matrix of all axes together."""
    own = matrices(skew)
    axes = tuple(eigensystem(m, detect(m)) for m in own)
    state = np.random.default_rng(2).normal(size=int(np.prod(SIZES)))
    whole = constant * np.eye(len(state))
    for axis, m in enumerate(own):
        factors = [m if k == axis else np.eye(n) for k, n in enumerate(SIZES)]
        whole += np.kron(np.kron(factors[0], factors[1]), factors[2])
    return AxisExponentials(0.5, 2.0, axes, state, constant), whole


@pytest.mark.parametrize(("skew", "constant"), [(0.0, 0.0), (1.0, 0.0), (1.0, -0.3)])
def test_states_and_rates_are_those_of_the_whole_matrix(skew, constant):
    trajectory, whole = made(skew, constant)
    expected = np.stack([sla.expm(whole * (t - 0.5)) @ trajectory.state for t in TIMES])
    np.testing.assert_allclose(trajectory(TIMES), expected, atol=1e-12)
    np.testing.assert_allclose(trajectory.rates(TIMES), expected @ whole.T, atol=1e-11)
    assert trajectory(TIMES).dtype == float


@pytest.mark.parametrize("derivative", [0, 1])
def test_images_under_maps_of_the_axes(derivative):
    trajectory, _ = made(1.0, -0.3)
    rng = np.random.default_rng(3)
    maps = [rng.normal(size=(k, n)) for k, n in zip((2, 1, 3), SIZES, strict=True)]
    states = trajectory.rates(TIMES) if derivative else trajectory(TIMES)
    expected = states @ np.kron(np.kron(maps[0], maps[1]), maps[2]).T
    np.testing.assert_allclose(trajectory.mapped(TIMES, maps, derivative), expected, atol=1e-11)


def test_bounds_hold_and_tell_something():
    trajectory, _ = made(1.0, 0.2)
    maps = [np.eye(n)[-2:] for n in SIZES]
    norms, images = trajectory.bounds(TIMES, maps)
    states = trajectory(TIMES)
    true = np.linalg.norm(states, axis=1)
    assert np.all(norms >= (1 - 1e-12) * true)
    for axis, m in enumerate(maps):
        part = np.tensordot(states.reshape(-1, *SIZES), m, axes=(axis + 1, 1))
        own = np.linalg.norm(part.reshape(len(TIMES), -1), axis=1)
        assert np.all(images[:, axis] >= (1 - 1e-12) * own)
    assert norms[0] <= 20 * true[0]


def test_a_stored_one_comes_back():
    trajectory, _ = made(1.0, -0.3)
    again = AxisExponentials.from_arrays(trajectory.arrays())
    np.testing.assert_array_equal(again(TIMES), trajectory(TIMES))
    assert (again.start, again.end) == (0.5, 2.0)


def test_transport_and_diffusion_on_a_cycle_take_them():
    box = fp.Box([0, 0], [2 * np.pi] * 2, periodic=True)
    problem = fp.Problem("u_t = -u_x + 0.1*lap(u)", box, (0, 1), "sin(x)*cos(y)", exact="exp(-0.2*t)*sin(x - t)*cos(y)")
    solution = fp.solve(problem, settings=fp.Settings(width=12, subspace=None))
    assert isinstance(solution.pieces[0].trajectory, AxisExponentials)
    assert solution.pieces[0].integrator == "exact"
    assert solution.error()["rel_l2"] < 1e-12
