"""Are the data smooth? Initial data, forcing and boundary data are sampled on fine lines, before any solve.

Fourth differences D over the distance h distinguish jumps, corners and noise along a line: D ~ h⁴ for smooth functions,
D ~ h where a slope jumps, D independent of h where the value jumps; noise has the same D at all places and distances.
What looks like a jump is sampled more and more closely: narrow but smooth transitions then turn out to be smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.analysis.probing import forcings
from frozenpinn.errors import FrozenPinnError
from frozenpinn.geometry import Box, Domain
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import LAST_DIGITS
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.findings import UNDERFLOW, Finding, Severity
from frozenpinn.statement.fronts import fronts_of

if TYPE_CHECKING:
    from frozenpinn.statement.conditions import LinearCondition
    from frozenpinn.statement.data import Datum
    from frozenpinn.statement.problem import Problem


Array = np.ndarray
POINTS = 4096  #: on a line
VISIBLE = 1e-6  #: of the size of the data: smaller jumps and fainter noise are left alone
_STRIDES = 2 ** np.arange(9)  # distances of differences, in spacings
_CLOSER = 64  # steps into which each pass divides its interval


@remembered
def roughness(problem: Problem) -> tuple[Finding, ...]:
    """Return what is rough in initial data, forcing and boundary data."""
    rough = [_finding(*entry) for entry in _rough_data(problem)]
    return (*_seams(problem), *dict.fromkeys(rough), *_split_off(problem))


def _split_off(problem: Problem) -> Iterator[Finding]:
    """Yield jumps of initial data from which something known spreads."""
    fronts = fronts_of(problem)
    for front in () if fronts is None else fronts.fronts:
        if front.kind == "step" and problem.domain.lower[front.axis] < front.place < problem.domain.upper[front.axis]:
            place = f"{problem.domain.coordinates[front.axis]} = {front.place:.6g}"
            text = (
                f"the initial value jumps at {place}: what spreads from there is known in closed form, and split off."
            )
            yield Finding("jump", "note", text)


def _seams(problem: Problem) -> Iterator[Finding]:
    """Yield jumps of initial data between the two ends of a periodic axis."""
    for axis in (i for i, periodic in enumerate(problem.domain.periodic) if periodic):
        for datum in problem.initial_data:
            try:
                a, b = _ends(problem, datum, axis)
            except FrozenPinnError:
                continue
            if a != b:
                yield Finding(
                    "jump",
                    "warning",
                    f"{datum.what} is {a:.6g} at one end of the periodic axis '{problem.domain.coordinates[axis]}' and "
                    f"{b:.6g} at the other, which are the same point: the solution jumps there. Give data with the "
                    "period of the domain, or state conditions on its sides instead of periodic=True.",
                )


def _ends(problem: Problem, datum: Datum, axis: int) -> tuple[float, float]:
    """Return the values at the ends of an axis where they differ most; twice the same if they do not."""
    domain, start = problem.domain, problem.time[0]
    inside = domain.sample(40, "random", Seed.SMOOTHNESS_INSIDE).x
    low, high = inside.copy(), inside.copy()
    low[:, axis], high[:, axis] = domain.lower[axis], domain.upper[axis]
    a, b = datum(low, start), datum(high, start)
    at = int(np.argmax(np.abs(a - b)))
    size = max(abs(a[at]), abs(b[at]), float(np.max(np.abs(datum(inside, start)))))
    return (float(a[at]), float(b[at])) if abs(a[at] - b[at]) > max(VISIBLE * size, UNDERFLOW) else (0.0, 0.0)


def _rough_data(problem: Problem) -> Iterator[tuple[str, Roughness, bool, Severity]]:
    """Yield the name of each rough datum, what is rough, whether it is rough in time, and how bad a jump is."""
    lines = list(_lines_through(problem.domain))
    fronts = fronts_of(problem)
    initial = problem.initial if fronts is None else fronts.remaining_data(problem)
    for datum in (*initial.values(), *problem.initial_velocity.values()):
        if not _is_polynomial(datum.expression):
            own = [_along(points, partial(datum, t=problem.time[0])) for points in lines]
            x = problem.domain.sample(16, "random", Seed.SMOOTHNESS_INSIDE).x
            # terms of a Python function are not known: values below the round-off of 1 count as zero
            terms = 1.0 if datum.expression is None else datum.size_of_terms(x, problem.time[0])
            rough = _worst(own, terms)
            if rough is not None:
                yield datum.what, rough, False, "error" if _forms_shocks(problem) else "warning"
    for equation in problem.equations:
        if not _is_polynomial(equation.forcing):
            forces = [partial(_forcing, problem, equation.field, share=share) for share in (0.13, 0.71)]
            rough = _worst([_along(points, force) for force in forces for points in lines])
            if rough is not None:
                yield f"the forcing of {equation.field}", rough, False, "warning"
    for condition in _distinct(problem.conditions):
        rough = _worst([_in_time(problem, condition)])
        if rough is not None:
            yield f"the boundary value '{condition.text}' on side '{condition.side.name}'", rough, True, "note"


@remembered
def _forms_shocks(problem: Problem) -> bool:
    """Whether equations of first order move fields with speeds that depend on fields: jumps become shocks."""
    if any(problem.spatial_order(name) > 1 for name in problem.fields) or problem.jets.quantities:
        return False
    for equation in problem.equations:
        jets = problem.jets.jets_in(equation.nonlinear)
        slopes = [sp.diff(equation.nonlinear, symbol) for symbol, jet in jets.items() if jet.order == 1]
        if any(problem.jets.jets_in(slope) for slope in slopes):
            return True
    return False


def _distinct(conditions: Sequence[LinearCondition]) -> list[LinearCondition]:
    """Return conditions whose data change in time, each text once: sides of a box often share it."""
    found: dict[object, LinearCondition] = {}
    for condition in conditions:
        value = condition.value
        if value.depends_on_time and not _is_polynomial(value.expression):
            found.setdefault(value.source, condition)
    return list(found.values())


def _is_polynomial(expression: sp.Expr | None) -> bool:
    """Whether there is nothing to classify: only round-off would be seen."""
    return expression is not None and bool(expression.is_polynomial())


# ---- lines ----------------------------------------------------------------------------------------


def _lines_through(domain: Domain) -> Iterator[Callable[[Array], Array]]:
    """Yield lines inside the domain as functions of s in [0, 1]: the interval itself, or several through the inside."""
    lines = 4  # in several dimensions, besides those along the axes
    d = domain.dimension
    if d == 1:
        yield _segment(domain.lower, domain.upper)
        return
    points = domain.sample(2 * lines + 3, "random", Seed.SMOOTHNESS_LINES).x
    if isinstance(domain, Box):
        for axis in range(min(d, 3)):
            ends = np.stack([points[axis]] * 2)
            ends[:, axis] = domain.lower[axis], domain.upper[axis]
            yield _segment(*ends)
    for a, b in zip(points[3 : 3 + lines], points[3 + lines :], strict=True):
        inside = domain.contains(a + np.linspace(0.0, 1.0, 65)[:, None] * (b - a), 0.0)
        if np.all(inside):  # not across a hole
            yield _segment(a, b)


def _segment(a: Array, b: Array) -> Callable[[Array], Array]:
    return lambda s: a + np.asarray(s)[:, None] * (b - a)


def _along(points: Callable[[Array], Array], values: Callable[[Array], Array]) -> Line:
    """Return a function of points along a line."""

    def place(s: float) -> str:
        x = points(np.array([s]))[0]
        return f"x = {x[0]:.6g}" if len(x) == 1 else f"x = ({', '.join(f'{c:.4g}' for c in x)})"

    several = points(np.zeros(1)).shape[1] > 1
    return Line(lambda s: values(points(s)), place, POINTS // 4 if several else POINTS)


def _forcing(problem: Problem, field: str, x: Array, share: float) -> Array:
    return forcings(problem, field, x, (share,))[0]


def _in_time(problem: Problem, condition: LinearCondition) -> Line:
    """Return the boundary data at one point as a function of time."""
    start, end = problem.time
    x = problem.domain.sample_side(condition.side, 1, "random", Seed.SMOOTHNESS_ON_SIDES).x
    value = condition.value

    def of(s: Array) -> Array:
        t = start + s * (end - start)
        if value.expression is not None:
            with np.errstate(all="ignore"):
                return np.broadcast_to(problem.compile([value.expression])(*x[0], t)[0], len(s))
        return np.array([value(x, float(when))[0] for when in t])

    points = POINTS if value.expression is not None else POINTS // 8  # Python functions take one time at once
    return Line(of, lambda s: f"t = {start + s * (end - start):.6g}", points)


def _worst(lines: list[Line], terms: float = 0.0) -> Roughness | None:
    """Return the worst of several lines; lines that can't be evaluated are skipped, and the solve reports the error.

    Where data vanish along a line, or terms cancel, there is nothing but round-off.
    """
    sizes = [terms]
    for line in lines:
        with suppress(FrozenPinnError):
            sizes.append(float(np.max(np.abs(line.of(np.linspace(0.0, 1.0, 17))))))
    least = LAST_DIGITS * max(filter(np.isfinite, sizes), default=0.0)
    order = {"noise": 3, "jump": 2, "corner": 1}
    worst: Roughness | None = None
    for line in lines:
        try:
            found = classify(line, least)
        except FrozenPinnError:
            continue
        if found is not None and (worst is None or order[found.kind] > order[worst.kind]):
            worst = found
    return worst


# ---- texts ----------------------------------------------------------------------------------------


def _finding(what: str, rough: Roughness, in_time: bool, severity: Severity = "warning") -> Finding:
    if rough.kind == "noise":
        return Finding(
            "noise",
            "warning",
            f"{what} is noisy, by about {rough.level:.2g} of its size. The solution can't be better than that where it "
            "starts, and derivatives are far worse. Let it be smoothed: fp.Table(values, x=…, smooth=True).",
        )
    if rough.kind == "jump":
        fate = (
            "steps end there, and begin anew with a layer at that side."
            if in_time
            else "expect errors of its size nearby at first; diffusion rounds it off, transport carries it on. Make it "
            "a short smooth transition, such as tanh((x - a)/w) with a width w of a fiftieth of the domain."
        )
        jump = f"{what} jumps from {rough.before:g} to {rough.after:g} at {rough.where}"
        if severity == "error":
            return Finding(
                "jump",
                "error",
                f"{jump}, and the equations have no viscosity: shocks are not supported. Add viscosity, such as "
                "'+ nu*u_xx' with parameters={'nu': 1e-3}; for a smooth start, write tanh((x - a)/w) for the jump.",
            )
        return Finding("jump", severity, f"{jump}: {fate}")
    return Finding(
        "corner",
        "note",
        f"{what} has a corner at {rough.where}: its slope jumps, which costs digits nearby until it is smoothed out.",
    )


# ---- one line -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A function along a line: its values at equispaced places, and how to get more of them.

    Attributes
    ----------
    of
        Values at places s between 0 and 1.
    place
        How messages call a place s.
    points
        How many values are taken first.
    """

    of: Callable[[Array], Array]
    place: Callable[[float], str]
    points: int = POINTS


