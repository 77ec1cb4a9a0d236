"""Static problems on patches: solve, quarter the patches where the solution has detail, until the tolerance is met.

A patch resolves what its last modes carry little of: those of the highest order are what an error is made of, or more.
Patches that carry more than their share of the tolerance there are quartered, and the problem is solved again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil, log10

import numpy as np

from frozenpinn.assembly.collocation import Function, Nothing
from frozenpinn.assembly.hybrid import Assembly, Condensed, Element, Places, trace_numbers
from frozenpinn.assembly.hybrid_form import HybridForm
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.local.basis import PatchBasis
from frozenpinn.basis.local.features import LocalFeatures, modes_of
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.tree import Cell, Leaf, Tree
from frozenpinn.errors import BudgetError, ConvergenceError
from frozenpinn.integrators.protocol import Work
from frozenpinn.integrators.steady import SteadyState
from frozenpinn.language.jets import Jet
from frozenpinn.results.expansion import Expansion, Piece, no_data
from frozenpinn.results.solution import Solution
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.budget import amount, beside_others, physical_memory
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.search.patches import ORDERS
from frozenpinn.search.patches import Patches as Asked
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem
from frozenpinn.static.judging import held_out_residual, warn_if_singular
from frozenpinn.static.start import SolutionStart, read_start

Array = np.ndarray
ACROSS = 5  #: patches along the longest edge, if nothing is known
TURN = 1.7  #: by how much a boundary may turn in one patch
ROUNDS = 12  #: of refinement in one solve
STEPS = 25  #: of Newton's method
SHARE = 0.5  #: of the tolerance that the highest modes of all patches may carry, at first
FINER = 3.0  #: power of the effort with which this share falls


@dataclass(frozen=True)
class PatchPlan:
    """What a solve on patches takes, from the number of patches and functions.

    Attributes
    ----------
    patches, cut
        Patches, and those among them that the boundary cuts, whose matrices are their own.
    functions, traces
        Functions of a patch and modes of a face.
    """

    patches: float
    cut: float
    functions: int
    traces: int
    fields: int = 1

    @property
    def operations(self) -> float:
        """About how many floating point operations it takes: quadrature, and the sparse factors of all traces."""
        own, unknowns = self.fields * self.functions, 2.0 * self.fields * self.traces * self.patches
        return 40.0 * self.cut * 4.0 * self.functions**3 + 2.0 * self.patches * own**2 + 60.0 * unknowns**1.5

    @property
    def bytes(self) -> float:
        """About how much memory it takes: the matrices of patches that are cut, and the sparse factors."""
        own, faces = self.fields * self.functions, 4 * self.fields * self.traces
        unknowns = 2.0 * self.fields * self.traces * self.patches
        local = 8.0 * (self.cut * (own**2 + 4 * own * faces + 30 * own**1.5) + self.patches * faces**2 * 3)
        return local + 16.0 * unknowns * 15.0 * np.log2(unknowns + 2.0) + 1e7

    def grown(self, factor: float) -> PatchPlan:
        """Return the plan of as many times as many patches."""
        return PatchPlan(factor * self.patches, factor * self.cut, self.functions, self.traces, self.fields)


@dataclass(frozen=True, eq=False)
class Resolved:
    """What a solve on patches has taught: its solution, the tree, and what it took."""

    solution: Solution
    tree: Tree
    across: int
    plan: PatchPlan
    effort: float

    @property
    def cost(self) -> PatchPlan:
        """What the solve was planned to take."""
        return self.plan


def patch_cost(task: Task, lesson: Resolved) -> PatchPlan:
    """Return what a solve of some effort takes: more patches, of a smaller size."""
    return lesson.plan.grown(1.2 * (task.effort / lesson.effort) ** (2.0 * FINER / max(order_for(task), 1)))


def order_for(task: Task) -> int:
    """Return the order of patches: the user's, or a higher one for a smaller tolerance."""
    asked = task.settings.basis
    if isinstance(asked, Asked) and asked.order is not None:
        return asked.order
    tol = task.tolerances.solution or 1e-6
    return int(np.clip(4 + ceil(-log10(tol)), 6, min(12, ORDERS[1])))


# ---- one solve --------------------------------------------------------------------------------------


