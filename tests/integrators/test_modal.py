"""Modes of second order in real numbers, what bounds tell of them, and images under maps of axes."""

import numpy as np
import pytest
import scipy.linalg as sla

from frozenpinn.integrators import TRAJECTORIES
from frozenpinn.integrators.modal import Modes, unforced
from frozenpinn.operators import kronecker
from frozenpinn.operators.eigen import detect, eigensystem

TAU = np.array([0.0, 0.4, 3.0])


@pytest.mark.parametrize("damping", [0.0, -0.4])
@pytest.mark.parametrize("eigenvalues", [[-4.0, -9.0, -9.0, -9.0], [0.0, -4.0, -0.01, -4.0], [1.0, -4.0, 0.0, -4.0]])
def test_oscillators_follow_their_equation(eigenvalues, damping):
    state = np.random.default_rng(0).normal(size=(2, 4))
    found = Modes(np.array(eigenvalues), 2, damping).propagate(state, TAU)
    for k, value in enumerate(eigenvalues):
        matrix = np.array([[0.0, 1.0], [value, damping]])
        expected = np.stack([sla.expm(matrix * t) @ state[:, k] for t in TAU])
        np.testing.assert_allclose(found[:, :, k], expected, atol=1e-12 * np.max(np.abs(expected)))
    alone = Modes(np.array(eigenvalues), 2, damping).positions(state, TAU)
    np.testing.assert_allclose(alone, found[:, 0].T, rtol=0, atol=1e-13 * np.max(np.abs(found)))


def waves_on_a_plate(factor):
    """Modes on a product: two large ones, and others that are smaller by a factor, but fast."""
    eigenvalues = -np.add.outer(np.arange(1.0, 7.0) ** 2, np.arange(1.0, 6.0) ** 2).ravel()
    state = factor * np.random.default_rng(2).normal(size=(2, 30))
    state[:, [0, 7]] = [[1.0, 2.0], [0.5, -1.0]]
    vectors = kronecker(*(np.linalg.qr(np.random.default_rng(k).normal(size=(n, n)))[0] for k, n in enumerate((6, 5))))
    return unforced(Modes(eigenvalues, 2), vectors, state, 0.0, 2.0), Modes(eigenvalues, 2), vectors, state


@pytest.mark.parametrize(("factor", "count"), [(1e-18, 2), (1e-14, 30), (0.0, 2)])
def test_modes_below_round_off_are_left_out(factor, count):
    trajectory, modes, vectors, state = waves_on_a_plate(factor)
    assert np.count_nonzero(trajectory._is_present) == count
    times, maps = np.linspace(0, 2, 11), [np.eye(6)[:3], np.eye(5)[1:]]
    whole = modes.propagate(state, times)
    for derivative, modal in enumerate((whole[:, 0], whole[:, 1], modes.eigenvalues * whole[:, 0])):
        expected = (kronecker(*maps) @ (vectors @ modal.T)).T
        found = trajectory.mapped(times, maps, derivative)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * np.max(np.abs(expected)))


def test_modes_that_grow_are_kept_however_small():
    modes, vectors = Modes(np.array([-1.0, -1.0, -1.0, 20.0])), kronecker(np.eye(2)[::-1], np.eye(2))
    trajectory = unforced(modes, vectors, np.array([[1.0, 1.0, 1.0, 1e-30]]), 0.0, 5.0)
    assert np.all(trajectory._is_present)


def test_no_state_gets_beyond_its_bound():
    modes, state = Modes(np.array([-4.0, 0.0, -1e-3, -25.0]), 2, -0.1), np.random.default_rng(1).normal(size=(2, 4))
    times = np.linspace(0, 7, 400)
    reached = np.max(np.abs(modes.propagate(state, times)), axis=0)
    bound = modes.largest(state, 7.0)
    assert np.all(reached <= (1 + 1e-12) * bound)
    assert bound[0, 0] <= 1.5 * reached[0, 0]  # an oscillator that is hardly damped


@pytest.mark.parametrize("modes", [Modes(np.array([-1.0, 0.5])), Modes(np.array([-1.0, -2.0]), 2, 0.1)])
def test_modes_that_may_grow_have_no_bound(modes):
    assert modes.largest(np.ones((modes.order, 2)), 1.0) is None


@pytest.mark.parametrize("order", [1, 2])
def test_images_and_bounds_of_a_product(order):
    rng = np.random.default_rng(2)
    factors = [np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (3, 4)]
    state = rng.normal(size=(order, 12))
    trajectory = unforced(Modes(-rng.uniform(1, 5, 12), order), kronecker(*factors), state, 0.0, 2.0)
    maps = [rng.normal(size=(2, 3)), rng.normal(size=(1, 4))]
    states = trajectory(TAU[:2])
    np.testing.assert_allclose(trajectory.mapped(TAU[:2], maps), states[:, :12] @ np.kron(*maps).T, atol=1e-13)
    rates = states[:, 12:] if order == 2 else trajectory.rates(TAU[:2])
    np.testing.assert_allclose(trajectory.mapped(TAU[:2], maps, 1), rates @ np.kron(*maps).T, atol=1e-12)
    norms, images = trajectory.bounds(TAU, maps)
    assert norms[0] >= (1 - 1e-12) * np.max(np.linalg.norm(states, axis=1))
    first = np.einsum("ki,mij->mkj", maps[0], states[:, :12].reshape(-1, 3, 4)).reshape(2, -1)
    assert images[0, 0] >= (1 - 1e-12) * np.max(np.linalg.norm(first, axis=1))


def test_files_of_earlier_versions_are_read():
    rng = np.random.default_rng(4)
    matrices, state = [rng.normal(size=(n, n)) - np.eye(n) for n in (3, 4)], rng.normal(size=12)
    whole = np.kron(matrices[0], np.eye(4)) + np.kron(np.eye(3), matrices[1])
    ends = {"start": np.array(0.5), "end": np.array(4.0), "state": state}
    powers = {"matrix/0": matrices[0], "matrix/1": matrices[1]}
    modes = {"constant": np.array(-0.3)}
    for axis, matrix in enumerate(matrices):
        modes |= {f"{name}/{axis}": a for name, a in eigensystem(matrix, detect(matrix))._asdict().items()}
    for kind, own, shift in (
        ("ladder", {"matrix": whole, "size": np.array(12)}, 0.0),
        ("axis-ladder", powers, 0.0),
        ("axis-exponentials", modes, -0.3),
    ):
        found = TRAJECTORIES[kind]({**ends, **own})(0.5 + TAU)
        expected = np.stack([np.exp(shift * t) * sla.expm(whole * t) @ state for t in TAU])
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.max(np.abs(expected)))
