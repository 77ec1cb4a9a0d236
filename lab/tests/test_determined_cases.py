"""Cases in which some fields have no time derivative: they can be stated, and are solved to a low tolerance."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import CASES, determined_fields

MEMBERS = [
    pytest.param(case, variant, id=f"{case.name}, {variant.label}")
    for case in determined_fields.CASES
    for variant in case.variants
]
QUICK = ("poisson-nernst-planck", "cahn-hilliard-split", "biot", "porous-electrode")


@pytest.mark.parametrize(("case", "variant"), MEMBERS)
def test_exact_solutions_begin_with_the_initial_data(case, variant):
    assert CASES[case.name] is case
    problem = case.problem(**variant.problem)
    assert {finding.kind for finding in fp.check(problem)} <= {"structure", "free"}
    x = problem.domain.sample(50, "random", 1).x
    for name, initial in problem.initial.items():
        exact, wanted = problem.exact[name](x, 0.0), initial(x, 0.0)
        assert np.max(np.abs(exact - wanted)) < 1e-12 * max(1.0, np.max(np.abs(wanted)))


@pytest.mark.parametrize("name", QUICK)
def test_quick_ones_are_as_accurate_as_asked(name):
    problem = CASES[name].problem()
    solution = fp.solve(problem, tol=1e-3)
    assert solution.status == "converged"
    for field in problem.composites.names:
        assert solution.error(field=field, times=5)["rel_l2"] < 1e-3