def solve_on_patches(problem: Problem, task: Task, earlier: Resolved | None, watch: Stopwatch) -> Resolved:
    """Solve a static problem on patches, which are quartered until their highest modes carry little enough."""
    form = HybridForm.of(problem)
    asked = task.settings.basis if isinstance(task.settings.basis, Asked) else Asked()
    order = order_for(task)
    features = LocalFeatures.draw(modes_of(order), task.seed)
    start: Function = read_start(task.start, problem) or Nothing()
    if earlier is not None:
        start = SolutionStart(earlier.solution.jet_values)
    with watch.stage("patches"), blas_threads(0.0):
        across = asked.across or ACROSS
        if earlier is not None:  # other patches: none of their edges should be the same
            across = earlier.across + max(1, round(0.3 * earlier.across))
        tree = _first_tree(problem, across, asked, earlier)
    goal = SHARE * (task.tolerances.solution or 1e-6) / task.effort**FINER
    announce = partial(watch.announce, "patches")
    with watch.stage("patches"), blas_threads(0.0):
        for _ in range(ROUNDS):
            announce()
            solved = Solved.of(form, tree, features, order + 1, start, goal, task, announce)
            marked = solved.unresolved(goal) if asked.adaptive else []
            finest = [cell for cell in marked if cell.level >= asked.levels]
            marked = [cell for cell in marked if cell.level < asked.levels]
            if not marked:
                break
            if not form.is_linear:
                start = PatchFunction(solved.basis, solved.coefficients)
            tree = tree.refined(marked)
    return _result(problem, task, solved, across, len(finest) if asked.adaptive else 0)


def _first_tree(problem: Problem, across: int, asked: Asked, earlier: Resolved | None) -> Tree:
    """Return patches that follow the boundary, as small as those of an earlier solve where it had small ones."""
    tree = Tree.of(problem.domain, across)
    tree = tree.refined_while(lambda leaf: leaf.angle > TURN, asked.levels)
    if earlier is None or not asked.adaptive:
        return tree
    basis = earlier.solution.pieces[0].expansions[0].basis
    assert isinstance(basis, PatchBasis)
    shares = np.array([(a, b) for a in (0.02, 0.35, 0.65, 0.98) for b in (0.02, 0.35, 0.65, 0.98)])

    def too_wide(leaf: Leaf) -> bool:
        x = leaf.lower + shares * (leaf.upper - leaf.lower)
        width = float(np.max(leaf.upper - leaf.lower))
        return width > 1.05 * float(np.min(basis.widths(x)))

    return tree.refined_while(too_wide, asked.levels + 1)


def _result(problem: Problem, task: Task, solved: Solved, across: int, finest: int) -> Resolved:
    steps = solved.changes
    function = PatchFunction(solved.basis, solved.coefficients)
    left = held_out_residual(problem, function)
    singular = solved.system.weakest
    warn_if_singular(singular, problem, task.rules.static)
    levels = solved.patches.tree.levels
    label = f"{len(solved.patches)} patches of order {solved.basis.features.order} on {levels} levels"
    facts = StaticFacts(label, 1.0, singular, steps, "" if problem.is_linear else "patches", left)
    name = "patches"
    work = Work(len(steps), len(steps))
    trajectory = SteadyState(solved.coefficients, name, work)
    piece = Piece((Expansion(solved.basis, no_data, 0),), trajectory, 0.0, 0.0, integrator=name)
    notes = ()
    if finest:
        notes = (
            f"{finest} patches are as small as levels={_levels(task)} allows and not resolved yet: a corner, or detail "
            "below the finest patch; allow more with basis=fp.Patches(levels=…)",
        )
    solution = Solution(
        problem,
        (piece,),
        sampler="local",
        width=solved.basis.raw_size,
        counts=(solved.points,),
        bytes=solved.plan.bytes,
        operations=solved.plan.operations,
        notes=notes,
        provenance=task,
        facts=facts,
        decisions=(Decision("patches", f"the domain is divided into {label}"),),
    )
    return Resolved(solution, solved.patches.tree, across, solved.plan, task.effort)


