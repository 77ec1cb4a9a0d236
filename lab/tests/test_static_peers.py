"""Other methods on static problems: errors that fall as they should, refusals by text."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import static_linear, static_nonlinear
from frozenpinn_lab.peers import solve_baseline
from frozenpinn_lab.peers.fastlsq import load

WAVE = "sin(pi*x)*sin(pi*y)"


def poisson():
    return fp.Problem(f"-lap(u) = 2*pi**2*{WAVE}", fp.Box([0, 0], [1, 1]), boundary="u = 0", exact=WAVE)


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_errors_of_elements_fall_by_their_order(degree):
    errors = [
        solve_baseline("fem", static_nonlinear.nonlinear_poisson(), mesh_size=h, degree=degree).error()["rel_l2"]
        for h in (0.2, 0.1)
    ]
    assert errors[0] / errors[1] > 2**degree
    assert errors[1] < 0.1**degree


def test_elements_solve_linear_equations_in_one_step_and_are_called_without_time():
    solution = solve_baseline("fem", poisson(), mesh_size=0.2, degree=3)
    assert solution.steps == 1
    assert solution(0.5, 0.5) == pytest.approx(1.0, abs=1e-3)
    assert solution(np.array([[0.5, 0.5], [0.25, 0.5]])).shape == (2,)


def test_elements_converge_slowly_at_corners():
    error = solve_baseline("fem", static_linear.l_shape(load=True), mesh_size=0.2, degree=2).error()["rel_l2"]
    assert 1e-4 < error < 2e-2


def test_elements_refuse_other_equations():
    with pytest.raises(fp.errors.SettingsError, match="is not of the form"):
        solve_baseline("fem", static_nonlinear.minimal_surface(), mesh_size=0.2)


def test_methods_in_time_refuse_static_problems():
    for method in ("iga", "spectral", "py-pde", "spacetime-elm"):
        with pytest.raises(fp.errors.SettingsError, match="solves time-dependent problems; 'fem', 'fastlsq' and"):
            solve_baseline(method, poisson())


def test_a_trained_network_learns_a_static_problem():
    problem = fp.Problem("u_xx = -pi**2*sin(pi*x)", fp.Interval(0, 1), boundary="u = 0", exact="sin(pi*x)")
    trained = solve_baseline(
        "pinn-lbfgs", problem, layers=2, width=10, interior=60, conditions=10, lbfgs_steps=200, adam_steps=0
    )
    assert trained.error()["rel_l2"] < 1e-2
    assert trained(0.5) == pytest.approx(1.0, abs=2e-2)


def test_fastlsq_solves_a_nonlinear_equation():
    pytest.importorskip("fastlsq")
    problem = static_nonlinear.steady_burgers()
    first, second = (solve_baseline("fastlsq", problem, width=90, scale=3.0, seed=1) for _ in range(2))
    assert first.error()["rel_l2"] < 1e-3
    assert first.size == 90
    assert np.array_equal(first.error()["rel_l2"], second.error()["rel_l2"])


def test_fastlsq_refuses_slopes():
    problem = fp.Problem("-lap(u) + u = 1", fp.Box([0, 0], [1, 1]), boundary="u_n = 0")
    with pytest.raises(fp.errors.SettingsError, match="one static equation of second order with values on all sides"):
        solve_baseline("fastlsq", problem)


def test_fastlsq_is_an_extra(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("frozenpinn_lab.peers.fastlsq.import_module", missing)
    with pytest.raises(fp.errors.MissingExtraError, match=r"pip install './lab\[fastlsq\]'"):
        load()
