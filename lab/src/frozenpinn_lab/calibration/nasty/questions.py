"""Questions other than solves: eigenvalues and inferences that hide something, with the truth.

Each says what an answer claims and how wrong it is, so that a promise is broken in one sense for all: an estimate that
is far too small, or something that is missing without a word.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import jn_zeros, jv, yv

from frozenpinn.errors import FrozenPinnWarning
from frozenpinn.geometry import Annulus, Ball, Box, Interval, Polygon
from frozenpinn.inverse.infer import infer
from frozenpinn.modes.modes import modes
from frozenpinn.statement.eigenvalue import Eigenvalue
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown
from frozenpinn_lab.calibration.nasty.parts import LINE, Array, Draw, drawn, place, scaled
from frozenpinn_lab.references.elements import ElementReference


class Answer(NamedTuple):
    """How wrong an answer is, what it says of that, and whether it claims to be complete."""

    error: float
    estimate: float
    status: str


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The lowest eigenvalues of a problem, with all that are known, ascending."""

    problem: Problem
    truth: Array
    count: int = 4
    accuracy: float = 1e-6  # of the truth: elements that are as short as a feature is narrow have round-off

    def ask(self, tol: float, seconds: float) -> Answer:
        """Find eigenvalues; those that are missing without a word count as an error of the whole."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FrozenPinnWarning)
            found = modes(self.problem, self.count, tol=tol, time_limit=seconds)
        values, told = np.real([mode.value for mode in found]), np.array([mode.error for mode in found])
        gaps = np.min(np.abs(values[:, None] - self.truth), axis=1)
        worst = int(np.argmax(gaps / np.maximum(told, self.accuracy * np.abs(values)))) if len(values) else 0
        size = abs(values[worst]) if len(values) else 1.0
        complete = len(values) == self.count and not caught
        furthest = np.sort(np.abs(self.truth))[self.count - 1]  # those of smallest modulus are asked for
        missed = complete and np.max(np.abs(values)) > furthest + 10 * np.max(told) + tol * furthest
        error = 1.0 if missed else max(0.0, float(gaps[worst]) / size - self.accuracy) if len(values) else np.nan
        status = "converged" if complete and np.all(told <= tol * np.abs(values)) else "reached"
        return Answer(error, float(told[worst]) / size if len(values) else np.nan, status)


@dataclass(frozen=True, eq=False)
class Inference:
    """A number that is to be found from measurements with noise, and its truth."""

    problem: Problem
    data: Measurements
    truth: float

    def ask(self, tol: float, seconds: float) -> Answer:
        """Infer the number; its error bar is the estimate, three of its deviations what is claimed."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FrozenPinnWarning)
            found = infer(self.problem, self.data, time_limit=5 * seconds)
        (number,) = found.parameters.values()
        error, bar = abs(number.value - self.truth) / abs(self.truth), number.std / abs(self.truth)
        sure = not caught and error > 5.0 * bar  # far outside the bar, without a word
        return Answer(error, 0.0 if sure else max(3.0 * bar, error), "converged" if sure else "reached")


Question: TypeAlias = Spectrum | Inference


# ---- eigenvalues --------------------------------------------------------------------------------------------


def _spectrum(
    equation: str, domain: Interval | Box | Ball | Polygon | Annulus, truth: Array, conditions: object = "u = 0"
) -> Spectrum:
    problem = Problem(equation, domain, boundary=conditions, parameters={"lam": Eigenvalue()})  # type: ignore[arg-type]
    return Spectrum(problem, np.sort(truth))


def _of_line(diffusivity: Callable[[Array], Array], potential: Callable[[Array], Array], a: float, w: float) -> Array:
    """Return eigenvalues on the unit interval by spectral elements that are short around a place."""
    away = np.concatenate([-w * np.geomspace(300, 1, 9), [0.0], w * np.geomspace(1, 300, 9)])
    edges = np.unique(np.concatenate([np.linspace(0, 1, 9), a + away]))
    edges = edges[(edges >= 0) & (edges <= 1)]
    kept = edges[np.diff(edges, prepend=-1.0) > 1e-9]
    kept[-1] = 1.0
    solved = ElementReference(tuple(kept), np.ones_like, diffusivity, potential, np.ones_like)._solved()
    return np.asarray(solved[1][:30])


