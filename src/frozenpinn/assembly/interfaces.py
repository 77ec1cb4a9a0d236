"""Interfaces of a problem as rows on features: values and fluxes from both sides, at points beside each other.

Interfaces across the axes of a box need no rows there: products of networks are built on layers with cuts along their
axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.parts import Crossing, beside, crossings, parts_of, poles_of_parts
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.special import joined
from frozenpinn.basis.subdomain_features import SubdomainFeatures
from frozenpinn.geometry import Box, Interval, Points
from frozenpinn.geometry.points import tensor_grid
from frozenpinn.language.printer import as_text
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.interfaces import FluxTerm, Interfaces
from frozenpinn.statement.problem import Problem

Array = np.ndarray


def with_parts(problem: Problem, hidden: HiddenLayer) -> HiddenLayer:
    """Return a layer whose neurons may differ on each part of the domain."""
    parts = parts_of(problem)
    if len(parts) < 2 or problem.interfaces is None:
        return hidden
    levels = [as_text(level) for level in problem.interfaces.levels]
    plain = replace(hidden, singular=None)
    broken = SubdomainFeatures.of(plain, levels, problem.jets.coordinates, parts, poles_of_parts(problem))
    return replace(hidden, singular=joined([broken, hidden.singular]))


def interface_functionals(problem: Problem, fields: Sequence[str], count: int) -> list[Functional]:
    """Return rows that join the parts: values of fields, and fluxes through the interfaces."""
    interfaces = problem.interfaces
    if interfaces is None or len(parts_of(problem)) < 2:
        return []
    found, zero = [], Derivative((0,) * problem.domain.dimension)
    for crossing in crossings(problem, count):
        flux = [_flux(problem, interfaces, k, crossing) for k in range(len(interfaces.fluxes))]
        for name in (name for name in interfaces.fields if name in fields):
            below = [Term(name, zero, -1.0)]
            if interfaces.contact:
                own = next(i for i, group in enumerate(interfaces.groups()) if name in group)
                below += [t._replace(coefficient=-interfaces.contact * t.coefficient) for t in flux[own][1]]
            found.append(Functional(((crossing.above, (Term(name, zero, 1.0),)), (crossing.below, tuple(below)))))
        for k, group in enumerate(interfaces.groups()):
            if group <= set(fields):
                minus = tuple(t._replace(coefficient=-t.coefficient) for t in flux[k][1])
                found.append(Functional(((crossing.above, flux[k][0]), (crossing.below, minus))))
    return found


def joined_ends(problem: Problem, fields: Sequence[str], axis: int, high: Array, low: Array) -> list[Functional]:
    """Return rows that join the two ends of a periodic axis: values, and fluxes, as coefficients may jump there."""
    interfaces, zero = problem.interfaces, Derivative((0,) * problem.domain.dimension)
    assert interfaces is not None
    normals = np.tile(np.eye(problem.domain.dimension)[axis], (len(high), 1))
    found = [Functional(((high, (Term(n, zero, 1.0),)), (low, (Term(n, zero, -1.0),)))) for n in fields]
    for k, group in enumerate(interfaces.groups()):
        if group <= set(fields):
            above, below = _flux(problem, interfaces, k, Crossing(high, normals, high, low))
            minus = tuple(t._replace(coefficient=-t.coefficient) for t in below)
            found.append(Functional(((high, above), (low, minus))))
    return found


def _flux(problem: Problem, interfaces: Interfaces, k: int, crossing: Crossing) -> tuple[tuple[Term, ...], ...]:
    """Return a flux through an interface as terms above and below it, in units of its largest coefficient."""
    terms, sides = interfaces.fluxes[k], []
    program = problem.compile([term.coefficient for term in terms])
    for x in (crossing.above, crossing.below):
        values = [np.broadcast_to(np.asarray(v, dtype=float), len(x)) for v in program(*x.T, 0.0)]
        sides.append(
            [c if t.axis is None else c * crossing.normals[:, t.axis] for c, t in zip(values, terms, strict=True)]
        )
    slopes = [c for side in sides for c, t in zip(side, terms, strict=True) if t.jet.order]
    largest = max((float(np.max(np.abs(c))) for c in slopes), default=1.0) or 1.0
    scale = 1.0 if interfaces.contact else 1.0 / largest
    return tuple(
        tuple(
            Term(t.jet.field, Derivative(t.jet.alpha, t.jet.laps), scale * c) for t, c in zip(terms, side, strict=True)
        )
        for side in sides
    )


_LOOKS = 40  # points of an interface at which its coefficients are compared


class Cut(NamedTuple):
    """A cut through an axis: above·u_n⁺ = below·u_n⁻ there, and u⁺ − u⁻ = contact·below·u_n⁻."""

    place: float
    above: float
    below: float
    contact: float = 0.0


@remembered
def axis_cuts(problem: Problem, field: str) -> tuple[tuple[Cut, ...], ...] | None:
    """Return the cuts through each axis of a box; None if an interface is no plane across an axis."""
    interfaces, domain = problem.interfaces, problem.domain
    if interfaces is None:
        return ((),) * domain.dimension
    if not isinstance(domain, Box) or any(len(group) != 1 for group in interfaces.groups()):
        return None
    fluxes = [f for f in interfaces.fluxes if f[0].jet.field == field]
    if len(fluxes) != 1 or any(sum(t.jet.alpha) != 1 or t.axis is None or t.jet.alpha[t.axis] != 1 for t in fluxes[0]):
        return None
    if interfaces.material and any(domain.periodic) and not _same_at_ends(problem, fluxes[0]):
        return None
    found: list[list[Cut]] = [[] for _ in range(domain.dimension)]
    for crossing in crossings(problem, _LOOKS):
        axis = int(np.argmax(np.abs(crossing.normals[0])))
        if np.min(np.abs(crossing.normals[:, axis])) < 1.0 - 1e-12:
            return None
        terms = [t for t in fluxes[0] if t.axis == axis]
        program = problem.compile([t.coefficient for t in terms])
        low, high = (crossing.below, crossing.above)
        if crossing.normals[0, axis] < 0:
            low, high = high, low
        sides = [sum(np.broadcast_to(v, len(x)) for v in program(*x.T, 0.0)) for x in (high, low)]
        for place in np.unique(np.round(crossing.x[:, axis] / domain.size, 10)) * domain.size:
            own = np.abs(crossing.x[:, axis] - place) <= 1e-8 * domain.size
            above, below = (np.asarray(side)[own] for side in sides)
            ratio = above / below
            if np.ptp(ratio) > 1e-12 * abs(ratio[0]) or (interfaces.contact and np.ptp(below) > 1e-12 * abs(below[0])):
                return None
            exact = float(crossing.x[own][0, axis])
            found[axis].append(Cut(exact, float(above[0]), float(below[0]), interfaces.contact))
    return tuple(tuple(sorted(cuts)) for cuts in found)


def _same_at_ends(problem: Problem, flux: Sequence[FluxTerm]) -> bool:
    """Whether the coefficients of a flux are the same at both ends of periodic axes."""
    domain = problem.domain
    x = domain.sample(_LOOKS, "random", Seed.PROBE).x
    for axis in (i for i, periodic in enumerate(domain.periodic) if periodic):
        low, high = x.copy(), x.copy()
        low[:, axis], high[:, axis] = domain.lower[axis], domain.upper[axis]
        program = problem.compile([t.coefficient for t in flux if t.axis == axis])
        both = zip(program(*low.T, 0.0), program(*high.T, 0.0), strict=True)
        if not all(np.allclose(a, b, rtol=1e-12, atol=0.0) for a, b in both):
            return False
    return True


def cut_layer(hidden: HiddenLayer, cuts: Sequence[Cut]) -> HiddenLayer:
    """Return neurons of one variable that may differ between the cuts."""
    if not cuts:
        return hidden
    levels = [f"x - {cut.place!r}" if cut.place >= 0 else f"x + {-cut.place!r}" for cut in cuts]
    signs = [[1 if k > i else -1 for i in range(len(cuts))] for k in range(len(cuts) + 1)]
    return replace(hidden, singular=SubdomainFeatures.of(hidden, levels, ("x",), signs))


def cut_functionals(cuts: Sequence[Cut], length: float) -> list[Functional]:
    """Return rows that join the layers of one axis."""
    value, slope, found = Derivative((0,)), Derivative((1,)), []
    for cut in cuts:
        high, low = (np.array([[cut.place + sign * beside(cut.place, length)]]) for sign in (1.0, -1.0))
        scale = 1.0 / max(abs(cut.above), abs(cut.below))
        down = [Term("u", value, -1.0)]
        if cut.contact:
            down.append(Term("u", slope, -cut.contact * cut.below))
        found.append(Functional(((high, (Term("u", value),)), (low, tuple(down)))))
        up, below = Term("u", slope, scale * cut.above), Term("u", slope, -scale * cut.below)
        found.append(Functional(((high, (up,)), (low, (below,)))))
    return found


def cut_grid(box: Box, counts: Sequence[int], method: str, cuts: Sequence[Sequence[Cut]]) -> Points:
    """Return a tensor grid whose axes have Gauss points between their cuts."""
    least = 12  # points of a layer
    whole = box.sample([max(4, n // 8) for n in counts], method)
    axes, weights = list(whole.axes), list(whole.axis_weights)
    for i, (n, own) in enumerate(zip(counts, cuts, strict=True)):
        if not own:
            line = Interval(float(box.lower[i]), float(box.upper[i]), periodic=box.periodic[i]).sample(n, method)
            axes[i], weights[i] = line.x[:, 0], line.weights
            continue
        edges = [float(box.lower[i]), *(cut.place for cut in own), float(box.upper[i])]
        each = max(least, n // (len(edges) - 1))
        lines = [Interval(a, b).sample(each, "gauss") for a, b in itertools.pairwise(edges)]
        axes[i] = np.concatenate([line.x[:, 0] for line in lines])
        weights[i] = np.concatenate([line.weights for line in lines])
    return tensor_grid(axes, weights, np.array(box.lengths) / np.array([len(a) for a in axes]))
