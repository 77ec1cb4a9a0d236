"""Static problems on patches: solve, quarter the patches where the solution has detail, until the tolerance is met.

A patch resolves what its last modes carry little of: those of the highest order are what an error is made of, or more.
Patches that carry more than their share of the tolerance there are quartered, and the problem is solved again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from frozenpinn.assembly.collocation import Function, Nothing
from frozenpinn.assembly.hybrid import Assembly, Blocks, Condensed, Element, Places, constrained_blocks, trace_numbers
from frozenpinn.assembly.hybrid_form import HybridForm
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.local.basis import PatchBasis
from frozenpinn.basis.local.detail import tails, unresolved
from frozenpinn.basis.local.features import LocalFeatures, modes_of
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.tree import Cell, Tree
from frozenpinn.errors import ConvergenceError
from frozenpinn.integrators.protocol import Work
from frozenpinn.integrators.steady import SteadyState
from frozenpinn.language.jets import Jet
from frozenpinn.results.expansion import Expansion, Piece, no_data
from frozenpinn.results.solution import Solution
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.search.patch_plan import (
    PatchPlan,
    Resolved,
    asked_of,
    check_memory,
    described,
    first_tree,
    foreseen,
    goal_of,
    notes_on,
    order_for,
)
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem
from frozenpinn.static.estimate import PATCHES
from frozenpinn.static.judging import held_out_residual, warn_if_singular
from frozenpinn.static.start import SolutionStart, read_start

Array = np.ndarray
ROUNDS = 12  #: of refinement in one solve
STEPS = 25  #: of Newton's method


# ---- one solve --------------------------------------------------------------------------------------


def solve_on_patches(
    problem: Problem, task: Task, earlier: Resolved | None, watch: Stopwatch, why: str = ""
) -> Resolved:
    """Solve a static problem on patches, which are quartered until their highest modes carry little enough."""
    form, asked = HybridForm.of(problem), asked_of(task)
    features = LocalFeatures.draw(modes_of(order_for(task)), task.seed)
    start: Function = read_start(task.start, problem) or Nothing()
    if earlier is not None:
        start = SolutionStart(earlier.solution.jet_values)
    first = task.effort if earlier is None else earlier.first
    goal = goal_of(task, first)
    announce = partial(watch.announce, "patches")
    with watch.stage("patches"), blas_threads(0.0):
        across, tree = first_tree(problem, task, earlier)
        for _ in range(ROUNDS):
            announce()
            check_memory(foreseen(tree, features, form), task)
            solved = PatchSystem.of(form, tree, features).solve(start, goal, announce)
            marked = solved.unresolved(goal) if asked.adaptive else []
            within = [cell for cell in marked if cell.level < asked.levels]
            if not within:
                break
            start = start if form.is_linear else solved.function
            tree = tree.refined(within)
        why = why if earlier is None else earlier.why
        found = _result(problem, task, solved, len(marked), why)
        return Resolved(found, tree, across, solved.system.plan, task.effort, first, why)


def _result(problem: Problem, task: Task, solved: Solved, finest: int, why: str) -> Solution:
    """Return the solution with all that is known of it."""
    system, changes = solved.system, solved.changes
    left = held_out_residual(problem, solved.function)
    singular = solved.condensed.weakest
    warn_if_singular(singular, problem, task.rules.static)
    plan = system.plan
    label = described(system.patches, system.features)
    trajectory = SteadyState(solved.coefficients, PATCHES, Work(len(changes), len(changes)))
    piece = Piece((Expansion(system.basis, no_data, 0),), trajectory, 0.0, 0.0, integrator=PATCHES)
    reason = f"the domain is divided into {label}" + (f", as {why}" if why else "")
    return Solution(
        problem,
        (piece,),
        sampler="local",
        width=system.basis.raw_size,
        counts=(sum(len(patch.rule.x) for patch in system.patches.patches),),
        bytes=plan.bytes,
        operations=plan.operations,
        notes=notes_on(finest, task),
        provenance=task,
        facts=StaticFacts(
            label, float("nan"), singular, changes, "" if problem.is_linear else "zero", left, solved.highest
        ),
        decisions=(Decision("patches", reason),),
    )


@dataclass(frozen=True, eq=False)
class PatchFunction:
    """Coefficients of functions on patches."""

    basis: PatchBasis
    coefficients: Array

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the fields."""
        return [
            self.basis.combine(x, [Term(jet.field, Derivative(jet.alpha, jet.laps))], self.coefficients[:, None])[:, 0]
            for jet in jets
        ]


