"""Paths that users give: of a kind that names a file, in a folder that is there."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from frozenpinn.errors import FrozenPinnError, StorageError, suggestion


def path_of(file: Any, kind: type[FrozenPinnError]) -> str:
    """Return a path as text; numbers are refused, which Python would take for open files."""
    text = os.fspath(file) if isinstance(file, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise kind(f"a file is given by its path, such as 'solution.fpinn'; got {file!r}.")
    return text


def read_path(file: Any, kind: type[FrozenPinnError]) -> str:
    """Return the path of a file that is there."""
    path = path_of(file, kind)
    if os.path.isdir(path):
        raise kind(f"'{path}' is a folder; add the name of a file.")
    if not os.path.isfile(path):
        raise kind(f"there is no file '{path}'.")
    return path


def checked_target(file: Any, kind: type[FrozenPinnError], overwrite: bool = True) -> str:
    """Return the path of a file that can be written, before anything is spent on its contents."""
    path = path_of(file, kind)
    if not isinstance(overwrite, bool):
        raise kind(f"overwrite is True or False, got {overwrite!r}.")
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise kind(f"can't write '{path}': it is a folder; add the name of a file.")
    if not os.path.isdir(folder):
        raise kind(f"can't write '{path}': there is no folder '{os.path.dirname(path)}'.")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise kind(f"can't write '{path}': permission denied.")
    if not overwrite and os.path.exists(path):
        raise kind(f"there is a file '{path}' already; take another name, or write overwrite=True to replace it.")
    return path


@contextmanager
def replacing(file: Any, overwrite: bool = True) -> Iterator[str]:
    """Yield the path of a new file, or folder, that takes the place of ``file`` when all of it is written.

    If anything fails, what was there before stays, and nothing is left behind. Libraries that write raise errors of
    their own kinds where a disk is full; all of them become a :class:`StorageError`.
    """
    least = 1e5  # bytes that are free on a disk that is not full
    target = os.path.realpath(checked_target(file, StorageError, overwrite))
    stem, ending = os.path.splitext(target)
    part = f"{stem}.{secrets.token_hex(4)}.part{ending}"
    try:
        yield part
        os.replace(part, target)
    except FrozenPinnError:
        raise
    except Exception as error:
        why = getattr(error, "strerror", None) or str(error).strip().rstrip(".") or type(error).__name__
        full = shutil.disk_usage(os.path.dirname(target)).free < least
        raise StorageError(f"can't write '{file}': {why}{'; the disk is full' * full}.") from error
    finally:
        if os.path.isdir(part):
            shutil.rmtree(part)
        elif os.path.exists(part):
            os.unlink(part)


def checked_picture(file: Any, kind: type[FrozenPinnError] = StorageError) -> str:
    """Return the path of a picture that can be written, in a format that matplotlib has."""
    from matplotlib.figure import Figure

    path, known = checked_target(file, kind), sorted(Figure().canvas.get_supported_filetypes())
    ending = os.path.splitext(path)[1].lstrip(".").lower()
    if ending not in known:
        close = suggestion(ending, known)
        raise kind(f"can't draw '{path}'; the file must end in one of {', '.join(known)}.{close}")
    return path
