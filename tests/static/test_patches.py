"""Static problems on patches: convergence in both directions, signs of spectra, estimates, refusals."""

from itertools import pairwise

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.hybrid import Assembly, Element, trace_numbers
from frozenpinn.assembly.hybrid_form import HybridForm
from frozenpinn.basis.local.features import LocalFeatures, modes_of
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.tree import Tree
from frozenpinn.search.settings import Task, Tolerances
from frozenpinn.static.patch_choice import can_have_patches

SQUARE = fp.Box([0, 0], [1, 1])
WAVE = "sin(6*x)*sin(5*y + 0.3)"


def poisson(domain, exact=WAVE, equation="-lap(u) = 61*ue"):
    return fp.Problem(equation, domain, boundary="u = ue", parameters={"ue": exact}, exact="ue")


def true_error(problem, **patches):
    settings = fp.Settings(basis=fp.Patches(adaptive=False, **patches))
    return fp.solve(problem, settings=settings).error()["relative"]


@pytest.mark.parametrize("domain", [SQUARE, fp.Disk([0.4, 0.6], 0.5) - fp.Disk([0.4, 0.6], 0.15).named("hole")])
def test_errors_fall_with_the_size_and_the_order_of_patches(domain):
    problem = poisson(domain)
    by_size = [true_error(problem, across=n, order=5) for n in (3, 6, 12)]
    assert np.log2(by_size[0] / by_size[2]) > 2 * 4.0
    by_order = [true_error(problem, across=4, order=n) for n in (4, 6, 8, 10)]
    assert all(finer < 0.1 * coarser for coarser, finer in pairwise(by_order))
    assert by_order[-1] < 1e-8


def test_every_linear_condition_and_varying_coefficients():
    plate = fp.Box([0, 0], [2, 1]) - fp.Disk([1, 0.4], 0.2).named("hole")
    exact, x_slope, y_slope = "exp(x)*sin(2*y)", "exp(x)*sin(2*y)", "2*exp(x)*cos(2*y)"
    problem = fp.Problem(
        "div((1 + x*y)*grad(u)) + 0.3*u_xy + 3*u_x - 2*y*u_y - u = f",
        plate,
        boundary={
            "hole": f"u_n + 2*u = 2*{exact} - ((x - 1)*{x_slope} + (y - 0.4)*{y_slope})/0.2",
            "left": f"u = {exact}",
            "right": f"u_n = {x_slope}",
            "top": f"u = {exact}",
            "bottom": f"u_y + 0.5*u_x = 0.5*{x_slope} + {y_slope}",
        },
        parameters={
            "f": f"(1 + x*y)*(-3*{exact}) + y*{x_slope} + x*{y_slope} + 0.6*exp(x)*cos(2*y) + 3*{x_slope}"
            f" - 2*y*{y_slope} - {exact}"
        },
        exact=exact,
    )
    assert true_error(problem, across=4, order=9) < 1e-7


@pytest.mark.parametrize("constraint", ["mean(u) = 0.25", "u(0.3, 0.8) = 0.09 + 0.64 - 5/12"])
def test_slopes_with_a_constraint(constraint):
    exact = "x**2 + y**2 - 5/12"  # whose mean is 1/4
    sides = {"left": "u_n = 0", "bottom": "u_n = 0", "right": "u_n = 2", "top": "u_n = 2"}
    problem = fp.Problem("lap(u) = 4", SQUARE, boundary=sides, constraint=constraint, exact=exact)
    assert true_error(problem, across=3, order=8) < 1e-7


def test_nonlinear_equations_and_systems():
    one = poisson(SQUARE, equation="lap(u) - 4*u - u**3 + u*u_x = -65*ue - ue**3 + ue*6*cos(6*x)*sin(5*y + 0.3)")
    assert true_error(one, across=3, order=9) < 1e-6
    two = fp.Problem(
        ["lap(u) + v_x - u*v = f", "lap(v) - u = g"],
        SQUARE,
        boundary=["u = exp(x - y)", "v = x*y"],
        parameters={"f": "2*exp(x - y) + y - exp(x - y)*x*y", "g": "-exp(x - y)"},
        exact={"u": "exp(x - y)", "v": "x*y"},
    )
    solution = fp.solve(two, settings=fp.Settings(basis=fp.Patches(across=2, order=8)))
    assert max(solution.error(name)["relative"] for name in "uv") < 1e-7
    assert 0 < solution.work.jacobians < 8


