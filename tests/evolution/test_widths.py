"""Widths of the axes of boxes: given by the user, found from data, held in a search, refused if too large."""

import re
import tracemalloc
from ast import literal_eval

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.first_width import first_sizes, learned, sized_plan
from frozenpinn.runtime.budget import amount, physical_memory
from frozenpinn.search.settings import Settings, Sizes, Task, Tolerances
from frozenpinn.search.sizing import make_plan

SQUARE, CUBE = fp.Box([0, 0], [1, 1]), fp.Box([0, 0, 0], [1, 1, 1])
HEAT = fp.Problem(
    "u_t = lap(u)/50", SQUARE, (0, 1), "sin(8*pi*x)*sin(pi*y)", "u = 0",
    exact="exp(-65*pi**2*t/50)*sin(8*pi*x)*sin(pi*y)",
)  # fmt: skip
SOLID = fp.Problem("u_t = lap(u)", CUBE, (0, 1), "sin(pi*x)*sin(pi*y)*sin(pi*z)", "u = 0")


def task(settings=None, tol=None, **more):
    return Task(settings or Settings(), 0, Tolerances(tol, 1e-8), **more)


# ---- given ------------------------------------------------------------------------------------------------


def test_each_axis_has_its_own_width():
    solution = fp.solve(HEAT, settings=fp.Settings(width=(48, 14), subspace=None))
    assert solution.width == (48, 14)
    network = solution.system.spaces[0].network
    assert [f.width for f in network.factors] == [48, 14]
    assert solution.error()["rel_l2"] < 1e-5


def test_one_number_is_for_all_axes_and_odd_ones_are_rounded_up():
    assert make_plan(HEAT, task(Settings(width=15))).width == 16
    assert make_plan(HEAT, task(Settings(width=(15, 9)))).width == (16, 10)
    assert make_plan(SOLID, task(Settings(width=[8, 8, 8]))).width == 8
    default = Settings().rules.sizing.box
    assert (make_plan(HEAT, task()).width, make_plan(SOLID, task()).width) == default


def test_a_tuple_of_the_wrong_length_is_refused():
    with pytest.raises(
        fp.SettingsError, match=re.escape("width=(80, 12, 9) needs one number for each of the 2 axes, or one for all")
    ):
        fp.solve(HEAT, settings=fp.Settings(width=(80, 12, 9)))


@pytest.mark.parametrize(
    ("domain", "settings"),
    [
        (fp.Disk((0, 0), 1), {}),
        (fp.Interval(0, 1), {}),
        (SQUARE, {"sampler": "multi-scale"}),
    ],
    ids=["disk", "interval", "no product"],
)
def test_a_tuple_is_for_products_only(domain, settings):
    problem = fp.Problem("u_t = lap(u)", domain, (0, 1), 0, "u = 0")
    text = (
        "width=(80, 12) is for products of networks on boxes in two and three dimensions, with one number for each "
        "axis; here, write one number."
    )
    with pytest.raises(fp.SettingsError, match=re.escape(text)):
        fp.solve(problem, settings=fp.Settings(width=(80, 12), **settings))


@pytest.mark.parametrize("width", [(0, 12), (12, -3), (12, 2.5), ("a", 12)])
def test_every_width_is_a_positive_whole_number(width):
    with pytest.raises(fp.SettingsError, match="width must be a positive whole number of neurons, got "):
        fp.solve(HEAT, settings=fp.Settings(width=width))


def test_a_fixed_tuple_has_a_wider_witness():
    solution = fp.solve(HEAT, tol=1e-3, settings=fp.Settings(width=(48, 14), subspace=None))
    assert solution.verdict.status == "converged"
    assert all(a > b for a, b in zip(solution.witness.width, solution.width, strict=True))


# ---- memory -----------------------------------------------------------------------------------------------


