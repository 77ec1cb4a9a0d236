"""One solve of one task: analyse → transform → size → basis → assemble → integrate → back.

What a solve learns on the way (directions that carry the data, units, sizes) is returned with the solution and may be
handed to the next solve of the same search: :class:`~frozenpinn.search.kind.Hints`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from frozenpinn.analysis.scales import Scales, can_be_scaled, uneven
from frozenpinn.analysis.subspace import Subspace, with_axes
from frozenpinn.errors import ConvergenceError, EvaluationError, SettingsError, noted, repeat, warn
from frozenpinn.results.agreement import Misfit, judge
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Progress, Stopwatch
from frozenpinn.search.kind import UNKNOWN, Failure, Hints, Outcome, Unknown
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms import TRANSFORMS, Logarithm, Restriction, Units
from frozenpinn.transforms.logarithm import MARGIN
from frozenpinn.transforms.subspace import NotReducibleError, read_subspace
from frozenpinn.transforms.views import Transform

Inner: TypeAlias = Callable[[Problem, Hints], Outcome | Failure]


def solve_once(problem: Problem, task: Task, hints: Hints, progress: Progress | None = None) -> Outcome:
    """Solve a problem once, or raise the error that says why that failed."""
    found = attempt(problem, task, hints, progress)
    if isinstance(found, Failure):
        raise found.raised()
    return found


def attempt(
    problem: Problem,
    task: Task,
    hints: Hints,
    progress: Progress | None = None,
    transforms: Sequence[type[Transform]] = TRANSFORMS,
) -> Outcome | Failure:
    """Solve a problem once: each transform may put the solve of what follows into another form."""
    if not transforms:
        assert task.kind is not None
        found = task.kind.attempt(problem, task, hints.lesson, Stopwatch(progress))
        return found if isinstance(found, Failure) else Outcome(found[0], replace(hints, lesson=found[1]))
    first, *rest = transforms

    def inner(other: Problem, known: Hints) -> Outcome | Failure:
        return attempt(other, task, known, progress, rest)

    if first in _REVIEWED:
        return _REVIEWED[first](problem, task, hints, inner)
    form = None if first.name in task.settings.without else first.propose(problem)
    return inner(problem, hints) if form is None else _through(form, problem, hints, inner)


def _through(form: Transform, problem: Problem, hints: Hints, inner: Inner) -> Outcome | Failure:
    """Solve a problem in another form; what a solve that fails has found until then comes back as well."""
    view, note = form.view(problem), form.note
    found = inner(form.forward(problem), hints)
    if isinstance(found, Outcome):
        found = found._replace(solution=found.solution.seen_through(view, problem, note))
        return found.noting(form.decision(problem))
    until = found.solution
    if until is None:
        return found
    return replace(found, solution=until.seen_through(view, problem.during(until.problem.time), note))


# ---- directions -----------------------------------------------------------------------------------


def _on_directions(problem: Problem, task: Task, hints: Hints, inner: Inner) -> Outcome | Failure:
    """Solve on given directions, on some that are found, or in all coordinates."""
    directions = task.settings.subspace
    if directions is None or task.start is not None or problem.before is not None:  # what is known needs all of them
        return inner(problem, hints)
    if not isinstance(directions, str) or directions != "auto":
        return _on_given_directions(problem, task, hints, inner)
    if problem.domain.dimension == 1:
        return inner(problem, hints)
    return _on_few_directions(problem, task, hints, inner)


def _on_given_directions(problem: Problem, task: Task, hints: Hints, inner: Inner) -> Outcome | Failure:
    """Solve on a subspace that a user insists on; warn if the full problem disagrees."""
    subspace = read_subspace(task.settings.subspace, problem)

    def checked(reduced: Problem, known: Hints) -> Outcome | Failure:
        assert task.kind is not None
        task.kind.check(reduced, task)
        return inner(reduced, known)

    try:
        outcome = _through(Restriction(subspace), problem, hints, checked)
    except NotReducibleError as reason:
        raise SettingsError(f"the problem can't be solved on this subspace: {reason}") from None
    if isinstance(outcome, Failure):
        return outcome
    agreement = judge(outcome.solution, task.tolerances.reduction)
    if agreement.misfit is not None:
        directions = subspace.describe(problem.domain.coordinates)
        warn(
            f"the solution on the subspace {directions} does not satisfy {agreement.misfit.what} in all coordinates: "
            f"the relative residual is {agreement.misfit.size:.2g}. Use subspace='auto' or None."
        )
    return outcome


def _on_few_directions(problem: Problem, task: Task, hints: Hints, inner: Inner) -> Outcome | Failure:
    """Look for a subspace, solve there, and return the solution if the full problem agrees; else solve in full."""
    started, settings, subspace = time.perf_counter(), task.settings, hints.subspace
    if isinstance(subspace, Unknown):
        given = (
            settings.points,
            settings.sampler,
            settings.boundary,
            settings.basis,
        )  # settings of a network in all coordinates
        fixed = any(value is not None for value in given) or settings.point_method != "auto"
        form = None if fixed or "subspace" in settings.without else Restriction.propose(problem)
        subspace = None if form is None else form.subspace
    rejected: tuple[Decision, ...] = ()
    while subspace is not None:
        with noted() as caught:
            found = _agreeing(problem, subspace, task, hints, inner)
        if isinstance(found, Failure):
            return found
        if isinstance(found, Outcome):
            repeat(caught)
            seconds = found.solution.seconds
            rest = time.perf_counter() - started - sum(seconds.values())
            found = found._replace(solution=replace(found.solution, seconds={"subspace": rest, **seconds}))
            return found.noting(*rejected)
        why = f"a solution there misses {found.what} by {found.size:.2g}"
        rejected = (*rejected, Decision("rejected subspace", why))
        wider = with_axes(problem, subspace, found.axes)
        subspace = None if wider is subspace else wider
        hints = replace(hints, settled=False, lesson=None)  # of another number of coordinates
    outcome = inner(problem, hints)
    if isinstance(outcome, Failure):
        return outcome
    outcome = outcome._replace(hints=replace(outcome.hints, subspace=None))
    return outcome.noting(*rejected)


def _agreeing(
    problem: Problem, subspace: Subspace, task: Task, hints: Hints, inner: Inner
) -> Outcome | Failure | Misfit:
    """Return a solution that holds in all coordinates, a failure of one that did so until then, or the misfit."""
    try:
        outcome = _through(Restriction(subspace), problem, hints, inner)
    except NotReducibleError as reason:
        return Misfit(float("inf"), str(reason))
    except (SettingsError, EvaluationError) as error:
        return Misfit(float("inf"), str(error))
    if isinstance(outcome, Failure):
        until = outcome.solution
        agrees = until is not None and judge(until, task.tolerances.reduction).misfit is None
        return outcome if agrees or isinstance(outcome.error, ConvergenceError) else Misfit(float("inf"), "anything")
    if hints.settled:
        return outcome
    agreement = judge(outcome.solution, task.tolerances.reduction)
    if agreement.misfit is not None:
        return agreement.misfit
    return outcome._replace(hints=replace(outcome.hints, subspace=subspace, settled=agreement.settled))


# ---- logarithms -----------------------------------------------------------------------------------


def _positively(problem: Problem, task: Task, hints: Hints, inner: Inner) -> Outcome | Failure:
    """Solve a problem; if errors of a positive field run away from an unstable state, for its logarithm."""
    margin = MARGIN * math.sqrt(task.effort)  # pairs of solves see whether the floor is seen
    if hints.logarithm is not None:
        return _through(Logarithm(hints.logarithm, margin), problem, hints, inner)
    found = inner(problem, hints)
    if isinstance(found, Outcome) or "logarithm" in task.settings.without:
        return found
    form = Logarithm.of_one(problem, found.runaway, margin)
    if form is None:
        return found
    return _through(form, problem, replace(hints, lesson=None, scales=UNKNOWN, logarithm=form.field), inner)


# ---- units ----------------------------------------------------------------------------------------


def _in_units(problem: Problem, task: Task, hints: Hints, inner: Inner) -> Outcome | Failure:
    """Solve with fields in units of their own if their sizes are very different.

    Sizes are a guess until the solution is known: if it is out of balance in these units, it is solved once more in
    those that it has turned out to need.
    """
    given = task.start is not None or "units" in task.settings.without  # a start is in the user's units
    if given or not can_be_scaled(problem):
        return inner(problem, replace(hints, scales=None))
    if not isinstance(hints.scales, Unknown):
        return _in(problem, hints.scales, hints, inner)
    assert task.kind is not None
    guess = Units.propose(problem)
    scales = None if guess is None else guess.scales
    with noted() as caught:
        outcome = _in(problem, scales, hints, inner)
        if isinstance(outcome, Failure) and isinstance(outcome.error, ConvergenceError) and scales is not None:
            scales = None  # a wrong guess
            outcome = _in(problem, scales, hints, inner)
        if isinstance(outcome, Failure):
            return outcome
        sizes = task.kind.sizes(outcome.solution)
    if uneven({name: size / (1.0 if scales is None else scales.unit(name)) for name, size in sizes.items()}):

        def again(sizes: dict[str, float]) -> Outcome | Failure:
            found = _in(problem, Scales.of(sizes) if uneven(sizes) else None, hints, inner)
            return found.noting(Decision("measured units", "the solution has other sizes than were guessed"))

        better = again(sizes)
        if isinstance(better, Failure) or not (problem.is_static and uneven(sizes)):
            return better
        noise = _noise(sizes, task.kind.sizes(better.solution))
        return again({name: 1.0 if name in noise else size for name, size in sizes.items()}) if noise else better
    repeat(caught)
    return outcome


def _noise(before: dict[str, float], after: dict[str, float]) -> set[str]:
    """Return the fields whose sizes a solve in these units does not confirm: they vanish, but for its errors."""
    confirmed = 10.0  # factor up to which two solves agree on the size of a field
    return {name for name, size in before.items() if not size / confirmed <= after[name] <= confirmed * size}


def _in(problem: Problem, scales: Scales | None, hints: Hints, inner: Inner) -> Outcome | Failure:
    """Solve in given units, or in those of the problem."""
    hints = replace(hints, scales=scales)
    return inner(problem, hints) if scales is None else _through(Units(scales), problem, hints, inner)


#: How transforms are tried that a solution may speak against; all others are taken as they are proposed.
_REVIEWED: Mapping[type[Transform], Callable[[Problem, Task, Hints, Inner], Outcome | Failure]] = {
    Restriction: _on_directions,
    Logarithm: _positively,
    Units: _in_units,
}


def structure(problem: Problem) -> tuple[Decision, ...]:
    """Return what the statement itself has decided: coordinates, and parts of the domain."""
    found = []
    if problem.frame is not None:
        found.append(Decision("curved coordinates", f"the statement is in {problem.frame.kind} coordinates"))
    if problem.interfaces is not None:
        found.append(Decision("interfaces", "coefficients or sources jump, or have kinks"))
    return tuple(found)
