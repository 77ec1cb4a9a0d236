"""Solutions that have been pickled, sent to another process or read from a file: the same classes, the same bits."""

import multiprocessing
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.integrators.duhamel import LoadTrajectory
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.integrators.modal import ModalTrajectory
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring
from frozenpinn.integrators.scipy_ivp import PiecewiseTrajectory
from frozenpinn.search.rules import Rules, SearchRules

LINE = fp.Interval(0, 1)
RING = fp.Interval(0, 1, periodic=True)
SQUARE = fp.Box([0, 0], [1, 1])
EDGES = {"left": "u = sin(3*t)", "right": "u_x + u = t"}


def bump(x):
    return x * (1 - x)


def solved(problem, seed=0, tol=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fp.solve(problem, seed=seed, tol=tol, settings=fp.Settings(**settings))


def reaction():
    return fp.Problem("u_t = 0.1*u_xx - u**3 + cos(5*t)", LINE, (0, 1), "sin(pi*x)", "u = 0")


def stepped(integrator):
    return lambda: solved(reaction(), width=24, integrator=integrator, rtol=1e-5, windows=None)


def lifted():
    return solved(fp.Problem("u_t = 0.3*u_xx + x", LINE, (0, 1), 0, EDGES), width=40)


def ladder():
    return solved(fp.Problem("u_t = u_xx - 3*u_x + 1", LINE, (0, 0.2), "sin(pi*x)", "u = 0"), width=40)


def transport():
    return solved(fp.Problem("u_t = -u_x", RING, (1, 2), "sin(2*pi*x)"), width=40)


def string():
    sides = {"left": "u = sin(3*t)", "right": "u = 0"}
    return solved(fp.Problem("u_tt = u_xx - u_t", LINE, (0, 1), "sin(pi*x)", sides, "3*(1 - x)"), width=40)


def nonlinear_string():
    return solved(fp.Problem("u_tt = u_xx - u**3", LINE, (0, 1), "sin(pi*x)", "u = 0", 0), width=40)


def windows():
    problem = fp.Problem("u_t + u*u_x = 0.01*u_xx", fp.Interval(-1, 1), (0, 0.6), "-sin(pi*x)", "u = 0")
    return solved(problem, width=80, rtol=1e-4)


def equal_windows():
    return solved(reaction(), width=40, windows=3)


def product():
    problem = fp.Problem("u_t = lap(u)", SQUARE, (0, 0.3), "exp(x + y)", "u = exp(x + y + 2*t)")
    return solved(problem, width=10, subspace=None)


def nonlinear_product():
    problem = fp.Problem("u_t = 0.1*lap(u) - u**3 + x*y", SQUARE, (0, 0.5), "sin(pi*x)*sin(pi*y)", "u = 0")
    return solved(problem, width=8)


def shape():
    problem = fp.Problem("u_t = lap(u) + x", fp.Disk(), (0, 0.2), "1 - x**2 - y**2", "u = 0")
    return solved(problem, width=80)


def corner():
    outline = fp.Polygon([[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]])
    return solved(fp.Problem("u_t = lap(u) + 1", outline, (0, 0.1), 0, "u = 0"), width=80)


def subspace():
    box = fp.Box([0, 0, 0], [1, 1, 1])
    return solved(fp.Problem("u_t = 0.1*lap(u)", box, (0, 1), "cos(pi*x)", "u_n = 0"), tol=1e-4)


def many_dimensions():
    box = fp.Box([0] * 4, [1] * 4)
    data = "exp(x1*x2 + x3*x4)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solved(fp.Problem("u_t = lap(u)", box, (0, 0.1), data, f"u = {data}"), width=60, subspace=None)


def scaled():
    equations = {"u": "0.05*u_xx + 1e9*v", "v": "0.05*v_xx - 1e-9*u"}
    start = {"u": "1e6*sin(pi*x)", "v": "1e-6*x*(1 - x)"}
    return solved(fp.Problem(equations, LINE, (0, 1), start, fp.Dirichlet(0)), width=40)


def coupled():
    sides = ["u = v", "u_x = -v_x"]
    start = {"u": "cos(pi*x)", "v": "cos(pi*x)"}
    return solved(fp.Problem({"u": "u_xx", "v": "v_xx"}, LINE, (0, 0.2), start, {"left": sides, "right": sides}))


def mixed_orders():
    equations = ["u_tt = u_xx - v", "v_t = v_xx + u"]
    start = {"u": "sin(pi*x)", "v": 0}
    return solved(fp.Problem(equations, LINE, (0, 0.5), start, fp.Dirichlet(0), 0), width=40)


def outer_basis():
    problem = fp.Problem("u_t = -u_x", RING, (0, 1), "sin(2*pi*x)")
    return solved(problem, width=50, boundary=fp.boundary.OuterBasis("fourier", 10))


def soft():
    return solved(fp.Problem("u_t = 0.3*u_xx", LINE, (0, 1), 0, EDGES), width=40, boundary="augmented-ode")


def soft_string():
    problem = fp.Problem("u_tt = u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", 0)
    return solved(problem, width=30, boundary="augmented-ode", rtol=1e-5)


def functions():
    sides = {"left": fp.Dirichlet(np.sin), "right": "u = 0"}
    return solved(fp.Problem("u_t = k*u_xx", LINE, (0, 1), bump, sides, parameters={"k": bump}), width=30)


def exponential():
    return solved(fp.Problem("u_t = -u_x + 0.1*u**2", RING, (0, 1), "sin(2*pi*x)"), width=40, integrator="exponential")


def tolerance():
    return solved(reaction(), tol=1e-4)


def estimated():
    return fp.estimate_error(lifted())


CASES = [
    lifted,
    ladder,
    transport,
    string,
    nonlinear_string,
    windows,
    equal_windows,
    product,
    nonlinear_product,
    shape,
    corner,
    subspace,
    many_dimensions,
    scaled,
    coupled,
    mixed_orders,
    outer_basis,
    soft,
    soft_string,
    functions,
    exponential,
    tolerance,
    estimated,
]
STEPPERS = ["etd", "cvode", "cvode-adams", "rk45", "rk23", "dop853", "lsoda", "radau", "bdf"]
BUILDERS = {case.__name__: case for case in CASES} | {name: stepped(name) for name in STEPPERS}
KINDS = {  #: of trajectories that must be among the cases
    "lifted": ModalTrajectory,
    "ladder": ScalingAndSquaring,
    "exponential": ModalTrajectory,
    "etd": LoadTrajectory,
    "cvode": HermiteTrajectory,
    "rk45": PiecewiseTrajectory,
    "lsoda": PiecewiseTrajectory,
}


def again(value):
    return pickle.loads(pickle.dumps(value))


def values(solution):
    """Return the bits of values, derivatives and pointwise errors, on grids and at pairs."""
    problem = solution.problem
    x = problem.domain.sample(30, "random", 3).x
    t = np.linspace(*problem.time, 7)
    first = problem.domain.coordinates[0]
    found = []
    for field in problem.fields:
        orders = ["", first, 2 * first, *("t" * (k + 1) for k in range(problem.equation(field).order)), first + "t"]
        for derivative in orders:
            found.append(solution(*(c[:, None] for c in x.T), t, field=field, derivative=derivative))
            found.append(solution(*x.T, np.resize(t, len(x)), field=field, derivative=derivative))
        if solution.witness is not None:
            found.append(solution.error_at(*x.T, t[2], field=field))
    return [array.tobytes() for array in found]


@pytest.fixture(scope="module", params=BUILDERS)
def solution(request):
    found = BUILDERS[request.param]()
    if request.param in KINDS:
        assert isinstance(found.trajectory, KINDS[request.param])
    return found


def test_a_pickled_solution_is_the_same(solution):
    before = again(solution)  # before anything was asked of it, and after
    expected = values(solution)
    for other in (before, again(solution), again(before)):
        assert values(other) == expected
        assert repr(other) == repr(solution)
        assert other.report.as_dict() == solution.report.as_dict()
        assert str(other.report) == str(solution.report)
        assert other.seconds == solution.seconds
        assert other.verdict == solution.verdict
        assert other.provenance == solution.provenance
        assert np.array_equal(other.collocation, solution.collocation)
    if solution.error_estimate is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine, other = fp.estimate_error(solution), fp.estimate_error(again(solution))
        assert again(mine).error_estimate.as_dict() == mine.error_estimate.as_dict() == other.error_estimate.as_dict()


def test_its_discretisation_too(solution):
    system, other = solution.system, again(solution.system)
    y, t = system.initial_state, system.time[0] + 0.3 * (system.time[1] - system.time[0])
    assert np.array_equal(other.initial_state, y)
    assert np.array_equal(other.rhs(t, y), system.rhs(t, y))
    assert np.array_equal(other.jacobian(t, y), system.jacobian(t, y))
    assert np.array_equal(other.forcing(t), system.forcing(t))
    assert np.array_equal(other.forcing.batch(np.array([t])), system.forcing.batch(np.array([t])))


# ---- files ----------------------------------------------------------------------------------------


def test_a_stored_solution_is_of_the_same_classes(solution, tmp_path):
    solution.save(tmp_path / "s.fpinn")
    loaded = fp.load(tmp_path / "s.fpinn")
    assert type(loaded) is type(solution)
    assert (loaded.width, loaded.counts, loaded.notes) == (solution.width, solution.counts, solution.notes)
    for mine, other in zip(solution.pieces, loaded.pieces, strict=True):
        assert type(other) is type(mine)
        assert [type(e) for e in other.expansions] == [type(e) for e in mine.expansions]
        assert [type(e.basis) for e in other.expansions] == [type(e.basis) for e in mine.expansions]
        assert [type(view) for view in other.views] == [type(view) for view in mine.views]
    expected = values(loaded)
    for other in (again(loaded), again(again(loaded))):
        assert values(other) == expected
        assert repr(other) == repr(loaded)
        assert other.report.as_dict() == loaded.report.as_dict() == solution.report.as_dict()


# ---- other values ---------------------------------------------------------------------------------


def test_settings_and_findings():
    settings = fp.Settings(
        width=30,
        sampler=fp.samplers.ELM(30),
        boundary=fp.boundary.AugmentedODE(10.0),
        integrator=fp.integrators.CVODE(1e-6),
        windows=fp.Windows(3),
        rules=Rules(search=SearchRules(safety=0.25)),
    )
    assert again(settings) == settings
    problem = fp.Problem("u_t = u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rough = fp.Problem("u_t = u_xx", LINE, (0, 1), "sign(x - 0.5)", "u = 0")
        for stated in (problem, rough):
            findings = fp.check(stated)
            assert again(findings) == findings
            assert str(again(findings)) == str(findings)
    estimate = estimated().error_estimate
    assert again(estimate) == estimate
    assert again(estimate).at(0.3) == estimate.at(0.3)
    assert again(estimate).holds_until(1e-12) == estimate.holds_until(1e-12)


UNPICKLABLE = r"is a Python function that can't be pickled \(a lambda or a local function\)"


def test_solutions_of_lambdas_can_be_used_but_not_sent():
    problem = fp.Problem("u_t = u_xx", LINE, (0, 1), lambda x: np.sin(np.pi * x), "u = 0")
    for found in (solved(problem, width=20), solved(problem, tol=1e-3)):
        assert abs(found(0.5, 0.1) - np.exp(-0.1 * np.pi**2)) < 1e-3
        for part in (found, found.system):
            with pytest.raises(fp.ProblemError, match=f"the initial value of u {UNPICKLABLE}"):
                pickle.dumps(part)
    box = fp.Box([0, 0], [1, 1])
    flat = solved(fp.Problem("u_t = lap(u)", box, (0, 0.1), lambda x, y: np.cos(np.pi * x), "u_n = 0"), tol=1e-3)
    assert flat.subspace is not None
    with pytest.raises(fp.ProblemError, match=f"the initial value of u {UNPICKLABLE}"):
        pickle.dumps(flat)


def test_failures_come_back_from_another_process():
    """An error that tells how far it got is an answer, too."""
    problem = fp.Problem("u_t = u**2", RING, (0, 2), "1 + sin(2*pi*x)/2")
    with pytest.raises(fp.IntegrationError) as caught:
        solved(problem, width=40)
    other = again(caught.value)
    assert (type(other), str(other), other.time) == (fp.IntegrationError, str(caught.value), caught.value.time)
    assert other.solution(0.3, 0.1) == caught.value.solution(0.3, 0.1)


def test_a_pool_of_processes():
    names = ["lifted", "functions", "product"]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for name, found in zip(names, pool.map(_built, names), strict=True):
            assert values(found) == values(BUILDERS[name]())


def _built(name):
    return BUILDERS[name]()
