"""The paper's two inverse problems by its own ways: the loss over 51 values of α, and fields beside the truth.

``inverse-loss`` shows the mean square distance of the solution from the 50 measurements for each of 51 values between
0 and 2, by a network of SWIM features, and for the values that the minimisation then tries between the neighbours of
the best one (none where there is no solution). ``inverse-fields`` shows u and, of the Helmholtz equation, γ, on a grid
of 101 × 101 points as in the paper, by its ways and by ``fp.infer``, with the figures of its table (line 629).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.inverse.infer import infer
from frozenpinn_lab.cases.inverse import CASES
from frozenpinn_lab.cases.inverse_case import InverseCase
from frozenpinn_lab.runner import timed
from frozenpinn_lab.studies.attempts import relative
from frozenpinn_lab.studies.pictures import draw_beside, picture
from frozenpinn_lab.studies.study import PUBLISHED, Announce, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
Functions = dict[str, Callable[[Array], Array]]
POISSON, HELMHOLTZ = "inverse-poisson", "inverse-helmholtz"
WAYS = ("paper", "infer")
#: Relative errors in the paper, by case and what was found.
FIGURES = {
    (POISSON, "alpha"): 3e-3,
    (POISSON, "u"): 8.8e-2,
    (HELMHOLTZ, "u"): 1.85e-2,
    (HELMHOLTZ, "gamma"): 1.23e-2,
}
GRID = 101


def loss_rows(_: int, announce: Announce) -> list[Row]:
    """Return one row for each value of the number, in ascending order; one seed is all that is shown."""
    case = CASES[POISSON]
    assert case.paper is not None
    (name, truth), *_rest = case.truth.items()
    guess, _seconds = timed(case.paper[0], case.problem(), case.data(0, noisy=False)[0], 0, announce)
    return [
        {name: value, "misfit": misfit if np.isfinite(misfit) else None, "truth": truth, "failures": []}
        for value, misfit in sorted(guess.misfits.items())
    ]


def found_by(case: InverseCase, way: str, seed: int) -> tuple[dict[str, float], Functions]:
    """Return numbers and functions of points that a way finds from exact data; ``u`` is the solution."""
    data = case.data(seed, noisy=False)
    if way == "paper":
        assert case.paper is not None
        guess = case.paper[0](case.problem(), data[0], seed)
        assert guess.solution is not None
        own = {} if guess.function is None or case.field is None else {case.field[0]: guess.function}
        return dict(guess.numbers), {"u": guess.solution, **own}
    found = infer(case.problem(), data, seed=seed)
    functions: Functions = {"u": lambda x: np.asarray(found.solution(*x.T))}
    if case.field is not None:
        unknown = found.field(case.field[0])
        functions[case.field[0]] = lambda x: np.asarray(unknown(*x.T))
    return {name: float(estimate) for name, estimate in found.parameters.items()}, functions


def truths(case: InverseCase) -> Functions:
    """Return what the functions should be."""
    own = {} if case.field is None else dict([case.field])
    return {"u": lambda x: case.solution(x, None), **own}


def grid(case: InverseCase) -> tuple[Array, Array, Array]:
    """Return both axes and all points of the paper's grid."""
    domain = case.problem().domain
    x, y = (np.linspace(a, b, GRID) for a, b in zip(domain.lower, domain.upper, strict=True))
    return x, y, np.stack([g.ravel() for g in np.meshgrid(x, y)], axis=1)


def errors_of(case: InverseCase, numbers: dict[str, float], functions: Functions) -> dict[str, float]:
    """Return relative errors of numbers, and relative L² errors of functions on the grid."""
    points = grid(case)[2]
    exact = truths(case)
    found = {name: abs(numbers[name] / value - 1.0) for name, value in case.truth.items()}
    return found | {name: relative(f(points), exact[name](points)) for name, f in functions.items()}


def field_rows(_: int, announce: Announce) -> list[Row]:
    """Return one row for each case, way and function; one seed is all that is shown."""
    return [row for name in (POISSON, HELMHOLTZ) for way in WAYS for row in _fields(CASES[name], way, announce)]


def _fields(case: InverseCase, way: str, announce: Announce) -> Iterator[Row]:
    announce(f"{case.name}, {way}")
    (_, functions), seconds = timed(found_by, case, way, 0)
    x, y, points = grid(case)
    for name, exact in truths(case).items():
        found, truth = (f(points).reshape(GRID, GRID) for f in (functions[name], exact))
        shown = picture(x, y, ("x", "y"), found, truth)
        published = FIGURES[case.name, name] if way == "paper" else None
        row: Row = {"problem": case.name, "way": way, "field": name, PUBLISHED + "error": published}
        yield {**row, "seconds": seconds, **shown, "failures": []}


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw two blocks of truth, solution and error."""
    draw_beside(rows, figure, [f"{row['problem']}, {row['field']}, {row['way']}" for row in rows])


STUDIES = (
    Study(
        "inverse-loss",
        "Poisson's equation with an unknown coefficient: mean square distance from 50 measurements",
        "alpha",
        ("misfit",),
        loss_rows,
        "mean square distance",
    ),
    Study(
        "inverse-fields",
        "inverse problems of the paper: truth, solution and error",
        "problem",
        ("error", "largest_error"),
        field_rows,
        details=("way", "field", PUBLISHED + "error", "seconds"),
        draw=draw,
        size=(17, 9),
    ),
)
