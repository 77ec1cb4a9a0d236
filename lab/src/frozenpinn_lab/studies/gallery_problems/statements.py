"""Other coordinates, nonlocal terms, point sources, and conditions that switch."""

from __future__ import annotations

from math import pi

from frozenpinn.geometry import Box, Disk, Interval
from frozenpinn.statement.conditions import Free
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.studies.gallery_problems.entry import DEDALUS, DEEPXDE, FIPY, PY_PDE, GalleryProblem, box

_LINE = Interval(0, 1)


def ring() -> Problem:
    """Return decay on a ring of which only the radius matters."""
    ends = {"r-": "u = 0", "r+": "u_n = 0"}
    return Problem("u_t = 0.4*lap(u) - u", Interval(1, 3), (0, 1), "sin(pi*(r - 1)/4)", ends, coordinates="polar")


def sector_free_disk() -> Problem:
    """Return diffusion on a whole disk in polar coordinates."""
    domain, start = Box([0, 0], [1, 2 * pi]), "(1 - r**2)**2*(1 + r*cos(theta))"
    return Problem("u_t = 0.2*lap(u)", domain, (0, 0.5), start, {"r+": "u = 0"}, coordinates="polar")


def rod() -> Problem:
    """Return heat in a cylinder around whose axis nothing changes."""
    ends = {"r+": "u_n = 0", "z-": "u_n = 0", "z+": "u_n = 0"}
    start = "exp(-r**2)*cos(pi*z/3)"
    return Problem("u_t = 0.15*lap(u)", Box([0, 0], [2, 3]), (0, 1), start, ends, coordinates="cylindrical")


def droplet() -> Problem:
    """Return a spherical droplet of one phase in another."""
    return Problem(
        "u_t = lap(u) + u - u**3", Interval(0, 6), (0, 2), "-cos(pi*r/6)", {"r+": "u_n = 0"}, coordinates="spherical"
    )


def polytrope() -> Problem:
    """Return a star of index two (Lane and Emden)."""
    return Problem("lap(u) + u**2 = 0", Interval(0, 1), boundary={"r+": "u = 0.4"}, coordinates="spherical")


def round_drum() -> Problem:
    """Return a drum that is struck in the middle."""
    return Problem(
        "u_tt = 2*lap(u)", Interval(0, 1), (0, 0.8), "(1 - r**2)**4", {"r+": "u = 0"}, 0, coordinates="polar"
    )


def kept_mass() -> Problem:
    """Return two phases of which neither grows."""
    start = "0.4*cos(pi*x)*cos(2*pi*y) + 0.1"
    return Problem("u_t = 0.02*lap(u) + u - u**3 - mean(u - u**3)", box(), (0, 2), start, "u_n = 0")


def long_reach() -> Problem:
    """Return growth that is held back by all that is near."""
    ring = Interval(0, 10, periodic=True)
    growth = "u_t = 0.1*u_xx + u*(1 - integral(exp(-4*(x - s)**2)*u(s)))"
    return Problem(growth, ring, (0, 3), "0.8 + 0.1*cos(2*pi*x/10) + 0.05*sin(6*pi*x/10)")


def anomalous() -> Problem:
    """Return waves that decay by a fractional power of the Laplacian."""
    ring, exact = Interval(0, 2 * pi, periodic=True), "exp(-0.3*t)*sin(x) + exp(-0.3*3**1.4*t)*cos(3*x)"
    return Problem("u_t = -0.3*fraclap(u, 0.7)", ring, (0, 1), "sin(x) + cos(3*x)", exact=exact)


def volterra() -> Problem:
    """Return an equation that remembers all before x."""
    equation = "u_x + u = integral(exp(s - x)*heaviside(x - s)*u(s))"
    return Problem(equation, _LINE, boundary={"left": "u = 1", "right": Free()}, exact="exp(-x)*cosh(x)")


def kirchhoff() -> Problem:
    """Return a string that is stretched by its own deflection."""
    equation = "-(1 + integral(u_x**2))*u_xx = pi**2*(1 + pi**2/2)*sin(pi*x)"
    return Problem(equation, _LINE, boundary="u = 0", exact="sin(pi*x)")


def switched_end() -> Problem:
    """Return a rod whose end is heated for a while."""
    ends = {"left": "u = where(0.2 < t < 0.6, 1, 0)", "right": "u_n = 0"}
    return Problem("u_t = 0.3*u_xx", _LINE, (0, 1), 0, ends)


def switched_reaction() -> Problem:
    """Return a front that is let in late."""
    return Problem(
        "u_t = 0.02*u_xx + 4*u*(1 - u)", _LINE, (0, 2), 0, {"left": "u = heaviside(t - 0.5)", "right": "u_n = 0"}
    )


def switched_radiation() -> Problem:
    """Return a rod that begins to radiate."""
    ends = {"left": "u_n = 0", "right": "u_n = -0.5*heaviside(t - 0.3)*u**4"}
    return Problem("u_t = 0.5*u_xx", _LINE, (0, 1), 1, ends)


def burner() -> Problem:
    """Return a point that heats a plate."""
    return Problem("u_t = 0.5*lap(u) + 2*delta(x - 0.4, y - 0.3)", box(), (0, 0.4), 0, "u = 0")


def blinking() -> Problem:
    """Return a point source on a disk whose strength changes."""
    return Problem("u_t = lap(u) + sin(5*t)*delta(x - 0.2, y)", Disk(), (0, 0.5), 0, "u = 0")


PROBLEMS = (
    GalleryProblem("polar-ring", PY_PDE, ring),
    GalleryProblem("polar-disk", PY_PDE, sector_free_disk),
    GalleryProblem("cylindrical-rod", FIPY, rod),
    GalleryProblem("spherical-droplet", PY_PDE, droplet),
    GalleryProblem("spherical-polytrope", DEDALUS, polytrope),
    GalleryProblem("polar-drum", DEDALUS, round_drum),
    GalleryProblem("nonlocal-kept-mass", PY_PDE, kept_mass),
    GalleryProblem("nonlocal-long-reach", PY_PDE, long_reach),
    GalleryProblem("nonlocal-anomalous", DEEPXDE, anomalous),
    GalleryProblem("nonlocal-volterra", DEEPXDE, volterra),
    GalleryProblem("nonlocal-kirchhoff", FIPY, kirchhoff),
    GalleryProblem("switched-end", FIPY, switched_end),
    GalleryProblem("switched-reaction", PY_PDE, switched_reaction),
    GalleryProblem("switched-radiation", FIPY, switched_radiation),
    GalleryProblem("point-burner", FIPY, burner),
    GalleryProblem("point-blinking", DEEPXDE, blinking),
)
