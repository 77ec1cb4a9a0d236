"""Static problems: membranes, potentials, plates, materials, elasticity, layers."""

from __future__ import annotations

import numpy as np

from frozenpinn.geometry import Annulus, Ball, Box, Disk, Polygon
from frozenpinn_lab.studies.gallery_problems.entry import (
    DEDALUS,
    DEEPXDE,
    DOLFINX,
    FIPY,
    PINNACLE,
    PY_PDE,
    SCIKIT_FEM,
    GalleryProblem,
    box,
    centred,
    stated,
)

Array = np.ndarray


def _corner() -> Polygon:
    return Polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)])


def around_a_cylinder(x: Array, y: Array) -> Array:
    """Return the potential of a field along x around a cylinder that conducts five times better."""
    square = np.maximum(x**2 + y**2, 1e-30)
    return np.where(square < 0.09, x / 3, x * (1 - 0.06 / square))


def material(name: str, source: str) -> GalleryProblem:
    """Return a cylinder in a plate."""
    regions = {"cylinder": Disk((0, 0), 0.3), "plate": "rest"}
    values = {"cylinder": 5, "plate": 1}
    sides = dict.fromkeys(("left", "right", "bottom", "top"), "u = x*(1 - 0.06/(x^2 + y^2))")
    return stated(
        name,
        source,
        "div(k*grad(u)) = 0",
        centred(1),
        None,
        None,
        sides,
        parameters={"k": values},
        regions=regions,
        exact=around_a_cylinder,
    )


