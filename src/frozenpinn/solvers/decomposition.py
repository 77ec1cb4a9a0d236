"""Diagonalising the linear part of a system, where its structure or the condition of its eigenvectors allows it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frozenpinn.solvers.modal import Modes
from frozenpinn.solvers.protocol import OdeSystem

Array = np.ndarray
_WELL_CONDITIONED = 1e6  # eigenvectors up to here cost at most six digits of round-off


class Decomposition(NamedTuple):
    """Modes, their vectors (right) and the map from states to modal coordinates (left)."""

    modes: Modes
    vectors: Array
    left: Array


def can_propagate(system: OdeSystem) -> bool:
    """Whether the exact propagator can solve a system."""
    if not system.has_constant_coefficients:
        return False
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


def decompose(system: OdeSystem) -> Decomposition | None:
    """Diagonalise the operator if its structure, or the condition of its eigenvectors, allows it."""
    linear, (start, end) = system.linear, system.time
    if is_structured(system):
        order = linear.order or 1
        spectrum = linear.position.spectrum(rate=(end - start) ** -order)
        assert spectrum is not None, "operators with a symmetry can be diagonalised"
        modes = Modes(spectrum.eigenvalues, order, linear.damping or 0.0)
        return Decomposition(modes, spectrum.vectors.dense(), spectrum.left.dense())
    autonomous = system.has_constant_coefficients and system.forcing.is_constant
    if not autonomous and _is_well_conditioned(system):
        eigenvalues, vectors, _ = linear.eigensystem
        return Decomposition(Modes(eigenvalues), vectors, np.linalg.inv(vectors))
    return None


def has_real_modes(system: OdeSystem) -> bool:
    """Whether the linear part is symmetric and of first order in time."""
    return system.linear.order == 1 and system.linear.structure == "symmetric"
