"""Problems on boxes of two to ten dimensions with exact solutions, as the tests and examples solve them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from frozenpinn.geometry import Box
from frozenpinn.language.jets import coordinate_names
from frozenpinn.statement.conditions import Boundary, Dirichlet, Free, Neumann, Robin
from frozenpinn.statement.problem import Problem

PI = np.pi


def cube(dimension: int, low: float = 0.0, high: float = 1.0, **options: Any) -> Box:
    """Return a box with equal sides."""
    return Box([low] * dimension, [high] * dimension, **options)


def with_values(equation: str, domain: Box, end: float, initial: str, exact: str) -> Problem:
    """Return a problem whose values are given on all sides."""
    return Problem(equation, domain, (0, end), initial, f"u = {exact}", exact=exact)


def square_mode(equation: str, end: float, factor: str, wave: bool = False) -> Problem:
    """Return a mode of the square with zero values on all sides."""
    shape = "sin(pi*x)*sin(2*pi*y)"
    return Problem(equation, cube(2), (0, end), shape, "u = 0", 0 if wave else None, exact=f"{factor}*{shape}")


def four_kinds() -> Problem:
    """Return heat with another condition on every side."""
    sides: Boundary = {
        "left": "u = exp(-3*t)*sin(2*y)",
        "right": Neumann("exp(1 - 3*t)*sin(2*y)"),
        "bottom": Dirichlet(0),
        "top": Robin(1, 1, "exp(x - 3*t)*(sin(2) + 2*cos(2))"),
    }
    return Problem("u_t = lap(u)", cube(2), (0, 0.5), "exp(x)*sin(2*y)", sides, exact="exp(x - 3*t)*sin(2*y)")


def half_periodic() -> Problem:
    """Return anisotropic diffusion, periodic along x."""
    shape = "sin(x)*sin(pi*y)"
    domain = Box([0, 0], [2 * PI, 1], periodic=[True, False])
    exact = f"exp(-(1 + pi**2/4)*t)*{shape}"
    return Problem("u_t = div([u_x, u_y/4])", domain, (0, 0.3), shape, "u = 0", exact=exact)


def membrane() -> Problem:
    """Return a membrane with two fixed and two free sides."""
    sides: Boundary = {"left": "u = 0", "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"}
    shape = "sin(pi*x)*cos(pi*y)"
    exact = f"{shape}*cos(2*sqrt(2)*pi*t)"
    return Problem("u_tt = 4*lap(u)", Box([0, 0], [2, 1]), (0, 1), shape, sides, 0, exact=exact)


def plate() -> Problem:
    """Return a supported plate."""
    shape = "sin(pi*x)*sin(pi*y)"
    exact = f"{shape}*cos(2*pi**2*t)"
    return Problem("u_tt + biharmonic(u) = 0", cube(2), (0, 0.1), shape, ["u = 0", "u_nn = 0"], 0, exact=exact)


def oblique_transport() -> Problem:
    """Return transport that enters through two sides and leaves through the others."""
    u = "sin(2*(x - t))*cos(3*(y - t/2))"
    sides: Boundary = {"left": f"u = {u}", "bottom": f"u = {u}", "right": Free(), "top": Free()}
    return Problem("u_t + dot([1, 1/2], grad(u)) = 0", cube(2), (0, 1), "sin(2*x)*cos(3*y)", sides, exact=u)


def burgers_on_a_square() -> Problem:
    """Return the oblique front of Fletcher (1983), Reynolds number 80."""
    front = "1/(4*(1 + exp((-4*x + 4*y - t)*R/32)))"
    exact = {"u": f"3/4 - {front}", "v": f"3/4 + {front}"}
    return system(
        ["u_t + u*u_x + v*u_y = lap(u)/R", "v_t + u*v_x + v*v_y = lap(v)/R"],
        cube(2),
        0.25,
        {name: text.replace(" - t", "") for name, text in exact.items()},
        exact,
        {"R": 80},
    )


def system(
    equations: list[str],
    domain: Box,
    end: float,
    initial: Mapping[str, str],
    exact: Mapping[str, str],
    numbers: Mapping[str, float] | None = None,
) -> Problem:
    """Return a system whose values are given on all sides."""
    sides = [Dirichlet(text, field=name) for name, text in exact.items()]
    return Problem(equations, domain, (0, end), initial, sides, None, numbers, exact)


def skew_front() -> Problem:
    """Return Burgers' equation along x + y, by Cole and Hopf."""
    shape = "0.04*pi*{e}*sin(pi*(x + y))/(1.05 + {e}*cos(pi*(x + y)))"
    exact = shape.format(e="exp(-0.04*pi^2*t)")
    return with_values("u_t + u*(u_x + u_y) = 0.02*lap(u)", cube(2), 0.5, shape.format(e="1"), exact)


def wave_along_the_diagonal() -> Problem:
    """Return a plane wave in three dimensions."""
    s = "(x + y + z)"
    u = f"sin({s} + sqrt(3)*t)"
    return Problem("u_tt = lap(u)", cube(3), (0, 1), f"sin{s}", f"u = {u}", f"sqrt(3)*cos{s}", exact=u)


def mean_heat(d: int) -> Problem:
    """Return heat along the diagonal."""
    mean = f"({' + '.join(coordinate_names(d))})/{d}"
    return with_values("u_t = lap(u)", cube(d), 1, f"cos({mean})", f"cos({mean})*exp(-t/{d})")


