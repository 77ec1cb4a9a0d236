"""An inference in words and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.results.plotting.planes import Plane
from frozenpinn.runtime.figures import LINES, finished, new_figure, style
from frozenpinn.runtime.html import Readable
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.results.inferred import Inferred

_STRONG = 0.95  # correlation from which on two unknowns are called hard to tell apart


def report_of(found: Inferred) -> str:
    """Return what was found, how well it fits, and what to beware of."""
    lines = [f"inferred from {len(found.values)} measurements in {sum(found.seconds.values()):.2g} s"]
    width = max((len(name) for name in found.names), default=0)
    lines += [f"  {name:{width}} = {estimate}" for name, estimate in found.parameters.items()]
    lines += [
        f"  {name}: a field with {f.effective:.3g} effective degrees of freedom" for name, f in found.fields.items()
    ]
    if found.noise is None:
        lines.append(f"  misfit: χ² = {found.misfit:.3g} per degree of freedom ({found.freedom})")
    else:
        lines.append(f"  noise: {found.noise:.3g}, estimated with {found.freedom} degrees of freedom")
    if found.networks.size:
        shares = [f"{abs(float(gap)):.1g} for {name}" for name, gap in zip(found.names, found.networks, strict=True)]
        lines.append(f"  of the error bars, networks: {', '.join(shares)}")
    for i, one in enumerate(found.names):
        for j in range(i):
            if abs(found.correlations[i, j]) > _STRONG:
                lines.append(f"  '{found.names[j]}' and '{one}' are correlated: {found.correlations[i, j]:+.3f}")
    for minimum in found.minima:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in minimum.values.items())
        lines.append(f"  another minimum: {values} with χ² = {minimum.chi_square:.4g} beside {found.chi_square:.4g}")
    return Readable("\n".join([*lines, *(f"  note: {note}" for note in found.notes)]))


def plot_of(found: Inferred, file: str | None = None) -> Any:
    """Draw measured against predicted, weighted residuals, and error bars and steps or an unknown field."""
    if file is not None:
        checked_picture(file)
    with style():
        figure = new_figure((10, 7), file)
        axes = figure.subplots(2, 2)
        left = found.residuals / found.sigmas
        axes[0, 0].errorbar(found.predicted, found.values, found.sigmas, fmt=".", ms=4, lw=0.7, color=LINES[0])
        ends = [float(np.min(found.predicted)), float(np.max(found.predicted))]
        axes[0, 0].plot(ends, ends, color="black", lw=0.8)
        axes[0, 0].set(xlabel="solution at the sensors", ylabel="measured", title="fit")
        _residual_map(figure, axes[0, 1], found, left)
        if found.fields:
            _draw_field(figure, axes[1], found)
        else:
            _draw_numbers(axes[1], found)
        return finished(figure, file)


def _draw_numbers(axes: Any, found: Inferred) -> None:
    """Draw the intervals, each in percent of its value, and the course of χ²."""
    for i, estimate in enumerate(found.parameters.values()):
        unit = (abs(estimate.value) or 1.0) / 100.0
        axes[0].plot([(estimate.low - estimate.value) / unit, (estimate.high - estimate.value) / unit], [i, i], lw=3)
        axes[0].plot(0.0, i, "o", color="black", ms=4)
    axes[0].set_yticks(range(len(found.names)), labels=[f"{n} = {e.value:.4g}" for n, e in found.parameters.items()])
    axes[0].set(xlabel="interval about the value, % of it", title="error bars", ylim=(-0.7, len(found.names) - 0.3))
    _draw_steps(axes[1], found)


def _draw_steps(axis: Any, found: Inferred) -> None:
    """Draw the course of χ², beside what noise alone would leave."""
    axis.semilogy([step[0] for step in found.steps], "o-", ms=4)
    if found.noise is None:
        axis.axhline(max(found.freedom, 1), color="black", lw=0.8)
    axis.set(xlabel="evaluation", ylabel="χ²", title="steps")


def _draw_field(figure: Any, axes: Any, found: Inferred) -> None:
    """Draw the first unknown field with its band, or beside its deviation."""
    name, inferred = next(iter(found.fields.items()))
    domain, labels = inferred.domain, inferred.arguments
    if domain.dimension == 1:
        x = np.linspace(domain.lower[0], domain.upper[0], 201)
        low, high = inferred.band(x)
        axes[0].fill_between(x, low, high, alpha=0.3, color=LINES[0], label=f"{100 * inferred.level:g} %")
        axes[0].plot(x, inferred(x), color=LINES[0], label=name)
        axes[0].set(xlabel=labels[0], ylabel=name, title=f"{name} with its band")
        axes[0].legend()
        _draw_steps(axes[1], found)
        return
    plane = Plane(domain)
    for axis, part, title in zip(
        axes, inferred(*plane.points.T, std=True), (name, f"deviation of {name}"), strict=True
    ):
        image = plane.colour(axis, np.asarray(part), cmap="viridis")
        figure.colorbar(image, ax=axis, label=title)
        axis.set(title=title, xlabel=labels[0], ylabel=labels[1])


def _residual_map(figure: Any, axis: Any, found: Inferred, left: np.ndarray) -> None:
    d = found.problem.domain.dimension
    parts = [part.points if part.points.shape[1] == d else np.full((len(part), d), np.nan) for part in found.data]
    points = np.concatenate(parts)
    times = [part.times for part in found.data]
    second = points[:, 1] if points.shape[1] > 1 else None
    labels = [*found.problem.jets.coordinates[:2]]
    if second is None and all(t is not None for t in times):
        second, labels = np.concatenate([t for t in times if t is not None]), [labels[0], "t"]
    if second is None:
        axis.plot(points[:, 0], left, ".")
        axis.set(xlabel=labels[0], ylabel="residual / σ", title="residuals")
        return
    limit = float(np.max(np.abs(left))) or 1.0
    image = axis.scatter(points[:, 0], second, c=left, cmap="RdBu_r", vmin=-limit, vmax=limit, s=14)
    figure.colorbar(image, ax=axis, label="residual / σ")
    axis.set(xlabel=labels[0], ylabel=labels[1], title="residuals")
