"""Boundary conditions: every kind becomes Σ coefficient·jet = value on one side, each side exactly once."""

import numpy as np
import pytest
import sympy as sp

from frozenpinn import Box, Dirichlet, Free, Interval, Neumann, Periodic, Problem, ProblemError, Robin
from frozenpinn.geometry import BoundaryPoints

pytestmark = pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")

LINE = Interval(0, 2)
PLANE = Box([0, 0], [2, 1])
SYSTEM = ["u_t = u_xx", "v_t = v_xx"]


def state(boundary, domain=LINE, equation="u_t = lap(u)", initial=0, **options):
    return Problem(equation, domain, (0, 1), initial, boundary, **options)


def system(boundary, **options):
    return state(boundary, equation=SYSTEM, initial=[0, 0], **options)


def terms(problem, side, index=0):
    """The condition on a side as {name: coefficients at its points}, and its right-hand side at t = 0.5."""
    condition = [c for c in problem.conditions if c.side.name == side][index]
    points = problem.domain.sample_side(condition.side, 3, "uniform")
    left = {problem.jets.name(j): np.broadcast_to(v, len(points)).tolist() for j, v in condition.terms_at(points)}
    return left, condition.value(points.x, 0.5).tolist()


# ---- every kind ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "left", "right"),
    [
        (Dirichlet(), {"u": [1]}, {"u": [1]}),
        (Dirichlet(3), {"u": [1]}, {"u": [1]}),
        ("u = 3", {"u": [1]}, {"u": [1]}),
        ("u - 3", {"u": [1]}, {"u": [1]}),
        ("3 = u", {"u": [-1]}, {"u": [-1]}),
        (Neumann(), {"u_x": [-1]}, {"u_x": [1]}),
        ("u_n = 3", {"u_x": [-1]}, {"u_x": [1]}),
        ("u_x = 3", {"u_x": [1]}, {"u_x": [1]}),
        ("dx(u) = 3", {"u_x": [1]}, {"u_x": [1]}),
        ("u_nn = 3", {"u_xx": [1]}, {"u_xx": [1]}),
        ("u_nnn = 3", {"u_xxx": [-1]}, {"u_xxx": [1]}),
        ("u_nx = 3", {"u_xx": [-1]}, {"u_xx": [1]}),
        (Robin(2, 5), {"u": [2], "u_x": [-5]}, {"u": [2], "u_x": [5]}),
        (Robin(2, 0), {"u": [2]}, {"u": [2]}),
        (Robin(0, 5), {"u_x": [-5]}, {"u_x": [5]}),
        (Robin("1 + x", sp.Symbol("x") + 2), {"u": [1], "u_x": [-2]}, {"u": [3], "u_x": [4]}),
        ("2*u + 5*u_n = 3", {"u": [2], "u_x": [-5]}, {"u": [2], "u_x": [5]}),
        ("(1 + x)*u + (2 + x)*u_n = 3", {"u": [1], "u_x": [-2]}, {"u": [3], "u_x": [4]}),
        ("u_n + 2*u_x = 3", {"u_x": [1]}, {"u_x": [3]}),
        ("a*u = 3", {"u": [7]}, {"u": [7]}),
    ],
)
def test_coefficients_on_the_left_and_on_the_right(condition, left, right):
    """∂/∂n points out of the interval: −d/dx on the left, d/dx on the right."""
    problem = state(condition, parameters={"a": 7})
    assert len(problem.conditions) == 2
    assert terms(problem, "left")[0] == left
    assert terms(problem, "right")[0] == right


@pytest.mark.parametrize(
    ("condition", "left", "right"),
    [
        (Dirichlet(3), 3, 3),
        (Dirichlet("x + t"), 0.5, 2.5),
        (Dirichlet(sp.Symbol("x") * sp.Symbol("t")), 0, 1),
        (Dirichlet(lambda x, t: x**2 + t), 0.5, 4.5),
        (Dirichlet(lambda t: t), 0.5, 0.5),
        (Dirichlet("k*t"), 0.5, 1.5),
        (Neumann(4), 4, 4),
        (Robin(1, 1, "x - t"), -0.5, 1.5),
        ("u = x + t", 0.5, 2.5),
        ("u_n + u = x + t", 0.5, 2.5),
        ("u - x = t", 0.5, 2.5),
        ("2*(u - x) = 1", 1, 5),
        ("x + t = u", -0.5, -2.5),
        ("u - k = 0", 1, 3),
    ],
)
def test_right_hand_sides(condition, left, right):
    problem = state(condition, parameters={"k": lambda x: 1 + x})
    assert terms(problem, "left")[1] == pytest.approx([left])
    assert terms(problem, "right")[1] == pytest.approx([right])


