"""Random exact solutions for generated problems: shapes in space, behaviours in time, amplitudes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from frozenpinn_lab.calibration.regions import Region, magnitude, number

Rng = np.random.Generator
SHAPES = ("sines", "front", "bump", "exponential", "rational")
PERIODIC_SHAPES = ("sines", "bump", "exponential", "rational")
BEHAVIOURS = ("decay", "oscillation", "translation", "growth")
WAYS = ("product", "plane wave", "sum")


@dataclass(frozen=True)
class Profile:
    """A function of the scaled coordinates and the scaled time with values about in [−1, 1], and what it is."""

    expression: sp.Expr
    shape: str
    behaviour: str
    way: str = ""


def profile(rng: Rng, region: Region, tau: sp.Expr) -> Profile:
    """Return a random function on a region; ``tau`` is the time, scaled to [0, 1]."""
    behaviour = str(rng.choice(BEHAVIOURS))
    speed = number(rng, -0.6, 0.6) if behaviour == "translation" else sp.Integer(0)
    if region.periodic:
        speed = sp.Integer(int(rng.integers(1, 3))) if speed != 0 else speed
    dimension = len(region.unit)
    way = "" if dimension == 1 else str(rng.choice(WAYS[:2] if region.periodic else WAYS))
    names = PERIODIC_SHAPES if region.periodic else SHAPES
    shape = str(rng.choice(names))
    steep = 1.0 if dimension == 1 else 0.5  # shapes in several dimensions are half as steep
    if way == "plane wave":
        places: Sequence[sp.Expr] = [_along(rng, region)]
    else:
        places = region.unit
    factors = []
    for i, place in enumerate(places):
        name = shape if i == 0 else str(rng.choice(names))
        draw = _periodic_shape if region.periodic else _shape
        factors.append(draw(rng, name, place - speed * tau, steep))
    space = sp.Add(*factors) / len(factors) if way == "sum" else sp.Mul(*factors)
    return Profile(_in_time(rng, behaviour, tau) * space, shape, behaviour, way)


def _along(rng: Rng, region: Region) -> sp.Expr:
    """Return a coordinate along a random direction, about in [0, 1]."""
    if region.periodic:
        return sp.Add(*region.unit)
    weights = [float(number(rng, -1, 1)) for _ in region.unit]
    least, span = sum(min(w, 0.0) for w in weights), sum(abs(w) for w in weights)
    return (sp.Add(*(w * c for w, c in zip(weights, region.unit, strict=True))) - least) / span


def _shape(rng: Rng, name: str, s: sp.Expr, steep: float) -> sp.Expr:
    place = number(rng, 0.2, 0.8)
    if name == "sines":
        return _sines(rng, s, [float(number(rng, 0.5, 1 + 6 * steep)) for _ in range(int(rng.integers(1, 4)))])
    if name == "front":
        return sp.tanh((s - place) / magnitude(rng, 0.04 / steep, 0.4))
    if name == "bump":
        return sp.exp(-(((s - place) / magnitude(rng, 0.08 / steep, 0.5)) ** 2))
    if name == "exponential":
        rate = number(rng, -3, 3)
        return sp.exp(rate * (s - (1 if rate > 0 else 0)))
    return 1 / (1 + magnitude(rng, 1, 60 * steep) * (s - place) ** 2)


def _periodic_shape(rng: Rng, name: str, s: sp.Expr, steep: float) -> sp.Expr:
    angle = 2 * sp.pi * (s - number(rng, 0, 1))
    if name == "sines":
        return _sines(rng, s, [int(rng.integers(1, 2 + int(4 * steep))) for _ in range(int(rng.integers(1, 4)))])
    if name == "bump":
        return sp.exp((sp.cos(angle) - 1) / magnitude(rng, 0.1 / steep, 1))
    if name == "exponential":
        return sp.exp(sp.sin(int(rng.integers(1, 3)) * angle) - 1)
    excess = magnitude(rng, 0.1 / steep, 1)
    return excess / (1 + excess + sp.cos(angle))


def _sines(rng: Rng, s: sp.Expr, waves: Sequence[float]) -> sp.Expr:
    """Return a mean of sines with the given wave numbers."""
    terms = [sp.sin(2 * sp.pi * k * s + number(rng, 0, 6)) for k in waves]
    return sp.Add(*terms) / len(terms)


def _in_time(rng: Rng, behaviour: str, tau: sp.Expr) -> sp.Expr:
    if behaviour == "decay":
        return sp.exp(-number(rng, 0.3, 4) * tau)
    if behaviour == "growth":
        return sp.exp(number(rng, 0.2, 0.8) * (tau - 1))
    if behaviour == "oscillation":
        return sp.cos(number(rng, 1, 12) * tau + number(rng, 0, 1))
    return sp.Integer(1)
