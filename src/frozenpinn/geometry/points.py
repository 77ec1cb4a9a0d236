"""Point sets with what is known about them, and the ways of placing them in the unit cube.

Sobol's sequence, scrambled: the points of SciPy's engine, without the half second that importing it takes.

Direction numbers are those of Joe and Kuo (2008); the scrambling is a random lower triangular matrix of bits for each
coordinate and a random shift (Matoušek 1998), drawn as SciPy draws them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError, choices
from frozenpinn.runtime.arguments import is_whole, shown, unmasked

Array = np.ndarray
_BITS = 30
#: Degree, inner coefficients of the primitive polynomial and first direction numbers of the second coordinate, third, …
_KNOWN = (
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
)
_DOWN = np.arange(_BITS - 1, -1, -1, dtype=np.uint32)  # of the bits of a number, from the largest to the smallest


# ---- Sobol's sequence -----------------------------------------------------------------------------


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """Return the first n points in [0, 1)^d, shape (n, d).

    >>> sobol(4, 2, np.random.default_rng(0)).shape
    (4, 2)
    """
    if d > len(_KNOWN) + 1 or n > 2**_BITS:
        from scipy.stats import qmc  # slow to import

        return np.asarray(qmc.Sobol(d, scramble=True, rng=rng).random_base2(int(np.ceil(np.log2(n))))[:n])
    own = rng.spawn(1)[0]
    shift = own.integers(2, size=(d, _BITS), dtype=np.uint32) @ (2 ** np.arange(_BITS, dtype=np.uint32))
    lower = np.tril(own.integers(2, size=(d, _BITS, _BITS), dtype=np.uint32), -1) + np.eye(_BITS, dtype=np.uint32)
    bits = (_directions(d)[:, :, None] >> _DOWN) & 1
    mixed = np.einsum("dpk,djk->djp", lower, bits) & 1
    scrambled = np.asarray(np.sum(mixed << _DOWN, axis=2, dtype=np.uint32))
    numbers = np.arange(n, dtype=np.uint32)
    gray = numbers ^ (numbers >> 1)
    out = np.tile(shift.astype(np.uint32), (n, 1))
    for bit in range(int(n - 1).bit_length()):
        chosen = np.flatnonzero((gray >> bit) & 1)
        out[chosen] ^= scrambled[:, bit]
    return np.asarray(out * 2.0**-_BITS)


def _directions(d: int) -> Array:
    """Return the direction numbers of each coordinate, shape (d, bits)."""
    table = np.ones((d, _BITS), dtype=np.uint32)
    for row, (degree, inner, first) in zip(table[1:], _KNOWN, strict=False):
        values = [*first]
        for j in range(degree, _BITS):
            new = values[j - degree] ^ (values[j - degree] << degree)
            for k in range(1, degree):
                if (inner >> (degree - 1 - k)) & 1:
                    new ^= values[j - k] << k
            values.append(new)
        row[:] = values
    return table << _DOWN


# ---- points ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Points:
    """Points in a domain.

    Attributes
    ----------
    x
        Coordinates, shape (n, d).
    weights
        Quadrature weights that sum to the measure of the domain, shape (n,).
    axes
        For tensor grids the nodes of each axis; empty for scattered points.
    axis_weights
        For tensor grids the one-dimensional weights; empty for scattered points.
    spacing
        Typical distance between neighbours per axis: what a feature must not undercut.
    """

    x: Array
    weights: Array
    spacing: Array
    axes: tuple[Array, ...] = ()
    axis_weights: tuple[Array, ...] = ()

    def __len__(self) -> int:
        return len(self.x)

    @property
    def dimension(self) -> int:
        """Number of spatial coordinates."""
        return int(self.x.shape[1])

    def equally_weighted(self) -> Points:
        """Return the same points without quadrature: all weights are equal, as in the paper.

        Examples
        --------
        >>> import frozenpinn as fp
        >>> points = fp.Interval(0, 2).sample(3)  # Gauss points
        >>> points.weights.round(3).tolist(), points.equally_weighted().weights.round(3).tolist()
        ([0.556, 0.889, 0.556], [0.667, 0.667, 0.667])
        """
        return Points(self.x, np.full(len(self.x), self.weights.sum() / len(self.x)), self.spacing)

    def along(self, axis: int) -> Points:
        """Return the points of one axis of a tensor grid, always the same object."""
        return self._along[axis]

    @cached_property
    def _along(self) -> tuple[Points, ...]:
        parts = zip(self.axes, self.axis_weights, self.spacing, strict=True)
        return tuple(Points(nodes[:, None], weights, np.array([gap])) for nodes, weights, gap in parts)


def grid_points(axes: Sequence[Array]) -> Array:
    """Return all points of a grid, shape (n, d), the last coordinate varying fastest; columns are contiguous.

    >>> grid_points([np.array([0.0, 1.0]), np.array([5.0, 6.0])]).tolist()
    [[0.0, 5.0], [0.0, 6.0], [1.0, 5.0], [1.0, 6.0]]
    """
    x = np.empty((len(axes), *map(len, axes)))
    for k, axis in enumerate(axes):
        x[k] = axis.reshape([-1 if a == k else 1 for a in range(len(axes))])
    return x.reshape(len(axes), -1).T


FEW_PLACES = 64  #: among which no grid is looked for


def axes_of(x: Array, least: int = 0) -> list[Array] | None:
    """Return the coordinates of which points (n, d) are the grid, as :func:`grid_points` orders them; None if of none.

    Fewer than ``least`` points are not looked at.

    >>> axes_of(grid_points([np.array([0.0, 1.0]), np.array([5.0, 6.0, 8.0])]))
    [array([0., 1.]), array([5., 6., 8.])]
    """
    if len(x) < least:
        return None
    if x.flags.writeable:
        return _axes_of(x)
    for known, axes in _SEEN:
        if known() is x:
            return axes
    found = _axes_of(x)
    _SEEN.append((ref(x), found))
    return found


_SEEN: deque[tuple[ref[Array], list[Array] | None]] = deque(maxlen=8)  # points that can't change, and their axes


def _axes_of(x: Array) -> list[Array] | None:
    axes, stride = list[Array](), len(x)
    for column in x.T:
        block = column[:stride]
        changes = np.flatnonzero(block != block[0]) if stride else block
        inner = int(changes[0]) if len(changes) else stride
        if inner == 0 or stride % inner:
            return None
        axes.append(np.ascontiguousarray(block[::inner]))
        stride = inner
    return axes if stride == 1 and np.array_equal(grid_points(axes), x) else None


def tensor_grid(axes: Sequence[Array], axis_weights: Sequence[Array], spacing: Array | Sequence[float]) -> Points:
    """Return all combinations of the coordinates of each axis, the last one varying fastest."""
    weights = axis_weights[0]
    for w in axis_weights[1:]:
        weights = np.multiply.outer(weights, w).ravel()
    return Points(grid_points(axes), weights, np.asarray(spacing), tuple(axes), tuple(axis_weights))


@dataclass(frozen=True)
class Side:
    """A named part of the boundary."""

    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class FlatSide(Side):
    """A side of a box: the lower (``end=0``) or upper (``end=1``) one across an axis."""

    axis: int = 0
    end: int = 0


@dataclass(frozen=True)
class BoundaryPoints:
    """Points on one side with their outward normals and surface weights."""

    x: Array
    normals: Array
    weights: Array
    side: Side

    def __len__(self) -> int:
        return len(self.x)


class Hole(NamedTuple):
    """A hole of a domain: its centre, and a radius within which there is nothing of the domain."""

    center: tuple[float, ...]
    radius: float


@lru_cache(maxsize=64)
def gauss(n: int) -> tuple[Array, Array]:
    """Return Gauss–Legendre nodes and weights on [0, 1] (cached, read-only); of very many nodes, panel by panel."""
    from scipy.special import roots_legendre  # O(n²), where NumPy's leggauss needs O(n³)

    most, each = 2048, 64  # nodes of one rule, and of a panel: 65,536 nodes of one rule take minutes
    if n > most:
        panels = -(-n // each)
        counts = [n // panels + (k < n % panels) for k in range(panels)]
        rules = [gauss(count) for count in counts]
        nodes = np.concatenate([(k + own) / panels for k, (own, _) in enumerate(rules)])
        weights = np.concatenate([own / panels for _, own in rules])
    else:
        nodes, weights = roots_legendre(n)
        nodes, weights = (nodes + 1.0) / 2.0, weights / 2.0
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@lru_cache(maxsize=128)
def gauss_power(n: int, power: float) -> tuple[Array, Array]:
    """Return the Gauss rule on [0, 1] for the weight s^power (Gauss–Jacobi; cached, read-only)."""
    from scipy.special import roots_jacobi

    nodes, weights = roots_jacobi(n, 0.0, power)
    nodes, weights = (nodes + 1.0) / 2.0, weights / 2.0 ** (power + 1.0)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@lru_cache(maxsize=64)
def uniform(n: int) -> tuple[Array, Array]:
    """Return equispaced nodes on [0, 1], ends included, with trapezoidal weights."""
    nodes = np.linspace(0.0, 1.0, n)
    weights = np.full(n, 1.0 / max(n - 1, 1))
    if n > 1:
        weights[[0, -1]] /= 2.0
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@lru_cache(maxsize=64)
def equispaced(n: int) -> tuple[Array, Array]:
    """Return equispaced nodes on [0, 1) with equal weights: exact for n − 1 waves of period one."""
    nodes, weights = np.arange(n) / n, np.full(n, 1.0 / n)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


TENSOR_RULES: dict[str, Callable[[int], tuple[Array, Array]]] = {"gauss": gauss, "uniform": uniform, "spectral": gauss}


def _latin_hypercube(n: int, d: int, rng: np.random.Generator) -> Array:
    strata = rng.permuted(np.tile(np.arange(n), (d, 1)), axis=1).T
    return (strata + rng.random((n, d))) / n


SCATTERED_RULES: dict[str, Callable[[int, int, np.random.Generator], Array]] = {
    "random": lambda n, d, rng: rng.random((n, d)),
    "latin-hypercube": _latin_hypercube,
    "sobol": sobol,
}


def check_method(method: str) -> None:
    """Refuse an unknown way of placing points and list the known ones."""
    known = [*TENSOR_RULES, *SCATTERED_RULES]
    if not isinstance(method, str) or method not in known:
        raise SettingsError(f"unknown sampling method {shown(method)}; choose one of {choices(known)}.")


def generator(rng: Any) -> np.random.Generator:
    """Return the generator of random numbers that a seed stands for."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is not None and not (is_whole(rng) and rng >= 0):
        raise SettingsError(f"rng is a seed, a whole number from 0 on, or a generator of NumPy; got {shown(rng)}.")
    return np.random.default_rng(rng)