def test_neumann_object_and_text_are_the_same_condition():
    for side in ("left", "right"):
        assert terms(state(Neumann("t")), side) == terms(state("u_n = t"), side)
        assert terms(state(Robin(2, 3, "t")), side) == terms(state("2*u + 3*u_n = t"), side)


def test_normals_in_the_plane():
    problem = state("u_n = 0", PLANE)
    found = {
        c.side.name: {name: set(v) for name, v in terms(problem, c.side.name)[0].items()} for c in problem.conditions
    }
    assert found == {"left": {"u_x": {-1}}, "right": {"u_x": {1}}, "bottom": {"u_y": {-1}}, "top": {"u_y": {1}}}


def test_a_condition_may_use_any_linear_operator():
    problem = state({"left": "lap(u) = 0", "right": "u_xy + y*u_y = 0", "bottom": "u_nx = 0", "top": "u = 0"}, PLANE)
    assert terms(problem, "left")[0].keys() == {"lap(u)"}
    assert terms(problem, "right")[0].keys() == {"u_xy", "u_y"}
    assert terms(problem, "bottom")[0].keys() == {"u_xy"}
    assert (
        terms(problem, "right")[0]["u_y"]
        == problem.domain.sample_side(PLANE.side("right"), 3, "uniform").x[:, 1].tolist()
    )


@pytest.mark.parametrize(
    "factor", ["heaviside(y - 3)", "max(y - 3, 0)", "(y - 3 + abs(y - 3))", "exp(-(y - 100)**2)", "log(y - 90)"]
)
def test_a_coefficient_may_vanish_far_from_the_domain(factor):
    problem = state(f"u_n + {factor}*u = 0", Box([0, 99], [1, 101]))
    assert terms(problem, "left")[0].keys() == {"u", "u_x"}
    assert terms(problem, "top")[0]["u"][0] > 0


def test_a_condition_on_a_part_of_a_side():
    """Convection above y = 3, insulation below."""
    problem = state("u_n + heaviside(y - 3)*u = 0", Box([0, 0], [1, 5]))
    condition = next(c for c in problem.conditions if c.side.name == "left")
    points = BoundaryPoints(np.array([[0.0, 1.0], [0.0, 4.0]]), np.array([[-1.0, 0.0]] * 2), np.ones(2), condition.side)
    found = {problem.jets.name(jet): value for jet, value in condition.terms_at(points)}
    assert np.broadcast_to(found["u_x"], 2).tolist() == [-1, -1]
    assert np.broadcast_to(found["u"], 2).tolist() == [0, 1]


@pytest.mark.parametrize("text", ["x*u = 0", "sin(pi*x)*u_n = 0", "k*u = 0"])
def test_a_condition_whose_coefficient_is_zero_on_its_side(text):
    with pytest.raises(ProblemError, match="on 'left' imposes nothing"):
        state(text, parameters={"k": lambda x: x})


def test_several_conditions_on_one_side():
    """A clamped end and a supported end of a beam."""
    problem = state({"left": ["u = 0", "u_x = 0"], "right": [Dirichlet(0), "u_xx = 0"]}, equation="u_t = -u_xxxx")
    assert [terms(problem, "left", i)[0] for i in (0, 1)] == [{"u": [1]}, {"u_x": [1]}]
    assert [terms(problem, "right", i)[0] for i in (0, 1)] == [{"u": [1]}, {"u_xx": [1]}]


def test_free_imposes_nothing():
    problem = state({"left": "u = 0", "right": Free()})
    assert [c.side.name for c in problem.conditions] == ["left"]
    assert list(state(Free()).conditions) == []


def test_a_condition_shows_its_text():
    problem = state({"left": Dirichlet("t"), "right": "u_n = 0"})
    assert [repr(c) for c in problem.conditions] == ["LinearCondition(left: u = t)", "LinearCondition(right: u_n = 0)"]


# ---- systems -------------------------------------------------------------------------------------


