"""Eigenvalue problems on networks: L u = λ W u as matrices, for a statement or the linearisation about a solution.

Functions obey the homogeneous conditions exactly and are orthonormal, so the matrices are Galerkin's, formed of strong
derivatives. An evolution ∂ₜᵐ u = F(u) about a steady state has W = 1 and λᵐ on the right: fields of second order are
doubled, as for integration in time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import sympy as sp
from scipy.sparse import block_diag, csr_array, hstack

from frozenpinn.assembly.boundary import boundary_rows, derivative_of
from frozenpinn.assembly.collocation import Function, slopes_of
from frozenpinn.assembly.projection import project_products
from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis, PointSet
from frozenpinn.enrichments.mode_functions import Combinations
from frozenpinn.errors import EvaluationError
from frozenpinn.language.jets import Jet
from frozenpinn.operators import Operator
from frozenpinn.statement.data import Datum
from frozenpinn.statement.eigenvalue import complex_pairs, sides_of
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

Array = np.ndarray
ByTime: TypeAlias = Mapping[int, list[Term]]  #: terms of an equation by time derivative


class Terms(NamedTuple):
    """The terms of all equations at some points: those of L by time derivative, and of W; None for W = 1."""

    left: Mapping[str, ByTime]
    right: Mapping[str, list[Term]] | None


@dataclass(frozen=True, eq=False)
class Eigenproblem:
    """An eigenvalue problem that networks can be put into.

    Attributes
    ----------
    problem
        Domain, fields and homogeneous conditions.
    terms
        The terms of the equations at points (n, d).
    orders
        Of λ on the right-hand side of each equation: the order in time of an evolution, else one.
    pairs
        Real and imaginary parts of complex fields, if the operators are complex ones.
    """

    problem: Problem
    terms: Callable[[Array], Terms]
    orders: Mapping[str, int] = field(default_factory=dict)
    pairs: tuple[tuple[str, str], ...] = ()

    def order(self, group: Sequence[str]) -> int:
        """Return the order of a group of fields."""
        return self.orders.get(group[0], 1)


def of_statement(problem: Problem) -> Eigenproblem:
    """Return the eigenvalue problem that a statement with an :class:`Eigenvalue` is."""
    table = sides_of(problem)

    def terms(x: Array) -> Terms:
        left, right = {}, {}
        for equation in problem.equations:
            sides = table[equation.field]
            left[equation.field] = {0: _evaluated(problem, equation, sides.left, x)}
            right[equation.field] = _evaluated(problem, equation, sides.right, x)
        return Terms(left, None if _is_identity(right) else right)

    return Eigenproblem(problem, terms, pairs=complex_pairs(problem))


def of_linearisation(problem: Problem, about: Function, static: Problem) -> Eigenproblem:
    """Return the eigenvalue problem F'(u) v = λᵐ v of equations ∂ₜᵐ u = F(u), or 0 = F(u), about a solution."""

    def terms(x: Array) -> Terms:
        left: dict[str, ByTime] = {}
        for equation in problem.equations:
            slopes = slopes_of(problem, equation.field)
            known = dict(zip(entering := _entering(problem, equation), about.jets(x, entering), strict=True))
            values = [known.get(jet, np.zeros(len(x))) for jet in slopes.jets]
            with np.errstate(all="ignore"):
                partials = slopes.partials(*x.T, 0.0, *values)
            by_time: dict[int, list[Term]] = {}
            for jet, partial in zip(slopes.jets, partials, strict=True):
                _check_finite(equation, problem.jets.name(jet), partial)
                by_time.setdefault(jet.time, []).append(Term(jet.field, derivative_of(jet), partial))
            left[equation.field] = by_time
        return Terms(left, _moving(problem) if problem.determined else None)

    orders = {equation.field: max(1, equation.order) for equation in problem.equations}
    return Eigenproblem(homogeneous(static), terms, orders)


