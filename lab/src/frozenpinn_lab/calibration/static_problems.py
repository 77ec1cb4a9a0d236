"""Static problems with exact solutions that are hard in one way each, as users meet them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.geometry import Annulus, Ball, Box, Disk, Domain, Implicit, Interval, Polygon
from frozenpinn.statement.conditions import Boundary, Dirichlet, Neumann, Robin
from frozenpinn.statement.problem import Problem

Array = np.ndarray
PI = np.pi
LINE, SQUARE, CUBE = Interval(0, 1), Box([0, 0], [1, 1]), Box([0] * 3, [1] * 3)


def valued(equation: str, domain: Domain, exact: str, **parameters: Any) -> Problem:
    """Return a problem with the values of its exact solution on the boundary; ``f`` is the source that it needs."""
    return Problem(equation, domain, boundary=f"u = {exact}", parameters=parameters, exact=exact)


def sourced(terms: Callable[..., Any], domain: Domain, u: sp.Expr, boundary: Any, constraint: Any = None) -> Problem:
    """Return ``terms(u) = f`` with the source of a manufactured solution."""
    names = sp.symbols(["x", "y", "z"][: domain.dimension])
    left = terms(sp.Function("u")(*names))
    source = terms(u).doit()
    return Problem(sp.Eq(left, sp.Symbol("f")), domain, None, None, boundary, None, {"f": source}, u, constraint)


X, Y, Z = sp.symbols("x y z")


def lap(u: sp.Expr) -> sp.Expr:
    """Return the Laplacian by the coordinates that a function has."""
    return sp.Add(*(sp.diff(u, c, 2) for c in (X, Y, Z) if c in u.free_symbols or c in getattr(u, "args", ())))


def resonant(distance: float) -> Problem:
    """Return Helmholtz' equation on a square at a distance from its lowest eigenvalue, 2π²."""
    u = sp.sin(2 * X + Y) * sp.exp(X * Y)
    return sourced(lambda w: lap(w) + (2 * sp.pi**2 + distance) * w, SQUARE, u, Dirichlet(u))


def neumann_line() -> Problem:
    """Return slopes at both ends, and the mean."""
    sides: Boundary = {"left": Neumann("-1"), "right": Neumann("cos(1)")}
    return Problem("u_xx = -sin(x)", LINE, boundary=sides, constraint=f"mean(u) = {1 - np.cos(1)}", exact="sin(x)")


def neumann_square() -> Problem:
    """Return slopes on a square, and the mean."""
    exact = "cos(pi*x)*cos(2*pi*y)"
    return Problem(f"-lap(u) = 5*pi**2*{exact}", SQUARE, boundary="u_n = 0", constraint="mean(u) = 0", exact=exact)


def neumann_disk() -> Problem:
    """Return slopes on a circle, and a value."""
    return Problem(
        "lap(u) = 0",
        Disk([0, 0], 1),
        boundary=Neumann("exp(x)*(x*cos(y) - y*sin(y))"),
        constraint="u(0, 0) = 1",
        exact="exp(x)*cos(y)",
    )


def layer(eps: float) -> Problem:
    """Return a flow to the right with a boundary layer."""
    exact = "x - (exp((x - 1)/eps) - exp(-1/eps))/(1 - exp(-1/eps))"
    return Problem("-eps*u_xx + u_x = 1", LINE, boundary="u = 0", parameters={"eps": eps}, exact=exact)


def layers(eps: float) -> Problem:
    """Return a flow across a square with layers at two sides."""
    x = "(x - (exp((x - 1)/eps) - exp(-1/eps))/(1 - exp(-1/eps)))"
    exact = f"{x}*{x.replace('x', 'y').replace('eyp', 'exp')}"
    source = f"{x} + {x.replace('x', 'y').replace('eyp', 'exp')}"
    equation = f"-eps*lap(u) + u_x + u_y = {source}"
    return Problem(equation, SQUARE, boundary="u = 0", parameters={"eps": eps}, exact=exact)


def thin_layers(eps: float) -> Problem:
    """Return a reaction with thin layers at both ends."""
    exact = "1 - cosh((x - 1/2)/eps)/cosh(1/(2*eps))"
    return Problem("-eps**2*u_xx + u = 1", LINE, boundary="u = 0", parameters={"eps": eps}, exact=exact)


