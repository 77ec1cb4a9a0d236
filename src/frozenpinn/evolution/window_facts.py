"""What is told of windows of time: numbers of neurons, work, and who did it."""

from __future__ import annotations

from frozenpinn.integrators import Integrator, Trajectory
from frozenpinn.results.expansion import Piece


def listed(widths: tuple[int, ...]) -> str:
    """Write numbers of neurons, one or one per axis."""
    return " × ".join(map(str, widths))


def stepping(piece: Piece) -> float:
    """Return about how many operations the steps of a window have taken."""
    work = piece.trajectory.work
    if not (work.rhs or work.jacobians):
        return 0.0
    size = piece.layout.size
    each = sum(e.basis.flops for e in piece.expansions)  # of one map from coefficients to values
    matrices = 0 if any(e.basis.is_product for e in piece.expansions) else size * work.jacobians
    return 2.0 * each * (work.rhs + matrices)


def label(stepper: Integrator, trajectory: Trajectory) -> str:
    """Name the integrator that did the work: a fallback leaves its own name on the trajectory."""
    stepped = trajectory.name not in ("modal", "scaling-and-squaring", "hermite")
    return trajectory.name if stepped else stepper.name
