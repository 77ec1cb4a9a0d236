"""The claim of operators/symmetry.py, measured: copy the accurate triangle, do not average the two."""

import numpy as np

import frozenpinn as fp
from frozenpinn.basis.hidden import Derivative, Term


def error_with(operator, solution):
    """Propagate the initial state by another operator and return the relative error of sin(x − 40 t) at t = 1."""
    frequencies, vectors = np.linalg.eigh(1j * operator)
    state = vectors @ (np.exp(-1j * frequencies) * (vectors.conj().T @ solution.system.initial_state))
    x = np.linspace(0, 2 * np.pi, 200)[:, None]
    network = solution.system.spaces[0].network
    values = network.evaluate(x, "u", Derivative((0,))) @ state.real
    exact = np.sin(x[:, 0] - 40.0)
    return np.linalg.norm(values - exact) / np.linalg.norm(exact)


def test_copying_beats_averaging_by_orders_of_magnitude():
    problem = fp.Problem("u_t + 40*u_x = 0", fp.Interval(0, 2 * np.pi, periodic=True), (0, 1), "sin(x)")
    solution = fp.solve(problem, settings=fp.Settings(width=100, points=200, cutoff=1e-13))
    system = solution.system
    term = Term("u", Derivative((1,)), -40.0)
    raw = system.projected.projectors[0] @ system.spaces[0].network.operator(system.points.x, [term])
    copied, averaged = error_with(system.linear.position.dense(), solution), error_with((raw - raw.T) / 2, solution)
    print(f"copied {copied:.1e}, averaged {averaged:.1e}")
    assert copied < 1e-10
    assert averaged > 100 * copied
