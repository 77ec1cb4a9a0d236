"""Arrays among the data of a problem: what they cover, and how they stand in its expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, choices
from frozenpinn.geometry import Domain
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.runtime.arguments import shown
from frozenpinn.statement.composites import ComplexTable
from frozenpinn.tables.table import Table, is_data_array

Array = np.ndarray


def with_tables(given: Mapping[str, Any], domain: Domain, time: tuple[float, float] | None) -> dict[str, Any]:
    """Return a statement with its arrays as tables that cover the domain."""
    names = {
        "initial": "the initial value",
        "initial_velocity": "the initial velocity",
        "boundary": "a boundary value",
        "exact": "the exact solution",
    }
    own = {key: _bound_all(value, domain, time, names[key]) for key, value in given.items() if key in names}
    parameters = {
        name: _bound_all(value, domain, time, f"parameter '{name}'") for name, value in given["parameters"].items()
    }
    return {**given, **own, "parameters": parameters}


def _bound_all(value: Any, domain: Domain, time: tuple[float, float] | None, what: str) -> Any:
    """Return a datum, a list or a table of data with all arrays bound."""
    if isinstance(value, Mapping):
        return {key: _bound_all(entry, domain, time, f"{what} of {key}") for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_bound_all(entry, domain, time, what) for entry in value)
    if is_dataclass(value) and not isinstance(value, type | Table) and hasattr(value, "field"):  # a condition
        changed = {f.name: _bound_all(getattr(value, f.name), domain, time, what) for f in fields(value)}
        same = all(changed[f.name] is getattr(value, f.name) for f in fields(value))
        return value if same else replace(value, **changed)
    if is_data_array(value):
        from frozenpinn.tables.files import as_table

        return bind(as_table(value, what), domain, time, what)
    if isinstance(value, np.ndarray) and value.ndim and np.iscomplexobj(value):
        return ComplexTable(*(bind(Table(part), domain, time, what) for part in (value.real, value.imag)))
    if isinstance(value, np.ndarray) and value.ndim:
        return bind(Table(value), domain, time, what)
    return bind(value, domain, time, what) if isinstance(value, Table) else value


def bind(table: Table, domain: Domain, time: tuple[float, float] | None, what: str) -> Table:
    """Return a table that covers the domain, or say why it does not."""
    ends = {c: (float(a), float(b)) for c, a, b in zip(domain.coordinates, domain.lower, domain.upper, strict=True)}
    periodic = [c for c, around in zip(domain.coordinates, domain.periodic, strict=True) if around]
    if not table.coordinates:
        if table.values.ndim != domain.dimension:
            raise ProblemError(
                f"{what} is an array of shape {table.values.shape}; the domain has {domain.dimension} coordinate(s), "
                f"{choices(ends)}, and a plain array needs one dimension for each. Name the coordinates otherwise: "
                f"fp.Table(values, {domain.coordinates[0]}=…, {TIME}=…)."
            )
        table = table.over(ends, periodic)
    if time is not None:
        ends[TIME] = (float(time[0]), float(time[1]))
    unknown = [name for name in table.coordinates if name not in ends]
    if unknown:
        raise ProblemError(f"{what} has the coordinate '{unknown[0]}'; those of the problem are {choices(ends)}.")
    own = {name: ends[name] for name in table.coordinates}
    if table.is_scattered:
        _check_scattered(table, domain, own, what)
    else:
        _check_grid(table, own, periodic, what)
    periods = {name: b - a for name, (a, b) in own.items() if name in periodic}
    return table if (table.periods, table.box) == (periods, own) else table.bound(periods, own)


def _check_grid(table: Table, ends: Mapping[str, tuple[float, float]], periodic: list[str], what: str) -> None:
    for name, (a, b) in ends.items():
        x = np.sort(table.coordinates[name])
        slack = 0.5001 * max(x[1] - x[0], x[-1] - x[-2]) + 1e-9 * (b - a)
        above = slack + (x[-1] - x[-2] if name in periodic else 0.0)
        if x[0] > a + slack or x[-1] < b - above:
            raise ProblemError(
                f"{what} is given for {name} from {x[0]:g} to {x[-1]:g}, which does not cover the problem's "
                f"{name} from {a:g} to {b:g}. Give values as far as that, or state the problem where they are; half a "
                "spacing may be missing at each end."
            )


def _check_scattered(table: Table, domain: Domain, ends: Mapping[str, tuple[float, float]], what: str) -> None:
    """Refuse scattered points that leave a part of the domain empty."""
    from scipy.spatial import cKDTree

    n_places = 400  # of the domain that are tested
    sparse = 4.0  # typical distances of scattered points without any point near a place of the domain
    low, high = np.array(list(ends.values())).T
    points = (np.stack(list(table.coordinates.values()), axis=1) - low) / (high - low)
    rng = np.random.default_rng(0)
    inside = dict(zip(domain.coordinates, domain.sample(n_places, "random", rng=rng).x.T, strict=True))
    if TIME in ends:
        inside[TIME] = rng.uniform(*ends[TIME], len(next(iter(inside.values()))))
    places = (np.stack([inside[name] for name in ends], axis=1) - low) / (high - low)
    distance = cKDTree(points).query(places)[0]
    typical = len(points) ** (-1.0 / len(ends))
    worst = int(np.argmax(distance))
    if distance[worst] > sparse * typical:
        where = ", ".join(f"{name} = {inside[name][worst]:.3g}" for name in ends)
        raise ProblemError(
            f"{what}: the scattered points do not cover the domain; none is near {where}. Give values there, or state "
            "the problem where they are."
        )


def table_functions(name: str, table: Table, jets: JetSpace, taken: Mapping[str, Any]) -> dict[str, UserFunction]:
    """Return the functions that stand for a table and its derivatives, but for names that a user has given himself."""
    order = 2  # highest derivative of a table in equations, all coordinates together
    legal = (*jets.coordinates, TIME)
    found = {}
    for orders in product(range(order + 1), repeat=len(table.coordinates)):
        if sum(orders) > order:
            continue
        by_name = dict(zip(table.coordinates, orders, strict=True))
        jet = Jet(name, tuple(by_name.get(c, 0) for c in jets.coordinates), 0, by_name.get(TIME, 0))
        word = jets.name(jet) if sum(orders) else name
        if word not in taken or not sum(orders):
            own = table.derivative(**by_name) if sum(orders) else table
            found[word] = UserFunction(own, f"parameter '{name}'", tuple(legal[:-1]), table.coordinate_names)
    return found


def tables_of(problem: Any) -> Iterator[tuple[str, Table]]:
    """Yield the tables of a problem with how messages call them."""
    functions = [f for f in problem.parameters.functions.values() if isinstance(f, UserFunction)]
    data = [*problem.initial_data, *(c.value for c in problem.conditions)]
    functions += [datum.function for datum in data if datum.function is not None]
    for function in functions:
        if isinstance(function.function, Table) and not any(function.function.orders):
            yield function.what, function.function


def table_from_dict(document: Mapping[str, Any], arrays: Mapping[str, Array], folder: str = "") -> Table:
    """Return a table that a document names: by a file, by the arrays of a stored solution, or by lists of values."""
    import os

    from frozenpinn.tables import read_table

    own = dict(document)
    if "file" in own:
        file = own.pop("file")
        if not isinstance(file, str):
            raise ProblemError(f'file is the path of a table, such as file = "k.csv"; got {shown(file)}.')
        known = ("column", "smooth", "degree", "cells", "x", "y", "z", TIME)
        _check_keys(own, known, "a table from a file")
        return read_table(os.path.join(folder, file), **own)
    if "array" in own:
        prefix = own.pop("array")
        names = own.pop("coordinates")
        places: dict[str, Any] = {n: arrays[f"{prefix}/{n}"] for n in names}
        return Table(arrays[f"{prefix}/values"], **places, **own)
    return Table(**own)


def table_to_dict(table: Table, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return a table as plain data; its arrays are added to others."""
    prefix = f"table/{len({name.split('/')[1] for name in arrays if name.startswith('table/')})}"
    arrays[f"{prefix}/values"] = table.values
    arrays |= {f"{prefix}/{name}": places for name, places in table.coordinates.items()}
    about = {"array": prefix, "coordinates": list(table.coordinates), "degree": table.degree, "smooth": table.smooth}
    return about


def is_table_document(value: Any) -> bool:
    """Whether a table of a document stands for values on a grid or at points."""
    return isinstance(value, Mapping) and any(key in value for key in ("file", "array", "values"))


def _check_keys(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in given:
        if key not in known:
            raise ProblemError(f"{what} has the key '{key}'; the keys are {choices(known)}.")
