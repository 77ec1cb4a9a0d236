"""Plots of solutions; matplotlib is imported only when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.results.path import Path
    from frozenpinn.results.solution import Solution


def pyplot() -> Any:
    """Return matplotlib.pyplot, without a window unless there is one."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    return plt


def plot_solution(solution: Solution, file: str | None = None, field: str | None = None) -> Any:
    """Draw a field over space and time (1-d) or at four times (2-d), a static one over space; return the figure.

    Beyond two dimensions a slice is drawn, along the first two coordinates through the middle of the bounding box.
    """
    if file is not None:
        checked_picture(file)
    plt = pyplot()
    dimension = solution.problem.domain.dimension
    fields = solution.problem.fields if field is None else (field,)
    if dimension == 1:
        figure = (_plot_curves if solution.problem.is_static else _plot_1d)(plt, solution, fields)
    else:
        figure = _plot_2d(plt, solution, fields)
    if file is not None:
        figure.savefig(file, dpi=130)
        plt.close(figure)
    return figure


def plot_path(path: Path, file: str | None = None) -> Any:
    """Draw the norm of the solutions of a path against the parameter, with folds and branch points."""
    plt = pyplot()
    figure, axis = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    axis.plot(path.parameters, path.norms, ".-", markersize=3, linewidth=1.2, color="tab:blue")
    for fold in path.folds:
        k = int(np.argmin(np.abs(path.parameters - fold.value)))
        axis.plot(fold.value, path.norms[k], "o", color="tab:red", label=f"fold at {path.name} = {fold.value:.9g}")
    for point in path.branch_points:
        middle = sum(point.between) / 2.0
        axis.plot(middle, point.norm, "s", color="tab:green", label=f"branch point near {path.name} = {middle:.4g}")
    size = "L² norm" if path.norm == "L2" else "largest value"
    axis.set(xlabel=path.name, ylabel=f"{size} of {', '.join(path.problem.fields)}")
    if path.folds or path.branch_points:
        axis.legend(fontsize=8)
    if file is not None:
        figure.savefig(file, dpi=130)
        plt.close(figure)
    return figure


def _plot_1d(plt: Any, solution: Solution, fields: tuple[str, ...]) -> Any:
    """Space–time map on the left, snapshots on the right, one row per field."""
    domain, (start, end) = solution.problem.domain, solution.problem.time
    x, t = np.linspace(domain.lower[0], domain.upper[0], 400), np.linspace(start, end, 201)
    figure, axes = plt.subplots(len(fields), 2, figsize=(10, 3.6 * len(fields)), squeeze=False, layout="constrained")
    for (left, right), name in zip(axes, fields, strict=True):
        values = solution(x[:, None], t, field=name)
        limit = float(np.max(np.abs(values))) or 1.0
        image = left.pcolormesh(t, x, values, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="auto", rasterized=True)
        figure.colorbar(image, ax=left, label=name)
        left.set(xlabel="t", ylabel="x", title=f"{name}(x, t)")
        shades = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, 5))
        for k, shade in zip(np.linspace(0, len(t) - 1, 5).astype(int), shades, strict=True):
            right.plot(x, values[:, k], color=shade, label=f"t = {t[k]:.3g}")
        right.set(xlabel="x", ylabel=name, title="snapshots")
        right.legend(fontsize=8)
    return figure


def _plot_curves(plt: Any, solution: Solution, fields: tuple[str, ...]) -> Any:
    """One curve per field of a static solution."""
    domain = solution.problem.domain
    x = np.linspace(domain.lower[0], domain.upper[0], 400)
    figure, axes = plt.subplots(1, len(fields), figsize=(5.5 * len(fields), 3.6), squeeze=False, layout="constrained")
    for axis, name in zip(axes[0], fields, strict=True):
        axis.plot(x, solution(x, field=name))
        axis.set(xlabel=domain.coordinates[0], ylabel=name, title=f"{name}({domain.coordinates[0]})")
    return figure


def _plot_2d(plt: Any, solution: Solution, fields: tuple[str, ...]) -> Any:
    """Four snapshots per field, one of a static one, coloured inside the domain only."""
    domain, static = solution.problem.domain, solution.problem.is_static
    x, y = (np.linspace(a, b, 121) for a, b in zip(domain.lower[:2], domain.upper[:2], strict=True))
    t = np.zeros(1) if static else np.linspace(*solution.problem.time, 4)
    points = _slice(domain, x, y)
    inside = domain.contains(points.reshape(-1, domain.dimension)).reshape(len(x), len(y))
    if not np.any(inside):
        raise EvaluationError(
            "the slice through the middle of the bounding box does not meet the domain; evaluate the solution where "
            "you want to see it and draw that."
        )
    where = "".join(
        f", {name} = {middle:.3g}" for name, middle in zip(domain.coordinates[2:], points[0, 0, 2:], strict=True)
    )
    size = (3.5 * len(t) + 1.2 * static, 3.4 * len(fields))
    figure, axes = plt.subplots(len(fields), len(t), figsize=size, squeeze=False, layout="constrained")
    for row, name in zip(axes, fields, strict=True):
        values = np.full((len(x), len(y), len(t)), np.nan)
        when = () if static else (t,)
        values[inside] = solution(*points[inside].T[:, :, None], *when, field=name)
        colours = _colours(values)
        for k, axis in enumerate(row):
            image = axis.pcolormesh(x, y, values[..., k].T, shading="auto", **colours)
            title = f"{name}{where}" if static else f"{name}, t = {t[k]:.3g}{where}"
            axis.set(xlabel=domain.coordinates[0], ylabel=domain.coordinates[1], title=title, aspect="equal")
        figure.colorbar(image, ax=row, label=name)
    return figure


def _colours(values: np.ndarray) -> dict[str, Any]:
    """Return a symmetric scale for fields of both signs, a sequential one for the others."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low < 0.0 < high:
        limit = max(-low, high)
        return {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    return {"cmap": "viridis", "vmin": low, "vmax": high if high > low else low + 1.0}


def _slice(domain: Domain, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a grid of points in the first two coordinates, in the middle of all others."""
    points = np.tile((domain.lower + domain.upper) / 2.0, (len(x), len(y), 1))
    points[..., 0], points[..., 1] = x[:, None], y
    return points
