"""The same call gives the same bits: on a fresh problem, after any other solve, and in another process.

Searches for a tolerance look at the clock, but only where an estimate lies between half the tolerance and the whole;
the problems here are chosen such that theirs do not.
"""

import hashlib
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import frozenpinn as fp

LINE = fp.Interval(0, 1)


def heat():
    """Linear, in one dimension, with boundary data in time."""
    sides = {"left": "u = sin(3*t)", "right": "u_x + u = 0"}
    return fp.Problem("u_t = 0.3*u_xx + x*exp(-t)", LINE, (0, 1), "x*(1 - x)**2", sides)


def front():
    """A basis that follows the solution."""
    return fp.Problem("u_t + u*u_x = 0.004*u_xx", fp.Interval(-1, 1), (0, 0.6), "-sin(pi*x)", "u = 0")


def reaction():
    """Nonlinear, smooth everywhere: a trial tells that one basis is enough."""
    return fp.Problem("u_t = 0.05*u_xx + u - u**3", LINE, (0, 1), "sin(pi*x)", "u = 0")


def string():
    """Of second order in time."""
    return fp.Problem("u_tt = u_xx - u", LINE, (0, 1), "sin(pi*x)", "u = 0", "x*(1 - x)")


def infection():
    """Fields of very different size, one of which grows out of its unit: it is solved again in other ones."""
    equations = {"S": "0.01*S_xx - 20*S*I", "I": "0.01*I_xx + 20*S*I - I"}
    start = {"S": 1, "I": "1e-5*(1 + cos(pi*x))"}
    return fp.Problem(equations, LINE, (0, 1), start, fp.Neumann(0))


def plate():
    """A product of functions of one variable."""
    square = fp.Box([0, 0], [1, 1])
    return fp.Problem("u_t = lap(u) + x*y*cos(t)", square, (0, 0.2), "sin(pi*x)*sin(pi*y)", "u = 0")


def drum():
    """A shape."""
    disk = fp.Disk([0.2, 0], 1)
    return fp.Problem("u_t = 0.2*lap(u) + x", disk, (0, 0.5), "1 - (x - 0.2)**2 - y**2", "u = 0")


def layers():
    """Three dimensions, but only one direction matters."""
    box = fp.Box([0, 0, 0], [1, 1, 1])
    return fp.Problem("u_t = 0.1*lap(u)", box, (0, 1), "cos(pi*x)", "u_n = 0")


KINDS = {build.__name__: build for build in (heat, front, reaction, string, infection, plate, drum, layers)}
TOLERANCES = {"infection": 1e-3, "drum": 3e-4}  #: 1e-4 for all others
FIXED = {"front": 120, "infection": 60, "plate": 16, "drum": 150}  #: widths that are enough to tell bits apart


def settings(name, **others):
    return fp.Settings(width=FIXED.get(name), **others)


