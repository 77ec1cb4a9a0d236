"""Which singular functions a problem needs beside the neurons: those of corners that open by more than π."""

from __future__ import annotations

import numpy as np
import sympy as sp

from frozenpinn.basis.corners import Corner, SingularFunctions
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

_SMOOTH = 3.0  # neurons represent higher powers of the distance well enough
_FEW = 12  # corners up to which all have functions of their own where much accuracy is asked for


def singular_functions(problem: Problem, highest: float | None = None) -> SingularFunctions | None:
    """Return the singular functions of the corners of a plane domain; None if there are none, or of another kind.

    With ``highest``, those times even powers of the distance up to this power, too, and at all corners unless they are
    many: eigenfunctions have them, r^α (1 − λr²/(4α + 4) + …).

    Powers and phases follow from the conditions: r^(kπ/ω) times sines where values are given, cosines where slopes
    are, and half multiples of both where the two meet; there, all corners that open by more than π/2 are singular. They
    belong to the Laplacian: equations with other second derivatives, or higher ones, have other singular functions,
    which are not known here.
    """
    orders = {jet.order for condition in problem.conditions for jet in condition.jets}
    mixed = {0, 1} <= {max(jet.order for jet in c.jets) for c in problem.conditions}  # values here, slopes there
    sharpest = np.pi / 2 if mixed else np.pi
    corners = [Corner(*corner) for corner in problem.domain.corners_beyond(0.0 if highest else sharpest)]
    if len(corners) > _FEW:
        corners = [corner for corner in corners if corner.opening > sharpest]
    if not corners or not all(_is_laplacian(problem, equation) for equation in problem.equations):
        return None
    step = 1.0 if orders in ({0}, {1}) else 0.5
    phases = {0: (np.pi / 2,), 1: (0.0,)}[orders.pop()] if step == 1.0 else (0.0, np.pi / 2)
    found = [
        SingularFunctions.of(
            [corner], np.arange(step, (highest or _SMOOTH) * corner.opening / np.pi, step).tolist(), phases, highest
        )
        for corner in corners
    ]
    table = np.concatenate([f.table for f in found])
    return SingularFunctions(table) if len(table) else None


def _is_laplacian(problem: Problem, equation: Equation) -> bool:
    """Whether second derivatives of each field stand in its Laplacian only, and there are no higher ones."""
    jets = problem.jets.jets_in(equation.right_side).values()
    for jet in jets:
        if jet.order > 2 or (jet.order == 2 and not jet.laps and jet not in equation.linear):
            return False
    pure: dict[str, list[sp.Expr]] = {}
    for jet, coefficient in equation.linear.items():
        if jet.order == 2 and not jet.laps:
            if max(jet.alpha) < 2:
                return False
            pure.setdefault(jet.field, []).append(coefficient)
    return all(len(c) == 2 and sp.expand(c[0] - c[1]) == 0 for c in pure.values())
