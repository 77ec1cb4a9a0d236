"""From the first basis to the end of time: one system after another, each with its own basis."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

import numpy as np

from frozenpinn.adaptivity.grading import (
    Slopes,
    Watch,
    Windows,
    continue_from,
    falls_between,
    grade,
    graded_points,
    initial_slopes,
    projection_loss,
    state_slopes,
    with_errors,
)
from frozenpinn.adaptivity.sizing import Plan, Settings, stable_system
from frozenpinn.assembly.discretisation import Stage, System
from frozenpinn.assembly.spaces import NullSpaceLayer, Space
from frozenpinn.basis.samplers import SWIM, MultiScale
from frozenpinn.errors import IntegrationError, ResolutionWarning, warn
from frozenpinn.results.solution import Piece, Solution
from frozenpinn.solvers import Integrator, Trajectory, choose_integrator
from frozenpinn.solvers.protocol import typical_size
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Progress = Callable[[str], None]

_SHORT = 2e-3  # a window shorter than this part of the whole time has hardly helped …
_TINY = 1e-5  # … and three in a row that are shorter than this never will
_HARMLESS = 1e-6  # a share that is not worth a warning
_ROUNDING = 1e-10  # how near to the end is the end
_GROWTH = 1.5  # of the number of neurons, if renewing them is not enough
_MANY = 80  # windows: if there would be more, something thin is moving fast, and less accuracy makes them longer …
_HASTY = 1e-5  # … down to this
_ROUNDS = 8  # of placing neurons where the last ones have failed
_VISIBLE = 1e-3  # a share of the solution beyond the basis from which on nothing of it can be trusted


_NOW_AND_THEN = 0.2  # seconds between two announcements of progress


@dataclass
class Stopwatch:
    """Collects the seconds of named stages, in order."""

    progress: Progress | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    _told: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block and announce it."""
        if self.progress is not None:
            self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def reached(self, share: float) -> None:
        """Announce how much of the time is integrated, now and then."""
        now = time.perf_counter()
        if self.progress is not None and now - self._told > _NOW_AND_THEN:
            self._told = now
            self.progress(f"integration, {100 * share:.0f} %")


