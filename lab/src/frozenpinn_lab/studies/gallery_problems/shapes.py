"""Evolutions on other shapes than plane boxes, of vectors, and from data that jump or are given as arrays."""

from __future__ import annotations

import numpy as np

from frozenpinn.geometry import Ball, Box, Disk
from frozenpinn.tables import Table
from frozenpinn_lab.studies.gallery_problems.entry import (
    DEDALUS,
    DOLFINX,
    EXPONAX,
    FIPY,
    PINNACLE,
    PY_PDE,
    SCIKIT_FEM,
    GalleryProblem,
    box,
    centred,
    stated,
    torus,
)

CUBE, SPACE = Box([0, 0, 0], [1, 1, 1]), Box([0] * 3, [2 * np.pi] * 3, periodic=True)


def picture() -> Table:
    """Return an image of some rings."""
    s = (np.arange(128) + 0.5) / 128
    distance = np.hypot(s[:, None] - 0.45, s[None, :] - 0.55)
    return Table(np.exp(-60 * (distance - 0.2) ** 2), cells=True)


PROBLEMS: tuple[GalleryProblem, ...] = (
    stated("disk-heat", SCIKIT_FEM, "u_t = lap(u)", Disk(), (0, 0.3), "1 - x^2 - y^2", "u = 0"),
    stated("disk-contradiction", FIPY, "u_t = lap(u)", Disk(), (0, 0.3), 0, "u = x"),
    stated("disk-insulated", SCIKIT_FEM, "u_t = 0.2*lap(u)", Disk(), (0, 1), "cos(3*x) + y", "u_n = 0"),
    stated("disk-drum", DOLFINX, "u_tt = lap(u)", Disk(), (0, 1), "(1 - x^2 - y^2)^3", "u = 0", initial_velocity=0),
    stated(
        "disk-rotation",
        DOLFINX,
        "u_t - y*u_x + x*u_y = 0.01*lap(u)",
        Disk(),
        (0, 1),
        "exp(-40*((x - 0.2)^2 + y^2))",
        "u = 0",
    ),
    stated(
        "hole-heat",
        PINNACLE,
        "u_t = 0.1*lap(u)",
        centred(1) - Disk((0.2, 0.1), 0.3),
        (0, 1),
        "(1 - x^2)*(1 - y^2)*((x - 0.2)^2 + (y - 0.1)^2 - 0.09)",
        "u = 0",
    ),
    stated("ball-heat", SCIKIT_FEM, "u_t = 0.2*lap(u)", Ball((0, 0, 0), 1.0), (0, 0.5), "1 - x^2 - y^2 - z^2", "u = 0"),
    stated(
        "cube-heat",
        SCIKIT_FEM,
        "u_t = 0.1*lap(u)",
        CUBE,
        (0, 1),
        "sin(pi*x)*sin(2*pi*y)*sin(pi*z)",
        "u = 0",
        exact="exp(-0.6*pi^2*t)*sin(pi*x)*sin(2*pi*y)*sin(pi*z)",
    ),
    stated(
        "space-diffusion",
        EXPONAX,
        "u_t = 0.1*lap(u)",
        SPACE,
        (0, 1),
        "cos(x)*sin(2*y) + cos(z - y)",
        exact="exp(-0.5*t)*cos(x)*sin(2*y) + exp(-0.2*t)*cos(z - y)",
    ),
    stated("space-allen-cahn", EXPONAX, "u_t = 0.1*lap(u) + u - u^3", SPACE, (0, 1), "0.5*cos(x)*cos(y)*cos(z)"),
    stated(
        "plane-burgers-vector",
        EXPONAX,
        "U_t + advect(U, U) = 0.1*lap(U)",
        torus(),
        (0, 0.5),
        ["sin(x)*cos(y)", "-cos(x)*sin(y)"],
        vectors=("U",),
    ),
    stated(
        "plane-elastic-waves",
        DOLFINX,
        "U_tt = mu*lap(U) + (lam + mu)*grad(div(U))",
        torus(1.0),
        (0, 0.2),
        ["sin(2*pi*x)", "cos(2*pi*x)"],
        initial_velocity=0,
        parameters={"mu": 1, "lam": 2},
    ),
    stated(
        "plane-schroedinger",
        DEDALUS,
        "psi_t = I*lap(psi)/2 - I*(x^2 + y^2)/2*psi",
        centred(6),
        (0, 1),
        "exp(-((x - 1)^2 + y^2)/2)",
        "psi = 0",
    ),
    stated("plane-step", FIPY, "u_t = 0.05*lap(u)", box(), (0, 1), "heaviside(x - 0.5)*heaviside(y - 0.3)", "u_n = 0"),
    stated(
        "plane-hot-side",
        FIPY,
        "u_t = 0.2*lap(u)",
        box(),
        (0, 1),
        0,
        {"left": "u = 1", "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"},
    ),
    stated("plane-quenched", FIPY, "u_t = lap(u)", box(), (0, 0.1), 1, "u = 0"),
    stated("plane-picture", PY_PDE, "u_t = 0.005*lap(u)", box(), (0, 1), picture, "u_n = 0"),
    stated(
        "plane-two-layers",
        FIPY,
        "u_t = div(k*grad(u))",
        box(),
        (0, 0.3),
        "sin(pi*x)*(1 + cos(pi*y))",
        {"left": "u = 0", "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"},
        parameters={"k": "1 - 0.8*heaviside(x - 0.5)"},
    ),
    stated(
        "plane-long-waves",
        DEDALUS,
        "u_t - 0.1*dt(lap(u)) + u_x + u*u_x = 0",
        torus(),
        (0, 1),
        "exp(-(x - pi)^2 - (y - pi)^2)",
    ),
)