def test_a_condition_without_a_field_holds_for_every_field():
    problem = system(Dirichlet(0))
    assert [(c.side.name, c.fields) for c in problem.conditions] == [
        ("left", ("u",)),
        ("left", ("v",)),
        ("right", ("u",)),
        ("right", ("v",)),
    ]
    assert problem.groups == (("u",), ("v",))


def test_each_field_has_its_own_condition():
    problem = system({"left": [Dirichlet(1, field="u"), Neumann(2, field="v")], "right": ["u = 0", Free("v")]})
    assert terms(problem, "left", 0) == ({"u": [1]}, [1])
    assert terms(problem, "left", 1) == ({"v_x": [-1]}, [2])
    assert [c.fields for c in problem.conditions if c.side.name == "right"] == [("u",)]


def test_a_condition_that_couples_fields_makes_them_one_group():
    problem = system({"left": ["u - 2*v = 0", "u_n + v_n = 0"], "right": Dirichlet(0)})
    assert problem.groups == (("u", "v"),)
    assert terms(problem, "left", 0)[0] == {"u": [1], "v": [-2]}
    assert problem.conditions[0].fields == ("u", "v")


def test_groups_are_as_small_as_possible():
    equations = [f"{name}_t = {name}_xx" for name in "abcd"]
    conditions = [Dirichlet(0, field="a"), "b = d", "d_n = 0", Dirichlet(0, field="c")]
    problem = state(conditions, equation=equations, initial=[0] * 4)
    assert problem.groups == (("a",), ("b", "d"), ("c",))


def test_coupled_fields_need_the_same_time_order():
    with pytest.raises(ProblemError, match=r"couples 'u', 'v', which have different time orders"):
        state(["u = v", "v_n = 0"], equation=["u_tt = u_xx", "v_t = v_xx"], initial=[0, 0], initial_velocity=0)


def test_two_independent_conditions_on_the_same_jets():
    problem = system({"left": ["u + v = 0", "u - v = 0"], "right": Dirichlet(0)})
    assert [terms(problem, "left", i)[0] for i in (0, 1)] == [{"u": [1], "v": [1]}, {"u": [1], "v": [-1]}]


# ---- periodicity ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "boundary", [Periodic(), {"left": Periodic(), "right": Periodic()}, {"x-": Periodic(), "x+": Periodic()}]
)
def test_periodic_condition_is_the_same_as_a_periodic_domain(boundary):
    problem, expected = state(boundary), state(None, Interval(0, 2, periodic=True))
    assert repr(problem) == repr(expected)
    assert isinstance(problem.domain, Interval)
    assert problem.domain.periodic == (True,)
    assert list(problem.conditions) == []


def test_one_axis_may_be_periodic():
    problem = state({"left": Periodic(), "right": Periodic(), "bottom": "u = 0", "top": Neumann(0)}, PLANE)
    assert problem.domain.periodic == (True, False)
    assert [c.side.name for c in problem.conditions] == ["bottom", "top"]
    assert state(Periodic(), PLANE).domain.periodic == (True, True)


def test_the_given_domain_is_left_alone():
    domain = Interval(0, 2)
    state(Periodic(), domain)
    assert domain.periodic == (False,)


