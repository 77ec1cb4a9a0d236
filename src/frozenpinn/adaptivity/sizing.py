"""From settings to a plan: sampler, numbers, points and boundary strategy where the user leaves them open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from frozenpinn.adaptivity.fitting import fitted
from frozenpinn.adaptivity.initial_gradient import InitialGradient
from frozenpinn.adaptivity.settings import Settings, Task, Windows
from frozenpinn.assembly.corners import singular_functions
from frozenpinn.assembly.products import build_product_space, is_separable
from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.strategies import BoundaryStrategy, build_space, strategy_by_name
from frozenpinn.basis.samplers import MultiScale, Orthogonal, Sampler, adapted, sampler_by_name
from frozenpinn.errors import BudgetError, SettingsError, warn
from frozenpinn.geometry import Box, Points
from frozenpinn.runtime.budget import amount, physical_memory
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Renewal: TypeAlias = Windows | Literal["auto"] | None  #: of a basis in time

_BYTES = 48.0  # of a number in a table of the basis, with its copies
_MOST_PRODUCTS = 4000  # that are kept, about


@dataclass(frozen=True)
class Frame:
    """What is decided before any number: the kind of basis, the boundary strategy, the way of placing points."""

    product: bool
    strategy: BoundaryStrategy
    method: str
    renewal: Renewal

    @classmethod
    def of(cls, problem: Problem, settings: Settings) -> Frame:
        """Choose what the settings leave open."""
        d, few = problem.domain.dimension, settings.rules.sizing.dimensions
        strategy = strategy_by_name(settings.boundary or ("null-space" if d <= few else "augmented-ode"))
        product = (
            2 <= d <= 3
            and settings.sampler is None
            and strategy.separable
            and settings.cutoff is not None
            and settings.point_method in ("auto", "gauss")
            and all(is_separable(problem, group) for group in problem.groups)
        )
        method = settings.point_method
        if method == "auto":
            method = "gauss" if d <= few else "sobol"
        return cls(product, strategy, method, _renewal(problem, settings.windows))

    def sampler(self, problem: Problem, settings: Settings, width: int | None = None) -> Sampler:
        """Return the sampler of a given width, of that of the settings, or of the default one."""
        width = settings.width if width is None else width
        if isinstance(settings.sampler, str | None):
            width = _default_width(problem, settings, self.product) if width is None else width
            if isinstance(settings.sampler, str):
                return adapted(sampler_by_name(settings.sampler, width), "oriented", InitialGradient(problem))
            many = problem.domain.dimension > settings.rules.sizing.dimensions
            return Orthogonal(width) if many else MultiScale(width)
        if settings.width is not None and settings.width != settings.sampler.width:
            raise SettingsError(
                f"width={settings.width} contradicts the sampler, which has width {settings.sampler.width}; set it "
                "once."
            )
        return adapted(settings.sampler, "oriented", InitialGradient(problem))


@dataclass(frozen=True)
class Plan:
    """What a task means for a problem: kind of basis, sampler, numbers."""

    task: Task
    frame: Frame
    sampler: Sampler
    counts: tuple[int, ...]

    @property
    def _total(self) -> tuple[float, float]:
        """Numbers of points and of functions, about."""
        points = float(np.prod(np.array(self.counts, dtype=float)))
        width = float(self.sampler.width)
        return points, min(width ** len(self.counts), _MOST_PRODUCTS) if self.frame.product else width

    @property
    def bytes(self) -> float:
        """About how much memory a solve takes: the tables of its basis and their copies."""
        points, size = self._total
        return _BYTES * points * size

    @property
    def operations(self) -> float:
        """About how many floating point operations the largest factorisation takes."""
        points, size = self._total
        if self.frame.product:
            size = min(self.sampler.width ** len(self.counts) / 4.0, float(_MOST_PRODUCTS))
        return 2.0 * points * size**2

    def check_memory(self) -> None:
        """Refuse a solve that needs more memory than it may have, or than there is."""
        each = " per axis" if self.frame.product else ""
        need = f"{self.sampler.width} neurons{each} need about {amount(self.bytes)} of memory"
        limit = self.task.memory
        if limit is not None and self.bytes > limit:
            raise BudgetError(f"{need}, more than memory_limit={limit:g}.")
        if self.bytes > (all_there_is := physical_memory()):
            raise SettingsError(
                f"{need}, and this machine has {amount(all_there_is)}. Use a smaller width, or fewer points."
            )

    def place_points(self, problem: Problem) -> Points:
        """Place the quadrature points evenly."""
        tensor = self.frame.method in ("gauss", "uniform")
        n: Any = list(self.counts) if tensor else int(np.prod(self.counts))
        if tensor and len(self.counts) == 1 and problem.domain.dimension > 1:
            n = self.counts[0]
        points = problem.domain.sample(n, self.frame.method, self.task.seed)
        if problem.domain.dimension <= self.task.rules.sizing.dimensions:
            return points
        # the unit ball of R¹⁰⁰ has a volume of 1e-40: norms are means there, lest tolerances lose their meaning
        return replace(points, weights=points.weights / points.weights.sum())

    def build_spaces(self, problem: Problem, cloud: Points, window: int = 0, pool: Points | None = None) -> list[Space]:
        """Sample the hidden layer and put the linear layers on it, for each group of fields.

        Each window of time draws its own neurons; ``pool`` are the points they are drawn from, if not the cloud.
        """
        task, settings = self.task, self.task.settings
        seeds = np.random.SeedSequence(task.seed if window == 0 else (task.seed, window))
        if self.frame.product:
            assert isinstance(problem.domain, Box)
            axes = [problem.domain.axis(i).sample(n) for i, n in enumerate(self.counts)]
            rngs = [np.random.default_rng(s) for s in seeds.spawn(len(axes))]
            layers = [self.sampler.sample(a, g) for a, g in zip(axes, rngs, strict=True)]
            cutoff = self._product_cutoff()
            return [build_product_space(problem, name, layers, cloud, cutoff) for (name,) in problem.groups]
        sampler = self.sampler
        if settings.sampler is None:
            sampler = fitted(problem, sampler, cloud, task.seed)
        hidden = sampler.sample(cloud if pool is None else pool, np.random.default_rng(seeds))
        if settings.sampler is None:
            hidden = replace(hidden, singular=singular_functions(problem))
        per_side = 1 if problem.domain.dimension == 1 else self._boundary_points(problem)
        return [
            build_space(problem, hidden, cloud, group, self.frame.strategy, self._cutoff(problem), per_side)
            for group in problem.groups
        ]

    def _cutoff(self, problem: Problem) -> float | None:
        """Return the cut-off of the SVD layer: that of the settings, or the finest that makes sense."""
        given, rules = self.task.settings.cutoff, self.task.rules.cutoff
        if given != "auto":
            return given
        return self.frame.strategy.cutoff or (rules.finest if problem.is_linear else rules.nonlinear)

    def _product_cutoff(self) -> float:
        """Return the cut-off on each axis of a product: the rank is what costs, so no finer than the accuracy needs."""
        given, rules, asked = self.task.settings.cutoff, self.task.rules.cutoff, self.task.tolerances.solution
        if given != "auto":
            assert given is not None
            return given
        if asked is None:
            return rules.product
        return float(np.clip(rules.product_share * asked / self.task.effort**2, rules.finest, rules.product_coarsest))

    def _boundary_points(self, problem: Problem) -> int:
        """Return how many points a side gets: enough rows to see every feature of that side."""
        rules, given = self.task.rules.sizing, self.task.settings.boundary_points
        sides = max(1, len(problem.domain.sides) + 2 * sum(problem.domain.periodic))
        if given is not None:
            return max(1, round(given / sides))
        return max(rules.fewest_boundary_points, int(rules.boundary_rows * self.sampler.width / sides))


def make_plan(problem: Problem, task: Task, width: int | None = None) -> Plan:
    """Choose kind of basis, width and points where the settings leave them open."""
    frame = Frame.of(problem, task.settings)
    sampler = frame.sampler(problem, task.settings, width)
    return Plan(task, frame, sampler, _counts(problem, task.settings, sampler.width, frame.product))


def _default_width(problem: Problem, settings: Settings, product: bool) -> int:
    """Return the number of neurons (per axis for products) if the user leaves it open.

    Round-off in a derivative of order p grows like (slope of the neurons)^p, and so with the width. Linear equations
    of third and fourth order are more accurate with fewer, flatter neurons; nonlinear ones need them for detail.
    """
    rules, d = settings.rules.sizing, problem.domain.dimension
    if d > 1:
        return rules.box[d - 2] if product else rules.shape
    high_order = max(problem.spatial_order(name) for name in problem.fields) > 2
    return rules.line_high_order if high_order and problem.is_linear else rules.line


def _counts(problem: Problem, settings: Settings, width: int, product: bool) -> tuple[int, ...]:
    rules, d, given = settings.rules.sizing, problem.domain.dimension, settings.points
    if isinstance(given, tuple | list):
        return tuple(int(n) for n in given)
    if given is not None:
        return (int(given),) * d if product else (int(given),)
    if product:
        return (int(rules.points_on_products * width),) * d
    return (int((rules.points_on_lines if d == 1 else rules.points_on_shapes) * width),)


def _renewal(problem: Problem, windows: int | str | Windows | None) -> Renewal:
    """Return how the basis is renewed: by given rules, where it helps ("auto"), or not at all."""
    if windows is None or windows == "auto":
        return windows  # type: ignore[return-value]
    if isinstance(windows, str) and windows != "adaptive":
        raise SettingsError(f"unknown windows '{windows}'; write a number, 'adaptive', 'auto', None or Windows(…).")
    if not isinstance(windows, Windows):
        windows = Windows() if isinstance(windows, str) else Windows(windows)
    if windows.count == 1:
        return None
    if problem.domain.dimension > 1:
        raise SettingsError("windows, in which the basis follows the solution, are for one dimension; leave them out.")
    return windows


def check_settings(problem: Problem, task: Task) -> None:
    """Refuse settings that make no sense, and warn about those that do not fit together."""
    settings = task.settings
    if not isinstance(task.seed, int | np.integer) or task.seed < 0:
        raise SettingsError(f"seed must be a whole number from 0 on, got {task.seed!r}.")
    for n in settings.points if isinstance(settings.points, tuple | list) else [settings.points]:
        if n is not None and (not isinstance(n, int | np.integer) or n < 1):
            raise SettingsError(f"points must be a positive whole number (or one per axis), got {settings.points!r}.")
    n = settings.boundary_points
    if n is not None and (not isinstance(n, int | np.integer) or n < 1):
        raise SettingsError(f"boundary_points must be a positive whole number, got {n!r}.")
    plan = make_plan(problem, task)
    for n in plan.counts:
        if plan.frame.product or problem.domain.dimension == 1:
            _check_points(n, plan.sampler.width, settings)


def _check_points(n: int, width: int, settings: Settings) -> None:
    if settings.cutoff is None and n < width:
        raise SettingsError(
            f"{n} points are too few for width {width}: without the SVD layer there must be at least one point "
            f"per basis function. Use points={2 * width} or a smaller width."
        )
    if n < width:
        warn(
            f"{n} points are too few for width {width}: neurons steeper than the point spacing are not resolved. "
            f"Use points={2 * width} or width={max(1, n // 2)}."
        )