def check_count(n: object) -> int:
    """Return a number of points, or refuse what is none."""
    max_points = 10**8  # of one set; each coordinate of them takes 0.8 GB
    if not is_whole(n) or not 1 <= n <= max_points:  # type: ignore[operator]
        most = f" of at most {max_points}" if is_whole(n) and n > max_points else ""  # type: ignore[operator]
        raise SettingsError(f"a positive whole number of points{most} is needed, got {shown(n)}.")
    return int(n)  # type: ignore[call-overload]


def check_sides(sides: Any, what: str) -> Mapping[Any, Any]:
    """Return sides by name, or refuse what is no such table."""
    if sides is None:
        return {}
    if not isinstance(sides, Mapping):
        raise ProblemError(f"sides is a dict of names with their {what}, such as {{'inlet': [3]}}; got {shown(sides)}.")
    return sides


def member_rows(given: Any, name: str, what: str) -> Array:
    """Return numbers of edges, faces or points, or refuse what is no list of them."""
    given = unmasked(given, f"the side '{name}' needs a list of {what}", ProblemError)
    try:
        rows = np.atleast_1d(np.asarray(given))
    except ValueError:  # ragged
        rows = np.empty(0)
    if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
        raise ProblemError(f"the side '{name}' needs a list of numbers of {what} such as [0, 1], got {shown(given)}.")
    return rows


def distinct(names: list[str]) -> list[str]:
    """Return names of sides without clashes: the second of a kind gets `` 2`` appended, and so on."""
    found: list[str] = []
    for name in names:
        fresh, number = name, 1
        while fresh in found:
            number += 1
            fresh = f"{name} {number}"
        found.append(fresh)
    return found
