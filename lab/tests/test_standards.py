"""Allen–Cahn and Korteweg–de Vries by default settings, against a converged Fourier reference."""

import time

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases.pinn_standards import (
    TIMES,
    allen_cahn,
    allen_cahn_reference,
    korteweg_de_vries,
    korteweg_de_vries_reference,
)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("problem", [allen_cahn, korteweg_de_vries])
def test_error_and_estimate(problem, seed):
    solution = fp.solve(problem(), seed=seed)
    assert solution.error()["rel_l2"] < 1e-6
    if seed == 0:
        assert fp.estimate_error(solution).error_estimate["u"] < 1e-6


@pytest.mark.timing
@pytest.mark.parametrize("problem", [allen_cahn, korteweg_de_vries])
def test_seconds(problem):
    stated = problem()
    start = time.perf_counter()
    fp.solve(stated)
    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("reference", "modes", "step"),
    [(allen_cahn_reference, 4096, 5 * TIMES), (korteweg_de_vries_reference, 256, 20 * TIMES)],
)
def test_reference_is_converged(reference, modes, step):
    x = np.linspace(-1, 1, 101)
    coarse, fine = reference(), reference(2 * modes, 1 / (2 * step))
    gap = max(np.max(np.abs(coarse(x, t) - fine(x, t))) for t in (1 / 99, 0.1, 0.5, 1.0))
    assert gap < 1e-8, gap


def test_invariants_of_the_korteweg_de_vries_reference():
    x = -1 + 2 * np.arange(256) / 256
    reference = korteweg_de_vries_reference()
    for power in (1, 2):
        sums = [np.mean(reference(x, t) ** power) for t in (0.0, 0.5, 1.0)]
        assert np.ptp(sums) < 1e-9


def test_corners_are_found_by_the_error_of_the_fit():
    """x² cos πx has a corner at the ends of its period; neurons placed by slope alone would not know."""
    problem = fp.Problem("u_t = 1e-4*u_xx - u**3", fp.Interval(-1, 1, periodic=True), (0, 0.1), "x**2*cos(pi*x)")
    x = 1 - np.geomspace(1e-6, 0.1, 60)
    followed, even = (fp.solve(problem, settings=fp.Settings(windows=windows))(x, 0.0) for windows in ("auto", None))
    exact = x**2 * np.cos(np.pi * x)
    assert np.max(np.abs(followed - exact)) < 1e-5
    assert np.max(np.abs(even - exact)) > 1e-3
