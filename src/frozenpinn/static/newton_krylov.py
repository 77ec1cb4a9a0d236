"""Newton's method for static problems on products of networks: nothing is multiplied out.

The linear part is diagonalised axis by axis. Where that is all of it, one division in its modes is the solution; else
it preconditions GMRES on products with the exact Jacobian, in modal coordinates where these are real.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.modal_equations import ModalEquations, ModalState, is_modal
from frozenpinn.errors import ConvergenceError
from frozenpinn.integrators.decomposition import Decomposition, axis_modes
from frozenpinn.operators import mapping
from frozenpinn.operators.gmres import gmres

Array = np.ndarray
_SMALLEST = 100  # coefficients up to which a Jacobian in no modes is written out and factorised
_SMALL = 1e-6  # relative correction below which two that hardly differ are round-off


class Balanced(NamedTuple):
    """Coefficients for which all equations balance, the relative size of each correction, and the modes at the end."""

    state: Array
    changes: tuple[float, ...]
    eigenvalues: Array


class _Tangent(NamedTuple):
    """The equations at a state: products with their Jacobian, division by most of it, and the eigenvalues of that.

    ``matrix`` is the Jacobian if it is written out.
    """

    product: Callable[[Array], Array]
    divided: Callable[[Array], Array]
    eigenvalues: Array
    matrix: Array | None = None


class _InCoefficients:
    """The equations as they are, divided in the modes of their mean linear part."""

    settled = False  #: whether the modes are the same at every state

    def __init__(self, system: Discretisation, modes: Decomposition) -> None:
        self._system, self._modes = system, modes
        self.complete = system.pointwise is None and modes.rest is None

    def inward(self, state: Array) -> Array:
        """Return the unknowns for coefficients."""
        return state

    outward = inward

    def at(self, z: Array) -> ModalState:
        """Evaluate the equations."""
        return ModalState(z, self._system.rhs(0.0, z), [])

    def tangent(self, state: ModalState) -> _Tangent:
        """Linearise them."""
        system, modes = self._system, self._modes

        def divided(v: Array) -> Array:
            return np.asarray(np.real(modes.vectors @ ((modes.left @ v) / modes.eigenvalues)))

        if self.complete:
            return _Tangent(divided, divided, modes.eigenvalues)
        few = system.size <= _SMALLEST
        product = system.jacobian_operator(0.0, state.z).__matmul__
        return _Tangent(product, divided, modes.eigenvalues, system.jacobian(0.0, state.z) if few else None)


class _InModes:
    """The equations in the modes of their linear part, with more of it where the rest has derivatives."""

    complete = False

    def __init__(self, system: Discretisation, modes: Decomposition, means: list[float]) -> None:
        self._equations = ModalEquations(system, modes.eigenvalues, modes.vectors, modes.left, modes.rest, means)
        self.settled, self.at = not means, self._equations.at
        self.inward, self.outward = mapping(modes.left), mapping(modes.vectors)
        self._weights = system.points.weights / np.sum(system.points.weights)

    def tangent(self, state: ModalState) -> _Tangent:
        """Linearise them."""
        equations = self._equations
        slopes = equations.slopes(state)
        eigenvalues = equations.shifted(slopes, self._weights)
        return _Tangent(lambda v: equations.product(slopes, v), lambda v: v / eigenvalues, eigenvalues)


def balance(
    system: Discretisation, start: Array, accuracy: float, announce: Callable[[], None], restarts: int = 4
) -> Balanced:
    """Solve L c + b + n(c) = 0; ``announce`` is called before every product with the Jacobian, and may break off.

    ``restarts`` limits the iterations of inner solves.

    Raises
    ------
    ConvergenceError
        If the linear part can't be diagonalised along the axes, or corrections do not get smaller.
    """
    changes, products, direct = list[float](), 0, system.pointwise is None
    form = _form(system, start)
    now = form.at(form.inward(np.array(start, dtype=float)))
    most = 25  # steps of Newton's method
    least = 1e-9  # accuracy of inner solves, relative to the right-hand side
    flat = 0.7  # ratio of two small corrections beyond which they are round-off
    near = 0.1  # change of a state up to which the modes of the one before precondition as well
    few = 5  # products with the Jacobian up to which those modes are kept as well
    for _ in range(most):
        if changes and changes[-1] > near and products > few and not form.settled:
            state = form.outward(now.z)
            form = _form(system, state)
            now = form.at(form.inward(state))
        tangent = form.tangent(now)
        if not np.abs(tangent.eigenvalues).min() > 0:
            raise ConvergenceError("the linear part has no modes along the axes.")
        if form.complete:
            z = now.z - tangent.divided(now.left)
            return Balanced(z, (_relative(now.z - z, z),), tangent.eigenvalues)
        loose = 0.1 * min([1e-2, *changes[-1:]])  # a part of the last correction, which the next step mends
        correction, products = _solved(tangent, now.left, least if direct else max(least, loose), restarts, announce)
        now, share, following = _damped(form, tangent, now, -correction, direct)
        changes.append(_relative(correction, now.z))
        settled = share == 1.0 and len(changes) > 1 and _SMALL > changes[-1] > flat * changes[-2]
        if min(changes[-1], following) <= accuracy or settled:
            return Balanced(form.outward(now.z), tuple(changes), tangent.eigenvalues)
    raise ConvergenceError(f"Newton's method did not converge in {most} steps.")


def _form(system: Discretisation, state: Array) -> _InCoefficients | _InModes:
    """Return the equations in modes if they can be written so: of the linear part, or of more at a state."""
    part, means = system.pointwise, list[float]()
    if part is not None and len(system.spaces) == 1 and not any(jet.order or jet.time for jet in part.jets):
        linear = system.linear  # derivatives by the field itself shift its eigenvalues
    else:
        linear = system.mean_linear(0.0, state)
        if part is not None and not part.quantities:
            weights = system.points.weights / np.sum(system.points.weights)
            found = [mean for _, _, mean in part.mean_partials(0.0, system.layout.split(state), weights)]
            means = [mean if np.isfinite(mean) else 0.0 for mean in found]
    modes = axis_modes(linear, False, 1.0)
    if modes is None:
        raise ConvergenceError("the linear part has no modes along the axes.")
    if is_modal(system, modes.eigenvalues, modes.vectors, modes.left):
        return _InModes(system, modes, means)
    return _InCoefficients(system, modes)


def _relative(change: Array, state: Array) -> float:
    return _norm(change) / max(_norm(state), 1e-300)


def _norm(vector: Array) -> float:
    return float(np.sqrt(vector @ vector))


def _damped(
    form: _InCoefficients | _InModes, tangent: _Tangent, now: ModalState, correction: Array, direct: bool
) -> tuple[ModalState, float, float]:
    """Take as much of a correction as makes the next one smaller, judged by the mean linear part.

    Returned are the new state, the share, and about by how much the next correction will change it.
    """
    if direct:
        return form.at(now.z + correction), 1.0, float("inf")
    before, share = _norm(tangent.divided(now.left)), 1.0
    with np.errstate(all="ignore"):
        while share >= 1.0 / 256.0:
            trial = form.at(now.z + share * correction)
            after, size = _norm(tangent.divided(trial.left)), max(_norm(trial.z), 1e-300)
            if after <= (1.0 - 0.25 * share) * before or after <= 1e-12 * size:
                return trial, share, after / size
            share /= 2.0
    if _norm(correction) <= _SMALL * _norm(now.z):
        return form.at(now.z + correction), 1.0, float("inf")
    raise ConvergenceError("no step of Newton's method makes the next correction smaller.")


def _solved(
    tangent: _Tangent, right_side: Array, rtol: float, restarts: int, announce: Callable[[], None]
) -> tuple[Array, int]:
    """Solve with the Jacobian at a state, by GMRES unless it is written out; count the products."""
    if tangent.matrix is not None:
        return np.linalg.solve(tangent.matrix, right_side), 0
    count = 0

    def product(v: Array) -> Array:
        nonlocal count
        announce()
        count += 1
        return tangent.divided(tangent.product(v))

    inner = max(60, min(len(right_side), _SMALLEST))  # iterations, in which few unknowns are solved for in any case
    found, left = gmres(product, tangent.divided(right_side), rtol, inner, restarts)
    if left > max(1e-9, rtol):
        raise ConvergenceError("the linear systems of Newton's method are too far from a sum over the axes.")
    return found, count
