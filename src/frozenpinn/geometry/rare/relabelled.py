"""The same domain with other sides: renamed, or parted by comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.domain import Domain, Predicate, within
from frozenpinn.geometry.points import BoundaryPoints, FlatSide, Hole, Points, Side
from frozenpinn.geometry.rare.curves import Curve, divided
from frozenpinn.geometry.rare.predicates import Comparison

Array = np.ndarray
CHECKED = {1: 1, 2: 4096, 3: 16384}  # points per side that decide how much of it meets which comparison


class Wrapped(Domain):
    """A domain that leaves all but its sides to another one."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._bounds(domain.lower, domain.upper, domain.periodic)

    @property
    def measure(self) -> float:
        """Length, area, volume."""
        return self.domain.measure

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        return within(self.domain, np.asarray(x, dtype=float), tolerance)

    def wrap(self, x: Array) -> Array:
        """Map points into the domain along its periodic axes."""
        return self.domain.wrap(x)

    def sample(
        self, n: int | Sequence[int], method: str = "gauss", rng: int | np.random.Generator | None = None
    ) -> Points:
        """Place points inside, as the domain behind does."""
        return self.domain.sample(n, method, rng)

    def _rule(self, n: int) -> Points:
        return self.domain._rule(n)

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        return self.domain._scatter(n, method, rng)

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        return self.domain._crossings(base)

    def _corners(self) -> Array:
        return self.domain._corners()

    def corners_beyond(self, opening: float) -> tuple[tuple[float, float, float, float], ...]:
        """Return the corners that open by more than an angle."""
        return self.domain.corners_beyond(opening)

    def _shape(self) -> Any:
        return self.domain._shape()

    @property
    def hole_circles(self) -> tuple[Hole, ...]:
        """Holes of the domain behind."""
        return self.domain.hole_circles

    def sample_side(
        self, side: Side | str, n: int, method: str = "gauss", rng: int | np.random.Generator | None = None
    ) -> BoundaryPoints:
        """Place about n points on one side, with outward normals and weights that sum to its measure."""
        found = self.side(side if isinstance(side, str) else side.name)
        x, normals, weights = self._side_points(found, n, method, np.random.default_rng(rng))
        return BoundaryPoints(x, normals, weights, found)


