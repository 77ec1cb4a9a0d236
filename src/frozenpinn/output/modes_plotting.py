"""Pictures of eigenfunctions; matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.output.plotting.planes import Plane
from frozenpinn.runtime.figures import LINES, finished, new_figure, style
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.modes.result import Mode

_MOST = 24  # panels in one picture
_ACROSS = 5


def plot_functions(modes: Sequence[Mode], file: str | None = None, field: str | None = None) -> Any:
    """Draw eigenfunctions in panels, each under its eigenvalue; return the figure."""
    if not modes:
        raise EvaluationError("there is no mode to draw.")
    if file is not None:
        checked_picture(file)
    modes = list(modes)[:_MOST]
    problem = modes[0].problem
    name = problem.fields[0] if field is None else field
    columns = min(_ACROSS, len(modes))
    rows = -(-len(modes) // columns)
    plane = None if problem.domain.dimension == 1 else Plane(problem.domain)
    with style():
        figure = new_figure((2.4 * columns + 1.0, 2.3 * rows), file)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for axis, mode in zip(axes, modes, strict=False):
            if plane is None:
                _line(axis, mode, name)
            else:
                _map(axis, mode, name, plane)
            value = complex(mode.value)
            axis.set_title(f"{value.real:.6g}" + (f" {value.imag:+.4g}i" if value.imag else ""), fontsize=9)
        for axis in axes[len(modes) :]:
            axis.set_axis_off()
        return finished(figure, file)


def _line(axis: Any, mode: Mode, field: str) -> None:
    domain = mode.problem.domain
    x = np.linspace(domain.lower[0], domain.upper[0], 300)
    axis.axhline(0.0, color="0.8", linewidth=0.8)
    axis.plot(x, np.real(mode(x, field=field)), color=LINES[0])
    axis.tick_params(labelsize=7)


def _map(axis: Any, mode: Mode, field: str, plane: Plane) -> None:
    values = np.real(mode(*plane.points.T, field=field))
    limit = float(np.max(np.abs(values), initial=0.0)) or 1.0
    plane.colour(axis, values, cmap="RdBu_r", vmin=-limit, vmax=limit)
    axis.set(xticks=[], yticks=[])
