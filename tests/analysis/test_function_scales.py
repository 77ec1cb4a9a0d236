"""Scales of Python functions: fast changes are found by samples, jumps to the last digit."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.analysis.formula_scales import formula_scales


def driven(function, **given):
    return fp.Problem(
        "u_t = 0.1*u_xx + f", fp.Interval(0, 1), (0, 1), 1.0, "u_n = 0", parameters={"f": function, **given}
    )


def test_a_jump_in_time_is_found_and_steps_end_there():
    problem = driven(lambda t: 1.0 * (t > 0.3337))
    assert formula_scales(problem).breaks == (pytest.approx(0.3337, abs=1e-9),)
    assert float(fp.solve(problem, tol=1e-8)(0.5, 1.0)) == pytest.approx(1 + 0.6663, rel=1e-8)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_peak_is_found(axis):
    def peak(x, t):
        return np.exp(-((((x, t)[axis] - 0.4321) / 2e-3) ** 2)) + 0 * x

    stretches = formula_scales(driven(peak)).stretches(axis)
    assert stretches
    assert all(abs(s.middle - 0.4321) < 6e-3 for s in stretches)
    assert not formula_scales(driven(peak)).stretches(1 - axis)


def test_smooth_functions_have_no_scales():
    scales = formula_scales(driven(lambda x, t: np.sin(9 * x) * np.exp(-3 * t)))
    assert not scales.features
    assert not scales.breaks


def test_a_named_scale_is_looked_for():
    problem = driven(lambda t: np.maximum(0.0, 1 - ((t - 0.876543) / 2e-5) ** 2))
    assert not formula_scales(problem).features
    solution = fp.solve(problem, settings=fp.Settings(scale=2e-5))
    assert formula_scales(solution.problem).stretches(1)
    assert float(solution(0.5, 1.0)) - 1 == pytest.approx(4 / 3 * 2e-5, rel=1e-3)


@pytest.mark.parametrize("scale", [0.0, 2, True, "fine"])
def test_bad_scales_are_refused(scale):
    with pytest.raises(fp.SettingsError, match="scale is a part of the domain and of the time, between 0 and 1; got"):
        fp.solve(driven(lambda t: t), settings=fp.Settings(scale=scale))
