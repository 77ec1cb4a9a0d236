"""Files of VTK: unstructured grids (.vtu) and series of them in time (.pvd), as XML with binary numbers."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from frozenpinn.errors import StorageError
from frozenpinn.geometry.cells import Cells
from frozenpinn.runtime.paths import replacing

Array = np.ndarray
CODES = {"line": 3, "triangle": 5, "quad": 9, "tetra": 10, "hexahedron": 12}
_TYPES = {"f": "Float64", "i": "Int64", "u": "UInt8"}


class Frame(NamedTuple):
    """What one file holds: cells, and values at their vertices, (n,) or (n, k) for vectors."""

    cells: Cells
    values: Mapping[str, Array]


def write_vtu(path: str, frame: Frame) -> None:
    """Write one file."""
    with open(path, "w", encoding="utf-8") as handle:
        handle.writelines(f"{line}\n" for line in _lines(frame))


def write_series(target: str, times: Array, frame: Callable[[int], Frame], overwrite: bool) -> None:
    """Write a series: the files of all times into a folder beside it, and the list of them last."""
    folder, name = os.path.split(os.path.splitext(target)[0])
    own = os.path.join(folder, name)
    if os.path.exists(own) and not (overwrite and os.path.isdir(own)):
        raise StorageError(
            f"there is '{own}' already, where the files of the series '{target}' belong; take another name, or write "
            "overwrite=True to replace it."
        )
    digits = max(4, len(str(len(times))))
    files = [f"{name}_{k:0{digits}d}.vtu" for k in range(len(times))]
    with replacing(target, overwrite) as part:
        new = f"{part}.files"
        os.mkdir(new)
        try:
            for k, file in enumerate(files):
                write_vtu(os.path.join(new, file), frame(k))
            with open(part, "w", encoding="utf-8") as handle:
                handle.writelines(f"{line}\n" for line in _listed(name, times, files))
            if os.path.isdir(own):
                shutil.rmtree(own)
            os.replace(new, own)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _listed(name: str, times: Array, files: list[str]) -> Iterator[str]:
    yield '<?xml version="1.0"?>'
    yield '<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">'
    yield "<Collection>"
    for t, file in zip(times, files, strict=True):
        yield f'<DataSet timestep="{float(t)!r}" part="0" file={quoteattr(f"{name}/{file}")}/>'
    yield "</Collection>"
    yield "</VTKFile>"


def _lines(frame: Frame) -> Iterator[str]:
    x, cells, kind = frame.cells
    points = np.zeros((len(x), 3))
    points[:, : x.shape[1]] = x
    yield '<?xml version="1.0"?>'
    yield '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
    yield "<UnstructuredGrid>"
    yield f'<Piece NumberOfPoints="{len(x)}" NumberOfCells="{len(cells)}">'
    yield f"<Points>{_array('Points', points)}</Points>"
    yield "<Cells>"
    yield _array("connectivity", cells.astype("<i8").ravel())
    yield _array("offsets", np.arange(1, len(cells) + 1, dtype="<i8") * cells.shape[1])
    yield _array("types", np.full(len(cells), CODES[kind], dtype=np.uint8))
    yield "</Cells>"
    yield "<PointData>"
    for name, values in frame.values.items():
        yield _array(name, _padded(values))
    yield "</PointData>"
    yield "</Piece>"
    yield "</UnstructuredGrid>"
    yield "</VTKFile>"


def _padded(values: Array) -> Array:
    """Return vectors with three components, as VTK has them."""
    return values if values.ndim == 1 else np.pad(values, [(0, 0), (0, 3 - values.shape[1])])


def _array(name: str, values: Array) -> str:
    values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    raw = values.tobytes()
    text = base64.b64encode(np.array([len(raw)], dtype="<u8").tobytes() + raw).decode()
    components = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    about = f'type="{_TYPES[values.dtype.kind]}" Name={quoteattr(name)}{components} format="binary"'
    return f"<DataArray {about}>{text}</DataArray>"
