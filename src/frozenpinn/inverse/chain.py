"""A check of error bars by Markov chains: numbers drawn from their posterior, which need not be Gaussian."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from frozenpinn.errors import EvaluationError, FrozenPinnError, MissingExtraError, warn
from frozenpinn.inverse.result import Estimate, Inferred
from frozenpinn.runtime.arguments import is_whole, shown
from frozenpinn.runtime.html import Readable

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Chain:
    """Draws from the posterior of the unknown numbers.

    Attributes
    ----------
    parameters
        Median, deviation and interval of each number.
    samples
        All draws of each number, after the first fifth.
    independent
        How many independent draws they are worth.
    model_error
        By how much the quadratic model differs from solves at three remote draws, root mean square in units of the
        noise; None if every draw was a solve.
    agrees
        Whether the interval of the inference is that of the draws, for each number: their ends differ by a tenth of
        the interval at most, beyond chance.
    """

    parameters: Mapping[str, Estimate]
    samples: Mapping[str, Array]
    independent: float
    model_error: float | None
    agrees: Mapping[str, bool]

    @property
    def report(self) -> str:
        """What was drawn, and whether it agrees with the inference."""
        lines = [f"Markov chains worth {self.independent:.0f} independent draws"]
        width = max(map(len, self.parameters))
        words = {True: "as inferred", False: "not as inferred: the posterior is not Gaussian, or the noise not uniform"}
        lines += [f"  {name:{width}} = {e}, {words[self.agrees[name]]}" for name, e in self.parameters.items()]
        if self.model_error is not None:
            lines.append(f"  quadratic model: off by {self.model_error:.2g} of the noise at remote draws")
        return Readable("\n".join(lines))


def chain_of(found: Inferred, predict: Callable[[Array], Array], steps: int, seed: int, exact: bool) -> Chain:
    """Draw the unknown numbers, by a quadratic model of what is measured or by a solve for each draw."""
    if not is_whole(steps) or steps < 50:
        raise EvaluationError(f"steps must be a whole number from 50 on, got {shown(steps)}; 2000 is usual.")
    emcee = _emcee()
    posterior = _Posterior.of(found, predict)
    model = posterior.solved if exact else posterior.quadratic()
    generator, size = np.random.RandomState(seed), len(found.names)
    start = generator.standard_normal((max(32, 4 * size), size))
    while not np.all(inside := posterior.is_inside(start)):  # the best fit lies inside, or at a bound
        start[~inside] = generator.standard_normal((int(np.sum(~inside)), size))
    sampler = emcee.EnsembleSampler(*start.shape, lambda z: posterior.logarithm(z, model(z)), vectorize=True)
    sampler.run_mcmc(emcee.State(start, random_state=generator.get_state()), steps)
    burnt = steps // 5
    drawn = sampler.get_chain(discard=burnt, flat=True)
    independent = len(drawn) / float(np.max(sampler.get_autocorr_time(discard=burnt, tol=0)))
    remote = drawn[np.argsort(np.linalg.norm(drawn, axis=1))[[len(drawn) * q // 100 for q in (90, 95, 99)]]]
    gaps = None if exact else model(remote) - posterior.solved(remote)
    error = None if gaps is None else float(np.sqrt(np.mean(gaps**2)))
    if error is not None and not error <= 0.1:
        warn(
            f"the quadratic model of what is measured is off by {error:.2g} of the noise at remote draws, so these are "
            "not draws from the posterior; write mcmc(exact=True), which solves the problem for every draw."
        )
    return _judged(found, posterior.numbers(drawn), independent, error)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """The posterior in coordinates z in which the inference says that it is a standard normal distribution."""

    found: Inferred
    predict: Callable[[Array], Array]
    centre: Array
    mixing: Array
    bounds: Array

    @classmethod
    def of(cls, found: Inferred, predict: Callable[[Array], Array]) -> _Posterior:
        centre, deviations = (np.array([getattr(e, k) for e in found.parameters.values()]) for k in ("value", "std"))
        if not np.all(deviations > 0):
            raise EvaluationError("mcmc() needs error bars that are not zero; give the noise of the measurements.")
        spreads, directions = np.linalg.eigh(found.correlations)
        mixing = deviations[:, None] * directions * np.sqrt(np.maximum(spreads, 1e-14))
        unknowns: Any = found.problem.parameters.inferred
        return cls(found, predict, centre, mixing, np.array([unknowns[name].bounds for name in found.names]))

    def numbers(self, z: Array) -> Array:
        """Return the unknown numbers, (n, p)."""
        return np.asarray(self.centre + z @ self.mixing.T)

    def is_inside(self, z: Array) -> Array:
        """Whether all numbers lie between their bounds."""
        theta = self.numbers(z)
        return np.asarray(np.all((theta >= self.bounds[:, 0]) & (theta <= self.bounds[:, 1]), axis=1))

    def solved(self, z: Array) -> Array:
        """Return weighted residuals by a solve for each row; infinite ones outside, and where there is no solution."""
        out = np.full((len(z), len(self.found.values)), np.inf)
        for i in np.flatnonzero(self.is_inside(z)):
            with suppress(FrozenPinnError):
                out[i] = (self.found.values - self.predict(self.numbers(z[i]))) / self.found.sigmas
        return out

    def quadratic(self) -> Callable[[Array], Array]:
        """Return weighted residuals as polynomials of degree two, from solves two deviations away along each axis."""
        steps = 2.0 * np.eye(self.mixing.shape[1])
        pairs = [(steps[i] + steps[j]) / np.sqrt(2.0) for i, j in combinations(range(len(steps)), 2)]
        nodes = np.stack([0.0 * steps[0], *steps, *-steps, *pairs])
        left = self.solved(nodes)
        known = np.all(np.isfinite(left), axis=1)
        if np.sum(known) < _monomials(nodes).shape[1]:
            raise EvaluationError(
                "the problem can't be solved at some values within two deviations, or they lie beyond a bound; write "
                "mcmc(exact=True), which solves it for every draw."
            )
        factors = np.linalg.lstsq(_monomials(nodes[known]), left[known], rcond=None)[0]
        return lambda z: np.asarray(_monomials(z) @ factors)

    def logarithm(self, z: Array, left: Array) -> Array:
        """Return −χ²/2, or the mean of the likelihood over the size of the noise where that was estimated."""
        squares = np.sum(left**2, axis=1)
        inside = self.is_inside(z) & np.isfinite(squares)
        squares = np.where(inside, squares, 1.0)
        known = self.found.noise is None
        return np.where(inside, -squares / 2 if known else -left.shape[1] / 2 * np.log(squares), -np.inf)


def _monomials(z: Array) -> Array:
    """Return 1, z and all products of two coordinates, (n, (p + 1)(p + 2)/2)."""
    products = [z[:, i] * z[:, j] for i, j in combinations_with_replacement(range(z.shape[1]), 2)]
    return np.column_stack([np.ones(len(z)), z, *products])


def _judged(found: Inferred, theta: Array, independent: float, error: float | None) -> Chain:
    """Compare intervals, number by number: their ends differ by a tenth of them at most, beyond chance."""
    estimates, agrees = {}, {}
    for name, drawn, old in zip(found.names, theta.T, found.parameters.values(), strict=True):
        tail = (1.0 - old.level) / 2.0
        low, middle, high = map(float, np.quantile(drawn, [tail, 0.5, 1.0 - tail]))
        estimates[name] = Estimate(middle, float(np.std(drawn)), low, high, old.level)
        allowed = 0.1 * (old.high - old.low) + 8.0 * old.std / np.sqrt(independent)
        agrees[name] = bool(max(abs(low - old.low), abs(high - old.high)) <= allowed)
    return Chain(estimates, dict(zip(found.names, theta.T, strict=True)), independent, error, agrees)


def _emcee() -> Any:
    try:
        return import_module("emcee")
    except ImportError:
        raise MissingExtraError.of("mcmc() needs", "emcee", "mcmc") from None
