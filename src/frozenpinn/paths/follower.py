"""A path of solutions from one end of a range of a parameter: steps on one network, folds refined on finer ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from frozenpinn.assembly.collocation import Combination, Function
from frozenpinn.errors import ConvergenceError
from frozenpinn.paths.continuation import (
    Bordered,
    Direction,
    Metric,
    OneParameter,
    Point,
    corrected,
    cosine,
    find_fold,
    metric_of,
    reverse,
    unit,
)
from frozenpinn.paths.path import BranchPoint, Fold, Path
from frozenpinn.results.solution import Solution
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.runtime.threads import REFLECTIONS, blas_threads
from frozenpinn.search.rules import PathRules
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem
from frozenpinn.static.families import Family, best_features, decisions_of, families
from frozenpinn.static.judging import held_out_residual
from frozenpinn.static.newton import newton
from frozenpinn.static.plan import StaticPlan, boundary_count, static_plan
from frozenpinn.static.solve import solution_of
from frozenpinn.static.start import by_homotopy, extended, read_start

Array = np.ndarray
_FIRST_STEP = 0.03  # in units of the range of the parameter and the size of the solution


@dataclass(frozen=True, eq=False)
class Station:
    """A point of a path with the network that it was found on, and what it leaves at held-out points."""

    point: Point
    network: Network
    left: float
    is_fold: bool = False


@dataclass(frozen=True, eq=False)
class Network:
    """A plan, the features that were chosen, and the bordered equations on them."""

    plan: StaticPlan
    family: Family
    bordered: Bordered

    @classmethod
    def of(cls, plan: StaticPlan, family: Family, parameter: OneParameter) -> Network:
        """Draw features and points."""
        plan = plan.with_special(family.count, family.sites)
        points = plan.place_points()
        return cls(plan, family, Bordered(plan.collocation(family.layer(plan, points), points), parameter))


class Follower:
    """Follows a path.

    Parameters
    ----------
    parameter
        The problem as a function of it.
    span
        Where the path starts and ends.
    task
        Settings, seed and start.
    tol
        Relative error asked of the values at folds.
    norm
        ``"L2"`` or ``"max"``.
    refine
        Solves the problem at a value from a start, to the tolerance.
    progress
        Notified of every step.
    """

    def __init__(
        self,
        parameter: OneParameter,
        span: tuple[float, float],
        task: Task,
        tol: float,
        norm: str,
        refine: Callable[[Problem, Any], Solution],
        progress: Callable[[str], None],
    ) -> None:
        self.parameter, self.span, self.task, self.tol, self.norm = parameter, span, task, tol, norm
        self.rules: PathRules = task.rules.static.path
        self.refine, self._told = refine, progress
        self.stations: list[Station] = []
        self.branch_points: list[BranchPoint] = []
        self._folds: list[tuple[Station, Metric]] = []
        self._renewals = 0
        self._decisions: list[Decision] = []
        method = "uniform" if parameter.problem.domain.dimension == 1 else "sobol"
        self._dense = parameter.problem.domain.sample(2000, method, 0).x if norm == "max" else np.empty(0)

    def follow(self) -> Path:
        """Return the path."""
        started = time.perf_counter()
        with blas_threads(self._plan(1.0).operations, REFLECTIONS):
            network, least = self._start()
            reason = self._march(network, least)
            stepped = time.perf_counter()
            folds = tuple(self._refined(station, metric) for station, metric in self._folds)
            return self._path(folds, reason, (stepped - started, time.perf_counter() - stepped))

    # ---- the start --------------------------------------------------------------------------------

    def _plan(self, wider: float) -> StaticPlan:
        """Return the numbers of a network for the path."""
        problem, rules = self.parameter.at(self.span[0]), self.task.rules.static
        plan = static_plan(problem, self.task)
        if not self.task.grows:
            return plan
        width = round(wider * self.rules.width[min(problem.domain.dimension, 4) - 1])
        count = plan.count if self.task.settings.points is not None else int(rules.points * width) + 8
        boundary = self.task.settings.boundary_points or boundary_count(problem, count)
        return StaticPlan(problem, self.task, width, count, boundary)

    def _start(self) -> tuple[Network, Metric]:
        """Solve at the first value; the tangent there points into the range."""
        plan, (first, last) = self._plan(1.0), self.span
        kinds = families(plan)
        network = Network.of(plan, kinds[1 % len(kinds)], self.parameter)
        bordered, span = network.bordered, abs(last - first)
        state = self._first_state(network)
        one = Metric((1.0,) * len(plan.problem.fields), 1.0)
        system = bordered.system(state, first, (0.0 * bordered.values(state), 1.0, 1.0), one)
        tangent = Direction(*bordered.solved(system, system.ahead))
        slopes, values = bordered.values(tangent.state), bordered.values(state)
        sizes = np.sqrt([np.sum(bordered.weights * v**2, axis=1) for v in (span * slopes, values)])
        largest = np.max(sizes, axis=0)
        least = Metric(tuple(float(s) if s > 1e-8 else 1.0 for s in largest), span)
        tangent = unit(bordered, tangent if tangent.rate * (last - first) > 0 else reverse(tangent), least)
        point = Point(state, first, tangent)
        self.stations.append(Station(point, network, self._left(point)))
        return network, least

    def _first_state(self, network: Network) -> Combination:
        """Return the solution at the first value: from the start that is given, the boundary data, or a homotopy."""
        collocation, rules = network.bordered.at(self.span[0]), self.task.rules.static
        problem = collocation.problem
        given = read_start(self.task.start, problem)
        try:
            if given is not None or problem.is_linear:
                return newton(collocation, given or extended(collocation, problem), rules.newton).state
            try:
                return newton(collocation, extended(collocation, problem), rules.newton).state
            except ConvergenceError:
                why = "Newton's method leads nowhere from the extension of the boundary data"
                self._decisions.append(Decision("homotopy", why))
                return by_homotopy(replace(network.plan, problem=problem), collocation).state
        except ConvergenceError as error:
            raise ConvergenceError(
                f"the path has no beginning: no solution was found at {self.parameter.name} = {self.span[0]:g}, the "
                f"start of the range. Start where there is one, or give start=. ({error})"
            ) from error

    # ---- steps ------------------------------------------------------------------------------------

    def _march(self, network: Network, least: Metric) -> str:
        """Take steps until there is a reason to stop."""
        steps, length = self.rules.steps, _FIRST_STEP
        sign = network.bordered.sign(self.stations[0].point.state, self.span[0])
        tried = fails = 0
        smallest, largest, growth = 1e-5, 0.15, 1.6  # lengths of steps, and by how much they grow at most
        turn = 0.85  # cosine of the angle between tangents below which a step is halved
        too_long = 3  # steps in a row after which features are chosen anew
        few = 3  # iterations of Newton's method after which the next step is as long as this one
        while len(self.stations) <= steps and tried < 3 * steps:
            tried += 1
            last = self.stations[-1]
            metric = metric_of(network.bordered, last.point, least)
            point = last.point._replace(direction=unit(network.bordered, last.point.direction, metric))
            self._told(f"{self.parameter.name} = {point.value:.4g}")
            try:
                found = corrected(network.bordered, point, length, metric)
                angle = cosine(network.bordered, found.direction, point.direction, metric)
            except ConvergenceError:
                angle = -1.0
            if angle < turn:
                length, fails = length / 2.0, fails + 1
                if fails == too_long:
                    network, sign = self._renewed(network, sign, forced=True)
                if length < smallest:
                    return f"steps collapse at {self.parameter.name} = {point.value:.6g}: no path is found beyond"
                continue
            fails = 0
            sign = self._arrive(network, point, found, length, metric, sign)
            reason = self._reason_to_stop(network)
            if reason is not None:
                return reason
            length *= float(np.clip(few / found.iterations, 0.5, growth))
            length = min(length, largest)
            network, sign = self._renewed(network, sign)
        return f"{steps} steps are taken; allow more of them by steps="

    def _arrive(
        self, network: Network, point: Point, found: Point, length: float, metric: Metric, sign: float
    ) -> float:
        """Keep a point, and what lies between it and the one before; return the sign of the determinant."""
        turned = found.direction.rate * point.direction.rate < 0
        if turned and self._inside(found.value):
            try:
                fold = find_fold(network.bordered, point, (0.0, length), metric)
            except ConvergenceError:
                fold = found
            station = Station(fold, network, self._left(fold), is_fold=True)
            self._folds.append((station, metric))
            self.stations.append(station)
        self.stations.append(Station(found, network, self._left(found)))
        own = network.bordered.sign(found.state, found.value)
        if own * sign * (-1.0 if turned else 1.0) < 0:
            self.branch_points.append(BranchPoint((point.value, found.value), self._size(network, found)))
        return own

    def _inside(self, value: float) -> bool:
        low, high = sorted(self.span)
        return low <= value <= high

    def _left(self, point: Point) -> float:
        return held_out_residual(self.parameter.at(point.value), point.state)

    def _reason_to_stop(self, network: Network) -> str | None:
        """Return why the path ends here, if so; a point beyond the range is replaced by one at its end."""
        last, name = self.stations[-1], self.parameter.name
        lost = 0.1  # part of the equations beyond which a solution is not resolved
        if last.left > lost:
            self.stations.pop()
            return (
                f"the network does not resolve the solution any more at {name} = {last.point.value:.6g}: what is left "
                f"of the equations is {last.left:.2g} of their terms. A larger width follows it further"
            )
        if not self._inside(last.point.value):
            end = float(min(max(last.point.value, min(self.span)), max(self.span)))
            self._end_at(network, end)
            return f"it reaches {name} = {end:g}" if end == self.span[1] else f"it comes back to {name} = {end:g}"
        loop = 8  # points before a path can be closed
        if len(self.stations) > loop and self._is_closed(network):
            return "it is closed: it comes back to its beginning"
        last_few, settled = 8, 1e-3  # the parameter has settled if it moves over less of the range in so many steps
        few = [s.point.value for s in self.stations[-last_few:]]
        moved = max(few) - min(few)
        turns = any(s.is_fold for s in self.stations[-last_few:])
        if len(few) == last_few and moved < settled * abs(self.span[1] - self.span[0]) and not turns:
            return f"{name} settles at {few[-1]:.4g}, while the solution goes on changing"
        return None

    def _end_at(self, network: Network, value: float) -> None:
        """Replace the last point by one at the end of the range."""
        last = self.stations.pop()
        collocation = network.bordered.at(value)
        state = newton(collocation, last.point.state, self.task.rules.static.newton).state
        point = Point(state, value, last.point.direction)
        self.stations.append(Station(point, network, self._left(point)))

    def _is_closed(self, network: Network) -> bool:
        (first, second), last = self.stations[:2], self.stations[-1].point
        bordered = network.bordered
        ends = [bordered.values(s.state) for s in (first.point, second.point, last)]
        step = np.linalg.norm(ends[1] - ends[0]) + 1e-300
        scale = abs(second.point.value - first.point.value) + 1e-300
        near = np.linalg.norm(ends[2] - ends[0]) < step and abs(last.value - first.point.value) < scale
        return bool(near and last.direction.rate * first.point.direction.rate > 0)

    # ---- networks ---------------------------------------------------------------------------------

    def _renewed(self, network: Network, sign: float, forced: bool = False) -> tuple[Network, float]:
        """Choose the features anew where the solution has changed its character, and more of them."""
        station, count = self.stations[-1], len(self.stations)
        before = min((s.left for s in self.stations[1:] if s.network is network), default=np.inf)
        settle = 4  # points after which features are chosen by pilots for the first time
        enough = 1e-5  # part of the equations that may be left at held-out points
        worse = 5.0  # ratio of what is left to the least on this network beyond which features are chosen anew
        due = forced or count == settle or station.left > max(worse * before, enough)
        if not due or self._renewals >= 6:
            return network, sign
        self._renewals += 1
        wider, widest = 1.0 if count == settle else 1.5, 3.0  # than the last network, and the first
        plan = self._plan(min(widest, wider * network.plan.width / self._plan(1.0).width))
        here = replace(plan, problem=self.parameter.at(station.point.value))
        pilot = best_features(here.for_pilots(), station.point.state)
        family = network.family if pilot is None else pilot.family
        new = Network.of(plan, family, self.parameter)
        if count > settle:
            where = f"{self.parameter.name} = {station.point.value:.4g}"
            self._decisions.append(Decision("renewed features", f"at {where} with {plan.width} neurons"))
        self._decisions += [] if pilot is None else decisions_of(here.problem, pilot)
        return new, new.bordered.sign(station.point.state, station.point.value)

    # ---- refinement and the end --------------------------------------------------------------------

    def _refined(self, station: Station, metric: Metric) -> Fold:
        """Find a fold again on finer networks, until two agree."""
        point, values, network = station.point, [station.point.value], station.network
        error = float("inf")
        for k, wider in enumerate((1.5, 2.0, 3.0)):  # times as many neurons as on the path
            self._told(f"fold at {self.parameter.name} = {point.value:.6g}")
            task = replace(self.task, seed=self.task.seed + 1 + k)
            plan = replace(self._plan(wider * station.network.plan.width / self._plan(1.0).width), task=task)
            finer = Network.of(plan, station.network.family, self.parameter)
            try:
                point = find_fold(finer.bordered, point, (0.0, _FIRST_STEP / 10.0), metric)
            except ConvergenceError:
                break
            network = finer
            values.append(point.value)
            error = abs(values[-1] - values[-2])
            if error <= self.tol * abs(point.value):
                break
        return Fold(point.value, error, self._solution(point, network, self._left(point)))

    def _solution(self, point: Point, network: Network, left: float) -> Solution:
        plan = replace(network.plan, problem=problem_at(self.parameter, point.value))
        unknown = (float("inf"), float("inf"))
        facts = StaticFacts(network.family.label, left, unknown, (), f"a path in {self.parameter.name}")
        points: Any = network.bordered.collocation.points
        return solution_of(plan, point.state, points, facts)

    def _size(self, network: Network, point: Point) -> float:
        values = network.bordered.values(point.state)
        if self.norm == "max":
            problem = self.parameter.problem
            dense = point.state.jets(self._dense, [problem.jets.field(name) for name in problem.fields])
            return max(float(np.max(np.abs(v))) for v in (values, *dense))
        measure = float(np.sum(network.bordered.collocation.points.weights))
        return float(np.sqrt(measure * np.sum(network.bordered.weights * values**2)))

    def _path(self, folds: tuple[Fold, ...], reason: str, seconds: tuple[float, float]) -> Path:
        return Path(
            self.parameter.problem,
            self.parameter.name,
            np.array([s.point.value for s in self.stations]),
            np.array([self._size(s.network, s.point) for s in self.stations]),
            self.norm,
            tuple(self._solution(s.point, s.network, s.left) for s in self.stations),
            folds,
            tuple(self.branch_points),
            np.array([s.left for s in self.stations]),
            reason,
            partial(_solve_at, self.parameter, self.refine),
            dict(zip(("steps", "refinement"), seconds, strict=True)),
            distinct(self._decisions),
        )


def problem_at(parameter: OneParameter, value: float) -> Problem:
    """Return the problem with a number for the parameter, which stays no symbol; nothing is checked again."""
    return parameter.at(value).with_symbols([])


def _solve_at(
    parameter: OneParameter, refine: Callable[[Problem, Any], Solution], value: float, start: Function
) -> Solution:
    return refine(problem_at(parameter, value), start)
