"""Linear static problems in the plane and in five dimensions.

poisson-5d (PINNacle, Hao et al. 2024, its PNd), on [0, 1]⁵ with values of the exact solution on the boundary:

    −Δu = (π²/4) Σ sin(πxᵢ/2),  exact: u = Σ sin(πxᵢ/2)

plate, on [0, 1]², clamped (u = uₙ = 0, exact: sin²πx sin²πy) or simply supported (u = Δu = 0, exact: sin πx sin 2πy):

    Δ²u = f

l-shape, on [−1, 1]² without its lower right quarter, with the singular function of its corner, or a membrane under
uniform load with u = 0 on its sides:

    Δu = 0, exact: u = r^(2/3) sin(2θ/3);    Δu = −1

poisson-holes (PINNacle), on [−½, ½]² without four disks of radius 0.1 at (±0.3, ±0.3), u = 1 on the square and u = 0 on
the circles:

    Δu = 0

The last two have no closed form. Their references are sums of harmonic functions (powers of z, powers that match the
corners, poles in the holes) that are fitted to the boundary values; the misfit there bounds the error everywhere.

elasticity-hole (Kirsch 1898), on [−2, 2]² without the unit disk; displacements u, v of a plate that is pulled along x
far away, plane strain with λ = μ = 1, tension 1. The hole has no tractions, the square has the exact displacements:

    (λ + 2μ) uₓₓ + μ u_yy + (λ + μ) v_xy = 0
    (λ + μ) u_xy + μ vₓₓ + (λ + 2μ) v_yy = 0
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from frozenpinn.geometry import Box, Disk, Polygon
from frozenpinn.statement.conditions import Dirichlet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Variant
from frozenpinn_lab.cases.static_common import static_case, widths
from frozenpinn_lab.references import HarmonicReference
from frozenpinn_lab.references.harmonic import along, angle, around, poles, powers

Array = np.ndarray
L_SHAPE = [[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [0, -1]]
HOLES = ((0.3, 0.3), (-0.3, 0.3), (-0.3, -0.3), (0.3, -0.3))
RADIUS = 0.1


def poisson(dimension: int = 5) -> Problem:
    """Return a sum of waves along the axes."""
    total = " + ".join(f"sin(pi*x{i}/2)" for i in range(1, dimension + 1))
    domain = Box([0] * dimension, [1] * dimension)
    return Problem(f"-lap(u) = pi**2/4*({total})", domain, boundary=f"u = {total}", exact=total)


def plate(supported: bool = False) -> Problem:
    """Return a clamped or a simply supported plate."""
    square = Box([0, 0], [1, 1])
    if supported:
        exact = "sin(pi*x)*sin(2*pi*y)"
        return Problem(f"lap(lap(u)) = 25*pi**4*{exact}", square, boundary=["u = 0", "lap(u) = 0"], exact=exact)
    exact = "(1 - cos(2*pi*x))*(1 - cos(2*pi*y))/4"
    load = "4*pi**4*(4*cos(2*pi*x)*cos(2*pi*y) - cos(2*pi*x) - cos(2*pi*y))"
    return Problem(f"lap(lap(u)) = {load}", square, boundary=["u = 0", "u_n = 0"], exact=exact)


def singular(x: Array, y: Array) -> Array:
    """Return the singular function of the corner at the origin."""
    r, theta = angle(np.asarray(x + 1j * np.asarray(y)), 0, 0.0)
    return np.asarray(r ** (2 / 3) * np.sin(2 / 3 * theta))


@cache
def l_shape_reference(count: int = 50, corner: int = 20, each: int = 300) -> HarmonicReference:
    """Return u + (x² + y²)/4, which is harmonic, for Δu = −1.

    Every corner has Im(z² log z) in its own coordinates, as load and edges don't agree there.
    """
    corners = [complex(x, y) for x, y in L_SHAPE]
    turns = [0.0, np.pi / 2, np.pi, 3 * np.pi / 2, 0.0, np.pi / 2]  # where each corner's angle starts

    def functions(z: Array) -> Array:
        r, theta = angle(z, 0, 0.0)
        orders = 2 / 3 * np.arange(1, corner + 1)
        own = r[:, None] ** orders * np.sin(theta[:, None] * orders)
        logs = [_corner_log(z, place, turn) for place, turn in zip(corners, turns, strict=True)]
        return np.concatenate([powers(z, count), own, np.stack(logs, axis=1)], axis=1)

    def data(n: int) -> tuple[Array, Array]:
        z = along(corners, n)
        return z, np.abs(z) ** 2 / 4

    return HarmonicReference.fitted(functions, data(each), data(each + 37))


def _corner_log(z: Array, corner: complex, turn: float) -> Array:
    r, theta = angle(z, corner, turn)
    log = np.log(np.where(r > 0, r, 1.0))
    return np.asarray(r**2 * (log * np.sin(2 * theta) + theta * np.cos(2 * theta)))


def l_shape(load: bool = False) -> Problem:
    """Return a function that is singular at the corner, or a membrane under load."""
    domain = Polygon(L_SHAPE)
    if load:
        reference = l_shape_reference()
        return Problem("lap(u) = -1", domain, boundary="u = 0", exact=lambda x, y: reference(x, y) - (x**2 + y**2) / 4)
    return Problem("lap(u) = 0", domain, boundary=Dirichlet(singular), exact=singular)


@cache
def holes_reference(count: int = 60, order: int = 20, each: int = 200) -> HarmonicReference:
    """Return the potential between a square and four circles.

    Beside the poles in the holes there are those in their mirror images outside the square.
    """
    square = [complex(x, y) / 2 for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    centres = [complex(*place) for place in HOLES]
    across = (-0.7, -0.3, 0.3, 0.7)  # the holes and their images in the nearest walls
    images = [complex(x, y) for x in across for y in across if max(abs(x), abs(y)) > 0.5]

    def functions(z: Array) -> Array:
        own = [poles(z, c, RADIUS, order) for c in centres]
        mirrored = [poles(z, c, RADIUS, order // 2) for c in images]
        return np.concatenate([powers(1.4 * z, count), *own, *mirrored], axis=1)

    def data(n: int) -> tuple[Array, Array]:
        outer, inner = along(square, n), np.concatenate([around(c, RADIUS, n) for c in centres])
        return np.concatenate([outer, inner]), np.concatenate([np.ones(len(outer)), np.zeros(len(inner))])

    return HarmonicReference.fitted(functions, data(each), data(each + 37))


def holes() -> Problem:
    """Return the potential between a square and four circles."""
    domain: Any = Box([-0.5, -0.5], [0.5, 0.5])
    for centre in HOLES:
        domain = domain - Disk(centre, RADIUS)
    reference = holes_reference()
    outer = ("left", "right", "bottom", "top")
    sides = {side.name: "u = 1" if side.name in outer else "u = 0" for side in domain.sides}
    return Problem("lap(u) = 0", domain, boundary=sides, exact=reference.values)


def elasticity(lam: float = 1.0, mu: float = 1.0) -> Problem:
    """Return a plate with a hole under tension."""
    kappa = 3 - 2 * lam / (lam + mu)
    r2, c3, s3 = "(x**2 + y**2)", "(x**3 - 3*x*y**2)", "(3*x**2*y - y**3)"  # r², r³ cos 3θ, r³ sin 3θ
    exact = {
        "u": f"((k + 1)*x + 2*((k + 1)*x/{r2} + {c3}/{r2}**2) - 2*{c3}/{r2}**3)/(8*mu)",
        "v": f"((k - 3)*y + 2*((1 - k)*y/{r2} + {s3}/{r2}**2) - 2*{s3}/{r2}**3)/(8*mu)",
    }
    domain = Box([-2, -2], [2, 2]) - Disk([0, 0], 1)
    free = [
        "((lam + 2*mu)*u_x + lam*v_y)*x + mu*(u_y + v_x)*y = 0",
        "mu*(u_y + v_x)*x + (lam*u_x + (lam + 2*mu)*v_y)*y = 0",
    ]
    given = [f"{name} = {value}" for name, value in exact.items()]
    outer = ("left", "right", "bottom", "top")
    return Problem(
        [
            "(lam + 2*mu)*u_xx + mu*u_yy + (lam + mu)*v_xy = 0",
            "(lam + mu)*u_xy + mu*v_xx + (lam + 2*mu)*v_yy = 0",
        ],
        domain,
        boundary={side.name: given if side.name in outer else free for side in domain.sides},
        parameters={"lam": lam, "mu": mu, "k": kappa},
        exact=exact,
    )


CASES = (
    static_case("poisson-5d", "Poisson equation in 5 dimensions", poisson, widths(240, 120)),
    static_case(
        "plate",
        "bending of plates",
        plate,
        widths(320, 160),
        variants=(Variant("clamped"), Variant("supported", {"supported": True}, widths(240, 120))),
    ),
    static_case(
        "l-shape",
        "a corner that opens to the inside",
        l_shape,
        widths(60, 60),
        variants=(Variant("singular"), Variant("load", {"load": True}, widths(640, 60))),
    ),
    static_case("poisson-holes", "potential around four holes", holes, widths(480, 480)),
    static_case("elasticity-hole", "plate with a hole under tension", elasticity, widths(640, 480)),
)
