"""Meshes with wrong numbers, missing corners, flat cells and damaged files: what is accepted must have its volume."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from frozenpinn.geometry import Domain, read_mesh
from frozenpinn.geometry.rare.simplicial import Simplicial
from frozenpinn.geometry.rare.surface_mesh import SurfaceMesh
from frozenpinn_lab.fuzzing.trial import Trial, WrongValueError

Array = np.ndarray
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 4, 3], [1, 2, 4], [2, 3, 4]])
CELLS = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]])
TRIANGLES = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
NUMBERS = (0.0, -1.0, 1e308, -1e300, np.nan, np.inf, 1e-320, 0.5, 1e-13)


def _obj() -> str:
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    return vertices + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES)


def _stl() -> str:
    facets = ""
    for face in FACES:
        corners = "".join(f"vertex {x} {y} {z}\n" for x, y, z in CORNERS[face])
        facets += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    return f"solid a\n{facets}endsolid a\n"


def _ply() -> str:
    head = (
        f"ply\nformat ascii 1.0\nelement vertex {len(CORNERS)}\nproperty float x\nproperty float y\nproperty float z\n"
    )
    head += f"element face {len(FACES)}\nproperty list uchar int vertex_indices\nend_header\n"
    vertices = "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS)
    return head + vertices + "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES)


def _vtk() -> str:
    points = "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS)
    cells = "".join("4 " + " ".join(map(str, cell)) + "\n" for cell in CELLS)
    head = "# vtk DataFile Version 3.0\na\nASCII\nDATASET UNSTRUCTURED_GRID\n"
    return f"{head}POINTS 5 double\n{points}CELLS 2 10\n{cells}CELL_TYPES 2\n10\n10\n"


def _msh() -> str:
    nodes = "".join(f"{i + 1} {x} {y} {z}\n" for i, (x, y, z) in enumerate(CORNERS))
    cells = "".join(f"{i + 1} 4 2 1 1 {' '.join(str(k + 1) for k in cell)}\n" for i, cell in enumerate(CELLS))
    return f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n{nodes}$EndNodes\n$Elements\n2\n{cells}$EndElements\n"


def _off() -> str:
    vertices = "".join(f"{x} {y} {z}\n" for x, y, z in CORNERS)
    return f"OFF\n5 6 0\n{vertices}" + "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES)


FILES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("obj", _obj),
    ("stl", _stl),
    ("ply", _ply),
    ("off", _off),
    ("vtk", _vtk),
    ("msh", _msh),
)


def meshes(rng: np.random.Generator, count: int) -> Iterator[Trial]:
    """Yield meshes from arrays and from files, in turn."""
    for i in range(count):
        yield _file(FILES[i // 2 % len(FILES)], rng) if i % 2 else _arrays(i // 2 % 3, rng)


def _arrays(which: int, rng: np.random.Generator) -> Trial:
    kind, vertices, cells = (
        (Simplicial, CORNERS, CELLS),
        (SurfaceMesh, CORNERS, FACES),
        (Simplicial, SQUARE, TRIANGLES),
    )[which]
    points, table = np.array(vertices), np.array(cells)
    sides: Any = None
    choice = rng.random()
    row = int(rng.integers(len(table)))
    if choice < 0.3:
        points[int(rng.integers(len(points))), int(rng.integers(points.shape[1]))] = NUMBERS[int(rng.integers(9))]
    elif choice < 0.6:
        table[row, int(rng.integers(table.shape[1]))] = int(rng.integers(-2, len(points) + 2))
    elif choice < 0.7:
        table = np.concatenate([table, table[row : row + 1]])
    elif choice < 0.8:
        table = np.delete(table, row, axis=0)
    elif choice < 0.9:
        points = points * 10.0 ** float(rng.integers(-200, 200))
    else:
        sides = ({"a": [[0, 1, 2]]}, {"a": [0, 99]}, {"a": "b"}, {1: [0]}, "a", {"a": [[0, 1], [1, 2, 3]]})[
            int(rng.integers(6))
        ]
    label = f"{kind.__name__}({points.tolist()}, {table.tolist()}, {sides!r})"
    return Trial(label, lambda: _measured(kind(points, table, sides)))


def _file(which: tuple[str, Callable[[], str]], rng: np.random.Generator) -> Trial:
    ending, write = which
    lines = write().splitlines()
    for _ in range(int(rng.integers(1, 3))):
        i, j, choice = int(rng.integers(len(lines))), int(rng.integers(len(lines))), rng.random()
        words = lines[i].split(" ")
        if choice < 0.5:
            words[int(rng.integers(len(words)))] = ("-1", "99", "9" * 12, "nan", "inf", "x", "", "0.5", "1e400")[
                int(rng.integers(9))
            ]
            lines[i] = " ".join(words)
        elif choice < 0.65:
            lines[i], lines[j] = lines[j], lines[i]
        elif choice < 0.68:
            lines = lines[: i + 1]
        elif choice < 0.8:
            lines.insert(j, lines[i])
        else:
            del lines[i : i + int(rng.integers(1, 4))]
            lines = lines or [""]
    text = "\n".join(lines)
    return Trial(f"{ending}: {text}", partial(_read, ending, text))


def _read(ending: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"mesh.{ending}")
        with open(file, "w", encoding="utf-8") as handle:
            handle.write(text)
        _measured(read_mesh(file))


def _measured(domain: Domain) -> None:
    """Refuse a mesh whose quadrature does not give its own volume."""
    points = domain.sample(50)
    total = float(np.sum(points.weights))
    if not np.isclose(total, domain.measure, rtol=1e-6) or not np.all(domain.contains(points.x)):
        raise WrongValueError(f"weights sum to {total:g} and the measure is {domain.measure:g}")
