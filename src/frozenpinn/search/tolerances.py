"""One tolerance enters; here is what each stage may spend of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from frozenpinn.errors import SettingsError, warn
from frozenpinn.runtime.arguments import is_number, shown
from frozenpinn.search.rules import FINEST, SearchRules

DEFAULT_RTOL = 1e-8  #: relative accuracy in time if nothing is asked for


@dataclass(frozen=True)
class Tolerances:
    """What is asked of a solve, and what follows for its stages.

    Attributes
    ----------
    solution
        Relative L² error asked of every field; None if none was given.
    time
        Relative accuracy of the time integration as a whole, and of a basis that follows the solution.

    Examples
    --------
    >>> Tolerances.of(1e-6, None)
    Tolerances(solution=1e-06, time=3e-07)
    >>> Tolerances.of(None, None).steps
    1e-10
    """

    solution: float | None
    time: float

    @classmethod
    def of(cls, tol: float | None, rtol: float | None, rules: SearchRules | None = None) -> Tolerances:
        """Return what follows from the user's tolerances; ``rtol`` is that in time, if one insists on it."""
        if rtol is None:
            part = (SearchRules() if rules is None else rules).first_rtol
            rtol = DEFAULT_RTOL if tol is None else max(part * tol, FINEST)
        return cls(tol, float(rtol))

    @property
    def steps(self) -> float:
        """Local accuracy of an integrator: errors of many steps add up."""
        return max(1e-2 * self.time, FINEST)

    @property
    def windows(self) -> float:
        """Share of the solution that the finest functions of a basis may carry."""
        return max(self.time, 1e-12)

    @property
    def reduction(self) -> float:
        """Relative residual in all coordinates up to which a solution on a subspace is accepted."""
        return max(1e-6, 100.0 * self.time)

    def tighter(self, factor: float) -> Tolerances:
        """Return those of a finer solve."""
        return replace(self, time=max(factor * self.time, FINEST))


def read_tolerance(tol: float | None) -> float | None:
    """Check a tolerance; one below what double precision can reach is raised, with a warning."""
    if tol is None:
        return None
    if not is_number(tol) or not 0 < tol < 1:
        raise SettingsError(f"tol must lie between 0 and 1, got {shown(tol)}; write for example tol=1e-6.")
    if tol < FINEST:
        warn(f"tol={tol:g} is below what double precision can reach; tol={FINEST:g} is taken instead.")
    return max(float(tol), FINEST)