class Roughness(NamedTuple):
    """What is rough along a line: ``kind`` "jump", "corner" or "noise", where, between which values, how much of it."""

    kind: str
    where: str = ""
    before: float = 0.0
    after: float = 0.0
    level: float = 0.0


def classify(line: Line, least: float = 0.0) -> Roughness | None:
    """Return what is rough along a line, None if it is smooth, or nothing but round-off below ``least``.

    Examples
    --------
    >>> classify(Line(lambda s: np.sign(s - 0.3), lambda s: f"x = {s:.3g}"))
    Roughness(kind='jump', where='x = 0.3', before=-1.0, after=1.0, level=0.0)
    """
    s = np.linspace(0.0, 1.0, line.points + 1)
    values = np.asarray(line.of(s), dtype=float)
    size = float(np.max(np.abs(values)))
    if not np.isfinite(size) or size < max(UNDERFLOW, least):
        return None
    finest = np.abs(fourth_differences(values, 1))
    if float(np.max(finest)) <= VISIBLE * size:
        return None
    level = noise_level(values)
    if level > VISIBLE * size:
        return Roughness("noise", level=level / size)
    peaks = [(float(s[i]), float(s[i + 4])) for i in _peaks(finest)]
    jumps = (_find_jump(line, *peak, size) for peak in peaks)
    corners = (_find_corner(line, *peak) for peak in peaks)
    return next((found for found in (*jumps, *corners) if found is not None), None)


