"""The functions that an unknown field is combined of: a small network, orthogonal, with a measure of smoothness.

γ(x) = start + a₀ + Σ aₖψₖ(x), where the ψₖ have mean zero and are orthonormal. How rough a combination is, is told by
Σ_j C(3, j) ℓ^{2j} ∫ Dʲψ : Dʲψ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import comb, factorial, prod

import numpy as np

from frozenpinn.adaptivity.inverse.evidence import whitened
from frozenpinn.assembly.sensitivity import Directions
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.samplers import Waves
from frozenpinn.geometry import Box, Domain
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import TIME, JetSpace
from frozenpinn.runtime.arrays import fixed, read_only
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import UnknownField, as_function, atoms, field_words

Array = np.ndarray
_KEPT = 6  # sets of points at which functions of a field are kept, …
_MOST = 1_000_000  # … if they have no more values than this
_ORDER = 3  # of the derivatives whose size is smoothness


@dataclass(frozen=True)
class FieldSizes:
    """How large the network of an unknown field is."""

    width: tuple[int, int, int, int] = (40, 240, 400, 400)  #: neurons in one, two, three, more dimensions
    reach: float = 0.8  #: of their waves
    cutoff: float = 1e-10  #: singular value, relative to the largest, up to which combinations of them are kept


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
            while len(self._sets) >= _KEPT:
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
    grams
        ∫ Dʲψ : Dʲψ for j = 0 … 3, shape (size - 1, size - 1), without the constant, lengths in units of the domain.
    """

    name: str
    unknown: UnknownField
    jets: JetSpace
    domain: Domain
    hidden: HiddenLayer
    mixing: Array
    grams: tuple[Array, ...]
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
        if len(x) * self.size > _MOST:
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

    def roughness(self, length: float) -> Array:
        """Return the matrix of the roughness on a scale, in units of the domain."""
        return np.asarray(sum(comb(_ORDER, j) * length ** (2 * j) * gram for j, gram in enumerate(self.grams)))


@remembered
def whitening(basis: FieldBasis, length: float) -> Array:
    """Return B with B Bᵀ = R⁻¹ for the roughness R on a scale."""
    return whitened(basis.roughness(length))


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


def field_basis(name: str, problem: Problem, rules: FieldSizes, seed: int) -> FieldBasis:
    """Draw a small network for a field and orthogonalise it."""
    unknown, jets, domain = problem.parameters.inferred[name], problem.jets, where_defined(name, problem)
    assert isinstance(unknown, UnknownField)
    width, reach, cutoff = rules.width[min(domain.dimension, 4) - 1], rules.reach, rules.cutoff
    start = int(Seed.UNKNOWN_FIELD) + seed
    points = domain.sample(max(5 * width, 400), "sobol" if domain.dimension > 1 else "gauss", start)
    hidden = Waves(width, reach).sample(points, np.random.default_rng(start))
    weights = points.weights / np.sum(points.weights)
    features = hidden.features(points.x)
    means = weights @ features
    centred = np.sqrt(weights)[:, None] * (features - means)[:, : hidden.width]
    _, singular, right = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.sum(singular > cutoff * singular[0]))
    mixing = np.zeros((hidden.size, rank + 1))
    mixing[: hidden.width, 1:] = right[:rank].T / singular[:rank]
    mixing[hidden.width, 1:] = -means[: hidden.width] @ mixing[: hidden.width, 1:]
    mixing[hidden.width, 0] = 1.0
    grams = _grams(hidden, points.x, weights, mixing, float(np.max(domain.lengths)))
    return FieldBasis(name, unknown, jets, domain, hidden, mixing, grams)


def _grams(hidden: HiddenLayer, x: Array, weights: Array, mixing: Array, length: float) -> tuple[Array, ...]:
    """Return ∫ Dʲψ : Dʲψ = Σ j!/α! ∫ (∂^α ψ)² of combinations; the first is the identity."""
    size, roots = mixing.shape[1] - 1, np.sqrt(weights)[:, None]
    found = [np.eye(size)]
    for j in range(1, _ORDER + 1):
        total = np.zeros((size, size))
        for alpha in (a for a in product(range(j + 1), repeat=x.shape[1]) if sum(a) == j):
            values = roots * (hidden.operator(x, [Term("", Derivative(alpha))]) @ mixing[:, 1:])
            total += factorial(j) / prod(map(factorial, alpha)) * length ** (2 * j) * (values.T @ values)
        found.append(total)
    return tuple(found)
