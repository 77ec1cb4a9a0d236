"""The picture of the README: all work–precision diagrams as small multiples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from frozenpinn.errors import EvaluationError
from frozenpinn_lab.page.charts import MOST_MARKS, Curve, read_curves
from frozenpinn_lab.page.methods import LOOKS, Look


def draw_work_precision(diagrams: Sequence[Mapping[str, Any]], file: str | Path, columns: int = 3) -> None:
    """Draw error against time, one panel per diagram, with one legend; the name's ending tells the format.

    Parameters
    ----------
    diagrams
        As in :class:`frozenpinn_lab.page.Results`.
    file
        Where to write: ``.png``, ``.svg`` or another format of matplotlib.
    columns
        Panels side by side.
    """
    panels = [(diagram, curves) for diagram in diagrams if (curves := read_curves(diagram))]
    if not panels:
        raise EvaluationError("there is nothing to draw: no diagram has a point with a time and an error.")
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    columns = min(columns, len(panels))
    lines = math.ceil(len(panels) / columns)
    with plt.rc_context({"svg.hashsalt": "frozenpinn", "font.size": 9, "svg.fonttype": "path"}):
        figure, axes = plt.subplots(
            lines, columns, figsize=(3.4 * columns, 2.75 * lines + 0.6), squeeze=False, layout="constrained"
        )
        handles: dict[Look, Any] = {}
        for axis, (diagram, curves) in zip(axes.flat, panels, strict=False):
            for curve in reversed(curves):
                handles[curve.look] = _draw(axis, curve)
            _dress(axis, str(diagram["case"]))
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
        order = [look for look in LOOKS.values() if look in handles] + [
            look for look in handles if look not in LOOKS.values()
        ]
        figure.legend(
            [handles[look] for look in order],
            [look.name for look in order],
            loc="outside upper center",
            ncols=len(order) if len(order) <= 2 * columns + 1 else math.ceil(len(order) / 2),
            frameon=False,
        )
        figure.supxlabel("time in seconds", fontsize=9)
        figure.supylabel("relative L² error", fontsize=9)
        figure.savefig(file, dpi=150, metadata={"Date": None} if Path(file).suffix == ".svg" else None)
        plt.close(figure)


def _draw(axis: Any, curve: Curve) -> Any:
    ours = curve.look.family == "best"
    (line,) = axis.loglog(
        [point.seconds for point in curve.points],
        [point.error for point in curve.points],
        color=curve.look.colour,
        marker=curve.look.shape,
        markersize={"best": 7}.get(curve.look.family, 9 if curve.look.shape == "*" else 6),
        markeredgecolor="white",
        markeredgewidth=0.6,
        markevery=max(1, len(curve.points) // MOST_MARKS),
        linewidth=2.2 if ours else 1.4,
        dashes=curve.look.dashes or (None, None),
        zorder=4 if ours else 3,
    )
    return line


def _dress(axis: Any, title: str) -> None:
    axis.set_title(title.replace("$", r"\$"), fontsize=10, loc="left")
    axis.grid(True, which="major", color="0.9", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.minorticks_off()
    axis.margins(0.08)
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color("0.7")
    axis.tick_params(color="0.7")