PROBLEMS: tuple[GalleryProblem, ...] = (
    stated("static-disk", DEEPXDE, "lap(u) = -1", Disk(), None, None, "u = 0", exact="(1 - x^2 - y^2)/4"),
    stated("static-l-shape", DEEPXDE, "lap(u) = -1", _corner, None, None, "u = 0"),
    stated(
        "static-helmholtz",
        DEEPXDE,
        "lap(u) + 40*u = (40 - 13*pi^2)*sin(2*pi*x)*sin(3*pi*y)",
        box(),
        None,
        None,
        "u = 0",
        exact="sin(2*pi*x)*sin(3*pi*y)",
    ),
    stated(
        "static-laplace-disk", DEEPXDE, "lap(u) = 0", Disk(), None, None, "u = x^2 - y^2 + x", exact="x^2 - y^2 + x"
    ),
    stated(
        "static-robin",
        DEEPXDE,
        "lap(u) = exp(x)",
        box(),
        None,
        None,
        {"left": "u = 0", "right": "u_n = -u", "bottom": "u_n = 0", "top": "u = 0"},
    ),
    stated(
        "static-tutorial", DOLFINX, "-lap(u) = -6", box(), None, None, "u = 1 + x^2 + 2*y^2", exact="1 + x^2 + 2*y^2"
    ),
    stated(
        "static-nonlinear",
        DOLFINX,
        "-div((1 + u^2)*grad(u)) = -10*(1 + x + 2*y)",
        box(),
        None,
        None,
        "u = 1 + x + 2*y",
        exact="1 + x + 2*y",
    ),
    stated("static-membrane-load", DOLFINX, "-lap(u) = 4*exp(-9*(x^2 + (y - 0.6)^2))", Disk(), None, None, "u = 0"),
    stated(
        "static-plate",
        DOLFINX,
        "biharmonic(u) = biharmonic(w)",
        box(),
        None,
        None,
        ["u = 0", "u_n = 0"],
        parameters={"w": "sin(pi*x)^2*sin(pi*y)^2"},
        exact="sin(pi*x)^2*sin(pi*y)^2",
    ),
    stated("static-singular-layer", DOLFINX, "-0.05*lap(u) + u_x = 1", box(), None, None, "u = 0"),
    stated(
        "static-clamped-beam",
        DOLFINX,
        "div(sigma) = [0, 0.01]",
        Box([0, 0], [3, 1]),
        None,
        None,
        {"left": "U = 0", "right": "dot(sigma, n) = 0", "bottom": "dot(sigma, n) = 0", "top": "dot(sigma, n) = 0"},
        parameters={"sigma": "lam*div(U)*identity + 2*mu*sym(grad(U))", "lam": 1.25, "mu": 1.0},
    ),
    material("static-cylinder", DOLFINX),
    stated(
        "static-annulus",
        SCIKIT_FEM,
        "lap(u) = 0",
        Annulus(0.5, 1.0),
        None,
        None,
        "u = log(x^2 + y^2)",
        exact="log(x^2 + y^2)",
    ),
    stated(
        "static-minimal-surface",
        SCIKIT_FEM,
        "(1 + u_y^2)*u_xx - 2*u_x*u_y*u_xy + (1 + u_x^2)*u_yy = 0",
        box(),
        None,
        None,
        "u = sin(pi*x)*y/2",
    ),
    stated(
        "static-ball",
        SCIKIT_FEM,
        "lap(u) = -1",
        Ball((0, 0, 0), 1.0),
        None,
        None,
        "u = 0",
        exact="(1 - x^2 - y^2 - z^2)/6",
    ),
    stated(
        "static-two-layers",
        SCIKIT_FEM,
        "div(k*grad(u)) = -1",
        box(),
        None,
        None,
        {"left": "u = 0", "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"},
        parameters={"k": "1 + 9*heaviside(x - 0.4)"},
    ),
    stated(
        "static-wire",
        SCIKIT_FEM,
        "div(k*grad(u)) = -q",
        Disk(),
        None,
        None,
        "u_n = -2*u",
        parameters={"k": {"wire": 10, "cover": 0.5}, "q": {"wire": 5, "cover": 0}},
        regions={"wire": Disk((0, 0), 0.5), "cover": "rest"},
    ),
    stated(
        "static-elastic-square",
        SCIKIT_FEM,
        "mu*lap(U) + (lam + mu)*grad(div(U)) = [sin(pi*y), 0]",
        box(),
        None,
        None,
        "U = 0",
        parameters={"mu": 1.0, "lam": 0.5},
    ),
    stated("static-hole", PINNACLE, "lap(u) = 0", centred(1) - Disk((0.2, 0.1), 0.35), None, None, "u = x*y"),
    stated(
        "static-poisson-boltzmann",
        PINNACLE,
        "lap(u) = 8*u + sin(pi*x)*cos(2*pi*y)",
        centred(1) - Disk((0, 0), 0.3),
        None,
        None,
        "u = 0.2",
    ),
    stated(
        "static-five-dimensions",
        PINNACLE,
        "-lap(u) = pi^2/4*(sin(pi*x1/2) + sin(pi*x2/2) + sin(pi*x3/2) + sin(pi*x4/2) + sin(pi*x5/2))",
        Box([0] * 5, [1] * 5),
        None,
        None,
        "u = sin(pi*x1/2) + sin(pi*x2/2) + sin(pi*x3/2) + sin(pi*x4/2) + sin(pi*x5/2)",
        exact="sin(pi*x1/2) + sin(pi*x2/2) + sin(pi*x3/2) + sin(pi*x4/2) + sin(pi*x5/2)",
    ),
    stated("static-in-space", PINNACLE, "lap(u) - u = x*y*z", Box([0, 0, 0], [1, 1, 1]), None, None, "u = 0"),
    stated(
        "static-jump-on-a-side",
        PY_PDE,
        "lap(u) = 0",
        centred(1),
        None,
        None,
        {"left": "u_n = 0", "right": "u_n = 0", "bottom": "u = 0", "top": "u = sign(x)"},
    ),
    stated(
        "static-flux",
        PY_PDE,
        "lap(u) = cos(pi*x)",
        box(),
        None,
        None,
        {"left": "u_n = 0", "right": "u_n = 0", "bottom": "u_n = 0", "top": "u = 0"},
    ),
    stated("static-potential", FIPY, "div((1 + x*y)*grad(u)) = -1", box(), None, None, "u = 0"),
    stated("static-bratu", FIPY, "lap(u) + 2*exp(u) = 0", box(), None, None, "u = 0"),
    stated(
        "static-periodic",
        DEDALUS,
        "lap(u) = sin(x)*cos(2*y)",
        Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True),
        None,
        None,
        None,
        constraint="mean(u) = 0",
        exact="-sin(x)*cos(2*y)/5",
    ),
    stated(
        "static-strip",
        DEDALUS,
        "lap(u) - u = sin(x)*y",
        Box([0, 0], [2 * np.pi, 1], periodic=[True, False]),
        None,
        None,
        {"bottom": "u = 0", "top": "u_n = 0"},
    ),
    stated(
        "static-triangle",
        SCIKIT_FEM,
        "lap(u) - 4*u = -1",
        lambda: Polygon([(0, 0), (1, 0), (0.3, 0.9)]),
        None,
        None,
        "u = 0",
    ),
)
