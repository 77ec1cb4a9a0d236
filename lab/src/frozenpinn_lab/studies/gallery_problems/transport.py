"""Transport: along lines and circles, with diffusion, and by the solution itself."""

from __future__ import annotations

from math import pi

from frozenpinn.geometry import Box
from frozenpinn.statement.conditions import Boundary
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.studies.gallery_problems.entry import (
    FIPY,
    PINNACLE,
    PY_PDE,
    GalleryProblem,
    box,
    centred,
    rough,
    torus,
)


def oblique() -> Problem:
    """Return a Gaussian that drifts and spreads."""
    s = "(0.15 + 4*k*t)"
    u = f"0.15/{s}*exp(-((x + 0.5 - 0.8*t)^2 + (y + 0.3 - 0.5*t)^2)/{s})"
    equation, initial = "u_t + 0.8*u_x + 0.5*u_y = k*lap(u)", u.replace("*t", "*0")
    return Problem(equation, centred(1.5), (0, 1), initial, f"u = {u}", None, {"k": 0.02}, u)


def rotation() -> Problem:
    """Return a Gaussian that goes round and spreads."""
    s = "(0.1 + 4*k*t)"
    u = f"0.1/{s}*exp(-((x - 0.6*cos(t))^2 + (y - 0.6*sin(t))^2)/{s})"
    equation, initial = "u_t = y*u_x - x*u_y + k*lap(u)", "exp(-((x - 0.6)^2 + y^2)/0.1)"
    return Problem(equation, centred(1.5), (0, 2 * pi), initial, f"u = {u}", None, {"k": 0.003}, u)


def inflow() -> Problem:
    """Return a channel: what flows in through one side is given, what flows out is not."""
    sides: Boundary = {
        "left": "u + 0.1*u_n = (1 - exp(-3*t))*sin(pi*y)^2",
        "right": "u_n = 0",
        "bottom": "u_n = 0",
        "top": "u_n = 0",
    }
    return Problem("u_t + u_x = 0.1*lap(u)", box(2, 1), (0, 2), 0, sides)


def shear() -> Problem:
    """Return what a flow does that is fast in the middle of a channel."""
    domain = Box([0, -1], [4, 1], periodic=[True, False])
    return Problem("u_t + (1 - y^2)*u_x = 0.02*lap(u)", domain, (0, 3), "sin(pi*x/2)", "u_n = 0")


def ornstein_uhlenbeck() -> Problem:
    """Return the density of a particle on a spring, another one along each axis."""
    x, v = "(x - exp(-t))", "(0.2 + 0.1*exp(-2*t))"
    y, w = "(y + 0.5*exp(-2*t))", "(0.1 + 0.15*exp(-4*t))"
    u = f"exp(-{x}^2/(2*{v}) - {y}^2/(2*{w}))/(2*pi*sqrt({v}*{w}))"
    initial = "exp(-(x - 1)^2/0.6 - (y + 0.5)^2/0.5)/(2*pi*sqrt(0.3*0.25))"
    equation = "u_t = dx(x*u) + dy(2*y*u) + 0.2*lap(u)"
    return Problem(equation, centred(2.5, 2), (0, 1.5), initial, f"u = {u}", exact=u)


def burgers() -> Problem:
    """Return one velocity that carries itself along two axes, differently."""
    equation = "u_t + u*u_x + u*u_y/2 = nu*lap(u)"
    return Problem(equation, torus(), (0, 1), "sin(x)*cos(y) + 0.3", None, None, {"nu": 0.03})


def burgers_vector() -> Problem:
    """Return two velocities that carry each other (Burgers2d-C)."""
    equations = ["u_t + u*u_x + v*u_y = nu*lap(u)", "v_t + u*v_x + v*v_y = nu*lap(v)"]
    initial = {"u": f"({rough(4, 2, 5)})/2", "v": f"({rough(5, 2, 5)})/2"}
    return Problem(equations, torus(), (0, 1), initial, None, None, {"nu": 0.03})


def burgers_potential() -> Problem:
    """Return two velocities that have a potential, by Cole and Hopf."""
    e = "0.8*exp(-5*nu*t)"
    exact = {
        "u": f"2*nu*{e}*sin(x)*cos(2*y)/(1 + {e}*cos(x)*cos(2*y))",
        "v": f"4*nu*{e}*cos(x)*sin(2*y)/(1 + {e}*cos(x)*cos(2*y))",
    }
    equations = ["u_t + u*u_x + v*u_y = nu*lap(u)", "v_t + u*v_x + v*v_y = nu*lap(v)"]
    initial = {name: text.replace("*t)", "*0)") for name, text in exact.items()}
    return Problem(equations, torus(), (0, 3), initial, None, None, {"nu": 0.1}, exact)


def interface() -> Problem:
    """Return an interface that grows along its normal (Kardar, Parisi and Zhang), by Cole and Hopf."""
    u = "2*nu*log(1 + 0.7*exp(-2*nu*t)*sin(x)*cos(y))"
    initial = "2*nu*log(1 + 0.7*sin(x)*cos(y))"
    equation = "u_t = nu*lap(u) + dot(grad(u), grad(u))/2"
    return Problem(equation, torus(), (0, 2), initial, None, None, {"nu": 0.2}, u)


def chemotaxis() -> Problem:
    """Return cells that follow what they excrete."""
    equations = {"u": "0.05*lap(u) - div(0.3*u*grad(c))", "c": "0.1*lap(c) + u - c"}
    initial = {"u": "1 + 0.2*cos(pi*x)*cos(2*pi*y) + 0.1*cos(3*pi*x)", "c": "0.5"}
    return Problem(equations, box(2, 1), (0, 3), initial, ["u_n = 0", "c_n = 0"])


PROBLEMS = (
    GalleryProblem("transport-oblique", FIPY, oblique),
    GalleryProblem("transport-rotation", PY_PDE, rotation),
    GalleryProblem("transport-inflow", FIPY, inflow),
    GalleryProblem("transport-shear", FIPY, shear),
    GalleryProblem("fokker-planck", PY_PDE, ornstein_uhlenbeck),
    GalleryProblem("burgers", PY_PDE, burgers),
    GalleryProblem("burgers-vector", PINNACLE, burgers_vector),
    GalleryProblem("burgers-potential", PINNACLE, burgers_potential),
    GalleryProblem("interface", PY_PDE, interface),
    GalleryProblem("chemotaxis", FIPY, chemotaxis),
)
