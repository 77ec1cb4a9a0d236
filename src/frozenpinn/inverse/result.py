"""What was inferred from measurements: numbers with error bars, the solution they give, and how good the fit is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, choices, suggestion
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import is_whole, shown, spelled
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.threads import one_thread
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.inverse.chain import Chain
from scipy.special import ndtri

from frozenpinn.geometry import Domain

Array = np.ndarray


@dataclass(frozen=True)
class Estimate:
    """A number with its error bar.

    Attributes
    ----------
    value, std
        The best value, and its standard deviation.
    low, high, level
        The interval that contains the truth with the probability ``level``.
    at_bound
        ``"lower"`` or ``"upper"`` if the data ask for more than a bound allows; empty otherwise.

    Examples
    --------
    >>> print(Estimate(1.00213, 0.0008, 1.0005, 1.0037))
    1.0021 ± 0.0008 (95 %: 1.0005 … 1.0037)
    """

    value: float
    std: float
    low: float
    high: float
    level: float = 0.95
    at_bound: str = ""

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if not (np.isfinite(self.std) and self.std > 0):
            return f"{self.value:.10g} ± {self.std:.2g}"
        decimals = -int(np.floor(np.log10(self.std)))
        decimals += self.std * 10.0**decimals < 2.95
        bound = f", at its {self.at_bound} bound" if self.at_bound else ""
        if decimals > 12 or decimals < -6:
            shown = max(1, min(16, int(np.ceil(np.log10(max(abs(self.value), 1e-300) / self.std))) + 2))
            interval = f"{self.low:.{shown}g} … {self.high:.{shown}g}"
            return f"{self.value:.{shown}g} ± {self.std:.1g} ({100 * self.level:g} %: {interval}{bound})"
        places = max(decimals, 0)

        def text(number: float) -> str:
            return f"{round(number, decimals):.{places}f}"

        interval = f"{text(self.low)} … {text(self.high)}"
        return f"{text(self.value)} ± {text(self.std)} ({100 * self.level:g} %: {interval}{bound})"


@dataclass(frozen=True)
class Minimum:
    """Another fit that was found: the values of the unknowns, and χ² in units of the best one's noise."""

    values: Mapping[str, float]
    chi_square: float


