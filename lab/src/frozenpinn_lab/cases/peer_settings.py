"""How the baselines solve the benchmark cases: the paper's settings and figures, and ladders of resolutions.

``SETTINGS[case][method]`` has the keyword arguments of a method (:func:`frozenpinn_lab.peers.methods.solve_baseline`
takes them), and what the paper (Datar et al., Frozen-PINN) reports. Some settings are ours, for cases that the paper
does not solve by this method.

``LADDERS[case][method]`` lists settings from coarse to fine for diagrams of error against time. They are tuned: degrees
of splines and elements as high as pays off, tolerances in time that match the error in space. These, and the scales of
ELM's weights, were chosen by looking at true errors, in favour of the baselines.

What the paper leaves open, and what we take:

* Space-time ELM and SWIM: it has settings for advection only, and reports that both fail at a speed of 40. How points
  are placed (at random here), how the 400 initial and boundary points are shared (half and half), and what its
  L²-regularisation of 1e-10 is (the cut-off of singular values here; its cut-off of the SVD layer, 1e-12, is smaller
  and has no further effect). Neurons are drawn in the given coordinates, not in scaled ones.
* IGA: quadrature, integrator and tolerance. Ours integrates products of basis functions exactly; DOP853 for advection
  and waves, Radau IIA of order 5 for beams and Burgers' equation, at tolerances near the error in space.
* On boxes in two and three dimensions (not in the paper) ``spectral`` has about as many points and steps as an error
  between 1e-5 and 1e-6 needs, as few as were found by trial; linear equations with constant coefficients need no step.
  ``py-pde`` has as many points as its differences of second order need for about three digits.
* Static cases (the paper has settings of its PINN for solids only): see :mod:`frozenpinn_lab.cases.static_peers`.
* FEM: the domain (only a picture; ours is a drawing of our own), the mesh beyond its 1193 nodes and 2070 triangles
  (``mesh_size`` 0.0246 gives 1155 and 2092), and the scheme in time (backward Euler here) for its 1000 steps.
"""

from __future__ import annotations

from typing import Any

from frozenpinn_lab.cases.peers import Baseline, Published
from frozenpinn_lab.cases.static_peers import STATIC_LADDERS, STATIC_SETTINGS

Options = dict[str, Any]


#: Interior points of space-time ELM and SWIM by speed of advection; the paper has none beyond 100.
ADVECTION_POINTS = {1e-2: 1000, 1e-1: 1000, 1.0: 1000, 10.0: 1000, 40.0: 8000, 100.0: 8000}


def _paper_features(interior: int) -> Options:
    """Return the paper's space-time features of advection: 380 neurons (of 140, 380, 560), biases up to 4."""
    return {
        "width": 380,
        "interior": interior,
        "boundary": 200,
        "initial": 200,
        "rcond": 1e-10,
        "weights": (1.0, 1.0, 1.0),
        "eta": 4.0,
        "scaled": False,
        "point_method": "random",
    }


