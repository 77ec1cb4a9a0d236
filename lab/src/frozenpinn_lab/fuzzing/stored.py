"""Damaged files of stored solutions: what loads must evaluate to the values that were stored."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from frozenpinn.geometry import Box, Interval
from frozenpinn.load import load
from frozenpinn.results.archive import FORMAT, Reader, write_archive
from frozenpinn.results.solution import Solution
from frozenpinn.results.storage import save_solution
from frozenpinn.search.settings import Settings
from frozenpinn.solve import solve
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.fuzzing.trial import Trial, WrongValueError

Array = np.ndarray
VALUES: tuple[Any, ...] = (
    None,
    0,
    -1,
    1e308,
    "text",
    "",
    [],
    {},
    True,
    [[]],
    "1e999",
    2**70,
    {"kind": "network"},
    10**9,
    0.5,
    -1e-3,
    1e-300,
)


def stored(rng: np.random.Generator, count: int) -> Iterator[Trial]:
    """Yield loads of files with flipped bits, pieces cut out, and contents that somebody has made up."""
    ways = (_flipped, _flipped, _flipped, _cut, _overwritten, _doubled, _other_meta, _other_meta, _other_array)
    _files()  # made before the trials, whose errors are looked at
    for i in range(count):
        which, way, seed = i % 3, ways[i % len(ways)], int(rng.integers(2**31))
        yield Trial(f"solution {which}, {way.__name__.strip('_')}, seed {seed}", _load(which, way, seed))


def _load(which: int, way: Callable[[bytes, np.random.Generator], bytes], seed: int) -> Callable[[], object]:
    def reading() -> None:
        raw, expected = _files()[which]
        made_up = way in (_other_meta, _other_array)  # with the right checksums: the values may be others
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "s.fpinn")
            with open(file, "wb") as handle:
                handle.write(way(raw, np.random.default_rng(seed)))
            values = _values(file)
        if not made_up and not np.array_equal(values, expected):
            raise WrongValueError(f"{values} instead of {expected}")

    return reading


def _values(file: str) -> Array:
    solution = load(file)
    assert isinstance(solution, Solution)
    middle = (np.asarray(solution.problem.domain.lower) + solution.problem.domain.upper) / 2.0
    start, end = solution.problem.time
    return np.array([solution(*middle, t) for t in (start, (start + end) / 2.0, end)])


@cache
def _files() -> list[tuple[bytes, Array]]:
    """Return the bytes of three stored solutions and some of their values."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k, (problem, settings) in enumerate(_problems()):
            file = os.path.join(folder, f"{k}.fpinn")
            save_solution(solve(problem, settings=settings), file)
            with open(file, "rb") as handle:
                found.append((handle.read(), _values(file)))
    return found


def _problems() -> Iterator[tuple[Problem, Settings]]:
    yield Problem("u_t = u_xx", Interval(0, 1), (0, 0.2), "sin(pi*x)", "u = 0"), Settings(width=20)
    moving = {"left": "u = sin(t)", "right": "u_n = 0"}
    yield Problem("u_t = u_xx - u**3", Interval(0, 1), (0, 1), 0, moving), Settings(width=20, windows=None)
    box = Box([0, 0], [1, 1], periodic=True)
    yield Problem("u_t = lap(u)", box, (0, 0.1), "sin(2*pi*x)*cos(2*pi*y)"), Settings(width=8, subspace=None)


# ---- damage ------------------------------------------------------------------------------------------


def _flipped(raw: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(raw)
    for place in rng.integers(0, len(raw), int(rng.integers(1, 4))):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _span(raw: bytes, rng: np.random.Generator) -> tuple[int, int]:
    a = int(rng.integers(0, len(raw)))
    return a, min(len(raw), a + int(10 ** rng.uniform(0, 4)))


def _cut(raw: bytes, rng: np.random.Generator) -> bytes:
    a, b = _span(raw, rng)
    return raw[:a] if rng.random() < 0.5 else raw[:a] + raw[b:]


def _overwritten(raw: bytes, rng: np.random.Generator) -> bytes:
    a, b = _span(raw, rng)
    return raw[:a] + (bytes(b - a) if rng.random() < 0.5 else rng.bytes(b - a)) + raw[b:]


def _doubled(raw: bytes, rng: np.random.Generator) -> bytes:
    a, b = _span(raw, rng)
    return raw[:b] + raw[a:]


def _rewritten(raw: bytes, change: Callable[[dict[str, Any], dict[str, Array]], None]) -> bytes:
    """Return a file with other contents and checksums that fit them."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "s.fpinn")
        with open(file, "wb") as handle:
            handle.write(raw)
        meta, arrays = Reader(file, FORMAT).read()
        change(meta, arrays)
        write_archive(file, meta, arrays, overwrite=True)
        with open(file, "rb") as handle:
            return handle.read()


def _other_meta(raw: bytes, rng: np.random.Generator) -> bytes:
    """Replace or remove something in the metadata, at any depth."""

    def change(meta: dict[str, Any], _arrays: dict[str, Array]) -> None:
        place: Any = meta
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = keys[int(rng.integers(len(keys)))]
            inner = place[key]
            if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
                place = inner
            elif rng.random() < 0.3:
                del place[key]
                return
            else:
                place[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
                return

    return _rewritten(raw, change)


def _other_array(raw: bytes, rng: np.random.Generator) -> bytes:
    """Replace an array by one of another shape or type, or remove it."""

    def change(_meta: dict[str, Any], arrays: dict[str, Array]) -> None:
        name = sorted(arrays)[int(rng.integers(len(arrays)))]
        array = arrays[name]
        array = np.atleast_1d(array)
        others: list[Array] = [
            array[:-1],
            array[None],
            np.zeros(0),
            np.full(array.shape, np.nan),
            array.astype(int),
            array.T,
            array[::-1],
            np.concatenate([array, array]),
            np.where(np.arange(array.size).reshape(array.shape) == array.size // 2, np.inf, array),
            -array if array.dtype.kind != "u" else array,
            array * 1e300 if array.dtype.kind in "fc" else array,
        ]
        choice = int(rng.integers(len(others) + 1))
        if choice == len(others):
            del arrays[name]
        else:
            arrays[name] = others[choice]

    return _rewritten(raw, change)
