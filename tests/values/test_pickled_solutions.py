"""Solutions that have been pickled, sent to another process or read from a file: the same classes, the same bits."""

import multiprocessing
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import frozenpinn as fp
import zoo
from frozenpinn.integrators.duhamel import LoadTrajectory
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.integrators.modal import ModalTrajectory
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring
from frozenpinn.integrators.scipy_ivp import PiecewiseTrajectory
from frozenpinn.search.rules import Rules, SearchRules

LINE, RING = zoo.LINE, zoo.RING
STATIC = ("poisson", "corner", "ball", "bratu", "layer")
NAMES = [name for name in zoo.NAMES if name not in STATIC]


def solved(problem, tol=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fp.solve(problem, tol=tol, settings=fp.Settings(**settings))


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


@pytest.fixture(scope="module", params=NAMES)
def solution(request):
    found = zoo.solved(request.param)
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
    estimate = zoo.solved("estimated").error_estimate
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
    names = ["lifted", "functions", "moving_edges"]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for name, found in zip(names, pool.map(zoo.solved, names), strict=True):
            assert values(found) == values(zoo.solved(name))
