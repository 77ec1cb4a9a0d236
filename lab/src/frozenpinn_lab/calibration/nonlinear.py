"""Nonlinear problems in one dimension with exact solutions, as the tests and examples solve them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from frozenpinn.geometry import Interval
from frozenpinn.statement.conditions import Dirichlet, Neumann
from frozenpinn.statement.problem import Problem

PI = np.pi
UNIT, STRING = Interval(0, 1), Interval(0, PI)


def travelling(
    equation: str, domain: Interval, end: float, exact: str, velocity: str | None = None, **numbers: float
) -> Problem:
    """Return a problem whose exact solution, a text with the start time 0, also gives the values at the ends."""
    initial = exact.replace("- s*t", "")
    boundary = None if domain.periodic[0] else Dirichlet(exact)
    return Problem(equation, domain, (0, end), initial, boundary, velocity, numbers, exact)


def burgers_front(nu: float) -> Problem:
    """Return a front of width 4ν that crosses half of the domain."""
    front = "1/2 - tanh((x + 1/3 - s*t)/(4*nu))/2"
    return travelling("u_t + u*u_x = nu*u_xx", Interval(-1, 1), 1, front, s=0.5, nu=nu)


def fisher(domain: Interval, end: float, rate: float) -> Problem:
    """Return the front of Ablowitz and Zeppetella, at the one speed at which it is known."""
    front = "(1 + exp(sqrt(r/6)*(x - s*t)))**(-2)"
    return travelling("u_t = u_xx + r*u*(1 - u)", domain, end, front, r=rate, s=5 * np.sqrt(rate / 6))


def allen_cahn_front() -> Problem:
    """Return a front of uₜ = uₓₓ + u − u³ from 1 to 0, which moves at speed 3/√2."""
    front = "1/2 - tanh((x - s*t)/sqrt(8))/2"
    return travelling("u_t = u_xx + u*(1 - u)*(u + 1)", Interval(-10, 20), 4, front, s=3 / np.sqrt(2))


def schroedinger_soliton(domain: Interval, end: float, speed: float, start: float) -> Problem:
    """Return a wave of the cubic Schrödinger equation that keeps its shape."""
    phase = "c*x + (1 - c**2)*t/2"
    exact = {name: f"{wave}({phase})/cosh(x - a - c*t)" for name, wave in (("u", "cos"), ("v", "sin"))}
    return Problem(
        ["u_t = -v_xx/2 - (u**2 + v**2)*v", "v_t = u_xx/2 + (u**2 + v**2)*u"],
        domain,
        (0, end),
        {"u": "cos(c*x)/cosh(x - a)", "v": "sin(c*x)/cosh(x - a)"},
        None if domain.periodic[0] else [Dirichlet(text, field=name) for name, text in exact.items()],
        parameters={"c": speed, "a": start},
        exact=exact,
    )


def sine_gordon_kink() -> Problem:
    """Return a kink that moves at half the speed of light."""
    velocity = "-s/sqrt(3/4)*2/cosh(x/sqrt(3/4))"
    kink = "4*atan(exp((x - s*t)/sqrt(3/4)))"
    return travelling("u_tt = u_xx - sin(u)", Interval(-12, 12), 2, kink, velocity, s=0.5)


def sine_gordon_breather() -> Problem:
    """Return a breather, nearly zero at the ends."""
    u = "4*atan(sin(t/2**0.5)/cosh(x/2**0.5))"
    sides, velocity = "u = 0", "4/2**0.5/cosh(x/2**0.5)"
    return Problem("u_tt = u_xx - sin(u)", Interval(-40, 40), (0, 10), 0, sides, velocity, exact=u)


def klein_gordon() -> Problem:
    """Return the Klein–Gordon equation with a cubic term."""
    u = "(x*cos(pi*t) + (x*t)**3)"
    f = f"-pi**2*x*cos(pi*t) + 6*x**3*t - 6*x*t**3 + {u}**3"
    return Problem("u_tt - u_xx + u**3 = f", UNIT, (0, 1), "x", Dirichlet(u), 0, {"f": f}, u)


def damped_cubic() -> Problem:
    """Return a damped string with a cubic spring."""
    u = "exp(-t/10)*cos(t)*sin(x)"
    f = f"-sin(x)*exp(-t/10)*(cos(t)*0.01) + ({u})**3"
    equation = "u_tt + 0.2*u_t = u_xx - u**3 + f"
    return Problem(equation, STRING, (0, 5), "sin(x)", "u = 0", "-sin(x)/10", {"f": f}, u)


def reaction(rate: float) -> Problem:
    """Return diffusion with the reaction r (u − u³)."""
    f = "-r*(exp(-t)*sin(x) - exp(-3*t)*sin(x)**3)"
    numbers = {"r": rate, "f": f}
    return Problem("u_t = u_xx + r*(u - u**3) + f", STRING, (0, 1), "sin(x)", "u = 0", None, numbers, "exp(-t)*sin(x)")


def fast_reaction() -> Problem:
    """Return a fast reaction at its equilibrium."""
    return Problem("u_t = u_xx - 1000*u + u**2 + 999", UNIT, (0, 1), 1, Neumann(0), exact="1 + 0*x")


def burgers_forced() -> Problem:
    """Return Burgers' equation with a coefficient in time, between moving ends."""
    u, a = "sin(x + t)", "(1 + t/2)"
    f = f"cos(x + t) + sin(x + t) + {a}*sin(x + t)*cos(x + t)"
    return Problem(f"u_t + {a}*u*u_x = u_xx + {f}", UNIT, (0, 1), "sin(x)", f"u = {u}", exact=u)


