"""Solutions on intervals: maps over space and time, snapshots, curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frozenpinn.output.plotting.quantities import Labels, Quantity
from frozenpinn.output.plotting.sheet import Sheet
from frozenpinn.runtime.figures import LINES

Array = np.ndarray
_POINTS, _TIMES, _SNAPSHOTS = 400, 201, 5


def curve_panels(drawn: Sequence[Quantity], labels: Labels) -> Sheet:
    """Return one curve per field of a static solution."""
    return Sheet([_curve(one, labels) for one in drawn], min(3, len(drawn)), (5.0, 3.4))


def _curve(one: Quantity, labels: Labels) -> Callable[[Any], None]:
    def draw(axis: Any) -> None:
        x = _space(one)
        values = one.at(x, np.zeros(1))[:, 0]
        axis.plot(x[:, 0], one.floored(values), color=LINES[0])
        _finish_curve(axis, one, labels)
        axis.set_title(f"{one.label}({one.domain.coordinates[0]})" if not one.logarithmic else one.label)

    return draw


def history_panels(drawn: Sequence[Quantity], when: Array | None, labels: Labels, kind: str) -> Sheet:
    """Return for each field a map over space and time, snapshots, or both side by side."""
    panels: list[Callable[[Any], Any]] = []
    bars: list[tuple[str, int, tuple[float, float] | None]] = []
    for one in drawn:
        t = np.linspace(*one.time, round(_TIMES * one.resolution))
        values = one.at(_space(one), t)
        limits = one.colours(values)[1]
        if kind != "snapshots":
            panels.append(_map(one, t, values, labels))
            bars.append((labels.of(one), 2 if kind == "both" else 1, limits))
        if kind != "map":
            panels.append(_snapshots(one, t, values, when, labels))
    columns = 2 if kind == "both" else min(3, len(panels))
    return Sheet(panels, columns, (4.8, 3.4), bars)


def _map(one: Quantity, t: Array, values: Array, labels: Labels) -> Callable[[Any], Any]:
    def draw(axis: Any) -> Any:
        colours, _ = one.colours(values)
        x = _space(one)[:, 0]
        image = axis.pcolormesh(t, x, one.floored(values), shading="gouraud", rasterized=True, **colours)
        coordinate = one.domain.coordinates[0]
        axis.set(xlabel=labels("t"), ylabel=labels(coordinate), title=_title(one, f"({coordinate}, t)"))
        return image

    return draw


def _snapshots(one: Quantity, t: Array, values: Array, when: Array | None, labels: Labels) -> Callable[[Any], None]:
    def draw(axis: Any) -> None:
        from matplotlib import colormaps

        if when is None:
            chosen = np.linspace(0, len(t) - 1, _SNAPSHOTS).astype(int)
            moments, curves = t[chosen], values[:, chosen]
        else:
            moments, curves = when, one.at(_space(one), when)
        shades = colormaps["viridis"](np.linspace(0.0, 0.9, len(moments)))
        for moment, curve, shade in zip(moments, curves.T, shades, strict=True):
            axis.plot(_space(one)[:, 0], one.floored(curve), color=shade, label=f"t = {moment:.3g}")
        _finish_curve(axis, one, labels)
        axis.set_title("snapshots")
        axis.legend(ncols=1 + (len(moments) > 8))

    return draw


def _finish_curve(axis: Any, one: Quantity, labels: Labels) -> None:
    axis.set(xlabel=labels(one.domain.coordinates[0]), ylabel=labels.of(one))
    axis.margins(x=0.0)
    axis.grid(alpha=0.25, linewidth=0.6)
    if one.logarithmic:
        axis.set_yscale("log")


def _title(one: Quantity, arguments: str) -> str:
    return one.label if one.logarithmic else one.label + arguments


def _space(one: Quantity) -> Array:
    return np.linspace(one.domain.lower[0], one.domain.upper[0], round(_POINTS * one.resolution))[:, None]
