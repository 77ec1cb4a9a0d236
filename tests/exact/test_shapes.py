"""Equations on shapes: exact references, default settings unless a test is about a setting."""

import warnings

import numpy as np
import pytest
from scipy.special import jn_zeros, jv

import frozenpinn as fp


def solved(problem, seed=0, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error", fp.FrozenPinnWarning)
        return fp.solve(problem, seed=seed, settings=fp.Settings(**settings))


def test_wave_on_a_disk():
    z = jn_zeros(2, 2)[1]

    def exact(x, y, t):
        return jv(2, z * np.hypot(x, y)) * np.cos(2 * np.arctan2(y, x)) * np.cos(z * t)

    problem = fp.Problem(
        "u_tt = lap(u)", fp.Disk(), (0, 2), lambda x, y: exact(x, y, 0.0), "u = 0", initial_velocity=0, exact=exact
    )
    solution = solved(problem)
    assert solution.error()["rel_l2"] < 1e-8
    assert solution.system.linear.structure == "symmetric"  # no wave grows, for all times


def test_advection_and_diffusion_in_four_dimensions_without_its_subspace():
    """u = exp(−s/2 + ct) with s = x₁ + 2x₂ − x₃ + x₄, so that Δu = 7/4 u and (∂₁ + ∂₂ + ∂₄)u = −2u."""
    shape = "-(x1 + 2*x2 - x3 + x4)/2"
    exact = f"exp({shape} + t*(7/40 + 2))"
    problem = fp.Problem(
        "u_t + u_x1 + u_x2 + u_x4 = D*lap(u)",
        fp.Box([0] * 4, [1] * 4),
        (0, 0.3),
        f"exp({shape})",
        f"u = {exact}",
        parameters={"D": 0.1},
        exact=exact,
    )
    assert solved(problem, subspace=None, width=400).error()["rel_l2"] < 1e-4


def finite_elements(refinements, points, times):
    """Heat on the L-shape by cubic elements graded towards the corner, and an L-stable method in time."""
    import scipy.sparse.linalg as spl
    import skfem
    from skfem.helpers import dot, grad

    mesh = skfem.MeshTri.init_lshaped().refined(refinements)
    for k in range(12):
        mesh = mesh.refined(np.flatnonzero(np.hypot(*mesh.p[:, mesh.t].mean(axis=1)) < 0.4 * 2.0**-k))
    basis = skfem.Basis(mesh, skfem.ElementTriP3())
    stiffness = skfem.BilinearForm(lambda u, v, w: dot(grad(u), grad(v))).assemble(basis)
    mass = skfem.BilinearForm(lambda u, v, w: u * v).assemble(basis)
    inside = basis.complement_dofs(basis.get_dofs())
    stiffness, mass = stiffness[inside][:, inside].tocsc(), mass[inside][:, inside].tocsc()
    load = skfem.LinearForm(lambda v, w: l_initial(*w.x) * v).assemble(basis)[inside]
    u = spl.splu(mass).solve(load)
    step, gamma = times[0] / 100, 1 - np.sqrt(0.5)
    factors = spl.splu(mass + gamma * step * stiffness)
    probes, result, done = basis.probes(points.T), [], 0
    for t in times:
        for _ in range(round(t / step) - done):
            first = factors.solve(-(stiffness @ u))
            second = factors.solve(-(stiffness @ (u + (1 - gamma) * step * first)))
            u = u + step * ((1 - gamma) * first + gamma * second)
        done = round(t / step)
        full = np.zeros(basis.N)
        full[inside] = u
        result.append(probes @ full)
    return np.stack(result, axis=1)


def l_initial(x, y):
    return np.sin(np.pi * x) * np.sin(np.pi * y) * (1 + x / 2 + 3 * y**2 / 10)


L_SHAPE = [(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)]


def test_heat_on_an_l_shape_against_finite_elements():
    domain = fp.Polygon(L_SHAPE)
    x = domain.sample(400, "random", 3).x
    times = np.array([0.05, 0.1])
    coarse, fine = (finite_elements(k, x, times) for k in (3, 4))
    size = np.linalg.norm(fine)
    converged = np.linalg.norm(fine - coarse) / size
    assert converged < 1e-4
    problem = fp.Problem("u_t = lap(u)", domain, (0, 0.1), l_initial, "u = 0")
    solution = solved(problem, width=400)
    error = np.linalg.norm(solution(x[:, :1], x[:, 1:], times) - fine) / size
    assert error < 5e-5
    assert 1e-7 < fp.estimate_error(solution).error_estimate["u"] < 1e-4


def test_the_first_eigenvalue_of_the_l_shape():
    """9.639723844021… (Trefethen and Betcke 2006): what singular functions of the corner are for."""
    problem = fp.Problem("u_t = lap(u)", fp.Polygon(L_SHAPE), (0, 0.1), l_initial, "u = 0")
    solution = solved(problem, width=600)
    assert solution.system.linear.abscissa == pytest.approx(-9.6397238440219, rel=3e-6)
    smooth = fp.solve(problem, settings=fp.Settings(sampler=fp.samplers.MultiScale(600)))  # neurons alone
    assert abs(smooth.system.linear.abscissa + 9.6397238440219) > 0.05


# ---- what is thin, narrow, or of mixed kind ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_a_coin_with_fluxes_through_all_sides(seed):
    exact = "exp(-t/5)*cos(x)*(1 + y/2)*(1 + z)"
    conditions = {
        "boundary": "u_n = exp(-t/5)*(1 + z)*(y/2*cos(x) - x*sin(x)*(1 + y/2))",
        "front": "u_n = -exp(-t/5)*cos(x)*(1 + y/2)",
        "back": "u_n = exp(-t/5)*cos(x)*(1 + y/2)",
    }
    coin = fp.domains.Extruded(fp.Disk(), 0, 0.2)
    initial = "cos(x)*(1 + y/2)*(1 + z)"
    problem = fp.Problem(f"u_t = lap(u) + 0.8*{exact}", coin, (0, 5), initial, conditions, exact=exact)
    assert solved(problem, seed=seed, width=400).error()["rel_l2"] < 1e-5


def test_a_thin_plate_with_a_hole_in_space():
    exact = "exp(-t)*sin(x + y)*(1 + z*z)"
    plate = fp.Box([0, 0, 0], [1, 1, 0.15]) - fp.domains.Extruded(fp.Disk(center=[0.5, 0.5], radius=0.2), -1, 1)
    problem = fp.Problem(
        f"u_t = lap(u) + {exact} - 2*exp(-t)*sin(x + y)",
        plate,
        (0, 1),
        "sin(x + y)*(1 + z*z)",
        f"u = {exact}",
        exact=exact,
    )
    assert solved(problem, width=400).error()["rel_l2"] < 1e-6


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_symmetric_systems_on_narrow_ellipses_do_not_grow(seed):
    ellipse = fp.domains.Ellipsoid([0, 0], [1, 0.1])
    problem = fp.Problem("u_t = lap(u)", ellipse, (0, 1), "1 - x**2 - 100*y**2", "u = 0")
    assert solved(problem, seed=seed, width=400).system.linear.abscissa == pytest.approx(-263.3, rel=1e-2)


def test_where_given_values_meet_given_slopes_on_a_straight_side():
    """Motz: r^(1/2) cos(θ/2), a corner of opening π."""

    def shape(x, y):
        return (x**2 + y**2) ** 0.25 * np.cos(np.arctan2(y, x) / 2)

    def exact(x, y, t):
        return shape(x, y) * np.sin(t) ** 2

    domain = fp.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, 0)], sides={"free": [0], "fixed": [4]})
    problem = fp.Problem(
        "u_t = lap(u) + f",
        domain,
        (0, 1),
        0,
        {"free": fp.Neumann(0), "fixed": fp.Dirichlet(0), "outer": fp.Dirichlet(exact)},
        parameters={"f": lambda x, y, t: shape(x, y) * np.sin(2 * t)},
        exact=exact,
    )
    assert solved(problem, width=300).error()["rel_l2"] < 1e-7


