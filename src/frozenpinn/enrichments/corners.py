"""Which singular functions of corners a problem needs in addition to the neurons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.basis.corners import LOG, PLAIN, Corner, Power, SingularFunctions, is_whole
from frozenpinn.basis.special import joined
from frozenpinn.enrichments.features import Features, Pilot
from frozenpinn.enrichments.wedges import Wedge, wedge_at
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

Array = np.ndarray


def singular_functions(problem: Problem) -> SingularFunctions | None:
    """Return the singular functions of the corners of a plane domain; None if there are none, or of another kind.

    Powers and phases follow from the conditions: r^(kπ/ω) times sines where values are given, cosines where slopes
    are, and half multiples of both where the two meet; there, all corners that open by more than π/2 are singular. They
    belong to the Laplacian: equations with other second derivatives, or higher ones, have other singular functions,
    which are not known here.
    """
    corners = [Corner(*corner) for corner in problem.domain.corners_beyond(unbounded_beyond(problem))]
    if not corners or not all(is_laplacian(problem, equation) for equation in problem.equations):
        return None
    step, phases = step_and_phases(problem)
    smooth = 3.0  # neurons represent higher powers of the distance well enough
    found = [
        SingularFunctions.of([corner], np.arange(step, smooth * corner.opening / np.pi, step).tolist(), phases)
        for corner in corners
    ]
    return SingularFunctions(np.concatenate([f.table for f in found]))


# ---- to a high accuracy, where values are given and equations hold at points -------------------------


class CornerFunctions(NamedTuple):
    """Functions of corners at which gradients are unbounded, and of those at which only higher derivatives are."""

    strong: SingularFunctions
    weak: SingularFunctions


def offer(pilot: Pilot) -> Iterator[Features]:
    """Offer functions of all corners together with multipoles of all holes: both belong to the shape."""
    found = joined([pilot.always, pilot.corners, pilot.holes])
    if found is not None and len(found) > (0 if pilot.always is None else len(pilot.always)):
        yield Features(found)


@remembered
def corner_functions(problem: Problem, power: float, most: int, wedges: bool = True) -> CornerFunctions | None:
    """Return all singular functions of the corners of a plane domain up to a power of the distance, lowest first.

    Powers λ = kπ/ω that are not whole have r^λ, whole ones r^n log r, by which data contradict each other there: Δu = 1
    with u = 0 on a square has r² log r, and values that jump from one edge to the next have the angle itself. Terms
    of lower order than the Laplacian turn r^λ into a series of r^(λ+2), r^(λ+4), …, those with slopes or with
    coefficients that vary into one of all z^(λ+i) z̄^j. Powers of other equations and of systems are found numerically.

    Parameters
    ----------
    power
        The highest power of the distance.
    most
        Number of functions of each kind, at most.
    wedges
        Whether powers of other equations than Laplacians are looked for.
    """
    if problem.domain.dimension != 2:
        return None
    known = all(is_laplacian(problem, equation) for equation in problem.equations)
    limit = unbounded_beyond(problem)
    strong: list[Array] = []
    weak: list[Array] = []
    beyond = 0.02  # radians by which an opening must exceed a limit
    for corner in (Corner(*c) for c in problem.domain.corners_beyond(0.0)):
        wedge = None if known or not wedges else wedge_at(problem, corner, power)
        if not known and wedge is None:
            return None
        powers = _powers(problem, corner, power) if wedge is None else _powers_of_wedge(problem, wedge, power)
        found = sorted(powers, key=lambda f: (complex(f.p).real + f.q, f.q))
        unit = float(np.max(np.hypot(*(_box_corners(problem) - [corner.x, corner.y]).T)))
        table = SingularFunctions.at(corner, found, unit).table
        sharp = corner.opening > limit + beyond if wedge is None else wedge.is_strong
        (strong if sharp else weak).extend(table)
    return CornerFunctions(_lowest(strong, most), _lowest(weak, most))


def _lowest(rows: list[Array], most: int) -> SingularFunctions:
    """Return the functions of lowest power of all corners together."""
    table = SingularFunctions.joined([SingularFunctions(np.array(rows))] if rows else []).table
    order = np.argsort(table[:, 5] + table[:, 6], kind="stable")
    return SingularFunctions(table[order[:most]])


def _box_corners(problem: Problem) -> Array:
    (x0, y0), (x1, y1) = problem.domain.lower, problem.domain.upper
    return np.array([(x0, y0), (x0, y1), (x1, y0), (x1, y1)])


def _powers(problem: Problem, corner: Corner, highest: float) -> Iterator[Power]:
    """Yield the functions of one corner."""
    step, phases = step_and_phases(problem)
    series = _series(problem)
    for k in np.arange(0.0, highest * corner.opening / np.pi + step, step):
        power = float(k * np.pi / corner.opening)
        log = LOG if is_whole(power) else PLAIN
        own = phases if k else (np.pi / 2,)
        if k == 0 and phases == (0.0,):
            continue
        for i, j in _steps(series, highest - power):
            for phase in own if i == j else (0.0, np.pi / 2):
                yield Power((round(power) if log else power) + i, float(j), log, phase)


def _powers_of_wedge(problem: Problem, wedge: Wedge, highest: float) -> Iterator[Power]:
    """Yield the functions of a corner whose powers were found numerically; jumps of values have the angle itself."""
    series = "none" if _series(problem) == "none" else "all"
    if wedge.values:
        yield from (Power(0, 0.0, LOG, np.pi / 2, root) for root, _ in wedge.roots)
    nearly = 1e-7  # powers found numerically that are as near to a whole number are whole
    for power in wedge.powers:
        whole = power.imag == 0.0 and is_whole(power.real, nearly)
        own = [complex(round(power.real))] if whole else [power] if power.imag == 0.0 else [power, power.conjugate()]
        for root, times in wedge.roots:
            steps = {(i - k, j + k) for k in range(times) for i, j in _steps(series, highest - power.real)}
            for p in own:
                for i, j in sorted(steps):
                    for phase in (0.0, np.pi / 2):
                        yield Power(p + i, float(j), LOG if whole else PLAIN, phase, root)


def _steps(series: str, room: float) -> Iterator[tuple[int, int]]:
    """Yield the powers of z and z̄ that a series adds."""
    most = int(np.floor(room + 1e-9)) if room >= 0 else -1
    for i in range(most + 1):
        for j in range(most + 1 - i):
            if (i, j) == (0, 0) or series == "all" or (series == "even" and i == j):
                yield i, j


def _series(problem: Problem) -> str:
    """Return which series lower terms make of a power: ``none``, ``even`` or ``all``."""
    kinds = set()
    robin = any(len({jet.order for jet in c.jets}) > 1 for c in problem.conditions)
    for equation in problem.equations:
        coordinates = {*problem.jets.coordinates}
        varies = any({s.name for s in sp.sympify(c).free_symbols} & coordinates for c in equation.linear.values())
        lower = {jet.order for jet in equation.linear if jet.order < 2}
        general = varies or 1 in lower or not equation.is_linear or robin
        kinds.add("all" if general else "even" if lower else "none")
    return "all" if "all" in kinds else "even" if "even" in kinds else "none"


# ---- what conditions and equations say ---------------------------------------------------------------


def unbounded_beyond(problem: Problem) -> float:
    """Return the opening beyond which gradients are unbounded: π, and π/2 where values here meet slopes there."""
    mixed = {0, 1} <= {max(jet.order for jet in c.jets) for c in problem.conditions}
    return float(np.pi / 2 if mixed else np.pi)


def step_and_phases(problem: Problem) -> tuple[float, tuple[float, ...]]:
    """Return the step of the multiples of π/ω, and the phases of sines, cosines or both."""
    orders = {jet.order for condition in problem.conditions for jet in condition.jets}
    if orders == {0}:
        return 1.0, (np.pi / 2,)
    return (1.0, (0.0,)) if orders == {1} else (0.5, (0.0, np.pi / 2))


def is_laplacian(problem: Problem, equation: Equation) -> bool:
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
