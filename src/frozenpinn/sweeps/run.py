"""``sweep``: one problem, many parameters, a table of all solutions."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import InterruptionError, SettingsError, StorageError
from frozenpinn.runtime.arguments import is_whole, shown, spelled
from frozenpinn.runtime.budget import Budget
from frozenpinn.runtime.threads import one_thread
from frozenpinn.search.settings import Settings, Sizes, read_tolerance
from frozenpinn.solve import check
from frozenpinn.statement.problem import Problem
from frozenpinn.sweeps.definition import Definition, applied, make_places, make_table
from frozenpinn.sweeps.executors import SweepError, in_processes, make_run, on_cluster, serially
from frozenpinn.sweeps.runs import Plan, failed, make_plan, needed, pilots_of, solved
from frozenpinn.sweeps.store import Store

if TYPE_CHECKING:
    import xarray

Announce = Callable[[str], None]
_LOG = logging.getLogger("frozenpinn.sweep")


@spelled(SettingsError)
def sweep(
    problem: Problem,
    varied: Mapping[str, Any],
    *,
    tol: float | None = None,
    points: int | Sequence[int] | np.ndarray | None = None,
    times: int | Sequence[float] | None = None,
    samples: int | None = None,
    design: str = "random",
    seed: int = 0,
    settings: Settings | None = None,
    workers: int = 1,
    client: Any = None,
    out: str | None = None,
    overwrite: bool = False,
    chunk: int | None = None,
    share: bool = True,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Announce | bool | None = None,
) -> xarray.Dataset:
    """Solve a problem for many values of its parameters, and return all solutions as an xarray dataset.

    Parameters
    ----------
    problem
        What to solve.
    varied
        By name of a parameter: a list of values, or a distribution, :class:`Normal`, :class:`Uniform`,
        ``fp.sweeps.LogUniform``. Lists make a grid of all combinations. The name ``initial`` (``initial.v`` for a
        system) varies the initial value: a list of texts, or ``fp.sweeps.GaussianField``.
    tol
        Relative L² error asked of every run; without it nothing is estimated.
    points, times
        Where solutions are evaluated: how many along each axis, or points of shape (n, d); how many times, or which.
    samples, design, seed
        How many draws of the distributions; ``"random"``, ``"sobol"``, or ``"saltelli"`` for indices of sensitivity,
        which makes ``samples * (d + 2)`` runs; and the seed, which is also that of the frozen layers.
    settings, time_limit, memory_limit
        As for :func:`solve`, for each run.
    workers, client
        Processes on this machine; or a ``dask.distributed.Client``, whose workers make the runs.
    out, overwrite, chunk
        ``runs.zarr`` or ``runs.nc``: runs are stored as they finish, and the same call goes on after any interruption.
        A store of another sweep is refused unless ``overwrite`` is set. ``chunk`` is how many runs one chunk holds.
    share
        Whether runs start from the sizes that a few pilots have needed, which is faster.
    progress
        Called with a text now and then; False for silence. By default a line on a terminal.

    Returns
    -------
    xarray.Dataset
        Fields over ``run``, space and time; the parameters as coordinates of ``run``; ``status``, ``reason``, estimated
        errors, neurons and seconds of each run. A run that fails is a row with its reason and NaN.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 1})
    >>> runs = fp.sweep(problem, {"k": [0.1, 0.2]}, tol=1e-4, points=3, times=[1.0])
    >>> runs.u.dims, runs.status.values.tolist(), float(runs.u.sel(x=0.5, t=1)[0].round(3))
    (('run', 'x', 't'), ['converged', 'converged'], 0.373)
    """
    if not isinstance(problem, Problem):
        raise SettingsError(f"sweep() takes a Problem, got {type(problem).__name__}.")
    announce = _announcer(progress)
    for name, value, least in (("workers", workers, 1), ("chunk", chunk, 1)):
        if value is not None and (not is_whole(value) or value < least):
            raise SettingsError(f"{name} is a whole number from {least} on, got {shown(value)}.")
    if not is_whole(seed) or seed < 0:
        raise SettingsError(f"seed is a whole number from 0 on, got {shown(seed)}.")
    if settings is not None and not isinstance(settings, Settings):
        raise SettingsError(f"settings is a value such as fp.Settings(width=200), got {shown(settings)}.")
    Budget(time_limit, memory_limit)
    tol = read_tolerance(tol, time_limit, memory_limit)
    table = make_table(problem, varied, samples, design, int(seed))
    definition = Definition(
        problem,
        table,
        make_places(problem, points, times),
        tol,
        int(seed),
        settings or Settings(),
        time_limit,
        memory_limit,
    )
    check(applied(problem, table.names, table.rows[0]))
    store = Store(definition, out, overwrite, chunk)
    try:
        return _filled(definition, store, workers, client, share, announce)
    except KeyboardInterrupt:
        dataset = None if store.file is not None else store.partial()
        raise InterruptionError(f"the sweep was interrupted; {store.progress}.", dataset) from None
    except SweepError as error:
        raise SweepError(f"{error} {store.progress}.", None if store.file is not None else store.partial()) from None
    except OSError as error:
        text = str(error) if isinstance(error, StorageError) else f"can't write '{out}': {error.strerror or error}."
        raise StorageError(text if store.progress in text else f"{text} {store.progress}.") from None
    finally:
        store.close()


def _filled(
    definition: Definition, store: Store, workers: int, client: Any, share: bool, announce: Announce
) -> xarray.Dataset:
    """Make the runs that are missing, and return the whole table."""
    n = len(definition.table)
    pending = [k for k in range(n) if k not in store.done]
    if pending and store.plan is None:
        store.keep_plan(_planned(definition, store, workers, announce) if share else Plan())
    plan = store.plan or Plan()
    clock = _Clock(len(pending), n, announce)

    def put(index: int, raw: bytes | None) -> None:
        store.put(index, raw)
        clock.tick()

    def lost(index: int, why: str) -> None:
        put(index, failed(definition, index, why).to_bytes())

    folder = None if store.rows is None else store.rows.folder
    if client is not None:
        on_cluster(definition, plan, pending, put, client)
    elif workers > 1:
        in_processes(partial(make_run, definition, plan, folder), pending, put, lost, workers)
    else:
        serially(partial(make_run, definition, plan, folder), pending, put)
    return store.finish()


def _planned(definition: Definition, store: Store, workers: int, announce: Announce) -> Plan:
    """Solve the pilots that are missing, on this machine."""
    found = {index: store.pilot(index) for index in pilots_of(definition)}
    pending = [index for index, raw in found.items() if raw is None]

    def put(index: int, raw: bytes | None) -> None:
        found[index] = raw
        store.put_pilot(index, raw or b"null")

    def lost(index: int, why: str) -> None:  # to go on without it would be another plan, and other bits
        raise SweepError(
            f"run {index} was to tell the others how large a network does, and {why}; share=False asks none."
        )

    if pending:
        announce(f"{len(pending)} pilots")
    if workers > 1:
        in_processes(partial(_pilot, definition), pending, put, lost, workers)
    else:
        serially(partial(_pilot, definition), pending, put)
    stored = {index: json.loads(raw or b"null") for index, raw in found.items()}
    return make_plan(definition, {k: None if s is None else Sizes.of_list(s) for k, s in stored.items()})


def _pilot(definition: Definition, index: int) -> bytes:
    with one_thread():
        first = needed(definition, lambda sizes, k: solved(definition, sizes, k), index)
    return json.dumps(None if first is None else first.as_list()).encode()


class _Clock:
    """Reports how many runs are finished, and how long the others will take."""

    def __init__(self, pending: int, total: int, announce: Announce) -> None:
        self._pending, self._total, self._announce = pending, total, announce
        self._started, self._finished = time.perf_counter(), 0

    def tick(self) -> None:
        """Count one more."""
        self._finished += 1
        left = self._pending - self._finished
        seconds = (time.perf_counter() - self._started) / self._finished * left
        rest = f", about {_duration(seconds)} left" if left else ""
        text = f"{self._total - left} of {self._total} runs{rest}"
        _LOG.info("%s", text)
        self._announce(text)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _announcer(progress: Announce | bool | None) -> Announce:
    if callable(progress):
        return progress
    if not isinstance(progress, bool | None):
        raise SettingsError(f"progress is a function that takes a text, or False; got {shown(progress)}.")
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return lambda text: None
    width = os.get_terminal_size(sys.stderr.fileno()).columns if sys.stderr.isatty() else 80

    def tell(text: str) -> None:
        sys.stderr.write(f"\r{text[: width - 1]:<{width - 1}}")
        if " left" not in text and "runs" in text:
            sys.stderr.write("\r" + " " * (width - 1) + "\r")
        sys.stderr.flush()

    return tell
