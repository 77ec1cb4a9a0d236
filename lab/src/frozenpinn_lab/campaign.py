"""All cases by all methods: what is to be run, in which order, and where it is kept so that nothing is run twice.

A campaign is a list of tasks: lines of the table (:class:`~frozenpinn_lab.runner.BenchRun`), points of the
work–precision diagrams, and pictures of studies. Every finished task is written to a file at once; a task that is there
already is not run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from frozenpinn.basis.samplers import Sampler
from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases.case import AUTO, FROZEN_PINN, Case, Variant
from frozenpinn_lab.cases.quick import QUICK_COMPILED, QUICK_SKIPPED, QUICK_TRAINED, QUICK_UNDRAWN
from frozenpinn_lab.page.numbers import seconds_text
from frozenpinn_lab.peers.methods import FASTLSQ, FEATURES, GRIDS, MESHES, PINNS
from frozenpinn_lab.runner import Announce, BenchRun, chosen_variants
from frozenpinn_lab.store import Store
from frozenpinn_lab.studies import STUDIES
from frozenpinn_lab.tasks import BUDGET, DiagramPoint, StudyFigure, TableLine, Task

QUICK_BUDGET = 60.0
QUICK_TOL = 1e-6
QUICK_RUNGS = 5  # of the ladders of other methods
#: Iterations of each optimizer in a quick report: the same on every machine, so that errors repeat. A causal loss goes
#: through the whole time in order and costs several times as much.
QUICK_STEPS = {"pinn-adam": 200, "pinn-lbfgs": 200, "causal-pinn": 60}
QUICK_STUDIES = ("bases", "fields", "burgers-points")
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
RTOL = 1e-8  # of a solve to which none is given
SHARES = (0.25, 0.4, 0.65, 1.0, 1.5)  # of the width of the recipe "best", in diagrams
_TRUST = 60.0  # seconds of work after which the pace so far counts as much as the guesses


@dataclass(frozen=True)
class Selection:
    """Which part of all lines is wanted."""

    methods: Sequence[str]
    recipes: Sequence[str]
    precisions: Sequence[str] = ("high", "low")
    seeds: int = 3
    tol: float | None = None
    budget: float | None = None
    steps: int | None = None
    quick: bool = False
    variants: Sequence[str] = ()


def lines(cases: Iterable[Case], scope: Selection) -> list[TableLine]:
    """Return the lines of the table, case by case."""
    found = []
    for case in cases:
        for precision in scope.precisions:
            for method in scope.methods:
                recipes = scope.recipes if method == FROZEN_PINN else ("paper",)
                found += [
                    TableLine(run)
                    for recipe in recipes
                    if case.can_run(method, recipe, precision)
                    for run in _runs(case, method, recipe, precision, scope)
                ]
    return found


def _runs(case: Case, method: str, recipe: str, precision: str, scope: Selection) -> Iterator[BenchRun]:
    seeds = tuple(range(scope.seeds))
    variants: Sequence[Variant] = case.members(recipe) if method == FROZEN_PINN else case.variants[:1]
    variants = chosen_variants(variants, scope.variants)
    tol = scope.tol if recipe == AUTO else None
    run = BenchRun(case, variants[0] if variants else Variant(), method, recipe, precision, seeds, tol, scope.budget)
    if method in PINNS:
        run = replace(run, steps=scope.steps)
    if scope.quick:
        if _is_long(run):
            return
        variants, trained = variants[:1], method in PINNS
        if recipe != "best" or method != FROZEN_PINN:
            seeds = seeds[:1]
        tol = (scope.tol or QUICK_TOL) if recipe == AUTO and method == FROZEN_PINN else None
        run = replace(run, seeds=seeds, tol=tol, steps=(scope.steps or QUICK_STEPS[method]) if trained else None)
    elif method in PINNS:
        run = replace(run, budget=scope.budget or BUDGET)
    for variant in variants:
        yield replace(run, variant=variant)


def _is_long(run: BenchRun) -> bool:
    """Whether a run has no place in a quick report."""
    if run.case.name in QUICK_SKIPPED or run.precision == "low" or (run.method == FROZEN_PINN and run.is_costly):
        return True
    if run.method == FASTLSQ:  # it takes minutes on two cores
        return True
    if run.method == "py-pde" and run.case.name not in QUICK_COMPILED:
        return True
    return run.method in PINNS and run.case.name not in QUICK_TRAINED


def points(cases: Iterable[Case], scope: Selection) -> list[DiagramPoint]:
    """Return the points of the work–precision diagrams: of cases with a peer that has a ladder, and of static ones."""
    from frozenpinn_lab.cases.peer_settings import LADDERS

    found: list[DiagramPoint] = []
    budget = scope.budget or (QUICK_BUDGET if scope.quick else BUDGET)
    for case in cases:
        alone = case.name not in LADDERS
        if (alone and not _draws_alone(case, scope)) or (scope.quick and case.name in QUICK_UNDRAWN):
            continue
        for method, ladder in LADDERS.get(case.name, {}).items():
            known = method in (*MESHES, *GRIDS, *FEATURES)
            if method in scope.methods and known and not (scope.quick and method in FEATURES):
                steps = ladder[:QUICK_RUNGS] if scope.quick else ladder
                found += [DiagramPoint(case, method, None, _name(options), options, budget) for options in steps]
        if FROZEN_PINN in scope.methods:
            found += [
                DiagramPoint(case, FROZEN_PINN, recipe, name, options, budget)
                for recipe, name, options in _frozen_ladder(case, scope)
            ]
    return found


def _draws_alone(case: Case, scope: Selection) -> bool:
    """Whether a case has a diagram of our own recipes: static ones with a solution, in a full report."""
    return case.is_static and case.values is None and case.inverse is None and not scope.quick


def _frozen_ladder(case: Case, scope: Selection) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield our own ladders: tolerances of "auto", widths or tolerances of "best", the paper's two precisions."""
    variant = case.variants[0]
    tolerances = TOLERANCES[1:4] if scope.quick else TOLERANCES
    if AUTO in scope.recipes:
        yield from ((AUTO, f"tol {tol:g}", {"tol": tol}) for tol in tolerances)
    if "best" in scope.recipes and ("best", "high") in case.settings:
        for name, settings in _best_ladder(case.choices("best", "high", variant), case.is_static):
            yield "best", name, {"settings": settings}
    if "paper" in scope.recipes and not (scope.quick and "paper" in case.costly):
        for precision in ("low", "high"):
            if ("paper", precision) in case.settings:
                yield "paper", precision, case.options("paper", precision, variant)


