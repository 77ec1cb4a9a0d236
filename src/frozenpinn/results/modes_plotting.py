"""Pictures of eigenfunctions; matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.results.plotting import _slice, pyplot

if TYPE_CHECKING:
    from frozenpinn.results.modes import Mode

_MOST = 24  # panels in one picture
_ACROSS = 5


def plot_functions(modes: Sequence[Mode], file: str | None = None, field: str | None = None) -> Any:
    """Draw eigenfunctions in panels, each under its eigenvalue; return the figure."""
    if not modes:
        raise EvaluationError("there is no mode to draw.")
    plt, modes = pyplot(), list(modes)[:_MOST]
    problem = modes[0].problem
    name = problem.fields[0] if field is None else field
    columns = min(_ACROSS, len(modes))
    rows = -(-len(modes) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.4 * columns + 1.0, 2.3 * rows), squeeze=False, layout="constrained"
    )
    draw = _line if problem.domain.dimension == 1 else _map
    for axis, mode in zip(axes.ravel(), modes, strict=False):
        draw(axis, mode, name)
        value = complex(mode.value)
        axis.set_title(f"{value.real:.6g}" + (f" {value.imag:+.4g}i" if value.imag else ""), fontsize=9)
    for axis in axes.ravel()[len(modes) :]:
        axis.set_axis_off()
    if file is not None:
        figure.savefig(file, dpi=130)
        plt.close(figure)
    return figure


def _line(axis: Any, mode: Mode, field: str) -> None:
    domain = mode.problem.domain
    x = np.linspace(domain.lower[0], domain.upper[0], 300)
    axis.axhline(0.0, color="0.8", linewidth=0.8)
    axis.plot(x, np.real(mode(x, field=field)), color="tab:blue")
    axis.tick_params(labelsize=7)


def _map(axis: Any, mode: Mode, field: str) -> None:
    domain = mode.problem.domain
    x, y = (np.linspace(a, b, 101) for a, b in zip(domain.lower[:2], domain.upper[:2], strict=True))
    points = _slice(domain, x, y)
    inside = domain.contains(points.reshape(-1, domain.dimension)).reshape(len(x), len(y))
    values = np.full((len(x), len(y)), np.nan)
    values[inside] = np.real(mode(*points[inside].T, field=field))
    limit = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    axis.pcolormesh(x, y, values.T, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="auto", rasterized=True)
    axis.set(aspect="equal", xticks=[], yticks=[])
