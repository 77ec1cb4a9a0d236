"""The search for a tolerance as a picture: estimated error against the size of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.output.plotting.sheet import Sheet
from frozenpinn.runtime.figures import LINES

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution


def convergence_panels(solution: Solution) -> Sheet:
    """Return one panel: the attempts of the search, the tolerance, and what came out."""
    verdict, estimate = solution.verdict, solution.error_estimate
    if verdict is None or estimate is None:
        raise EvaluationError(
            "there is no search to draw, because no tolerance was given; write fp.solve(problem, tol=1e-6)."
        )
    rows = [(int(np.prod(width)), error) for width, error, _ in verdict.attempts if 0.0 < error < np.inf]

    def draw(axis: Any) -> None:
        if rows:
            axis.plot(*zip(*rows, strict=True), "o-", color=LINES[0], label="attempts")
        final = int(np.prod(solution.width))
        if np.isfinite(estimate.worst) and estimate.worst > 0:
            axis.plot(final, estimate.worst, "*", markersize=13, color=LINES[1], label=f"answer, {verdict.status}")
        axis.axhline(verdict.tol, color="0.4", linestyle="--", linewidth=1.0, label=f"tol = {verdict.tol:g}")
        axis.set(yscale="log", xlabel="neurons", ylabel="estimated relative L² error")
        axis.set_title(f"search for {', '.join(solution.problem.fields)}")
        axis.grid(alpha=0.25, linewidth=0.6, which="both")
        axis.legend()

    return Sheet([draw], 1, (5.2, 3.8))