@pytest.mark.parametrize("boundary", [None, {}, Periodic()])
def test_a_periodic_domain_needs_no_condition(boundary):
    assert list(state(boundary, Interval(0, 1, periodic=True)).conditions) == []


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("boundary", "words"),
    [
        (None, ["no boundary condition for the sides 'left', 'right'", "boundary=Dirichlet(0)", "periodic"]),
        ({"left": "u = 0"}, ["no boundary condition for the side(s) 'right'", "'right': Dirichlet(0)", "Free()"]),
        ({}, ["no boundary condition for the side(s) 'left', 'right'"]),
        (
            {"left": "u = 0", "x-": "u = 1", "right": "u = 0"},
            ["side 'left' is declared twice, as 'left' and as 'x-'"],
        ),
        ({"lefft": "u = 0", "right": "u = 0"}, ["unknown side 'lefft'", "'left', 'right'", "Did you mean 'left'?"]),
        ({"top": "u = 0", "left": "u = 0", "right": "u = 0"}, ["unknown side 'top'"]),
        ({"left": Periodic(), "right": "u = 0"}, ["only one side of axis 'x' is Periodic()", "periodic=True"]),
        ([Periodic()], ["side 'left' is Periodic() in a list"]),
        ({"left": ["u = 0", Periodic()], "right": "u = 0"}, ["Periodic() in a list"]),
        ([], ["an empty list of boundary conditions", "Free()"]),
        ({"left": [], "right": "u = 0"}, ["an empty list"]),
        ([3], ["Dirichlet, Neumann, Robin, Free, Periodic or text", "got 3"]),
        ({"left": [None], "right": "u = 0"}, ["got None"]),
        ([Free(), "u = 0"], ["'u' on side 'left' is both Free() and given a condition"]),
        (["u = 0", Free()], ["both Free() and given a condition"]),
        (["u = 0", "u = 1"], ["side 'left' is declared twice for 'u': 'u = 1' repeats a condition"]),
        ([Dirichlet(0), Dirichlet(0)], ["declared twice for 'u'"]),
        ([Neumann(0), "u_x = 0"], ["declared twice for 'u'"]),
        (Robin(0, 0), ["Robin(alpha=0, beta=0) on 'left' says nothing", "Free()"]),
        (Robin(lambda x: x, 1), ["alpha and beta of a Robin condition are numbers, text or SymPy"]),
        ("x = 1", ["'x = 1' contains none of the fields 'u'"]),
        ("u - u = 1", ["contains none of the fields"]),
        ("u_n + u_x = 0", ["on 'left' imposes nothing", "Free()"]),
        ("w = 0", ["unknown name 'w'"]),
        ("u_y = 0", ["unknown name 'u_y'"]),
        ("u = = 0", ["one '='"]),
        (Dirichlet(0, field="w"), ["a condition names the field 'w'; the fields are 'u'"]),
        (Free("w"), ["a condition names the field 'w'"]),
        (Dirichlet("u"), ["unknown name 'u'"]),
        (Dirichlet(float("nan")), ["the boundary value of u on 'left' is nan"]),
        (Dirichlet("1/x"), ["the boundary value of u on 'left' is inf at x = (0)"]),
    ],
)
def test_error_texts(boundary, words):
    with pytest.raises(ValueError, match=r".") as error:
        state(boundary)
    for word in words:
        assert word in str(error.value)


def test_a_side_of_a_periodic_axis_does_not_exist():
    half = Box([0, 0], [1, 1], periodic=[True, False])
    with pytest.raises(ProblemError, match=r"axis 'x' is periodic, so it has no side 'left'; leave it out"):
        state({"left": "u = 0", "bottom": "u = 0", "top": "u = 0"}, half)
    with pytest.raises(ProblemError, match="no side 'x-'"):
        state({"x-": "u = 0"}, Interval(0, 1, periodic=True))
    with pytest.raises(ProblemError, match="all axes are periodic, so there is no side"):
        state("u = 0", Interval(0, 1, periodic=True))


def test_a_field_without_a_condition():
    with pytest.raises(
        ProblemError, match=r"no condition for 'v' on side 'left'.*Dirichlet\(0, field='v'\).*Free\('v'\)"
    ):
        system("u = 0")
    with pytest.raises(ProblemError, match="no condition for 'u' on side 'right'"):
        system({"left": Dirichlet(0), "right": [Free("v")]})


@pytest.mark.parametrize(
    "conditions", [["u = 0", "u_x = 0", "u = 1"], ["u = 0", "u_xx = 0", Dirichlet(0)], ["u = 0", "2*u = 1"]]
)
def test_a_repetition_is_found_among_several_conditions(conditions):
    with pytest.raises(ProblemError, match="side 'left' is declared twice for 'u'"):
        state(conditions, equation="u_t = -u_xxxx")


def test_the_same_side_twice_is_not_two_periodic_sides():
    with pytest.raises(ProblemError, match=r"only one side of axis 'x' is Periodic|declared twice"):
        state({"left": Periodic(), "x-": Periodic()})


@pytest.mark.parametrize(
    "boundary", [0, 1.5, sp.Eq(sp.Symbol("u"), 0), Dirichlet, {"left": 0, "right": 0}, {"left": None, "right": "u = 0"}]
)
def test_what_is_no_condition_at_all(boundary):
    with pytest.raises(ProblemError, match="a boundary condition is Dirichlet, Neumann, Robin"):
        state(boundary)


def test_a_side_is_named_by_text():
    with pytest.raises(ProblemError, match="unknown side '0'"):
        state({0: "u = 0", 1: "u = 0"})
