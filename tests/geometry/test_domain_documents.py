"""Domains as plain data: what is written is read again as the same domain; everything wrong is named."""

import json
import tomllib

import numpy as np
import pytest
from domain_shapes import SHAPES, shape

from frozenpinn import Problem, ProblemError
from frozenpinn.geometry import Box, Disk, Implicit, Interval, PointCloud, Polygon
from frozenpinn.statement.document import domain_from_dict, domain_to_dict, problem_from_dict, problem_to_dict

STORED = [*SHAPES]


@pytest.mark.parametrize("name", STORED)
def test_round_trip(name):
    domain = shape(name)
    document = json.loads(json.dumps(domain_to_dict(domain)))
    again = domain_from_dict(document)
    assert type(again) is type(domain)
    assert repr(again) == repr(domain)
    assert again.sides == domain.sides
    assert again.measure == domain.measure
    np.testing.assert_array_equal(again.sample(100).x, domain.sample(100).x)
    for side in domain.sides:
        first, second = domain.sample_side(side, 50), again.sample_side(side, 50)
        np.testing.assert_array_equal(first.x, second.x)
        np.testing.assert_array_equal(first.weights, second.weights)
    assert domain_to_dict(again) == domain_to_dict(domain)


def test_boxes_are_written_as_before():
    assert domain_to_dict(Interval(0, 1)) == {"lower": [0.0], "upper": [1.0], "periodic": [False]}
    assert isinstance(domain_from_dict({"lower": 0, "upper": 1}), Interval)
    box = domain_from_dict({"kind": "box", "lower": [0, 0], "upper": [1, 2], "periodic": [True, False]})
    assert (type(box), box.periodic) == (Box, (True, False))


def test_problem_files():
    document = tomllib.loads(
        """
        equation = "u_t = lap(u)"
        time = [0, 1]
        initial = "0"
        [boundary]
        left = "u = 0"
        [domain]
        kind = "difference"
        [[domain.parts]]
        lower = [0, 0]
        upper = [2, 1]
        [[domain.parts]]
        kind = "named"
        name = "hole"
        domain = {kind = "disk", center = [1, 0.5], radius = 0.25}
        """
    )
    domain = domain_from_dict(document["domain"])
    assert [side.name for side in domain.sides] == ["left", "right", "bottom", "top", "hole"]
    three = domain_from_dict({"kind": "union", "parts": [{"kind": "disk", "center": [i, 0]} for i in (0, 3, 6)]})
    assert three.measure == pytest.approx(3 * np.pi)


def test_mesh_files(tmp_path):
    meshio = pytest.importorskip("meshio")
    from domain_shapes import sphere_mesh

    vertices, faces = sphere_mesh(1)
    meshio.Mesh(vertices, [("triangle", faces)]).write(tmp_path / "ball.stl")
    assert domain_from_dict({"kind": "file", "file": str(tmp_path / "ball.stl")}).dimension == 3


def test_what_was_chosen_is_stored():
    cut = Implicit("x - 0.5", [0, 0], [1, 1], cut=True)
    assert domain_from_dict(domain_to_dict(cut)).measure == pytest.approx(0.5)
    x = Disk().sample(200, "sobol", rng=0).x
    for given in ({}, {"alpha": 0.6}):
        cloud = PointCloud(x, **given)
        again = domain_from_dict(domain_to_dict(cloud))
        assert again.alpha == cloud.alpha
        assert again.measure == cloud.measure


def test_python_functions_are_not_stored():
    level = Implicit(lambda x, y: x**2 + y**2 - 1, [-2, -2], [2, 2])
    with pytest.raises(TypeError, match="Python functions have no plain form"):
        domain_to_dict(level)
    with pytest.raises(TypeError, match="no plain form"):
        domain_to_dict(Disk().with_sides(a=lambda x, y: x > 0) - Box([0, 0], [1, 1]))


def test_problems_on_boxes_are_stored_as_before():
    problem = Problem("u_t = u_xx", Interval(0, 1), (0, 1), "x*(1 - x)", "u = 0")
    document = problem_to_dict(problem)
    assert document["domain"] == {"lower": [0.0], "upper": [1.0], "periodic": [False]}
    assert problem_from_dict(document).domain.upper.tolist() == [1.0]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (
            {"kind": "dsk"},
            r"unknown kind of domain 'dsk'; choose one of 'annulus', 'ball', 'box', .*Did you mean 'disk'\?",
        ),
        ({"kind": "disk", "radus": 1}, r"unknown key 'radus' of a domain of kind 'disk'; .*Did you mean 'radius'\?"),
        ({"kind": "polygon"}, "a domain of kind 'polygon' needs the key 'vertices'"),
        ({"kind": "union", "parts": [{"kind": "disk"}]}, "a list of two domains or more"),
        ({"kind": "difference", "parts": "all"}, "a list of two domains or more; got 'all'"),
        ({"kind": "implicit", "function": 3, "lower": [0, 0], "upper": [1, 1]}, "is text such as"),
        (
            {"kind": "parted", "domain": {"kind": "disk"}, "sides": ["x > 0"]},
            "'sides' is a table of comparisons by name",
        ),
        ({"kind": "extruded", "base": 3, "lower": 0, "upper": 1}, "the domain is a table"),
        (
            {"lower": 0, "upper": 1, "radius": 2},
            "unknown key 'radius' in the domain; the keys are 'lower', 'upper' and",
        ),
        ({"lower": 0}, "the domain needs the keys 'lower' and 'upper'"),
        ({"lower": "2*pi", "upper": 1}, r"no formulas such as 2\*pi"),
        (3, "the domain is a table with the keys 'lower' and 'upper', or a 'kind'; got 3"),
        ({"kind": "polygon", "vertices": [[0, 0], [1, 1]]}, "at least 3 vertices, got 2"),
        ({"kind": "extruded", "base": {"kind": "disk"}, "lower": "a", "upper": 1}, "number|one number per axis"),
    ],
)
def test_wrong_documents(document, words):
    with pytest.raises(ProblemError, match=words):
        domain_from_dict(document)


def test_polygons_keep_what_was_given():
    given = {"kind": "polygon", "vertices": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], "sides": {"floor": [0]}}
    assert domain_to_dict(domain_from_dict(given)) == given
    assert domain_to_dict(Polygon([[0, 0], [1, 0], [0, 1]])) == {k: v for k, v in given.items() if k != "sides"}
