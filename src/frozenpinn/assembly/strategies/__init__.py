"""How boundary conditions are met: one file each, one line in the registry."""

from __future__ import annotations

from collections.abc import Callable

from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.strategies.augmented import AugmentedODE
from frozenpinn.assembly.strategies.null_space import NullSpaceLayer
from frozenpinn.assembly.strategies.outer_basis import OuterBasis
from frozenpinn.assembly.strategies.protocol import BoundaryStrategy
from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.network import Network
from frozenpinn.basis.svd_layer import Truncation
from frozenpinn.errors import SettingsError, choices
from frozenpinn.geometry import Points
from frozenpinn.statement.problem import Problem

STRATEGIES: dict[str, Callable[[], BoundaryStrategy]] = {
    "null-space": NullSpaceLayer,
    "outer-basis": OuterBasis,
    "augmented-ode": AugmentedODE,
}

__all__ = [
    "STRATEGIES",
    "AugmentedODE",
    "BoundaryStrategy",
    "NullSpaceLayer",
    "OuterBasis",
    "build_space",
    "strategy_by_name",
]


def strategy_by_name(given: str | BoundaryStrategy) -> BoundaryStrategy:
    """Look a boundary strategy up by name."""
    if not isinstance(given, str):
        return given
    if given not in STRATEGIES:
        raise SettingsError(f"unknown boundary strategy '{given}'; choose one of {choices(STRATEGIES)}.")
    return STRATEGIES[given]()


def build_space(
    problem: Problem,
    hidden: HiddenLayer,
    points: Points,
    fields: tuple[str, ...] | None = None,
    strategy: BoundaryStrategy | None = None,
    cutoff: Truncation = 1e-12,
    per_side: int = 1,
) -> Space:
    """Put boundary layer and SVD layer on a hidden layer.

    Parameters
    ----------
    problem, hidden, points
        What is solved, the frozen neurons, and the quadrature points.
    fields
        The fields that share this space; by default all fields of a problem with one group.
    strategy
        How boundary conditions are met; the null space by default.
    cutoff
        Relative cut-off of the SVD layer, or an :class:`SVDLayer`; None leaves the layer out.
    per_side
        Points on each side in several dimensions.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> points = rod.domain.sample(80)
    >>> hidden = fp.samplers.MultiScale(40).sample(points, rng=0)
    >>> space = fp.stages.build_space(rod, hidden, points)
    >>> space.network.size < 40
    True
    >>> len(fp.stages.discretise(rod, space).initial_state) == space.network.size
    True
    """
    if fields is None:
        if len(problem.groups) > 1:
            raise SettingsError(f"the fields fall into the groups {problem.groups}; build a space for each: fields=…")
        fields = problem.groups[0]
    strategy = NullSpaceLayer() if strategy is None else strategy
    return strategy.build(Network(hidden, points, fields), problem, cutoff, per_side)
