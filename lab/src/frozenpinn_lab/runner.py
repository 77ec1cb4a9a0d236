"""Runs cases and writes records in the form that all comparisons share."""

from __future__ import annotations

import shlex
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np

from frozenpinn.basis.svd_layer import SVDLayer
from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning, MissingExtraError
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.evaluation import exact_values, relative_error
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import Budget
from frozenpinn.search.settings import Settings
from frozenpinn.solve import estimate_error, solve
from frozenpinn.statement.data import Datum
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import AUTO, FROZEN_PINN, METHODS, Case, Published, Variant, check_choice
from frozenpinn_lab.cases.inverse_case import InverseCase
from frozenpinn_lab.cases.peers import Baseline, solve_peer
from frozenpinn_lab.inverse_job import judged_unknowns, trained_unknowns
from frozenpinn_lab.modes_job import judged_modes
from frozenpinn_lab.peers.methods import PINNS

Array = np.ndarray
Record = dict[str, Any]
#: Seconds at which the error of a network in training is measured, outside its clock.
CHECKPOINTS = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
SAMPLERS = {
    "iga": "b-splines",
    "iga-exact": "b-splines",
    "fem": "finite elements",
    "spectral": "waves",
    "py-pde": "finite differences",
    "fastlsq": "random sines",
}
Announce = Callable[[str], None]
Given = ParamSpec("Given")
Found = TypeVar("Found")
WARM_UP = 2.0  #: seconds of a first solve from which on it counts: libraries take a second at most to get going
#: Seconds below which a solve is timed so often: the shortest time counts, as others tell how busy the machine was.
REPEATS = ((0.002, 100), (0.02, 15), (0.5, 5))
#: What may go wrong in one run of many; anything else is a mistake in the program.
FAILURES = (FrozenPinnError, np.linalg.LinAlgError, ArithmeticError, MemoryError, RuntimeError)


class Solved(Protocol):
    """What every method returns."""

    def error(self, field: str | None = None, **where: Any) -> dict[str, float]:
        """Return relative L² error and RMSE on the common grid, or at given points."""


class Job(NamedTuple):
    """One method ready to run: what its record says beforehand, how to solve, what the solution adds."""

    head: Record
    solve: Callable[[int], Any]
    sizes: Callable[[Any], Record]
    estimate: Callable[[Any], float | None]
    is_cut: bool = False


@dataclass(frozen=True)
class BenchRun:
    """One line of a table: a variant of a case, solved in one way for some seeds.

    Attributes
    ----------
    tol
        That of the recipe "auto"; None takes the one of the precision.
    budget
        Seconds of one solve, after which it is cut.
    steps
        Iterations after which a training is cut; a budget that does not depend on the machine.
    """

    case: Case
    variant: Variant
    method: str = FROZEN_PINN
    recipe: str = "best"
    precision: str = "high"
    seeds: tuple[int, ...] = (0, 1, 2)
    tol: float | None = None
    budget: float | None = None
    steps: int | None = None

    @property
    def is_costly(self) -> bool:
        """Whether there is no untimed warm-up: networks in training, recipes that take minutes."""
        return self.method in PINNS or (self.method == FROZEN_PINN and self.recipe in self.case.costly)

    @property
    def chosen(self) -> tuple[int, ...]:
        """The seeds that are run: recipes that take minutes run with one."""
        return self.seeds[:1] if self.is_costly and self.method == FROZEN_PINN else self.seeds

    @property
    def label(self) -> str:
        """What is being run, for people."""
        name = " ".join(part for part in (self.case.name, self.variant.label, self.method) if part)
        return f"{name} {self.recipe}/{self.precision}" if self.method == FROZEN_PINN else name

    @property
    def command(self) -> str:
        """What repeats it."""
        ours = self.method == FROZEN_PINN
        parts = ["frozenpinn bench", self.case.name, f"--recipe {self.recipe}" if ours else f"--method {self.method}"]
        parts += [f"--mesh {shlex.quote(self.case.mesh)}"] if self.case.mesh else []
        parts += [f"--variant {shlex.quote(self.variant.label)}"] if self.variant.label else []
        parts += [f"--precision {self.precision}"] if self.precision != "high" else []
        parts += [f"--tol {self.tol:g}"] if self.tol is not None and ours and self.recipe == AUTO else []
        parts += [f"--budget {self.budget:g}"] if self.budget is not None else []
        parts += [f"--steps {self.steps}"] if self.steps is not None else []
        parts += [f"--seeds {len(self.seeds)}"] if len(self.seeds) != 3 else []
        return " ".join(parts)


