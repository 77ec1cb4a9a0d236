"""Curves: solutions on intervals with maps over space and time, searches for a tolerance, paths of solutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.output.plotting.quantities import DECADES, Labels, Quantity
from frozenpinn.output.plotting.sheet import Sheet, lay_out
from frozenpinn.runtime.figures import LINES
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.paths.path import Path
    from frozenpinn.results.solution import Solution

Array = np.ndarray
_POINTS, _TIMES, _SNAPSHOTS = 400, 201, 5


def curve_panels(drawn: Sequence[Quantity], labels: Labels, title: str | None = None) -> Sheet:
    """Return one curve per field of a static solution."""
    return Sheet([_curve(one, labels, title) for one in drawn], min(3, len(drawn)), (5.0, 3.4))


def _curve(one: Quantity, labels: Labels, title: str | None) -> Callable[[Any], None]:
    def draw(axis: Any) -> None:
        x = _space(one)
        values = one.at(x, np.zeros(1))[:, 0]
        axis.plot(x[:, 0], one.floored(values), color=LINES[0])
        _finish_curve(axis, one, labels)
        named = f"{one.label}({one.domain.coordinates[0]})" if not one.logarithmic else one.label
        axis.set_title(named if title is None else title)

    return draw


def history_panels(
    drawn: Sequence[Quantity], when: Array | None, labels: Labels, kind: str, title: str | None = None
) -> Sheet:
    """Return for each field a map over space and time, snapshots, or both side by side."""
    panels: list[Callable[[Any], Any]] = []
    bars: list[tuple[str, int, tuple[float, float] | None]] = []
    for one in drawn:
        t = np.linspace(*one.time, round(_TIMES * one.resolution))
        values = one.at(_space(one), t)
        limits = one.colours(values)[1]
        if kind != "snapshots":
            panels.append(_map(one, t, values, labels, title))
            bars.append((labels.of(one), 2 if kind == "both" else 1, limits))
        if kind != "map":
            panels.append(_snapshots(one, t, values, when, labels))
    columns = 2 if kind == "both" else min(3, len(panels))
    return Sheet(panels, columns, (4.8, 3.4), bars)


def _map(one: Quantity, t: Array, values: Array, labels: Labels, title: str | None) -> Callable[[Any], Any]:
    def draw(axis: Any) -> Any:
        colours, _ = one.colours(values)
        x = _space(one)[:, 0]
        shading = "nearest" if one.cyclic else "gouraud"
        image = axis.pcolormesh(t, x, one.floored(values), shading=shading, rasterized=True, **colours)
        if one.look.contours and np.ptp(values[np.isfinite(values)]) > 0:
            axis.contour(t, x, values, levels=one.look.contours, colors="k", linewidths=0.6, alpha=0.7)
        coordinate = one.domain.coordinates[0]
        axis.set(xlabel=labels("t"), ylabel=labels(coordinate), title=title or _title(one, f"({coordinate}, t)"))
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
            # no line of a phase from one end of its scale to the other
            cut = one.cyclic & (np.abs(np.diff(curve, append=np.nan)) > np.pi)
            axis.plot(
                _space(one)[:, 0], np.where(cut, np.nan, one.floored(curve)), color=shade, label=f"t = {moment:.3g}"
            )
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
        low, high = axis.dataLim.intervaly
        axis.set_ylim(max(low, high * 10**-DECADES) / 2.0, 2.0 * high)  # zeros are far below
    if one.look.limits is not None:
        axis.set_ylim(*one.look.limits)


def _title(one: Quantity, arguments: str) -> str:
    return one.label if one.logarithmic else one.label + arguments


def _space(one: Quantity) -> Array:
    return np.linspace(one.domain.lower[0], one.domain.upper[0], round(_POINTS * one.resolution))[:, None]


# ---- searches and paths ------------------------------------------------------------------------------


def convergence_panels(solution: Solution) -> Sheet:
    """Return one panel: the attempts of the search, the tolerance, and what came out."""
    verdict, estimate = solution.verdict, solution.error_estimate
    if verdict is None or estimate is None:
        raise EvaluationError(
            "there is no search to draw, because no tolerance was given; write fp.solve(problem, tol=1e-6)."
        )
    rows = [(int(np.prod(width)), error) for width, error, _ in verdict.attempts if 0.0 < error < np.inf]

    def draw(axis: Any) -> None:
        if rows:
            axis.plot(*zip(*rows, strict=True), "o-", color=LINES[0], label="attempts")
        final = int(np.prod(solution.width))
        if np.isfinite(estimate.worst) and estimate.worst > 0:
            axis.plot(final, estimate.worst, "*", markersize=13, color=LINES[1], label=f"answer, {verdict.status}")
        axis.axhline(verdict.tol, color="0.4", linestyle="--", linewidth=1.0, label=f"tol = {verdict.tol:g}")
        axis.set(yscale="log", xlabel="neurons", ylabel="estimated relative L² error")
        axis.set_title(f"search for {', '.join(solution.problem.fields)}")
        axis.grid(alpha=0.25, linewidth=0.6, which="both")
        axis.legend()

    return Sheet([draw], 1, (5.2, 3.8))


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
