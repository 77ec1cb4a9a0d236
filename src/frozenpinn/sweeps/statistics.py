"""Statistics of a sweep: mean and quantiles, indices of sensitivity, and a surrogate between its runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, choices, suggestion, warn
from frozenpinn.runtime.arguments import between, reals, shown, spelled

if TYPE_CHECKING:
    import xarray

Array = np.ndarray


@spelled(EvaluationError)
def summary(runs: xarray.Dataset, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> xarray.Dataset:
    """Return mean, standard deviation and quantiles of all fields over the runs that have values.

    Variables are called ``u_mean``, ``u_std``, ``u_quantile``; the attributes say how many runs were used.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    >>> runs = fp.sweep(rod, {"k": fp.Normal(0.1, 0.01)}, tol=1e-3, points=5, times=[0, 1], samples=8)
    >>> sorted(map(str, fp.sweeps.summary(runs).data_vars))[:2]
    ['u_mean', 'u_quantile']
    """
    import xarray as xr

    _check_sweep(runs, "summary")
    levels = reals(quantiles, "quantiles are numbers from 0 to 1", EvaluationError)
    if levels.ndim != 1 or not np.all((levels >= 0) & (levels <= 1)):
        raise EvaluationError(f"quantiles are numbers from 0 to 1, got {shown(quantiles)}.")
    good = _good(runs)
    table = {}
    for name in _fields(runs):
        values = good[name]
        table[f"{name}_mean"] = values.mean("run", skipna=False)
        table[f"{name}_std"] = values.std("run", skipna=False)
        table[f"{name}_quantile"] = values.quantile(levels, "run", skipna=False)
    return xr.Dataset(
        table, attrs={"runs": int(good.sizes["run"]), "left_out": int(runs.sizes["run"] - good.sizes["run"])}
    )


@spelled(EvaluationError)
def sensitivity(runs: xarray.Dataset, field: str | None = None) -> xarray.Dataset:
    """Return Sobol's indices of a sweep with ``design="saltelli"``: the part of the variance that a parameter explains.

    ``first`` is that by the parameter alone, ``total`` that by it and its interplay with others (Jansen's estimators),
    everywhere in space and time, and over ``parameter``.

    Examples
    --------
    >>> varied = {"k": fp.Uniform(0, 1), "nu": fp.Uniform(1, 2)}  # doctest: +SKIP
    >>> runs = fp.sweep(problem, varied, samples=64, design="saltelli")  # doctest: +SKIP
    >>> fp.sweeps.sensitivity(runs)  # doctest: +SKIP
    """
    import xarray as xr

    _check_sweep(runs, "sensitivity")
    names = _fields(runs)
    name = names[0] if field is None and len(names) == 1 else field
    if not isinstance(name, str) or name not in names:
        raise EvaluationError(f"field is one of {choices(names)}, got {shown(field)}.")
    about = json.loads(runs.attrs["sweep"])
    if about.get("design") != "saltelli":
        raise EvaluationError("indices of sensitivity need a sweep with design='saltelli'.")
    varied = about["varied"]
    d, blocks = len(varied), len(varied) + 2
    values = runs[name]
    n = runs.sizes["run"] // blocks
    table = np.asarray(values).reshape(n, blocks, *values.shape[1:])
    kept = np.asarray(runs.status != "failed").reshape(n, blocks).all(axis=1)
    if not np.all(kept):
        warn(f"{int(np.sum(~kept))} of {n} samples are left out, as a run of them has failed.")
    table = table[kept]
    a, b, mixed = table[:, 0], table[:, -1], table[:, 1:-1]
    variance = np.var(np.concatenate([a, b]), axis=0)
    scale = np.where(variance > 1e-14 * np.max(variance, initial=0.0), variance, np.nan)
    first = [1.0 - np.mean((b - mixed[:, k]) ** 2, axis=0) / (2.0 * scale) for k in range(d)]
    total = [np.mean((a - mixed[:, k]) ** 2, axis=0) / (2.0 * scale) for k in range(d)]
    dims = ("parameter", *values.dims[1:])
    coords = {str(c): values.coords[c] for c in values.coords if "run" not in values.coords[c].dims}
    return xr.Dataset(
        {"first": (dims, np.stack(first)), "total": (dims, np.stack(total))}, {"parameter": varied, **coords}
    )


@dataclass(frozen=True, eq=False)
class Surrogate:
    """Solutions between the runs of a sweep, by interpolation in the parameters.

    Called with values of all parameters: ``surrogate(nu=0.02)`` returns a dataset. ``error`` is the relative error by
    field, found by leaving out every fifth run in turn.
    """

    runs: xarray.Dataset
    names: tuple[str, ...]
    error: dict[str, float]

    def __call__(self, **values: float) -> xarray.Dataset:
        """Return the fields at values of the parameters, within the range of the sweep."""
        for name in (*values, *self.names):
            if name not in self.names or name not in values:
                what = "is not a parameter of the sweep" if name not in self.names else "is missing"
                raise EvaluationError(f"'{name}' {what}; they are {choices(self.names)}.{suggestion(name, self.names)}")
        place = np.empty(len(self.names))
        for k, name in enumerate(self.names):
            known = np.asarray(self.runs[name], dtype=float)
            if not between(values[name], float(known.min()), float(known.max())):
                raise EvaluationError(
                    f"{name} = {shown(values[name])} lies outside the sweep, which goes from {known.min():g} to "
                    f"{known.max():g}."
                )
            place[k] = float(values[name])
        template = self.runs.isel(run=0, drop=True)
        theta = _theta(self.runs, self.names)
        table = {}
        for name in _fields(self.runs):
            y = np.asarray(self.runs[name]).reshape(len(theta), -1)
            found = _interpolated(theta, y, place[None])[0].reshape(template[name].shape)
            table[name] = template[name].copy(data=found)
        return template[_fields(self.runs)].assign(table).drop_vars([n for n in self.names if n in template.coords])


@spelled(EvaluationError)
def surrogate(runs: xarray.Dataset) -> Surrogate:
    """Return a function of the parameters that interpolates the runs: splines for one, radial functions for several.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    >>> runs = fp.sweep(rod, {"k": [0.06, 0.09, 0.12, 0.15, 0.18]}, tol=1e-3, points=5, times=[0, 1])
    >>> between = fp.sweeps.surrogate(runs)(k=0.1)
    >>> bool(abs(between.u.sel(x=0.5, t=1) - 0.3727) < 0.01)
    True
    """
    _check_sweep(runs, "surrogate")
    varied = tuple(json.loads(runs.attrs["sweep"])["varied"])
    texts = [name for name in varied if np.asarray(runs[name]).dtype.kind not in "fiu"]
    if texts:
        raise EvaluationError(f"'{texts[0]}' varies as text; a surrogate interpolates numbers.")
    good = _good(runs)
    theta = _theta(good, varied)
    if len(theta) < 5:
        raise EvaluationError(f"a surrogate needs five runs or more that have values, got {len(theta)}.")
    errors = {}
    for name in _fields(runs):
        y = np.asarray(good[name]).reshape(len(theta), -1)
        y = y[:, ~np.any(np.isnan(y), axis=0)]
        miss = 0.0
        for fold in range(5):
            out = np.arange(len(theta)) % 5 == fold
            out &= _inside(theta, ~out)
            if np.any(out):
                miss += float(np.sum((_interpolated(theta[~out], y[~out], theta[out]) - y[out]) ** 2))
        errors[name] = float(np.sqrt(miss / max(float(np.sum(y**2)), 1e-300)))
    return Surrogate(good, varied, errors)


def _check_sweep(runs: Any, who: str) -> None:
    """Refuse what is not the table of a sweep."""
    told = "" if hasattr(runs, "data_vars") else f"; got {shown(runs)}"
    if told or "sweep" not in runs.attrs or "status" not in runs or not _fields(runs):
        raise EvaluationError(f"{who}() takes the Dataset that fp.sweep(…) or fp.sweeps.open_sweep(…) returns{told}.")


def _inside(theta: Array, kept: Array) -> Array:
    """Return which runs lie within the range of others: ends are not left out."""
    return np.all((theta > theta[kept].min(axis=0)) & (theta < theta[kept].max(axis=0)), axis=1)


def _theta(runs: xarray.Dataset, names: Sequence[str]) -> Array:
    return np.stack([np.asarray(runs[name], dtype=float) for name in names], axis=1)


def _interpolated(theta: Array, y: Array, place: Array) -> Array:
    from scipy.interpolate import RBFInterpolator, make_interp_spline

    if theta.shape[1] == 1:
        order = np.argsort(theta[:, 0])
        return np.asarray(make_interp_spline(theta[order, 0], y[order], k=3)(place[:, 0]))
    low, high = theta.min(axis=0), theta.max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    neighbours = 200 if len(theta) > 400 else None
    return np.asarray(
        RBFInterpolator((theta - low) / size, y, kernel="cubic", neighbors=neighbours)((place - low) / size)
    )


def _good(runs: xarray.Dataset) -> Any:
    good = np.isin(np.asarray(runs.status, dtype=str), ("converged", "reached", "error unknown", "unchecked"))
    if not np.any(good):
        raise EvaluationError("no run of this sweep has values; their 'reason' tells why.")
    return runs.isel(run=np.flatnonzero(good))


def _fields(runs: xarray.Dataset) -> list[str]:
    return [str(name).removesuffix("_error_estimate") for name in runs if str(name).endswith("_error_estimate")]