def _features(width: int, scale: float = 1.0, **more: Any) -> Options:
    """Return our space-time features: three interior points per neuron, biases as large as weights, rows rescaled."""
    points = {"interior": 3 * width, "boundary": max(200, width // 2), "initial": max(200, width // 2)}
    return {"width": width, **points, "scale": scale, "eta": scale, **more}


def _both(elm: Options, note: str = "") -> dict[str, Baseline]:
    """Return settings of ours for both samplers; SWIM has no scale."""
    swim = {name: value for name, value in elm.items() if name not in ("scale", "eta")}
    return {
        "spacetime-elm": Baseline(elm, recipe=None, note=note),
        "spacetime-swim": Baseline(swim, recipe=None, note=note),
    }


#: Implicit steps: at the paper's resolution, stability makes explicit ones take ten times as long.
_BEAM = {"integrator": "radau"}

FAILS = "published as 'fail for β = 40'"


def _grids(points: int, modes: int, step: float | None = None, **more: Any) -> dict[str, Baseline]:
    """Return settings on boxes: waves with a time step if they need one, and finite differences."""
    waves = {"modes": modes} | ({} if step is None else {"step": step}) | more
    return {
        "spectral": Baseline(waves, recipe=None),
        "py-pde": Baseline({"points": points, "tolerance": 1e-5}, recipe=None),
    }


SETTINGS: dict[str, dict[str, Baseline]] = {
    "advection": {
        "spacetime-elm": Baseline(_paper_features(8000), note=FAILS),
        "spacetime-swim": Baseline(_paper_features(8000), note=FAILS),
        "iga": Baseline({"nodes": 16, "degree": 8, "rtol": 1e-11}, Published(1.17e-10, 0.07)),
    },
    "advection-fast": {  # with interior=ADVECTION_POINTS[beta]
        "spacetime-elm": Baseline(_paper_features(8000), note="a curve only; fails beyond β = 40"),
        "spacetime-swim": Baseline(_paper_features(8000), note="a curve only; fails beyond β = 40"),
        "iga": Baseline({"nodes": 16, "degree": 8}, note="a curve only"),
    },
    "advection-long": {"iga": Baseline({"nodes": 16, "degree": 8}, recipe=None)},
    "euler-bernoulli": {
        **_both(_features(1000, 1.5)),
        "iga": Baseline({"nodes": 27, "degree": 9, "rtol": 3e-9, **_BEAM}, Published(4.21e-7, 0.94)),
    },
    "euler-bernoulli-winkler": {
        **_both(_features(1000, 2.0)),
        "iga": Baseline({"nodes": 60, "degree": 6, "rtol": 1e-7, **_BEAM}, Published(2.70e-8, 1.08)),
    },
    "wave": {
        **_both(_features(1000, 2.0)),
        "iga": Baseline({"nodes": 40, "degree": 8}, recipe=None),
    },
    "wave-multiscale": {
        **_both(_features(2000, 4.0)),
        "iga": Baseline({"nodes": 40, "degree": 8}, recipe=None),
    },
    "burgers": {
        **_both(_features(1000, 5.0, iterations=10), note="no neurons at the shock: errors near 0.3"),
        "iga": Baseline({"nodes": 750, "degree": 9, "rtol": 1e-7}, Published(1.12e-7, 76.32)),
    },
    "allen-cahn": {"iga": Baseline({"nodes": 401, "degree": 5, "rtol": 1e-5}, recipe=None)},
    "korteweg-de-vries": {"iga": Baseline({"nodes": 150, "degree": 9, "rtol": 1e-7}, recipe=None)},
    "kuramoto-sivashinsky": {"iga": Baseline({"nodes": 200, "degree": 9, "rtol": 1e-8}, recipe=None)},
    "nonlinear-diffusion": {
        **_both(_features(1000, 1.0, iterations=10)),
        "fem": Baseline({"mesh_size": 0.0246, "degree": 1, "stages": 1, "steps": 1000}, Published(2.68e-3, 2.71)),
    },
    "allen-cahn-2d": _grids(96, 68, 0.05),
    "brusselator-2d": _grids(64, 28, 0.05),
    "gray-scott-2d": _grids(96, 80, 1 / 3),
    "swift-hohenberg-2d": _grids(96, 52, 0.1),
    "allen-cahn-3d": _grids(40, 28, 0.1),
    "burgers-2d": _grids(128, 80, 0.004),
    "swirl-2d": _grids(128, 64, 1 / 1200, periodic=True),
    "advection-diffusion-3d": _grids(48, 34),
    "heat-anisotropic-2d": _grids(64, 16),
    "wave-3d": _grids(32, 12),
    "schroedinger-2d": _grids(96, 36, 1 / 60),
    **STATIC_SETTINGS,
}


def _splines(degree: int, *steps: tuple[int, float]) -> tuple[Options, ...]:
    """Return a ladder of IGA: numbers of nodes, each with its tolerance in time."""
    return tuple({"nodes": nodes, "degree": degree, "rtol": rtol} for nodes, rtol in steps)


def _triangles(*steps: tuple[float, int, int, int]) -> tuple[Options, ...]:
    """Return a ladder of FEM: mesh size, degree, stages and number of time steps."""
    return tuple(dict(zip(("mesh_size", "degree", "stages", "steps"), step, strict=True)) for step in steps)


def _widths(scale: float, *widths: int, **more: Any) -> tuple[Options, ...]:
    return tuple(_features(width, scale, **more) for width in widths)


def _waves(*steps: tuple[int, float]) -> tuple[Options, ...]:
    """Return a ladder of the spectral code: numbers of points, each with its time step."""
    return tuple({"modes": modes, "step": step} for modes, step in steps)


LADDERS: dict[str, dict[str, tuple[Options, ...]]] = {
    "advection": {
        "spacetime-elm": _widths(3.0, 500, 1000, 2000),
        "iga": _splines(8, (5, 1e-3), (8, 1e-6), (12, 1e-9), (16, 1e-11), (24, 1e-12)),
    },
    "euler-bernoulli": {
        "spacetime-elm": _widths(1.5, 125, 250, 500, 1000),
        "iga": _splines(5, (5, 1e-5), (7, 1e-6), (10, 1e-7)) + _splines(9, (5, 1e-8), (9, 1e-11)),
    },
    "euler-bernoulli-winkler": {
        "spacetime-elm": _widths(2.0, 250, 500, 1000, 2000),
        "iga": _splines(6, (15, 1e-3), (20, 1e-5), (30, 1e-7), (60, 1e-9))
        + _splines(
            9,
            (60, 1e-12),
        ),
    },
    "wave": {
        "spacetime-elm": _widths(2.0, 250, 500, 1000, 2000),
        "iga": _splines(8, (6, 1e-3), (10, 1e-5), (16, 1e-8), (24, 1e-10), (40, 1e-12)),
    },
    "wave-multiscale": {
        "spacetime-elm": _widths(4.0, 500, 1000, 2000),
        "iga": _splines(8, (12, 1e-3), (20, 1e-6), (30, 1e-8), (50, 1e-10), (80, 1e-12)),
    },
    "burgers": {
        "iga": _splines(3, (150, 1e-3), (250, 1e-4))
        + _splines(5, (400, 1e-5), (600, 1e-5), (1000, 1e-7))
        + _splines(9, (1000, 1e-7), (1500, 1e-9)),
    },
    "allen-cahn": {
        "iga": _splines(3, (101, 1e-4), (201, 1e-4), (301, 1e-4))  # the corner leaves an error of 1/n
        + _splines(5, (401, 1e-4))
        + _splines(3, (801, 1e-5), (1601, 1e-5), (3201, 1e-6), (6401, 1e-6)),
    },
    "korteweg-de-vries": {
        "iga": _splines(5, (75, 1e-3), (100, 1e-4)) + _splines(9, (80, 1e-5), (100, 1e-6), (150, 1e-7), (200, 1e-8)),
    },
    "kuramoto-sivashinsky": {
        "iga": _splines(7, (100, 1e-4), (120, 1e-5)) + _splines(9, (150, 1e-6), (200, 1e-8), (250, 1e-9)),
    },
    "nonlinear-diffusion": {
        "spacetime-elm": _widths(1.0, 250, 500, 1000, iterations=10),
        "fem": _triangles(
            (0.1, 1, 2, 5),
            (0.15, 2, 2, 8),
            (0.08, 2, 2, 12),
            (0.08, 3, 3, 8),
            (0.04, 3, 3, 12),
            (0.02, 3, 3, 20),
            (0.02, 4, 3, 40),
        ),
    },
    "allen-cahn-2d": {"spectral": _waves((16, 0.2), (32, 0.16), (48, 0.08), (68, 0.05), (80, 0.03), (96, 0.015))},
    "gray-scott-2d": {"spectral": _waves((16, 2.0), (32, 2.0), (48, 1.0), (64, 0.5), (80, 1 / 3), (112, 0.16))},
    "burgers-2d": {"spectral": _waves((16, 0.02), (32, 0.01), (48, 0.008), (64, 0.006), (80, 0.004), (112, 0.002))},
    **STATIC_LADDERS,
}
