"""Results as notebooks show them: a small picture, the verdict, the numbers that matter."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

from frozenpinn.errors import FrozenPinnError, silenced
from frozenpinn.output.showing import size_of
from frozenpinn.runtime.figures import apart
from frozenpinn.runtime.html import aligned, card, lines, table
from frozenpinn.statement.problem import equations_told

if TYPE_CHECKING:
    from frozenpinn.inverse.result import Inferred
    from frozenpinn.modes.result import Modes
    from frozenpinn.paths.path import Path
    from frozenpinn.results.solution import Solution

_DPI = 72
_MARKS = {"converged": "✔", "reached": "▲", "unchecked": "●", "estimated": "●"}


def solution_html(solution: Solution) -> str:
    """Return a solution as HTML."""
    rows = [("verdict", verdict_line(solution))]
    for name, value in (solution.error_estimate or {}).items():
        rows.append((f"estimated error of {name}", f"{value:.1e} (relative L²)"))
    rows.append(("size", size_of(solution)))
    rows += [("note", note) for note in solution.notes[:3]]
    try:
        equations = "; ".join(equations_told(solution.problem))
    except FrozenPinnError:  # stored without them
        equations = ", ".join(solution.problem.fields)
    return card("Solution", lines([equations]), table(rows), _picture(solution))


def verdict_line(solution: Solution) -> str:
    """Return what became of the tolerance, in one line."""
    verdict = solution.verdict
    if verdict is None:
        return "● unchecked: no tolerance was given"
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"{_MARKS.get(verdict.status, '●')} {verdict.status}, tolerance {verdict.tol:g}{reason}"


def modes_html(modes: Modes) -> str:
    """Return eigenvalues as HTML."""
    rows = [(str(k), repr(mode)[5:-1], f"{mode.residual:.0e}") for k, mode in enumerate(modes.functions[:20])]
    more = [f"and {len(modes) - 20} more"] if len(modes) > 20 else []
    head = ("", "eigenvalue", "residual")
    return card(f"{len(modes)} modes, {modes.status}", table(rows, head), lines(more), _picture(modes))


def inferred_html(found: Inferred) -> str:
    """Return an inference as HTML."""
    return card("Inferred", aligned(str(found.report)), _picture(found))


def path_html(path: Path) -> str:
    """Return a path of solutions as HTML."""
    return card(f"Path in {path.name}", aligned(str(path.report)), _picture(path))


def _picture(result: Any) -> str:
    """Return a small picture of a result, or nothing if it can't be drawn."""
    buffer = io.BytesIO()
    try:
        with apart(), silenced(Warning):
            figure = result.plot()
    except FrozenPinnError:
        return ""
    figure.savefig(buffer, format="png", dpi=_DPI)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img style="max-width:100%" alt="picture" src="data:image/png;base64,{data}">'
