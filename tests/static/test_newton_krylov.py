"""Newton's method on products: equations in modes and as they are lead to the same state."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.discretisation import discretise
from frozenpinn.assembly.initial_data import Stage
from frozenpinn.operators.gmres import gmres
from frozenpinn.search.settings import Settings, Task, Tolerances
from frozenpinn.search.sizing import make_plan
from frozenpinn.static import newton_krylov
from frozenpinn.static.newton_krylov import balance

EQUATIONS = [
    "lap(u) + exp(u) = x",
    "lap(u) - u^3 + u_x*u = 1",
    "div((1 + u^2)*grad(u)) = 1",
    "lap(u) + 0.5*u_xy - u^3 = 1",
    "lap(u) + (1 + x*y)*u = 1",
]


def system_of(equation, width, boundary="u = x*y"):
    problem = fp.Problem(equation, fp.Box([0, 0], [1, 1]), boundary=boundary)
    settings = Settings()
    plan = make_plan(problem, Task(settings, 0, Tolerances.of(None, None, settings.rules.search)), (width, width))
    spaces = plan.product_spaces(problem, plan.place_points(problem))
    return discretise(problem, spaces, stage=Stage((0.0, 0.0), {}, {}))


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("width", [8, 16])
def test_modes_and_coefficients_lead_to_the_same_state(monkeypatch, equation, width):
    system = system_of(equation, width)
    found = balance(system, np.zeros(system.size), 1e-12, lambda: None)
    assert np.linalg.norm(system.rhs(0.0, found.state)) < 1e-8
    monkeypatch.setattr(newton_krylov, "is_modal", lambda *_: False)
    for smallest in (0, 1000):  # by GMRES, and by written-out Jacobians
        monkeypatch.setattr(newton_krylov, "_SMALLEST", smallest)
        other = balance(system, np.zeros(system.size), 1e-12, lambda: None)
        assert other.state == pytest.approx(found.state, rel=1e-8, abs=1e-9)


def test_coupled_fields_are_solved_in_their_modes():
    equations = ["lap(u) - u*v = 1", "lap(v) - v^3 + u^2 = x"]
    system = system_of(equations, 10, ["u = x", "v = y"])
    found = balance(system, np.zeros(system.size), 1e-12, lambda: None)
    assert np.linalg.norm(system.rhs(0.0, found.state)) < 1e-8


def test_gmres_solves_and_restarts():
    rng = np.random.default_rng(0)
    matrix, target = np.eye(30) + 0.1 * rng.normal(size=(30, 30)), rng.normal(size=30)
    for inner, restarts in ((30, 1), (8, 20)):
        found, left = gmres(matrix.__matmul__, target, 1e-10, inner, restarts)
        assert left <= 1e-10
        assert np.linalg.norm(matrix @ found - target) <= 2e-10 * np.linalg.norm(target)
    assert gmres(matrix.__matmul__, target, 1e-10, 2, 1)[1] > 1e-3
    assert np.all(gmres(matrix.__matmul__, np.zeros(30), 1e-10, 2, 1)[0] == 0)
