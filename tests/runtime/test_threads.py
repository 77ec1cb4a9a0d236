"""Numbers of BLAS threads."""

import os
import subprocess
import sys
import time

import pytest

from frozenpinn.runtime import threads
from frozenpinn.runtime.budget import OverrunError, deadline


def changed_and_slow(library):
    library.set_num_threads(library.num_threads + 1)
    for _ in range(500):
        time.sleep(0.01)


def test_threads_are_restored_if_a_block_is_broken_off_while_it_changes_them():
    library = threads._libraries()[0]
    before = library.num_threads
    with pytest.raises(OverrunError), deadline(0.05):
        changed_and_slow(library)
    assert library.num_threads == before


def test_sundials_has_a_library_of_its_own():
    """It is loaded when the first stiff problem is solved, which may be after threads were set for the first time."""
    code = """
import frozenpinn as fp
from threadpoolctl import threadpool_info
from frozenpinn.runtime.threads import one_thread
with one_thread():
    pass
seen = []
class Watching(fp.integrators.CVODE):
    def _linear_solver(self, system, guard):
        seen.extend(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")
        return super()._linear_solver(system, guard)
problem = fp.Problem("u_t = dx((1 + u**2)*u_x)", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
fp.solve(problem, settings=fp.Settings(width=20, windows=None, integrator=Watching(rtol=1e-6)))
assert len(seen) > 1 and set(seen) == {1}, seen
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
