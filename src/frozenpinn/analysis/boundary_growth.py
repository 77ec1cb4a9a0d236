"""Whether a boundary law feeds the solution: layers at its side that grow, found on the linearised law.

A layer exp(λt + κ·outward distance + iξ·along the side) obeys the equations if λ is an eigenvalue of their symbol, and
a law a·u + b·u_n + c·u_t = 0, linearised at the initial data, if a + bκ + cλ = 0. Both together with κ > 0 and a large
λ is what a wrong sign does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.analysis.symbol import Symbol, at_initial, fastest
from frozenpinn.statement.findings import Finding

if TYPE_CHECKING:
    from frozenpinn.geometry import BoundaryPoints
    from frozenpinn.statement.laws import BoundaryLaw
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
FED = 20.0  #: growth exp(20) of a layer at a side
_THICKNESSES = np.geomspace(1e-1, 1e3, 161)  # of layers that are looked at: one over this part of the domain
_ALONG = (0.0, 30.0)  # waves along the side, in units of one over the size of the domain


def judge_law(problem: Problem, symbol: Symbol, law: BoundaryLaw) -> Finding | None:
    """Look for a layer that a law of the wrong sign lets grow."""
    if not symbol.complete or len(law.fields) > 1:
        return None
    points = problem.domain.sample_side(law.side, 3, "random", 0)
    slopes = _linearised(problem, law, points)
    if slopes is None:
        return None
    if problem.equation(law.fields[0]).order == 2 and np.any(slopes[1] * slopes[2] < 0):
        text = (
            f"the condition '{law.text}' on side '{law.side.name}' feeds the solution: waves come back from there "
            "larger than they went. Is the sign of u_n right? 'u_t + c*u_n = 0' with a positive c absorbs them."
        )
        return Finding("conditions", "warning", text)
    duration = problem.time[1] - problem.time[0]
    for i, (x, normal) in enumerate(zip(points.x, points.normals, strict=True)):
        coefficients = symbol.coefficients(x)
        a, b, c = (float(part[i]) for part in slopes)
        if not np.all(np.isfinite([*coefficients, a, b, c])):
            continue
        rate, kappa = _fastest(problem, symbol, coefficients, normal, (a, b, c))
        if rate * duration > FED:
            text = (
                f"the condition '{law.text}' on side '{law.side.name}' feeds the solution: a layer of thickness "
                f"{1.0 / kappa:.2g} there grows like exp({rate:.3g}·t). Is the sign of u_n right? What leaves the "
                "domain lowers u there: 'u_n = -h*u', 'u_t + c*u_n = 0' and 'u_t = -u_n' are dissipative."
            )
            return Finding("conditions", "warning", text)
    return None


def _linearised(problem: Problem, law: BoundaryLaw, points: BoundaryPoints) -> tuple[Array, Array, Array] | None:
    """Return the coefficients of value, outward slope and time derivative at the initial data; None for others."""
    initial = {name: datum.expression for name, datum in problem.initial.items()}
    velocity = {name: datum.expression for name, datum in problem.initial_velocity.items()}
    parts = [np.zeros(len(points.x)) for _ in range(3)]
    for jet in law.jets_in():
        slope = sp.diff(law.residual, law.jets.symbol(jet))
        value = at_initial(slope, problem, initial, velocity)
        if value is None or jet.order > 1 or (jet.order and jet.time) or jet.time > 1:
            return None
        with np.errstate(all="ignore"):
            found = law.compile([value], ())(*points.x.T, *points.normals.T, problem.time[0])[0]
        factor = points.normals[:, int(np.argmax(jet.alpha))] if jet.order else 1.0
        parts[2 if jet.time else jet.order] += found * factor
    return parts[0], parts[1], parts[2]


def _fastest(
    problem: Problem, symbol: Symbol, coefficients: list[float], normal: Array, law: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the largest growth rate of a layer, and its κ; (0, 1) if there is none."""
    a, b, c = law
    length, best = float(np.abs(normal) @ problem.domain.lengths), (0.0, 1.0)
    along = np.linalg.svd(normal[None])[2][-1] if len(normal) > 1 else np.zeros(1)
    for xi in _ALONG if len(normal) > 1 else (0.0,):
        kappas = _THICKNESSES / length
        exponents = np.multiply.outer(kappas, normal) + 1j * xi / problem.domain.size * along
        rates = fastest(symbol.rates(coefficients, exponents), -np.inf)
        gaps = a + b * kappas + c * rates
        for i in np.flatnonzero(np.sign(gaps[:-1]) * np.sign(gaps[1:]) < 0):
            if np.isfinite(rates[i]) and rates[i] > best[0]:
                best = (float(rates[i]), float(kappas[i]))
    return best
