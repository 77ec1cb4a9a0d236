"""The paper's tables: published errors beside those of our reading of its settings, and of no settings at all.

Each row stands for a line of Table 1 or of a results table of the appendix that belongs to a frozen network; ``line``
is where the figure is printed in the LaTeX source of the paper (arXiv 2405.20836). ``recipe`` is the mean relative L²
error over the seeds by the settings of the case (``lab/src/frozenpinn_lab/cases`` says which of them are printed and
which are ours), ``ratio`` its quotient by the published one. ``default`` is the error without any setting, by a
tolerance of 1e-3 or 1e-8, and ``times_faster`` the seconds of the recipe over those of the default, in the same run;
published seconds are those of another machine. Inverse problems have exact data; their default is ``fp.infer``. The
static problem stands on another solid than in the paper. A bound is what the text promises without a table. Rows that
take a minute or more are left out unless ``--only`` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from frozenpinn.basis.samplers import ELM, SWIM
from frozenpinn.errors import SettingsError, choices, suggestion
from frozenpinn.search.settings import Settings
from frozenpinn.solve import solve
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.burgers import paper as burgers
from frozenpinn_lab.cases.case import TOLERANCES, Variant
from frozenpinn_lab.cases.high_dimension import PROJECTED, paper_heat
from frozenpinn_lab.cases.inverse import CASES
from frozenpinn_lab.cases.static_solids import paper as solid
from frozenpinn_lab.runner import FAILURES, timed, worst_error
from frozenpinn_lab.studies import inverse_ways
from frozenpinn_lab.studies.study import Announce, Row, Study

Measured = tuple[float, float]  #: error and seconds
BUDGET = 60.0  # seconds that a default solve may take


@dataclass(frozen=True)
class Line:
    """A printed result: its name and line, the case with its variant, the error, our reading if not the case's.

    ``sought`` is what the error belongs to in an inverse problem: a number, a field, or the solution u.
    """

    name: str
    line: int
    case: str
    published: float | None
    precision: str = "high"
    variant: int = 0
    settings: Callable[[], Settings] | None = None
    slow: bool = False
    sought: str = ""


def _heat_swim(width: int, cutoff: float, tol: float, points: int = 16_000) -> Callable[[], Settings]:
    return lambda: replace(paper_heat(width, cutoff, tol, points=points), sampler=SWIM(width))


LINES = (
    Line("advection, elm", 485, "advection", 4.19e-3, "low"),
    Line("advection, swim", 487, "advection", 8.42e-9),
    Line("advection with speed 10⁴, swim (bound)", 350, "advection-fast", 1e-4, variant=-1, slow=True),
    Line("advection to t = 1000, swim (bound)", 366, "advection-long", 1e-5),
    Line("beam, elm, fast", 492, "euler-bernoulli", 2.82e-4, "low"),
    Line("beam, elm", 495, "euler-bernoulli", 9.33e-9),
    Line("beam on a foundation, elm", 502, "euler-bernoulli-winkler", 1.41e-2, "low"),
    Line("beam on a foundation, swim", 504, "euler-bernoulli-winkler", 1.42e-7),
    Line("wave, swim", 556, "wave", 1.81e-6),
    Line("wave with three frequencies, swim (bound)", 2270, "wave-multiscale", 1e-5),
    Line("burgers, swim, fast", 562, "burgers", 1.00e-3, "low"),
    Line("burgers, swim", 569, "burgers", 2.27e-7),
    Line(
        "burgers, elm (fails)", 2374, "burgers", None,
        settings=lambda: replace(burgers(2000, 6000, 1000, 5e-11, 1e-7, 1e-6, 1e-6), sampler=ELM(2000), windows=None),
    ),
    Line("nonlinear diffusion, elm", 576, "nonlinear-diffusion", 2.60e-3, "low"),
    Line("nonlinear diffusion, swim", 578, "nonlinear-diffusion", 2.00e-6),
    Line("kuramoto-sivashinsky, swim (no error)", 2998, "kuramoto-sivashinsky", None),
    Line("reaction 5-d, projected, fast", 583, "reaction-diffusion-5d", 1.07e-2, "low"),
    Line("reaction 5-d, projected", 585, "reaction-diffusion-5d", 9.99e-5),
    Line("reaction 5-d, swim", 2943, "reaction-diffusion-5d", 5.70e-3,
         settings=lambda: replace(PROJECTED, sampler=SWIM(1000))),
    Line("reaction 5-d, elm", 2942, "reaction-diffusion-5d", 1.67e-2,
         settings=lambda: replace(PROJECTED, sampler=ELM(2000))),
    Line("heat 10-d, elm, fast", 589, "heat-10d", 4.35e-4, "low"),
    Line("heat 10-d, elm", 591, "heat-10d", 2.28e-5, slow=True),
    Line("heat 100-d, elm", 597, "heat-100d", 4.12e-4),
    Line("heat 100-d, swim", 3228, "heat-100d", 1.71e-3, settings=_heat_swim(200, 1e-8, 1e-4, 1000)),
    Line("heat 3-d, elm, fast", 3208, "heat-3d", 3.90e-6, "low"),
    Line("heat 3-d, elm", 3209, "heat-3d", 6.49e-8),
    Line("heat 3-d, swim", 3207, "heat-3d", 5.37e-6, settings=_heat_swim(4000, 1e-10, 1e-6), slow=True),
    Line("heat 5-d, elm, fast", 3213, "heat-5d", 3.74e-4, "low"),
    Line("heat 5-d, elm", 3214, "heat-5d", 7.5e-7, slow=True),
    Line("heat 5-d, swim", 3212, "heat-5d", 2.39e-4, settings=_heat_swim(4000, 1e-10, 1e-6), slow=True),
    Line("heat 7-d, elm, fast", 3218, "heat-7d", 2.21e-5, "low"),
    Line("heat 7-d, elm", 3219, "heat-7d", 2.54e-6, slow=True),
    Line("heat 7-d, swim", 3217, "heat-7d", 7.8e-4, settings=_heat_swim(4000, 1e-10, 1e-6), slow=True),
    Line("heat 10-d, swim", 3222, "heat-10d", 2.31e-3, settings=_heat_swim(4000, 1e-10, 1e-6), slow=True),
    Line("helmholtz in a solid, u1, swim", 1601, "helmholtz-solid", 2.61e-4,
         settings=lambda: solid(SWIM(3000), 1200), slow=True),
    Line("helmholtz in a solid, u1, elm", 1602, "helmholtz-solid", 6.90e-7, slow=True),
    Line("helmholtz in a solid, u2, elm", 1616, "helmholtz-solid", 2.80e-3, variant=1,
         settings=lambda: solid(ELM(4000, eta=1.0), 1600), slow=True),
    Line("helmholtz in a solid, u2, swim", 1617, "helmholtz-solid", 1.02e-3, variant=1, slow=True),
    *(
        Line(f"{case}, {sought}", line, case, inverse_ways.FIGURES[case, sought], slow=case == inverse_ways.POISSON,
             sought=sought)
        for case, sought, line in (
            (inverse_ways.POISSON, "alpha", 632), (inverse_ways.POISSON, "u", 633),
            (inverse_ways.HELMHOLTZ, "u", 633), (inverse_ways.HELMHOLTZ, "gamma", 634),
        )
    ),
)  # fmt: skip


def rows(seeds: int, announce: Announce, only: Sequence[str] | None = None) -> list[Row]:
    """Return one row for each line of the paper's tables; those that take a minute only if they are named."""
    return [measure(line, seeds, announce) for line in _chosen(only)]


