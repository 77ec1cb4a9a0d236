"""From settings to a plan: sampler, numbers, points and boundary strategy where the user leaves them open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from scipy.fft import next_fast_len
from sympy.core.function import AppliedUndef

from frozenpinn.analysis.initial_gradient import InitialGradient
from frozenpinn.assembly.cut_points import cut_points
from frozenpinn.assembly.even_axes import even_grid, even_layer
from frozenpinn.assembly.interfaces import Cut, axis_cuts, cut_grid
from frozenpinn.assembly.parts import count_of_parts, points_on_parts, with_small_parts
from frozenpinn.assembly.products import build_product_spaces, is_separable
from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.strategies import BoundaryStrategy, strategy_by_name
from frozenpinn.basis.samplers import MultiScale, Orthogonal, Sampler, Sines, adapted, sampler_by_name
from frozenpinn.basis.samplers.protocol import check_width
from frozenpinn.basis.svd_layer import SVDLayer
from frozenpinn.errors import BudgetError, SettingsError, warn
from frozenpinn.geometry import Box, Points
from frozenpinn.runtime.budget import amount, beside_others, others_take, physical_memory
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.settings import Settings, Task, Windows
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Renewal: TypeAlias = Windows | Literal["auto"] | None  #: of a basis in time
Width: TypeAlias = int | tuple[int, ...]  #: neurons, or neurons of each axis


@dataclass(frozen=True)
class Frame:
    """What is decided before any number: the kind of basis, the boundary strategy, the way of placing points."""

    product: bool
    strategy: BoundaryStrategy
    method: str
    renewal: Renewal
    tensors: int = 1  #: of a state: one for each field, and one for the velocity of each that has one
    steps: int = 0  #: in time that are taken at least, after each of which a state and its rate are kept

    @classmethod
    def of(cls, problem: Problem, settings: Settings, width: Width | None = None, follows: bool = True) -> Frame:
        """Choose what the settings leave open; one width for each axis, also for a single one, asks for a product."""
        least = 20  # steps in time that a nonlinear problem takes
        d, few = problem.domain.dimension, settings.rules.sizing.dimensions
        most = settings.rules.static.product_dimensions if problem.is_static else few
        strategy = strategy_by_name(settings.boundary or ("null-space" if d <= most else "augmented-ode"))
        asked = settings.width if width is None else width
        asks_for_waves = isinstance(asked, tuple) and len(asked) == 1 == d and bool(problem.domain.periodic[0])
        product = (
            (2 <= d <= most or asks_for_waves)
            and settings.sampler is None
            and strategy.separable
            and settings.cutoff is not None
            and "products" not in settings.without
            and not isinstance(settings.cutoff, SVDLayer)
            and settings.quadrature
            and settings.point_method in ("auto", "gauss")
            and all(is_separable(problem, group) for group in problem.groups)
        )
        method = settings.point_method
        if method == "auto":
            method = "spectral" if product else "gauss" if d <= few else "sobol"
        tensors = sum(max(1, equation.order) for equation in problem.equations)
        steps = 0 if problem.is_linear or problem.is_static else least
        still = settings.windows == "auto" and "following basis" in settings.without
        renewal = _renewal(problem, None if still else settings.windows, product)
        renewal = None if renewal == "auto" and not follows else renewal
        return cls(product, strategy, method, renewal, tensors, steps)

    def samplers(self, problem: Problem, settings: Settings, width: Width | None = None) -> tuple[Sampler, ...]:
        """Return the sampler, or one for each axis of a product: of a given width, the settings' or a default."""
        width = settings.width if width is None else width
        if self.product:
            widths = _widths(problem, settings, width)
            periods = [float(n) if p else None for n, p in _axes(problem)]
            return tuple(map(_sines, widths, periods))
        if isinstance(width, tuple):
            raise SettingsError(
                f"width={width} is for products of networks on boxes in two and three dimensions, with one number for "
                "each axis; here, write one number."
            )
        return (self._one_sampler(problem, settings, width),)

    def _one_sampler(self, problem: Problem, settings: Settings, width: int | None) -> Sampler:
        if isinstance(settings.sampler, str | None):
            width = _default_width(problem, settings) if width is None else width
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
    """What a task means for a problem: kind of basis, sampler (one for each axis of a product), numbers."""

    task: Task
    frame: Frame
    samplers: tuple[Sampler, ...]
    counts: tuple[int, ...]

    @property
    def sampler(self) -> Sampler:
        """The sampler, or that of the first axis."""
        return self.samplers[0]

    @cached_property
    def width(self) -> Width:
        """Number of neurons; of each axis of a product, if they differ."""
        widths = self._neurons
        return widths[0] if len(set(widths)) == 1 else widths

    @cached_property
    def bytes(self) -> float:
        """About how much memory a solve takes: tables of its basis, or states and values on the grid of a product."""
        return self._appetite.tables(self._neurons, self.counts)

    @property
    def _neurons(self) -> tuple[int, ...]:
        return tuple(sampler.width for sampler in self.samplers)

    @property
    def _appetite(self) -> Appetite:
        return Appetite(self.frame.product, self.frame.tensors, self.frame.steps)

    @cached_property
    def operations(self) -> float:
        """About how many floating point operations the factorisations take, and on products the first steps."""
        steps = 30  # evaluations of the right-hand side that count: so many that a second thread is used where it pays
        points, size = float(prod(self.counts)), float(prod(self._neurons))
        if not self.frame.product:
            return 2.0 * points * size**2
        small = sum(4.0 * n * sampler.width**2 for n, sampler in zip(self.counts, self.samplers, strict=True))
        return small + 4.0 * steps * points * max(self.counts)

    @cached_property
    def _allowed(self) -> float:
        """Bytes that there are, and may be used."""
        return beside_others(self.task.memory, physical_memory())

    @property
    def room(self) -> float:
        """Bytes that are left for states at the steps in time."""
        return max(0.0, self._allowed - self.bytes)

    def fits(self, widths: Sequence[int]) -> bool:
        """Whether other numbers of neurons, with points in proportion, fit the memory."""
        growth = prod(width / sampler.width for width, sampler in zip(widths, self.samplers, strict=True))
        return self.bytes * (growth if self.frame.product else growth**2) <= self._allowed

    def check_memory(self) -> None:
        """Refuse a solve that needs more memory than it may have, or than there is."""
        limit, most, allowed = self.task.memory, physical_memory(), self._allowed
        needed = self._appetite.whole(self._neurons, self.counts)
        if needed <= allowed:
            return
        given, each = self.task.settings.points, " per axis" if self.frame.product else ""
        on = "" if given is None else f" on points={given}"
        need = f"{self.width} neurons{each}{on} need about {amount(needed)} of memory"
        numbers = Numbers(self._neurons, self.counts, self.task.rules.sizing.points_more, given is not None)
        advice = numbers.fitting(self._appetite, allowed)
        if limit is not None and allowed < most:
            raise BudgetError(f"{need}, more than memory_limit={limit:g}{others_take(limit)}; {advice}.")
        raise SettingsError(f"{need}, and this machine has {amount(most)}; {advice}.")

    def fitting(self, part: float) -> str:
        """Name the width at which states take a given part of their present memory."""
        share = part ** (1.0 / len(self.samplers))
        fit = tuple(max(2, 2 * int(share * sampler.width / 2)) for sampler in self.samplers)
        return f"width={fit if len(set(fit)) > 1 else fit[0]}"

    def place_points(self, problem: Problem) -> Points:
        """Place the quadrature points evenly."""
        if self.frame.product and problem.interfaces is not None:
            return cut_grid(cast(Box, problem.domain), self.counts, self.frame.method, _cuts(problem))
        if self.frame.product:
            return even_grid(cast(Box, problem.domain), self.counts, self.frame.method)
        tensor = self.frame.method in ("gauss", "spectral", "uniform")
        n: Any = list(self.counts) if tensor else int(np.prod(self.counts))
        if tensor and len(self.counts) == 1 and problem.domain.dimension > 1:
            n = self.counts[0]
        points = None
        if problem.domain.dimension == 1 and problem.interfaces is not None:
            points = points_on_parts(problem, int(np.prod(self.counts)))
        elif problem.domain.dimension > 1 and self.frame.method == "gauss":
            points = cut_points(problem, int(np.prod(self.counts)))
        if points is None:
            points = problem.domain.sample(n, self.frame.method, self.task.seed)
            points = points if problem.interfaces is None else with_small_parts(problem, points)
        if not self.task.settings.quadrature:
            points = points.equally_weighted()
        if problem.domain.dimension <= self.task.rules.sizing.dimensions:
            return points
        # the unit ball of R¹⁰⁰ has a volume of 1e-40: norms are means there, lest tolerances lose their meaning
        return replace(points, weights=points.weights / points.weights.sum())

    def product_spaces(self, problem: Problem, cloud: Points, window: int = 0) -> list[Space]:
        """Sample the layers of all axes of a product and put the linear layers on them, for each group of fields.

        Each window of time draws its own neurons.
        """
        task = self.task
        if window == 0:
            own = cast(tuple[Sines, ...], self.samplers)
            layers = [even_layer(s, cloud.along(i), int(task.seed)) for i, s in enumerate(own)]
            return build_product_spaces(problem, layers, cloud, self._product_cutoff())
        seeds = np.random.SeedSequence((task.seed, window))
        rngs = [np.random.default_rng(s) for s in seeds.spawn(len(self.samplers))]
        layers = [s.sample(cloud.along(i), g) for i, (s, g) in enumerate(zip(self.samplers, rngs, strict=True))]
        return build_product_spaces(problem, layers, cloud, self._product_cutoff())

    def _product_cutoff(self) -> float:
        """Return the cut-off on each axis of a product: the rank is what costs, so no finer than the accuracy needs."""
        share = 1e-4  # of the tolerance
        least = 1e-12  # cut-off
        most = 1e-9  # cut-off
        usual = 1e-11  # cut-off if nothing is asked for
        given, rules, asked = self.task.settings.cutoff, self.task.rules.cutoff, self.task.tolerances.solution
        if given != "auto":
            assert isinstance(given, float | int)
            return given
        # graded neurons of tanh have functions of small singular values that carry round-off alone
        finest = rules.nonlinear if any(hasattr(sampler, "graded") for sampler in self.samplers) else 0.0
        if asked is None:
            return max(finest, usual)
        return max(finest, float(np.clip(share * asked, least, most)))