def crack() -> Problem:
    """Return values to the left and slopes to the right of a point of a side: √r sin(θ/2) on half a disk's square."""

    def u(x: Array, y: Array) -> Array:
        r = np.hypot(x, y)
        return np.asarray(np.sqrt(np.maximum((r - x) / 2, 0)))  # √r sin(θ/2), θ from 0 to π

    corners = [[0, 0], [1, 0], [1, 1], [-1, 1], [-1, 0]]
    domain = Polygon(corners, sides={"slope": [4], "value": [0], "rest": [1, 2, 3]})
    return Problem(
        "lap(u) = 0",
        domain,
        boundary={"slope": Neumann(0), "value": Dirichlet(0), "rest": Dirichlet(u)},
        exact=u,
    )


def kink() -> Problem:
    """Return a solution whose third derivative jumps."""
    exact = "abs(x - 0.3)**3"
    return Problem("u_xx = 6*abs(x - 0.3)", LINE, boundary=f"u = {exact}", exact=exact)


def elasticity() -> Problem:
    """Return an elastic square with manufactured loads."""
    u, v = sp.sin(2 * X + Y), sp.exp(X) * sp.cos(3 * Y)
    f, g = (sp.Function(n)(X, Y) for n in "uv")

    def navier(a: sp.Expr, b: sp.Expr) -> list[sp.Expr]:
        div = sp.diff(a, X) + sp.diff(b, Y)
        return [lap(a) + 2 * sp.diff(div, X), lap(b) + 2 * sp.diff(div, Y)]

    sources = [e.doit() for e in navier(u, v)]
    return Problem(
        [sp.Eq(e, sp.Symbol(n)) for e, n in zip(navier(f, g), ("p", "q"), strict=True)],
        SQUARE,
        boundary=[Dirichlet(u, field="u"), Dirichlet(v, field="v")],
        parameters=dict(zip(("p", "q"), sources, strict=True)),
        exact={"u": u, "v": v},
    )


def many(dimension: int, pair: bool) -> Problem:
    """Return a sum over the axes, with or without a product of two coordinates, in many dimensions."""
    total = " + ".join(f"cos(x{i})" for i in range(1, dimension + 1))
    exact = f"{total} + sin(x1*x2)" if pair else total
    source = f"-({total}) - (x1**2 + x2**2)*sin(x1*x2)" if pair else f"-({total})"
    domain = Box([0] * dimension, [1] * dimension)
    return Problem(f"lap(u) = {source}", domain, boundary=f"u = {exact}", exact=exact)


def robin_disk() -> Problem:
    """Return a disk that loses heat to its surroundings."""
    return Problem("-lap(u) = 1", Disk([0, 0], 1), boundary=Robin(2, 1, 0), exact="1/2 - (x**2 + y**2)/4")


def mixed_square() -> Problem:
    """Return values, slopes and a mixture of both on the sides of a square."""
    u = sp.exp(X) * sp.sin(2 * Y) + X * Y**2
    ux, uy = sp.diff(u, X), sp.diff(u, Y)
    sides = {"left": Dirichlet(u), "right": Neumann(ux), "bottom": Robin(1, 1, u - uy), "top": Neumann(uy)}
    return sourced(lambda w: lap(w) - w, SQUARE, u, sides)


def periodic(dimension: int) -> Problem:
    """Return a periodic box."""
    domain = (
        Box([0] * dimension, [2 * PI] * dimension, periodic=True)
        if dimension > 1
        else Interval(0, 2 * PI, periodic=True)
    )
    u = sp.exp(sp.sin(X)) if dimension == 1 else sp.exp(sp.sin(X) * sp.cos(Y))
    return sourced(lambda w: lap(w) - w, domain, u, None)


