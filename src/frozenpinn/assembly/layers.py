"""Interfaces across the axes of a box: layers, on which products of networks are built with cuts along their axes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.interfaces import beside, crossings
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.subdomain_features import Broken
from frozenpinn.geometry import Box, Interval, Points
from frozenpinn.geometry.points import tensor_grid
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.interfaces import FluxTerm
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_LOOKS = 40  # points of an interface at which its coefficients are compared
_LEAST = 12  # points of a layer


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
    return replace(hidden, singular=Broken.of(hidden, levels, ("x",), signs))


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
    whole = box.sample([max(4, n // 8) for n in counts], method)
    axes, weights = list(whole.axes), list(whole.axis_weights)
    for i, (n, own) in enumerate(zip(counts, cuts, strict=True)):
        if not own:
            line = Interval(float(box.lower[i]), float(box.upper[i]), periodic=box.periodic[i]).sample(n, method)
            axes[i], weights[i] = line.x[:, 0], line.weights
            continue
        edges = [float(box.lower[i]), *(cut.place for cut in own), float(box.upper[i])]
        each = max(_LEAST, n // (len(edges) - 1))
        lines = [Interval(a, b).sample(each, "gauss") for a, b in itertools.pairwise(edges)]
        axes[i] = np.concatenate([line.x[:, 0] for line in lines])
        weights[i] = np.concatenate([line.weights for line in lines])
    return tensor_grid(axes, weights, np.array(box.lengths) / np.array([len(a) for a in axes]))
