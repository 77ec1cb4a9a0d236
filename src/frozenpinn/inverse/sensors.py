"""Sensors: what is measured as an expression over jets of the solution and unknowns, its exact slopes, and its noise.

A value is Σ weight · q(x, t, jets of u, θ) over the nodes of its region; one node of weight one for a point. Its
derivative by θ is Σ weight · (Σ ∂q/∂jet · jet(∂u/∂θ) + ∂q/∂θ).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.geometry import Domain
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensitivity import Directions, partials, slopes_by
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.statement.conditions import normal_symbols
from frozenpinn.statement.measurements import Measurements, Relative
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Sensor:
    """One set of measurements as nodes: where and when, which value each belongs to, and its weight."""

    expression: sp.Expr
    symbols: Mapping[sp.Symbol, Jet]
    x: Array
    times: Array | None
    normals: Array
    owner: Array
    weights: Array
    count: int

    @classmethod
    def of(cls, part: Measurements, problem: Problem) -> Sensor:
        """Place the nodes of measurements."""
        expression = without_normals(part.expression(problem), problem)
        x, normals, owner, weights = _nodes(part, problem.domain)
        times = None if part.times is None else part.times[owner]
        return cls(expression, problem.jets.jets_in(expression), x, times, normals, owner, weights, len(part))

    @cached_property
    def is_plain(self) -> bool:
        """Whether every value is that of one node."""
        return len(self.x) == self.count

    @property
    def jets(self) -> tuple[Jet, ...]:
        """The jets of the solution that are needed."""
        return tuple(self.symbols.values())

    @cached_property
    def _by_jets(self) -> list[sp.Expr]:
        return [sp.diff(self.expression, symbol) for symbol in self.symbols]

    def gathered(self, values: Array) -> Array:
        """Return what is measured from what is at the nodes, shape (count, …)."""
        if self.is_plain:
            return values
        out = np.zeros((self.count, *values.shape[1:]))
        np.add.at(out, self.owner, (self.weights if values.ndim == 1 else self.weights[:, None]) * values)
        return out

    def computed(self, problem: Problem, expressions: Sequence[sp.Expr], values: Sequence[Array]) -> list[Array]:
        """Return expressions in the jets at the nodes."""
        space, d = problem.jets, self.x.shape[1]
        symbols = [*space.x, space.t, *normal_symbols(d), *self.symbols]
        program = Program(list(expressions), symbols, problem.parameters.functions)
        t = 0.0 if self.times is None else self.times
        with np.errstate(all="ignore"):
            found = program(*self.x.T, t, *self.normals.T, *values)
        return [np.broadcast_to(value, len(self.x)) for value in found]

    def values(self, problem: Problem, values: Sequence[Array]) -> Array:
        """Return what would be measured if the jets have these values at the nodes."""
        return self.gathered(self.computed(problem, [self.expression], values)[0])

    def factors(self, problem: Problem, values: Sequence[Array]) -> list[Array]:
        """Return the derivatives by the jets at the nodes."""
        return self.computed(problem, self._by_jets, values) if self.symbols else []

    def direct(self, problem: Problem, values: Sequence[Array], unknowns: Sequence[Directions]) -> Array | None:
        """Return the derivatives by the unknowns at the nodes, at fixed jets; None if there are none."""
        if not any(partials(self.expression, unknown.atoms) for unknown in unknowns):
            return None
        t = 0.0 if self.times is None else self.times
        return slopes_by(
            problem, self.expression, unknowns, lambda slopes: self.computed(problem, slopes, values), self.x, t
        )


def without_normals(expression: sp.Expr, problem: Problem) -> sp.Expr:
    """Write normal derivatives as Σ nᵢ ∂ᵢ."""
    jets, normals = problem.jets, normal_symbols(problem.domain.dimension)
    while table := {s: j for s, j in jets.jets_in(expression).items() if j.normal}:
        expression = expression.xreplace(
            {
                symbol: sum(
                    n * jets.symbol(jets.shifted(replace(jet, normal=jet.normal - 1), axis))
                    for axis, n in enumerate(normals)
                )
                for symbol, jet in table.items()
            }
        )
    return expression


def _nodes(part: Measurements, domain: Domain) -> tuple[Array, Array, Array, Array]:
    """Return nodes, normals, which value each belongs to, and weights."""
    if part.regions is None:
        n = len(part)
        normals = np.zeros(part.points.shape) if part.side is None else _normals(part.points, part.side, domain)
        return part.points, normals, np.arange(n), np.ones(n)
    cache: dict[object, tuple[Array, Array, Array]] = {}
    found = []
    for region in part.regions:
        key = region if isinstance(region, str) else id(region)
        if key not in cache:
            cache[key] = _of_region(region, domain, part.integral)
        found.append(cache[key])
    owner = np.repeat(np.arange(len(found)), [len(x) for x, _, _ in found])
    x, normals, weights = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return x, normals, owner, weights


def _of_region(region: Domain | str, domain: Domain, integral: bool) -> tuple[Array, Array, Array]:
    if isinstance(region, str):
        side = domain.sample_side(region, 1 if domain.dimension == 1 else 64, "gauss", 0)
        x, normals, weights = side.x, side.normals, side.weights
    else:
        points = region.sample(24 if domain.dimension == 1 else 400, "gauss", 0)
        x, normals, weights = points.x, np.zeros(points.x.shape), points.weights
    return x, normals, weights if integral else weights / np.sum(weights)


def _normals(x: Array, side: str, domain: Domain) -> Array:
    """Return outward normals at points of a side, between those at the nearest points that are known."""
    known = domain.sample_side(side, 1 if domain.dimension == 1 else 2000, "gauss", 0)
    apart = np.linalg.norm(x[:, None] - known.x[None], axis=2)
    nearest = np.argsort(apart, axis=1)[:, : min(domain.dimension, len(known))]
    near = np.take_along_axis(apart, nearest, axis=1)
    if np.any(near[:, 0] > 1e-2 * np.max(domain.lengths)):
        at = int(np.argmax(near[:, 0]))
        raise ProblemError(
            f"side='{side}', but the point ({', '.join(f'{c:g}' for c in x[at])}) does not lie on it; normal "
            "derivatives are measured on the side."
        )
    shares = 1.0 / np.maximum(near, 1e-12 * np.max(domain.lengths))
    mixed = np.einsum("ij,ijk->ik", shares, known.normals[nearest])
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Data:
    """Measurements of one problem.

    Attributes
    ----------
    parts
        As they were given.
    sensors
        What each part measures, and where.
    """

    parts: tuple[Measurements, ...]
    sensors: tuple[Sensor, ...]

    @classmethod
    def read(cls, given: Measurements | Sequence[Measurements], problem: Problem) -> Data:
        """Check that measurements fit a problem."""
        parts = (given,) if isinstance(given, Measurements) else given
        if not isinstance(parts, Sequence) or not parts or not all(isinstance(p, Measurements) for p in parts):
            got = "an empty list" if isinstance(parts, Sequence) and not parts else type(given).__name__
            raise SettingsError(f"infer() takes Measurements or a list of them, got {got}.")
        own = [part.within(problem) for part in parts]
        for part in own:
            part.check(problem)
        known = [part.noise is not None for part in parts]
        if any(known) != all(known):
            raise ProblemError(
                "the noise of some measurements is given and that of others is not; give all of them, or none."
            )
        return cls(tuple(parts), tuple(Sensor.of(part, problem) for part in own))

    @cached_property
    def values(self) -> Array:
        """Everything that was measured."""
        return np.concatenate([part.values for part in self.parts])

    def slices(self) -> list[tuple[Sensor, slice]]:
        """Return each sensor, and where its values stand among all."""
        ends = np.cumsum([0, *map(len, self.parts)])
        return [(s, slice(int(a), int(b))) for s, (a, b) in zip(self.sensors, pairwise(ends), strict=True)]

    def has_places_of(self, other: Data) -> bool:
        """Whether the same was measured at the same places and times."""
        pairs = list(zip(self.sensors, other.sensors, strict=False))
        return len(self.sensors) == len(other.sensors) and all(
            a.expression == b.expression
            and a.count == b.count
            and np.array_equal(a.x, b.x)
            and np.array_equal(a.weights, b.weights)
            and (a.times is b.times or np.array_equal(a.times, b.times))  # type: ignore[arg-type]
            for a, b in pairs
        )

    @property
    def noise_is_known(self) -> bool:
        """Whether standard deviations were given."""
        return self.parts[0].noise is not None

    def sigmas(self, rules: InverseRules, predicted: Array | None = None) -> Array:
        """Return the standard deviations as they are given, or the size of the values of each part if they are not.

        Relative ones are parts of what a fit predicts.
        """
        found = []
        for part, (equal, relative) in zip(self.parts, self._sizes(rules, predicted), strict=True):
            own = relative * part.noise.part if isinstance(part.noise, Relative) else part.noise
            found.append(equal if own is None else np.broadcast_to(own, len(part)))
        return np.concatenate(found)

    def estimated(
        self, rules: InverseRules, predicted: Array, start: Array, judged: Callable[[Array], Judged]
    ) -> Array:
        """Return standard deviations that are not given, up to a factor, from what a fit leaves.

        They are the same for all values of a part, or in proportion to these where that is clearly more likely. Several
        parts have noise of different sizes, which are found from some start. ``judged`` makes a fit with some
        deviations and judges it.
        """
        sizes = self._sizes(rules, predicted)
        pairs = zip(sizes, self._split(start), strict=True)
        found = np.concatenate([_as_large(equal, own) for (equal, _), own in pairs])
        for _ in range(8 if len(self.parts) > 1 else 0):
            before, found = found, self._rescaled(found, sizes, judged(found), rules)
            if np.max(np.abs(np.log(found / before))) <= rules.reweigh / 2:
                break
        best = judged(found).likelihood
        for k, (_, relative) in enumerate(sizes):
            others = self._split(found)
            others[k] = _as_large(relative, others[k])
            sigmas = np.concatenate(others)
            sigmas = self._rescaled(sigmas, sizes, judged(sigmas), rules) if len(self.parts) > 1 else sigmas
            likelihood = judged(sigmas).likelihood
            if likelihood > best + rules.clearly:
                found, best = sigmas, likelihood
        return found

    def has_weights(self, rules: InverseRules, sigmas: Array, others: Array) -> bool:
        """Whether deviations are in about the same proportions as others."""
        return bool(np.ptp(np.log(others / sigmas)) <= rules.reweigh)

    def suits(self, rules: InverseRules, predicted: Array, sigmas: Array) -> bool:
        """Whether residuals do not speak clearly against the proportions of deviations within each part."""
        parts = zip(
            self._split(self.values - predicted), self._split(sigmas), self._sizes(rules, predicted), strict=True
        )
        return not any(
            _likelihood(left, other) > _likelihood(left, own) + rules.clearly
            for left, own, others in parts
            for other in others
        )

    def _rescaled(
        self, sigmas: Array, sizes: Sequence[tuple[Array, Array]], judged: Judged, rules: InverseRules
    ) -> Array:
        """Return deviations that are in each part as large as what a fit with them leaves there.

        Parts that the fit follows too closely to show their noise have the noise of all. Relative to the values, the
        noise of a part is at least a share of that of the noisiest: without any, the fit would go through all values.
        """
        squares, free = judged.left**2, np.maximum(1.0 - judged.leverage, 0.0)
        common = max(float(np.sum(squares)), 1e-300) / max(float(np.sum(free)), 1.0)
        found = []
        for own, left, rest in zip(self._split(sigmas), self._split(squares), self._split(free), strict=True):
            shows = float(np.sum(rest)) >= 5.0
            found.append(own * np.sqrt(np.sum(left) / np.sum(rest) if shows else common))
        levels = [float(np.sqrt(np.mean(own**2))) / equal[0] for own, (equal, _) in zip(found, sizes, strict=True)]
        least = 1e-2 * max(levels)
        return np.concatenate([own * max(1.0, least / max(r, 1e-300)) for own, r in zip(found, levels, strict=True)])

    def _sizes(self, rules: InverseRules, predicted: Array | None) -> list[tuple[Array, Array]]:
        """Return for each part the size of its values, as an array, and that of each value, but for the smallest."""
        found = []
        for level in self._split(np.abs(self.values if predicted is None else predicted)):
            size = float(np.sqrt(np.mean(level**2))) or 1.0
            found.append((np.full(len(level), size), np.maximum(level, 1e-2 * size)))
        return found

    def _split(self, values: Array) -> list[Array]:
        """Return the values of each part."""
        return np.split(values, np.cumsum([len(part) for part in self.parts])[:-1])


def _likelihood(left: Array, sizes: Array) -> float:
    """Return the logarithm of the likelihood of residuals whose deviations are a multiple of some."""
    return -0.5 * len(left) * np.log(max(float(np.mean((left / sizes) ** 2)), 1e-300)) - float(np.sum(np.log(sizes)))


def _as_large(sizes: Array, others: Array) -> Array:
    """Return sizes in the same proportions, on average as large as others."""
    return np.asarray(sizes * np.exp(np.mean(np.log(others / sizes))))


class Judged(NamedTuple):
    """A fit with some weights: weighted residuals, how closely each value is followed, and the log likelihood."""

    left: Array
    leverage: Array
    likelihood: float
