"""Inverse problems: unknown numbers and fields, with data made of exact solutions or by a solver that is not ours.

Five with numbers follow S. Dong and Y. Wang (2023, J. Comput. Phys. 489), two of which the paper solves too; two more
have data of a Fourier method on fine grids, so that nothing in them knows our discretisation. Diffusion and heat are
stated as PINNacle does: the field is known on the boundary, and nobody says that it is positive.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from frozenpinn.geometry import Box, Interval
from frozenpinn.inverse.paper import Alternating, Scan
from frozenpinn.statement.conditions import Condition, Free
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown, UnknownField
from frozenpinn_lab.cases.inverse_case import InverseCase
from frozenpinn_lab.cases.inverse_lines import INDEPENDENT

Array = np.ndarray
X, Y, T = sp.symbols("x y t", real=True)


def _evaluated(expression: sp.Expr) -> Callable[[Array, Array | None], Array]:
    compiled = sp.lambdify((X, Y, T), expression, "numpy")

    def values(x: Array, t: Array | None) -> Array:
        second = x[:, 1] if x.shape[1] > 1 else 0.0 * x[:, 0]
        return np.asarray(compiled(x[:, 0], second, 0.0 if t is None else t) + 0.0 * x[:, 0])

    return values


def _profile(z: sp.Expr) -> sp.Expr:
    """Return the factor of which Dong and Wang make most of their solutions."""
    return sp.Rational(5, 2) * sp.sin(sp.pi * z - 2 * sp.pi / 5) + sp.Rational(3, 2) * sp.cos(
        2 * sp.pi * z + 3 * sp.pi / 10
    )


_POISSON = sp.sin(sp.pi * X**2) * sp.sin(sp.pi * Y**2)
_HELMHOLTZ = _profile(X) * _profile(Y)
_GAMMA = 100 * (1 + sp.sin(2 * sp.pi * X) / 4 + sp.sin(2 * sp.pi * Y) / 4)
_TRAVELLING = _profile(X) * _profile(T) / 4
_WAVE = sp.sin(sp.pi * (X + 2 * T) / 2) + sp.cos(sp.pi * (X + 2 * T)) / 2
_WARM = sp.exp(-T) * sp.sin(sp.pi * X) * sp.sin(sp.pi * Y)
_CONDUCTIVITY = 2 + sp.sin(sp.pi * X) * sp.sin(sp.pi * Y)
_STEEPNESS = 1 / (1 + X**2 + Y**2 + (X - 1) ** 2 + (Y - 1) ** 2)


def _poisson() -> Problem:
    source = sp.diff(_POISSON, X, 2) + sp.diff(_POISSON, Y, 2)
    given = {"alpha": Unknown(0.5, 0.0, 2.0), "f": source, "g": _POISSON}
    return Problem("u_xx + alpha*u_yy = f", Box([0, 0], [1.4, 1.4]), boundary="u = g", parameters=given)


def _advection() -> Problem:
    boundary: dict[str, str | Condition] = {"left": Free(), "right": "u = g"}
    given = {"c": Unknown(1.5, 0.5, 4.0), "g": _WAVE.subs(X, 2)}
    return Problem("u_t = c*u_x", Interval(0, 2), (0, 1), _WAVE.subs(T, 0), boundary, parameters=given)


def _nonlinear_helmholtz() -> Problem:
    u = _HELMHOLTZ
    source = sp.diff(u, X, 2) + sp.diff(u, Y, 2) - 100 * u + 5 * sp.cos(2 * u)
    given = {"a": Unknown(80.0), "b": Unknown(3.0), "f": source, "g": u}
    return Problem("lap(u) - a*u + b*cos(2*u) = f", Box([0, 0], [1.5, 1.5]), boundary="u = g", parameters=given)


def _burgers() -> Problem:
    u = _TRAVELLING
    source = sp.diff(u, T) + u * sp.diff(u, X) / 10 - sp.diff(u, X, 2) / 100
    given = {"a": Unknown(0.2), "nu": Unknown(0.02), "f": source, "g": u}
    return Problem("u_t + a*u*u_x = nu*u_xx + f", Interval(0, 2), (0, 1), u.subs(T, 0), "u = g", parameters=given)


def _sine_gordon() -> Problem:
    u = _TRAVELLING
    source = sp.diff(u, T, 2) - sp.diff(u, X, 2) + u + sp.sin(u)
    given = {"a": Unknown(0.8), "b": Unknown(0.7), "c": Unknown(0.7), "f": source, "g": u}
    start, velocity = u.subs(T, 0), sp.diff(u, T).subs(T, 0)
    return Problem(
        "u_tt = a*u_xx - b*u - c*sin(u) + f", Interval(0, 1), (0, 1), start, "u = g", velocity, parameters=given
    )


def _helmholtz() -> Problem:
    u = _HELMHOLTZ
    source = sp.diff(u, X, 2) + sp.diff(u, Y, 2) - _GAMMA * u
    given = {"gamma": UnknownField(80.0), "f": source, "g": u}
    return Problem("lap(u) - gamma*u = f", Box([0, 0], [1.5, 1.5]), boundary="u = g", parameters=given)


def _diffusion() -> Problem:
    u = sp.sin(sp.pi * X) * sp.sin(sp.pi * Y)
    source = sp.diff(_STEEPNESS * sp.diff(u, X), X) + sp.diff(_STEEPNESS * sp.diff(u, Y), Y)
    given = {"a": UnknownField(0.5), "f": source}
    return Problem("div(a*grad(u)) = f", Box([0, 0], [1, 1]), boundary="u = 0", parameters=given)


def _heat() -> Problem:
    u, a = _WARM, _CONDUCTIVITY
    source = sp.diff(u, T) - sp.diff(a * sp.diff(u, X), X) - sp.diff(a * sp.diff(u, Y), Y)
    given = {"a": UnknownField(1.0), "f": source}
    domain = Box([-1, -1], [1, 1])
    return Problem("u_t = div(a*grad(u)) + f", domain, (0, 1), u.subs(T, 0), "u = 0", parameters=given)


def _periodic_burgers() -> Problem:
    domain = Interval(0, 2 * np.pi, periodic=True)
    return Problem(
        "u_t + u*u_x = nu*u_xx", domain, (0, 1), "sin(x) + cos(2*x)/2", parameters={"nu": Unknown(0.2, 0.02, 1.0)}
    )


def _periodic_fisher() -> Problem:
    domain = Interval(0, 2 * np.pi, periodic=True)
    given = {"d": Unknown(0.1, 0.001, 1.0), "r": Unknown(1.0, 0.1, 10.0)}
    return Problem("u_t = d*u_xx + r*u*(1 - u)", domain, (0, 1), "0.3 + 0.2*cos(x)", parameters=given)


def _fourier(
    right_side: Callable[[Array, Array, Array], Array], start: Callable[[Array], Array]
) -> Callable[[Array, Array | None], Array]:
    """Return the solution of u_t = F(u, u_x, u_xx) on a circle by a Fourier method with 128 points."""

    def values(x: Array, t: Array | None) -> Array:
        from scipy.integrate import solve_ivp

        assert t is not None
        n = 128
        grid, k = 2 * np.pi * np.arange(n) / n, np.fft.fftfreq(n, 1.0 / n)

        def rates(_: float, u: Array) -> Array:
            modes = np.fft.fft(u)
            return right_side(u, np.fft.ifft(1j * k * modes).real, np.fft.ifft(-(k**2) * modes).real)

        order = np.argsort(t)
        found = solve_ivp(rates, (0.0, 1.0), start(grid), "DOP853", t[order], rtol=1e-12, atol=1e-13)
        modes = np.fft.fft(found.y, axis=0) / n
        out = np.empty(len(t))
        out[order] = np.einsum("ik,ki->i", np.exp(1j * np.outer(x[order, 0], k)), modes).real
        return out

    return values


CASES: dict[str, InverseCase] = {
    case.name: case
    for case in (
        InverseCase(
            "inverse-poisson",
            "Poisson, u_xx + αu_yy = f",
            _poisson,
            _evaluated(_POISSON),
            {"alpha": 1.0},
            count=50,
            published={"paper": 3e-3, "Dong & Wang": 1.7e-8},
            paper=(Scan(), 2.85),
        ),
        InverseCase(
            "inverse-advection",
            "advection, u_t = cu_x",
            _advection,
            _evaluated(_WAVE),
            {"c": 2.0},
            published={"Dong & Wang": 2.3e-10},
        ),
        InverseCase(
            "inverse-nonlinear-helmholtz",
            "nonlinear Helmholtz, Δu − au + b cos 2u = f",
            _nonlinear_helmholtz,
            _evaluated(_HELMHOLTZ),
            {"a": 100.0, "b": 5.0},
            published={"Dong & Wang": 3.1e-7},
        ),
        InverseCase(
            "inverse-burgers",
            "Burgers, u_t + auu_x = νu_xx + f",
            _burgers,
            _evaluated(_TRAVELLING),
            {"a": 0.1, "nu": 0.01},
            published={"Dong & Wang": 2e-9},
        ),
        InverseCase(
            "inverse-sine-gordon",
            "sine-Gordon, u_tt = au_xx − bu − c sin u + f",
            _sine_gordon,
            _evaluated(_TRAVELLING),
            {"a": 1.0, "b": 1.0, "c": 1.0},
            published={"Dong & Wang": 7e-9},
        ),
        InverseCase(
            "inverse-helmholtz",
            "Helmholtz, Δu − γ(x)u = f",
            _helmholtz,
            _evaluated(_HELMHOLTZ),
            field=("gamma", lambda x: _evaluated(_GAMMA)(x, None)),
            count=300,
            published={"paper": 1.23e-2, "Dong & Wang": 1.2e-8},
            paper=(Alternating(), 5.2e-2),
        ),
        InverseCase(
            "inverse-diffusion",
            "diffusion, ∇·(a(x)∇u) = f, after PINNacle",
            _diffusion,
            _evaluated(sp.sin(sp.pi * X) * sp.sin(sp.pi * Y)),
            field=("a", lambda x: _evaluated(_STEEPNESS)(x, None)),
            count=2500,
            noise=0.1,
            absolute=True,
            known_on_boundary=True,
            published={"PINNacle, σ = 0.1": 2.45e-2},
        ),
        InverseCase(
            "inverse-burgers-fourier",
            "Burgers' viscosity, data of a Fourier method",
            _periodic_burgers,
            _fourier(lambda u, s, c: -u * s + 0.1 * c, lambda x: np.sin(x) + np.cos(2 * x) / 2),
            {"nu": 0.1},
        ),
        InverseCase(
            "inverse-fisher-fourier",
            "Fisher–KPP, diffusion and rate, data of a Fourier method",
            _periodic_fisher,
            _fourier(lambda u, s, c: 0.05 * c + 2.0 * u * (1 - u), lambda x: 0.3 + 0.2 * np.cos(x)),
            {"d": 0.05, "r": 2.0},
        ),
        InverseCase(
            "inverse-heat",
            "conductivity in time, u_t = ∇·(a(x)∇u) + f, after PINNacle",
            _heat,
            _evaluated(_WARM),
            field=("a", lambda x: _evaluated(_CONDUCTIVITY)(x, None)),
            count=2500,
            noise=0.1,
            absolute=True,
            known_on_boundary=True,
            published={"PINNacle, σ = 0.1": 5.3e-2},
        ),
        *INDEPENDENT,
    )
}
