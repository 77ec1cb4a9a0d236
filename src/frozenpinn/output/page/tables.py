"""What a page shows from tables: arrays as text, errors on a coarse grid, and sweeps over parameters."""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, choices
from frozenpinn.geometry.points import grid_points
from frozenpinn.output.plotting.quantities import quantity
from frozenpinn.results.evaluation import arguments_of, moments

if TYPE_CHECKING:
    import xarray

    from frozenpinn.results.solution import Solution

Array = np.ndarray
_PLACES = {1: 81, 2: 25}  # along each axis
_MOMENTS = {1: 31, 2: 6}
_SMALLEST = -30.0  # as a power of ten


def encoded(array: Array, kind: str = "<f8") -> dict[str, Any]:
    """Return an array as text, with its shape."""
    data = np.ascontiguousarray(array, dtype=kind)
    return {"shape": list(data.shape), "type": kind[1:], "data": base64.b64encode(data.tobytes()).decode("ascii")}


def error_table(solution: Solution, field: str) -> dict[str, Any] | None:
    """Return log₁₀ of the error of a field on a grid: the true one or else the estimate; None if neither is known."""
    problem = solution.problem
    if field not in problem.exact and solution.witness is None:
        return None
    one = quantity(solution, field, "", "error")
    d = problem.domain.dimension
    axes = [np.linspace(a, b, _PLACES[d]) for a, b in zip(problem.domain.lower, problem.domain.upper, strict=True)]
    times = moments(problem, _MOMENTS[d])
    places = grid_points(axes)
    inside = problem.domain.contains(places)
    values = np.full((len(places), len(times)), np.nan)
    values[inside] = one.at(places[inside], times)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.maximum(np.log10(values), _SMALLEST)
    if not np.all(inside):  # from the nearest place inside, as the page interpolates
        from scipy.spatial import cKDTree

        _, nearest = cKDTree(places[inside]).query(places[~inside])
        logs[~inside] = logs[inside][nearest]
    return {
        "label": one.label,
        "axes": [encoded(axis) for axis in (*axes, times)[: len(arguments_of(problem))]],
        "values": encoded(logs.ravel(), "<f4"),
    }


_SPACE = (("x", "y"), ("r", "theta", "z"))  # names of coordinates


def dataset_data(runs: xarray.Dataset) -> dict[str, Any]:
    """Return what the page of a sweep shows: each dimension that is neither a coordinate nor time has a slider."""
    runs = _unfolded(runs)
    names = next((names for names in _SPACE if names[0] in runs.dims), ())
    space = [name for name in names if name in runs.dims][:2]
    time = ["t"] if "t" in runs.dims else []
    if not space or "x1" in runs.dims or ("z" in runs.dims and "z" not in space):
        known = choices([str(dim) for dim in runs.dims])
        raise EvaluationError(f"a page shows tables over x, or x and y, with or without t; the dimensions are {known}.")
    shown = [
        name
        for name, variable in runs.data_vars.items()
        if set(space) <= set(variable.dims) and np.issubdtype(variable.dtype, np.floating)
    ]
    if not shown:
        raise EvaluationError(f"no variable has the dimensions {choices([*space, *time])}; there is nothing to show.")
    others: list[Hashable] = []
    for name in shown:
        others += [dim for dim in runs[name].dims if dim not in (*space, *time, *others)]
    order = [*others, *space, *time]
    table = runs[shown].sortby([dim for dim in order if dim in runs.coords])
    axes = {dim: _axis(table, dim) for dim in order}
    fields = []
    for name in shown:
        sizes = {dim: len(axes[dim]) for dim in order if dim not in table[name].dims}
        values = table[name].expand_dims(sizes).transpose(*order).to_numpy()
        entry = {"label": str(name), "axes": [encoded(axes[dim]) for dim in order], "values": encoded(values, "<f4")}
        fields.append({"name": str(name), "table": entry})
    ends = [axes[dim] for dim in space]
    return {
        "kind": "table",
        "equations": _equations(runs),
        "domain": "",
        "told": [f"{int(np.prod([len(axes[dim]) for dim in others]))} runs"],
        "coordinates": space,
        "time": [float(axes["t"][0]), float(axes["t"][-1])] if time else None,
        "lower": [float(axis[0]) for axis in ends],
        "upper": [float(axis[-1]) for axis in ends],
        "loops": [],
        "derivatives": [""],
        "parameters": [{"name": str(dim), "values": axes[dim].tolist()} for dim in others],
        "fields": fields,
    }


def _unfolded(runs: xarray.Dataset) -> xarray.Dataset:
    """Return a table whose parameters are dimensions, if its runs are a grid of them, as sweeps make it."""
    along = [name for name, c in runs.coords.items() if c.dims == ("run",) and name != "run"]
    numbers = [name for name in along if np.issubdtype(runs[name].dtype, np.number)]
    if "run" not in runs.dims or not numbers or len(numbers) < len(along):
        return runs
    distinct = [np.unique(runs[name].to_numpy()) for name in numbers]
    if np.prod([len(values) for values in distinct]) != runs.sizes["run"]:
        return runs.sortby(numbers[0]).swap_dims(run=numbers[0]).drop_vars("run") if len(numbers) == 1 else runs
    kept = [name for name, v in runs.data_vars.items() if "run" in v.dims and np.issubdtype(v.dtype, np.floating)]
    plain = runs[kept].drop_vars("run", errors="ignore")
    if len(numbers) == 1:
        return plain.swap_dims(run=numbers[0])
    return plain.set_index(run=numbers).unstack("run")


def _equations(runs: xarray.Dataset) -> list[str]:
    """Return what a table says it is a solution of."""
    if "problem" in runs.attrs:
        return [str(runs.attrs["problem"])]
    try:
        found = json.loads(runs.attrs.get("sweep", "{}")).get("equation", [])
    except (ValueError, AttributeError):
        return []
    return [
        str(e) for e in (found.values() if isinstance(found, dict) else [found] if isinstance(found, str) else found)
    ]


def _axis(table: xarray.Dataset, dim: Hashable) -> Array:
    """Return the places along a dimension; the numbers of the runs if they are no numbers."""
    known = table.coords[dim].to_numpy() if dim in table.coords else np.arange(table.sizes[dim])
    if not np.issubdtype(known.dtype, np.number) or len(np.unique(known)) < len(known):
        known = np.arange(table.sizes[dim])
    return np.asarray(known, dtype=float)
