"""Studies: one quantity against one setting, as a table, a plot and JSON. Run by ``frozenpinn study NAME``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from frozenpinn.benchmarks import find_case
from frozenpinn.benchmarks.case import Variant
from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning
from frozenpinn.evolution.spaces import AugmentedODE
from frozenpinn.solution import Solution
from frozenpinn.solve import solve

Row = dict[str, Any]
Announce = Callable[[str], None]


@dataclass(frozen=True)
class Study:
    """A named study: its title, the abscissa, the quantities to plot, and how to compute the rows."""

    name: str
    title: str
    abscissa: str
    quantities: tuple[str, ...]
    rows: Callable[[int, Announce], list[Row]]


def kappa_rows(seeds: int, announce: Announce) -> list[Row]:
    """Boundary loss, total loss and time of the augmented ODE against its penalty κ (classical beam)."""
    case = find_case("euler-bernoulli")
    problem = case.problem()
    options = case.options("paper", "high", Variant())
    rows = []
    for kappa in (1e3, 1e4, 3e4, 1e5, 3e5, 1e6, 1e7):
        row: Row = {"kappa": kappa, "boundary_rmse": None, "total_rmse": None, "seconds": None, "failures": []}
        found: list[tuple[float, float, float]] = []
        for seed in range(seeds):
            announce(f"kappa = {kappa:g}, seed {seed}")
            start = time.perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FrozenPinnWarning)
                    solution = solve(problem, seed=seed, **{**options, "boundary": AugmentedODE(kappa)})
            except FrozenPinnError as error:
                row["failures"].append(str(error))
                continue
            elapsed = time.perf_counter() - start
            found.append((_boundary_rmse(solution), solution.error()["rmse"], elapsed))
        if found:
            row |= dict(zip(("boundary_rmse", "total_rmse", "seconds"), np.median(found, axis=0).tolist(), strict=True))
        rows.append(row)
    return rows


def _boundary_rmse(solution: Solution) -> float:
    """Root mean square of u and u_xx at both ends, which should vanish."""
    t = np.linspace(*solution.problem.time, 100)
    ends = np.array([solution.problem.domain.lower[0], solution.problem.domain.upper[0]])
    values = [solution(ends[:, None], t, derivative=d) for d in ("", "xx")]
    return float(np.sqrt(np.mean(np.square(values))))


STUDIES = {
    "kappa": Study(
        "kappa",
        "penalty of the augmented ODE, classical beam",
        "kappa",
        ("boundary_rmse", "total_rmse", "seconds"),
        kappa_rows,
    ),
}


def plot_study(study: Study, rows: list[Row], file: str) -> None:
    """Draw all quantities against the abscissa, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for quantity, marker in zip(study.quantities, "os^vD", strict=False):
        pairs = [(r[study.abscissa], r[quantity]) for r in rows if r[quantity] is not None]
        axis.loglog(*zip(*pairs, strict=True), marker=marker, label=quantity.replace("_", " "))
    for row in rows:
        if row.get("failures"):
            axis.axvline(row[study.abscissa], color="0.8", zorder=0)
    axis.set(xlabel=study.abscissa, title=study.title)
    axis.legend()
    figure.savefig(file, dpi=130)
    plt.close(figure)