@dataclass(frozen=True, eq=False, repr=False)
class Inferred:
    """What :func:`frozenpinn.infer` returns. A value: it never changes.

    Attributes
    ----------
    problem, data
        What was asked.
    parameters
        The unknown numbers, each with its error bar.
    covariance
        Of the unknown numbers, in their order.
    predicted, sigmas
        What the solution says at the sensors, and the standard deviations that the data were weighted with, all
        measurements one after another.
    chi_square, freedom
        The weighted sum of squares that is left, and its degrees of freedom; see :attr:`misfit`.
    noise
        The standard deviation of the noise, if it was estimated, and then ``sigmas`` is what was estimated for each
        measurement; None if it was given.
    networks
        By how much the values differ on a second network; this is part of the error bars.
    minima
        Other fits that explain the data nearly as well, or were found on the way.
    steps
        χ² and the values of the unknowns, step by step.
    notes
        What else there is to say.
    seconds
        Wall-clock seconds of each stage.
    fields
        The unknown fields.
    agreement
        By how much an ordinary solve at these values, with a tolerance that follows the noise, differs from the fit at
        the sensors: root mean square, in deviations of the noise. Not a number if it failed. Models and fit were moved
        by what it says; what remains is part of the error bars. :attr:`solution` is that solve.

    Examples
    --------
    >>> import numpy as np
    >>> import frozenpinn as fp
    >>> unknown = {"k": fp.Unknown(0.3)}
    >>> rod = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters=unknown)
    >>> x = np.array([0.3, 0.5, 0.7])
    >>> data = fp.Measurements(x, np.exp(-0.05 * np.pi**2) * np.sin(np.pi * x), times=0.5)
    >>> found = fp.infer(rod, data)
    >>> round(found.parameters["k"].value, 6)
    0.1
    """

    problem: Problem
    data: tuple[Measurements, ...]
    parameters: Mapping[str, Estimate]
    covariance: Array
    _solution: Solution | Callable[[], Solution]
    predicted: Array
    sigmas: Array
    chi_square: float
    freedom: int
    noise: float | None = None
    networks: Array = dataclasses.field(default_factory=lambda: np.zeros(0))
    minima: tuple[Minimum, ...] = ()
    steps: tuple[tuple[float, ...], ...] = ()
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    fields: Mapping[str, InferredField] = dataclasses.field(default_factory=dict)
    _renew: Callable[[Any], Inferred] | None = None
    _predict: Callable[[Array], Array] | None = None
    agreement: float = float("nan")

    def __repr__(self) -> str:
        found = ", ".join(f"{name} = {estimate}" for name, estimate in self.parameters.items())
        return f"Inferred({found})"

    def _repr_html_(self) -> str:
        from frozenpinn.output.showing import inferred_html

        return inferred_html(self)

    def __getstate__(self) -> dict[str, Any]:
        lost = {"_renew": None, "_predict": None}  # factorisations stay where they were made
        return self.__dict__ | lost | {"_solution": self.solution}

    @property
    def names(self) -> tuple[str, ...]:
        """The unknown numbers, in the order of the covariance."""
        return tuple(self.parameters)

    @cached_property
    def solution(self) -> Solution:
        """The solution of the problem with the values that were found; of new data, it is computed when asked for."""
        return self._solution if isinstance(self._solution, Solution) else self._solution()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided on the way to the solution, and why; nothing for new data, where there is none yet."""
        return self._solution.decisions if isinstance(self._solution, Solution) else ()

    @cached_property
    def values(self) -> Array:
        """Everything that was measured."""
        return np.concatenate([part.values for part in self.data])

    @property
    def residuals(self) -> Array:
        """What was measured less what the solution says, one after another."""
        return np.asarray(self.values - self.predicted)

    @property
    def misfit(self) -> float:
        """χ² for each degree of freedom: near one if the noise is as given, one if it is estimated; NaN without any."""
        return self.chi_square / self.freedom if self.freedom else float("nan")

    @cached_property
    def correlations(self) -> Array:
        """Correlations of the unknown numbers, between -1 and 1."""
        deviations = np.sqrt(np.diag(self.covariance))
        deviations = np.where(deviations > 0, deviations, 1.0)
        return np.asarray(self.covariance / deviations / deviations[:, None])

    @spelled(EvaluationError)
    def sample(self, n: int, seed: int = 0) -> dict[str, Array]:
        """Draw n sets of the unknown numbers from their distribution."""
        check_draws(n, seed)
        means = np.array([float(e) for e in self.parameters.values()])
        drawn = np.random.default_rng(seed).multivariate_normal(means, self.covariance, size=n, method="eigh")
        return {name: drawn[:, i] for i, name in enumerate(self.names)}

    @spelled(EvaluationError)
    def mcmc(self, steps: int = 2000, *, seed: int = 0, exact: bool = False) -> Chain:
        """Check the error bars by Markov chains, with the package emcee.

        Parameters
        ----------
        steps
            Of each chain; there are 32 of them, or four for each number.
        seed
            The same seed gives the same draws.
        exact
            Solve the problem for every draw, which takes as many solves as there are steps, 32 times. Otherwise what
            is measured is a polynomial of degree two in the unknowns, from a few solves near the fit.
        """
        from frozenpinn.inverse.chain import chain_of

        if self.fields:
            raise EvaluationError("mcmc() checks unknown numbers; fields have bands, found.field(name).band(x).")
        if self._predict is None:
            raise EvaluationError("what was factorised is gone after pickling; call infer(found.problem, data) again.")
        return chain_of(self, self._predict, steps, seed, exact)

    @spelled(EvaluationError)
    def again(self, data: Any) -> Inferred:
        """Infer from new data of the same problem, with all that is factorised already."""
        if self._renew is None:
            raise EvaluationError("what was factorised is gone after pickling; call infer(found.problem, data) again.")
        with one_thread():  # as the inference itself
            return self._renew(data)

    @spelled(EvaluationError)
    def field(self, name: str) -> InferredField:
        """Return one unknown field."""
        if not isinstance(name, str) or name not in self.fields:
            close = suggestion(str(name), self.fields)
            raise EvaluationError(f"{shown(name)} is no unknown field; they are {choices(self.fields)}.{close}")
        return self.fields[name]

    @property
    def report(self) -> str:
        """Everything that is worth knowing, as text."""
        from frozenpinn.inverse.report import report_of

        return report_of(self)

    @spelled(EvaluationError)
    def plot(self, file: str | None = None) -> Any:
        """Draw the fit, what it leaves, the error bars and the steps; return the figure."""
        from frozenpinn.inverse.report import plot_of

        return plot_of(self, file)


def check_draws(n: object, seed: object) -> None:
    """Refuse numbers of draws, and seeds, that are none."""
    if not is_whole(n) or not 0 < n <= 10**6:  # type: ignore[operator]
        raise EvaluationError(f"n is how many draws there are, from 1 to 1000000; got {shown(n)}.")
    if not is_whole(seed) or seed < 0:  # type: ignore[operator]
        raise EvaluationError(f"seed must be a whole number from 0 on, got {shown(seed)}.")


@dataclass(frozen=True, eq=False, repr=False)
class InferredField:
    """A function of the coordinates, with its uncertainty.

    Attributes
    ----------
    name, domain, arguments
        What it is, where, and of what it is a function.
    functions
        Returns the functions it is combined of at points (n, d), shape (n, size).
    start, mean, covariance
        What is added to their combination, their coefficients, and how sure these are.
    positive
        Whether the combination is the logarithm of the field.
    effective
        How many of the coefficients the data determine; the others rest on the prior.
    level
        Of :meth:`band`.
    steep
        If the field may jump: by how much the place of a change is uncertain, which then is part of the deviations; a
        smooth field has 0.

    Examples
    --------
    >>> found = fp.infer(problem, data)  # doctest: +SKIP
    >>> value, deviation = found.field("gamma")(0.3, 0.4, std=True)  # doctest: +SKIP
    """

    name: str
    domain: Domain
    arguments: tuple[str, ...]
    functions: Callable[[Array], Array]
    start: float
    mean: Array
    covariance: Array
    positive: bool
    effective: float
    level: float = 0.95
    steep: float = 0.0

    def __repr__(self) -> str:
        return f"InferredField('{self.name}', {self.effective:.3g} effective degrees of freedom)"

    @spelled(EvaluationError)
    def __call__(self, *where: Any, std: bool = False) -> Any:
        """Return the values at coordinates, given as arrays that broadcast; with ``std``, their deviations, too."""
        x, shape = self._points(where)
        inner, deviations = self._inner(x)
        values = np.exp(inner) if self.positive else inner
        spread = values * deviations if self.positive else deviations
        return (values.reshape(shape), spread.reshape(shape)) if std else values.reshape(shape)

    @spelled(EvaluationError)
    def band(self, *where: Any, level: float | None = None) -> tuple[Array, Array]:
        """Return between which values the field lies at each point, with the probability ``level``."""
        x, shape = self._points(where)
        inner, deviations = self._inner(x)
        width = float(ndtri(0.5 + (self.level if level is None else level) / 2.0)) * deviations
        ends = (inner - width, inner + width)
        low, high = (np.exp(end) if self.positive else end for end in ends)
        return low.reshape(shape), high.reshape(shape)

    @spelled(EvaluationError)
    def sample(self, n: int, *where: Any, seed: int = 0) -> Array:
        """Draw n fields, and return their values at coordinates, shape (n, …)."""
        check_draws(n, seed)
        x, shape = self._points(where)
        drawn = np.random.default_rng(seed).multivariate_normal(self.mean, self.covariance, size=n, method="eigh")
        inner = self.start + drawn @ self.functions(x).T
        return (np.exp(inner) if self.positive else inner).reshape(n, *shape)

    def _inner(self, x: Array) -> tuple[Array, Array]:
        rows = self.functions(x)
        variances = np.einsum("ij,jk,ik->i", rows, self.covariance, rows, optimize=True)
        if self.steep:
            variances = variances + (self.steep * self.slope(x)) ** 2
        return self.start + rows @ self.mean, np.sqrt(np.maximum(variances, 0.0))

    def slope(self, x: Array) -> Array:
        """Return the length of the gradient of what the field, or its logarithm, is combined of."""
        squares, sizes = np.zeros(len(x)), np.asarray(self.domain.lengths, dtype=float)
        for axis, size in enumerate(sizes):
            step = np.zeros(len(sizes))
            step[axis] = 1e-4 * size
            change = (self.functions(x + step) - self.functions(x - step)) @ self.mean / (2.0 * step[axis])
            squares += change**2
        return np.sqrt(squares)

    def _points(self, where: tuple[Any, ...]) -> tuple[Array, tuple[int, ...]]:
        d = self.domain.dimension
        if len(where) == 1 and d > 1 and np.ndim(where[0]) == 2 and np.shape(where[0])[1] == d:
            return np.asarray(where[0], dtype=float), (len(where[0]),)
        if len(where) != d:
            raise EvaluationError(
                f"the field '{self.name}' takes {d} coordinate(s), {', '.join(self.arguments)}; got {len(where)}."
            )
        arrays = np.broadcast_arrays(*(np.asarray(w, dtype=float) for w in where))
        x = np.stack([a.ravel() for a in arrays], axis=1)
        if not np.all(self.domain.contains(x)):
            raise EvaluationError(f"the field '{self.name}' is known inside {self.domain!r} only.")
        return x, arrays[0].shape
