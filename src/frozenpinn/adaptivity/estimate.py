"""How far a solution may be from the truth: its distance from a second one that shares as little as possible with it.

Both solve the same problem, with other neurons, other points, more of both, and smaller tolerances in time. Where
their errors are independent, the distance is the error of the less accurate one (up to √2). Where they share a bias
that falls off slowly with the width, as at corners and jumps, the second is so much wider that the distance is still a
good part of it. At the start, the data themselves tell the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.interpolate import make_interp_spline

from frozenpinn.analysis.probing import Probe, forcings, probe
from frozenpinn.errors import EvaluationError
from frozenpinn.language.jets import Jet
from frozenpinn.statement.problem import Problem

Array = np.ndarray
TIMES = 21  # evenly spread …
_EARLY = np.geomspace(1e-7, 10**-1.5, 12)  # … and more towards the start, as parts of the time
_NEIGHBOURS = 16  # points around a point at which its error is looked at …
_NEAR = 0.02  # … in a neighbourhood of this part of the domain
_CHAOTIC = 1e3  # growth of relative errors that no front or layer explains
_SHARED, _VISIBLE = 0.3, 1e-9  # a distance that is small beside the error tells that both have missed something
_UNSEEN = 1e-2  # part of a forcing that interpolation between the points misses
_STEADY = 0.9  # correlation of the logarithm of the error with time


class Field(Protocol):
    """A solution, as far as it is compared."""

    problem: Problem

    @property
    def collocation(self) -> Array:
        """The points of the basis, shape (n, d)."""

    def jet_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return one derivative at all points and all times, shape (n, m)."""

    def paired_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return one derivative at pairs of points and times, shape (n,)."""


@dataclass(frozen=True, eq=False)
class ErrorEstimate(Mapping[str, float]):
    """Estimated relative L² error over space and time by field, ``estimate["u"]``, and its course in time.

    Attributes
    ----------
    overall
        One number per field.
    times, curves
        The course: root mean square of the error over space at each time, relative to the root mean square of the field
        over space and time.
    growth
        Rate λ if errors grow like exp(λt) all the time, as in chaos; None otherwise.
    """

    overall: Mapping[str, float]
    times: Array
    curves: Mapping[str, Array]
    growth: float | None = None

    def __getitem__(self, field: str) -> float:
        return self.overall[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.overall)

    def __len__(self) -> int:
        return len(self.overall)

    def __repr__(self) -> str:
        return "ErrorEstimate(" + ", ".join(f"{name}={value:.2g}" for name, value in self.items()) + ")"

    @property
    def worst(self) -> float:
        """The largest of all fields; not a number if there is no estimate."""
        values = list(self.overall.values())
        return float(np.max(values)) if values else float("nan")

    def at(self, t: Any, field: str | None = None) -> Array:
        """Return the course at given times, interpolated (logarithmically) between those of the comparison."""
        name = next(iter(self.overall)) if field is None else field
        t = np.asarray(t, dtype=float)
        if not np.all((t >= self.times[0]) & (t <= self.times[-1])):
            raise EvaluationError(f"the error is known between t = {self.times[0]:g} and t = {self.times[-1]:g}.")
        logs = np.log(np.maximum(self.curves[name], 1e-300))
        return np.asarray(np.exp(np.interp(t, self.times, logs)))

    def holds_until(self, tol: float) -> float:
        """Return up to when all fields are estimated to be within a tolerance."""
        above = np.any([np.asarray(curve) > tol for curve in self.curves.values()], axis=0)
        if not np.any(above):
            return float(self.times[-1])
        return float(self.times[max(0, int(np.argmax(above)) - 1)])

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return {
            "overall": {name: float(value) for name, value in self.overall.items()},
            "times": [float(t) for t in self.times],
            "curves": {name: [float(v) for v in curve] for name, curve in self.curves.items()},
            "growth": self.growth,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ErrorEstimate:
        """Read what :meth:`as_dict` has written."""
        curves = {name: np.array(curve, dtype=float) for name, curve in stored["curves"].items()}
        overall = {name: float("nan") if value is None else value for name, value in stored["overall"].items()}
        return cls(overall, np.array(stored["times"], dtype=float), curves, stored["growth"])

    @classmethod
    def unknown(cls, problem: Problem) -> ErrorEstimate:
        """Return the estimate of an error that can't be estimated."""
        times = np.array(problem.time)
        return cls(
            dict.fromkeys(problem.fields, float("nan")), times, dict.fromkeys(problem.fields, np.full(2, np.nan))
        )


