"""Whether a steady state is stable, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.modes.result import Modes
from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem
from frozenpinn.static.start import SolutionStart

Array = np.ndarray


def at_rest(solution: Solution, problem: Problem) -> SolutionStart:
    """Check that a solution belongs to a problem, and return it as a function at rest."""
    if not isinstance(solution, Solution):
        raise SettingsError(f"about= is a solution to linearise about, got {type(solution).__name__}.")
    other = solution.problem
    if other.domain.dimension != problem.domain.dimension or set(other.fields) != set(problem.fields):
        raise SettingsError(
            f"about= is a solution for {', '.join(other.fields)} in {other.domain.dimension} dimension(s); the problem "
            f"has {', '.join(problem.fields)} in {problem.domain.dimension}."
        )
    return SolutionStart(solution.jet_values, other.time[1])


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """The rightmost eigenvalues of the linearisation about a steady state, and what they mean.

    Attributes
    ----------
    verdict
        ``"stable"`` (all disturbances decay), ``"unstable"`` (some grow) or ``"neutral"`` (some do neither, within
        the error of the eigenvalue).
    growth
        The largest real part: disturbances behave like exp(growth·t).
    frequency
        The imaginary part of that eigenvalue: not zero if disturbances oscillate.
    modes
        The eigenvalues, rightmost first, with errors and functions.
    steady_state
        What was disturbed.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rest = fp.Problem("u_t = u_xx + 20*u - u**3", fp.Interval(0, 1), (0, 1), 0, "u = 0")
    >>> print(fp.stability(fp.steady(rest)))
    unstable: the fastest disturbances grow like exp(10.1304 t)
    """

    verdict: str
    growth: float
    frequency: float
    modes: Modes
    steady_state: Solution

    @classmethod
    def of(cls, modes: Modes, steady_state: Solution, neutral: float) -> Stability:
        """Judge a steady state by its rightmost eigenvalues."""
        first = complex(modes.values[0])
        size = float(np.max(np.abs(modes.values)))
        doubt = max(2.0 * float(modes.errors[0]), neutral * size)
        verdict = "neutral" if abs(first.real) <= doubt else "unstable" if first.real > 0 else "stable"
        return cls(verdict, first.real, abs(first.imag), modes, steady_state)

    @property
    def values(self) -> Array:
        """The eigenvalues, rightmost first."""
        return self.modes.values

    def __str__(self) -> str:
        swing = f", oscillating with frequency {self.frequency:.6g}" if self.frequency else ""
        if self.verdict == "neutral":
            return f"neutral: the slowest disturbances neither grow nor decay (rate {self.growth:.2g}){swing}"
        what = "decay" if self.verdict == "stable" else "grow"
        slowest = "the slowest disturbances" if self.verdict == "stable" else "the fastest disturbances"
        return f"{self.verdict}: {slowest} {what} like exp({self.growth:.6g} t){swing}"

    def __repr__(self) -> str:
        return f"Stability({self})"
