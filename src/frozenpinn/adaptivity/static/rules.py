"""The tuned numbers of static problems, each a field that users may replace: ``Rules(static=StaticRules(…))``."""

from __future__ import annotations

from dataclasses import dataclass, field

from frozenpinn.assembly.collocation import BOUNDARY
from frozenpinn.solvers.continuation import ContinuationRules
from frozenpinn.solvers.deflation import DeflationRules
from frozenpinn.solvers.newton import NewtonRules


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
    least_boundary: int = 6  #: … at least on each side
    boundary_weight: float = BOUNDARY  #: of conditions beside equations, both relative to their largest row entry
    pilot: float = 0.34  #: neurons of a pilot that compares kinds of features, as a part of those of the solve, …
    pilot_least: int = 24  #: … at least …
    pilot_most: int = 500  #: … and at most
    pilot_accuracy: float = 1e-7  #: relative change at which Newton's method may stop in a pilot
    second: int = 4  #: by which it is widened if Newton's method leads nowhere on it
    reaches: tuple[float, ...] = (0.5, 0.8, 1.2, 1.8, 2.7)  #: of waves, from smooth to fine
    most_stretch: float = 4.0  #: by which frequencies along one axis may exceed those along another
    worth: float = 1.3  #: ratio of axes from which on a stretched pilot is tried
    on_axes: tuple[float, float] = (2.4, 2.6)  #: neurons of each axis of a product, in units of width^(1/d)
    held_out: int = 400  #: points inside at which a pilot is judged, …
    held_out_boundary: int = 200  #: … and on the boundary
    conditions: float = 10.0  #: how much a misfit of conditions counts there beside one of equations
    prescribed: float = 0.3  #: part of a misfit of prescribed values that is an error at least, …
    implied: float = 1e-3  #: … and of a residual of second order over the smallest |Lu|/|u|
    resonance: float = 1e-4  #: smallest over second smallest singular value that is told as near resonance
    singular: float = 1e-7  #: the same that is told as no unique solution
    newton: NewtonRules = field(default_factory=NewtonRules)  #: of Newton's method
    path: PathRules = field(default_factory=PathRules)  #: of paths of solutions
    deflation: DeflationRules = field(default_factory=DeflationRules)  #: of several solutions
    homotopy: int = 24  #: steps of a homotopy from the linear equation, at most
    homotopy_least: float = 1e-3  #: length of its last step, at which it ends
    homotopy_newton: int = 15  #: factorisations of one of its steps, at most
    fold: float = 0.3  #: part to which the smallest |Lu|/|u| must fall on the way, for its end to be told as a fold
