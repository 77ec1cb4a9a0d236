"""How much faster than finite elements a static case is solved at equal error.

    python tools/equal_error.py nonlinear-poisson bratu nonlinear-helmholtz liouville

Elements of degrees 2 to 4 take several mesh sizes, frozen networks several widths, each the best of three times. For
every run of elements the fastest network that is at least as accurate is taken; the ratios of seconds are printed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import frozenpinn as fp
from frozenpinn.lab.cases import find_case
from frozenpinn.lab.peers.fem_static import solve_static_fem

MESHES = (0.2, 0.1, 0.05)
WIDTHS = (8, 10, 12, 14, 16, 20, 24, 30)  # of each axis of a box
SCATTERED = (40, 60, 80, 120, 160, 240, 360)


def measured(solve: Callable[[], Any], repeats: int = 3) -> tuple[float, float]:
    """Return error and seconds."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        solution = solve()
        best = min(best, time.perf_counter() - started)
    return float(solution.error()["rel_l2"]), best


def main() -> None:
    """Print a table for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+")
    warnings.simplefilter("ignore")
    for name in parser.parse_args().cases:
        case = find_case(name)
        problem = case.problem(**case.variants[0].problem)
        box = isinstance(problem.domain, fp.Box)
        widths: list[Any] = [(w, w) for w in WIDTHS] if box else []
        tried = [fp.Settings(width=width) for width in (*widths, *SCATTERED)]
        ours = [measured(partial(fp.solve, problem, settings=settings)) for settings in tried]
        print(f"{name}\ndegree  mesh   error     seconds  networks  ratio")
        for degree in (2, 3, 4):
            for mesh in MESHES:
                error, seconds = measured(partial(solve_static_fem, problem, mesh, degree=degree))
                own = min((s for e, s in ours if e <= error), default=float("inf"))
                print(f"{degree:<6}  {mesh:<5}  {error:.1e}  {seconds:<7.3f}  {own:<8.3f}  {seconds / own:.1f}")


if __name__ == "__main__":
    main()
