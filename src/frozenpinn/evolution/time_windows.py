"""From the first basis to the end of time: one system after another, each with its own basis.

A frozen basis is good for as long as the solution stays as smooth as the basis is fine. The functions are ordered from
smooth to rough by the SVD layer, so the last tenth of the coefficients shows when that ends: a :class:`Watch` asks the
integrator to stop there. The solution at that moment gives a grading of the interval, or of each axis of a box, by
which new points and neurons are placed (grading.py); the solution is projected onto the new basis and goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.initial_data import Stage
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.corners import SingularFunctions
from frozenpinn.basis.samplers import adapted
from frozenpinn.basis.special import parts_of
from frozenpinn.errors import IntegrationError, ResolutionWarning, warn
from frozenpinn.evolution.grading import falls_between, initial_slopes, place
from frozenpinn.evolution.integrator_choice import choose_integrator
from frozenpinn.evolution.moving import frame_for, handed_over, slopes_at
from frozenpinn.evolution.narrow_features import PartOfTime, conditions_switch, narrow_places, parts_of_time
from frozenpinn.evolution.resolution import Watch
from frozenpinn.evolution.spaces import build_spaces
from frozenpinn.evolution.stability import stable_discretisation
from frozenpinn.evolution.window_transfer import continued, projection_loss, state_slopes, with_errors
from frozenpinn.integrators import CVODE, Integrator, Observer, SciPy, Trajectory
from frozenpinn.integrators.protocol import typical_size
from frozenpinn.results.expansion import Piece
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.search.grading import Slopes
from frozenpinn.search.settings import Windows
from frozenpinn.search.sizing import Plan, Renewal
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.moving_frame import MovingFrame

Array = np.ndarray


class March:
    """Solves a problem window by window; most problems need one."""

    def __init__(self, problem: Problem, plan: Plan, watch: Stopwatch) -> None:
        visible = 1e-3  # a share of the solution beyond which nothing of it can be trusted
        self.problem, self.plan, self.watch = problem, plan, watch
        self.rules, self.tolerances = plan.task.rules.windows, plan.task.tolerances
        self.pieces: list[Piece] = []
        self.system: Discretisation | None = None  #: the last one that was integrated
        self._widths = self._first = tuple(sampler.width for sampler in plan.samplers)
        self._built = 0
        self._later: list[PartOfTime] = []
        self._switches = False
        self._short = self._tiny = 0
        self.threshold = self.tolerances.windows
        self._given_up: float | None = None
        self._tolerated = visible
        self._size: float | None = None
        self._frame: MovingFrame | None = None  # the coordinates of this window
        self._seen = problem  # the problem in the coordinates of this window
        self._without = plan.task.settings.without
        self._decisions: list[Decision] = []

    def run(self) -> Solution:
        """March from start to end."""
        parts = (PartOfTime(self.problem.time),) if "breaks in time" in self._without else parts_of_time(self.problem)
        first, *self._later = parts
        if self._later:
            self._note("breaks in time", f"formulas change at {len(self._later)} times, at which steps end")
        self._switches = bool(self._later) or conditions_switch(self.problem)
        stage = Stage.whole(self.problem)._replace(time=first.time, shortest=first.shortest)
        renewal = self.plan.frame.renewal
        if isinstance(renewal, Windows) and renewal.count is not None:
            self._fixed(stage, renewal)
        else:
            windows = self._windows(renewal)
            system, loss = self._first_basis(stage)
            if self._later:
                self._size = self._largest(system)
            if windows is None:
                self._to_the_end(system, loss)
            else:
                self._adaptive(system, windows, loss)
        return self._solution(self.problem)

    def _first_basis(self, stage: Stage) -> tuple[Discretisation, float]:
        """Build the first basis: by the formulas of the problem if they have narrow places, else evenly."""
        slopes = narrow_places(self.problem)
        if slopes is None or not self._can_be_graded or "narrow features" in self._without:
            return self._even(stage), 0.0
        self._note("narrow features", "formulas are narrow in places, where points and neurons lie")
        return self._graded(stage, slopes, Windows())

    def _largest(self, system: Discretisation) -> float:
        """Return a magnitude of the state over all parts of the time: what drives it may come late."""
        y = system.initial_state
        later = [continued(system, y, part.time, part.shortest) for part in self._later]
        return max(map(typical_size, [system, *later]))

    def _to_the_end(self, system: Discretisation, loss: float) -> None:
        """Keep one basis; steps end where formulas change."""
        trajectory = self._integrate(system, loss)
        for part in self._later:
            t = part.time[0]
            system = continued(system, trajectory(np.array([t]))[0], part.time, part.shortest)
            trajectory = self._integrate(system, 0.0)

    @property
    def _can_be_graded(self) -> bool:
        """Whether points and neurons can be placed by where something happens."""
        settings, frame = self.plan.task.settings, self.plan.frame
        line = self.problem.domain.dimension == 1 and hasattr(self.plan.sampler, "graded") and frame.method == "gauss"
        suits = line or (frame.product and not any(self.problem.domain.periodic))
        return suits and frame.strategy.renewable and settings.cutoff is not None and settings.points is None

    def _windows(self, renewal: Renewal) -> Windows | None:
        """Return how to follow the solution; None where one basis is kept."""
        if isinstance(renewal, Windows):
            return renewal
        settings, frame = self.plan.task.settings, self.plan.frame
        line = self.problem.domain.dimension == 1 and hasattr(self.plan.sampler, "graded") and frame.method == "gauss"
        suits = (
            renewal == "auto"
            and (line or frame.product)
            and frame.strategy.renewable
            and settings.cutoff is not None
            and isinstance(settings.integrator, str | None)  # others may not stop when asked to
        )
        return Windows() if suits and not self.problem.is_linear else None

    # ---- windows ------------------------------------------------------------------------------------

    def _fixed(self, stage: Stage, windows: Windows) -> None:
        """Renew the basis at equal distances in time."""
        assert windows.count is not None
        edges = np.linspace(*self.problem.time, windows.count + 1)
        if conditions_switch(self.problem):
            edges = np.union1d(edges, [part.time[0] for part in self._later])
        slopes = initial_slopes(self.problem)
        for a, b in pairwise(edges):
            system, loss = self._graded(stage._replace(time=(float(a), float(b))), slopes, windows)
            trajectory = self._integrate(system, loss)
            y = trajectory(np.array([b]))[0]
            slopes, stage = state_slopes(system, y, float(b)), handed_over(system, y, float(b), float(b), None)

    def _adaptive(self, system: Discretisation, windows: Windows, loss: float = 0.0) -> None:
        """Renew the basis whenever it stops resolving the solution."""
        if windows.threshold is not None:
            self.threshold = windows.threshold
        self._size = self._size or typical_size(system)
        even = system
        missed = falls_between(system)
        steep = missed or self._look(system).first > self.threshold
        if steep and "initial slopes" not in self._without:
            self._note("initial slopes", "evenly spread neurons do not resolve the initial data")
            graded = self._renewed(system.stage, initial_slopes(self.problem), windows)
            system, loss = graded if missed else self._better(system, graded)
            rough = self.rules.slack * self._misfit(system, loss)  # rough data stay rough
            self._tolerated = max(self._tolerated, rough)
        while True:
            watch = self._look(system)
            trajectory = self._integrate(system, loss, watch)
            t = watch.until(trajectory, system.time[0])
            end, shortest = self._later[0].time[0] if self._later else self.problem.time[1], system.shortest
            if t >= end - 1e-10 * (end - self.problem.time[0]):
                if not self._later:
                    break
                if self._frame is None:
                    system, loss = self._next_part(system, trajectory(np.array([end]))[0], windows)
                    continue
                (_, end), shortest = self._later.pop(0)
            self.pieces[-1] = replace(self.pieces[-1], end=t)
            if self._is_hopeless(even, system):
                system, loss = self._restart(even), 0.0
                continue
            y = trajectory(np.array([t]))[0]
            self._judge(watch.shares(y), t, windows)
            stage = handed_over(system, y, t, end, self._frame)._replace(shortest=shortest)
            slopes = slopes_at(system, y, t, self._frame)
            system, loss = self._renewed(self._followed(stage, system, y), slopes, windows)
            self._lower_expectations(self._misfit(system, loss), t)
        self._tell()

    def _followed(self, stage: Stage, system: Discretisation, y: Array) -> Stage:
        """Take coordinates that move with thin fronts, for as long as they are good, or those of the problem."""
        t, end = stage.time
        wanted = self.plan.task.settings.integrator is None and "moving coordinates" not in self._without
        self._frame = frame_for(self.problem, system, y, t, self._frame) if wanted else None
        self._seen = self.problem if self._frame is None else self._frame.seen(self.problem)
        if self._frame is not None:
            self._note("moving coordinates", "a front is thin and travels many times its width")
        return stage if self._frame is None else stage._replace(time=(t, min(end, t + self._frame.longest)))

    def _next_part(self, system: Discretisation, y: Array, windows: Windows) -> tuple[Discretisation, float]:
        """Go on after formulas have changed; where boundary data have jumped, perhaps with another basis."""
        part = self._later.pop(0)
        after, loss = continued(system, y, part.time, part.shortest), 0.0
        if after.stage.state is None and self._look(after).first > self.threshold:
            slopes = state_slopes(system, y, part.time[0])
            graded = self._renewed(after.stage, slopes, windows)
            after, loss = self._better(after, graded)
            self._tolerated = max(self._tolerated, self.rules.slack * self._misfit(after, loss))
        return after, loss

    def _is_hopeless(self, even: Discretisation, system: Discretisation) -> bool:
        """Whether a corner of the initial data was resolved for nothing: waves carry it away at once."""
        start, end = self.problem.time
        short = len(self.pieces) == 1 and self.pieces[0].end - start < self.rules.short * (end - start)
        smooths = system.linear.structure == "symmetric" and system.linear.order == 1  # diffusion rounds corners off
        return short and not smooths and system is not even and not falls_between(even)

    def _restart(self, even: Discretisation) -> Discretisation:
        """Begin again with the first basis, and with the accuracy that it has for such data."""
        self.pieces.clear()
        self._widths = self._first
        self._given_up = self.problem.time[0]
        self._note("first basis again", "waves carry a corner of the initial data away at once")
        self.threshold = self.rules.slack * self._look(even).first
        return even

    def _judge(self, shares: tuple[float, ...], t: float, windows: Windows) -> None:
        """Widen the network if windows get too short; then accept less accuracy; then give up."""
        tiny = 1e-5  # part of the whole time; three windows in a row that are shorter never help
        most = 80  # windows: if there would be more, a lower accuracy makes them longer
        hasty = 1e-5  # threshold up to which the accuracy is lowered because windows are many
        start, end = self.problem.time
        length = self.pieces[-1].end - self.pieces[-1].start
        self._short = self._short + 1 if length < self.rules.short * (end - start) else 0
        self._tiny = self._tiny + 1 if length < tiny * (end - start) else 0
        if self._tiny >= 3:
            raise self._failure(max(shares), t)
        count = len(self.pieces)
        many = count % 8 == 0 and count * (end - start) > most * (t - start)
        if many and self.threshold < hasty:
            self._given_up = t if self._given_up is None else self._given_up
            self.threshold *= self.rules.looser
        if self._short < 2:
            return
        self._short = 0
        wider = self._wider(windows, shares)
        if wider != self._widths:
            self._note("wider windows", "windows got short")
            self._widths = wider
            return
        if self._given_up is None:
            self._given_up = t
        self.threshold *= self.rules.much_looser
        if self.threshold > self._tolerated:
            raise self._failure(max(shares), t)

    def _wider(self, windows: Windows, shares: Sequence[float], at_once: bool = False) -> tuple[int, ...]:
        """Return more neurons for the axes whose finest functions carry most of what is not resolved.

        ``at_once`` leaves an axis that can't grow by all of a step.
        """
        lacking = 0.1  # share of the finest functions of an axis, relative to the largest, above which it grows
        growth = 1.5
        grown = []
        for width, first, share in zip(self._widths, self._first, shares, strict=True):
            more, widest = growth * width, windows.widest * first
            grows = share >= lacking * max(shares) and not (at_once and more > widest)
            grown.append(min(int(more), int(widest)) if grows else width)
        return tuple(grown) if self.plan.fits(grown) else self._widths

    def _lower_expectations(self, misfit: float, t: float) -> None:
        """Accept a basis that can't take over the solution as accurately as asked; give up if it is far from it."""
        if misfit <= self.rules.looser * self.threshold:
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
        return IntegrationError(
            f"the computation stopped at t = {t:.6g} (of {self.problem.time[1]:g}): {cause}. Although "
            f"{listed(self._widths)} neurons were placed by its slope, the finest tenth of the basis carries "
            f"{share:.2g} of the solution. Add viscosity, or try a shorter time, a larger width or a larger tol. What "
            "was found so far is the error's 'solution'.",
            time=t,
            trajectory=last.trajectory,
        )

    def _tell(self) -> None:
        harmless = 1e-6  # a share that is not worth a warning
        if self._given_up is not None:
            why = f"from t = {self._given_up:.4g} on it is {self.threshold:.1g}"
            self._note("lower accuracy of windows", why)
        if self._given_up is not None and self.threshold > max(self.rules.much_looser * self.tolerances.time, harmless):
            warn(
                f"from t = {self._given_up:.4g} on the solution is resolved only to about {self.threshold:.1g} by "
                f"{listed(self._widths)} neurons; use a larger width, or a larger tol if that is enough.",
                ResolutionWarning,
            )

    # ---- one basis ------------------------------------------------------------------------------------

    def _even(self, stage: Stage) -> Discretisation:
        """Build the first basis, which does not depend on the solution."""
        with self.watch.stage("points"):
            cloud = self.plan.place_points(self.problem)
        with self.watch.stage("hidden, boundary and SVD layer"):
            spaces = build_spaces(self.plan, self.problem, cloud)
        return self._assemble(spaces, stage)

    def _assemble(self, spaces: list[Space], stage: Stage) -> Discretisation:
        task = self.plan.task
        stable = task.settings.cutoff == "auto" and "stable cut-off" not in self._without
        automatic = task.rules.cutoff if stable else None
        if self._switches:
            spaces = [space.during(stage.time) for space in spaces]
        with self.watch.stage("operators"):
            system = stable_discretisation(self._seen, spaces, task.settings.rcond, stage, automatic)
        if automatic is not None and (kept := _sizes(system.spaces)) < (
            found := _sizes([s for s in spaces if s.order])
        ):
            self._note("stable cut-off", f"{kept} of {found} functions are kept, as others would carry round-off")
        with self.watch.stage("initial state"):
            _ = system.starts_in_products or system.initial_state
        return system

    def _renewed(self, stage: Stage, slopes: Sequence[Slopes], windows: Windows) -> tuple[Discretisation, float]:
        """Build a basis by slope; if it can't take over the solution, place it by its errors too, then widen it."""
        rounds = 8
        helps = 0.5  # part of the misfit that a further round may leave
        found = self._graded(stage, slopes, windows)
        for _ in range(rounds):
            if self._misfit(*found) <= self.threshold:
                break
            slopes = with_errors(slopes, found[0])
            better = self._graded(stage, slopes, windows)
            before = self._widths
            if self._misfit(*better) > helps * self._misfit(*found):
                shares = self._look(better[0]).shares(better[0].initial_state)
                self._widths = self._wider(windows, shares, at_once=True)
                if self._widths != before:
                    better = self._graded(stage, slopes, windows)
                    self._note("wider windows", "a new basis of the same width could not take over the solution")
            if self._misfit(*better) > helps * self._misfit(*found):
                self._widths = before
                break
            found = better
        return found

    def _look(self, system: Discretisation) -> Watch:
        """Return the watch on whether a basis resolves the solution."""
        least = self._size if self.problem.before is not None else None
        return Watch(system, self.threshold, self.rules, least or 0.0)

    def _misfit(self, system: Discretisation, loss: float) -> float:
        return max(loss, self._look(system).first)

    def _better(self, even: Discretisation, graded: tuple[Discretisation, float]) -> tuple[Discretisation, float]:
        return graded if self._misfit(*graded) < self._look(even).first else (even, 0.0)

    def _graded(self, stage: Stage, slopes: Sequence[Slopes], windows: Windows) -> tuple[Discretisation, float]:
        """Build a basis by slope; return the system and what projecting onto it has lost."""
        self._built += 1
        plan = self.plan
        rng = np.random.default_rng((plan.task.seed, self._built))
        with self.watch.stage("points"):
            placed = place(self.problem, plan, slopes, self._widths, windows.floor, rng)
        samplers, cloud, pool = placed.samplers, placed.cloud, placed.pool
        if hasattr(samplers[0], "informed"):
            known = [values((cloud if pool is None else pool).x, stage.time[0]) for values in stage.values.values()]
            samplers = (adapted(samplers[0], "informed", np.stack(known, axis=1)),)
        with self.watch.stage("hidden, boundary and SVD layer"):
            spaces = build_spaces(replace(plan, samplers=samplers), self.problem, cloud, self._built, pool)
        system = self._assemble(spaces, stage)
        with self.watch.stage("checks"):
            loss = projection_loss(system, placed.gradings)
        return system, loss

    # ---- time -----------------------------------------------------------------------------------------

    def _integrate(self, system: Discretisation, loss: float, watch: Watch | None = None) -> Trajectory:
        task, plan, (start, end) = self.plan.task, self.plan, self.problem.time
        observer = Observer(
            watch, lambda t: self.watch.reached((t - start) / (end - start)), self._size, plan.room, plan.fitting
        )
        self.system, tolerance = system, self.tolerances.steps
        with self.watch.stage("integration"):
            if self._frame is not None:  # at rest there
                stepper: Integrator = CVODE(tolerance, fallback=SciPy("radau", rtol=tolerance))
            else:
                stepper = choose_integrator(system, task.settings.integrator, tolerance, task.rules.integrators)
            try:
                trajectory = stepper.integrate(system, observer)
            except IntegrationError as error:
                if error.trajectory is not None:
                    partial = cast(Trajectory, error.trajectory)
                    self.pieces.append(Piece.of(system, partial, loss, partial.name, self._frame))
                raise
        name = label(stepper, trajectory)
        if name != stepper.name and task.settings.integrator is None:
            self._note("integrator fallback", f"{stepper.name} has handed over to {name}")
        self.pieces.append(Piece.of(system, trajectory, loss, name, self._frame))
        return trajectory

    @property
    def solution_so_far(self) -> Solution | None:
        """What was computed before a failure, as the solution of the problem on a shorter time; None if nothing was."""
        if not self.pieces:
            return None
        return self._solution(self.problem.during((self.problem.time[0], self.pieces[-1].end)))

    def _solution(self, problem: Problem) -> Solution:
        plan = self.plan
        return Solution(
            problem,
            tuple(self.pieces),
            plan.sampler.name,
            plan.width,
            plan.counts,
            plan.bytes,
            (1 + self._built) * plan.operations + sum(stepping(piece) for piece in self.pieces),
            dict(self.watch.seconds),
            provenance=plan.task,
            decisions=distinct([*self._decisions, *self._found()]),
        )

    def _note(self, name: str, reason: str) -> None:
        self._decisions.append(Decision(name, reason))

    def _found(self) -> Iterator[Decision]:
        """Yield the decisions that can be read off bases and trajectories."""
        if self.plan.frame.product:
            yield Decision("products", "conditions are along their own axes, and one width for each axis is enough")
        elif hasattr(self.plan.sampler, "rescaled") and "fitted slopes" not in self._without:
            yield Decision("fitted slopes", "some hundred neurons do not resolve detail everywhere in many dimensions")
        if self.problem.domain.dimension == 2 and any(_has_special(piece) for piece in self.pieces):
            yield Decision("corners", "gradients are unbounded at corners, or nearly so")
        if (count := len({id(piece.expansions[0].basis) for piece in self.pieces})) > 1:
            yield Decision("following basis", f"{count} bases, each placed by the solution")
        if not any(piece.trajectory.steps for piece in self.pieces):
            yield Decision("closed form", "the system is linear with constant coefficients, so time takes no steps")


