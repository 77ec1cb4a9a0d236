"""Newton's method on products: written-out Jacobians and products with them lead to the same state."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.adaptivity.settings import Settings, Task
from frozenpinn.adaptivity.sizing import make_plan
from frozenpinn.adaptivity.tolerances import Tolerances
from frozenpinn.assembly.discretisation import discretise
from frozenpinn.assembly.stage import Stage
from frozenpinn.solvers import newton_krylov
from frozenpinn.solvers.newton_krylov import balance


def system_of(equation, width):
    problem = fp.Problem(equation, fp.Box([0, 0], [1, 1]), boundary="u = x*y")
    settings = Settings()
    plan = make_plan(problem, Task(settings, 0, Tolerances.of(None, None, settings.rules.search)), (width, width))
    spaces = plan.build_spaces(problem, plan.place_points(problem))
    return discretise(problem, spaces, stage=Stage((0.0, 0.0), {}, {}))


@pytest.mark.parametrize("equation", ["lap(u) + exp(u) = x", "lap(u) - u^3 + u_x*u = 1", "lap(u) + (1 + x*y)*u = 1"])
def test_few_coefficients_take_written_out_jacobians(monkeypatch, equation):
    system = system_of(equation, 8)
    assert system.size <= newton_krylov._SMALLEST

    def refused(*_arguments, **_named):
        raise AssertionError("GMRES")

    with monkeypatch.context() as changed:
        changed.setattr(newton_krylov, "gmres", refused)
        direct = balance(system, np.zeros(system.size), 1e-12, lambda: None)
    monkeypatch.setattr(newton_krylov, "_SMALLEST", 0)
    iterated = balance(system, np.zeros(system.size), 1e-12, lambda: None)
    assert np.linalg.norm(system.rhs(0.0, direct.state)) < 1e-9
    assert direct.state == pytest.approx(iterated.state, rel=1e-8, abs=1e-10)
