"""Tables in files: CSV, NetCDF, NumPy arrays and images."""

from __future__ import annotations

import csv
import os
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.paths import read_path
from frozenpinn.tables.table import Table

Array = np.ndarray
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp")
_GREY = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue are


@spelled(ProblemError)
def read_table(file: str | os.PathLike[str], column: str | None = None, **options: Any) -> Table:
    """Read a table from a file; its ending says what it is.

    Parameters
    ----------
    file
        ``.csv``: a header with coordinates and a column of values; rows on a grid are recognised, all others are
        scattered points. ``.nc``: NetCDF, as xarray writes it. ``.npy``: an array. Images (``.png``, ``.jpg``, …): how
        bright they are, from 0 to 1; the upper edge is the upper end of y.
    column
        The column or variable with the values, if there are several.
    **options
        Those of :class:`Table`: ``smooth``, ``degree``, and the coordinates of arrays and images, such as ``x=(0, 2)``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/hill.npy", np.sin(np.pi * np.linspace(0, 1, 21)))
    ...     table = read_table(f"{folder}/hill.npy", x=(0, 1))
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), table, "u = 0")
    >>> fp.solve(rod, tol=1e-3).status
    'converged'
    """
    path = read_path(file, ProblemError)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".csv":
        return _from_csv(path, column, options)
    if ending in (".nc", ".nc4", ".cdf", ".netcdf"):
        return as_table(_from_netcdf(path, column), f"'{path}'", **options)
    if ending == ".npy":
        try:
            return Table(np.load(path, allow_pickle=False), **options)
        except ValueError as error:
            raise ProblemError(f"'{path}' is no NumPy array: {error}") from None
    if ending in PICTURES:
        return _from_picture(path, options)
    raise ProblemError(f"'{path}' must end in .csv, .nc, .npy or that of an image, such as .png.")


def as_table(given: Any, what: str, **options: Any) -> Table:
    """Return a table made of an xarray.DataArray: its dimensions are the coordinates."""
    for name in given.dims:
        if name not in given.coords:
            raise ProblemError(
                f"{what} is a DataArray without places along its dimension '{name}'; add them: "
                f"array.assign_coords({name}=…)."
            )
    own = {str(name): given.coords[name].values for name in given.dims}
    return Table(given.values, **{**own, **options})


def _from_netcdf(path: str, column: str | None) -> Any:
    import xarray as xr

    try:
        with xr.open_dataset(path) as opened:
            data = opened.load()
    except (OSError, ValueError) as error:
        raise ProblemError(f"'{path}' can't be read as NetCDF: {str(error)[:200]}") from None
    return data[_chosen(path, column, [str(name) for name in data.data_vars])]


def _chosen(path: str, column: str | None, known: list[str]) -> str:
    if column is None and len(known) == 1:
        return known[0]
    if column not in known:
        what = "there are several columns of values" if column is None else f"there is no column '{column}'"
        raise ProblemError(f"'{path}': {what}; say column= one of {choices(known)}.{suggestion(str(column), known)}")
    return column


def _from_picture(path: str, options: dict[str, Any]) -> Table:
    from matplotlib.image import imread

    try:
        pixels = np.asarray(imread(path), dtype=float)
    except (OSError, ValueError, SyntaxError) as error:
        raise ProblemError(f"'{path}' can't be read as an image: {str(error)[:200]}") from None
    if pixels.max(initial=0.0) > 1.0:
        pixels = pixels / (65535.0 if pixels.max() > 255.0 else 255.0)
    if pixels.ndim == 3:
        pixels = pixels[..., :3] @ _GREY if pixels.shape[2] >= 3 else pixels[..., 0]
    return Table(pixels[::-1].T, cells=True, **options)


def _from_csv(path: str, column: str | None, options: dict[str, Any]) -> Table:
    header, rows = read_csv(path)
    place = [name for name in header if _is_coordinate(name)]
    measured = [name for name in header if name not in place]
    if not place or not measured:
        raise ProblemError(
            f"'{path}' needs a header with coordinates and values, such as 'x,y,k' or 'x,t,u'; got "
            f"'{','.join(header)}'."
        )
    columns = {name: rows[:, i] for i, name in enumerate(header)}
    values = columns[_chosen(path, column, measured)]
    given = [columns[name] for name in place]
    if len(place) == 1:
        order = np.argsort(given[0], kind="stable")
        return Table(values[order], **{place[0]: given[0][order], **options})
    axes, indices = zip(*(np.unique(x, return_inverse=True) for x in given), strict=True)
    shape = tuple(map(len, axes))
    if int(np.prod(shape)) == len(values) and len(np.unique(np.ravel_multi_index(indices, shape))) == len(values):
        grid = np.empty(shape)
        grid[indices] = values
        return Table(grid, **{**dict(zip(place, axes, strict=True)), **options})
    return Table(values, **{**dict(zip(place, given, strict=True)), **options})


def _is_coordinate(name: str) -> bool:
    return name in ("x", "y", "z", "t", "r", "theta", "phi") or (name[:1] == "x" and name[1:].isdigit())


def read_csv(file: str | os.PathLike[str]) -> tuple[list[str], Array]:
    """Return the header and the numbers of a CSV file; lines that begin with # are comments."""
    file = read_path(file, ProblemError)
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            lines = [row for row in csv.reader(stream) if row and not row[0].lstrip().startswith("#")]
    except (UnicodeDecodeError, csv.Error):
        raise ProblemError(f"'{file}' is not a text of columns: save it as CSV, in UTF-8.") from None
    if len(lines) < 2:
        raise ProblemError(f"'{file}' holds no values: it needs a header such as 'x,y,u' and a line for each.")
    header, rows = [name.strip() for name in lines[0]], []
    for number, row in enumerate(lines[1:], start=2):
        try:
            rows.append([float(entry) for entry in row])
        except ValueError:
            raise ProblemError(
                f"line {number} of '{file}' holds something that is no number: {','.join(row)!r}."
            ) from None
        if len(row) != len(header):
            raise ProblemError(f"line {number} of '{file}' has {len(row)} entries; the header has {len(header)}.")
    return header, np.array(rows)
