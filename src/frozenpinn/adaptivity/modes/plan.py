"""Networks of one width for an eigenvalue problem, and the eigenvalues on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frozenpinn.adaptivity.modes.rules import ModeRules
from frozenpinn.adaptivity.settings import Settings
from frozenpinn.assembly.corners import singular_functions
from frozenpinn.assembly.eigenproblem import Eigenproblem, compliant_network, matrices, product_operator
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.products import build_product_spaces, is_separable
from frozenpinn.basis.protocol import Basis
from frozenpinn.basis.samplers import MultiScale, Sampler, Sines, Waves, sampler_by_name, with_width
from frozenpinn.errors import SettingsError
from frozenpinn.geometry import Box, Points
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.solvers.axis_modes import axis_modes
from frozenpinn.solvers.eigen import by_distance, eigenpairs
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_UNUSED = ("boundary", "rcond", "integrator", "rtol", "point_method", "windows", "subspace")  # settings in time


@dataclass(frozen=True, eq=False)
class Attempt:
    """Eigenvalues on networks of one width, nearest first, with the coefficients of their functions in columns."""

    bases: tuple[Basis, ...]
    values: Array
    vectors: Array
    width: int
    symmetric: bool
    product: bool


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

    def attempt(self, seed: int) -> Attempt:
        """Find eigenvalues on networks that a seed draws."""
        size = float(self.width * len(self.problem.fields))
        with blas_threads(10.0 * size**3 if not self.product else 0.0):
            return self._on_product(seed) if self.product else self._on_networks(seed)

    # ---- one network for each group of fields ------------------------------------------------------------

    def _on_networks(self, seed: int) -> Attempt:
        problem, rules, given = self.problem, self.rules, self.settings
        points = self._points(seed)
        hidden = self._sampler().sample(points, np.random.default_rng(seed))
        if given.sampler is None and problem.domain.dimension == 2:
            hidden = replace(hidden, singular=singular_functions(problem, rules.corners))
        cutoff = given.cutoff if isinstance(given.cutoff, float) else rules.cutoff
        networks = [
            compliant_network(problem, hidden, points, group, self._per_side(), cutoff) for group in problem.groups
        ]
        left, right, singular, layout = matrices(self.eigenproblem, networks)
        found = eigenpairs(left, right, singular, self.near, 1.0 if self.rightmost else -1.0)
        vectors = found.vectors[: layout.coefficients]
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        return Attempt(tuple(networks), found.values, vectors, self.width, found.symmetric, False)

    def _sampler(self) -> Sampler:
        given, domain = self.settings.sampler, self.problem.domain
        if isinstance(given, str):
            return sampler_by_name(given, self.width)
        if given is not None:
            return given if given.width == self.width else with_width(given, self.width)
        if not any(domain.periodic):
            return MultiScale(self.width)
        lengths = zip(map(float, domain.lengths), domain.periodic, strict=True)
        periods = tuple(length if periodic else None for length, periodic in lengths)
        return Sines(self.width, period=periods[0]) if len(periods) == 1 else Waves(self.width, 1.2, periods=periods)

    def _points(self, seed: int) -> Points:
        domain, given = self.problem.domain, self.settings.points
        wanted = int(self.rules.points[domain.dimension - 1] * self.width) if given is None else int(np.prod(given))
        if domain.dimension == 1:
            return domain.sample(wanted, "spectral" if any(domain.periodic) else "gauss", seed)
        n: Any = wanted
        if isinstance(domain, Box):
            cell = (domain.measure / wanted) ** (1.0 / domain.dimension)
            n = [max(4, round(float(length) / cell)) for length in domain.lengths]
        return domain.sample(n, "gauss", seed)

    def _per_side(self) -> int:
        domain, rules = self.problem.domain, self.rules
        if domain.dimension == 1:
            return 1
        sides = max(1, len(domain.sides) + 2 * sum(domain.periodic))
        wanted = self.settings.boundary_points or rules.boundary * self.width
        return max(rules.least_boundary, int(wanted / sides))

    # ---- products on boxes ---------------------------------------------------------------------------------

    def _on_product(self, seed: int) -> Attempt:
        found = self.on_product(seed)
        assert found is not None, "told when the plan was made"
        return found

    def on_product(self, seed: int) -> Attempt | None:
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
        spaces = build_product_spaces(problem, layers, points, rules.cutoff)
        operator = product_operator(self.eigenproblem, spaces)
        if operator is None:
            return None
        position, layout = operator
        rate = 1.0 / float(np.max(domain.lengths)) ** max(1, max(problem.spatial_order(f) for f in problem.fields))
        modes = axis_modes(LinearPart(position, None, layout), True, rate)
        if modes is None or np.ndim(modes.eigenvalues) != 1:
            return None
        values = np.asarray(modes.eigenvalues)
        doubled = len(values) < layout.size  # one of each pair of conjugates
        nearest = by_distance(values, self.near)[: 4 * (self.count + rules.more)]
        if self.rightmost:
            nearest = np.argsort(-values.real, kind="stable")[: 4 * (self.count + rules.more)]
        unit = np.zeros((len(values), len(nearest)))
        unit[nearest, np.arange(len(nearest))] = 1.0
        vectors, values = np.asarray(modes.vectors @ unit), values[nearest]
        if doubled:
            values, vectors = np.concatenate([values, values.conj()]), np.concatenate([vectors, vectors.conj()], axis=1)
        order = by_distance(values, self.near)
        vectors = vectors[:, order] / np.linalg.norm(vectors[:, order], axis=0)
        symmetric = bool(np.isrealobj(values))
        return Attempt(tuple(s.network for s in spaces), values[order], vectors, self.width, symmetric, True)


def make_plan(eigenproblem: Eigenproblem, settings: Settings, count: int, near: complex, rightmost: bool) -> ModePlan:
    """Choose between products and networks, and a first width."""
    problem, rules = eigenproblem.problem, settings.rules.modes
    domain = problem.domain
    if domain.dimension > 3:
        raise SettingsError(f"eigenvalues are found in up to three dimensions; the domain has {domain.dimension}.")
    _refuse_unused(settings)
    fixed = settings.width
    if isinstance(fixed, tuple):
        raise SettingsError(f"write width as one number for eigenvalue problems, got {fixed!r}.")
    separable = domain.dimension > 1 and all(is_separable(problem, group) for group in problem.groups)
    plan = ModePlan(eigenproblem, settings, count, near, rightmost, 0, False)
    if separable and all(value is None for value in (settings.sampler, settings.points, settings.boundary_points)):
        width = int(min(rules.axis + rules.axis_each * count, rules.axis_most)) if fixed is None else fixed
        product = replace(plan, width=2 * (width // 2), product=True)
        if product.on_product(0) is not None:
            return product
    if not isinstance(settings.sampler, str | None):
        fixed = settings.sampler.width
    index = domain.dimension - 1
    width = int(rules.first[index] + rules.each[index] * count) if fixed is None else fixed
    return replace(plan, width=width)


def _refuse_unused(settings: Settings) -> None:
    default = Settings()
    given = [name for name in _UNUSED if getattr(settings, name) != getattr(default, name)]
    if given:
        raise SettingsError(
            f"Settings({given[0]}=…) is not for eigenvalues; these may be given: width, points, boundary_points, "
            "sampler, cutoff and rules."
        )

