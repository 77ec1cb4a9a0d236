"""Random domains for generated problems, with scaled coordinates and outward normals as expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from frozenpinn.geometry import Annulus, Ball, Box, Disk, Domain, Interval, Polygon
from frozenpinn.language.jets import coordinate_names

Rng = np.random.Generator
Vector = tuple[sp.Expr, ...]
SIDES = (("left", "right"), ("bottom", "top"), ("front", "back"))


def number(rng: Rng, low: float, high: float) -> sp.Expr:
    """Return a random number of four digits."""
    return sp.Float(float(f"{rng.uniform(low, high):.4g}"))


def magnitude(rng: Rng, low: float, high: float) -> sp.Expr:
    """Return a random number of four digits whose logarithm is uniform."""
    return sp.Float(float(f"{10 ** rng.uniform(np.log10(low), np.log10(high)):.4g}"))


@dataclass(frozen=True)
class Region:
    """A domain as the generator sees it.

    Attributes
    ----------
    kind, domain
        Short name, and the domain itself.
    unit
        The coordinates, scaled to about [0, 1].
    length
        The size by which coefficients are scaled.
    normals
        Outward normals by side, in the coordinates; periodic sides are left out.
    periodic
        Whether all axes are periodic.
    """

    kind: str
    domain: Domain
    unit: Vector
    length: float
    normals: dict[str, Vector] = field(default_factory=dict)
    periodic: bool = False

    @property
    def coordinates(self) -> Vector:
        """The coordinates as symbols."""
        return symbols(self.domain.dimension)


def symbols(dimension: int) -> Vector:
    """Return the coordinates as symbols."""
    return tuple(sp.Symbol(name) for name in coordinate_names(dimension))


def interval(rng: Rng, periodic: bool) -> Region:
    """Return an interval of some place and length."""
    length = float(magnitude(rng, 0.3, 30))
    lower = float(number(rng, -1, 1)) * length
    domain = Interval(lower, lower + length, periodic=periodic)
    x = symbols(1)[0]
    normals = {} if periodic else {"left": (sp.Integer(-1),), "right": (sp.Integer(1),)}
    return Region("interval", domain, ((x - lower) / length,), length, normals, periodic)


def box(rng: Rng, dimension: int, periodic: bool = False) -> Region:
    """Return a box with sides that differ by at most a factor of two."""
    lower = [float(number(rng, -1, 1)) for _ in range(dimension)]
    lengths = [float(number(rng, 0.7, 1.4)) for _ in range(dimension)]
    domain = Box(lower, [a + b for a, b in zip(lower, lengths, strict=True)], periodic=periodic)
    coordinates = symbols(dimension)
    unit = tuple((c - a) / b for c, a, b in zip(coordinates, lower, lengths, strict=True))
    normals = {} if periodic else dict(_box_normals(dimension))
    return Region("box", domain, unit, min(lengths), normals, periodic)


def _box_normals(dimension: int) -> list[tuple[str, Vector]]:
    out = []
    for axis, name in enumerate(coordinate_names(dimension)):
        names = SIDES[axis] if dimension <= len(SIDES) else (f"{name}-", f"{name}+")
        for sign, side in zip((-1, 1), names, strict=True):
            out.append((side, tuple(sp.Integer(sign if i == axis else 0) for i in range(dimension))))
    return out


def ball(rng: Rng, dimension: int) -> Region:
    """Return a disk or a ball."""
    centre = [float(number(rng, -1, 1)) for _ in range(dimension)]
    radius = float(number(rng, 0.5, 1.5))
    domain = Disk(centre, radius) if dimension == 2 else Ball(centre, radius)
    outward = tuple((c - a) / radius for c, a in zip(symbols(dimension), centre, strict=True))
    return Region("ball", domain, tuple((n + 1) / 2 for n in outward), radius, {"boundary": outward})


def annulus(rng: Rng) -> Region:
    """Return a ring around the origin."""
    outer = float(number(rng, 0.8, 1.5))
    inner = float(f"{outer * rng.uniform(0.3, 0.6):.4g}")
    x, y = symbols(2)
    normals = {"inner": (-x / inner, -y / inner), "outer": (x / outer, y / outer)}
    unit = ((x / outer + 1) / 2, (y / outer + 1) / 2)
    return Region("annulus", Annulus(inner, outer), unit, outer - inner, normals)


def polygon(rng: Rng) -> Region:
    """Return a star of three to six corners around the origin, each edge a side of its own."""
    count = int(rng.integers(3, 7))
    turns = (np.arange(count) + rng.uniform(-0.2, 0.2, count)) / count
    radii = rng.uniform(0.7, 1.3, count)
    corners = np.round(np.stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], axis=1) * radii[:, None], 3)
    normals, names = {}, {}
    for i, (a, b) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True)):
        edge = (b - a) / np.linalg.norm(b - a)
        normals[f"edge {i}"] = (sp.Float(edge[1]), sp.Float(-edge[0]))
        names[f"edge {i}"] = [i]
    x, y = symbols(2)
    return Region("polygon", Polygon(corners, sides=names), ((x + 1) / 2, (y + 1) / 2), 1.0, normals)


def region(rng: Rng, dimension: int, periodic: bool, boxed: bool) -> Region:
    """Return a random domain; ``boxed`` excludes other shapes than boxes."""
    if dimension == 1:
        return interval(rng, periodic)
    if periodic or boxed or dimension > 3:
        return box(rng, dimension, periodic)
    shapes: list[Callable[[], Region]] = [lambda: box(rng, dimension), lambda: ball(rng, dimension)]
    if dimension == 2:
        shapes += [lambda: annulus(rng), lambda: polygon(rng)]
    return shapes[int(rng.integers(len(shapes)))]()
