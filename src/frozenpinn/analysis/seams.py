"""Coefficients that jump where a periodic axis closes: no notation says what is continuous there.

Beside such a seam a coefficient is another one on each side, as at an interface. Whether the flux or the slope is
continuous across it can't be read from a formula, and smooth waves see neither: their mass changes, and no comparison
of two solutions shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.language.jets import Jet
from frozenpinn.language.lexer import shortened
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.findings import SEAM, Finding

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

Array = np.ndarray


def seam_findings(problem: Problem) -> list[Finding]:
    """Return objections to coefficients of derivatives that jump across the seam of a periodic axis."""
    flags = problem.domain.periodic
    axes = [axis for axis, periodic in enumerate(flags) if periodic and not _is_cut(problem, axis)]
    found = (_on_axis(problem, equation, axis) for axis in axes for equation in problem.equations)
    return [finding for finding in found if finding is not None]


def _is_cut(problem: Problem, axis: int) -> bool:
    """Whether interfaces cut an axis: the seam is one of them then, with a continuous flux."""
    known = problem.interfaces
    if known is None or not known.material:
        return False
    return any(problem.jets.x[axis] in level.free_symbols for level in known.levels)


def _on_axis(problem: Problem, equation: Equation, axis: int) -> Finding | None:
    """Look at all coefficients of derivatives along an axis, the highest first."""
    jumps = 1e-7  # part of a coefficient
    x = problem.jets.x[axis]
    for jet, coefficient in _coefficients(problem, equation, axis):
        below, above, inside = _beside(problem, coefficient, axis)
        size = float(np.max(np.abs([below, above, inside]), initial=0.0))  # sin(2*pi) is not quite 0
        if not np.isfinite(size) or np.max(np.abs(above - below), initial=0.0) <= jumps * size:
            continue
        at = int(np.argmax(np.abs(above - below)))
        what = f"the coefficient '{shortened(str(coefficient))}' of {problem.jets.name(jet)}"
        low, high = (float(end[axis]) for end in (problem.domain.lower, problem.domain.upper))
        return Finding(
            SEAM,
            "error",
            f"the axis {x} is periodic, and {what} jumps across its seam, from {above[at]:.4g} at {x} = {high:g} to "
            f"{below[at]:.4g} at {x} = {low:g}; whether the flux or the slope is continuous there is not known. "
            "Write a coefficient that is the same on both sides, with a short smooth transition if need be. To solve "
            "it with continuous slopes, pass settings=fp.Settings(without=('seams',)).",
        )
    return None


def _coefficients(problem: Problem, equation: Equation, axis: int) -> Iterator[tuple[Jet, sp.Expr]]:
    """Yield coefficients of derivatives along an axis, without what a product rule has made of higher ones."""
    x, right = problem.jets.x[axis], equation.right_side
    own = {jet: symbol for symbol, jet in problem.jets.jets_in(right).items() if jet.field in problem.fields}
    slopes = {jet: sp.diff(right, symbol) for jet, symbol in own.items()}
    for jet in sorted(slopes, key=lambda jet: -jet.order):
        if not (jet.alpha[axis] or jet.laps) or x not in slopes[jet].free_symbols:
            continue
        above = [problem.jets.shifted(jet, axis), replace(_lowered(jet, axis), laps=jet.laps + 1)]
        known = [slopes[higher] for higher in above if higher in slopes]
        yield jet, sp.expand(slopes[jet] - sum(sp.diff(c, x) for c in known))


def _lowered(jet: Jet, axis: int) -> Jet:
    """Return a jet with one derivative along an axis less: its Laplacian has one more than the jet."""
    return replace(jet, alpha=tuple(max(0, a - (i == axis)) for i, a in enumerate(jet.alpha)))


def _beside(problem: Problem, coefficient: sp.Expr, axis: int) -> tuple[Array, Array, Array]:
    """Return a coefficient on the lower and the upper end of an axis and in between, for any values of the fields."""
    looks = 24  # places on a seam
    rng, domain = np.random.default_rng(Seed.PROBE), problem.domain
    fields = problem.jets.jets_in(coefficient)
    numbers = dict(zip(fields, map(sp.Float, rng.uniform(0.5, 1.5, len(fields))), strict=True))
    program = problem.compile([coefficient.xreplace(numbers)])
    places = domain.sample(looks, "random", rng).x.copy()
    times = rng.uniform(*problem.time, looks) if problem.time[1] > problem.time[0] else np.zeros(looks)

    def values() -> Array:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(program(*places.T, times)[0], dtype=float), looks).copy()

    inside = values()
    places[:, axis] = domain.lower[axis]
    below = values()
    places[:, axis] = domain.upper[axis]
    return below, values(), inside
