"""Waves: membranes, damping, dispersion, Schrödinger's equation as two real fields."""

from __future__ import annotations

from math import pi, sqrt

from frozenpinn.statement.conditions import Dirichlet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.studies.gallery_problems.entry import PINNACLE, PY_PDE, GalleryProblem, box, centred, rough, torus


def membrane() -> Problem:
    """Return two modes of a drum."""
    a, b = "sin(pi*x/2)*sin(2*pi*y)", "sin(3*pi*x/2)*sin(pi*y)"
    exact = f"{a}*cos(c*pi*sqrt(17)/2*t) + {b}*cos(c*pi*sqrt(13)/2*t)"
    return Problem("u_tt = c^2*lap(u)", box(2, 1), (0, 2), f"{a} + {b}", "u = 0", 0, {"c": 0.8}, exact)


def free_sides() -> Problem:
    """Return water in a basin."""
    a, b = "cos(2*pi*x)", "cos(pi*x)*cos(3*pi*y)"
    exact = f"{a}*cos(2*pi*c*t) + {b}*sin(sqrt(10)*pi*c*t)"
    velocity = f"sqrt(10)*pi*c*{b}"
    return Problem("u_tt = c^2*lap(u)", box(), (0, 2), a, "u_n = 0", velocity, {"c": 0.7}, exact)


def travelling() -> Problem:
    """Return waves that travel around a torus in different directions."""
    exact = "sin(2*x + y - c*sqrt(5)*t) + cos(3*x - 4*y + 5*c*t)/2"
    velocity = "-c*sqrt(5)*cos(2*x + y) - 5/2*c*sin(3*x - 4*y)"
    initial = "sin(2*x + y) + cos(3*x - 4*y)/2"
    return Problem("u_tt = c^2*lap(u)", torus(), (0, 4), initial, None, velocity, {"c": 0.9}, exact)


def telegraph() -> Problem:
    """Return a damped wave with a restoring force."""
    a, b, c = 0.6, 2.0, 0.5
    omega = sqrt(b + 5 * pi**2 * c**2 - a**2 / 4)
    shape = "sin(pi*x)*sin(2*pi*y)"
    exact = f"exp(-{a / 2}*t)*(cos({omega}*t) + {a / 2 / omega}*sin({omega}*t))*{shape}"
    return Problem(f"u_tt + {a}*u_t + {b}*u = {c**2}*lap(u)", box(), (0, 3), shape, "u = 0", 0, exact=exact)


def lens() -> Problem:
    """Return a pulse that passes a slow place (Wave2d-CG on a square)."""
    numbers = {"c": "1 - 0.4*exp(-4*(sin(pi*x/2) - 0.3)^2 - 4*(sin(pi*y/2) + 0.2)^2)"}
    pulse = "exp(-12*(sin(pi*x/2) + 0.6)^2 - 12*(sin(pi*y/2) - 0.2)^2)"
    return Problem("u_tt = c^2*lap(u)", centred(1), (0, 2), pulse, "u_n = 0", 0, numbers)


def long_time() -> Problem:
    """Return two modes of an anisotropic membrane for a long time (Wave2d-MS)."""
    a, b = "sin(pi*x)*sin(pi*y)", "sin(3*pi*x)*sin(2*pi*y)"
    exact = f"{a}*cos(pi*sqrt(1 + 1.69)*t) + {b}*cos(pi*sqrt(9 + 4*1.69)*t)"
    return Problem("u_tt = u_xx + 1.69*u_yy", box(), (0, 100), f"{a} + {b}", "u = 0", 0, exact=exact)


def klein_gordon() -> Problem:
    """Return a field with a mass and a cubic force."""
    initial = rough(6, 3, 6)
    return Problem("u_tt = lap(u) - u - u^3", torus(), (0, 3), initial, None, 0)


def sine_gordon() -> Problem:
    """Return a ring that shrinks."""
    ring = "4*atan(exp(3 - 2*sqrt(1 + 16*sin(pi*x/8)^2 + 32*sin(pi*y/8)^2)))"
    return Problem("u_tt = lap(u) - sin(u)", centred(4), (0, 4), ring, "u_n = 0", 0)


def oscillator() -> Problem:
    """Return a coherent state in a parabolic potential, in two real fields."""
    q, p, r, s = "1.2*cos(t)", "(-1.2*sin(t))", "0.6*sin(t)", "0.6*cos(t)"
    size = f"exp(-((x - {q})^2 + (y - {r})^2)/2)"
    phase = f"({p}*(x - {q}/2) + {s}*(y - {r}/2) - t)"
    exact = {"u": f"{size}*cos{phase}", "v": f"{size}*sin{phase}"}
    start = "exp(-((x - 1.2)^2 + y^2)/2)"
    initial = {"u": f"{start}*cos(0.6*y)", "v": f"{start}*sin(0.6*y)"}
    sides = [Dirichlet(text, field=name) for name, text in exact.items()]
    numbers = {"V": "(x^2 + y^2)/2"}
    return Problem(
        ["u_t = -lap(v)/2 + V*v", "v_t = lap(u)/2 - V*u"], centred(5), (0, 3), initial, sides, None, numbers, exact
    )


def condensate() -> Problem:
    """Return a nonlinear Schrödinger equation on a torus, in two real fields."""
    equations = ["u_t = -lap(v)/2 + (u^2 + v^2)*v", "v_t = lap(u)/2 - (u^2 + v^2)*u"]
    initial = {"u": f"1 + ({rough(7, 3, 4)})/5", "v": f"({rough(8, 3, 4)})/5"}
    return Problem(equations, torus(), (0, 2), initial)


PROBLEMS = (
    GalleryProblem("wave-membrane", PY_PDE, membrane),
    GalleryProblem("wave-free-sides", PY_PDE, free_sides),
    GalleryProblem("wave-torus", PY_PDE, travelling),
    GalleryProblem("wave-telegraph", PY_PDE, telegraph),
    GalleryProblem("wave-lens", PINNACLE, lens),
    GalleryProblem("wave-long-time", PINNACLE, long_time),
    GalleryProblem("klein-gordon", PY_PDE, klein_gordon),
    GalleryProblem("sine-gordon", PY_PDE, sine_gordon),
    GalleryProblem("schroedinger-oscillator", PY_PDE, oscillator),
    GalleryProblem("schroedinger-nonlinear", PY_PDE, condensate),
)
