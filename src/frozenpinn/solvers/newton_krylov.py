"""Newton's method for static problems on products of networks: nothing is multiplied out.

The linear part is diagonalised axis by axis. Where that is all of it, one division in its modes is the solution; else
it preconditions GMRES on products with the exact Jacobian; that of few coefficients is written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.errors import ConvergenceError
from frozenpinn.solvers.axis_modes import AxisModes, axis_modes

Array = np.ndarray
_STEPS = 25  # of Newton's method
_INNER = 60  # iterations of GMRES before a restart, …
_RESTARTS = 4  # … and restarts
_ACCURACY = 1e-9  # of inner solves, relative to the right-hand side: the next step mends the rest; …
_LOOSE = (0.1, 1e-2)  # … or this part of the last correction, at most this of the first
_SMALLEST = 100  # coefficients up to which the Jacobian is written out and factorised: that costs less than GMRES
_SHORTEST = 1.0 / 256.0  # step
_SETTLED = 0.7  # ratio of two corrections from which on they are round-off, …
_SMALL = 1e-6  # … if they are small
_NEAR = 0.1  # change of a state up to which the modes of the one before precondition as well, …
_FEW = 5  # … or products with the Jacobian that the last inner solve has taken with them


class Balanced(NamedTuple):
    """Coefficients for which all equations balance, the relative size of each correction, and the modes at the end."""

    state: Array
    changes: tuple[float, ...]
    eigenvalues: Array


def balance(
    system: Discretisation, start: Array, accuracy: float, told: Callable[[], None], restarts: int = _RESTARTS
) -> Balanced:
    """Solve L c + b + n(c) = 0; ``told`` is called before every product with the Jacobian, and may break off.

    ``restarts`` limits the iterations of inner solves.

    Raises
    ------
    ConvergenceError
        If the linear part can't be diagonalised along the axes, or corrections do not get smaller.
    """
    state, changes = np.array(start, dtype=float), list[float]()
    direct, left, products = system.pointwise is None, system.rhs(0.0, state), 0
    for _ in range(_STEPS):
        if not changes or (changes[-1] > _NEAR and products > _FEW):
            modes = axis_modes(system.mean_linear(0.0, state), False, 1.0)
        if modes is None or not np.all(np.abs(modes.eigenvalues) > 0):
            raise ConvergenceError("the linear part has no modes along the axes.")
        loose = _LOOSE[0] * min([_LOOSE[1], *changes[-1:]])
        rtol = _ACCURACY if direct else max(_ACCURACY, loose)
        correction, products = _solved(system, modes, state, left, (rtol, restarts), told)
        size = float(np.linalg.norm(correction))
        state, left, share, following = _damped(system, modes, state, left, -correction)
        changes.append(size / max(float(np.linalg.norm(state)), 1e-300))
        if min(changes[-1], following) <= accuracy or (direct and modes.rest is None):
            return Balanced(state, tuple(changes), modes.eigenvalues)
        if share == 1.0 and len(changes) > 1 and _SMALL > changes[-1] > _SETTLED * changes[-2]:
            return Balanced(state, tuple(changes), modes.eigenvalues)
    raise ConvergenceError(f"Newton's method did not converge in {_STEPS} steps.")


def _damped(
    system: Discretisation, modes: AxisModes, state: Array, left: Array, correction: Array
) -> tuple[Array, Array, float, float]:
    """Take as much of a correction as makes the next one smaller, as far as the mean linear part can tell.

    ``left`` is what the state leaves of the equations. Returned are the new state, what it leaves, the share, and about
    by how much the next correction will change it.
    """
    if system.pointwise is None:
        state = state + correction
        return state, left if modes.rest is None else system.rhs(0.0, state), 1.0, float("inf")
    before, share = float(np.linalg.norm(_divided(modes, left))), 1.0
    while share >= _SHORTEST:
        trial = state + share * correction
        with np.errstate(all="ignore"):
            found = system.rhs(0.0, trial)
            after = float(np.linalg.norm(_divided(modes, found)))
        size = max(float(np.linalg.norm(trial)), 1e-300)
        if after <= (1.0 - 0.25 * share) * before or after <= 1e-12 * size:
            return trial, found, share, after / size
        share /= 2.0
    small = float(np.linalg.norm(correction)) <= _SMALL * float(np.linalg.norm(state))
    if small:
        return state + correction, system.rhs(0.0, state + correction), 1.0, float("inf")
    raise ConvergenceError("no step of Newton's method makes the next correction smaller.")


def _divided(modes: AxisModes, right_side: Array) -> Array:
    """Divide by the eigenvalues in modal coordinates."""
    return np.asarray(np.real(modes.vectors @ ((modes.left @ right_side) / modes.eigenvalues)))


def _solved(
    system: Discretisation,
    modes: AxisModes,
    state: Array,
    right_side: Array,
    limits: tuple[float, int],
    told: Callable[[], None],
) -> tuple[Array, int]:
    """Solve with the Jacobian at a state, by GMRES unless the modes are those of all of it; count the products."""
    if system.pointwise is None and modes.rest is None:
        return _divided(modes, right_side), 0
    if system.size <= _SMALLEST:
        return np.linalg.solve(system.jacobian(0.0, state), right_side), 0
    jacobian, size, count = system.jacobian_operator(0.0, state), system.size, 0

    def product(v: Array) -> Array:
        nonlocal count
        told()
        count += 1
        return _divided(modes, jacobian @ v)

    scaled = LinearOperator((size, size), product, dtype=float)
    target = _divided(modes, right_side)
    rtol, restarts = limits
    found, info = gmres(scaled, target, rtol=rtol, atol=0.0, restart=_INNER, maxiter=restarts)
    if info and np.linalg.norm(scaled @ found - target) > max(1e-9, rtol) * np.linalg.norm(target):
        raise ConvergenceError("the linear systems of Newton's method are too far from a sum over the axes.")
    return np.asarray(found), count
