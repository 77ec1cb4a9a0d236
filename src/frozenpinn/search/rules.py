"""The tuned numbers of the choices that the program makes which a study sets, or which several places share.

They are fields of frozen values: ``Settings(rules=Rules(search=SearchRules(safety=0.25)))`` changes one of them.
docs/method.md says how they were found, and on which problems; the commands show how a choice fares. A number that one
function alone needs is a name in that function.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from frozenpinn.search.mode_rules import ModeRules
from frozenpinn.search.static_rules import StaticRules

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
    trial_width: int = 200  #: neurons of the trial that tells whether one basis resolves a nonlinear solution
    trial_share: float = 5e-2  #: share of the finest functions at which such a trial has failed
    trial_margin: float = 0.3  #: part of the tolerance that a network may miss of a rough solution
    further_on_products: float = 2.5  #: how far beyond the width of a trial its outcome is trusted
    trial_noise: float = 1e-5  #: accuracy in time of a trial on a product: what it leaves is not smooth along the axes
    digits_per_neuron: float = 0.25  #: by which the misfit of a product falls with the neurons of an axis, at least


@dataclass(frozen=True)
class CutoffRules:
    """Relative cut-offs of the SVD layer. Study: ``frozenpinn study svd-threshold``."""

    candidates: tuple[float, ...] = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  #: of linear problems, among which a stable one
    #: is looked for
    coarsest: float = 1e-8  #: the cut-off whose growth is taken for the equation's own
    nonlinear: float = 1e-10  #: of nonlinear problems


@dataclass(frozen=True)
class IntegratorRules:
    """Which integrator suits a system. Study: ``frozenpinn bench --all --recipe auto`` with integrators by name."""

    gentle: float = 300.0  #: norm of the Jacobian × duration up to which explicit steps are cheapest
    explicit: float = 3e4  #: norm of the Jacobian × duration up to which they do for oscillations


@dataclass(frozen=True)
class WindowRules:
    """A basis that follows the solution. Study: ``frozenpinn study burgers-points``.

    On boxes, u_t + u·u_x + 0.3·u·u_y = ν·Δu with a front across x, seconds on one core to a tolerance, following and
    with one basis: ν = 0.01: 2.8 and 1.5 to 1e-3, 3.4 and 3.4 to 1e-4; ν = 0.004: 3.2 and 18 to 1e-3, 7.5 and more than
    half a minute, without reaching it, to 1e-4.
    """

    short: float = 2e-3  #: a window shorter than this part of the whole time has hardly helped
    looser: float = 10.0  #: by which the accuracy is lowered if windows are many
    much_looser: float = 100.0  #: by which it is lowered if they are short
    slack: float = 3.0  #: by how much the first share may be exceeded before a basis is renewed
    negligible: float = 1e-4  #: a field this small beside another one need not be resolved for itself
    per_cell: int = 8  #: Gauss points in each cell of a graded interval


@dataclass(frozen=True)
class SearchRules:
    """The search for a tolerance. Study: ``frozenpinn study calibration``."""

    safety: float = 0.5  #: part of the tolerance that the estimate may take
    first_rtol: float = 0.3  #: tolerance in time of the first solve, as a part of the tolerance
    tighter: float = 0.3  #: tolerance in time of a solve, as a part of that of the solve before
    steps: float = 0.2  #: part of the tolerance that errors of time steps may take
    step: float = 1.25  #: growth of width and points from one solve to the next, at least
    stride: float = 1.8  #: the same at most
    caution: float = 1.3  #: what a solve takes may be underestimated by this
    again: float = 1.15  #: a solve that failed is tried once more with so much more width
    enough: float = 16.0  #: growth of the width from which on nothing being resolved is a reason to stop
    wrong: float = 0.1  #: an error of solutions that have nothing in common with the truth
    seeds: int = 7919  #: between the seeds of two solves


@dataclass(frozen=True)
class Effort:
    """How closely one looks: groups of steps, nodes on a step, smooth functions in all and of each field, states."""

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
    long_closer: Effort = Effort((24, 96), 16, 40, 40, 4)  #: of these, if the outcome is doubted
    scanned: int = 2000  #: steps that are looked at together, all of them where right-hand sides have corners


@dataclass(frozen=True)
class EstimateRules:
    """How the error is estimated. Study: ``frozenpinn study calibration``."""

    residual_points: int = 128  #: places at which two solutions are put into the equations
    residual_times: int = 6  #: times at which they are
    static_trust: float = (
        2.0  #: part of the distance that is the error of the finer solution, as a multiple of the ratio of residuals
    )
    blind: float = (
        5e-3  #: σ₁/σ₂ of |Lu|/|u| below which the residual is no error indicator (coarse networks overrate it
    )
    #: fivefold: 1.6e-3 for 3.3e-4 of ``bench steady-burgers --variant layer``)
    parted: float = 0.1  #: relative distance beyond which two solutions of a nonlinear problem may both be wrong
    step_errors: StepErrorRules = StepErrorRules()


@dataclass(frozen=True)
class CheckRules:
    """When a solve without a tolerance warns."""

    initial: float = 1e-3  #: relative misfit of the initial data
    unresolved: float = 3e-3  #: share of the solution in the finest tenth of the basis
    missed: float = 2e-3  #: relative misfit of a boundary condition
    growth: float = 1e6  #: of the norm, beyond which one has to ask whether the equation does that


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
