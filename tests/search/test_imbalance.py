import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.cut_points import rule_between_jumps
from frozenpinn.search.imbalance import error_of_imbalance

SQUARE = fp.Box((0, 0), (1, 1))
TORUS = fp.Box((0, 0), (1, 1), periodic=True)
SPOT = "where((x - 0.4137)**2 + (y - 0.43)**2 < 1e-4, 1e4, 0)"
TIMES = np.array([0.0, 0.25, 0.5])


def heated(domain, source="0", initial="0", conditions="u_n = 0"):
    if all(domain.periodic):
        return fp.Problem(f"u_t = lap(u) + {source}", domain, (0, 0.5), initial)
    return fp.Problem(f"u_t = lap(u) + {source}", domain, (0, 0.5), initial, conditions)


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
@pytest.mark.parametrize("domain", [SQUARE, TORUS])
@pytest.mark.parametrize("data", [{"source": SPOT}, {"initial": SPOT}])
def test_a_spot_between_the_points_is_told(domain, data):
    solution = fp.solve(heated(domain, **data), tol=1e-2)
    assert solution.status == "reached"
    assert solution.error_estimate.worst > 0.1
    assert any(decision.name == "imbalance" for decision in solution.decisions)


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_a_narrow_initial_value_on_an_interval_is_told():
    rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.5), "where(abs(x - 0.4137) < 1e-3, 1e3, 0)", "u_n = 0")
    solution = fp.solve(rod, tol=1e-2, time_limit=5)
    error = abs(float(np.mean(solution(np.linspace(0, 1, 2001), 0.5))) - 2.0)
    assert error < 10 * solution.error_estimate.absolute("u")


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_missed_heat_adds_up_where_it_stays_and_decays_where_it_does_not():
    settings = fp.Settings(width=16)
    kept = fp.solve(heated(SQUARE, SPOT), settings=settings)
    assert error_of_imbalance(kept, "u", TIMES) == pytest.approx(np.pi * TIMES, rel=1e-2)
    cooled = fp.solve(heated(SQUARE, SPOT, conditions="u = 0"), settings=settings)
    assert error_of_imbalance(cooled, "u", TIMES)[-1] == pytest.approx(np.pi / (2 * np.pi**2), rel=2e-2)


def test_smooth_data_have_no_rule_and_miss_nothing():
    problem = heated(SQUARE, "exp(-x)")
    assert rule_between_jumps(problem) is None
    solution = fp.solve(problem, settings=fp.Settings(width=16))
    assert not np.any(error_of_imbalance(solution, "u", TIMES))


def test_data_that_jump_are_not_taken_for_functions_of_fewer_coordinates():
    assert fp.solve(heated(SQUARE, SPOT), settings=fp.Settings(width=16)).subspace is None