def run_case(
    case: Case,
    recipe: str,
    precision: str,
    seeds: Sequence[int],
    announce: Announce = lambda text: None,
    method: str = FROZEN_PINN,
    tol: float | None = None,
    budget: float | None = None,
    steps: int | None = None,
    labels: Sequence[str] = (),
) -> list[Record]:
    """Run all variants of a case, or those of given labels; a failure becomes a record with its reason."""
    variants = chosen_variants(case.members(recipe) if method == FROZEN_PINN else case.variants, labels)
    runs = [BenchRun(case, v, method, recipe, precision, tuple(seeds), tol, budget, steps) for v in variants]
    return [carry_out(run, announce) for run in runs]


def chosen_variants(variants: Sequence[Variant], labels: Sequence[str]) -> list[Variant]:
    """Return the variants with given labels; all without any."""
    return [variant for variant in variants if not labels or variant.label in labels]


def carry_out(run: BenchRun, announce: Announce = lambda text: None) -> Record:
    """Solve for all seeds: after a warm-up where that is quick, and several times where it is very short."""
    check_choice("method", run.method, METHODS)
    problem = run.case.problem(**run.variant.problem)
    job = frozen_pinn_job(problem, run) if run.method == FROZEN_PINN else peer_job(problem, run)
    place = run.variant.test_points or run.case.test_points
    at = {} if place is None else {"at": place(problem)}
    record: Record = {
        "case": run.case.name,
        "title": run.case.title,
        "variant": run.variant.label,
        "method": run.method,
        **dict.fromkeys(("width", "rank", "points", "tol", "verdict", "note")),
        **job.head,
        "precision": run.precision,
        "seeds": list(run.chosen),
        "budget": run.budget,
        "command": run.command,
        "windows": None if problem.is_static else 1,
    }
    measured = Measured()
    try:
        for seed in run.chosen:
            announce(f"{run.label}: seed {seed}")
            solution, seconds = _solved(job, seed)
            if seed == run.chosen[0] and not run.is_costly and seconds < WARM_UP:
                solution, seconds = _solved(job, seed)
            repeats = 0 if run.is_costly else next((count for limit, count in REPEATS if seconds < limit), 0)
            if repeats:
                seconds = min(_solved(job, seed)[1] for _ in range(repeats))
            measured.add(solution, seconds, worst_error(solution, problem, **at), job.estimate(solution))
            measured.stopped[-1] |= job.is_cut
    except FAILURES as error:
        return {**record, **measured.statistics(), **failure(error)}
    record |= job.sizes(solution)
    if run.case.trivial is not None:
        record["trivial"] = _score(problem, run.case.trivial, at["at"])
    return {**record, **measured.statistics(), "status": "ok", "reason": None}


def worst_error(solution: Solved, problem: Problem, **where: Any) -> dict[str, float]:
    """Return the errors of the field that has the largest relative one."""
    return max(
        (solution.error(name, **where) for name in problem.exact or problem.fields), key=lambda error: error["rel_l2"]
    )


def failure(error: BaseException) -> Record:
    """Return how a failure stands in a record: our reasons are sentences, those of other libraries need their name."""
    reason = str(error) if isinstance(error, FrozenPinnError) else f"{type(error).__name__}: {error}"
    missing = {"missing": True} if isinstance(error, MissingExtraError) else {}
    return {"status": "failed", "reason": reason, **missing}


