"""How other methods solve the static cases.

Finite elements: triangles of degree 4, the best of 2, 3 and 4 at errors below 1e-5, in the line of a table; all three
degrees in the diagrams, from coarse to fine. FastLSQ: its own defaults, 1500 features in three blocks, and the figures
that its author has published. It chooses its frequency with the exact solution at hand (see
:mod:`frozenpinn_lab.peers.fastlsq`).
"""

from __future__ import annotations

from typing import Any

from frozenpinn_lab.cases.peers import Baseline, Published

Options = dict[str, Any]


def _elements(mesh_size: float) -> dict[str, Baseline]:
    """Return finite elements of degree 4 on a mesh."""
    return {"fem": Baseline({"mesh_size": mesh_size, "degree": 4}, recipe=None)}


def _sines(error: float | None = None, seconds: float | None = None) -> dict[str, Baseline]:
    """Return FastLSQ, and what its author reports."""
    note = "published figures are those of its author" if error is not None else ""
    return {"fastlsq": Baseline({}, Published(error, seconds), recipe=None, note=note)}


def _triangles(*steps: tuple[int, float]) -> dict[str, tuple[Options, ...]]:
    """Return a ladder of finite elements: degree and mesh size."""
    return {"fem": tuple({"mesh_size": size, "degree": degree} for degree, size in steps)}


STATIC_SETTINGS: dict[str, dict[str, Baseline]] = {
    "nonlinear-poisson": {**_elements(0.05), **_sines(6.1e-8, 8.2)},
    "bratu": {**_elements(0.05), **_sines(1.5e-7, 7.0)},
    "nonlinear-helmholtz": {**_elements(0.05), **_sines(2.4e-9, 8.8)},
    "steady-burgers": _sines(3.9e-9, 7.4),
    "liouville": {**_elements(0.1), **_sines()},
    "minimal-surface": _sines(),
    "l-shape": _elements(0.05),
}
_SQUARE = ((2, 0.2), (2, 0.1), (2, 0.05), (3, 0.2), (3, 0.1), (3, 0.05), (4, 0.2), (4, 0.1), (4, 0.05))
STATIC_LADDERS: dict[str, dict[str, tuple[Options, ...]]] = {
    "nonlinear-poisson": _triangles(*_SQUARE),
    "nonlinear-helmholtz": _triangles(*_SQUARE),
    "bratu": _triangles(*_SQUARE),
    "l-shape": _triangles((2, 0.1), (2, 0.05), (2, 0.02), (3, 0.1), (3, 0.05), (4, 0.1), (4, 0.05)),
    "liouville": _triangles((2, 0.2), (2, 0.1), (3, 0.2), (3, 0.1), (4, 0.2), (4, 0.1)),
}
