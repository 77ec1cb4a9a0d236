"""The public face: which names there are, where the others live, and that each says what it is."""

import inspect
from importlib import import_module
from types import ModuleType

import pytest

import frozenpinn as fp

NAMES = {
    "problem": ("Problem", "Dirichlet", "Neumann", "Robin", "Periodic", "Free", "Table", "read_table"),
    "domains": ("Interval", "Box", "Disk", "Ball", "Polygon", "Implicit", "read_mesh"),
    "steps": ("check", "solve", "follow", "estimate_error", "load", "page", "modes", "steady", "stability"),
    "values": ("Settings", "Rules", "Windows", "Solution", "Path", "ErrorEstimate", "Findings"),
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
    "modules": ("boundary", "domains", "integrators", "samplers", "stages", "sweeps"),
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
        *("CVODE", "ETD", "ExactPropagator", "ExponentialCollocation", "SciPy"),
        *("HermiteTrajectory", "Integrator", "Observer", "OdeSystem", "Trajectory", "Guard", "NOBODY"),
    },
    "boundary": {
        *("AugmentedODE", "BoundaryStrategy", "NullSpaceLayer", "OuterBasis"),
        *("Space", "boundary_rows", "compressed"),
    },
    "sweeps": {
        *("GaussianField", "LogUniform", "Normal", "Uniform", "Surrogate", "SweepError"),
        *("open_sweep", "sensitivity", "summary", "surrogate", "sweep"),
    },
    "stages": {"Discretisation", "Network", "build_space", "discretise"},
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
