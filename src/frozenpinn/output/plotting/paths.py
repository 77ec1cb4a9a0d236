"""Pictures of paths of solutions: a norm against the parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.output.plotting.sheet import Sheet, lay_out
from frozenpinn.runtime.figures import LINES
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.paths.path import Path


def plot_path(path: Path, file: str | None = None, ax: Any = None) -> Any:
    """Draw the norm of the solutions of a path against the parameter, with folds and branch points."""
    if file is not None:
        checked_picture(file)

    def draw(axis: Any) -> None:
        axis.plot(path.parameters, path.norms, ".-", markersize=3, linewidth=1.2, color=LINES[0])
        for fold in path.folds:
            k = int(np.argmin(np.abs(path.parameters - fold.value)))
            label = f"fold at {path.name} = {fold.value:.9g}"
            axis.plot(fold.value, path.norms[k], "o", color=LINES[1], label=label)
        for point in path.branch_points:
            middle = sum(point.between) / 2.0
            label = f"branch point near {path.name} = {middle:.4g}"
            axis.plot(middle, point.norm, "s", color=LINES[2], label=label)
        size = "L² norm" if path.norm == "L2" else "largest value"
        fields = ", ".join(path.problem.fields)
        axis.set(xlabel=path.name, ylabel=f"{size} of {fields}", title=f"solutions against {path.name}")
        axis.grid(alpha=0.25, linewidth=0.6)
        if path.folds or path.branch_points:
            axis.legend()

    return lay_out(Sheet([draw], 1, (6.0, 4.2)), file, ax)
