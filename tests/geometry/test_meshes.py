"""Meshes of cells, closed surfaces, and mesh files."""

import numpy as np
import pytest
from domain_shapes import CUBE, sphere_mesh, square_mesh
from scipy.spatial import ConvexHull, Delaunay

from frozenpinn import ProblemError
from frozenpinn.errors import FrozenPinnWarning
from frozenpinn.geometry import Simplicial, SurfaceMesh, read_mesh

meshio = pytest.importorskip("meshio")
BOX = ConvexHull(CUBE).simplices


def names(domain):
    return [side.name for side in domain.sides]


# ---- meshes of cells -----------------------------------------------------------------------------


def test_tetrahedra():
    cells = Delaunay(CUBE).simplices
    cells = cells[np.abs(np.linalg.det(CUBE[cells[:, 1:]] - CUBE[cells[:, :1]])) > 1e-9]
    lid = [facet for facet in BOX if np.all(CUBE[facet][:, 2] == 1)]
    domain = Simplicial(CUBE, cells)
    assert domain.measure == pytest.approx(1)
    inside = domain.sample(1500)
    assert inside.weights @ (inside.x[:, 0] ** 5 * inside.x[:, 2] ** 2) == pytest.approx(1 / 18, rel=1e-12)
    tops = [f for f in domain.facets if np.all(CUBE[f][:, 2] == 1)]
    named = Simplicial(CUBE, cells, {"lid": tops})
    assert names(named) == ["lid", "boundary"]
    points = named.sample_side("lid", 30)
    np.testing.assert_allclose(points.normals, np.tile([0, 0, 1], (len(points), 1)), atol=1e-15)
    assert points.weights.sum() == pytest.approx(1)
    assert len(lid) == 2


def test_more_cells_than_points():
    """A fine mesh and few points: columns through the mesh instead of a point per cell."""
    domain = Simplicial(*square_mesh(60))
    points = domain.sample(300)
    assert 200 < len(points) < 450
    x, y = points.x.T
    assert points.weights @ (x**4 * y**3) == pytest.approx(1 / 20, rel=1e-8)
    side = domain.sample_side("boundary", 100)
    assert len(side) == 100
    assert side.weights.sum() == pytest.approx(4)
    assert np.mean(side.x, axis=0) == pytest.approx([0.5, 0.5], abs=0.02)


@pytest.mark.parametrize(
    ("vertices", "cells", "sides", "words"),
    [
        (
            [[0, 0], [1, 0], [2, 0]],
            [[0, 1, 2]],
            None,
            r"cell 0 of the mesh is flat: its corners are \(0, 0\), \(1, 0\)",
        ),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 3]], None, "name the vertices 0 to 3, but they are numbered 0 to 2"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1]], None, r"are rows of 3 vertex numbers; got shape \(1, 2\)"),
        ([[0, 0], [1, 0], [0, 1]], [[0.0, 1.0, 2.0]], None, "with float64 entries"),
        ([[0], [1]], [[0, 1]], None, "meshes have two or three dimensions, got vertices with 1 coordinates"),
        ([[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2], [0, 1, 3], [0, 1, 2]], None, "more than two cells"),
        (
            [[0, 0], [1, 0], [1, 1], [0, 1]],
            [[0, 1, 2], [0, 2, 3]],
            {"a": [[0, 2]]},
            r"facet \[0, 2\] of side 'a' is not on",
        ),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], {"a": [[0, 1]], "b": [[1, 0]]}, "'a' has no facets"),
    ],
)
def test_what_is_no_mesh(vertices, cells, sides, words):
    with pytest.raises(ProblemError, match=words):
        Simplicial(vertices, cells, sides)


# ---- surfaces ------------------------------------------------------------------------------------


def test_orientation_is_mended():
    """Faces turned at random, as a whole inside out, or in order: the same solid."""
    rng = np.random.default_rng(0)
    vertices, faces = sphere_mesh(2)
    turned = np.where(rng.random((len(faces), 1)) < 0.5, faces[:, ::-1], faces)
    for given in (faces, turned, faces[:, ::-1]):
        domain = SurfaceMesh(vertices, given)
        assert domain.measure == pytest.approx(ConvexHull(vertices).volume, rel=1e-12)
        centres = np.mean(domain.vertices[domain.facets], axis=1)
        assert np.all(np.sum(centres * domain.facet_normals, axis=1) > 0)


def test_cavities():
    vertices, faces = sphere_mesh(2)
    both = np.concatenate([2 * vertices, vertices])
    count = len(vertices)
    domain = SurfaceMesh(both, np.concatenate([faces, faces + count]), {"outer": np.arange(len(faces))})
    volume = ConvexHull(vertices).volume
    assert domain.measure == pytest.approx(7 * volume)
    assert names(domain) == ["outer", "boundary"]
    assert domain.contains(np.array([[0, 0, 0], [1.5, 0, 0], [0, 0, 2.5]])).tolist() == [False, True, False]
    inner = domain.sample_side("boundary", 100)
    assert np.all(np.sum(inner.x * inner.normals, axis=1) < 0)


