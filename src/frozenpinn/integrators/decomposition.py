"""Diagonalising the linear part of a system, where its structure or the condition of its eigenvectors allows it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frozenpinn.integrators.axis_modes import AxisModes, axis_modes
from frozenpinn.integrators.axis_scaling_and_squaring import has_axis_ladder
from frozenpinn.integrators.protocol import OdeSystem
from frozenpinn.integrators.scalar_equations import Modes
from frozenpinn.operators import Dense, Operator
from frozenpinn.operators.eigen import Eigensystem
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
_WELL_CONDITIONED = 1e6  # eigenvectors up to here cost at most six digits of round-off
_WRITTEN_OUT = 700  # coefficients on products whose matrix is diagonalised as a whole: less than a second


class Decomposition(NamedTuple):
    """Modes, their vectors (right), the map from states to modal coordinates (left), and what is no part of them.

    ``axes`` and ``constant`` are those of a sum over axes, see :class:`~frozenpinn.integrators.axis_modes.AxisModes`.
    """

    modes: Modes
    vectors: Operator
    left: Operator
    rest: Operator | None = None
    axes: tuple[Eigensystem, ...] | None = None
    constant: float = 0.0


def can_propagate(system: OdeSystem) -> bool:
    """Whether the exact propagator can solve a system."""
    if not system.has_constant_coefficients:
        return False
    if not isinstance(system.linear.position, Dense):
        return decompose(system) is not None or has_axis_ladder(system)
    return system.forcing.is_constant or is_structured(system) or _is_well_conditioned(system)


def is_structured(system: OdeSystem) -> bool:
    """Whether the linear part is diagonalised by orthogonal eigenvectors."""
    linear = system.linear
    if linear.order == 1:
        return linear.structure in ("symmetric", "skew-symmetric")
    return linear.order == 2 and linear.structure == "symmetric" and linear.damping is not None


def is_diagonalisable(system: OdeSystem) -> bool:
    """Whether the linear part is diagonalised by eigenvectors that are orthogonal, or nearly so."""
    return is_structured(system) or (system.linear.structure == "split" and _is_well_conditioned(system))


def _is_well_conditioned(system: OdeSystem) -> bool:
    return system.linear.order == 1 and system.linear.eigensystem[2] <= _WELL_CONDITIONED


def decompose(system: OdeSystem, complete: bool = True) -> Decomposition | None:
    """Diagonalise the operator if its structure, or the condition of its eigenvectors, allows it.

    On products, where that is done axis by axis, ``complete=False`` takes what can be diagonalised and leaves a rest.
    """
    linear, (start, end) = system.linear, system.time
    if not isinstance(linear.position, Dense):
        return _by_axes(system, complete)
    if is_structured(system):
        order = linear.order or 1
        spectrum = linear.position.spectrum(rate=(end - start) ** -order)
        assert spectrum is not None, "operators with a symmetry can be diagonalised"
        modes = Modes(spectrum.eigenvalues, order, linear.damping or 0.0)
        return Decomposition(modes, spectrum.vectors, spectrum.left)
    autonomous = system.has_constant_coefficients and system.forcing.is_constant
    return None if autonomous else _as_a_whole(system)


def _by_axes(system: OdeSystem, complete: bool) -> Decomposition | None:
    """Diagonalise a linear part on products of networks."""
    linear, (start, end) = system.linear, system.time
    if linear.order is None or linear.damping is None:
        return None
    found = axis_modes(linear, complete, (end - start) ** -linear.order)
    if found is None and complete and system.has_constant_coefficients and len(system.initial_state) <= _WRITTEN_OUT:
        return _as_a_whole(system)
    if found is None or (linear.order == 2 and np.iscomplexobj(found.eigenvalues)):
        return None
    modes = _modes(found, linear.order, linear.damping)
    return Decomposition(modes, found.vectors, found.left, found.rest, found.axes, found.constant)


def _as_a_whole(system: OdeSystem) -> Decomposition | None:
    """Diagonalise a matrix without any structure, if its eigenvectors allow it."""
    if not _is_well_conditioned(system):
        return None
    eigenvalues, vectors, _ = system.linear.eigensystem
    return Decomposition(Modes(eigenvalues), Dense(vectors), Dense(np.linalg.inv(vectors)))


@remembered
def _modes(found: AxisModes, order: int, damping: float) -> Modes:
    return Modes(found.eigenvalues, order, damping)


def can_step(system: OdeSystem) -> bool:
    """Whether exponential multistep methods can: of first order in time, symmetric or diagonalised axis by axis."""
    linear = system.linear
    if linear.order != 1:
        return False
    return linear.structure == "symmetric" if isinstance(linear.position, Dense) else True
