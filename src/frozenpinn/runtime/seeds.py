"""The seeds of everything that is drawn at random but not by the user's seed: points at which things are tested.

They differ from each other, so that what was fitted at some points is never judged at the same ones.
"""

from __future__ import annotations

from enum import IntEnum


class Seed(IntEnum):
    """What is drawn with which seed."""

    GRADIENTS_IN_TIME = 3  #: times at which data are compared with their restriction to a subspace
    GRADIENTS = 5  #: points at which gradients of data are sampled
    SMOOTHNESS_ON_SIDES = 4
    SMOOTHNESS_INSIDE = 6
    SMOOTHNESS_LINES = 11
    SIZES = 17  #: of fields, from their data
    RATES = 19  #: at which fields act on each other
    MEASURED_SIZES = 23  #: of fields, from their solution
    RESTRICTION = 31  #: points at which data are compared with their restriction
    DIRECTIONS = 2025  #: random directions besides those of the data
    INITIAL_CHECK = 2357
    AGREEMENT = 4242  #: of a solution on a subspace with the problem in all coordinates
    NEIGHBOURHOOD = 8642  #: around points whose error is asked for
    PROBE = 8675  #: scan of the data for peaks
    TEST_POINTS = 12345  #: at which errors against exact solutions are measured
    STEP_ERRORS = 10007  #: of which steps errors are estimated
    FORMULA_SCALES = 11213  #: cells of a formula that are followed if there are too many
    FIRST_WIDTH = 13579
    BOUNDARY_CHECK = 24680
    UNKNOWN_FIELD = 31337  #: neurons of fields that are inferred
    STATIC_GRID = 65437  #: on which products of a static solve are judged
    STATIC_RESIDUALS = 76543  #: at which pilots of a static solve are judged
    RESIDUALS = 987654321
