"""The network: frozen hidden layer, boundary-compliant layer, SVD layer, evaluated as one linear map.

u(x) = [φ(x), 1] · mixing · c  +  [φ(x), 1] · lifting · ℓ, for one field or several that share
boundary conditions (then ``mixing`` and ``lifting`` have one block per field).

A lack of resolution shows in what the finest functions of an axis carry. An SVD layer on neurons of tanh orders its
functions from smooth to rough, and the last tenth are the finest. On sines it does not: most singular values are about
equal, and their functions mixtures of all frequencies. There the finest part of a function is its distance from the
sines of the lowest nine tenths of the frequencies, and from the functions that lift boundary data: what these have of
high frequencies is taken away again by the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg as sla
from scipy.sparse import csr_array

from frozenpinn.basis.activation import activation
from frozenpinn.basis.boundary_layer import (
    BoundaryLayer,
    Combined,
    Functional,
    Unconstrained,
    boundary_layer,
    functional_rows,
    nearly_dependent,
)
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.protocol import Basis, PointSet
from frozenpinn.basis.svd_layer import SVDLayer, compress, pseudo_inverse
from frozenpinn.errors import SettingsError
from frozenpinn.operators import Dense, Operator, ProductSum, tensor
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.round_off import SUMMED

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Network:
    """A linear space of functions that obey the boundary conditions, with a lifting of boundary data.

    Build it step by step: ``Network(hidden, points).comply_with(functionals).compress(1e-12)``.

    Attributes
    ----------
    hidden
        The frozen neurons.
    points
        Quadrature points on which the SVD layer is orthonormal.
    fields
        Names of the fields that this network represents.
    layer
        The boundary-compliant layer; None imposes nothing.
    active
        Which boundary rows carry data and need a lifting; None means all.
    outer
        Raw coefficients of the basis, shape (fields·(M + 1), r); None means the layer itself.
    values
        Shape (fields·n, r): the basis at the points times √weight, orthonormal after the SVD layer.
    singular, all_singular
        Singular values of the kept and of all functions; None without an SVD layer.
    shapes
        Combinations of the active rows that the data consist of, one lifting function for each; None means every row.
    lifted
        Raw coefficients of the lifting functions, shape (fields·(M + 1), n_l); None means those of the layer.

    Examples
    --------
    The paper's boundary-compliant layer A, of 60 neurons and the constant, and its SVD layer A_r:

    >>> import frozenpinn as fp
    >>> points = fp.Interval(0, 1).sample(120)
    >>> network = fp.stages.Network(fp.samplers.SWIM(60).sample(points, rng=0), points)
    >>> compliant = fp.boundary.OuterBasis("sine", count=9).apply(network, 0.0, 1.0)
    >>> reduced = compliant.compress(fp.stages.SVDLayer(rank=5, orthonormal=False))
    >>> compliant.mixing[0].shape, reduced.mixing[0].shape
    ((61, 9), (61, 5))
    """

    hidden: HiddenLayer
    points: PointSet
    fields: tuple[str, ...] = ("u",)
    layer: BoundaryLayer | None = None
    active: tuple[int, ...] | None = None
    outer: Array | None = None
    values: Array | None = None
    singular: Array | None = None
    all_singular: Array | None = None
    shapes: Array | None = None
    lifted: Array | None = None

    @cached_property
    def _layer(self) -> BoundaryLayer:
        return Unconstrained(len(self.fields) * self.hidden.size) if self.layer is None else self.layer

    @cached_property
    def mixing(self) -> Array:
        """Raw coefficients of the basis functions, shape (fields, M + 1, r)."""
        return self._blocks(self._layer.expand(np.eye(self._layer.reduced)) if self.outer is None else self.outer)

    @cached_property
    def lifting(self) -> Array:
        """Raw coefficients of the functions that carry boundary data, shape (fields, M + 1, n_l)."""
        if self.lifted is not None:
            return self._blocks(self.lifted)
        raw = self._layer.lifting
        raw = raw if self.active is None else raw[:, list(self.active)]
        return self._blocks(raw if self.shapes is None else raw @ self.shapes)

    def _blocks(self, raw: Array) -> Array:
        """Cut raw coefficients by field; the result is contiguous, as it would be after pickling: its products too."""
        blocks = raw.reshape(len(self.fields), self.hidden.size, -1)
        return blocks if blocks.flags.forc else np.ascontiguousarray(blocks)

    # ---- building -------------------------------------------------------------------------------

    def comply_with(
        self,
        functionals: Sequence[Functional],
        active: Sequence[int] | None = None,
        shapes: Array | None = None,
        combined: csr_array | None = None,
        independent: bool = True,
    ) -> Network:
        """Return the network whose functions satisfy the homogeneous conditions.

        ``combined`` are the combinations of raw features that may be used, in columns; None for all features. Few
        rows are ``independent`` unless combinations obey some of them by themselves.
        """
        rows = functional_rows(functionals, self.hidden, self.fields)
        kept = None if active is None else tuple(active)
        made = boundary_layer if independent else nearly_dependent
        layer = made(rows) if combined is None else Combined(made(rows @ combined), combined)
        return Network(self.hidden, self.points, self.fields, layer, kept, shapes=shapes)

    def spanned_by(self, mixing: Array) -> Network:
        """Return the network of given combinations of the raw features (outer basis functions)."""
        return replace(self, outer=mixing, values=None, singular=None, all_singular=None)

    def compress(self, cutoff: float | SVDLayer = 1e-12) -> Network:
        """Return the network with the SVD layer: orthonormal functions, small singular values cut."""
        if self.outer is None:
            svd = compress(self._layer.restrict(self._weighted_features()), cutoff)
            mixing = self._layer.expand(svd.mixing)
        else:
            svd = compress(self._weighted_values(), cutoff)
            mixing = self.outer @ svd.mixing
        if isinstance(cutoff, SVDLayer) and not cutoff.orthonormal:
            return replace(self, outer=mixing, values=None, singular=None, all_singular=svd.all_singular)
        return replace(
            self,
            outer=mixing,
            values=svd.values,
            singular=svd.singular,
            all_singular=svd.all_singular,
        )

    def shared(self) -> Network:
        """Return the same network with arrays that nobody can write into, to be used in many places."""
        outer, values, singular, every = (
            None if array is None else read_only(array)
            for array in (self.outer, self.values, self.singular, self.all_singular)
        )
        return replace(self, outer=outer, values=values, singular=singular, all_singular=every)

    def truncate(self, rank: int) -> Network:
        """Return the network of the leading ``rank`` functions."""
        if rank >= self.size or self.outer is None:
            return self
        values = None if self.values is None else self.values[:, :rank]
        return replace(self, outer=self.outer[:, :rank], values=values, singular=self.singular_values[:rank])

    def _weighted_features(self) -> Array:
        features = self.hidden.features(self.points.x)
        features *= np.sqrt(self.points.weights)[:, None]
        if len(self.fields) == 1:
            return features
        return np.asarray(sla.block_diag(*([features] * len(self.fields))))

    def _weighted_values(self) -> Array:
        zero = Derivative((0,) * self.hidden.dimension)
        root = np.sqrt(self.points.weights)[:, None]
        return np.concatenate([root * self.evaluate(self.points.x, name, zero) for name in self.fields])

    # ---- using ----------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Number of basis functions."""
        return self._layer.reduced if self.outer is None else int(self.outer.shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the coefficients."""
        return (self.size,)

    @property
    def factors(self) -> tuple[Network, ...]:
        """The network itself: a product of one."""
        return (self,)

    @property
    def raw_size(self) -> int:
        """Number of features behind the basis."""
        return len(self.fields) * self.hidden.size

    @property
    def singular_values(self) -> Array:
        """Of the kept basis functions, largest first; ones without an SVD layer."""
        return np.ones(self.size) if self.singular is None else self.singular

    @property
    def all_singular_values(self) -> Array:
        """Before truncation; ones without an SVD layer."""
        return np.ones(self.size) if self.all_singular is None else self.all_singular

    @property
    def lift_size(self) -> int:
        """Number of lifting functions."""
        return int(self.lifting.shape[2])

    @property
    def width(self) -> int:
        """Number of neurons."""
        return self.hidden.width

    @property
    def is_orthonormal(self) -> bool:
        """Whether the SVD layer has been applied."""
        return self.values is not None

    is_product = False

    @property
    def is_broken(self) -> bool:
        """Whether its functions have kinks or jumps at interfaces."""
        return self.hidden.singular is not None and self.hidden.singular.kind == "broken"

    @property
    def flops(self) -> float:
        """Floating point operations of a map between coefficients and values at the points."""
        return 2.0 * len(self.points.weights) * self.size

    def at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the map from coefficients to Σ coefficient·D at the basis' own points.

        Values recomputed from the features carry an error of ε·σ₁/σ for functions of small singular value σ; those
        that the SVD layer has orthonormalised do not, and are taken from there.
        """
        derived = [t for t in terms if t.derivative.order]
        rows = self.operator(self.points.x, derived) if derived else np.zeros((len(self.points.weights), self.size))
        for term in (t for t in terms if not t.derivative.order):
            coefficient = np.asarray(term.coefficient, dtype=float)
            rows = rows + (coefficient[:, None] if coefficient.ndim else coefficient) * self.point_values(term.field)
        return Dense(rows)

    def lift_at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the map from boundary data to Σ coefficient·D of what they lift, at the basis' own points."""
        return Dense(self.lift_operator(self.points.x, terms))

    def galerkin(self, terms: Sequence[Term], source: Basis) -> Operator | None:
        """Return None: there are no axes along which to project."""
        return None

    def lifted_projection(self, terms: Sequence[Term], lifted: Array) -> Array | None:
        """Return None: the projection takes values at the points."""
        return None

    def projected_products(self, tables: Sequence[Array]) -> ProductSum | None:
        """Return None: there are no axes along which to fit."""
        return None

    def shares(self, coefficients: Array) -> tuple[float, ...]:
        """Return the norm of the part of a state that lies in the finest tenth of the basis."""
        return tensor.tails(coefficients) if self.is_orthonormal else (0.0,)

    @cached_property
    def finest(self) -> Array:
        """The map from coefficients to those of the finest part of a function of one variable, shape (k, r)."""
        points, singular = self.points, self.singular_values
        return finest_part(self.hidden, points.x, points.weights, self.values, singular, self.lifting[0])

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D(field) of every basis function, shape (n, r)."""
        return self._combine(x, terms, self.mixing)

    def lift_operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D(field) of every lifting function, shape (n, n_l)."""
        return self._combine(x, terms, self.lifting)

    def all_functions(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return the same of basis and lifting functions, shape (n, r + n_l): neurons are evaluated once for both."""
        return self._combine(x, terms, self._all)

    def derivatives(self, x: Array, orders: Sequence[int]) -> list[Array]:
        """Return derivatives of some orders of basis and lifting functions of one variable, shape (n, r + n_l) each."""
        hidden = self.hidden
        if hidden.singular is not None or hidden.dimension > 1 or len(self.fields) > 1:
            return [self.all_functions(x, [Term(self.fields[0], Derivative((k,)))]) for k in orders]
        neurons, constant, slopes = self._all[0, :-1], self._all[0, -1], hidden.weights
        values = activation(hidden.activation)(hidden.pre_activation(x), orders)
        return [v @ (slopes**k * neurons) if k else v @ neurons + constant for k, v in zip(orders, values, strict=True)]

    @cached_property
    def _all(self) -> Array:
        return np.concatenate([self.mixing, self.lifting], axis=2)

    def combine(self, x: Array, terms: Sequence[Term], coefficients: Array, lifted: Array | None = None) -> Array:
        """Return Σ coefficient·D(field) of functions with coefficients (r, m) and boundary data (n_l, m), shape (n, m).

        Few functions are written in the raw features first: that takes products of (n, M) with m columns, not with r.
        """
        if coefficients.shape[1] > self.size:
            out = self.operator(x, terms) @ coefficients
            return out if lifted is None else out + self.lift_operator(x, terms) @ lifted
        raw = self.mixing @ coefficients
        return self._combine(x, terms, raw if lifted is None else raw + self.lifting @ lifted)

    def evaluate(self, x: Array, name: str, derivative: Derivative) -> Array:
        """Return one derivative of the basis of one field, shape (n, r)."""
        return self.operator(x, [Term(name, derivative)])

    def point_values(self, name: str) -> Array:
        """Return the basis of one field at the points, as accurate as it is known there."""
        if self.values is None:
            return self.evaluate(self.points.x, name, Derivative((0,) * self.hidden.dimension))
        n = len(self.points.weights)
        start = self.fields.index(name) * n
        return self.values[start : start + n] / np.sqrt(self.points.weights)[:, None]

    def _combine(self, x: Array, terms: Sequence[Term], matrix: Array) -> Array:
        result: Array | None = None
        for i, name in enumerate(self.fields):
            own = [term for term in terms if term.field == name]
            if own and matrix.shape[2]:
                part = self.hidden.mixed(x, own, matrix[i])
                result = part if result is None else result + part
        return np.zeros((len(x), matrix.shape[2])) if result is None else result

    def projector(self, rcond: float | None = None) -> Operator:
        """Return P with c = P·(stacked values of all fields at the points), shape (r, fields·n)."""
        root = np.tile(np.sqrt(self.points.weights), len(self.fields))
        if self.values is not None and rcond is None:
            return Dense(np.ascontiguousarray((self.values * root[:, None]).T))
        values = self._weighted_values()
        cut = rcond if rcond is not None else 1e-10
        inverse, rank = pseudo_inverse(values, cut)
        if rank == 0:
            raise SettingsError(f"rcond={cut:g} leaves nothing of the basis; use a smaller value.")
        return Dense(inverse * root)


def finest_part(
    hidden: HiddenLayer, x: Array, weights: Array, values: Array | None, singular: Array, lifting: Array
) -> Array:
    """Return the map from coefficients to those of the finest part, shape (k, r).

    Parameters
    ----------
    hidden, x, weights
        Neurons of one variable, quadrature points and weights.
    values
        The orthonormal functions at the points, times the roots of the weights; None if they are not known.
    singular
        Their singular values.
    lifting
        Raw coefficients of the lifting functions, shape (M + 1, n_l).
    """
    ordered = 10.0  # ratio of singular values up to which functions are single sines, in the order of their frequencies
    tenth = 0.1
    size = len(singular)
    last = np.eye(size)[-max(2, int(tenth * size)) :]
    if hidden.activation != "sin" or values is None or singular[0] <= ordered * singular[-1]:
        return last
    turns, features = np.abs(hidden.weights[:, 0]), np.sqrt(weights)[:, None] * hidden.features(x)
    low = np.append(turns <= (1.0 - tenth) * np.max(turns), True)  # and the constant
    low = np.tile(low, features.shape[1] // len(low))  # once more on each part of an axis with cuts
    lifted = features @ lifting
    fewer = np.concatenate([features[:, low], lifted / np.linalg.norm(lifted, axis=0)], axis=1)
    smooth = compress(fewer, float(singular[-1] / singular[0])).values
    rest = values - smooth @ (smooth.T @ values)
    triangle, order = sla.qr(rest, mode="r", pivoting=True, check_finite=False)[-2:]
    kept = max(1, int(np.count_nonzero(np.abs(np.diagonal(triangle)) > SUMMED)))
    found = np.empty((kept, size))
    found[:, order] = triangle[:kept]
    return found
