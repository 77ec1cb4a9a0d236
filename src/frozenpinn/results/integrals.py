"""Integrals and means of expressions in a solution over its domain, a part, a side or a curve, with their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, warn
from frozenpinn.geometry.points import BoundaryPoints, Points
from frozenpinn.results.evaluation import check_inside
from frozenpinn.results.expressions import Expression
from frozenpinn.results.rules import Rules, rules_of
from frozenpinn.runtime.arguments import between, reals, shown, spelled
from frozenpinn.runtime.seeds import Seed

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

Array = np.ndarray
FIRST = {1: 256, 2: 1024}  #: points of the first rule of quadrature, 4096 beyond
BLOCK = 2**22  #: values that are made at a time
_NEIGHBOURS, _NEAR = 16, 0.02  # points around a point, in a neighbourhood of this part of the domain
SAFETY = 3.0  #: times the distance of two solutions, of which one may be right by chance: the study `quantities`


class Number(float):
    """A number with its estimated error; ``error`` is not a number where there is no second solution.

    Examples
    --------
    >>> Number.of(0.5, 1e-9), Number.of(0.5, 1e-9) + 1
    (0.5 ± 1e-09, 1.5)
    """

    error: float

    @classmethod
    def of(cls, value: float, error: float) -> Number:
        """Return a number with an error."""
        number = cls(value)
        number.error = error
        return number

    def __repr__(self) -> str:
        return _shown(float(self), self.error)

    def __reduce__(self) -> tuple[Any, ...]:
        return Number.of, (float(self), self.error)


class ComplexNumber(complex):
    """A complex number with its estimated error."""

    error: float

    @classmethod
    def of(cls, value: complex, error: float) -> ComplexNumber:
        """Return a number with an error."""
        number = cls(value)
        number.error = error
        return number

    def __repr__(self) -> str:
        return _shown(complex(self), self.error)

    def __reduce__(self) -> tuple[Any, ...]:
        return ComplexNumber.of, (complex(self), self.error)


def _shown(value: complex, error: float) -> str:
    return f"{value!r} ± {error:.1g}" if np.isfinite(error) else repr(value)


@spelled(EvaluationError)
def integral(
    self: Solution,
    expression: str | Mapping[str, str] | None = None,
    t: Any = None,
    side: str | None = None,
    rtol: float = 1e-9,
    *,
    where: Any = None,
    along: Any = None,
) -> Any:
    """Integrate an expression in the fields over the domain, a part of it, a side, or along a curve.

    Parameters
    ----------
    expression
        Text such as ``"u**2"`` or ``"(u_t**2 + u_x**2)/2"``, with the parameters of the problem; or a table of several,
        ``{"mass": "u", "energy": "u**2/2"}``. The field itself if there is one and nothing is given.
    t
        A time or a list of times; 51 of them if left out. Static solutions have none.
    side
        Name of a side, or ``"all"`` for the whole boundary; ``u_n`` is then the derivative along the outward normal.
    rtol
        Rules of quadrature are refined until two of them agree to this part of ∫|…|; if they do not, a warning says so.
    where
        A part of the domain: a condition, ``"x < 0.5 and y > 0"``, or a domain inside it, ``fp.Disk((0, 0), 0.2)``.
    along
        A curve: points that are joined by straight lines, ``[[0, 0], [1, 1]]``, or coordinates as texts in s from 0 to
        1, ``["cos(pi*s)", "sin(pi*s)"]``. In the plane ``u_n`` is the derivative along the normal to its right.

    Returns
    -------
    Number, xarray.DataArray or xarray.Dataset
        A number for a static solution and for one time, an array over ``t`` for several; a dataset for a table. Each
        knows its estimated error, ``found.error``, from the distance of the two solutions that were compared and
        from the rules of quadrature; not a number if there is only one solution.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> solution = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "1 + cos(pi*x)", "u_n = 0"))
    >>> round(solution.integral(t=1), 8), round(solution.integral("u_x**2", t=0) / np.pi**2, 6)
    (1.0, 0.5)
    >>> round(solution.integral(t=0, where="x < 0.5") - 1 / np.pi, 8)
    0.5
    """
    return _measured(self, expression, t, rtol, rules_of(self, side, where, along), "integral")


@spelled(EvaluationError)
def mean(
    self: Solution,
    expression: str | Mapping[str, str] | None = None,
    t: Any = None,
    side: str | None = None,
    rtol: float = 1e-9,
    *,
    where: Any = None,
    along: Any = None,
) -> Any:
    """Return the mean of an expression, with its error: the integral divided by the length, area or volume.

    Arguments as for :meth:`integral`.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> solution = fp.solve(fp.Problem("-lap(u) = 4", fp.Disk(), boundary="u = 0"))
    >>> round(solution.mean(), 8), round(solution.mean("u_n", side="boundary"), 8)
    (0.5, -2.0)
    """
    return _measured(self, expression, t, rtol, rules_of(self, side, where, along), "mean")


def _measured(solution: Solution, expression: Any, t: Any, rtol: Any, rules: Rules, kind: str) -> Any:
    """Return integrals or means as a number, an array or a dataset."""
    import xarray as xr

    if not between(rtol, 1e-15, 1):
        raise EvaluationError(f"rtol is a number between 1e-15 and 1, got {shown(rtol)}.")
    problem = solution.problem
    static, one = problem.is_static, problem.is_static or (t is not None and np.ndim(t) == 0)
    if static and t is not None:
        raise EvaluationError("a static solution has no time: leave t out.")
    when = np.linspace(*problem.time, 51) if t is None else reals(t, "t is a time, or a list of times", EvaluationError)
    times = np.zeros(1) if static else np.atleast_1d(when)
    if times.ndim != 1:
        raise EvaluationError(f"t is a time, or a list of times; got shape {times.shape}.")
    check_inside(problem, np.empty((0, problem.domain.dimension)), times)
    table = expression if isinstance(expression, Mapping) else {kind: expression}
    if not table:
        raise EvaluationError("a table of expressions is empty; write for example {'mass': 'u', 'energy': 'u**2/2'}.")
    found = {}
    for name, text in table.items():
        found[name], _ = measured(solution, text, rules, times, rtol, kind)
    if not isinstance(expression, Mapping):
        return found[kind].single() if one else found[kind].over_time(kind, "error")
    if one:
        return xr.Dataset({name: own.values[0].item() for name, own in found.items()},
                          {f"{name}_error": own.errors[0].item() for name, own in found.items()})  # fmt: skip
    return xr.Dataset({name: own.over_time(str(name), f"{name}_error") for name, own in found.items()})


def measured(
    solution: Solution, text: Any, rules: Rules, times: Array, rtol: float, kind: str
) -> tuple[Measured, float]:
    """Return integrals or means at some times, and the largest of those of the absolute value."""
    number, size = settled(_integrand(solution, text, rules), rules, times, rtol, str(text or solution._field(None)))
    whole = size_of(solution, rules) if kind == "mean" else 1.0
    return number.divided(whole), size / whole


@dataclass(frozen=True, eq=False)
class Measured:
    """Integrals at some times, their errors, and about how many points the rule had."""

    times: Array
    values: Array
    errors: Array
    points: int

    def single(self) -> Number | ComplexNumber:
        """Return the only one."""
        kind = ComplexNumber if np.iscomplexobj(self.values) else Number
        return kind.of(self.values[0].item(), float(self.errors[0]))

    def over_time(self, name: str, error: str) -> Any:
        """Return an array over time, with the errors as a coordinate."""
        import xarray as xr

        return xr.DataArray(self.values, {"t": self.times, error: ("t", self.errors)}, ("t",), name=name)

    def divided(self, size: float) -> Measured:
        """Return the same divided by a number."""
        return Measured(self.times, self.values / size, self.errors / size, self.points)


class Integrand(NamedTuple):
    """An expression and the solution that it is made of."""

    solution: Solution
    expression: Expression

    def __call__(self, points: Points | BoundaryPoints, times: Array) -> Array:
        """Return its values at all points and times, shape (n, m)."""
        normals = points.normals if isinstance(points, BoundaryPoints) else None
        return self.expression.outer(self.solution, points.x, times, normals)

    @property
    def witness(self) -> Integrand | None:
        """The same of the second solution, if there is one."""
        witness = self.solution.witness
        return None if witness is None else Integrand(witness, self.expression)


def _integrand(solution: Solution, text: Any, rules: Rules) -> Integrand:
    """Read an expression in the fields, derivatives, coordinates and parameters."""
    text = solution._field(None) if text is None else text
    expression = Expression.read(solution.problem, text, rules.with_normals, rules.weighted)
    if expression.shape:
        raise EvaluationError(f"'{text}' is a vector; integrate one component, such as ({text})[0].")
    return Integrand(solution, expression)


def size_of(solution: Solution, rules: Rules) -> float:
    """Return the length, area or volume."""
    one = Integrand(solution, Expression.read(solution.problem, "1", rules.with_normals, rules.weighted))
    return float(settled(one, rules, np.array([solution.problem.time[0]]), 1e-12, "1", told=False)[0].values[0])


def settled(
    integrand: Integrand, rules: Rules, times: Array, rtol: float, text: str, told: bool = True
) -> tuple[Measured, float]:
    """Refine rules of quadrature until two of them agree; return integrals, and the largest of the absolute value.

    Their errors are those of solution and quadrature.
    """
    round_off = 2e-15  # of a sum, relative to that of absolute values
    most = 2**16  # points of the last rule
    n, before, used = FIRST.get(rules.dimension, 4096), None, 0
    gap = last = np.full(len(times), np.inf)
    while True:
        parts = rules.make(n)
        found, size, count = _integrated(integrand, parts, times)
        if not np.all(np.isfinite(found)):
            raise EvaluationError(f"'{text}' is not finite everywhere, so that its integral is unknown.")
        gap, last = last if before is None else np.abs(found - before), gap
        if count == used:  # there is no finer rule: the ends of an interval
            gap = np.zeros(len(times))
        gap_left = _left(gap, last)
        worst = float(np.max(gap_left)) / (float(np.max(size)) or 1.0)
        if worst <= max(rtol, rules.uncertainty):
            break
        if (2 if rules.dimension == 1 else 4) * n > most:
            if told:
                warn(
                    f"the integral of '{text}' is known to about {worst:.1g} of its size: the rules of {used} and "
                    f"{count} points do not agree to rtol={rtol:g}."
                )
            break
        n, before, used = 2 * n if rules.dimension == 1 else 4 * n, found, count
    missed = gap_left + (rules.uncertainty + round_off) * size
    return Measured(times, found, np.hypot(missed, _distance(integrand, parts, times)), n), float(np.max(size))


def _left(gap: Array, before: Array) -> Array:
    """Return what further rules may add, as if the gaps between them went on falling as the last two did."""
    slowest = 0.9  # ratio of two gaps
    safety = 2.0  # gaps at a corner do not fall evenly
    with np.errstate(all="ignore"):
        ratio = np.nan_to_num(np.minimum(gap / before, slowest))
        return safety * np.fmax(gap, gap * ratio / (1.0 - ratio))


def _integrated(integrand: Integrand, parts: list[Points | BoundaryPoints], times: Array) -> tuple[Array, Array, int]:
    """Return ∫ and ∫|…| at all times, and how many points were used."""
    kind = complex if integrand.expression.is_complex else float
    found, size = np.zeros(len(times), dtype=kind), np.zeros(len(times))
    for points in parts:
        for some in _blocks(points, times):
            values = integrand(points, times[some])
            found[some] += points.weights @ values
            size[some] += np.abs(points.weights) @ np.abs(values)
    return found, size, sum(len(points.x) for points in parts)


def _blocks(points: Points | BoundaryPoints, times: Array) -> list[slice]:
    """Return times in parts whose values fit the memory."""
    block = max(1, BLOCK // max(1, len(points.x)))
    return [slice(start, start + block) for start in range(0, len(times), block)]


# ---- the error of the solution ----------------------------------------------------------------------


def _distance(integrand: Integrand, parts: list[Points | BoundaryPoints], times: Array) -> Array:
    """Return the estimated error of integrals at all times from the distance of two solutions.

    ∫δ of that distance δ may vanish by chance. So may ∫δφ, but hardly for all of the lowest polynomials φ at once,
    which have mean square one: the root mean square of these stands for it where it is larger. At single points, the
    root mean square over a small neighbourhood does.
    """
    witness = integrand.witness
    if witness is None:
        return np.full(len(times), np.nan)
    if all(len(points.x) == 1 for points in parts):
        near = [abs(float(points.weights[0])) * _nearby(integrand, witness, points, times) for points in parts]
        return SAFETY * _part(integrand, times) * np.linalg.norm(near, axis=0)
    total: Array | float = 0.0
    every = np.concatenate([points.x for points in parts])
    weights = np.abs(np.concatenate([points.weights for points in parts]))
    functions = _modulations(every, weights)
    start = 0
    for points in parts:
        own = functions[:, start : start + len(points.x)] * points.weights
        start += len(points.x)
        found = [own @ (integrand(points, times[s]) - witness(points, times[s])) for s in _blocks(points, times)]
        total = total + np.concatenate(found, axis=1)
    moments = np.abs(np.asarray(total))
    return SAFETY * _part(integrand, times) * np.maximum(moments[0], np.sqrt(np.mean(moments**2, axis=0)))


def _nearby(integrand: Integrand, witness: Integrand, point: Points | BoundaryPoints, times: Array) -> Array:
    """Return the distance at a point, or its root mean square at places around it if that is larger."""
    domain = integrand.solution.problem.domain
    offsets = np.random.default_rng(Seed.NEIGHBOURHOOD).uniform(-_NEAR, _NEAR, (_NEIGHBOURS, domain.dimension))
    offsets[0] = 0.0
    x = domain.wrap(point.x + offsets * domain.lengths)
    x = x[domain.contains(x)]
    around: Points | BoundaryPoints = Points(x, np.ones(len(x)), domain.lengths)
    if isinstance(point, BoundaryPoints):
        around = BoundaryPoints(x, np.repeat(point.normals, len(x), axis=0), np.ones(len(x)), point.side)
    apart = np.abs(integrand(around, times) - witness(around, times))
    return np.maximum(apart[0], np.sqrt(np.mean(apart**2, axis=0)))


def _part(integrand: Integrand, times: Array) -> Array:
    """Return the largest part of the distance from the witness that is taken for the error of a field."""
    estimate = integrand.solution.error_estimate
    fields = {jet.field for jet in integrand.expression.jets} & set(integrand.solution.problem.fields)
    if estimate is None or not fields:
        return np.ones(len(times))
    return np.max([estimate.part(times, field) for field in sorted(fields)], axis=0)


def _modulations(x: Array, weights: Array) -> Array:
    """Return 1 and the lowest polynomials that are orthonormal on the points, as rows; fewer on few points."""
    share = np.sqrt(weights / (np.sum(weights) or 1.0))[:, None]
    centred = x - (x.T @ share[:, 0] ** 2)
    scale = np.sqrt(np.sum((share * centred) ** 2, axis=0))
    z = centred / np.where(scale > 0, scale, 1.0)
    columns = np.concatenate([np.ones((len(x), 1)), z, z**2], axis=1)
    q, r = np.linalg.qr(share * columns)
    size = np.abs(np.diag(r))
    kept = size > 1e-8
    kept[0] = True
    return np.asarray((q / np.where(share > 0, share, 1.0)).T[kept] * np.sign(np.diag(r))[kept, None])