class Renamed(Wrapped):
    """A domain whose side has another name, or whose several sides have a prefix; see :meth:`Domain.named`."""

    def __init__(self, domain: Domain, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ProblemError(f"a side needs a name such as 'hole', got {name!r}.")
        if not domain.sides:
            raise ProblemError(f"{domain!r} has no sides to be named.")
        super().__init__(domain)
        self.name = name

    def __repr__(self) -> str:
        return f"{self.domain!r}.named({self.name!r})"

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The sides of the domain behind, with their new names."""
        old = self.domain.sides
        if len(old) == 1:
            return (replace(old[0], name=self.name, aliases=()),)
        return tuple(
            replace(s, name=f"{self.name} {s.name}", aliases=tuple(f"{self.name} {a}" for a in s.aliases)) for s in old
        )

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the curves of the domain behind, with the new names of their sides."""
        curves, new = self.domain.outline(), dict(zip((s.name for s in self.domain.sides), self.sides, strict=True))
        return None if curves is None else tuple(replace(c, side=new[c.side].name) for c in curves)

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        points = self.domain.sample_side(self.domain.sides[self.sides.index(side)], n, method, rng)
        return points.x, points.normals, points.weights


class Parted(Wrapped):
    """A domain with parts of its boundary as sides of their own; see :meth:`Domain.with_sides`."""

    def __init__(self, domain: Domain, predicates: Mapping[str, Predicate]) -> None:
        if not predicates:
            raise ProblemError("no side was given; write for example with_sides(inlet='x < 0.1').")
        super().__init__(domain)
        self.predicates = {
            str(name): Comparison(given, domain.coordinates, f"the side '{name}'") for name, given in predicates.items()
        }
        clash = [side.name for side in domain.sides if side.name in self.predicates]
        shares = self._shares
        for i, name in enumerate(self.predicates):
            if not any(share[i] for share in shares.values()):
                raise ProblemError(
                    f"the side '{name}' ({self.predicates[name].given!r}) matches no point of the boundary of "
                    f"{domain!r} that no earlier side matches; its comparison must hold somewhere on the boundary."
                )
        for name in clash:
            if shares[domain.side(name)][-1]:
                raise ProblemError(f"'{name}' is already a side, and a part of it would keep the name; choose another.")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={comparison.given!r}" for name, comparison in self.predicates.items())
        return f"{self.domain!r}.with_sides({given})"

    def _number(self, x: Array) -> Array:
        """Return the number of the first comparison that each point meets, or that of all if none."""
        met = np.column_stack([comparison(x) for comparison in self.predicates.values()])
        return np.where(np.any(met, axis=1), np.argmax(met, axis=1), len(self.predicates))

    @cached_property
    def _shares(self) -> dict[Side, Array]:
        """For each side of the domain behind, the share of it that each comparison takes, and the rest."""
        found = {}
        for side in self.domain.sides:
            points = self.domain.sample_side(side, CHECKED.get(self.domain.dimension, 4096), "sobol", rng=0)
            taken = np.bincount(self._number(points.x), points.weights, minlength=len(self.predicates) + 1)
            found[side] = taken / np.sum(points.weights)
        return found

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The new sides, then what is left of the old ones; a side of a box that was cut is no longer flat."""
        rest = [(side, shares) for side, shares in self._shares.items() if shares[-1] > 0]
        old = [
            Side(side.name, side.aliases) if isinstance(side, FlatSide) and shares[-1] < 1.0 - 1e-12 else side
            for side, shares in rest
        ]
        return (*(Side(name) for name in self.predicates), *old)

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the curves of the domain behind, cut where another comparison is met."""
        curves, names = self.domain.outline(), list(self.predicates)
        if curves is None:
            return None
        found = list[Curve]()
        for curve in curves:
            for piece in divided(curve, self._changes(curve)):
                number = int(self._number(piece.at(np.array([0.5])))[0])
                found.append(replace(piece, side=names[number]) if number < len(names) else piece)
        return tuple(found)

    def _changes(self, curve: Curve) -> list[float]:
        """Return the parameters at which a curve comes to another side, by bisection."""
        s = np.linspace(0.0, 1.0, 257)
        numbers = self._number(curve.at(s[:-1] + 0.5 / 256))
        k = np.flatnonzero(numbers[1:] != numbers[:-1])
        low, high = s[k] + 0.5 / 256, s[k + 1] + 0.5 / 256
        for _ in range(50 if len(k) else 0):
            middle = 0.5 * (low + high)
            same = self._number(curve.at(middle)) == numbers[k]
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return list(0.5 * (low + high))

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        number = self.sides.index(side)
        names = list(self.predicates)
        if number >= len(names):
            sources = {old: shares for old, shares in self._shares.items() if old.name == side.name}
            number = len(names)
        else:
            sources = {old: shares for old, shares in self._shares.items() if shares[number] > 0}
        sizes = {old: self._measures[old] * shares[number] for old, shares in sources.items()}
        total = sum(sizes.values())
        parts = []
        for old, shares in sources.items():
            wanted = max(int(np.ceil(n * sizes[old] / total / shares[number])), 4)
            points = self.domain.sample_side(old, wanted, method, rng)
            kept = self._number(points.x) == number
            if not np.any(kept):
                points = self.domain.sample_side(old, CHECKED.get(self.dimension, 4096), method, rng)
                kept = self._number(points.x) == number
            weights = points.weights[kept]
            parts.append((points.x[kept], points.normals[kept], weights * (sizes[old] / np.sum(weights))))
        x, normals, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
        return x, normals, weights

    @cached_property
    def _measures(self) -> dict[Side, float]:
        return {s: float(np.sum(self.domain.sample_side(s, 2000).weights)) for s in self.domain.sides}