@lru_cache(maxsize=256)
def _sines(width: int, period: float | None) -> Sines:
    return Sines(width, period=period)


def make_plan(problem: Problem, task: Task, width: Width | None = None, follows: bool = True) -> Plan:
    """Choose kind of basis, width and points where the settings leave them open.

    Without ``follows`` the basis is renewed only if the settings ask for it.
    """
    frame = Frame.of(problem, task.settings, width, follows)
    samplers = frame.samplers(problem, task.settings, width)
    return Plan(task, frame, samplers, _counts(problem, task.settings, samplers, frame.product))


@remembered
def _axes(problem: Problem) -> tuple[tuple[float, bool], ...]:
    """Return length of each axis of a box, and whether it is periodic."""
    return tuple(zip(map(float, problem.domain.lengths), problem.domain.periodic, strict=True))


def _widths(problem: Problem, settings: Settings, width: Width | None) -> tuple[int, ...]:
    """Return the number of neurons of each axis; they come in pairs."""
    d = problem.domain.dimension
    width = settings.rules.sizing.box[d - 2] if width is None else width
    widths = width if isinstance(width, tuple) else (width,) * d
    if len(widths) != d:
        raise SettingsError(f"width={width} needs one number for each of the {d} axes, or one for all of them.")
    for n in widths:
        check_width(n)
    return tuple(n + n % 2 for n in widths)


