"""Networks of one width for an eigenvalue problem, and the eigenvalues on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frozenpinn.assembly.cut_points import cut_points
from frozenpinn.assembly.interfaces import with_parts
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.parts import count_of_parts, points_on_parts, with_small_parts
from frozenpinn.assembly.products import build_product_spaces, is_separable
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis
from frozenpinn.basis.samplers import MultiScale, Sampler, Sines, Waves, sampler_by_name, with_width
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.basis.svd_layer import SVDLayer
from frozenpinn.enrichments.mode_functions import mode_combinations, mode_functions
from frozenpinn.enrichments.offers import enrichments_of
from frozenpinn.errors import SettingsError
from frozenpinn.geometry import Box, Domain, Points
from frozenpinn.integrators.decomposition import Decomposition, axis_modes
from frozenpinn.modes.eigen import by_distance, eigenpairs
from frozenpinn.modes.eigenproblem import (
    Eigenproblem,
    Matrices,
    complex_functions,
    compliant_network,
    left_over,
    matrices,
    product_operator,
    residuals,
    sizes_at,
)
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.seeds import Seed
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.search.grading import grade, graded_points, places_at_rest
from frozenpinn.search.rules import ModeRules
from frozenpinn.search.settings import Settings, Windows
from frozenpinn.search.unresolved import judged_features, places_in, share_of
from frozenpinn.statement.problem import Problem

Array = np.ndarray
#: settings that eigenvalue problems do not have
_UNUSED = ("boundary", "quadrature", "rcond", "integrator", "rtol", "point_method", "windows", "subspace")


@dataclass(frozen=True, eq=False)
class Attempt:
    """Eigenvalues on networks of one width, nearest first, with the coefficients of their functions in columns."""

    bases: tuple[Basis, ...]
    values: Array
    vectors: Array
    width: int
    symmetric: bool
    product: bool
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class ModePlan:
    """What is looked for, and with which numbers.

    Attributes
    ----------
    eigenproblem, settings
        What is solved, and what the user has fixed.
    count, near
        How many eigenvalues, and where.
    rightmost
        Whether those with the largest real parts are meant.
    width
        Neurons; of each axis for products.
    product
        Whether to use products of networks.
    """

    eigenproblem: Eigenproblem
    settings: Settings
    count: int
    near: complex
    rightmost: bool
    width: int
    product: bool

    @property
    def rules(self) -> ModeRules:
        """The tuned numbers."""
        return self.settings.rules.modes

    @property
    def problem(self) -> Problem:
        """Domain, fields and conditions."""
        return self.eigenproblem.problem

    def wider(self, factor: float) -> ModePlan:
        """Return the plan with more neurons, or fewer."""
        return replace(self, width=max(8, 2 * round(factor * self.width / 2)))

    def attempt(self, seed: int, functions: bool = True) -> Attempt:
        """Find eigenvalues on networks that a seed draws, and functions unless they are not needed and cost much."""
        size = float(self.width * len(self.problem.fields))
        with blas_threads(10.0 * size**3 if not self.product else 0.0):
            return self._on_product(seed, functions) if self.product else self._on_networks(seed)

    # ---- one network for each group of fields ------------------------------------------------------------

    def _on_networks(self, seed: int) -> Attempt:
        problem, rules, given = self.problem, self.rules, self.settings
        points = self._points(seed)
        hidden = self._sampler().sample(points, np.random.default_rng(seed))
        wedges = given.sampler is None and "wedges" not in given.without
        of_systems, of_laplacians = 5.0, 9.0  # highest powers of the distance from corners
        corners = mode_combinations(problem, of_systems) if wedges else None
        of_holes = 6  # highest order of functions of holes
        if corners is not None:
            hidden = replace(hidden, singular=corners.functions)
        elif given.sampler is None:
            power, order = 0.0 if "corners" in given.without else of_laplacians, of_holes
            hidden = replace(hidden, singular=mode_functions(problem, power, -1 if "holes" in given.without else order))
        decisions = list(enrichments_of(problem, hidden.singular))
        hidden = with_parts(problem, hidden)
        cutoffs = (given.cutoff,) if isinstance(given.cutoff, float) else rules.cutoffs
        networks = [
            compliant_network(problem, hidden, points, group, self._per_side(), cutoffs[0], corners)
            for group in (problem.groups if corners is None else [tuple(problem.fields)])
        ]
        whole, best, least = matrices(self.eigenproblem, networks), None, np.inf
        better, clean = 0.3, 1e-2  # part of what finer functions leave, and of the equation that may be left
        for cutoff in cutoffs:
            found = self._attempt(networks, whole, cutoff)
            left = self.worst_residual(found)
            if best is None or left < better * least:
                best, least = found, left
            if least <= clean:
                break
        assert best is not None
        if best.bases and cutoff != cutoffs[0]:
            decisions.append(Decision("coarser cut-off", "finer functions carry round-off"))
        return replace(best, decisions=tuple(decisions))

    def _attempt(self, networks: Sequence[Network], whole: Matrices, cutoff: float) -> Attempt:
        """Find eigenvalues with the functions whose singular values are beyond a cut-off."""
        kept = whole.kept(cutoff)
        bases = tuple(n.truncate(size) for n, size in zip(networks, kept.layout.sizes, strict=True))
        pairs, side = self.eigenproblem.pairs, 1.0 if self.rightmost else -1.0
        among = complex_functions(bases, pairs) if pairs else None
        found = eigenpairs(kept.left, kept.right, kept.singular, self.near, side, among)
        vectors = found.vectors[: kept.layout.coefficients]
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        return Attempt(bases, found.values, vectors, self.width, found.symmetric, False)

    def order(self, values: Array) -> Array:
        """Return the order in which values are wanted; they are sorted by their distance already."""
        if not self.rightmost:
            return np.arange(len(values))
        steps = np.round(np.real(values) / (self.rules.neutral * self.reference(values) or 1.0))
        return np.argsort(-steps, kind="stable")

    def residuals(self, found: Attempt, chosen: Array) -> Array:
        """Return what some functions leave of the equation at points that were not used."""
        rules, values = self.rules, found.values
        x = self.problem.domain.sample(300, "random", np.random.default_rng(Seed.RESIDUALS + 2)).x
        scale = rules.small * self.reference(values)
        return residuals(self.eigenproblem, found.bases, found.vectors[:, chosen], values[chosen], x, scale)

    def missed(self, found: Attempt, chosen: Array) -> Array:
        """Return by how much values are wrong, to first order, as narrow features of formulas are missed."""
        ignored = 0.3  # part of the terms up to which nothing is missed
        problem, values, vectors = self.problem, found.values[chosen], found.vectors[:, chosen]
        errors, rng = np.zeros(len(values)), np.random.default_rng(Seed.FORMULA_SCALES)
        scale = self.rules.small * self.reference(found.values)
        for feature in judged_features(problem):
            x = places_in(problem, feature, rng)
            if len(x):
                gap, size = left_over(self.eigenproblem, found.bases, vectors, values, x, scale)
                cells = share_of(feature, problem) * problem.domain.measure
                error = cells * gap * sizes_at(found.bases, vectors, x)  # of functions of norm one
                errors += np.where(gap > ignored * size, error, 0.0)
        return errors

    def reference(self, values: Array) -> float:
        """Return the size of the values that are asked for, or of the first few: one alone may be zero."""
        few = max(self.count, 4)  # one alone may be zero
        return float(np.max(np.sort(np.abs(values))[:few] if self.rightmost else np.abs(values[:few])))

    def worst_residual(self, found: Attempt) -> float:
        """Return the largest residual of the functions that are asked for."""
        return float(np.max(self.residuals(found, self.order(found.values)[: self.count])))

    @property
    def _grading(self) -> Grading | None:
        """By what points and neurons on an interval are graded: narrow features of its formulas; None without."""
        problem, settings = self.problem, self.settings
        plain = problem.domain.dimension == 1 and not any(problem.domain.periodic) and problem.interfaces is None
        if not plain or settings.sampler is not None or "narrow features" in settings.without:
            return None
        places = places_at_rest(problem)
        return None if places is None else grade(places[0].places, places[0].sizes, Windows().floor, self.width)

    def _sampler(self) -> Sampler:
        given, domain = self.settings.sampler, self.problem.domain
        if (grading := self._grading) is not None:
            return MultiScale(self.width).graded(grading)
        if isinstance(given, str):
            return sampler_by_name(given, self.width)
        if given is not None:
            return given if given.width == self.width else with_width(given, self.width)
        if not any(domain.periodic):
            return MultiScale(self.width) if domain.dimension < 3 else Waves(self.width)
        lengths = zip(map(float, domain.lengths), domain.periodic, strict=True)
        periods = tuple(length if periodic else None for length, periodic in lengths)
        return Sines(self.width, period=periods[0]) if len(periods) == 1 else Waves(self.width, 1.2, periods=periods)

    def _points(self, seed: int) -> Points:
        problem, domain, given = self.problem, self.problem.domain, self.settings.points
        each = self.rules.points[domain.dimension - 1] * count_of_parts(problem)
        wanted = int(each * self.width) if given is None else int(np.prod(given))
        if (parts := points_on_parts(problem, wanted)) is not None:
            return parts
        if (grading := self._grading) is not None:
            return graded_points(grading, wanted, "gauss", np.random.default_rng(seed))
        if domain.dimension == 1:
            return domain.sample(wanted, "spectral" if any(domain.periodic) else "gauss", seed)
        if problem.interfaces is None and (cut := cut_points(problem, wanted)) is not None:
            return cut
        n: Any = wanted
        if isinstance(domain, Box):
            cell = (domain.measure / wanted) ** (1.0 / domain.dimension)
            n = [max(4, round(float(length) / cell)) for length in domain.lengths]
        return with_small_parts(problem, domain.sample(n, "gauss", seed))

    def _per_side(self) -> int:
        domain = self.problem.domain
        if domain.dimension == 1:
            return 1
        sides = max(1, len(domain.sides) + 2 * sum(domain.periodic))
        wanted = self.settings.boundary_points or 1.5 * self.width
        return max(8, int(wanted / sides))

    # ---- products on boxes ---------------------------------------------------------------------------------

    def _on_product(self, seed: int, functions: bool) -> Attempt:
        found = self.on_product(seed, functions)
        assert found is not None, "told when the plan was made"
        return found

    def on_product(self, seed: int, functions: bool) -> Attempt | None:
        """Find eigenvalues axis by axis; None if the operator is no sum over the axes."""
        problem, rules = self.problem, self.rules
        domain = problem.domain
        counts = [int((1.5 if p else rules.points[0]) * self.width) + 12 for p in domain.periodic]
        points = domain.sample(counts, "spectral", seed)
        seeds = np.random.SeedSequence(seed).spawn(domain.dimension)
        layers = [
            (Sines(self.width, period=float(length)) if periodic else MultiScale(self.width)).sample(
                points.along(axis), np.random.default_rng(seeds[axis])
            )
            for axis, (length, periodic) in enumerate(zip(domain.lengths, domain.periodic, strict=True))
        ]
        spaces = build_product_spaces(problem, layers, points, rules.cutoffs[0])
        modes, sign = _axis_modes(self.eigenproblem, spaces, (1.0, -1.0) if self.rightmost else (-1.0, 1.0))
        if modes is None:
            return None
        values = sign * np.asarray(modes.eigenvalues)
        doubled = len(values) < sum(space.network.size for space in spaces)  # one of each pair of conjugates
        nearest = by_distance(values, self.near)
        nearest = nearest[self.order(values[nearest])][: self.count + 4 * rules.more]
        unit = np.zeros((len(values), len(nearest) if functions else 1))
        unit[nearest[: unit.shape[1]], np.arange(unit.shape[1])] = 1.0
        vectors, values = np.asarray(modes.vectors @ unit), values[nearest]
        if doubled:
            values, vectors = np.concatenate([values, values.conj()]), np.concatenate([vectors, vectors.conj()], axis=1)
        order = by_distance(values, self.near)
        vectors = vectors[:, order] / np.linalg.norm(vectors[:, order], axis=0) if functions else vectors
        symmetric = bool(np.isrealobj(values))
        networks = tuple(s.network for s in spaces)
        why = Decision("products", "conditions are along their own axes, and so is the operator")
        return Attempt(networks, values[order], vectors, self.width, symmetric, True, (why,))


def _axis_modes(
    eigenproblem: Eigenproblem, spaces: Sequence[Space], signs: tuple[float, float]
) -> tuple[Decomposition | None, float]:
    """Diagonalise ±L axis by axis, with the sign for which it is bounded from above: so it is most accurate."""
    problem = eigenproblem.problem
    rate = 1.0 / float(np.max(problem.domain.lengths)) ** max(1, *map(problem.spatial_order, problem.fields))
    found, terms = None, eigenproblem.terms(spaces[0].network.points.x)
    for sign in signs:
        operator = product_operator(eigenproblem, spaces, terms, sign)
        found = None if operator is None else axis_modes(LinearPart(operator[0], None, operator[1]), True, rate)
        if found is None or np.max(found.eigenvalues.real) <= -np.min(found.eigenvalues.real):
            break
    return found, sign


def _half_waves(domain: Domain, count: int) -> float:
    """Return about how many half-waves the first eigenfunctions of a box have along an axis, at most."""
    d, measure = domain.dimension, domain.measure
    waves = np.sqrt(4.0 * np.pi * count / measure) if d == 2 else (6.0 * np.pi**2 * count / measure) ** (1.0 / 3.0)
    return min(float(count), 1.0 + float(np.max(domain.lengths)) * waves / np.pi)


def make_plan(eigenproblem: Eigenproblem, settings: Settings, count: int, near: complex, rightmost: bool) -> ModePlan:
    """Choose between products and networks, and a first width."""
    problem = eigenproblem.problem
    domain = problem.domain
    if domain.dimension > 3:
        raise SettingsError(f"eigenvalues are found in up to three dimensions; the domain has {domain.dimension}.")
    _refuse_unused(settings)
    fixed = settings.width
    if isinstance(fixed, tuple):
        raise SettingsError(f"write width as one number for eigenvalue problems, got {fixed!r}.")
    separable = domain.dimension > 1 and all(is_separable(problem, group) for group in problem.groups)
    plan = ModePlan(eigenproblem, settings, count, near, rightmost, 0, False)
    separable = separable and "products" not in settings.without
    separable = separable and not eigenproblem.pairs and not problem.constraints
    if separable and all(value is None for value in (settings.sampler, settings.points, settings.boundary_points)):
        width = int(min(40 + 4.0 * _half_waves(domain, count), 240)) if fixed is None else fixed  # of each axis
        product = replace(plan, width=2 * (width // 2), product=True)
        if product.on_product(0, False) is not None:
            return product
    if not isinstance(settings.sampler, str | None):
        fixed = settings.sampler.width
    index = domain.dimension - 1
    first, each = (48, 300, 450)[index], (3.0, 8.0, 16.0)[index]  # neurons, and for each eigenvalue that is asked for
    width = int(first + each * count) if fixed is None else fixed
    return replace(plan, width=width)


def _refuse_unused(settings: Settings) -> None:
    default = Settings()
    given = [name for name in _UNUSED if getattr(settings, name) != getattr(default, name)]
    if given:
        raise SettingsError(
            f"Settings({given[0]}=…) is not for eigenvalues; these may be given: width, points, boundary_points, "
            "sampler, cutoff and rules."
        )
    if isinstance(settings.cutoff, SVDLayer):
        raise SettingsError(
            f"an SVDLayer is not for eigenvalues; write a cut-off, such as Settings(cutoff={settings.cutoff.cutoff:g})."
        )
