"""Scaling: what one right-hand side of a product network costs, and what assembling it takes in memory.

The equation is uₜ = ε² Δu + u − u³ in a closed box of two or three dimensions. Networks of given sizes are assembled as
any solve does it; in place of an integrator, a stop-watch calls the right-hand side, on one thread. N counts the
unknowns, which are fewer than products of neurons, as the SVD layer drops some. Products along axes of a tensor of N
numbers take N^(1 + 1/d) operations, the ``law``; the exponent is fitted to the larger half of the sizes.

``memory`` is the peak of what was allocated for assembling and for a first right-hand side, as ``tracemalloc`` sees it,
in units of the state and the values at the quadrature points. What a process allocates once (modules, libraries) is
not in it, as a small size is assembled before; what is allocated for the statement (symbols, programs) is, some hundred
kilobytes that matter for small sizes only.
"""

from __future__ import annotations

import re
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.errors import FrozenPinnError, SettingsError
from frozenpinn.geometry import Box
from frozenpinn.integrators import Observer, OdeSystem, Trajectory
from frozenpinn.integrators.protocol import NOBODY
from frozenpinn.search.settings import Settings
from frozenpinn.solve import check, solve
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.runner import FAILURES, failure, timed
from frozenpinn_lab.studies.study import COLOURS, MARKERS, Announce, Row, Study, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
Size = tuple[int, ...]
SIZES = ("16x16", "32x32", "64x64", "128x128", "256x256", "8x8x8", "16x16x16", "32x32x32", "64x64x64", "96x96x96")
REPEATS = 9  # of a right-hand side, at least
SHORT = 0.3  # seconds for which it is repeated
ALLOWED = 10.0  # times state and values, drawn as a line
FIT = "fit"
_NAMES = "xyz"
_SMALL = 8  # neurons per axis of the size that is not shown


class MeasuredError(FrozenPinnError):
    """Ends a solve: everything has been measured."""


@dataclass
class StopWatch:
    """Stands in place of an integrator: measures a right-hand side and ends the solve."""

    seconds: float = 0.0
    peak: int = 0
    unknowns: int = 0
    points: int = 0

    name = "stop-watch"

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """Call the right-hand side once, look at the memory, and call it repeatedly."""
        assert isinstance(system, Discretisation)
        start, y = system.time[0], system.initial_state
        self.points = len(system.spaces[0].network.points.x)
        with threadpool_limits(1, user_api="blas"):
            system.rhs(start, y)
            self.peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            self.unknowns = y.size
            self.seconds = float(np.median(_repeated(system, start, y)))
        raise MeasuredError("measured.")


def _repeated(system: OdeSystem, t: float, y: Array) -> list[float]:
    found: list[float] = []
    while len(found) < REPEATS or sum(found) < SHORT:
        begin = time.perf_counter()
        system.rhs(t, y)
        found.append(time.perf_counter() - begin)
    return found


def read_size(text: str) -> Size:
    """Read the neurons per axis.

    Examples
    --------
    >>> read_size("64x64"), read_size("8x12x8")
    ((64, 64), (8, 12, 8))
    """
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){1,2}", text):
        raise SettingsError(f"a size is two or three numbers of neurons such as 64x64 or 24x24x24, got '{text}'.")
    return tuple(map(int, text.split("x")))


def box_problem(dimension: int) -> Problem:
    """Return two phases in a closed box."""
    names = _NAMES[:dimension]
    initial = f"{'*'.join(f'cos(pi*{name})' for name in names)} + {'*'.join(f'cos(2*pi*{name})' for name in names)}/2"
    domain = Box([0] * dimension, [1] * dimension)
    return Problem("u_t = 0.01*lap(u) + u - u^3", domain, (0, 1), initial, "u_n = 0")


def rows(seeds: int, announce: Announce, size: Sequence[str] = SIZES) -> list[Row]:
    """Return medians over the seeds, one row per size and one with the fitted exponent per dimension."""
    sizes = sorted((read_size(text) for text in size), key=lambda s: (len(s), np.prod(s)))
    table: list[Row] = []
    for _, group in groupby(sizes, key=len):
        found = [_measured(each, seeds, announce) for each in group]
        table += [*found, fit(found)]
    return table


