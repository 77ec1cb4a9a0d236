"""The functions that an unknown field is combined of: a small network, orthogonal, with covariances of smooth fields.

γ(x) = start + a₀ + Σ aₖψₖ(x), where the ψₖ have mean zero and are orthonormal. Before anything is measured, a field is
expected to have a covariance k(|x − y|/ℓ) of Matérn's family, the same everywhere, here projected on the ψₖ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial

import numpy as np

from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.samplers import Waves
from frozenpinn.geometry import Box, Domain
from frozenpinn.inverse.rules import Smoothness
from frozenpinn.inverse.sensitivity import Directions
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import TIME, JetSpace
from frozenpinn.runtime.arrays import fixed, read_only
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import UnknownField, as_function, atoms, field_words

Array = np.ndarray


class Places:
    """Sets of points at which values are asked for again and again, each as one array that never changes.

    Layers keep their features at such points, and what is computed from them is kept here, for the last few sets.
    """

    def __init__(self) -> None:
        self._sets: dict[bytes, tuple[Array, dict[Derivative, Array]]] = {}

    def at(self, x: Array) -> tuple[Array, dict[Derivative, Array]]:
        """Return the array that stands for points, and what is known there."""
        x = np.ascontiguousarray(x, dtype=float)
        key = hashlib.blake2b(x.tobytes(), digest_size=16).digest()
        if key not in self._sets:
            while len(self._sets) >= 6:
                self._sets.pop(next(iter(self._sets)))
            self._sets[key] = (fixed(x), {})
        return self._sets[key]


@dataclass(frozen=True)
class FieldValue:
    """A combination of neurons, or a derivative of it, as a function of points."""

    hidden: HiddenLayer
    coefficients: Array
    derivative: Derivative
    offset: float
    places: Places = field(default_factory=Places, repr=False, compare=False)

    def __call__(self, points: Array) -> Array:
        """Return the values at points (n, d)."""
        (values,) = self.hidden.combined(self.places.at(points)[0], [self.derivative], self.coefficients)
        return np.asarray(values + self.offset)


@dataclass(frozen=True, eq=False)
class FieldBasis:
    """The basis of one unknown field.

    Attributes
    ----------
    name, unknown, jets, domain
        Which field it is, and where it is defined.
    hidden, mixing
        The neurons, and the combinations of them, shape (neurons + 1, size); the first is the constant one.
    nodes, projection
        Points, and what takes values there to coefficients by ∫ ψₖ f, shape (points, size - 1), without the constant.
    """

    name: str
    unknown: UnknownField
    jets: JetSpace
    domain: Domain
    hidden: HiddenLayer
    mixing: Array
    nodes: Array
    projection: Array
    _places: Places = field(default_factory=Places, repr=False)

    @property
    def size(self) -> int:
        """Number of functions."""
        return int(self.mixing.shape[1])

    @property
    def scale(self) -> float:
        """By how much the field is expected to vary: its start, or one for a logarithm."""
        return 1.0 if self.unknown.positive else abs(self.unknown.start) or 1.0

    @cached_property
    def _words(self) -> dict[str, tuple[int, ...]]:
        return field_words(self.name, self.unknown, self.jets)

    @property
    def depends_on_time(self) -> bool:
        """Whether it is a function of time, too."""
        return TIME in self.unknown.arguments(self.jets)

    def places(self, x: Array, t: float | Array) -> Array:
        """Return the arguments of the functions at points and a time, or one for each point."""
        arguments = self.unknown.arguments(self.jets)
        if arguments == self.jets.coordinates:
            return x
        whole = np.column_stack([x, np.broadcast_to(t, len(x))])
        return whole[:, [(*self.jets.coordinates, TIME).index(word) for word in arguments]]

    @property
    def directions(self) -> Directions:
        """The functions, with all derivatives that equations may contain."""
        derivatives = [Derivative(order) for order in self._words.values()]

        def changes(x: Array, t: float | Array, wanted: Sequence[int]) -> Sequence[Array]:
            places = self.places(x, t)
            return [self.at(places, derivatives[i]) for i in wanted]

        own = tuple(atoms(self.name, self.unknown, self.jets))
        return Directions(own, self.size, changes, self.depends_on_time)

    def at(self, x: Array, derivative: Derivative | None = None) -> Array:
        """Return all functions where their arguments are ``x``, shape (n, size), in units of the scale."""
        wanted = Derivative((0,) * x.shape[1]) if derivative is None else derivative
        if len(x) * self.size > 1_000_000:  # too many to keep
            return np.asarray(self.hidden.operator(x, [Term("", wanted)]) @ (self.mixing * self.scale))
        places, known = self._places.at(x)
        if wanted not in known:
            known[wanted] = read_only(self.hidden.operator(places, [Term("", wanted)]) @ (self.mixing * self.scale))
        return known[wanted]

    def functions(self, coefficients: Array) -> dict[str, UserFunction]:
        """Return the functions that stand for the field and its derivatives."""
        raw, found = self.scale * (self.mixing @ coefficients), {}
        for word, order in self._words.items():
            offset = 0.0 if any(order) else self.unknown.inner_start
            value = FieldValue(self.hidden, raw, Derivative(order), offset, self._places)
            found[word] = as_function(value, self.name, self.unknown, self.jets)
        return found

    def fitted(self, values: Array, x: Array) -> Array:
        """Return the coefficients that come closest to values at points, less the start."""
        return np.asarray(np.linalg.lstsq(self.at(x), values - self.unknown.inner_start, rcond=1e-12)[0])

    @cached_property
    def _apart(self) -> Array:
        """How far nodes are apart, in units of the domain in space and of its length in time.

        Along periodic axes that is measured on a circle, so that fields are periodic, too.
        """
        arguments, lengths = self.unknown.arguments(self.jets), self.domain.lengths
        space = max((size for size, word in zip(lengths, arguments, strict=True) if word != TIME), default=1.0)
        squares = np.zeros((len(self.nodes), len(self.nodes)))
        for x, word, size, turns in zip(self.nodes.T, arguments, lengths, self.domain.periodic, strict=True):
            gaps = x[:, None] - x
            gaps = size / np.pi * np.sin(np.pi * gaps / size) if turns else gaps
            squares += (gaps / (size if word == TIME else space)) ** 2
        return np.sqrt(squares)


@remembered
def prior_root(basis: FieldBasis, prior: Smoothness) -> Array:
    """Return B such that B Bᵀ is the covariance of the coefficients, without the constant, of a smooth field."""
    covariance = basis.projection.T @ matern(basis._apart / prior.length, prior.order) @ basis.projection
    values, vectors = np.linalg.eigh(covariance)
    round_off = 1e-14 * values[-1]
    return np.asarray(vectors * np.sqrt(np.maximum(values, round_off)))


def matern(distance: Array, order: int) -> Array:
    """Return Matérn's covariance with ν = order + 1/2, whose fields have derivatives up to some order.

    Examples
    --------
    >>> round(float(matern(np.array(2.0), 0)), 6)
    0.135335
    """
    r = np.sqrt(2 * order + 1) * distance
    total = np.zeros_like(r)
    for i in range(order + 1):
        total = total * 2 * r + factorial(order + i) / (factorial(i) * factorial(order - i))
    return np.asarray(factorial(order) / factorial(2 * order) * total * np.exp(-r))


def where_defined(name: str, problem: Problem) -> Domain:
    """Return the domain of an unknown field: that of the problem, or a box of some coordinates and time."""
    unknown, jets, domain = problem.parameters.inferred[name], problem.jets, problem.domain
    assert isinstance(unknown, UnknownField)
    arguments = unknown.arguments(jets)
    if arguments == jets.coordinates:
        return domain
    ends = dict(zip(jets.coordinates, zip(domain.lower, domain.upper, strict=True), strict=True)) | {TIME: problem.time}
    lower, upper = zip(*(ends[word] for word in arguments), strict=True)
    return Box(list(map(float, lower)), list(map(float, upper)))


def field_basis(name: str, problem: Problem, widths: Sequence[int], seed: int) -> FieldBasis:
    """Draw a small network for a field and orthogonalise it."""
    unknown, jets, domain = problem.parameters.inferred[name], problem.jets, where_defined(name, problem)
    assert isinstance(unknown, UnknownField)
    width = widths[min(domain.dimension, 4) - 1]
    start = int(Seed.UNKNOWN_FIELD) + seed
    points = domain.sample(max(5 * width, 400), "sobol" if domain.dimension > 1 else "gauss", start)
    hidden = Waves(width, reach=0.8).sample(points, np.random.default_rng(start))
    weights = points.weights / np.sum(points.weights)
    features = hidden.features(points.x)
    means = weights @ features
    centred = np.sqrt(weights)[:, None] * (features - means)[:, : hidden.width]
    _, singular, right = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.sum(singular > 1e-10 * singular[0]))
    mixing = np.zeros((hidden.size, rank + 1))
    mixing[: hidden.width, 1:] = right[:rank].T / singular[:rank]
    mixing[hidden.width, 1:] = -means[: hidden.width] @ mixing[: hidden.width, 1:]
    mixing[hidden.width, 0] = 1.0
    projection = weights[:, None] * (features @ mixing[:, 1:])
    return FieldBasis(name, unknown, jets, domain, hidden, mixing, points.x, projection)
