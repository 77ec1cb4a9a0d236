"""A boundary strategy of your own: the null space of the boundary rows, with a level of your choice.

    uₜ = Δu on a disk,  u given on the circle,  exact: u(x, y, t) = exp(x − y + 2t)

On shapes the rows of the conditions are nearly dependent, and singular values below a level count as zero: 1e-9 of the
largest by default. With a higher level the conditions are met less accurately.

``"levelled": Levelled`` in the ``STRATEGIES`` of assembly/strategies/__init__.py makes it
``Settings(boundary="levelled")``.
"""

from dataclasses import dataclass, replace

import numpy as np

import frozenpinn as fp
from frozenpinn.basis.boundary_layer import TruncatedNullSpace
from frozenpinn.boundary import Space, boundary_rows, compressed


@dataclass(frozen=True)
class Levelled:
    """Functions obey the homogeneous conditions up to a level; data are lifted."""

    level: float = 1e-6
    name: str = "levelled"
    renewable = False  # True would allow windows of time with new neurons, …
    separable = False  # … and this one products on boxes, which build their own boundary layer
    cutoff = None  # of the SVD layer: as fine as the problem allows

    def build(self, network: fp.stages.Network, problem: fp.Problem, cutoff: float | None, per_side: int) -> Space:
        """Put boundary layer and SVD layer on the raw network of a group of fields."""
        rows = boundary_rows(problem, network.fields, per_side)  # the conditions at points of each side, and their data
        matrix = np.concatenate([f.rows(network.hidden, network.fields) for f in rows.functionals])
        data = rows.data().compressed()
        layer = TruncatedNullSpace(matrix, self.level)
        compliant = replace(network, layer=layer, active=rows.active, shapes=data.shapes)
        return Space(compressed(compliant, cutoff), data, problem.equation(network.fields[0]).order)


def main() -> None:
    exact = "exp(x - y + 2*t)"
    problem = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 1), "exp(x - y)", f"u = {exact}", exact=exact)
    for level in (1e-3, 1e-6, 1e-9):
        solution = fp.solve(problem, settings=fp.Settings(width=200, boundary=Levelled(level)))
        error, missed = solution.error()["rel_l2"], solution.residuals.boundary
        print(f"level {level:g}: {solution.system.size} functions, boundary missed by {missed:.1e}, error {error:.1e}")
        assert missed < 300 * level
        assert error < 10 * level


if __name__ == "__main__":
    main()
