"""The SVD layer: runs with and without it, one row per problem, the paper's ratios beside.

Widths, points and cut-offs are the paper's for nonlinear diffusion (its "elm-fast" and "swim") and for the reaction.
Burgers' equation has our reading of the paper's settings with 500 neurons; its table has an error of 3.3e-4, so that
its runs for that table had others. For the heat equation in up to 10 dimensions the paper has 4000 neurons and 16000
points; here there are ``HEAT_WIDTH`` neurons and as many points for each, so that ratios can't be the published ones.
In 100 dimensions widths are the printed ones, 200 for SWIM and 600 for ELM (lines 3257 and 3289). Boundary rows have a
penalty (``runs.PENALTY``) in the rows of nonlinear diffusion and of the reaction, as without it most runs of the first
blow up even with the layer. ``kept`` counts all coefficients, and so also that of the constant function: it may exceed
the width by one.

Without the layer a system may be so badly conditioned that the integrator takes tiny steps. A run that needs more than
``runs.BUDGET`` seconds is given up, as the paper does after 3 hours, and told among the failures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from frozenpinn.basis.samplers import ELM, SWIM, ProjectedSWIM
from frozenpinn.integrators import SciPy
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.burgers import paper as burgers_paper
from frozenpinn_lab.cases.high_dimension import PROJECTED, box_points, by_volume, heat, heat_in_ball, paper_heat
from frozenpinn_lab.cases.nonlinear_diffusion import paper
from frozenpinn_lab.studies.runs import BUDGET, literal, measure, posed, ratio, stiff, with_penalty
from frozenpinn_lab.studies.study import Announce, Row, Study

HEAT_WIDTH = 600
POINTS_PER_NEURON = 4


@dataclass(frozen=True)
class Comparison:
    """A problem with its settings, and the ratios that the paper reports (None where its runs took too long)."""

    build: Callable[[], tuple[Problem, np.ndarray]]
    settings: Settings
    compression: float
    speed_up: float | None

    @property
    def width(self) -> int:
        """How many neurons there are."""
        sampler = self.settings.sampler
        assert sampler is not None
        assert not isinstance(sampler, str)
        return sampler.width


def _heat(dimension: int) -> Callable[[], tuple[Problem, np.ndarray]]:
    def build() -> tuple[Problem, np.ndarray]:
        problem = heat(dimension)
        return problem, box_points(problem)

    return build


def _ball() -> tuple[Problem, np.ndarray]:
    problem = heat_in_ball()
    return problem, by_volume(problem)


def _burgers() -> tuple[Problem, np.ndarray]:
    return find_case("burgers").problem(), np.linspace(-1, 1, 256)[:, None]


_DIFFUSION, _REACTION = partial(posed, "nonlinear-diffusion"), partial(posed, "reaction-diffusion-5d")
_HEAT = replace(  # without the layer LSODA takes minutes
    literal(paper_heat(HEAT_WIDTH, 1e-10, 1e-6, points=POINTS_PER_NEURON * HEAT_WIDTH)),
    cutoff=1e-10,
    rcond=1e-10,
    integrator=SciPy("rk45", 1e-6, 1e-6),
)
_SWIM = replace(_HEAT, sampler=SWIM(HEAT_WIDTH))
_BALL = paper_heat(600, 1e-4, 1e-2, points=1000)
SETTINGS = {
    "burgers, swim": Comparison(_burgers, burgers_paper(500, 6000, 1000, 5e-11, 1e-13, 1e-8, 1e-8), 1.58, 7.0),
    "nonlinear diffusion, elm": Comparison(_DIFFUSION, with_penalty(stiff(paper(ELM(300), 5e-11))), 8.5, None),
    "nonlinear diffusion, swim": Comparison(_DIFFUSION, with_penalty(stiff(paper(SWIM(500), 1e-15))), 1.5, None),
    "reaction 5d, projected": Comparison(
        _REACTION, with_penalty(stiff(replace(PROJECTED, sampler=ProjectedSWIM(400)))), 1.57, 4.1
    ),
    "heat 3d, elm": Comparison(_heat(3), _HEAT, 22.8, 52.0),
    "heat 5d, elm": Comparison(_heat(5), _HEAT, 5.0, 77.0),
    "heat 7d, elm": Comparison(_heat(7), _HEAT, 1.2, 21.0),
    "heat 10d, elm": Comparison(_heat(10), _HEAT, 1.4, 1.06),
    "heat 100d, elm": Comparison(_ball, _BALL, 1.3, 0.96),
    "heat 3d, swim": Comparison(_heat(3), _SWIM, 2.9, 4.0),
    "heat 5d, swim": Comparison(_heat(5), _SWIM, 2.8, 1.5),
    "heat 7d, swim": Comparison(_heat(7), _SWIM, 1.3, 1.6),
    "heat 10d, swim": Comparison(_heat(10), _SWIM, 1.3, 0.91),
    "heat 100d, swim": Comparison(
        _ball, replace(paper_heat(200, 1e-8, 1e-4, points=1000), sampler=SWIM(200)), 1.0, 0.97
    ),
}


def rows(
    seeds: int, announce: Announce, settings: Sequence[str] = tuple(SETTINGS), budget: float = BUDGET
) -> list[Row]:
    """Return medians of width, seconds and error, one row per problem."""
    table = []
    for name in settings:
        setting = SETTINGS[name]
        problem, at = setting.build()
        measure(problem, at, setting.settings, 1, announce, f"{name}, warm-up", budget)
        layer = measure(problem, at, setting.settings, seeds, announce, f"{name}, with the layer", budget)
        without = replace(setting.settings, cutoff=None)
        bare = measure(problem, at, without, seeds, announce, f"{name}, without the layer", budget)
        table.append(
            {
                "problem": name,
                "width": setting.width,
                "kept": layer.rank,
                "seconds_with": layer.seconds,
                "seconds_without": bare.seconds,
                "error_with": layer.error,
                "error_without": bare.error,
                "compression": ratio(setting.width, layer.rank),
                "published_compression": setting.compression,
                "speed_up": ratio(bare.seconds, layer.seconds),
                "published_speed_up": setting.speed_up,
                "failures": layer.failures + bare.failures,
            }
        )
    return table


STUDY = Study(
    "svd-layer",
    "the SVD layer, on and off",
    "problem",
    ("compression", "published_compression"),
    rows,
    "neurons / functions kept",
    ("speed_up", "published_speed_up"),
    "seconds without / with",
    ("width", "kept", "seconds_with", "seconds_without", "error_with", "error_without"),
)
