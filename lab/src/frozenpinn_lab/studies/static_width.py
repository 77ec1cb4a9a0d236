"""Width of the network on a solid: the Helmholtz equation with both solutions of the paper.

The paper's figure has SWIM and ELM on the Stanford bunny, whose errors fall exponentially with the width; its values
are not printed, except at 3000 (u₁) and 4000 neurons (u₂). Here the solid is the first one of the case
``helmholtz-solid``. ``ours`` leaves the kind of neurons open, without a function on a box around the solid beside them;
ELM and SWIM have the paper's settings with two points per neuron, as in its figure, without an SVD layer below 1000
neurons, where it has nothing to leave out.
"""

from __future__ import annotations

from collections.abc import Sequence

from frozenpinn.basis.samplers import ELM, SWIM, Sampler
from frozenpinn.search.rules import Rules, StaticRules
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.static_solids import SOLUTIONS, helmholtz
from frozenpinn_lab.studies.runs import measure
from frozenpinn_lab.studies.study import PUBLISHED, Announce, Row, Study

WIDTHS = (50, 100, 200, 400, 700, 1000)
WAYS = ("ours", "elm", "swim")
NEURONS = Rules(static=StaticRules(detail_blind=float("inf"), detail_from=float("inf")))  #: alone
#: The paper's errors at the widths that it names, which are larger than those here.
FIGURES = {
    ("u1", "elm", 3000): 6.90e-7,
    ("u1", "swim", 3000): 2.61e-4,
    ("u2", "elm", 4000): 2.80e-3,
    ("u2", "swim", 4000): 1.02e-3,
}


def settings(way: str, width: int) -> Settings:
    """Return our settings or the paper's for a width."""
    if way == "ours":
        return Settings(width=width, rules=NEURONS)
    sampler: Sampler = ELM(width, eta=1.0) if way == "elm" else SWIM(width)
    return Settings(sampler=sampler, points=2 * width, point_method="random", boundary_points=888)


def rows(
    seeds: int,
    announce: Announce,
    widths: Sequence[int] = WIDTHS,
    solids: dict[str, Problem] | None = None,
) -> list[Row]:
    """Return median errors, one row per width, and the paper's figures at widths of their own."""
    place = find_case("helmholtz-solid").test_points
    assert place is not None
    problems = solids or {solution: helmholtz(solution) for solution in SOLUTIONS}
    names = [f"{solution}_{way}" for solution in SOLUTIONS for way in WAYS]
    published = [f"{PUBLISHED}{solution}_{way}" for solution, way, _ in FIGURES]
    table: list[Row] = []
    for width in widths:
        row: Row = {"width": width, **dict.fromkeys([*names, *published]), "failures": []}
        for solution, problem in problems.items():
            at = place(problem)
            for way in WAYS:
                found = measure(problem, at, settings(way, width), seeds, announce, f"{solution}, {way}, width {width}")
                row[f"{solution}_{way}"] = found.error
                row["failures"] += found.failures
        table.append(row)
    for (solution, way, width), error in FIGURES.items():
        empty: Row = {"width": width, **dict.fromkeys([*names, *published]), "failures": []}
        table.append(empty | {f"{PUBLISHED}{solution}_{way}": error})
    return table


STUDY = Study(
    "static-width",
    "width of the network, Helmholtz equation on a solid",
    "width",
    tuple(f"u1_{way}" for way in WAYS) + tuple(f"{PUBLISHED}u1_{way}" for way in WAYS[1:]),
    rows,
    "relative L² error, u₁",
    beside=tuple(f"u2_{way}" for way in WAYS) + tuple(f"{PUBLISHED}u2_{way}" for way in WAYS[1:]),
    beside_ordinate="relative L² error, u₂",
)