def _chosen(only: Sequence[str] | None) -> list[Line]:
    if only is None:
        return [line for line in LINES if not line.slow]
    names = {line.name: line for line in LINES}
    for name in only:
        if name not in names:
            raise SettingsError(f"no line '{name}' in the paper.{suggestion(name, names)} There are {choices(names)}.")
    return [names[name] for name in only]


def measure(line: Line, seeds: int, announce: Announce) -> Row:
    """Solve by our reading of the paper's settings for all seeds, and once without any."""
    by_recipe, by_default = _inferred(line) if line.sought else _solved(line)
    row: Row = {"figure": line.name, "line": str(line.line), "published": line.published, "failures": []}
    errors, seconds = [], []
    for seed in range(seeds):
        announce(f"{line.name}, seed {seed}")
        try:
            error, took = by_recipe(seed)
        except FAILURES as reason:
            row["failures"].append(f"seed {seed}: {reason}")
            continue
        errors.append(error)
        seconds.append(took)
    announce(f"{line.name}, by default")
    default, took = by_default()
    mean = float(np.mean(errors)) if errors else None
    return row | {
        "recipe": mean,
        "ratio": mean / line.published if mean is not None and line.published else None,
        "default": default,
        "times_faster": float(np.median(seconds)) / took if seconds else None,
    }


def _solved(line: Line) -> tuple[Callable[[int], Measured], Callable[[], Measured]]:
    """Return how a problem is solved by the paper's settings for a seed, and by default."""
    case = find_case(line.case)
    variant = case.variants[line.variant] if case.variants else Variant()
    problem = case.problem(**variant.problem)
    place = variant.test_points or case.test_points
    settings = case.choices("paper", line.precision, variant) if line.settings is None else line.settings()

    def solved(**options: Any) -> Any:
        return solve(problem, **options)

    def judged(**options: Any) -> Measured:
        solution, seconds = timed(solved, **options)
        at: dict[str, Any] = {} if place is None else {"at": place(problem)}
        return worst_error(solution, problem, **at)["rel_l2"], seconds

    by_default = partial(judged, tol=TOLERANCES[line.precision], time_limit=BUDGET)
    return lambda seed: judged(seed=seed, settings=settings), by_default


def _inferred(line: Line) -> tuple[Callable[[int], Measured], Callable[[], Measured]]:
    """Return how one of several unknowns is found in the paper's way for a seed, and by default."""

    def judged(way: str, seed: int) -> Measured:
        errors, seconds = _unknowns(line.case, way, seed)
        return errors[line.sought], seconds

    return partial(judged, "paper"), partial(judged, "infer", 0)


@cache
def _unknowns(name: str, way: str, seed: int) -> tuple[dict[str, float], float]:
    """Return errors of all that an inverse problem asks for; its lines share the run."""
    case = CASES[name]
    (numbers, functions), seconds = timed(inverse_ways.found_by, case, way, seed)
    return inverse_ways.errors_of(case, numbers, functions), seconds


STUDY = Study(
    "paper",
    "the paper's tables: published, by its settings as we read them, by default",
    "figure",
    ("published", "recipe", "default"),
    rows,
    "relative L² error",
    details=("line", "ratio", "times_faster"),
    options=("only",),
)
