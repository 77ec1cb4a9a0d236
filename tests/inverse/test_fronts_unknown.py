"""Numbers that determine how fast a step spreads, where that is known in closed form."""

import numpy as np
import pytest
from scipy.special import erf

import frozenpinn as fp


def test_the_diffusivity_of_a_step_is_found():
    ends = {"left": "u = -1", "right": "u = 1"}
    given = {"k": fp.Unknown(0.05, 1e-3, 1.0)}
    step = fp.Problem("u_t = k*u_xx", fp.Interval(-1, 1), (0, 0.5), "where(x < 0, -1, 1)", ends, parameters=given)
    rng = np.random.default_rng(0)
    x, t = rng.uniform(-0.9, 0.9, 60), rng.uniform(0.05, 0.5, 60)
    seen = erf(x / np.sqrt(4 * 0.02 * t)) + 0.01 * rng.standard_normal(60)
    found = fp.infer(step, fp.Measurements(x[:, None], seen, times=t, noise=0.01)).parameters["k"]
    assert found.value == pytest.approx(0.02, abs=4 * found.std)
    assert found.std < 1e-3