def heat_in_all_directions() -> Problem:
    """Return a sum of cosines: no few directions carry it."""
    total = " + ".join(f"cos({name})" for name in coordinate_names(6))
    return with_values("u_t = lap(u)", cube(6), 1, total, f"({total})*exp(-t)")


def skew_wave() -> Problem:
    """Return advection and diffusion of a skew plane wave in four dimensions."""
    wave, speed = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.5, -0.3, 0.2, 0.4])
    phase = "x1 + 2*x2 - x3 + x4/2"
    exact = f"sin({phase} - {speed @ wave}*t)*exp(-{0.05 * wave @ wave}*t)"
    equation = "u_t + 0.5*u_x1 - 0.3*u_x2 + 0.2*u_x3 + 0.4*u_x4 = 0.05*lap(u)"
    return with_values(equation, cube(4), 1, f"sin({phase})", exact)


def growing_exponential() -> Problem:
    """Return advection and diffusion of an exponential in four dimensions."""
    shape = "-(x1 + 2*x2 - x3 + x4)/2"
    exact = f"exp({shape} + t*(7/40 + 2))"
    return with_values("u_t + u_x1 + u_x2 + u_x4 = 0.1*lap(u)", cube(4), 0.3, f"exp({shape})", exact)


def reaction_in_a_plane(d: int) -> Problem:
    """Return a cubic reaction that depends on two of the coordinates."""
    u = "exp(x2 - x4 - t)"
    return with_values(f"u_t = lap(u)/2 - u**3 + ({u})**3 - 2*{u}", cube(d), 0.5, "exp(x2 - x4)", u)


def anisotropic_5d() -> Problem:
    """Return heat that flows faster along one of five axes."""
    s = "(x1 + 2*x2 + 3*x3 + x4 + x5)"
    return with_values("u_t = lap(u) + u_x1x1", cube(5, -1), 0.1, f"sin({s})", f"sin({s})*exp(-17*t)")


def dispersive_system() -> Problem:
    """Return Schrödinger's equation along the diagonal of a cube."""
    s = "sin(x + y + z)"
    exact = {"u": f"{s}*cos(3*t)", "v": f"{s}*sin(3*t)"}
    return system(["u_t = lap(v)", "v_t = -lap(u)"], cube(3), 1, {"u": s, "v": "0"}, exact)


def two_directions() -> Problem:
    """Return two fields that depend on different coordinates."""
    initial = {"u": "sin(x1)", "v": "cos(x2)"}
    exact = {name: f"{text}*exp(-t)" for name, text in initial.items()}
    return system(["u_t = lap(u)", "v_t = lap(v)"], cube(4), 0.3, initial, exact)


def partly_periodic() -> Problem:
    """Return a wave along a periodic axis of three."""
    domain = cube(3, periodic=[True, False, True])
    exact = "sin(2*pi*x)*exp(-4*pi^2*t)"
    return Problem("u_t = lap(u)", domain, (0, 0.01), "sin(2*pi*x)", "u_n = 0", exact=exact)


def torus() -> Problem:
    """Return a skew wave on a torus."""
    s = "sin(2*pi*(x + y))"
    return Problem("u_t = lap(u)", cube(2, periodic=True), (0, 0.01), s, exact=f"{s}*exp(-8*pi^2*t)")


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "2-d heat": lambda: square_mode("u_t = lap(u)", 0.1, "exp(-5*pi**2*t)"),
    "2-d wave": lambda: square_mode("u_tt = lap(u)", 1, "cos(sqrt(5)*pi*t)", wave=True),
    "2-d heat, four kinds of conditions": four_kinds,
    "2-d heat, half periodic": half_periodic,
    "2-d heat, torus": torus,
    "2-d heat, anisotropic": lambda: with_values(
        "u_t = lap(u) + u_xy", cube(2), 0.5, "sin(x + y)", "sin(x + y)*exp(-3*t)"
    ),
    "membrane": membrane,
    "plate": plate,
    "oblique transport": oblique_transport,
    "2-d Burgers": burgers_on_a_square,
    "2-d Burgers, skew": skew_front,
    "3-d wave": wave_along_the_diagonal,
    "3-d heat, partly periodic": partly_periodic,
    "3-d system": dispersive_system,
    "4-d heat": lambda: with_values(
        "u_t = lap(u)", cube(4), 0.2, "x1 + x2**2 + x3*x4", "x1 + x2**2 + x3*x4 + 2*t"
    ),
    "4-d heat, two planes": lambda: with_values(
        "u_t = lap(u)", cube(4), 0.5, "sin(x1 + x2)*cos(x3 - x4)", "sin(x1 + x2)*cos(x3 - x4)*exp(-4*t)"
    ),
    "4-d heat, skew plane": lambda: with_values(
        "u_t = lap(u)", cube(4), 0.2, "sin(x1 + 2*x2) + cos(x3 - x2)",
        "exp(-5*t)*sin(x1 + 2*x2) + exp(-2*t)*cos(x3 - x2)",
    ),
    "4-d advection and diffusion": skew_wave,
    "4-d exponential": growing_exponential,
    "4-d system": two_directions,
    "5-d heat, anisotropic": anisotropic_5d,
    "6-d reaction": lambda: reaction_in_a_plane(6),
    "6-d heat": heat_in_all_directions,
    "7-d heat": lambda: mean_heat(7),
}  # fmt: skip
