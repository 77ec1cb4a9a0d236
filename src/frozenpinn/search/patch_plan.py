"""What solves on patches have in common, static and in time: order, first patches, cost, memory, lessons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10

import numpy as np

from frozenpinn.assembly.hybrid_form import HybridForm
from frozenpinn.basis.local.basis import PatchBasis
from frozenpinn.basis.local.features import LocalFeatures
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.tree import Leaf, Tree
from frozenpinn.errors import BudgetError
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import amount, beside_others, physical_memory
from frozenpinn.search.patches import ORDERS, OnPatches
from frozenpinn.search.patches import Patches as Asked
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem

Array = np.ndarray
ACROSS = 5  #: patches along the longest edge, if nothing is known
TURN = 1.7  #: by how much a boundary may turn in one patch
SHARE = 0.5  #: of the tolerance that the highest modes of all patches may carry, at first
FINER = 2.0  #: power of the effort with which this share falls


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
class Resolved(OnPatches):
    """What a solve on patches has taught: its solution, the tree, what it took, the first effort, and why patches."""

    solution: Solution
    tree: Tree
    across: int
    plan: PatchPlan
    effort: float
    first: float
    why: str = ""

    @property
    def cost(self) -> PatchPlan:
        """What the solve was planned to take."""
        return self.plan


def patch_cost(task: Task, lesson: Resolved) -> PatchPlan:
    """Return what a solve of some effort takes: more patches, of a smaller size."""
    return lesson.plan.grown(1.2 * (task.effort / lesson.effort) ** (2.0 * FINER / max(order_for(task), 1)))


def order_for(task: Task) -> int:
    """Return the order of patches: the user's, or a higher one for a smaller tolerance."""
    asked = asked_of(task)
    if asked.order is not None:
        return asked.order
    tol = task.tolerances.solution or 1e-6
    return int(np.clip(4 + ceil(-log10(tol)), 6, min(12, ORDERS[1])))


def asked_of(task: Task) -> Asked:
    """Return the patches that a user asks for, or those of the program."""
    return task.settings.basis or Asked()


def first_tree(problem: Problem, task: Task, earlier: Resolved | None) -> tuple[int, Tree]:
    """Return patches that follow the boundary, as small as those of an earlier solve where it had small ones.

    None of their edges should be where the earlier ones are: two solves share as little as possible.
    """
    asked, more, fewer = asked_of(task), 1.3, 0.7
    across, is_finer = asked.across or ACROSS, earlier is not None and task.effort >= earlier.effort
    if earlier is not None:
        across = max(2, round((more if is_finer else fewer) * earlier.across))
    tree = Tree.of(problem.domain, across)
    tree = tree.refined_while(lambda leaves: [leaf.angle > TURN for leaf in leaves], asked.levels)
    if earlier is None or not (is_finer and asked.adaptive):
        return across, tree
    basis = earlier.solution.pieces[0].expansions[0].basis
    assert isinstance(basis, PatchBasis)
    shares = np.array([(a, b) for a in (0.02, 0.35, 0.65, 0.98) for b in (0.02, 0.35, 0.65, 0.98)])

    def too_wide(leaves: Sequence[Leaf]) -> Array:
        corners = np.array([(leaf.lower, leaf.upper) for leaf in leaves]).reshape(-1, 2, 2)
        lengths = corners[:, 1] - corners[:, 0]
        x = corners[:, :1] + shares * lengths[:, None]
        widths = basis.widths(x.reshape(-1, 2)).reshape(len(leaves), -1)
        return np.asarray(np.max(lengths, axis=1) > 1.05 * np.min(widths, axis=1))

    return across, tree.refined_while(too_wide, asked.levels + 1)


def foreseen(tree: Tree, features: LocalFeatures, form: HybridForm) -> PatchPlan:
    """Return what a solve on the leaves of a tree takes."""
    cut = sum(not leaf.is_whole for leaf in tree.leaves.values())
    return PatchPlan(len(tree.leaves), cut, features.size, features.order + 1, len(form.fields))


def check_memory(plan: PatchPlan, task: Task) -> None:
    """Refuse a solve that needs more memory than it may have, or than there is."""
    allowed = beside_others(task.memory, physical_memory())
    if plan.bytes > allowed:
        raise BudgetError(
            f"{plan.patches:.0f} patches need about {amount(plan.bytes)} of memory, more than the "
            f"{amount(allowed)} there is; take a larger tol, or fewer levels: basis=fp.Patches(levels=…)."
        )


def goal_of(task: Task, first: float) -> float:
    """Return what the highest modes of all patches may carry, relative to the solution, after a first solve."""
    return SHARE * (task.tolerances.solution or 1e-6) * (first / task.effort) ** FINER


def described(patches: PatchSet, features: LocalFeatures) -> str:
    """Return a few words on the patches."""
    levels = patches.tree.levels
    return f"{len(patches)} patches of order {features.order} on {levels} level{'s' if levels > 1 else ''}"


def notes_on(finest: int, task: Task) -> tuple[str, ...]:
    """Return what is to be said of patches that are not resolved and may not be quartered."""
    if not finest:
        return ()
    return (
        f"{finest} patches are as small as levels={asked_of(task).levels} allows and not resolved: a corner, or "
        "detail below the finest patch; allow more with basis=fp.Patches(levels=…)",
    )
