"""Solutions in two and more dimensions: frames over the plane, or over a slice through the middle; eigenfunctions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.geometry import Box
from frozenpinn.geometry.cells import Mesh, fill
from frozenpinn.output.plotting.quantities import Labels, Quantity
from frozenpinn.output.plotting.sheet import Sheet, lay_out
from frozenpinn.results.expressions import Expression, field_or_expression
from frozenpinn.runtime.figures import LINES
from frozenpinn.runtime.paths import checked_picture

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.modes.result import Mode

Array = np.ndarray
_GRID = 121  # points along an edge of a box
_CELLS = 160  # along the longest edge of another shape
_ACROSS = 4  # frames in a row


class Plane:
    """The first two coordinates of a domain, through the middle of all others, as something that can be coloured."""

    def __init__(self, domain: Domain, resolution: float = 1.0) -> None:
        self.domain = domain
        grid, cells = round(_GRID * resolution), round(_CELLS * resolution)
        self._middle = (domain.lower + domain.upper) / 2.0
        lower, upper = domain.lower[:2], domain.upper[:2]
        self.axes = [np.linspace(a, b, grid) for a, b in zip(lower, upper, strict=True)]
        self.mesh: Mesh | None = None
        if not isinstance(domain, Box):
            self.mesh = fill(lambda p: domain.contains(self._lifted(p)), lower, upper, cells)
            if not len(self.mesh.simplices):
                raise EvaluationError(
                    "the slice through the middle of the bounding box does not meet the domain; evaluate the solution "
                    "where you want to see it and draw that."
                )

    def _lifted(self, points: Array) -> Array:
        result = np.tile(self._middle, (len(points), 1))
        result[:, :2] = points
        return result

    @property
    def points(self) -> Array:
        """All points (n, d) at which values are needed."""
        if self.mesh is not None:
            return self._lifted(self.mesh.points)
        grid = np.meshgrid(*self.axes, indexing="ij")
        return self._lifted(np.stack([g.ravel() for g in grid], axis=1))

    @property
    def where(self) -> str:
        """The coordinates that are held."""
        held = zip(self.domain.coordinates[2:], self._middle[2:], strict=True)
        return "".join(f", {name} = {middle:.3g}" for name, middle in held)

    @property
    def to_scale(self) -> bool:
        """Whether both axes are drawn with the same scale."""
        long = 6.0  # times as long as high: not drawn to scale
        lengths = self.domain.lengths[:2]
        return bool(np.max(lengths) <= long * np.min(lengths))

    def colour(self, axis: Any, values: Array, smooth: bool = True, **colours: Any) -> Any:
        """Draw values at the points, with the boundary of a shape; ``smooth`` ones in between as well."""
        colours["rasterized"] = True
        if self.mesh is None:
            shading = "gouraud" if smooth else "nearest"
            image = axis.pcolormesh(*self.axes, self._table(values), shading=shading, **colours)
        else:
            from matplotlib.collections import LineCollection

            x, y = self.mesh.points.T
            triangles = self.mesh.simplices
            if smooth:
                image = axis.tripcolor(x, y, values, triangles=triangles, shading="gouraud", **colours)
            else:
                image = axis.tripcolor(x, y, facecolors=values[triangles[:, 0]], triangles=triangles, **colours)
            edges = LineCollection(
                self.mesh.points[self.mesh.boundary], colors="0.25", linewidths=0.8, capstyle="round"
            )
            axis.add_collection(edges)
        if self.to_scale:
            axis.set_aspect("equal")
        return image

    def _table(self, values: Array) -> Array:
        return np.asarray(values.reshape([len(a) for a in self.axes]).T)

    def contour(self, axis: Any, values: Array, count: int) -> None:
        """Draw lines of equal values."""
        look = {"levels": count, "colors": "k", "linewidths": 0.6, "alpha": 0.7}
        if not np.ptp(values[np.isfinite(values)]) > 0:
            return
        if self.mesh is None:
            axis.contour(*self.axes, self._table(values), **look)
        else:
            axis.tricontour(*self.mesh.points.T, self.mesh.simplices, values, **look)

    def sparse(self, count: int) -> tuple[list[Array], Array, Array]:
        """Return a coarse grid along both axes, and which points of it lie in the domain."""
        lower, upper = self.domain.lower[:2], self.domain.upper[:2]
        edges = [(b - a) / (2 * count) for a, b in zip(lower, upper, strict=True)]
        axes = [np.linspace(a + e, b - e, count) for a, b, e in zip(lower, upper, edges, strict=True)]
        grid = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
        points = self._lifted(grid)
        return axes, points, self.domain.contains(points)


def frame_panels(
    drawn: Sequence[Quantity], when: Array, labels: Labels, flow: Flow | None = None, title: str | None = None
) -> Sheet:
    """Return frames of each field, coloured inside the domain only, on one scale for each field."""
    plane = Plane(drawn[0].domain, drawn[0].resolution)
    panels: list[Callable[[Any], Any]] = []
    bars = []
    across = min(_ACROSS, len(when))
    for one in drawn:
        values = one.at(plane.points, when)
        colours, limits = one.colours(values)
        for k, t in enumerate(when):
            name = one.label if title is None else title
            text = (name if one.static else f"{name}, t = {t:.3g}") + plane.where
            panels.append(_frame(plane, one, one.floored(values[:, k]), colours, text, labels, flow, t))
        bars.append((labels.of(one), len(when), limits))
    if drawn[0].static or len(when) == 1:
        across = min(3, len(drawn))
    return Sheet(panels, across, _size(plane, one_frame=across == 1), bars)


def _frame(
    plane: Plane,
    one: Quantity,
    values: Array,
    colours: dict[str, Any],
    title: str,
    labels: Labels,
    flow: Flow | None,
    t: float,
) -> Callable[[Any], Any]:
    def draw(axis: Any) -> Any:
        image = plane.colour(axis, values, not one.cyclic, **colours)
        if one.look.contours:
            plane.contour(axis, values, one.look.contours)
        if flow is not None:
            _draw_flow(axis, plane, flow, t)
        x, y = plane.domain.coordinates[:2]
        axis.set(xlabel=labels(x), ylabel=labels(y), title=title)
        return image

    return draw


@dataclass(frozen=True)
class Flow:
    """A vector field over the plane, drawn as arrows or as streamlines."""

    at: Callable[[Array, Array], Array]
    lines: bool


def _draw_flow(axis: Any, plane: Plane, flow: Flow, t: float) -> None:
    many = 40 if flow.lines else 18  # places along each axis
    axes, points, inside = plane.sparse(many)
    vectors = np.full((2, len(points)), np.nan)
    vectors[:, inside] = flow.at(points[inside], np.array([t]))[:2, :, 0]
    if flow.lines:
        u, v = (part.reshape(many, many).T for part in vectors)
        axis.streamplot(
            *axes, np.ma.masked_invalid(u), np.ma.masked_invalid(v), color="k", linewidth=0.7, arrowsize=0.7
        )
    else:
        axis.quiver(
            *points[inside].T[:2],
            *vectors[:, inside],
            color="k",
            edgecolor="w",
            linewidth=0.4,
            pivot="mid",
            width=0.005,
        )


def _size(plane: Plane, one_frame: bool) -> tuple[float, float]:
    """Return inches of a panel: as high as its shape asks for."""
    width = 4.6 if one_frame else 3.3
    lengths = plane.domain.lengths[:2]
    ratio = float(lengths[1] / lengths[0]) if plane.to_scale else 0.8
    return width, float(np.clip(width * 0.85 * ratio, 1.1, 1.6 * width)) + 0.75


# ---- eigenfunctions -----------------------------------------------------------------------------------


def plot_functions(modes: Sequence[Mode], file: str | None = None, field: str | None = None) -> Any:
    """Draw eigenfunctions in panels, each under its eigenvalue; return the figure."""
    most_modes = 24  # in one picture
    if not modes:
        raise EvaluationError("there is no mode to draw.")
    if file is not None:
        checked_picture(file)
    modes = list(modes)[:most_modes]
    problem = modes[0].problem
    name = problem.fields[0] if field is None else field_or_expression(modes[0].parts[0], field)
    if isinstance(name, Expression) and (name.shape or name.is_complex):
        raise EvaluationError(f"'{field}' is no real number; draw one component or part of it.")
    plane = None if problem.domain.dimension == 1 else Plane(problem.domain)
    return lay_out(Sheet([_function(mode, name, plane) for mode in modes], min(5, len(modes)), (2.4, 2.3)), file)


def _function(mode: Mode, drawn: str | Expression, plane: Plane | None) -> Callable[[Any], None]:
    def values_at(*where: Array) -> Array:
        found = mode(*where, field=drawn) if isinstance(drawn, str) else mode(drawn.text, *where)
        return np.real(found)

    def draw(axis: Any) -> None:
        if plane is None:
            domain = mode.problem.domain
            x = np.linspace(domain.lower[0], domain.upper[0], 300)
            axis.axhline(0.0, color="0.8", linewidth=0.8)
            axis.plot(x, values_at(x), color=LINES[0])
            axis.tick_params(labelsize=7)
        else:
            values = values_at(*plane.points.T)
            limit = float(np.max(np.abs(values), initial=0.0)) or 1.0
            plane.colour(axis, values, cmap="RdBu_r", vmin=-limit, vmax=limit)
            axis.set(xticks=[], yticks=[])
        value = complex(mode.value)
        axis.set_title(f"{value.real:.6g}" + (f" {value.imag:+.4g}i" if value.imag else ""), fontsize=9)

    return draw
