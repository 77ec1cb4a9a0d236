"""A path of solutions in one parameter: values, norms, folds, and the solutions themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, warn
from frozenpinn.language.jets import Jet
from frozenpinn.results.evaluation import relative_distance
from frozenpinn.results.report import as_table, finite
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.html import Readable
from frozenpinn.statement.problem import Problem, stated_equations

Array = np.ndarray


class Fold(NamedTuple):
    """A place at which a path turns round.

    Attributes
    ----------
    value, error
        Of the parameter, and how wrong it may be: the distance of the last two networks.
    solution
        The solution there.
    """

    value: float
    error: float
    solution: Solution


class BranchPoint(NamedTuple):
    """A place at which another path seems to cross this one: between which values, and with which norm."""

    between: tuple[float, float]
    norm: float


class Between(NamedTuple):
    """The straight line from one solution to another."""

    first: Solution
    second: Solution
    share: float

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives."""
        now = np.zeros(1)
        ends = [[s.jet_values(x, now, jet)[:, 0] for jet in jets] for s in (self.first, self.second)]
        return [(1.0 - self.share) * a + self.share * b for a, b in zip(*ends, strict=True)]


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Solutions of a static problem for a range of one parameter, in the order in which they were followed.

    Attributes
    ----------
    problem, name
        What was solved, and the parameter.
    parameters, norms
        Values of the parameter, and the norm of the solution at each, shape (n,).
    norm
        Which norm: ``"L2"`` or ``"max"``.
    solutions
        One for each value; as accurate as the network on which the path was followed, see :meth:`at`.
    folds
        Where the path turns round, refined on finer networks.
    branch_points
        Where the determinant of the linearisation changes its sign without a fold: other paths cross there.
    left
        What each solution leaves of the equations at held-out points, relative to their terms.
    reason
        Why the path ends.
    seconds
        Wall-clock seconds of the steps and of the refinement.
    decisions
        What was decided on the way, and why.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> bratu = fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": 1.0})
    >>> round(fp.follow(bratu, "lam", (0, 4)).folds[0].value, 6)
    3.513831
    """

    problem: Problem
    name: str
    parameters: Array
    norms: Array
    norm: str
    solutions: tuple[Solution, ...]
    folds: tuple[Fold, ...]
    branch_points: tuple[BranchPoint, ...]
    left: Array
    reason: str
    refine: Callable[[float, Any], Solution] = field(repr=False)
    seconds: Mapping[str, float] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.parameters, self.norms, self.left):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"Path({self.name}: {len(self.parameters)} solutions, folds at {[f.value for f in self.folds]})"

    def _repr_html_(self) -> str:
        from frozenpinn.output.showing import path_html

        return path_html(self)

    def at(self, value: float) -> tuple[Solution, ...]:
        """Return all solutions of this path at a value of the parameter, each refined to the tolerance of the path.

        Raises
        ------
        EvaluationError
            If the path does not reach this value.
        """
        value = float(value)
        starts = self._crossings(value)
        if not starts:
            low, high = float(np.min(self.parameters)), float(np.max(self.parameters))
            raise EvaluationError(
                f"the path does not reach {self.name} = {value:g}; it runs from {low:.10g} to {high:.10g}."
            )
        found: list[Solution] = []
        same = 1e-4  # relative distance of solutions that are one
        for start in starts:
            solution = self.refine(value, start)
            if all(relative_distance(solution, other) > same for other in found):
                found.append(solution)
        if len(found) < len(starts):
            warn(
                f"the path crosses {self.name} = {value:g} {len(starts)} times, but Newton's method leads to "
                f"{len(found)} solution(s): a fold is close, or paths cross each other here."
            )
        return tuple(found)

    def _crossings(self, value: float) -> list[Any]:
        starts: list[Any] = []
        for k, (a, b) in enumerate(zip(self.parameters[:-1], self.parameters[1:], strict=True)):
            if a == value:
                starts.append(self.solutions[k])
            elif (a - value) * (b - value) < 0:
                starts.append(Between(self.solutions[k], self.solutions[k + 1], float((value - a) / (b - a))))
        return [*starts, self.solutions[-1]] if self.parameters[-1] == value else starts

    @property
    def report(self) -> str:
        """What was found, in words."""
        rows = [
            ("problem", "; ".join(stated_equations(self.problem))),
            ("path", f"{len(self.parameters)} solutions, {self._span()}"),
            ("end", self.reason),
        ]
        size = "L² norm" if self.norm == "L2" else "largest value"
        for fold in self.folds:
            k = int(np.argmin(np.abs(self.parameters - fold.value)))
            rows.append(("fold", f"{self.name} = {fold.value:.12g} ± {fold.error:.1e}, {size} {self.norms[k]:.6g}"))
        for point in self.branch_points:
            a, b = point.between
            what = f"between {self.name} = {a:.6g} and {b:.6g}, {size} {point.norm:.6g}"
            rows.append(("branch point", f"{what}: another path crosses here, which is not followed"))
        rows.append(("residual", f"{np.max(self.left):.1e} at worst, relative to the terms of the equations"))
        rows += [("decision", f"{name}: {reason}") for name, reason in self.decisions]
        rows += [(stage, f"{1e3 * value:9.2f} ms") for stage, value in self.seconds.items()]
        return Readable(as_table(rows))

    def _span(self) -> str:
        low, high = float(np.min(self.parameters)), float(np.max(self.parameters))
        return f"{self.name} from {low:.6g} to {high:.6g}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return finite(
            {
                "parameter": self.name,
                "parameters": self.parameters.tolist(),
                "norm": self.norm,
                "norms": self.norms.tolist(),
                "folds": [{"value": f.value, "error": f.error} for f in self.folds],
                "branch_points": [{"between": list(p.between), "norm": p.norm} for p in self.branch_points],
                "left": self.left.tolist(),
                "reason": self.reason,
                "seconds": dict(self.seconds),
                "decisions": list(map(list, self.decisions)),
            }
        )

    def plot(self, file: str | None = None, *, ax: Any = None) -> Any:
        """Draw the norm against the parameter, with folds and branch points; save it, or draw on given axes."""
        from frozenpinn.output.plotting.lines import plot_path

        return plot_path(self, file, ax)
