"""Sweeps at scale: viscosities of Burgers' equation at tol=1e-4, against independent solves and the number of workers.

One and two workers are measured; ``--seeds N`` takes 100 N viscosities from 0.01 to 0.1. Times are CPU times, so that
they mean something on a busy machine: that of the client plus that of the worker that has most to do. Beyond, the queue
is simulated: workers take runs as they become free, and the client needs a moment for each, measured with processes and
with the scheduler of Dask. ``memory`` is the most that a worker has used, in MB; ``memory_few`` that after a quarter
of the runs.
"""

from __future__ import annotations

import heapq
import resource
import time
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

from frozenpinn.geometry import Interval
from frozenpinn.solve import solve
from frozenpinn.statement.problem import Problem
from frozenpinn.sweeps import sweep
from frozenpinn_lab.studies.study import Announce, Row, Study

TOL = 1e-4
SIMULATED = (10, 100, 1000)
RUNS_EACH = 20  # of a simulated worker
NO_OPS = 200  # tasks by which the scheduler of Dask is measured
GRID: dict[str, Any] = {"points": 101, "times": 51}


def burgers(nu: float = 0.05) -> Problem:
    """Return Burgers' equation with a viscosity."""
    return Problem("u_t + u*u_x = nu*u_xx", Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0", parameters={"nu": nu})


def rows(seeds: int, announce: Announce, runs: int | None = None) -> list[Row]:
    """Return one row for each number of workers.

    Parameters
    ----------
    seeds, announce
        How many hundreds of runs, and whom to tell.
    runs
        How many runs instead.
    """
    n = 100 * seeds if runs is None else runs
    nus = np.linspace(0.01, 0.1, n).tolist()
    solve(burgers(), tol=TOL).grid(**GRID)  # what is imported on first use
    announce(f"{len(nus[::10])} independent solves")
    started = time.process_time()
    for nu in nus[::10]:
        solve(burgers(nu), tol=TOL).grid(**GRID)
    alone = (time.process_time() - started) / len(nus[::10])
    measured = {}
    _measured(nus[::4], 2)
    few = _peak(True)
    for workers in (1, 2):
        announce(f"{n} runs, {workers} worker(s)")
        measured[workers] = _measured(nus, workers)
    one = measured[1]["cpu"]
    found = []
    for workers, row in measured.items():
        speedup = one / row["cpu"]
        found.append(_row(workers, "measured", n / row["cpu"], speedup, alone * n / row["cpu"], row["memory"]))
    found[-1]["memory_few"] = few
    client = measured[2]["client"] / n
    announce("the scheduler of Dask")
    dask = _dask_overhead()
    for workers in SIMULATED:
        lengths = list(islice(cycle(measured[1]["lengths"]), RUNS_EACH * workers))
        rate = len(lengths) / makespan(lengths, workers, client)
        on_dask = None if dask is None else len(lengths) / makespan(lengths, workers, dask)
        speedup = rate * one / n
        found.append({**_row(workers, "simulated", rate, speedup, alone * rate, None), "on_dask": on_dask})
    return found


def makespan(lengths: Sequence[float], workers: int, overhead: float) -> float:
    """Return how long workers take for runs that a client hands out one by one, needing a moment for each.

    >>> makespan([1.0, 1.0, 1.0, 1.0], 2, 0.0), makespan([1.0, 1.0], 2, 0.5)
    (2.0, 2.0)
    """
    free, ends = 0.0, [0.0] * workers
    for length in lengths:
        ready = heapq.heappop(ends)
        free = max(free, ready) + overhead
        heapq.heappush(ends, free + length)
    return max(ends)


def _measured(nus: list[float], workers: int) -> Row:
    """Make a sweep; return CPU seconds of the longest way through it, and what a worker needs of memory."""
    own, children = time.process_time(), _children()
    runs = sweep(burgers(), {"nu": nus}, tol=TOL, **GRID, workers=workers, progress=False)
    own = time.process_time() - own
    lengths = runs.seconds.values.tolist()
    if workers == 1:
        return {"cpu": own, "client": 0.0, "lengths": lengths, "memory": None}
    pilots = max(0.0, _children() - children - sum(lengths))
    cpu = own + pilots / workers + makespan(lengths, workers, 0.0)
    return {"cpu": cpu, "client": own, "lengths": lengths, "memory": _peak(True)}


def _row(workers: int, kind: str, rate: float, speedup: float, independent: float, memory: float | None) -> Row:
    return {
        "workers": workers,
        "kind": kind,
        "runs_per_second": rate,
        "on_dask": None,
        "speedup": speedup,
        "against_independent": independent,
        "memory": memory,
        "memory_few": None,
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peak(children: bool) -> float:
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss / 1024.0


def _dask_overhead() -> float | None:
    """Return the seconds that the scheduler of Dask and its client need for a task that does nothing."""
    try:
        import distributed
    except ImportError:
        return None
    options = {
        "n_workers": 1,
        "threads_per_worker": 2,
        "processes": False,
        "dashboard_address": None,
        "silence_logs": 50,
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        started = time.process_time()
        for future in distributed.as_completed([client.submit(abs, -k, pure=False) for k in range(NO_OPS)]):
            future.result()
        return (time.process_time() - started) / NO_OPS


STUDY = Study(
    "sweep",
    "Burgers' equation for many viscosities: throughput against workers",
    "workers",
    ("runs_per_second", "on_dask"),
    rows,
    ordinate="runs per second of CPU time",
    beside=("speedup", "against_independent"),
    beside_ordinate="times faster than one worker, and than independent solves",
    details=("kind", "memory_few", "memory"),
)
