"""The search for a tolerance: which solve is returned, what is foreseen, and what comes back under a limit."""

import warnings
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.estimate import compare, judge_pair
from frozenpinn.integrators.protocol import kept_bytes
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.runtime.budget import Budget, peak_memory, physical_memory
from frozenpinn.search.cost_forecast import CostForecast
from frozenpinn.search.estimate import residual_ratio
from frozenpinn.search.kind import Failure
from frozenpinn.search.rules import EstimateRules, Rules, SearchRules
from frozenpinn.search.search import Search, duration
from frozenpinn.search.settings import Settings, Task, Tolerances
from frozenpinn.search.trust import stall_reason
from frozenpinn.solve import kind_of
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.calibration import collection

CIRCLE = fp.Interval(0, 2 * np.pi, periodic=True)
QUICK = (
    "heat, Neumann",
    "wave, damped",
    "transport with outflow",
    "drifting cloud",
    "beam, clamped",
    "Fisher–KPP",
    "Burgers, Cole–Hopf",
    "nonlinear system",
    "2-d heat, torus",
    "2-d wave",
    "wave on a triangle",
    "4-d heat, skew plane",
    "generated 14",
)


def steep():
    """Return a problem that a first network does not resolve."""
    shape = "exp(cos(x - t)*8)/exp(8)"
    return Problem("u_t + u_x = 0", CIRCLE, (0, 1), shape.replace(" - t", ""), exact=shape)


def rough():
    return Problem("u_t + u_x = 0", CIRCLE, (0, 1), "abs(x - pi)")


def search_for(problem, tol=1e-6, budget=None, **settings):
    task = Task(Settings(**settings), 0, Tolerances.of(tol, None), kind=kind_of(problem))
    return Search(problem, task, budget or Budget(), lambda stage: None)


