"""Measurements of fields at points and times, with what is known of their noise."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.language.functions import real_number
from frozenpinn.language.jets import TIME, Jet
from frozenpinn.statement.problem import Problem
from frozenpinn.tables.files import read_csv

Array = np.ndarray
_NOISE = "noise"  # the column of standard deviations in a file
_COORDINATES = ("x", "y", "z")


@dataclass(frozen=True)
class Relative:
    """Noise whose standard deviation is a part of the value that is measured."""

    part: float

    def __post_init__(self) -> None:
        number = real_number(self.part)
        if number is None or not 0 < number < math.inf:
            raise ProblemError(f"Relative(…) takes a positive part such as 0.01, got {self.part!r}.")
        object.__setattr__(self, "part", number)


Noise: TypeAlias = float | Sequence[float] | Array | Relative | None


@dataclass(frozen=True, eq=False, init=False)
class Measurements:
    """Values of one field, or of a derivative of it, at scattered points and times.

    Parameters
    ----------
    points
        Shape (n, d); (n,) in one dimension.
    values
        Shape (n,).
    times
        Shape (n,) or one number for all; None for static problems.
    field, derivative
        What was measured: ``field="u"`` (may be left out if there is one), ``derivative="x"`` or nothing for values. An
        unknown field may be measured, too, such as its values on the boundary.
    noise
        The standard deviation: a number, one for each value, :class:`Relative`, or None to estimate it.
    """

    points: Array
    values: Array
    times: Array | None
    field: str | None
    derivative: str
    noise: float | Array | Relative | None

    def __init__(
        self,
        points: Any,
        values: Any,
        times: Any = None,
        field: str | None = None,
        derivative: str = "",
        noise: Noise = None,
    ) -> None:
        own = {"values": _numbers(values, "values")}
        if own["values"].ndim != 1:
            raise ProblemError(f"values must have shape (n,), got {own['values'].shape}.")
        n = len(own["values"])
        own["points"] = _points(points, n)
        if times is not None:
            own["times"] = _numbers(times, "times")
            if own["times"].ndim == 0:
                own["times"] = np.full(n, float(own["times"]))
            if own["times"].shape != (n,):
                raise ProblemError(f"{n} values need {n} times or one for all, got shape {own['times'].shape}.")
        for array in own.values():
            array.flags.writeable = False
        vars(self).update(own | {"times": own.get("times")}, field=field, derivative=derivative, noise=_noise(noise, n))

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def read(cls, file: str | os.PathLike[str], field: str | None = None, noise: Noise = None) -> Measurements:
        """Read a CSV file with a header: the coordinates, ``t`` if there is one, one field, and maybe ``noise``.

        The column of the values may be called like a derivative, such as ``u_x``. With several of them, say which:
        ``field="u_x"``.
        """
        header, rows = read_csv(file)
        place = [name for name in header if name in _COORDINATES or (name[:1] == "x" and name[1:].isdigit())]
        measured = [name for name in header if name not in (*place, TIME, _NOISE)]
        if not place or not measured:
            raise ProblemError(
                f"'{file}' needs a header with coordinates and a field, such as 'x,y,u' or 'x,t,u,noise'; got "
                f"'{','.join(header)}'."
            )
        wanted = measured[0] if field is None and len(measured) == 1 else field
        if wanted not in measured:
            what = f"field='{field}' is not a column" if field else "there are several columns of values"
            raise ProblemError(
                f"'{file}': {what}; say field= one of {choices(measured)}.{suggestion(str(field), measured)}"
            )
        column = {name: rows[:, i] for i, name in enumerate(header)}
        name, _, suffix = str(wanted).partition("_")
        points = np.stack([column[c] for c in place], axis=1)
        own = column[_NOISE] if noise is None and _NOISE in header else noise
        return cls(points, column[str(wanted)], column.get(TIME), name, suffix, own)

    def jet(self, problem: Problem) -> Jet:
        """Return which derivative of which field was measured."""
        fields, name = (*problem.fields, *problem.parameters.unknown_fields), self.field
        if name is None:
            if len(problem.fields) > 1:
                raise ProblemError(
                    f"the problem has the fields {choices(problem.fields)}; say which one was measured: "
                    f"Measurements(…, field='{fields[0]}')."
                )
            name = fields[0]
        if name not in fields:
            raise ProblemError(
                f"the field '{name}' was measured, but the fields are {choices(fields)}.{suggestion(name, fields)}"
            )
        jet = problem.jets.parse_suffix(self.derivative)
        if jet is None or jet.time or (jet.order and name in problem.parameters.unknown_fields):
            raise ProblemError(
                f"derivative='{self.derivative}' is not made of the coordinates {choices(problem.jets.coordinates)}."
            )
        return Jet(name, jet.alpha)

    def check(self, problem: Problem) -> None:
        """Refuse measurements that a problem knows nothing about."""
        self.jet(problem)
        domain, d = problem.domain, self.points.shape[1]
        if d != domain.dimension:
            raise ProblemError(f"the measurements have {d} coordinate(s); the problem has {domain.dimension}.")
        outside = ~domain.contains(self.points)
        if outside.any():
            place = ", ".join(f"{c:g}" for c in self.points[np.argmax(outside)])
            raise ProblemError(
                f"{outside.sum()} of {len(self)} measurements lie outside the domain {domain!r}, the first at "
                f"({place}); leave them out, or check the units and the order of the coordinates."
            )
        if problem.is_static and self.times is not None:
            raise ProblemError("the measurements have times, but the problem is static; leave times= out.")
        if problem.is_static:
            return
        start, end = problem.time
        if self.times is None:
            raise ProblemError(f"the problem depends on time: give times= between {start:g} and {end:g}.")
        slack = 1e-12 * (end - start)
        late = (self.times < start - slack) | (self.times > end + slack)
        if late.any():
            raise ProblemError(
                f"{late.sum()} of {len(self)} measurements lie outside the time {start:g} … {end:g}, the first at "
                f"t = {self.times[np.argmax(late)]:g}; leave them out, or state the problem for a longer time."
            )


def _numbers(given: Any, what: str) -> Array:
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ProblemError(f"{what} must be numbers, got {type(given).__name__}: {given!r:.60}.") from None
    finite = np.isfinite(array)
    if not finite.all():
        at = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ProblemError(
            f"{what} must be finite; {np.sum(~finite)} of them are not, the first at index "
            f"{at[0] if len(at) == 1 else at}. Leave missing measurements out."
        )
    if array.size == 0:
        raise ProblemError(f"{what} is empty; there is nothing to infer from.")
    return array


def _points(given: Any, n: int) -> Array:
    points = _numbers(given, "points")
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or len(points) != n:
        raise ProblemError(f"{n} values need points of shape ({n}, d), got {np.shape(given)}.")
    return points


def _noise(given: Noise, n: int) -> float | Array | Relative | None:
    if given is None or isinstance(given, Relative):
        return given
    sigma = _numbers(given, "noise")
    if np.any(sigma <= 0):
        raise ProblemError("noise is a standard deviation and must be positive; write noise=None to estimate it.")
    if sigma.ndim == 0:
        return float(sigma)
    if sigma.shape != (n,):
        raise ProblemError(f"{n} values need one noise or {n} of them, got shape {sigma.shape}.")
    sigma.flags.writeable = False
    return sigma
