"""Inverse problems where a forward solve is hardest: a corner, a jump of a coefficient, a thin layer, a step.

All have formulas for solutions. They are cases of the study ``coverage`` only.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf, iv

from frozenpinn.geometry import Interval, Polygon
from frozenpinn.statement.conditions import Dirichlet
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown
from frozenpinn_lab.cases.inverse_case import InverseCase

Array = np.ndarray
_M, _K, _WIDTH, _RATE = 3.0, 0.02, 0.01, 0.02  # the truth
_OTHER = 0.005  # diffusivity beside the unknown one


def _at_corner(x: Array, y: Array) -> Array:
    r, angle = np.hypot(x, y), np.mod(np.arctan2(y, x), 2 * np.pi)
    return np.asarray(iv(2 / 3, _M * r) / iv(2 / 3, _M) * np.sin(2 * angle / 3))


def _corner_problem() -> Problem:
    room = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
    return Problem("lap(u) = m**2*u", room, boundary=Dirichlet(_at_corner), parameters={"m": Unknown(2.0, 0.1, 10.0)})


def _across_jump(x: Array, t: Array | None) -> Array:
    assert t is not None
    z, left, right = x[:, 0], 2.0 / (1.0 + np.sqrt(_K / _OTHER)), np.sqrt(_K / _OTHER)
    spread = erf(z / np.sqrt(4 * np.where(z < 0, _K, _OTHER) * np.maximum(t, 1e-300)))
    return np.asarray(left - 1 + np.where(z < 0, left, left * right) * spread)


def _jump_problem() -> Problem:
    ends = {"left": "u = -1", "right": "u = 1"}
    given = {"k": Unknown(0.05, 1e-3, 1.0)}
    equation = f"u_t = dx(where(x < 0, k, {_OTHER})*u_x)"
    return Problem(equation, Interval(-1, 1), (0, 0.5), "where(x < 0, -1, 1)", ends, parameters=given)


def _in_layer(x: Array, t: Array | None) -> Array:
    z = x[:, 0]
    return np.asarray(z - (np.exp((z - 1) / _WIDTH) - np.exp(-1 / _WIDTH)) / (1 - np.exp(-1 / _WIDTH)))


def _layer_problem() -> Problem:
    given = {"n": Unknown(0.02, 1e-3, 0.3)}
    return Problem("u_x - n*u_xx = 1", Interval(0, 1), boundary="u = 0", parameters=given)


def _after_step(x: Array, t: Array | None) -> Array:
    assert t is not None
    return np.asarray(erf(x[:, 0] / np.sqrt(4 * _RATE * np.maximum(t, 1e-300))))


def _step_problem() -> Problem:
    ends = {"left": "u = -1", "right": "u = 1"}
    given = {"k": Unknown(0.05, 1e-3, 1.0)}
    return Problem("u_t = k*u_xx", Interval(-1, 1), (0, 0.5), "where(x < 0, -1, 1)", ends, parameters=given)


ROUGH: dict[str, InverseCase] = {
    case.name: case
    for case in (
        InverseCase(
            "inverse-corner",
            "a rate beside a reentrant corner",
            _corner_problem,
            lambda x, t: _at_corner(*x.T),
            {"m": _M},
            noise=0.003,
            absolute=True,
        ),
        InverseCase(
            "inverse-jump",
            "a diffusivity that jumps",
            _jump_problem,
            _across_jump,
            {"k": _K},
            noise=0.01,
            absolute=True,
        ),
        InverseCase(
            "inverse-layer", "a thin layer", _layer_problem, _in_layer, {"n": _WIDTH}, noise=0.01, absolute=True
        ),
        InverseCase(
            "inverse-step",
            "what spreads from a step",
            _step_problem,
            _after_step,
            {"k": _RATE},
            noise=0.01,
            absolute=True,
        ),
    )
}
