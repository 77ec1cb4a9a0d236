"""Plots of solutions; matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, choices
from frozenpinn.output.plotting.lines import convergence_panels, curve_panels, history_panels
from frozenpinn.output.plotting.planes import Flow, frame_panels
from frozenpinn.output.plotting.quantities import SHOWN, Labels, Look, checked_look, checked_times, drawn_of, expressed
from frozenpinn.output.plotting.sheet import Sheet, lay_out
from frozenpinn.results.evaluation import moments
from frozenpinn.results.expressions import Expression
from frozenpinn.runtime.arguments import shown
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

__all__ = ["plot_solution"]


def plot_solution(
    solution: Solution,
    file: str | None = None,
    field: str | None = None,
    times: Any = None,
    ax: Any = None,
    derivative: str = "",
    show: str = "values",
    units: Mapping[str, str] | None = None,
    cmap: str | None = None,
    limits: tuple[float, float] | None = None,
    log: bool = False,
    title: str | None = None,
    contours: int = 0,
    arrows: str | None = None,
    streamlines: str | None = None,
) -> Any:
    """Draw a solution, its error, its residual or the search for it; return the figure. See :meth:`Solution.plot`."""
    if file is not None:
        checked_picture(file)
    if not isinstance(show, str) or show not in SHOWN:
        raise EvaluationError(f"show is one of {choices(SHOWN)}; got {shown(show)}.")
    if title is not None and not isinstance(title, str):
        raise EvaluationError(f"title is a text, got {shown(title)}.")
    look, flow = checked_look(cmap, limits, log, contours), _flow(solution, arrows, streamlines)
    labels = Labels(units, solution.problem)
    return lay_out(_sheet(solution, field, times, derivative, show, labels, ax, look, flow, title), file, ax)


def _flow(solution: Solution, arrows: Any, streamlines: Any) -> Flow | None:
    """Return the vector field that is drawn over colours, if there is one."""
    if arrows is None and streamlines is None:
        return None
    what, given = ("arrows", arrows) if streamlines is None else ("streamlines", streamlines)
    if arrows is not None and streamlines is not None:
        raise EvaluationError("arrows= and streamlines= show the same; give one of them.")
    if solution.problem.stated.dimension < 2:
        raise EvaluationError(f"{what}= are drawn over a plane, and the domain has one dimension.")
    if not isinstance(given, str):
        raise EvaluationError(f"{what}= is a vector as text, such as 'U', 'grad(u)' or '[u, v]'; got {shown(given)}.")
    expression = Expression.read(solution.problem, given)
    if expression.shape not in ((2,), (3,)) or expression.is_complex:
        raise EvaluationError(f"{what}= is a real vector, such as 'U', 'grad(u)' or '[u, v]'; '{given}' is none.")
    return Flow(expressed(solution, expression).at, lines=streamlines is not None)


def _sheet(
    solution: Solution,
    field: str | None,
    times: Any,
    derivative: str,
    show: str,
    labels: Labels,
    ax: Any,
    look: Look,
    flow: Flow | None,
    title: str | None,
) -> Sheet:
    problem = solution.problem
    if show == "convergence":
        if field is not None or times is not None or derivative:
            raise EvaluationError("show='convergence' draws the search as a whole: leave field, times, derivative out.")
        return convergence_panels(solution)
    when = checked_times(times, problem)
    drawn = [
        replace(one, look=look, logarithmic=one.logarithmic or (look.log and not one.cyclic))
        for one in drawn_of(solution, field, derivative, show)
    ]
    if problem.stated.dimension > 1:
        if when is None:
            when = moments(problem, 4) if ax is None else np.array(problem.time[1:])
        return frame_panels(drawn, when, labels, flow, title)
    if problem.is_static:
        return curve_panels(drawn, labels, title)
    single = ax is not None and np.size(ax) == len(drawn)
    return history_panels(drawn, when, labels, "both" if not single else "map" if when is None else "snapshots", title)
