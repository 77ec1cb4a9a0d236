"""Random features in space-time: accuracy on linear and nonlinear problems, systems, what they refuse."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.samplers import ELM
from frozenpinn.errors import EvaluationError, IntegrationError, SettingsError
from frozenpinn.language.jets import Jet
from frozenpinn_lab.cases import CASES, find_case
from frozenpinn_lab.cases.peer_settings import ADVECTION_POINTS, LADDERS, SETTINGS
from frozenpinn_lab.peers import score
from frozenpinn_lab.peers.methods import BASELINES, FEATURES, GRIDS, MESHES, solve_baseline
from frozenpinn_lab.peers.spacetime import solve_spacetime
from frozenpinn_lab.peers.spacetime_rows import PointCounts, SpaceTime, blocks_of, derivatives

SMALL = {"width": 200, "interior": 800, "boundary": 200, "initial": 200}


def heat():
    return fp.Problem(
        "u_t = u_xx + f",
        fp.Interval(0, 2),
        (1, 2),
        "sin(x)*cos(1)",
        {"left": "u = 0", "right": "u_x + u = (cos(2) + sin(2))*cos(t)"},
        parameters={"f": "sin(x)*(cos(t) - sin(t))"},
        exact="sin(x)*cos(t)",
    )


def advection(beta=2.0):
    interval = fp.Interval(0, 2 * np.pi, periodic=True)
    return fp.Problem(f"u_t + {beta}*u_x = 0", interval, (0, 1), "sin(x)", exact=f"sin(x - {beta}*t)")


def beam():
    hinged = ["u = 0", "u_xx = 0"]
    return fp.Problem("u_tt = -u_xxxx", fp.Interval(0, np.pi), (0, 1), "sin(x)", hinged, 0, exact="sin(x)*cos(t)")


def burgers():
    exact = "2*pi*0.1*exp(-pi**2*0.1*t)*sin(pi*x)/(2 + exp(-pi**2*0.1*t)*cos(pi*x))"
    return fp.Problem(
        "u_t + u*u_x = 0.1*u_xx", fp.Interval(0, 1), (0, 1), exact.replace("*t)", "*0)"), "u = 0", exact=exact
    )


def plate():
    exact = "exp(-t)*sin(x + 2*y) + 2"
    return fp.Problem(
        "u_t = u*lap(u) + f",
        fp.Disk(),
        (0, 1),
        "sin(x + 2*y) + 2",
        f"u = {exact}",
        parameters={"f": "-exp(-t)*sin(x + 2*y) + 5*exp(-t)*sin(x + 2*y)*(exp(-t)*sin(x + 2*y) + 2)"},
        exact=exact,
    )


def system():
    return fp.Problem(
        {"u": "v_x", "v": "u_x - v*(u - sin(x)*cos(t))"},
        fp.Interval(0, np.pi),
        (0, 1),
        {"u": "sin(x)", "v": 0},
        {"left": ["u = 0", fp.Free("v")], "right": ["u = 0", fp.Free("v")]},
        exact={"u": "sin(x)*cos(t)", "v": "cos(x)*sin(t)"},
    )


# ---- accuracy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["elm", "swim"])
@pytest.mark.parametrize(
    ("problem", "bound"), [(heat, 1e-6), (advection, 1e-4), (beam, 1e-4), (burgers, 1e-4), (plate, 1e-2)]
)
def test_exact_solutions_are_found(problem, sampler, bound):
    solution = solve_spacetime(problem(), sampler=sampler, **SMALL)
    assert solution.error()["rel_l2"] < bound
    assert (solution.iterations == 1) == solution.problem.is_linear
    assert solution.size == 201
    assert not solution.stopped


def test_systems():
    solution = solve_spacetime(system(), **SMALL)
    assert solution.size == 2 * 201
    assert max(solution.error(name)["rel_l2"] for name in "uv") < 1e-4


def test_errors_decay_with_the_width():
    errors = [
        solve_spacetime(heat(), width=n, interior=600, boundary=200, initial=200).error()["rel_l2"]
        for n in (10, 30, 90)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_gauss_newton_converges_quadratically_from_far():
    solution = solve_spacetime(burgers(), **SMALL)
    assert 2 <= solution.iterations <= 10
    assert list(solution.losses) == sorted(solution.losses, reverse=True)


def test_fast_advection_fails_as_published():
    """The paper's settings: fine at slow speeds, useless at 40."""
    paper = {"width": 380, "boundary": 200, "initial": 200, "rcond": 1e-10, "weights": (1, 1, 1), "eta": 4.0}
    case = find_case("advection-fast")
    slow = solve_spacetime(case.problem(beta=0.1), interior=1000, scaled=False, **paper)
    fast = solve_spacetime(case.problem(beta=40.0), interior=2000, scaled=False, **paper)
    assert slow.error()["rel_l2"] < 1e-5
    assert fast.error()["rel_l2"] > 0.5


