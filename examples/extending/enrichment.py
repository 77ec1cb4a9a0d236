"""An enrichment of your own: waves of the length that a Helmholtz equation has, in all directions of the plane.

    Δu + k² u = 0  on a disk,  u = g on the boundary:  cos(k·x) and sin(k·x) with |k| = k solve the equation

``offer`` in the ``ENRICHMENTS`` of enrichments/offers.py makes static solves try them, where neurons leave too much.
"""

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np

import frozenpinn as fp
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.enrichments import offers
from frozenpinn.enrichments.features import Features, Pilot, beside
from frozenpinn.runtime.decisions import Decision

PLANE_WAVES = Decision("plane waves", "the equation has waves of one length, in all directions")


def offer(pilot: Pilot) -> Iterator[Features]:
    """Offer plane waves for a Helmholtz equation in the plane, in more directions where more waves fit in."""
    domain, k = pilot.plan.problem.domain, wave_number(pilot.plan.problem)
    if k is not None and domain.dimension == 2 and pilot.is_whole:
        radius = float(np.linalg.norm(domain.upper - domain.lower)) / 2
        waves = plane_waves(k, int(k * radius) + 10, (domain.lower + domain.upper) / 2)
        yield Features(beside(waves, pilot.always), decision=PLANE_WAVES)


def wave_number(problem: fp.Problem) -> float | None:
    """Return k of the single equation c (Δu + k² u) = f(x); None for others."""
    equation, *others = problem.equations
    value = problem.jets.field(equation.field)
    laplacian = replace(value, laps=1)
    if others or not equation.is_linear or set(equation.linear) != {value, laplacian}:
        return None
    square = equation.linear[value] / equation.linear[laplacian]
    return float(square) ** 0.5 if square.is_number and square > 0 else None


def plane_waves(k: float, count: int, middle: np.ndarray) -> LayerFunctions:
    """Return a cosine and a sine in each direction: exponentials as of layers, which do not fall off but oscillate."""
    angles = np.pi * np.arange(count) / count
    rows = [(*middle, 0, 0, k * np.cos(a), k * np.sin(a), phase) for a in angles for phase in (0, np.pi / 2)]
    return LayerFunctions(np.array(rows))  # x₀, rates of decay, of oscillation, phase


def main() -> None:
    exact = "sin(20*x + 15*y) + cos(25*x) + sin(15*x - 20*y)"
    problem = fp.Problem(
        "lap(u) + k**2*u = 0", fp.Disk(), boundary=fp.Dirichlet(exact), parameters={"k": 25}, exact=exact
    )
    with patch.object(offers, "ENRICHMENTS", (*offers.ENRICHMENTS, offer)):  # as one line there would do
        solution = fp.solve(problem, tol=1e-8)
    print(solution.report)
    plain = fp.solve(problem, tol=1e-8)
    print(f"{solution.width} neurons with plane waves, {plain.width} without")
    assert solution.error()["rel_l2"] < 1e-8
    assert PLANE_WAVES in solution.decisions
    assert solution.width < plain.width / 3


if __name__ == "__main__":
    main()
