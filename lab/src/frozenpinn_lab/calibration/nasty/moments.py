"""Narrow in time: pulses, flashes, switches, also in systems, waves and Python functions; fast oscillations."""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration.nasty.parts import LINE, PI, Array, Draw, T, X, drawn, passed, peak, place, scaled
from frozenpinn_lab.references.ordinary import Component, Course, LineReference


def _cut(a: float, w: float) -> tuple[float, ...]:
    return tuple(sorted({0.0, 1.0, *(float(np.clip(a + s * w, 0, 1)) for s in (-7, -3, 0, 3, 7))}))


def exchange(rng: Draw) -> Problem:
    """Exchange two fields in a moment: a rotation by an angle."""
    a, w, angle = place(rng), scaled(rng, -4, -2), drawn(rng, 0.5, 3.0)
    theta = angle * passed(T, a, w)
    mode = sp.exp(-0.1 * PI**2 * T) * sp.sin(PI * X)
    c = angle / w * peak(T, a, w)
    equations = ["u_t = 0.1*u_xx - c*v", "v_t = 0.1*v_xx + c*u"]
    return Problem(
        equations,
        LINE,
        (0, 1),
        ["sin(pi*x)", 0],
        ["u = 0", "v = 0"],
        parameters={"c": c},
        exact=[mode * sp.cos(theta), mode * sp.sin(theta)],
    )


def kick(rng: Draw) -> Problem:
    """Kick a string."""
    a, w, size = place(rng), scaled(rng, -4, -2), drawn(rng, 0.5, 2.0)
    # twice the integral of the peak
    z, z0 = (T - a) / w, -a / w
    twice = (
        w
        * (z * sp.erf(z) + sp.exp(-(z**2)) / sp.sqrt(PI) - z0 * sp.erf(z0) - sp.exp(-(z0**2)) / sp.sqrt(PI))
        * sp.sqrt(PI)
        / 2
    )
    twice += sp.sqrt(PI) / 2 * sp.erf(a / w) * T
    q = sp.cos(PI * T) + size * twice
    f = (size / w * peak(T, a, w) + PI**2 * size * twice) * sp.sin(PI * X)
    return Problem(
        "u_tt = u_xx + f",
        LINE,
        (0, 1),
        "sin(pi*x)",
        "u = 0",
        initial_velocity=0,
        parameters={"f": f},
        exact=q * sp.sin(PI * X),
    )


def _stiffer(a: float, w: float, size: float, t: float, y: Array) -> Array:
    return np.array([y[1], -(np.pi**2) * (1 + size / w * np.exp(-(((t - a) / w) ** 2))) * y[0]])


def _sine(x: Array) -> Array:
    return np.sin(np.pi * x)


def tightened(rng: Draw) -> Problem:
    """Tighten a string for a moment."""
    a, w, size = place(rng), scaled(rng, -3.5, -2), drawn(rng, 0.2, 1.0)
    course = Course(partial(_stiffer, a, w, size), np.array([1.0, 0.0]), _cut(a, w))
    c = 1 + size / w * peak(T, a, w)
    return Problem(
        "u_tt = c*u_xx",
        LINE,
        (0, 1),
        "sin(pi*x)",
        "u = 0",
        initial_velocity=0,
        parameters={"c": c},
        exact=Component(course, 0, _sine),
    )


def _quiet(x: Array, t: float, u: Array) -> Array:
    return np.zeros_like(u)


def _flashing(a: float, w: float, size: float, t: float) -> Array:
    return np.array([[size * np.exp(-(((t - a) / w) ** 2)), 0.0]])


def heated_end(rng: Draw) -> Problem:
    """Flash at an end of a rod; what enters stays."""
    a, w = place(rng), scaled(rng, -3.5, -1.5)
    size = drawn(rng, 0.3, 1.0) / np.sqrt(w)
    deep = 3 * np.sqrt(0.1 * w)
    edges = tuple(
        sorted({0.0, 0.25, 0.5, 0.75, 1.0, *(float(s * deep) for s in (0.1, 0.5, 1, 2, 5) if s * deep < 0.24)})
    )
    reference = LineReference(edges, (0.1,), _quiet, _sine, _cut(a, w), partial(_flashing, a, w, size))
    g = size * peak(T, a, w)
    return Problem(
        "u_t = 0.1*u_xx",
        LINE,
        (0, 1),
        "sin(pi*x)",
        {"left": "u = g", "right": "u = 0"},
        parameters={"g": g},
        exact=reference,
    )


class Bell:
    """A Python function of time, with a peak."""

    def __init__(self, a: float, w: float, size: float) -> None:
        self.a, self.w, self.size = a, w, size

    def __call__(self, t: float) -> Array:
        """Return the value."""
        return self.size * np.exp(-(((np.asarray(t) - self.a) / self.w) ** 2))


def called_pulse(rng: Draw) -> Problem:
    """Hide a pulse of a potential in a Python function."""
    a, w, size = place(rng), scaled(rng, -2.7, -1.5), drawn(rng, 0.3, 2.0)
    exact = sp.sin(PI * X) * sp.exp(-0.1 * PI**2 * T - size * passed(T, a, w))
    return Problem(
        "u_t = 0.1*u_xx - p*u", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"p": Bell(a, w, size / w)}, exact=exact
    )


