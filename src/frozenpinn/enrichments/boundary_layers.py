"""Boundary layers of a static problem: where they are and how thin, read off the equations at the boundary.

In a thin layer u ≈ exp(−κ s), s the distance from the boundary. An equation with coefficients c_α then reads
Σ c_α n^α κ^|α| = 0, and its roots with a positive real part are the layers that fall off inwards: −ε u'' + u' = 0 has
κ = 1/ε at the right end and none at the left one. Where an equation convects along the boundary, the layer thickens
like √(ε s), and the slope along it, one over the size of the domain, stands for the term that balances diffusion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from frozenpinn.assembly.collocation import Function, slopes_of
from frozenpinn.assembly.nonlocal_terms import jets_at
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.enrichments.features import Features, Pilot, beside
from frozenpinn.geometry import BoundaryPoints, Points
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_DISTANCES = (0.03, 30.0)  # of points in a layer from the boundary, in units of the thickness


@dataclass(frozen=True, eq=False)
class Sites:
    """Points of the boundary that have a thin layer.

    Attributes
    ----------
    x, normals
        Shape (n, d).
    rates
        One over the thickness of the layer, shape (n,).
    area
        Of the boundary with layers.
    size
        Of the domain.
    """

    x: Array
    normals: Array
    rates: Array
    area: float
    size: float

    def functions(self, count: int, rng: np.random.Generator) -> LayerFunctions:
        """Draw exponentials: the own rate of each place times a factor, slow waves along the boundary."""
        most = 24  # exponentials in one dimension
        count, d = (count, self.x.shape[1]) if self.x.shape[1] > 1 else (min(count, most), 1)
        i = rng.integers(len(self.x), size=count) if d > 1 else np.arange(count) % len(self.x)
        low, high = 0.4, 2.5  # rates of exponentials, as multiples of what the equation says
        factors = np.exp(rng.uniform(np.log(low), np.log(high), count))
        factors[: count // 4] = 1.0
        factors = rng.permutation(factors)
        waves = 4.0  # along the boundary, over the size of the domain
        along = rng.normal(size=(count, d)) * waves / self.size
        along -= np.sum(along * self.normals[i], axis=1)[:, None] * self.normals[i]
        steep = (factors * self.rates[i])[:, None] * self.normals[i]
        phases = rng.uniform(0.0, 2.0 * np.pi, count) if d > 1 else np.zeros(count)
        return LayerFunctions(np.concatenate([self.x[i], steep, along, phases[:, None]], axis=1))

    def with_points(self, points: Points, count: int, problem: Problem, rng: np.random.Generator) -> Points:
        """Return points with more of them in the layers, evenly in the logarithm of the distance from the boundary."""
        near, far = _DISTANCES
        i = rng.integers(len(self.x), size=2 * count)
        distance = np.exp(rng.uniform(np.log(near), np.log(far), len(i))) / self.rates[i]
        x = self.x[i] - distance[:, None] * self.normals[i]
        kept = np.flatnonzero(problem.domain.contains(x, 0.0))[:count]
        weights = self.area * distance[kept] * np.log(far / near) / max(len(kept), 1)
        return Points(np.concatenate([points.x, x[kept]]), np.concatenate([points.weights, weights]), points.spacing)

    def with_boundary(self, points: BoundaryPoints, problem: Problem) -> BoundaryPoints:
        """Return points of a side with more of them where it crosses layers of other sides."""
        if points.x.shape[1] == 1:
            return points
        dense = problem.domain.sample_side(points.side, 8192, "sobol", Seed.STATIC_RESIDUALS)
        crossing = 0.5  # cosine of the angle of two normals below which one side crosses the layer of the other
        across = np.abs(dense.normals[:1] @ self.normals.T)[0] < crossing
        sites = replace(self, x=self.x[across], normals=self.normals[across], rates=self.rates[across])
        if not len(sites.x):
            return points
        # every eighth place of the layer will do; of each interval of depths, e^½ wide, a few light points are taken
        depth = np.abs(np.einsum("nsd,sd->ns", dense.x[:, None] - sites.x[None, ::8], sites.normals[::8]))
        depth = np.min(depth * sites.rates[::8], axis=1)
        rows = np.flatnonzero(depth < _DISTANCES[1])
        bins = np.floor(np.log(np.maximum(depth[rows], _DISTANCES[0])) * 2.0).astype(int)
        chosen = np.concatenate([rows[bins == b][:6] for b in np.unique(bins)]) if len(rows) else rows
        weights = np.full(len(chosen), float(np.mean(points.weights)) * 0.3)
        return BoundaryPoints(
            np.concatenate([points.x, dense.x[chosen]]),
            np.concatenate([points.normals, dense.normals[chosen]]),
            np.concatenate([points.weights, weights]),
            points.side,
        )


def offer(pilot: Pilot) -> Iterator[Features]:
    """Offer exponentials where the linearised equations have thin layers."""
    plan = pilot.plan
    wanted = pilot.is_whole and "boundary layers" not in pilot.without
    if wanted and (sites := find_sites(plan.problem, pilot.found)) is not None:
        share = 0.75  # exponentials in layers, as a multiple of the neurons
        count = max(4, int(share * plan.width))
        drawn = sites.functions(count, np.random.default_rng(plan.task.seed))
        yield Features(beside(drawn, pilot.always), sites)


def find_sites(problem: Problem, about: Function) -> Sites | None:
    """Return where the linearised equations have thin layers; None if they have none."""
    domain = problem.domain
    if domain.dimension > 3 or any(domain.periodic):
        return None
    found, area = [], 0.0
    sites = 256  # places on each side
    thinnest = 12.0  # size of the domain over the thickness of a layer that needs functions of its own
    for side in {c.side.name: c.side for c in problem.conditions}.values():
        points = domain.sample_side(side, 1 if domain.dimension == 1 else sites, "sobol", Seed.STATIC_RESIDUALS)
        rates = np.max([_rates(problem, name, points, about) for name in problem.fields], axis=0)
        thin = (rates * domain.size > thinnest) & _inwards(problem, points, rates)
        if np.any(thin):
            area += float(np.sum(points.weights[thin]))
            found.append((points.x[thin], points.normals[thin], rates[thin]))
    if not found:
        return None
    x, normals, rates = (np.concatenate(part) for part in zip(*found, strict=True))
    return Sites(x, normals, rates, area, domain.size)


def _inwards(problem: Problem, points: BoundaryPoints, rates: Array) -> Array:
    """Mark places with about all of the domain behind the tangent plane: elsewhere exponentials grow."""
    inside = problem.domain.sample(200, "sobol", 0).x
    ahead = np.max(np.einsum("nid,nd->ni", inside[None] - points.x[:, None], points.normals), axis=1)
    return np.asarray(ahead * rates < 1.0)


def _rates(problem: Problem, field: str, points: BoundaryPoints, about: Function) -> Array:
    """Return the largest decay rate at each point, zero where there is none."""
    slopes, x = slopes_of(problem, field), points.x
    values = jets_at(problem, about, x, slopes.jets)
    with np.errstate(all="ignore"):
        partials = [np.broadcast_to(p, len(x)) for p in slopes.partials(*x.T, 0.0, *values)]
    own = [(jet, p) for jet, p in zip(slopes.jets, partials, strict=True) if jet.field == field]
    order = max((jet.order for jet, _ in own), default=0)
    if order < 2 or not all(np.all(np.isfinite(p)) for _, p in own):
        return np.zeros(len(x))
    symbol, slope = np.zeros((len(x), order + 1)), np.zeros(x.shape)
    for jet, partial in own:
        symbol[:, order - jet.order] += partial * _power(points.normals, jet)
        if jet.order == 1:
            slope += partial[:, None] * np.array(jet.alpha)
    along = np.linalg.norm(slope - np.sum(slope * points.normals, axis=1)[:, None] * points.normals, axis=1)
    if order == 2:
        symbol[:, -1] -= np.sign(symbol[:, 0]) * along / problem.domain.size
    return _fastest(symbol)


def _power(normals: Array, jet: Jet) -> Array:
    return np.asarray(np.prod(normals ** np.array(jet.alpha), axis=1))


def _fastest(symbols: Array) -> Array:
    """Return the largest real part of the roots of each polynomial, at least zero; zero if its degree is lower."""
    if symbols.shape[1] == 3:
        a, b, c = symbols.T
        with np.errstate(all="ignore"):
            apart = np.sqrt(np.maximum(b**2 - 4.0 * a * c, 0.0))
            far = np.where(b > 0, -b - apart, -b + apart) / (2.0 * a)  # no digits cancel in this one
            near = np.where(far != 0, c / (a * far), 0.0)
            real = b**2 >= 4.0 * a * c
            largest = np.where(real, np.maximum(far, near), -b / (2.0 * a))
        return np.where(a != 0, np.maximum(largest, 0.0), 0.0)
    return np.array([max([0.0, *np.roots(row).real.tolist()]) if row[0] else 0.0 for row in symbols])
