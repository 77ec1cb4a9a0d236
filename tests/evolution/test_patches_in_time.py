"""Evolution on patches: spectra, exact solutions, patches that follow, storage, refusals."""

import numpy as np
import pytest
from scipy.special import j0, jn_zeros

import frozenpinn as fp
from frozenpinn.assembly.hybrid_form import HybridForm
from frozenpinn.assembly.patches_in_time import PatchesInTime
from frozenpinn.basis.local.features import LocalFeatures, modes_of
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.tree import Tree

SQUARE, DISK = fp.Box([0, 0], [1, 1]), fp.Disk([0, 0], 1)
RING = DISK - fp.Disk([0.2, 0.1], 0.3).named("hole")
OPEN = {"left": "u = 0", **dict.fromkeys(("right", "top", "bottom"), fp.Free())}


def system_of(problem, across=3, order=4):
    """Divide a domain, with hanging faces on the square."""
    tree = Tree.of(problem.domain, across).refined_while(lambda leaves: [leaf.angle > 1.7 for leaf in leaves], 4)
    if problem.domain is SQUARE:
        tree = tree.refined([cell for cell in tree.leaves if cell.i == cell.j == 1])
    form, features = HybridForm.of(problem), LocalFeatures.draw(modes_of(order), 0)
    return PatchesInTime.of(form, PatchSet.of(tree, order + 3), features, problem.time, np.inf)


@pytest.mark.parametrize(
    ("equation", "domain", "boundary"),
    [
        ("u_t = lap(u)", SQUARE, "u = 0"),
        ("u_t = lap(u)", RING, "u_n = 0"),
        ("u_t = -u_x", SQUARE, OPEN),
        ("u_t = y*u_x - x*u_y", DISK, fp.Free()),
        ("u_t = 0.01*lap(u) - u_x - 2*u_y", SQUARE, "u = 0"),
        ("u_t = div((1 + x*y/2)*grad(u)) - u", RING, "u = 0"),
        ("u_tt = lap(u)", RING, "u_n = 0"),
    ],
)
def test_nothing_grows(equation, domain, boundary):
    extra = {"initial_velocity": "0"} if "tt" in equation else {}
    system = system_of(fp.Problem(equation, domain, (0, 1), "0", boundary, **extra))
    jacobian = system.jacobian(0.0, system.initial_state)
    assert np.max(np.linalg.eigvals(jacobian).real) <= 1e-10 * np.linalg.norm(jacobian, 2) ** 0.5
    right = np.random.default_rng(0).normal(size=system.size)
    for shift in (3.0, 2.0 + 5.0j):
        found = system.linearised(0.0, system.initial_state).shifted(shift).solve(right.astype(type(shift)))
        assert np.linalg.norm(shift * found - jacobian @ found - right) < 1e-9 * np.linalg.norm(right)


def test_jacobians_of_nonlinear_terms():
    problem = fp.Problem("u_t = 0.1*lap(u) - u*u_x - t*u_y - u**3", SQUARE, (0, 1), "sin(pi*x)*sin(pi*y)", "u = 0")
    system = system_of(problem)
    y = system.projected([problem.initial["u"](system.points, 0.0)])
    jacobian = system.jacobian(0.3, y)
    right = np.random.default_rng(0).normal(size=system.size)
    found = system.linearised(0.3, y).shifted(50.0).solve(right)
    assert np.linalg.norm(50.0 * found - jacobian @ found - right) < 1e-2 * np.linalg.norm(right)


def solved(problem, tol=1e-5, **options):
    return fp.solve(problem, tol=tol, settings=fp.Settings(basis=fp.Patches(**options)))


def gap(solution, exact, t):
    x = solution.problem.domain.sample(1000, "random", 3).x
    return np.linalg.norm(solution(x, t) - exact(*x.T, t)) / np.linalg.norm(exact(*x.T, t))


def test_heat_in_a_disk_with_its_estimate():
    k = jn_zeros(0, 1)[0]
    problem = fp.Problem("u_t = lap(u)", DISK, (0, 0.3), lambda x, y: j0(k * np.hypot(x, y)), "u = 0")
    solution = solved(problem)
    assert solution.status == "converged"
    assert gap(solution, lambda x, y, t: j0(k * np.hypot(x, y)) * np.exp(-k * k * t), 0.3) < 1e-6
    assert "patches" in [name for name, _ in solution.decisions]
    assert "radau-iia-9" in str(solution.report)


