"""An inference ends with an ordinary solve; estimated noise is used everywhere; other minima within bounds are told."""

from dataclasses import replace

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.inverse.ordinary import Ordinary, ordinary_failure, ordinary_notes

LINE = fp.Interval(0, 1)
RNG = np.random.default_rng(5)
X = np.linspace(0.1, 0.9, 30)


def cantilever(**unknowns):
    """A plate that is clamped on the left and pulled down on the right: singular at the clamped corners."""
    modulus = {"M": 0.7, "L": 1.3} | unknowns
    along, across = "(L + 2*M)*u_x + L*v_y", "(L + 2*M)*v_y + L*u_x"
    return fp.Problem(
        [f"dx({along}) + dy(M*(u_y + v_x)) = 0", f"dx(M*(u_y + v_x)) + dy({across}) = 0"],
        fp.Box((0, 0), (2, 1)),
        boundary={
            "left": ["u = 0", "v = 0"],
            "right": [f"{along} = 0", "M*(u_y + v_x) = -0.1"],
            **{side: ["M*(u_y + v_x) = 0", f"{across} = 0"] for side in ("bottom", "top")},
        },
        parameters=modulus,
    )


def test_what_both_networks_miss_is_found_by_an_ordinary_solve_and_mended():
    """With the models of the fit alone, predictions are some deviations off at the sensors, and both agree."""
    exact = fp.solve(cantilever(), tol=1e-5)
    points = cantilever().domain.sample(40, "random", 3).x
    truth = [exact(*points.T, field=name) for name in "uv"]
    noise = 1e-3 * float(np.sqrt(np.mean(np.square(truth))))
    data = [
        fp.Measurements(points, values + noise * RNG.standard_normal(40), field=name, noise=noise)
        for name, values in zip("uv", truth, strict=True)
    ]
    found = fp.infer(cantilever(M=fp.Unknown(0.8)), data)
    assert abs(float(found.parameters["M"]) - 0.7) < 3.0 * found.parameters["M"].std
    assert found.agreement < 0.3
    assert found.solution.status == "converged"
    predicted = np.concatenate([found.solution(*points.T, field=name) for name in "uv"])
    assert np.sqrt(np.mean((predicted - found.predicted) ** 2)) < 0.3 * noise


def test_narrow_networks_of_a_user_are_told_and_mended():
    """Eight neurons can't represent the solution for k = 3000: a layer of width 0.02 at both ends."""
    layers = fp.Problem("u_xx - k*u = -k", LINE, boundary="u = 0", parameters={"k": fp.Unknown(1000.0, 10, 1e5)})
    x, root = np.concatenate([X, [0.01, 0.02, 0.03, 0.05]]), np.sqrt(3000.0)
    truth = 1.0 - np.cosh(root * (x - 0.5)) / np.cosh(root / 2)
    data = fp.Measurements(x, truth + 1e-3 * RNG.standard_normal(len(x)), noise=1e-3)
    found = fp.infer(layers, data, settings=fp.Settings(width=8))
    assert "the models of the fit were moved by it" in found.report
    assert found.agreement < 0.3
    assert abs(float(found.parameters["k"]) - 3000.0) < 4.0 * found.parameters["k"].std
    again = found.again(data)
    assert float(again.parameters["k"]) == pytest.approx(float(found.parameters["k"]), rel=1e-3)
    other = found.again(fp.Measurements(x[20:], data.values[20:], noise=1e-3))  # at other places
    assert abs(float(other.parameters["k"]) - 3000.0) < 4.0 * other.parameters["k"].std


