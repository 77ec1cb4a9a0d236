"""Paths that users give: of a kind that names a file, in a folder that is there."""

from __future__ import annotations

import os
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


def checked_target(file: Any, kind: type[FrozenPinnError]) -> str:
    """Return the path of a file that can be written, before anything is spent on its contents."""
    path = path_of(file, kind)
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise kind(f"can't write '{path}': it is a folder; add the name of a file.")
    if not os.path.isdir(folder):
        raise kind(f"can't write '{path}': there is no folder '{os.path.dirname(path)}'.")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise kind(f"can't write '{path}': permission denied.")
    return path


def checked_picture(file: Any, kind: type[FrozenPinnError] = StorageError) -> str:
    """Return the path of a picture that can be written, in a format that matplotlib has."""
    from matplotlib.figure import Figure

    path, known = checked_target(file, kind), sorted(Figure().canvas.get_supported_filetypes())
    ending = os.path.splitext(path)[1].lstrip(".").lower()
    if ending not in known:
        close = suggestion(ending, known)
        raise kind(f"can't draw '{path}'; the file must end in one of {', '.join(known)}.{close}")
    return path