def refusal(problem, width, **more):
    """Return the error of a plan that is too large, and how much was allocated on the way."""
    plan = make_plan(problem, task(Settings(width=width), **more))
    tracemalloc.start()
    with pytest.raises(fp.FrozenPinnError) as caught:
        plan.check_memory()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6
    return plan, str(caught.value)


@pytest.mark.parametrize(
    ("problem", "width"), [(HEAT, 10**6), (SOLID, 10**4), (HEAT, (10**7, 20_000)), (SOLID, (10**6, 10, 10))]
)
def test_widths_that_do_not_fit_are_refused_with_one_that_does(problem, width):
    plan, text = refusal(problem, width)
    found = re.fullmatch(
        r"(.*) neurons per axis need about (.*) of memory, and this machine has (.*); width=(.*) would fit\.", text
    )
    assert found is not None, text
    assert found[1] == str(plan.width)
    assert (found[2], found[3]) == (amount(plan.bytes), amount(physical_memory()))
    sizes = tuple(int(n) for n in re.findall(r"\d+", found[4]))
    fitting = make_plan(problem, task(Settings(width=sizes if len(sizes) > 1 else sizes[0])))
    fitting.check_memory()
    assert fitting.bytes > 0.7 * physical_memory()


def test_axes_with_few_neurons_keep_them_in_what_is_told_to_fit():
    _, text = refusal(SOLID, (10**6, 10, 12))
    assert re.search(r"width=\(\d+, 10, 12\) would fit", text), text


@pytest.mark.parametrize(
    ("width", "points", "told"), [(12, 10**6, "points"), ((12, 40), (10**7, 50), "points"), (10**6, 10**6, "width")]
)
def test_points_that_do_not_fit_are_told_as_such(width, points, told):
    plan = make_plan(HEAT, task(Settings(width=width, points=points)))
    with pytest.raises(fp.FrozenPinnError, match=rf"on points=.* need about .*; {told}=.* would fit") as caught:
        plan.check_memory()
    advice = str(caught.value).partition(";")[2]
    found = {key: literal_eval(value) for key, value in re.findall(r"(\w+)=(\(.*?\)|\d+)", advice)}
    fitting = make_plan(HEAT, task(Settings(**{"width": width, "points": points} | found)))
    fitting.check_memory()
    assert fitting.bytes > 0.7 * physical_memory()


def test_what_is_told_to_fit_does_so_on_shapes_too():
    problem = fp.Problem("u_t = lap(u)", fp.Disk((0, 0), 1), (0, 1), 0, "u = 0")
    _, text = refusal(problem, 10**6)
    fitting = make_plan(problem, task(Settings(width=int(re.search(r"width=(\d+) would fit", text)[1]))))
    fitting.check_memory()
    assert fitting.bytes > 0.7 * physical_memory()


def test_fields_and_the_states_of_the_fewest_steps_are_counted():
    one = fp.Problem("u_t = lap(u)", SQUARE, (0, 1), 0, "u = 0")
    equations = {name: f"{name}_t = lap({name}) - u*v*w" for name in "uvw"}
    three = fp.Problem(equations, SQUARE, (0, 1), dict.fromkeys("uvw", 0), [f"{name} = 0" for name in "uvw"])
    sizes = []
    for problem in (one, three):
        _, text = refusal(problem, 10**6)
        found = re.search(r"need about (\S+) GB of memory, .*; width=(\d+) would fit", text)
        make_plan(problem, task(Settings(width=int(found[2])))).check_memory()
        sizes.append((float(found[1]), int(found[2])))
    assert sizes[1][0] > 3 * sizes[0][0]
    assert sizes[1][1] < sizes[0][1] / np.sqrt(3)


def test_a_limit_of_memory_is_named():
    _, text = refusal(HEAT, 200, memory=1e6)
    assert re.match(r"200 neurons per axis need about .* of memory, more than memory_limit=1e\+06; width=\d+ ", text)
    with pytest.raises(fp.BudgetError, match="more than memory_limit=1e\\+06"):
        fp.solve(HEAT, tol=1e-3, settings=fp.Settings(width=200), memory_limit=1e6)


