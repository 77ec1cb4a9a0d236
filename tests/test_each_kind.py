"""One solve of each kind, against what is known: what ``make check`` runs after the units."""

import numpy as np
import pytest

import frozenpinn as fp
import zoo


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("heat", 1e-9),
        ("transport", 1e-9),
        ("string", 1e-9),
        ("quantum", 1e-9),
        ("plate", 1e-6),
        ("moving_edges", 1e-6),
        ("moving_membrane", 1e-6),
        ("poisson", 1e-6),
        ("ball", 1e-3),
    ],
)
def test_evolutions_and_static_problems(name, bound):
    solution = zoo.solved(name)
    assert max(solution.error(field)["rel_l2"] for field in solution.problem.fields) < bound


@pytest.mark.parametrize("name", ["tolerance", "burgers", "subspace", "poisson", "bratu", "layer"])
def test_searches_for_a_tolerance(name):
    solution = zoo.solved(name)
    assert solution.status == "converged"
    assert 0 < solution.error_estimate.worst < 1


def test_modes():
    problem = fp.Problem("-u_xx = lam*u", zoo.LINE, boundary="u = 0", parameters={"lam": fp.Eigenvalue()})
    np.testing.assert_allclose(fp.modes(problem, 4).values, np.pi**2 * np.array([1, 4, 9, 16]), rtol=1e-10)


def test_a_path_with_its_fold():
    problem = fp.Problem("u_xx + lam*exp(u) = 0", zoo.LINE, boundary="u = 0", parameters={"lam": 1.0})
    (fold,) = fp.follow(problem, "lam", (0, 4), steps=26).folds
    assert fold.value == pytest.approx(3.513830719125161, abs=1e-8)


def test_inference_in_time_and_without():
    x = np.linspace(0.1, 0.9, 9)
    heat = fp.Problem("u_t = k*u_xx", zoo.LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.2)})
    data = fp.Measurements(x, np.exp(-0.05 * np.pi**2) * np.sin(np.pi * x), times=np.full(9, 0.5))
    assert fp.infer(heat, data).parameters["k"].value == pytest.approx(0.1, rel=1e-6)
    static = fp.Problem("u_xx = -s", zoo.LINE, boundary="u = 0", parameters={"s": fp.Unknown(1.0)})
    found = fp.infer(static, fp.Measurements(x, 1.5 * x * (1 - x)))
    assert found.parameters["s"].value == pytest.approx(3.0, rel=1e-5)


def test_a_sweep():
    problem = fp.Problem("u_t = k*u_xx", zoo.LINE, (0, 0.5), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    found = fp.sweep(problem, {"k": [0.1, 0.2]}, points=5, times=[0.5], settings=fp.Settings(width=20))
    np.testing.assert_allclose(found.u.sel(x=0.5, t=0.5), np.exp(-np.array([0.1, 0.2]) * np.pi**2 / 2), rtol=1e-6)