def operator_on_functions(problem, tree, order):
    """Return −(A − B D⁻¹ C) as a matrix on the functions of all patches."""
    form, patches = HybridForm.of(problem), PatchSet.of(tree, order + 3)
    features, traces = LocalFeatures.draw(modes_of(order), 0), order + 1
    total, size = len(patches.faces) * traces, len(patches) * features.size
    a, b, c, d = np.zeros((size, size)), np.zeros((size, total)), np.zeros((total, size)), np.zeros((total, total))
    for group in patches.groups:
        element = Element.of(patches, group, features, traces)
        blocks = Assembly(
            form,
            element,
            lambda i, places, e=element: [np.zeros(len(places.x) * len(e.shifts)) for _ in form.lower[i].jets],
        ).blocks()
        for row, (k, own) in enumerate(zip(group, trace_numbers(patches, group, traces, 1), strict=True)):
            inner, outer, back, faces = (m[min(row, len(m) - 1)] for m in blocks[:4])
            part = slice(k * features.size, (k + 1) * features.size)
            a[part, part] += inner
            b[part, own] += outer
            c[own, part] += back
            d[np.ix_(own, own)] += faces
    return -(a - b @ np.linalg.solve(d, c))


@pytest.mark.parametrize(
    "equation",
    ["lap(u) = 1", "1e-6*lap(u) - u_x - 0.7*u_y = 1", "div((1 + x)*grad(u)) - 5*(y - 0.5)*u_x + 5*x*u_y = 1"],
)
@pytest.mark.parametrize("name", ["hanging faces", "cut patches"])
def test_spectra_of_diffusion_and_transport_are_stable(equation, name):
    domain = SQUARE if name == "hanging faces" else fp.Box([0, 0], [1, 1]) - fp.Disk([0.5, 0.5], 0.22).named("hole")
    tree = Tree.of(domain, 3)
    tree = tree.refined([next(iter(tree.leaves))])
    matrix = operator_on_functions(fp.Problem(equation, domain, boundary="u = 0"), tree, 4)
    size = np.max(np.abs(np.linalg.eigvals(matrix)))
    assert np.max(np.linalg.eigvals(matrix).real) <= 1e-10 * size
    if equation == "lap(u) = 1":
        assert np.allclose(matrix, matrix.T, atol=1e-9 * size)


def test_patches_are_quartered_towards_detail_until_the_tolerance_is_met():
    peak = "exp(-((x - 0.3)**2 + (y - 0.6)**2)/0.002)"
    problem = poisson(SQUARE, peak, f"lap(u) = (1e6*((x - 0.3)**2 + (y - 0.6)**2) - 2000)*{peak}")
    solution = fp.solve(problem, tol=1e-5, settings=fp.Settings(basis=fp.Patches()))
    error, known = solution.error()["relative"], solution.error_estimate["u"]
    assert solution.status == "converged"
    assert error <= 1e-5
    assert 0.1 * error <= known
    widths = solution.pieces[0].expansions[0].basis.widths(np.array([[0.3, 0.6], [0.9, 0.1]]))
    assert widths[0] <= 0.25 * widths[1]
    assert any(decision.name == "patches" for decision in solution.decisions)


def test_patches_are_chosen_where_one_network_leaves_much_and_not_elsewhere():
    waves = "cos(33*(0.6*x + 0.8*y)) + sin(33*(0.96*x - 0.28*y))"
    problem = fp.Problem("lap(u) + 33**2*u = 0", fp.Disk(), boundary="u = ue", parameters={"ue": waves}, exact="ue")
    solution = fp.solve(problem, tol=1e-2)
    assert solution.status == "converged"
    assert solution.error()["relative"] <= 1e-2
    reason = next(decision.reason for decision in solution.decisions if decision.name == "patches")
    assert "as a network of 200 neurons leaves" in reason
    easy = fp.solve(poisson(fp.Disk()), tol=1e-3)
    assert all(decision.name != "patches" for decision in easy.decisions)


def test_what_is_given_or_switched_off_keeps_one_network():
    problem = poisson(fp.Disk())
    tolerances = Tolerances.of(1e-4, None)
    assert can_have_patches(problem, Task(fp.Settings(), 0, tolerances))
    for settings in (fp.Settings(width=100), fp.Settings(without=("patches",)), fp.Settings(sampler="waves")):
        assert not can_have_patches(problem, Task(settings, 0, tolerances))
    assert not can_have_patches(
        fp.Problem("lap(lap(u)) = 1", SQUARE, boundary=["u = 0", "u_n = 0"]), Task(fp.Settings(), 0, tolerances)
    )


def test_errors_at_corners_are_told():
    mixed = fp.Box([-1, 0], [1, 1]).with_sides(slip="y < 1e-9 and x > 0")
    problem = fp.Problem(
        "lap(u) = 0",
        mixed,
        boundary={
            side.name: "u_n = 0" if side.name == "slip" else "u = sqrt((sqrt(x**2 + y**2) + x)/2)"
            for side in mixed.sides
        },
        exact="sqrt((sqrt(x**2 + y**2) + x)/2)",
    )
    solution = fp.solve(problem, tol=1e-3, settings=fp.Settings(basis=fp.Patches()))
    error = solution.error()["relative"]
    assert 0.1 * error <= solution.error_estimate["u"] <= 10 * error
    assert error <= 1e-3


