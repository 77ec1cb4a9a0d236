"""Trained networks that find unknowns: the peers of inference."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.inverse_job import trained_unknowns

pytest.importorskip("jax")
from frozenpinn_lab.peers.pinn.inverse import infer_pinn

SMALL = {"layers": 2, "width": 10, "interior": 60, "conditions": 20, "adam_steps": 100, "lbfgs_steps": 400}
X = np.linspace(0.05, 0.95, 19)


def test_a_number_and_a_field_are_trained_with_the_network():
    problem = fp.Problem(
        "u_xx - gamma*u = -k", fp.Interval(0, 1), boundary="u = 0",
        parameters={"k": fp.Unknown(1.0), "gamma": fp.UnknownField(0.5, positive=True)},
    )  # fmt: skip
    exact = fp.solve(problem.at(k=2.0, gamma="1 + x"), tol=1e-8)
    data = [fp.Measurements(X, exact(X)), fp.Measurements(X, 1 + X, field="gamma")]
    found = infer_pinn(problem, data, **SMALL)
    assert found.numbers["k"] == pytest.approx(2.0, rel=0.05)
    assert found.functions["gamma"](X[:, None]) == pytest.approx(1 + X, rel=0.1)


def test_what_it_does_not_know_is_refused():
    problem = fp.Problem("u_xx = -1", fp.Interval(0, 1), boundary="u = g", parameters={"g": fp.Unknown(1.0)})
    with pytest.raises(fp.SettingsError, match="trains unknowns of equations, not of boundary conditions"):
        infer_pinn(problem, [fp.Measurements(X, X)], **SMALL)
    source = fp.Problem("u_xx = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"s": fp.Unknown(1.0)})
    with pytest.raises(fp.SettingsError, match="knows values of fields at points"):
        infer_pinn(source, [fp.Measurements(X, X, derivative="x")], **SMALL)
    case = find_case("inverse-poisson").inverse
    with pytest.raises(fp.SettingsError, match="'causal-pinn' finds no unknowns; 'pinn-adam', 'pinn-lbfgs' do"):
        trained_unknowns(case, case.problem(), "causal-pinn", 0, None, 1)
