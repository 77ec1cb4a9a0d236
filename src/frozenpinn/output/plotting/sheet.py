"""Panels, and how they are laid out on a new figure or on the user's axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.runtime.arguments import shown
from frozenpinn.runtime.figures import finished, new_figure, style


@dataclass(frozen=True)
class Sheet:
    """Panels row by row.

    Attributes
    ----------
    panels
        Each draws itself on axes and returns what a colour bar can be made of, or None.
    columns
        How many stand in a row.
    size
        Inches of one panel.
    bars
        The label of the colour bar of each group of panels that share one scale, with their number.
    limits
        The part of each scale that is in use, one for each bar.
    """

    panels: Sequence[Callable[[Any], Any]]
    columns: int
    size: tuple[float, float]
    bars: Sequence[tuple[str, int, tuple[float, float] | None]] = ()


def lay_out(sheet: Sheet, file: Any = None, ax: Any = None) -> Any:
    """Draw all panels and return the figure."""
    with style():
        if ax is None:
            figure, axes = _own_axes(sheet, file)
        else:
            axes = _given_axes(ax, len(sheet.panels))
            figure = axes[0].figure
        images = [draw(axis) for draw, axis in zip(sheet.panels, axes, strict=True)]
        start = 0
        for label, count, limits in sheet.bars:
            group = slice(start, start + count)
            start += count
            image = next((i for i in images[group] if i is not None), None)
            if image is not None:
                holders = [a for a, i in zip(axes[group], images[group], strict=True) if i is not None]
                bar = figure.colorbar(image, ax=holders, label=label)
                if limits is not None:  # of a scale about zero, the part that the field uses
                    bar.ax.set_ylim(*limits)
        return finished(figure, file)


def _own_axes(sheet: Sheet, file: Any) -> tuple[Any, list[Any]]:
    rows = -(-len(sheet.panels) // sheet.columns)
    width, height = sheet.size
    figure = new_figure((width * sheet.columns + 0.6, height * rows), file)
    axes = figure.subplots(rows, sheet.columns, squeeze=False).ravel()
    for spare in axes[len(sheet.panels) :]:
        spare.set_axis_off()
    return figure, list(axes[: len(sheet.panels)])


def _given_axes(ax: Any, count: int) -> list[Any]:
    axes = [ax] if hasattr(ax, "pcolormesh") else list(np.ravel(np.asarray(ax, dtype=object)))
    if not axes or not all(hasattr(axis, "pcolormesh") for axis in axes):
        raise EvaluationError(f"ax is an Axes of Matplotlib, or an array of them; got {shown(ax)}.")
    if len(axes) != count:
        raise EvaluationError(
            f"{count} panels are to be drawn, on {len(axes)} axes; give as many axes, or choose with field= and times=."
        )
    return axes
