"""The tuned numbers of inference, each a field that users may replace: ``infer(…, rules=InverseRules(…))``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple


class Smoothness(NamedTuple):
    """What is expected of a field: how many derivatives it has, and over which part of the domain it varies."""

    order: int
    length: float


@dataclass(frozen=True)
class PriorGrid:
    """The smoothness of fields that is averaged over."""

    orders: tuple[int, ...] = (1, 3)  #: how many derivatives a field has
    lengths: tuple[float, ...] = (0.06, 0.12, 0.25, 0.5, 1.0)  #: in units of the domain
    direct: float = 0.4  #: part of the evidence of values of the field itself that is left out

    @property
    def all(self) -> list[Smoothness]:
        """Every order with every length."""
        return [Smoothness(order, length) for order in self.orders for length in self.lengths]


@dataclass(frozen=True)
class InverseRules:
    """Sizes and choices. Studies: ``frozenpinn-lab study inverse`` and ``frozenpinn-lab study coverage``."""

    coarse: float = 0.34  #: neurons of the static network on which a fit is found, as a part of those of the last steps
    coarse_most: int = 240  #: the same, at most
    quick_rtol: float = 1e-3  #: accuracy in time, and relative change of numbers, at which a fit is found
    quick_width: int = 80  #: neurons of an interval there
    quick_reach: float = 10.0  #: change from an old fit, in units of the noise, that quick solves may say
    steps: int = 15  #: Gauss–Newton steps, at most
    starts: int = 24  #: other starts for each unknown, and twice as many at most, if the first fit is poor
    looks: int = 8  #: places between the bounds of a number, twice as many at most, where other minima are looked for
    poor: float = 4.0  #: χ² per degree of freedom above which a fit is poor, if the noise is known
    clearly: float = 6.0  #: difference of log likelihoods above which noise that is not given is taken to be relative
    reweigh: float = 0.2  #: change of weights, as a logarithm, above which a fit is made again with others
    tempers: tuple[float, ...] = (0.1, 0.3, 1.0)  #: parts of what is left that count as noise if a step of fields fails
    steep: float = 0.05  #: part of the domain within which a field that changes by half of its range may jump
    tangent_width: tuple[int, int, int, int] = (80, 300, 500, 600)  #: neurons of slopes in time, by dimension (4: more)
    tangent_rtol: float = 1e-2  #: accuracy in time of slopes, whose errors are some 1e-4
    field_width: tuple[int, int, int, int] = (40, 240, 400, 400)  #: neurons of an unknown field, by dimension (4: more)
    prior: PriorGrid = dataclasses.field(default_factory=PriorGrid)  #: expectations of a field that are averaged over
