"""Plots of solutions; matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, choices
from frozenpinn.output.plotting.lines import convergence_panels, curve_panels, history_panels
from frozenpinn.output.plotting.planes import frame_panels
from frozenpinn.output.plotting.quantities import SHOWN, Labels, checked_times, drawn_of
from frozenpinn.output.plotting.sheet import Sheet, lay_out
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
) -> Any:
    """Draw a solution, its error, its residual or the search for it; return the figure. See :meth:`Solution.plot`."""
    if file is not None:
        checked_picture(file)
    if not isinstance(show, str) or show not in SHOWN:
        raise EvaluationError(f"show is one of {choices(SHOWN)}; got {shown(show)}.")
    return lay_out(_sheet(solution, field, times, derivative, show, Labels(units, solution.problem), ax), file, ax)


def _sheet(
    solution: Solution, field: str | None, times: Any, derivative: str, show: str, labels: Labels, ax: Any
) -> Sheet:
    problem = solution.problem
    if show == "convergence":
        if field is not None or times is not None or derivative:
            raise EvaluationError("show='convergence' draws the search as a whole: leave field, times, derivative out.")
        return convergence_panels(solution)
    when = checked_times(times, problem)
    drawn = drawn_of(solution, field, derivative, show)
    if problem.stated.dimension > 1:
        if when is None:
            when = np.zeros(1) if problem.is_static else np.linspace(*problem.time, 1 if ax is not None else 4)
            when = when if ax is None or problem.is_static else np.array(problem.time[1:])
        return frame_panels(drawn, when, labels)
    if problem.is_static:
        return curve_panels(drawn, labels)
    single = ax is not None and np.size(ax) == len(drawn)
    return history_panels(drawn, when, labels, "both" if not single else "map" if when is None else "snapshots")
