"""What the report and the picture of an inference say of correlations."""

import json

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.cli.infer import _as_dict

X = np.linspace(0.1, 0.9, 30)


def inferred(**unknowns):
    boundary = {"left": "u = a", "right": "u = b"}
    given = {"a": 0.0, "b": 0.0, "s": 2.0} | {name: fp.Unknown(0.5) for name in unknowns}
    values = X * (1 - X) + 0.01 * np.random.default_rng(0).standard_normal(30)
    problem = fp.Problem("u_xx = -s", fp.Interval(0, 1), boundary=boundary, parameters=given)
    return fp.infer(problem, fp.Measurements(X, values, noise=0.01))


@pytest.fixture(scope="module")
def three():
    return inferred(a=1, b=1, s=1)


def test_correlations_are_those_of_linear_theory(three):
    design = np.stack([1 - X, X, X * (1 - X) / 2], axis=1)  # of a, b and s
    covariance = np.linalg.inv(design.T @ design)
    deviations = np.sqrt(np.diag(covariance))
    order = [three.names.index(name) for name in ("a", "b", "s")]
    expected = covariance / deviations / deviations[:, None]
    assert np.allclose(three.correlations[np.ix_(order, order)], expected, atol=1e-6)
    pair = f"a and b {expected[0, 1]:+.2f}"
    assert pair in three.report
    line = next(line for line in three.report.splitlines() if "correlations:" in line)
    sizes = [abs(float(part.split()[-1])) for part in line.split(":")[1].split(",")]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    assert np.array_equal(json.loads(json.dumps(_as_dict(three)))["correlations"], three.correlations)


def test_the_picture_has_a_panel_of_correlations_for_several_numbers_only(three):
    assert "correlations" in [axis.get_title() for axis in three.plot().axes]
    alone = inferred(s=1)
    assert "correlations" not in alone.report
    assert "correlations" not in [axis.get_title() for axis in alone.plot().axes]
