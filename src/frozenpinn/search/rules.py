"""The tuned numbers of the choices that the program makes which a study sets, or which several places share.

They are fields of frozen values: ``Settings(rules=Rules(search=SearchRules(safety=0.25)))`` changes one of them.
docs/method.md says how they were found, and on which problems; the commands show how a choice fares. A number that one
function alone needs is a name in that function.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled


@dataclass(frozen=True)
class ModeRules:
    """Sizes, and when a value is believed."""

    points: tuple[float, float, float] = (2.0, 4.0, 6.0)  #: points of the domain for each neuron
    cutoffs: tuple[float, ...] = (1e-13, 1e-11, 1e-9, 1e-7)  #: of the SVD layer, from fine to coarse
    more: int = 8  #: values examined beyond those asked for
    small: float = 1e-2  #: part of the largest value asked for that is the scale of those near zero
    neutral: float = 1e-7  #: growth rate, relative to the size of the eigenvalues, that is none


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
        """Return the neurons of each axis of a product, an even number, that match ``width`` neurons of other kinds."""
        return 2 * round(self.on_axes[dimension - 2] * width ** (1.0 / min(dimension, 3)) / 2)

    def alike(self, widths: tuple[int, ...]) -> int:
        """Return about how many neurons of other kinds match a product with these on its axes."""
        d = min(len(widths), self.product_dimensions)
        each = float(np.exp(np.mean(np.log(widths))))
        return round((each / self.on_axes[d - 2]) ** min(d, 3))

    #: neurons of a first solve in one, two, three, more dimensions
    first: tuple[int, int, int, int] = (32, 160, 320, 320)
    usual: tuple[int, int, int, int] = (80, 600, 1200, 1000)  #: neurons of a solve without a tolerance, by dimension
    points: float = 2.5  #: points of the domain for each neuron
    pilot: float = 0.34  #: neurons of a pilot that compares kinds of features, as a part of those of the solve
    pilot_least: int = 24  #: neurons of a pilot, at least
    pilot_most: int = 500  #: neurons of a pilot, at most
    pilot_accuracy: float = 1e-7  #: relative change at which Newton's method may stop in a pilot
    reaches: tuple[float, ...] = (0.5, 0.8, 1.2, 1.8, 2.7)  #: of waves, from smooth to fine
    on_axes: tuple[float, ...] = (2.4, 2.6, 1.5, 1.2)  #: neurons of each axis of a product, in units of width^(1/2) in
    #: two dimensions, of width^(1/3) in three and more; beyond these dimensions there are no products
    detail_blind: float = 0.3  #: what a pilot promises to leave, above which narrow sources are treated
    detail_from: float = 0.03  #: what a hardly improved pilot leaves, above which narrow sources are treated
    special_from: float = 1e-3  #: what a pilot leaves, beyond which special functions are tried
    stalls: float = 0.3  #: part of what the pilot of the solve before has left, which smooth solutions fall below
    untrusted: float = 0.15  #: part of the equations that a solution leaves, above which no estimate is trusted
    doubtful: float = 0.01  #: part of the equations that a solution leaves, above which it must fall as networks grow
    wider: float = 1.5  #: ratio of widths over which what is left must have fallen
    hopeless: float = 4.0  #: growth of the width at which a search gives up if what is left has not fallen
    blind: float = 0.8  #: part of the equations that a solution leaves, above which nothing is resolved yet
    singular: float = 1e-7  #: smallest over second smallest singular value of a problem without a unique solution
    newton: NewtonRules = field(default_factory=NewtonRules)  #: of Newton's method
    path: PathRules = field(default_factory=PathRules)  #: of paths of solutions


FINEST = 1e-13  #: of all tolerances and cut-offs in double precision


@dataclass(frozen=True)
class SizingRules:
    """Widths and points. Study: ``frozenpinn study width-burgers`` and others, ``calibration``."""

    dimensions: int = 3  #: up to as many, domains have quadrature rules and functions that vanish on the boundary
    box: tuple[int, int] = (
        64,
        32,
    )  #: neurons per axis of a product if nothing is asked for, in two and three dimensions
    shape: int = 800  #: neurons on other shapes if nothing is asked for
    points_on_lines: float = 2.0  #: points per neuron on an interval
    points_more: int = 12  #: points on each axis of a product that do not become fewer with its neurons
    points_on_cycles: float = 1.5  #: points per neuron on periodic axes, so that squares are not aliased
    ladder: tuple[tuple[int, ...], ...] = (
        (40, 56, 80, 110, 150, 200, 280, 400),
        (12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
        (8, 12, 16, 24, 32, 48, 64),
    )  #: widths at which data are fitted to find the first one: on an interval, per axis in two and three dimensions
    margin_on_products: float = 3.0  #: a first network that is too narrow costs little, one that is too wide much
    blind: float = 0.5  #: misfit beyond which a width is too small to see the data, and more may help suddenly
    ridge: float = 1e-14  #: of the fit of data that finds the first width, about the cut-off of the SVD layer
    trial_width: int = 200  #: neurons of the trial that shows whether one basis resolves a nonlinear solution
    trial_share: float = 5e-2  #: share of the finest functions at which such a trial has failed
    trial_margin: float = 0.3  #: part of the tolerance that a network may miss of a rough solution
    further_on_products: float = 2.5  #: how far beyond the width of a trial its outcome is trusted
    trial_noise: float = 1e-5  #: accuracy in time of a trial on a product: what it leaves is not smooth along the axes
    digits_per_neuron: float = 0.25  #: by which the misfit of a product falls with the neurons of an axis, at least


@dataclass(frozen=True)
class CutoffRules:
    """Relative cut-offs of the SVD layer. Study: ``frozenpinn study svd-threshold``."""

    candidates: tuple[float, ...] = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  #: of linear problems, among which a stable one
    #: is sought
    coarsest: float = 1e-8  #: the cut-off whose growth is taken for the equation's own
    nonlinear: float = 1e-10  #: of nonlinear problems


@dataclass(frozen=True)
class IntegratorRules:
    """Which integrator suits a system. Study: ``frozenpinn bench --all --recipe auto`` with integrators by name."""

    gentle: float = 300.0  #: norm of the Jacobian × duration up to which explicit steps are cheapest
    explicit: float = 3e4  #: norm of the Jacobian × duration up to which explicit steps suffice for oscillations


@dataclass(frozen=True)
class WindowRules:
    """A basis that follows the solution. Study: ``frozenpinn study burgers-points``.

    On boxes, u_t + u·u_x + 0.3·u·u_y = ν·Δu with a front across x, seconds on one core to a tolerance, following and
    with one basis: ν = 0.01: 2.8 and 1.5 to 1e-3, 3.4 and 3.4 to 1e-4; ν = 0.004: 3.2 and 18 to 1e-3, 7.5 and more than
    half a minute, without reaching it, to 1e-4.
    """

    short: float = 2e-3  #: a window shorter than this part of the whole time has hardly helped
    looser: float = 10.0  #: factor by which the accuracy is lowered if windows are many
    much_looser: float = 100.0  #: factor by which the accuracy is lowered if windows are short
    slack: float = 3.0  #: by how much the first share may be exceeded before a basis is renewed
    negligible: float = 1e-4  #: a field this small relative to another one need not be resolved for itself
    per_cell: int = 8  #: Gauss points in each cell of a graded interval


@dataclass(frozen=True)
class SearchRules:
    """The search for a tolerance. Study: ``frozenpinn study calibration``."""

    safety: float = 0.5  #: part of the tolerance that the estimate may take
    first_rtol: float = 0.3  #: tolerance in time of the first solve, as a part of the tolerance
    tighter: float = 0.3  #: tolerance in time of a solve, as a part of that of the solve before
    steps: float = 0.2  #: part of the tolerance that errors of time steps may take
    step: float = 1.25  #: smallest growth of width and points from one solve to the next
    stride: float = 1.8  #: largest growth of width and points from one solve to the next
    caution: float = 1.3  #: what a solve takes may be underestimated by this
    again: float = 1.15  #: a solve that failed is tried once more with so much more width
    enough: float = 16.0  #: growth of the width below which an unresolved solution is no reason to stop
    wrong: float = 0.1  #: an error of solutions that have nothing in common with the truth
    seeds: int = 7919  #: between the seeds of two solves


@dataclass(frozen=True)
class Effort:
    """Effort of following errors: groups of steps, nodes on a step, smooth functions (in all, per field), states."""

    groups: tuple[int, int]
    nodes: int
    smooth: int
    each: int
    states: int


@dataclass(frozen=True)
class StepErrorRules:
    """How errors of time steps are estimated (evolution/step_errors.py). Study: ``frozenpinn study nasty``."""

    usual: Effort = Effort((24, 96), 5, 12, 4, 4)
    brief: Effort = Effort((8, 16), 4, 2, 1, 2)  #: on large products
    closer: Effort = Effort((24, 96), 5, 64, 64, 4)  #: where the outcome is doubted
    turning: Effort = Effort((24, 96), 5, 4, 2, 4)  #: where states go round and round, in many more groups
    long: Effort = Effort((24, 96), 10, 6, 2, 3)  #: of long steps, on which solutions are polynomials of high degree
    long_closer: Effort = Effort((24, 96), 16, 40, 40, 4)  #: of long steps, where the outcome is doubted
    scanned: int = 2000  #: states evaluated at once; where right-hand sides have corners, all states in such batches


@dataclass(frozen=True)
class EstimateRules:
    """How the error is estimated. Study: ``frozenpinn study calibration``."""

    residual_points: int = 128  #: places at which two solutions are put into the equations
    residual_times: int = 6  #: times at which two solutions are put into the equations
    static_trust: float = (
        2.0  #: part of the distance that is the error of the finer solution, as a multiple of the ratio of residuals
    )
    blind: float = (
        5e-3  #: σ₁/σ₂ of |Lu|/|u| below which the residual is no error indicator (coarse networks overrate it
    )
    #: fivefold: 1.6e-3 for 3.3e-4 of ``bench steady-burgers --variant layer``)
    parted: float = 0.1  #: distance beyond which two solutions, nonlinear or static, may both be wrong
    step_errors: StepErrorRules = StepErrorRules()


@dataclass(frozen=True)
class CheckRules:
    """When a solve without a tolerance warns."""

    initial: float = 1e-3  #: relative misfit of the initial data
    unresolved: float = 3e-3  #: share of the solution in the finest tenth of the basis
    missed: float = 2e-3  #: relative misfit of a boundary condition
    growth: float = 1e6  #: growth of the norm above which it may not be the equation's own


@spelled(SettingsError)
@dataclass(frozen=True)
class Rules:
    """All rules; each can be replaced.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> from frozenpinn.search.rules import SearchRules
    >>> fp.Settings(rules=fp.Rules(search=SearchRules(safety=0.25))).rules.search.safety
    0.25
    """

    sizing: SizingRules = SizingRules()
    cutoff: CutoffRules = CutoffRules()
    integrators: IntegratorRules = IntegratorRules()
    windows: WindowRules = WindowRules()
    search: SearchRules = SearchRules()
    estimate: EstimateRules = EstimateRules()
    checks: CheckRules = CheckRules()
    static: StaticRules = field(default_factory=StaticRules)
    modes: ModeRules = field(default_factory=ModeRules)