def compare(solution: Field, witness: Field) -> ErrorEstimate:
    """Estimate the error of a solution by its distance from one that is at least as accurate."""
    problem = solution.problem
    places, (times, even) = probe(problem), _times(problem)
    overall, curves, growths = {}, {}, []
    for name in problem.fields:
        jet = problem.jets.field(name)
        mine, theirs = (s.jet_values(places.x, times, jet) for s in (solution, witness))
        # a solution that explodes must not be judged by its own size
        gaps, sizes = places.rms(mine - theirs), places.rms(theirs)
        start, missed = _initial_gap(problem, places, name, mine[:, 0], float(gaps[0]))
        gaps = np.sqrt(gaps**2 + missed**2 + _missed_forcing(solution, name, times) ** 2)
        gaps[0] = max(gaps[0], start)
        scale = _mean(sizes[even]) or float(np.max(gaps)) or 1.0
        curves[name] = gaps / scale
        overall[name] = max(_mean(gaps[even]), _mean(gaps, times)) / scale
        growths.append(None if problem.is_linear else _growth(times[even], gaps[even], sizes[even]))
    steady = [rate for rate in growths if rate is not None]
    return ErrorEstimate(overall, times, curves, max(steady) if steady else None)


def _times(problem: Problem) -> tuple[Array, Array]:
    """Return the times of a comparison, and which of them are evenly spread.

    Where data and equation do not agree at the start (in a derivative, say) there is a layer in time, and all of the
    error may be in it.
    """
    start, end = problem.time
    even = np.linspace(start, end, TIMES)
    times = np.union1d(even, start + (end - start) * _EARLY)
    return times, np.isin(times, even)


def _mean(values: Array, times: Array | None = None) -> float:
    """Return the root mean square over even times, or over given ones."""
    if times is None:
        return float(np.sqrt(np.mean(values**2)))
    return float(np.sqrt(np.trapezoid(values**2, times) / (times[-1] - times[0])))


def _initial_gap(problem: Problem, places: Probe, name: str, found: Array, distance: float) -> tuple[float, float]:
    """Return the error at the start, which is known, and the part of it that both solutions have missed.

    What lies between the points of both is in neither, and their distance does not tell; it is taken to last.
    """
    wanted = np.broadcast_to(problem.initial[name](places.x, problem.time[0]), len(places.x))
    gap = float(places.rms(found - wanted))
    shared = distance < _SHARED * gap and gap > _VISIBLE * float(places.rms(wanted))
    return gap, gap if shared else 0.0


def _missed_forcing(solution: Field, name: str, times: Array) -> Array:
    """Return the error of a forcing with peaks between the points of the basis (on an interval), as it adds up."""
    problem, equation = solution.problem, solution.problem.equation(name)
    if problem.domain.dimension > 1 or equation.forcing == 0:
        return np.zeros(len(times))
    places, own = probe(problem), np.unique(solution.collocation[:, 0])
    worst = 0.0
    for seen, wanted in zip(forcings(problem, name, own[:, None]), forcings(problem, name, places.x), strict=True):
        if not (np.all(np.isfinite(seen)) and np.all(np.isfinite(wanted))):
            continue
        gap = float(places.rms(make_interp_spline(own, seen)(places.x[:, 0]) - wanted))
        worst = max(worst, gap if gap > _UNSEEN * float(places.rms(wanted)) else 0.0)
    return np.asarray(worst * (times - times[0]) ** equation.order / equation.order)


def _growth(times: Array, gaps: Array, sizes: Array) -> float | None:
    """Return the rate of an error that grows exponentially beside the solution, from small to visible."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(gaps / sizes)
    top = int(np.argmax(logs > np.log(0.1))) if np.any(logs > np.log(0.1)) else len(times) - 1
    rising = slice(1, top + 1)
    if top < 6 or not np.all(np.isfinite(logs[rising])):
        return None
    if gaps[top] < _CHAOTIC * gaps[1] or logs[top] - logs[1] < np.log(_CHAOTIC):
        return None
    if np.corrcoef(times[rising], logs[rising])[0, 1] < _STEADY:
        return None
    return float(np.polyfit(times[rising], logs[rising], 1)[0])


def pointwise(solution: Field, witness: Field, x: Array, times: Array, name: str) -> Array:
    """Return the estimated absolute error at pairs of points (n, d) and times (n,).

    Two solutions cross each other in places without being right there, so what is taken is the root mean square of
    their distance over a small neighbourhood.
    """
    domain, jet = solution.problem.domain, solution.problem.jets.field(name)
    rng = np.random.default_rng(8642)
    offsets = rng.uniform(-_NEAR, _NEAR, (_NEIGHBOURS, domain.dimension)) * domain.lengths
    offsets[0] = 0.0
    total, count = np.zeros(len(x)), np.zeros(len(x))
    for offset in offsets:
        near = domain.wrap(x + offset)
        inside = domain.contains(near)
        if not np.any(inside):
            continue
        gap = solution.paired_values(near[inside], times[inside], jet)
        gap = gap - witness.paired_values(near[inside], times[inside], jet)
        total[inside] += gap**2
        count[inside] += 1
    return np.asarray(np.sqrt(total / np.maximum(count, 1)))