def _moving(problem: Problem) -> dict[str, list[Term]]:
    """Return the fields that evolve as a right-hand side: equations without a time derivative have none."""
    return {
        e.field: [Term(e.field, derivative_of(problem.jets.field(e.field)), 1.0)] if e.order else []
        for e in problem.equations
    }


def _entering(problem: Problem, equation: Equation) -> list[Jet]:
    """Return the jets that the derivatives of an equation depend on; those of a linear one on none."""
    jets = problem.jets
    symbols = jets.jets_in(equation.nonlinear)
    partials = sum((sp.diff(equation.nonlinear, symbol) ** 2 for symbol in symbols), sp.Integer(0))
    return list(jets.jets_in(partials).values())


def homogeneous(problem: Problem) -> Problem:
    """Return the problem with zero on the right of all conditions, without constraints that pick a solution."""
    conditions = []
    for condition in problem.conditions:
        other = object.__new__(type(condition))
        zero = Datum(0.0, problem.parameters.scope(problem.jets), problem.parameters.functions, "zero")
        vars(other).update({**vars(condition), "value": zero})
        conditions.append(other)
    constraints = tuple(replace(c, value=0.0) for c in problem.constraints if not c.picks)
    return problem.replaced(conditions=tuple(conditions), constraints=constraints)


def _evaluated(problem: Problem, equation: Equation, part: Mapping[Jet, sp.Expr], x: Array) -> list[Term]:
    """Return the terms of one side with coefficients at points."""
    if not part:
        return []
    with np.errstate(all="ignore"):
        values = problem.compile(list(part.values()))(*x.T, 0.0)
    found = []
    for jet, value in zip(part, values, strict=True):
        _check_finite(equation, problem.jets.name(jet), value)
        found.append(Term(jet.field, derivative_of(jet), value))
    return found


def _check_finite(equation: Equation, name: str, value: Array | float) -> None:
    if not np.all(np.isfinite(value)):
        raise EvaluationError(
            f"the coefficient of {name} in '{equation}' is not finite at some points of the domain; a division by zero?"
        )


def _is_identity(right: Mapping[str, list[Term]]) -> bool:
    return all(_multiple(name, terms) == 1.0 for name, terms in right.items())


def _multiple(name: str, terms: Sequence[Term]) -> float | None:
    """Return the number c if the right-hand side of an equation is c times its own field, else None."""
    if len(terms) != 1 or terms[0].field != name or terms[0].derivative.order:
        return None
    values = np.asarray(terms[0].coefficient, dtype=float)
    constant = values.size and np.ptp(values) == 0.0 and float(values.flat[0]) != 0.0
    return float(values.flat[0]) if constant else None


# ---- networks ------------------------------------------------------------------------------------------


def compliant_network(
    problem: Problem,
    hidden: HiddenLayer,
    points: PointSet,
    fields: tuple[str, ...],
    per_side: int,
    cutoff: float,
    corners: Combinations | None = None,
) -> Network:
    """Return the orthonormal functions of a hidden layer that obey the homogeneous conditions.

    ``corners`` says which combinations of its singular functions may be used; None for each of them by itself.
    """
    rows = boundary_rows(problem, fields, per_side, hidden=hidden)
    combined = None if corners is None else _combined_features(hidden, corners)
    return Network(hidden, points, fields).comply_with(rows.functionals, (), combined=combined).compress(cutoff)


def _combined_features(hidden: HiddenLayer, corners: Combinations) -> csr_array:
    """Return neurons and constant of each field, and the combinations of functions of corners, in columns."""
    plain = hidden.width + 1
    own = [csr_array(np.eye(hidden.size, plain)) for _ in corners.matrix]  # functions of corners come last
    shared = [np.concatenate([np.zeros((plain, part.shape[1])), part]) for part in corners.matrix]
    return csr_array(hstack([block_diag(own), csr_array(np.concatenate(shared))]))