def _levels(task: Task) -> int:
    return task.settings.basis.levels if isinstance(task.settings.basis, Asked) else Asked().levels


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


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution on given patches.

    Attributes
    ----------
    local
        Coefficients of the orthonormal functions of each patch, (patches, fields, r), group by group.
    coefficients
        Those of the modes of the features, in the order of the basis.
    """

    patches: PatchSet
    basis: PatchBasis
    system: Condensed
    local: tuple[Array, ...]
    coefficients: Array
    changes: tuple[float, ...]
    points: int
    plan: PatchPlan

    @classmethod
    def of(
        cls,
        form: HybridForm,
        tree: Tree,
        features: LocalFeatures,
        traces: int,
        start: Function,
        goal: float,
        task: Task,
        announce: Callable[[], None],
    ) -> Solved:
        """Solve on given patches, by Newton's method if it must."""
        cut = sum(not leaf.is_whole for leaf in tree.leaves.values())
        plan = PatchPlan(len(tree.leaves), cut, features.size, traces, len(form.fields))
        _check_memory(plan, task)
        patches = PatchSet.of(tree, features.order + 3)
        basis = PatchBasis.of(patches, features, form.fields)
        numbers = [trace_numbers(patches, group, traces, len(form.fields)) for group in patches.groups]
        size = len(patches.faces) * traces * len(form.fields)
        local: list[Array] | None = None
        changes, damping = list[float](), 1.0
        keeper = Elements(patches, features, traces)
        while True:
            announce()
            parts, rows, before = [], [], local
            for k, group in enumerate(patches.groups):
                element = keeper.element(k)
                about = partial(_local_jets, form, element, start, None if local is None else local[k])
                parts.append((numbers[k], Assembly(form, element, about).blocks()))
                rows.append(element.size)
                del group
            system = Condensed.of(parts, size)
            found = [own.reshape(len(own), len(form.fields), -1) for own in system.solve()]
            if form.is_linear:
                local = found
                break
            if before is not None:
                changes.append(_distance(found, before))
                if len(changes) > 1 and changes[-1] > 2.0 * changes[-2] and changes[-1] > 0.1:
                    damping = max(0.5 * damping, 1.0 / 64.0)
                else:
                    damping = min(1.0, 2.0 * damping)
                local = [b + damping * (f - b) for f, b in zip(found, before, strict=True)]
            else:
                local = found
            if not all(np.all(np.isfinite(own)) for own in local):
                raise ConvergenceError("Newton's method left what the equations are defined for; give a start= near the solution.")
            if changes and changes[-1] < max(1e-10, 1e-2 * goal) and damping == 1.0:
                break
            if len(changes) >= STEPS:
                raise ConvergenceError(
                    f"Newton's method on patches did not converge in {STEPS} steps; the last one changed the solution "
                    f"by {changes[-1]:.2g} of its size. Give a start= near the solution."
                )
        coefficients = np.zeros((len(form.fields), len(patches), features.size))
        for k, group in enumerate(patches.groups):
            coefficients[:, list(group)] = np.swapaxes(local[k] @ keeper.element(k).mixing.T, 0, 1)
        points = sum(len(patch.rule.x) for patch in patches.patches)
        return cls(patches, basis, system, tuple(local), coefficients.ravel(), tuple(changes), points, plan)

    @cached_property
    def tails(self) -> Array:
        """The squared norm of the highest modes of each patch, relative to that of the solution; worst field."""
        order = self.basis.features.order
        first = modes_of(order - 1)
        total = sum(np.sum(own**2, axis=(0, 2)) for own in self.local)
        out = np.zeros(len(self.patches))
        for group, own in zip(self.patches.groups, self.local, strict=True):
            parts = np.sum(own[:, :, first:] ** 2, axis=2) / np.maximum(total, 1e-300)
            out[list(group)] = np.max(parts, axis=1)
        return out

    def unresolved(self, goal: float) -> list[Cell]:
        """Return the leaves of patches that carry more than their share in their highest modes."""
        if np.sqrt(np.sum(self.tails)) <= goal:
            return []
        order = np.argsort(-self.tails)
        below = np.cumsum(self.tails[order][::-1])[::-1]  # what would be left without refining from here on
        limit = 0.5 * goal**2 / len(self.patches)
        chosen = order[(below > 0.3 * goal**2) & (self.tails[order] > limit)]
        return [cell for n in chosen.tolist() for cell in self.patches.patches[n].cells]


class Elements:
    """The functions of each group at its places, kept as long as they are few."""

    def __init__(self, patches: PatchSet, features: LocalFeatures, traces: int) -> None:
        self._patches, self._features, self._traces = patches, features, traces
        self._kept: dict[int, Element] = {}
        self._left = 5e8  # bytes

    def element(self, k: int) -> Element:
        """Return the functions of a group."""
        found = self._kept.get(k)
        if found is None:
            found = Element.of(self._patches, self._patches.groups[k], self._features, self._traces)
            size = 8.0 * 3.0 * len(found.inside.x) * found.size
            if size <= self._left:
                self._left -= size
                self._kept[k] = found
        return found


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


def _check_memory(plan: PatchPlan, task: Task) -> None:
    """Refuse a solve that needs more memory than it may have, or than there is."""
    allowed = beside_others(task.memory, physical_memory())
    if plan.bytes > allowed:
        raise BudgetError(
            f"{plan.patches:.0f} patches need about {amount(plan.bytes)} of memory, more than the "
            f"{amount(allowed)} there is; take a larger tol, or fewer levels: basis=fp.Patches(levels=…)."
        )
