"""Random equations for generated problems: well posed whatever their solution, with coefficients in its scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from frozenpinn_lab.calibration.regions import Region, magnitude, number

Rng = np.random.Generator
Fields = Mapping[str, sp.Expr]
T = sp.Symbol("t")


@dataclass(frozen=True)
class EquationScales:
    """What coefficients are scaled by: region, scaled time, duration and amplitude."""

    region: Region
    tau: sp.Expr
    duration: float
    amplitude: float

    def lap(self, u: sp.Expr) -> sp.Expr:
        """Return Δu."""
        return sp.Add(*(sp.diff(u, c, 2) for c in self.region.coordinates))

    def div(self, k: sp.Expr, u: sp.Expr) -> sp.Expr:
        """Return ∇·(k ∇u)."""
        return sp.Add(*(sp.diff(k * sp.diff(u, c), c) for c in self.region.coordinates))

    def along(self, u: sp.Expr) -> sp.Expr:
        """Return the sum of the first derivatives."""
        return sp.Add(*(sp.diff(u, c) for c in self.region.coordinates))

    def unit(self, space: int, time: int = 1) -> float:
        """Return the unit of a coefficient of a derivative in space, L^space/T^time."""
        return float(self.region.length**space / self.duration**time)

    def ripple(self, rng: Rng) -> sp.Expr:
        """Return a positive coefficient that depends on space."""
        wave = 1 if self.region.periodic else number(rng, 0.3, 1)
        return 1 + number(rng, 0.2, 0.5) * sp.sin(2 * sp.pi * wave * self.region.unit[0] + number(rng, 0, 6))


Right = Callable[[Fields], dict[str, sp.Expr]]


@dataclass(frozen=True)
class EquationKind:
    """A kind of equation.

    Attributes
    ----------
    name
        How it is called.
    draw
        Returns the right-hand sides of ∂ₜᵐu = …, as a function of the fields.
    fields, order
        The fields, and the order m in time.
    spatial
        The order in space.
    conditions
        ``"second"``: one condition per field and side; ``"fourth"``: two; ``"flow"``: at the inflow only;
        ``"pair"``: of the first field only; ``"periodic"``: none.
    positive
        Whether the solution must be positive.
    line
        Whether it is for one dimension only.
    """

    name: str
    draw: Callable[[Rng, EquationScales], Right]
    fields: tuple[str, ...] = ("u",)
    order: int = 1
    spatial: int = 2
    conditions: str = "second"
    positive: bool = False
    line: bool = False


def _diffusion(rng: Rng, s: EquationScales) -> Right:
    k = magnitude(rng, 0.01, 1) * s.unit(2)
    return lambda f: {"u": k * s.lap(f["u"])}


def _variable(rng: Rng, s: EquationScales) -> Right:
    k = magnitude(rng, 0.01, 0.5) * s.unit(2) * s.ripple(rng)
    c, r = number(rng, -2, 2) * s.unit(1) * s.ripple(rng), number(rng, -2, 1) * s.unit(0)
    return lambda f: {"u": s.div(k, f["u"]) - c * s.along(f["u"]) + r * f["u"]}


def _in_time(rng: Rng, s: EquationScales) -> Right:
    k = magnitude(rng, 0.02, 0.5) * s.unit(2) * (1 + sp.sin(number(rng, 1, 9) * s.tau) / 2)
    c = number(rng, -1, 1) * s.unit(1) * sp.cos(number(rng, 1, 9) * s.tau)
    return lambda f: {"u": k * s.lap(f["u"]) + c * s.along(f["u"])}


def _transport(rng: Rng, s: EquationScales) -> Right:
    c = number(rng, 0.3, 2) * s.unit(1) * s.ripple(rng)
    r = number(rng, -1, 1) * s.unit(0)
    return lambda f: {"u": -c * s.along(f["u"]) + r * f["u"]}


def _wave(rng: Rng, s: EquationScales) -> Right:
    c = magnitude(rng, 0.1, 6) * s.unit(2, 2)
    return lambda f: {"u": c * s.lap(f["u"])}


def _damped_wave(rng: Rng, s: EquationScales) -> Right:
    c = magnitude(rng, 0.1, 4) * s.unit(2, 2) * s.ripple(rng)
    d, r = number(rng, 0, 4) * s.unit(0), number(rng, 0, 9) * s.unit(0, 2)
    return lambda f: {"u": s.div(c, f["u"]) - d * sp.diff(f["u"], T) - r * f["u"]}


def _klein_gordon(rng: Rng, s: EquationScales) -> Right:
    c, r = magnitude(rng, 0.1, 4) * s.unit(2, 2), number(rng, 0.2, 4) * s.unit(0, 2) / s.amplitude**2
    return lambda f: {"u": c * s.lap(f["u"]) - r * f["u"] ** 3}


def _beam(rng: Rng, s: EquationScales) -> Right:
    b, d = magnitude(rng, 1e-4, 1e-1) * s.unit(4, 2), number(rng, 0, 3) * s.unit(0)
    x = s.region.coordinates[0]
    return lambda f: {"u": -b * sp.diff(f["u"], x, 4) - d * sp.diff(f["u"], T)}


def _creep(rng: Rng, s: EquationScales) -> Right:
    b, k = magnitude(rng, 1e-4, 1e-2) * s.unit(4), number(rng, -0.05, 0.2) * s.unit(2)
    x = s.region.coordinates[0]
    return lambda f: {"u": -b * sp.diff(f["u"], x, 4) + k * sp.diff(f["u"], x, 2)}


def _dispersion(rng: Rng, s: EquationScales) -> Right:
    d, c = magnitude(rng, 1e-5, 1e-3) * s.unit(3), number(rng, -2, 2) * s.unit(1)
    x = s.region.coordinates[0]
    return lambda f: {"u": -d * sp.diff(f["u"], x, 3) - c * sp.diff(f["u"], x)}


def _korteweg_de_vries(rng: Rng, s: EquationScales) -> Right:
    d, c = magnitude(rng, 1e-4, 1e-3) * s.unit(3), number(rng, 0.1, 0.6) * s.unit(1) / s.amplitude
    x = s.region.coordinates[0]
    return lambda f: {"u": -d * sp.diff(f["u"], x, 3) - c * f["u"] * sp.diff(f["u"], x)}


def _burgers(rng: Rng, s: EquationScales) -> Right:
    k, c = magnitude(rng, 0.02, 0.3) * s.unit(2), number(rng, 0.2, 1) * s.unit(1) / s.amplitude
    return lambda f: {"u": k * s.lap(f["u"]) - c * f["u"] * s.along(f["u"])}


def _fisher(rng: Rng, s: EquationScales) -> Right:
    k, r = magnitude(rng, 0.01, 0.3) * s.unit(2), number(rng, 0.5, 3) * s.unit(0)
    return lambda f: {"u": k * s.lap(f["u"]) + r * f["u"] * (1 - f["u"] / s.amplitude)}


def _allen_cahn(rng: Rng, s: EquationScales) -> Right:
    k, r = magnitude(rng, 0.005, 0.2) * s.unit(2), number(rng, 0.5, 4) * s.unit(0)
    return lambda f: {"u": k * s.lap(f["u"]) + r * (f["u"] - f["u"] ** 3 / s.amplitude**2)}


def _nonlinear_diffusion(rng: Rng, s: EquationScales) -> Right:
    k = magnitude(rng, 0.01, 0.2) * s.unit(2) / s.amplitude
    return lambda f: {"u": s.div(k * f["u"], f["u"])}


def _reaction_system(rng: Rng, s: EquationScales) -> Right:
    k, m = magnitude(rng, 0.01, 0.3) * s.unit(2), magnitude(rng, 0.01, 0.3) * s.unit(2)
    a, b = (number(rng, -1, 1) * s.unit(0) / s.amplitude for _ in range(2))
    r = number(rng, -1, 1) * s.unit(0)
    return lambda f: {
        "u": k * s.lap(f["u"]) + a * f["u"] * f["v"] + r * f["v"],
        "v": m * s.lap(f["v"]) + b * f["u"] * f["v"] - r * f["u"],
    }


def _schroedinger(rng: Rng, s: EquationScales) -> Right:
    k, p = magnitude(rng, 0.01, 0.2) * s.unit(2), number(rng, 0, 2) * s.unit(0) * s.ripple(rng)
    return lambda f: {"u": -k * s.lap(f["v"]) + p * f["v"], "v": k * s.lap(f["u"]) - p * f["u"]}


def _sound(rng: Rng, s: EquationScales) -> Right:
    c = number(rng, 0.3, 2) * s.unit(1)
    x = s.region.coordinates[0]
    return lambda f: {"u": -c * sp.diff(f["v"], x), "v": -c * sp.diff(f["u"], x)}


PAIR = ("u", "v")
KINDS: tuple[EquationKind, ...] = (
    EquationKind("diffusion", _diffusion),
    EquationKind("advection, diffusion, reaction", _variable),
    EquationKind("Burgers", _burgers),
    EquationKind("wave", _wave, order=2),
    EquationKind("reaction system", _reaction_system, PAIR),
    EquationKind("beam", _beam, order=2, spatial=4, conditions="fourth", line=True),
    EquationKind("Allen–Cahn", _allen_cahn),
    EquationKind("coefficients in time", _in_time),
    EquationKind("Korteweg–de Vries", _korteweg_de_vries, spatial=3, conditions="periodic", line=True),
    EquationKind("nonlinear diffusion", _nonlinear_diffusion, positive=True),
    EquationKind("damped wave", _damped_wave, order=2),
    EquationKind("transport", _transport, spatial=1, conditions="flow"),
    EquationKind("creep", _creep, spatial=4, conditions="fourth", line=True),
    EquationKind("Schrödinger", _schroedinger, PAIR),
    EquationKind("Fisher", _fisher, positive=True),
    EquationKind("Klein–Gordon", _klein_gordon, order=2),
    EquationKind("dispersion", _dispersion, spatial=3, conditions="periodic", line=True),
    EquationKind("sound", _sound, PAIR, spatial=1, conditions="pair", line=True),
)
