"""A basis that is as fine as the time integration can bear: functions that only carry round-off are dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from frozenpinn.analysis.wellposedness import growth_bound
from frozenpinn.assembly.discretisation import Discretisation, discretise
from frozenpinn.assembly.initial_data import Stage
from frozenpinn.assembly.spaces import Space
from frozenpinn.errors import warn
from frozenpinn.operators.symmetry import spectral_abscissa
from frozenpinn.search.rules import CutoffRules
from frozenpinn.statement.problem import Problem

Array = np.ndarray


def stable_discretisation(
    problem: Problem, spaces: Sequence[Space], rcond: float | None, stage: Stage, rules: CutoffRules | None
) -> Discretisation:
    """Assemble the system and, if there are rules for it, drop basis functions that only carry round-off."""
    automatic = rules is not None and all(
        s.network.is_orthonormal and s.obeys_conditions and not s.network.is_product for s in spaces
    )
    system = discretise(problem, spaces, rcond, stage)
    return _stable(system, rules) if automatic and rules is not None else system


def _stable(system: Discretisation, rules: CutoffRules) -> Discretisation:
    problem, spaces = system.problem, system.spaces
    start, end = system.time
    on_shape = problem.domain.dimension > 1
    if on_shape and (problem.is_linear or system.layout.order == 1):
        cutoff = _stable_on_shapes(system, rules)
    elif not problem.is_linear:
        cutoff = rules.nonlinear
    elif system.linear.structure != "general":
        cutoff = 0.0
    else:
        singular, restricted = system.singular_values, system.linear.restricted
        cutoff = stable_cutoff(restricted, singular, end - start, rules.candidates, rules.coarsest)
    ranks = [int(np.sum(s.network.singular_values > cutoff * s.network.singular_values[0])) for s in spaces]
    skew = system.linear.structure == "skew-symmetric" and len(spaces) == 1 and system.layout.order == 1
    if skew and ranks[0] % 2 == 0:  # an odd number of functions has the constant as its only mode at rest
        ranks[0] -= 1
    if all(rank == space.network.size for rank, space in zip(ranks, spaces, strict=True)):
        return system
    if on_shape:  # with fewer functions the symmetry may be judged otherwise: judge it again
        return _stable(system.truncated(ranks, judge_again=True), rules)
    return system.truncated(ranks, judge_again=system.linear.structure == "general")


def _stable_on_shapes(system: Discretisation, rules: CutoffRules) -> float:
    """Return the finest cut-off without growth that the equation does not have; of nonlinear ones where they start.

    Symmetry does not help here: conditions and integrals are met up to small errors only, which can push eigenvalues of
    rough functions to the right.
    """
    rougher = (1e-10, 1e-9)  # cut-offs for nonlinear equations
    desperate = (1e-7, 1e-6, 1e-5)  # cut-offs, if nothing else is stable
    fatal = 12.0  # spurious growth by exp(12) leaves three digits of an error of 1e-8
    problem, (start, end), singular = system.problem, system.time, system.singular_values
    duration, linear = end - start, system.linear
    if not problem.is_linear:
        jacobian = system.jacobian(start, system.initial_state)
        return stable_cutoff(
            lambda kept: linear.restricted(kept, jacobian), singular, duration, rougher, rules.coarsest
        )
    bound = growth_bound(problem)
    if bound is None:
        return stable_cutoff(linear.restricted, singular, duration, (0.0, *rules.candidates), rules.coarsest)
    relative = singular / singular.max()
    abscissas: dict[float, float] = {}
    count = -1
    for cutoff in (0.0, *rules.candidates, rules.coarsest, *desperate):
        kept = relative > cutoff
        if np.count_nonzero(kept) == count:
            continue
        count = int(np.count_nonzero(kept))
        abscissas[cutoff] = spectral_abscissa(linear.restricted(kept))
        if abscissas[cutoff] <= bound + 1.0 / duration:
            return cutoff
    best = min(abscissas, key=lambda cutoff: abscissas[cutoff])
    if (abscissas[best] - bound) * duration > fatal:
        warn(
            f"the basis has modes that grow like exp({abscissas[best]:.3g}·t), while the equation has none faster than "
            f"exp({bound:.3g}·t); the solution may be wrong. Use more points, or another seed."
        )
    return best


def stable_cutoff(
    matrix_at: Callable[[Array], Array], singular: Array, duration: float, cutoffs: Sequence[float], reference: float
) -> float:
    """Return the smallest cut-off whose operator has no spurious growing mode.

    Round-off in the columns of small singular values can push eigenvalues to the right. The
    abscissa at the coarse cut-off ``reference`` is the growth of the equation itself; a
    finer basis is accepted if it grows by less than a factor e over the duration beyond that.

    ``matrix_at`` returns the operator of the chosen basis functions, given as a mask.
    """
    relative = singular / singular.max()
    allowed = max(spectral_abscissa(matrix_at(relative > reference)), 0.0) + 1.0 / duration
    for cutoff in cutoffs:
        if spectral_abscissa(matrix_at(relative > cutoff)) <= allowed:
            return cutoff
    return reference
