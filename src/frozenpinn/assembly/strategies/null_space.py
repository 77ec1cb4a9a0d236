"""The default strategy: a basis that obeys the homogeneous conditions, and a lifting that carries the data."""

from __future__ import annotations

from dataclasses import dataclass

from frozenpinn.assembly.boundary import boundary_rows
from frozenpinn.assembly.constrained_basis import images_of_multipliers, obeying
from frozenpinn.assembly.laws import law_places
from frozenpinn.assembly.spaces import Space, compressed
from frozenpinn.basis.network import Network
from frozenpinn.basis.svd_layer import Truncation
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled
from frozenpinn.statement.problem import Problem


@spelled(SettingsError)
@dataclass(frozen=True)
class NullSpaceLayer:
    """Boundary strategy (default): the basis obeys the homogeneous conditions, data are lifted.

    It makes the paper's boundary-compliant layer A of the null space of the boundary rows instead of outer functions.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> solution = fp.solve(rod, settings=fp.Settings(boundary=fp.boundary.NullSpaceLayer()))
    >>> bool(abs(solution(0.0, 0.05)) < 1e-12)
    True
    """

    name: str = "null-space"
    renewable = True
    separable = True
    cutoff = None

    def build(self, network: Network, problem: Problem, cutoff: Truncation, per_side: int) -> Space:
        """Restrict the network to the null space of the boundary rows."""
        rows = boundary_rows(problem, network.fields, per_side, hidden=network.hidden)
        data = rows.data().compressed()
        own = obeying(problem, network)
        compliant = network.comply_with(rows.functionals, rows.active, data.shapes, own, independent=own is None)
        laws = law_places(problem, network.fields, per_side)
        order, images = problem.equation(network.fields[0]).order, images_of_multipliers(problem, network, per_side)
        return Space(compressed(compliant, cutoff), data, order, laws=laws, images=images)
