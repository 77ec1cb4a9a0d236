"""Stream functions on boxes, and the pressure that belongs to them."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.transforms import Potential, without_constraints
from frozenpinn.transforms.potential import with_laplacians

FLOW = ["U_t + advect(U, U) = -grad(p) + nu*lap(U)", "div(U) = 0"]
PERIODIC = fp.Box([0, 0], [2 * np.pi] * 2, periodic=True)
SQUARE = fp.Box([0, 0], [1, 1])
NU = 0.05


def vortices(mean=0.0, force=""):
    equations = [FLOW[0] + force, FLOW[1]]
    start = {"U": [f"sin(x)*cos(y) + {mean}", "-cos(x)*sin(y)"]}
    return fp.Problem(equations, PERIODIC, (0, 1), start, vectors=("U",), parameters={"nu": NU})


@pytest.fixture(scope="module")
def decaying():
    return fp.solve(vortices(0.3), tol=1e-8)


def exact(x, y, t, mean=0.3):
    decay = np.exp(-2 * NU * t)
    x = x - mean * t  # all is carried along
    u, v = np.sin(x) * np.cos(y) * decay + mean, -np.cos(x) * np.sin(y) * decay
    return u, v, (np.cos(2 * x) + np.cos(2 * y)) * decay**2 / 4


def test_vortices_decay_and_drift_as_they_should(decaying):
    x, y = np.random.default_rng(0).uniform(0, 2 * np.pi, (2, 100))
    u, v, p = exact(x, y, 0.7)
    found = decaying(x, y, 0.7, field="U")
    assert decaying.status == "converged"
    assert np.max(np.abs(found - [u, v])) <= 1e-8
    assert np.max(np.abs(decaying(x, y, 0.7, field="p") - p)) <= 1e-8
    assert [d.name for d in decaying.decisions][:2] == ["multipliers", "potential"]


def test_the_divergence_is_round_off(decaying):
    x, y = np.random.default_rng(0).uniform(0, 2 * np.pi, (2, 100))
    left = decaying(x, y, 0.7, field="Ux", derivative="x") + decaying(x, y, 0.7, field="Uy", derivative="y")
    assert np.max(np.abs(left)) <= 1e-12
    assert decaying.report.constraints["Ux_x + Uy_y"] <= 1e-12
    assert "largest |Ux_x + Uy_y|" in str(decaying.report)


def test_derivatives_of_the_pressure_and_pairs_of_places_and_times(decaying):
    x, y = np.array([0.4, 1.1]), np.array([0.2, 2.0])
    h = 1e-4
    _, _, above = exact(x, y, 0.5 + h)
    _, _, below = exact(x, y, 0.5 - h)
    assert np.allclose(decaying(x, y, 0.5, field="p", derivative="t"), (above - below) / (2 * h), atol=1e-6)
    slope = decaying(x, y, 0.5, field="p", derivative="x")
    assert np.allclose(slope, -np.sin(2 * (x - 0.15)) * np.exp(-4 * NU * 0.5) / 2, atol=1e-8)
    when = np.array([0.2, 0.9])
    both = decaying.problem.jets.field("p")
    paired = decaying.paired_values(np.stack([x, y], axis=1), when, both)
    assert np.allclose(paired, [exact(a, b, t)[2] for a, b, t in zip(x, y, when, strict=True)], atol=1e-8)


def test_the_pressure_is_stored(decaying, tmp_path):
    file = decaying.save(tmp_path / "flow.npz") or tmp_path / "flow.npz"
    again = fp.load(file)
    assert np.allclose(again(1.0, 2.0, 0.6, field="p"), decaying(1.0, 2.0, 0.6, field="p"), atol=1e-9)
    slope = decaying(1.0, 2.0, 0.6, field="p", derivative="xt")
    assert np.allclose(again(1.0, 2.0, 0.6, field="p", derivative="xt"), slope, atol=1e-6)
    assert np.allclose(again(1.0, 2.0, 0.6, field="U"), decaying(1.0, 2.0, 0.6, field="U"), atol=1e-11)


def test_forces_with_a_mean_leave_no_potential():
    from frozenpinn.statement.multipliers import without_multipliers

    assert Potential.propose(without_multipliers(vortices())) is not None
    assert Potential.propose(without_multipliers(vortices(force=" + [1, 0]"))) is None


def test_walls_and_lids_have_conditions_of_their_own():
    lid = {"left": "U = 0", "right": "U = 0", "bottom": ["U[1] = 0", "dn(U[0]) = 0"], "top": ["U[0] = t", "U[1] = 0"]}
    problem = fp.Problem(FLOW, SQUARE, (0, 1), {"U": [0, 0]}, lid, vectors=("U",), parameters={"nu": NU})
    inner = without_constraints(problem)
    assert inner.fields == ("psi",)
    assert str(inner.equations[0].mass) == "{Jet(field='psi', alpha=(0, 0), laps=1, time=1, normal=0): -1}"
    orders = {(c.side.name, tuple(jet.alpha for jet in c.jets)) for c in inner.conditions}
    assert ("bottom", ((0, 2),)) in orders  # free slip
    assert ("top", ((0, 1),)) in orders
    assert len(inner.conditions) == 8


def test_the_driven_cavity_at_a_thousand_is_found_from_the_linear_terms():
    equations = ["advect(U, U) = -grad(p) + nu*lap(U)", "div(U) = 0"]
    lid = dict.fromkeys(("left", "right", "bottom"), "U = 0") | {"top": ["U[0] = 16*(x*(1 - x))^2", "U[1] = 0"]}
    cavity = fp.Problem(equations, SQUARE, boundary=lid, vectors=("U",), parameters={"nu": 1e-3})
    solution = fp.solve(cavity, settings=fp.Settings(width=(40, 40)))
    assert np.allclose(solution(0.6, 0.5, field="U"), [-0.061999, -0.056670], atol=2e-5)  # from (60, 60) on unchanged


@pytest.mark.parametrize(("number", "flux"), [(1e4, 2.2448), (1e5, 4.5216)])
def test_natural_convection_has_the_fluxes_of_the_benchmark(number, flux):
    equations = ["advect(U, U) = -grad(p) + Pr*lap(U) + [0, Ra*Pr*T]", "div(U) = 0", "advect(U, T) = lap(T)"]
    sides = {"left": ["U = 0", "T = 1"], "right": ["U = 0", "T = 0"]}
    sides |= {key: ["U = 0", "T_n = 0"] for key in ("bottom", "top")}
    problem = fp.Problem(equations, SQUARE, boundary=sides, vectors=("U",), parameters={"Ra": number, "Pr": 0.71})
    solution = fp.solve(problem, settings=fp.Settings(width=(34, 34)))
    assert float(solution.integral("-T_x", side="left")) == pytest.approx(flux, abs=1e-4)


def test_laplacians_are_found_where_they_make_terms_shorter():
    jets = JetSpace(["x", "y"])
    u = {alpha: jets.symbol(Jet("u", alpha)) for alpha in ((2, 0), (0, 2), (2, 2), (4, 0), (0, 4), (1, 0))}
    lap = jets.symbol(Jet("u", (0, 0), 1))
    assert with_laplacians(jets, u[2, 0] + u[0, 2]) == lap
    assert with_laplacians(jets, u[1, 0] * (u[4, 0] + u[2, 2])) == u[1, 0] * jets.symbol(Jet("u", (2, 0), 1))
    assert with_laplacians(jets, u[2, 0] - u[0, 2]) == u[2, 0] - u[0, 2]


def test_pages_have_the_pressure(decaying, tmp_path):
    from frozenpinn.output.page.modes import compressed

    x = PERIODIC.sample(1200, "random", 0).x
    drawn = compressed(decaying.pieces[0], "p", x, static=False)
    t = np.full(100, 0.6)
    assert np.allclose(drawn(x[:100], t), exact(*x[:100].T, 0.6)[2], atol=1e-4)
    decaying.page(tmp_path / "flow.html")