class Matrices(NamedTuple):
    """A c = λ B c for the coefficients of all networks, B being the identity if None, with singular values."""

    left: Array
    right: Array | None
    singular: Array
    layout: StateLayout

    def kept(self, cutoff: float) -> Matrices:
        """Return the part of the functions whose singular values, relative to the largest, are beyond a cut-off."""
        chosen = self.singular > cutoff
        if np.all(chosen):
            return self
        coefficients = chosen[: self.layout.coefficients]
        right = None if self.right is None else self.right[np.ix_(coefficients, coefficients)]
        left = self.left[np.ix_(chosen, chosen)]
        return Matrices(left, right, self.singular[chosen], self.layout.kept(coefficients))


def layout_of(eigenproblem: Eigenproblem, networks: Sequence[Basis]) -> StateLayout:
    """Return where the coefficients of all networks stand."""
    return StateLayout(tuple(n.size for n in networks), tuple(eigenproblem.order(n.fields) for n in networks))


def matrices(eigenproblem: Eigenproblem, networks: Sequence[Network]) -> Matrices:
    """Project the equations onto networks that share their points."""
    terms, layout = eigenproblem.terms(networks[0].points.x), layout_of(eigenproblem, networks)
    by_time = [{name: by.get(k, []) for name, by in terms.left.items()} for k in (0, 1)]
    position, velocity = (_projected(own, networks, layout) for own in by_time)
    left = layout.matrix(position, velocity[:, layout.moving])
    right = None if terms.right is None else _projected(terms.right, networks, layout)
    singular = np.concatenate([n.singular_values / n.singular_values.max() for n in networks])
    return Matrices(left, right, np.concatenate([singular, singular[layout.moving]]), layout)


def _projected(terms: Mapping[str, list[Term]], networks: Sequence[Network], layout: StateLayout) -> Array:
    out = np.zeros((layout.coefficients, layout.coefficients))
    for row, target in enumerate(networks):
        n, projector = len(target.points.weights), target.projector().dense()
        for i, name in enumerate(target.fields):
            own = projector[:, i * n : (i + 1) * n]
            for column, source in enumerate(networks):
                part = [t for t in terms[name] if t.field in source.fields]
                if part:
                    out[layout.blocks[row], layout.blocks[column]] += own @ source.at_points(part).dense()
    return out


def complex_functions(networks: Sequence[Network], pairs: Sequence[tuple[str, str]]) -> Array:
    """Return the combinations of functions of pairs (a, b), in columns, for which b = −i a.

    A complex operator, written for real and imaginary parts, acts on these as on ψ = a + i b = 2 a; on those with
    b = i a it acts as its conjugate, whose eigenvalues are not wanted. They are the eigenvectors for i of the matrix
    that multiplies functions by i.
    """
    partner = {name: (other, -1.0) for name, other in pairs} | {other: (name, 1.0) for name, other in pairs}
    ends = np.cumsum([0, *(n.size for n in networks)])
    turned = np.zeros((ends[-1], ends[-1]))
    for row, target in enumerate(networks):
        n, projector = len(target.points.weights), target.projector().dense()
        for i, name in enumerate(target.fields):
            other, sign = partner[name]
            for column, source in enumerate(networks):
                if other in source.fields:
                    zero = Derivative((0,) * target.points.x.shape[1])
                    values = source.at_points([Term(other, zero, sign)]).dense()
                    block = (slice(ends[row], ends[row + 1]), slice(ends[column], ends[column + 1]))
                    turned[block] += projector[:, i * n : (i + 1) * n] @ values
    closed = 1e-6  # what the functions may lack to be multiplied by i
    where = {name: i for i, network in enumerate(networks) for name in network.fields}
    first = np.concatenate([np.arange(ends[i], ends[i + 1]) for i in dict.fromkeys(where[a] for a, _ in pairs)])
    second = np.concatenate([np.arange(ends[i], ends[i + 1]) for i in dict.fromkeys(where[b] for _, b in pairs)])
    if len(first) == len(second) and not set(first) & set(second):  # parts that are represented alike
        images = turned[np.ix_(second, first)]
        if np.linalg.norm(images - np.eye(len(first))) <= closed:
            out = np.zeros((len(turned), len(first)), dtype=complex)
            out[first, np.arange(len(first))], out[second, np.arange(len(first))] = 0.5**0.5, -1j * 0.5**0.5
            return out
    turns, vectors = np.linalg.eigh(0.5j * (turned - turned.T))
    return np.asarray(vectors[:, turns < closed - 1.0])


