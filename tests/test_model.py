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
    with pytest.raises(fp.SettingsError, match="'k' is not one of them: the parameters that are numbers are 's'"):
        fp.model(problem)(k=1.0)
    with pytest.raises(fp.SettingsError, match="a model takes numbers; 's' is 'x'"):
        fp.model(problem)(s="x")
    with pytest.raises(fp.SettingsError, match=r"has unknowns; give them numbers with problem.at\(…\)"):
        fp.model(problem.at(s=fp.Unknown(1.0)))
    with pytest.raises(fp.SettingsError, match="takes a Problem, got int"):
        fp.model(3)
    plain = fp.Problem("u_xx = -1", fp.Interval(0, 1), boundary="u = 0")
    with pytest.raises(fp.SettingsError, match="no number among its parameters"):
        fp.model(plain)
