"""Every tuned number of the choices that the program makes, in one place, with the study that set it.

They are fields of frozen values: ``Settings(rules=Rules(search=SearchRules(safety=0.25)))`` changes one of them. How
they were found, and on which problems, is told in docs/method.md; the commands show how a choice fares.
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
    line: int = 200  #: neurons on an interval, if nothing is asked for
    line_high_order: int = 80  #: the same for linear equations of third order and more: flatter neurons, less round-off
    box: tuple[int, int] = (64, 32)  #: the same per axis of a product, in two and three dimensions
    shape: int = 800  #: the same on other shapes
    points_on_lines: float = 2.0  #: points per neuron on an interval, …
    points_on_products: float = 1.25  #: … on each axis of a product, which integrate products of two sines …
    points_more: int = 12  #: … to round-off with so many more, …
    points_more_in_many: int = 4  #: … or well enough with so many, in more dimensions, where round-off is far, …
    points_on_cycles: float = 1.5  #: … on periodic axes, so that squares are not aliased, …
    points_on_linear_cycles: float = 1.2  #: … or only data are, in linear equations with constant coefficients, …
    points_on_shapes: float = 4.0  #: … and elsewhere
    boundary_rows: float = 1.5  #: points on the whole boundary per neuron, …
    fewest_boundary_points: int = 8  #: … and on each side at least
    many_start: int = 200  #: first width in many dimensions
    ladder: tuple[tuple[int, ...], ...] = (
        (40, 56, 80, 110, 150, 200, 280, 400),
        (12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
        (8, 12, 16, 24, 32, 48, 64),
    )  #: widths at which data are fitted to find the first one: on an interval, per axis in two and three dimensions
    ladder_on_shapes: tuple[int, ...] = (100, 150, 220, 330, 500, 800)  #: the same on shapes
    stepping: tuple[int, int, int] = (400, 96, 32)  #: the widest first ones where there is no closed form in time …
    stepping_on_shapes: int = 220  #: … and the same on shapes
    margin_on_lines: float = (
        0.02  #: how well data must be represented, in units of the tolerance; widths are cheap here
    )
    margin_on_products: float = 3.0  #: a first network that is too narrow costs little, one that is too wide much
    margin_in_closed_form: float = 0.5  #: the same for linear equations with constant coefficients
    lines: int = 4  #: parallel to each axis of a box, along which data are looked at
    resolved: float = 1e-2  #: what the slower neurons of an axis miss beside those of another one, …
    negligible: float = 1e-2  #: … and beside the tolerance, up to which the axis does not grow …
    another: float = 1.05  #: … by more than this
    margin_on_shapes: float = 10.0  #: the same
    slow: float = 0.5  #: a fit that gets better by less than this from one width to the next is limited by the data
    patience: int = 2  #: widths in a row with a slow gain on an axis of a product, whose ladder has short steps
    blind: float = 0.5  #: misfit beyond which a width is too small to see the data, and more may help suddenly
    ridge: float = 1e-14  #: of that fit, about the cut-off of the SVD layer
    trial_width: int = 200  #: neurons of the trial that tells whether one basis resolves a nonlinear solution, …
    trial_rtol: float = 1e-3  #: … its accuracy in time, …
    trial_share: float = 5e-2  #: … and the share of the finest functions at which it has failed
    trial_on_products: tuple[int, int] = (36, 20)  #: neurons per axis of such a trial in two and three dimensions, …
    trial_on_lattices: tuple[int, ...] = (128, 480)  #: the same of waves on a periodic interval, if one needs more, …
    trial_margin: float = 0.3  #: … the part of the tolerance that a network may miss of it, …
    further_on_products: float = 2.5  #: … and how far beyond its width the outcome is trusted
    trial_steps: int = 250  #: that such a trial takes at most: an epidemic in 2-d would need 1100 and take 14 s
    trial_noise: float = 1e-5  #: accuracy in time of such a trial: what it leaves is not smooth along the axes
    digits_per_neuron: float = 0.25  #: by which the misfit of a product falls with the neurons of an axis, at least
    following: int = 140  #: neurons of a basis that follows the solution: fewer need many windows
    follows_from: tuple[int, int] = (
        64,
        36,
    )  #: neurons on an axis of a product that has a front and does not resolve it
    worth: tuple[float, float] = (
        1.7,
        2.5,
    )  #: by how much it would have to be wider, at least, for a basis that follows …
    narrower: float = 1.5  #: … the front, and is narrower by this
    further: float = 1.5  #: how far beyond the width of the trial its outcome is trusted


@dataclass(frozen=True)
class CutoffRules:
    """Relative cut-offs of the SVD layer. Study: ``frozenpinn study svd-threshold``."""

    finest: float = FINEST  #: of linear problems, from which on stable ones are looked for, …
    candidates: tuple[float, ...] = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  #: … among these
    coarsest: float = 1e-8  #: whose growth is taken for the equation's own
    nonlinear: float = 1e-10
    rougher: tuple[float, ...] = (1e-10, 1e-9)  #: for nonlinear equations on shapes
    desperate: tuple[float, ...] = (1e-7, 1e-6, 1e-5)  #: on shapes, if nothing else is stable
    fatal: float = 12.0  #: spurious growth exp(12) leaves three digits of an error of 1e-8
    product: float = 1e-11  #: on each axis of a product, if nothing is asked for
    product_share: float = 1e-4  #: the same as a part of the tolerance
    product_coarsest: float = 1e-9
    product_finest: float = 1e-12


@dataclass(frozen=True)
class IntegratorRules:
    """Which integrator suits a system. Study: ``frozenpinn bench --all --recipe auto`` with integrators by name."""

    gentle: float = 300.0  #: norm of the Jacobian × duration up to which explicit steps are cheapest
    explicit: float = 3e4  #: the same, for oscillations
    oscillatory: float = 3e3  #: the same, if the linear part of a wave can be solved exactly
    contraction: float = 0.6  #: of the iteration, for linear systems with coefficients in time
    semilinear: float = 150.0  #: norm of the nonlinear part × duration up to which its iteration is cheapest
    damped: float = 0.1  #: real against imaginary parts of eigenvalues, from which on decay dominates
    coarse: float = 1e-9  #: accuracy from which on gentle systems with a closed linear part are better collocated
    exponential: float = 30.0  #: rate of the modes that are solved exactly × duration from which on that pays, …
    leading: float = 0.3  #: … if it is at least this part of the norm of the Jacobian
    dearer_than_transforms: float = 50.0  #: a step of CVODE on a periodic interval, in exponential ones by transforms


@dataclass(frozen=True)
class WindowRules:
    """A basis that follows the solution. Study: ``frozenpinn study burgers-points``.

    On boxes, u_t + u·u_x + 0.3·u·u_y = ν·Δu with a front across x, seconds on one core to a tolerance, following and
    with one basis: ν = 0.01: 2.8 and 1.5 to 1e-3, 3.4 and 3.4 to 1e-4; ν = 0.004: 3.2 and 18 to 1e-3, 7.5 and more than
    half a minute, without reaching it, to 1e-4.
    """

    short: float = 2e-3  #: a window shorter than this part of the whole time has hardly helped …
    tiny: float = 1e-5  #: … and three in a row that are shorter than this never will
    harmless: float = 1e-6  #: a share that is not worth a warning
    growth: float = 1.5  #: of the number of neurons, if renewing them is not enough
    lacking: float = 0.1  #: share of the finest functions of an axis beside the largest, from which on it grows too
    many: int = 80  #: windows: if there would be more, something thin moves fast, and less accuracy makes them longer …
    hasty: float = 1e-5  #: … down to this
    rounds: int = 8  #: of placing neurons where the last ones have failed
    better: float = 0.5  #: part of the misfit that a further round may leave
    looser: float = 10.0  #: by which the accuracy is lowered if windows are many, …
    much_looser: float = 100.0  #: … and if they are short
    visible: float = 1e-3  #: a share of the solution beyond the basis from which on nothing of it can be trusted
    trusted: float = 2e-2  #: the same for a look at where the solution is steep, on products
    slack: float = 3.0  #: by how much the first share may be exceeded before a basis is renewed
    negligible: float = 1e-4  #: a field this small beside another one need not be resolved for itself
    per_cell: int = 8  #: Gauss points in each cell of a graded interval
    places: int = 4001  #: at which initial data are looked at, …
    places_on_products: int = 1001  #: … the same along each axis in several dimensions, …
    across: tuple[int, int] = (33, 12)  #: … on as many lines in each other direction, in two and three dimensions
    spread: float = 0.3  #: part of the interval on which a solution that changes everywhere is steep
    between: float = 0.02  #: part of the variation of initial data that may fall between the points
    steep: float = 0.1  #: part of the largest slope that makes a place a part of a front
    thin: float = 0.02  #: width of fronts, as part of the interval, that coordinates may move with, …
    travels: float = 4.0  #: … if they travel as many times their width in one window …
    travelling: float = 0.3  #: … and change by no more than this part of what their motion changes, …
    most_fronts: int = 3  #: … and there are no more of them


@dataclass(frozen=True)
class SearchRules:
    """The search for a tolerance. Study: ``frozenpinn study calibration``."""

    safety: float = 0.5  #: part of the tolerance that the estimate may take
    first_rtol: float = 0.3  #: tolerance in time of the first solve, as a part of the tolerance
    tighter: float = 0.3  #: tolerance in time of a solve, as a part of that of the solve before
    steps: float = 0.2  #: part of the tolerance that errors of time steps may take, …
    tightest: float = 1e-5  #: … for which the tolerance in time is lowered by no more than this at once
    step: float = 1.25  #: growth of width and points from one solve to the next, at least …
    stride: float = 1.8  #: … at most, …
    least: float = 1.1  #: … and at least if a limit does not allow for more
    sizes: int = 6  #: growths that are looked at to find the largest one within the limits
    companion: float = 0.8  #: growth if the first solve is known to be good enough
    coarser: float = 0.6  #: growth if there is no time for anything finer, to have an estimate at all
    caution: float = 1.3  #: what a solve takes may be underestimated by this
    again: float = 1.15  #: a solve that failed is tried once more with so much more width
    far: float = 30.0  #: a ratio of estimate to tolerance that calls for the longest stride
    helps: float = 0.7  #: what a wider network must do to the distance from the one before, at least; …
    floor: float = 1e-11  #: … below this a failure to do so is round-off
    explains: float = 2.0  #: by how much the ratio of residuals may underestimate that of errors
    telling: float = 1.2  #: growth of operations from which on their price can be told from two solves: …
    flattest: float = 0.7  #: … the power of the operations with which seconds grow, at least …
    steepest: float = 1.6  #: … and at most
    beside_memory: float = 2e8  #: bytes by which a process may grow for other reasons than a solve
    brief: float = 5e9  #: operations that may be spent on more safety than was asked for: about a second
    coarse: float = 1e-2  #: above this error nothing is resolved yet, until the width has grown …
    enough: float = 16.0  #: … by this factor
    wrong: float = 0.1  #: an error of solutions that have nothing in common with the truth
    longer: float = 0.03  #: part of the time by which a solution must be right for longer to go on
    tries: int = 3  #: first solves, if they fail at different times or exceed a limit
    retreat: float = 0.5  #: growth of a first solve that has exceeded its share of a limit, …
    share: float = 0.7  #: … which is this part of the time that is left
    same_time: float = 0.05  #: part of the whole time within which two failures are one
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
    """How errors of time steps are told (evolution/step_errors.py). Study: ``frozenpinn study nasty``."""

    usual: Effort = Effort((24, 96), 5, 12, 4, 4)
    brief: Effort = Effort((8, 16), 4, 2, 1, 2)  #: on products of more than …
    large: int = 400  #: … this number of coefficients, where a look at many states costs as much as steps
    closer: Effort = Effort((24, 96), 5, 64, 64, 4)  #: where what was told is doubted
    turning: Effort = Effort((24, 96), 5, 4, 2, 4)  #: where states go round and round, in many more groups
    long: Effort = Effort((24, 96), 10, 6, 2, 3)  #: of long steps, on which solutions are polynomials of high degree, …
    long_closer: Effort = Effort((24, 96), 16, 40, 40, 4)  #: … and if that is doubted
    per_group: int = 8  #: steps of each group, if that makes neither too few nor too many groups
    fewest: int = 4  #: groups of a window, if there are many
    turn: float = 0.3  #: by which a state may change, beside its size, during a group of steps, …
    turns: int = 1600  #: … as long as there are no more groups ("cubic rotation" of the study needs 310)
    scanned: int = 2000  #: steps that are looked at together, all of them where right-hand sides have corners
    corners: float = 3.0  #: by how much these are underestimated, as no quadrature is exact at a corner


@dataclass(frozen=True)
class EstimateRules:
    """How the error is estimated. Study: ``frozenpinn study calibration``."""

    times: int = 21  #: evenly spread …
    early: int = 12  #: … and more towards the start: between these parts of the time
    invariant: int = 5  #: all of them, where equations are solved exactly and nothing but initial data is wrong
    closed: tuple[int, int] = (
        9,
        8,
    )  #: even and early ones where time takes no steps and nothing drives the solution, …
    closed_early: tuple[float, float] = (1e-5, 0.1)  #: … and between which parts of the time the early ones are
    earliest: float = 1e-7
    latest: float = 10**-1.5
    chaotic: float = 1e3  #: growth of relative errors that no front or layer explains
    steady: float = 0.9  #: correlation of the logarithm of the error with time, in chaos
    shared: float = 0.3  #: a distance that is small beside the initial error tells that both have missed something, …
    visible: float = 1e-9  #: … if that is visible
    unseen: float = 1e-2  #: part of a forcing that interpolation between the points misses
    unresolved: float = 1e-2  #: an estimate that calls for a warning where no tolerance was given
    residual_points: int = 128  #: places …
    residual_times: int = 6  #: … and times at which two solutions are put into the equations
    beside: float = 0.1  #: a misfit of data below this part of the distance is not what is wrong
    trust: float = 2.5  #: the finer solution's part of the distance, as a multiple of the ratio of residuals, …
    least_part: float = 1e-3  #: … which is taken to be at least this …
    static_trust: float = 2.0  #: the same in static problems, …
    per_order: float = 0.375  #: … where that ratio is taken to this power for each derivative, at least to the first, …
    rounded: float = 1e-6  #: … unless less than this is left, …
    static_part: float = 1e-6  #: … or this in static problems, whose residuals tell everything, …
    blind: float = 5e-3  #: smallest over second smallest |Lu|/|u| from which on residuals tell nothing (coarse networks
    #: overrate it fivefold: 1.6e-3 for 3.3e-4 of ``bench steady-burgers --variant layer``), …
    stepped: float = 0.02  #: … or this where time is stepped, as residuals do not see how errors of steps add up
    abrupt: float = 0.3  #: … or this where formulas have narrow features, jumps or corners
    amplified: float = 30.0  #: growth of the distance in the second half of the time that is the problem's own
    ignored: float = 0.3  #: part of the terms of an equation at a narrow feature that a solve leaves if it missed it
    smaller: float = 0.1  #: part of the larger of two solutions that is their size at least, if one of them explodes
    parted: float = 0.1  #: relative distance from which on two solutions of a nonlinear problem may both be wrong
    far_below: float = (
        3e-3  #: part of a distance that errors of steps have in the finer solution if they matter in none
    )
    step_errors: StepErrorRules = StepErrorRules()


@dataclass(frozen=True)
class CheckRules:
    """When a solve without a tolerance warns."""

    initial: float = 1e-3  #: relative misfit of the initial data
    unresolved: float = 3e-3  #: share of the solution in the finest tenth of the basis
    missed: float = 2e-3  #: relative misfit of a boundary condition …
    missed_softly: float = 2e-2  #: … and where conditions are met in least squares, about as well as the equation
    growth: float = 1e6  #: of the norm, from which on one has to ask whether the equation does that


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
