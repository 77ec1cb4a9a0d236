"""What a problem of the gallery is, and the boxes that many of them live on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

from frozenpinn.geometry import Box
from frozenpinn.statement.problem import Problem

PY_PDE, FIPY, PINNACLE = "py-pde", "FiPy", "PINNacle"


@dataclass(frozen=True)
class GalleryProblem:
    """A problem as it is found in somebody's gallery, with parameters of our own.

    Attributes
    ----------
    name, source
        How it is called here, unique; and whose gallery has one of its kind.
    build
        States it.
    """

    name: str
    source: str
    build: Callable[[], Problem]


def box(x: float = 1.0, y: float = 1.0) -> Box:
    """Return the box from the origin to (x, y)."""
    return Box([0, 0], [x, y])


def centred(x: float, y: float | None = None) -> Box:
    """Return the box from (−x, −y) to (x, y), a square without y."""
    y = x if y is None else y
    return Box([-x, -y], [x, y])


def torus(x: float = 2 * pi, y: float | None = None) -> Box:
    """Return a box that is periodic along both axes, a square without y."""
    return Box([0, 0], [x, x if y is None else y], periodic=True)
