"""Finished runs: each at once into a file of its own, from there in chunks into Zarr, or at the end into NetCDF.

A run counts as finished when its file is there under its final name. So whatever is killed, and whenever, the same call
finds what is finished and goes on with the rest.

The columns of a sweep's table, and the three places where they are kept: memory, Zarr, NetCDF.

Texts are kept as bytes and the status as a number, which all formats have; :func:`decoded` makes texts of them again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import numpy as np

from frozenpinn.errors import MissingExtraError, StorageError, silenced
from frozenpinn.runtime.paths import checked_target, path_of, replacing
from frozenpinn.sweeps.definition import Definition
from frozenpinn.sweeps.runs import STATUS, Plan, Row, read_plan

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
    """Return what is kept of every run; the status is written last, as a mark that the others are complete."""
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
        raise MissingExtraError.of("a store in Zarr needs", "zarr", "sweep") from None
    return zarr


def netcdf_module() -> Any:
    """Return the package netCDF4."""
    try:
        import netCDF4
    except ImportError:
        raise MissingExtraError.of("a store in NetCDF needs", "netCDF4", "sweep") from None
    return netCDF4


class Rows:
    """Files of finished runs in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def put(self, index: int, raw: bytes) -> None:
        """Store a finished run: its file is there as a whole, or not at all."""
        with replacing(self._path(index)) as part, open(part, "xb") as handle:
            handle.write(raw)

    def get(self, index: int) -> Row:
        """Read a finished run."""
        with open(self._path(index), "rb") as handle:
            return Row.from_bytes(handle.read())

    def there(self) -> set[int]:
        """Return which runs are finished; files that can't be read are removed, and their runs are made again."""
        found = set()
        for name in os.listdir(self.folder):
            if name.endswith(".run.npz") and ".part" not in name:
                index = int(name.split(".")[0])
                try:
                    found.add(self.get(index).index)
                except Exception:  # what a machine that lost its power may leave
                    os.unlink(self._path(index))
            elif ".part" in name:
                os.unlink(os.path.join(self.folder, name))
        return found

    def forget(self, indices: Iterable[int]) -> None:
        """Remove runs that are kept elsewhere."""
        for index in indices:
            if os.path.exists(self._path(index)):
                os.unlink(self._path(index))

    def _path(self, index: int) -> str:
        return os.path.join(self.folder, f"{index:08d}.run.npz")


