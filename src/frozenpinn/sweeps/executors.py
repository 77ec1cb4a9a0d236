"""Who makes the runs: this process, several on this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

from frozenpinn.errors import FrozenPinnError, MissingExtraError, SettingsError, StorageError
from frozenpinn.sweeps.definition import Definition
from frozenpinn.sweeps.runs import Plan, failed, run
from frozenpinn.sweeps.store import Rows

Put: TypeAlias = Callable[[int, bytes | None], None]
Work: TypeAlias = Callable[[int], bytes | None]


class SweepError(FrozenPinnError, RuntimeError):
    """A sweep could not go on; what was finished is kept.

    Attributes
    ----------
    dataset
        What is finished of a sweep without a store, the other runs pending; None if it has a store.
    """

    def __init__(self, message: str, dataset: Any = None) -> None:
        super().__init__(message)
        self.dataset = dataset


def make_run(definition: Definition, plan: Plan, folder: str | None, index: int) -> bytes | None:
    """Make a run; store it in a folder, or return it."""
    raw = run(definition, plan, index).to_bytes()
    if folder is None:
        return raw
    Rows(folder).put(index, raw)
    return None


def serially(work: Work, pending: Sequence[int], put: Put) -> None:
    """Work on one index after the other."""
    for index in pending:
        put(index, work(index))


# ---- processes ---------------------------------------------------------------------------------------


@dataclass
class Worker:
    """A process, the way to it, and the index that it is working on."""

    process: Any
    connection: Connection
    index: int | None = None


def in_processes(work: Work, pending: Sequence[int], put: Put, lost: Callable[[int, str], None], count: int) -> None:
    """Work on all indices in several processes; dead ones are replaced; ``lost`` gets the indices that always fail."""
    tries = 5  # of a run whose process dies
    todo, deaths = deque(pending), Counter[int]()
    context: Any = mp.get_context("fork" if sys.platform.startswith("linux") else "spawn")

    def hired() -> Worker:
        mine, its = context.Pipe()
        process = context.Process(target=_work, args=(its, work, os.getpid()), daemon=True)
        process.start()
        its.close()
        return Worker(process, mine)

    def next_run(worker: Worker) -> None:
        worker.index = todo.popleft() if todo else None
        if worker.index is not None:
            worker.connection.send(worker.index)

    workers = [hired() for _ in range(min(count, len(todo)))]
    try:
        for worker in workers:
            next_run(worker)
        while any(worker.index is not None for worker in workers):
            wait([w.connection for w in workers if w.index is not None])
            for k, worker in enumerate(workers):
                if worker.index is None or not worker.connection.poll():
                    continue
                try:
                    index, raw, fault = worker.connection.recv()
                except (EOFError, ConnectionResetError):
                    gone = worker.index
                    deaths[gone] += 1
                    worker.process.join()
                    if deaths[gone] < tries:
                        todo.appendleft(gone)
                    else:
                        code = worker.process.exitcode
                        lost(gone, f"its process died {tries} times (exit code {code}: killed, or out of memory)")
                    workers[k] = hired()
                    next_run(workers[k])
                    continue
                if fault is not None:
                    raise StorageError(fault)
                put(index, raw)
                next_run(worker)
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
            worker.process.join()


def _work(connection: Connection, work: Work, parent: int) -> None:
    """Work until there are no more requests."""
    patience = 0.5  # seconds after which a worker checks whether its parent still runs
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    while True:
        while not connection.poll(patience):
            if os.getppid() != parent:
                return
        try:
            index = connection.recv()
        except (EOFError, OSError):
            return
        raw, fault = None, None
        try:
            raw = work(index)
        except OSError as error:
            fault = str(error)
        try:
            connection.send((index, raw, fault))
        except OSError:
            return  # nobody is waiting any more; what was found is stored


# ---- Dask --------------------------------------------------------------------------------------------


def on_cluster(definition: Definition, plan: Plan, pending: Sequence[int], put: Put, client: Any) -> None:
    """Make the runs on the workers of a Dask client; what they find comes back here to be stored."""
    ahead = 3  # runs that a Dask worker has in stock
    try:
        import distributed
    except ImportError:
        raise MissingExtraError.of("client= needs", "distributed", "dask") from None
    if not isinstance(client, distributed.Client):
        raise SettingsError(f"client is a dask.distributed.Client, got {type(client).__name__}.")
    try:
        shared = client.scatter((definition, plan), broadcast=True, hash=False)
        room = max(2, ahead * sum(client.nthreads().values()))
        todo = deque(pending)

        def submit() -> Any:
            index = todo.popleft()
            future = client.submit(_remote, shared, index, key=f"frozenpinn-{id(todo)}-{index}", pure=False, retries=0)
            indices[future.key] = index
            return future

        indices: dict[str, int] = {}
        ready = distributed.as_completed([submit() for _ in range(min(room, len(todo)))])
        for future in ready:
            index = indices.pop(future.key)
            if future.status == "finished":
                put(index, future.result())
            elif future.status == "error" and isinstance(future.exception(), distributed.KilledWorker):
                why = "its worker died again and again (killed, or out of memory)"
                put(index, failed(definition, index, why).to_bytes())
            elif future.status == "error":
                raise future.exception()
            else:
                raise ConnectionError(f"a run was {future.status}")
            if todo:
                ready.add(submit())
        if indices:
            raise ConnectionError("not all runs have come back")
    except FrozenPinnError:
        raise
    except Exception as error:  # Dask has many kinds of them
        raise SweepError(f"the cluster went away ({type(error).__name__}: {str(error)[:120]}).") from None


def _remote(shared: tuple[Definition, Plan], index: int) -> bytes:
    return run(*shared, index).to_bytes()
