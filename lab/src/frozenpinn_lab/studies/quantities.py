"""Quantities of interest: how often the error bar of a number holds its true value.

Problems of the calibration study whose solutions are formulas, in time and static, alternately; each is solved for one
number, ``solve(problem, tol=…, quantity=…)``: an integral, a mean over a part, a flux through a side, a mean square, a
value at a place, in turn, to 1e-3, 1e-5 and 1e-7 in turn. The true number is the same integral of the formula, by rules
of quadrature of ``TRUTH`` relative accuracy. A bar counts as right if it holds the true number up to that accuracy. The
last row is the share. The factor ``SAFETY`` of ``results/integrals.py`` was chosen with the shares of seed 0 in view.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from frozenpinn.errors import FrozenPinnError
from frozenpinn.language.jets import Jet
from frozenpinn.results.quantity import Goal, Quantity
from frozenpinn.solve import solve
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration import Entry, collection, static_collection
from frozenpinn_lab.runner import timed
from frozenpinn_lab.studies.study import Announce, Row, Study, finish

COUNT, TIME_LIMIT, TRUTH = 60, 10.0, 1e-11
TOLERANCES = (1e-3, 1e-5, 1e-7)
DETAILS = ("quantity", "tol", "status", "error", "bar")
Array = np.ndarray


class Formula:
    """The exact solution of a problem, as far as integrals ask for it."""

    witness = None
    error_estimate = None

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def jet_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return a derivative at all points and times, shape (n, m)."""
        jets = self.problem.jets
        expression = self.problem.exact[jet.field].expression
        assert expression is not None
        program = self.problem.compile([jets.differentiate(expression, jet)])
        columns = [np.broadcast_to(program(*x.T, float(t))[0], len(x)) for t in times]
        return np.stack(columns, axis=1)


def rows(seeds: int, announce: Announce, count: int = COUNT) -> list[Row]:
    """Return one row per problem and seed, then the share of bars that hold the truth."""
    found = []
    for number, entry in zip(range(count), _entries(), strict=False):
        for seed in range(seeds):
            announce(f"{number + 1} of {count}: {entry.name}")
            found.append(_row(entry, number, seed))
    judged = [row for row in found if row["holds"] is not None]
    share = float(np.mean([row["holds"] for row in judged]))
    blank = dict.fromkeys(DETAILS)
    return [*found, {**blank, "problem": "all", "quantity": f"{len(judged)} bars", "holds": share, "failures": []}]


def _entries() -> Iterator[Entry]:
    """Yield problems in time and static ones alternately, whose solutions are formulas in Cartesian coordinates."""
    pairs = zip_longest(static_collection().values(), collection().values())
    for entry in chain.from_iterable(pairs):
        if entry is None or entry.group == "case":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = entry.build()
        known = problem.exact and all(datum.expression is not None for datum in problem.exact.values())
        if known and problem.frame is None and problem.domain.dimension <= 3:
            yield entry


def quantity_of(problem: Problem, number: int) -> str:
    """Return the number that is asked of a problem."""
    name, domain = problem.fields[0], problem.domain
    middle = domain.sample(1, "random", 0).x[0]
    place = ", ".join(f"{c}={v:.3f}" for c, v in zip(domain.coordinates, middle, strict=True))
    axis = domain.coordinates[0]
    asked = [
        f"integral({name})",
        f"mean({name}^2)",
        f"value({name}, {place})",
        f"mean({name}, where='{axis} < {middle[0]:.3f}')",
    ]
    if domain.sides:
        asked.append(f"integral({name}_n, side='{domain.sides[0].name}')")
    return asked[number % len(asked)]


def _row(entry: Entry, number: int, seed: int) -> Row:
    tol, row = TOLERANCES[number % 3], dict[str, Any]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = entry.build()
        text = quantity_of(problem, number // 2)
        row = dict.fromkeys(DETAILS) | {
            "problem": entry.name,
            "quantity": text,
            "tol": tol,
            "holds": None,
            "failures": [],
        }
        try:
            solution, seconds = timed(
                lambda: solve(problem, tol=tol, seed=seed, time_limit=TIME_LIMIT, quantity=text, progress=False)
            )
            truth = Quantity.read(text, problem).of(Formula(problem), TRUTH)  # type: ignore[arg-type]
        except FrozenPinnError as error:
            return row | {"failures": [str(error)]}
    return row | {"status": solution.status, "seconds": seconds} | _compared(solution.verdict.goal, truth)  # type: ignore[union-attr]


def _compared(goal: Goal | None, truth: Goal) -> Row:
    assert goal is not None
    error = abs(complex(goal.number) - complex(truth.number))
    holds = float(error <= goal.number.error + TRUTH * truth.scale) if np.isfinite(goal.number.error) else None
    scale = truth.scale or goal.scale or 1.0
    return {"error": error / scale, "bar": goal.number.error / scale, "holds": holds}


def _draw(table: list[Row], figure: Any) -> None:
    """Draw bars against true errors."""
    axis = figure.subplots()
    some = [row for row in table if row.get("bar")]
    axis.loglog([max(r["error"], 1e-16) for r in some], [max(r["bar"], 1e-16) for r in some], "o", color="#0072B2")
    axis.plot([1e-16, 1], [1e-16, 1], color="black", lw=0.8)
    finish(axis, xlabel="true relative error of the number", ylabel="half length of its bar")


STUDY = Study(
    "quantities",
    "how often the bar of a number holds the truth",
    "problem",
    ("holds",),
    rows,
    details=DETAILS,
    draw=_draw,
    options=("count",),
)
