"""Evolution on patches, window by window: integrate until patches do not resolve the solution, then divide anew.

The first patches resolve the initial data. The integrator stops as soon as the highest modes of all patches carry more
than their share of the tolerance; patches that do, or soon will, are quartered, and those that a patch four times as
large can do without are merged. Coefficients of patches that stay are kept; others follow by projection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from frozenpinn.assembly.hybrid_form import HybridForm
from frozenpinn.assembly.initial_data import Snapshot
from frozenpinn.assembly.patches_in_time import PatchesInTime
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.local.basis import PatchBasis
from frozenpinn.basis.local.detail import squared_sizes, tails, unresolved
from frozenpinn.basis.local.features import LocalFeatures, modes_of
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.tree import Cell, Tree
from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.evolution.narrow_features import parts_of_time
from frozenpinn.integrators import (
    HermiteTrajectory,
    Observer,
    RadauIIA,
    SciPy,
    Trajectory,
    integrator_by_name,
)
from frozenpinn.integrators.protocol import typical_size
from frozenpinn.integrators.radau import CollocationTrajectory
from frozenpinn.results.expansion import Expansion, Piece, no_data
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import beside_others, physical_memory
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.search.patch_plan import (
    Resolved,
    asked_of,
    check_memory,
    first_tree,
    foreseen,
    goal_of,
    notes_on,
    order_for,
)
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem

Array = np.ndarray
ROUNDS = 12  #: of quartering for the initial data
WINDOWS = 200  #: divisions of the domain, at most
AT_START = 0.1  #: part of the goal that the initial data may leave, so that there is room to grow
AHEAD = 0.05  #: part of the goal from which on patches are quartered when others must be
COARSE = 3e-7  #: error of a step from which on order 5 takes less time than order 9
EXPLICIT = ("dop853", "rk45", "rk23")
IDLE = 1e-4  #: part of the goal below which four patches may become one


class PatchMarch:
    """Solves a problem in time on patches."""

    def __init__(self, problem: Problem, task: Task, earlier: Resolved | None, watch: Stopwatch) -> None:
        self.problem, self.task, self.watch, self._earlier = problem, task, watch, earlier
        self.form, self.asked = HybridForm.of(problem), asked_of(task)
        self.features = LocalFeatures.draw(modes_of(order_for(task)), task.seed)
        self.first = task.effort if earlier is None else earlier.first
        self.goal = goal_of(task, self.first)
        self.pieces: list[Piece] = []
        self.finest = 0
        self._points: list[int] = []
        self._scales = np.zeros(len(problem.fields))

    def run(self) -> Resolved:
        """March from start to end."""
        with self.watch.stage("patches"), blas_threads(0.0):
            across, tree = first_tree(self.problem, self.task, self._earlier)
            system, tree = self._first(tree)
            self._scales = np.maximum(self._scales, self._driven(system))
        begun = tree
        for part in parts_of_time(self.problem):
            system = replace(system, time=part.time, shortest=part.shortest, initial_state=system.initial_state)
            end = part.time[1]
            while True:
                t, y = self._integrate(system)
                if t >= end - 1e-12 * (end - self.problem.time[0]):
                    system = replace(system, initial_state=y)
                    break
                with self.watch.stage("patches"), blas_threads(0.0):
                    system, tree = self._divided_anew(system, tree, t, y, end)
        plan = foreseen(begun, self.features, self.form)
        return Resolved(self._solution(), begun, across, plan, self.task.effort, self.first)

    # ---- patches --------------------------------------------------------------------------------------

    def _system(self, tree: Tree, time: tuple[float, float], shortest: float = np.inf) -> PatchesInTime:
        check_memory(foreseen(tree, self.features, self.form), self.task)
        self.watch.announce("patches")
        patches = PatchSet.of(tree, self.features.order + 3)
        return PatchesInTime.of(self.form, patches, self.features, time, shortest)

    def _first(self, tree: Tree) -> tuple[PatchesInTime, Tree]:
        """Return patches that resolve the initial data."""
        problem = self.problem
        data: list[Sequence[Snapshot]] = [[problem.initial[name] for name in problem.fields]]
        if problem.equations[0].order == 2:
            data.append([problem.initial_velocity[name] for name in problem.fields])
        for _ in range(ROUNDS):
            system = self._system(tree, problem.time)
            t = problem.time[0]
            states = [system.projected([values(f(system.points, t), system.points) for f in own]) for own in data]
            self._scales = squared_sizes(self._local(system, states[0]))
            marked = [cell for y in states for cell in self._marked(system, y, AT_START * self.goal)]
            within = self._allowed(marked)
            if not within:
                break
            tree = tree.refined(within)
        return replace(system, initial_state=np.concatenate(states)), tree

    def _driven(self, system: PatchesInTime) -> Array:
        """Return squared sizes of the fields to which data drive a solution from almost nothing, by a rough solve."""
        rough, visible = RadauIIA(1e-2, 3), 0.5
        if np.linalg.norm(system.initial_state) > visible * typical_size(system):
            return np.zeros(1)
        try:
            trajectory = cast(CollocationTrajectory, rough.integrate(system))
        except IntegrationError as error:
            if error.trajectory is None:
                return np.zeros(1)
            trajectory = cast(CollocationTrajectory, error.trajectory)
        states = trajectory(trajectory.times)
        return np.max([squared_sizes(self._local(system, y)) for y in states], axis=0)

    def _local(self, system: PatchesInTime, y: Array) -> list[Array]:
        fields = len(self.problem.fields)
        return [own.reshape(len(own), fields, -1) for own in system.unbundled(system.split(y[: system.coefficients]))]

    def _tails(self, system: PatchesInTime, y: Array) -> Array:
        """Return what the highest modes of each patch carry, relative to the largest size of the solution so far."""
        local = self._local(system, y)
        self._scales = np.maximum(self._scales, squared_sizes(local))
        return tails(system.patches, local, self.features.order, np.where(self._scales > 0, self._scales, 1.0))

    def _marked(self, system: PatchesInTime, y: Array, goal: float) -> list[Cell]:
        if not self.asked.adaptive:
            return []
        return unresolved(system.patches, self._tails(system, y), goal)

    def _allowed(self, cells: Sequence[Cell]) -> list[Cell]:
        within = [cell for cell in cells if cell.level < self.asked.levels]
        self.finest = max(self.finest, len(cells) - len(within))
        return within

    def _divided_anew(
        self, system: PatchesInTime, tree: Tree, t: float, y: Array, end: float
    ) -> tuple[PatchesInTime, Tree]:
        """Return patches that resolve the state at some time, and go on from there."""
        found, goal = self._tails(system, y), self._goal_at(t)
        before, basis = tree, self._basis(system)
        coefficients = system.of_features(y[None])[0].reshape(system.order, -1)
        idle = (IDLE * goal) ** 2 / len(found)
        quiet = {cell for n, patch in enumerate(system.patches.patches) if found[n] < idle for cell in patch.cells}
        tree = tree.coarsened(quiet) if quiet else tree
        after = self._system(tree.refined(self._allowed(unresolved(system.patches, found, AHEAD * goal))), (t, end))
        tree = after.patches.tree
        for _ in range(ROUNDS):
            states = [self._moved(basis, own, after) for own in coefficients]
            within = self._allowed(self._marked(after, states[0], AT_START * goal))
            if not within or tree.leaves.keys() == before.leaves.keys():
                break
            tree = tree.refined(within)
            after = self._system(tree, (t, end))
        return replace(after, initial_state=np.concatenate(states), shortest=system.shortest), tree

    def _goal_at(self, t: float) -> float:
        """Return what may be left unresolved at a time: diffusion forgets what is left at first."""
        start, end = self.problem.time
        return self.goal * float(np.sqrt((end - start) / (t - start))) if self._forgets else self.goal

    @property
    def _forgets(self) -> bool:
        """Whether all fields diffuse, and nothing is carried along."""
        fields = range(len(self.form.fields))
        return (
            not self.form.transports
            and self.problem.equations[0].order == 1
            and all((i, i) in self.form.diffusion for i in fields)
        )

    def _basis(self, system: PatchesInTime) -> PatchBasis:
        return PatchBasis.of(system.patches, self.features, self.problem.fields)

    def _moved(self, basis: PatchBasis, coefficients: Array, after: PatchesInTime) -> Array:
        """Return a function on other patches."""
        zero = Derivative((0, 0))
        values = [basis.combine(after.points, [Term(name, zero)], coefficients[:, None])[:, 0] for name in basis.fields]
        return after.projected(values)

    # ---- time -----------------------------------------------------------------------------------------

    def _integrate(self, system: PatchesInTime) -> tuple[float, Array]:
        """Integrate as long as patches resolve the solution; return when that ends, and the state there."""
        first, last = self.problem.time
        self._points.append(len(system.points))
        room = (
            beside_others(self.task.memory, physical_memory())
            - foreseen(system.patches.tree, self.features, self.form).bytes
        )
        observer = Observer(
            self._stop(system), lambda t: self.watch.reached((t - first) / (last - first)), room=max(room, 1e7)
        )
        with self.watch.stage("integration"), blas_threads(0.0):
            try:
                trajectory = self._stepper().integrate(system, observer)
            except IntegrationError as error:
                if error.trajectory is not None:
                    self._keep(system, cast(Trajectory, error.trajectory))
                raise
        self._keep(system, trajectory)
        return trajectory.end, trajectory(np.array([trajectory.end]))[0]

    def _stepper(self) -> SciPy | RadauIIA:
        """Return the user's integrator, or one of more stages, so with longer steps, where nothing is damped.

        Errors at the ends of steps are far below the estimate then, and between them still a fifth of it.
        """
        tolerance, wanted = 0.1 * self.task.tolerances.time, self.task.settings.integrator
        if wanted is None and not self._forgets:
            return RadauIIA(5.0 * tolerance, 7)
        own = RadauIIA(tolerance, 3 if tolerance > COARSE else 5)  # two factorisations for each length, or three
        stepper = integrator_by_name(wanted, tolerance) if isinstance(wanted, str) else wanted or own
        if isinstance(stepper, RadauIIA) or (isinstance(stepper, SciPy) and stepper.method in EXPLICIT):
            return stepper
        raise SettingsError(
            f"patches are integrated by 'radau-iia', or by 'dop853', 'rk45' or 'rk23', not by '{stepper.name}', "
            "which needs a matrix; leave integrator out."
        )

    def _stop(self, system: PatchesInTime) -> Callable[[float, Array], bool] | None:
        if not self.asked.adaptive or len(self._points) >= WINDOWS:
            return None

        def stop(t: float, y: Array) -> bool:
            found, goal = self._tails(system, y), self._goal_at(t)
            if np.sqrt(np.sum(found)) <= goal or t >= self.problem.time[1]:
                return False
            return any(cell.level < self.asked.levels for cell in unresolved(system.patches, found, goal))

        return stop

    def _keep(self, system: PatchesInTime, trajectory: Trajectory) -> None:
        """Add a piece with coefficients of the features, as the basis has them."""
        if isinstance(trajectory, CollocationTrajectory):
            seen: Trajectory = replace(trajectory, states=system.of_features(trajectory.states))
        else:
            own = HermiteTrajectory.from_arrays(trajectory.arrays())
            states, slopes = system.of_features(own.states), system.of_features(own.slopes)
            seen = replace(own, states=states, slopes=slopes, name=trajectory.name, work=trajectory.work)
        expansion = Expansion(self._basis(system), no_data, system.order)
        self.pieces.append(Piece((expansion,), seen, system.time[0], seen.end, integrator=seen.name))

    # ---- the end --------------------------------------------------------------------------------------

    @property
    def solution_so_far(self) -> Solution | None:
        """What was computed before a failure, as the solution on a shorter time."""
        if not self.pieces:
            return None
        return replace(self._solution(), problem=self.problem.during((self.problem.time[0], self.pieces[-1].end)))

    def _solution(self) -> Solution:
        sizes = [piece.expansions[0].basis.raw_size // self.features.size for piece in self.pieces]
        reason = f"the domain is divided into {sizes[-1]} patches of order {self.features.order}"
        if len(set(sizes)) > 1:
            reason += f" at the end; it was divided {len(sizes)} times, as the solution moved"
        return Solution(
            self.problem,
            tuple(self.pieces),
            sampler="local",
            width=max(piece.expansions[0].basis.raw_size for piece in self.pieces),
            counts=(max(self._points),),
            seconds=dict(self.watch.seconds),
            notes=notes_on(self.finest, self.task),
            provenance=self.task,
            decisions=(Decision("patches", reason),),
        )


def values(found: Array | float, x: Array) -> Array:
    """Return one value for each point."""
    return np.broadcast_to(np.asarray(found, dtype=float), len(x))
