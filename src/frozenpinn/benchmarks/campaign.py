"""All cases by all methods: what is to be run, in which order, and where it is kept so that nothing is run twice.

A campaign is a list of tasks: lines of the table (:class:`~frozenpinn.benchmarks.runner.Run`), points of the
work–precision diagrams, and pictures of studies. Every finished task is written to a file at once; a task that is there
already is not run again.
"""

from __future__ import annotations

import base64
import json
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from frozenpinn.benchmarks import CASES
from frozenpinn.benchmarks.case import AUTO, FROZEN_PINN, METHODS, Case, Variant
from frozenpinn.benchmarks.peers import FEATURES, MESHES, PINNS, solve_peer
from frozenpinn.benchmarks.runner import Announce, Record, Run, carry_out
from frozenpinn.benchmarks.studies import STUDIES, Study, plot_study
from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning
from frozenpinn.network.sampling import Sampler
from frozenpinn.solve import solve

BUDGET = 300.0  #: seconds of one training, if no other budget is given
QUICK_BUDGET = 60.0
QUICK_TOL = 1e-6
QUICK_RUNGS = 5  # of the ladders of other methods
QUICK_STEPS = 200  #: iterations of each optimizer in a quick report: the same on every machine, so errors repeat
#: Cases that a quick report trains networks for; the others take minutes for a few hundred steps.
QUICK_TRAINED = ("advection", "euler-bernoulli", "wave", "burgers", "nonlinear-diffusion", "reaction-diffusion-5d")
#: What takes longer than a quick report has: chaos to the end, and sweeps.
QUICK_SKIPPED = ("kuramoto-sivashinsky-long", "advection-fast", "advection-convergence")
QUICK_STUDIES = ("bases", "fields", "burgers-points")
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
SHARES = (0.25, 0.4, 0.65, 1.0, 1.5)  # of the width of the recipe "best", in diagrams
#: Guesses of the seconds of a task, for the remaining time, until there are measured ones.
GUESSES = {"best": 2.0, "paper": 5.0, AUTO: 4.0}


class Task(Protocol):
    """Something that is run once and leaves a record."""

    @property
    def key(self) -> str:
        """What tells it from all others."""

    @property
    def label(self) -> str:
        """What is being done, for people."""

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""

    def carry_out(self, announce: Announce) -> Record:
        """Do it."""


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    run: Run

    @property
    def key(self) -> str:
        """What tells it from all others: everything but the machine."""
        run = self.run
        told = [run.case.name, run.variant.label, run.method, run.recipe, run.precision, run.seeds, run.tol, run.budget]
        return json.dumps(["line", *told, run.steps])

    @property
    def label(self) -> str:
        """What is being done, for people."""
        return self.run.label

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""
        run = self.run
        if run.method in PINNS:
            return 12.0 if run.steps is not None else len(run.seeds) * (run.budget or BUDGET)
        if run.is_costly:
            return 90.0
        return GUESSES.get(run.recipe, 3.0) if run.method == FROZEN_PINN else 4.0

    def carry_out(self, announce: Announce) -> Record:
        """Run it for all seeds."""
        return carry_out(self.run, announce)


@dataclass(frozen=True)
class Point:
    """A point of a work–precision diagram: one solve after a warm-up, with one seed."""

    case: Case
    method: str
    recipe: str | None
    name: str
    options: Mapping[str, Any]
    budget: float

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return json.dumps(["point", self.case.name, self.method, self.recipe, self.name])

    @property
    def label(self) -> str:
        """What is being done, for people."""
        return f"{self.case.name}, error against time: {self.method} {self.recipe or ''} {self.name}"

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""
        return 2.0

    def carry_out(self, announce: Announce) -> Record:
        """Solve twice if that is quick, and measure the second time."""
        problem = self.case.problem(**self.case.variants[0].problem)
        place = self.case.variants[0].test_points or self.case.test_points
        record: Record = {
            "case": self.case.name,
            "title": self.case.title,
            "method": self.method,
            "recipe": self.recipe,
            "label": self.name,
        }
        announce(self.label)
        try:
            for _ in range(2):
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FrozenPinnWarning)
                    if self.method == FROZEN_PINN:
                        solution: Any = solve(problem, seed=0, **self.options)
                    else:
                        solution = solve_peer(self.method, problem, self.options, 0, self.budget)
                seconds = time.perf_counter() - start
                if seconds > 2.0:  # the first time costs a second more at most
                    break
        except FrozenPinnError as error:
            return {**record, "seconds": None, "rel_l2": None, "reason": str(error)}
        at = {} if place is None else {"at": place(problem)}
        return {**record, "seconds": seconds, "rel_l2": solution.error(problem.fields[0], **at)["rel_l2"]}


