"""Sides by comparison, and other names for sides."""

import numpy as np
import pytest

from frozenpinn import EvaluationError, ProblemError
from frozenpinn.errors import ExpressionError
from frozenpinn.geometry import Ball, Box, Disk, FlatSide, Interval, Polygon


def names(domain):
    return [side.name for side in domain.sides]


# ---- comparisons ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "where",
    [
        "x > 0.5",
        "0.5 < x",
        "2*x >= 1",
        "x > 0.5 and y < 9",
        "9 > x > 0.5 & y > -9",
        lambda x, y: x > 0.5,
        lambda points: points[:, 0] > 0.5,
        lambda y, x: 1 * (x > 0.5),
    ],
)
def test_ways_to_say_where(where):
    domain = Disk().with_sides(hot=where)
    assert names(domain) == ["hot", "boundary"]
    hot, rest = domain.sample_side("hot", 200), domain.sample_side("boundary", 200)
    assert np.all(hot.x[:, 0] > 0.5)
    assert np.all(rest.x[:, 0] <= 0.5)
    assert hot.weights.sum() == pytest.approx(2 * np.pi / 3, rel=1e-3)
    assert rest.weights.sum() == pytest.approx(4 * np.pi / 3, rel=1e-3)
    assert abs(len(hot) - 200) < 20
    np.testing.assert_allclose(hot.normals, hot.x, atol=1e-12)


def test_the_first_that_holds_decides():
    domain = Disk().with_sides(first="x > 0", second="y > 0")
    assert names(domain) == ["first", "second", "boundary"]
    lengths = [domain.sample_side(side, 300).weights.sum() for side in domain.sides]
    assert lengths == pytest.approx([np.pi, np.pi / 2, np.pi / 2], rel=1e-3)


def test_a_box_loses_flatness_only_where_it_is_cut():
    domain = Box([0, 0], [2, 1]).with_sides(inlet="x < 0.5 & y > 0.5")
    assert names(domain) == ["inlet", "left", "right", "bottom", "top"]
    assert not isinstance(domain.side("left"), FlatSide)
    assert isinstance(domain.side("right"), FlatSide)
    assert domain.side("y-") == FlatSide("bottom", ("y-",), 1, 0)
    inlet = domain.sample_side("inlet", 100)
    assert inlet.weights.sum() == pytest.approx(1)
    assert {tuple(n) for n in inlet.normals.tolist()} == {(-1, 0), (0, 1)}
    assert domain.sample_side("left", 100).weights.sum() == pytest.approx(0.5)
    assert domain.sample([4, 5]).axes[0].shape == (4,)  # still a box inside


def test_whole_sides_may_be_taken():
    domain = Box([0, 0, 0], [1, 1, 1]).with_sides({"the floor": "z < 1e-9"}, lid="z > 1 - 1e-9")
    assert names(domain) == ["the floor", "lid", "left", "right", "bottom", "top"]
    assert domain.sample_side("lid", 49).weights.sum() == pytest.approx(1)
    interval = Interval(0, 1).with_sides(end="x > 0.5")
    assert names(interval) == ["end", "left"]
    assert interval.sample_side("end", 1).x.tolist() == [[1.0]]


def test_periodic_boxes_keep_their_axes():
    domain = Box([0, 0], [2, 1], periodic=[True, False]).with_sides(heated="y > 0.5 & x < 1")
    assert domain.periodic == (True, False)
    assert names(domain) == ["heated", "bottom", "top"]
    assert domain.wrap(np.array([[2.5, 0.5]])).tolist() == [[0.5, 0.5]]


def test_sides_of_solids():
    cap = Ball().with_sides(cap="z > 0.5")
    assert cap.sample_side("cap", 500).weights.sum() == pytest.approx(np.pi, rel=5e-3)
    assert cap.measure == Ball().measure
    assert repr(cap) == "Ball(center (0, 0, 0), radius 1).with_sides(cap='z > 0.5')"


@pytest.mark.parametrize(
    ("sides", "error", "words"),
    [
        ({"a": "x > 5"}, ProblemError, r"the side 'a' \('x > 5'\) matches no point of the boundary of Disk"),
        ({"a": "x > 0", "b": "x > 0.5"}, ProblemError, "the side 'b' .* that no earlier side matches"),
        ({"a": "x"}, ExpressionError, "the side 'a' is 'x', which compares nothing; write for example 'x < 0.1'"),
        ({"a": "x > q"}, ExpressionError, "unknown name 'q'"),
        ({"a": "x > 0 and"}, ExpressionError, "compares nothing"),
        ({"a": "x > __import__"}, ExpressionError, "names with '__' are refused"),
        ({"a": "x > t"}, ProblemError, "depends on t"),
        ({"a": lambda x, t: x > t}, ProblemError, "depends on t"),
        ({"a": lambda x, y: x}, EvaluationError, "it must return True or False for each point"),
        ({"a": lambda x, y: [True]}, EvaluationError, "returned an array of shape"),
        ({"a": 3}, ProblemError, "is a comparison such as 'x < 0.1' or a function of the coordinates, got int: 3"),
        ({}, ProblemError, "no side was given; write for example"),
        ({"boundary": "x > 0"}, ProblemError, "'boundary' is already a side, and a part of it would keep the name"),
    ],
)
def test_what_is_no_side(sides, error, words):
    with pytest.raises(error, match=words):
        Disk().with_sides(sides)


# ---- names ---------------------------------------------------------------------------------------


def test_other_names():
    assert names(Disk().named("rim")) == ["rim"]
    box = Box([0, 0], [1, 1]).named("wing")
    assert names(box) == ["wing left", "wing right", "wing bottom", "wing top"]
    assert isinstance(box.side("wing x-"), FlatSide)
    assert box.sample_side("wing left", 5).x[:, 0] == pytest.approx(0)
    assert repr(Disk().named("rim")) == "Disk(center (0, 0), radius 1).named('rim')"
    holes = Polygon([[0, 0], [4, 0], [4, 4], [0, 4]], [[[1, 1], [2, 1], [2, 2]]]).named("plate")
    assert names(holes) == ["plate outer", "plate hole 1"]
    assert holes.side("plate hole") == holes.side("plate hole 1")


def test_wrong_names():
    with pytest.raises(ProblemError, match="a side needs a name such as 'hole', got ''"):
        Disk().named("")
    with pytest.raises(ProblemError, match="has no sides to be named"):
        Interval(0, 1, periodic=True).named("end")