def mode_well(rng: Draw) -> Spectrum:
    """Hide a well on an interval."""
    a, w = place(rng), scaled(rng, -3.5, -1.2)
    depth = drawn(rng, 5, 60) / w
    truth = _of_line(np.ones_like, lambda x: -depth * np.exp(-(((x - a) / w) ** 2)), a, w)
    return _spectrum(f"-u_xx - {depth}*exp(-((x - {a})/{w})**2)*u = lam*u", LINE, truth)


def mode_barrier(rng: Draw) -> Spectrum:
    """Hide a barrier that makes two rooms of one."""
    a, w = place(rng), scaled(rng, -3.5, -1.2)
    height = drawn(rng, 5, 300) / w
    truth = _of_line(np.ones_like, lambda x: height * np.exp(-(((x - a) / w) ** 2)), a, w)
    return _spectrum(f"-u_xx + {height}*exp(-((x - {a})/{w})**2)*u = lam*u", LINE, truth)


def mode_dip(rng: Draw) -> Spectrum:
    """Hide a dip of a diffusivity."""
    a, w = place(rng), scaled(rng, -3, -1.2)
    low = 1.0 - min(0.99, drawn(rng, 0.5, 0.99))
    truth = _of_line(lambda x: 1 - (1 - low) * np.exp(-(((x - a) / w) ** 2)), np.zeros_like, a, w)
    return _spectrum(f"-dx((1 - {1 - low}*exp(-((x - {a})/{w})**2))*u_x) = lam*u", LINE, truth)


def mode_ridge(rng: Draw) -> Spectrum:
    """Hide a ridge of a potential in a square."""
    a, w = place(rng), scaled(rng, -3, -1.2)
    depth = drawn(rng, -60, 60) / w
    along = _of_line(np.ones_like, lambda x: depth * np.exp(-(((x - a) / w) ** 2)), a, w)
    truth = np.ravel(along[:, None] + (np.pi * np.arange(1, 80)) ** 2)
    return _spectrum(f"-lap(u) + {depth}*exp(-((x - {a})/{w})**2)*u = lam*u", Box([0, 0], [1, 1]), truth)


def mode_ring(rng: Draw) -> Spectrum:
    """Leave a thin ring, whose eigenvalues stand in pairs close to each other."""
    inner, found = drawn(rng, 0.3, 0.95), list[float]()
    for m in range(12):

        def gap(k: float, m: int = m) -> float:
            return float(jv(m, k * inner) * yv(m, k) - jv(m, k) * yv(m, k * inner))

        grid = np.linspace(0.5, 3.0 * np.pi / (1 - inner), 4000)
        signs = np.sign([gap(k) for k in grid])
        for k in np.flatnonzero(signs[1:] * signs[:-1] < 0):
            found += [brentq(gap, grid[k], grid[k + 1], xtol=1e-13) ** 2] * (1 if m == 0 else 2)
    return _spectrum("-lap(u) = lam*u", Annulus(inner, 1.0), np.array(found))


def mode_disk(rng: Draw) -> Spectrum:
    """Scale and move a disk."""
    radius = scaled(rng, -3, 3)
    truth = np.concatenate([np.repeat(jn_zeros(m, 8) ** 2, 1 + (m > 0)) for m in range(9)]) / radius**2
    return _spectrum("-lap(u) = lam*u", Ball([drawn(rng, -2, 2) * radius, 0], radius), truth)


def mode_wind(rng: Draw) -> Spectrum:
    """Blow along an interval: eigenfunctions are nearly dependent."""
    n = scaled(rng, -1.7, 0)
    truth = n * (np.pi * np.arange(1, 20)) ** 2 + 1 / (4 * n)
    return _spectrum(f"-{n}*u_xx + u_x = lam*u", LINE, truth)


def mode_leak(rng: Draw) -> Spectrum:
    """Let an end leak, slowly or fast."""
    h = scaled(rng, -2, 3)
    roots = [
        brentq(lambda k: k * np.cos(k) + h * np.sin(k), np.pi * (j - 0.5) + 1e-12, np.pi * j, xtol=1e-13)
        for j in range(1, 15)
    ]
    return _spectrum("-u_xx = lam*u", LINE, np.array(roots) ** 2, {"left": "u = 0", "right": f"u_n + {h}*u = 0"})


