"""Values never change: attributes can't be set, and what a user does to arrays that were handed out has no effect."""

import threading
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.search.settings import Task, Tolerances
from frozenpinn.search.sizing import make_plan

LINE = fp.Interval(0, 1)


def heat():
    sides = {"left": "u = sin(t)", "right": "u = 0"}
    return fp.Problem("u_t = k*u_xx + x*t", LINE, (0, 1), "x*(1 - x)", sides, parameters={"k": 0.3})


def rough():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fp.check(fp.Problem("u_t = u_xx", LINE, (0, 1), "sign(x - 0.5)", "u = 0"))


@pytest.fixture(scope="module")
def solution():
    return fp.solve(heat(), tol=1e-4)


@pytest.fixture(scope="module")
def values(solution):
    """Some of everything, by the name under which users know it."""
    piece, findings = solution.pieces[0], rough()
    task = Task(fp.Settings(), 0, Tolerances.of(1e-4, None))
    return {
        "problem": (solution.problem, "time"),
        "domain": (solution.problem.domain, "lower"),
        "equation": (solution.problem.equations[0], "right_side"),
        "condition": (solution.problem.conditions[0], "side"),
        "datum": (solution.problem.initial["u"], "what"),
        "settings": (fp.Settings(), "width"),
        "windows": (fp.Windows(3), "count"),
        "rules": (fp.Settings().rules.search, "safety"),
        "solution": (solution, "pieces"),
        "discretisation": (solution.system, "spaces"),
        "linear part": (solution.system.linear, "velocity"),
        "piece": (piece, "end"),
        "expansion": (piece.expansions[0], "order"),
        "network": (piece.expansions[0].basis, "outer"),
        "hidden layer": (piece.expansions[0].basis.hidden, "weights"),
        "trajectory": (solution.trajectory, "states"),
        "modes": (solution.trajectory.modes, "eigenvalues"),
        "estimate": (solution.error_estimate, "overall"),
        "verdict": (solution.verdict, "status"),
        "report": (solution.report, "width"),
        "findings": (findings, "entries"),
        "finding": (next(iter(findings)), "text"),
        "task": (task, "seed"),
        "plan": (make_plan(heat(), task), "counts"),
        "sampler": (fp.samplers.ELM(30), "width"),
        "strategy": (fp.boundary.AugmentedODE(), "kappa"),
        "integrator": (fp.integrators.CVODE(), "rtol"),
    }


def test_attributes_cannot_be_set(values):
    for name, (value, attribute) in values.items():
        before = getattr(value, attribute)
        with pytest.raises(AttributeError):
            setattr(value, attribute, before)
        assert getattr(value, attribute) is before, name


@pytest.mark.parametrize("integrator", ["exact", "etd", "cvode", "dop853"])
def test_trajectories_of_all_kinds_neither(integrator):
    linear = "" if integrator == "exact" else " - u**3"
    problem = fp.Problem(f"u_t = 0.1*u_xx{linear}", LINE, (0, 1), "sin(pi*x)", "u = 0")
    trajectory = fp.solve(problem, settings=fp.Settings(width=20, integrator=integrator, rtol=1e-4)).trajectory
    for attribute in [name for name in vars(trajectory) if not name.startswith("_")]:
        with pytest.raises(FrozenInstanceError):
            setattr(trajectory, attribute, None)


def test_other_problems_leave_the_original_as_it_was():
    problem = heat()
    text, data = str(problem), problem.given["parameters"]
    other, later = problem.at(k=2), problem.during((0, 3))
    assert (str(problem), problem.given["parameters"], problem.time) == (text, data, (0.0, 1.0))
    assert "2*u_xx" in str(other)
    assert later.time == (0.0, 3.0)
    assert heat().equations == problem.equations


def test_the_tables_of_a_user_are_not_kept():
    parameters, sides = {"k": 0.3}, {"left": "u = sin(t)", "right": "u = 0"}
    problem = fp.Problem("u_t = k*u_xx + x*t", LINE, (0, 1), "x*(1 - x)", sides, parameters=parameters)
    parameters["k"], sides["left"] = 7, "u = 5"
    assert problem.during((0, 2)).at(k=0.3).equations == heat().equations
    directions = np.array([[1.0, 0.0]])
    box = fp.Box([0, 0], [1, 1])
    flat = fp.Problem("u_t = lap(u)", box, (0, 0.1), "cos(pi*x)", "u_n = 0")
    settings = fp.Settings(width=20, subspace=directions)
    solution = fp.solve(flat, settings=settings)
    directions[:] = 0
    assert settings == solution.provenance.settings == fp.Settings(width=20, subspace=[[1, 0]])
    assert fp.estimate_error(solution).error_estimate["u"] < 1e-6


def spoil(array):
    """Do what a user may do to an array; those that belong to a value refuse."""
    try:
        array[...] = np.nan
    except ValueError as error:
        assert "read-only" in str(error)  # noqa: PT017


@pytest.mark.parametrize("equation", ["u_t = 0.3*u_xx + x*t", "u_t = 0.3*u_xx - u**3 + sin(x*t)", "u_tt = u_xx - u_t"])
def test_arrays_that_were_handed_out_have_no_effect(equation):
    second = {"initial_velocity": "1 - x"} if "tt" in equation else {}
    sides = {"left": "u = sin(t)", "right": "u = 0"}
    solution = fp.estimate_error(
        fp.solve(fp.Problem(equation, LINE, (0, 1), "x*(1 - x)", sides, **second), settings=fp.Settings(width=30))
    )
    x, t = np.linspace(0, 1, 11), np.linspace(0, 1, 5)

    def look():
        system, y = solution.system, solution.system.initial_state
        return [
            solution(x[:, None], t),
            solution(x, 0.3),
            solution(x, 0.3, derivative="t"),
            solution.error_at(x, 0.5),
            solution.collocation,
            solution.error_estimate.times,
            solution.error_estimate.curves["u"],
            solution.error_estimate.at(t),
            solution.trajectory(t),
            solution.trajectory.rates(t),
            solution.pieces[0].initial_state,
            y,
            system.singular_values,
            system.forcing(0.3),
            system.forcing.batch(t),
            system.state_forcing(0.3),
            system.rhs(0.3, y),
            system.jacobian(0.3, y),
            system.linear.matrix,
            solution.problem.domain.lower,
            solution.problem.domain.sample(9).x,
            solution.grid(5, 3)["u"].values,
        ]

    expected = [np.array(array) for array in look()]
    for array in look():
        spoil(array)
    for array, before in zip(look(), expected, strict=True):
        np.testing.assert_array_equal(array, before)


def test_threads_may_share_a_solution():
    """What is kept for speed inside is of no consequence, whoever asks in between."""
    problem = fp.Problem(
        "u_t = 0.3*u_xx - u**3 + sin(x*t)", LINE, (0, 1), "x*(1 - x)", {"left": "u = sin(t)/9", "right": "u = 0"}
    )
    solution = fp.solve(problem, settings=fp.Settings(width=20))
    x, expected, failures = np.linspace(0, 1, 7), {}, []

    def ask(seed):
        times = np.random.default_rng(seed).uniform(0, 1, 200)
        try:
            return solution(x[:, None], times, derivative="t")
        except Exception as error:
            failures.append(error)

    expected = {seed: ask(seed) for seed in range(4)}
    found = {}
    threads = [threading.Thread(target=lambda s=seed: found.update({s: ask(s)})) for seed in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for seed, array in expected.items():
        np.testing.assert_array_equal(found[seed], array)
