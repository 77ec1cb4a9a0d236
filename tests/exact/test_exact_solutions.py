"""Problems with exact solutions, solved with default settings: generality is measured, not claimed.

The problems are those of the calibration; each bound is about ten times the error seen over two seeds.
"""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.calibration import collection

ENTRIES = collection()
BOUNDS = {
    "transport of a steep profile": 1e-9,
    "transport, speed cos t": 2e-9,
    "advection and diffusion": 5e-11,
    "transport with outflow": 4e-8,
    "heat, Robin": 2e-12,
    "heat, Neumann": 3e-12,
    "heat, moving end": 1e-12,
    "heat, rapid end": 7e-12,
    "heat, Python source": 1e-12,
    "heat, moving source": 1e-12,
    "heat, switched source": 1e-12,
    "heat from a jump": 1e-12,
    "heat, diffusivity in time": 7e-12,
    "variable coefficients": 2e-11,
    "drifting cloud": 2e-10,
    "wave, variable speed": 1e-12,
    "wave, driven ends": 1e-12,
    "wave, damped": 1e-12,
    "wave, overdamped": 1e-12,
    "string, viscoelastic": 2e-9,
    "beam, supported": 3e-12,
    "beam, damped": 3e-12,
    "beam, clamped": 3e-11,
    "Schrödinger": 4e-12,
    "Schrödinger, coherent state": 2e-10,
    "Maxwell": 2e-12,
    "coupled conditions": 4e-9,
    "first and second order": 6e-10,
    "weakly coupled": 3e-6,
    "Fisher–KPP": 9e-9,
    "Fisher–KPP, slow": 4e-10,
    "Burgers front, ν = 0.02": 2e-9,
    "Burgers front, ν = 0.01": 2e-9,
    "Burgers, forced": 3e-10,
    "Burgers, Cole–Hopf": 2e-9,
    "Korteweg–de Vries soliton": 2e-7,
    "cubic Schrödinger, travelling": 4e-8,
    "cubic Schrödinger, circle": 1e-9,
    "Klein–Gordon": 3e-10,
    "nonlinear system": 3e-10,
    "2-d heat": 5e-11,
    "2-d wave": 5e-11,
    "2-d heat, four kinds of conditions": 3e-11,
    "2-d heat, half periodic": 5e-11,
    "2-d heat, anisotropic": 1e-12,
    "membrane": 2e-11,
    "plate": 6e-10,
    "oblique transport": 7e-9,
    "2-d Burgers": 2e-10,
    "2-d Burgers, skew": 9e-10,
    "3-d wave": 1e-12,
    "3-d heat, partly periodic": 1e-12,
    "4-d heat": 2e-6,
    "4-d advection and diffusion": 3e-11,
    "annulus, first mode": 7e-7,
    "annulus, second mode": 3e-6,
    "ball": 3e-7,
    "ball, Robin": 2e-9,
    "diffusion around a hole": 5e-9,
    "flux through a hole": 8e-9,
    "pierced plate": 4e-9,
    "wave on a triangle": 2e-9,
    "Motz": 3e-9,
    "L-shape": 8e-9,
    "tree, diffusion": 2e-8,
}
#: Solved with one seed.
SLOW = (
    "Burgers front, ν = 0.01",
    "cubic Schrödinger, travelling",
    "oblique transport",
    "4-d heat",
    "annulus, first mode",
    "annulus, second mode",
    "ball",
    "ball, Robin",
    "diffusion around a hole",
    "flux through a hole",
    "pierced plate",
    "wave on a triangle",
    "Motz",
    "L-shape",
    "tree, diffusion",
)


@pytest.mark.parametrize(
    ("name", "seed"), [(name, seed) for name in BOUNDS for seed in ((0,) if name in SLOW else (0, 1))]
)
def test_error_against_the_exact_solution(name, seed):
    entry = ENTRIES[name]
    solution = fp.solve(entry.build(), seed=seed)
    at = {} if entry.test_points is None else {"at": entry.test_points(solution.problem)}
    for field in solution.problem.fields:
        assert solution.error(field, **at)["rel_l2"] < BOUNDS[name]


@pytest.mark.parametrize(("beta", "end", "bound"), [(40, 1, 2e-11), (1e4, 1, 4e-10), (1, 1000, 5e-11)])
def test_transport_that_is_fast_or_long(beta, end, bound):
    circle, parameters = fp.Interval(0, 2 * np.pi, periodic=True), {"beta": beta}
    problem = fp.Problem(
        "u_t + beta*u_x = 0", circle, (0, end), "sin(x)", parameters=parameters, exact="sin(x - beta*t)"
    )
    assert fp.solve(problem).error()["rel_l2"] < bound


@pytest.mark.parametrize("value", ["exp(-t)*sin(1)", lambda t: np.exp(-t) * np.sin(1)], ids=["text", "function"])
def test_values_at_an_end_by_text_and_by_function(value):
    sides = {"left": "u = 0", "right": fp.Dirichlet(value)}
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(x)", sides, exact="exp(-t)*sin(x)")
    assert fp.solve(problem).error()["rel_l2"] < 2e-9


@pytest.mark.parametrize("name", ["transport of a steep profile", "2-d heat", "Fisher–KPP"])
def test_estimate_follows_the_true_error(name):
    solution = fp.estimate_error(fp.solve(ENTRIES[name].build(), seed=0, settings=fp.Settings(width=60)))
    field = solution.problem.fields[0]
    truth = solution.error(field)["rel_l2"]
    assert truth / 30 < solution.error_estimate[field] < truth * 30
