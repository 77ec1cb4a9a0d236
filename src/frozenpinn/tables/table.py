"""Values on a grid or at scattered points as a smooth function of the coordinates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.functions import real_number
from frozenpinn.runtime.arguments import is_complex, is_whole, reals, shown, spelled

if TYPE_CHECKING:
    from frozenpinn.tables.splines import Axis, GridSpline

Array = np.ndarray


class Fit(NamedTuple):
    """The spline of a table, its error (None if unknown) and the noise that was taken out of the values."""

    spline: GridSpline
    error: float | None
    noise: float | None


@spelled(ProblemError)
@dataclass(frozen=True, eq=False, init=False)
class Table:
    """Values on a grid, or at scattered points, as a smooth function of the coordinates; data of a :class:`Problem`.

    Parameters
    ----------
    values
        On a grid: one dimension for each coordinate, in the order in which they are named. At scattered points:
        shape (n,).
    **coordinates
        Where the values are, by the name of the coordinate (``x``, ``y``, …, ``t``): as many places as the grid has
        along that dimension; its two ends, if there are more values than two; or n of each for scattered points.
        Without any, the grid is laid over the domain of the problem.
    degree
        Degree of the spline: 1, 3 or 5. At scattered points, radial functions are brought to a cubic one.
    smooth
        True makes noisy values smooth, as much as cross-validation says; a number is the noise's standard deviation.
    cells
        Whether values belong to the middles of cells, as those of images do; ends are then those of the outer cells.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 21)
    >>> table = Table(np.sin(x), x=x)
    >>> round(float(table(0.5)), 9), round(float(table.derivative(x=1)(0.5)), 6)
    (0.479425539, 0.877583)
    """

    values: Array
    coordinates: Mapping[str, Array]
    degree: int
    smooth: bool | float
    cells: bool
    periods: Mapping[str, float]
    box: Mapping[str, tuple[float, float]]
    orders: tuple[int, ...]

    def __init__(
        self,
        values: Any,
        *,
        degree: int = 5,
        smooth: bool | float = False,
        cells: bool = False,
        **coordinates: Any,
    ) -> None:
        degrees = (1, 3, 5)
        own = _numbers(values, "the values of a table")
        if own.ndim == 0 or own.size < 2:
            raise ProblemError(f"a table needs at least two values, got {shown(values)}; a constant is just a number.")
        if not is_whole(degree) or degree not in degrees:
            raise ProblemError(f"the degree of a table is one of {choices(map(str, degrees))}, got {shown(degree)}.")
        places = {name: _numbers(given, f"the coordinate '{name}'") for name, given in coordinates.items()}
        vars(self).update(
            values=own,
            coordinates=_checked(own, places, cells) if places else {},
            degree=degree,
            smooth=_smoothness(smooth),
            cells=bool(cells),
            periods={},
            box={},
            orders=(0,) * len(places),
        )

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The coordinates that it depends on, in order."""
        return tuple(self.coordinates)

    @property
    def is_scattered(self) -> bool:
        """Whether the values are those at scattered points."""
        return self.values.ndim == 1 and len(self.coordinates) > 1

    @property
    def size(self) -> float:
        """The largest absolute value."""
        return float(np.max(np.abs(self.values)))

    # ---- other tables ---------------------------------------------------------------------------

    def over(self, ends: Mapping[str, tuple[float, float]], periodic: Sequence[str] = ()) -> Table:
        """Return the same values laid over a box; along periodic axes, the upper end is the lower one."""
        places = {}
        for (name, (a, b)), n in zip(ends.items(), self.values.shape, strict=True):
            cell = (b - a) / n
            if self.cells:
                places[name] = a + cell * (np.arange(n) + 0.5)
            else:
                places[name] = a + cell * np.arange(n) if name in periodic else np.linspace(a, b, n)
        return self._with(coordinates=places, orders=(0,) * len(places))

    def bound(self, periods: Mapping[str, float], box: Mapping[str, tuple[float, float]]) -> Table:
        """Return the table as a problem uses it, with the periods of its coordinates and the box of the domain."""
        return self._with(periods=dict(periods), box=dict(box))

    def derivative(self, **orders: int) -> Table:
        """Return a derivative, such as ``derivative(x=1)``; it belongs to the same spline."""
        wrong = [name for name in orders if name not in self.coordinates]
        if wrong:
            raise ProblemError(f"a table of {choices(self.coordinates)} has no coordinate '{wrong[0]}'.")
        added = tuple(o + orders.get(name, 0) for name, o in zip(self.coordinates, self.orders, strict=True))
        other = self._with(orders=added)
        vars(other)["fit"] = self.fit
        return other

    def _with(self, **changes: Any) -> Table:
        other = object.__new__(Table)
        kept = {name: value for name, value in vars(self).items() if name != "fit"}
        vars(other).update(kept | changes)
        return other

    # ---- values ---------------------------------------------------------------------------------

    @cached_property
    def fit(self) -> Fit:
        """The spline through the values, its error and the noise."""
        from frozenpinn.tables.splines import GridSpline, gridded, left_out_error, smoothed

        if not self.coordinates:
            raise ProblemError(
                f"a table of shape {self.values.shape} has no coordinates; name them, such as Table(values, x=…), or "
                "give it to a problem, whose domain it then covers."
            )
        if self.is_scattered:
            points = np.stack(list(self.coordinates.values()), axis=1)
            ends = {name: (float(x.min()), float(x.max())) for name, x in self.coordinates.items()}
            found = gridded(points, self.values, list((ends | dict(self.box)).values()), self.smooth)
            return Fit(found.spline, found.error, found.noise)
        axes, values = self._axes()
        if self.smooth is False:
            return Fit(GridSpline.through(axes, values), left_out_error(axes, values), None)
        calm = smoothed(axes, values, None if self.smooth is True else float(self.smooth))
        return Fit(GridSpline.through(axes, calm.values), calm.error, calm.noise)

    def _axes(self) -> tuple[list[Axis], Array]:
        """Return the axes of the grid, upwards, and its values, without those that repeat the first of a period."""
        from frozenpinn.tables.splines import Axis

        values, axes = self.values, []
        for i, (name, given) in enumerate(self.coordinates.items()):
            x, period = given, self.periods.get(name)
            if x[0] > x[-1]:
                x, values = x[::-1], np.flip(values, i)
            if period is not None:
                x, values, period = _around(x, values, i, period)
            axes.append(Axis.of(x, self.degree, period))
        return axes, values

    def __call__(self, *places: Any) -> Array:
        """Return the values for one number or array per coordinate, in their order."""
        if len(places) != len(self.coordinates):
            raise ProblemError(f"a table of {choices(self.coordinates)} takes {len(self.coordinates)} arguments.")
        return self.fit.spline(places, self.orders)

    def on_grid(self, axes: Mapping[str, Array]) -> Array:
        """Return the values on a grid, with dimensions in the order of the coordinates of the table."""
        return self.fit.spline.on_grid([axes[name] for name in self.coordinates], self.orders)

    def joints(self, name: str) -> Array:
        """Return where the slope of the spline jumps along a coordinate; from degree 2 on it does nowhere."""
        i, spline = list(self.coordinates).index(name), self.fit.spline
        degree = spline.degrees[i]
        if degree > 1:
            return np.zeros(0)
        return spline.knots[i][degree + 1 : -degree - 1]

    def describe(self) -> str:
        """Say what stands between the values, and how well it is known."""
        fit, counts = self.fit, " × ".join(map(str, self.values.shape))
        if self.is_scattered:
            kind = f"radial functions through {counts} scattered values"
        else:
            kind = f"a spline of degree {max(fit.spline.degrees)} through {counts} values"
        size = self.size or 1.0
        noise = "" if fit.noise is None else f", smoothed: their noise is about {fit.noise / size:.1e} of their size"
        if fit.error is None:
            return f"{kind}{noise}; its own error is not known, as there are too few"
        how = "what is left of the noise" if fit.noise is not None else "told from values that were left out"
        return f"{kind}{noise}; its own error is about {fit.error / size:.1e} of their size ({how})"

    def __repr__(self) -> str:
        names = ", ".join(self.coordinates) or "not placed yet"
        return f"Table({' × '.join(map(str, self.values.shape))} values over {names})"

    def __deepcopy__(self, memo: object) -> Table:
        return self


