"""Reactions and patterns: phases that part, species that react, equations of fourth order."""

from __future__ import annotations

from math import pi

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


def allen_cahn() -> Problem:
    """Return two phases that part and coarsen."""
    initial = f"({rough(9, 5, 12)})/4"
    return Problem("u_t = eps^2*lap(u) + u - u^3", torus(), (0, 5), initial, None, None, {"eps": 0.12})


def phase_field() -> Problem:
    """Return a solid drop that melts from its edge, in a closed box."""
    drop = "(1 - tanh(4*(1.2 - cos(pi*x/1.2) - 0.6*cos(pi*y))))/2"
    equation = "u_t = 0.003*lap(u) + 8*u*(1 - u)*(u - 0.6)"
    return Problem(equation, box(1.2, 1), (0, 2), drop, "u_n = 0")


def fisher() -> Problem:
    """Return a species that invades a closed box."""
    seed = "0.5*exp(-5*(cos(pi*x) - 0.5)^2 - 5*(cos(pi*y) - 0.2)^2)"
    return Problem("u_t = 0.002*lap(u) + 2*u*(1 - u)", box(), (0, 3), seed, "u_n = 0")


def brusselator() -> Problem:
    """Return two species that oscillate."""
    equations = {"u": "lap(u) + a - (1 + b)*u + u^2*v", "v": "lap(v)/10 + b*u - u^2*v"}
    initial = {
        "u": f"1 + ({rough(10, 4, 8, 20.0, closed=True)})/10",
        "v": f"2.4 + ({rough(11, 4, 8, 20.0, closed=True)})/10",
    }
    sides = ["u_n = 0", "v_n = 0"]
    return Problem(equations, box(20, 20), (0, 8), initial, sides, None, {"a": 1.0, "b": 2.4})


def gray_scott() -> Problem:
    """Return a seed that divides (GS)."""
    equations = {"u": "5e-5*lap(u) - u*v^2 + f*(1 - u)", "v": "2.5e-5*lap(v) + u*v^2 - (f + k)*v"}
    seed = "exp(-60*((x - 0.05)^2 + (y + 0.1)^2))"
    initial = {"u": f"1 - 0.5*{seed}", "v": f"0.25*{seed} + 0.2*exp(-80*((x + 0.2)^2 + (y - 0.15)^2))"}
    sides = ["u_n = 0", "v_n = 0"]
    return Problem(equations, centred(1), (0, 100), initial, sides, None, {"f": 0.04, "k": 0.06})


def fitzhugh_nagumo() -> Problem:
    """Return an excitable medium."""
    equations = {"u": "0.02*lap(u) + u - u^3 - v + 0.05", "v": "0.05*lap(v) + 0.5*(u - v)"}
    initial = {"u": "0.8*cos(pi*x/2)*cos(pi*y) + 0.2*cos(pi*x)", "v": "0.3*cos(2*pi*y)"}
    return Problem(equations, box(2, 1), (0, 8), initial, ["u_n = 0", "v_n = 0"])


def schnakenberg() -> Problem:
    """Return spots that grow from small waves."""
    equations = {"u": "0.01*lap(u) + 5*(0.12 - u + u^2*v)", "v": "0.3*lap(v) + 5*(0.85 - u^2*v)"}
    initial = {"u": "0.97 + 0.05*cos(2*pi*x)*cos(pi*y) + 0.03*cos(3*pi*x)", "v": "0.9"}
    return Problem(equations, box(), (0, 4), initial, ["u_n = 0", "v_n = 0"])


def epidemic() -> Problem:
    """Return susceptible, infected and recovered people who move."""
    equations = {"s": "0.01*lap(s) - 2*i*s", "i": "0.02*lap(i) + 2*i*s - 0.5*i", "r": "0.01*lap(r) + 0.5*i"}
    sick = "0.4*exp(-5*(cos(pi*x/2) - 0.4)^2 - 4*(cos(pi*y) - 0.2)^2)"
    initial = {"s": f"1 - {sick}", "i": sick, "r": "0"}
    return Problem(equations, box(2, 1), (0, 5), initial, ["s_n = 0", "i_n = 0", "r_n = 0"])


def ginzburg_landau() -> Problem:
    """Return phases that turn, a complex field as two real ones."""
    equations = {
        "u": "0.1*(lap(u) - 1.5*lap(v)) + u - (u^2 + v^2)*(u + 0.6*v)",
        "v": "0.1*(lap(v) + 1.5*lap(u)) + v - (u^2 + v^2)*(v - 0.6*u)",
    }
    initial = {"u": f"({rough(12, 3, 6)})/4", "v": f"({rough(13, 3, 6)})/4"}
    return Problem(equations, torus(), (0, 4), initial)


def swift_hohenberg() -> Problem:
    """Return stripes that grow."""
    equation = "u_t = r*u - u - 2*lap(u) - biharmonic(u) + 0.4*u^2 - u^3"
    initial = f"({rough(14, 6, 12, 10 * pi)})/8"
    return Problem(equation, torus(10 * pi), (0, 5), initial, None, None, {"r": 0.3})


def kuramoto_sivashinsky() -> Problem:
    """Return a flame front that wrinkles, before chaos."""
    equation = "u_t = -lap(u) - biharmonic(u) - dot(grad(u), grad(u))/2"
    initial = f"({rough(15, 4, 8, 24.0)})/4"
    return Problem(equation, torus(24.0), (0, 6), initial)


def cahn_hilliard() -> Problem:
    """Return two phases that part and whose amounts stay."""
    numbers = {"eps": 0.15, "mu": "u^3 - u - eps^2*lap(u)"}
    initial = f"0.1 + ({rough(16, 4, 10)})/6"
    return Problem("u_t = lap(mu)", torus(), (0, 1), initial, None, None, numbers)


def cahn_hilliard_closed() -> Problem:
    """Return the same in a closed box."""
    numbers = {"eps": 0.06, "mu": "u^3 - u - eps^2*lap(u)"}
    initial = f"0.1 + ({rough(17, 4, 6, 1.0, closed=True)})/5"
    sides = ["u_n = 0", "u_nnn = 0"]
    return Problem("u_t = 0.05*lap(mu)", box(), (0, 1), initial, sides, None, numbers)


PROBLEMS = (
    GalleryProblem("allen-cahn", PY_PDE, allen_cahn),
    GalleryProblem("phase-field", FIPY, phase_field),
    GalleryProblem("fisher-kpp", PY_PDE, fisher),
    GalleryProblem("brusselator", PY_PDE, brusselator),
    GalleryProblem("gray-scott", PINNACLE, gray_scott),
    GalleryProblem("fitzhugh-nagumo", PY_PDE, fitzhugh_nagumo),
    GalleryProblem("schnakenberg", PY_PDE, schnakenberg),
    GalleryProblem("epidemic", PY_PDE, epidemic),
    GalleryProblem("ginzburg-landau", PY_PDE, ginzburg_landau),
    GalleryProblem("swift-hohenberg", PY_PDE, swift_hohenberg),
    GalleryProblem("kuramoto-sivashinsky", PY_PDE, kuramoto_sivashinsky),
    GalleryProblem("cahn-hilliard", FIPY, cahn_hilliard),
    GalleryProblem("cahn-hilliard-closed", PY_PDE, cahn_hilliard_closed),
)
