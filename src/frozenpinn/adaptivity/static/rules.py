"""The tuned numbers of static problems, each a field that users may replace: ``Rules(static=StaticRules(…))``."""

from __future__ import annotations

from dataclasses import dataclass, field

from frozenpinn.assembly.collocation import BOUNDARY
from frozenpinn.solvers.newton import NewtonRules


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
    homotopy: int = 24  #: steps of a homotopy from the linear equation, at most