def _around(x: Array, values: Array, axis: int, period: float) -> tuple[Array, Array, float | None]:
    """Return one period of the values along an axis; no period if its ends are both there and differ."""
    length, spacing = x[-1] - x[0], float(np.median(np.diff(x)))
    if abs(length - period) <= 1e-6 * period:
        first, last = np.take(values, 0, axis), np.take(values, -1, axis)
        if np.max(np.abs(first - last)) > 1e-6 * max(float(np.max(np.abs(values))), 1e-300):
            return x, values, None
        return x[:-1], np.delete(values, -1, axis), period
    return x, values, period if abs(length + spacing - period) <= 0.5 * spacing else None


def _numbers(given: Any, what: str) -> Array:
    if is_complex(given):
        raise ProblemError(f"{what} are complex; give the real and the imaginary part as two tables.")
    flags = isinstance(given, np.ndarray) and given.dtype.kind == "b"
    array = np.array(
        reals(given.astype(float) if flags else given, f"{what} must be an array of numbers", ProblemError)
    )
    finite = np.isfinite(array)
    if not finite.all():
        at = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ProblemError(
            f"{what} must be finite; {int(np.sum(~finite))} of {array.size} are not, the first at index "
            f"{at[0] if len(at) == 1 else at}. Fill them, or leave them out and give the others as scattered points: "
            "Table(values, x=…, y=…) with one place for each value."
        )
    array.flags.writeable = False
    return array