class PatchSystem:
    """The equations on given patches, which are linearised about one function after another."""

    def __init__(self, form: HybridForm, patches: PatchSet, features: LocalFeatures, plan: PatchPlan) -> None:
        self.form, self.patches, self.features, self.plan = form, patches, features, plan
        self.basis = PatchBasis.of(patches, features, form.fields)
        self._traces, fields = features.order + 1, len(form.fields)
        self._size = len(patches.faces) * self._traces * fields
        self._numbers = [trace_numbers(patches, group, self._traces, fields) for group in patches.groups]
        constraints = form.problem.constraints
        if constraints:
            more = self._size + np.arange(len(constraints))
            self._numbers = [np.column_stack([own, np.tile(more, (len(own), 1))]) for own in self._numbers]
        area = sum(patch.area for patch in patches.patches)
        self._values = np.array([c.value * (area if c.point is None else 1.0) for c in constraints])
        self._kept: dict[int, Element] = {}
        self._room = 5e8  # bytes of functions at their places that are kept

    @classmethod
    def of(cls, form: HybridForm, tree: Tree, features: LocalFeatures) -> PatchSystem:
        """Divide the domain."""
        return cls(form, PatchSet.of(tree, features.order + 3), features, foreseen(tree, features, form))

    def element(self, k: int) -> Element:
        """Return the functions of a group at its places."""
        found = self._kept.get(k)
        if found is None:
            found = Element.of(self.patches, self.patches.groups[k], self.features, self._traces)
            size = 8.0 * 3.0 * len(found.inside.x) * found.size
            if size <= self._room:
                self._room -= size
                self._kept[k] = found
        return found

    def linearised(self, start: Function, local: Sequence[Array] | None = None) -> Condensed:
        """Return the system, linearised about local coefficients, or about the start without them."""
        parts = []
        for k in range(len(self.patches.groups)):
            element = self.element(k)
            about = partial(_local_jets, self.form, element, start, None if local is None else local[k])
            blocks = Assembly(self.form, element, about).blocks()
            parts.append((self._numbers[k], self._constrained(k, blocks) if len(self._values) else blocks))
        return Condensed.of(parts, self._size, self._values)

    def _constrained(self, k: int, blocks: Blocks) -> Blocks:
        """Add multipliers of constraints: means have integrals as rows and as columns, points as columns."""
        element, fields = self.element(k), self.form.fields
        group, constraints = self.patches.groups[k], self.form.problem.constraints
        rows = np.zeros((len(group), len(constraints), len(fields), element.size))
        columns = np.zeros((1, len(fields), element.size, len(constraints)))
        for n, constraint in enumerate(constraints):
            i = fields.index(constraint.field)
            columns[0, i, :, n] = rows[:, n, i] = element.inside.weights @ element.inside.values
            if constraint.point is not None:
                rows[:, n] = 0.0
                owner = int(self.basis.owners(constraint.point)[0])
                if owner in group:
                    place = (constraint.point - self.basis.boxes[owner, 0]) / self.basis.boxes[owner, 1]
                    rows[group.index(owner), n, i] = (self.features.values(place, ((0, 0),))[0] @ element.mixing)[0]
        size = len(fields) * element.size
        return constrained_blocks(blocks, columns.reshape(1, size, -1), rows.reshape(len(group), -1, size))

    def solve(self, start: Function, goal: float, announce: Callable[[], None]) -> Solved:
        """Solve, by Newton's method if the problem is not linear; ``goal`` is what the solution may be off."""
        condensed = self.linearised(start)
        local = self._solved(condensed)
        if self.form.is_linear:
            return Solved(self, condensed, local)
        changes, share, close = list[float](), 1.0, 0.1
        for _ in range(STEPS):
            announce()
            condensed = self.linearised(start, local)
            full = self._solved(condensed)
            changes.append(_distance(full, local))
            grows = len(changes) > 1 and changes[-1] > max(1.5 * changes[-2], close)
            share = max(0.5 * share, 1.0 / 32.0) if grows else min(1.0, 2.0 * share)
            local = [a + share * (b - a) for a, b in zip(local, full, strict=True)]
            if changes[-1] <= max(1e-11, 1e-2 * goal) and share == 1.0:
                return Solved(self, condensed, local, tuple(changes))
        raise ConvergenceError(
            f"Newton's method on patches did not converge in {STEPS} steps; the last one changed the solution by "
            f"{changes[-1]:.2g} of its size. Give a start= near the solution."
        )

    def _solved(self, condensed: Condensed) -> list[Array]:
        found = [own.reshape(len(own), len(self.form.fields), -1) for own in condensed.solve()]
        if not all(np.all(np.isfinite(own)) for own in found):
            raise ConvergenceError("the equations are not finite on all patches: a division by zero, or a wild guess?")
        return found


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution on given patches.

    Attributes
    ----------
    local
        Coefficients of the orthonormal functions of each patch, (patches, fields, r), group by group.
    changes
        Relative change of the solution in each step of Newton's method.
    """

    system: PatchSystem
    condensed: Condensed
    local: Sequence[Array]
    changes: tuple[float, ...] = ()

    @cached_property
    def coefficients(self) -> Array:
        """Those of the modes of the features, in the order of the basis."""
        basis, patches = self.system.basis, self.system.patches
        out = np.zeros((len(basis.fields), len(patches), basis.features.size))
        for k, group in enumerate(patches.groups):
            out[:, list(group)] = np.swapaxes(self.local[k] @ self.system.element(k).mixing.T, 0, 1)
        return out.ravel()

    @property
    def function(self) -> PatchFunction:
        """The solution as a function."""
        return PatchFunction(self.system.basis, self.coefficients)

    @cached_property
    def tails(self) -> Array:
        """The squared norm of the highest modes of each patch, relative to that of the solution; worst field."""
        return tails(self.system.patches, self.local, self.system.features.order)

    @property
    def highest(self) -> float:
        """What the highest modes of all patches carry, relative to the solution."""
        return float(np.sqrt(np.sum(self.tails)))

    def unresolved(self, goal: float) -> list[Cell]:
        """Return the leaves of patches that carry more than their share in their highest modes."""
        return unresolved(self.system.patches, self.tails, goal)


def _local_jets(
    form: HybridForm, element: Element, start: Function, local: Array | None, i: int, places: Places
) -> list[Array]:
    """Return the jets of an equation at places in all patches of a group: of local coefficients, or of the start."""
    jets, count = form.lower[i].jets, len(element.shifts)
    if local is None:
        return start.jets(element.moved(places.x), jets)
    found = []
    for jet in jets:
        table = places.values if not jet.order else places.slopes[jet.alpha.index(1)]
        found.append((local[:, form.fields.index(jet.field)] @ table.T).reshape(count * len(places.x)))
    return found


def _distance(found: Sequence[Array], before: Sequence[Array]) -> float:
    """Return by how much a step changes the solution, relative to its size."""
    change = sum(float(np.sum((a - b) ** 2)) for a, b in zip(found, before, strict=True))
    return float(np.sqrt(change / max(sum(float(np.sum(a**2)) for a in found), 1e-300)))
