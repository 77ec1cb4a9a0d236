"""What runs of a sweep start from: sizes between those of the pilots around them."""

import pytest

from frozenpinn.search.settings import Sizes
from frozenpinn.sweeps.definition import make_table
from frozenpinn.sweeps.runs import Plan, read_plan


def plan_of(problem, values, pilots, sizes):
    table = make_table(problem, values, None, "random", 0)
    return read_plan({"pilots": pilots, "sizes": [None if s is None else s.as_list() for s in sizes]}, table)


@pytest.fixture(scope="module")
def problem():
    import frozenpinn as fp

    return fp.Problem(
        "u_t = k*u_xx + q*u", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 1.0, "q": 0.0}
    )


def test_widths_between_pilots_are_between_theirs(problem):
    plan = plan_of(
        problem, {"k": list(range(1, 12))}, [0, 5, 10], [Sizes(w, False, dimension=1) for w in (100, 60, 40)]
    )
    assert [plan.first(k).width for k in (0, 1, 4, 5, 10)] == [100, 92, 68, 60, 40]
    widths = [plan.first(k).width for k in range(11)]
    assert widths == sorted(widths, reverse=True)


def test_widths_of_axes_and_two_parameters(problem):
    sizes = [Sizes((20, w), False, dimension=2) for w in (10, 20, 30, 40)]
    plan = plan_of(problem, {"k": [1, 2, 3], "q": [0, 1, 2]}, [0, 2, 6, 8], sizes)
    assert plan.first(2).width == (20, 20)
    assert plan.first(4).width[0] == 20
    assert 10 < plan.first(4).width[1] < 40


def test_fronts_are_followed_where_a_pilot_near_by_does(problem):
    sizes = [Sizes(90, True, dimension=1), Sizes(120, False, dimension=1), Sizes(50, False, dimension=1)]
    plan = plan_of(problem, {"k": list(range(1, 22))}, [0, 10, 20], sizes)
    assert [plan.first(k).follows for k in (0, 5, 8, 10, 15)] == [True, True, True, False, False]
    assert plan.first(8).width == 90, "other widths belong to networks that do not follow"


def test_pilots_that_found_nothing_say_nothing(problem):
    plan = plan_of(problem, {"k": [1, 2, 3]}, [0, 2], [None, Sizes(50, False, dimension=1)])
    assert [plan.first(k).width for k in (1, 2)] == [50, 50]
    assert plan.first(0) is not None
    assert plan_of(problem, {"k": [1, 2, 3]}, [0, 2], [None, None]).first(1) is None
    assert Plan().first(0) is None
