"""Sizes of the fields of a system, and the same problem with every field in units of its own size.

Solves do not depend on the units of lengths, times and single fields: all thresholds are relative. Fields of very
different size are another matter, because they share matrices and tolerances; they are measured in units of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.findings import Finding

if TYPE_CHECKING:
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
UNEVEN = 1e3  #: sizes that differ by more than this factor call for units of their own


@dataclass(frozen=True)
class Scales:
    """Units of the fields, as powers of ten.

    Examples
    --------
    >>> scales = Scales.of({"u": 3.1e6, "v": 2e-4, "w": 0.0})
    >>> print(scales)
    u is measured in units of 1e+06, v in units of 0.0001, w in units of 1e+06
    """

    exponents: Mapping[str, int]

    @classmethod
    def of(cls, sizes: Mapping[str, float]) -> Scales:
        """Return units of about the given sizes; a field of unknown size gets the unit of the largest."""
        largest = max(sizes.values())
        return cls({name: int(np.floor(np.log10(size or largest) + 0.3)) for name, size in sizes.items()})

    def __str__(self) -> str:
        units = [f"{name} in units of {self.unit(name):g}" for name in self.exponents]
        return ", ".join(units).replace(" in", " is measured in", 1)

    def unit(self, field: str) -> float:
        """Return the unit of a field."""
        return float(f"1e{self.exponents[field]}")  # rounded correctly, as no power of 10.0 is

    def exact_unit(self, field: str) -> sp.Rational:
        """Return the unit of a field as a SymPy number."""
        return sp.Integer(10) ** self.exponents[field]


def uneven(sizes: Mapping[str, float], factor: float = UNEVEN) -> bool:
    """Whether sizes differ so much that fields should have units of their own; zeros are not counted."""
    known = [size for size in sizes.values() if size > 0]
    return len(known) > 1 and max(known) > factor * min(known)


def can_be_scaled(problem: Problem) -> bool:
    """Whether there are several fields, and nothing that can't be written in other units."""
    return len(problem.fields) > 1 and not problem.jets.quantities and not problem.kept  # fields share amplitudes


@remembered
def scales_of(problem: Problem) -> Scales | None:
    """Return units for the fields if their sizes call for them, None if all can stay as they are.

    Static problems get theirs from a first solve, as boundary data may be mere round-off; only where sizes differ too
    much for a solve without units are they estimated here.
    """
    hopeless = 1e9  # the factor above which a static problem is not solved in the user's units first
    if not can_be_scaled(problem):
        return None
    sizes = sizes_of(problem)
    return Scales.of(sizes) if uneven(sizes, hopeless if problem.is_static else UNEVEN) else None


def scale_findings(problem: Problem) -> list[Finding]:
    """Report the units in which a problem is solved; those of a static one follow from its solution."""
    scales = None if problem.is_static else scales_of(problem)
    if scales is None:
        return []
    text = (
        f"the fields have very different sizes. While solving, {scales}; solution and errors are in your units, and "
        "nothing has to be changed."
    )
    return [Finding("scales", "note", text)]


# ---- sizes ----------------------------------------------------------------------------------------


def sizes_of(problem: Problem) -> dict[str, float]:
    """Return about how large each field gets, from its data; without any, from what drives it.

    Nothing more can be known before the solve; growth that this does not see is found afterwards.
    """
    sizes = {name: _given_size(problem, name) for name in problem.fields}
    rates = _rates(problem)
    for _ in problem.fields:  # what drives one field may itself be driven by another
        unknown = [e for e in problem.equations if sizes[e.field] == 0]
        sizes |= {e.field: _driven_size(problem, e, sizes, rates) for e in unknown}
    return sizes


def _given_size(problem: Problem, name: str) -> float:
    """Return the size of initial value, initial velocity over the whole time, and boundary values."""
    start, end = problem.time
    x = problem.domain.sample(60, "random", Seed.SIZES).x
    size = float(np.max(np.abs(problem.initial[name](x, start)))) if name in problem.initial else 0.0
    if name in problem.initial_velocity:
        size = max(size, float(np.max(np.abs(problem.initial_velocity[name](x, start)))) * (end - start))
    for condition in problem.conditions:
        if condition.fields == (name,):
            points = problem.domain.sample_side(condition.side, 8, "random", Seed.SIZES)
            values = max(float(np.max(np.abs(condition.value(points.x, t)))) for t in np.linspace(start, end, 4))
            factors = [
                float(np.max(np.abs(c))) / problem.domain.size**jet.order
                for jet, c in zip(condition.jets, condition.coefficients_at(points), strict=True)
            ]
            size = max(size, values / max(factors)) if max(factors) > 0 else size
    return size


