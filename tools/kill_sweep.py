"""Kill a sweep again and again, its workers and itself; tell whether the table has the bits of an undisturbed one.

    python tools/kill_sweep.py --runs 60 --kills 8 --workers-killed 25 --seed 1

Every kill is SIGKILL, at a random moment. The same call goes on from what is stored.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CLIENT = """
import sys
import numpy as np
import frozenpinn as fp

if __name__ == "__main__":
    problem = fp.Problem(
        "u_t + u*u_x = nu*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0", parameters={"nu": 0.1}
    )
    values = list(np.linspace(0.02, 0.2, int(sys.argv[3])))
    runs = fp.sweep(
        problem, {"nu": values}, tol=1e-3, points=33, times=[0, 0.5, 1], workers=2, out=sys.argv[1], progress=False
    )
    np.save(sys.argv[2], np.concatenate([runs[name].values.ravel() for name in ("u", "u_error_estimate")]))
"""


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def disturbed(command: list[str], kills: int, others: int) -> tuple[int, int, int]:
    """Run a command until it ends by itself; return how often it and its children were killed, and its starts."""
    own = theirs = starts = 0
    while True:
        starts += 1
        client = subprocess.Popen(command)
        until = time.monotonic() + random.uniform(2, 14)
        while client.poll() is None:
            time.sleep(random.uniform(0.2, 1.2))
            workers = children(client.pid)
            if workers and theirs < others and random.random() < 0.5:
                try:
                    os.kill(random.choice(workers), signal.SIGKILL)
                    theirs += 1
                except ProcessLookupError:
                    continue
            if time.monotonic() > until and own < kills:
                client.kill()
                own += 1
                client.wait()
        if client.returncode == 0:
            return own, theirs, starts
        if client.returncode != -signal.SIGKILL:
            sys.exit(f"the sweep ended with exit code {client.returncode}")


def main() -> None:
    """Run the sweep twice and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--kills", type=int, default=8, help="of the call itself")
    parser.add_argument("--workers-killed", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random.seed(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "client.py")
        script.write_text(CLIENT, encoding="utf-8")
        tables = []
        for name, kills, others in (("quiet", 0, 0), ("killed", given.kills, given.workers_killed)):
            table = Path(folder, f"{name}.npy")
            command = [sys.executable, str(script), str(Path(folder, f"{name}.zarr")), str(table), str(given.runs)]
            counts = disturbed(command, kills, others)
            tables.append(np.load(table))
        same = np.array_equal(*tables)
    bits = "same" if same else "OTHER"
    print(f"killed {counts[0]} times, its workers {counts[1]} times, {counts[2]} starts: {bits} bits")
    sys.exit(not same)


if __name__ == "__main__":
    main()