def _default_width(problem: Problem, settings: Settings) -> int:
    """Return the number of neurons if the user leaves it open.

    Round-off in a derivative of order p grows like (slope of the neurons)^p, and so with the width. Linear equations
    of third and fourth order are more accurate with fewer, flatter neurons; nonlinear ones need them for detail.
    """
    flatter = 80  # neurons, for less round-off in high derivatives
    usual = 200  # neurons
    rules, d = settings.rules.sizing, problem.domain.dimension
    if d > 1:
        return rules.shape
    high_order = max(problem.spatial_order(name) for name in problem.fields) > 2
    return flatter if high_order and problem.is_linear else usual


def _counts(problem: Problem, settings: Settings, samplers: tuple[Sampler, ...], product: bool) -> tuple[int, ...]:
    per_neuron = 1.25  # points, which integrate products of two sines to round-off, with a few more
    more_in_many = 4  # where round-off is far
    cycles_of_data = 1.2  # so that data are not aliased; those of squares are more
    on_shapes = 4.0  # points per neuron
    rules, d, given = settings.rules.sizing, problem.domain.dimension, settings.points
    if isinstance(given, tuple | list):
        return tuple(int(n) for n in given)
    if given is not None:
        return (int(given),) * d if product else (int(given),)
    if product:
        cycles = cycles_of_data if has_constant_coefficients(problem) else rules.points_on_cycles
        more = rules.points_more if d <= rules.dimensions else more_in_many
        if d == 1 and problem.domain.periodic[0]:  # values come from fast transforms
            return (next_fast_len(int(cycles * (samplers[0].width + 1))),)
        return tuple(
            (1 + len(cuts))
            * (int(cycles * (sampler.width + 1)) if periodic else int(per_neuron * sampler.width) + more)
            for sampler, (_, periodic), cuts in zip(samplers, _axes(problem), _cuts(problem), strict=True)
        )
    each = rules.points_on_lines if d == 1 else on_shapes
    return (int(each * samplers[0].width * count_of_parts(problem)),)