def heat(k=None):
    k = fp.Unknown(0.2) if k is None else k
    return fp.Problem("u_t = k*u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"k": k})


@pytest.fixture(scope="module")
def estimated():
    values = np.exp(-0.05 * np.pi**2) * np.sin(np.pi * X) + 0.01 * RNG.standard_normal(30)
    return fp.infer(heat(), fp.Measurements(X, values, times=0.5))


def test_estimated_noise_is_what_the_result_shows(estimated):
    assert 0.005 < estimated.noise < 0.015
    assert estimated.sigmas == pytest.approx(np.full(30, estimated.noise))
    assert estimated.misfit == pytest.approx(1.0)
    assert estimated.chi_square == pytest.approx(29.0)
    assert f"noise: {estimated.noise:.3g}, estimated with 29 degrees of freedom" in estimated.report
    bars = estimated.plot().axes[0].containers[0][2][0]
    lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
    assert np.allclose(lengths, 2.0 * estimated.noise)
    assert estimated.steps[-1][0] == pytest.approx(29.0, rel=0.1)


def test_the_noise_of_each_set_is_reported():
    u = np.exp(-0.05 * np.pi**2) * np.sin(np.pi * X)
    sets = [fp.Measurements(X, u + s * RNG.standard_normal(30), times=0.5) for s in (0.03, 0.001)]
    report = fp.infer(heat(), sets).report
    noises = [float(text) for text in report.split("noise: ")[1].split(", estimated")[0].split(", ")]
    assert noises == pytest.approx([0.03, 0.001], rel=0.5)


def test_large_noise_is_no_reason_to_doubt_the_equation():
    """Noise of 15 % of the data: no warning, which would be an error here."""
    values = np.exp(-0.05 * np.pi**2) * np.sin(np.pi * X) + 0.05 * RNG.standard_normal(30)
    fp.infer(heat(), fp.Measurements(X, values, times=0.5))


def test_rest_that_is_alike_at_neighbouring_places_is_no_noise():
    with pytest.warns(fp.FrozenPinnWarning, match=r"at neighbouring places is alike \(correlation 0\.\d+\)"):
        fp.infer(heat(), fp.Measurements(X, 0.6 * np.sin(np.pi * X) + 0.3 * np.sin(2 * np.pi * X), times=0.5))


def test_other_minima_between_the_bounds_are_told():
    """After one period of time 0.3, 1.3, 2.3, … explain a travelling wave alike."""
    wave = fp.Problem(
        "u_t = -c*u_x",
        fp.Interval(0, 1, periodic=True),
        (0, 1),
        "exp(sin(2*pi*x))",
        parameters={"c": fp.Unknown(0.5, lower=0, upper=6)},
    )
    x = np.linspace(0, 1, 40, endpoint=False)
    values = np.exp(np.sin(2 * np.pi * (x - 0.3))) + 0.01 * RNG.standard_normal(40)
    with pytest.warns(fp.FrozenPinnWarning, match=r"explained by (another|\d other) sets? of values, too: c = \d\.3"):
        found = fp.infer(wave, fp.Measurements(x, values, times=1.0, noise=0.01))
    assert float(found.parameters["c"]) == pytest.approx(0.3, abs=0.005)
    others = [minimum.values["c"] for minimum in found.minima]
    assert others
    assert all(abs(c % 1.0 - 0.3) < 0.01 and abs(c - 0.3) > 0.5 for c in others)
    with pytest.warns(fp.FrozenPinnWarning, match="explained by"):
        fp.infer(wave, fp.Measurements(x, values, times=1.0))


def test_a_fit_with_one_minimum_between_its_bounds_says_nothing():
    values = np.exp(-0.05 * np.pi**2) * np.sin(np.pi * X) + 0.01 * RNG.standard_normal(30)
    assert not fp.infer(heat(fp.Unknown(0.2, 0.001, 10)), fp.Measurements(X, values, times=0.5, noise=0.01)).minima


def test_what_is_said_of_an_ordinary_solve(estimated):
    nothing = np.zeros(3)
    assert ordinary_failure(Ordinary(None, 1e-3, nothing, nothing, np.nan, failure="Why."))[0].startswith(
        "there is no ordinary solution at these values: Why. The error bars contain the distance of two networks"
    )
    reached = replace(estimated.solution, verdict=estimated.solution.verdict._replace(status="reached"))
    notes = ordinary_notes(Ordinary(reached, 1e-3, nothing, nothing, 0.5, moved=2.0), True)
    assert "differs from the fit by 0.5 deviations of the noise at the sensors" in notes[0]
    assert "the first fit differed from it by 2 deviations" in notes[1]
    assert "did not reach tol=1.0e-03; its error is part of the error bars" in notes[2]