class March:
    """Solves a problem window by window; most problems need one."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        plan: Plan,
        watch: Stopwatch,
        again: Callable[[Problem], Solution] | None = None,
    ) -> None:
        self.problem, self.settings, self.plan, self.watch = problem, settings, plan, watch
        self.pieces: list[Piece] = []
        self._again = again
        self._width = plan.sampler.width
        self._built = 0
        self._short = self._tiny = 0
        self.threshold = max(settings.rtol, 1e-12)
        self._given_up: float | None = None
        self._tolerated = _VISIBLE
        self._size: float | None = None

    def run(self) -> Solution:
        """March from start to end."""
        start, end = self.problem.time
        stage = Stage((start, end), self.problem.initial, self.problem.initial_velocity)
        windows = self.settings.windows
        if isinstance(windows, Windows) and windows.count is not None:
            self._fixed(stage, windows)
        else:
            system = self._even(stage)
            rules = self._rules(system)
            if rules is None:
                self._integrate(system, 0.0)
            else:
                self._adaptive(system, rules)
        return self._solution()

    def _rules(self, system: System) -> Windows | None:
        """Return how to follow the solution; None where one basis is kept."""
        windows = self.settings.windows
        if isinstance(windows, Windows):
            return windows
        suits = (
            windows == "auto"
            and self.problem.domain.dimension == 1
            and isinstance(self.plan.sampler, MultiScale)
            and isinstance(self.plan.strategy, NullSpaceLayer)
            and self.plan.method == "gauss"
            and self.settings.cutoff is not None
            and isinstance(self.settings.integrator, str | None)  # others may not stop when asked to
        )
        return Windows() if suits and not system.is_linear else None

    # ---- windows ------------------------------------------------------------------------------------

    def _fixed(self, stage: Stage, windows: Windows) -> None:
        """Renew the basis at equal distances in time."""
        assert windows.count is not None
        edges = np.linspace(*self.problem.time, windows.count + 1)
        slopes = initial_slopes(self.problem)
        for a, b in pairwise(edges):
            system, loss = self._graded(stage._replace(time=(float(a), float(b))), slopes, windows)
            trajectory = self._integrate(system, loss)
            y = trajectory(np.array([b]))[0]
            slopes, stage = state_slopes(system, y, float(b)), continue_from(system, y, float(b), float(b))

    def _adaptive(self, system: System, rules: Windows) -> None:
        """Renew the basis whenever it stops resolving the solution."""
        if rules.threshold is not None:
            self.threshold = rules.threshold
        self._size = typical_size(system)
        end = self.problem.time[1]
        loss, even = 0.0, system
        missed = falls_between(self.problem, system)
        if missed or Watch(system, self.threshold).first > self.threshold:
            graded = self._renewed(system.stage, initial_slopes(self.problem), rules)
            system, loss = graded if missed else self._better(system, graded)
            self._tolerated = max(self._tolerated, 3.0 * self._misfit(system, loss))  # rough data stay rough
        while True:
            system.monitor = watch = Watch(system, self.threshold)
            trajectory = self._integrate(system, loss)
            t = watch.until(trajectory, system.time[0])
            if t >= end - _ROUNDING * (end - self.problem.time[0]):
                break
            self.pieces[-1] = self.pieces[-1]._replace(end=t)
            if self._is_hopeless(even, system):
                system, loss = self._restart(even), 0.0
                continue
            y = trajectory(np.array([t]))[0]
            self._judge(watch.share(y), t, rules)
            stage, slopes = continue_from(system, y, t, end), state_slopes(system, y, t)
            system, loss = self._renewed(stage, slopes, rules)
            self._lower_expectations(self._misfit(system, loss), t)
        self._tell()

    def _is_hopeless(self, even: System, system: System) -> bool:
        """Whether a corner of the initial data was resolved for nothing: waves carry it away at once."""
        start, end = self.problem.time
        short = len(self.pieces) == 1 and self.pieces[0].end - start < _SHORT * (end - start)
        smooths = system.structure == "symmetric" and not len(system.moving)  # diffusion rounds corners off
        return short and not smooths and system is not even and not falls_between(self.problem, even)

    def _restart(self, even: System) -> System:
        """Begin again with the first basis, and with the accuracy that it has for such data."""
        self.pieces.clear()
        self._width = self.plan.sampler.width
        self._given_up = self.problem.time[0]
        self.threshold = 3.0 * Watch(even, self.threshold).first
        return even

    def _judge(self, share: float, t: float, rules: Windows) -> None:
        """Widen the network if windows get too short; then accept less accuracy; then give up."""
        start, end = self.problem.time
        length = self.pieces[-1].end - self.pieces[-1].start
        self._short = self._short + 1 if length < _SHORT * (end - start) else 0
        self._tiny = self._tiny + 1 if length < _TINY * (end - start) else 0
        if self._tiny >= 3:
            raise self._failure(share, t)
        count = len(self.pieces)
        if count % 8 == 0 and count * (end - start) > _MANY * (t - start) and self.threshold < _HASTY:
            self._given_up = t if self._given_up is None else self._given_up
            self.threshold *= 10.0
        if self._short < 2:
            return
        self._short = 0
        widest = int(rules.widest * self.plan.sampler.width)
        if self._width < widest:
            self._width = min(int(_GROWTH * self._width), widest)
            return
        if self._given_up is None:
            self._given_up = t
        self.threshold *= 100.0
        if self.threshold > self._tolerated:
            raise self._failure(share, t)

    def _lower_expectations(self, misfit: float, t: float) -> None:
        """Accept a basis that can't take over the solution as accurately as asked; give up if it is far from it."""
        if misfit <= 10.0 * self.threshold:
            return
        if misfit > self._tolerated:
            raise self._failure(misfit, t)
        if self._given_up is None:
            self._given_up = t
        self.threshold = misfit

    def _failure(self, share: float, t: float) -> IntegrationError:
        """Compose the error for a solution that no basis can follow."""
        last = self.pieces[-1]
        grown = float(np.linalg.norm(last.trajectory(np.array([t])))) / (self._size or 1.0)
        if grown > 10.0:
            cause = f"the solution grows without bound (by a factor {grown:.3g} so far) and may blow up in finite time"
        else:
            cause = "a front gets thinner and thinner, as a shock without viscosity does"
        error = IntegrationError(
            f"the computation stopped at t = {t:.6g} (of {self.problem.time[1]:g}): {cause}. Although {self._width} "
            f"neurons were placed by its slope, the finest tenth of the basis carries {share:.2g} of the solution. Add "
            "viscosity, or try a shorter time, a larger width or a larger tol. What was found so far is the error's "
            "'solution'.",
            time=t,
            trajectory=last.trajectory,
        )
        error.solution = self._until(t)
        return error

    def _tell(self) -> None:
        if self._given_up is not None and self.threshold > max(100.0 * self.settings.rtol, _HARMLESS):
            warn(
                f"from t = {self._given_up:.4g} on the solution is resolved only to about {self.threshold:.1g} by "
                f"{self._width} neurons; use a larger width, or a larger tol if that is enough.",
                ResolutionWarning,
            )

    # ---- one basis ------------------------------------------------------------------------------------

    def _even(self, stage: Stage) -> System:
        """Build the first basis, which does not look at the solution."""
        with self.watch.stage("points"):
            cloud = self.plan.place_points(self.problem, self.settings)
        with self.watch.stage("hidden, boundary and SVD layer"):
            spaces = self.plan.build_spaces(self.problem, self.settings, cloud)
        return self._assemble(spaces, stage)

    def _assemble(self, spaces: list[Space], stage: Stage) -> System:
        with self.watch.stage("operators"):
            system = stable_system(self.problem, spaces, self.settings, stage)
        with self.watch.stage("initial state"):
            _ = system.initial_state
        system.reference_size = self._size
        return system

    def _renewed(self, stage: Stage, slopes: Slopes, rules: Windows) -> tuple[System, float]:
        """Build a basis by slope; if it can't take over the solution, place it by its errors too, then widen it."""
        found = self._graded(stage, slopes, rules)
        widest = rules.widest * self.plan.sampler.width
        for _ in range(_ROUNDS):
            if self._misfit(*found) <= self.threshold:
                break
            slopes = with_errors(slopes, found[0])
            better = self._graded(stage, slopes, rules)
            before = self._width
            if self._misfit(*better) > 0.5 * self._misfit(*found) and _GROWTH * before <= widest:
                self._width = int(_GROWTH * before)
                better = self._graded(stage, slopes, rules)
            if self._misfit(*better) > 0.5 * self._misfit(*found):
                self._width = before
                break
            found = better
        return found

    def _misfit(self, system: System, loss: float) -> float:
        return max(loss, Watch(system, self.threshold).first)

    def _better(self, even: System, graded: tuple[System, float]) -> tuple[System, float]:
        return graded if self._misfit(*graded) < Watch(even, self.threshold).first else (even, 0.0)

    def _graded(self, stage: Stage, slopes: Slopes, rules: Windows) -> tuple[System, float]:
        """Build a basis by slope; return the system and what projecting onto it has lost."""
        self._built += 1
        plan = self.plan
        sampler = replace(plan.sampler, width=self._width) if self._width != plan.sampler.width else plan.sampler  # type: ignore[type-var]
        grading = grade(*slopes, rules.floor, self._width)
        if isinstance(sampler, MultiScale):
            sampler = replace(sampler, grading=grading)
        n = round(plan.counts[0] * self._width / plan.sampler.width)
        rng = np.random.default_rng((self.settings.seed, self._built))
        with self.watch.stage("points"):
            cloud = graded_points(grading, n, plan.method, rng)
            pool = getattr(sampler, "pool", None)
            many = graded_points(grading, pool, "random", rng) if pool else None
        if isinstance(sampler, SWIM) and sampler.supervised:
            x = cloud.x if many is None else many.x
            known = [stage.values[name](x, stage.time[0]) for name in self.problem.fields]
            sampler = replace(sampler, values=np.stack(known, axis=1))
        with self.watch.stage("hidden, boundary and SVD layer"):
            spaces = replace(plan, sampler=sampler).build_spaces(self.problem, self.settings, cloud, self._built, many)
        system = self._assemble(spaces, stage)
        with self.watch.stage("checks"):
            loss = projection_loss(system, grading)
        return system, loss

    # ---- time -----------------------------------------------------------------------------------------

    def _integrate(self, system: System, loss: float) -> Trajectory:
        with self.watch.stage("integration"):
            start, end = self.problem.time
            system.announce = lambda t: self.watch.reached((t - start) / (end - start))
            stepper = choose_integrator(system, self.settings.integrator, max(1e-2 * self.settings.rtol, 1e-13))
            try:
                trajectory = stepper.integrate(system)
            except IntegrationError as error:
                if error.trajectory is not None:
                    partial = cast(Trajectory, error.trajectory)
                    self._add(system, partial, partial.name, loss)
                error.solution = self._until(self.pieces[-1].end) if self.pieces else None
                raise
        self._add(system, trajectory, _label(stepper, trajectory), loss)
        return trajectory

    def _add(self, system: System, trajectory: Trajectory, label: str, loss: float) -> None:
        self.pieces.append(Piece(system, trajectory, system.time[0], trajectory.end, loss, label))

    def _until(self, t: float) -> Solution:
        """Return what was computed before a failure, as the solution of the problem on a shorter time."""
        return self._solution(self.problem.during((self.problem.time[0], t)))

    def _solution(self, problem: Problem | None = None) -> Solution:
        solution = Solution(
            self.problem if problem is None else problem,
            self.pieces,
            self.plan.sampler.name,
            self.watch.seconds,
            self._again,
        )
        plan = self.plan
        solution.width, solution.counts, solution.bytes = plan.sampler.width, plan.counts, plan.bytes
        return solution


def _label(stepper: Integrator, trajectory: Trajectory) -> str:
    """Name the integrator that did the work: a fallback leaves its own name on the trajectory."""
    stepped = trajectory.name not in ("modal", "ladder", "hermite")
    return trajectory.name if stepped else stepper.name