def timed(run: Callable[Given, Found], *given: Given.args, **named: Given.kwargs) -> tuple[Found, float]:
    """Call something without its warnings; return what it returns, and the seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FrozenPinnWarning)
        start = time.perf_counter()
        found = run(*given, **named)
        return found, time.perf_counter() - start


def _solved(job: Job, seed: int) -> tuple[Any, float]:
    """Solve once; return the solution and the seconds, without those that a network spent on measuring its error."""
    solution, elapsed = timed(job.solve, seed)
    own = getattr(solution, "seconds", None)
    return solution, own if isinstance(own, float) else elapsed


@dataclass
class Measured:
    """What was measured, one entry per seed."""

    errors: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    estimates: list[float | None] = field(default_factory=list)
    stopped: list[bool] = field(default_factory=list)
    curve: list[list[float]] = field(default_factory=list)

    def add(self, solution: Any, seconds: float, error: dict[str, float], estimate: float | None) -> None:
        """Add a solve; the course of the error during training is kept of the first one."""
        self.errors.append(error)
        self.seconds.append(seconds)
        self.estimates.append(estimate)
        self.stopped.append(bool(getattr(solution, "stopped", False)))
        self.curve = self.curve or [[float(t), float(e)] for t, e in getattr(solution, "errors", ())]

    def statistics(self) -> Record:
        """Return means, standard deviations and medians."""

        def spread(values: list[float]) -> Record:
            mean = float(np.mean(values)) if values else None
            return {"mean": mean, "std": float(np.std(values)) if values else None, "values": values}

        return {
            "rel_l2": spread([e["rel_l2"] for e in self.errors]),
            "rmse": spread([e["rmse"] for e in self.errors]),
            "seconds": {
                "median": float(np.median(self.seconds)) if self.seconds else None,
                "values": list(self.seconds),
            },
            "estimate": {"values": list(self.estimates)},
            "stopped": list(self.stopped),
            "curve": self.curve,
        }


def _score(problem: Problem, predictor: str, x: Array) -> float:
    """Return the relative L² error of a given formula."""
    name, scope = problem.fields[0], problem.parameters.scope(problem.jets)
    guess = Datum(predictor, scope, problem.parameters.functions, "the trivial predictor")
    times = np.linspace(*problem.time, 100)
    found = np.stack([guess(x, float(t)) for t in times], axis=1)
    return relative_error(found, exact_values(problem, name, x, times))["rel_l2"]


def frozen_pinn_job(problem: Problem, run: BenchRun) -> Job:
    """Prepare a solve by a frozen network."""
    options = run.case.options(run.recipe, run.precision, run.variant)
    if run.recipe == AUTO and run.tol is not None:
        options["tol"] = run.tol
    sampler = options.get("settings", Settings()).sampler or ("waves" if problem.is_static else "multi-scale")

    if run.case.values is not None:
        return _modes_job(problem, run, options)
    if run.case.inverse is not None:
        return _inverse_job(problem, run, options)

    def sizes(solution: Any) -> Record:
        known = {"sampler": solution.sampler, "verdict": solution.status}
        if problem.is_static:  # every neuron of every field has a coefficient, and there are no windows
            cutoff = options.get("settings", Settings()).cutoff
            each = cutoff.rank if isinstance(cutoff, SVDLayer) else int(np.prod(solution.width))
            # how many a layer with a cut-off keeps is not told
            rank = None if each is None or isinstance(cutoff, float) else each * len(problem.fields)
            return {"width": solution.width, "rank": rank, "points": len(solution.collocation), **known}
        network = solution.system.spaces[0].network
        sizes = {"width": network.width, "rank": solution.system.coefficients, "points": len(network.points.x)}
        return {"windows": len(solution.pieces), **sizes, **known}

    return Job(
        {
            "recipe": run.recipe,
            "sampler": sampler if isinstance(sampler, str) else sampler.name,
            "tol": options.get("tol"),
            "paper": _paper(run.case.figures(run.precision, run.variant)),
        },
        lambda seed: solve(problem, seed=seed, progress=limited(run.budget), **options),
        sizes,
        lambda solution: None if run.recipe == "paper" else own_estimate(solution).worst,
    )


def _modes_job(problem: Problem, run: BenchRun, options: Mapping[str, Any]) -> Job:
    """Prepare a search for eigenvalues."""
    assert run.case.values is not None
    exact = run.case.values(**run.variant.problem)
    head = {"recipe": run.recipe, "sampler": "", "tol": options.get("tol"), "paper": _paper(Published())}
    return Job(
        head,
        lambda seed: judged_modes(problem, exact, seed, limited(run.budget), **options),
        lambda solution: dict(solution.sizes),
        lambda solution: float(solution.estimate),
    )


def _inverse_job(problem: Problem, run: BenchRun, options: Mapping[str, Any]) -> Job:
    """Prepare an inference from exact data."""
    case = run.case.inverse
    assert case is not None
    return Job(
        {"recipe": run.recipe, "sampler": "", "paper": _paper(run.case.figures(run.precision, run.variant))},
        lambda seed: judged_unknowns(case, problem, run.recipe, seed, limited(run.budget), **options),
        lambda solution: dict(solution.sizes),
        lambda solution: solution.estimate,
    )


def _inverse_peer_job(problem: Problem, run: BenchRun, case: InverseCase) -> Job:
    """Prepare an inference from exact data by a trained network."""
    note = None if run.steps is None else f"cut after {run.steps} steps of each optimizer"
    return Job(
        {"recipe": None, "sampler": run.method, "paper": _paper(Published()), "note": note},
        lambda seed: trained_unknowns(case, problem, run.method, seed, run.budget, run.steps),
        lambda solution: dict(solution.sizes),
        lambda solution: None,
        is_cut=run.steps is not None,
    )


def own_estimate(solution: Solution) -> ErrorEstimate:
    """Return the program's own estimate of the relative L² error."""
    found = estimate_error(solution).error_estimate
    assert found is not None
    return found


