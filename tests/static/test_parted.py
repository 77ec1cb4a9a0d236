"""Two static solutions that are far apart say nothing good of each other."""

import numpy as np
from scipy.special import j0

import frozenpinn as fp
from frozenpinn.search.rules import EstimateRules
from frozenpinn.static.estimate import _part


def test_a_distance_of_more_than_a_tenth_counts_as_a_whole():
    rules = EstimateRules()
    assert _part(1e-3, np.array([0.2]), rules) == 1.0
    assert _part(1e-3, np.array([0.02]), rules) == 1e-3
    assert _part(1e-3, np.array([np.nan]), rules) == 1.0


def test_short_waves_on_a_disk_are_not_vouched_for_by_what_is_wrong():
    k = 30.56

    def exact(x, y):
        return j0(k * np.hypot(x - 1.3, y - 0.4))

    problem = fp.Problem(f"lap(u) + {k}**2*u = 0", fp.Disk(), boundary=fp.Dirichlet(exact), exact=exact)
    solution = fp.solve(problem, tol=0.1)
    assert solution.status == "converged"
    assert solution.error()["relative"] < 10 * solution.error_estimate.worst < 1.0
