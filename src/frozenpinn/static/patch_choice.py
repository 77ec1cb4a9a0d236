"""When a static problem is divided into patches: where one network would need to be much wider, or finds nothing.

A narrow network costs little and shows what it leaves of the equations at held-out points. Where that is much, the
solution has detail that a wider network would need long to resolve, if at all, and local ones do not.
"""

from __future__ import annotations

from frozenpinn.errors import FrozenPinnError
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem
from frozenpinn.static.solve import Earlier

UNRESOLVED = 0.05  #: part of the equations that a second network leaves, above which patches are tried
STALLED = 1e-3  #: the same of a fourth one, several times as wide
MANY_HOLES = 4  #: holes from which on patches are tried beside the second network already


def reason_for_patches(problem: Problem, task: Task, earlier: Earlier | None) -> str | None:
    """Return why the next solve should be on patches; None if one network may do."""
    if earlier is None or earlier.solution.facts is None or isinstance(earlier.solution.width, tuple):
        return None
    left, third, fifth = earlier.solution.facts.left, 2.0, 6.0  # efforts of the third and fifth solve
    if not left > STALLED or not can_have_patches(problem, task):
        return None
    early = task.effort >= third or len(problem.domain.hole_circles) >= MANY_HOLES
    if not (left > UNRESOLVED and early) and not task.effort >= fifth:
        return None
    return f"a network of {earlier.solution.width} neurons leaves {100 * left:.2g} % of the equations"


def can_have_patches(problem: Problem, task: Task) -> bool:
    """Whether patches may be tried: nothing else is asked for, and there is a stable form."""
    settings = task.settings
    given = (settings.width, settings.sampler, settings.points, settings.boundary_points)
    if "patches" in settings.without or any(value is not None for value in given) or task.start is not None:
        return False
    return problem.domain.dimension == 2 and _is_suited(problem)


@remembered
def _is_suited(problem: Problem) -> bool:
    """Whether a problem has a stable form on patches, and its domain an outline."""
    from frozenpinn.assembly.hybrid_form import HybridForm

    try:
        HybridForm.of(problem)
    except FrozenPinnError:
        return False
    return problem.domain.outline() is not None