def called_flash(rng: Draw) -> Problem:
    """Hide a flash at an end in a Python function."""
    a, w = place(rng), scaled(rng, -2.3, -1.5)
    size = drawn(rng, 0.3, 1.0) / np.sqrt(w)
    deep = 3 * np.sqrt(0.1 * w)
    edges = tuple(
        sorted({0.0, 0.25, 0.5, 0.75, 1.0, *(float(s * deep) for s in (0.1, 0.5, 1, 2, 5) if s * deep < 0.24)})
    )
    reference = LineReference(edges, (0.1,), _quiet, _sine, _cut(a, w), partial(_flashing, a, w, size))
    return Problem(
        "u_t = 0.1*u_xx",
        LINE,
        (0, 1),
        "sin(pi*x)",
        {"left": "u = p", "right": "u = 0"},
        parameters={"p": Bell(a, w, size)},
        exact=reference,
    )


def comb(rng: Draw) -> Problem:
    """Hide several pulses of a reaction, the last of them near the end."""
    times = [*np.round(np.sort(rng.uniform(0.05, 0.95, 4)), 5).tolist(), 0.9993]
    w = scaled(rng, -4.5, -3)
    rate = sum(peak(T, a, w) for a in times) / w
    total = sum(passed(T, a, w) for a in times)
    exact = 1 / (sp.Float(2.0) + 0.3 * total)
    return Problem("u_t = 0.1*u_xx - 0.3*r*u**2", LINE, (0, 1), 0.5, "u_n = 0", parameters={"r": rate}, exact=exact)


def late(rng: Draw) -> Problem:
    """Switch a source on just before the end, or off just after the start."""
    b = float(np.round(1 - scaled(rng, -4, -2), 6)) if rng.random() < 0.5 else scaled(rng, -4, -2)
    z = T - b
    on, grown = sp.Heaviside(z, sp.Rational(1, 2)), sp.Max(z, 0)
    size = drawn(rng, 1, 5) / (1 - b if b > 0.5 else 1)
    return Problem(
        "u_t = 0.1*u_xx + s", LINE, (0, 1), 1.0, "u_n = 0", parameters={"s": size * on}, exact=1 + size * grown
    )


def hum(rng: Draw) -> Problem:
    """Hide a decay that swings very fast, in step with even times."""
    n, size = int(2 ** rng.integers(5, 11)), drawn(rng, 0.5, 2)
    rate = size * (1 + sp.cos(2 * PI * n * T))
    total = size * (T + sp.sin(2 * PI * n * T) / (2 * PI * n))
    exact = sp.sin(PI * X) * sp.exp(-0.1 * PI**2 * T - total)
    return Problem("u_t = 0.1*u_xx - r*u", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"r": rate}, exact=exact)


def quadratic_hum(rng: Draw) -> Problem:
    """Hide a quadratic reaction that swings very fast."""
    n = int(2 ** rng.integers(4, 9))
    rate = 1 + sp.cos(2 * PI * n * T)
    exact = 1 / (sp.Float(1.2) + T + sp.sin(2 * PI * n * T) / (2 * PI * n))
    return Problem("u_t = 0.1*u_xx - r*u**2", LINE, (0, 1), 1 / 1.2, "u_n = 0", parameters={"r": rate}, exact=exact)


def rotation(rng: Draw) -> Problem:
    """Rotate two fields very fast."""
    w = scaled(rng, 1.5, 4)
    mode = sp.exp(-0.1 * PI**2 * T) * sp.sin(PI * X)
    equations = [f"u_t = 0.1*u_xx - {w}*v", f"v_t = 0.1*v_xx + {w}*u"]
    return Problem(
        equations,
        LINE,
        (0, 1),
        ["sin(pi*x)", 0],
        ["u = 0", "v = 0"],
        exact=[mode * sp.cos(w * T), mode * sp.sin(w * T)],
    )


def cubic_rotation(rng: Draw) -> Problem:
    """Rotate two fields at a rate that depends on their size."""
    w = scaled(rng, 1, 2.3)
    equations = [f"u_t = 0.1*u_xx - {w}*(u**2 + v**2)*v", f"v_t = 0.1*v_xx + {w}*(u**2 + v**2)*u"]
    return Problem(equations, LINE, (0, 1), [1, 0], ["u_n = 0", "v_n = 0"], exact=[sp.cos(w * T), sp.sin(w * T)])


def resonance(rng: Draw) -> Problem:
    """Drive a string near its resonance for long."""
    close, end = scaled(rng, -3, -1), float(rng.integers(10, 60))
    w = PI * (1 + close)
    q = (sp.sin(w * T) - w / PI * sp.sin(PI * T)) / (PI**2 - w**2)
    return Problem(
        "u_tt = u_xx + s",
        LINE,
        (0, end),
        0,
        "u = 0",
        initial_velocity=0,
        parameters={"s": sp.sin(w * T) * sp.sin(PI * X)},
        exact=q * sp.sin(PI * X),
    )


def nonlinear_string(rng: Draw) -> Problem:
    """Let a stiff spring swing for long: phases drift."""
    size, end = scaled(rng, 1, 3), float(rng.integers(5, 20))
    course = Course(partial(_spring, size), np.array([1.0, 0.0]), (0.0, end))
    return Problem(
        f"u_tt = u_xx - {size}*u**3", LINE, (0, end), 1, "u_n = 0", initial_velocity=0, exact=Component(course)
    )


def _spring(size: float, t: float, y: Array) -> Array:
    return np.array([y[1], -size * y[0] ** 3])


MOMENTS = (
    exchange,
    kick,
    tightened,
    heated_end,
    called_pulse,
    called_flash,
    comb,
    late,
    hum,
    quadratic_hum,
    rotation,
    cubic_rotation,
    resonance,
    nonlinear_string,
)
