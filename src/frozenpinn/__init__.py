"""Time-dependent PDEs solved by frozen random networks: no mesh, no GPU, no gradient descent.

State a problem, solve it, evaluate the solution anywhere::

    problem = Problem("u_t = u_xx", Interval(0, 1), time=(0, 1), initial="sin(pi*x)", boundary="u = 0")
    solution = solve(problem)
    solution(0.5, 0.1)
"""

from __future__ import annotations

from typing import Any

from frozenpinn.adaptivity.grading import Windows
from frozenpinn.adaptivity.settings import Settings
from frozenpinn.assembly.discretisation import System, semidiscretize
from frozenpinn.assembly.spaces import AugmentedODE, NullSpaceLayer, build_space
from frozenpinn.basis.network import Network
from frozenpinn.basis.outer_basis import OuterBasis
from frozenpinn.basis.samplers import ELM, SWIM, MultiScale, Orthogonal, ProjectedSWIM
from frozenpinn.errors import (
    BudgetError,
    EvaluationError,
    ExpressionError,
    FrozenPinnError,
    FrozenPinnWarning,
    IntegrationError,
    ProblemError,
    ResolutionWarning,
    SettingsError,
)
from frozenpinn.geometry import (
    Annulus,
    Ball,
    Box,
    ConvexPolytope,
    Disk,
    Domain,
    Ellipsoid,
    Extruded,
    Implicit,
    Interval,
    PointCloud,
    Polygon,
    Revolved,
    Shell,
    SurfaceMesh,
    read_mesh,
)
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.solve import check, estimate_error, solve
from frozenpinn.solvers import (
    CVODE,
    ETD,
    ExactPropagator,
    ExponentialCollocation,
    HermiteTrajectory,
    SciPy,
)
from frozenpinn.statement.conditions import Dirichlet, Free, Neumann, Periodic, Robin
from frozenpinn.statement.findings import Finding, Findings
from frozenpinn.statement.problem import Problem

__version__ = "0.1.0"

__all__ = [
    "CVODE",
    "ELM",
    "ETD",
    "SWIM",
    "Annulus",
    "AugmentedODE",
    "Ball",
    "Box",
    "BudgetError",
    "ConvexPolytope",
    "Dirichlet",
    "Disk",
    "Domain",
    "Ellipsoid",
    "ErrorEstimate",
    "EvaluationError",
    "ExactPropagator",
    "ExponentialCollocation",
    "ExpressionError",
    "Extruded",
    "Finding",
    "Findings",
    "Free",
    "FrozenPinnError",
    "FrozenPinnWarning",
    "HermiteTrajectory",
    "Implicit",
    "IntegrationError",
    "Interval",
    "MultiScale",
    "Network",
    "Neumann",
    "NullSpaceLayer",
    "Orthogonal",
    "OuterBasis",
    "Periodic",
    "PointCloud",
    "Polygon",
    "Problem",
    "ProblemError",
    "ProjectedSWIM",
    "ResolutionWarning",
    "Revolved",
    "Robin",
    "SciPy",
    "Settings",
    "SettingsError",
    "Shell",
    "Solution",
    "SurfaceMesh",
    "System",
    "Windows",
    "build_space",
    "check",
    "estimate_error",
    "load",
    "read_mesh",
    "semidiscretize",
    "solve",
]


def load(file: str) -> Solution:
    """Read a solution that :meth:`Solution.save` has stored."""
    from frozenpinn.results.storage import load_solution

    return load_solution(file)


def __getattr__(name: str) -> Any:
    if name == "lab":
        import importlib

        return importlib.import_module("frozenpinn.lab")
    raise AttributeError(f"module 'frozenpinn' has no attribute '{name}'")
