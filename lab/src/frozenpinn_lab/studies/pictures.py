"""Pictures of solutions beside the truth: two fields and their difference, stored in rows and drawn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn_lab.studies.attempts import relative
from frozenpinn_lab.studies.study import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
FIELDS, ERRORS = "RdBu_r", "cividis"
_DECADES = 4.0  # of errors that are told apart, below the largest


def rounded(values: Array, digits: int = 4) -> list[Any]:
    """Return nested lists, as exact as a picture needs, None for what is not finite.

    Examples
    --------
    >>> rounded(np.array([[1.23456, np.nan]]))
    [[1.235, None]]
    """
    flat = [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.ravel(values)]
    return list(np.array(flat, dtype=object).reshape(np.shape(values)).tolist())


def picture(across: Array, up: Array, labels: tuple[str, str], found: Array, exact: Array) -> Row:
    """Return what a row holds: errors as numbers, and two fields and their difference over a grid, shape (up, across).

    Values that are not finite lie outside the domain.
    """
    inside = np.isfinite(exact)
    return {
        "error": relative(found[inside], exact[inside]),
        "largest_error": float(np.max(np.abs(found - exact)[inside])),
        "picture": {
            "across": rounded(across),
            "up": rounded(up),
            "labels": list(labels),
            "exact": rounded(exact),
            "solution": rounded(found),
            "difference": rounded(np.abs(found - exact), 3),
        },
    }


def draw_beside(rows: list[Row], figure: Figure, titles: list[str], blocks: int = 2) -> None:
    """Draw truth, solution and absolute error of every row, in several blocks of three columns each."""
    deep = -(-len(rows) // blocks)
    for block, part in enumerate(figure.subfigures(1, blocks, squeeze=False)[0]):
        axes = part.subplots(deep, 3, squeeze=False)
        for place, trio in enumerate(axes):
            index = block * deep + place
            if index < len(rows):
                triptych(part, trio, rows[index]["picture"], titles[index])
            else:
                for axis in trio:
                    axis.set_visible(False)


def triptych(figure: Any, axes: Any, shown: Row, title: str) -> None:
    """Draw truth and solution in the same colours, and the absolute error on a logarithmic scale."""
    from matplotlib.colors import LogNorm

    across, up = np.array(shown["across"]), np.array(shown["up"])
    exact, found, missed = (np.array(shown[key], dtype=float) for key in ("exact", "solution", "difference"))
    limit = float(np.nanmax(np.abs(exact))) or 1.0
    signed = {"cmap": FIELDS, "vmin": -limit, "vmax": limit}
    if np.nanmin(exact) >= 0:
        signed = {"cmap": "viridis", "vmin": float(np.nanmin(exact)), "vmax": limit}
    for axis, values, name in ((axes[0], exact, title), (axes[1], found, "solution")):
        image = axis.pcolormesh(across, up, values, shading="gouraud", rasterized=True, **signed)
        axis.set_title(name, fontsize=9)
    figure.colorbar(image, ax=axes[1]).ax.tick_params(labelsize=7)
    top = max(float(np.nanmax(missed)), 1e-16)
    bottom = top / 10**_DECADES
    scale = {"norm": LogNorm(bottom, top), "cmap": ERRORS}
    image = axes[2].pcolormesh(across, up, np.maximum(missed, bottom), shading="gouraud", rasterized=True, **scale)
    axes[2].set_title("absolute error", fontsize=9)
    figure.colorbar(image, ax=axes[2]).ax.tick_params(labelsize=7)
    for axis in axes:
        axis.set_xlabel(shown["labels"][0], fontsize=8)
        axis.tick_params(labelsize=7)
    axes[0].set_ylabel(shown["labels"][1], fontsize=8)
