"""What a problem of the gallery is, and the boxes that many of them live on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import pi
from types import FunctionType
from typing import Any

import numpy as np

from frozenpinn.geometry import Box, Domain
from frozenpinn.statement.equation import Equations
from frozenpinn.statement.problem import Problem

PY_PDE, FIPY, PINNACLE, DEEPXDE = "py-pde", "FiPy", "PINNacle", "DeepXDE"
SCIKIT_FEM, DOLFINX, DEDALUS, EXPONAX = "scikit-fem", "DOLFINx", "Dedalus", "exponax"


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


def stated(
    name: str,
    source: str,
    equation: Equations,
    domain: Domain | Callable[[], Domain],
    time: tuple[float, float] | None,
    initial: Any,
    boundary: Any = None,
    **more: Any,
) -> GalleryProblem:
    """Return a problem by its statement; functions make a domain or an initial value when it is needed."""

    def build() -> Problem:
        made = isinstance(initial, FunctionType) and not signature(initial).parameters
        shape = domain if isinstance(domain, Domain) else domain()
        return Problem(equation, shape, time, initial() if made else initial, boundary, **more)

    return GalleryProblem(name, source, build)


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


def random_waves(seed: int, highest: int, count: int, shape: str) -> list[tuple[float, int, int, str]]:
    """Return amplitudes, wave numbers and texts of random waves, in place of the noise that galleries start from.

    Parameters
    ----------
    seed, highest, count
        The seed, the largest wave number along each axis, and how many waves there are.
    shape
        A wave with its wave numbers and phase left open, such as ``"cos({m}*x + {n}*y + {phase})"``.
    """
    rng = np.random.default_rng(seed)
    waves = []
    for _ in range(count):
        m, n = (int(k) for k in rng.integers(1, highest + 1, 2))
        amplitude, phase = round(float(rng.uniform(-1, 1)), 3), round(float(rng.uniform(0, 2 * pi)), 3)
        waves.append((amplitude, m, n, f"({amplitude})*{shape.format(m=m, n=n, phase=phase)}"))
    return waves


def rough(seed: int, highest: int, count: int, length: float = 2 * pi, closed: bool = False) -> str:
    """Return a sum of random waves on a torus, or in a closed box from the origin, of given length along both axes."""
    shape = "cos({m}*pi*x/L)*cos({n}*pi*y/L)" if closed else "cos(2*pi*({m}*x - {n}*y)/L + {phase})"
    return " + ".join(text for *_, text in random_waves(seed, highest, count, shape.replace("L", f"{length!r}")))
