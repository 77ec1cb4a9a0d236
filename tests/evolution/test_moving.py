"""Coordinates that move with thin fronts."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.moving import _steep_parts
from frozenpinn.language.jets import Jet
from frozenpinn.transforms.moving_frame import MovingFrame, can_move

FRAME = MovingFrame(0.2, (-1.0, -0.3, 0.4, 1.0), (0.0, 0.5, -0.2, 0.0))


def test_velocities_are_those_of_the_fronts_and_vanish_at_the_ends():
    knots = np.array(FRAME.knots)
    assert FRAME.velocity(knots) == pytest.approx(np.array(FRAME.speeds), abs=1e-13)
    for order in (1, 2):
        assert FRAME.velocity(knots, order) == pytest.approx(np.zeros(4), abs=1e-10)


def test_distances_change_by_a_half_at_most():
    xi = np.linspace(-1, 1, 2001)
    stretch = FRAME.stretch(xi, 0.2 + FRAME.longest)
    assert 0.5 - 1e-9 <= stretch.min() < 0.51
    assert stretch.max() <= 1.5 + 1e-9


def test_the_way_back_is_the_inverse():
    x, t = np.linspace(-1, 1, 101), 0.2 + 0.9 * FRAME.longest
    assert FRAME.position(FRAME.origin(x, t), t) == pytest.approx(x, abs=1e-13)
    assert FRAME.origin(x, 0.2) == pytest.approx(x, abs=1e-15)


@pytest.mark.parametrize(("order", "time"), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)])
def test_derivatives_obey_the_chain_rule(order, time):
    def w(xi, t, k, m):  # exp(2ξ + 3t)
        return 2.0**k * 3.0**m * np.exp(2 * xi + 3 * t)

    def u(x, t):
        return w(FRAME.origin(x, t), t, 0, 0)

    x, t, h = np.linspace(-0.9, 0.9, 13), 0.2 + 0.8 * FRAME.longest, 1e-4
    differences = {
        (0, 0): u(x, t),
        (1, 0): (u(x + h, t) - u(x - h, t)) / (2 * h),
        (2, 0): (u(x + h, t) - 2 * u(x, t) + u(x - h, t)) / h**2,
        (0, 1): (u(x, t + h) - u(x, t - h)) / (2 * h),
        (1, 1): (u(x + h, t + h) - u(x - h, t + h) - u(x + h, t - h) + u(x - h, t - h)) / (4 * h**2),
    }
    xi = FRAME.origin(x, t)
    terms = FRAME.terms(Jet("u", (order,), time=time), xi, t)
    found = sum(factor * w(xi, t, own.alpha[0], own.time) for own, factor in terms)
    assert found == pytest.approx(differences[order, time], rel=1e-4, abs=1e-4)


def test_close_places_are_one_front():
    x = np.linspace(0, 1, 1001)
    size = np.exp(-(((x - 0.3) / 0.01) ** 2)) + 0.5 * np.exp(-(((x - 0.7) / 0.01) ** 2))
    parts = _steep_parts(x, size, 0.1)
    assert [round(float(x[(a + b) // 2]), 1) for a, b in parts] == [0.3, 0.7]
    assert len(_steep_parts(x, size + np.exp(-(((x - 0.34) / 0.01) ** 2)), 0.1)) == 2


def travelling(thickness, text="u_t + u*u_x = nu*u_xx", **more):
    front = f"0.5 - 0.5*tanh((x + 0.3 - 0.5*t)/{thickness})"
    return fp.Problem(
        text,
        fp.Interval(-1, 1),
        (0, 1),
        f"0.5 - 0.5*tanh((x + 0.3)/{thickness})",
        f"u = {front}",
        parameters={"nu": thickness / 4} | more,
    )


@pytest.mark.parametrize("thickness", [1e-3, 1e-4])
def test_a_thin_front_that_travels_far(thickness, tmp_path):
    solution = fp.solve(travelling(thickness), tol=1e-3)
    assert solution.status == "converged"
    assert any(piece.view(MovingFrame) is not None for piece in solution.pieces)
    assert len(solution.pieces) < 12
    for t in (0.1, 0.5, 1.0):
        place = -0.3 + 0.5 * t
        x = np.concatenate([np.linspace(-1, 1, 101), place + thickness * np.linspace(-8, 8, 101)])
        exact = 0.5 - 0.5 * np.tanh((x - place) / thickness)
        assert np.max(np.abs(solution(x, t) - exact)) < 1e-3
        rate = 0.25 / thickness / np.cosh(np.clip((x - place) / thickness, -300, 300)) ** 2
        assert np.max(np.abs(solution(x, t, derivative="t") - rate)) < 5e-3 * np.max(rate)
    assert "coordinates move with thin fronts" in str(solution.report)
    assert "moving coordinates" in {name for name, _ in solution.decisions}
    solution.save(tmp_path / "front.fpinn")
    again = fp.load(str(tmp_path / "front.fpinn"))
    x, t = np.linspace(-0.2, 0.2, 50), np.linspace(0.3, 0.9, 50)
    assert again(x, t) == pytest.approx(solution(x, t), abs=1e-12)
    with pytest.raises(fp.EvaluationError, match="coordinates that move"):
        solution.page(str(tmp_path / "front.html"))


def test_what_can_move():
    assert can_move(travelling(1e-2))
    assert not can_move(travelling(1e-2, "u_t + u*u_x = nu*u_xx + f", f=lambda x, t: 0 * x))
    assert not can_move(fp.Problem("u_t + u*u_x = u_xx", fp.Interval(0, 1, periodic=True), (0, 1), "sin(2*pi*x)"))
    assert not can_move(fp.Problem("u_tt = u_xx - u**3", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", "0"))