@remembered
def has_constant_coefficients(problem: Problem) -> bool:
    """Whether all equations are linear with numbers as coefficients."""
    return problem.is_linear and not any(
        e.linear_in_time or any(c.free_symbols or c.atoms(AppliedUndef) for c in e.linear.values())
        for e in problem.equations
    )


def _cuts(problem: Problem) -> tuple[tuple[Cut, ...], ...]:
    """Return the places along each axis of a box at which coefficients jump."""
    return axis_cuts(problem, problem.fields[0]) or ((),) * problem.domain.dimension


def _renewal(problem: Problem, windows: int | str | Windows | None, product: bool) -> Renewal:
    """Return how the basis is renewed: by given rules, where it helps ("auto"), or not at all."""
    if windows is None or windows == "auto":
        return windows  # type: ignore[return-value]
    if isinstance(windows, str) and windows != "adaptive":
        raise SettingsError(f"unknown windows '{windows}'; write a number, 'adaptive', 'auto', None or Windows(…).")
    if not isinstance(windows, Windows):
        windows = Windows() if isinstance(windows, str) else Windows(windows)
    if windows.count == 1:
        return None
    if problem.domain.dimension > 1 and not product:
        raise SettingsError(
            "windows, in which the basis follows the solution, need an interval, or a product of networks: a box in "
            "two or three dimensions with conditions of constant coefficients along their own axis, and sampler, "
            "boundary, cutoff and point_method as they are by default. Write windows=None, or leave those settings out."
        )
    return windows


def check_points(n: int, width: int, settings: Settings) -> None:
    """Refuse fewer points than neurons where these are not put in order, and warn of them elsewhere."""
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


# ---- memory --------------------------------------------------------------------------------------------------------


