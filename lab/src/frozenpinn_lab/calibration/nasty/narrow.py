"""Problems made to hide something from solves: narrow peaks, pulses, growth, stiffness, corners; all with solutions.

Each class has a maker that draws its numbers from a seed. Solutions are formulas: what is narrow in an equation is
derived from a solution that depends on it, so that a solve which does not see it is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from frozenpinn.geometry import Box, Interval
from frozenpinn.statement.conditions import Condition, Free
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.references.elements import ElementReference

Draw = np.random.Generator
Array = np.ndarray
_LINE = Interval(0.0, 1.0)
_SLOPE = 2.0 / np.sqrt(np.pi)  # of the error function at zero


def _place(rng: Draw) -> float:
    return float(np.round(rng.uniform(0.15, 0.85), 6))


def _width(rng: Draw, narrowest: float = -4.0, widest: float = -2.3) -> float:
    return float(f"{10 ** rng.uniform(narrowest, widest):.3g}")


def _kink(a: float, w: float) -> str:
    """Return a function whose slope changes from −1 to 1 over a width."""
    return f"((x - {a})*erf((x - {a})/{w}) + {w / np.sqrt(np.pi)}*{_peak(a, w)})"


def _peak(a: float, w: float, variable: str = "x") -> str:
    return f"exp(-(({variable} - {a})/{w})**2)"


def _passed(a: float, w: float, variable: str = "t") -> str:
    """Return the integral of a peak from 0 on."""
    return f"({0.5 * np.sqrt(np.pi) * w}*(erf(({variable} - {a})/{w}) + erf({a}/{w})))"


# ---- narrow in space ------------------------------------------------------------------------------


def potential(rng: Draw) -> Problem:
    """Hide a peak in a potential, at which the solution has a bend from the start."""
    a, w, k = _place(rng), _width(rng), 0.1
    bend = float(np.round(rng.uniform(0.5, 2.0), 3))
    phi = f"(1 + {bend}*{_kink(a, w)})"
    v = f"(1 + {k * bend * _SLOPE / w}*{_peak(a, w)}/{phi})"
    return Problem(f"u_t = {k}*u_xx - {v}*u", _LINE, (0, 1), phi, f"u = exp(-t)*{phi}", exact=f"exp(-t)*{phi}")


def slow_stretch(rng: Draw) -> Problem:
    """Hide a short stretch in which a velocity is low, and which delays the solution."""
    a, w = _place(rng), _width(rng, -3.5)
    delay = float(np.round(rng.uniform(0.1, 0.4), 3))
    tau = f"(x + {delay}*(erf((x - {a})/{w}) + 1))"
    wave = f"sin(3*(t - {tau}))"
    sides: dict[str, str | Condition] = {"left": f"u = {wave}", "right": Free()}
    c = f"(1/(1 + {delay * _SLOPE / w}*{_peak(a, w)}))"
    return Problem(f"u_t = -{c}*u_x", _LINE, (0, 1), f"-sin(3*{tau})", sides, exact=wave)


def source(rng: Draw) -> Problem:
    """Hide a source that is narrow in space."""
    a, w, k = _place(rng), _width(rng), 0.2
    phi, grown = _kink(a, w), "(1 - exp(-2*t))"
    f = f"(2*exp(-2*t)*{phi} - {k * _SLOPE / w}*{grown}*{_peak(a, w)})"
    exact = f"{grown}*{phi}"
    return Problem(f"u_t = {k}*u_xx + {f}", _LINE, (0, 1), 0, f"u = {exact}", exact=exact)


def hidden(what: str, rng: Draw) -> Problem:
    """Hide a peak of a potential, a barrier or a source of which smooth initial data show nothing."""
    a, w, k = _place(rng), _width(rng), 0.1
    strength = float(np.round(rng.uniform(0.5, 3.0), 3))
    size = {"potential": 1.0, "barrier": 0.2, "source": 1.0}[what] * strength / w
    edges = sorted({0.0, 1.0, *(float(np.clip(a + s * w, 0, 1)) for s in (-40, -12, -6, -2, 2, 6, 12, 40))})
    peak, flat = partial(_bell, a, w, size), partial(_bell, a, w, 0.0)
    reference = ElementReference(
        tuple(edges),
        _half_wave,
        partial(_hindered, k, peak) if what == "barrier" else partial(_even, k),
        peak if what == "potential" else flat,
        peak if what == "source" else flat,
    )
    term = f"{size}*{_peak(a, w)}"
    equation = {
        "potential": f"u_t = {k}*u_xx - {term}*u",
        "barrier": f"u_t = dx({k}/(1 + {term})*u_x)",
        "source": f"u_t = {k}*u_xx + {term}",
    }[what]
    return Problem(equation, _LINE, (0, 1), "sin(pi*x)", "u = 0", exact=reference)


def _half_wave(x: Array) -> Array:
    return np.sin(np.pi * x)


def _bell(a: float, w: float, size: float, x: Array) -> Array:
    return size * np.exp(-(((x - a) / w) ** 2))


def _even(k: float, x: Array) -> Array:
    return np.full(np.shape(x), k)


def _hindered(k: float, peak: Callable[[Array], Array], x: Array) -> Array:
    return k / (1.0 + peak(x))


# ---- narrow in time -------------------------------------------------------------------------------


def diffusivity_pulse(rng: Draw) -> Problem:
    """Hide a diffusivity that is large for a moment."""
    a, w, k = _place(rng), _width(rng), 0.02
    size = float(np.round(rng.uniform(0.05, 0.3), 3)) / w
    total = f"({k}*t + {size}*{_passed(a, w)})"
    exact = f"sin(pi*x)*exp(-pi**2*{total})"
    return Problem(f"u_t = ({k} + {size}*{_peak(a, w, 't')})*u_xx", _LINE, (0, 1), "sin(pi*x)", "u = 0", exact=exact)


def reaction_pulse(rng: Draw) -> Problem:
    """Hide a quadratic reaction that acts for a moment."""
    a, w = _place(rng), _width(rng)
    size = float(np.round(rng.uniform(0.1, 0.4), 3)) / w
    exact = f"1/(1.5 - {size}*{_passed(a, w)})"
    return Problem(f"u_t = 0.1*u_xx + {size}*{_peak(a, w, 't')}*u**2", _LINE, (0, 1), 1 / 1.5, "u_n = 0", exact=exact)


def burst(rng: Draw) -> Problem:
    """Hide a source that acts for a moment."""
    a, w = _place(rng), _width(rng)
    exact = f"(1 + {1 / w}*{_passed(a, w)})*cos(pi*x)"
    f = f"({_peak(a, w, 't')}/{w} + 0.1*pi**2*(1 + {1 / w}*{_passed(a, w)}))*cos(pi*x)"
    return Problem(f"u_t = 0.1*u_xx + {f}", _LINE, (0, 1), "cos(pi*x)", "u_n = 0", exact=exact)


def laser(rng: Draw) -> Problem:
    """Hide a source that is narrow in space and time."""
    a, b, w, s, k = _place(rng), _place(rng), _width(rng, -3.0), _width(rng), 0.05
    on = f"({1 / s}*{_passed(b, s)})"
    phi = f"exp(-((x - {a})/{w})**2)"
    f = f"({_peak(b, s, 't')}/{s}*{phi} - {k}*{on}*((4*(x - {a})**2/{w}**2 - 2)/{w}**2)*{phi})"
    exact = f"{on}*{phi}"
    return Problem(f"u_t = {k}*u_xx + {f}", _LINE, (0, 1), 0, f"u = {exact}", exact=exact)


def flash(rng: Draw) -> Problem:
    """Hide boundary data that flash for a moment."""
    a, w, k = _place(rng), _width(rng), 0.1
    pulse = _peak(a, w, "t")
    exact = f"(exp(-{k}*pi**2*t)*sin(pi*x) + (1 - x)*{pulse})"
    f = f"(-(1 - x)*2*(t - {a})/{w}**2*{pulse})"
    return Problem(f"u_t = {k}*u_xx + {f}", _LINE, (0, 1), "sin(pi*x)", f"u = (1 - x)*{pulse}", exact=exact)


def switched(rng: Draw) -> Problem:
    """Hide a source that is switched on and off."""
    a = _place(rng)
    b = float(np.round(min(0.99, a + 10 ** rng.uniform(-3, -0.7)), 6))
    ramp = f"(max(t - {a}, 0) - max(t - {b}, 0))"
    return Problem(
        f"u_t = 0.1*u_xx + {1 / (b - a)}*(heaviside(t - {a}) - heaviside(t - {b}))",
        _LINE,
        (0, 1),
        1.0,
        "u_n = 0",
        exact=f"1 + {1 / (b - a)}*{ramp}",
    )


# ---- growth, stiffness, corners -------------------------------------------------------------------


def unstable(rng: Draw) -> Problem:
    """Hide a mode that does not grow, beside one that does."""
    rate = float(np.round(rng.uniform(10.0, 30.0), 3))
    k = 0.1
    r = rate + k * np.pi**2
    n = int(rng.integers(4, 8))
    f = k * (n * np.pi) ** 2 - r  # so that the exact one stays as it is
    bell = f"sin({n}*pi*x)"
    exact = f"cos(t)*{bell}"
    return Problem(f"u_t = {k}*u_xx + {r}*u + ({f}*cos(t) - sin(t))*{bell}", _LINE, (0, 1), bell, "u = 0", exact=exact)


def saddle(rng: Draw) -> Problem:
    """Hide two fields of which one combination grows and the solution is the other."""
    rate = float(np.round(rng.uniform(8.0, 25.0), 3))
    g = "exp(sin(2*pi*x))"
    # u = v = exp(-rate t) g is the decaying combination; diffusion is balanced by forcing
    f = "0.05*(2*pi)**2*(cos(2*pi*x)**2 - sin(2*pi*x))*exp(sin(2*pi*x))"
    equations = [f"u_t = 0.05*u_xx - {rate}*v - exp(-{rate}*t)*{f}", f"v_t = 0.05*v_xx - {rate}*u - exp(-{rate}*t)*{f}"]
    exact = [f"exp(-{rate}*t)*{g}"] * 2
    return Problem(equations, Interval(0.0, 1.0, periodic=True), (0, 1), [g, g], None, exact=exact)


def relaxation(rng: Draw) -> Problem:
    """Hide fast relaxation, with a quadratic term, to a state that moves."""
    eps = 10 ** rng.uniform(-5, -2)
    g = "(2 + sin(3*t)*cos(pi*x))"
    rest = "(3*cos(3*t)*cos(pi*x) + 0.1*pi**2*sin(3*t)*cos(pi*x))"
    equation = f"u_t = 0.1*u_xx - {1 / eps}*(u**2 - {g}**2) + {rest}"
    return Problem(equation, _LINE, (0, 1), g.replace("sin(3*t)", "0"), "u_n = 0", exact=g)


def extinction(rng: Draw) -> Problem:
    """Hide a substance that is used up in finite time."""
    end = float(np.round(rng.uniform(0.3, 0.8), 4))
    exact = f"max(1 - t/{end}, 0)**2"
    return Problem(f"u_t = 0.1*u_xx - {2 / end}*sqrt(max(u, 0))", _LINE, (0, 1), 1.0, "u_n = 0", exact=exact)


def absorption(rng: Draw) -> Problem:
    """Hide absorption above a threshold only, under a source that swings."""
    c = float(np.round(rng.uniform(0.2, 0.8), 4))
    rate = float(np.round(10 ** rng.uniform(1, 3), 3))
    g = "(0.5 + 0.5*sin(6*t))"
    equation = f"u_t = 0.1*u_xx - {rate}*max(u - {c}, 0) + {rate}*max({g} - {c}, 0) + 3*cos(6*t)"
    return Problem(equation, _LINE, (0, 1), 0.5, "u_n = 0", exact=g)


def robin(rng: Draw) -> Problem:
    """Hide conditions that feed the solution."""
    m = float(np.round(rng.uniform(1.0, 5.0), 3))
    beta = m * np.tanh(m)
    k = 0.5
    exact = f"exp({k * m**2}*t)*cosh({m}*x)"
    return Problem(f"u_t = {k}*u_xx", Interval(-1.0, 1.0), (0, 1), f"cosh({m}*x)", f"u_n = {beta}*u", exact=exact)


def pulse_on_a_square(rng: Draw) -> Problem:
    """Hide a diffusivity that is large for a moment, in two dimensions."""
    a, w, k = _place(rng), _width(rng, -3.3), 0.02
    size = float(np.round(rng.uniform(0.05, 0.2), 3)) / w
    exact = f"sin(pi*x)*sin(pi*y)*exp(-2*pi**2*({k}*t + {size}*{_passed(a, w)}))"
    equation = f"u_t = ({k} + {size}*{_peak(a, w, 't')})*lap(u)"
    return Problem(equation, Box([0, 0], [1, 1]), (0, 1), "sin(pi*x)*sin(pi*y)", "u = 0", exact=exact)


NARROW = (
    potential,
    slow_stretch,
    source,
    diffusivity_pulse,
    reaction_pulse,
    burst,
    laser,
    flash,
    switched,
    unstable,
    saddle,
    relaxation,
    extinction,
    absorption,
    robin,
    pulse_on_a_square,
)
HIDDEN = {f"hidden {what}": partial(hidden, what) for what in ("potential", "barrier", "source")}