def fourth_differences(values: Array, stride: int) -> Array:
    """Return f(x) − 4 f(x + h) + 6 f(x + 2h) − 4 f(x + 3h) + f(x + 4h)."""
    a, b, c, d, e = (values[k * stride : len(values) - (4 - k) * stride or None] for k in range(5))
    return a - 4 * b + 6 * c - 4 * d + e


def noise_level(values: Array) -> float:
    """Return the standard deviation of noise, 0 if there is none.

    Noise has differences of the same size at all distances (or at all beyond that of the samples it was given at), at
    most places and not at a few.
    """
    flat_slope = 0.25  # mean slopes of log₂ D below this, and single ones below twice this, count as none
    strides = _STRIDES[: int(np.log2(len(values))) - 3]
    differences = [fourth_differences(values, int(stride)) for stride in strides]
    sizes = np.array([float(np.sqrt(np.mean(d**2))) for d in differences])
    slopes = np.diff(np.log2(np.maximum(sizes, 1e-300)))
    if slopes[0] > 2.5:  # whatever it is, it is smooth
        return 0.0
    for k in range(len(slopes) - 2):
        everywhere = float(np.median(np.abs(differences[k]))) > 0.4 * sizes[k]
        flat = abs(float(np.mean(slopes[k : k + 3]))) < flat_slope and np.all(
            np.abs(slopes[k : k + 3]) < 2 * flat_slope
        )
        if flat and everywhere:
            return float(sizes[k] / np.sqrt(70.0))  # the sum of the squares of 1, 4, 6, 4, 1
    return 0.0


