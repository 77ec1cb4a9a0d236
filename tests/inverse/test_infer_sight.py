"""What data see of unknowns, and fields whose steps lead too far."""

from dataclasses import replace

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.hidden import Derivative
from frozenpinn.inverse.fit import Descent
from frozenpinn.inverse.model import Prediction
from frozenpinn.inverse.priors import prior_of
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.rules import InverseRules

RNG = np.random.default_rng(3)


def test_a_term_that_the_solution_does_not_contain():
    """u = x exp(-t) has no curvature: nothing is said about its factor, whatever round-off makes of u_xx."""
    x, t = RNG.uniform(-1, 1, 40), RNG.uniform(0, 1, 40)
    problem = fp.Problem(
        "u_t = a*u_xx - c*u",
        fp.Interval(-1, 1),
        (0, 1),
        "x",
        "u = x*exp(-t)",
        parameters={"a": fp.Unknown(0.8, lower=0.1), "c": fp.Unknown(0.7)},
    )
    with pytest.raises(fp.ProblemError, match="measurements do not depend on 'a', so nothing can be learnt about it"):
        fp.infer(problem, fp.Measurements(x, x * np.exp(-t), times=t))


def _darcy():
    """Flow through a rock whose conductivity exp(m) counts up to a factor: u = log(1 + x)/log 2 for m = log(1 + x)."""
    x = np.linspace(0.03, 0.97, 25)
    problem = fp.Problem(
        "div(exp(m)*grad(u)) = 0",
        fp.Interval(0, 1),
        boundary={"left": "u = 0", "right": "u = 1"},
        parameters={"m": fp.UnknownField()},
    )
    return problem, fp.Measurements(x, np.log1p(x) / np.log(2) + 1e-3 * RNG.standard_normal(25), noise=1e-3)


def test_a_field_that_counts_up_to_a_factor():
    problem, data = _darcy()
    message = (
        r"do not depend on 'the mean of m', .*; measure elsewhere, or say what it is somewhere, "
        r"Measurements\(…, field='m'\)"
    )
    with pytest.raises(fp.ProblemError, match=message):
        fp.infer(problem, data)


def test_one_known_value_tells_the_factor():
    problem, data = _darcy()
    found = fp.infer(problem, [data, fp.Measurements([0.5], [np.log(1.5)], field="m", noise=1e-3)])
    grid = np.linspace(0, 1, 51)
    low, high = found.field("m").band(grid)
    assert np.mean((low <= np.log1p(grid)) & (np.log1p(grid) <= high)) > 0.9
    assert found.field("m")(grid) == pytest.approx(np.log1p(grid), abs=0.05)


@pytest.mark.parametrize("tempers", [(), InverseRules().tempers])
def test_steps_that_fail_are_tempered(tempers):
    """Where only smooth fields have a solution, and the data ask for a rough one, a smooth step is taken."""
    x = np.linspace(0.02, 0.98, 60)
    seen = 1.0 + x + 0.1 * np.sin(25 * x)
    problem = fp.Problem("u_xx = s", fp.Interval(0, 1), boundary="u = 0", parameters={"s": fp.UnknownField()})
    rules = replace(InverseRules(), tempers=tempers)
    question = Question.asked("infer", problem, fp.Measurements(x, seen, noise=1e-3), 0, None, rules).with_bases()
    basis = question.numbers.fields[0]
    curved = basis.at(x[:, None], Derivative((2,)))

    class OnlySmooth:
        follows = False

        def at(self, theta, near=None):
            if np.max(np.abs(curved @ theta)) > 0.5:
                raise fp.ConvergenceError("no solution")
            return Prediction(basis.at(x[:, None]) @ theta, basis.at(x[:, None]), None)

    sigmas = question.data.sigmas(rules)
    best = Descent(OnlySmooth(), prior_of(question), sigmas).from_start(question.numbers.start, 5)
    left = best.squares / np.sum((seen / 1e-3) ** 2)
    assert left < 0.9 if tempers else left == pytest.approx(1.0)
