"""Random static equations for generated problems: elliptic, linear and nonlinear, in the scales of their solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from frozenpinn_lab.calibration.equations import PAIR, EquationScales, Right
from frozenpinn_lab.calibration.regions import magnitude, number

Rng = np.random.Generator


@dataclass(frozen=True)
class StaticKind:
    """A kind of static equation.

    Attributes
    ----------
    name
        How it is called.
    draw
        Returns the left-hand sides of … = f, as a function of the fields.
    fields
        The fields.
    conditions
        ``"second"``: one condition per field and side; ``"fourth"``: two.
    valued
        Whether values must be given somewhere, as slopes alone leave a constant open.
    several
        Whether it needs more than one dimension.
    """

    name: str
    draw: Callable[[Rng, EquationScales], Right]
    fields: tuple[str, ...] = ("u",)
    conditions: str = "second"
    valued: bool = False
    several: bool = False


def _poisson(rng: Rng, s: EquationScales) -> Right:
    a = s.unit(2)
    return lambda f: {"u": -a * s.lap(f["u"])}


def _screened(rng: Rng, s: EquationScales) -> Right:
    a, k = s.unit(2), magnitude(rng, 1, 30)
    return lambda f: {"u": a * s.lap(f["u"]) - k**2 * f["u"]}


def _helmholtz(rng: Rng, s: EquationScales) -> Right:
    a, k = s.unit(2), number(rng, 3, 12)
    return lambda f: {"u": a * s.lap(f["u"]) + k**2 * f["u"]}


def _variable(rng: Rng, s: EquationScales) -> Right:
    a, k, c = s.unit(2), s.ripple(rng), s.ripple(rng)
    return lambda f: {"u": a * s.div(k, f["u"]) - c * f["u"]}


def _convection(rng: Rng, s: EquationScales) -> Right:
    a, v = s.unit(2) * magnitude(rng, 0.02, 0.3), s.unit(1)
    return lambda f: {"u": -a * s.lap(f["u"]) + v * s.along(f["u"])}


def _oblique(rng: Rng, s: EquationScales) -> Right:
    a, c = s.unit(2), number(rng, -1.5, 1.5)
    x, y = s.region.coordinates[:2]
    return lambda f: {"u": a * (s.lap(f["u"]) + c * sp.diff(f["u"], x, y)) - f["u"]}


def _cubic(rng: Rng, s: EquationScales) -> Right:
    a, b = s.unit(2), magnitude(rng, 0.3, 10) / s.amplitude**2
    return lambda f: {"u": -a * s.lap(f["u"]) + f["u"] + b * f["u"] ** 3}


def _exponential(rng: Rng, s: EquationScales) -> Right:
    a, b = s.unit(2), number(rng, 0.5, 2) / s.amplitude
    return lambda f: {"u": a * s.lap(f["u"]) - sp.exp(b * f["u"]) / b}


def _burgers(rng: Rng, s: EquationScales) -> Right:
    a, b = s.unit(2) * magnitude(rng, 0.1, 0.5), s.unit(1) / s.amplitude
    return lambda f: {"u": -a * s.lap(f["u"]) + b * f["u"] * s.along(f["u"])}


def _nonlinear_diffusion(rng: Rng, s: EquationScales) -> Right:
    a, b = s.unit(2), number(rng, 0.2, 1) / s.amplitude**2
    return lambda f: {"u": -a * s.div(1 + b * f["u"] ** 2, f["u"]) + f["u"]}


def _eikonal(rng: Rng, s: EquationScales) -> Right:
    a, b = s.unit(2), number(rng, 0.1, 0.4) / s.amplitude
    return lambda f: {
        "u": a * (s.lap(f["u"]) + b * sp.Add(*(sp.diff(f["u"], c) ** 2 for c in s.region.coordinates))) - f["u"]
    }


def _coupled(rng: Rng, s: EquationScales) -> Right:
    a, b = s.unit(2), number(rng, 0.5, 5)
    return lambda f: {
        "u": a * s.lap(f["u"]) - f["u"] + b * f["v"],
        "v": a * s.lap(f["v"]) - f["v"] - b * f["u"],
    }


def _reaction(rng: Rng, s: EquationScales) -> Right:
    a, b = s.unit(2), number(rng, 0.3, 1.5) / s.amplitude
    return lambda f: {
        "u": a * s.lap(f["u"]) - f["u"] - b * f["u"] * f["v"],
        "v": a * s.lap(f["v"]) - 2 * f["v"] + b * f["u"] ** 2,
    }


def _plate(rng: Rng, s: EquationScales) -> Right:
    a, k = s.unit(4), magnitude(rng, 0.1, 100)
    return lambda f: {"u": a * s.lap(s.lap(f["u"])) + k * f["u"]}


KINDS = (
    StaticKind("Poisson", _poisson, valued=True),
    StaticKind("cubic reaction", _cubic),
    StaticKind("Helmholtz", _helmholtz),
    StaticKind("coupled pair", _coupled, PAIR),
    StaticKind("variable coefficients", _variable),
    StaticKind("Burgers", _burgers, valued=True),
    StaticKind("convection", _convection, valued=True),
    StaticKind("reaction pair", _reaction, PAIR),
    StaticKind("screened", _screened),
    StaticKind("exponential", _exponential),
    StaticKind("mixed derivatives", _oblique, several=True),
    StaticKind("nonlinear diffusion", _nonlinear_diffusion),
    StaticKind("plate", _plate, conditions="fourth"),
    StaticKind("gradient squared", _eikonal),
)