def cole_hopf_wave() -> Problem:
    """Return the wave of Burgers' equation that comes from one cosine, on a circle."""
    shape = "2*nu*{e}*sin(x)/(1.2 + {e}*cos(x))"
    exact = shape.format(e="exp(-nu*t)")
    circle = Interval(0, 2 * PI, periodic=True)
    return Problem("u_t + u*u_x = nu*u_xx", circle, (0, 5), shape.format(e="1"), parameters={"nu": 0.1}, exact=exact)


def nonlinear_system() -> Problem:
    """Return two fields that react."""
    f = "-exp(-2*t)*sin(x)*cos(x) + exp(-3*t)*sin(x)**3"
    return Problem(
        ["u_t = u_xx + u*v - u**3 + f", "v_t = v_xx - u*v + g"],
        STRING,
        (0, 1),
        {"u": "sin(x)", "v": "cos(x)"},
        ["u = 0", "v_x = 0"],
        parameters={"f": f, "g": "exp(-2*t)*sin(x)*cos(x)"},
        exact={"u": "exp(-t)*sin(x)", "v": "exp(-t)*cos(x)"},
    )


def predator_and_prey() -> Problem:
    """Return predators and prey that diffuse."""
    x, t = sp.symbols("x t")
    d1, d2 = sp.Rational(1, 100), sp.Rational(1, 20)
    u = 1 + sp.exp(-t) * sp.cos(sp.pi * x) / 2
    v = 2 + sp.sin(2 * t) * sp.cos(2 * sp.pi * x) / 2
    return Problem(
        {"u": "d1*u_xx + u*(1 - v) + f", "v": "d2*v_xx + v*(u - 1) + g"},
        UNIT,
        (0, 2),
        {"u": u.subs(t, 0), "v": v.subs(t, 0)},
        Neumann(0),
        parameters={
            "d1": d1,
            "d2": d2,
            "f": sp.diff(u, t) - (d1 * sp.diff(u, x, 2) + u * (1 - v)),
            "g": sp.diff(v, t) - (d2 * sp.diff(v, x, 2) + v * (u - 1)),
        },
        exact={"u": u, "v": v},
    )


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "Fisher–KPP": lambda: fisher(Interval(-5, 15), 2, 6),
    "Fisher–KPP, slow": lambda: fisher(Interval(-10, 20), 4, 1),
    "Allen–Cahn front": allen_cahn_front,
    "Burgers front, ν = 0.02": lambda: burgers_front(0.02),
    "Burgers front, ν = 0.01": lambda: burgers_front(0.01),
    "Burgers front, ν = 0.005": lambda: burgers_front(0.005),
    "Burgers, forced": burgers_forced,
    "Burgers, Cole–Hopf": cole_hopf_wave,
    "Korteweg–de Vries soliton": lambda: travelling(
        "u_t + 6*u*u_x + u_xxx = 0", Interval(-15, 15, periodic=True), 1, "2*sech(x - s*t)**2", s=4
    ),
    "cubic Schrödinger, travelling": lambda: schroedinger_soliton(Interval(-8, 8), 3, 1.5, -3),
    "cubic Schrödinger, circle": lambda: schroedinger_soliton(Interval(-25, 25, periodic=True), 6, 0, 0),
    "sine-Gordon kink": sine_gordon_kink,
    "sine-Gordon breather": sine_gordon_breather,
    "Klein–Gordon": klein_gordon,
    "wave with a cubic spring": damped_cubic,
    "reaction": lambda: reaction(1),
    "reaction, 30 times faster": lambda: reaction(30),
    "reaction at equilibrium": fast_reaction,
    "nonlinear system": nonlinear_system,
    "predator and prey": predator_and_prey,
}
#: The formula of an infinite line or a longer circle, and what is wrong with it here.
ACCURACIES = {"Korteweg–de Vries soliton": 1e-9, "cubic Schrödinger, circle": 1e-10, "sine-Gordon breather": 1e-12}
