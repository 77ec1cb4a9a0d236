"""The witness: a solve that shares as little as possible with another, is finer, and so estimates its error."""

from __future__ import annotations

from dataclasses import is_dataclass, replace

from frozenpinn.basis.samplers import with_width
from frozenpinn.errors import ConvergenceError, EvaluationError, SettingsError, silenced, warn
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import spelled
from frozenpinn.search.kind import Failure, Hints
from frozenpinn.search.rules import SearchRules
from frozenpinn.search.settings import Settings, Task
from frozenpinn.search.single import attempt
from frozenpinn.transforms import Units


def finer(solution: Solution, task: Task, rules: SearchRules, growth: float, tighter: float) -> Task:
    """Return the task of a witness: more neurons and points, other ones, and smaller tolerances in time.

    A width that the search chooses grows with the effort; one that is fixed by the user, or by a solve without a
    tolerance, grows from what it was.
    """
    task = replace(task, seed=task.seed + rules.seeds, tolerances=task.tolerances.tighter(tighter))
    task = replace(task, effort=task.effort * growth)
    if task.grows and task.tolerances.solution is not None:
        return task
    return replace(task, settings=_enlarged(solution, task.settings, max(growth, rules.step)))


def _enlarged(solution: Solution, settings: Settings, growth: float) -> Settings:
    """Return settings with more neurons and points than a solution has."""

    def more(count: int, least: int = 1) -> int:
        return count + max(least, int((growth - 1.0) * count))

    counts = tuple(more(n, 2) for n in solution.counts)
    settings = replace(settings, points=counts if len(counts) > 1 else counts[0])
    if settings.boundary_points is not None:  # as many as before for more neurons would be other conditions
        settings = replace(settings, boundary_points=more(settings.boundary_points))
    if isinstance(settings.sampler, str | None):
        width = solution.width
        return replace(settings, width=tuple(map(more, width)) if isinstance(width, tuple) else more(width))
    if not is_dataclass(settings.sampler):  # one of the user's own, of a fixed width
        return settings
    return replace(settings, width=None, sampler=with_width(settings.sampler, more(settings.sampler.width)))


@spelled(SettingsError)
def estimate_error(solution: Solution) -> Solution:
    """Return the solution with its error estimated, by a second solve with independent neurons and points.

    If the error has been estimated already, the same solution comes back.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.estimate_error(fp.solve(rod)).error_estimate["u"] < 1e-8
    True
    """
    unresolved = 1e-2
    if not isinstance(solution, Solution):
        raise SettingsError(f"estimate_error() takes a Solution, got {type(solution).__name__}.")
    if solution.error_estimate is not None:
        return solution
    task = solution.provenance
    if not isinstance(task, Task):
        raise EvaluationError(
            "a loaded solution can't be solved again; call fp.estimate_error(solution) before saving."
        )
    assert task.kind is not None
    rules, units = task.rules, solution.pieces[0].view(Units)
    hints = Hints(solution.subspace, settled=True, scales=None if units is None else units.scales)
    again = finer(solution, task, rules.search, rules.search.step, rules.search.tighter)
    with silenced():  # the first solve has warned already
        found = attempt(solution.problem, again, hints)
    if isinstance(found, Failure):
        if isinstance(found.error, ConvergenceError):
            raise found.error
        warn(f"the error can't be estimated, because a second solve with other neurons failed: {found.error}")
        return replace(solution, error_estimate=ErrorEstimate.unknown(solution.problem))
    witness = found.solution
    estimate = task.kind.compare(solution, witness, task)
    if not estimate.worst <= unresolved:
        warn(
            f"the estimated relative error is {estimate.worst:.2g}: the solution is not resolved. "
            "Use a larger width, or a shorter time if the dynamics is chaotic."
        )
    decisions = (*solution.decisions, *estimate.decisions)
    return replace(solution, error_estimate=estimate, witness=witness, decisions=decisions)