class Store:
    """The table of a sweep, in memory or in a file."""

    def __init__(self, definition: Definition, out: Any, overwrite: bool, chunk: int | None) -> None:
        chunk_bytes = 8e6  # of the values of a chunk, about
        most_in_chunk = 1000
        self.definition = definition
        self._columns = columns_of(definition)
        row = sum(8.0 * np.prod(c.shape[1:]) for c in self._columns)
        self.chunk = int(np.clip(chunk_bytes / row, 1, most_in_chunk)) if chunk is None else chunk
        self.done: set[int] = set()
        self.rows: Rows | None = None
        self._finished: dict[int, bytes] = {}
        self._kept: set[int] = set()
        self._lock: Any = None
        self.plan: Plan | None = None
        self.file = None if out is None else path_of(out, StorageError)
        if self.file is not None:
            try:
                self._open(self.file, overwrite)
            except BaseException:
                self.close()
                raise

    # ---- opening ------------------------------------------------------------------------------------

    def _open(self, file: str, overwrite: bool) -> None:
        self._zarr = file.rstrip("/").endswith(".zarr")
        if not self._zarr and not file.endswith(".nc"):
            raise StorageError(f"'{file}' is no store that is known; write a name that ends in .zarr or .nc.")
        (zarr_module if self._zarr else netcdf_module)()
        self.file = file = file.rstrip("/")
        folder = f"{file}.rows"
        if not os.path.exists(file):
            checked_target(file, StorageError)
        self._lock = _locked(f"{file}.lock", file)
        if overwrite:
            for old in (file, folder):
                if os.path.isdir(old):
                    shutil.rmtree(old)
                elif os.path.exists(old):
                    os.unlink(old)
        if os.path.exists(file):
            self._check_file(file)
        self.rows = Rows(folder)
        os.makedirs(folder, exist_ok=True)
        stated = os.path.join(folder, "sweep.json")
        if os.path.exists(stated):
            self.definition.check_same(_read_json(stated), file)
        else:
            self._write_json("sweep.json", self.definition.document)
        planned = os.path.join(folder, "plan.json")
        if os.path.exists(planned):
            self.plan = read_plan(_read_json(planned), self.definition.table)
        if self._zarr and os.path.exists(file):
            self._kept = set(np.flatnonzero(InZarr(file).status).tolist())
        elif os.path.exists(file):
            self._kept = set(range(len(self.definition.table)))
        self.done = self._kept | self.rows.there()

    def _check_file(self, file: str) -> None:
        try:
            with _opened(file) as dataset:
                stored = json.loads(dataset.attrs["sweep"])
        except Exception:
            raise StorageError(
                f"'{file}' is there and is no store of a sweep; take another name, or write overwrite=True to replace "
                "it."
            ) from None
        self.definition.check_same(stored, file)

    # ---- filling ------------------------------------------------------------------------------------

    def keep_plan(self, plan: Plan) -> None:
        """Remember what the runs share."""
        self.plan = plan
        if self.rows is not None:
            self._write_json("plan.json", plan.as_dict())

    def pilot(self, index: int) -> bytes | None:
        """Return what a pilot has found, if it is known."""
        path = "" if self.rows is None else os.path.join(self.rows.folder, f"{index:08d}.pilot.json")
        if not os.path.exists(path):
            return None
        with open(path, "rb") as handle:
            return handle.read()

    def put_pilot(self, index: int, raw: bytes) -> None:
        """Take what a pilot has found."""
        if self.rows is not None:
            self._write_json(f"{index:08d}.pilot.json", json.loads(raw))

    def put(self, index: int, raw: bytes | None) -> None:
        """Take a finished run; None if its file is there already."""
        if self.rows is None:
            assert raw is not None
            self._finished[index] = raw
        elif raw is not None:
            self.rows.put(index, raw)
        self.done.add(index)
        if self.rows is not None and self._zarr:
            self._consolidate(index // self.chunk)

    def _consolidate(self, number: int) -> None:
        """Move a chunk whose runs are all finished into the Zarr store; its status is written last."""
        start = number * self.chunk
        members = range(start, min(start + self.chunk, len(self.definition.table)))
        if not all(k in self.done for k in members) or all(k in self._kept for k in members):
            return
        assert self.file is not None
        assert self.rows is not None
        try:
            if not os.path.exists(self.file):
                with replacing(self.file) as part:
                    InZarr.create(part, self._columns, fixed(self.definition), self._attributes(), self.chunk)
            self._fill(InZarr(self.file), members)
        except OSError as error:
            self._no_room(error)
        self._kept.update(members)
        self.rows.forget(members)

    def _fill(self, keeper: Keeper, members: range) -> None:
        table = stacked([self._row(k) for k in members], self.definition.problem.fields)
        for name, values in table.items():
            keeper.write(name, members.start, values)

    def _row(self, index: int) -> Row:
        return Row.from_bytes(self._finished[index]) if self.rows is None else self.rows.get(index)

    # ---- finishing ----------------------------------------------------------------------------------

    def finish(self) -> xarray.Dataset:
        """Return the whole table; what was kept on the way is removed."""
        n = len(self.definition.table)
        chunks = [range(k, min(k + self.chunk, n)) for k in range(0, n, self.chunk)]
        if self.rows is None:
            return self.partial()
        assert self.file is not None
        try:
            if self._zarr:
                for number in range(len(chunks)):
                    self._consolidate(number)
            elif not os.path.exists(self.file):
                with replacing(self.file) as part:
                    keeper = InNetCDF(part, self._columns, fixed(self.definition), self._attributes(), self.chunk)
                    for members in chunks:
                        self._fill(keeper, members)
                    keeper.close()
        except OSError as error:
            self._no_room(error)
        shutil.rmtree(self.rows.folder)
        self.close()
        return open_sweep(self.file)

    def partial(self) -> xarray.Dataset:
        """Return what is finished so far of a table in memory; the rest is pending."""
        keeper = InMemory(self._columns, fixed(self.definition), self._attributes())
        for index in sorted(self._finished):
            self._fill(keeper, range(index, index + 1))
        return keeper.dataset()

    def close(self) -> None:
        """Let others write to the store."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            os.unlink(f"{self.file}.lock")

    @property
    def progress(self) -> str:
        """Say what is safe, for messages of whatever ends a sweep."""
        count = f"{len(self.done)} of {len(self.definition.table)} runs are finished"
        if self.file is None:
            return f"{count}; give out='runs.zarr' to keep them if that happens again"
        return f"{count} and stay with '{self.file}'; the same call goes on from there"

    # ---- plumbing -----------------------------------------------------------------------------------

    def _attributes(self) -> dict[str, Any]:
        plan = (self.plan or Plan()).as_dict()
        return {"sweep": json.dumps(self.definition.document), "plan": json.dumps(plan)}

    def _write_json(self, name: str, document: Any) -> None:
        assert self.rows is not None
        try:
            with replacing(os.path.join(self.rows.folder, name)) as part, open(part, "x", encoding="utf-8") as handle:
                json.dump(document, handle)
        except OSError as error:
            self._no_room(error)

    def _no_room(self, error: OSError) -> NoReturn:
        why = (
            str(error) if isinstance(error, StorageError) else f"can't write '{self.file}': {error.strerror or error}."
        )
        raise StorageError(f"{why} {self.progress}.") from None


def open_sweep(file: Any) -> xarray.Dataset:
    """Open the table of a sweep that is stored as Zarr or NetCDF; large arrays are read when they are used.

    Runs that are not finished have the status ``"pending"``.

    Examples
    --------
    >>> runs = fp.sweeps.open_sweep("runs.zarr")  # doctest: +SKIP
    """
    path = path_of(file, StorageError)
    if not os.path.exists(path):
        raise StorageError(f"there is no store '{path}'.")
    try:
        return decoded(_opened(path))
    except (KeyError, ValueError, OSError) as error:
        raise StorageError(f"'{path}' is no store of a sweep, or it is damaged ({error}).") from None


def _opened(path: str) -> Any:
    import xarray as xr

    with silenced(Warning):
        if os.path.isdir(path):
            return xr.open_zarr(path, chunks=None, consolidated=False)
        return xr.open_dataset(path)


def _read_json(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as handle:
        found: dict[str, Any] = json.load(handle)
    return found


def _locked(path: str, file: str) -> Any:
    """Return an open file that no other process holds; a process that dies gives it back."""
    handle = open(path, "a", encoding="ascii")  # noqa: SIM115
    try:
        import fcntl

        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on every system
        pass
    except OSError:
        handle.close()
        raise StorageError(
            f"another sweep is writing to '{file}' right now; wait for it, or take another name."
        ) from None
    return handle