def call(name, problem):
    """Return what is asked of each kind: one solve and its estimate, and one with a tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once = fp.solve(problem, seed=5, settings=settings(name))
        return [once, fp.estimate_error(once), fp.solve(problem, tol=TOLERANCES.get(name, 1e-4), seed=5)]


def fingerprint(solution):
    """Return all that must be the same: values and derivatives by their bits, sizes and estimates as they are."""
    problem = solution.problem
    x, t = problem.domain.sample(40, "random", 3).x, np.linspace(*problem.time, 9)
    bits = hashlib.sha256()
    for field in problem.fields:
        for derivative in ("", "x", "t"):
            bits.update(solution(*(c[:, None] for c in x.T), t, field=field, derivative=derivative).tobytes())
        bits.update(solution(*x.T, np.resize(t, len(x)), field=field).tobytes())
        if solution.witness is not None:
            bits.update(solution.error_at(*x.T, t[3], field=field).tobytes())
    estimate, verdict = solution.error_estimate, solution.verdict
    return {
        "bits": bits.hexdigest(),
        "width": solution.width,
        "windows": [piece.end for piece in solution.pieces],
        "integrator": solution.integrator,
        "subspace": None if solution.subspace is None else solution.subspace.rows.tolist(),
        "notes": list(solution.notes),
        "work": list(solution.work),
        "estimate": None if estimate is None else estimate.as_dict(),
        "verdict": None if verdict is None else [*verdict[:3], [list(attempt[:2]) for attempt in verdict.attempts]],
    }


def fingerprints(name, problem=None):
    """Call a kind; return what came out, as JSON knows it, so that processes can be compared."""
    problem = KINDS[name]() if problem is None else problem
    return json.loads(json.dumps([fingerprint(solution) for solution in call(name, problem)]))


@pytest.fixture(scope="module")
def expected():
    return {name: fingerprints(name) for name in KINDS}


def test_the_kinds_are_what_they_are_meant_to_be(expected):
    once, _, asked = ({name: prints[k] for name, prints in expected.items()} for k in range(3))
    assert len(once["front"]["windows"]) > 1
    assert len(asked["reaction"]["windows"]) == 1
    assert once["infection"]["notes"] == []  # the first guess of units was wrong
    assert once["layers"]["subspace"] == [[1.0, 0.0, 0.0]]
    for name, found in asked.items():
        status, tol, _, attempts = found["verdict"]
        assert status == "converged", name
        judged = [error for _, error in attempts if np.isfinite(error)]
        assert not any(0.5 * tol < error <= tol for error in judged), f"{name} may depend on the clock"


@pytest.mark.parametrize("name", KINDS)
def test_a_fresh_problem_after_all_others(name, expected):
    assert fingerprints(name) == expected[name]


@pytest.mark.parametrize("name", KINDS)
def test_a_problem_that_was_solved_otherwise_before(name, expected):
    problem = KINDS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fp.check(problem)
        fp.solve(problem, seed=0, settings=settings(name))
        fp.solve(problem, tol=1e-2)
        if problem.domain.dimension == 1:
            fp.solve(problem, settings=fp.Settings(sampler="elm", width=40, windows=None))
            fp.solve(problem, settings=fp.Settings(width=50, windows=2, integrator="cvode", cutoff=1e-8))
        else:
            width = 60 if name == "drum" else 8
            fp.solve(problem, settings=fp.Settings(width=width, subspace=None, integrator="radau", rtol=1e-3))
        assert fingerprints(name, problem) == expected[name]
        assert fingerprints(name, problem) == expected[name]  # and after itself


@pytest.mark.parametrize("earlier", [{"seed": 0}, {"settings": fp.Settings(sampler="elm"), "time_limit": 3}])
def test_sampler_and_seed_of_an_earlier_solve_change_no_width(earlier):
    """The first width follows from a trial with neurons of one's own, not with those of the solve before."""

    def steepening():
        equation = "u_t + u*u_x = 0.05*u_xx + 1e-9*cos(pi*x)*u_x"  # a coefficient that varies: no waves
        return fp.Problem(equation, fp.Interval(-1, 1, periodic=True), (0, 0.6), "-sin(pi*x)")

    fresh, problem = fp.solve(steepening(), tol=1e-4, seed=5), steepening()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = fp.solve(problem, tol=1e-4, **earlier)
    assert before.width != fresh.width
    assert fingerprint(fp.solve(problem, tol=1e-4, seed=5)) == fingerprint(fresh)


@pytest.mark.parametrize("name", KINDS)
def test_a_pickled_problem(name, expected):
    problem = pickle.loads(pickle.dumps(KINDS[name]()))
    assert fingerprints(name, problem) == expected[name]


def test_another_process_in_another_order_with_other_hashes(expected):
    script = "import json, test_determinism as t; print(json.dumps({n: t.fingerprints(n) for n in reversed(t.KINDS)}))"
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    for name in KINDS:
        assert found[name] == expected[name], name


def test_solutions_from_a_pool_of_processes(expected):
    """Problems go there, solutions come back."""
    names = ["heat", "layers"]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for name, solutions in zip(names, pool.map(call, names, [KINDS[name]() for name in names]), strict=True):
            assert json.loads(json.dumps([fingerprint(solution) for solution in solutions])) == expected[name]
