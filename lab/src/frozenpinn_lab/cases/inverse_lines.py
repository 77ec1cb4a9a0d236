"""Inverse problems whose data come from finite differences or a Fourier method: nothing in them knows our networks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frozenpinn.geometry import Interval
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown, UnknownField
from frozenpinn_lab.cases.inverse_case import InverseCase

Array = np.ndarray
_CELLS = 400


def _lines(
    rates: Callable[[float, Array, Array], Array],
    start: Callable[[Array], Array],
    end: float,
    ends: tuple[bool, bool] = (True, True),
) -> Callable[[Array, Array | None], Array]:
    """Return the solution of u_t = rates(t, x, u) on [0, 1] at 401 places, which are zero at the ends marked so."""

    def values(x: Array, t: Array | None) -> Array:
        from scipy.integrate import solve_ivp
        from scipy.interpolate import CubicSpline

        assert t is not None
        grid = np.linspace(0.0, 1.0, _CELLS + 1)
        free = slice(int(ends[0]), _CELLS + 1 - int(ends[1]))

        def moved(time: float, inner: Array) -> Array:
            whole = np.zeros(len(grid))
            whole[free] = inner
            return rates(time, grid, whole)[free]

        times, which = np.unique(t, return_inverse=True)
        found = solve_ivp(moved, (0.0, end), start(grid)[free], "LSODA", times, rtol=1e-9, atol=1e-11, lband=1, uband=1)
        whole = np.zeros((len(grid), len(times)))
        whole[free] = found.y
        splines = CubicSpline(grid, whole)
        return np.array([splines(place)[k] for place, k in zip(x[:, 0], which, strict=True)])

    return values


def _diffused(conductivity: Array | float, u: Array) -> Array:
    """Return (k u_x)_x in conservative differences, k given between the places; ends are left to the caller."""
    out = np.zeros_like(u)
    out[1:-1] = np.diff(conductivity * np.diff(u)) * _CELLS**2
    return out


def _conductivity(x: Array) -> Array:
    return 0.3 * (1 + 0.5 * np.sin(2 * np.pi * x))


def _conductivity_rates(t: float, x: Array, u: Array) -> Array:
    return _diffused(_conductivity((x[1:] + x[:-1]) / 2), u) + 2.0


def _conductivity_problem() -> Problem:
    given = {"k": UnknownField(0.2, positive=True)}
    return Problem("u_t = div(k*grad(u)) + 2", Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0", parameters=given)


def _flux(t: Array) -> Array:
    return 0.3 + np.sin(4 * t) * np.exp(-t)


def _flux_rates(t: float, x: Array, u: Array) -> Array:
    out = _diffused(1.0, u)
    out[0] = 2 * _CELLS**2 * (u[1] - u[0] + _flux(np.asarray(t)) / _CELLS)
    return out


def _flux_problem() -> Problem:
    boundary = {"left": "u_n = q", "right": "u = 0"}
    return Problem("u_t = u_xx", Interval(0, 1), (0, 1), 0, boundary, parameters={"q": UnknownField(of="t")})


def _source_rates(t: float, x: Array, u: Array) -> Array:
    return _diffused(0.1, u) + 3.0 * np.exp(-(((x - 0.37) / 0.1) ** 2))


def _source_problem() -> Problem:
    given = {"a": Unknown(1.0, 0.0, 20.0), "p": Unknown(0.6, 0.0, 1.0)}
    return Problem("u_t = 0.1*u_xx + a*exp(-((x - p)/0.1)**2)", Interval(0, 1), (0, 1), 0, "u = 0", parameters=given)


_INITIAL = ((1, 1.0), (2, 0.5), (3, -0.4))


def _cooled(x: Array, t: Array | None) -> Array:
    """Return the exact series of the heat equation."""
    when = 0.0 if t is None else t
    return np.asarray(
        sum(a * np.exp(-0.1 * (n * np.pi) ** 2 * when) * np.sin(n * np.pi * x[:, 0]) for n, a in _INITIAL)
    )


def _backward_problem() -> Problem:
    return Problem("u_t = 0.1*u_xx", Interval(0, 1), (0, 0.1), UnknownField(), "u = 0")


def _reaction(x: Array, t: Array | None) -> Array:
    """Return u of u_t = 0.05 u_xx − ru + sv, v_t = 0.02 v_xx + ru − sv on a circle by 64 Fourier modes, exactly."""
    assert t is not None
    k = np.fft.fftfreq(64, 1.0 / 64)
    grid = 2 * np.pi * np.arange(64) / 64
    start = np.fft.fft(np.stack([np.exp(np.sin(grid)), 0.2 * np.cos(grid) ** 2]), axis=1) / 64
    rates = np.array([[[-0.05 * n**2 - 1.5, 0.5], [1.5, -0.02 * n**2 - 0.5]] for n in k])
    values, vectors = np.linalg.eig(rates)
    weights = np.linalg.solve(vectors, start.T[:, :, None])[:, :, 0]
    modes = np.einsum("kj,kj,kjm->km", vectors[:, 0], weights, np.exp(values[:, :, None] * t))
    return np.asarray(np.einsum("km,mk->m", modes, np.exp(1j * np.outer(x[:, 0], k))).real)


def _reaction_problem() -> Problem:
    return Problem(
        ["u_t = 0.05*u_xx - r*u + s*v", "v_t = 0.02*v_xx + r*u - s*v"],
        Interval(0, 2 * np.pi, periodic=True),
        (0, 1),
        ["exp(sin(x))", "0.2*cos(x)**2"],
        parameters={"r": Unknown(1.0, 0.1, 10.0), "s": Unknown(1.0, 0.1, 10.0)},
    )


INDEPENDENT = (
    InverseCase(
        "inverse-reaction-fourier",
        "rates of a reaction of two fields, one of which is seen, data of a Fourier method",
        _reaction_problem,
        _reaction,
        {"r": 1.5, "s": 0.5},
        measured="u",
    ),
    InverseCase(
        "inverse-source-lines",
        "where a source of heat is and how strong, data of finite differences",
        _source_problem,
        _lines(_source_rates, np.zeros_like, 1.0),
        {"a": 3.0, "p": 0.37},
    ),
    InverseCase(
        "inverse-conductivity-lines",
        "u_t = (k(x)u_x)_x + 2, data of finite differences",
        _conductivity_problem,
        _lines(_conductivity_rates, lambda x: np.sin(np.pi * x), 0.5),
        field=("k", lambda x: _conductivity(x[:, 0])),
        count=200,
    ),
    InverseCase(
        "inverse-flux-lines",
        "heat that enters through the boundary as a function of time, data of finite differences",
        _flux_problem,
        _lines(_flux_rates, np.zeros_like, 1.0, (False, True)),
        field=("q", lambda t: _flux(t[:, 0])),
        count=100,
    ),
    InverseCase(
        "inverse-backward-heat",
        "the initial value of a heat equation, data of its series",
        _backward_problem,
        _cooled,
        field=("initial", lambda x: _cooled(x, None)),
        count=100,
        noise=0.01,
        absolute=True,
    ),
)