def quietly(problem, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        return fp.solve(problem, **options)


# ---- the finest solve is the answer -------------------------------------------------------------------


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_the_finest_solve_is_returned(tol):
    solution = fp.solve(steep(), tol=tol)
    widths = [width for width, _, _ in solution.verdict.attempts]
    assert solution.width == max(widths) == widths[-1]
    assert solution.witness.width == widths[-2] < solution.width
    assert solution.error_estimate["u"] == solution.verdict.attempts[-1][1]


@pytest.mark.parametrize("name", QUICK)
def test_estimates_of_the_finest_solve_are_honest(name):
    entry = collection()[name]
    problem = entry.build()
    solution = quietly(problem, tol=1e-5)
    error = max(solution.error(field)["relative"] for field in problem.fields)
    estimate, distance = solution.error_estimate.worst, compare(solution.witness, solution, Settings()).worst
    assert error / 10 <= estimate <= 30 * max(error, 3e-13)
    assert estimate <= 2.0 * distance, "the distance is an upper bound, but for errors of steps"
    assert solution.status == "converged"
    assert error <= 1e-5


def test_the_finer_one_is_better_than_the_distance():
    coarse, fine = (fp.solve(steep(), settings=fp.Settings(width=width)) for width in (40, 80))
    pair = judge_pair(coarse, fine, Settings())
    true = [s.error()["relative"] for s in (coarse, fine)]
    assert true[1] < 1e-3 * true[0]
    assert pair.coarser["u"] == pytest.approx(true[0], rel=0.5)
    assert true[1] / 10 < pair.finer["u"] < 0.1 * pair.coarser["u"]
    assert pair.ratio < 0.1 < 10 < residual_ratio(fine, coarse, pair.coarser.worst, EstimateRules())


def test_what_is_lost_when_a_basis_is_renewed_counts():
    """No residual shows it: the solution jumps from one basis to the next."""
    coarse, fine = (fp.solve(steep(), settings=fp.Settings(width=width)) for width in (40, 80))
    distance = judge_pair(coarse, fine, Settings()).coarser["u"]
    for loss in (0.1 * distance, 10 * distance):
        lossy = replace(fine, pieces=(replace(fine.pieces[0], loss=loss),))
        assert judge_pair(coarse, lossy, Settings()).finer["u"] == pytest.approx(min(loss, distance), rel=0.3)


def test_a_finer_solve_that_is_worse_has_all_of_the_distance():
    good, bad = (fp.solve(steep(), settings=fp.Settings(width=width)) for width in (80, 40))
    pair = judge_pair(good, bad, Settings())
    assert pair.ratio > 10
    assert pair.finer["u"] == pytest.approx(pair.coarser["u"], rel=0.5)
    assert pair.finer["u"] > bad.error()["relative"] / 2


def test_solutions_that_have_parted_may_both_be_wrong():
    """Small errors of nonlinear problems add up, large ones do not: then no part of the distance is left out."""
    problem = Problem("u_t + u*u_x = 0.1*u_xx", CIRCLE, (0, 2), "sin(x)")
    coarse, fine = (quietly(problem, settings=fp.Settings(width=w, windows=None)) for w in (60, 120))
    pair = judge_pair(coarse, fine, Settings(rules=replace(Rules(), estimate=EstimateRules(parted=1e-9))))
    assert pair.finer["u"] == pytest.approx(pair.coarser["u"])
    assert judge_pair(coarse, fine, Settings()).finer["u"] < pair.finer["u"]


def test_error_at_points_is_a_part_of_the_distance():
    problem = steep()
    solution = fp.solve(problem, tol=1e-4)
    x, t = np.linspace(0, 6, 100)[:, None], np.linspace(0.1, 1, 8)
    true = np.abs(solution(x, t) - np.stack([problem.exact["u"](x, s) for s in t], axis=1))
    claimed = solution.error_at(x, t)
    assert 0.1 < np.sqrt(np.mean(claimed**2) / np.mean(true**2)) < 30
    distance = np.abs(solution(x, t) - solution.witness(x, t))
    assert np.sqrt(np.mean(claimed**2)) < np.sqrt(np.mean(distance**2))


def test_parts_are_kept_with_the_estimate():
    estimate = ErrorEstimate({"u": 0.1}, [0.0, 1.0], {"u": [0.1, 0.2]}, parts={"u": [0.2, 0.4]})
    again = ErrorEstimate.from_dict(estimate.as_dict())
    assert list(again.part([0.0, 0.5], "u")) == pytest.approx([0.2, 0.3])
    assert list(ErrorEstimate({"u": 0.1}, [0.0, 1.0], {"u": [0.1, 0.2]}).part([0.5], "u")) == [1.0]


def test_a_given_width_is_the_answer_though_its_witness_is_finer():
    solution = fp.solve(steep(), tol=1e-3, settings=fp.Settings(width=60))
    assert (solution.width, solution.status) == (60, "converged")
    assert solution.witness.width > 60
    assert not solution.error_estimate.parts


def test_the_best_is_returned_if_wider_networks_get_worse():
    """Round-off grows with the width here: the last solve is not the best one."""
    solution = quietly(collection()["weakly coupled"].build(), tol=1e-9)
    errors = [error for _, error, _ in solution.verdict.attempts]
    assert solution.error_estimate.worst == min(errors) < errors[-1]
    assert "earlier answer" in {name for name, _ in solution.decisions}
    true = max(solution.error(field)["relative"] for field in solution.problem.fields)
    assert true / 10 < min(errors) < 10 * true


def test_solutions_on_the_way_are_forgotten():
    search = search_for(rough(), 1e-9, budget=Budget(2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.solve()
    assert len(search.attempts) > 4
    assert sum(attempt.solution is not None for attempt in search.attempts) <= 3


# ---- costs are foreseen ---------------------------------------------------------------------------------


def begun(budget=None, tol=1e-9):
    """Return a search that has two solves and needs more."""
    search = search_for(rough(), tol, budget)
    search.attempts.append(search._first())
    assert search._advance() is None
    return search


def test_foreseen_seconds_follow_the_operations():
    search = begun()
    foresight, last = search._forecast, search.attempts[-1].task
    tasks = [search._finer(growth, 0.3) for growth in (1.0, 1.25, 1.8)]
    foresight._spent[:] = [foresight._spent[-1]]
    pace = [foresight.seconds(task) / foresight._plan(task).operations for task in tasks]
    assert pace == pytest.approx([pace[0]] * 3)
    assert foresight.seconds(last) == pytest.approx(foresight._spent[-1].seconds)


def test_the_price_of_an_operation_is_learnt():
    search = begun()
    foresight, task = search._forecast, search._finer(1.8, 0.3)
    for power in (0.9, 1.4):
        a, b = (SimpleNamespace(operations=n, bytes=1.0, seconds=n**power / 1e6) for n in (1e6, 8e6))
        foresight._spent[:] = [a, b]
        n = foresight._plan(task).operations
        assert foresight.seconds(task) == pytest.approx(n**power / 1e6)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_growth_that_fits_is_chosen(monkeypatch, share):
    """With less time than the wanted growth takes, the largest one that fits is taken, down to the least."""
    search = begun()
    monkeypatch.setattr(search, "_growth", lambda: 1.8)
    most, least = (search.rules.caution * search._forecast.seconds(search._finer(g, 0.3)) for g in (1.8, 1.1))
    left = least * (most / least) ** share
    monkeypatch.setattr(Budget, "left", property(lambda self: left))
    task = search._next()
    growth = task.effort / search.attempts[-1].task.effort
    assert 1.1 - 1e-9 <= growth < 1.8
    assert search.rules.caution * search._forecast.seconds(task) <= left
    assert growth == pytest.approx(1.1 * (1.8 / 1.1) ** share, rel=0.12), "not much smaller than it has to be"


def test_what_does_not_fit_is_not_begun(monkeypatch):
    search = begun(Budget(100.0))
    monkeypatch.setattr(CostForecast, "seconds", lambda self, task: 400.0)
    assert search._next() == "to go on would take about 8.7 min more, which exceeds the time limit of 100 s"
    monkeypatch.setattr(CostForecast, "seconds", lambda self, task: 1.0)
    monkeypatch.setattr(CostForecast, "bytes", lambda self, task: 1e15)
    assert search._next().startswith("another step would need about 1e+06 GB, more than the memory limit of ")


def test_more_memory_than_foreseen_is_remembered(monkeypatch):
    search = begun()
    task = search._finer(1.25, 0.3)
    before, plan = search._forecast.bytes(task), search._forecast._plan(search.attempts[-1].task)
    monkeypatch.setattr("frozenpinn.search.cost_forecast.peak_memory", lambda: peak_memory() + 2e8 + 7 * plan.bytes)
    last = search.attempts[-1]
    search._forecast._peak = peak_memory()
    search._forecast.learn(last.solution, search._hints.lesson, 1.0)
    assert search._forecast.bytes(task) == pytest.approx(7 * before, rel=0.5)


def test_states_at_the_steps_count_as_memory():
    search = begun()
    last = search.attempts[-1]
    task, solution = search._finer(1.25, 0.3), last.solution
    before, plans = search._forecast.bytes(task), [search._forecast._plan(t).bytes for t in (last.task, task)]
    longer = replace(solution, pieces=solution.pieces * 1000)
    search._forecast.learn(longer, search._hints.lesson, 1.0)
    more = 999 * sum(kept_bytes(piece.trajectory) for piece in solution.pieces) * plans[1] / plans[0]
    assert more > 0
    assert search._forecast.bytes(task) - before == pytest.approx(more, rel=1e-6)


def test_the_whole_time_is_used(monkeypatch):
    """What is out of reach is no reason to give up while a further step fits."""
    search = search_for(rough(), 1e-12, Budget(2.0))
    monkeypatch.setattr(Budget, "left", property(lambda self: 2.0 - 0.35 * len(search.attempts)))
    monkeypatch.setattr(Budget, "enforced", lambda self, kept=0.0: nullcontext())
    monkeypatch.setattr(CostForecast, "seconds", lambda self, task: 0.35)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        solution = search.solve()
    assert "the time limit of 2 s" in solution.verdict.reason
    assert len(solution.verdict.attempts) > 4


# ---- under a limit something comes back -----------------------------------------------------------------


def test_a_budget_too_small_to_do_anything():
    with pytest.raises(fp.BudgetError, match=r"the time limit of 1e-09 s was over during: .*Not even a first solution"):
        fp.solve(steep(), tol=1e-6, time_limit=1e-9)


def test_a_step_that_takes_too_long_is_broken_off(monkeypatch):
    """What goes on longer than foreseen ends without a limit, too, once there is something to return."""
    search = search_for(steep(), 1e-13)

    def left(self):
        return -1.0 if len(search.attempts) > 1 else 60.0

    monkeypatch.setattr(Budget, "left", property(left))
    monkeypatch.setattr(CostForecast, "seconds", lambda self, task: -2.0)
    with pytest.warns(
        fp.FrozenPinnWarning,
        match=r"above tol=1e-13: the time limit of a minute \(give time_limit for more\) was over during: points",
    ):
        solution = search.solve()
    assert solution.status == "reached"
    assert len(solution.verdict.attempts) == 2
    assert solution.error()["rel_l2"] < 10 * solution.error_estimate["u"]


def test_a_first_solve_that_takes_its_share_gives_way_to_a_coarser_one(monkeypatch):
    clock = iter([100.0, 100.0, 40.0])  # asked when the first try begins, at its first stage, at its second one
    monkeypatch.setattr(Budget, "left", property(lambda self: next(clock, 30.0)))
    search = search_for(steep(), 1e-6, Budget(100.0))
    assert search._first().task.effort == 0.5
    assert [name for name, _ in search._decisions] == ["coarser retry"]


def test_without_memory_for_a_first_solve_a_coarser_one_is_tried():
    full = fp.solve(steep(), tol=1e-3).witness
    solution = quietly(steep(), tol=1e-3, memory_limit=2e5 + 0.5 * full.bytes)  # any solve takes 0.2 MB
    assert solution.verdict.attempts[0][0] < full.width
    assert solution.error()["rel_l2"] < 10 * solution.error_estimate["u"]


def test_without_time_for_a_finer_solve_a_coarser_one_tells_the_error(monkeypatch):
    search = search_for(steep(), 1e-12, Budget(60.0))
    monkeypatch.setattr(CostForecast, "seconds", lambda self, task: 1e3)
    with pytest.warns(fp.FrozenPinnWarning, match=r"above tol=1e-12: to go on would take about 22 min more"):
        solution = search.solve()
    (coarse, *_), (fine, *_) = solution.verdict.attempts
    assert coarse < fine == solution.width
    assert solution.witness.width == coarse
    error = solution.error()["rel_l2"]
    assert error / 10 < solution.error_estimate["u"] < 30 * error


def test_without_time_for_another_solve_the_first_is_returned(monkeypatch):
    def no_time(self, task):
        return Failure(fp.BudgetError("the time limit of 3 s was over during: integration."))

    monkeypatch.setattr(Search, "_another", no_time)
    with pytest.warns(fp.FrozenPinnWarning, match=r"can't be estimated: the time limit of 3 s was over during: integr"):
        solution = fp.solve(steep(), tol=1e-6, time_limit=3)
    assert solution.status == "error unknown"
    assert np.isnan(solution.error_estimate.worst)


def test_memory_of_this_machine(monkeypatch):
    free, all_there_is = Budget().bytes, physical_memory()
    assert 1e8 < free < all_there_is
    assert 0 < peak_memory() < all_there_is

    def missing(*arguments, **named):
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", missing)
    assert 1e6 < Budget().bytes < all_there_is


# ---- what is said ---------------------------------------------------------------------------------------


def test_the_axis_that_lacks_resolution_is_named():
    start = "exp(-400*(y - 0.4)**2)*sin(pi*x)*sin(pi*y)"
    problem = Problem("u_t = 0.001*lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.1), start, "u = 0")
    with pytest.warns(fp.FrozenPinnWarning, match=r"The axis y lacks resolution most: its fastest neurons carry \d"):
        solution = fp.solve(problem, tol=1e-8, settings=fp.Settings(width=16, subspace=None))
    assert solution.status == "reached"


def test_durations():
    assert [duration(s) for s in (5.0, 300.0, 36000.0)] == ["5 s", "5 min", "10 h"]


def test_rules_can_be_replaced():
    rules = Rules(search=SearchRules(safety=1e-3))
    strict = fp.solve(steep(), tol=1e-4, settings=fp.Settings(rules=rules))
    assert strict.error_estimate["u"] <= 1e-7


def test_a_stall_of_newtons_method_is_not_blamed_on_corners():
    said = stall_reason(0.3, (1.0, 0.4))
    assert said.startswith("Newton's method has not converged: its last step changed the solution by 40 %")
    assert "fp.follow(problem, 'name', (easy, wanted))" in said
    assert stall_reason(0.3, (1.0, 1e-6)).startswith("the residual stalls at 30 %: the solution has a singularity")
    assert stall_reason(0.3).startswith("the residual stalls at 30 %: the solution has a singularity")