def _sizes(spaces: Sequence[Space]) -> int:
    return sum(space.network.size for space in spaces)


def _has_special(piece: Piece) -> bool:
    """Whether functions of corners stand among the neurons."""
    hidden = [getattr(expansion.basis, "hidden", None) for expansion in piece.expansions]
    parts = [part for layer in hidden if layer is not None for part in parts_of(layer.singular)]
    return any(isinstance(part, SingularFunctions) for part in parts)


def listed(widths: tuple[int, ...]) -> str:
    """Write numbers of neurons, one or one per axis."""
    return " × ".join(map(str, widths))


def stepping(piece: Piece) -> float:
    """Return about how many operations the steps of a window have taken."""
    work = piece.trajectory.work
    if not (work.rhs or work.jacobians):
        return 0.0
    size = piece.layout.size
    each = sum(e.basis.flops for e in piece.expansions)  # of one map from coefficients to values
    matrices = 0 if any(e.basis.is_product for e in piece.expansions) else size * work.jacobians
    return 2.0 * each * (work.rhs + matrices)


def label(stepper: Integrator, trajectory: Trajectory) -> str:
    """Name the integrator that did the work: a fallback leaves its own name on the trajectory."""
    stepped = trajectory.name not in ("modal", "scaling-and-squaring", "hermite")
    return trajectory.name if stepped else stepper.name