def mode_room(rng: Draw) -> Spectrum:
    """Look for the modes of an L-shaped room of any size (values: Betcke and Trefethen, 2005)."""
    size = scaled(rng, -2, 2)
    room = Polygon([(size * x, size * y) for x, y in ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))])
    truth = np.array([9.6397238440219, 15.1972519264561, 2 * np.pi**2, 29.5214811141506, 31.9126359571369])
    return _spectrum("-lap(u) = lam*u", room, truth / size**2)


# ---- inferences ---------------------------------------------------------------------------------------------


def _seen(rng: Draw, problem: Problem, exact: Callable[..., Array], truth: float, count: int = 60) -> Inference:
    """Return measurements with noise that may be told or not."""
    x = problem.domain.sample(count, "random", rng).x
    times = None if problem.is_static else rng.uniform(problem.time[0] + 0.1 * problem.time[1], problem.time[1], count)
    values = exact(*x.T) if times is None else exact(*x.T, times)
    noise = scaled(rng, -3.5, -1.5) * float(np.std(values))
    told = noise if rng.random() < 0.5 else None
    return Inference(
        problem, Measurements(x, values + noise * rng.standard_normal(count), times=times, noise=told), truth
    )


def learnt_potential(rng: Draw) -> Inference:
    """Learn how deep a narrow potential is, by its effect."""
    a, w, truth = place(rng), scaled(rng, -3, -1.3), drawn(rng, 0.5, 5)
    edges = np.unique(np.clip(np.concatenate([np.linspace(0, 1, 9), a + w * np.linspace(-8, 8, 9)]), 0, 1))
    known = ElementReference(
        tuple(edges), np.zeros_like, np.ones_like, lambda x: truth / w * np.exp(-(((x - a) / w) ** 2)), np.ones_like
    )
    text = f"u_xx - s/{w}*exp(-((x - {a})/{w})**2)*u = -1"
    problem = Problem(text, LINE, boundary="u = 0", parameters={"s": Unknown(1.0, 0.01, 100.0)})
    return _seen(rng, problem, lambda x: known(x, 1e9), truth)


def learnt_layer(rng: Draw) -> Inference:
    """Learn how thin a layer is."""
    n = scaled(rng, -2.3, -0.5)
    problem = Problem("u_x - n*u_xx = 1", LINE, boundary="u = 0", parameters={"n": Unknown(0.1, 1e-3, 1.0)})

    def exact(x: Array) -> Array:
        return x - (np.exp((x - 1) / n) - np.exp(-1 / n)) / (1 - np.exp(-1 / n))

    return _seen(rng, problem, exact, n)


def learnt_decay(rng: Draw) -> Inference:
    """Learn a diffusivity from what has decayed."""
    k, m = scaled(rng, -2, 0), int(rng.integers(1, 5))
    problem = Problem(
        "u_t = k*u_xx", LINE, (0, 1), f"sin({m}*pi*x)", "u = 0", parameters={"k": Unknown(0.1, 1e-4, 10.0)}
    )
    rate = (m * np.pi) ** 2 * k
    return _seen(rng, problem, lambda x, t: np.exp(-rate * t) * np.sin(m * np.pi * x), k)


def learnt_rate_in_room(rng: Draw) -> Inference:
    """Learn a rate beside a reentrant corner."""
    from scipy.special import iv

    from frozenpinn.statement.conditions import Dirichlet

    m, opening = drawn(rng, 1, 6), drawn(rng, 1.2, 1.9) * np.pi
    angles = np.linspace(0.0, opening, 11)
    sector = Polygon([(0.0, 0.0), *zip(np.cos(angles), np.sin(angles), strict=True)])
    power = np.pi / opening

    def exact(x: Array, y: Array) -> Array:
        angle = np.mod(np.arctan2(y, x), 2 * np.pi)
        return np.asarray(iv(power, m * np.hypot(x, y)) / iv(power, m) * np.sin(power * angle))

    given = {"m": Unknown(2.0, 0.1, 20.0)}
    return _seen(rng, Problem("lap(u) = m**2*u", sector, boundary=Dirichlet(exact), parameters=given), exact, m)


MODES = (
    mode_well,
    mode_barrier,
    mode_dip,
    mode_ridge,
    mode_ring,
    mode_disk,
    mode_wind,
    mode_leak,
    mode_room,
)
INFERENCES = (learnt_potential, learnt_layer, learnt_decay, learnt_rate_in_room)
