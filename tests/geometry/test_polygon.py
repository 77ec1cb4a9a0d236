"""Polygons and convex polytopes: sides, exact moments, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from domain_shapes import CUBE, L_SHAPE, circle
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn import ProblemError
from frozenpinn.geometry import ConvexPolytope, Polygon, Side

SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_sides_are_edges_by_number():
    domain = Polygon(L_SHAPE, sides={"inlet": [5], "wall": [0, 1]})
    assert [side.name for side in domain.sides] == ["inlet", "wall", "outer"]
    assert domain.sample_side("inlet", 20).x[:, 0] == pytest.approx(0)
    lengths = {side.name: domain.sample_side(side, 50).weights.sum() for side in domain.sides}
    assert lengths == pytest.approx({"inlet": 2, "wall": 3, "outer": 3})
    whole = Polygon(SQUARE, sides={"a": [0, 1], "b": [2, 3]})
    assert [side.name for side in whole.sides] == ["a", "b"]


def test_holes_are_sides():
    hole = [[0.2, 0.2], [0.4, 0.2], [0.3, 0.4]]
    one = Polygon(SQUARE, [hole])
    assert one.sides == (Side("outer"), Side("hole 1", ("hole",)))
    assert one.side("hole") == one.side("hole 1")
    two = Polygon(SQUARE, [hole, np.array(hole) + 0.5])
    assert [side.name for side in two.sides] == ["outer", "hole 1", "hole 2"]
    with pytest.raises(ProblemError, match="unknown side 'hole'; the sides are 'hole 1', 'hole 2', 'outer'"):
        two.side("hole")
    points = two.sample_side("hole 2", 30)
    centre = np.mean(hole, axis=0) + 0.5
    assert np.all(np.sum(points.normals * (centre - points.x), axis=1) > 0)  # out of the polygon, into the hole
    assert repr(two).startswith("Polygon(4 vertices, 2 holes, area 0.96")


@pytest.mark.parametrize("order", [1, -1])
def test_either_way_round(order):
    domain = Polygon(L_SHAPE[::order])
    assert domain.measure == pytest.approx(3)
    points = domain.sample_side("outer", 60)
    assert points.weights @ np.sum(points.normals * points.x, axis=1) == pytest.approx(6)  # ∮ x·n = 2·area


def test_edges_get_points_in_proportion_and_none_in_corners():
    points = Polygon([[0, 0], [10, 0], [10, 1], [0, 1]]).sample_side("outer", 44)
    assert len(points) == 44
    on_long = np.isin(points.x[:, 1], [0, 1])
    assert np.sum(on_long) == 40
    for corner in [[0, 0], [10, 0], [10, 1], [0, 1]]:
        assert np.min(np.linalg.norm(points.x - corner, axis=1)) > 1e-3
    assert len(Polygon(circle(50)).sample_side("outer", 10)) == 100  # at least two per edge


@given(st.integers(3, 9), st.integers(0, 10_000), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=60)
def test_moments_of_stars_by_greens_theorem(corners, seed, p, q):
    """∫ x^p y^q = ∮ x^(p+1)/(p+1) y^q n_x, both by the rules, and by the exact boundary integral."""
    star = circle(corners) * np.random.default_rng(seed).uniform(0.4, 1.0, (corners, 1))
    domain = Polygon(star)
    inside, around = domain.sample(800), domain.sample_side("outer", 200)
    area = inside.weights @ (inside.x[:, 0] ** p * inside.x[:, 1] ** q)
    x, y = around.x.T
    assert area == pytest.approx(around.weights @ (around.normals[:, 0] * x ** (p + 1) * y**q) / (p + 1), abs=1e-13)
    a, b = star, np.roll(star, -1, axis=0)
    shoelace = np.sum(a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]) / 2
    assert domain.measure == pytest.approx(shoelace, rel=1e-12)


@pytest.mark.parametrize("n", [40, 500, 5000])
def test_degree_seven_is_exact_when_points_allow_it(n):
    points = Polygon(L_SHAPE).sample(max(n, 4 * 16))
    x, y = points.x.T
    assert points.weights @ (x**4 * y**3) == pytest.approx((2**5 - 0) / 5 * 1 / 4 + 1 / 5 * (2**4 - 1) / 4, rel=1e-12)
    assert 0.6 < len(points) / max(n, 64) < 1.7


def test_points_spread_over_thin_and_large_parts():
    domain = Polygon([[0, 0], [10, 0], [10, 0.1], [1, 0.1], [1, 1], [0, 1]])
    x = domain.sample(2000).x
    gaps = np.diff(np.sort(x[x[:, 0] > 1.2, 0]))
    assert np.max(gaps) < 0.4


def test_jagged_polygons():
    """A saw of 3000 teeth: few points are still few, and inside tests go through an index."""
    rng = np.random.default_rng(0)
    saw = circle(3000) * rng.uniform(0.9, 1.1, (3000, 1))
    domain = Polygon(saw)
    points = domain.sample(500)
    assert 300 < len(points) < 1200
    assert np.all(domain.contains(points.x))
    assert points.weights @ np.sum(points.x**2, axis=1) / domain.measure == pytest.approx(0.5, rel=0.03)
    assert np.all(domain.contains(saw))
    assert not np.any(domain.contains(saw, -1e-9))
    radius = rng.uniform(0.5, 1.3, (1000, 1))
    x = radius * circle(1000)
    inside = domain.contains(x, 0.0)
    assert np.all(inside[radius[:, 0] < 0.9])
    assert not np.any(inside[radius[:, 0] > 1.1])
    side = domain.sample_side("outer", 100)
    assert len(side) == 100
    assert np.all(domain.contains(side.x))


def test_vertices_along_straight_edges_and_very_close_ones():
    edge = np.column_stack([np.linspace(0, 1, 50, endpoint=False), np.zeros(50)])
    domain = Polygon(np.concatenate([edge, [[1, 0], [1, 1], [0.5 + 1e-9, 1], [0.5, 1], [0, 1]]]))
    assert domain.measure == pytest.approx(1)
    assert domain.sample_side("outer", 400).weights.sum() == pytest.approx(4)
    fine = Polygon(circle(20_000))
    assert fine.measure == pytest.approx(np.pi, rel=1e-7)


@pytest.mark.parametrize(
    ("vertices", "holes", "sides", "words"),
    [
        ([[0, 0], [1, 1], [1, 0], [0, 1]], (), None, r"crosses or touches itself: Self-intersection at \(0\.5 0\.5\)"),
        ([[0, 0], [1, 0]], (), None, "the polygon needs at least 3 vertices, got 2"),
        ([[0, 0], [1, 0], [1, 1], [0, 0]], (), None, r"repeats its first vertex \(0, 0\) at the end; leave the last"),
        ([[0, 0], [1, 0], [1, 1], [1, 0], [0, 1]], (), None, r"has the vertex \(1, 0\) more than once"),
        ([[0, 0], [1, 1], [2, 2]], (), None, "the outer ring crosses|no area"),
        ([[0, 0], [1, np.nan], [0, 1]], (), None, r"must be finite; row 1 is \(1, nan\)"),
        (
            [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
            (),
            None,
            r"have the shape \(n, 2\), one row per point; got shape \(3, 3\)",
        ),
        ([[0, 0], [1]], (), None, "are rows of numbers, all of the same length"),
        ("square", (), None, "are rows of numbers"),
        (SQUARE, [[[2, 2], [3, 2], [3, 3]]], None, "hole 1 is not inside the outer ring, or touches it"),
        (SQUARE, [[[0, 0.2], [0.5, 0.2], [0.5, 0.5]]], None, "hole 1 is not inside the outer ring, or touches it"),
        (
            SQUARE,
            [[[0.1, 0.1], [0.5, 0.1], [0.5, 0.5]], [[0.4, 0.2], [0.8, 0.2], [0.8, 0.4]]],
            None,
            "holes 1 and 2 touch",
        ),
        (SQUARE, [[[0.1, 0.1], [0.5, 0.5], [0.5, 0.1], [0.1, 0.5]]], None, "hole 1 crosses or touches itself: Self"),
        (SQUARE, [[[0.1, 0.1], [0.5, 0.1]]], None, "hole 1 needs at least 3 vertices, got 2"),
        (SQUARE, (), {"a": [4]}, "the side 'a' names edge 4; the edges are numbered 0 to 3"),
        (SQUARE, (), {"a": [0], "b": [1, 0]}, "edge 0 belongs to the sides 'a' and 'b'; choose one"),
        (SQUARE, (), {"a": []}, r"the side 'a' needs a list of numbers of edges such as \[0, 1\], got \[\]"),
        (SQUARE, (), {"a": [0.5]}, "needs a list of numbers of edges"),
        (SQUARE, (), {"outer": [0]}, "'outer' is the name of the edges that have no other"),
    ],
)
def test_what_is_no_polygon(vertices, holes, sides, words):
    with pytest.raises(ProblemError, match=words):
        Polygon(vertices, holes, sides)


def test_shapely_is_optional():
    """Without shapely polygons say what to install; polytopes and combinations of boxes work."""
    program = (
        "import sys; sys.modules['shapely'] = None\n"
        "from frozenpinn.geometry import *\n"
        "cut = Box([0, 0], [2, 2]) - Box([1, 1], [2, 2])\n"
        "assert abs(cut.measure - 3) < 1e-9, cut.measure\n"
        "assert ConvexPolytope([[0, 0], [1, 0], [0, 1]]).measure == 0.5\n"
        "Polygon([[0, 0], [1, 0], [0, 1]])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert "MissingExtraError: polygons need the package shapely; in a clone of frozenpinn, write: " in done.stderr
    assert "pip install '.[geometry]'" in done.stderr


# ---- convex polytopes ----------------------------------------------------------------------------


def test_polytope_with_coplanar_facets_and_inner_points():
    rng = np.random.default_rng(0)
    inner = rng.uniform(0.1, 0.9, (30, 3))
    domain = ConvexPolytope(np.concatenate([CUBE, inner, [[0.5, 0.5, 0.0]]]))
    assert domain.measure == pytest.approx(1, rel=1e-13)
    assert len(domain.corners) == 8
    points = domain.sample_side("boundary", 600)
    assert points.weights.sum() == pytest.approx(6, rel=1e-13)
    assert np.all(np.max(np.abs(points.normals), axis=1) > 1 - 1e-12)
    x = domain.sample(2000)
    assert x.weights @ (x.x[:, 0] ** 4 * x.x[:, 1] ** 2 * x.x[:, 2]) == pytest.approx(1 / 30, rel=1e-12)
    assert repr(domain) == "ConvexPolytope(8 corners in 3-d, measure 1)"


@given(st.integers(4, 30), st.integers(0, 1000), st.sampled_from([2, 3]))
@settings(max_examples=40)
def test_polytopes_contain_convex_combinations(n, seed, d):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    domain = ConvexPolytope(points)
    shares = rng.dirichlet(np.ones(n), 50)
    assert np.all(domain.contains(shares @ points))
    assert np.all(domain.contains(points))
    beyond = domain.sample_side("boundary", 40)
    assert not np.any(domain.contains(beyond.x + 1e-5 * beyond.normals))


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([[0, 0], [1, 1]], "a convex polytope in 2-d needs at least 3 points, got 2"),
        ([[0, 0], [1, 1], [2, 2]], "the points of the polytope lie in a line: its measure is zero"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "lie in a plane: its measure is zero"),
        ([[0] * 4] * 6, "convex polytopes have two or three dimensions, got points with 4 coordinates"),
        ([[0, 0], [1, np.inf], [1, 1]], "must be finite; row 1"),
    ],
)
def test_what_is_no_polytope(points, words):
    with pytest.raises(ProblemError, match=words):
        ConvexPolytope(points)