@dataclass(frozen=True)
class Figure:
    """A picture of a study."""

    study: Study
    seeds: int = 1

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return json.dumps(["figure", self.study.name, self.seeds])

    @property
    def label(self) -> str:
        """What is being done, for people."""
        return f"study {self.study.name}"

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""
        return 40.0

    def carry_out(self, announce: Announce) -> Record:
        """Run the study and draw it."""
        announce(self.label)
        command = f"frozenpinn study {self.study.name} --seeds {self.seeds} --plot {self.study.name}.png"
        record: Record = {"title": self.study.title, "caption": "", "command": command}
        try:
            with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
                warnings.simplefilter("ignore", FrozenPinnWarning)
                file = Path(folder) / "figure.png"  # fields of many cells are large as SVG
                rows = self.study.rows(self.seeds, lambda text: announce(f"{self.label}: {text}"))
                plot_study(self.study, rows, str(file))
                return {**record, "png": base64.b64encode(file.read_bytes()).decode()}
        except FrozenPinnError as error:
            return {**record, "png": None, "reason": str(error)}


# ---- what is to be done ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """Which part of all lines is wanted."""

    methods: Sequence[str]
    recipes: Sequence[str]
    precisions: Sequence[str] = ("high", "low")
    seeds: int = 3
    tol: float | None = None
    budget: float | None = None
    steps: int | None = None
    quick: bool = False


def lines(cases: Iterable[Case], scope: Scope) -> list[Line]:
    """Return the lines of the table, case by case."""
    found = []
    for case in cases:
        for precision in scope.precisions:
            for method in scope.methods:
                recipes = scope.recipes if method == FROZEN_PINN else ("paper",)
                found += [
                    Line(run)
                    for recipe in recipes
                    if case.can_run(method, recipe, precision)
                    for run in _runs(case, method, recipe, precision, scope)
                ]
    return found


def _runs(case: Case, method: str, recipe: str, precision: str, scope: Scope) -> Iterator[Run]:
    seeds = tuple(range(scope.seeds))
    variants: Sequence[Variant] = case.members(recipe) if method == FROZEN_PINN else case.variants[:1]
    tol = scope.tol if recipe == AUTO else None
    run = Run(case, variants[0] if variants else Variant(), method, recipe, precision, seeds, tol, scope.budget)
    if method in PINNS:
        run = replace(run, steps=scope.steps)
    if scope.quick:
        if _is_long(run):
            return
        variants, trained = variants[:1], method in PINNS
        if recipe != "best" or method != FROZEN_PINN:
            seeds = seeds[:1]
        tol = (scope.tol or QUICK_TOL) if recipe == AUTO and method == FROZEN_PINN else None
        run = replace(run, seeds=seeds, tol=tol, steps=QUICK_STEPS if trained else None)
    elif method in PINNS:
        run = replace(run, budget=scope.budget or BUDGET)
    for variant in variants:
        yield replace(run, variant=variant)


def _is_long(run: Run) -> bool:
    """Whether a run has no place in a quick report."""
    if run.case.name in QUICK_SKIPPED or run.precision == "low" or (run.method == FROZEN_PINN and run.is_costly):
        return True
    return run.method in PINNS and run.case.name not in QUICK_TRAINED


def points(cases: Iterable[Case], scope: Scope) -> list[Point]:
    """Return the points of the work–precision diagrams of all cases with a peer that has a ladder."""
    from frozenpinn.baselines.settings import LADDERS

    found: list[Point] = []
    budget = QUICK_BUDGET if scope.quick else scope.budget or BUDGET
    for case in cases:
        if case.name not in LADDERS:
            continue
        for method, ladder in LADDERS[case.name].items():
            if method in scope.methods and method in (*MESHES, *FEATURES) and not (scope.quick and method in FEATURES):
                steps = ladder[:QUICK_RUNGS] if scope.quick else ladder
                found += [Point(case, method, None, _name(options), options, budget) for options in steps]
        if FROZEN_PINN in scope.methods:
            found += [
                Point(case, FROZEN_PINN, recipe, name, options, budget)
                for recipe, name, options in _frozen_ladder(case, scope)
            ]
    return found


def _frozen_ladder(case: Case, scope: Scope) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield our own ladders: tolerances of "auto", widths or tolerances of "best", the paper's two precisions."""
    variant = case.variants[0]
    tolerances = TOLERANCES[1:4] if scope.quick else TOLERANCES
    if AUTO in scope.recipes:
        yield from ((AUTO, f"tol {tol:g}", {"tol": tol}) for tol in tolerances)
    if "best" in scope.recipes and ("best", "high") in case.settings:
        yield from (("best", name, options) for name, options in _best_ladder(case.options("best", "high", variant)))
    if "paper" in scope.recipes and not (scope.quick and "paper" in case.costly):
        for precision in ("low", "high"):
            if ("paper", precision) in case.settings:
                yield "paper", precision, case.options("paper", precision, variant)


