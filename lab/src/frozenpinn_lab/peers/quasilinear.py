"""Galerkin's method for quasilinear parabolic equations, whatever the elements.

    uₜ = a(x, t, u) Δu + b(x, t, u, ∇u) + L u   becomes   ⟨v, uₜ⟩ = −⟨∇v, a ∇u⟩ + ⟨v, b − ∇a·∇u⟩ + ⟨v, L u⟩

which is exact for test functions v that vanish where u is given, and otherwise imposes ∂u/∂n = 0. The derivatives by u
and ∇u are symbolic, so the Jacobian is exact. Integrals are sums over the quadrature points of all elements; one sparse
matrix takes coefficients to u and ∇u there, and its transpose takes the integrands to the residual. The forcing, the
part of b without u, is evaluated once per time. L is a constant matrix that the elements bring along: derivatives of
third and fourth order by one coordinate, zero for most. Matrices have one sparsity pattern for good.
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
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.weak_form import is_well_posed

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
    operator
        ⟨v, L u⟩ on each element, shape (E, n, n); None for L = 0.
    """

    values: Array
    gradients: Array
    points: Array
    weights: Array
    dofs: Array
    size: int
    operator: Array | None = None


class WeakForm:
    """The terms a and q = b − ∇a·∇u of an equation, their derivatives by u and ∇u, and the forcing (not in q).

    ``higher`` are the constant coefficients of third and fourth derivatives in one dimension, by order.
    """

    def __init__(self, problem: Problem) -> None:
        if len(problem.fields) != 1 or problem.equations[0].order > 1:
            raise SettingsError(
                f"one equation of first order in time, or without time, is needed here, got '{problem!r}'."
            )
        equation, jets, d = problem.equations[0], problem.jets, problem.domain.dimension
        value = jets.field(problem.fields[0])
        first = [jets.shifted(value, axis) for axis in range(d)]
        second = [jets.symbol(jets.shifted(jet, axis)) for axis, jet in enumerate(first)]
        known = {jets.symbol(jet) for jet in (value, *first)}
        self.higher = {
            jet.order: float(coefficient)
            for jet, coefficient in equation.linear.items()
            if d == 1 and jet.order in (3, 4) and not jet.time and coefficient.is_number
        }
        linear = [
            coefficient * jets.symbol(jet)
            for jet, coefficient in equation.linear.items()
            if jet.order not in self.higher
        ]
        in_time = [coefficient * jets.symbol(jet) for jet, coefficient in equation.linear_in_time.items()]
        laplacian = jets.symbol(Jet(value.field, value.alpha, 1))
        right_side = sp.Add(*linear, *in_time, equation.nonlinear).xreplace({laplacian: sp.Add(*second)})
        a, *others = (sp.diff(right_side, symbol) for symbol in second)
        b = right_side.xreplace(dict.fromkeys(second, sp.Integer(0)))
        is_isotropic = all(expanded(a - other) == 0 for other in others)
        if not is_isotropic or set(jets.jets_in(a)) - {jets.symbol(value)} or set(jets.jets_in(b)) - known:
            raise SettingsError(
                f"'{equation}' is not of the form u_t = a(x, t, u)·lap(u) + b(x, t, u, grad u)"
                f"{', plus constants times u_xxx and u_xxxx' if d == 1 else ''}."
            )
        q = b - sum(jets.total_derivative(a, i) * jets.symbol(jet) for i, jet in enumerate(first))
        slopes = [sp.diff(a, jets.symbol(value)), *(sp.diff(q, jets.symbol(jet)) for jet in (value, *first))]
        self.name, self.has_diffusion = str(equation), a != 0
        self.diffusion = problem.compile([a], [value])
        self.terms = problem.compile([a, q], [value, *first])
        self.derivatives = problem.compile([a, *slopes], [value, *first])
        self.forcing = None if equation.forcing == 0 else problem.compile([equation.forcing])
        self.is_steady = jets.t not in equation.forcing.free_symbols

    def check_natural(self) -> None:
        """Refuse ∂u/∂n = 0 without a term that imposes it."""
        if not self.has_diffusion:
            raise SettingsError(f"'{self.name}' has no second derivatives, so a side can't have u_n = 0; give u there.")


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
        self._make_tables()
        self._loads: dict[float, Array] = {}
        weighted = elements.values * elements.weights[..., None]
        local = np.swapaxes(weighted, 1, 2) @ elements.values
        n = elements.dofs.shape[1]
        rows, columns = np.repeat(elements.dofs, n, axis=1).ravel(), np.tile(elements.dofs, (1, n)).ravel()
        full = sparse.csr_matrix((local.ravel(), (rows, columns)), (elements.size,) * 2)
        self.mass_rows = full[self.free]
        self.mass_entries = self._assemble(local)
        self._higher_rows: sparse.csr_matrix | None = None
        self._higher_entries: Array | float = 0.0
        if elements.operator is not None:
            operator = sparse.csr_matrix((elements.operator.ravel(), (rows, columns)), full.shape)
            self._higher_rows, self._higher_entries = operator[self.free], self._assemble(elements.operator)

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

    def _make_tables(self) -> None:
        """Make the matrix from coefficients to u, and to each component of ∇u, at the quadrature points."""
        e = self.elements
        shape = e.values.shape
        rows = np.broadcast_to(np.arange(e.weights.size).reshape(shape[0], shape[1], 1), shape)
        columns = np.broadcast_to(e.dofs[:, None, :], shape)
        parts = [
            sparse.csr_matrix((table.ravel(), (rows.ravel(), columns.ravel())), (e.weights.size, e.size))
            for table in (e.values, *e.gradients)
        ]
        self._table = sparse.vstack(parts, format="csr")
        self._adjoint = self._table[:, self.free].T.tocsr()
        self._value_adjoint = parts[0][:, self.free].T.tocsr()
        self._weights, self._points = e.weights.ravel(), e.points.reshape(len(e.points), -1)

    def at_points(self, u: Array) -> Array:
        """Return u and its gradient at the quadrature points, shape (1 + d, E·q)."""
        return np.asarray(self._table @ u).reshape(1 + len(self._points), -1)

    def check_diffusion(self, initial: Callable[[Array], Array], t: float) -> None:
        """Refuse an equation whose coefficient a(x, t, u) is negative somewhere at the initial value.

        Damping by fourth derivatives makes up for it.
        """
        if not is_well_posed(self.form.higher):
            raise SettingsError(f"'{self.form.name}' is not well posed: its fourth derivative has the wrong sign.")
        if 4 in self.form.higher:
            return
        a = np.asarray(self.form.diffusion(*self._points, t, initial(self._points.T))[0])
        if np.min(a) < -1e-12 * np.max(np.abs(a)):
            raise SettingsError(
                f"'{self.form.name}' is not well posed: the coefficient of the second derivatives is {np.min(a):.3g} "
                "somewhere at the initial value; it must not be negative."
            )

    def load(self, t: float) -> Array | float:
        """Return ⟨v, f⟩ at the free coefficients; those of the last times are remembered."""
        if self.form.forcing is None:
            return 0.0
        key = 0.0 if self.form.is_steady else t
        if key not in self._loads:
            while len(self._loads) > 8:
                del self._loads[next(iter(self._loads))]
            values = np.broadcast_to(self.form.forcing(*self._points, t)[0], self._weights.shape)
            self._loads[key] = self._value_adjoint @ (self._weights * values)
        return self._loads[key]

    def residual(self, u: Array, t: float) -> Array:
        """Return R at the free coefficients; ``u`` are all of them."""
        state = self.at_points(u)
        a, q = self.form.terms(*self._points, t, *state)
        integrand = np.empty_like(state)
        integrand[0] = self._weights * q
        np.multiply(-a * self._weights, state[1:], out=integrand[1:])
        found = self._adjoint @ integrand.ravel() + self.load(t)
        return np.asarray(found if self._higher_rows is None else found + self._higher_rows @ u)

    def jacobian(self, u: Array, t: float) -> Array:
        """Return the entries of ∂R/∂u between free coefficients."""
        e = self.elements
        state = self.at_points(u)
        table = self.form.derivatives(*self._points, t, *state)
        a, a_u, q_u, *q_slope = ((self._weights * v).reshape(*e.weights.shape, 1) for v in table)
        source = q_u * e.values
        for g, weight in zip(e.gradients, q_slope, strict=True):
            source += weight * g
        local = np.swapaxes(e.values, 1, 2) @ source
        for g, s in zip(e.gradients, state[1:].reshape(-1, *e.weights.shape, 1), strict=True):
            local -= np.swapaxes(g, 1, 2) @ (a * g + (a_u * s) * e.values)
        return self._assemble(local) + self._higher_entries

    def factorised(self, shift: complex, step: float, jacobian: Array) -> Any:
        """Return the LU factors of shift·M − step·J between free coefficients."""
        entries = shift * self.mass_entries - step * jacobian
        return splu(sparse.csc_matrix((entries, self._indices, self._indptr), (len(self.free),) * 2))

    def projected(self, function: Callable[[Array], Array], t: float) -> Array:
        """Return all coefficients of the L² projection of a function of points (n, d), with the given ones exact."""
        u = np.zeros(self.elements.size)
        u[self.fixed] = self.given(t)
        right = self._value_adjoint @ (self._weights * function(self._points.T)) - self.mass_rows @ u
        u[self.free] = self.factorised(1.0, 0.0, self.mass_entries).solve(right)
        return u
