"""Pictures of problems: the domain, its regions and point sources, and which conditions hold on which side."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.geometry.drawing import drawn, explained
from frozenpinn.language.program import Program
from frozenpinn.runtime.figures import finished, style
from frozenpinn.statement.problem import stated_equations, stated_texts
from frozenpinn.statement.regions import read_regions

if TYPE_CHECKING:
    from frozenpinn.statement.conditions import LinearCondition
    from frozenpinn.statement.laws import BoundaryLaw
    from frozenpinn.statement.problem import Problem

Array = np.ndarray


def draw_problem(problem: Problem, file: str | None = None) -> Any:
    """Draw a problem and return the figure."""
    with style():
        figure = drawn(problem.domain, 900, file, _labels(problem), _region_of(problem))
        axis = figure.axes[0]
        flat = problem.domain.dimension <= 2
        for k, source in enumerate(problem.points if flat else ()):
            place = (*source.place, 0.0)[:2]
            axis.scatter(*place, marker="*", s=160, color="k", zorder=5, label=None if k else "point source")
        when = "" if problem.is_static else f"\n{problem.time[0]:g} ≤ t ≤ {problem.time[1]:g}"
        axis.set_title(fill(";  ".join(stated_texts(problem) or stated_equations(problem)), 70) + when)
        explained(figure)
        return finished(figure, file)


def _labels(problem: Problem) -> dict[str, str]:
    """Return the conditions on each side, by its name."""
    found: dict[str, list[str]] = {side.name: [] for side in problem.domain.sides}
    given: list[LinearCondition | BoundaryLaw] = [*problem.conditions, *problem.laws]
    for condition in given:
        if condition.text not in found[condition.side.name]:
            found[condition.side.name].append(condition.text)
    return {name: f"{name}:  {fill(',  '.join(texts) or 'free', 40)}" for name, texts in found.items()}


def _region_of(problem: Problem) -> Any:
    """Return a function from places to the names of their regions; None if there are none."""
    given = problem.given.get("regions") if problem.given else None
    if not given:
        return None
    inside = read_regions(given, problem.domain, problem.jets)
    program = Program(list(inside.values()), list(problem.jets.x))

    def names(x: Array) -> Array:
        shares = np.stack([np.broadcast_to(values, len(x)) for values in program(*x.T)])
        return np.array(list(inside))[np.argmax(shares, axis=0)]

    return names