def _best_ladder(options: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    sampler, width = options.get("sampler"), options.get("width")
    for share in SHARES:
        if sampler is not None and not isinstance(sampler, str):
            neurons = max(8, round(share * sampler.width))
            more = {"points": max(16, round(share * options["points"]))} if "points" in options else {}
            yield f"width {neurons}", {**options, "sampler": _resized(sampler, neurons), **more}
        elif width is not None:
            neurons = max(6, round(share * width))
            yield f"width {neurons}", {**options, "width": neurons}
        else:
            rtol = options.get("rtol", 1e-8) ** min(share, 1.2)
            yield f"rtol {rtol:.0e}", {**options, "rtol": rtol}


def _resized(sampler: Sampler, width: int) -> Sampler:
    return replace(sampler, width=width)  # type: ignore[type-var]


def _name(options: Mapping[str, Any]) -> str:
    known = ("nodes", "degree", "mesh_size", "steps", "width")
    return ", ".join(f"{key.replace('_', ' ')} {options[key]:g}" for key in known if key in options)


# ---- doing it -------------------------------------------------------------------------------------------------------


@dataclass
class Store:
    """Finished tasks in a file, one JSON text per line; a line that was cut off is ignored."""

    file: Path
    records: dict[str, Record] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.file.exists():
            for text in self.file.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(text)
                    self.records[entry["key"]] = entry["record"]
                except (ValueError, LookupError, TypeError):
                    continue

    def of(self, kind: str) -> list[Record]:
        """Return all records of a kind: ``"line"``, ``"point"`` or ``"figure"``."""
        return [record for key, record in self.records.items() if json.loads(key)[0] == kind]

    def lines(self) -> list[Record]:
        """Return the lines of the table in the order of the cases; of those with other seeds, the last."""
        places = {name: place for place, name in enumerate(CASES)}
        latest = {
            (r["case"], r["variant"], r["method"], r["recipe"], r["precision"], r["tol"]): r for r in self.of("line")
        }
        methods = {name: place for place, name in enumerate(METHODS)}
        recipes = {name: place for place, name in enumerate(("best", AUTO, "paper", None))}
        return sorted(
            latest.values(),
            key=lambda r: (places.get(r["case"], len(places)), methods[r["method"]], recipes[r["recipe"]]),
        )

    def put(self, key: str, record: Record) -> None:
        """Keep a record, on disk at once."""
        self.records[key] = record
        with self.file.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps({"key": key, "record": record}) + "\n")


def perform(
    tasks: Sequence[Task], store: Store, announce: Announce, clock: Callable[[], float] = time.monotonic
) -> None:
    """Carry out all tasks that are not in the store, and tell how long the rest will take."""
    todo = [task for task in tasks if task.key not in store.records]
    done, guessed, started = 0.0, 0.0, clock()
    for number, task in enumerate(todo):
        pace = done / guessed if guessed > 0 else 1.0
        rest = pace * sum(later.guess for later in todo[number:])
        prefix = f"{len(tasks) - len(todo) + number + 1} of {len(tasks)}, about {_duration(rest)} left"
        store.put(task.key, task.carry_out(lambda text, before=prefix: announce(f"{before}: {text}")))  # type: ignore[misc]
        guessed += task.guess
        done = clock() - started


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def figures(quick: bool) -> list[Figure]:
    """Return the pictures of a report: all studies, or the quick ones."""
    return [Figure(study) for study in STUDIES.values() if not quick or study.name in QUICK_STUDIES]


def diagrams(store: Store) -> list[Record]:
    """Return the work–precision diagrams: points of one method and recipe form a curve, and so does a training."""
    tables: dict[str, dict[tuple[str, str | None], list[Record]]] = {}
    titles: dict[str, str] = {}
    for record in store.of("point"):
        titles[record["case"]] = record["title"]
        if record["rel_l2"] is not None:
            curves = tables.setdefault(record["case"], {})
            curves.setdefault((record["method"], record["recipe"]), []).append(_point(record))
    for record in store.lines():
        if record["method"] in PINNS and record["case"] in tables and record["seconds"]["values"]:
            tables[record["case"]][record["method"], None] = _training(record)
    return [
        {
            "case": case,
            "title": titles[case],
            "curves": [
                {"method": method, "recipe": recipe, "points": sorted(marks, key=lambda p: p["seconds"])}
                for (method, recipe), marks in curves.items()
            ],
        }
        for case, curves in tables.items()
    ]


def _point(record: Record) -> Record:
    return {name: record[name] for name in ("seconds", "rel_l2", "label")}


def _training(record: Record) -> list[Record]:
    """Return the course of a training, and where it ended (the first seed of several)."""
    end, error = record["seconds"]["values"][0], record["rel_l2"]["values"][0]
    steps = [(t, e, f"after {t:.0f} s") for t, e in record["curve"] if t < end]
    return [{"seconds": t, "rel_l2": e, "label": label} for t, e, label in (*steps, (end, error, "end"))]
