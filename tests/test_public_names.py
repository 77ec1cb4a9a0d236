"""The public face: which names there are, where the others live, and that each says what it is."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import frozenpinn as fp

NAMES = {
    "problem": ("Problem", "Dirichlet", "Neumann", "Robin", "Periodic", "Free", "Table", "read_table", "read_problem"),
    "domains": ("Interval", "Box", "Disk", "Ball", "Polygon", "Implicit", "read_mesh"),
    "steps": ("check", "solve", "follow", "estimate_error", "load", "page", "modes", "steady", "stability"),
    "values": ("Settings", "Rules", "Windows", "Patches", "Solution", "Path", "ErrorEstimate", "Findings"),
    "inference": (
        *("Unknown", "UnknownField", "Measurements", "Relative", "infer", "design", "model"),
        *("Estimate", "Inferred", "InferredField", "Design"),
    ),
    "eigenvalues": ("Eigenvalue", "Mode", "Modes", "Stability"),
    "errors": (
        "FrozenPinnError",
        "ProblemError",
        "SettingsError",
        "EvaluationError",
        "IntegrationError",
        "BudgetError",
        "ConvergenceError",
        "StorageError",
        "FrozenPinnWarning",
    ),
    "modules": ("boundary", "domains", "integrators", "inverse", "samplers", "stages", "sweeps"),
    "sweeps": ("sweep", "Normal", "Uniform"),
}
MODULES = {
    "domains": {
        *("Annulus", "Ball", "Box", "ConvexPolytope", "Disk", "Domain", "Ellipsoid", "Extruded", "Implicit"),
        *("Interval", "PointCloud", "Polygon", "Revolved", "Shell", "Simplicial", "SurfaceMesh", "read_mesh"),
        *("Points", "Side"),
    },
    "samplers": {
        "Cloud",
        "HiddenLayer",
        "ELM",
        "SWIM",
        "MultiScale",
        "Orthogonal",
        "ProjectedSWIM",
        "Sampler",
        "Sines",
    },
    "integrators": {
        *("CVODE", "ETD", "ExactPropagator", "ExponentialCollocation", "RadauIIA", "SciPy"),
        *("HermiteTrajectory", "Integrator", "Observer", "OdeSystem", "Trajectory", "Guard", "NOBODY"),
    },
    "inverse": {"Alternating", "Guess", "Scan"},
    "boundary": {
        *("AugmentedODE", "BoundaryStrategy", "NullSpaceLayer", "OuterBasis"),
        *("Space", "boundary_rows", "compressed"),
    },
    "sweeps": {
        *("GaussianField", "LogUniform", "Normal", "Uniform", "Surrogate", "SweepError"),
        *("open_sweep", "sensitivity", "summary", "surrogate", "sweep"),
    },
    "stages": {"Discretisation", "Network", "SVDLayer", "build_space", "discretise"},
}


def test_public_names():
    assert sorted(fp.__all__) == sorted(name for group in NAMES.values() for name in group)


@pytest.mark.parametrize("name", MODULES)
def test_names_of_the_modules(name):
    assert set(getattr(fp, name).__all__) == MODULES[name]
    assert getattr(fp, name) is import_module(f"frozenpinn.{name}")


@pytest.mark.parametrize("home", [fp, *(getattr(fp, name) for name in MODULES)], ids=lambda home: home.__name__)
def test_every_public_name_is_documented(home):
    assert inspect.getdoc(home)
    for name in home.__all__:
        found = getattr(home, name)
        text = found.__doc__ if isinstance(found, ModuleType) else inspect.getdoc(found)
        assert text, name
        assert not text.startswith(f"{name}("), f"the docstring of {name} is the one that dataclasses make"


def test_usual_domains_are_those_of_the_module():
    for name in NAMES["domains"]:
        assert getattr(fp, name) is getattr(fp.domains, name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MultiScale", "module 'frozenpinn' has no attribute 'MultiScale'; it is frozenpinn.samplers.MultiScale"),
        ("build_space", "it is frozenpinn.stages.build_space"),
        ("Sphere", "module 'frozenpinn' has no attribute 'Sphere'$"),
    ],
)
def test_names_that_live_elsewhere_are_told(name, text):
    with pytest.raises(AttributeError, match=text):
        getattr(fp, name)


def imported(statement):
    program = f"import sys; {statement}; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    )


def test_the_package_itself_imports_next_to_nothing():
    found = imported("import frozenpinn as fp; dir(fp); hasattr(fp, '__wrapped__')")
    assert {name for name in found if name.startswith("frozenpinn")} == {"frozenpinn", "frozenpinn.errors"}
    assert not found & {"numpy", "scipy", "sympy"}


def test_a_solve_needs_nothing_of_other_questions():
    found = imported("from frozenpinn import Interval, Problem, solve")
    assert "frozenpinn.search.search" in found
    for unused in (
        *("inverse", "modes", "paths", "model", "sweeps", "cli", "output.page", "output.plotting"),
        *("results.storage", "static.solve"),
        "statement.measurements",
    ):
        assert f"frozenpinn.{unused}" not in found, unused
    assert not found & {"matplotlib", "xarray", "pandas", "numba", "scipy.optimize", "scipy.interpolate", "scipy.stats"}


@pytest.mark.parametrize("name", ["load", "solve", "model"])
def test_functions_with_the_name_of_their_module(name):
    """They stay functions, whoever imports the module first."""
    module = import_module(f"frozenpinn.{name}")
    assert isinstance(module, ModuleType)
    assert getattr(fp, name) is getattr(module, name)
    imported(f"from frozenpinn.{name} import {name} as f; import frozenpinn; assert frozenpinn.{name} is f")


def test_eigenvalues_are_a_function_and_a_folder():
    imported("import frozenpinn.modes.result; import frozenpinn as fp; assert callable(fp.modes)")
    imported("import frozenpinn as fp; fp.modes; import frozenpinn.modes.plan; assert callable(fp.modes)")


def test_type_checkers_see_what_is_found():
    tree = ast.parse(inspect.getsource(fp))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: line.module for line in block.body for alias in line.names}
    assert seen == {
        **{name: f"frozenpinn.{home}" for name, home in fp._HOME.items()},
        **dict.fromkeys(MODULES, "frozenpinn"),
    }
    assert set(seen) | set(NAMES["errors"]) == set(fp.__all__) <= set(dir(fp))


def test_every_public_name_has_an_example():
    lack = [
        name
        for name in fp.__all__
        if not inspect.ismodule(getattr(fp, name)) and ">>> " not in (inspect.getdoc(getattr(fp, name)) or "")
    ]
    assert not lack
