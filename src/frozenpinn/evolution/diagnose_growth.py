"""Why a computed solution has run away: errors that an unstable state multiplies, rather than the solution itself.

Where a reaction spreads into an unstable state (an epidemic among the healthy), errors in front of it grow like
exp(rate·t). Those of the wrong sign run away though the solution stays bounded: a density becomes negative, and then
ever more so. A field that is nowhere negative at the start but turns negative before it gets large is the sign of this.
Where that is possible, its logarithm is solved for instead (transforms/logarithm.py).
"""

from __future__ import annotations

from typing import cast

import numpy as np

from frozenpinn.assembly.determined import no_solution
from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.errors import IntegrationError
from frozenpinn.integrators import Trajectory

Array = np.ndarray
_TIMES = 65


def explained(error: IntegrationError, system: Discretisation | None) -> tuple[IntegrationError, tuple[str, ...]]:
    """Name the fields that turned negative before the blow-up, in the error, too; otherwise return it unchanged."""
    large = 10.0  # growth up to which a field has not blown up yet when it turns negative
    negative = 3e-2  # part of its first size by which a density must have become negative
    trajectory = cast(Trajectory | None, error.trajectory)
    if system is not None and system.elimination is not None and system.elimination.determined.last.lost is not None:
        lost = [name for space in system.elimination.determined.spaces for name in space.fields]
        text = f"the computation stopped at t = {error.time:.6g}: {no_solution(system.problem, lost, error.time)}"
        return IntegrationError(text, time=error.time, trajectory=error.trajectory), ()
    if system is None or trajectory is None or system.problem.is_linear:
        return error, ()
    times = np.linspace(system.time[0], trajectory.end, _TIMES)
    with np.errstate(all="ignore"):
        states = trajectory(times)
    first: dict[str, int] = {}
    for name in system.fields:
        given = np.broadcast_to(
            system.problem.initial[name](system.points.x, system.problem.time[0]), len(system.points.x)
        )
        size = float(np.max(given))
        if not size > 0.0 or np.min(given) < 0.0:
            continue
        ranges = [_range(system, name, y, float(t)) for t, y in zip(times, states, strict=True)]
        wrong = [k for k, (low, _) in enumerate(ranges) if not low >= -negative * size]
        if wrong and not ranges[-1][0] >= -size and max(high for _, high in ranges[: wrong[0] + 1]) <= large * size:
            first[name] = wrong[0]
    if not first:
        return error, ()
    names = tuple(sorted(first, key=lambda name: first[name]))
    return _composed(error, names[0], float(times[first[names[0]]]), system.problem.time[1]), names


def _range(system: Discretisation, name: str, y: Array, t: float) -> tuple[float, float]:
    """Return the least and the largest value of a field at the points."""
    index, space = system.space_of(name)
    terms = [Term(name, Derivative((0,) * system.problem.domain.dimension))]
    values = space.network.at_points(terms) @ system.layout.split(y)[index][0]
    if space.network.lift_size:
        values = values + space.network.lift_at_points(terms) @ space.data(t, 0)
    return float(np.min(values)), float(np.max(values))


def _composed(error: IntegrationError, name: str, since: float, end: float) -> IntegrationError:
    return IntegrationError(
        f"the computation stopped at t = {error.time:.6g} (of {end:g}): errors ran away. '{name}', which is nowhere "
        f"negative at the start, has become so by t = {since:.3g} and ever more since, while the solution itself may "
        "well stay bounded: in front of what spreads, such equations multiply every error. More neurons or a smaller "
        "tol only delays this; shorten the time, or write the equations for the logarithm of the field. What was found "
        "so far is the error's 'solution'.",
        time=error.time,
        trajectory=error.trajectory,
    )
