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

from typing import Any

from frozenpinn import boundary, domains, integrators, samplers, stages, sweeps
from frozenpinn.adaptivity.rules import Rules
from frozenpinn.adaptivity.settings import Settings, Windows
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
from frozenpinn.follow import follow
from frozenpinn.geometry import Ball, Box, Disk, Implicit, Interval, Polygon, read_mesh
from frozenpinn.infer import design, infer
from frozenpinn.model import model
from frozenpinn.modes import modes, stability, steady
from frozenpinn.results.design import Design
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.inferred import Estimate, Inferred
from frozenpinn.results.inferred_field import InferredField
from frozenpinn.results.modes import Mode, Modes
from frozenpinn.results.path import Path
from frozenpinn.results.solution import Solution
from frozenpinn.results.stability import Stability
from frozenpinn.runtime.arguments import spelled
from frozenpinn.solve import check, estimate_error, solve
from frozenpinn.statement.conditions import Dirichlet, Free, Neumann, Periodic, Robin
from frozenpinn.statement.eigenvalue import Eigenvalue
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
    "load",
    "model",
    "modes",
    "page",
    "read_mesh",
    "read_table",
    "samplers",
    "solve",
    "stability",
    "stages",
    "steady",
    "sweep",
    "sweeps",
]


@spelled(StorageError)
def load(file: str) -> Solution | Modes:
    """Read a solution that :meth:`Solution.save` has stored, or modes that :meth:`Modes.save` has.

    :class:`StorageError` if a single bit of it is wrong.
    """
    from frozenpinn.results.storage import load_stored

    return load_stored(file)


@spelled(EvaluationError)
def page(shown: Any, file: str, *, title: str | None = None) -> str:
    """Write a page that moves, one HTML file that needs no network, and return its path.

    Parameters
    ----------
    shown
        A solution, whose network is evaluated in the browser, or an xarray Dataset over x (and y) and t, such as a
        sweep returns: every other dimension has a slider.
    file
        Such as ``"burgers.html"``.
    title
        The heading; the equations by default.

    Examples
    --------
    >>> import tempfile, os, frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> target = os.path.join(tempfile.mkdtemp(), "heat.html")
    >>> os.path.getsize(fp.page(fp.solve(problem), target)) < 200_000
    True
    """
    from frozenpinn.results.page import write_dataset_page, write_page

    if isinstance(shown, Solution):
        return write_page(shown, file, title)
    if hasattr(shown, "data_vars"):
        return write_dataset_page(shown, file, title)
    raise EvaluationError(f"page() takes a Solution or an xarray Dataset, got {type(shown).__name__}.")


def __getattr__(name: str) -> Any:
    if name == "lab":
        import importlib

        return importlib.import_module("frozenpinn.lab")
    homes = [
        home.__name__ for home in (boundary, domains, integrators, samplers, stages, sweeps) if name in home.__all__
    ]
    hint = f"; it is {homes[0]}.{name}" if homes else ""
    raise AttributeError(f"module 'frozenpinn' has no attribute '{name}'{hint}")