def limited(seconds: float | None) -> Callable[[str], None]:
    """Return a progress function that breaks a solve off after some seconds."""
    return Budget(seconds).watched(lambda stage: None)


def peer_job(problem: Problem, run: BenchRun, baseline: Baseline | None = None) -> Job:
    """Prepare a solve by another method; the seed has no meaning for splines and finite elements."""
    method = run.method
    if run.case.inverse is not None:
        return _inverse_peer_job(problem, run, run.case.inverse)
    baseline = baseline or run.case.baseline(method, run.precision)
    settings = {**baseline.settings, **run.variant.peers.get(method, {}), **_cut(baseline.settings, run.steps)}
    moments = CHECKPOINTS if method in PINNS and problem.exact else ()

    def sizes(solution: Any) -> Record:
        return {"width": solution.size, "rank": solution.size, "points": getattr(solution, "points", None)}

    return Job(
        {
            "recipe": baseline.recipe,
            "sampler": SAMPLERS.get(method, method),
            "paper": _paper(baseline.published),
            "note": "; ".join(text for text in (baseline.note, _told(baseline.settings, run.steps)) if text) or None,
        },
        lambda seed: solve_peer(method, problem, settings, seed, run.budget, moments),
        sizes,
        lambda solution: None,
        is_cut=bool(_told(baseline.settings, run.steps)),
    )


def _cut(settings: Mapping[str, Any], steps: int | None) -> Record:
    """Return the iterations of a training that is cut after some steps of each optimizer."""
    names = ("adam_steps", "lbfgs_steps")
    return {} if steps is None else {name: min(settings[name], steps) for name in names if name in settings}


def _told(settings: Mapping[str, Any], steps: int | None) -> str:
    cut = _cut(settings, steps)
    whole, kept = sum(settings[name] for name in cut), sum(cut.values())
    return f"cut after {kept} of {whole} iterations" if kept < whole else ""


def _paper(published: Published) -> Record:
    return {"rel_l2": published.rel_l2, "seconds": published.seconds}