def _checked(values: Array, places: Mapping[str, Array], cells: bool) -> dict[str, Array]:
    """Return the places along each coordinate of a grid, or of scattered points, if they fit the values."""
    if values.ndim == 1 and len(places) > 1:
        for name, x in places.items():
            if x.shape != values.shape:
                raise ProblemError(
                    f"{values.size} scattered values need as many places along '{name}', got shape {x.shape}."
                )
        points = np.stack(list(places.values()), axis=1)
        if len(np.unique(points, axis=0)) < len(points):
            raise ProblemError("two scattered values stand at the same point; keep one of them, or their mean.")
        if len(points) < 3 * len(places):
            raise ProblemError(f"{len(points)} scattered values are too few in {len(places)} coordinates.")
        return dict(places)
    if values.ndim != len(places):
        raise ProblemError(
            f"an array of shape {values.shape} has {values.ndim} dimension(s), but {len(places)} coordinate(s) are "
            f"named: {choices(places)}. Name one for each, in the order of the dimensions."
        )
    return {name: _axis(name, x, n, cells) for (name, x), n in zip(places.items(), values.shape, strict=True)}


def _axis(name: str, x: Array, n: int, cells: bool) -> Array:
    if n < 2:
        raise ProblemError(f"the grid has {n} value along '{name}'; at least two are needed.")
    if x.shape == (2,) and (n > 2 or cells):
        a, b = map(float, x)
        cell = (b - a) / n
        x = a + cell * (np.arange(n) + 0.5) if cells else np.linspace(a, b, n)
    if x.shape != (n,):
        raise ProblemError(
            f"the coordinate '{name}' has shape {x.shape}; the values have {n} entries along it. Give {n} places, or "
            f"the two ends: {name}=(0, 1)."
        )
    steps = np.diff(x)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        at = int(np.argmax(steps * np.sign(x[-1] - x[0] or 1.0) <= 0))
        raise ProblemError(
            f"the coordinate '{name}' is not sorted: {x[at]:g} is followed by {x[at + 1]:g} at index {at + 1}. Sort it "
            "together with the values; each place may stand there once."
        )
    return x


def _smoothness(given: Any) -> bool | float:
    if given is None or isinstance(given, bool | np.bool_):
        return bool(given)
    number = real_number(given)
    if number is None or not 0 < number < math.inf:
        raise ProblemError(f"smooth is True, or the standard deviation of the noise, a positive number; got {given!r}.")
    return number


def is_data_array(given: Any) -> bool:
    """Whether something is an xarray.DataArray, without importing xarray."""
    return type(given).__module__.partition(".")[0] == "xarray" and hasattr(given, "dims") and hasattr(given, "coords")