def test_vertices_are_merged():
    """Each face with corners of its own, as STL files have them."""
    domain = SurfaceMesh(CUBE[BOX].reshape(-1, 3), np.arange(3 * len(BOX)).reshape(-1, 3))
    assert domain.vertices.shape == (8, 3)
    assert domain.measure == pytest.approx(1)
    assert repr(domain) == "SurfaceMesh(8 vertices, 12 faces, volume 1)"


def test_columns_of_a_sphere():
    domain = SurfaceMesh(*sphere_mesh(4))
    points = domain.sample(3000)
    assert points.weights @ points.x[:, 0] ** 2 / domain.measure == pytest.approx(1 / 5, rel=0.01)
    assert domain.measure == pytest.approx(4 / 3 * np.pi, rel=0.01)
    side = domain.sample_side("boundary", 500)
    assert side.weights.sum() == pytest.approx(ConvexHull(domain.vertices).area)
    assert np.linalg.norm(np.mean(side.x, axis=0)) < 0.02


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        (
            CUBE,
            BOX[1:],
            r"not closed: 3 edges don't belong to two faces; the first, from \(.*\) to \(.*\), belongs to 1\.",
        ),
        (CUBE, np.concatenate([BOX, BOX[:1]]), "not closed: 3 edges .* belongs to 3"),
        (np.zeros((4, 3)), [[0, 1, 2], [0, 2, 3]], "the surface encloses no volume"),
        (CUBE[:, :2], BOX, r"have the shape \(n, 3\), one row per point; got shape \(8, 2\)"),
        (CUBE * [1, 1, 1e-20], BOX, "not closed|encloses no volume"),
        (CUBE, [[0, 1, 9]], "name the vertices 0 to 9, but they are numbered 0 to 7"),
    ],
)
def test_what_is_no_closed_surface(vertices, faces, words):
    with pytest.raises(ProblemError, match=words):
        SurfaceMesh(vertices, faces)


def test_a_surface_with_one_side_is_refused():
    """The projective plane with six vertices: closed, each edge in two faces, not orientable."""
    faces = [
        [0, 1, 2],
        [0, 2, 3],
        [0, 3, 4],
        [0, 4, 5],
        [0, 5, 1],
        [1, 2, 4],
        [2, 3, 5],
        [3, 4, 1],
        [4, 5, 2],
        [5, 1, 3],
    ]
    with pytest.raises(ProblemError, match="can't be oriented: it has one side only"):
        SurfaceMesh(np.random.default_rng(0).normal(size=(6, 3)), faces)


def test_wrong_names_of_faces():
    with pytest.raises(ProblemError, match="the side 'a' names face 99; faces are numbered 0 to 11"):
        SurfaceMesh(CUBE, BOX, {"a": [99]})
    with pytest.raises(ProblemError, match="the side 'a' needs a list of numbers of faces"):
        SurfaceMesh(CUBE, BOX, {"a": [0.5]})


# ---- files ---------------------------------------------------------------------------------------


def test_meshes_of_pyvista():
    """Closed surfaces that come with its wheel: volumes as VTK computes them, points inside and on the surface."""
    examples = pytest.importorskip("pyvista.examples.examples")
    for file, volume in ((examples.nutfile, 32171.322236986), (examples.spherefile, 8425174.0)):
        domain = read_mesh(file)
        assert domain.measure == pytest.approx(volume, rel=1e-9)
        assert not domain.crosses
        inside, edge = domain.sample(4000), domain.sample_side("boundary", 1600, "sobol", rng=0)
        assert len(inside) == 4000
        assert np.all(domain.contains(inside.x))
        assert not np.any(domain.contains(edge.x + 1e-5 * domain.size * edge.normals, 0.0))
        wave = lambda x: np.exp(np.sum((x - domain.lower) / domain.size, axis=1))  # noqa: B023, E731
        fine = domain.sample_side("boundary", 20_000)
        flow = fine.weights @ (wave(fine.x) * np.sum(fine.normals, axis=1))
        assert 3 / domain.size * inside.weights @ wave(inside.x) == pytest.approx(flow, rel=1e-4)
    with pytest.raises(ProblemError, match="not closed: 224 edges don't belong to two faces"):
        read_mesh(examples.planefile)
    with pytest.warns(FrozenPinnWarning, match="crosses itself: 99 pairs of faces do"):
        ant = read_mesh(examples.antfile)
    assert ant.crosses
    assert len(ant.sample(4000)) == 4000
    assert read_mesh(examples.antfile, crossing=True).measure == ant.measure


def test_what_was_mended_is_told():
    vertices, faces = sphere_mesh(1)
    assert SurfaceMesh(vertices, SurfaceMesh(vertices, faces).facets).repairs == ()
    outward = SurfaceMesh(vertices, faces).facets
    apart = vertices[outward].reshape(-1, 3)
    table = np.arange(len(apart)).reshape(-1, 3)
    table[:5] = table[:5, ::-1]
    thin = np.array([[0, 1, 1]])  # two corners at the same place
    domain = SurfaceMesh(apart, np.concatenate([table, thin]))
    assert domain.repairs == (
        "78 vertices were merged with others at the same place.",
        "1 faces were left out: two of their corners are at the same place.",
        "5 faces were turned, so that all normals point outward.",
    )
    assert domain.measure == pytest.approx(ConvexHull(vertices).volume)