def _peaks(differences: Array) -> list[int]:
    """Return where differences are largest, at places that do not touch each other."""
    candidates = 3  # places that are sampled closely
    left, found = differences.copy(), []
    for _ in range(candidates):
        at = int(np.argmax(left))
        if left[at] <= 0.1 * float(np.max(differences)):
            break
        found.append(at)
        left[max(0, at - 8) : at + 9] = 0.0
    return found


def _find_jump(line: Line, start: float, end: float, size: float) -> Roughness | None:
    """Follow the largest step into ever smaller surroundings: a jump stays as large, all else vanishes."""
    looks = 5  # each from closer by: a jump is one over 1e-12 of the line
    first = None
    for _ in range(looks):
        s = np.linspace(start, end, _CLOSER + 1)
        values = np.asarray(line.of(s), dtype=float)
        steps = np.diff(values)
        excess = np.abs(steps - np.median(steps))
        at = int(np.argmax(excess))
        first = float(excess[at]) if first is None else first
        if excess[at] <= max(0.3 * first, VISIBLE * size):
            return None
        start, end = float(s[max(0, at - 1)]), float(s[min(_CLOSER, at + 2)])
    return Roughness("jump", line.place((start + end) / 2), _tidy(values[0], size), _tidy(values[-1], size))


def _find_corner(line: Line, start: float, end: float) -> Roughness | None:
    """Follow the largest second difference: near a corner it grows like the distance, at all scales."""
    middle = 0.0
    for _ in range(3):
        s = np.linspace(start, end, _CLOSER + 1)
        values = np.asarray(line.of(s), dtype=float)
        bends = [np.abs(values[2 * k :] - 2 * values[k:-k] + values[: -2 * k]) for k in (4, 8, 16)]
        sizes = [float(np.max(bend)) for bend in bends]
        if sizes[0] == 0 or not all(0.2 < np.log2(b / a) < 1.4 for a, b in pairwise(sizes)):
            return None
        middle, width = float(s[int(np.argmax(bends[0])) + 4]), (end - start) / 8
        start, end = max(0.0, middle - width / 2), min(1.0, middle + width / 2)
    return Roughness("corner", line.place(middle))


def _tidy(value: float, size: float) -> float:
    """Round a value for a message."""
    return round(float(value), 5 - int(np.floor(np.log10(size)))) + 0.0