def _best_ladder(best: Settings, static: bool = False) -> Iterator[tuple[str, Settings]]:
    """Yield the recipe with fewer and with more neurons, and with a tolerance in time that matches their error."""
    sampler, width = best.sampler, best.width
    for share in SHARES:
        settings = best if static else replace(best, rtol=(best.rtol or RTOL) ** min(share, 1.2))
        if sampler is not None and not isinstance(sampler, str):
            neurons = max(8, round(share * sampler.width))
            points = max(16, round(share * best.points)) if isinstance(best.points, int) else best.points
            yield f"width {neurons}", replace(settings, sampler=_resized(sampler, neurons), points=points)
        elif width is not None:
            widths = width if isinstance(width, tuple) else (width,)
            fewer = tuple(max(6, round(share * n)) for n in widths)
            name = " × ".join(map(str, fewer))
            yield f"width {name}", replace(settings, width=fewer if isinstance(width, tuple) else fewer[0])
        else:
            yield f"rtol {settings.rtol:.0e}", settings


def _resized(sampler: Sampler, width: int) -> Sampler:
    return replace(sampler, width=width)  # type: ignore[type-var]


def _name(options: Mapping[str, Any]) -> str:
    known = ("nodes", "degree", "mesh_size", "steps", "modes", "step", "width")
    return ", ".join(f"{key.replace('_', ' ')} {options[key]:g}" for key in known if key in options)


def figures(quick: bool) -> list[StudyFigure]:
    """Return the pictures of a report: all studies, or the quick ones."""
    return [StudyFigure(study) for study in STUDIES.values() if not quick or study.name in QUICK_STUDIES]


def perform(
    tasks: Sequence[Task], store: Store, announce: Announce, clock: Callable[[], float] = time.monotonic
) -> None:
    """Carry out all tasks that are not in the store, and tell how long the rest will take."""
    todo = [task for task in tasks if task.key not in store.records]
    for task in tasks:
        if task.key in store.records:
            store.recall(task.key)
    done, guessed, started = 0.0, 0.0, clock()
    for number, task in enumerate(todo):
        pace = (done + _TRUST) / (guessed + _TRUST)
        rest = pace * sum(later.guess for later in todo[number:])
        prefix = f"{len(tasks) - len(todo) + number + 1} of {len(tasks)}, about {seconds_text(rest)} left"
        store.put(task.key, task.carry_out(lambda text, before=prefix: announce(f"{before}: {text}")))  # type: ignore[misc]
        guessed += task.guess
        done = clock() - started
