"""Unions, intersections, differences: what bounds them, exact measures, coinciding boundaries, names."""

import numpy as np
import pytest
from domain_shapes import CUBE, L_SHAPE
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn import ProblemError
from frozenpinn.geometry import (
    Ball,
    Box,
    Combination,
    ConvexPolytope,
    Disk,
    Extruded,
    Implicit,
    Interval,
    Polygon,
)
from frozenpinn.geometry.rare.columns import ScannedLines, column_rule, pattern


def lens_area(distance):
    """Return the area that two unit disks share."""
    return 2 * np.arccos(distance / 2) - distance / 2 * (4 - distance**2) ** 0.5


def names(domain):
    return [side.name for side in domain.sides]


def test_two_disks():
    first, second = Disk([0, 0]), Disk([1, 0])
    lens, both, moon = first & second, first | second, first - second
    assert lens.measure == pytest.approx(lens_area(1), rel=1e-7)
    assert both.measure == pytest.approx(2 * np.pi - lens_area(1), rel=1e-7)
    assert moon.measure == pytest.approx(np.pi - lens_area(1), rel=1e-7)
    third = 2 * np.pi / 3
    for domain, lengths in [(lens, (third, third)), (both, (2 * third, 2 * third)), (moon, (2 * third, third))]:
        assert names(domain) == ["boundary", "boundary 2"]
        found = [domain.sample_side(side, 400).weights.sum() for side in domain.sides]
        assert found == pytest.approx(lengths, rel=2e-3)
    hollow = moon.sample_side("boundary 2", 50)
    assert np.all(np.sum(hollow.normals * (np.array([1, 0]) - hollow.x), axis=1) > 0)


@given(st.floats(0.2, 1.8), st.floats(0, 2 * np.pi))
@settings(max_examples=15)
def test_inclusion_and_exclusion(distance, angle):
    """Also where the disks end at nearly the same x, which is the hardest for columns."""
    first, second = Disk(), Disk(distance * np.array([np.cos(angle), np.sin(angle)]))
    lens = (first & second).measure
    assert lens == pytest.approx(lens_area(distance), rel=1e-5)
    assert (first | second).measure == pytest.approx(2 * np.pi - lens, rel=1e-5)
    assert (first - second).measure == pytest.approx(np.pi - lens, rel=1e-5)


def test_polygons_and_boxes_are_combined_exactly():
    cut = Polygon(L_SHAPE) - Box([0.5, 0.5], [3, 3])
    assert cut.measure == pytest.approx(1.75, rel=1e-14)
    points = cut.sample(400)
    x, y = points.x.T
    assert points.weights @ (x**3 * y**4) == pytest.approx(4 * 0.5**5 / 5 + 0.5**4 / 4 * (2**5 - 0.5**5) / 5, rel=1e-12)
    two = Box([0, 0], [1, 1]) | Box([2, 0], [3, 1])  # in two pieces
    assert two.measure == pytest.approx(2)
    assert two.contains(np.array([[0.5, 0.5], [1.5, 0.5], [2.5, 0.5]])).tolist() == [True, False, True]
    nested = (Box([0, 0], [3, 3]) - Box([1, 1], [2, 2])) | Box([1.25, 1.25], [1.75, 1.75])
    assert nested.measure == pytest.approx(8.25)


def test_common_faces_are_no_boundary():
    """Two boxes side by side: the face between them is inside, faces in one plane are not counted twice."""
    domain = Box([0, 0], [1, 1]) | Box([1, 0], [2, 1])
    assert names(domain) == ["left", "bottom", "top", "right", "bottom 2", "top 2"]
    assert sum(domain.sample_side(side, 100).weights.sum() for side in domain.sides) == pytest.approx(6)
    overlapping = Box([0, 0], [2, 1]) | Box([1, 0], [3, 1])
    total = sum(overlapping.sample_side(side, 200).weights.sum() for side in overlapping.sides)
    assert total == pytest.approx(8, rel=1e-3)
    flush = Box([0, 0], [2, 1]) - Box([1, 0], [2, 1])
    assert flush.measure == pytest.approx(1)
    assert sum(flush.sample_side(side, 200).weights.sum() for side in flush.sides) == pytest.approx(4, rel=2e-3)


def test_a_common_face_of_a_part_that_is_cut_away():
    """The face x = 1 belongs to both boxes; only the second is there, so it must bound the result."""
    domain = (Box([0, 0], [1, 1]) & Box([-1, 0], [0.5, 1])) | Box([1, 0], [2, 1])
    total = sum(domain.sample_side(side, 200).weights.sum() for side in domain.sides)
    assert total == pytest.approx(3 + 4, rel=2e-3)
    assert domain.measure == pytest.approx(1.5)
    at_one = [side for side in domain.sides if np.allclose(domain.sample_side(side, 50).x[:, 0], 1)]
    assert len(at_one) == 1
    assert np.all(domain.sample_side(at_one[0], 50).normals == [-1, 0])


