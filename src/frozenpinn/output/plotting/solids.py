"""Solutions in three dimensions by PyVista: slices, surfaces, contours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, MissingExtraError, choices
from frozenpinn.geometry.cells import fill
from frozenpinn.output.plotting.quantities import Quantity, checked_times, expressed, quantity
from frozenpinn.results.expressions import Expression, field_or_expression
from frozenpinn.runtime.arguments import is_whole, shown
from frozenpinn.runtime.paths import checked_target, replacing

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

KINDS = ("slices", "surface", "contours")
_ENDINGS = (".png", ".jpg", ".svg", ".pdf", ".html")


def plot_solid(
    solution: Solution,
    file: str | None,
    field: str | None,
    time: float | None,
    kind: str,
    derivative: str,
    cells: int,
    plotter: Any,
) -> Any:
    """Draw a solution on a solid and return the plotter. See :meth:`Solution.plot_3d`."""
    tetrahedron = 10  # as VTK numbers kinds of cells
    domain = solution.problem.domain
    if domain.dimension != 3:
        raise EvaluationError(f"plot_3d draws solids, and the domain has {domain.dimension} dimension(s); call plot().")
    if not isinstance(kind, str) or kind not in KINDS:
        raise EvaluationError(f"kind is one of {choices(KINDS)}; got {shown(kind)}.")
    if not is_whole(cells) or not 4 <= cells <= 200:
        raise EvaluationError(f"cells is a whole number between 4 and 200, got {shown(cells)}.")
    target = None if file is None else _checked(file)
    when = checked_times(None if time is None else [time], solution.problem)
    when = np.array(solution.problem.time[1:]) if when is None else when
    one = _quantity(solution, field, derivative)
    pv = _pyvista()
    mesh = fill(domain.contains, domain.lower, domain.upper, cells)
    solid = pv.UnstructuredGrid({tetrahedron: mesh.simplices}, mesh.points)
    solid[one.label] = one.at(mesh.points, when)[:, 0]
    plotter = pv.Plotter(off_screen=True if target else None) if plotter is None else plotter
    _add(plotter, solid, one, kind)
    title = one.label if solution.problem.is_static else f"{one.label}, t = {when[0]:.3g}"
    plotter.add_text(title, font_size=10)
    plotter.show_bounds(xtitle="x", ytitle="y", ztitle="z", font_size=9, grid="back", location="outer", fmt="%.3g")
    if target is not None:
        _save(plotter, target)
    return plotter


def _quantity(solution: Solution, field: str | None, derivative: str) -> Quantity:
    chosen = field_or_expression(solution, field)
    if not isinstance(chosen, Expression):
        return quantity(solution, chosen, derivative, "values")
    if derivative or chosen.shape or chosen.is_complex:
        raise EvaluationError(f"'{field}': plot_3d draws an expression that is one real number, without derivative.")
    return expressed(solution, chosen)


def _add(plotter: Any, solid: Any, one: Any, kind: str) -> None:
    contours = 5
    colours, _ = one.colours(np.asarray(solid[one.label]))
    look = {
        "cmap": colours["cmap"],
        "clim": (colours["vmin"], colours["vmax"]),
        "scalar_bar_args": {"title": one.label, "vertical": True, "fmt": "%.3g", "position_x": 0.82},
    }
    if kind == "slices":
        plotter.add_mesh(solid.slice_orthogonal(), lighting=False, **look)
        plotter.add_mesh(solid.extract_surface(algorithm="dataset_surface"), color="grey", opacity=0.08)
    elif kind == "surface":
        plotter.add_mesh(
            solid.extract_surface(algorithm="dataset_surface"), smooth_shading=True, split_sharp_edges=True, **look
        )
    else:
        low, high = solid.get_data_range(one.label)
        if not high > low:
            raise EvaluationError(f"{one.label} is the same everywhere ({low:g}): it has no contours; draw 'slices'.")
        levels = np.linspace(low, high, contours + 2)[1:-1]
        plotter.add_mesh(solid.contour(levels, scalars=one.label), opacity=0.6, **look)
        plotter.add_mesh(solid.extract_surface(algorithm="dataset_surface"), color="grey", opacity=0.08)


def _save(plotter: Any, target: str) -> None:
    ending = os.path.splitext(target)[1].lower()
    with replacing(target) as part:
        if ending == ".html":
            plotter.export_html(part)
        elif ending in (".svg", ".pdf"):
            plotter.save_graphic(part)
        else:
            plotter.screenshot(part)


def _checked(file: str) -> str:
    target = checked_target(file, EvaluationError)
    if not target.lower().endswith(_ENDINGS):
        raise EvaluationError(f"can't draw '{target}'; the file must end in one of {', '.join(_ENDINGS)}.")
    return target


def _pyvista() -> Any:
    try:
        import pyvista
    except ImportError:
        raise MissingExtraError.of(
            "solution.plot() draws a slice of a solid; pictures of the whole need", "pyvista", "3d"
        ) from None
    return pyvista
