"""Eigenvalues against exact ones, functions, messages, and what is stored."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import jn_zeros, jv, mathieu_a, mathieu_b, yv

import frozenpinn as fp

PI = np.pi
L_SHAPE = fp.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])


def stated(equation, domain, boundary=None, **parameters):
    return fp.Problem(equation, domain, boundary=boundary, parameters={"lam": fp.Eigenvalue(), **parameters})


def beam():
    roots = [
        brentq(lambda z: np.cos(z) + 1 / np.cosh(z), (j + 0.5) * PI - 0.4, (j + 0.5) * PI + 0.4, xtol=1e-15)
        for j in range(6)
    ]
    return np.array(roots) ** 4


def ring():
    def cross(k, m):
        return jv(m, k) * yv(m, 0.3 * k) - jv(m, 0.3 * k) * yv(m, k)

    first = [brentq(cross, 4.2 + 0.3 * m, 4.6 + 0.5 * m, args=(m,), xtol=1e-14) ** 2 for m in range(3)]
    return np.repeat(first, [1, 2, 2])


def products(*axes, count):
    return np.sort(np.add.reduce(np.meshgrid(*axes), axis=0).ravel())[:count]


SQUARES = PI**2 * np.arange(12.0) ** 2
BESSEL = np.sort(np.concatenate([np.repeat(jn_zeros(m, 5), 1 if m == 0 else 2) for m in range(7)]))[:10] ** 2
FREE_END = {"left": ["u = 0", "u_x = 0"], "right": ["u_xx = 0", "u_xxx = 0"]}
EXACT = {
    "string": (stated("-u_xx = lam*u", fp.Interval(0, 1), "u = 0"), SQUARES[1:9], 1e-12),
    "other sign": (stated("u_xx + lam*u = 0", fp.Interval(0, 1), "u = 0"), SQUARES[1:9], 1e-12),
    "square drum": (
        stated("-lap(u) = lam*u", fp.Box([0, 0], [1, 1]), "u = 0"),
        products(SQUARES[1:], SQUARES[1:], count=10),
        1e-12,
    ),
    "square with free sides": (
        stated("-lap(u) = lam*u", fp.Box([0, 0], [1, 1]), "u_n = 0"),
        products(SQUARES, SQUARES, count=10),
        1e-11,
    ),
    "cube": (
        stated("-lap(u) = lam*u", fp.Box([0, 0, 0], [1, 1, 1]), "u = 0"),
        products(SQUARES[1:], SQUARES[1:], SQUARES[1:], count=4),
        1e-12,
    ),
    "cantilever": (stated("u_xxxx = lam*u", fp.Interval(0, 1), FREE_END), beam(), 4e-10),
    "oscillator": (stated("-u_xx + x**2*u = lam*u", fp.Interval(-8, 8), "u = 0"), 2.0 * np.arange(12) + 1, 1e-9),
    "disk": (stated("-lap(u) = lam*u", fp.Disk((0, 0), 1), "u = 0"), BESSEL, 1e-10),
    "periodic": (
        stated("-u_xx = lam*u", fp.Interval(0, 2 * PI), fp.Periodic()),
        np.array([0.0, 1, 1, 4, 4, 9, 9]),
        1e-11,
    ),
    "L-shape": (
        stated("-lap(u) = lam*u", L_SHAPE, "u = 0"),
        np.array([9.639723844021941, 15.19725192645434, 2 * PI**2]),
        1e-8,
    ),
    "ring": (stated("-lap(u) = lam*u", fp.domains.Annulus(0.3, 1), "u = 0"), ring(), 1e-6),
    "weight": (stated("-u_xx = lam*u/x**2", fp.Interval(1, np.e), "u = 0"), 0.25 + SQUARES[1:7], 1e-11),
    "an operator on the right": (
        stated("u_xxxx = -lam*u_xx", fp.Interval(0, 1), ["u = 0", "u_x = 0"]),
        np.array([4 * PI**2, 4 * brentq(lambda z: np.tan(z) - z, 4.4, 4.6, xtol=1e-14) ** 2, 16 * PI**2]),
        1e-10,
    ),
    "system": (
        stated(["-u_xx + v = lam*u", "-v_xx + u = lam*v"], fp.Interval(0, PI), ["u = 0", "v = 0"]),
        np.array([0.0, 2, 3, 5, 8, 10]),
        1e-11,
    ),
    "system with a singular right-hand side": (
        stated(["-u_xx = p", "-p_xx = lam*u"], fp.Interval(0, PI), ["u = 0", "p = 0"]),
        np.array([1.0, 16, 81, 256]),
        1e-11,
    ),
    "complex": (
        stated("-u_xx + u_x = lam*u", fp.Interval(0, 2 * PI), fp.Periodic()),
        np.array([0, 1 + 1j, 1 - 1j, 4 + 2j, 4 - 2j]),
        1e-11,
    ),
    "complex on a square": (
        stated(["-lap(u) + 2*v = lam*u", "-lap(v) - 2*u = lam*v"], fp.Box([0, 0], [PI, PI]), ["u = 0", "v = 0"]),
        np.array([2 + 2j, 2 - 2j, 5 + 2j, 5 + 2j, 5 - 2j, 5 - 2j]),
        1e-11,
    ),
    "Mathieu": (
        stated("-u_xx + 10*cos(2*x)*u = lam*u", fp.Interval(0, 2 * PI), fp.Periodic()),
        np.array([mathieu_a(1, 5), mathieu_b(2, 5), mathieu_b(1, 5), mathieu_a(0, 5), mathieu_a(2, 5)]),
        1e-10,
    ),
}


def robin():
    """Return k² for k cot k = −i: a string with a complex spring at its end, by Newton's method."""
    found = []
    for n in range(1, 5):
        k = complex((n - 0.5) * PI, 0.3)
        for _ in range(60):
            k -= (k / np.tan(k) + 1j) / (1 / np.tan(k) - k / np.sin(k) ** 2)
        found.append(k**2)
    return np.array(found)


