"""Powers of corners of systems, against the literature, and solutions that need them, against finite elements."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.corners import Corner
from frozenpinn.enrichments.wedges import wedge_at

L_SHAPE = fp.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])
SQUARE = fp.Box([0, 0], [1, 1])
STRESS = {"sigma": "lam*div(U)*identity + 2*mu*sym(grad(U))", "lam": 1.25, "mu": 1.0}
FREE = "dot(sigma, n) = 0"


def first(problem, highest=4.5):
    """Return what the first corner looks like, the re-entrant one of the L-shape."""
    corner = max(problem.domain.corners_beyond(0.0), key=lambda c: c[3])
    return wedge_at(problem, Corner(*corner), highest)


@pytest.mark.parametrize(
    ("problem", "powers", "strong"),
    [
        (fp.Problem("lap(u) = 1", L_SHAPE, boundary="u = 0"), [2 / 3, 4 / 3, 2, 8 / 3], True),
        (fp.Problem("div(sigma) - U = [0, 1]", L_SHAPE, boundary=FREE, parameters=STRESS), [0.544484, 0.908529], True),
        (fp.Problem("lap(lap(u)) = 1", SQUARE, boundary=["u = 0", "u_n = 0"]), [3.739593 + 1.119025j], False),
        (fp.Problem("lap(lap(u)) = 1", L_SHAPE, boundary=["u = 0", "u_n = 0"]), [1.544484, 1.908529], True),
        (fp.Problem("4*u_xx + u_yy = 1", SQUARE, boundary="u = 0"), [2.0, 4.0], False),
    ],
    ids=["Laplace", "elasticity", "plate", "plate on an L", "anisotropic"],
)
def test_powers(problem, powers, strong):
    found = first(problem)
    assert found.powers[: len(powers)] == pytest.approx(powers, abs=1e-6)
    assert found.is_strong is strong


def test_roots_of_the_symbol():
    assert first(fp.Problem("4*u_xx + u_yy = 1", SQUARE, boundary="u = 0")).roots == ((pytest.approx(2j), 1),)
    elastic = fp.Problem("div(sigma) = [0, 1]", SQUARE, boundary="U = 0", parameters=STRESS)
    assert first(elastic).roots == ((pytest.approx(1j), 2),)


def test_what_is_not_known():
    surplus = fp.Problem("u_xx + 2*u_yy = 1", SQUARE, boundary=["u = 0", "u_n = 0"])
    quasilinear = fp.Problem("u_xx + (2 + u**2)*u_yy = 1", SQUARE, boundary="u = 0")
    assert first(surplus) is None
    assert first(quasilinear) is None


def test_a_clamped_beam():
    """References: elements of degree 4 of scikit-fem on a mesh that is graded towards both corners."""
    boundary = {"left": "U = 0", "right": FREE, "bottom": FREE, "top": FREE}
    problem = fp.Problem("div(sigma) = [0, 0.01]", fp.Box([0, 0], [3, 1]), boundary=boundary, parameters=STRESS)
    beam = fp.solve(problem, tol=1e-3)
    x, y = np.array([3.0, 1.5, 0.1, 0.02]), np.array([0.5, 0.25, 0.9, 0.02])
    assert beam.status == "converged"
    across = [-0.486803935, -0.192272133, -0.0055512582, -0.0018687234]
    assert beam(x, y, field="Uy") == pytest.approx(across, abs=0.487e-3)
    assert beam(x[1:], y[1:], field="Ux") == pytest.approx([-0.0416831961, 0.00682925406, -0.00213834445], abs=4e-5)


def test_a_quadrilateral_plate_and_anisotropic_diffusion_converge():
    shape = fp.Polygon([(0, 0), (2, 0), (1.5, 1), (0.3, 1.2)])
    for equation, boundary in (("u_xx + 3*u_yy + u_xy = 1", "u = 0"), ("lap(lap(u)) = 1", ["u = 0", "u_n = 0"])):
        solution = fp.solve(fp.Problem(equation, shape, boundary=boundary), tol=1e-5)
        assert solution.status == "converged"
        assert "special functions" in solution.facts.features


def test_a_plate_with_a_hole_under_tension():
    """Corners of the square, unbounded stresses at two of them, and multipoles of the hole in one problem."""
    domain = fp.Box([-1, -1], [1, 1]) - fp.Disk([0, 0], 0.4).named("hole")
    boundary = {"left": "U = 0", "right": "dot(sigma, n) = [1, 0]", "top": FREE, "bottom": FREE, "hole": FREE}
    solution = fp.solve(fp.Problem("div(sigma) = [0, 0]", domain, boundary=boundary, parameters=STRESS), tol=1e-2)
    assert solution.status == "converged"
    assert float(solution(0.9, 0.3, field="Uy")) == pytest.approx(-float(solution(0.9, -0.3, field="Uy")), abs=2e-3)
