"""The study of nasty problems: solutions solve their equations, and no promise is broken on a few of them."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.calibration.nasty import CLASSES, nasty_ones
from frozenpinn_lab.studies import find_study
from frozenpinn_lab.studies.nasty import broken, rows

QUICK = ["hidden potential", "hidden source", "reaction pulse", "burst", "switched", "robin", "tiny hole", "hard strip"]


def test_every_class_has_problems_that_differ_and_repeat():
    entries = nasty_ones(2)
    assert len(entries) == 2 * len(CLASSES) == len({entry.name for entry in entries})
    first, second, again = entries[0].build(), entries[1].build(), nasty_ones(1)[0].build()
    assert first.equations == again.equations
    assert first.equations != second.equations


@pytest.mark.parametrize("name", CLASSES)
def test_solutions_start_where_they_should(name):
    problem = next(entry for entry in nasty_ones(1) if entry.group == name).build()
    if problem.is_static:  # they start nowhere, but solve their equations
        assert not any(finding.kind == "exact" for finding in fp.check(problem))
        return
    x = problem.domain.sample(50, "random", rng=0).x
    for field in problem.fields:
        first = problem.time[0]
        start = problem.initial[field](x, first)
        np.testing.assert_allclose(problem.exact[field](x, first), start, atol=1e-6 * (1 + np.max(np.abs(start))))


def test_no_promise_is_broken():
    *found, total = rows(1, lambda _: None, names=QUICK)
    assert len(found) == len(QUICK)
    assert total["broken"] == 0


def test_what_a_broken_promise_is():
    assert broken(4e-3, 1e-3, 1e-3, "converged")
    assert broken(1.0, 0.05, 1e-3, "reached")
    assert broken(float("nan"), 0.05, 1e-3, "reached")
    assert not broken(2e-3, 1e-3, 1e-3, "converged")
    assert find_study("nasty").name == "nasty"
