"""How many neurons and points a static solve has, what that costs, and where the points are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frozenpinn.assembly.collocation import BOUNDARY, Collocation, ignore_progress
from frozenpinn.assembly.parts import count_of_parts, points_on_parts, with_small_parts
from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.enrichments.features import MorePoints
from frozenpinn.errors import BudgetError, SettingsError
from frozenpinn.geometry import BoundaryPoints, Box, Points, Side
from frozenpinn.geometry.array_arguments import frozen
from frozenpinn.runtime.budget import amount, beside_others, others_take, physical_memory
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.grading import Slopes, grade, graded_points, places_at_rest
from frozenpinn.search.settings import Task, Windows
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_LEAST = 6  # points on each side


@dataclass(frozen=True)
class StaticPlan:
    """Numbers of a static solve.

    Attributes
    ----------
    width
        Neurons.
    count, boundary
        Points of the domain, and of its boundary as a whole.
    special
        Number of special functions added to the neurons.
    sites
        Where special functions need points of their own, as in thin layers; None without.
    announce
        Called before every step of Newton's method, which it may break off.
    """

    problem: Problem
    task: Task
    width: int
    count: int
    boundary: int
    special: int = 0
    sites: MorePoints | None = None
    announce: Callable[[], None] = ignore_progress

    @property
    def slopes(self) -> Slopes | None:
        """By what points and neurons on an interval are graded: narrow features of its formulas; None without."""
        settings, domain = self.task.settings, self.problem.domain
        graded = domain.dimension == 1 and not any(domain.periodic) and settings.point_method == "auto"
        if not graded or self.problem.interfaces is not None or "narrow features" in settings.without:
            return None
        places = places_at_rest(self.problem)
        return None if places is None else places[0]

    def grading(self, slopes: Slopes) -> Grading:
        """Return the grading of an interval for a network of this width."""
        return grade(slopes.places, slopes.sizes, Windows().floor, self.width)

    @property
    def _unknowns(self) -> float:
        return float(len(self.problem.fields) * (self.width + self.special))

    @property
    def _rows(self) -> float:
        return len(self.problem.fields) * (self.count + self.boundary) + self._unknowns

    @property
    def operations(self) -> float:
        """About how many floating point operations the factorisations take."""
        once = 2.0 * self._rows * self._unknowns**2
        factorisations = 4.0  # of a nonlinear solve
        return once if self.problem.is_linear else factorisations * once

    @property
    def bytes(self) -> float:
        """About how much memory a solve takes."""
        copies = 6.0 if self.problem.is_linear else 7.0  # of the rows, that solves were seen to hold at once
        return 8.0 * copies * self._rows * self._unknowns

    def check_memory(self) -> None:
        """Refuse a solve that needs more memory than it may have, or than there is."""
        limit, most = self.task.memory, physical_memory()
        allowed = beside_others(limit, most)
        if self.bytes <= allowed:
            return
        fits = int(self.width * np.sqrt(allowed / self.bytes))
        need = f"{self.width} neurons need about {amount(self.bytes)} of memory"
        if limit is not None and allowed < most:
            advice = f"width={fits} would fit" if fits > 1 else "no width would fit"
            raise BudgetError(f"{need}, more than memory_limit={limit:g}{others_take(limit)}; {advice}.")
        raise SettingsError(f"{need}, and this machine has {amount(most)}; width={fits} would fit.")

    def for_pilots(self) -> StaticPlan:
        """Return the plan of pilots that compare kinds of features."""
        rules = self.task.rules.static
        return self.narrower(rules.pilot, rules.pilot_least, rules.pilot_most)

    def narrower(self, share: float, least: int, most: int) -> StaticPlan:
        """Return the plan of a narrower network."""
        width = int(np.clip(share * self.width, min(least, self.width), most))
        count = max(int(self.count * width / self.width), 2)
        boundary = boundary_count(self.problem, count)
        return StaticPlan(self.problem, self.task, width, count, boundary, announce=self.announce)

    def with_special(self, special: int, sites: MorePoints | None = None) -> StaticPlan:
        """Return the plan with special functions added to the neurons, and points for them, in layers if given."""
        if sites is not None:
            return replace(self, special=special, sites=sites)
        if special == self.special:
            return self
        settings, rules = self.task.settings, self.task.rules.static
        count = self.count + int(rules.points * (special - self.special)) if settings.points is None else self.count
        boundary = settings.boundary_points or boundary_count(self.problem, count)
        return replace(self, count=count, boundary=boundary, special=special)

    def place_points(self) -> Points:
        """Place the points of the domain: Gauss points up to two dimensions and on boxes, quasi-random ones beyond."""
        domain, method = self.problem.domain, self.task.settings.point_method
        if method == "auto":
            tensor = domain.dimension <= 2 or (isinstance(domain, Box) and domain.dimension == 3)
            method = "gauss" if tensor else "sobol"
        n: Any = self.count
        if isinstance(domain, Box) and method in ("gauss", "uniform", "spectral"):
            n = [*_per_axis(domain, self.count)]
        points, slopes = points_on_parts(self.problem, self.count), self.slopes
        if slopes is not None:
            points = graded_points(self.grading(slopes), self.count, "gauss", np.random.default_rng(self.task.seed))
        points = with_small_parts(self.problem, domain.sample(n, method, self.task.seed)) if points is None else points
        if not self.task.settings.quadrature:
            points = points.equally_weighted()
        if self.sites is not None:
            rules, rng = self.task.rules.static, np.random.default_rng(self.task.seed)
            points = self.sites.with_points(points, int(rules.points * self.special), self.problem, rng)
        return replace(points, x=frozen(points.x))  # at which layers remember their neurons

    def place_boundary(self) -> dict[str, BoundaryPoints]:
        """Place points on the sides that have conditions, as many as their measure asks for."""
        domain = self.problem.domain
        least = 48 if self.special else _LEAST  # special functions oscillate around a hole
        method = "gauss" if domain.dimension <= 3 else "sobol"
        measures = side_measures(self.problem)
        total, placed = sum(measures.values()) or 1.0, {}
        for side in _sides(self.problem).values():
            if side.name not in placed:
                n = 1 if domain.dimension == 1 else max(least, round(self.boundary * measures[side.name] / total))
                own = domain.sample_side(side, n, method, self.task.seed)
                placed[side.name] = own if self.sites is None else self.sites.with_boundary(own, self.problem)
        return placed

    def collocation(self, hidden: HiddenLayer, points: Points, mixing: Array | None = None) -> Collocation:
        """Return the rows of a solve with a hidden layer."""
        per_side = (
            max(8, self.boundary // (2 * self.problem.domain.dimension)) if any(self.problem.domain.periodic) else 0
        )
        placed = self.place_boundary()
        sides = tuple((condition, placed[condition.side.name]) for condition in self.problem.conditions)
        laws = tuple((law, placed[law.side.name]) for law in self.problem.laws)
        return Collocation(self.problem, hidden, points, sides, per_side, BOUNDARY, mixing, self.announce, laws)


def static_plan(problem: Problem, task: Task) -> StaticPlan:
    """Return the numbers of a solve: the user's, or what the effort asks for."""
    settings, rules = task.settings, task.rules.static
    _refuse_settings_in_time(task)
    index = min(problem.domain.dimension, 4) - 1
    if settings.width is not None:
        width = settings.width
        if isinstance(width, tuple):  # a product: pilots get about as many neurons of other kinds as match it
            width = rules.alike(width)
    elif not isinstance(settings.sampler, str | None):
        width = settings.sampler.width
    else:
        first = rules.usual if task.tolerances.solution is None else rules.first
        width = round(task.effort * first[index])
    count = settings.points if settings.points is not None else int(rules.points * width * count_of_parts(problem)) + 8
    count = int(np.prod(count))
    boundary = settings.boundary_points or boundary_count(problem, count)
    return StaticPlan(problem, task, width, count, boundary)


