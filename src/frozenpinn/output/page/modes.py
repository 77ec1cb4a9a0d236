"""A solution as few arrays: networks, what they are combined to, and how that changes in time.

u(x, t) = Σₖ vₖ(t) φ(x)·wₖ. The courses vₖ are polynomials on cells in time. The combinations wₖ are those that carry
the solution (its singular value decomposition in space and time), so there are no
more of them than the solution needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.samplers import MultiScale
from frozenpinn.errors import EvaluationError
from frozenpinn.geometry.points import Points
from frozenpinn.language.jets import Jet
from frozenpinn.operators import LeastSquares
from frozenpinn.results.expansion import Piece
from frozenpinn.transforms import Restriction

Array = np.ndarray
NODES = 8  #: of the polynomials in time on each cell


@dataclass(frozen=True, eq=False)
class Course:
    """Polynomials on cells in time.

    Attributes
    ----------
    breaks
        Ends of the cells, (n + 1,); a single number for a static solution.
    values
        At the nodes of all cells, shape (nodes, k).
    """

    breaks: Array
    values: Array

    @property
    def times(self) -> Array:
        """The nodes of all cells."""
        return nodes_of(self.breaks)

    def __call__(self, t: Array) -> Array:
        """Return the values at times, shape (m, k)."""
        return interpolated(self.breaks, self.values, t)


def nodes_of(breaks: Array) -> Array:
    """Return the Chebyshev nodes of all cells, ends included."""
    if len(breaks) == 1:
        return breaks
    unit = (1.0 - np.cos(np.pi * np.arange(NODES) / (NODES - 1))) / 2.0
    return np.asarray((breaks[:-1, None] + np.diff(breaks)[:, None] * unit).ravel())


def interpolated(breaks: Array, values: Array, t: Array) -> Array:
    """Interpolate by the barycentric formula."""
    if len(breaks) == 1:
        return np.repeat(values, len(t), axis=0)
    cell = np.clip(np.searchsorted(breaks, t, side="right") - 1, 0, len(breaks) - 2)
    times = nodes_of(breaks).reshape(-1, NODES)[cell]
    signs = (-1.0) ** np.arange(NODES) * np.where(np.isin(np.arange(NODES), (0, NODES - 1)), 0.5, 1.0)
    gaps = t[:, None] - times
    weights = signs / np.where(gaps == 0.0, 1.0, gaps)
    hit = np.any(gaps == 0.0, axis=1)
    weights[hit] = (gaps[hit] == 0.0).astype(float)
    weights /= np.sum(weights, axis=1, keepdims=True)
    return np.asarray(np.einsum("mp,mpk->mk", weights, values.reshape(-1, NODES, values.shape[1])[cell]))


def followed(function: Callable[[Array], Array], start: float, end: float) -> Course:
    """Return polynomials on cells that follow a function of time (m,) → (m, k), cut where it changes fast."""
    still = 1e-10  # relative: differences that are none in time
    most_cells = 128
    inner = (np.arange(5) + 0.37) / 5.0
    breaks = np.array([start, end])
    while True:
        values = function(nodes_of(breaks))
        scale = float(np.max(np.linalg.norm(values, axis=1), initial=0.0)) or 1.0
        probes = (breaks[:-1, None] + np.diff(breaks)[:, None] * inner).ravel()
        gaps = np.linalg.norm(interpolated(breaks, values, probes) - function(probes), axis=1).reshape(-1, len(inner))
        poor = np.flatnonzero(np.max(gaps, axis=1) > still * scale)
        room = most_cells - (len(breaks) - 1)
        if not len(poor) or room <= 0:
            return Course(breaks, values)
        worst = poor[np.argsort(-np.max(gaps, axis=1)[poor])][:room]
        breaks = np.sort(np.concatenate([breaks, (breaks[worst] + breaks[worst + 1]) / 2.0]))


@dataclass(frozen=True, eq=False)
class Compressed:
    """One field in one window of time.

    Attributes
    ----------
    layers
        The frozen neurons: of all coordinates together, or one layer for each axis of a product.
    mixing
        For a product, what each axis makes of its features, shape (features, functions); empty otherwise.
    modes
        Shape (features, k), or (functions of the first axis, of the second, k).
    course
        How much of each there is in time.
    sizes
        How much each mode carries; they decrease.
    """

    layers: tuple[HiddenLayer, ...]
    mixing: tuple[Array, ...]
    modes: Array
    course: Course
    sizes: Array

    def cut(self, accuracy: float) -> Compressed:
        """Return the same without modes that carry less than a part of the largest."""
        kept = max(1, int(np.sum(self.sizes > accuracy * self.sizes[0])))
        course = Course(self.course.breaks, np.ascontiguousarray(self.course.values[:, :kept]))
        modes = np.ascontiguousarray(self.modes[..., :kept])
        return Compressed(self.layers, self.mixing, modes, course, self.sizes[:kept])

    @cached_property
    def numbers(self) -> int:
        """How many numbers it consists of."""
        weights = sum((2 * layer.dimension + 1) * layer.width for layer in self.layers)
        return int(weights + sum(m.size for m in self.mixing) + self.modes.size + self.course.values.size)

    def __call__(self, x: Array, t: Array) -> Array:
        """Evaluate at pairs of points (n, d) and times (n,), as the page does."""
        now = self.course(t)
        if not self.mixing:
            return np.einsum("nk,nk->n", self.layers[0].features(x) @ self.modes, now)
        tables = [
            la.features(x[:, a : a + 1]) @ m for a, (la, m) in enumerate(zip(self.layers, self.mixing, strict=True))
        ]
        if len(tables) == 1:
            return np.einsum("na,ak,nk->n", tables[0], self.modes, now)
        return np.einsum("na,nb,abk,nk->n", *tables, self.modes, now, optimize=True)


def compressed(piece: Piece, field: str, points: Array, static: bool) -> Compressed:
    """Return one field of one window as a sum of few modes; ``points`` lie in the domain."""
    if not any(field in expansion.fields for expansion in piece.all_expansions):
        return _refitted(piece, field, points, static)
    index, expansion = piece.expansion_of(field)
    if piece.view(Restriction) is not None:
        raise EvaluationError(
            "the solution was found on a subspace of two dimensions; it can't be put on a page. Show a table: "
            "frozenpinn.page(solution.grid(), 'table.html')."
        )
    scale = piece.unit(field)

    def states(times: Array) -> Array:
        lifted = expansion.lifted(times)
        c = piece.coefficients(times, index)
        return scale * (c if lifted is None else np.concatenate([c, lifted], axis=1))

    if static:
        when = np.array([piece.start])
        course = Course(when, states(when))
    else:
        course = followed(states, piece.start, piece.end)
    basis = expansion.basis
    if isinstance(basis, ProductNetwork):
        return _product_modes(basis, course)
    if isinstance(basis, Network):
        return _network_modes(basis, field, course, points)
    raise EvaluationError(f"a basis of class {type(basis).__name__} can't be put on a page.")


def _refitted(piece: Piece, field: str, points: Array, static: bool) -> Compressed:
    """Return a field that views derive from others, as a pressure, in neurons of its own, fitted at the points."""
    width = 400
    spacing = np.ptp(points, axis=0) / len(points) ** (1.0 / points.shape[1])
    cloud = Points(points, np.full(len(points), 1.0 / len(points)), spacing)
    hidden = MultiScale(width).sample(cloud, np.random.default_rng(0))
    fit, jet = LeastSquares.of(hidden.features(points)), Jet(field, (0,) * points.shape[1])

    def values(times: Array) -> Array:
        return piece.outer(points, times, jet).T

    when = np.array([piece.start])
    course = Course(when, values(when)) if static else followed(values, piece.start, piece.end)
    turned, sizes = _modes(course.values.T)
    modes = fit.solve(course.values.T @ turned)
    return Compressed((hidden,), (), modes, Course(course.breaks, turned), _shares(sizes))


def _network_modes(basis: Network, field: str, course: Course, points: Array) -> Compressed:
    samples = 1200  # points at which solutions are compressed, at most
    raw = np.concatenate([basis.mixing, basis.lifting], axis=2)[basis.fields.index(field)]
    some = points[: min(samples, 2 * raw.shape[1] + 50)]
    terms = [Term(field, Derivative((0,) * points.shape[1]))]
    functions = basis.operator(some, terms)
    if basis.lift_size:
        functions = np.concatenate([functions, basis.lift_operator(some, terms)], axis=1)
    turned, sizes = _modes(functions @ course.values.T)
    return Compressed(
        (basis.hidden,), (), raw @ (course.values.T @ turned), Course(course.breaks, turned), _shares(sizes)
    )


def _product_modes(basis: ProductNetwork, course: Course) -> Compressed:
    factors: Sequence[Network] = basis.factors
    mixing = tuple(np.concatenate([f.mixing[0], f.lifting[0]], axis=1) for f in factors)
    states, lifts = course.values[:, : basis.size].T, course.values[:, basis.size :].T
    full = basis.tensor(states, lifts if len(lifts) else None)
    turned, sizes = _modes(full.reshape(-1, full.shape[-1]))
    layers = tuple(f.hidden for f in factors)
    return Compressed(layers, mixing, full @ turned, Course(course.breaks, turned), _shares(sizes))


def _modes(history: Array) -> tuple[Array, Array]:
    """Return the courses (times, k) that a history of values (n, times) consists of, and their sizes."""
    _, sizes, courses = np.linalg.svd(history, full_matrices=False)
    return np.ascontiguousarray(courses.T), sizes


def _shares(sizes: Array) -> Array:
    return np.maximum(sizes, np.finfo(float).tiny)
