"""The tuned numbers of static problems, each a field that users may replace: ``Rules(static=StaticRules(…))``."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class NewtonRules:
    """When steps are taken, shortened and given up.

    Studies: ``frozenpinn bench bratu liouville nonlinear-helmholtz nonlinear-poisson minimal-surface``.
    """

    steps: int = 40  #: factorisations, at most
    accuracy: float = 1e-13  #: relative change of the solution that is round-off
    close: float = 1e-6  #: change below which Newton's method may stall


@dataclass(frozen=True)
class PathRules:
    """How a path of solutions is followed. Study: ``frozenpinn follow`` with examples/bratu.toml."""

    width: tuple[int, int, int, int] = (60, 240, 360, 360)  #: neurons in one, two, three, more dimensions
    steps: int = 150  #: along a path, at most


@dataclass(frozen=True)
class StaticRules:
    """Sizes and choices. Study: ``frozenpinn study static-calibration``."""

    @property
    def product_dimensions(self) -> int:
        """Up to as many, products of networks of the axes are tried."""
        return len(self.on_axes) + 1

    def axis_width(self, width: float, dimension: int) -> int:
        """Return the neurons of each axis of a product, an even number, beside ``width`` neurons of other kinds."""
        return 2 * round(self.on_axes[dimension - 2] * width ** (1.0 / min(dimension, 3)) / 2)

    def alike(self, widths: tuple[int, ...]) -> int:
        """Return the number of other neurons beside which a product would have these on its axes, about."""
        d = min(len(widths), self.product_dimensions)
        each = float(np.exp(np.mean(np.log(widths))))
        return round((each / self.on_axes[d - 2]) ** min(d, 3))

    #: neurons of a first solve in one, two, three, more dimensions
    first: tuple[int, int, int, int] = (32, 160, 320, 320)
    usual: tuple[int, int, int, int] = (80, 600, 1200, 1000)  #: the same if no tolerance is given
    points: float = 2.5  #: points of the domain for each neuron
    boundary: float = 1.8  #: points of the boundary, in units of what the spacing inside would give
    least_boundary: int = 6  #: points on each side, at least
    pilot: float = 0.34  #: neurons of a pilot that compares kinds of features, as a part of those of the solve
    pilot_least: int = 24  #: neurons of a pilot, at least
    pilot_most: int = 500  #: neurons of a pilot, at most
    pilot_accuracy: float = 1e-7  #: relative change at which Newton's method may stop in a pilot
    reaches: tuple[float, ...] = (0.5, 0.8, 1.2, 1.8, 2.7)  #: of waves, from smooth to fine
    on_axes: tuple[float, ...] = (2.4, 2.6, 1.5, 1.2)  #: neurons of each axis of a product, in units of width^(1/2) in
    #: two dimensions, of width^(1/3) in three and more; beyond these dimensions there are no products
    held_out: int = 400  #: points inside at which a pilot is judged
    held_out_boundary: int = 200  #: points on the boundary at which it is judged
    layer_points: tuple[float, float] = (0.03, 30.0)  #: where points in layers lie, in units of the thickness
    detail_blind: float = 0.3  #: what a pilot promises to leave, beyond which narrow sources are looked after
    detail_from: float = 0.03  #: the same of one that is hardly better than the one before
    special_from: float = 1e-3  #: what a pilot leaves, beyond which special functions are tried
    stalls: float = 0.3  #: part of what the pilot of the solve before has left, which smooth solutions fall below
    untrusted: float = 0.15  #: part of the equations that a solution leaves, beyond which no estimate is trusted
    doubtful: float = 0.01  #: part of the equations that must fall as networks grow
    wider: float = 1.5  #: ratio of widths over which it must have fallen
    hopeless: float = 4.0  #: growth of the width at which a search gives up if it has not
    blind: float = 0.8  #: part of the equations beyond which nothing is seen yet
    singular: float = 1e-7  #: smallest over second smallest singular value of a problem without a unique solution
    newton: NewtonRules = field(default_factory=NewtonRules)  #: of Newton's method
    path: PathRules = field(default_factory=PathRules)  #: of paths of solutions
