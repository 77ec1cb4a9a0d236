"""Multipoles about some centres, in the plane or in space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.basis.corners import LOG_R, PLAIN, Corner, Power, SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.poles import SpacePoles


def poles_about(
    centres: Sequence[Sequence[float]], radii: Sequence[float], order: int, lower: bool
) -> SpecialFunctions:
    """Return the multipoles about some centres in the plane or in space."""
    if len(centres[0]) == 3:
        return SpacePoles.of(centres, radii, order, (-1, 1) if lower else (-1,))
    powers_of = [*_harmonic(order), *(_companions(order) if lower else ())]
    places = [(Corner(float(x), float(y), 0.0, 2.0 * np.pi), r) for (x, y), r in zip(centres, radii, strict=True)]
    return SingularFunctions.joined([SingularFunctions.at(place, powers_of, radius) for place, radius in places])


def _harmonic(order: int) -> list[Power]:
    waves = [Power(-float(k), 0.0, PLAIN, phase) for k in range(1, order + 1) for phase in (0.0, np.pi / 2)]
    return [Power(0.0, 0.0, LOG_R), *waves]


def _companions(order: int) -> list[Power]:
    """Return the functions whose Laplacians are those of :func:`_harmonic`."""
    first = [Power(1.0, 1.0, LOG_R), Power(1.0, 0.0, LOG_R), Power(1.0, 0.0, LOG_R, np.pi / 2)]
    return [*first, *(Power(1.0 - k, 1.0, PLAIN, phase) for k in range(2, order + 1) for phase in (0.0, np.pi / 2))]