def test_data_in_time_and_storage(tmp_path):
    problem = fp.Problem(
        "u_t = lap(u) + 3*cos(3*t)*exp(x)*cos(y)",
        RING,
        (0, 1),
        "0",
        {"boundary": "u = sin(3*t)*exp(x)*cos(y)", "hole": "u = sin(3*t)*exp(x)*cos(y)"},
    )
    solution = solved(problem)
    assert gap(solution, lambda x, y, t: np.sin(3 * t) * np.exp(x) * np.cos(y), 0.7) < 1e-6
    solution.save(tmp_path / "heat.fpinn")
    again = fp.load(tmp_path / "heat.fpinn")
    x = RING.sample(20, "random", 0).x
    np.testing.assert_allclose(again(x, 0.4), solution(x, 0.4), rtol=1e-12)


def test_waves_keep_their_energy():
    problem = fp.Problem("u_tt = lap(u)", SQUARE, (0, np.sqrt(2)), "sin(pi*x)*sin(pi*y)", "u = 0", initial_velocity="0")
    solution = solved(problem, 1e-4, across=2, order=7)
    assert gap(solution, lambda x, y, t: np.cos(2 * np.pi) * np.sin(np.pi * x) * np.sin(np.pi * y), np.sqrt(2)) < 1e-4


def test_reaction_and_diffusion():
    wave = fp.Problem(
        "u_t = lap(u) + 2*u*(1 - u)*(u - 0.2)",
        RING,
        (0, 0.5),
        "1/(1 + exp(-x))",
        dict.fromkeys(("boundary", "hole"), "u = 1/(1 + exp(-x - 0.6*t))"),
    )
    assert gap(solved(wave, 1e-4), lambda x, y, t: 1 / (1 + np.exp(-x - 0.6 * t)), 0.5) < 1e-4


def test_patches_follow_what_is_carried_along():
    s = 0.07
    problem = fp.Problem(
        "u_t = y*u_x - x*u_y", DISK, (0, np.pi / 2), f"exp(-((x - 0.5)**2 + y**2)/{2 * s * s})", fp.Free()
    )
    solution = solved(problem, 1e-2, across=6, order=5)
    assert solution.status == "converged"
    assert len({len(piece.expansions[0].basis.boxes) for piece in solution.pieces}) > 1
    assert gap(solution, lambda x, y, t: np.exp(-((y - 0.5) ** 2 + x**2) / (2 * s * s)), np.pi / 2) < 1e-2


def test_four_patches_become_one_again():
    tree = Tree.of(SQUARE, 4)
    middle = [cell for cell in tree.leaves if 0 < cell.i < 3 and 0 < cell.j < 3]
    fine = tree.refined(middle)
    assert fine.coarsened(set(fine.leaves)).leaves.keys() == tree.leaves.keys()
    finer = fine.refined([cell for cell in fine.leaves if cell.level == 1][:1])
    assert all(abs(a.level - b.level) <= 1 for a in finer.coarsened(set(finer.leaves)).leaves for b in middle)


@pytest.mark.parametrize(
    ("equation", "boundary", "message"),
    [
        ("u_t = -lap(u)", "u = 0", "not elliptic everywhere"),
        ("u_t = -lap(lap(u))", "u = 0", "no stable form is known"),
        ("u_t = (1 + t)*lap(u)", "u = 0", "depends on time"),
        ("u_t = div((1 + u**2)*grad(u))", "u = 0", "depends on the solution"),
        ("u_t = -u*u_x", fp.Free(), "carried along by"),
        ("u_tt = lap(u) - u_t", "u = 0", "the term with u_t"),
    ],
)
def test_what_has_no_stable_form_is_refused_by_name(equation, boundary, message):
    extra = {"initial_velocity": "0"} if "tt" in equation else {}
    problem = fp.Problem(equation, DISK, (0, 0.1), "(1 - x**2 - y**2)**3", boundary, **extra)
    with pytest.raises(fp.ProblemError, match=message):
        HybridForm.of(problem)


def test_integrators_that_need_a_matrix_are_refused():
    problem = fp.Problem("u_t = lap(u)", DISK, (0, 0.1), "1 - x**2 - y**2", "u = 0")
    settings = fp.Settings(basis=fp.Patches(), integrator="etd")
    with pytest.raises(fp.SettingsError, match="patches are integrated by 'radau-iia', or by 'dop853'"):
        fp.solve(problem, settings=settings)
