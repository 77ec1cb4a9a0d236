"""Free plates, also with corners, plates that are held at a point, and fibres whose index jumps on a circle."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import iv, jv, kv

import frozenpinn as fp

BENDING = "nu*lap(w) + (1 - nu)*(nx^2*w_xx + 2*nx*ny*w_xy + ny^2*w_yy) = 0"
FORCE = (
    "dn(lap(w)) + (1 - nu)*(nx*ny^2*w_xxx + (ny^3 - 2*nx^2*ny)*w_xxy + (nx^3 - 2*nx*ny^2)*w_xyy + nx^2*ny*w_yyy"
    " + (ny^2 - nx^2)*(w_xx - w_yy) - 4*nx*ny*w_xy) = 0"
)  # on the unit circle
ALONG_X = ["w_xx + nu*w_yy = 0", "w_xxx + (2 - nu)*w_xyy = 0"]
ALONG_Y = ["w_yy + nu*w_xx = 0", "w_yyy + (2 - nu)*w_xxy = 0"]
SIDES = {"left": ALONG_X, "right": ALONG_X, "bottom": ALONG_Y, "top": ALONG_Y}
CORNERS = [f"w_xy({x}, {y}) = 0" for x in (0, 1) for y in (0, 1)]
NUMBERS = {"lam": fp.Eigenvalue(), "nu": 0.3}


def test_a_free_disk():
    """Its first axisymmetric value is a root of a determinant of Bessel functions."""

    def moment(k, nu=0.3):
        c = -jv(1, k) / iv(1, k)
        return k**2 * (jv(1, k) / k - jv(0, k) + c * (iv(0, k) - iv(1, k) / k)) + nu * k * (c * iv(1, k) - jv(1, k))

    exact = brentq(moment, 2.5, 3.5, xtol=1e-14) ** 4
    found = fp.modes(
        fp.Problem("lap(lap(w)) = lam*w", fp.Disk(), boundary=[BENDING, FORCE], parameters=NUMBERS), 1, near=80.0
    )
    assert found.values[0] == pytest.approx(exact, rel=1e-9)
    assert abs(found.values[0] - exact) < 10 * found.errors[0] + 1e-12 * exact


def test_a_free_square():
    """Without forces on its corners; the frequencies of the literature (Leissa 1973; Liew, Wang, Kitipornchai 1998)."""
    square = fp.Problem(
        "lap(lap(w)) = lam*w", fp.Box([0, 0], [1, 1]), boundary=SIDES, constraint=CORNERS, parameters=NUMBERS
    )
    found = fp.modes(square, 9, near=200.0)
    frequencies = np.sqrt(np.sort(np.abs(found.values)))
    assert frequencies[:3] == pytest.approx(0.0, abs=1e-3)  # bodies that move and turn
    assert frequencies[3:] == pytest.approx([13.4682, 19.5961, 24.2702, 34.8009, 34.8009, 61.0932], rel=1e-5)


def test_points_that_are_held():
    """A plate that is held in the middle keeps the modes that vanish there, and loses the first."""
    held = fp.Problem(
        "lap(lap(w)) = lam*w",
        fp.Box([0, 0], [1, 1]),
        boundary=["w = 0", "lap(w) = 0"],
        constraint="w(0.5, 0.5) = 0",
        parameters=NUMBERS,
    )
    found = fp.modes(held, 2, near=25 * np.pi**4)
    assert found.values == pytest.approx([25 * np.pi**4] * 2, rel=1e-9)
    assert abs(found[0](0.5, 0.5)) < 1e-9


def guided(v, radius, order):
    """Return the square of the transverse wave number in the core, for a cladding of finite radius."""

    def mismatch(u):
        w, h = np.sqrt(v**2 - u**2), 1e-6
        ratio = kv(order, w * radius) / iv(order, w * radius)
        outside = [kv(order, w * r) - ratio * iv(order, w * r) for r in (1 - h, 1, 1 + h)]
        slope = u * (jv(order - 1, u) - jv(order + 1, u)) / 2
        return slope * outside[1] - jv(order, u) * (outside[2] - outside[0]) / (2 * h)

    return brentq(mismatch, 0.5, 0.97 * v) ** 2


def test_a_fibre_whose_index_jumps_on_a_circle():
    fibre = fp.Problem(
        "-lap(u) + V^2*where(x^2 + y^2 < 1, 0, 1)*u = lam*u",
        fp.Disk((0, 0), 2),
        boundary="u = 0",
        parameters={"lam": fp.Eigenvalue(), "V": 3.0},
    )
    found, exact = fp.modes(fibre, 3), np.array([guided(3.0, 2.0, m) for m in (0, 1, 1)])
    assert found.values == pytest.approx(exact, rel=1e-5)
    assert np.all(np.abs(found.values - exact) < 2 * found.errors)


def test_the_same_along_the_radius():
    fibre = fp.Problem(
        "-lap(u) + V^2*where(r < 1, 0, 1)*u = lam*u",
        fp.Interval(0, 6),
        boundary={"right": "u = 0"},
        coordinates="polar",
        parameters={"lam": fp.Eigenvalue(), "V": 3.0},
    )
    assert fp.modes(fibre, 1, tol=1e-8).values[0] == pytest.approx(guided(3.0, 6.0, 0), rel=1e-8)
