"""References by ordinary differential equations: SciPy's stiff and explicit codes at their tightest tolerances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from frozenpinn_lab.references.elements import _differentiation, _lobatto

Array = np.ndarray
Rates = Callable[[float, Array], Array]


@dataclass(frozen=True, eq=False)
class Course:
    """The solution of y' = f(t, y), found when it is first asked for and kept.

    Parameters
    ----------
    rates, start
        Right-hand side and initial value.
    edges
        Start, end, and times between them at which the right-hand side is not smooth.
    method, rtol, atol
        For SciPy.
    jacobian
        Of the right-hand side, for stiff ones.
    """

    rates: Rates
    start: Array
    edges: tuple[float, ...]
    method: str = "DOP853"
    rtol: float = 1e-12
    atol: float = 1e-14
    jacobian: Callable[[float, Array], Array] | None = None
    _found: list[Any] = field(default_factory=list, repr=False)

    def __call__(self, t: float) -> Array:
        """Return y(t)."""
        if t == self.edges[0]:
            return np.asarray(self.start, dtype=float)
        if not self._found:
            y = np.asarray(self.start, dtype=float)
            more = {} if self.jacobian is None else {"jac": self.jacobian}
            for a, b in pairwise(self.edges):
                options: dict[str, Any] = {"rtol": self.rtol, "atol": self.atol, "dense_output": True, **more}
                part = solve_ivp(self.rates, (a, b), y, method=self.method, **options)
                if not part.success:
                    raise ArithmeticError(f"the reference failed at t = {part.t[-1]:g}: {part.message}")
                self._found.append(part.sol)
                y = part.y[:, -1]
        k = int(np.clip(np.searchsorted(self.edges, t, side="right") - 1, 0, len(self._found) - 1))
        return np.asarray(self._found[k](t))


@dataclass(frozen=True, eq=False)
class Component:
    """One component of a course, times a function of space: what ``exact=`` takes."""

    course: Course
    index: int = 0
    shape: Callable[[Array], Array] = np.ones_like

    def __call__(self, x: Array, t: float) -> Array:
        """Return the values at places and a time."""
        return np.asarray(self.course(float(t))[self.index] * self.shape(np.asarray(x, dtype=float)))


@dataclass(frozen=True, eq=False)
class LineReference:
    """Systems u_t = k u_xx − c u_x + r(x, t, u) on an interval, by spectral elements and Radau.

    Parameters
    ----------
    edges
        Of the elements: short where something is narrow.
    diffusivities
        Of each field, as numbers or functions of x.
    reaction
        From (x, t, u), u of shape (fields, n), to rates of the same shape.
    start
        From x to initial values, (fields, n).
    times
        Start, end, and times at which the right-hand side is not smooth.
    values
        From t to values of all fields at both ends, (fields, 2); None leaves fluxes at zero.
    velocity
        c, a number.
    degree, rtol, method
        Of the elements, and for SciPy.
    """

    edges: tuple[float, ...]
    diffusivities: tuple[Any, ...]
    reaction: Callable[[Array, float, Array], Array]
    start: Callable[[Array], Array]
    times: tuple[float, ...]
    values: Callable[[float], Array] | None = None
    velocity: float = 0.0
    degree: int = 16
    rtol: float = 1e-9
    method: str = "Radau"
    _made: list[Any] = field(default_factory=list, repr=False)

    def _nodes(self) -> tuple[Array, Array, list[Array], Array]:
        """Return places, lumped masses, the stiffness of each field, and the matrix of ∂ₓ tested by each function."""
        nodes, weights = _lobatto(self.degree)
        slope, count = _differentiation(nodes), len(self.edges) - 1
        size = count * self.degree + 1
        mass, x = np.zeros(size), np.zeros(size)
        stiff = [np.zeros((size, size)) for _ in self.diffusivities]
        carried = np.zeros((size, size))
        for e, (a, b) in enumerate(pairwise(self.edges)):
            own, half = slice(e * self.degree, (e + 1) * self.degree + 1), (b - a) / 2
            x[own] = places = a + half * (nodes + 1)
            mass[own] += half * weights
            carried[own, own] += weights[:, None] * slope
            for matrix, k in zip(stiff, self.diffusivities, strict=True):
                values = k(places) if callable(k) else np.full(len(places), float(k))
                matrix[own, own] += slope.T @ np.diag(weights / half * values) @ slope
        return x, mass, stiff, carried

    def _course(self) -> tuple[Array, Course]:
        if self._made:
            return self._made[0], self._made[1]
        x, mass, stiff, carried = self._nodes()
        count, n = len(stiff), len(x)
        linear = [-(matrix + self.velocity * carried) / mass[:, None] for matrix in stiff]
        first = np.asarray(self.start(x), dtype=float).reshape(count, n)
        kept = slice(0, n) if self.values is None else slice(1, n - 1)

        def whole(t: float, y: Array) -> Array:
            u = np.empty((count, n))
            u[:, kept] = y.reshape(count, -1)
            if self.values is not None:
                u[:, [0, -1]] = self.values(t)
            return u

        def rates(t: float, y: Array) -> Array:
            u = whole(t, y)
            found = np.stack([a @ v for a, v in zip(linear, u, strict=True)]) + self.reaction(x, t, u)
            return np.asarray(found[:, kept].ravel())

        def jacobian(t: float, y: Array) -> Array:
            u = whole(t, y)
            blocks = [[np.zeros((n, n)) if i != j else linear[i].copy() for j in range(count)] for i in range(count)]
            base = self.reaction(x, t, u)
            for j in range(count):
                step = 1e-7 * (1.0 + np.abs(u[j]))
                moved = u.copy()
                moved[j] += step
                slopes = (self.reaction(x, t, moved) - base) / step
                for i in range(count):
                    blocks[i][j][np.arange(n), np.arange(n)] += slopes[i]
            return np.block([[block[kept, kept] for block in row] for row in blocks])

        known = jacobian if self.method == "Radau" else None
        course = Course(rates, first[:, kept].ravel(), self.times, self.method, self.rtol, 1e-3 * self.rtol, known)
        self._made.extend([x, course, whole])
        return x, course

    def at(self, x: Array, t: float) -> Array:
        """Return the values of all fields at places and a time, (fields, n)."""
        from scipy.interpolate import BarycentricInterpolator

        places, course = self._course()
        u = self._made[2](float(t), course(float(t)))
        x = np.asarray(x, dtype=float)
        result = np.zeros((len(u), *x.shape))
        where = np.clip(np.searchsorted(self.edges, x) - 1, 0, len(self.edges) - 2)
        for k in np.unique(where):
            own = slice(k * self.degree, (k + 1) * self.degree + 1)
            found = BarycentricInterpolator(places[own], u[:, own].T, rng=0)(x[where == k])
            result[:, where == k] = found.T
        return result

    def __call__(self, x: Array, t: float) -> Array:
        """Return the first field at places and a time."""
        return np.asarray(self.at(x, t)[0])


@dataclass(frozen=True, eq=False)
class OneOf:
    """One field of a line reference."""

    reference: LineReference
    index: int

    def __call__(self, x: Array, t: float) -> Array:
        """Return the values at places and a time."""
        return np.asarray(self.reference.at(x, t)[self.index])
