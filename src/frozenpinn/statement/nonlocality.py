"""Which nonlocal quantities can stand in a problem: what its domain must be, and what a kernel must do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Box
from frozenpinn.language.program import Program
from frozenpinn.language.quantities import FRACTIONAL, Quantity

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
_SMALL = 1e-6  # of a kernel half a period away, beside its largest value


def check_quantities(problem: Problem) -> None:
    """Refuse quantities that mean nothing on this domain."""
    found = {
        jet.field: quantity
        for equation in problem.equations
        for jet, quantity in problem.jets.quantities_in(equation.right_side).items()
    }
    for quantity in found.values():
        _check(problem, quantity)
    for equation in problem.equations:
        if any(problem.jets.symbol(jet) in c.free_symbols for jet, c in equation.mass.items()):
            raise ProblemError(f"a nonlocal term can't stand on the left of '{equation}'.")


def refuse_quantities(problem: Problem, what: str) -> None:
    """Say that something works without nonlocal terms only."""
    for equation in problem.equations:
        for quantity in problem.jets.quantities_in(equation.right_side).values():
            raise ProblemError(f"{what} is for equations without nonlocal terms; '{quantity.name}' is one.")


def _check(problem: Problem, quantity: Quantity) -> None:
    domain = problem.domain
    if quantity.kind == FRACTIONAL and (not isinstance(domain, Box) or not all(domain.periodic)):
        raise ProblemError(
            f"'{quantity.name}' needs a domain that is periodic along all axes, such as Interval(0, 1, periodic=True): "
            "a fractional Laplacian acts over all of space."
        )
    if quantity.kind == FRACTIONAL or quantity.is_constant or not isinstance(domain, Box):
        return
    program = Program([quantity.kernel], [*problem.jets.x, *quantity.variables], problem.parameters.functions)
    for axis in np.flatnonzero(domain.periodic):
        around = np.repeat(domain.center[None], 201, axis=0)
        around[:, axis] += np.linspace(-0.5, 0.5, 201) * domain.lengths[axis]
        beyond = around.copy()
        beyond[:, axis] += domain.lengths[axis]
        with np.errstate(all="ignore"):
            here, there = (np.broadcast_to(program(*domain.center, *x.T)[0], len(x)) for x in (around, beyond))
        size = float(np.max(np.abs(here))) if np.all(np.isfinite(here)) else np.inf
        ends = float(max(abs(here[0]), abs(here[-1])))
        if not (ends <= _SMALL * size or np.max(np.abs(here - there)) <= _SMALL * size):
            raise ProblemError(
                f"the kernel of '{quantity.name}' does not decay: half a period away along "
                f"'{domain.coordinates[axis]}' it is still {ends:.3g}, of {size:.3g} at most, and it does not have the "
                f"period {domain.lengths[axis]:g}. Use a narrower kernel, a periodic one, or a longer domain."
            )
