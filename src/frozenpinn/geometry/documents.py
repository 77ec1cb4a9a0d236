"""Domains as plain data, for problem files and stored solutions: a table with a ``kind`` and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.geometry.ball import Annulus, Ball, Disk, Ellipsoid, Shell
from frozenpinn.geometry.box import Box, Interval
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.rare.combination import KINDS as COMBINATIONS
from frozenpinn.geometry.rare.combination import Combination
from frozenpinn.geometry.rare.implicit import Implicit
from frozenpinn.geometry.rare.mesh_files import read_mesh
from frozenpinn.geometry.rare.point_cloud import PointCloud
from frozenpinn.geometry.rare.polygon import Polygon
from frozenpinn.geometry.rare.relabelled import Parted, Renamed
from frozenpinn.geometry.rare.simplicial import ConvexPolytope, Faceted, Simplicial
from frozenpinn.geometry.rare.solids import Extruded, Revolved
from frozenpinn.geometry.rare.surface_mesh import SurfaceMesh
from frozenpinn.language.jets import coordinate_names
from frozenpinn.runtime.arguments import reals, shown

Document = dict[str, Any]
BOX_KEYS = ("lower", "upper", "periodic")


@dataclass(frozen=True)
class Kind:
    """How one kind of domain is written and read; keys in ``optional`` may be missing."""

    build: Callable[..., Domain]
    keys: tuple[str, ...]
    optional: tuple[str, ...] = ()
    cls: type[Domain] | None = None
    write: Callable[[Any], Document] | None = None


def domain_to_dict(domain: Domain) -> Document:
    """Return a domain as plain data; TypeError if it contains Python functions."""
    own = {} if domain.coordinates == coordinate_names(domain.dimension) else {"coordinates": list(domain.coordinates)}
    return _shape_to_dict(domain) | own


def _shape_to_dict(domain: Domain) -> Document:
    if isinstance(domain, Box):
        lists = {"lower": domain.lower.tolist(), "upper": domain.upper.tolist()}
        return {**lists, "periodic": list(domain.periodic)}
    if isinstance(domain, Combination):
        return {"kind": domain.kind, "parts": [domain_to_dict(domain.first), domain_to_dict(domain.second)]}
    for name, kind in KINDS.items():
        if type(domain) is kind.cls and kind.write is not None:
            return {"kind": name, **kind.write(domain)}
    if type(domain) not in {kind.cls for kind in KINDS.values()}:
        raise ProblemError(
            f"domains of class {type(domain).__name__} can be neither written to problem files nor stored with "
            "solutions; add a line to KINDS in geometry/documents.py."
        )
    raise TypeError(f"{type(domain).__name__} has no plain form")


def domain_from_dict(document: Mapping[str, Any]) -> Domain:
    """Build a domain from plain data; a table without ``kind`` is a box, numbers instead of lists an interval."""
    if not isinstance(document, Mapping):
        raise ProblemError(f"the domain is a table with the keys 'lower' and 'upper', or a 'kind'; got {document!r}.")
    if "coordinates" in document:
        names = document["coordinates"]
        domain = domain_from_dict({key: value for key, value in document.items() if key != "coordinates"})
        if not isinstance(names, list) or len(names) != domain.dimension or not all(isinstance(n, str) for n in names):
            raise ProblemError(f"'coordinates' are {domain.dimension} names, got {shown(names)}.")
        return domain.with_coordinates(names)
    given = dict(document)
    name = given.pop("kind", "box")
    if isinstance(name, str) and name in ("box", "interval"):
        return _box(given)
    if not isinstance(name, str) or name not in KINDS:
        known = ["box", *KINDS]
        close = suggestion(str(name), known)
        raise ProblemError(f"unknown kind of domain {shown(name)}; choose one of {choices(known)}.{close}")
    kind = KINDS[name]
    legal = (*kind.keys, *kind.optional)
    for key in given:
        if key not in legal:
            close = suggestion(key, legal)
            raise ProblemError(
                f"unknown key '{key}' of a domain of kind '{name}'; the keys are {choices(legal)}.{close}"
            )
    for key in kind.keys:
        if key not in given:
            raise ProblemError(f"a domain of kind '{name}' needs the key '{key}'.")
    return kind.build(**given)


def _box(given: Mapping[str, Any]) -> Box:
    for key in given:
        if key not in BOX_KEYS:
            raise ProblemError(
                f"unknown key '{key}' in the domain; the keys are 'lower', 'upper' and 'periodic'."
                f"{suggestion(key, BOX_KEYS)} Other shapes need a 'kind', such as 'disk'."
            )
    if "lower" not in given or "upper" not in given:
        raise ProblemError("the domain needs the keys 'lower' and 'upper'.")
    wanted = "'lower' and 'upper' of the domain are numbers or lists of numbers, and no formulas such as 2*pi"
    lower, upper = (np.atleast_1d(reals(given[key], wanted, ProblemError)) for key in ("lower", "upper"))
    periodic = given.get("periodic", False)
    if lower.shape == upper.shape == (1,):
        flag = periodic[0] if isinstance(periodic, list) and len(periodic) == 1 else periodic
        return Interval(float(lower[0]), float(upper[0]), flag)
    return Box(lower, upper, periodic)


# ---- writing -------------------------------------------------------------------------------------


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError("Python functions have no plain form")
    return given


def _facets(domain: Faceted) -> Document:
    """Return vertices and, for each side, the numbers of its facets."""
    members = {side.name: np.flatnonzero(domain._side_of_facet == i) for i, side in enumerate(domain.sides)}
    return {"vertices": domain.vertices.tolist(), "sides": members}


def _write_mesh(domain: Simplicial) -> Document:
    written = _facets(domain)
    sides = {name: domain.facets[rows].tolist() for name, rows in written["sides"].items()}
    return {**written, "cells": domain.cells.tolist(), "sides": sides}


def _write_surface(domain: SurfaceMesh) -> Document:
    written = _facets(domain)
    sides = {name: rows.tolist() for name, rows in written["sides"].items()}
    crossing = {"crossing": True} if domain.crosses else {}
    return {**written, "faces": domain.facets.tolist(), "sides": sides, **crossing}


def _write_polygon(domain: Polygon) -> Document:
    holes = {"holes": [hole.tolist() for hole in domain.holes]} if domain.holes else {}
    sides = {"sides": {name: list(edges) for name, edges in domain.edges.items()}} if domain.edges else {}
    return {"vertices": domain.ring.tolist(), **holes, **sides}


def _write_cloud(domain: PointCloud) -> Document:
    if domain.alpha is not None:
        points, alpha = domain._given
        return {"points": points.tolist(), **({} if alpha is None else {"alpha": alpha})}
    tables = {key: getattr(domain, key).tolist() for key in ("points", "boundary", "normals")}
    named = {name: rows.tolist() for name, rows in domain._members.items() if name != "boundary"}
    return {**tables, "sides": named}


def _attributes(*names: str) -> Callable[[Domain], Document]:
    """Return a writer of attributes that are numbers, texts or arrays."""
    return lambda domain: {name: np.asarray(getattr(domain, name)).tolist() for name in names}


def _write_implicit(domain: Implicit) -> Document:
    lists = {"lower": domain.lower.tolist(), "upper": domain.upper.tolist()}
    return {"function": _text(domain.function), **lists, **({"cut": True} if domain.cut else {})}


def _write_extruded(domain: Extruded) -> Document:
    return {"base": domain_to_dict(domain.base), "lower": float(domain.lower[-1]), "upper": float(domain.upper[-1])}


def _write_parted(domain: Parted) -> Document:
    sides = {name: _text(comparison.given) for name, comparison in domain.predicates.items()}
    return {"domain": domain_to_dict(domain.domain), "sides": sides}


# ---- reading -------------------------------------------------------------------------------------


def _combined(kind: str) -> Callable[..., Domain]:
    def build(parts: Any) -> Domain:
        if not isinstance(parts, list | tuple) or len(parts) < 2:
            raise ProblemError(
                f"the parts of a domain of kind '{kind}' are a list of two domains or more; got {parts!r}."
            )
        return reduce(lambda first, second: Combination(kind, first, second), map(domain_from_dict, parts))

    return build


def _implicit(function: Any, lower: Any, upper: Any, cut: bool = False) -> Domain:
    if not isinstance(function, str):
        raise ProblemError(f"the function of an implicit domain is text such as 'x^2 + y^2 - 1', got {function!r}.")
    return Implicit(function, lower, upper, cut)


def _parted(domain: Any, sides: Any) -> Domain:
    if not isinstance(sides, Mapping):
        raise ProblemError(f"'sides' is a table of comparisons by name, such as inlet = 'x < 0.1'; got {sides!r}.")
    return Parted(domain_from_dict(domain), sides)


_BALL, _SHELL = _attributes("center", "radius", "name"), _attributes("inner", "outer", "center")
KINDS: dict[str, Kind] = {
    "polygon": Kind(Polygon, ("vertices",), ("holes", "sides"), Polygon, _write_polygon),
    "polytope": Kind(
        ConvexPolytope, ("points",), cls=ConvexPolytope, write=lambda domain: {"points": domain.corners.tolist()}
    ),
    "disk": Kind(Disk, (), ("center", "radius", "name"), Disk, _BALL),
    "ball": Kind(Ball, (), ("center", "radius", "dimension", "name"), Ball, _BALL),
    "ellipsoid": Kind(
        Ellipsoid, ("center", "semi_axes"), ("name",), Ellipsoid, _attributes("center", "semi_axes", "name")
    ),
    "annulus": Kind(Annulus, ("inner", "outer"), ("center",), Annulus, _SHELL),
    "shell": Kind(Shell, ("inner", "outer"), ("center", "dimension"), Shell, _SHELL),
    **{kind: Kind(_combined(kind), ("parts",)) for kind in COMBINATIONS},
    "implicit": Kind(_implicit, ("function", "lower", "upper"), ("cut",), Implicit, _write_implicit),
    "extruded": Kind(
        lambda base, lower, upper: Extruded(domain_from_dict(base), lower, upper),
        ("base", "lower", "upper"),
        (),
        Extruded,
        _write_extruded,
    ),
    "revolved": Kind(
        lambda profile: Revolved(domain_from_dict(profile)),
        ("profile",),
        (),
        Revolved,
        lambda domain: {"profile": domain_to_dict(domain.profile)},
    ),
    "mesh": Kind(Simplicial, ("vertices", "cells"), ("sides",), Simplicial, _write_mesh),
    "surface": Kind(SurfaceMesh, ("vertices", "faces"), ("sides", "crossing"), SurfaceMesh, _write_surface),
    "file": Kind(read_mesh, ("file",), ("crossing",)),
    "cloud": Kind(PointCloud, ("points",), ("boundary", "normals", "sides", "alpha"), PointCloud, _write_cloud),
    "parted": Kind(_parted, ("domain", "sides"), (), Parted, _write_parted),
    "named": Kind(
        lambda domain, name: Renamed(domain_from_dict(domain), name),
        ("domain", "name"),
        (),
        Renamed,
        lambda domain: {"domain": domain_to_dict(domain.domain), "name": domain.name},
    ),
}
