"""The columns of a sweep's table, and the three places where they are kept: memory, Zarr, NetCDF.

Texts are kept as bytes and the status as a number, which all formats have; :func:`decoded` makes texts of them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from frozenpinn.errors import MissingExtraError
from frozenpinn.sweeps.definition import Definition
from frozenpinn.sweeps.runs import STATUS, Row

if TYPE_CHECKING:
    import xarray

Array = np.ndarray
REASON = 400  #: bytes of a reason that are kept
TEXT = "_text"  #: ending of columns that hold bytes of texts


class Column(NamedTuple):
    """One array over all runs."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    fill: float


def columns_of(definition: Definition) -> list[Column]:
    """Return what is kept of every run; the status is the last, and tells that the others are there."""
    problem, places, n = definition.problem, definition.places, len(definition.table)
    columns = [Column(f, ("run", *places.dims), (n, *places.shape), "<f8", np.nan) for f in problem.fields]
    columns += [Column(f"{f}_error_estimate", ("run",), (n,), "<f8", np.nan) for f in problem.fields]
    columns += [Column("neurons", ("run",), (n,), "<i8", 0), Column("seconds", ("run",), (n,), "<f8", np.nan)]
    columns += [Column(f"reason{TEXT}", ("run", "reason_byte"), (n, REASON), "|u1", 0)]
    return [*columns, Column("status", ("run",), (n,), "|i1", 0)]


