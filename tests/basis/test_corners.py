"""Singular functions of corners: derivatives, branch cuts, use in a layer and in storage."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.corners import Corner, Power, SingularFunctions
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term

L_SHAPE = [(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)]
#: The corner of the L-shape at the origin: from the direction of the positive y axis through 3π/2.
CORNER = Corner(0.0, 0.0, np.pi / 2, 3 * np.pi / 2)


def inside(n=200):
    return fp.Polygon(L_SHAPE).sample(n, "random", 1).x


def test_a_function_is_r_to_the_power_times_the_sine():
    x = inside()
    r, theta = np.hypot(*x.T), np.mod(np.arctan2(x[:, 1], x[:, 0]) - np.pi / 2, 2 * np.pi)
    sine = SingularFunctions.of([CORNER], [1.0], [np.pi / 2])(x, (0, 0))[:, 0]
    cosine = SingularFunctions.of([CORNER], [1.0], [0.0])(x, (0, 0))[:, 0]
    assert np.max(theta) <= 3 * np.pi / 2 + 1e-12
    assert sine == pytest.approx(r ** (2 / 3) * np.sin(2 / 3 * theta), abs=1e-13)
    assert cosine == pytest.approx(r ** (2 / 3) * np.cos(2 / 3 * theta), abs=1e-13)


def test_it_vanishes_on_both_edges():
    s = np.linspace(0.1, 1, 5)
    edges = np.concatenate([np.stack([0 * s, s], 1), np.stack([s, 0 * s], 1)])
    assert np.max(np.abs(SingularFunctions.of([CORNER], [1, 2], [np.pi / 2])(edges, (0, 0)))) < 1e-14


@pytest.mark.parametrize("alpha", [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)])
def test_derivatives_against_differences(alpha):
    x = inside()
    x = x[np.hypot(*x.T) > 0.3]
    functions = SingularFunctions.of([Corner(0.05, 0.03, 1.7, 4.6)], [0.5, 1.0, 2.0], [0.0, np.pi / 2])
    axis = 0 if alpha[0] else 1
    lower = tuple(a - (i == axis) for i, a in enumerate(alpha))
    h = 1e-5 * np.eye(2)[axis]
    difference = (functions(x + h, lower) - functions(x - h, lower)) / 2e-5
    assert functions(x, alpha) == pytest.approx(difference, rel=1e-7, abs=1e-7)


def test_it_is_harmonic_and_whole_powers_are_left_out():
    x = inside()
    functions = SingularFunctions.of([CORNER], [1, 2, 3, 4], [np.pi / 2])
    assert len(functions) == 3  # 2/3, 4/3, 8/3; not 2
    laplacian = functions(x, (2, 0)) + functions(x, (0, 2))
    assert np.max(np.abs(laplacian)) <= 1e-12 * np.max(np.abs(functions(x, (2, 0))))
    assert not np.any(functions(x, (0, 0), 1))


def test_derivatives_at_the_corner_are_finite():
    values = SingularFunctions.of([CORNER], [1.0], [np.pi / 2])(np.zeros((1, 2)), (1, 0))
    assert np.all(np.isfinite(values))


def test_a_layer_with_singular_functions():
    rng = np.random.default_rng(0)
    plain = HiddenLayer(rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), np.zeros(5))
    functions = SingularFunctions.of([CORNER], [1, 2], [np.pi / 2])
    layer = HiddenLayer(plain.weights, plain.origins, plain.offsets, singular=functions)
    x = inside(7)
    assert (layer.width, layer.size) == (5, 8)
    assert layer.features(x)[:, :6] == pytest.approx(plain.features(x))
    assert layer.features(x)[:, 6:] == pytest.approx(functions(x, (0, 0)))
    terms = [
        Term("u", Derivative((1, 0)), x[:, 1]),
        Term("u", Derivative((0, 0), 1), 2.0),
        Term("u", Derivative((0, 0))),
    ]
    expected = x[:, 1:] * functions(x, (1, 0)) + functions(x, (0, 0))
    assert layer.operator(x, terms)[:, 6:] == pytest.approx(expected)
    assert layer.operator(x, terms)[:, :6] == pytest.approx(plain.operator(x, terms))


@pytest.mark.parametrize(
    ("domain", "openings"),
    [
        (fp.Polygon([(0, 0), (1, 0), (1, 1), (0, 1)]), []),
        (fp.Polygon(L_SHAPE), [1.5]),
        (fp.Polygon(L_SHAPE[::-1]), [1.5]),
        (fp.Box([0, 0], [3, 3]) - fp.Box([1, 1], [2, 2]), [1.5] * 4),
        (fp.Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], holes=[[(1, 1), (2, 1), (1.5, 2)]]), None),
        (fp.Disk(), []),
        (fp.Box([0, 0], [1, 1]), []),
    ],
)
def test_reentrant_corners_of_domains(domain, openings):
    found = [corner[3] / np.pi for corner in domain.reentrant_corners]
    if openings is None:
        assert len(found) == 3
        assert sum(found) == pytest.approx(6 - 1)  # the angles of the triangle, seen from outside
    else:
        assert found == pytest.approx(openings)
    for x, y, start, opening in domain.reentrant_corners:
        middle = start + opening / 2
        assert domain.contains(np.array([[x + 0.05 * np.cos(middle), y + 0.05 * np.sin(middle)]]))[0]
        outside = middle + np.pi
        assert not domain.contains(np.array([[x + 0.05 * np.cos(outside), y + 0.05 * np.sin(outside)]]))[0]


def layer_of(equation, conditions, **options):
    problem = fp.Problem(equation, fp.Polygon(L_SHAPE), (0, 0.01), 0, conditions, **options)
    return fp.solve(problem, settings=fp.Settings(width=60)).system.spaces[0].network.hidden


def test_which_problems_get_them():
    assert len(layer_of("u_t = lap(u)", "u = 0").singular) == 3  # 2/3, 4/3, 8/3
    assert len(layer_of("u_t = 2*u_xx + 2*u_yy", "u = 0").singular) == 3
    assert len(layer_of("u_t = lap(u)", "u_n = 0").singular) == 3
    assert layer_of("u_t = 2*u_xx + u_yy", "u = 0").singular is None
    assert layer_of("u_t = u_xx + u_yy + u_xy", "u = 0").singular is None
    robin = layer_of("u_t = lap(u)", "u + u_n = 0").singular
    assert {round(power, 6) for power in robin.table[:, 5]} >= {0.333333, 0.666667}


def test_solutions_with_corners_are_stored(tmp_path):
    problem = fp.Problem("u_t = lap(u)", fp.Polygon(L_SHAPE), (0, 0.1), "sin(pi*x)*sin(pi*y)*(2 + x)", "u = 0")
    solution = fp.solve(problem, settings=fp.Settings(width=100))
    solution.save(tmp_path / "l.fpinn")
    x = inside(30)
    for derivative in ("", "x", "yy"):
        before, after = (
            s(x[:, 0], x[:, 1], 0.05, derivative=derivative) for s in (solution, fp.load(tmp_path / "l.fpinn"))
        )
        assert after == pytest.approx(before, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("alpha", [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)])
def test_complex_powers_of_other_planes_against_differences(alpha):
    powers = [Power(0.7 + 0.4j, 0.0, 0, 0.0, 0.3 + 0.6j), Power(-0.3, 1.0, 1, np.pi / 2, 2j)]
    functions, x, h = SingularFunctions.at(CORNER, powers, 1.4), inside(), 1e-5
    x = x[np.hypot(*x.T) > 0.2]
    axis = int(alpha[0] == 0)
    lower = tuple(a - int(i == axis) for i, a in enumerate(alpha))
    step = h * np.eye(2)[axis]
    difference = (functions(x + step, lower) - functions(x - step, lower)) / (2 * h)
    assert functions(x, alpha) == pytest.approx(difference, rel=1e-7, abs=1e-7)


def test_laplacians_in_other_planes():
    x = inside()
    functions = SingularFunctions.at(CORNER, [Power(0.7 + 0.4j, 1.0, 0, 0.0, 0.3 + 0.6j)])
    assert functions(x, (0, 0), 1) == pytest.approx(functions(x, (2, 0)) + functions(x, (0, 2)), rel=1e-11)


def test_a_plane_of_its_own_makes_an_equation_zero():
    powers = [Power(2 / 3, 0.0, 0, phase, 2j) for phase in (0.0, np.pi / 2)]
    functions, x = SingularFunctions.at(CORNER, powers), inside()
    assert 4 * functions(x, (2, 0)) + functions(x, (0, 2)) == pytest.approx(np.zeros((len(x), 2)), abs=1e-10)


def test_short_tables_are_those_of_laplacians():
    functions, x = SingularFunctions.of([CORNER], [1.0], [np.pi / 2]), inside()
    assert np.array_equal(SingularFunctions(functions.table[:, :9])(x, (1, 0)), functions(x, (1, 0)))


@pytest.mark.parametrize(
    ("domain", "openings"),
    [
        (fp.Box([-1, -1], [1, 1]) - fp.Disk([0, 0], 0.4), [0.5] * 4),
        (fp.Box([-1, -1], [1, 1]) - fp.Disk([1, 1], 0.4), [0.5] * 3),
        (fp.Disk([0, 0], 2.0) - fp.Box([-1, -1], [1, 1]).named("inner"), [1.5] * 4),
        ((fp.Box([-1, -1], [1, 1]) | fp.Disk([1, 1], 0.4)).named("all"), [0.5] * 3),
    ],
    ids=["a hole", "a corner cut off", "a square hole", "a corner covered"],
)
def test_corners_that_curved_parts_leave(domain, openings):
    assert [corner[3] / np.pi for corner in domain.corners_beyond(0.0)] == pytest.approx(openings)