def test_conditions_that_are_missed_are_told():
    problem = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 0.1), "1 - x**2 - y**2", "u = 0")
    with pytest.warns(fp.FrozenPinnWarning, match=r"misses the condition 'u = 0' on side 'boundary' by up to"):
        fp.solve(problem, settings=fp.Settings(width=200, boundary_points=1))


@pytest.mark.parametrize("condition", [fp.Free(), "u = 0"])
def test_inflow_and_outflow_on_one_side_are_told(condition):
    problem = fp.Problem("u_t + u_x = 0", fp.Disk(), (0, 1), "(1 - x**2 - y**2)**4", condition)
    with pytest.warns(fp.FrozenPinnWarning, match=r"need 0 on one part of it and 1 on another \(inflow and outflow"):
        fp.check(problem)


def test_a_source_in_small_units_is_not_lost_on_a_subspace():
    """The source depends on y, but only where u > 3; derivatives are huge, their coefficients tiny."""
    problem = fp.Problem(
        "u_t = 1e-9*lap(u) + y/1e-4*max(u - 3, 0)",
        fp.Box([0, 0], [1e-4, 1e-4]),
        (0, 0.1),
        "4 + cos(pi*x/1e-4)",
        fp.Neumann(0),
    )
    assert fp.solve(problem, settings=fp.Settings(width=16)).subspace is None


