"""A domain of your own: the quarter of a disk, with three sides.

    uₜ = Δu + f,  u = 0 on all sides,  exact: u(x, y, t) = exp(−t) xy(1 − x² − y²)

``"quarter": Kind(Quarter, ("radius",), cls=Quarter, write=_attributes("radius"))`` among the ``KINDS`` of
geometry/documents.py makes it ``kind = "quarter"`` in problem files, and lets solutions on it be stored.
"""

import numpy as np

import frozenpinn as fp
from frozenpinn.domains import Domain, Points, Side
from frozenpinn.geometry.points import SCATTERED_RULES, gauss


class Quarter(Domain):
    """x ≥ 0, y ≥ 0, x² + y² ≤ radius²; names with an underscore are those that every domain fills in."""

    sides = (Side("bottom"), Side("left"), Side("arc"))

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius  # attributes are set once and never change
        self._bounds(np.zeros(2), np.full(2, radius))

    @property
    def measure(self) -> float:
        """The area."""
        return np.pi * self.radius**2 / 4

    def contains(self, x: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
        """Tell for each point whether it is inside, up to a fraction of the size."""
        return (x.min(axis=1) >= -tolerance * self.size) & (np.hypot(*x.T) <= self.radius + tolerance * self.size)

    def _rule(self, n: int) -> Points:
        nodes, weights = gauss(max(2, round(np.sqrt(n))))  # in radius and angle
        r, angle = (g.ravel() for g in np.meshgrid(self.radius * nodes, np.pi / 2 * nodes))
        area = np.outer(weights, weights).ravel() * np.pi / 2 * self.radius * r
        return self._points(np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1), area)

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return n points on a side, their outward normals and weights: a Gauss rule, or scattered ones."""
        s, w = gauss(n) if method == "gauss" else (SCATTERED_RULES[method](n, 1, rng)[:, 0], np.full(n, 1 / n))
        if side.name == "arc":
            normals = np.stack([np.cos(np.pi / 2 * s), np.sin(np.pi / 2 * s)], axis=1)
            return self.radius * normals, normals, self.measure / self.radius * 2 * w
        along, out = ([1.0, 0.0], [0.0, -1.0]) if side.name == "bottom" else ([0.0, 1.0], [-1.0, 0.0])
        return np.outer(self.radius * s, along), np.tile(out, (n, 1)), self.radius * w


def main() -> None:
    exact = "exp(-t)*x*y*(1 - x**2 - y**2)"
    equation, start = f"u_t = lap(u) - {exact} + 12*exp(-t)*x*y", "x*y*(1 - x**2 - y**2)"
    solution = fp.solve(fp.Problem(equation, Quarter(), (0, 1), start, "u = 0", exact=exact), tol=1e-6)
    print(f"{solution.status}, estimated {solution.error_estimate['u']:.1e}, true {solution.error()['rel_l2']:.1e}")
    assert solution.error()["rel_l2"] < 1e-6
    assert abs((Quarter() - fp.Disk([0.4, 0.4], 0.2)).measure - 0.21 * np.pi) < 1e-6  # combinations come for free


if __name__ == "__main__":
    main()
