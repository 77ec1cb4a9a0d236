"""The functions that an unknown field is combined of: a small network, orthogonal, with a measure of smoothness.

γ(x) = start + a₀ + Σ aₖψₖ(x), where the ψₖ have mean zero and are orthonormal. How rough a combination is, is told by
Σ_j C(3, j) ℓ^{2j} ∫ Dʲψ : Dʲψ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import comb, factorial, prod

import numpy as np
import sympy as sp

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.sensitivity import Directions
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.samplers import Waves
from frozenpinn.geometry import Domain
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.unknowns import UnknownField, as_function, field_jets, inner_name

Array = np.ndarray
_ORDER = 3  # of the derivatives whose size is smoothness


@dataclass(frozen=True)
class FieldValue:
    """A combination of neurons, or a derivative of it, as a function of points."""

    hidden: HiddenLayer
    coefficients: Array
    derivative: Derivative
    offset: float

    def __call__(self, points: Array) -> Array:
        """Return the values at points (n, d)."""
        (values,) = self.hidden.combined(np.asarray(points), [self.derivative], self.coefficients)
        return np.asarray(values + self.offset)


@dataclass(frozen=True, eq=False)
class FieldBasis:
    """The basis of one unknown field.

    Attributes
    ----------
    name, unknown, jets
        Which field it is.
    hidden, mixing
        The neurons, and the combinations of them, shape (neurons + 1, size); the first is the constant one.
    grams
        ∫ Dʲψ : Dʲψ for j = 0 … 3, shape (size - 1, size - 1), without the constant, lengths in units of the domain.
    """

    name: str
    unknown: UnknownField
    jets: JetSpace
    hidden: HiddenLayer
    mixing: Array
    grams: tuple[Array, ...]

    @property
    def size(self) -> int:
        """Number of functions."""
        return int(self.mixing.shape[1])

    @property
    def scale(self) -> float:
        """By how much the field is expected to vary: its start, or one for a logarithm."""
        return 1.0 if self.unknown.positive else abs(self.unknown.start) or 1.0

    @property
    def inner(self) -> str:
        """The name of the function that is looked for."""
        return inner_name(self.name, self.unknown)

    @cached_property
    def _words(self) -> dict[str, Jet]:
        return field_jets(self.inner, self.jets)

    @property
    def directions(self) -> Directions:
        """The functions, with all derivatives that equations may contain."""
        atoms = tuple(sp.Function(word, real=True)(*self.jets.x) for word in self._words)
        derivatives = [derivative_of(jet) for jet in self._words.values()]

        def changes(x: Array) -> Sequence[Array]:
            return [self.at(x, derivative) for derivative in derivatives]

        return Directions(atoms, self.size, changes)

    def at(self, x: Array, derivative: Derivative | None = None) -> Array:
        """Return all functions at points, shape (n, size), in units of the scale."""
        wanted = Derivative((0,) * x.shape[1]) if derivative is None else derivative
        return np.asarray(self.hidden.operator(x, [Term("", wanted)]) @ self.mixing * self.scale)

    def functions(self, coefficients: Array) -> dict[str, UserFunction]:
        """Return the functions that stand for the field and its derivatives."""
        raw, found = self.scale * (self.mixing @ coefficients), {}
        for word, jet in self._words.items():
            offset = 0.0 if jet.order else self.unknown.inner_start
            found[word] = as_function(FieldValue(self.hidden, raw, derivative_of(jet), offset), self.name, self.jets)
        return found

    def fitted(self, values: Array, x: Array) -> Array:
        """Return the coefficients that come closest to values at points, less the start."""
        return np.asarray(np.linalg.lstsq(self.at(x), values - self.unknown.inner_start, rcond=1e-12)[0])

    def roughness(self, length: float) -> Array:
        """Return the matrix of the roughness on a scale, in units of the domain."""
        return np.asarray(sum(comb(_ORDER, j) * length ** (2 * j) * gram for j, gram in enumerate(self.grams)))


def field_basis(
    name: str, unknown: UnknownField, domain: Domain, jets: JetSpace, size: tuple[int, float, float], seed: int
) -> FieldBasis:
    """Draw a small network for a field, of a width, reach and cut-off, and orthogonalise it."""
    (width, reach, cutoff), start = size, int(Seed.UNKNOWN_FIELD) + seed
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
    return FieldBasis(name, unknown, jets, hidden, mixing, grams)


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
