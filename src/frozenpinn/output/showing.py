"""How a solution shows itself: pictures, pages, what notebooks display."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from frozenpinn.errors import EvaluationError, FrozenPinnError, silenced
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.figures import apart
from frozenpinn.runtime.html import aligned, card, lines, table
from frozenpinn.statement.problem import stated_equations

if TYPE_CHECKING:
    from frozenpinn.inverse.result import Inferred
    from frozenpinn.modes.result import Modes
    from frozenpinn.paths.path import Path
    from frozenpinn.results.solution import Solution


class Shown:
    """Pictures of a solution; a base of :class:`frozenpinn.Solution`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return solution_html(cast("Solution", self))

    @spelled(EvaluationError)
    def plot(
        self,
        file: str | None = None,
        field: str | None = None,
        *,
        times: Any = None,
        ax: Any = None,
        derivative: str = "",
        show: str = "values",
        units: Mapping[str, str] | None = None,
        cmap: str | None = None,
        limits: tuple[float, float] | None = None,
        log: bool = False,
        title: str | None = None,
        contours: int = 0,
        arrows: str | None = None,
        streamlines: str | None = None,
    ) -> Any:
        """Draw the solution with Matplotlib, and return the figure.

        An interval is drawn over space and time, with snapshots; two dimensions as frames; static problems as one
        frame. Beyond two dimensions the first two coordinates are drawn through the middle of the others, or the one or
        two directions that the solution depends on. See :meth:`plot_3d` for solids.

        Parameters
        ----------
        file
            Where to save the figure: PNG, PDF, SVG and all that Matplotlib can write.
        field
            Which field of a system, all by default; or an expression in them, ``"v_x - u_y"``. It may come first:
            ``solution.plot("-k*u_x", "flux.png")``, or alone.
        times
            When: ``times=[0, 0.5, 1]``.
        ax
            Axes to draw on, one or as many as there are panels.
        derivative
            Such as ``"x"``, to draw a derivative instead of the field.
        show
            ``"values"``; ``"error"``, the distance from ``problem.exact`` or, without it, the estimate;
            ``"residual"``, what the equation leaves; ``"convergence"``, the search for the tolerance.
        units
            For labels: ``units={"x": "m", "t": "s", "u": "K"}``.
        cmap, limits, log
            Colour map, ends of the scale, and whether it is logarithmic.
        title
            Above each panel, instead of the name of the field.
        contours
            How many lines of equal values are drawn over the colours.
        arrows, streamlines
            A vector field that is drawn over the colours, such as ``"U"``, ``"-k*grad(u)"`` or ``"[u, v]"``.
        """
        from frozenpinn.output.plotting import plot_solution

        mine = cast("Solution", self)
        file, field = _file_and_field(file, field)
        plain = field is None or mine.problem.composites.known(field) is not None
        if mine.reduced is not None and mine.problem.domain.dimension > 2 and show == "values" and plain:
            mine = mine.reduced
        look = (cmap, limits, log, title, contours, arrows, streamlines)
        return plot_solution(mine, file, field, times, ax, derivative, show, units, *look)

    @spelled(EvaluationError)
    def plot_3d(
        self,
        file: str | None = None,
        field: str | None = None,
        *,
        time: float | None = None,
        kind: str = "slices",
        derivative: str = "",
        cells: int = 32,
        plotter: Any = None,
    ) -> Any:
        """Draw a solution in three dimensions with PyVista (``pip install '.[3d]'`` in a clone); return the plotter.

        Parameters
        ----------
        file
            Where to save a picture (PNG, SVG, PDF, or HTML that turns); it is then drawn without a window.
        field, derivative
            What to draw; the field may be an expression, such as ``"u_x**2 + u_y**2 + u_z**2"``.
        time
            When; the end by default.
        kind
            ``"slices"`` (three planes through the middle), ``"surface"`` (the boundary) or ``"contours"`` (five
            surfaces of equal value).
        cells
            How many cells the longest edge of the domain is divided into.
        plotter
            A PyVista plotter to draw into.
        """
        from frozenpinn.output.plotting.solids import plot_solid

        return plot_solid(cast("Solution", self), file, field, time, kind, derivative, cells, plotter)

    @spelled(EvaluationError)
    def page(self, file: str, *, title: str | None = None, expressions: Mapping[str, str] | None = None) -> str:
        """Write a page that moves: one HTML file that evaluates the frozen network in the browser; return its path.

        It needs no network and no server. It has a slider for the time, values under the pointer, zoom, and shows
        derivatives and errors. One and two dimensions, static problems and systems.

        Parameters
        ----------
        file
            Such as ``"burgers.html"``.
        title
            The heading; the equations by default.
        expressions
            What else is shown, by name: ``{"flux": "-k*u_x"}``.
        """
        from frozenpinn.output.page import write_page

        return write_page(cast("Solution", self), file, title, expressions)


def _file_and_field(first: Any, second: Any) -> tuple[Any, Any]:
    """Return a file and a field or an expression, whichever comes first: files have an ending."""
    is_file = [not isinstance(a, str) or not a or bool(re.search(r"\.[A-Za-z]+$", a)) for a in (first, second)]
    swapped = not is_file[0] and (second is None or is_file[1])
    return (second, first) if swapped else (first, second)


def size_of(solution: Solution) -> str:
    """Return how large a solution is and how long it took, in one line."""
    size = solution.pieces[-1].layout.size if solution.facts is None else solution.width
    what = "coefficients" if solution.facts is None else "neurons"
    return f"{size} {what}, {sum(solution.seconds.values()):.3g} s"


# ---- notebooks -----------------------------------------------------------------------------------------


_DPI = 72
_MARKS = {"converged": "✔", "reached": "▲", "error unknown": "▲", "unchecked": "●", "estimated": "●"}


def solution_html(solution: Solution) -> str:
    """Return a solution as HTML."""
    rows = [("verdict", verdict_line(solution))]
    for name, value in (solution.error_estimate or {}).items():
        rows.append((f"estimated error of {name}", f"{value:.1e} (relative to how much it varies)"))
    rows.append(("size", size_of(solution)))
    rows += [("note", note) for note in solution.notes[:3]]
    try:
        equations = "; ".join(stated_equations(solution.problem))
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
