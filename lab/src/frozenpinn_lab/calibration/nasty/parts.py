"""What nasty problems are made of: places and widths that are drawn, peaks and fronts as SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from frozenpinn.geometry import Interval
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.references.ordinary import Component, Course

Draw = np.random.Generator
Array = np.ndarray
LINE = Interval(0.0, 1.0)
RING = Interval(0.0, 1.0, periodic=True)
X, Y, T = sp.symbols("x y t", real=True)
PI = sp.pi


def drawn(rng: Draw, low: float, high: float) -> float:
    """Draw a number with a few digits, evenly."""
    return float(f"{rng.uniform(low, high):.4g}")


def scaled(rng: Draw, low: float, high: float) -> float:
    """Draw a number with a few digits, evenly in its logarithm to base ten, which the ends are."""
    return float(f"{10 ** rng.uniform(low, high):.3g}")


def place(rng: Draw) -> float:
    """Draw a place or time in the middle of (0, 1)."""
    return float(np.round(rng.uniform(0.15, 0.85), 6))


def peak(z: sp.Expr, a: float, w: float) -> sp.Expr:
    """Return a Gaussian."""
    return sp.exp(-(((z - a) / w) ** 2))


def passed(z: sp.Expr, a: float, w: float) -> sp.Expr:
    """Return the integral of a Gaussian from 0 on, over its width."""
    return sp.sqrt(PI) / 2 * (sp.erf((z - a) / w) + sp.erf(a / w))


def kink(z: sp.Expr, a: float, w: float) -> sp.Expr:
    """Return a function whose slope changes from −1 to 1 over a width."""
    return (z - a) * sp.erf((z - a) / w) + w / sp.sqrt(PI) * peak(z, a, w)


def forcing(exact: sp.Expr, right: Callable[[sp.Expr], sp.Expr], order: int = 1) -> sp.Expr:
    """Return what must be added to a right-hand side for a solution to be exact."""
    return sp.diff(exact, T, order) - right(exact)


def lap(u: sp.Expr) -> sp.Expr:
    """Return the Laplacian in the plane."""
    return sp.diff(u, X, 2) + sp.diff(u, Y, 2)


NO_FLUX = {1: ["u_n = 0"], 2: ["u_n = 0", "v_n = 0"], 3: ["u_n = 0", "v_n = 0", "w_n = 0"]}


def uniform(equations: list[str], start: list[float], course: Course, end: float = 1.0) -> Problem:
    """Return a system without fluxes that stays even in space."""
    fields = range(len(start))
    return Problem(equations, LINE, (0, end), start, NO_FLUX[len(start)], exact=[Component(course, i) for i in fields])
