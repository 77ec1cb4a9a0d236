"""Linear problems in one dimension with exact solutions, as the tests and examples solve them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp
from scipy.special import erf

from frozenpinn.geometry import Interval
from frozenpinn.statement.conditions import Boundary, Dirichlet, Free, Neumann, Robin
from frozenpinn.statement.problem import Problem

Array = np.ndarray
PI = np.pi
UNIT, STRING, CIRCLE = Interval(0, 1), Interval(0, PI), Interval(0, 2 * PI, periodic=True)
SUPPORTED = ["u = 0", "u_xx = 0"]


def transport(equation: str, initial: str, exact: str, end: float) -> Problem:
    """Return transport on a circle."""
    return Problem(equation, CIRCLE, (0, end), initial, exact=exact)


def outflow() -> Problem:
    """Return transport from the left that leaves on the right."""
    sides: Boundary = {"left": "u = -sin(3*t)", "right": Free()}
    return Problem("u_t + u_x = 0", UNIT, (0, 1), "sin(3*x)", sides, exact="sin(3*(x - t))")


def heat_robin() -> Problem:
    """Return heat with a condition of Robin: a·tan(a) = 1."""
    sides: Boundary = {"left": Neumann(0), "right": Robin(1, 1, 0)}
    a = 0.8603335890193797
    return Problem("u_t = u_xx", UNIT, (0, 1), "cos(a*x)", sides, parameters={"a": a}, exact="exp(-a**2*t)*cos(a*x)")


def heat_moving_end() -> Problem:
    """Return heat with a value at one end that is a Python function."""
    sides: Boundary = {"left": "u = 0", "right": Dirichlet(lambda t: np.exp(-t) * np.sin(1))}
    return Problem("u_t = u_xx", UNIT, (0, 1), "sin(x)", sides, exact="exp(-t)*sin(x)")


def heat_in_the_ground() -> Problem:
    """Return the yearly wave of temperature in the ground."""
    u = "exp(-x)*cos(2*t - x)"
    return Problem("u_t = u_xx", Interval(0, 5), (0, 2 * PI), "exp(-x)*cos(x)", f"u = {u}", exact=u)


def heat_rapid_end() -> Problem:
    """Return a thin wave of heat from an end whose value changes rapidly."""
    k = np.sqrt(150)
    u = "exp(-k*x)*sin(300*t - k*x)"
    ends: Boundary = {"left": Dirichlet(lambda t: np.sin(300 * t)), "right": Dirichlet(u)}
    return Problem("u_t = u_xx", UNIT, (0, 0.2), "-exp(-k*x)*sin(k*x)", ends, parameters={"k": k}, exact=u)


def python_source() -> Problem:
    """Return heat with a source that is a Python function."""

    def f(x: Array, t: float) -> Array:
        return np.asarray((-np.sin(t) + PI**2 * np.cos(t)) * np.sin(PI * x))

    return Problem(
        "u_t = u_xx + f(x, t)", UNIT, (0, 2), "sin(pi*x)", "u = 0", parameters={"f": f}, exact="cos(t)*sin(pi*x)"
    )


def moving_source() -> Problem:
    """Return heat with a source that wanders."""
    x, t = sp.symbols("x t")
    u = x * (1 - x) * sp.exp(-4 * (x - sp.Rational(3, 10) - sp.Rational(2, 5) * t) ** 2)
    f = sp.diff(u, t) - sp.diff(u, x, 2)
    return Problem("u_t = u_xx + f", UNIT, (0, 1), u.subs(t, 0), "u = 0", parameters={"f": f}, exact=u)


def switched_source() -> Problem:
    """Return heat with a source that is switched on."""

    def exact(x: Array, t: float) -> Array:
        return np.asarray(np.sin(x) * (np.exp(-t) + (1 - np.exp(0.37 - t)) * (t > 0.37)))

    return Problem("u_t = u_xx + heaviside(t - 0.37)*sin(x)", STRING, (0, 1), "sin(x)", "u = 0", exact=exact)


def stiff_heat() -> Problem:
    """Return fast diffusion that follows a slow source."""
    u = "sin(x)*(k*cos(t) + sin(t) - k*exp(-k*t))/(k**2 + 1)"
    return Problem("u_t = k*u_xx + cos(t)*sin(x)", STRING, (0, 3), 0, "u = 0", parameters={"k": 1000.0}, exact=u)


def heat_from_a_jump() -> Problem:
    """Return the erf into which diffusion turns a jump; the ends are too far away to notice."""

    def exact(x: Array, t: float) -> Array:
        return np.asarray(np.sign(x) if t == 0 else erf(x / np.sqrt(0.02 * t)))

    ends: Boundary = {"left": "u = -1", "right": "u = 1"}
    return Problem("u_t = 0.005*u_xx", Interval(-1, 1), (0, 1), "sign(x)", ends, exact=exact)


def heat_from_a_corner() -> Problem:
    """Return what diffusion makes of |x|."""

    def exact(x: Array, t: float) -> Array:
        width = np.sqrt(0.02 * t)
        if t == 0:
            return np.abs(x)
        return np.asarray(x * erf(x / width) + width / np.sqrt(PI) * np.exp(-((x / width) ** 2)))

    return Problem("u_t = 0.005*u_xx", Interval(-1, 1), (0, 1), "abs(x)", "u = 1", exact=exact)


def variable_coefficients() -> Problem:
    """Return advection and diffusion with coefficients that depend on x."""
    f = "exp(-t)*(-sin(2*x) + (2 + x)*cos(2*x) - 4*x*cos(2*x) + 4*(1 + x**2)*sin(2*x))"
    u = "exp(-t)*sin(2*x)"
    equation = "u_t + (1 + x/2)*u_x = dx((1 + x**2)*u_x) + f"
    return Problem(equation, UNIT, (0, 1), "sin(2*x)", Dirichlet(u), parameters={"f": f}, exact=u)


def drifting_cloud() -> Problem:
    """Return the density of particles that drift to the origin while they spread."""
    return Problem(
        "u_t = dx(x*u) + D*u_xx",
        Interval(-7, 7),
        (0, 2),
        "exp(-(x - 2)**2/(2*s0))/sqrt(2*pi*s0)",
        "u = 0",
        parameters={"D": 0.5, "s0": 0.2, "s": "D + (s0 - D)*exp(-2*t)"},
        exact="exp(-(x - 2*exp(-t))**2/(2*s))/sqrt(2*pi*s)",
    )


def wave_variable_speed() -> Problem:
    """Return a string whose speed of sound varies."""
    shape = "sin(pi*log(1 + x)/log(2))/sqrt(1 + x)"
    u = f"{shape}*cos(t*sqrt(pi**2/log(2)**2 + 1/4))"
    return Problem("u_tt = dx((1 + x)**2*u_x)", UNIT, (0, 1), shape, "u = 0", 0, exact=u)


def string(equation: str, end: float, initial: str, velocity: str, exact: str, beam: bool = False) -> Problem:
    """Return a string between fixed ends, or a beam between supports."""
    return Problem(equation, STRING, (0, end), initial, SUPPORTED if beam else "u = 0", velocity, exact=exact)


def driven_wave() -> Problem:
    """Return a string whose ends are moved."""
    u = "sin(3*(x - t))"
    return Problem("u_tt = u_xx", UNIT, (0, 4), "sin(3*x)", f"u = {u}", "-3*cos(3*x)", exact=u)


def overdamped() -> Problem:
    """Return a wave with strong damping that moves as a whole."""
    return Problem("u_tt = u_xx - 200*u_t + 200", UNIT, (0, 1), 0, Neumann(0), 1, exact="t")


def clamped_beam() -> Problem:
    """Return the first mode of a clamped beam: cosh k cos k = 1."""
    shape = "(cosh(k*x) - cos(k*x) - s*(sinh(k*x) - sin(k*x)))"
    numbers = {"k": 4.730040744862704, "s": 0.982502214576238}
    exact = f"{shape}*cos(k**2*t)"
    return Problem("u_tt + u_xxxx = 0", UNIT, (0, 0.3), shape, ["u = 0", "u_x = 0"], 0, numbers, exact)


def schroedinger() -> Problem:
    """Return a particle in a box."""
    return Problem(
        ["u_t = -v_xx/2", "v_t = u_xx/2"],
        STRING,
        (0, 5),
        {"u": "sin(x) + sin(2*x)", "v": 0},
        Dirichlet(0),
        exact={"u": "sin(x)*cos(t/2) + sin(2*x)*cos(2*t)", "v": "-sin(x)*sin(t/2) - sin(2*x)*sin(2*t)"},
    )


def coherent_state() -> Problem:
    """Return a particle that swings in a harmonic trap."""
    size, phase = "exp(-(x - 2*cos(t))**2/2)", "(t/2 + 2*x*sin(t) - sin(2*t))"
    return Problem(
        ["a_t = -b_xx/2 + x**2/2*b", "b_t = a_xx/2 - x**2/2*a"],
        Interval(-9, 9),
        (0, 2 * PI),
        {"a": "exp(-(x - 2)**2/2)", "b": 0},
        Dirichlet(0),
        exact={"a": f"{size}*cos{phase}", "b": f"-{size}*sin{phase}"},
    )


def maxwell() -> Problem:
    """Return an electromagnetic wave between mirrors."""
    sides = [Dirichlet(0, field="E"), Free("B")]
    exact = {"E": "cos(t)*sin(x)", "B": "sin(t)*cos(x)"}
    return Problem({"E": "B_x", "B": "E_x"}, STRING, (0, 10), {"E": "sin(x)", "B": 0}, sides, exact=exact)


def coupled_conditions() -> Problem:
    """Return two fields that meet in their boundary conditions only."""
    sides: Boundary = {"left": ["u_x = 0", "v = 0"], "right": ["u_x + pi/2*v = 0", "v_x - pi/2*u = 0"]}
    initial = {"u": "cos(pi*x/2)", "v": "sin(pi*x/2)"}
    exact = {name: f"exp(-pi**2/4*t)*{shape}" for name, shape in initial.items()}
    return Problem(["u_t = u_xx", "v_t = v_xx"], UNIT, (0, 0.5), initial, sides, exact=exact)


def mixed_orders() -> Problem:
    """Return a wave that is driven by a field that decays."""
    return Problem(
        ["u_tt = u_xx + v", "v_t = v_xx"],
        STRING,
        (0, 2),
        {"u": "sin(x)/2", "v": "sin(x)"},
        Dirichlet(0),
        {"u": "-sin(x)/2"},
        exact={"u": "exp(-t)*sin(x)/2", "v": "exp(-t)*sin(x)"},
    )


def weakly_coupled() -> Problem:
    """Return a weak coupling beside strong diffusion."""
    equations = ["v_t = v_xx + u/1000", "u_t = 1000*u_xx"]
    exact = {"u": "1 + 0*x", "v": "t/1000"}
    return Problem(equations, UNIT, (0, 1), {"u": 1, "v": 0}, Neumann(0), exact=exact)


def cosine(equation: str, end: float, exact: str) -> Problem:
    """Return diffusion of a cosine on an insulated rod."""
    return Problem(equation, UNIT, (0, end), "1 + cos(2*pi*x)", Neumann(), exact=exact)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "transport of a steep profile": lambda: transport("u_t + 10*u_x = 0", "exp(sin(3*x))", "exp(sin(3*(x - 10*t)))", 1),
    "transport, speed cos t": lambda: transport("u_t + cos(t)*u_x = 0", "sin(x)", "sin(x - sin(t))", 5),
    "advection and diffusion": lambda: transport("u_t + u_x = 0.1*u_xx", "sin(x)", "exp(-0.1*t)*sin(x - t)", 2),
    "transport with outflow": outflow,
    "heat, Robin": heat_robin,
    "heat, Neumann": lambda: cosine("u_t = u_xx", 0.5, "1 + exp(-4*pi**2*t)*cos(2*pi*x)"),
    "heat, moving end": heat_moving_end,
    "heat in the ground": heat_in_the_ground,
    "heat, rapid end": heat_rapid_end,
    "heat, Python source": python_source,
    "heat, moving source": moving_source,
    "heat, switched source": switched_source,
    "heat, stiff": stiff_heat,
    "heat from a jump": heat_from_a_jump,
    "heat from a corner": heat_from_a_corner,
    "heat, diffusivity in time": lambda: Problem(
        "u_t = (1 + sin(5*t)/2)*u_xx", STRING, (0, 1), "sin(2*x)", "u = 0",
        exact="sin(2*x)*exp(-4*t - 2*(1 - cos(5*t))/5)",
    ),
    "variable coefficients": variable_coefficients,
    "drifting cloud": drifting_cloud,
    "wave, variable speed": wave_variable_speed,
    "wave, driven ends": driven_wave,
    "wave, damped": lambda: string(
        "u_tt + 2*u_t = u_xx", 3, "sin(2*x)", "-sin(2*x)", "exp(-t)*cos(sqrt(3)*t)*sin(2*x)"
    ),
    "wave, overdamped": overdamped,
    "string, viscoelastic": lambda: string(
        "u_tt = u_xx + 0.1*u_xxt", 3, "sin(x)", "-0.05*sin(x)", "exp(-0.05*t)*cos(sqrt(0.9975)*t)*sin(x)"
    ),
    "beam, supported": lambda: string("u_tt + u_xxxx = 0", 1, "sin(x)", "0", "cos(t)*sin(x)", True),
    "beam, damped": lambda: string(
        "u_tt + 0.2*u_t + u_xxxx = 0", 5, "sin(x)", "-0.1*sin(x)", "exp(-0.1*t)*cos(sqrt(0.99)*t)*sin(x)", True
    ),
    "beam, clamped": clamped_beam,
    "Schrödinger": schroedinger,
    "Schrödinger, coherent state": coherent_state,
    "Maxwell": maxwell,
    "coupled conditions": coupled_conditions,
    "first and second order": mixed_orders,
    "weakly coupled": weakly_coupled,
}  # fmt: skip
#: The formula of an infinite line, and what is wrong with it here.
ACCURACIES = {"Schrödinger, coherent state": 1e-11}
