"""Exact propagation of linear systems with constant coefficients: no time steps, any output time.

Symmetric and skew-symmetric operators are diagonalised by ``eigh`` and solved mode by mode in closed form, also under
forcing and boundary data that depend on time (see modal.py); c'' = K c + δ c' + b with symmetric K likewise, and
general operators whose eigenvectors are well conditioned. Everything else that does not depend on time takes matrix
exponentials exp(A·T/2ʲ): an output time is reached by its binary digits, without assuming anything of A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frozenpinn.errors import IntegrationError, SettingsError, warn
from frozenpinn.integrators.decomposition import Decomposition, decompose
from frozenpinn.integrators.interpolation import (
    DEGREE,
    FEW_PROBES,
    MANY_PROBES,
    TooManyWindowsError,
    Window,
    interpolate,
)
from frozenpinn.integrators.modal import forced, unforced
from frozenpinn.integrators.protocol import NOBODY, Integrator, Observer, OdeSystem, Trajectory
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring
from frozenpinn.operators import Operator, ProductSum
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.arrays import is_finite

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class ExactPropagator:
    """Closed-form or matrix-exponential solution of linear systems with constant coefficients.

    Parameters
    ----------
    rtol
        Relative accuracy asked of the solution.
    margin
        Part of that which the interpolation of forcing and boundary data in time may take.
    fallback
        Used, with a warning, if these data can't be interpolated; None raises an error instead.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.solve(rod, settings=fp.Settings(integrator=fp.integrators.ExactPropagator())).integrator
    'exact'
    """

    rtol: float = 1e-10
    margin: float = 0.1
    fallback: Integrator | None = None
    name: str = "exact"

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """Diagonalise, or take powers of a matrix exponential; the trajectory evaluates at any time."""
        if not system.has_constant_coefficients:
            raise SettingsError(
                "the exact propagator needs a linear equation whose coefficients do not depend on t; "
                "use integrator='cvode' or leave the choice to the program."
            )
        if system.linear.is_dense:
            _check_finite(system.linear.position.dense())
        parts = decompose(system)
        if parts is not None:
            return self._modal(system, parts, observer)
        _check_finite(system.initial_state)
        if system.forcing.is_constant:
            _check_finite(system.state_forcing(system.time[0]))
        if (found := ScalingAndSquaring.of(system)) is not None:
            return found
        raise SettingsError(
            "the operator's eigenvectors are too ill conditioned for time-dependent forcing in closed form; "
            "use integrator='cvode' or leave the choice to the program."
        )

    def _modal(self, system: OdeSystem, parts: Decomposition, observer: Observer) -> Trajectory:
        widths = 4.0  # of a pulse that the first windows of an interpolation may span
        start, end = system.time
        modes, vectors, left = parts.modes, parts.vectors, parts.left
        load = system.forcing(start) if system.forcing.is_constant else None
        free = load is not None and not load.any()
        state = _in_modes(system, left, modes.order)
        _check_finite(state)
        if free:
            return unforced(modes, vectors, state, start, end)
        if load is not None:
            b = left @ load
            constant = np.zeros((DEGREE + 1, len(b)), dtype=b.dtype)
            constant[0] = b
            return forced(modes, vectors, state, [Window(start, end - start, constant)])
        try:
            probes = MANY_PROBES if system.forcing.is_separable else FEW_PROBES
            first = int(np.clip((end - start) / (widths * system.shortest), 4, 1000))
            accuracy = max(self.margin * self.rtol, 1e-14)
            size = float(np.linalg.norm(system.initial_state[: len(system.forcing(start))]))
            least = size / (end - start) ** modes.order  # what a load must be to change the solution as much
            windows = interpolate(system.forcing.batch, start, end, accuracy, probes, first, least=least)
        except TooManyWindowsError:
            text = "forcing or boundary data vary too rapidly in time to be interpolated"
            if self.fallback is None:
                raise IntegrationError(f"{text}; use integrator='cvode'.") from None
            warn(f"{text}; {self.fallback.name} is used instead.")
            return self.fallback.integrate(system, observer)
        # few coefficients are mapped to the modes, instead of the many values they were found from
        return forced(modes, vectors, state, [Window(w.start, w.length, (left @ w.coefficients.T).T) for w in windows])


def _in_modes(system: OdeSystem, left: Operator, order: int) -> Array:
    """Return the initial state in modal coordinates, shape (order, modes); of products, by their factors."""
    spaces: Sequence[Sequence[ProductSum | None]] = getattr(system, "initial_products", ())
    factors = left.axis_factors
    known = spaces[0] if len(spaces) == 1 and factors is not None else [None] * order
    found = []
    for k, own in enumerate(known):
        if own is not None and factors is not None:
            found.append(own.mapped(factors).full())
        else:
            part = system.initial_state.reshape(order, -1)[k]
            found.append(left @ part if np.any(part) else np.zeros(left.shape[0]))
    return found[0][None] if order == 1 else np.stack(found)


def _check_finite(*arrays: Array) -> None:
    if not all(is_finite(a) for a in arrays):
        raise IntegrationError("the operator or the initial data contain values that are not finite.")
