"""Pictures of domains: points inside, boundary points by side, outward normals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from frozenpinn.geometry.domain import Domain
from frozenpinn.runtime.figures import finished, new_figure, style

Array = np.ndarray


def draw(domain: Domain, n: int = 400, file: str | None = None) -> Any:
    """Draw a domain and return the figure; beyond three dimensions on its first two axes."""
    with style():
        figure = drawn(domain, n, file)
        explained(figure)
        return finished(figure, file)


def drawn(
    domain: Domain,
    n: int,
    file: str | None,
    labels: Mapping[str, str] | None = None,
    region_of: Callable[[Array], Array] | None = None,
) -> Any:
    """Return a figure of a domain; ``labels`` are what to say of each side, places may lie in named regions."""
    from matplotlib import colormaps

    inside = domain.sample(n, "gauss" if domain.dimension <= 3 else "sobol", rng=0).x
    count = max(8, round(2.0 * n ** max((domain.dimension - 1) / domain.dimension, 0.5)))
    figure = new_figure((7, 6 if domain.dimension > 1 else 2), file)
    axis = figure.add_subplot(projection="3d" if domain.dimension == 3 else None)
    shown = min(domain.dimension, 3) if domain.dimension <= 3 else 2
    if region_of is None:
        _scatter(axis, inside, shown, color="0.75", s=4, label=f"{len(inside)} points inside")
    else:
        names = region_of(inside)
        for k, name in enumerate(dict.fromkeys(names)):
            _scatter(axis, inside[names == name], shown, color=colormaps["Pastel2"](k % 8), s=14, label=name)
    colours = colormaps["tab10"]
    for i, side in enumerate(domain.sides):
        points = domain.sample_side(side, count, "gauss" if domain.dimension <= 3 else "sobol", rng=0)
        _scatter(axis, points.x, shown, color=colours(i % 10), s=12, label=(labels or {}).get(side.name, side.name))
        if domain.dimension <= 2:
            _arrows(axis, points.x, points.normals, 0.06 * domain.size, colours(i % 10))
    along = (*domain.coordinates, "")
    axis.set(xlabel=along[0], ylabel=along[1] if shown > 1 else "")
    if shown == 3:
        axis.set_zlabel(along[2])
        axis.set_box_aspect(domain.lengths)
    elif shown == 2:
        pad = 0.09 * domain.size
        axis.set_xlim(domain.lower[0] - pad, domain.upper[0] + pad)
        axis.set_ylim(domain.lower[1] - pad, domain.upper[1] + pad)
        axis.set_aspect("equal")
    projected = f", seen along all but {along[0]} and {along[1]}" if domain.dimension > 3 else ""
    axis.set_title(f"{type(domain).__name__}, measure {domain.measure:.4g}{projected}")
    if shown == 1:
        axis.set(ylim=(-1, 1), yticks=[])
    return figure


def explained(figure: Any) -> None:
    """Say beside a picture what its colours mean."""
    figure.legend(*figure.axes[0].get_legend_handles_labels(), fontsize=8, loc="outside right upper")


def _scatter(axis: Any, x: Array, shown: int, **style: Any) -> None:
    columns = [x[:, i] for i in range(shown)]
    axis.scatter(*(columns if shown > 1 else [columns[0], np.zeros(len(x))]), **style)


def _arrows(axis: Any, x: Array, normals: Array, length: float, colour: Any) -> None:
    if x.shape[1] == 1:
        x, normals = np.column_stack([x, np.zeros(len(x))]), np.column_stack([normals, np.zeros(len(x))])
    axis.quiver(
        *x.T, *(length * normals.T), color=colour, angles="xy", scale_units="xy", scale=1.0, width=0.003, alpha=0.7
    )