def _refuse_settings_in_time(task: Task) -> None:
    settings = task.settings
    given = {
        "integrator": settings.integrator is not None,
        "rtol": settings.rtol is not None,
        "windows": settings.windows not in ("auto", None, 1),
        "boundary": settings.boundary is not None,
        "rcond": settings.rcond is not None,
    }
    for name, is_given in given.items():
        if is_given:
            raise SettingsError(
                f"Settings({name}=…) is for time-dependent problems; a static one is solved by least squares, with its "
                "conditions as rows. Leave it out."
            )


def boundary_count(problem: Problem, count: int) -> int:
    """Return how many points the whole boundary gets: about as dense as those inside, or denser."""
    domain = problem.domain
    d = domain.dimension
    if d == 1 or not domain.sides:
        return 2
    spacing = (
        (domain.measure / count) ** (1.0 / d)
        if d <= 3
        else float(np.exp(np.mean(np.log(domain.lengths)))) * count ** (-1.0 / d)
    )
    dense = 1.8  # points, in units of what the spacing inside would give
    wanted = dense * sum(side_measures(problem).values()) / spacing ** (d - 1) if d <= 3 else np.inf
    most = 1.2  # points of the boundary, as a multiple of those inside
    return int(np.clip(wanted, _LEAST * len(domain.sides), most * count))


def _sides(problem: Problem) -> dict[str, Side]:
    """Return the sides that have conditions, linear ones first."""
    return {part.side.name: part.side for part in problem.conditions} | {
        law.side.name: law.side for law in problem.laws
    }


@remembered
def side_measures(problem: Problem) -> dict[str, float]:
    """Return the measure of each side that has a condition."""
    sides = _sides(problem)
    domain = problem.domain
    method = "gauss" if domain.dimension <= 3 else "sobol"
    return {name: float(np.sum(domain.sample_side(side, 8, method, 0).weights)) for name, side in sides.items()}


def _per_axis(domain: Box, count: int) -> list[int]:
    """Return how many Gauss points each axis of a box gets: nearly square cells, about ``count`` in all."""
    lengths = np.asarray(domain.lengths, dtype=float)
    cell = (float(np.prod(lengths)) / count) ** (1.0 / domain.dimension)
    return [max(4, round(float(length) / cell)) for length in lengths]
