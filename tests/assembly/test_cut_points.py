import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.cut_points import cut_points, parts_between_jumps

ROOM = fp.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])


def with_source(domain, source, initial="0"):
    return fp.Problem(f"u_t = lap(u) + {source}", domain, (0, 1), initial, "u_n = 0")


@pytest.mark.parametrize(
    ("source", "inside", "area"),
    [
        (
            "where((x - 0.5)**2 + (y - 0.5)**2 < 0.09, 1, 0)",
            lambda x, y: np.hypot(x - 0.5, y - 0.5) < 0.3,
            np.pi * 0.09,
        ),
        (
            "where((x - 0.5)**2 + (y - 0.5)**2 < 1e-6, 1, 0)",
            lambda x, y: np.hypot(x - 0.5, y - 0.5) < 1e-3,
            np.pi * 1e-6,
        ),
        ("where(x < 0.3, 1, 0)", lambda x, y: x < 0.3, 0.6),
        ("where(x > 0.8 and y > 0.3, 1, 0)", lambda x, y: (x > 0.8) & (y > 0.3), 0.2 * 1.7 + 0.7),
    ],
)
def test_areas_on_both_sides_of_a_jump_are_right(source, inside, area):
    points = cut_points(with_source(ROOM, source), 800)
    found = points.weights[inside(*points.x.T)].sum()
    assert found == pytest.approx(area, rel=1e-4)
    assert points.weights.sum() == pytest.approx(3.0)
    assert 500 < len(points.x) < 1600


def test_jumps_of_initial_data_and_coefficients_cut_too():
    spot = "where(x**2 + y**2 + z**2 < 0.25, 1, 0)"
    for problem in (
        fp.Problem("u_t = lap(u)", fp.Ball((0, 0, 0), 1), (0, 1), spot, "u_n = 0"),
        fp.Problem(f"u_t = lap(u) - {spot}*u", fp.Ball((0, 0, 0), 1), (0, 1), "1", "u_n = 0"),
    ):
        inner, outer = sorted(part.measure for part in parts_between_jumps(problem))
        assert inner == pytest.approx(np.pi / 6, rel=1e-3)
        assert outer == pytest.approx(4 * np.pi / 3 - np.pi / 6, rel=1e-3)


def test_domains_without_jumps_are_whole():
    assert cut_points(with_source(ROOM, "exp(-x)"), 100) is None
    assert cut_points(with_source(ROOM, "where(x < 3, 1, 0)"), 100) is None
    assert cut_points(with_source(ROOM, "where(x < t, 1, 0)"), 100) is None
    periodic = fp.Box((0, 0), (1, 1), periodic=True)
    assert cut_points(fp.Problem("u_t = lap(u) + where(x < 0.3, 1, 0)", periodic, (0, 1), "0"), 100) is None


@pytest.mark.filterwarnings("ignore:the forcing of u jumps", "ignore:the solution")
def test_the_heat_of_a_source_with_hard_edges_is_right():
    room = with_source(ROOM, "10*where((x - 0.5)**2 + (y - 0.5)**2 < 0.09, 1, 0)")
    solution = fp.solve(room, settings=fp.Settings(width=200))
    assert solution.integral(t=1, rtol=1e-6) == pytest.approx(0.9 * np.pi, rel=1e-3)


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_an_insulated_room_of_two_materials_keeps_its_heat():
    metal = "where((x - 0.4137)**2 + (y - 0.43)**2 < 0.09, 100, 1)"
    room = fp.Problem(f"u_t = div({metal}*grad(u))", ROOM, (0, 0.1), "1 + exp(-20*((x - 0.2)**2 + y**2))", "u_n = 0")
    solution = fp.solve(room, settings=fp.Settings(width=200))
    heat = [float(solution.integral(t=t, rtol=1e-4)) for t in (0, 0.1)]
    assert heat[1] == pytest.approx(heat[0], abs=2e-3)