def test_a_solution_is_stored_evaluated_and_drawn(tmp_path):
    plate = SQUARE - fp.Disk([0.5, 0.5], 0.2).named("hole")
    solution = fp.solve(poisson(plate), settings=fp.Settings(basis=fp.Patches(order=6)))
    file = str(tmp_path / "plate.fpinn")
    solution.save(file)
    again = fp.load(file)
    x, y = np.array([0.1, 0.9, 0.05]), np.array([0.2, 0.85, 0.5])
    for derivative in ("", "x", "xy", "yy"):
        assert np.array_equal(again(x, y, derivative=derivative), solution(x, y, derivative=derivative))
    assert "patches of order 6" in str(again.report)
    angle = 2 * np.pi * (np.arange(200) + 0.5) / 200
    x, y = 0.5 + 0.2 * np.cos(angle), 0.5 + 0.2 * np.sin(angle)
    slope = 6 * np.cos(6 * x) * np.sin(5 * y + 0.3) * np.cos(angle) + 5 * np.sin(6 * x) * np.cos(5 * y + 0.3) * np.sin(
        angle
    )
    assert float(solution.integral("u_n", side="hole")) == pytest.approx(-0.4 * np.pi * np.mean(slope), abs=1e-3)
    assert fp.page(solution, str(tmp_path / "plate.html")).endswith("plate.html")
    solution.to_vtk(str(tmp_path / "plate.vtu"))


def test_the_same_seed_gives_the_same_bits():
    one, other = (
        fp.solve(poisson(SQUARE), settings=fp.Settings(basis=fp.Patches(order=5, adaptive=False))) for _ in range(2)
    )
    assert np.array_equal(one.trajectory.state, other.trajectory.state)


@pytest.mark.parametrize(
    ("equation", "domain", "boundary", "message"),
    [
        ("lap(lap(u)) = 1", SQUARE, ["u = 0", "u_n = 0"], "no stable form is known for the term with lap"),
        (
            "u_x + u_y + u = 1",
            SQUARE,
            {"left": "u = 0", "bottom": "u = 0", "right": fp.Free(), "top": fp.Free()},
            "u has no",
        ),
        ("div((1 + u**2)*grad(u)) = 1", SQUARE, "u = 0", "depends on the solution"),
        (
            "lap(u) = 1",
            SQUARE,
            {"left": "u_n = u**4 - 1", "right": "u = 0", "top": "u = 0", "bottom": "u = 0"},
            "not linear",
        ),
        ("u_xx = 1", fp.Interval(0, 1), "u = 0", "made for two dimensions, and it has 1"),
        ("div(k*grad(u)) = 1", SQUARE, "u = 0", "coefficients or sources jump"),
    ],
)
def test_what_has_no_stable_form_is_refused_by_name(equation, domain, boundary, message):
    parameters = {"k": "1 + heaviside(x - 0.5)"} if "k*" in equation else {}
    problem = fp.Problem(equation, domain, boundary=boundary, parameters=parameters)
    with pytest.raises(
        fp.ProblemError, match=rf"patches can't solve this problem: .*{message}.*Leave basis=Patches\(\)"
    ):
        fp.solve(problem, settings=fp.Settings(basis=fp.Patches()))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"across": 0}, "across is a number of patches from 1 to 512, got 0"),
        ({"order": 40}, "the order of patches is a whole number from 3 to 14, got 40"),
        ({"levels": -1}, "levels is a whole number from 0 to 20, got -1"),
    ],
)
def test_settings_of_patches_are_checked(given, message):
    with pytest.raises(fp.SettingsError, match=message):
        fp.Patches(**given)
    with pytest.raises(fp.SettingsError, match=r"basis is fp.Patches\(\) or None"):
        fp.Settings(basis="patches")


def test_equations_that_change_their_type_are_refused():
    problem = fp.Problem("u_xx + (x - 0.5)*u_yy = 1", SQUARE, boundary="u = 0")
    with pytest.raises(fp.ProblemError, match="the second derivatives of u are not elliptic everywhere"):
        HybridForm.of(problem)


def test_detail_below_the_finest_patch_is_told():
    problem = fp.Problem("lap(u) = 1", SQUARE - fp.Box([0.5, 0.5], [1, 1]), boundary="u = 0")
    solution = fp.solve(problem, settings=fp.Settings(basis=fp.Patches(across=2, levels=1)))
    assert "as small as levels=1 allows and not resolved" in solution.notes[0]


def test_more_patches_than_fit_into_memory_are_refused():
    with pytest.raises(fp.BudgetError, match=r"patches need about .* of memory"):
        fp.solve(poisson(SQUARE), tol=1e-6, memory_limit=2e6, settings=fp.Settings(basis=fp.Patches(across=40)))