def test_many_holes():
    domain = Box([0, 0], [4, 4])
    for i in range(16):
        domain = domain - Disk([i // 4 + 0.5, i % 4 + 0.5], 0.2).named(f"hole {i}")
    assert len(domain.sides) == 20
    assert domain.measure == pytest.approx(16 - 0.64 * np.pi, rel=1e-12)
    hole = domain.sample_side("hole 6", 40)
    np.testing.assert_allclose(hole.normals, ([1.5, 2.5] - hole.x) / 0.2, atol=1e-12)


def test_differences_of_differences():
    """What is taken away twice comes back, with normals that point out of the result."""
    domain = Box([0, 0], [4, 4]) - (Disk([2, 2], 1.5) - Disk([2, 2], 0.5).named("core"))
    assert domain.measure == pytest.approx(16 - 2 * np.pi, rel=1e-12)
    core, moat = domain.sample_side("core", 60), domain.sample_side("boundary", 60)
    np.testing.assert_allclose(core.normals, (core.x - 2) / 0.5, atol=1e-12)
    np.testing.assert_allclose(moat.normals, (2 - moat.x) / 1.5, atol=1e-12)


def test_names_are_kept_and_made_distinct():
    plate = Box([0, 0], [4, 1]) - Disk([1, 0.5], 0.2) - Disk([3, 0.5], 0.2) - Disk([2, 0.5], 0.2).named("pin")
    assert names(plate) == ["left", "right", "bottom", "top", "boundary", "boundary 2", "pin"]
    assert plate.side("x-").name == "left"
    assert plate.sample_side("boundary 2", 20).x[:, 0] == pytest.approx(3, abs=0.21)
    cut = Box([0, 0], [1, 1]) & Box([-1, -1], [0.5, 2]).named("knife")
    assert names(cut) == ["left", "bottom", "top", "knife right"]


def test_sides_that_are_cut_away_are_gone():
    assert names(Box([0, 0], [1, 1]) - Box([0.5, -1], [2, 2])) == ["left", "bottom", "top", "left 2"]
    assert names(Box([0, 0], [1, 1]) | Disk([0.5, 0.5], 0.1)) == ["left", "right", "bottom", "top"]


def test_solids():
    pipe = Extruded(Disk() - Disk(radius=0.5), 0, 2)
    assert pipe.measure == pytest.approx(1.5 * np.pi, rel=1e-6)
    drilled = ConvexPolytope(CUBE) - Extruded(Disk([0.5, 0.5], 0.25), -1, 2).named("hole")
    assert names(drilled) == ["boundary", "hole boundary"]
    assert drilled.measure == pytest.approx(1 - np.pi / 16, rel=1e-4)
    lens = Ball([0, 0, 0]) & Ball([1, 0, 0])
    assert lens.measure == pytest.approx(5 * np.pi / 12, rel=1e-4)


def test_high_dimension():
    domain = Box([0] * 5, [1] * 5) - Ball([0] * 5, 0.8)
    assert domain.measure == pytest.approx(1 - 8 * np.pi**2 / 15 * 0.8**5 / 32, rel=2e-3)
    points = domain.sample(500)
    assert np.ptp(points.weights) == 0
    assert np.all(np.linalg.norm(points.x, axis=1) > 0.8)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Disk() & Disk([5, 0]), "is empty: the parts don't overlap"),
        (lambda: Disk() & Disk([1.5, 1.5], 1.0), "is empty: the parts don't overlap"),
        (lambda: Disk() - Disk(radius=2), "is empty: nothing is left"),
        (lambda: Disk() - Ball(), "only domains of equal dimension are combined; got 2 for Disk.* and 3 for Ball"),
        (lambda: Box([0, 0], [1, 1], periodic=[True, False]) - Disk(), "has periodic axes and can't be combined"),
        (lambda: Interval(0, 1) | Interval(2, 3), "intervals are not combined"),
        (
            lambda: Combination("xor", Disk(), Disk([1, 0])),
            "domains are combined by 'union', 'intersection', 'difference'",
        ),
    ],
)
def test_what_can_not_be_combined(build, words):
    with pytest.raises(ProblemError, match=words):
        build()


def test_other_objects_are_no_domains():
    for combine in (lambda: Disk() - 3, lambda: 3 - Disk(), lambda: "a" | Disk(), lambda: Disk() & None):
        with pytest.raises(ProblemError, match=r"a domain is combined with another domain, got (3|'a'|None)\."):
            combine()


# ---- columns -------------------------------------------------------------------------------------


def test_columns_find_intervals():
    lines = ScannedLines(lambda x: (np.abs(x[:, 1]) > 0.5) & (np.abs(x[:, 1]) < 0.75), -1.0, 1.0)
    line, start, end = lines.intervals(np.array([[0.0], [3.0]]))
    assert line.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(start, [-0.75, 0.5] * 2, atol=1e-13)
    np.testing.assert_allclose(end, [-0.5, 0.75] * 2, atol=1e-13)
    assert lines.count(np.array([[0.0]])).tolist() == [2]
    assert lines.intervals(np.empty((0, 1)))[0].shape == (0,)


def test_columns_converge_fast_for_smooth_shapes():
    """A disk that knows nothing but its inside: square roots at the ends don't spoil the rule."""
    lines = ScannedLines(lambda x: np.sum(x**2, axis=1) < 1, -1.0, 1.0)
    exact = Disk().sample(2000)
    reference = exact.weights @ np.exp(exact.x[:, 0] + 2 * exact.x[:, 1])
    x, weights = column_rule(lines, np.array([-1.0, -1.0]), np.array([1.0, 1.0]), np.array([0.1, 0.1]))
    assert weights @ np.exp(x[:, 0] + 2 * x[:, 1]) == pytest.approx(reference, rel=1e-11)
    assert weights.sum() == pytest.approx(np.pi, rel=1e-12)


def test_patterns():
    rows = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 1, 3, 1], [0, 3, 1, 3]])
    found = pattern(rows)
    assert found[0] == found[1] == found[2]
    assert len(set(found.tolist())) == 3


def test_implicit_parts():
    half = Implicit("x^2 + y^2 - 1", [-1.2, -1.2], [1.2, 1.2]) & Box([0, -2], [2, 2])
    assert half.measure == pytest.approx(np.pi / 2, rel=1e-9)
    assert names(half) == ["boundary", "left"]