def _measured(size: Size, seeds: int, announce: Announce) -> Row:
    text = " × ".join(map(str, size))
    row: Row = {
        "size": text,
        "dimension": len(size),
        **dict.fromkeys(("unknowns", "points", "seconds", "exponent", "law", "memory")),
        "failures": [],
    }
    problem, found = box_problem(len(size)), []
    check(problem)
    for seed in range(seeds):
        announce(f"{text}, seed {seed}")
        try:
            measure(problem, (_SMALL,) * len(size), seed)
            found.append(timed(measure, problem, size, seed)[0])
        except FAILURES as error:
            row["failures"].append(f"{text}, seed {seed}: {failure(error)['reason']}")
    if found:
        values = np.median(found, axis=0).tolist()
        row |= dict(zip(("unknowns", "points", "seconds", "memory"), values, strict=True))
    return row


def measure(problem: Problem, size: Size, seed: int) -> tuple[int, int, float, float]:
    """Return unknowns, quadrature points, seconds of a right-hand side, and memory in units of both."""
    width: Any = size[0] if len(set(size)) == 1 else size
    watch = StopWatch()
    settings = Settings(width=width, integrator=watch, subspace=None)
    tracemalloc.start()
    try:
        solve(problem, seed=seed, settings=settings)
    except MeasuredError:
        pass
    finally:
        tracemalloc.stop()
    return watch.unknowns, watch.points, watch.seconds, watch.peak / (8 * (watch.unknowns + watch.points))


def fit(found: Sequence[Row]) -> Row:
    """Return the row of the exponent of N with which seconds grow, over the larger half of the sizes."""
    dimension = found[0]["dimension"]
    known = [(row["unknowns"], row["seconds"]) for row in found if row["seconds"] is not None]
    larger = np.log(np.array(known[-max(2, (len(known) + 1) // 2) :]))
    exponent = float(np.polyfit(larger[:, 0], larger[:, 1], 1)[0]) if len(larger) > 1 else None
    return {
        "size": f"{FIT} in {dimension} dimensions",
        "dimension": dimension,
        **dict.fromkeys(("unknowns", "points", "seconds", "memory")),
        "exponent": exponent,
        "law": 1 + 1 / dimension,
        "failures": [],
    }


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw seconds with the law through the first of the larger half, and memory with what is allowed."""
    cost, memory = figure.subplots(1, 2)
    for k, dimension in enumerate(sorted({row["dimension"] for row in rows})):
        own = [row for row in rows if row["dimension"] == dimension]
        runs = [row for row in own if row["seconds"] is not None]
        if not runs:
            continue
        n, seconds, used = (np.array([row[key] for row in runs]) for key in ("unknowns", "seconds", "memory"))
        exponent, law = own[-1]["exponent"], own[-1]["law"]
        style = {"color": COLOURS[k], "marker": MARKERS[k]}
        grown = "" if exponent is None else f": N^{exponent:.2f}"
        cost.loglog(n, seconds, label=f"{dimension} dimensions{grown}", **style)
        anchor = len(n) // 2
        line = seconds[anchor] * (n / n[anchor]) ** law
        cost.loglog(n, line, "--", color=COLOURS[k], linewidth=1, label=f"N^{law:.2f}")
        memory.loglog(n, used, label=f"{dimension} dimensions", **style)
    memory.axhline(ALLOWED, color="0.5", linestyle="--", zorder=0)
    finish(cost, xlabel="unknowns N", ylabel="seconds of one right-hand side")
    finish(memory, xlabel="unknowns N", ylabel="peak memory / (state + quadrature values)")


STUDY = Study(
    "scaling",
    "cost of a right-hand side on boxes",
    "size",
    ("unknowns", "points", "seconds", "exponent", "law"),
    rows,
    beside=("memory",),
    draw=draw,
    size=(11, 4.6),
    options=("size",),
)
