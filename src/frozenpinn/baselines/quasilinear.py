"""Galerkin's method for quasilinear parabolic equations, whatever the elements.

    uₜ = a(x, t, u) Δu + b(x, t, u, ∇u)   becomes   ⟨v, uₜ⟩ = −⟨∇v, a ∇u⟩ + ⟨v, b − ∇a·∇u⟩

which is exact for test functions v that vanish where u is given, and otherwise imposes ∂u/∂n = 0. The derivatives by u
and ∇u are symbolic, so the Jacobian is exact. Integrals are sums over the quadrature points of all elements, matrices
have one sparsity pattern for good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from scipy import sparse
from scipy.sparse.linalg import splu

from frozenpinn.errors import SettingsError
from frozenpinn.problem.jet import Jet
from frozenpinn.problem.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class Elements:
    """The basis on E elements with q quadrature points and n functions each.

    Attributes
    ----------
    values, gradients
        Of the functions, shapes (E, q, n) and (d, E, q, n).
    points, weights
        The quadrature, shapes (d, E, q) and (E, q).
    dofs
        Global numbers of the functions, shape (E, n).
    size
        How many functions there are altogether.
    """

    values: Array
    gradients: Array
    points: Array
    weights: Array
    dofs: Array
    size: int


class WeakForm:
    """The terms a and q = b − ∇a·∇u of an equation, and their derivatives by u and ∇u."""

    def __init__(self, problem: Problem) -> None:
        if len(problem.fields) != 1 or problem.equations[0].order != 1:
            raise SettingsError(f"one equation of first order in time is needed here, got '{problem!r}'.")
        equation, jets, d = problem.equations[0], problem.jets, problem.domain.dimension
        value = jets.field(problem.fields[0])
        first = [jets.shifted(value, axis) for axis in range(d)]
        highest = jets.shifted(first[0], 0) if d == 1 else Jet(value.field, value.alpha, 1)
        known = {jets.symbol(jet) for jet in (value, *first)}
        a = sp.diff(equation.right_side, jets.symbol(highest))
        b = equation.right_side.xreplace({jets.symbol(highest): sp.Integer(0)})
        if set(jets.jets_in(a)) - {jets.symbol(value)} or set(jets.jets_in(b)) - known:
            raise SettingsError(f"'{equation}' is not of the form u_t = a(x, t, u)·lap(u) + b(x, t, u, grad u).")
        q = b - sum(jets.total_derivative(a, i) * jets.symbol(jet) for i, jet in enumerate(first))
        slopes = [sp.diff(a, jets.symbol(value)), *(sp.diff(q, jets.symbol(jet)) for jet in (value, *first))]
        self.terms = problem.compile([a, q], [value, *first])
        self.derivatives = problem.compile([a, *slopes], [value, *first])


class Semidiscrete:
    """M u' = R(u, t) for the free coefficients, with the others given as functions of time.

    Parameters
    ----------
    form, elements
        The equation and the basis.
    fixed
        Numbers of the coefficients that are given.
    given
        Their values at a time.
    """

    def __init__(
        self,
        form: WeakForm,
        elements: Elements,
        fixed: Array | None = None,
        given: Callable[[float], Array] | None = None,
    ) -> None:
        self.form, self.elements = form, elements
        self.fixed = np.zeros(0, dtype=int) if fixed is None else np.asarray(fixed, dtype=int)
        self.given = given or (lambda t: np.zeros(len(self.fixed)))
        self.free = np.setdiff1d(np.arange(elements.size), self.fixed)
        self._make_pattern()
        weighted = elements.values * elements.weights[..., None]
        local = np.swapaxes(weighted, 1, 2) @ elements.values
        n = elements.dofs.shape[1]
        rows, columns = np.repeat(elements.dofs, n, axis=1).ravel(), np.tile(elements.dofs, (1, n)).ravel()
        full = sparse.csr_matrix((local.ravel(), (rows, columns)), (elements.size,) * 2)
        self.mass_rows = full[self.free]
        self.mass_matrix = full
        self.mass_entries = self._assemble(local)

    def _make_pattern(self) -> None:
        """Give numbers to the entries of matrices between free coefficients, column by column."""
        dofs, count = self.elements.dofs, len(self.free)
        number = np.full(self.elements.size, -1)
        number[self.free] = np.arange(count)
        rows = np.broadcast_to(number[dofs][:, :, None], (*dofs.shape, dofs.shape[1]))
        columns = np.swapaxes(rows, 1, 2)
        self._kept = ((rows >= 0) & (columns >= 0)).ravel()
        keys, self._place = np.unique((columns * count + rows).ravel()[self._kept], return_inverse=True)
        self._indices = (keys % count).astype(np.int32)
        self._indptr = np.searchsorted(keys, count * np.arange(count + 1)).astype(np.int32)

    def _assemble(self, local: Array) -> Array:
        """Add matrices of elements, shape (E, n, n); return the entries in the order of the pattern."""
        return np.bincount(self._place, local.ravel()[self._kept], minlength=len(self._indices))

    def at_points(self, u: Array, t: float) -> tuple[list[Array], list[Array]]:
        """Return u and its gradient at the quadrature points, and the arguments of the terms there."""
        e = self.elements
        local = u[e.dofs][..., None]
        state = [(e.values @ local)[..., 0], *((g @ local)[..., 0] for g in e.gradients)]
        return state, [*e.points, t, *state]

    def residual(self, u: Array, t: float) -> Array:
        """Return R at the free coefficients; ``u`` are all of them."""
        e = self.elements
        (_, *slope), arguments = self.at_points(u, t)
        a, q = (np.broadcast_to(value, e.weights.shape) for value in self.form.terms(*arguments))
        local = np.einsum("eqn,eq->en", e.values, e.weights * q)
        for g, s in zip(e.gradients, slope, strict=True):
            local -= np.einsum("eqn,eq->en", g, e.weights * a * s)
        return np.bincount(e.dofs.ravel(), local.ravel(), minlength=e.size)[self.free]

    def jacobian(self, u: Array, t: float) -> Array:
        """Return the entries of ∂R/∂u between free coefficients."""
        e = self.elements
        (_, *slope), arguments = self.at_points(u, t)
        table = [e.weights * np.broadcast_to(value, e.weights.shape) for value in self.form.derivatives(*arguments)]
        a, a_u, q_u, *q_slope = (values[..., None] for values in table)
        source = q_u * e.values
        for g, weight in zip(e.gradients, q_slope, strict=True):
            source += weight * g
        local = np.swapaxes(e.values, 1, 2) @ source
        for g, s in zip(e.gradients, slope, strict=True):
            local -= np.swapaxes(g, 1, 2) @ (a * g + (a_u * s[..., None]) * e.values)
        return self._assemble(local)

    def factorised(self, shift: complex, step: float, jacobian: Array) -> Any:
        """Return the LU factors of shift·M − step·J between free coefficients."""
        entries = shift * self.mass_entries - step * jacobian
        return splu(sparse.csc_matrix((entries, self._indices, self._indptr), (len(self.free),) * 2))

    def projected(self, function: Callable[[Array], Array], t: float) -> Array:
        """Return all coefficients of the L² projection of a function of points (n, d), with the given ones exact."""
        e = self.elements
        u = np.zeros(e.size)
        u[self.fixed] = self.given(t)
        values = function(e.points.reshape(len(e.points), -1).T).reshape(e.weights.shape)
        load = np.einsum("eqn,eq->en", e.values, e.weights * values)
        right = np.bincount(e.dofs.ravel(), load.ravel(), minlength=e.size)[self.free] - self.mass_rows @ u
        u[self.free] = self.factorised(1.0, 0.0, self.mass_entries).solve(right)
        return u
