"""The tuned numbers of static problems, each a field that users may replace: ``Rules(static=StaticRules(…))``."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from frozenpinn.assembly.collocation import BOUNDARY


@dataclass(frozen=True)
class NewtonRules:
    """When steps are taken, shortened and given up.

    Studies: ``frozenpinn bench bratu liouville nonlinear-helmholtz nonlinear-poisson minimal-surface``.
    """

    steps: int = 40  #: factorisations, at most
    halvings: int = 10  #: of one step, at most
    contraction: float = 0.25  #: part of its length by which a step must shrink the next correction
    fast: float = 0.2  #: ratio of two corrections up to which the old factorisation is used again
    accuracy: float = 1e-13  #: relative change of the solution that is round-off
    flat: float = 0.7  #: ratio of two changes from which on steps are not worth while any more …
    close: float = 1e-6  #: … if they are below this, …
    coarse: float = 1e-3  #: … or below this …
    many: int = 12  #: … after so many steps: the network is too coarse for more


@dataclass(frozen=True)
class ContinuationRules:
    """Steps along a path; lengths in units of the range of the parameter and the size of the solution."""

    first: float = 0.03  #: length of the first step, …
    largest: float = 0.15  #: … of the largest, …
    smallest: float = 1e-5  #: … and of one at which the path is given up
    iterations: int = 12  #: of Newton's method in one step, at most; …
    few: int = 3  #: … with so many, the next step is as long as this one
    growth: float = 1.6  #: of steps, at most
    turn: float = 0.85  #: cosine of the angle between tangents below which a step is halved
    visible: float = 1e-5  #: change that counts as one of them
    accuracy: float = 1e-11  #: relative change at which Newton's method ends
    close: float = 1e-6  #: change below which it may stall, …
    flat: float = 0.05  #: … that is, gain less than this factor
    fold: float = 1e-8  #: rate of the parameter at which a fold is found
    fold_steps: int = 12  #: to find it, at most


@dataclass(frozen=True)
class DeflationRules:
    """How further solutions are looked for."""

    width: tuple[int, int, int, int] = (60, 200, 320, 320)  #: neurons in one, two, three, more dimensions
    steps: int = 30  #: of deflated Newton's method from one start, at most
    longest: float = 2.0  #: step, relative to the size of the solution
    near: float = 0.05  #: relative change at which the ordinary method takes over
    same: float = 1e-3  #: relative L² distance below which two solutions are one
    left: float = 0.2  #: part of the equations that a solution may leave on the coarse network
    multiples: tuple[float, ...] = (2.0, -1.0, 5.0, 25.0)  #: of known solutions, as starts
    soft: int = 4  #: directions from them in which the linearisation is smallest, as starts
    random: int = 8  #: smooth random functions, as starts …
    sizes: tuple[float, ...] = (1.0, 4.0)  #: … of so many times the size of what is known
    rounds: int = 3  #: over all starts, at most
    most: int = 12  #: solutions, at most


@dataclass(frozen=True)
class PathRules:
    """How a path of solutions is followed. Study: ``frozenpinn follow`` with examples/bratu.toml."""

    width: tuple[int, int, int, int] = (60, 240, 360, 360)  #: neurons in one, two, three, more dimensions
    steps: int = 150  #: along a path, at most
    settle: int = 4  #: points after which features are chosen by pilots for the first time
    left: float = 1e-5  #: part of the equations that may be left at held-out points before they are chosen anew, …
    worse: float = 5.0  #: … if it is so many times the least on this network …
    wider: float = 1.5  #: … with so many times more neurons, …
    widest: float = 3.0  #: … up to this multiple of the first, …
    renewals: int = 6  #: … so often at most; …
    fails: int = 3  #: … also after so many steps in a row that were too long
    lost: float = 0.1  #: part of the equations from which on a solution is not resolved, and the path ends
    finer: tuple[float, ...] = (1.5, 2.0, 3.0)  #: networks for folds, as multiples of that of the path
    dense: int = 2000  #: points at which the largest value of a solution is looked for
    settled: float = 1e-3  #: part of the range over which the parameter moves in …
    last: int = 8  #: … so many steps if it has settled, and the path ends
    loop: int = 8  #: points before a path can be closed
    continuation: ContinuationRules = field(default_factory=ContinuationRules)  #: of single steps


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

    first: tuple[int, int, int, int] = (
        32,
        160,
        320,
        320,
    )  #: neurons of a first solve in one, two, three, more dimensions
    usual: tuple[int, int, int, int] = (80, 600, 1200, 1000)  #: the same if no tolerance is given
    points: float = 2.5  #: points of the domain for each neuron
    boundary: float = 1.8  #: points of the boundary, in units of what the spacing inside would give, …
    most_boundary: float = 1.2  #: … at most as a multiple of the points inside, …
    least_boundary: int = 6  #: … at least on each side, …
    least_special: int = 48  #: … beside special functions, which oscillate around a hole
    boundary_weight: float = BOUNDARY  #: of conditions beside equations, both relative to their largest row entry
    pilot: float = 0.34  #: neurons of a pilot that compares kinds of features, as a part of those of the solve, …
    pilot_least: int = 24  #: … at least …
    pilot_most: int = 500  #: … and at most
    pilot_accuracy: float = 1e-7  #: relative change at which Newton's method may stop in a pilot
    second: int = 4  #: by which it is widened if Newton's method leads nowhere on it
    reaches: tuple[float, ...] = (0.5, 0.8, 1.2, 1.8, 2.7)  #: of waves, from smooth to fine
    most_stretch: float = 4.0  #: by which frequencies along one axis may exceed those along another
    worth: float = 1.3  #: ratio of axes from which on a stretched pilot is tried
    on_axes: tuple[float, ...] = (2.4, 2.6, 1.5, 1.2)  #: neurons of each axis of a product, in units of width^(1/2) in
    #: two dimensions, of width^(1/3) in three and more; beyond these dimensions there are no products
    product_from: float = 0.03  #: what other features leave, from which on there are products beyond three dimensions
    held_out: int = 400  #: points inside at which a pilot is judged, …
    held_out_boundary: int = 200  #: … and on the boundary
    #: the same of a grid in a box, at which products are judged: 64 coordinates along each axis of a square, which see
    #: what is narrow along one of them and cost a tenth of a millisecond more than 30
    held_out_grid: int = 4096
    conditions: float = 10.0  #: how much a misfit of conditions counts there beside one of equations
    corner_power: float = 8.0  #: highest power of the distance among the functions of corners
    most_special: float = 0.75  #: number of functions of corners of each kind, as a multiple of the neurons of a pilot
    multipoles: int = 10  #: highest order of the multipoles of a hole in the plane, …
    multipoles_in_space: int = 3  #: … and in space
    layer_thin: float = 12.0  #: size of the domain over the thickness of a layer from which on it is looked after
    layer_sites: int = 256  #: places on each side at which layers are looked for
    layer_share: float = 0.75  #: number of exponentials in layers, as a multiple of the neurons of a pilot, …
    layer_line: int = 24  #: … at most in one dimension
    layer_rates: tuple[float, float] = (0.4, 2.5)  #: their rates, as multiples of what the equation says, …
    layer_waves: float = 4.0  #: … and of the waves along the boundary, over the size of the domain
    layer_points: tuple[float, float] = (0.03, 30.0)  #: where points in layers lie, in units of the thickness
    layer_dense: int = 8192  #: points of a side of which those in layers of other sides are chosen
    detail_widths: tuple[tuple[int, ...], ...] = (
        (48, 96, 192, 384, 640),
        (20, 32, 48, 72),
    )  #: neurons of each axis of a box
    #: around a shape in two and three dimensions, on which narrow sources are resolved, …
    detail_blind: float = 0.3  #: … if a pilot promises to leave more than this, …
    detail_from: float = 0.03  #: … or has left more than this and gets hardly better, …
    detail_operations: tuple[float, float] = (1e10, 4e8)  #: … operations that it may take with numbers as coefficients,
    #: and with other ones, times the square of the effort, …
    detail_restarts: tuple[int, int] = (1, 4)  #: … restarts of GMRES on it, and the same …
    detail_effort: float = 2.0  #: … from this effort on, …
    detail_margin: float = 0.2  #: … its margin, in units of the lengths of the domain, …
    detail_seen: float = 0.3  #: … misfit from which on nothing is seen yet, below which the next width must bring it …
    detail_helps: float = 0.5  #: … down to this part, …
    detail_resolved: float = 1e-11  #: … misfit at which no further one is tried, …
    detail_part: float = 1e-3  #: … or this part of the tolerance, …
    detail_enough: float = 0.03  #: … and with which it is of use
    detail_points: float = 0.5  #: points where sources are large, as a part of the others
    detail_rounds: int = 8  #: how often nonlinear terms join the sources of a box, …
    detail_settled: float = 0.03  #: … until that changes a solution by less than this part of the tolerance, …
    detail_gains: float = 0.6  #: … or by more than this part of the change before, …
    detail_worse: float = 1.5  #: … as long as it leaves less than this multiple of what was left before
    special_from: float = 1e-3  #: what a pilot leaves, from which on special functions are tried, …
    stalls: float = 0.3  #: … or this part of what the pilot of the solve before has left: smooth ones get better faster
    special_helps: float = 0.02  #: part of what a pilot leaves without them, up to which they are taken to help, …
    special_helps_much: float = 0.15  #: … and where that pilot leaves more than …
    special_much: float = 0.1  #: … this
    untrusted: float = 0.15  #: part of the equations that a solution leaves, from which on no estimate is trusted, …
    doubtful: float = 0.01  #: … or from this on if it does not fall …
    falls: float = 0.85  #: … to this part of what another one has left …
    wider: float = 1.5  #: … with so many fewer neurons; …
    hopeless: float = 4.0  #: … growth of the width from which on a search gives up for that, …
    blind: float = 0.8  #: … and where more than this part is left, nothing is seen yet: …
    hopeless_if_blind: float = 16.0  #: … the same there
    joints: float = 10.0  #: error where parts of a domain are joined, in units of the distance of points from the cut
    prescribed: float = 0.3  #: part of a misfit of prescribed values that is an error at least, …
    implied: float = 1e-4  #: … and of a residual of second order over the smallest |Lu|/|u|
    resonance: float = 1e-4  #: smallest over second smallest singular value that is told as near resonance
    singular: float = 1e-7  #: the same that is told as no unique solution
    newton: NewtonRules = field(default_factory=NewtonRules)  #: of Newton's method
    path: PathRules = field(default_factory=PathRules)  #: of paths of solutions
    deflation: DeflationRules = field(default_factory=DeflationRules)  #: of several solutions
    homotopy: int = 24  #: steps of a homotopy from the linear equation, at most
    homotopy_least: float = 1e-3  #: length of its last step, at which it ends
    homotopy_newton: int = 15  #: factorisations of one of its steps, at most
    fold: float = 0.3  #: part to which the smallest |Lu|/|u| must fall on the way, for its end to be told as a fold
