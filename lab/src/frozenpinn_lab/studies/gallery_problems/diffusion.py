"""Diffusion: all kinds of sides, coefficients and sources."""

from __future__ import annotations

from math import cos, sin, tan

from frozenpinn.geometry import Box
from frozenpinn.statement.conditions import Boundary, Robin
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.studies.gallery_problems.entry import (
    FIPY,
    PINNACLE,
    PY_PDE,
    GalleryProblem,
    box,
    centred,
    random_waves,
    rough,
    torus,
)


def fixed_sides() -> Problem:
    """Return two modes of a rectangle that is cooled on all sides."""
    a, b = "sin(2*pi*x/3)*sin(pi*y)", "sin(8*pi*x/3)*sin(2*pi*y)"
    exact = f"exp(-k*pi^2*13/9*t)*{a} - exp(-k*pi^2*100/9*t)*{b}/2"
    return Problem("u_t = k*lap(u)", box(1.5), (0, 1), f"{a} - {b}/2", "u = 0", None, {"k": 0.07}, exact)


def insulated_sides() -> Problem:
    """Return heat that spreads in a closed square."""
    waves = random_waves(1, 6, 10, "cos({m}*pi*x)*cos({n}*pi*y)")
    initial = " + ".join(["1", *(wave for *_, wave in waves)])
    exact = " + ".join(["1", *(f"exp(-{m**2 + n**2}*pi^2*k*t)*{wave}" for _, m, n, wave in waves)])
    return Problem("u_t = k*lap(u)", box(), (0, 1), initial, "u_n = 0", None, {"k": 0.01}, exact)


def on_a_torus() -> Problem:
    """Return several waves on a torus, each of which decays at its own rate."""
    waves = random_waves(2, 8, 12, "cos({m}*x - {n}*y + {phase})")
    initial = " + ".join(wave for *_, wave in waves)
    exact = " + ".join(f"exp(-{m**2 + n**2}*k*t)*{wave}" for _, m, n, wave in waves)
    return Problem("u_t = k*lap(u)", torus(), (0, 1), initial, None, None, {"k": 0.02}, exact)


def cooling() -> Problem:
    """Return a plate that loses heat in proportion to its temperature, less along y than along x."""
    a, b, k = 1.2, 0.7, 0.3
    x_sides, y_sides = Robin(a * tan(a), 1, 0), Robin(b * tan(b), 1, 0)
    sides: Boundary = {"left": x_sides, "right": x_sides, "bottom": y_sides, "top": y_sides}
    shape = f"cos({a}*x)*cos({b}*y)"
    exact = f"exp(-{k * (a**2 + b**2)}*t)*{shape}"
    return Problem(f"u_t = {k}*lap(u)", centred(1), (0, 2), shape, sides, exact=exact)


def four_sides() -> Problem:
    """Return a square with another condition on every side."""
    u, k = "exp(-3*k*t + y)*sin(2*x + 1)", 0.2
    sides: Boundary = {
        "left": f"u = exp(-3*k*t + y)*{sin(1)}",
        "right": f"u_n = exp(-3*k*t + y)*{2 * cos(3)}",
        "bottom": "u_n = -exp(-3*k*t)*sin(2*x + 1)",
        "top": "2*u + u_n = 3*exp(1 - 3*k*t)*sin(2*x + 1)",
    }
    return Problem("u_t = k*lap(u)", box(), (0, 1), "exp(y)*sin(2*x + 1)", sides, None, {"k": k}, u)


def side_in_time() -> Problem:
    """Return a plate of which one side is heated and cooled in turn."""
    sides: Boundary = {
        "left": "u = sin(4*t)*sin(pi*y)",
        "right": "u_n = 0",
        "bottom": "u = 0",
        "top": "u = 0",
    }
    return Problem("u_t = lap(u)/4", box(2, 1), (0, 3), 0, sides)


def heated_part(profile: str) -> Problem:
    """Return a plate into which heat flows through a part of one side."""
    flow = f"u_n = tanh(4*t)*{profile}"
    sides: Boundary = {"left": "u_n = 0", "right": "u + 2*u_n = 0", "bottom": "u = 0", "top": flow}
    return Problem("u_t = 0.3*lap(u)", box(2, 1), (0, 2), 0, sides)


def side_in_space() -> Problem:
    """Return one whose heated part is far from the corners."""
    return heated_part("exp(-40*(x - 0.9)^2)")


def corner() -> Problem:
    """Return one whose heated part reaches a corner, where the mixed derivatives that two sides ask for differ."""
    return heated_part("exp(-12*(x - 0.6)^2)")


def anisotropic() -> Problem:
    """Return a Gaussian that spreads twenty times faster along one diagonal than along the other."""
    p, q = "(1/5 + 4*a*t)", "(1/5 + 4*b*t)"
    u = f"exp(-(x + y)^2/(2*{p}) - (x - y)^2/(2*{q}))/(5*sqrt({p}*{q}))"
    equation = "u_t = (a + b)/2*lap(u) + (a - b)*u_xy"
    initial = u.replace("*t)", "*0)")
    return Problem(equation, centred(2), (0, 1), initial, f"u = {u}", None, {"a": 0.2, "b": 0.01}, u)


