"""The tuned numbers of inference, each a field that users may replace: ``infer(…, rules=InverseRules(…))``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from frozenpinn.inverse.evidence import PriorGrid
from frozenpinn.inverse.field_basis import FieldSizes


@dataclass(frozen=True)
class TangentRules:
    """The network and the steps in time of derivatives by the unknowns; they need fewer digits than values do."""

    width: tuple[int, int, int, int] = (80, 300, 500, 600)  #: neurons in one, two, three, more dimensions
    points: int = 4  #: quadrature points for each neuron
    reach: float = 1.4  #: of waves, in two and more dimensions: slopes by a field are true to 0.6 %, with 1.0 to 5 %
    cutoff: float = 1e-7  #: singular value, relative to the largest, up to which functions are kept
    boundary: float = 0.8  #: boundary points of all sides together for each neuron, in two and more dimensions
    rtol: float = 1e-2  #: accuracy in time; errors of slopes are some 1e-4
    looser: float = (
        10.0  #: accuracy in time of second derivatives, as a multiple of that; their errors are 1e-5 to 5e-2
    )
    difference: float = 1e-4  #: relative change of a number where tangents do not serve and slopes are differences


@dataclass(frozen=True)
class InverseRules:
    """Sizes and choices. Study: ``frozenpinn study coverage``."""

    coarse: float = 0.34  #: neurons of the network on which a fit is found, as a part of those of the last steps
    coarse_most: int = 240  #: … and at most
    steps: int = 40  #: evaluations of one fit, at most
    settled: float = 1e-10  #: relative change of the unknowns at which a coarse fit stops
    quick_rtol: float = 1e-3  #: accuracy in time at which a fit is found
    quick_settled: float = 1e-3  #: relative change of the unknowns at which that stops
    quick_reach: float = 10.0  #: change from an old fit, in units of the noise, that is told with that accuracy
    quick_width: int = 80  #: neurons of an interval there
    secant: float = 0.3  #: part of a change that old slopes may miss and still be corrected instead of computed anew, …
    secant_gain: float = 0.25  #: … if the step before has brought the sum of squares down to this part
    looser: float = 10.0  #: accuracy in time of the second network, as a multiple of that of the first
    fine_steps: int = 6  #: steps on the fine network, at most
    far: float = 1e-2  #: relative change from which on such a step must bring the sum of squares down
    fine_accuracy: float = 1e-11  #: relative change of the solution at which Newton's method stops for each of them
    fine_settled: float = 1e-11  #: relative change at which these stop, in time a tenth of the accuracy there, …
    fine_last: float = 1e-6  #: relative change from which on the last step of a static fit is taken without a solve
    noise_settled: float = 1e-2  #: … or change in units of the standard deviation
    starts: int = 24  #: other starts that are looked at for each unknown, if the first fit is poor
    most_starts: int = 48  #: of these, at most
    promising: int = 3  #: of these, from how many fits are made: those that leave least
    poor: float = 4.0  #: χ² per degree of freedom from which on a fit is poor, if the noise is known
    unexplained: float = 0.1  #: part of the spread of the data from which on a fit is poor, if it is not
    same: float = 1e-3  #: relative distance of two fits up to which they are the same minimum
    rivals: float = 9.0  #: difference of χ² up to which another minimum explains the data, too
    blind: tuple[float, float] = (1e-10, 1e-7)  #: smallest over largest slope that can be seen, static and in time
    doubtful: float = 1e-3  #: smallest over largest slope in time below which a second network is asked for slopes
    farthest: float = 1e15  #: sizes of its start that a number without bounds may reach while a fit is looked for
    away: float = 1e2  #: sizes of its start from which on a number that nothing depends on is said to have run away
    wide: float = 0.1  #: deviation, relative to the value, from which on both ends of an interval are looked at
    flat: float = 0.1  #: part of the rise of χ² up to there below which the end is open
    at_bound: float = 1e-6  #: distance from a bound, relative to the width of the bounds, that counts as being at it
    inconsistent: float = 1e-3  #: probability of χ² below which the noise given is called inconsistent
    reach: float = 1e-2  #: part of the size of the data below which relative noise does not shrink
    noise_rounds: int = 8  #: in which the noise of several sets is found
    least_noise: float = 1e-2  #: noise of one of them, relative to its values, as a part of that of the noisiest
    own_noise: float = 5.0  #: degrees of freedom that a set of measurements leaves, from which on its noise is its own
    clearly: float = 6.0  #: difference of log likelihoods from which on noise that is not given is taken to be relative
    reweigh: float = 0.2  #: change of weights, as a logarithm, from which on a fit is made again with others
    again: int = 30  #: steps with an old factorisation for new data, at most
    bent: float = (
        0.15  #: second order, relative to the first, from which on polynomials near an old fit are given up, …
    )
    remainder: float = 0.1  #: … and third order, in deviations
    contraction: float = 0.5  #: ratio of two steps from which on the old factorisation is given up
    tangent: TangentRules = dataclasses.field(default_factory=TangentRules)  #: slopes of evolutions
    field: FieldSizes = dataclasses.field(default_factory=FieldSizes)  #: the network of an unknown field
    field_steps: int = 15  #: Gauss–Newton steps for a field, at most
    field_settled: float = 3e-2  #: change for each degree of freedom, in deviations, at which these stop, …
    field_last: float = 0.2  #: … and near an old fit the last step is taken without a solve if it is below this, …
    field_fast: float = 0.3  #: … and below this part of the one before, …
    field_bend: float = 3.0  #: … or if so many times the second order that was seen before does not matter
    field_stalls: float = 1e-2  #: relative change of the misfit at which they stop, too, …
    field_slow: float = 0.7  #: … if the change at the sensors does not shrink below this part of the one before
    field_unexplained: float = 0.5  #: part of the spread of the data that a fit leaves, from which on that is told
    field_tempers: tuple[float, ...] = (0.1, 0.3, 1.0)  #: parts of what is left that count as noise if a step fails
    field_stride: float = 3.0  #: mean change of the logarithm of a positive field in one step, at most
    field_halvings: int = 6  #: of one step, at most
    worse: float = 1.5  #: factor by which a step may raise the misfit
    prior: PriorGrid = dataclasses.field(default_factory=PriorGrid)  #: expectations of a field that are averaged over
    steep: float = 0.05  #: part of the domain within which a field that changes by half of its range may jump
    few: float = 5.0  #: effective degrees of freedom below which bars are said to rest on the prior
