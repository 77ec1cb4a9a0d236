"""PDEs, time-dependent and static, solved by frozen random networks: no mesh, no GPU, no gradient descent.

State a problem, solve it, evaluate the solution anywhere::

    problem = Problem("u_t = u_xx", Interval(0, 1), time=(0, 1), initial="sin(pi*x)", boundary="u = 0")
    solution = solve(problem)
    solution(0.5, 0.1)

Without ``time``, the problem is static, and the solution is called without t.

Choices beyond the usual have modules of their own: :mod:`~frozenpinn.domains`, :mod:`~frozenpinn.samplers`,
:mod:`~frozenpinn.boundary`, :mod:`~frozenpinn.integrators`; the steps of a solve are in :mod:`~frozenpinn.stages`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from frozenpinn.errors import (
    BudgetError,
    ConvergenceError,
    EvaluationError,
    FrozenPinnError,
    FrozenPinnWarning,
    IntegrationError,
    ProblemError,
    SettingsError,
    StorageError,
)

if TYPE_CHECKING:  # what __getattr__ finds
    from frozenpinn import boundary, domains, integrators, inverse, samplers, stages, sweeps
    from frozenpinn.geometry import Ball, Box, Disk, Implicit, Interval, Polygon, read_mesh
    from frozenpinn.inverse.design import Design, design
    from frozenpinn.inverse.infer import infer
    from frozenpinn.inverse.result import Estimate, Inferred, InferredField
    from frozenpinn.load import load
    from frozenpinn.model import model
    from frozenpinn.modes.modes import modes, stability, steady
    from frozenpinn.modes.result import Mode, Modes
    from frozenpinn.modes.stability import Stability
    from frozenpinn.output.page import page
    from frozenpinn.paths.follow import follow
    from frozenpinn.paths.path import Path
    from frozenpinn.results.error_estimate import ErrorEstimate
    from frozenpinn.results.solution import Solution
    from frozenpinn.search.patches import Patches
    from frozenpinn.search.rules import Rules
    from frozenpinn.search.settings import Settings, Windows
    from frozenpinn.solve import check, estimate_error, solve
    from frozenpinn.statement.conditions import Dirichlet, Free, Neumann, Periodic, Robin
    from frozenpinn.statement.eigenvalue import Eigenvalue
    from frozenpinn.statement.files import read_problem
    from frozenpinn.statement.findings import Findings
    from frozenpinn.statement.measurements import Measurements, Relative
    from frozenpinn.statement.problem import Problem
    from frozenpinn.statement.unknowns import Unknown, UnknownField
    from frozenpinn.sweeps import Normal, Uniform, sweep
    from frozenpinn.tables import Table, read_table

__version__ = "0.1.0"

__all__ = [
    "Ball",
    "Box",
    "BudgetError",
    "ConvergenceError",
    "Design",
    "Dirichlet",
    "Disk",
    "Eigenvalue",
    "ErrorEstimate",
    "Estimate",
    "EvaluationError",
    "Findings",
    "Free",
    "FrozenPinnError",
    "FrozenPinnWarning",
    "Implicit",
    "Inferred",
    "InferredField",
    "IntegrationError",
    "Interval",
    "Measurements",
    "Mode",
    "Modes",
    "Neumann",
    "Normal",
    "Patches",
    "Path",
    "Periodic",
    "Polygon",
    "Problem",
    "ProblemError",
    "Relative",
    "Robin",
    "Rules",
    "Settings",
    "SettingsError",
    "Solution",
    "Stability",
    "StorageError",
    "Table",
    "Uniform",
    "Unknown",
    "UnknownField",
    "Windows",
    "boundary",
    "check",
    "design",
    "domains",
    "estimate_error",
    "follow",
    "infer",
    "integrators",
    "inverse",
    "load",
    "model",
    "modes",
    "page",
    "read_mesh",
    "read_problem",
    "read_table",
    "samplers",
    "solve",
    "stability",
    "stages",
    "steady",
    "sweep",
    "sweeps",
]

_MODULES = ("boundary", "domains", "integrators", "inverse", "samplers", "stages", "sweeps")
_HOMES = {
    "geometry": "Ball Box Disk Implicit Interval Polygon read_mesh",
    "inverse.design": "Design design",
    "inverse.infer": "infer",
    "inverse.result": "Estimate Inferred InferredField",
    "load": "load",
    "model": "model",
    "modes.modes": "modes stability steady",
    "modes.result": "Mode Modes",
    "modes.stability": "Stability",
    "output.page": "page",
    "paths.follow": "follow",
    "paths.path": "Path",
    "results.error_estimate": "ErrorEstimate",
    "results.solution": "Solution",
    "search.rules": "Rules",
    "search.patches": "Patches",
    "search.settings": "Settings Windows",
    "solve": "check estimate_error solve",
    "statement.conditions": "Dirichlet Free Neumann Periodic Robin",
    "statement.eigenvalue": "Eigenvalue",
    "statement.files": "read_problem",
    "statement.findings": "Findings",
    "statement.measurements": "Measurements Relative",
    "statement.problem": "Problem",
    "statement.unknowns": "Unknown UnknownField",
    "sweeps": "Normal Uniform sweep",
    "tables": "Table read_table",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


class _Package(ModuleType):
    """A package that has functions with the names of their modules: ``solve`` is the function, not the module."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to import it again: functions of a notebook that use the package are sent to other processes."""
        return import_module, (self.__name__,)

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType) or name not in _HOME:
            super().__setattr__(name, value)
        elif _HOME[name] == name:  # otherwise __getattr__ finds it
            super().__setattr__(name, getattr(value, name))


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is: most programs need little of all this."""
    if name in _HOME:
        found = getattr(import_module(f"frozenpinn.{_HOME[name]}"), name)
    elif name in _MODULES:
        found = import_module(f"frozenpinn.{name}")
    else:
        raise AttributeError(f"module 'frozenpinn' has no attribute '{name}'{_hint(name)}")
    globals()[name] = found
    return found


def _hint(name: str) -> str:
    """Return where else a public name lives; Python itself asks for private ones, and for modules to be imported."""
    if name.startswith("_") or find_spec(f"frozenpinn.{name}") is not None:
        return ""
    modules = [module for module in map(__getattr__, _MODULES) if name in module.__all__]
    return f"; it is {modules[0].__name__}.{name}" if modules else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Package