def test_the_same_seed_gives_the_same_solution():
    one, same, other = (solve_spacetime(advection(), seed=seed, **SMALL) for seed in (3, 3, 4))
    assert np.array_equal(one.coefficients["u"], same.coefficients["u"])
    assert not np.array_equal(one.coefficients["u"], other.coefficients["u"])


# ---- rows --------------------------------------------------------------------------------------------


def test_laplacians_are_over_space_only():
    assert derivatives(Jet("u", (1, 0), 1, 1)) == {((3, 0, 1), 0): 1.0, ((1, 2, 1), 0): 1.0}
    assert derivatives(Jet("u", (0, 0), 2)) == {((4, 0, 0), 0): 1.0, ((2, 2, 0), 0): 2.0, ((0, 4, 0), 0): 1.0}


@pytest.mark.parametrize("problem", [heat, advection, beam, burgers, plate, system])
def test_rows_are_the_derivatives_of_the_residual(problem):
    rng = np.random.default_rng(0)
    space = SpaceTime(problem(), PointCounts(40, 20, 10, "random"), rng, True)
    space.layer = space.stretched(ELM(15), 0)
    c, direction, h = rng.normal(size=space.size), rng.normal(size=space.size), 1e-5
    kinds = set()
    for block in blocks_of(space):
        slope = (block.residual(c + h * direction) - block.residual(c - h * direction)) / (2 * h)
        assert block.rows(c) @ direction == pytest.approx(slope, rel=1e-5, abs=1e-5)
        kinds.add(block.kind)
    assert kinds == {"pde", "boundary", "initial"}


# ---- the solution as a function -----------------------------------------------------------------------


def test_solution_evaluates_inside_only():
    solution = solve_spacetime(heat(), **SMALL)
    assert solution([0.5, 1.0], 1.5) == pytest.approx(np.sin([0.5, 1.0]) * np.cos(1.5), abs=1e-5)
    assert solution([[0.5]], [1.0, 2.0]).shape == (1, 2)
    with pytest.raises(EvaluationError, match="outside"):
        solution([[0.5]], 0.5)
    with pytest.raises(EvaluationError, match="say which field: 'u'; got 'w'"):
        solution.error("w")
    at = np.array([[0.1], [1.9]])
    assert solution.error(at=at, times=5)["rmse"] < 1e-5


def test_points_in_the_plane():
    solution = solve_spacetime(plate(), **{**SMALL, "interior": 400}, iterations=2)
    x, t = np.array([[0.1, 0.2], [-0.5, 0.3], [0.0, 0.0]]), np.array([0.0, 0.5, 1.0])
    grid = solution(*x.T[:, :, None], t)
    assert grid.shape == (3, 3)
    assert solution(x, t) == pytest.approx(np.diag(grid))
    assert solution(x, 0.5) == pytest.approx(grid[:, 1])


def test_systems_ask_for_the_field():
    solution = solve_spacetime(system(), **{**SMALL, "interior": 400}, iterations=2)
    for ask in (solution.error, lambda: solution(0.5, 0.5)):
        with pytest.raises(EvaluationError, match="say which field: 'u', 'v'; got None"):
            ask()
    assert solution.error("v") != solution.error("u")
    assert solution(0.5, 0.5, field="v").shape == ()


# ---- what it refuses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"sampler": "magic"}, "'elm' or 'swim'"),
        ({"width": 0}, "width must be"),
        ({"interior": 0}, "number of interior points"),
        ({"initial": 1.5}, "number of initial points"),
        ({"weights": (1, -1, 1)}, "not negative"),
        ({"activation": "relu"}, "unknown activation"),
        ({"seconds": 0}, "seconds must be"),
    ],
)
def test_refused_settings(settings, text):
    with pytest.raises(SettingsError, match=text):
        solve_spacetime(heat(), **{**SMALL, **settings})


def test_budget():
    with pytest.raises(IntegrationError, match="budget of 1e-09 s was exceeded before"):
        solve_spacetime(heat(), seconds=1e-9, **SMALL)


def test_budget_of_a_nonlinear_solve_returns_what_it_has(monkeypatch):
    asked = []

    def spent(self):
        asked.append(self)
        return len(asked) > 1

    monkeypatch.setattr(score.Deadline, "is_spent", property(spent))
    solution = solve_spacetime(burgers(), **SMALL)
    assert solution.stopped
    assert solution.iterations == 1


# ---- settings of the cases ----------------------------------------------------------------------------


def test_settings_belong_to_cases_and_methods():
    assert {*SETTINGS, *LADDERS} <= set(CASES)
    assert {method for table in (SETTINGS, LADDERS) for methods in table.values() for method in methods} == {
        "iga",
        "fem",
        "fastlsq",
        *GRIDS,
        *FEATURES,
    }
    published = {(case, m) for case, methods in SETTINGS.items() for m, s in methods.items() if s.published.rel_l2}
    assert len({(case, m) for case, m in published if m != "fastlsq"}) == 5
    assert all(SETTINGS[case][m].recipe == "paper" for case, m in published if m != "fastlsq")
    assert max(ADVECTION_POINTS) == 100


