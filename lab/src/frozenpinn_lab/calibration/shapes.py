"""Problems on other shapes than boxes with exact solutions, as the tests and examples solve them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import j0, j1, jn_zeros, jv, y0, y1

from frozenpinn.geometry import Annulus, Ball, Box, Disk, Domain, Extruded, PointCloud, Polygon
from frozenpinn.language.jets import coordinate_names
from frozenpinn.statement.conditions import Boundary, Dirichlet, Neumann, Robin
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.nonlinear_diffusion import TREE

Array = np.ndarray
L_SHAPE = [(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)]


def with_values(equation: str, domain: Domain, end: float, initial: str, exact: str) -> Problem:
    """Return a problem whose values are given on all sides."""
    return Problem(equation, domain, (0, end), initial, f"u = {exact}", exact=exact)


def annulus_mode(number: int) -> Problem:
    """Return a mode of the annulus 1 < r < 2, cold inside and insulated outside."""

    def residual(k: Any) -> Any:
        return j0(k) * y1(2 * k) - y0(k) * j1(2 * k)

    grid = np.linspace(0.5, 12, 600)
    starts = np.flatnonzero(np.diff(np.sign(residual(grid))))
    k = brentq(residual, grid[starts[number]], grid[starts[number] + 1], xtol=1e-14)

    def exact(x: Array, y: Array, t: float) -> Array:
        r = np.hypot(x, y)
        return np.asarray((j0(k * r) * y0(k) - y0(k * r) * j0(k)) * np.exp(-k * k * t))

    sides: Boundary = {"inner": Dirichlet(0), "outer": Neumann(0)}
    return Problem("u_t = lap(u)", Annulus(1, 2), (0, 0.1), lambda x, y: exact(x, y, 0.0), sides, exact=exact)


def drum() -> Problem:
    """Return a mode of a round drum."""
    z = jn_zeros(2, 2)[1]

    def exact(x: Array, y: Array, t: float) -> Array:
        return np.asarray(jv(2, z * np.hypot(x, y)) * np.cos(2 * np.arctan2(y, x)) * np.cos(z * t))

    return Problem("u_tt = lap(u)", Disk(), (0, 2), lambda x, y: exact(x, y, 0.0), "u = 0", 0, exact=exact)


def ball(k: float, boundary: Any, end: float) -> Problem:
    """Return heat in a ball that depends on the radius only, as sin(kr)/r."""

    def exact(x: Array, y: Array, z: Array, t: float) -> Array:
        r = np.sqrt(x**2 + y**2 + z**2)
        return np.asarray(k * np.sinc(k * r / np.pi) * np.exp(-k * k * t))

    initial = lambda x, y, z: exact(x, y, z, 0.0)  # noqa: E731
    return Problem("u_t = lap(u)", Ball(dimension=3), (0, end), initial, boundary, exact=exact)


def lossy_ball() -> Problem:
    """Return a ball that loses heat through its surface: k cot k = 1 − h."""
    return ball(brentq(lambda k: k / np.tan(k) + 1, 1.6, 3.1, xtol=1e-15), Robin(2.0, 1), 0.2)


def pierced_disk() -> Domain:
    """Return a disk with a hole."""
    return Disk() - Disk(center=[0.2, 0.1], radius=0.3).named("hole")


def diffusion_around_a_hole() -> Problem:
    """Return nonlinear diffusion on a disk with a hole."""
    u = "(1 + x**2 + y**2)*exp(-t) + 2"
    equation = f"u_t = u*lap(u) - (1 + x**2 + y**2)*exp(-t) - ({u})*4*exp(-t)"
    return with_values(equation, pierced_disk(), 1, "3 + x**2 + y**2", u)


def flux_through_a_hole() -> Problem:
    """Return nonlinear diffusion with a flux through the hole."""
    shape = "exp(-t)*cos(x)*exp(y/2)"
    u = f"{shape} + 3"
    source = f"-{shape} + 3/4*({u})*{shape} - exp(-2*t)*exp(y)*(sin(x)**2 + cos(x)**2/4)"
    flux = "-exp(-t)*exp(y/2)*(-(x - 0.2)*sin(x) + (y - 0.1)*cos(x)/2)/0.3"
    sides: Boundary = {"boundary": f"u = {u}", "hole": f"u_n = {flux}"}
    equation = f"u_t = div(u*grad(u)) + {source}"
    return Problem(equation, pierced_disk(), (0, 0.5), "cos(x)*exp(y/2) + 3", sides, exact=u)


def pierced_plate() -> Problem:
    """Return heat in a plate with a round hole and another condition on every side."""
    u = "exp(-t)*(sin(x) + x*y/2)"
    sides: Boundary = {
        "left": Dirichlet(u),
        "right": Neumann("exp(-t)*(cos(x) + y/2)"),
        "bottom": "u_y = exp(-t)*x/2",
        "top": f"u + u_n = {u} + exp(-t)*x/2",
        "hole": Neumann("-exp(-t)*((x - 1.5)*(cos(x) + y/2) + (y - 1)*x/2)/0.4"),
    }
    domain = Box([0, 0], [3, 2]) - Disk(center=[1.5, 1], radius=0.4).named("hole")
    return Problem("u_t = lap(u) - exp(-t)*x*y/2", domain, (0, 1), "sin(x) + x*y/2", sides, exact=u)


def free_triangle() -> Problem:
    """Return a wave with free ends on a triangle."""
    shape = "(cos(2*pi*x)*cos(pi*y) + cos(pi*x)*cos(2*pi*y))"
    triangle = Polygon([(0, 0), (1, 0), (1, 1)])
    exact = f"{shape}*cos(sqrt(5)*pi*t)"
    return Problem("u_tt = lap(u)", triangle, (0, 2), shape, Neumann(0), 0, exact=exact)


def singular(shape: Callable[[Array, Array], Array], domain: Domain, sides: dict[str, Any]) -> Problem:
    """Return heat whose solution is a harmonic function with a singular corner, times sin² t."""

    def exact(x: Array, y: Array, t: float) -> Array:
        return np.asarray(shape(x, y) * np.sin(t) ** 2)

    def f(x: Array, y: Array, t: float) -> Array:
        return np.asarray(shape(x, y) * np.sin(2 * t))

    return Problem(
        "u_t = lap(u) + f", domain, (0, 1), 0, {**sides, "outer": Dirichlet(exact)}, parameters={"f": f}, exact=exact
    )


def motz() -> Problem:
    """Return the singularity where given values meet given slopes on a straight side: r^(1/2) cos(θ/2)."""

    def shape(x: Array, y: Array) -> Array:
        return np.asarray((x**2 + y**2) ** 0.25 * np.cos(np.arctan2(y, x) / 2))

    domain = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, 0)], sides={"free": [0], "fixed": [4]})
    return singular(shape, domain, {"free": Neumann(0), "fixed": Dirichlet(0)})


def l_shape() -> Problem:
    """Return the singularity of a re-entrant corner: r^(2/3) cos(2φ/3) with φ from the middle of the opening."""

    def shape(x: Array, y: Array) -> Array:
        return np.asarray((x**2 + y**2) ** (1 / 3) * np.cos(np.arctan2(x - y, -x - y) * 2 / 3))

    domain = Polygon(L_SHAPE, sides={"corner": [2, 3]})
    return singular(shape, domain, {"corner": Dirichlet(0)})


def on_tree(equation: str, shape: str, factor: str, offset: str = "0") -> Problem:
    """Return a problem on the tree of the benchmark case."""
    return with_values(equation, Polygon(TREE), 1, f"{shape} + {offset}", f"{factor}*{shape} + {offset}")


def diffusion_on_the_tree() -> Problem:
    """Return uₜ = ∇·(u²∇u) + f."""
    wave, slope = "exp(-t)*sin(2*x + y)", "exp(-t)*cos(2*x + y)"
    u = f"(2 + {wave})"
    source = f"-{wave} + 5*{u}**2*{wave} - 2*{u}*5*({slope})**2"
    return on_tree(f"u_t = div(u**2*grad(u)) + {source}", "sin(2*x + y)", "exp(-t)", "2")


def reaction_on_the_tree() -> Problem:
    """Return a reaction with advection."""
    u = "exp(-t)*cos(3*x)*y"
    source = f"-{u}/10 + exp(-t)*cos(3*x) + ({u})**3"
    return on_tree(f"u_t = lap(u)/10 - u_y - u**3 + {source}", "cos(3*x)*y", "exp(-t)")


def wave_on_the_tree() -> Problem:
    """Return a wave with values that move."""
    u, shape = "cos(t)*exp(x/2)*sin(y)", "exp(x/2)*sin(y)"
    return Problem(f"u_tt = lap(u) - 1/4*{u}", Polygon(TREE), (0, 1), shape, f"u = {u}", 0, exact=u)


def coin() -> Problem:
    """Return a coin with fluxes through all sides."""
    u = "exp(-t/5)*cos(x)*(1 + y/2)*(1 + z)"
    sides: Boundary = {
        "boundary": "u_n = exp(-t/5)*(1 + z)*(y/2*cos(x) - x*sin(x)*(1 + y/2))",
        "front": "u_n = -exp(-t/5)*cos(x)*(1 + y/2)",
        "back": "u_n = exp(-t/5)*cos(x)*(1 + y/2)",
    }
    domain = Extruded(Disk(), 0, 0.2)
    return Problem(f"u_t = lap(u) + 0.8*{u}", domain, (0, 5), "cos(x)*(1 + y/2)*(1 + z)", sides, exact=u)


def thin_plate() -> Problem:
    """Return a thin plate with a hole, in three dimensions."""
    shape = "sin(x + y)*(1 + z*z)"
    u = f"exp(-t)*{shape}"
    plate = Box([0, 0, 0], [1, 1, 0.15]) - Extruded(Disk(center=[0.5, 0.5], radius=0.2), -1, 1)
    return with_values(f"u_t = lap(u) + {u} - 2*exp(-t)*sin(x + y)", plate, 1, shape, u)


def cloud() -> Problem:
    """Return a disk that is known by points only."""
    inside = Disk().sample(700, "sobol", 0).x
    angles = np.sort(np.random.default_rng(0).uniform(0, 2 * np.pi, 160))
    edge = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    u = "exp(x/2 + t/2)*cos(y/2)"
    return with_values("u_t = lap(u) + u/2", PointCloud(inside * 0.97, edge), 1, "exp(x/2)*cos(y/2)", u)


def ball_wave(d: int) -> Problem:
    """Return heat along one direction of a ball."""
    a, b, c = coordinate_names(d)[:3]
    phase = f"{a} + 2*{b} + 2*{c}"
    return with_values("u_t = lap(u)/9", Ball([0.5] * d, 0.7), 1, f"cos({phase})", f"cos({phase})*exp(-t)")


def insulated_ball() -> Problem:
    """Return a ball of four dimensions with a flux through its surface."""
    flux = Neumann("-x1*sin(x1)*exp(-t/9)")
    return Problem("u_t = lap(u)/9", Ball([0.0] * 4, 1.0), (0, 1), "cos(x1)", flux, exact="cos(x1)*exp(-t/9)")


def quadratic(d: int) -> Problem:
    """Return a quadratic function that grows in a ball."""
    square = f"2*({' + '.join(f'{name}**2' for name in coordinate_names(d))})/{d} + x1"
    return with_values("u_t = lap(u) - 2", Ball(dimension=d), 1, square, f"{square} + 2*t")


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "annulus, first mode": lambda: annulus_mode(0),
    "annulus, second mode": lambda: annulus_mode(1),
    "drum": drum,
    "ball": lambda: ball(np.pi, "u = 0", 0.1),
    "ball, Robin": lossy_ball,
    "diffusion around a hole": diffusion_around_a_hole,
    "flux through a hole": flux_through_a_hole,
    "pierced plate": pierced_plate,
    "wave on a triangle": free_triangle,
    "Motz": motz,
    "L-shape": l_shape,
    "tree, diffusion": diffusion_on_the_tree,
    "tree, reaction": reaction_on_the_tree,
    "tree, wave": wave_on_the_tree,
    "coin": coin,
    "thin plate": thin_plate,
    "point cloud": cloud,
    "6-d ball": lambda: ball_wave(6),
    "4-d ball, flux": insulated_ball,
    "20-d ball": lambda: quadratic(20),
}
