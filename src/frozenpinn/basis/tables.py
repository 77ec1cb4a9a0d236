"""Bases on tensor grids and on cells: tables of the functions of each axis, and products along axes.

The variables of a basis fall into groups: one for each axis of a product, one of all variables for any other basis. A
combination of basis and lifting functions is a tensor with one axis for each group; values on a grid follow from it by
one matrix product per group. The functions are never multiplied out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.basis.along_axes import Summand, axis_summands, functions_of
from frozenpinn.basis.axis_tables import axis_breaks
from frozenpinn.basis.cells import NODES, Cells
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import Basis

Array = np.ndarray


def group_sizes(basis: Basis, dimension: int) -> tuple[int, ...]:
    """Return how many variables each group has."""
    return (1,) * dimension if isinstance(basis, ProductNetwork) else (dimension,)


def group_basis(basis: Basis, group: int) -> Basis:
    """Return the functions of one group."""
    return basis.factors[group] if isinstance(basis, ProductNetwork) else basis


def summands(basis: Basis, terms: Sequence[Term]) -> Sequence[Summand]:
    """Write Σ coefficient·D as a sum of products over groups; the coefficients are numbers."""
    return axis_summands(terms) if isinstance(basis, ProductNetwork) else [Summand((tuple(terms),))]


def tensor(basis: Basis, coefficients: Array, lifted: Array | None) -> Array:
    """Return coefficients (r, m) and data (n_l, m) as one tensor, shape (R₁, R₂, …, m)."""
    if isinstance(basis, ProductNetwork):
        return basis.tensor(coefficients, lifted)
    if not basis.lift_size:
        return coefficients
    data = np.zeros((basis.lift_size, coefficients.shape[1])) if lifted is None else lifted
    return np.concatenate([coefficients, data])


def breaks(basis: Basis, group: int, low: Array, high: Array) -> list[Array]:
    """Return where the first cells of a group of variables begin and end: few neurons of an axis lie in each."""
    own = group_basis(basis, group)
    if len(low) > 1:
        parts = max(1, int(2.0 * own.size ** (1.0 / len(low)) / NODES))
        return [
            np.linspace(a, b if b > a else np.nextafter(a, np.inf), parts + 1) for a, b in zip(low, high, strict=True)
        ]
    a, b = float(low[0]), float(high[0])
    b = b if b > a else float(np.nextafter(a, np.inf))
    return [axis_breaks(own.hidden.origins[:, 0] if isinstance(own, Network) else np.empty(0), a, b)]


def space_breaks(basis: Basis, x: Array) -> list[Array]:
    """Return where the first cells begin and end along each variable, for places (n, d)."""
    result: list[Array] = []
    low, high, axis = x.min(axis=0), x.max(axis=0), 0
    for group, size in enumerate(group_sizes(basis, len(low))):
        result += breaks(basis, group, low[axis : axis + size], high[axis : axis + size])
        axis += size
    return result


# ---- cells -------------------------------------------------------------------------------------------


def on_cells(basis: Basis, cells: Cells, summand: Summand, first: Array, done: int) -> Array:
    """Return one summand at the nodes of cells, shape (k, NODES, …, NODES, m).

    ``first`` has shape (k₀, NODES^done, R₁, R₂, …, m): what to combine, in the intervals of the ``done`` variables
    (none, or time) that come before those of the basis.
    """
    dimension = cells.choice.shape[1]
    prefix = cells.choice[:, 0] if done else np.zeros(len(cells.choice), dtype=int)
    values, axis = first, done
    for group, (size, own) in enumerate(zip(group_sizes(basis, dimension - done), summand.terms, strict=True)):
        table, place = _group_table(basis, cells, group, range(axis, axis + size), own)
        axis += size
        distinct, which, inverse = np.unique(prefix * len(table) + place, return_index=True, return_inverse=True)
        parent = prefix[which]
        values = _applied(table[place[which]], values[parent])
        prefix = inverse
    nodes = (NODES,) * dimension
    return summand.scale * values.reshape(len(distinct), *nodes, -1)[prefix]


def _group_table(basis: Basis, cells: Cells, group: int, axes: range, terms: Sequence[Term]) -> tuple[Array, Array]:
    """Return the functions of a group at the nodes of its cells (kg, nodes, R), and which of them each cell has."""
    if len(axes) == 1:
        nodes, place = cells.nodes(axes[0]), cells.choice[:, axes[0]]
        return functions_of(group_basis(basis, group), nodes.reshape(-1, 1), terms).reshape(*nodes.shape, -1), place
    distinct, place = np.unique(cells.choice[:, list(axes)], axis=0, return_inverse=True)
    points = node_points(Cells(tuple(cells.ends[a] for a in axes), distinct))
    table = functions_of(group_basis(basis, group), points, terms)
    return table.reshape(len(distinct), NODES ** len(axes), -1), place.reshape(-1)


def node_points(cells: Cells) -> Array:
    """Return the nodes of all cells as points, shape (k·NODES^d, d)."""
    dimension = cells.choice.shape[1]
    shape = (len(cells.choice), *(NODES,) * dimension)
    columns = []
    for axis in range(dimension):
        own = cells.nodes(axis)[cells.choice[:, axis]]
        own = own.reshape(len(own), *(NODES if a == axis else 1 for a in range(dimension)))
        columns.append(np.broadcast_to(own, shape).ravel())
    return np.stack(columns, axis=1)


def _applied(table: Array, values: Array) -> Array:
    """Apply tables (k, nodes, R) to values (k, before, R, …): (k, before·nodes, …)."""
    count, before, _, *rest = values.shape
    after = int(np.prod(rest))
    if after == 1:
        result = values.reshape(count, before, -1) @ table.transpose(0, 2, 1)
    else:
        result = table[:, None] @ values.reshape(count, before, -1, after)
    return result.reshape(count, before * table.shape[1], *rest)
