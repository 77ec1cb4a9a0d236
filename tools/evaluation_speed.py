"""Time the evaluation of solutions at very many places, each with a time of its own, and on a grid.

    python tools/evaluation_speed.py --points 1000000

Each line is a solution: values and derivatives at random places and times, in seconds (and seconds of all processors),
and how far they are off values at single places at most, beside the largest. Grids have 1000 × 1000 places.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

import frozenpinn as fp

Array = np.ndarray
CHECKED = 200  # places that are evaluated by themselves
GRID = 1000  # places of a grid along each of its axes
PERIOD = 2 * np.pi


def torus(equation: str, initial: str, width: int | tuple[int, ...], **more: str | float) -> fp.Solution:
    """Solve on a periodic box with the given widths."""
    dimension = len(width) if isinstance(width, tuple) else 1
    domain = fp.Box([0] * dimension, [PERIOD] * dimension, periodic=True)
    return fp.solve(fp.Problem(equation, domain, (0, 1), initial), settings=fp.Settings(width=width, **more))  # type: ignore[arg-type]


CASES: dict[str, Callable[[], fp.Solution]] = {
    "pairs (x, t), Burgers": lambda: fp.solve(
        fp.Problem("u_t + u*u_x = 0.01*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0"), tol=1e-6
    ),
    "80 × 90, closed form": lambda: torus("u_t = 0.02*lap(u) + u_x", "exp(sin(3*x)*cos(2*y) + cos(x))", (80, 90)),
    "80 × 90, exponential steps": lambda: torus(
        "u_t = 0.01*lap(u) + u - u^3", "sin(3*x)*cos(2*y) + 0.3*cos(x)", (80, 90), rtol=1e-8
    ),
    "60 × 60, CVODE": lambda: torus(
        "u_t = 0.03*lap(u) + 3*u - 3*u^3", "sin(3*x)*cos(2*y) + 0.3*cos(x)", (60, 60), integrator="cvode", rtol=1e-9
    ),
    "40 × 40 × 36, closed form": lambda: torus(
        "u_t = 0.02*lap(u) + u_x", "exp(sin(2*x)*cos(2*y) + cos(z))", (40, 40, 36)
    ),
    "32 × 32 × 32, exponential steps": lambda: torus(
        "u_t = 0.01*lap(u) + u - u^3", "sin(2*x)*cos(y) + 0.3*cos(z)", (32, 32, 32), rtol=1e-7
    ),
}


def timed(function: Callable[[], Array]) -> tuple[Array, str]:
    """Return values, and the seconds they took."""
    wall, own = time.perf_counter(), time.process_time()
    found = function()
    return found, f"{time.perf_counter() - wall:.2f} s ({time.process_time() - own:.2f})"


def line(name: str, solution: fp.Solution, points: int) -> str:
    """Return the cells of one solution."""
    rng, domain = np.random.default_rng(0), solution.problem.domain
    low, high = np.asarray(domain.lower, dtype=float), np.asarray(domain.upper, dtype=float)
    x = low + (high - low) * rng.random((points, len(low)))
    t = rng.uniform(*solution.problem.time, points)
    cells, worst, few = [name], 0.0, rng.choice(points, min(CHECKED, points), replace=False)
    for derivative in ("", "x", "xx", "t"):
        found, seconds = timed(lambda own=derivative: solution(*x.T, t, derivative=own))  # type: ignore[misc]
        known = solution(*x[few].T, t[few], derivative=derivative)
        worst = max(worst, float(np.max(np.abs(found[few] - known)) / np.max(np.abs(known))))
        cells.append(seconds)
    axes = [np.linspace(low[0], high[0], GRID)[:, None], *(np.full((1, 1), c) for c in (low + high)[1:] / 2)]
    _, seconds = timed(lambda: solution(*axes, np.linspace(*solution.problem.time, GRID)[None]))
    return f"| {' | '.join((*cells, seconds, f'{worst:.0e}'))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time the evaluation of solutions at very many places.")
    parser.add_argument("--points", type=int, default=10**6, help="places, each with its time")
    parser.add_argument("--only", action="append", choices=list(CASES), help="a solution; several times")
    given = parser.parse_args(arguments)
    print("| solution | u | u_x | u_xx | u_t | grid (x, t) | off |\n|---|---|---|---|---|---|---|")
    for name in given.only or CASES:
        print(line(name, CASES[name](), given.points), flush=True)


if __name__ == "__main__":
    main()
