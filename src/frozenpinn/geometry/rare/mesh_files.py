"""Domains from mesh files of other programs, read by meshio."""

from __future__ import annotations

import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from frozenpinn.errors import MissingExtraError, ProblemError
from frozenpinn.geometry.points import distinct
from frozenpinn.geometry.rare.simplicial import Faceted, Simplicial, facet_keys
from frozenpinn.geometry.rare.surface_mesh import SurfaceMesh, merged
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.budget import OverrunError, deadline
from frozenpinn.runtime.paths import read_path

Array = np.ndarray
CORNERS = {"line": 2, "line3": 2, "triangle": 3, "triangle6": 3, "tetra": 4, "tetra10": 4}


@spelled(ProblemError)
def read_mesh(file: str | Path, crossing: bool = False) -> Faceted:
    """Read a domain from a mesh file (STL, OBJ, PLY, MSH, VTK, …).

    Tetrahedra make a solid with that mesh as quadrature cells; triangles in a plane z = const make a plane domain;
    other triangles are the closed surface of a solid. Physical groups of gmsh become sides of that name.

    Parameters
    ----------
    file
        Path of the file; its ending determines the format.
    crossing
        Whether a surface may cross itself without a warning.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> nut = fp.read_mesh("nut.ply")  # doctest: +SKIP
    >>> fp.solve(fp.Problem("lap(u) - u = 1", nut, boundary="u = 0"), tol=1e-4)  # doctest: +SKIP
    """
    points, cells, groups = _load(Path(read_path(file, ProblemError)))
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.all(np.isfinite(points)):
        raise ProblemError(f"'{file}' has vertices that are not two or three finite coordinates each.")
    for table in cells.values():
        if len(table) and not (np.min(table) >= 0 and np.max(table) < len(points)):
            raise ProblemError(
                f"'{file}' has cells with the vertices {np.min(table)} to {np.max(table)}; there are {len(points)}."
            )
    if "4" in cells:
        return _solid(points, cells, groups)
    if "3" not in cells:
        kinds = "lines only" if cells else "other cells"
        raise ProblemError(
            f"'{file}' has neither triangles nor tetrahedra (it has {kinds}); quadrangles must be split."
        )
    used = points[np.unique(cells["3"])]
    scale = float(np.max(np.ptp(used, axis=0)))
    if points.shape[1] == 2 or np.ptp(used[:, 2]) <= 1e-12 * scale:
        return _plane(points[:, :2], cells, groups)
    number = groups.get("3")
    sides = None
    if number is not None:
        sides = {name: np.flatnonzero(number == name) for name in dict.fromkeys(number) if name}
    return SurfaceMesh(points, cells["3"], sides, crossing)


def _load(path: Path) -> tuple[Array, dict[str, Array], dict[str, Array]]:
    """Return the points, the cells by number of corners, and the name of the group of each cell ('' for none)."""
    patience, speed = 3.0, 2e5  # seconds for any file, and bytes of a second more
    try:
        import meshio
    except ImportError:
        raise MissingExtraError.of("mesh files need", "meshio", "geometry") from None
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            with deadline(patience + path.stat().st_size / speed):  # some readers wait for lines behind the end
                mesh = meshio.read(path)
    except OverrunError:
        raise ProblemError(
            f"'{path}' could not be read as a mesh within the time that its size allows for; does it end too early?"
        ) from None
    except (Exception, SystemExit) as error:  # meshio ends the program for some files
        reason = "its content is not what its name says" if isinstance(error, SystemExit) else str(error).rstrip(".")
        raise ProblemError(
            f"'{path}' could not be read as a mesh: {reason or type(error).__name__}. Formats are those of meshio, "
            "distinguished by the ending: .ply, .stl, .obj, .off, .vtk, .vtu, .msh, …"
        ) from None
    names = {(int(tag), int(dim)): name for name, (tag, dim) in mesh.field_data.items()}
    tags = mesh.cell_data.get("gmsh:physical")
    cells: dict[str, list[Array]] = {}
    groups: dict[str, list[Array]] = {}
    for i, block in enumerate(mesh.cells):
        corners = CORNERS.get(block.type)
        if corners is None:
            continue
        cells.setdefault(str(corners), []).append(np.asarray(block.data)[:, :corners])
        label = np.full(len(block.data), "", dtype=object)
        if tags is not None:
            label[:] = [names.get((int(tag), corners - 1), f"side {int(tag)}" if tag else "") for tag in tags[i]]
        groups.setdefault(str(corners), []).append(label)
    points = np.asarray(mesh.points, dtype=float)
    joined = {kind: np.concatenate(parts).astype(np.int64) for kind, parts in cells.items()}
    labels = {kind: np.concatenate(parts) for kind, parts in groups.items()}
    return points, joined, {kind: label for kind, label in labels.items() if np.any(label != "")}


def _solid(points: Array, cells: dict[str, Array], groups: dict[str, Array]) -> Simplicial:
    return _with_groups(points, cells, groups, "4", "3")


def _plane(points: Array, cells: dict[str, Array], groups: dict[str, Array]) -> Simplicial:
    return _with_groups(points, cells, groups, "3", "2")


def _with_groups(points: Array, cells: dict[str, Array], groups: dict[str, Array], kind: str, face: str) -> Simplicial:
    """Build a mesh; groups of faces on its boundary become sides, those inside are ignored."""
    shared = cells[kind]
    faces = cells.get(face, np.empty((0, int(face)), dtype=np.int64))
    width = shared.shape[1]
    padded = np.column_stack([faces, np.repeat(faces[:, :1], width - faces.shape[1], axis=1)])
    vertices, table = merged(points, np.concatenate([shared, padded])) if len(faces) else merged(points, shared)
    body, faces = table[: len(shared)], table[len(shared) :, : int(face)]
    plain = Simplicial(vertices, body)
    label = groups.get(face)
    if label is None:
        return plain
    outer = np.isin(facet_keys(faces, len(vertices)), facet_keys(plain.facets, len(vertices)))
    named = {str(name): faces[outer & (label == name)] for name in dict.fromkeys(label) if name}
    named = {name: rows for name, rows in named.items() if len(rows)}
    rest = distinct([*named, "boundary"])[-1]
    return Simplicial(vertices, body, named, rest) if named else plain
