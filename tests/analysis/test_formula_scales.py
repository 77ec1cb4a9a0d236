"""Scales from formulas: every narrow thing is found, where it is and how narrow, and nothing else is."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn import Box, Interval, Problem
from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.analysis.probing import grid_probe, probe
from frozenpinn.evolution.narrow_features import is_abrupt, narrow_places, parts_of_time, telling_times


def heat(term="0", initial="sin(pi*x)", boundary="u = 0", **given):
    return Problem(f"u_t = 0.1*u_xx + {term}", Interval(0, 1), (0, 1), initial, boundary, **given)


@pytest.mark.parametrize("width", [3e-3, 3e-4, 1e-5])
@pytest.mark.parametrize(
    "peak",
    [
        "exp(-((x - 0.41234)/w)**2)",
        "u/(1 + ((x - 0.41234)/w)**2)",
        "exp(-((x - 0.41234)/w)**2)*u**2",
        "sech((x - 0.41234)/w)*u",
        "100*x**2*u + exp(-((x - 0.41234)/w)**2)",
        "tanh((x - 0.41234)/w)",
        "erf((x - 0.41234)/w)*u",
        "atan((x - 0.41234)/w)",
    ],
)
def test_what_is_narrow_in_space_is_found(peak, width):
    scales = formula_scales(heat(peak, parameters={"w": width}))
    (stretch,) = scales.stretches(0)
    assert stretch.low - width < 0.41234 < stretch.high + width
    assert width / 4 < stretch.width < 6 * width
    assert not scales.stretches(1)


@pytest.mark.parametrize("width", [1e-3, 1e-6])
def test_pulses_in_time_are_found_wherever_they_stand(width):
    pulse = f"exp(-((t - 0.7123)/{width})**2)"
    for problem in (
        heat(pulse),
        heat(f"{pulse}*u**2"),
        Problem(f"u_t = (0.1 + {pulse})*u_xx", Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0"),
        heat(boundary={"left": f"u = {pulse}", "right": "u = 0"}),
    ):
        (stretch,) = formula_scales(problem).stretches(1)
        assert stretch.low - width < 0.7123 < stretch.high + width
        assert len(parts_of_time(problem)) == 3
        assert np.any(np.abs(telling_times(problem) - 0.7123) < width)


def test_what_is_narrow_in_space_and_time_is_found_in_both():
    scales = formula_scales(heat("exp(-((x - 0.3)/2e-3)**2 - ((t - 0.6)/1e-4)**2)"))
    assert [round((s.low + s.high) / 2, 2) for s in (*scales.stretches(0), *scales.stretches(1))] == [0.3, 0.6]


def test_what_moves_is_followed():
    scales = formula_scales(heat("exp(-((x - 0.2 - 0.5*t)/1e-3)**2)"))
    ends = scales.stretches(0)
    assert min(s.low for s in ends) < 0.22
    assert max(s.high for s in ends) > 0.68


def test_repeated_pulses_are_found_one_by_one():
    scales = formula_scales(heat("exp(-(sin(10*pi*t)/0.01)**2)"))
    middles = [(s.low + s.high) / 2 for s in scales.stretches(1)]
    assert np.allclose(middles, np.arange(11) / 10, atol=2e-3)


def test_jumps_and_corners_in_time_are_found_to_the_last_digit():
    term = "heaviside(t - 0.3)*u + abs(t - 0.6)*max(sin(7*t), 0.2)"
    assert np.allclose(
        formula_scales(heat(term)).breaks,
        [np.arcsin(0.2) / 7, 0.3, (np.pi - np.arcsin(0.2)) / 7, 0.6, (2 * np.pi + np.arcsin(0.2)) / 7],
        atol=1e-10,
    )


@pytest.mark.parametrize(
    "problem",
    [
        heat(),
        heat("sin(40*x)*exp(-3*t)", "exp(-((x - 0.5)/0.1)**2)*sin(pi*x)"),
        heat("u**2/(1 + x**2 + t) - 3*x*u", "tanh(5*x)*(1 - x)"),
        heat("cosh(3*x)*sin(20*x*t)/(2 + cos(6*x))"),
        heat("abs(x - 0.3)*u"),
    ],
    ids=str,
)
def test_smooth_problems_have_no_scales(problem):
    scales = formula_scales(problem)
    assert not scales.features
    assert not scales.breaks
    assert parts_of_time(problem) == ((problem.time, np.inf),)
    assert narrow_places(problem) is None
    assert not is_abrupt(problem)


def test_fields_that_bend_an_equation_make_it_abrupt():
    assert is_abrupt(heat("-max(u - 0.3, 0)"))
    assert is_abrupt(heat("-tanh((u - 0.3)/1e-3)"))
    assert not is_abrupt(heat("-tanh(5*u)"))
    assert is_abrupt(heat("-sqrt(u + 1)"))
    assert not is_abrupt(heat("-u**3"))


def test_places_of_the_estimate_include_narrow_ones():
    line = probe(heat("exp(-((x - 0.41234)/1e-6)**2)"))
    assert np.sum(np.abs(line.x[:, 0] - 0.41234) < 3e-6) > 3
    assert line.weights.sum() == pytest.approx(1)
    square = Problem(
        "u_t = lap(u) + exp(-((x - 0.3)**2 + (y - 0.6)**2)/1e-7)", Box([0, 0], [1, 1]), (0, 1), "x*y", "u = x*y"
    )
    near = np.hypot(*(grid_probe(square).x - [0.3, 0.6]).T)
    assert np.min(near) < 3e-4


def test_a_feature_is_told():
    feature = formula_scales(heat("exp(-((x - 0.4)/3e-4)**2)")).features[0]
    assert feature.describe(("x", "t")).startswith("a peak of exp(")
    assert "(width 0.0003)" in feature.describe(("x", "t"))


def test_python_functions_are_left_to_samples():
    problem = heat("f", parameters={"f": lambda x, t: x * t})
    assert not formula_scales(problem).features


def test_points_of_a_box_are_dense_where_formulas_are_narrow():
    ridge = "exp(-((x - 0.37)/0.001)**2)"
    problem = fp.Problem(f"u_t = 0.1*lap(u) - 100*{ridge}*u", fp.Box([0, 0], [1, 1]), (0, 0.1), "cos(pi*y)", "u_n = 0")
    along_x, along_y = narrow_places(problem)
    assert len(along_x.sizes) >= 1
    assert not along_y.sizes
    solution = fp.solve(problem, settings=fp.Settings(width=(60, 12)))
    x, y = (np.unique(solution.collocation[:, axis]) for axis in range(2))
    assert np.count_nonzero(np.abs(x - 0.37) < 0.003) >= 8
    assert np.count_nonzero(np.abs(y - 0.37) < 0.003) <= 1