def test_a_limit_that_states_exceed_ends_the_search_with_what_there_is():
    """The plan fits, but not all of its steps."""
    problem = fp.Problem("u_t = 0.001*lap(u) + u - u**3", SQUARE, (0, 20), "cos(3*pi*x)*cos(pi*y)/2", "u_n = 0")
    with pytest.warns(fp.FrozenPinnWarning, match="all of the memory that is left"):
        solution = fp.solve(problem, tol=1e-6, memory_limit=3e6)
    assert solution.status == "reached"
    assert "the states at the steps of etd up to t = 1" in solution.verdict.reason
    assert re.search(r"Take width=\S+.* \(if it takes as many steps\), or a shorter time", solution.verdict.reason)
    assert 0 < solution.error_estimate["u"] < 0.5


def test_huge_widths_are_refused_by_a_solve_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(type(SQUARE), "sample", lambda *a, **k: pytest.fail("points were placed"))
    with pytest.raises(fp.SettingsError, match="neurons per axis need about"):
        fp.solve(HEAT, settings=fp.Settings(width=10**6, subspace=None))


# ---- found ------------------------------------------------------------------------------------------------


def test_data_tell_the_width_of_each_axis():
    sizes = first_sizes(HEAT, task(tol=1e-5))
    assert sizes.width[0] >= 1.5 * sizes.width[1]
    assert sizes.held == ()


@pytest.mark.parametrize(("waves", "least", "most"), [(1, 12, 16), (4, 16, 24), (10, 32, 48), (30, 96, 128)])
def test_waves_that_narrow_networks_do_not_see_are_found(waves, least, most):
    initial = f"sin({2 * waves}*pi*x)*sin(pi*y)"
    problem = fp.Problem("u_t = lap(u)/50", SQUARE, (0, 1), initial, "u = 0")
    along, across = first_sizes(problem, task(tol=1e-5)).width
    assert least <= along <= most
    assert across == 12


def test_data_that_no_width_sees_do_not_ask_for_the_widest():
    problem = fp.Problem("u_t = lap(u)/50", SQUARE, (0, 1), "sin(2000*pi*x)*sin(pi*y)", "u = 0")
    assert first_sizes(problem, task(tol=1e-5)).width == (12, 12)


def test_axes_that_are_resolved_hold_their_width_while_the_other_grows():
    asked = task(tol=1e-4)
    solution = fp.solve(HEAT, settings=fp.Settings(width=(20, 24), subspace=None))
    first = Sizes((20, 24), follows=True)
    held = learned(solution, first, asked)
    assert held.held == (0, 24)
    wider = sized_plan(HEAT, task(tol=1e-4, effort=2.0), held).width
    assert wider[0] == 40
    assert 24 < wider[1] <= 28  # a few more: a witness must have other functions


def test_sizes_of_other_shapes_are_left_alone():
    solution = fp.solve(HEAT, settings=fp.Settings(width=(20, 24), subspace=None))
    plain = Sizes(100, follows=True)
    assert learned(solution, plain, task(tol=1e-6)) is plain
    assert learned(solution, Sizes((20, 24), True), task()).held == ()


def test_a_search_widens_the_axis_that_needs_it():
    problem = fp.Problem(
        "u_t = lap(u)/200 - u*u_x", SQUARE, (0, 0.3), "sin(2*pi*x)*(1 + cos(pi*y)/4)",
        {"left": "u = 0", "right": "u = 0", "bottom": fp.Neumann(0), "top": fp.Neumann(0)},
    )  # fmt: skip
    solution = fp.solve(problem, tol=1e-2)
    assert solution.verdict.status == "converged"
    assert solution.width[0] > 1.4 * solution.width[1]
    assert np.isfinite(solution.error_estimate.worst)