def egg() -> Problem:
    """Return a smooth solid given by a level function."""
    domain = Implicit("x**2 + 2*y**2 + 1.5*z**2 + 0.3*x*y - 0.8", [-1.2] * 3, [1.2] * 3)
    return valued("lap(u) - u = 2*exp(x + y + z)", domain, "exp(x + y + z)")


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "line, Poisson": lambda: valued("u_xx = -9*sin(3*x)", LINE, "sin(3*x)"),
    "line, Airy": lambda: Problem(
        "u_xx = (1 + x**2/400)*u + f",
        Interval(-10, 10),
        boundary="u = cos(3*x)",
        parameters={"f": "-(10 + x**2/400)*cos(3*x)"},
        exact="cos(3*x)",
    ),
    "line, fast waves": lambda: valued("u_xx + 900*u = -700*sin(40*x)", LINE, "sin(40*x)"),
    "line, front": lambda: valued(
        "u_xx = -2*s**2*tanh(s*(x - 0.4))/cosh(s*(x - 0.4))**2", LINE, "tanh(s*(x - 0.4))", s=25
    ),
    "line, slopes and mean": neumann_line,
    "line, layer 1e-1": lambda: layer(0.1),
    "line, layer 1e-2": lambda: layer(0.01),
    "line, layer 2e-3": lambda: layer(0.002),
    "line, thin layers": lambda: thin_layers(0.02),
    "line, kink": kink,
    "line, beam": lambda: Problem(
        "u_xxxx + u = (pi**4 + 1)*sin(pi*x)", LINE, boundary=["u = 0", "u_xx = 0"], exact="sin(pi*x)"
    ),
    "line, Bratu 3": lambda: valued("-u_xx - 3*exp(u) = pi**2*sin(pi*x) - 3*exp(sin(pi*x))", LINE, "sin(pi*x)"),
    "line, periodic": lambda: periodic(1),
    "square, resonance 1": lambda: resonant(1.0),
    "square, resonance 1e-2": lambda: resonant(1e-2),
    "square, resonance 1e-4": lambda: resonant(1e-4),
    "square, slopes and mean": neumann_square,
    "square, mixed conditions": mixed_square,
    "square, fast waves": lambda: valued(
        "lap(u) + 200*u = -40*sin(12*x)*cos(8*y) + 32*sin(12*x)*cos(8*y)", SQUARE, "sin(12*x)*cos(8*y)"
    ),
    "square, peak": lambda: sourced(
        lap, SQUARE, sp.exp(-60 * ((X - 0.3) ** 2 + (Y - 0.6) ** 2)), "u = exp(-60*((x - 0.3)**2 + (y - 0.6)**2))"
    ),
    "square, layers 5e-2": lambda: layers(0.05),
    "square, elasticity": elasticity,
    "square, Allen-Cahn": lambda: sourced(
        lambda w: lap(w) / 20 + w - w**3, SQUARE, sp.tanh(2 * X + Y - sp.Rational(3, 2)), "u = tanh(2*x + y - 3/2)"
    ),
    "square, periodic": lambda: periodic(2),
    "disk, slopes and value": neumann_disk,
    "disk, Robin": robin_disk,
    "disk, Helmholtz": lambda: valued(
        "lap(u) + 50*u = cos(7*(0.6*x + 0.8*y))", Disk([0, 0], 1), "cos(7*(0.6*x + 0.8*y))"
    ),
    "ring, logarithm": lambda: valued("lap(u) = 0", Annulus(0.5, 1.5), "log(x**2 + y**2)"),
    "half plane, values and slopes": crack,
    "triangle": lambda: valued("lap(u) = 0", Polygon([[0, 0], [1, 0], [0, 1]]), "exp(2*x)*sin(2*y)"),
    "cube, Poisson": lambda: valued("lap(u) = -14*sin(x + 2*y + 3*z)", CUBE, "sin(x + 2*y + 3*z)"),
    "cube, cubic": lambda: sourced(lambda w: lap(w) - w**3, CUBE, sp.cos(X + Y) * sp.exp(Z), "u = cos(x + y)*exp(z)"),
    "ball, screened": lambda: valued("lap(u) - u = 0", Ball([0, 0, 0], 1), "exp((x + 2*y + 2*z)/3)"),
    "egg": egg,
    "5-d, sum": lambda: many(5, False),
    "5-d, pair": lambda: many(5, True),
    "4-d, pair": lambda: many(4, True),
}