_SHRINK = 0.95  # factor from one size that is tried to the next


@dataclass(frozen=True)
class Appetite:
    """What a kind of basis needs: whether it is a product, how many tensors are a state, and at how many steps."""

    product: bool
    tensors: int
    steps: int

    def tables(self, widths: Sequence[float], counts: Sequence[float]) -> float:
        """Return the bytes of the tables of a basis, or of the states and values on the grid of a product."""
        copies = 12.0  # of a state and of values at the points that a solve on a product holds
        each = 48.0  # bytes of a number in a table of the basis, with its copies
        if not self.product:
            return each * prod(counts) * prod(widths)
        tables = sum(n * width for n, width in zip(counts, widths, strict=True))
        return 8.0 * copies * self.tensors * (prod(counts) + 2 * prod(widths)) + each * tables

    def whole(self, widths: Sequence[float], counts: Sequence[float]) -> float:
        """Return the same with the states that are kept at the fewest steps."""
        kept = 16.0 * self.tensors * self.steps * prod(widths) if self.product else 0.0
        return self.tables(widths, counts) + kept


@dataclass(frozen=True)
class Numbers:
    """Numbers of neurons and of points of a plan.

    Attributes
    ----------
    more
        Points of each axis that do not become fewer with its neurons.
    given
        Whether the points are the user's choice, and not the program's by the neurons.
    """

    widths: tuple[int, ...]
    counts: tuple[int, ...]
    more: int
    given: bool

    def fitting(self, appetite: Appetite, allowed: float) -> str:
        """Say which settings would fit into some bytes.

        The longest axes become shorter first: few neurons on an axis are a choice, and would not free much. Points that
        were given become fewer before neurons do, as long as there are enough of them.
        """
        if self.given and (counts := self._fewer_points(appetite, allowed)) is not None:
            return f"points={_told(counts)} would fit"
        most = float(max(self.widths))
        while most >= 2.0:
            widths = [min(float(n), most) for n in self.widths]
            if appetite.whole(widths, self._points_of(widths)) <= allowed:
                fit = tuple(max(2, 2 * int(n / 2)) for n in widths)
                points = f", points={_told(tuple(map(int, self._points_of(fit))))}" if self.given else ""
                return f"width={_told(fit)}{points} would fit"
            most *= _SHRINK
        return "no width would fit"

    def _points_of(self, widths: Sequence[float]) -> list[float]:
        """Return about how many points belong to other numbers of neurons."""
        if self.given:
            parts = zip(self.counts, _spread(widths, len(self.counts)), strict=True)
            return [min(float(n), 2.0 * width + self.more) for n, width in parts]
        if len(self.counts) != len(widths):
            return [n * min(widths) / min(self.widths) for n in self.counts]
        shares = [new / old for new, old in zip(widths, self.widths, strict=True)]
        return [n * share + (0 if share == 1.0 else self.more) for n, share in zip(self.counts, shares, strict=True)]

    def _fewer_points(self, appetite: Appetite, allowed: float) -> tuple[int, ...] | None:
        """Return fewer points that fit, if they are still twice as many as the neurons."""
        most = float(max(self.counts))
        least = [2.0 * width for width in _spread(self.widths, len(self.counts))]
        while any(min(n, most) > fewest for n, fewest in zip(self.counts, least, strict=True)):
            counts = [min(float(n), max(most, fewest)) for n, fewest in zip(self.counts, least, strict=True)]
            if appetite.whole(self.widths, counts) <= allowed:
                return tuple(int(n) for n in counts)
            most *= _SHRINK
        return None


def _spread(widths: Sequence[float], count: int) -> list[float]:
    """Return a width for each count: of its own axis, or all neurons where these belong to no axis."""
    return [*widths] if len(widths) == count else [float(prod(widths))] * count


def _told(sizes: tuple[int, ...]) -> str:
    """Write sizes as a setting: one number if they are all the same."""
    return str(sizes if len(set(sizes)) > 1 else sizes[0])