def test_residuals_do_not_depend_on_units():
    def residual(scale):
        exact = f"exp(-t)*sin(x/{scale} + 1)"
        problem = fp.Problem(
            f"u_t = {scale}**2*lap(u)",
            fp.Disk(radius=scale),
            (0, 1),
            f"sin(x/{scale} + 1)",
            f"u = {exact}",
            exact=exact,
        )
        return fp.solve(problem, settings=fp.Settings(width=150, subspace=None)).residuals.pde["u"]

    assert residual(1e-6) == pytest.approx(residual(1.0), rel=1.0)


def test_grids_are_empty_outside():
    problem = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 0.1), "1 - x**2 - y**2", "u = 0")
    grid = fp.solve(problem, settings=fp.Settings(width=100)).grid(11, 3)
    assert np.isnan(grid.u.values[0, 0]).all()
    assert np.isfinite(grid.u.values[5, 5]).all()


def test_domains_of_python_functions_are_not_stored(tmp_path):
    domain = fp.Disk().with_sides(cold=lambda x, y: x < -0.5)
    solution = fp.solve(
        fp.Problem("u_t = lap(u)", domain, (0, 0.1), "1 - x**2 - y**2", "u = 0"), settings=fp.Settings(width=100)
    )
    with pytest.raises(fp.FrozenPinnError, match=r"its domain .* is made of a Python function; write"):
        solution.save(tmp_path / "s.fpinn")


@pytest.mark.parametrize("condition", ["u_n = dn(g)", "u_n + u = dn(g) + g"])
def test_data_may_need_the_normal_of_a_curved_side(condition):
    formula = "exp(x)*cos(y)"
    problem = fp.Problem(
        "u_t = lap(u)", fp.Disk(), (0, 0.3), formula, condition, parameters={"g": formula}, exact=formula
    )
    assert fp.solve(problem, tol=1e-5).error()["rel_l2"] < 1e-5
    static = fp.Problem("lap(u) - u = -g", fp.Disk(), boundary=condition, parameters={"g": formula}, exact=formula)
    assert fp.solve(static, tol=1e-8).error()["rel_l2"] < 1e-8