def heterogeneous() -> Problem:
    """Return diffusion that is fast beyond an oblique line and slow before it."""
    k = "0.06 + 0.05*tanh(10*(x + y/2 - 0.8))"
    return Problem("u_t = div(k*grad(u))", box(), (0, 2), "cos(pi*x)*cos(2*pi*y)", "u_n = 0", parameters={"k": k})


def source() -> Problem:
    """Return a plate that is heated until loss and gain are equal."""
    shape, k = "sin(pi*x)*sin(2*pi*y)", 0.02
    exact = f"(1 - exp(-t))*{shape}"
    equation = f"u_t = k*lap(u) + {shape}*(exp(-t) + 5*k*pi^2*(1 - exp(-t)))"
    return Problem(equation, box(), (0, 4), 0, "u = 0", None, {"k": k}, exact)


def varying_coefficient() -> Problem:
    """Return diffusion in a rough medium with a source that pulses (Heat2d-VC)."""
    numbers = {"a": f"0.02*exp(({rough(3, 4, 6, 2.0)})/2)", "f": "40*sin(pi*x)*sin(4*pi*y)*sin(2*pi*t)"}
    return Problem("u_t = div(a*grad(u)) + f", box(), (0, 2), 0, "u = 0", parameters=numbers)


def multi_scale() -> Problem:
    """Return nine waves along x that hardly decay, and one along y that does (Heat2d-MS)."""
    exact = "sin(18*pi*x)*sin(pi*y)*exp(-(18^2/400^2 + 1/1.5)*t)"
    equation = "u_t = u_xx/(400*pi)^2 + u_yy/(1.5*pi^2)"
    return Problem(equation, box(), (0, 3), "sin(18*pi*x)*sin(pi*y)", "u = 0", exact=exact)


def long_time() -> Problem:
    """Return a nonlinear source that pulses for a long time (Heat2d-LT)."""
    equation = "u_t = 0.002*lap(u) + 3*sin(u^2)*(1 + 2*sin(pi*t/3))*sin(3*pi*x)*sin(2*pi*y)"
    return Problem(equation, box(), (0, 60), "sin(3*pi*x)*sin(2*pi*y)", "u = 0")


def porous_medium() -> Problem:
    """Return diffusion that grows with the square of what spreads."""
    heap = "exp(-3*(cos(pi*x) - 0.4)^2 - 3*(cos(pi*y) + 0.1)^2)"
    return Problem("u_t = div((0.02 + u^2/5)*grad(u))", box(), (0, 1), f"{heap} + 0.1", "u_n = 0")


def fourth_order() -> Problem:
    """Return hyperdiffusion of a supported plate."""
    a, b = "sin(pi*x)*sin(pi*y)", "sin(3*pi*x)*sin(2*pi*y)"
    exact = f"exp(-4*pi^4*k*t)*{a} + exp(-169*pi^4*k*t)*{b}"
    sides = ["u = 0", "u_nn = 0"]
    return Problem("u_t = -k*biharmonic(u)", box(), (0, 1), f"{a} + {b}", sides, None, {"k": 2e-4}, exact)


def half_periodic() -> Problem:
    """Return diffusion in a tube: periodic around it, open at one end."""
    domain = Box([0, 0], [2, 1], periodic=[True, False])
    sides: Boundary = {"bottom": "u = 0", "top": "u_n = 0"}
    a, b = "sin(pi*x)*sin(pi*y/2)", "cos(4*pi*x)*sin(3*pi*y/2)"
    exact = f"exp(-5/4*pi^2*k*t)*{a} + exp(-73/4*pi^2*k*t)*{b}"
    return Problem("u_t = k*lap(u)", domain, (0, 1), f"{a} + {b}", sides, None, {"k": 0.03}, exact)


PROBLEMS = (
    GalleryProblem("heat-fixed-sides", FIPY, fixed_sides),
    GalleryProblem("heat-insulated", PY_PDE, insulated_sides),
    GalleryProblem("heat-torus", PY_PDE, on_a_torus),
    GalleryProblem("heat-half-periodic", PY_PDE, half_periodic),
    GalleryProblem("heat-cooling", FIPY, cooling),
    GalleryProblem("heat-four-sides", PY_PDE, four_sides),
    GalleryProblem("heat-side-in-time", PY_PDE, side_in_time),
    GalleryProblem("heat-side-in-space", PY_PDE, side_in_space),
    GalleryProblem("heat-corner", PY_PDE, corner),
    GalleryProblem("heat-source", FIPY, source),
    GalleryProblem("heat-varying-coefficient", PINNACLE, varying_coefficient),
    GalleryProblem("heat-multi-scale", PINNACLE, multi_scale),
    GalleryProblem("heat-long-time", PINNACLE, long_time),
    GalleryProblem("diffusion-anisotropic", FIPY, anisotropic),
    GalleryProblem("diffusion-heterogeneous", PY_PDE, heterogeneous),
    GalleryProblem("diffusion-nonlinear", FIPY, porous_medium),
    GalleryProblem("diffusion-fourth-order", FIPY, fourth_order),
)
