"""Problems as functions of their parameters."""

import numpy as np
import pytest

import frozenpinn as fp


def test_a_number_in_the_source_needs_no_new_factorisation():
    problem = fp.Problem("u_xx = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"s": 1.0})
    bar = fp.model(problem)
    assert bar.names == ("s",)
    assert bar(s=3.0)(0.5) == pytest.approx(3 / 8, rel=1e-9)
    assert bar()(0.5) == pytest.approx(1 / 8, rel=1e-9)
    assert bar(s=3.0)(0.5) == bar(s=3.0)(0.5)
    assert bar(s=3.0).problem.parameters.constants["s"] == 3.0


def test_a_number_in_a_nonlinear_equation():
    problem = fp.Problem(
        "u_xx = k*u**3 + f",
        fp.Interval(0, 1),
        boundary={"left": "u = 1", "right": "u = e"},
        parameters={"k": 1.0, "f": "exp(x) - 2*exp(3*x)", "e": "exp(1)"},
    )
    assert fp.model(problem)(k=2.0)(0.4) == pytest.approx(np.exp(0.4), rel=1e-7)


def test_evolutions_keep_their_sizes():
    problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    assert fp.model(problem, tol=1e-6)(k=0.2)(0.5, 1.0) == pytest.approx(np.exp(-0.2 * np.pi**2), rel=1e-6)


def test_what_is_refused():
    problem = fp.Problem("u_xx = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"s": 1.0})
    with pytest.raises(
        fp.SettingsError, match=r"no parameter 'S'; the parameters that are numbers are 's'\. Did you mean 's'"
    ):
        fp.model(problem)(S=1.0)
    with pytest.raises(fp.SettingsError, match="a model takes numbers; 's' is 'x'"):
        fp.model(problem)(s="x")
    with pytest.raises(fp.SettingsError, match=r"has unknowns; give them numbers with problem.at\(…\)"):
        fp.model(problem.at(s=fp.Unknown(1.0)))
    with pytest.raises(fp.SettingsError, match="takes a Problem, got int"):
        fp.model(3)
    plain = fp.Problem("u_xx = -1", fp.Interval(0, 1), boundary="u = 0")
    with pytest.raises(fp.SettingsError, match="no number among its parameters"):
        fp.model(plain)


def differences(model, quantity, names):
    """Return slopes by central differences of fourth order."""
    found = []
    for name in names:
        value = model.problem.parameters.constants[name]
        h = 1e-3 * (abs(value) or 1.0)
        at = {k: float(model(quantity, **{name: value + k * h})) for k in (-2, -1, 1, 2)}
        found.append((8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h))
    return np.array(found)


def assert_slopes(problem, quantity, allowed=1e-6, fine=None):
    model = fp.model(problem, settings=fine)
    value, slopes = model.gradient(quantity)
    assert value == model(quantity)
    wanted = differences(model, quantity, model.names)
    assert slopes == pytest.approx(wanted, rel=allowed, abs=allowed * np.abs(wanted).max())


FINE = fp.Settings(rtol=1e-11)
PARAMETERS = {"k": 0.1, "c": 0.3, "r": 0.5, "s": 1.0, "a": 0.2}


@pytest.mark.parametrize(
    "quantity",
    ["integral(u^2)", "mean(k*u_x^2 + c, where='x < 0.4')", "value(-k*u_x, x=0.3)", "integral(k*u_n, side='right')"],
)
def test_slopes_of_static_problems(quantity):
    problem = fp.Problem(
        "k*u_xx + c*u_x - r*u^3 = -s*exp(x)",
        fp.Interval(0, 1),
        boundary={"left": "u = a", "right": "u_n + r*u = 1"},
        parameters=PARAMETERS,
    )
    assert_slopes(problem, quantity, 1e-7)


def test_slopes_in_the_plane_and_in_polar_coordinates():
    problem = fp.Problem("lap(u) = r*u - s*x", fp.Disk(), boundary="u_n + c*u = a", parameters=PARAMETERS)
    assert_slopes(problem, "integral(u^2, where='y > 0')", 1e-7)
    polar = fp.Problem(
        "lap(u) = k*u - s",
        fp.Box([1, 0], [2, 1]),
        boundary="u = a",
        coordinates="polar",
        parameters={"k": 0.5, "s": 1.0, "a": 0.2},
    )
    assert_slopes(polar, "integral(u^2)", 1e-7)


@pytest.mark.parametrize("quantity", ["integral(u^2)", "value(k*u_x, x=0, t=0.4)", "mean(u_t + c*u, t=0.3)"])
def test_slopes_of_evolutions(quantity):
    problem = fp.Problem(
        "u_t = k*u_xx + s*sin(3*x) - r*u",
        fp.Interval(0, 1),
        (0, 0.5),
        "a*sin(pi*x)",
        {"left": "u = 0", "right": "u = c*t"},
        parameters=PARAMETERS,
    )
    assert_slopes(problem, quantity, fine=FINE)


def test_slopes_of_waves_and_of_periodic_nonlinear_evolutions():
    wave = fp.Problem(
        "u_tt = c*u_xx - r*u_t",
        fp.Interval(0, 1),
        (0, 1),
        "a*sin(pi*x)",
        "u = 0",
        initial_velocity="s*x*(1 - x)",
        parameters=PARAMETERS,
    )
    assert_slopes(wave, "integral(u_t^2 + c*u_x^2, t=0.7)", fine=FINE)
    periodic = fp.Problem(
        "u_t = -c*u_x + k*u_xx + r*u*(1 - s*u)",
        fp.Interval(0, 1, periodic=True),
        (0, 1),
        "a*exp(cos(2*pi*x))",
        parameters=PARAMETERS,
    )
    assert_slopes(periodic, "value(u^2, x=0.3)", fine=FINE)


def test_slopes_at_the_start_and_at_other_values():
    problem = fp.Problem(
        "u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "a*sin(pi*x)", "u = 0", parameters={"k": 0.1, "a": 2.0}
    )
    model = fp.model(problem)
    assert model.gradient("value(u, x=0.5, t=0)", wrt=("a", "k"))[1] == pytest.approx([1.0, 0.0], abs=1e-9)
    value, slope = model.gradient("value(u, x=0.5)", wrt="k", k=0.2)
    assert value == pytest.approx(2 * np.exp(-0.2 * np.pi**2), rel=1e-8)
    assert slope == pytest.approx(-(np.pi**2) * value, rel=1e-6)


@pytest.mark.parametrize(
    "problem",
    [
        fp.Problem(
            "dx(where(x < 0.5, k, 1)*u_x) = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"k": 3.0, "s": 1.0}
        ),
        fp.Problem("u_xx = -s + k*integral(u)", fp.Interval(0, 1), boundary="u = 0", parameters={"k": 3.0, "s": 1.0}),
        fp.Problem(
            "u_xx = -s",
            fp.Interval(0, 1),
            boundary={"left": "u = 0", "right": "u_n = 1 - k*u^4"},
            parameters={"k": 3.0, "s": 1.0},
        ),
    ],
    ids=["jumps", "nonlocal", "nonlinear conditions"],
)
def test_slopes_by_differences(problem):
    assert_slopes(problem, "integral(u^2)")


def test_slopes_that_networks_do_not_agree_on_are_told():
    problem = fp.Problem(
        "u_t = nu*u_xx - u*u_x", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0", parameters={"nu": 0.0012}
    )
    with pytest.warns(fp.FrozenPinnWarning, match=r"slopes of 'value\(u_x, x=0\)' are known to about"):
        fp.model(problem).gradient("value(u_x, x=0)")


def test_objectives_suit_optimizers():
    from scipy.optimize import minimize

    problem = fp.Problem("u_xx = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"s": 1.0})
    missed = fp.model(problem).objective("value((u - 1)^2, x=0.5)")
    assert repr(missed) == "Objective('value((u - 1)^2, x=0.5)' by s)"
    found = minimize(missed, missed.start, jac=True)
    assert found.x == pytest.approx([8.0], rel=1e-6)
    with pytest.raises(fp.SettingsError, match=r"a function of 's'; got shape \(2,\)"):
        missed([1.0, 2.0])


def test_what_gradients_refuse():
    problem = fp.Problem(
        "u_xx = -s*f", fp.Interval(0, 1), boundary="u = 0", parameters={"s": 1.0, "speed": 2.0, "f": "sin(x)"}
    )
    model = fp.model(problem)
    with pytest.raises(fp.SettingsError, match=r"no parameter 'speeed'; .*'s', 'speed'\. Did you mean 'speed'\?"):
        model.gradient("integral(u)", wrt=("s", "speeed"))
    with pytest.raises(
        fp.SettingsError, match=r"'f' is a function, and a model changes numbers: write it with numbers"
    ):
        model.gradient("integral(u)", wrt="f")
    with pytest.raises(fp.SettingsError, match="'f' is a function"):
        model(f=2.0)
    with pytest.raises(fp.SettingsError, match="wrt is a list of names"):
        model.gradient("integral(u)", wrt=3)
    with pytest.raises(fp.SettingsError, match="has a name twice"):
        model.gradient("integral(u)", wrt=("s", "s"))
    with pytest.raises(fp.SettingsError, match="is not one of 'integral', 'mean', 'value'"):
        model.gradient("u", wrt="s")
    wave = fp.Problem("psi_xx + k*psi = I", fp.Interval(0, 1), boundary="psi = 0", parameters={"k": 1.0})
    with pytest.raises(fp.EvaluationError, match="is a complex number; take its real part"):
        fp.model(wave).gradient("integral(psi)")
    assert fp.model(wave).gradient("integral(abs2(psi))")[1].shape == (1,)