def fixed(definition: Definition) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Return what is known of all runs beforehand: coordinates and parameters."""
    table: dict[str, tuple[tuple[str, ...], Array]] = {}
    for name, given in definition.places.coords().items():
        dims, values = given if isinstance(given, tuple) else (name, given)
        table[name] = ((dims,), np.asarray(values))
    for name in definition.table.names:
        values = definition.table.column(name)
        if any(isinstance(v, str) for v in values):
            table[f"{name}{TEXT}"] = (("run", f"{name}_byte"), _as_bytes([str(v) for v in values]))
        else:
            table[name] = (("run",), np.array(values, dtype="<f8"))
    return table


def stacked(rows: Sequence[Row], fields: Sequence[str]) -> dict[str, Array]:
    """Return the columns of some rows."""
    table = {f: np.stack([row.values[f] for row in rows]) for f in fields}
    table |= {f"{f}_error_estimate": np.array([row.errors[f] for row in rows]) for f in fields}
    table["neurons"] = np.array([row.neurons for row in rows], dtype="<i8")
    table["seconds"] = np.array([row.seconds for row in rows])
    table[f"reason{TEXT}"] = _as_bytes([row.reason for row in rows], REASON)
    table["status"] = np.array([STATUS.index(row.status) for row in rows], dtype="|i1")
    return table


def decoded(dataset: xarray.Dataset) -> xarray.Dataset:
    """Return the dataset of a store with texts as texts, and parameters as coordinates."""
    codes = np.asarray(dataset["status"]).astype(int)
    dataset = dataset.assign(status=("run", np.array(STATUS, dtype=object)[codes]))
    for name in [str(n) for n in dataset.variables if str(n).endswith(TEXT)]:
        texts = [bytes(row).rstrip(b"\0").decode(errors="ignore") for row in np.asarray(dataset[name], dtype=np.uint8)]
        dataset = dataset.drop_vars(name).assign({name.removesuffix(TEXT): ("run", np.array(texts, dtype=object))})
    about = json.loads(dataset.attrs["sweep"])
    dataset = dataset.set_coords([name for name in (*about["varied"], *about["axes"], "t") if name in dataset])
    return dataset.assign_coords(run=np.arange(dataset.sizes["run"]))


def _as_bytes(texts: Sequence[str], length: int | None = None) -> Array:
    raw = [text.encode() for text in texts]
    length = max(1, *map(len, raw)) if length is None else length
    table = np.zeros((len(raw), length), dtype=np.uint8)
    for k, own in enumerate(raw):
        table[k, : len(own[:length])] = np.frombuffer(own[:length], dtype=np.uint8)
    return table


# ---- where columns are kept --------------------------------------------------------------------------


class Keeper(Protocol):
    """Takes columns, part by part."""

    def write(self, name: str, start: int, values: Array) -> None:
        """Put values of some runs, from ``start`` on, into a column."""


class InMemory:
    """Columns as arrays."""

    def __init__(self, columns: Sequence[Column], known: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        self._arrays = {c.name: (c.dims, np.full(c.shape, c.fill, dtype=c.dtype)) for c in columns} | dict(known)
        self._attributes = dict(attributes)

    def write(self, name: str, start: int, values: Array) -> None:
        """Put values of some runs into a column."""
        self._arrays[name][1][start : start + len(values)] = values

    def dataset(self) -> xarray.Dataset:
        """Return the table."""
        import xarray as xr

        return decoded(xr.Dataset(self._arrays, attrs=self._attributes))


class InZarr:
    """Columns as arrays of a Zarr group, in chunks of runs."""

    def __init__(self, path: str) -> None:
        self._group = zarr_module().open_group(path, mode="r+")

    @staticmethod
    def create(
        path: str,
        columns: Sequence[Column],
        known: Mapping[str, tuple[tuple[str, ...], Array]],
        attributes: Mapping[str, Any],
        chunk: int,
    ) -> None:
        """Make the group, with all runs pending."""
        group = zarr_module().open_group(path, mode="w", attributes=dict(attributes))
        for c in columns:
            chunks = (min(chunk, c.shape[0]), *c.shape[1:])
            group.create_array(
                c.name, shape=c.shape, chunks=chunks, dtype=np.dtype(c.dtype), fill_value=c.fill, dimension_names=c.dims
            )
        for name, (dims, values) in known.items():
            array = group.create_array(name, shape=values.shape, dtype=values.dtype, dimension_names=dims)
            array[...] = values

    def write(self, name: str, start: int, values: Array) -> None:
        """Put values of some runs into a column."""
        self._group[name][start : start + len(values)] = values

    @property
    def status(self) -> Array:
        """The codes of all runs, 0 for those that are missing."""
        return np.asarray(self._group["status"][...])


class InNetCDF:
    """Columns as variables of a NetCDF-4 file."""

    def __init__(
        self,
        path: str,
        columns: Sequence[Column],
        known: Mapping[str, tuple[tuple[str, ...], Array]],
        attributes: Mapping[str, Any],
        chunk: int,
    ) -> None:
        self._file = netcdf_module().Dataset(path, "w", format="NETCDF4")
        self._file.setncatts(dict(attributes))
        for c in columns:
            self._variable(c.name, c.dims, c.shape, c.dtype, (min(chunk, c.shape[0]), *c.shape[1:]))
        for name, (dims, values) in known.items():
            self._variable(name, dims, values.shape, values.dtype, None)[...] = values

    def _variable(
        self, name: str, dims: tuple[str, ...], shape: tuple[int, ...], dtype: Any, chunks: tuple[int, ...] | None
    ) -> Any:
        for dim, length in zip(dims, shape, strict=True):
            if dim not in self._file.dimensions:
                self._file.createDimension(dim, length)
        return self._file.createVariable(name, np.dtype(dtype), dims, chunksizes=chunks, fill_value=False)

    def write(self, name: str, start: int, values: Array) -> None:
        """Put values of some runs into a column."""
        self._file[name][start : start + len(values)] = values

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def zarr_module() -> Any:
    """Return the package zarr."""
    try:
        import zarr
    except ImportError:
        raise MissingExtraError(
            "a store in Zarr needs the package zarr; install it by: pip install 'frozenpinn[sweep]'"
        ) from None
    return zarr


def netcdf_module() -> Any:
    """Return the package netCDF4."""
    try:
        import netCDF4
    except ImportError:
        raise MissingExtraError(
            "a store in NetCDF needs the package netCDF4; install it by: pip install 'frozenpinn[sweep]'"
        ) from None
    return netCDF4