def product_operator(
    eigenproblem: Eigenproblem, spaces: Sequence[Space], terms: Terms, sign: float
) -> tuple[Operator, StateLayout] | None:
    """Return ±L on products of networks; None if W is more than a number for each equation, or λ enters as a square."""
    layout = layout_of(eigenproblem, [space.network for space in spaces])
    if layout.order != 1 or any(k for by in terms.left.values() for k in by):
        return None
    scaled: dict[str, list[Term]] = {}
    for name, by_time in terms.left.items():
        scale = 1.0 if terms.right is None else _multiple(name, terms.right[name])
        if scale is None:
            return None
        scaled[name] = [t._replace(coefficient=sign / scale * t.coefficient) for t in by_time.get(0, [])]
    return project_products(scaled, spaces, layout), layout


# ---- what functions leave of the equations ---------------------------------------------------------------


def residuals(
    eigenproblem: Eigenproblem, networks: Sequence[Basis], coefficients: Array, values: Array, x: Array, scale: float
) -> Array:
    """Return |L u − λ W u| at points, relative to the larger of the two sides, for functions in columns.

    ``scale`` is what eigenvalues are compared with that are nearly zero.
    """
    gap, size = left_over(eigenproblem, networks, coefficients, values, x, scale)
    return np.asarray(gap / np.where(size > 0, size, 1.0))


def left_over(
    eigenproblem: Eigenproblem, networks: Sequence[Basis], coefficients: Array, values: Array, x: Array, scale: float
) -> tuple[Array, Array]:
    """Return the root mean square of L u − λ W u at points, and of the larger of the two sides."""
    terms, layout = eigenproblem.terms(x), layout_of(eigenproblem, networks)
    gap, size = np.zeros(len(values)), np.zeros(len(values))
    parts = [coefficients[block] for block in layout.blocks]
    for name, by_time in terms.left.items():
        left = sum(
            (_combined(networks, parts, own, x) * values**k for k, own in by_time.items()),
            np.zeros((len(x), len(values))),
        )
        power = eigenproblem.order((name,))
        identity = [Term(name, Derivative((0,) * x.shape[1]))]
        right = _combined(networks, parts, identity if terms.right is None else terms.right[name], x)
        least = scale**power * np.abs(right)
        right = right * values**power
        gap += np.mean(np.abs(left - right) ** 2, axis=0)
        size += np.max([np.mean(np.abs(side) ** 2, axis=0) for side in (left, right, least)], axis=0)
    return np.sqrt(gap), np.sqrt(size)


def sizes_at(networks: Sequence[Basis], coefficients: Array, x: Array) -> Array:
    """Return the root mean square of all fields of functions in columns at points."""
    total, start = np.zeros(coefficients.shape[1]), 0
    for network in networks:
        own = coefficients[start : start + network.size]
        for name in network.fields:
            values = _combined([network], [own], [Term(name, Derivative((0,) * x.shape[1]))], x)
            total += np.mean(np.abs(values) ** 2, axis=0)
        start += network.size
    return np.sqrt(total)


def _combined(networks: Sequence[Basis], parts: Sequence[Array], terms: Sequence[Term], x: Array) -> Array:
    """Return Σ coefficient·D of functions with real or complex coefficients, shape (n, m)."""
    out: Array = np.zeros((len(x), parts[0].shape[1]))
    for network, own in zip(networks, parts, strict=True):
        mine = [t for t in terms if t.field in network.fields]
        if mine and np.iscomplexobj(own):
            out = out + network.combine(x, mine, own.real) + 1j * network.combine(x, mine, own.imag)
        elif mine:
            out = out + network.combine(x, mine, own)
    return out
