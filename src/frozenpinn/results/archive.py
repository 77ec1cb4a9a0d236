"""Files of arrays and metadata in which any damage is found before a number is used.

A file is a zip archive of ``.npy`` entries that NumPy can read: the arrays, ``meta`` (JSON text), which holds a SHA-256
of every array, and ``checksum``, that of ``meta``. Entries are not compressed, so nothing in it can be larger than the
file. Nothing is parsed, and no array is made, before its bytes have been checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from frozenpinn.errors import StorageError
from frozenpinn.runtime.paths import checked_target, read_path, replacing

Array = np.ndarray
FORMAT = 8  #: of new files …
OLDEST = 7  #: … and the oldest that can be read; others are refused
META, CHECKSUM, TABLE = "meta", "checksum", "arrays"
MAX_META = 2**27  #: bytes of metadata; as objects of Python they take some ten times as much
_KINDS = "fciu"  # numbers, and nothing that could be executed
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class Contents(NamedTuple):
    """What a file holds."""

    meta: dict[str, Any]
    arrays: dict[str, Array]


# ---- writing ---------------------------------------------------------------------------------------


def write_archive(
    file: str | os.PathLike[str], meta: Mapping[str, Any], arrays: Mapping[str, Array], overwrite: bool = False
) -> None:
    """Write a file in one go: it is there as a whole, or what was there before stays."""
    checked_target(file, StorageError, overwrite)
    entries = {name: _as_bytes(array) for name, array in arrays.items()}
    table = {name: _digest(raw).hex() for name, raw in entries.items()}
    text = json.dumps({**meta, TABLE: table}).encode()
    if len(text) > MAX_META:
        raise StorageError(f"can't write '{file}': its metadata have {len(text)} bytes, more than {MAX_META}.")
    entries[META] = _as_bytes(np.frombuffer(text, dtype=np.uint8))
    entries[CHECKSUM] = _as_bytes(np.frombuffer(_digest(entries[META]), dtype=np.uint8))
    with replacing(file, overwrite) as part, open(part, "xb") as handle:
        _write(handle, entries)


def _write(handle: BinaryIO, entries: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:
        for name, raw in entries.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), raw)  # without a date: the same solution, the same bytes


def _as_bytes(array: Array) -> bytes:
    buffer = BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


# ---- reading ---------------------------------------------------------------------------------------


class Reader:
    """Reads one file and names the place of whatever is wrong with it."""

    def __init__(self, file: str | os.PathLike[str], format: int) -> None:
        self.file, self.format = read_path(file, StorageError), format

    def damaged(self, why: str) -> NoReturn:
        """Refuse the file."""
        raise StorageError(f"'{self.file}' is not a stored frozenpinn solution, or it is damaged: {why}.")

    def read(self) -> Contents:
        """Return metadata and arrays after all checks."""
        try:
            with open(self.file, "rb") as handle:
                if not zipfile.is_zipfile(handle):
                    self.damaged("it is no archive of arrays, or its end is missing")
                with zipfile.ZipFile(handle) as archive:
                    return self._contents(archive, os.fstat(handle.fileno()).st_size)
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"can't read '{self.file}': {error.strerror or error}.") from None
        except (
            zipfile.BadZipFile,
            zlib.error,
            ValueError,
            LookupError,
            EOFError,
            NotImplementedError,
            RuntimeError,
        ) as e:
            self.damaged(f"its list of entries can't be read ({e})")

    def _contents(self, archive: zipfile.ZipFile, size: int) -> Contents:
        entries = self._entries(archive, size)
        raw = self._raw(archive, entries, META)
        if CHECKSUM not in entries:
            self._tell_format(self._meta(raw))
            self.damaged(f"it has no entry '{CHECKSUM}'")
        if self._array(self._raw(archive, entries, CHECKSUM), CHECKSUM).tobytes() != _digest(raw):
            self.damaged(f"'{META}' or '{CHECKSUM}' has been changed")
        meta = self._meta(raw)
        self._tell_format(meta)
        table = meta.pop(TABLE, None)
        if not isinstance(table, dict):
            self.damaged(f"'{META}' has no checksums of the arrays")
        arrays = {name: self._checked(archive, entries, name, checksum) for name, checksum in table.items()}
        extra = sorted(set(entries) - {META, CHECKSUM, *arrays})
        if extra:
            self.damaged(f"the entry '{extra[0]}' is not listed in '{META}'")
        return Contents(meta, arrays)

    def _entries(self, archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
        """Return the entries by name: few enough, not compressed, each once, all of them within the file."""
        max_arrays = 1_000_000
        listed = archive.infolist()
        if len(listed) > max_arrays:
            self.damaged(f"it has {len(listed)} entries")
        for info in listed:
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
                self.damaged(f"'{info.filename}' is compressed, as in files of format 6 and before; solve again")
        if sum(info.file_size for info in listed) > size:
            self.damaged(f"its entries say that they are longer than the file of {size} bytes")
        entries = {info.filename.removesuffix(".npy"): info for info in listed}
        if len(entries) < len(listed):
            self.damaged("an entry is there twice")
        return entries

    def _raw(self, archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], name: str) -> bytes:
        if name not in entries:
            self.damaged(f"it has no entry '{name}'")
        try:
            return archive.read(entries[name])
        except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError, OSError) as e:
            self.damaged(f"the entry '{name}' can't be read ({e})")

    def _checked(
        self, archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], name: str, checksum: object
    ) -> Array:
        raw = self._raw(archive, entries, name)
        if _digest(raw).hex() != checksum:
            self.damaged(f"the array '{name}' has been changed")
        return self._array(raw, name)

    def _array(self, raw: bytes, name: str) -> Array:
        """Return the array of an entry, if its header fits its bytes."""
        stream = BytesIO(raw)
        try:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(stream)
        except Exception as error:  # the header is Python text; whatever it holds is read as data or refused
            self.damaged(f"the header of '{name}' can't be read ({type(error).__name__})")
        count, offset = 1, stream.tell()
        for n in shape:
            count *= n
        if dtype.kind not in _KINDS or any(n < 0 for n in shape) or count * dtype.itemsize != len(raw) - offset:
            self.damaged(f"the header of '{name}' does not fit its {len(raw) - offset} bytes")
        own = np.frombuffer(raw, dtype, count, offset).copy()
        return own.reshape(shape, order="F" if fortran else "C")

    def _meta(self, raw: bytes) -> dict[str, Any]:
        """Return the metadata; their length and nesting are checked before they are parsed."""
        max_depth = 100  # levels of lists and tables in the metadata
        text = self._array(raw, META).tobytes()
        if len(text) > MAX_META:
            self.damaged(f"'{META}' has {len(text)} bytes, more than {MAX_META}")
        if _depth(text) > max_depth:
            self.damaged(f"'{META}' is nested deeper than {max_depth} levels")
        try:
            meta = json.loads(text.decode())
        except (ValueError, RecursionError) as error:
            self.damaged(f"'{META}' is no JSON text ({error})")
        if not isinstance(meta, dict):
            self.damaged(f"'{META}' is no table")
        return meta

    def _tell_format(self, meta: Mapping[str, Any]) -> None:
        """Refuse formats that this version does not read."""
        found = meta.get("format")
        if found is None:
            self.damaged(f"'{META}' tells no format")
        if not (isinstance(found, int) and OLDEST <= found <= self.format):
            shown = repr(found)[:20]
            raise StorageError(f"'{self.file}' has format {shown}; this version reads format {self.format}.")


def _depth(text: bytes) -> int:
    """Return how deeply lists and tables are nested in a JSON text."""
    marks = np.frombuffer(_TEXT.sub(b"", text), dtype=np.uint8)
    opens, closes = (np.isin(marks, list(characters)) for characters in (b"[{", b"]}"))
    return int(np.max(np.cumsum(opens.astype(np.int64) - closes), initial=0))
