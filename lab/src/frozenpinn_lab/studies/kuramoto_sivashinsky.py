"""Kuramoto–Sivashinsky: the field, its distance from a reference over time, and statistics of the chaotic part.

Runs are the recipes of the cases ``kuramoto-sivashinsky`` (to t = 1) and ``kuramoto-sivashinsky-long`` (to t = 5). The
reference is a Fourier method. ``error_at_1`` is the relative L² distance at t = 1; ``growth`` is the rate r of the
exponential exp(r t) through distances below ``SMALL``, from t = ``SETTLED`` on. Where the distance is as large as the
solution, only statistics can be compared: the mean of the energy ∫u² dx over 1 ≤ t ≤ 5 and its shares in bands of wave
numbers. Windows of half a time unit of the reference tell how far these vary by themselves: ``energy_spread``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.results.solution import Solution
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.kuramoto_sivashinsky import BANDS, Statistics, statistics
from frozenpinn_lab.studies.attempts import attempt, exponential
from frozenpinn_lab.studies.pictures import FIELDS, picture, rounded, triptych
from frozenpinn_lab.studies.study import COLOURS, Announce, Row, Study, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
SHORT, LONG = "kuramoto-sivashinsky", "kuramoto-sivashinsky-long"
RUNS = (SHORT, LONG)
RECIPES = ("best", "paper")
SMALL, SETTLED = 0.1, 0.3
STATISTICS = "energy", "reference_energy", "energy_spread"


def rows(_: int, announce: Announce) -> list[Row]:
    """Return one row per run, with the first seed."""
    table: list[Row] = []
    for name in RUNS:
        for recipe in RECIPES:
            solution, seconds = attempt(find_case(name), announce, recipe)
            announce("reference")
            row: Row = {"run": f"{recipe} to t = {solution.problem.time[1]:g}", "seconds": seconds}
            row |= _compared(solution)
            row |= _statistics(solution) if name == LONG else dict.fromkeys((*STATISTICS, "spectrum"))
            table.append(row | {"failures": []})
    return table


def _compared(solution: Solution) -> Row:
    """Return the picture and the course of the distance."""
    exact, (start, end) = solution.problem.exact["u"], solution.problem.time
    x, t = np.linspace(0, 2 * np.pi, 121), np.linspace(start, end, 101)
    found, truth = solution(x[:, None], t), np.stack([exact(x[:, None], float(s)) for s in t], axis=1)
    distance = np.linalg.norm(found - truth, axis=0) / np.linalg.norm(truth, axis=0)
    chosen = (t >= SETTLED) & (distance < SMALL)
    growth = exponential(t[chosen], distance[chosen]) if np.sum(chosen) > 4 else None
    row = picture(t, x, ("t", "x"), found, truth)
    return row | {
        "error_at_1": float(distance[np.argmin(np.abs(t - 1.0))]),
        "growth": None if growth is None else growth[1],
        "course": {"t": rounded(t), "distance": rounded(distance)},
    }


def _statistics(solution: Solution) -> Row:
    exact = solution.problem.exact["u"]
    ours = statistics(solution)
    theirs = statistics(lambda x, t: exact(x[:, None], t))
    return {
        "energy": float(np.mean(ours.energy)),
        "reference_energy": float(np.mean(theirs.energy)),
        "energy_spread": float(np.std(theirs.energy)),
        "spectrum": {"bands": list(BANDS), **_shares("found", ours), **_shares("reference", theirs)},
    }


def _shares(name: str, found: Statistics) -> dict[str, list[float]]:
    return {name: rounded(found.spectrum.mean(axis=0)), f"{name}_spread": rounded(found.spectrum.std(axis=0))}


# ---- the picture ----------------------------------------------------------------------------------------------------


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw the short run beside its reference; the long run, distances over time, and spectra."""
    axes = figure.subplots(2, 3)
    triptych(figure, axes[0], rows[0]["picture"], f"reference to t = {rows[0]['picture']['across'][-1]:g}")
    axes[0, 1].set_title(rows[0]["run"], fontsize=9)
    long = [row for row in rows if row["spectrum"] is not None]
    if long:
        _field(axes[1, 0], long[0])
        _spectra(axes[1, 2], long)
    _courses(axes[1, 1], rows)


def _field(axis: Any, row: Row) -> None:
    shown = row["picture"]
    values = np.array(shown["solution"])
    style = {"cmap": FIELDS, "vmin": -np.abs(values).max(), "vmax": np.abs(values).max(), "rasterized": True}
    axis.pcolormesh(np.array(shown["across"]), np.array(shown["up"]), values, shading="gouraud", **style)
    axis.set_title(row["run"], fontsize=9)
    axis.set(xlabel="t", ylabel="x")


def _courses(axis: Any, rows: list[Row]) -> None:
    for row, colour in zip(rows, COLOURS, strict=False):
        label = row["run"] + ("" if row["growth"] is None else f": exp({row['growth']:.2g} t)")
        axis.semilogy(row["course"]["t"], row["course"]["distance"], color=colour, label=label)
    finish(axis, xlabel="t", ylabel="relative L² distance from the reference")


def _spectra(axis: Any, rows: list[Row]) -> None:
    bands = rows[0]["spectrum"]["bands"]
    names = [f"{a}–{b - 1}" for a, b in pairwise(bands)]
    series = [("reference", rows[0]["spectrum"], "reference", "0.3")]
    series += [(r["run"], r["spectrum"], "found", c) for r, c in zip(rows, (COLOURS[2], COLOURS[3]), strict=False)]
    for place, (label, spectrum, key, colour) in enumerate(series):
        where = np.arange(len(names)) + (place - 1) * 0.27
        spread = {"yerr": spectrum[f"{key}_spread"], "error_kw": {"linewidth": 0.8}}
        axis.bar(where, spectrum[key], 0.25, color=colour, label=label, **spread)
    axis.set_yscale("log")
    axis.set_xticks(range(len(names)), labels=names)
    finish(axis, xlabel="wave numbers", ylabel="energy, mean over 1 ≤ t ≤ 5")


STUDY = Study(
    "kuramoto-sivashinsky",
    "Kuramoto–Sivashinsky equation",
    "run",
    ("error_at_1", "growth"),
    rows,
    beside=STATISTICS,
    details=("seconds", "error"),
    draw=draw,
    size=(15, 8.5),
)
