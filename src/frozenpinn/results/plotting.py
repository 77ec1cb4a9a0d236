"""Plots of solutions; matplotlib is imported only when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.results.solution import Solution


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    return plt


def plot_solution(solution: Solution, file: str | None = None, field: str | None = None) -> Any:
    """Draw a field over space and time (1-d) or at four times (2-d); return the figure.

    Beyond two dimensions a slice is drawn, along the first two coordinates through the middle of the bounding box.
    """
    if file is not None:
        checked_picture(file)
    plt = _pyplot()
    dimension = solution.problem.domain.dimension
    fields = solution.problem.fields if field is None else (field,)
    figure = _plot_1d(plt, solution, fields) if dimension == 1 else _plot_2d(plt, solution, fields)
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


def _plot_2d(plt: Any, solution: Solution, fields: tuple[str, ...]) -> Any:
    """Four snapshots per field, coloured inside the domain only."""
    domain = solution.problem.domain
    x, y = (np.linspace(a, b, 121) for a, b in zip(domain.lower[:2], domain.upper[:2], strict=True))
    t = np.linspace(*solution.problem.time, 4)
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
    figure, axes = plt.subplots(len(fields), 4, figsize=(14, 3.4 * len(fields)), squeeze=False, layout="constrained")
    for row, name in zip(axes, fields, strict=True):
        values = np.full((len(x), len(y), len(t)), np.nan)
        values[inside] = solution(*points[inside].T[:, :, None], t, field=name)
        limit = float(np.nanmax(np.abs(values))) or 1.0
        for axis, k in zip(row, range(4), strict=True):
            image = axis.pcolormesh(x, y, values[..., k].T, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="auto")
            title = f"{name}, t = {t[k]:.3g}{where}"
            axis.set(xlabel=domain.coordinates[0], ylabel=domain.coordinates[1], title=title, aspect="equal")
        figure.colorbar(image, ax=row, label=name)
    return figure


def _slice(domain: Domain, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a grid of points in the first two coordinates, in the middle of all others."""
    points = np.tile((domain.lower + domain.upper) / 2.0, (len(x), len(y), 1))
    points[..., 0], points[..., 1] = x[:, None], y
    return points