@pytest.mark.parametrize("case", LADDERS)
def test_the_lowest_rung_of_each_ladder_solves(case):
    problem = find_case(case).problem()
    for method, rungs in LADDERS[case].items():
        if method != "fem":
            solution = solve_baseline(method, problem, **rungs[0])
            assert solution.error(problem.fields[0])["rel_l2"] < 0.6
            assert solution.size < 600


def test_unknown_methods_are_refused():
    with pytest.raises(
        SettingsError, match="unknown baseline 'magic'; choose one of 'causal-pinn', 'fastlsq', 'fem', 'iga'"
    ):
        solve_baseline("magic", heat())


FEW = {"layers": 1, "width": 6, "interior": 100, "conditions": 30, "levels": 10}
OPTIONS = {
    "spectral": {"modes": 8},
    "py-pde": {"points": 8},
    "iga": {"nodes": 8, "degree": 4},
    "iga-exact": {"nodes": 8, "degree": 4},
    "spacetime-elm": {"width": 60},
    "spacetime-swim": {"width": 60},
    "pinn-adam": {**FEW, "adam_steps": 5},
    "pinn-lbfgs": {**FEW, "lbfgs_steps": 5},
    "causal-pinn": {**FEW, "adam_steps": 5, "lbfgs_steps": 5, "batch": 50},
}


@pytest.mark.parametrize("method", [name for name in BASELINES if name not in ("fem", "py-pde", "fastlsq")])
def test_every_baseline_solves_by_name(method):
    """In one dimension; elements live in the plane, and py-pde compiles too long."""
    if "pinn" in method:
        pytest.importorskip("jax")
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0", exact="exp(-t)*sin(x)")
    solution = solve_baseline(method, problem, **OPTIONS[method])
    x, t = np.linspace(0, 3, 7), np.linspace(0, 1, 7)
    assert solution(x, 0.5).shape == (7,)
    assert solution(x[:, None], t).shape == (7, 7)
    assert solution(x, t) == pytest.approx(np.diag(solution(x[:, None], t)))  # pairs, as those of fp.solve
    assert solution([], 0.5).shape == (0,)
    for where, text in (((x, t[:3]), "do not broadcast"), ((x,), r"expected solution\(x, t\)")):
        if len(where) == 2 or not method.startswith("iga"):
            with pytest.raises(EvaluationError, match=text):
                solution(*where)
    assert solution.error()["rel_l2"] < (2.0 if "pinn" in method else 0.01)


@pytest.mark.parametrize("seconds", [0, -3, float("nan"), "soon", True])
@pytest.mark.parametrize("method", [name for name in BASELINES if name != "fastlsq"])  # for static problems only
def test_every_baseline_refuses_the_same_budgets(method, seconds):
    if "pinn" in method:
        pytest.importorskip("jax")
    options = {"mesh_size": 0.3} if method == "fem" else OPTIONS[method]
    with pytest.raises(SettingsError, match="seconds must be a positive number, or None"):
        solve_baseline(method, heat(), seconds=seconds, **options)


@pytest.mark.parametrize("rtol", [0, -1e-3, 1, 2.0, float("nan"), "low"])
@pytest.mark.parametrize("method", MESHES)
def test_meshes_refuse_the_same_tolerances(method, rtol):
    options = {"mesh_size": 0.3} if method == "fem" else OPTIONS[method]
    for problem in (heat(), burgers()):
        with pytest.raises(SettingsError, match="rtol must lie between 0 and 1"):
            solve_baseline(method, problem, rtol=rtol, **options)


@pytest.mark.parametrize(
    ("method", "options", "text"),
    [
        (
            "iga",
            {"nodes": 8, "degree": 4, "width": 3},
            "'iga' has no option 'width' here; .* 'degree', 'integrator', 'no",
        ),
        ("iga", {"nodes": 8}, r"'iga' needs the option\(s\) 'degree'; its options are 'degree', 'integrator', 'nodes'"),
        ("iga-exact", {"nodes": 8, "degree": 4, "integrator": "radau"}, "no option 'integrator' here"),
        ("fem", {}, r"'fem' needs the option\(s\) 'mesh_size'"),
        ("fem", {"mesh_size": 1, "nodes": 3, "width": 3}, "'fem' has no option 'nodes', 'width' here"),
        ("spacetime-elm", {"sampler": "swim"}, "'spacetime-elm' has no option 'sampler' here"),
        ("spacetime-swim", {"depth": 2}, "no option 'depth' here; its options are 'activation', 'boundary'"),
    ],
)
def test_options_are_checked(method, options, text):
    with pytest.raises(SettingsError, match=text):
        solve_baseline(method, heat(), **options)


def test_options_of_nonlinear_splines_are_checked():
    with pytest.raises(SettingsError, match="'iga' has no option 'integrator' here; its options are 'degree', 'nodes'"):
        solve_baseline("iga", burgers(), nodes=8, degree=4, integrator="radau")
