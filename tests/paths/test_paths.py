"""Paths of solutions in a parameter: folds, ends, branch points, and what is refused."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp

FOLD = 3.513830719125161  # max over θ of 8 (θ/cosh θ)², Bratu's problem on an interval


def bratu(lam=1.0):
    return fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": lam})


@pytest.fixture(scope="module")
def path():
    return fp.follow(bratu(), "lam", (0, 4), steps=26)


def test_the_fold_of_bratu(path):
    (fold,) = path.folds
    assert abs(fold.value - FOLD) < 1e-10
    assert fold.error < 1e-9
    assert float(fold.solution(0.5)) == pytest.approx(1.1868421, abs=1e-6)
    assert np.max(path.left) < 1e-5


def test_every_solution_at_a_value(path):
    low, high = path.at(2.0)
    assert float(low(0.5)) == pytest.approx(0.328952421341, abs=1e-9)
    assert float(high(0.5)) == pytest.approx(2.895531265493, abs=1e-9)
    assert low.status == high.status == "converged"
    with pytest.raises(fp.EvaluationError, match=r"does not reach lam = 3\.9; it runs from 0 to 3\.51383"):
        path.at(3.9)


def test_solutions_norms_and_words(path, tmp_path):
    assert len(path.solutions) == len(path.parameters) == len(path.norms)
    k = 10
    x = (np.arange(400) + 0.5) / 400
    assert path.norms[k] == pytest.approx(np.sqrt(np.mean(path.solutions[k](x) ** 2)), rel=1e-4)
    assert path.solutions[k].problem.parameters.constants["lam"] == path.parameters[k]
    assert "fold  lam = 3.51383071" in path.report.replace("      ", "  ").replace("    ", "  ")
    assert path.as_dict()["folds"][0]["value"] == path.folds[0].value
    path.plot(str(tmp_path / "path.png"))
    assert (tmp_path / "path.png").stat().st_size > 1000
    with pytest.raises(ValueError, match="read-only"):
        path.parameters[0] = 1.0
    assert pickle.loads(pickle.dumps(path)).folds[0].value == path.folds[0].value


def test_the_fold_on_the_disk():
    problem = fp.Problem("lap(u) + lam*exp(u) = 0", fp.Disk([0, 0], 1), boundary="u = 0", parameters={"lam": 1})
    path = fp.follow(problem, "lam", (1, 3), tol=1e-7, norm="max", settings=fp.Settings(width=150))
    (fold,) = path.folds
    assert abs(fold.value - 2.0) < 1e-7  # u = 2 log 2 − 2 log(1 + r²)
    assert abs(fold.value - 2.0) < 10 * fold.error + 1e-12
    assert path.reason == "it comes back to lam = 1"
    tops = [2 * np.log(4 + sign * np.sqrt(8)) for sign in (-1, 1)]  # λ = 8b/(1 + b)², u(0) = 2 log(1 + b)
    assert [float(path.solutions[k](0, 0)) for k in (0, -1)] == pytest.approx(tops, abs=5 * path.left[-1])
    assert path.norms[-1] == pytest.approx(float(path.solutions[-1](0, 0)), rel=2e-3)


def test_the_same_seed_gives_the_same_bits():
    first, second = (fp.follow(bratu(), "lam", (0, 1), steps=4) for _ in range(2))
    assert np.array_equal(first.parameters, second.parameters)
    assert np.array_equal(first.norms, second.norms)


def test_a_path_leaves_the_range_or_comes_back():
    straight = fp.follow(bratu(), "lam", (0, 2))
    assert straight.reason == "it reaches lam = 2"
    assert straight.parameters[-1] == 2
    assert float(straight.solutions[-1](0.5)) == pytest.approx(0.328952421341, abs=1e-8)
    back = fp.follow(bratu(), "lam", (2, 4))
    assert back.reason == "it comes back to lam = 2"
    assert float(back.solutions[-1](0.5)) == pytest.approx(2.895531265493, abs=1e-7)


def test_a_linear_problem_has_no_folds():
    problem = fp.Problem("u_xx = lam", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": 1})
    path = fp.follow(problem, "lam", (0, 8), norm="max")
    assert not path.folds
    assert not path.branch_points
    assert path.norms[-1] == pytest.approx(1.0, rel=1e-2)


def test_a_parameter_of_the_conditions():
    problem = fp.Problem(
        "u_xx = u**2", fp.Interval(0, 1), boundary={"left": "u = a", "right": "a*u + u_n = 1"}, parameters={"a": 1}
    )
    path = fp.follow(problem, "a", (1, 3))
    same = fp.solve(problem.at(a=3.0), tol=1e-9)
    assert float(path.solutions[-1](0.4)) == pytest.approx(float(same(0.4)), abs=1e-8)


def test_a_branch_point_is_told():
    problem = fp.Problem("u_xx + lam*(u - u**3) = 0", fp.Interval(0, np.pi), boundary="u = 0", parameters={"lam": 1})
    path = fp.follow(problem, "lam", (0.5, 3))
    (point,) = path.branch_points
    assert min(point.between) <= 1.0 <= max(point.between)  # of the trivial solution, at the first eigenvalue
    assert not path.folds


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fp.follow(bratu(), "lma", (0, 1)), "'lma' is not a parameter of this problem.*Did you mean 'lam'"),
        (lambda: fp.follow(bratu(), "lam", (1, 1)), "range of the parameter is empty: both ends are 1"),
        (lambda: fp.follow(bratu(), "lam", (0, np.inf)), "must be finite"),
        (lambda: fp.follow(bratu(), "lam", 7), "two numbers such as"),
        (lambda: fp.follow(bratu(), "lam", (0, 1), norm="H1"), "norm must be 'L2' or 'max', got 'H1'"),
        (lambda: fp.follow(bratu(), "lam", (0, 1), steps=0), "steps must be a positive whole number, got 0"),
        (lambda: fp.follow(bratu(), 3, (0, 1)), "given by its name"),
        (lambda: fp.follow(bratu("1 + x"), "lam", (0, 1)), "parameter 'lam' is a function of the coordinates"),
        (lambda: fp.follow("u", "lam", (0, 1)), "takes a Problem, got str"),
    ],
)
def test_what_can_not_be_followed(call, text):
    with pytest.raises((fp.SettingsError, fp.ProblemError), match=text):
        call()


def test_no_beginning():
    with pytest.raises(fp.ConvergenceError, match=r"no solution was found at lam = 5, the start of the range"):
        fp.follow(bratu(), "lam", (5, 6))


def test_an_evolution_or_an_idle_parameter_is_refused():
    heat = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 1})
    with pytest.raises(fp.ProblemError, match="is for static problems"):
        fp.follow(heat, "k", (1, 2))
    idle = fp.Problem("u_xx = 1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": 1})
    with pytest.raises(fp.ProblemError, match="depend on 'k'; there is nothing to follow"):
        fp.follow(idle, "k", (1, 2))
