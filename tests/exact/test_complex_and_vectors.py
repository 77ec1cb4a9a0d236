"""Complex fields and vectors against solutions that are known."""

import numpy as np
import pytest

import frozenpinn as fp

L = 10.0


@pytest.fixture(scope="module")
def soliton():
    """The bright soliton of the nonlinear Schrödinger equation, with a velocity."""
    exact = "exp(I*(x/2 + 3*t/8))/cosh(x - t/2)"
    line = fp.Interval(-12, 13)
    problem = fp.Problem(
        "I*psi_t + psi_xx/2 + abs2(psi)*psi = 0", line, (0, 1), "exp(I*x/2)/cosh(x)", f"psi = {exact}", exact=exact
    )
    return fp.solve(problem, tol=1e-6)


def test_a_soliton(soliton):
    assert soliton.status == "converged"
    assert soliton.error()["rel_l2"] < 1e-6
    assert soliton.error("psi")["rel_l2"] <= soliton.error_estimate["psi"] * 3
    x = np.linspace(-3, 3, 7)
    assert np.allclose(soliton(x, 1.0), np.exp(1j * (x / 2 + 3 / 8)) / np.cosh(x - 0.5), atol=1e-6)
    assert np.allclose(soliton(x, 1.0, field="psi_im"), soliton(x, 1.0).imag)
    slope = (1j / 2 - np.tanh(x - 0.5)) * soliton(x, 1.0)
    assert np.allclose(soliton(x, 1.0, derivative="x"), slope, atol=1e-5)
    assert soliton.error_at(0.5, 1.0) < 1e-5
    assert soliton.integral("abs2(psi)", t=1.0) == pytest.approx(2.0, abs=1e-5)


def test_complex_solutions_are_stored_and_shown(soliton, tmp_path):
    soliton.save(str(tmp_path / "psi.fpinn"))
    again = fp.load(str(tmp_path / "psi.fpinn"))
    assert again(0.3, 0.7) == soliton(0.3, 0.7)
    assert again.error_estimate["psi"] == soliton.error_estimate["psi"]
    assert [axis.get_title() for axis in soliton.plot().axes if "arg psi" in axis.get_title()]
    assert soliton.grid(points=5, times=3).psi.dtype == complex
    soliton.to_csv(str(tmp_path / "psi.csv"), [0.0, 1.0], [0.5])
    assert "x,t,psi_re,psi_im" in (tmp_path / "psi.csv").read_text()


def test_python_functions_of_complex_values():
    ring = fp.Interval(0, 2 * np.pi, periodic=True)
    problem = fp.Problem("psi_t = I*psi_xx - I*V*psi", ring, (0, 1), lambda x: np.exp(2j * x), parameters={"V": 3.0})
    assert fp.solve(problem)(1.0, 1.0) == pytest.approx(np.exp(2j - 7j), abs=1e-9)


def test_a_complex_field_beside_a_real_one():
    ring = fp.Interval(0, 2 * np.pi, periodic=True)
    problem = fp.Problem(["a_t = I*a_xx", "n_t = abs2(a) + n_xx"], ring, (0, 1), {"a": "exp(I*x)", "n": 0})
    solution = fp.solve(problem)
    assert solution(0.4, 1.0, field="n") == pytest.approx(1.0, abs=1e-8)
    assert solution(0.4, 1.0, field="a") == pytest.approx(np.exp(0.4j - 1j), abs=1e-8)


def test_a_static_wave_with_an_impedance():
    boundary = {"left": "u = 1", "right": "u_n = 5*I*u"}
    solution = fp.solve(fp.Problem("lap(u) + 25*u = 0", fp.Interval(0, 1), boundary=boundary), tol=1e-8)
    x = np.linspace(0, 1, 9)
    assert np.max(np.abs(solution(x) - np.exp(5j * x))) < 1e-8
    assert solution.error_estimate["u"] < 1e-8


def test_elastic_waves():
    waves = "U_tt = mu*lap(U) + (lam + mu)*grad(div(U))"
    torus = fp.Box([0, 0], [1, 1], periodic=True)
    exact = ["sin(2*pi*x)*cos(4*pi*t)", "cos(2*pi*x)*cos(2*pi*t)"]
    start = ["sin(2*pi*x)", "cos(2*pi*x)"]
    solution = fp.solve(fp.Problem(waves, torus, (0, 0.3), start, None, 0, {"mu": 1, "lam": 2}, exact))
    assert solution.error("U")["rel_l2"] < 1e-9
    values = solution(np.array([0.2, 0.4]), 0.3, 0.3, field="U")
    assert values.shape == (2, 2)
    assert np.array_equal(values[1], solution(np.array([0.2, 0.4]), 0.3, 0.3, field="Uy"))


def test_static_elasticity():
    parameters = {"sigma": "lam*div(U)*identity + 2*mu*sym(grad(U))", "lam": 1.0, "mu": 0.5}
    exact = ["sin(pi*x)*sin(pi*y)", "x*y"]
    force = "[-5*pi**2/2*sin(pi*x)*sin(pi*y) + 1.5, 1.5*pi**2*cos(pi*x)*cos(pi*y)]"
    sides = dict.fromkeys(["left", "bottom", "top"], f"U = [{exact[0]}, {exact[1]}]")
    sides["right"] = "dot(sigma, n) = [2*pi*cos(pi*x)*sin(pi*y) + x, 0.5*(pi*sin(pi*x)*cos(pi*y) + y)]"
    square = fp.Box([0, 0], [1, 1])
    problem = fp.Problem(f"div(sigma) = {force}", square, boundary=sides, parameters=parameters, exact=exact)
    assert fp.solve(problem, tol=1e-6).error("U")["rel_l2"] < 1e-6
