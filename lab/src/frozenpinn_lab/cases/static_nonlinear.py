"""Nonlinear static problems, solved by Newton's method.

The first four are those of FastLSQ (Sulc 2026) with its parameters, on [0, 1]² (steady-burgers on [0, 1]), with the
values of the exact solution on the boundary, and the source that it needs:

    nonlinear-poisson:    −Δu + u³ = f,         u = sin πx sin πy
    bratu:                −Δu − eᵘ = f,         u = sin πx sin πy
    nonlinear-helmholtz:  Δu + 9u + ½ u³ = f,   u = sin 3x sin 3y
    steady-burgers:       u uₓ − ν uₓₓ = f,     u = sin 2πx, ν = 0.1

Two have relatives without a source. bratu-line: −uₓₓ = eᵘ with u(0) = u(1) = 0, whose smaller solution is
u = −2 log(cosh(θ(x − ½)/2)/cosh(θ/4)), θ = √2 cosh(θ/4). steady-burgers with a layer: u = −tanh(x/2ν) on [−1, 1],
which its values at the ends hold in place, but weakly: they differ from ∓1 by 9e-5 only.

liouville, on [−1, 1]², with values of the exact solution on the boundary; it rises steeply towards the corners:

    Δu = eᵘ,  u = log(8a²/(1 − a²(x² + y²))²),  a = 0.6

minimal-surface, with values of the exact solution on the boundary: Scherk's surface log(cos y/cos x) on [−1, 1]², and
the catenoid arcosh √(x² + y²) on the ring between the radii 1.2 and 2:

    (1 + u_y²) uₓₓ − 2 uₓ u_y u_xy + (1 + uₓ²) u_yy = 0
"""

from __future__ import annotations

from frozenpinn.geometry import Annulus, Box, Domain, Interval
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Variant
from frozenpinn_lab.cases.static_common import static_case, widths

SQUARE = Box([0, 0], [1, 1])
WAVE = "sin(pi*x)*sin(pi*y)"
THETA = 1.5171645990507543  # = √2 cosh(θ/4), the smaller root


def nonlinear_poisson() -> Problem:
    """Return diffusion with a cubic sink."""
    source = f"2*pi**2*{WAVE} + ({WAVE})**3"
    return Problem(f"-lap(u) + u**3 = {source}", SQUARE, boundary=f"u = {WAVE}", exact=WAVE)


def bratu_line() -> Problem:
    """Return combustion without a source on a line."""
    exact = "-2*log(cosh(theta*(x - 1/2)/2)/cosh(theta/4))"
    return Problem("-u_xx = exp(u)", Interval(0, 1), boundary="u = 0", parameters={"theta": THETA}, exact=exact)


def bratu() -> Problem:
    """Return combustion with a source on a square."""
    return Problem(f"-lap(u) - exp(u) = 2*pi**2*{WAVE} - exp({WAVE})", SQUARE, boundary=f"u = {WAVE}", exact=WAVE)


def nonlinear_helmholtz() -> Problem:
    """Return waves in a medium whose index depends on their size."""
    wave = "sin(k*x)*sin(k*y)"
    source = f"-k**2*{wave} + ({wave})**3/2"
    parameters = {"k": 3}
    return Problem(
        f"lap(u) + k**2*u + u**3/2 = {source}", SQUARE, boundary=f"u = {wave}", parameters=parameters, exact=wave
    )


def steady_burgers(layer: bool = False) -> Problem:
    """Return a steady flow with a smooth source, or a layer without one."""
    exact = "-tanh(x/(2*nu))" if layer else "sin(2*pi*x)"
    source = "0" if layer else "pi*sin(4*pi*x) + nu*4*pi**2*sin(2*pi*x)"
    domain = Interval(-1, 1) if layer else Interval(0, 1)
    return Problem(f"u*u_x - nu*u_xx = {source}", domain, boundary=f"u = {exact}", parameters={"nu": 0.1}, exact=exact)


def liouville() -> Problem:
    """Return a surface of constant negative curvature."""
    exact = "log(8*a**2/(1 - a**2*(x**2 + y**2))**2)"
    domain = Box([-1, -1], [1, 1])
    return Problem("lap(u) = exp(u)", domain, boundary=f"u = {exact}", parameters={"a": 0.6}, exact=exact)


def minimal_surface(ring: bool = False) -> Problem:
    """Return the surface of Scherk, or a catenoid."""
    domain: Domain = Annulus(1.2, 2.0) if ring else Box([-1, -1], [1, 1])
    exact = "log(sqrt(x**2 + y**2) + sqrt(x**2 + y**2 - 1))" if ring else "log(cos(y)/cos(x))"
    equation = "(1 + u_y**2)*u_xx - 2*u_x*u_y*u_xy + (1 + u_x**2)*u_yy = 0"
    return Problem(equation, domain, boundary=f"u = {exact}", exact=exact)


CASES = (
    static_case("nonlinear-poisson", "diffusion with a cubic sink", nonlinear_poisson, widths((30, 30), (10, 10))),
    static_case("bratu", "combustion on a square", bratu, widths((30, 30), (10, 10))),
    static_case("bratu-line", "combustion on a line", bratu_line, widths(20, 20)),
    static_case("nonlinear-helmholtz", "waves in a nonlinear medium", nonlinear_helmholtz, widths((30, 30), (20, 20))),
    static_case(
        "steady-burgers",
        "steady Burgers equation",
        steady_burgers,
        widths(20, 20),
        variants=(Variant("waves"), Variant("layer", {"layer": True}, widths(80, 80))),
    ),
    static_case("liouville", "surface of constant negative curvature", liouville, widths((50, 50), (20, 20))),
    static_case(
        "minimal-surface",
        "minimal surfaces",
        minimal_surface,
        widths((50, 50), (20, 20)),
        variants=(Variant("Scherk"), Variant("catenoid", {"ring": True}, widths(640, 240))),
    ),
)
