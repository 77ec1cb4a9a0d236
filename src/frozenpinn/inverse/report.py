"""An inference in words and as a picture."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.output.plotting.planes import Plane
from frozenpinn.runtime.figures import LINES, finished, new_figure, style
from frozenpinn.runtime.html import Readable
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.inverse.result import Inferred


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
        lines.append(f"  noise: {_noises(found)}, estimated with {found.freedom} degrees of freedom")
    if found.networks.size:
        shares = [f"{abs(float(gap)):.1g} for {name}" for name, gap in zip(found.names, found.networks, strict=True)]
        lines.append(f"  of the error bars, networks: {', '.join(shares)}")
    lines += _correlated(found)
    for minimum in found.minima:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in minimum.values.items())
        lines.append(f"  another minimum: {values} with χ² = {minimum.chi_square:.4g} beside {found.chi_square:.4g}")
    lines += [f"  decision: {name}: {reason}" for name, reason in found.decisions]
    return Readable("\n".join([*lines, *(f"  note: {note}" for note in found.notes)]))


def _noises(found: Inferred) -> str:
    """Return the estimated noise of each set of measurements."""
    ends = np.cumsum([len(part) for part in found.data])[:-1]
    return ", ".join(f"{np.sqrt(np.mean(own**2)):.3g}" for own in np.split(found.sigmas, ends))


def _correlated(found: Inferred) -> list[str]:
    """Say how pairs of numbers depend on each other, the strongest first; and which are hard to tell apart."""
    pairs = [
        (found.correlations[i, j], found.names[i], found.names[j]) for i, j in combinations(range(len(found.names)), 2)
    ]
    pairs.sort(key=lambda pair: -abs(pair[0]))
    if not pairs:
        return []
    most, strong = 6, 0.95
    shown = ", ".join(f"{one} and {other} {c:+.2f}" for c, one, other in pairs[:most])
    more = f", {len(pairs) - most} weaker ones" if len(pairs) > most else ""
    return [
        f"  correlations: {shown}{more}",
        *(f"  '{one}' and '{other}' are hard to tell apart: {c:+.4f}" for c, one, other in pairs if abs(c) > strong),
    ]


def plot_of(found: Inferred, file: str | None = None) -> Any:
    """Draw measured against predicted, weighted residuals, and error bars and steps or an unknown field."""
    if file is not None:
        checked_picture(file)
    with style():
        figure = new_figure((10, 7), file)
        many = not found.fields and len(found.names) > 1
        below = ["left", "middle", "right"] if many else ["left", "right"]
        share = 6 // len(below)
        axes = figure.subplot_mosaic([["fit"] * 3 + ["map"] * 3, [name for name in below for _ in range(share)]])
        left = found.residuals / found.sigmas
        axes["fit"].errorbar(found.predicted, found.values, found.sigmas, fmt=".", ms=4, lw=0.7, color=LINES[0])
        ends = [float(np.min(found.predicted)), float(np.max(found.predicted))]
        axes["fit"].plot(ends, ends, color="black", lw=0.8)
        axes["fit"].set(xlabel="solution at the sensors", ylabel="measured", title="fit")
        _residual_map(figure, axes["map"], found, left)
        if many:
            _draw_correlations(figure, axes["middle"], found)
        draw = _draw_field if found.fields else _draw_numbers
        draw(figure, (axes["left"], axes["right"]), found)
        return finished(figure, file)


def _draw_numbers(figure: Any, axes: Any, found: Inferred) -> None:
    """Draw the intervals, each in percent of its value, and the course of χ²."""
    for i, estimate in enumerate(found.parameters.values()):
        unit = (abs(estimate.value) or 1.0) / 100.0
        axes[0].plot([(estimate.low - estimate.value) / unit, (estimate.high - estimate.value) / unit], [i, i], lw=3)
        axes[0].plot(0.0, i, "o", color="black", ms=4)
    axes[0].set_yticks(range(len(found.names)), labels=[f"{n} = {e.value:.4g}" for n, e in found.parameters.items()])
    axes[0].set(xlabel="interval about the value, % of it", title="error bars", ylim=(-0.7, len(found.names) - 0.3))
    _draw_steps(axes[1], found)


def _draw_correlations(figure: Any, axis: Any, found: Inferred) -> None:
    """Draw the correlations of the numbers as colours, with their values if there are few."""
    image = axis.imshow(found.correlations, cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    figure.colorbar(image, ax=axis, shrink=0.7)
    places = range(len(found.names))
    axis.set_xticks(places, labels=found.names)
    axis.set_yticks(places, labels=found.names)
    axis.set(title="correlations")
    axis.grid(visible=False)
    if len(found.names) <= 5:
        for i, j in product(places, places):
            c = float(found.correlations[i, j])
            axis.text(j, i, f"{c:+.2f}", ha="center", va="center", color="white" if abs(c) > 0.6 else "black")


def _draw_steps(axis: Any, found: Inferred) -> None:
    """Draw the course of χ², and what noise alone would leave."""
    axis.semilogy([step[0] for step in found.steps], "o-", ms=4)
    axis.axhline(max(found.freedom, 1), color="black", lw=0.8)
    axis.set(xlabel="evaluation", ylabel="χ²", title="steps")


def _draw_field(figure: Any, axes: Any, found: Inferred) -> None:
    """Draw the first unknown field with its band, or next to its deviation."""
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