def _rates(problem: Problem) -> dict[tuple[str, str], float]:
    """Return how fast each field acts on each: the sizes of linear coefficients, in the length of the domain."""
    x = problem.domain.sample(20, "random", Seed.RATES).x
    middle = sum(problem.time) / 2
    rates: dict[tuple[str, str], float] = {}
    for equation in problem.equations:
        for table in (equation.linear, equation.linear_in_time):
            with np.errstate(all="ignore"):
                values = problem.compile(list(table.values()))(*x.T, middle) if table else []
            for jet, value in zip(table, values, strict=True):
                key = (equation.field, jet.field)
                rates[key] = rates.get(key, 0.0) + _finite(value) / problem.domain.size**jet.order
    return rates


def _driven_size(
    problem: Problem, equation: Equation, sizes: Mapping[str, float], rates: Mapping[tuple[str, str], float]
) -> float:
    """Return how large a field gets that starts from zero: the drive over the time, or over its own pace if faster."""
    name, duration = equation.field, problem.time[1] - problem.time[0]
    others = [other for other in problem.fields if other != name]
    drive = sum(rates.get((name, other), 0.0) * sizes[other] for other in others)
    pace = rates.get((name, name), 0.0)
    for other in others:  # to and fro
        pace = max(pace, np.sqrt(rates.get((name, other), 0.0) * rates.get((other, name), 0.0)))
    jets = list(problem.jets.jets_in(equation.nonlinear).values())
    x = problem.domain.sample(20, "random", Seed.RATES).x
    values = [_typical(jet, sizes, problem) if jet.field != name else 0.0 for jet in jets]
    for share in (0.1, 0.6):
        t = problem.time[0] + share * duration
        with np.errstate(all="ignore"):
            parts = problem.compile([equation.forcing, equation.nonlinear], jets)(*x.T, t, *values)
        drive = max(drive, *(_finite(part) for part in parts))
    if equation.order == 0:
        return float(drive / (pace or 1.0))
    return float(drive * duration**equation.order / (1.0 + pace * duration**equation.order))


def _typical(jet: Jet, sizes: Mapping[str, float], problem: Problem) -> float:
    start, end = problem.time
    return sizes[jet.field] / problem.domain.size**jet.order / (end - start) ** jet.time


def _finite(values: Array | float) -> float:
    size = float(np.max(np.abs(values)))
    return size if np.isfinite(size) else 0.0


# ---- the problem in other units -------------------------------------------------------------------


def nondimensional(problem: Problem, scales: Scales) -> Problem:
    """Return the problem with every field in its unit; coordinates and time stay."""
    return problem.replaced(
        equations=tuple(_equation(problem, e, scales) for e in problem.equations),
        conditions=tuple(_condition(problem, c, scales) for c in problem.conditions),
        laws=tuple(law.in_units({name: scales.exact_unit(name) for name in law.fields}) for law in problem.laws),
        initial={n: d.scaled(1 / scales.exact_unit(n)) for n, d in problem.initial.items()},
        initial_velocity={n: d.scaled(1 / scales.exact_unit(n)) for n, d in problem.initial_velocity.items()},
        guess={n: d.scaled(1 / scales.exact_unit(n)) for n, d in problem.guess.items()},
        constraints=tuple(replace(c, value=c.value / scales.unit(c.field)) for c in problem.constraints),
        interfaces=None
        if problem.interfaces is None
        else problem.interfaces.scaled({name: scales.exact_unit(name) for name in problem.fields}),
        exact={},
        given={},
    )


def _equation(problem: Problem, equation: Equation, scales: Scales) -> Equation:
    own = scales.exact_unit(equation.field)

    def rewritten(expression: sp.Expr) -> sp.Expr:
        jets = problem.jets.jets_in(expression)
        return expression.xreplace({s: scales.exact_unit(jet.field) * s for s, jet in jets.items()}) / own

    def table(terms: Mapping[Jet, sp.Expr]) -> dict[Jet, sp.Expr]:
        return {jet: c * scales.exact_unit(jet.field) / own for jet, c in terms.items()}

    return replace(
        equation,
        right_side=rewritten(equation.right_side),
        linear=table(equation.linear),
        linear_in_time=table(equation.linear_in_time),
        forcing=equation.forcing / own,
        nonlinear=rewritten(equation.nonlinear),
        mass=table(equation.mass),
    )


def _condition(problem: Problem, condition: LinearCondition, scales: Scales) -> LinearCondition:
    unit = max(map(scales.exact_unit, condition.fields))
    terms = {
        jet: c * scales.exact_unit(jet.field) / unit
        for jet, c in zip(condition.jets, condition.coefficients, strict=True)
    }
    value = condition.value.scaled(1 / unit)
    return LinearCondition(condition.side, terms, value, condition.text, problem.jets, problem.parameters)
