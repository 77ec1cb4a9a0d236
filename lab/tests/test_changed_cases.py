"""The cases of several dimensions with other equations and data than published."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.language.jets import coordinate_names
from frozenpinn_lab.cases.nonlinear_diffusion import TREE


def error_of(problem, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error", fp.FrozenPinnWarning)
        return fp.solve(problem, settings=fp.Settings(**settings)).error()["rel_l2"]


def on_tree(equation, exact, **options):
    initial = exact.replace("exp(-t)", "1").replace("exp(-2*t)", "1").replace("cos(t)", "1")
    return fp.Problem(equation, fp.Polygon(TREE), (0, 1), initial, f"u = {exact}", exact=exact, **options)


def test_another_diffusion_on_the_tree():
    """uₜ = ∇·(u²∇u) + f, with a solution that is not separable in space."""
    u = "(2 + exp(-t)*sin(2*x + y))"
    wave, slope = "exp(-t)*sin(2*x + y)", "exp(-t)*cos(2*x + y)"
    forcing = f"-{wave} + 5*{u}**2*{wave} - 2*{u}*5*({slope})**2"
    assert error_of(on_tree(f"u_t = div(u**2*grad(u)) + {forcing}", u), width=200) < 1e-6


def test_reaction_and_advection_on_the_tree():
    u = "exp(-t)*cos(3*x)*y"
    forcing = "-exp(-t)*cos(3*x)*y + 9/10*exp(-t)*cos(3*x)*y + exp(-t)*cos(3*x) + (exp(-t)*cos(3*x)*y)**3"
    assert error_of(on_tree(f"u_t = lap(u)/10 - u_y - u**3 + {forcing}", u), width=200) < 1e-6


def test_a_wave_on_the_tree_with_slopes_given():
    u = "cos(t)*exp(x/2)*sin(y)"
    problem = fp.Problem(
        "u_tt = lap(u) - 1/4*cos(t)*exp(x/2)*sin(y)",
        fp.Polygon(TREE),
        (0, 1),
        "exp(x/2)*sin(y)",
        fp.Dirichlet("cos(t)*exp(x/2)*sin(y)"),
        initial_velocity=0,
        exact=u,
    )
    assert error_of(problem, width=200) < 1e-6


@pytest.mark.parametrize("dimension", [4, 6])
def test_another_reaction_in_the_plane_of_two_axes(dimension):
    """uₜ = Δu/2 − u³ + f with u = exp(x₂ − x₄) e⁻ᵗ."""
    u = "exp(x2 - x4 - t)"
    problem = fp.Problem(
        f"u_t = lap(u)/2 - u**3 + ({u})**3 - 2*{u}",
        fp.Box([0] * dimension, [1] * dimension),
        (0, 0.5),
        "exp(x2 - x4)",
        f"u = {u}",
        exact=u,
    )
    solution = fp.solve(problem)
    assert solution.subspace is not None
    assert solution.error()["rel_l2"] < 1e-7


def test_heat_that_flows_faster_along_one_axis():
    """Another direction, anisotropic: uₜ = Δu + ∂₁²u, u = sin(x₁ + 2x₂ + 3x₃ + x₄ + x₅) e^(−17t)."""
    s = "(x1 + 2*x2 + 3*x3 + x4 + x5)"
    u = f"sin({s})*exp(-17*t)"
    problem = fp.Problem("u_t = lap(u) + u_x1x1", fp.Box([-1] * 5, [1] * 5), (0, 0.1), f"sin({s})", f"u = {u}", exact=u)
    assert error_of(problem) < 1e-9


def test_heat_that_depends_on_all_directions():
    """u = Σ cos(xᵢ) e⁻ᵗ: no subspace, and the fallback is honest about its error."""
    names = coordinate_names(6)
    total = " + ".join(f"cos({name})" for name in names)
    u = f"({total})*exp(-t)"
    problem = fp.Problem("u_t = lap(u)", fp.Box([0] * 6, [1] * 6), (0, 1), total, f"u = {u}", exact=u)
    solution = fp.solve(problem, settings=fp.Settings(width=400))
    assert solution.subspace is None
    assert solution.error()["rel_l2"] < 1e-4
    assert 0.1 < solution.error()["rel_l2"] / fp.estimate_error(solution).error_estimate["u"] < 10


@pytest.mark.parametrize("dimension", [20, 100])
def test_another_quadratic_in_a_ball(dimension):
    """uₜ = Δu − 2 with u = |x|²/(2d)·4 + 2t + x₁: other slopes in space and time."""
    names = coordinate_names(dimension)
    square = " + ".join(f"{name}**2" for name in names)
    u = f"2*({square})/{dimension} + 2*t + x1"
    problem = fp.Problem(
        "u_t = lap(u) - 2",
        fp.Ball(dimension=dimension),
        (0, 1),
        f"2*({square})/{dimension} + x1",
        f"u = 2/{dimension} + 2*t + x1",
        exact=u,
    )
    assert error_of(problem, width=2 * dimension + 40, points=max(1000, 8 * dimension)) < 1e-5


def test_a_point_cloud_of_the_disk():
    rng = np.random.default_rng(0)
    inside = fp.Disk().sample(700, "sobol", 0).x
    angles = np.sort(rng.uniform(0, 2 * np.pi, 160))
    edge = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    u = "exp(x/2 + t/2)*cos(y/2)"
    problem = fp.Problem(
        "u_t = lap(u) + u/2",
        fp.domains.PointCloud(inside * 0.97, edge),
        (0, 1),
        "exp(x/2)*cos(y/2)",
        f"u = {u}",
        exact=u,
    )
    assert error_of(problem, width=150) < 1e-4
