"""Malformed calls of everything public: right arguments of which one or two have been spoiled."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from frozenpinn import boundary, domains, integrators, samplers
from frozenpinn.errors import FrozenPinnError
from frozenpinn.geometry import Ball, Box, Disk, Domain, Implicit, Interval, Polygon, read_mesh
from frozenpinn.inverse.design import design
from frozenpinn.inverse.infer import infer
from frozenpinn.inverse.result import Inferred
from frozenpinn.load import load
from frozenpinn.model import model
from frozenpinn.modes.modes import modes, stability
from frozenpinn.output.page import page
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import spelled
from frozenpinn.search.settings import Settings, Windows
from frozenpinn.solve import check, estimate_error, solve
from frozenpinn.statement.conditions import Dirichlet, Free, Neumann, Periodic, Robin
from frozenpinn.statement.eigenvalue import Eigenvalue
from frozenpinn.statement.measurements import Measurements, Relative
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import Unknown, UnknownField
from frozenpinn.sweeps import sensitivity, summary, surrogate, sweep
from frozenpinn.tables.table import Table
from frozenpinn_lab.fuzzing.junk import called, spoiled
from frozenpinn_lab.fuzzing.trial import Trial

Call = tuple[str, Callable[..., object], Mapping[str, Any]]
CORNERS = [[0, 0], [2, 0], [2, 1], [0, 1]]
CUBE = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
UNIT = Interval(0, 1)
HEAT: dict[str, Any] = {
    "equation": "u_t = k*u_xx",
    "domain": Interval(0, 1),
    "time": (0, 0.1),
    "initial": "sin(pi*x)",
    "boundary": "u = 0",
    "parameters": {"k": 0.5},
}


def calls(rng: np.random.Generator, count: int) -> Iterator[Trial]:
    """Yield calls of domains, conditions, problems, settings, solves and solutions in turn."""
    table = _table()
    for i in range(count):
        name, function, right = table[i % len(table)]
        given = spoiled(right, rng)
        yield Trial(called(name, given), _with(function, given))


def _own(function: Callable[..., object]) -> Callable[..., object]:
    """Let functions of this file refuse arguments like those of the library."""
    return spelled(FrozenPinnError)(function)


def _with(function: Callable[..., object], given: Mapping[str, Any]) -> Callable[[], object]:
    return lambda: function(**given)


def _table() -> list[Call]:
    return [*_domains(), *_statements(), *_solves(), *_solutions(), *_files(), *_inverse(), *_arrays(), *_sweeps()]


def _inverse() -> list[Call]:
    unknown = Problem(**{**HEAT, "parameters": {"k": Unknown(0.4)}})
    x = [0.2, 0.4, 0.6, 0.8]
    data: dict[str, Any] = {"points": x, "values": [0.3, 0.5, 0.5, 0.3], "times": 0.1, "noise": 0.1}

    def inferred(**given: Any) -> object:
        return infer(unknown, Measurements(**given))

    return [
        ("Measurements", Measurements, {**data, "field": "u", "derivative": ""}),
        (
            "Measurements.averages",
            Measurements.averages,
            {"regions": UNIT, "values": [0.3], "times": 0.1},
        ),
        ("infer (Measurements)", inferred, data),
        ("infer", infer, {"problem": unknown, "data": Measurements(**data), "seed": 0, "level": 0.9, "starts": 0}),
        ("design", design, {"problem": unknown, "points": x, "count": 2, "times": [0.1] * 4, "noise": 0.1}),
        ("Unknown", Unknown, {"start": 1.0, "lower": 0.0, "upper": 2.0}),
        ("UnknownField", UnknownField, {"start": 1.0, "positive": True, "of": "t"}),
        ("Relative", Relative, {"part": 0.1}),
        ("model", model, {"problem": unknown, "tol": 1e-2, "seed": 0}),
        ("found.again", _found().again, {"data": Measurements(**data)}),
        ("found.sample", _found().sample, {"n": 2, "seed": 0}),
        ("found.field", _found().field, {"name": "u"}),
        ("found.plot", _found().plot, {"file": None}),
    ]


@cache
def _found() -> Inferred:
    unknown = Problem(**{**HEAT, "parameters": {"k": Unknown(0.4)}})
    return infer(unknown, Measurements([0.2, 0.4, 0.6, 0.8], [0.3, 0.5, 0.55, 0.3], times=0.1, noise=0.02))


def _arrays() -> list[Call]:
    x = np.linspace(0, 1, 11)
    drum: dict[str, Any] = {"equation": "-u_xx = lam*u", "domain": Interval(0, 1), "boundary": "u = 0"}
    shaking = Problem(**drum, parameters={"lam": Eigenvalue()})
    return [
        ("Table", Table, {"values": np.sin(x), "x": x, "degree": 3, "smooth": False, "cells": False}),
        ("Problem (array)", Problem, {**HEAT, "initial": np.sin(np.pi * x)}),
        ("Problem (masked)", Problem, {**HEAT, "initial": np.ma.masked_greater(x, 0.5)}),
        ("modes", modes, {"problem": shaking, "count": 2, "near": 0.0, "tol": 1e-2, "time_limit": 5}),
        ("stability", stability, {"steady_state": None, "count": 2}),
    ]


def _sweeps() -> list[Call]:
    return [
        ("summary", summary, {"runs": _runs(), "quantiles": [0.1, 0.9]}),
        ("surrogate", surrogate, {"runs": _runs()}),
        ("surrogate(…)", surrogate(_runs()), {"k": 0.5}),
        ("sensitivity", sensitivity, {"runs": _runs(), "field": "u"}),
        ("page", page, {"shown": _solution(), "file": "p.html", "title": "text"}),
    ]


@cache
def _runs() -> Any:
    return sweep(Problem(**HEAT), {"k": [0.2, 0.3, 0.4, 0.5, 0.6]}, tol=1e-2, points=3, times=[0, 0.1], progress=False)


def _domains() -> list[Call]:
    square, disk = Polygon(CORNERS), Disk()
    cloud = {"points": [[0.5, 0.5], [0.4, 0.6]], "boundary": [[0, 0], [1, 0], [1, 1], [0, 1]], "sides": {"a": [0]}}
    return [
        ("Interval", Interval, {"lower": 0, "upper": 1, "periodic": False}),
        ("Box", Box, {"lower": [0, 0], "upper": [1, 1], "periodic": [True, False]}),
        ("Ball", Ball, {"center": 0, "radius": 1, "dimension": 3, "name": "rim"}),
        ("Disk", Disk, {"center": [0, 0], "radius": 1}),
        ("Polygon", Polygon, {"vertices": CORNERS, "holes": [], "sides": {"inlet": [3]}}),
        ("Implicit", Implicit, {"function": "x**2 + y**2 - 1", "lower": [-2, -2], "upper": [2, 2]}),
        ("Annulus", domains.Annulus, {"inner": 1, "outer": 2, "center": 0}),
        ("Shell", domains.Shell, {"inner": 1, "outer": 2, "center": 0, "dimension": 3}),
        ("Ellipsoid", domains.Ellipsoid, {"center": 0, "semi_axes": [2, 1], "name": "rim"}),
        ("ConvexPolytope", domains.ConvexPolytope, {"points": CUBE}),
        ("Extruded", domains.Extruded, {"base": disk, "lower": 0, "upper": 1}),
        ("Revolved", domains.Revolved, {"profile": Box([1, 0], [2, 1])}),
        ("Simplicial", domains.Simplicial, {"vertices": TETRAHEDRON, "cells": [[0, 1, 2, 3]], "sides": None}),
        ("PointCloud", domains.PointCloud, cloud),
        ("polygon.contains", square.contains, {"x": [[0.5, 0.5]], "tolerance": 1e-9}),
        ("box.contains", Box([0, 0], [1, 1]).contains, {"x": [[0.5, 0.5]]}),
        ("disk.sample", disk.sample, {"n": 20, "method": "sobol", "rng": 0}),
        ("box.sample", Box([0, 0], [1, 1]).sample, {"n": 20, "method": "gauss", "rng": 0}),
        ("disk.sample_side", disk.sample_side, {"side": "boundary", "n": 20, "method": "gauss", "rng": 0}),
        ("polygon.side", square.side, {"name": "outer"}),
        ("disk.named", disk.named, {"name": "rim"}),
        ("disk.with_sides", disk.with_sides, {"hot": "y > 0.5", "cold": "y < -0.5"}),
        ("disk | …", _own(lambda other: disk | other), {"other": Box([0, 0], [1, 1])}),
    ]


def _statements() -> list[Call]:
    def stated(kind: Callable[..., Any]) -> Callable[..., object]:
        return lambda **given: Problem(**{**HEAT, "boundary": kind(**given)})

    heat = Problem(**HEAT)
    return [
        ("Problem", Problem, HEAT),
        ("Problem", Problem, {**HEAT, "exact": None, "initial_velocity": None}),
        ("Problem (wave)", Problem, {**HEAT, "equation": "u_tt = u_xx", "initial_velocity": 0}),
        ("Problem (ring)", Problem, {**HEAT, "domain": Interval(0, 1, periodic=True), "boundary": None}),
        ("Problem (plane)", Problem, {**HEAT, "equation": {"u": "lap(u)"}, "domain": Box([0, 0], [1, 1])}),
        ("Dirichlet", stated(Dirichlet), {"value": 0, "field": "u"}),
        ("Neumann", stated(Neumann), {"value": 0, "field": "u"}),
        ("Robin", stated(Robin), {"alpha": 1, "beta": 1, "value": 0, "field": None}),
        ("Free", stated(Free), {"field": None}),
        ("Periodic and parameters", stated(_own(lambda k: Periodic())), {"k": 1}),
        ("problem.at", heat.at, {"k": 2}),
        ("problem.during", heat.during, {"time": (0, 1)}),
        ("problem.with_symbols", heat.with_symbols, {"names": ["k"]}),
        ("check", check, {"problem": heat}),
    ]


def _solves() -> list[Call]:
    heat, ring = Problem(**HEAT), Problem(**{**HEAT, "equation": "u_t = k*u_xx - u**3"})

    def with_settings(**given: Any) -> Solution:
        return solve(ring, settings=Settings(**{"width": 16, **given}))

    def of(kind: Callable[..., Any], name: str) -> Callable[..., object]:
        return lambda **given: solve(ring, settings=Settings(**{name: kind(**given)}))

    plain = {"width": 16, "points": 40, "cutoff": 1e-10, "rcond": 1e-10, "integrator": "cvode", "rtol": 1e-4}
    named = {"sampler": "swim", "boundary": "null-space", "point_method": "gauss", "boundary_points": 10}
    rest = {"windows": 2, "subspace": None, "rules": None}
    limits = {"tol": 1e-2, "seed": 1, "time_limit": 5, "memory_limit": 1e9, "settings": Settings()}
    return [
        ("solve", solve, {"problem": heat, **limits}),
        ("solve", _own(lambda **given: solve(heat, **given)), {"tol": 1e-2, "seed": 1, "settings": None}),
        *[("solve with Settings", with_settings, {name: value}) for name, value in {**plain, **named, **rest}.items()],
        ("Windows", of(Windows, "windows"), {"count": 2, "floor": 0.3, "threshold": 1e-3, "widest": 2.0}),
        ("SWIM", of(samplers.SWIM, "sampler"), {"width": 16}),
        ("ELM", of(samplers.ELM, "sampler"), {"width": 16, "scale": 1.0}),
        ("MultiScale", of(samplers.MultiScale, "sampler"), {"width": 16}),
        ("CVODE", of(integrators.CVODE, "integrator"), {"rtol": 1e-4, "method": "BDF"}),
        ("SciPy", of(integrators.SciPy, "integrator"), {"method": "rk45", "rtol": 1e-3}),
        ("AugmentedODE", of(boundary.AugmentedODE, "boundary"), {"kappa": 1.0}),
        ("estimate_error", estimate_error, {"solution": _solution()}),
    ]


@cache
def _solution() -> Solution:
    return solve(Problem(**{**HEAT, "exact": "exp(-pi**2*k*t)*sin(pi*x)"}), tol=1e-3)


def _solutions() -> list[Call]:
    line, plane = _solution(), _plane()
    estimate = line.error_estimate
    assert estimate is not None
    return [
        ("solution", line, {"x": 0.5, "t": 0.05, "derivative": "xx", "field": "u"}),
        ("solution", line, {"x": 0.5, "t": 0.05}),
        ("solution (plane)", plane, {"x": [0.2, 0.5], "y": 0.5, "t": 0.05, "derivative": "xy"}),
        ("solution (points)", _own(lambda points, t: plane(points, t=t)), {"points": [[0.5, 0.5]], "t": 0.05}),
        ("solution.grid", line.grid, {"points": 11, "times": 5, "derivative": ""}),
        ("solution.error", line.error, {"field": "u", "points": 20, "times": 5, "at": None}),
        ("solution.error_at", line.error_at, {"x": 0.5, "t": 0.05, "field": "u"}),
        ("estimate[…]", _own(lambda field: estimate[field]), {"field": "u"}),
        ("estimate.at", estimate.at, {"t": 0.05, "field": "u"}),
        ("field in estimate", _own(lambda field: field in estimate), {"field": "u"}),
    ]


@cache
def _plane() -> Solution:
    problem = Problem("u_t = lap(u)", Box([0, 0], [1, 1]), (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0")
    return solve(problem, settings=Settings(width=12))


def _files() -> list[Call]:
    def inside(function: Callable[..., object]) -> Callable[..., object]:
        """Return a call in a folder of its own, so that names like 'a' are written there."""

        def run(**given: Any) -> object:
            here = os.getcwd()
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                try:
                    return function(**given)
                finally:
                    os.chdir(here)

        return run

    disk: Domain = Disk()
    return [
        ("solution.save", inside(_solution().save), {"file": "s.fpinn"}),
        ("load", inside(load), {"file": "s.fpinn"}),
        ("read_mesh", inside(read_mesh), {"file": "s.msh"}),
        ("solution.plot", inside(_solution().plot), {"file": "s.png", "field": "u"}),
        ("domain.plot", inside(disk.plot), {"n": 20, "file": "s.png"}),
    ]
