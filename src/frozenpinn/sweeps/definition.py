"""What a sweep is, as a value: from it follow all its runs, and by it a store knows to which sweep it belongs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

import numpy as np

from frozenpinn.errors import EvaluationError, StorageError
from frozenpinn.runtime.arguments import shown
from frozenpinn.search.settings import Settings
from frozenpinn.statement.document import problem_to_dict
from frozenpinn.statement.problem import Problem
from frozenpinn.sweeps.designs import Table

Array = np.ndarray
FORMAT = 1  #: of stores


@dataclass(frozen=True, eq=False)
class Places:
    """Where every solution is evaluated: axes of a grid, or points (n, d); and times, None for static problems."""

    coordinates: tuple[str, ...]
    axes: tuple[Array, ...]
    points: Array | None
    times: Array | None

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions of a field."""
        return (*(self.coordinates if self.points is None else ("point",)), *(() if self.times is None else ("t",)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of these."""
        space = tuple(map(len, self.axes)) if self.points is None else (len(self.points),)
        return (*space, *(() if self.times is None else (len(self.times),)))

    @property
    def where(self) -> tuple[Any, ...]:
        """Arguments of :meth:`Solution.to_xarray`."""
        return (*(self.axes if self.points is None else (self.points,)), *(() if self.times is None else (self.times,)))

    def coords(self) -> dict[str, Any]:
        """Return the coordinates of a dataset."""
        if self.points is None:
            space: dict[str, Any] = dict(zip(self.coordinates, self.axes, strict=True))
        else:
            space = {name: ("point", c) for name, c in zip(self.coordinates, self.points.T, strict=True)}
        return space | ({} if self.times is None else {"t": self.times})


@dataclass(frozen=True, eq=False)
class Definition:
    """Problem, runs, and how each is solved and evaluated."""

    problem: Problem
    table: Table
    places: Places
    tol: float | None
    seed: int
    settings: Settings
    time_limit: float | None = None
    memory_limit: float | None = None

    @cached_property
    def document(self) -> dict[str, Any]:
        """What is compared with a store: plain texts and numbers."""
        rows = json.dumps(self.table.rows)
        stated = problem_to_dict(self.problem) or {
            "problem": repr(self.problem),
            "functions": _functions(self.problem.given),
        }
        return {
            "format": FORMAT,
            **stated,
            "varied": list(self.table.names),
            "runs": len(self.table),
            "design": self.table.design,
            "values": hashlib.sha256(rows.encode()).hexdigest(),
            "tol": self.tol,
            "seed": self.seed,
            "settings": repr(self.settings),
            "time_limit": self.time_limit,
            "memory_limit": self.memory_limit,
            "axes": list(self.places.coordinates),
            "points": _digest(*(self.places.axes if self.places.points is None else (self.places.points,))),
            "times": None if self.places.times is None else _digest(self.places.times),
        }

    def check_same(self, stored: dict[str, Any], file: str) -> None:
        """Refuse a store that belongs to another sweep; tell by what it differs."""
        mine = json.loads(json.dumps(self.document))
        differing = [key for key in {**stored, **mine} if stored.get(key) != mine.get(key)]
        if differing:
            told = "; ".join(
                f"{key} ({_told(stored.get(key))} there, {_told(mine.get(key))} here)" for key in differing
            )
            raise StorageError(
                f"'{file}' belongs to another sweep; it differs in {told}. Take another file, or write overwrite=True "
                "to replace it."
            )


def make_places(problem: Problem, points: Any, times: Any) -> Places:
    """Read where solutions are evaluated: how many points and times, or which."""
    from frozenpinn.output.exporting import POINTS, uniform_axes, uniform_times

    domain = problem.stated
    own: Array | None = None
    axes: tuple[Array, ...] = ()
    array = None if points is None or np.ndim(points) == 0 else np.asarray(points)
    if array is not None and array.ndim == 2 and array.dtype.kind in "fiu":
        if array.shape[1] != domain.dimension or not np.all(domain.contains(array.astype(float))):
            raise EvaluationError(
                f"points is how many along each axis, or points of the domain of shape (n, {domain.dimension}); "
                f"got {shown(points)}."
            )
        own = array.astype(float)
    else:
        axes = tuple(uniform_axes(problem, POINTS.get(domain.dimension, 11) if points is None else points))
    return Places(domain.coordinates, axes, own, uniform_times(problem, 51 if times is None else times))


def _functions(value: Any) -> Any:
    """Return what tells Python functions apart, wherever they stand in a statement: their code."""
    if isinstance(value, Mapping):
        return {str(key): _functions(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_functions(v) for v in value]
    code = getattr(value, "__code__", None)
    if code is not None:
        return f"{value.__name__} {hashlib.sha256(_bytes(code)).hexdigest()[:12]}"
    return type(value).__name__ if callable(value) else str(value)


def _bytes(code: CodeType) -> bytes:
    """Return the code of a function, and of those inside it."""
    constants = [_bytes(c) if isinstance(c, CodeType) else repr(c).encode() for c in code.co_consts]
    return b"".join([code.co_code, repr(code.co_names).encode(), *constants])


def _digest(*arrays: Array) -> str:
    told = " x ".join(str(len(a)) for a in arrays)
    raw = b"".join(np.ascontiguousarray(a, dtype="<f8").tobytes() for a in arrays)
    return f"{told} ({hashlib.sha256(raw).hexdigest()[:12]})"


def _told(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
