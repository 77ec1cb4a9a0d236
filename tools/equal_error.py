"""How a case compares with its peer at equal error: static ones with finite elements, boxes with fast transforms.

    python tools/equal_error.py nonlinear-poisson bratu nonlinear-helmholtz liouville
    python tools/equal_error.py allen-cahn-2d gray-scott-2d burgers-2d --tol 1e-4 --tol 1e-6
    python tools/equal_error.py heat-anisotropic-2d advection-diffusion-3d wave-3d --by-hand

Elements of degrees 2 to 4 take several mesh sizes, frozen networks several widths, each the best of five times. Mesh
and network are made anew each time (each has a seed of its own, of which the worst error counts); what is read off the
statement is remembered by both. For every run of elements the fastest network that is at least as accurate is taken;
the ratios of CPU seconds are printed.

In time, ``fp.solve(problem, tol=…)`` is run, estimate included, and the spectral code with more and more points and
steps than the case gives it, until it is at least as accurate; the best of five times of each. ``--by-hand`` compares
the settings that a case has for both (recipe ``best``), which have similar errors: both are solved in turn for a
second, and the shortest times count, so that a machine that is busy now and then disturbs both alike.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import frozenpinn as fp
from frozenpinn_lab.cases import Case, Variant, find_case
from frozenpinn_lab.cases.peers import solve_peer
from frozenpinn_lab.peers.fem_static import solve_static_fem
from frozenpinn_lab.runner import worst_error

REPEATS = 5
IN_TURN = 1.0  # seconds for which two are solved in turn
MESHES = (0.2, 0.1, 0.05)
WIDTHS = (8, 10, 12, 14, 16, 20, 24, 30)  # of each axis of a box
SCATTERED = (40, 60, 80, 120, 160, 240, 360)
MORE_POINTS = (1.0, 1.2, 1.45, 1.75)  # than the settings of the spectral code have, along each axis
MORE_STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)


def seconds_of(solve: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Return what a solve returns, and the shortest of some times."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        solution = solve()
        best = min(best, time.perf_counter() - started)
    return solution, best


def beside_elements(problem: fp.Problem) -> None:
    """Print a line for every run of elements."""

    def measured(solve: Callable[[int], Any]) -> tuple[float, float]:
        best, worst = float("inf"), 0.0
        for seed in range(REPEATS):
            started = time.process_time()
            solution = solve(seed)
            best = min(best, time.process_time() - started)
            worst = max(worst, float(solution.error()["rel_l2"]))
        return worst, best

    def network(settings: fp.Settings, seed: int) -> Any:
        return fp.solve(problem, settings=settings, seed=seed)

    def elements(mesh: float, degree: int, _: int) -> Any:
        return solve_static_fem(problem, mesh, degree=degree)

    widths: list[Any] = [(w, w) for w in WIDTHS] if isinstance(problem.domain, fp.Box) else []
    fp.solve(problem, settings=fp.Settings(width=SCATTERED[0]))  # reads the statement; the peer does in its first run
    ours = [measured(partial(network, fp.Settings(width=width))) for width in (*widths, *SCATTERED)]
    print("degree  mesh   error     seconds  networks  ratio")
    for degree, mesh in itertools.product((2, 3, 4), MESHES):
        error, seconds = measured(partial(elements, mesh, degree))
        own = min((s for e, s in ours if e <= error), default=float("inf"))
        print(f"{degree:<6}  {mesh:<5}  {error:.1e}  {seconds:<7.3f}  {own:<8.3f}  {seconds / own:.1f}")


def beside_waves(case: Case, variant: Variant, problem: fp.Problem, tol: float) -> None:
    """Print a line for one tolerance."""
    place = variant.test_points or case.test_points
    at = {} if place is None else {"at": place(problem)}
    solution, seconds = seconds_of(partial(fp.solve, problem, tol=tol, progress=False), 5)
    error = worst_error(solution, problem, **at)["rel_l2"]
    for settings in finer_and_finer(case, variant):
        solve = partial(solve_peer, "spectral", problem, settings, 0, None, ())
        if worst_error(solve(), problem, **at)["rel_l2"] > error:
            continue
        found, peer = seconds_of(solve, 5)
        other = worst_error(found, problem, **at)["rel_l2"]
        shown = f"{error:.1e}  {seconds:<8.4f}  {other:.1e}  {peer:<8.4f}  {seconds / peer:.1f}"
        print(f"{variant.label:<15}  {tol:<6.0e}  {solution.status:<9}  {shown}", flush=True)
        return
    print(f"{variant.label:<15}  {tol:<6.0e}  {solution.status:<9}  {error:.1e}  {seconds:<8.4f}  not reached")


def by_hand(case: Case, variant: Variant, problem: fp.Problem) -> None:
    """Print a line for the settings by hand."""
    place = variant.test_points or case.test_points
    at = {} if place is None else {"at": place(problem)}
    given = {**case.baseline("spectral", "high").settings, **variant.peers.get("spectral", {})}
    settings = case.choices("best", "high", variant)
    solves = partial(fp.solve, problem, settings=settings), partial(solve_peer, "spectral", problem, given, 0, None, ())
    errors = [worst_error(solve(), problem, **at)["rel_l2"] for solve in solves]
    best, started = [float("inf")] * 2, time.perf_counter()
    while time.perf_counter() - started < IN_TURN:
        best = [min(known, seconds_of(solve, 1)[1]) for known, solve in zip(best, solves, strict=True)]
    own, peer = best
    print(
        f"{variant.label:<15}  {errors[0]:.1e}  {own:<8.5f}  {errors[1]:.1e}  {peer:<8.5f}  {own / peer:.2f}",
        flush=True,
    )


def finer_and_finer(case: Case, variant: Variant) -> list[dict[str, Any]]:
    """Return settings of the spectral code, from cheap to dear."""
    given = {**case.baseline("spectral", "high").settings, **variant.peers.get("spectral", {})}
    step, counts = given.get("step"), given["modes"]
    found = []
    for points, steps in itertools.product(MORE_POINTS, MORE_STEPS if step is not None else (1.0,)):
        modes = (
            2 * round(points * counts / 2) if isinstance(counts, int) else [2 * round(points * n / 2) for n in counts]
        )
        finer = {} if step is None else {"step": step / steps}
        found.append((points**2 * steps, {**given, "modes": modes, **finer}))
    return [settings for _, settings in sorted(found, key=lambda pair: pair[0])]


def main() -> None:
    """Print a table for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--tol", type=float, action="append", help="of problems in time (1e-6)")
    parser.add_argument("--by-hand", action="store_true", help="compare the settings by hand of problems in time")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.cases:
        case = find_case(name)
        print(name)
        if case.problem(**case.variants[0].problem).is_static:
            beside_elements(case.problem(**case.variants[0].problem))
            continue
        if given.by_hand:
            print("variant          error    seconds   spectral seconds   ratio")
            for variant in case.variants:
                by_hand(case, variant, case.problem(**variant.problem))
            continue
        print("variant          tol     status     error    seconds   spectral seconds   ratio")
        for variant in case.variants:
            for tol in given.tol or [1e-6]:
                beside_waves(case, variant, case.problem(**variant.problem), tol)


if __name__ == "__main__":
    main()