def test_faces_without_area():
    """A corner in the middle of an edge, and a face of three points in a line that closes the gap."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0, 0]], dtype=float)
    faces = [[0, 4, 2], [4, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3], [0, 4, 1]]
    domain = SurfaceMesh(vertices, faces)
    assert domain.measure == pytest.approx(1 / 6)
    for method in ("gauss", "random"):
        edge = domain.sample_side("boundary", 400, method, rng=0)
        np.testing.assert_allclose(np.linalg.norm(edge.normals, axis=1), 1)
        assert np.all(edge.weights > 0)
        assert edge.weights.sum() == pytest.approx(1.5 + 3**0.5 / 2)
    assert np.all(domain.contains(domain.sample(500).x))


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off", "vtk", "msh"])
def test_surfaces_from_files(tmp_path, ending):
    vertices, faces = sphere_mesh(2)
    kind = {"file_format": "gmsh"} if ending == "msh" else {}
    meshio.Mesh(vertices, [("triangle", faces)]).write(tmp_path / f"ball.{ending}", **kind)
    domain = read_mesh(tmp_path / f"ball.{ending}")
    assert isinstance(domain, SurfaceMesh)
    assert domain.measure == pytest.approx(ConvexHull(vertices).volume, rel=1e-5)
    assert len(domain.vertices) == len(vertices)


def test_plane_meshes_from_files(tmp_path):
    vertices, cells = square_mesh(4)
    flat = np.column_stack([vertices, np.full(len(vertices), 3.0)])
    edges = Simplicial(vertices, cells).facets
    left = np.all(vertices[edges][:, :, 0] == 0, axis=1)
    mesh = meshio.Mesh(
        flat,
        [("line", edges), ("triangle", cells)],
        cell_data={
            "gmsh:physical": [np.where(left, 7, 8), np.full(len(cells), 9)],
            "gmsh:geometrical": [edges[:, 0] * 0 + 1, cells[:, 0] * 0 + 1],
        },
        field_data={"inlet": np.array([7, 1]), "wall": np.array([8, 1]), "fluid": np.array([9, 2])},
    )
    mesh.write(tmp_path / "square.msh", file_format="gmsh22")
    domain = read_mesh(tmp_path / "square.msh")
    assert isinstance(domain, Simplicial)
    assert domain.dimension == 2
    assert sorted(names(domain)) == ["inlet", "wall"]
    assert domain.sample_side("inlet", 20).x[:, 0] == pytest.approx(0)
    assert domain.sample_side("wall", 20).weights.sum() == pytest.approx(3)
    assert len(domain.cells) == 32


def test_solid_meshes_from_files(tmp_path):
    rng = np.random.default_rng(0)
    points = np.concatenate([CUBE, rng.uniform(0.2, 0.8, (20, 3))])
    cells = Delaunay(points).simplices
    cells = cells[np.abs(np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]])) > 1e-9]
    outer = Simplicial(points, cells).facets
    lid = outer[np.all(points[outer][:, :, 2] == 1, axis=1)]
    mesh = meshio.Mesh(
        np.concatenate([points, [[9.0, 9.0, 9.0]]]),  # a vertex that nothing uses
        [("triangle", lid), ("tetra", cells)],
        cell_data={
            "gmsh:physical": [np.full(len(lid), 3), np.full(len(cells), 4)],
            "gmsh:geometrical": [np.ones(len(lid), int), np.ones(len(cells), int)],
        },
        field_data={"lid": np.array([3, 2])},
    )
    mesh.write(tmp_path / "cube.msh", file_format="gmsh22")
    domain = read_mesh(tmp_path / "cube.msh")
    assert names(domain) == ["lid", "boundary"]
    assert domain.measure == pytest.approx(1)
    assert domain.upper.tolist() == [1, 1, 1]


def test_files_that_are_no_domains(tmp_path):
    with pytest.raises(ProblemError, match="there is no file"):
        read_mesh(tmp_path / "missing.stl")
    (tmp_path / "broken.vtk").write_text("hello")
    with pytest.raises(ProblemError, match="could not be read as a mesh"):
        read_mesh(tmp_path / "broken.vtk")
    (tmp_path / "unknown.xyzzy").write_text("hello")
    with pytest.raises(ProblemError, match="could not be read as a mesh"):
        read_mesh(tmp_path / "unknown.xyzzy")
    meshio.Mesh([[0.0, 0, 0], [1, 0, 0]], [("line", [[0, 1]])]).write(tmp_path / "line.vtk")
    with pytest.raises(
        ProblemError, match=r"has neither triangles nor tetrahedra \(it has lines only\); quadrangles must"
    ):
        read_mesh(tmp_path / "line.vtk")
    meshio.Mesh(CUBE, [("triangle", BOX[1:])]).write(tmp_path / "open.stl")
    with pytest.raises(ProblemError, match="not closed"):
        read_mesh(tmp_path / "open.stl")