def airy(strength, count):
    """Return the values of −ψ″ + i s x ψ on (−1, 1) by polynomials."""
    n = 64
    x = np.cos(PI * np.arange(n + 1) / n)
    c = np.where((np.arange(n + 1) == 0) | (np.arange(n + 1) == n), 2.0, 1.0) * (-1.0) ** np.arange(n + 1)
    d = np.outer(c, 1 / c) / (x[:, None] - x + np.eye(n + 1))
    d -= np.diag(d.sum(axis=1))
    values = np.linalg.eigvals(-(d @ d)[1:-1, 1:-1] + 1j * strength * np.diag(x[1:-1]))
    return values[np.lexsort((-values.imag, np.round(np.abs(values), 6)))][:count]


ORR_SOMMERFELD = stated(
    "v_xxxx - 2*a^2*v_xx + a^4*v - I*a*R*((1 - x^2)*(v_xx - a^2*v) + 2*v) = -I*a*R*lam*(v_xx - a^2*v)",
    fp.Interval(-1, 1),
    ["v = 0", "v_x = 0"],
    R=1e4,
    a=1.0,
)
COMPLEX = {
    "complex spring": (
        stated("-psi_xx = lam*psi", fp.Interval(0, 1), {"left": "psi = 0", "right": "psi_n + I*psi = 0"}),
        robin(),
        1e-11,
    ),
    "PT-symmetric": (stated("-psi_xx + I*x*psi = lam*psi", fp.Interval(-1, 1), "psi = 0"), airy(1.0, 4).real, 1e-10),
    "PT broken": (stated("-psi_xx + 20*I*x*psi = lam*psi", fp.Interval(-1, 1), "psi = 0"), airy(20.0, 4), 1e-10),
    "momentum": (
        stated("-I*psi_x = lam*psi", fp.Interval(0, 2 * PI), fp.Periodic()),
        np.array([0.0, 1, -1, 2, -2]),
        1e-11,
    ),
    "equations that have changed places": (
        stated("I*psi_xx = lam*psi", fp.Interval(0, PI), "psi = 0"),
        -1j * np.array([1.0, 4, 9]),
        1e-11,
    ),
    "gauge on a disk": (
        stated("-lap(psi) + 6*I*psi_x = lam*psi", fp.Disk(), "psi = 0"),
        BESSEL[:3] - 9,
        1e-7,
    ),
    "two complex fields": (
        stated(["-psi_xx + I*phi = lam*psi", "-phi_xx + I*psi = lam*phi"], fp.Interval(0, PI), ["psi = 0", "phi = 0"]),
        np.array([1 + 1j, 1 - 1j, 4 + 1j, 4 - 1j]),
        1e-10,
    ),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_operators(name):
    problem, exact, within = COMPLEX[name]
    found = fp.modes(problem, len(exact))
    scale, error = np.max(np.abs(exact)), np.abs(found.values - exact)
    assert np.max(error) < within * scale
    assert np.all(found.errors >= 0.1 * error - 1e-14 * scale)
    assert np.iscomplexobj(found.values) == np.iscomplexobj(exact)


def test_orr_sommerfeld():
    found = fp.modes(ORR_SOMMERFELD, 2, near=0.24 + 0.004j, tol=1e-8)
    assert found.values[0] == pytest.approx(0.23752649 + 0.00373967j, abs=1e-8)
    assert found.errors[0] < 1e-8


def test_functions_of_complex_operators(tmp_path):
    found = fp.modes(COMPLEX["PT broken"][0], 2)
    mode, x = found[0], np.linspace(-0.9, 0.9, 7)
    left = -mode(x, derivative="xx") + 20j * x * mode(x)
    assert left == pytest.approx(mode.value * mode(x), abs=1e-6)
    assert mode("abs2(psi)", x) == pytest.approx(np.abs(mode(x)) ** 2, rel=1e-9)
    assert mode.parts[0].integral("abs2(psi)") == pytest.approx(1.0, rel=1e-9)
    file = str(tmp_path / "modes.npz")
    found.save(file)
    assert np.all(fp.load(file)[0](x) == mode(x))
    mode.plot(str(tmp_path / "mode.png"))
    other = fp.modes(COMPLEX["PT broken"][0], 2, seed=3)[0]
    assert other(x) == pytest.approx(mode(x), abs=1e-8)


def test_what_is_no_complex_operator():
    with pytest.raises(fp.ProblemError, match=r"not those of one complex equation, as with conj\(…\)"):
        stated("-psi_xx + I*conj(psi) = lam*psi", fp.Interval(0, 1), "psi = 0")
    with pytest.raises(fp.ProblemError, match=r"'w' is real beside the complex 'psi', .* write complex=\('psi', 'w'\)"):
        stated(["-psi_xx + I*w = lam*psi", "-w_xx = lam*w"], fp.Interval(0, 1), ["psi = 0", "w = 0"])
    with pytest.raises(fp.ProblemError, match=r"conditions on '(left|right)' are not those of complex functions"):
        stated("-psi_xx + I*psi = lam*psi", fp.Interval(0, 1), ["psi_re = 0", "psi_im_n = 0"])


@pytest.mark.parametrize("name", EXACT)
def test_eigenvalues_are_exact_ones_with_honest_errors(name):
    problem, exact, within = EXACT[name]
    found = fp.modes(problem, len(exact))
    scale = np.maximum(np.abs(exact), 1e-2 * np.max(np.abs(exact)))
    error = np.abs(found.values - exact)
    assert np.max(error / scale) < within
    assert np.all(found.errors >= 0.1 * error - 1e-14 * scale)
    assert np.max(found.errors / scale) < 100 * within
    assert np.iscomplexobj(found.values) == np.iscomplexobj(exact)
    assert found.status == "estimated"


def test_nearest_to_a_number():
    found = fp.modes(EXACT["string"][0], 3, near=1000)
    assert found.values == pytest.approx([100 * PI**2, 121 * PI**2, 81 * PI**2], rel=1e-12)


def test_nearest_to_a_complex_number():
    found = fp.modes(EXACT["complex"][0], 1, near=9 + 2.9j)
    assert found.values[0] == pytest.approx(9 + 3j, rel=1e-11)


# ---- functions ---------------------------------------------------------------------------------------------


def test_functions_have_norm_one_and_derivatives():
    found = fp.modes(EXACT["string"][0], 3)
    x = np.linspace(0, 1, 41)
    for k, mode in enumerate(found, start=1):
        exact = np.sqrt(2) * np.sin(k * PI * x)
        sign = np.sign(np.sum(exact * mode(x)))
        assert mode(x) == pytest.approx(sign * exact, abs=1e-8)
        assert mode(x, derivative="x") == pytest.approx(sign * np.sqrt(2) * k * PI * np.cos(k * PI * x), abs=1e-6)
    assert found[0](0.5) > 0


def test_functions_do_not_depend_on_the_seed():
    disk = EXACT["disk"][0]
    first, second = fp.modes(disk, 3), fp.modes(disk, 3, seed=5)
    x, y = np.array([0.1, -0.5, 0.3]), np.array([0.2, 0.4, -0.7])
    for one, other in zip(first, second, strict=True):  # the last two have the same eigenvalue
        assert one(x, y) == pytest.approx(other(x, y), abs=1e-6)


def test_same_seed_same_bits():
    problem = EXACT["L-shape"][0]
    first, second = (fp.modes(problem, 2, settings=fp.Settings(width=120)) for _ in range(2))
    assert first.values.tobytes() == second.values.tobytes()
    assert first[1](0.5, 0.3).tobytes() == second[1](0.5, 0.3).tobytes()


def test_complex_functions_satisfy_the_equation():
    found = fp.modes(EXACT["complex"][0], 3)
    mode, x = found[1], np.linspace(0.1, 6, 9)
    left = -mode(x, derivative="xx") + mode(x, derivative="x")
    assert left == pytest.approx(mode.value * mode(x), abs=1e-9)
    assert np.isrealobj(found[0](x))


def test_fields_of_a_system():
    mode = fp.modes(EXACT["system"][0], 1)[0]
    assert mode.value == pytest.approx(0.0, abs=1e-11)
    assert mode(1.0, field="u") == pytest.approx(-mode(1.0, field="v"), abs=1e-9)


# ---- tolerance, spurious values -----------------------------------------------------------------------------


def test_grows_to_a_tolerance():
    problem = stated("-0.0001*u_xx + (x**2 - 1)**2*u = lam*u", fp.Interval(-2, 2), "u = 0")
    found = fp.modes(problem, 4, tol=1e-10)
    assert found.status == "converged"
    assert len(found.report.attempts) > 1
    assert np.max(found.errors / found.values) <= 1e-10


def test_tolerance_that_is_not_met_is_told():
    found = fp.modes(EXACT["string"][0], 8, tol=1e-12, settings=fp.Settings(width=24))
    assert found.status == "reached"
    assert "the tolerance 1e-12 was not met" in str(found.report)


def test_values_that_do_not_reappear_are_not_returned():
    with pytest.warns(fp.FrozenPinnWarning, match="of 30 eigenvalues reappear on networks drawn independently"):
        found = fp.modes(EXACT["string"][0], 30, settings=fp.Settings(width=40))
    exact = PI**2 * np.arange(1, 60) ** 2.0
    assert 5 < len(found) < 30
    assert max(np.min(np.abs(value - exact)) / value for value in found.values) < 1e-2
    assert "the others are left out" in str(found.report)


def test_doubtful_values_in_between_are_told():
    ring = EXACT["ring"][0]  # without the functions of its hole
    with pytest.warns(fp.FrozenPinnWarning, match="reappear on") as told:
        found = fp.modes(ring, 6, settings=fp.Settings(width=100, sampler="multi-scale"))
    assert any("left out, as they do not reappear on other networks" in str(w.message) for w in told)
    assert found.status == "reached"


def test_too_few_conditions_have_no_eigenvalues():
    problem = stated("-u_xx = lam*u", fp.Interval(0, 1), fp.Free())
    with pytest.raises(fp.ProblemError, match=r"both ends together have 0 condition\(s\).*too few"):
        fp.modes(problem, 3)
    insisting = fp.Settings(without=("condition count",))
    with pytest.warns(fp.FrozenPinnWarning, match="too few"), pytest.raises(fp.FrozenPinnError, match="no eigenvalue"):
        fp.modes(problem, 3, settings=insisting)


# ---- linearisation about a solution -----------------------------------------------------------------------------


def test_linearisation_about_a_solution():
    bratu = fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": 1})
    solution = fp.solve(bratu, tol=1e-8)
    found = fp.modes(bratu, 2, about=solution)
    x = np.linspace(0.1, 0.9, 5)
    mode = found[0]
    left = mode(x, derivative="xx") + np.exp(solution(x)) * mode(x)
    assert left == pytest.approx(mode.value * mode(x), abs=1e-6)
    assert mode.value < 0


# ---- storage, plots, words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["disk", "square drum", "complex"])
def test_stored_modes_are_the_same(name, tmp_path):
    problem = EXACT[name][0]
    found = fp.modes(problem, 3)
    file = str(tmp_path / "modes.npz")
    found.save(file)
    again = fp.load(file)
    where = [0.3] * problem.domain.dimension
    assert isinstance(again, fp.Modes)
    assert again.values.tobytes() == found.values.tobytes()
    assert again[2](*where) == pytest.approx(found[2](*where), rel=1e-12)
    assert str(again.report) == str(found.report)


def test_damaged_modes(tmp_path):
    file = tmp_path / "modes.npz"
    np.savez(file, modes=np.zeros(3, dtype=np.uint8))
    with pytest.raises(fp.FrozenPinnError, match="is not a stored frozenpinn solution, or it is damaged"):
        fp.load(str(file))


def test_plots(tmp_path):
    for name in ("disk", "string"):
        found = fp.modes(EXACT[name][0], 3)
        found.plot(str(tmp_path / f"{name}.png"))
        found[0].plot(str(tmp_path / f"{name}-0.png"))
        assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_words():
    found = fp.modes(EXACT["string"][0], 2)
    assert repr(found) == "Modes(2: 9.869604401089, 39.47841760436; estimated)"
    assert re.fullmatch(r"Mode\(9\.869604401089 ± \de-1\d\)", repr(found[0]))
    assert "symmetric" in str(found.report)
    assert found.report.as_dict()["values"] == found.values.tolist()
    with pytest.raises(fp.FrozenPinnError, match=r"there are 2 modes, counted from 0; got \[2\]"):
        found[2]


# ---- messages ----------------------------------------------------------------------------------------------------

WRONG = {
    "nonlinear": ("-lap(u) = lam*u**2", "is not linear: an eigenvalue problem can't have"),
    "source": ("-lap(u) = lam*u + 1", "is not homogeneous: '-1' has no factor of u"),
    "power": ("-lap(u) = lam**2*u", "it may only be a factor of the first power"),
    "reciprocal": ("-lap(u) = u/lam", "it may only be a factor of the first power"),
    "unused": ("-lap(u) = u", "the eigenvalue 'lam' stands in no equation"),
}


@pytest.mark.parametrize("name", WRONG)
def test_equations_that_are_no_eigenvalue_problems(name):
    equation, text = WRONG[name]
    with pytest.raises(fp.ProblemError, match=re.escape(text)):
        stated(equation, fp.Box([0, 0], [1, 1]), "u = 0")


def test_other_statements_that_are_no_eigenvalue_problems():
    interval, lam = fp.Interval(0, 1), {"lam": fp.Eigenvalue()}
    with pytest.raises(fp.ProblemError, match="'lam', 'mu' are eigenvalues; a problem has one"):
        stated("-u_xx = lam*u + mu*u", interval, "u = 0", mu=fp.Eigenvalue())
    with pytest.raises(fp.ProblemError, match="the boundary condition 'u = 1' is not homogeneous"):
        stated("-u_xx = lam*u", interval, "u = 1")
    with pytest.raises(fp.ProblemError, match="stands in the boundary condition 'u_x = lam"):
        stated("-u_xx = lam*u", interval, "u_x = lam*u")
    with pytest.raises(fp.ProblemError, match="'lam' is an eigenvalue, but the problem has time"):
        fp.Problem("u_t = u_xx + lam*u", interval, (0, 1), 0, "u = 0", parameters=lam)
    with pytest.raises(fp.ProblemError, match=r"the constraint 'mean\(u\) = 0' can't be combined with an eigenvalue"):
        fp.Problem("-u_xx = lam*u", interval, boundary="u_n = 0", parameters=lam, constraint="mean(u) = 0")
    with pytest.raises(fp.ProblemError, match=r"the constraint 'u\(0\) = 1' can't.* conditions at a point have zero"):
        fp.Problem("-u_xx = lam*u", interval, boundary="u_n = 0", parameters=lam, constraint="u(0) = 1")


def test_calls_that_make_no_sense():
    string = EXACT["string"][0]
    with pytest.raises(fp.SettingsError, match=r"the problem has an eigenvalue, 'lam'; call modes\(problem, 10\)"):
        fp.solve(string)
    for count in (0, -1, 2.5, True, "3"):
        with pytest.raises(fp.SettingsError, match="the number of eigenvalues is a positive whole number, got"):
            fp.modes(string, count)
    with pytest.raises(
        fp.SettingsError, match=r"near is a number; the eigenvalues nearest to it are returned. Got 'x'"
    ):
        fp.modes(string, 3, near="x")
    with pytest.raises(fp.SettingsError, match=r"modes\(\) takes a Problem, got str"):
        fp.modes("u", 3)
    with pytest.raises(fp.SettingsError, match=r"Settings\(integrator=…\) is not for eigenvalues"):
        fp.modes(string, 3, settings=fp.Settings(integrator="exact"))
    static = fp.Problem("u_xx = 1", fp.Interval(0, 1), boundary="u = 0")
    with pytest.raises(fp.ProblemError, match="there is no eigenvalue in the problem; write for example"):
        fp.modes(static, 3)
    with pytest.raises(fp.SettingsError, match="about= is for the linearisation of a nonlinear problem"):
        fp.modes(string, 3, about=fp.solve(static))
    many = stated("-lap(u) = lam*u", fp.Box([0] * 4, [1] * 4), "u = 0")
    with pytest.raises(fp.SettingsError, match="eigenvalues are found in up to three dimensions; the domain has 4"):
        fp.modes(many, 3)


def test_a_value_in_place_of_the_eigenvalue():
    problem = EXACT["string"][0].at(lam=0.5)
    assert not problem.parameters.unknown
    assert str(problem.equations[0]) == "-0.5*u - u_xx = 0"
