"""A problem never changes; others are made of it: other parameters, another time, constants left as symbols."""

import gc
import pickle
import weakref

import numpy as np
import pytest
import sympy as sp

from frozenpinn import Disk, Interval, Neumann, Periodic, Problem, ProblemError, Robin, solve
from frozenpinn.analysis.scales import Scales, nondimensional, scales_of
from frozenpinn.analysis.smoothness import roughness
from frozenpinn.analysis.subspace import find_subspace
from frozenpinn.analysis.wellposedness import examine, growth_bound
from frozenpinn.geometry import Box
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.document import problem_to_dict
from frozenpinn.transforms.subspace import restrict

pytestmark = pytest.mark.filterwarnings("ignore:the initial data", "ignore:the exact solution")  # of `stated`
LINE = Interval(0, 1)
PARAMETERS = {"nu": 0.1, "a": 2, "k": "nu*x", "c": lambda x: x + 1, "g": "a*t"}


def stated(**changes):
    """A statement in which every part uses parameters: equation, conditions, initial and exact data."""
    sides = {"left": "u = a*t", "right": Robin("nu", "a", "g + nu*exp(a)")}
    return Problem(
        "u_t + c*u_x = dx(k*u_x) + nu*u_xx + a*sin(g)",
        LINE,
        (0, 1),
        "nu*(exp(a*x) - 1)*x",
        sides,
        parameters={**PARAMETERS, **changes},
        exact="g",
    )


def described(problem):
    """Return a statement as expressions and, bit for bit, as values."""
    x, t = problem.domain.sample(20, "random", 1).x, 0.3
    data = [*problem.initial_data, *problem.exact.values(), *(c.value for c in problem.conditions)]
    jets = list(problem.jets.jets_in(problem.equations[0].right_side).values())
    sample = [np.sin((i + 1) * x[:, 0]) for i in range(len(jets))]
    program = problem.compile([e.right_side for e in problem.equations], jets)
    sides = [(c, problem.domain.sample_side(c.side, 5, "random", 1)) for c in problem.conditions]
    return [
        problem.equations,
        [(c.side, c.jets, c.coefficients, c.text) for c in problem.conditions],
        [(datum.what, datum.source) for datum in data],
        [datum(x, t).tobytes() for datum in data],
        [c.tobytes() for condition, points in sides for c in condition.coefficients_at(points)],
        [np.asarray(v).tobytes() for v in program(*x.T, t, *sample)],
        problem.time,
        problem.domain,
        problem.parameters.constants,
        {key: value for key, value in problem.given.items() if key != "boundary"},
    ]


def slower(x):
    return x / 2


# ---- other values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"nu": 0.02},
        {"nu": 3, "a": 0.5},
        {"a": sp.Rational(1, 3)},
        {"k": "nu*x**2 + a", "g": "sin(a*t)"},
        {"c": slower},
        {"c": 1.5, "nu": "a/10"},
        {"k": sp.Symbol("nu") * sp.exp(sp.Symbol("x"))},
        {},
    ],
)
def test_other_values_are_the_same_as_another_statement(changes):
    problem = stated()
    before = described(problem)
    assert described(problem.at(**changes)) == described(stated(**changes))
    assert described(problem) == before


def test_values_can_be_changed_one_after_the_other():
    problem = stated()
    one_by_one = problem.at(nu=0.5).at(a=7)
    assert described(one_by_one) == described(problem.at(a=7, nu=0.5))
    assert described(one_by_one.at(nu=0.1, a=2)) == described(problem)


def test_other_values_during_another_time():
    problem = Problem("u_t = nu*u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"nu": 0.1})
    assert problem.at(nu=3).during((1, 2)).time == problem.during((1, 2)).at(nu=3).time == (1, 2)
    assert problem.during((1, 2)).at(nu=3).equations == problem.at(nu=3).equations


def test_other_values_on_a_periodic_axis_and_on_a_shape():
    sides = {"x-": Periodic(), "x+": Periodic(), "bottom": "u_n = 0", "top": "u = nu"}
    strip = Problem("u_t = nu*lap(u)", Box([0, 0], [1, 1]), (0, 1), "nu", sides, parameters={"nu": 1})
    other = strip.at(nu=4)
    assert other.domain.periodic == (True, False)
    assert [(c.side.name, c.value.expression) for c in other.conditions] == [("bottom", 0), ("top", 4)]
    disk = Problem("u_t = nu*lap(u)", Disk(), (0, 1), "nu", "u + nu*u_n = nu", parameters={"nu": 1})
    points = disk.domain.sample_side("boundary", 8)
    (condition,) = disk.at(nu=4).conditions
    assert condition.value(points.x).tolist() == [4.0] * 8
    normal = [c for jet, c in zip(condition.jets, condition.coefficients_at(points), strict=True) if jet.order]
    np.testing.assert_allclose(np.stack(normal, axis=1), 4 * points.normals)


def test_other_values_are_checked():
    problem = stated()
    with pytest.raises(ProblemError) as raised:
        problem.at(nuu=1)
    names = "'a', 'c', 'g', 'k', 'nu'"
    assert str(raised.value) == (
        f"'nuu' is not a parameter of this problem; the parameters are {names}. Did you mean 'nu'?"
    )
    with pytest.raises(ProblemError, match="parameter 'nu' is nan; it must be a finite number"):
        problem.at(nu=float("nan"))
    with pytest.raises(ProblemError, match=r"'nu' is not a parameter of this problem; there is none\."):
        Problem("u_t = u_xx", LINE, (0, 1), 0, "u = 0").at(nu=1)
    with pytest.warns(UserWarning, match="the initial data contradict the condition 'u = a'"):
        Problem("u_t = u_xx", LINE, (0, 1), 1, "u = a", parameters={"a": 1}).at(a=2)


def test_other_values_have_their_own_findings():
    problem = Problem("u_t = nu*u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"nu": 1})
    assert not examine(problem)
    assert "ill posed" in str(examine(problem.at(nu=-1)))
    assert not examine(problem)


def test_solutions_for_other_values_agree_with_those_of_other_statements():
    def build(nu):
        return Problem("u_t = nu*u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"nu": nu})

    x = np.linspace(0, 1, 9)
    problem = build(0.1)
    solve(problem)
    assert solve(problem.at(nu=0.02))(x, 1.0).tobytes() == solve(build(0.02))(x, 1.0).tobytes()


# ---- a problem does not change -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["time", "domain", "equations", "parameters", "derived", "anything"])
def test_a_problem_cannot_be_changed(name):
    problem = Problem("u_t = u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0")
    with pytest.raises(AttributeError) as raised:
        setattr(problem, name, 1)
    assert str(raised.value) == (
        f"'{name}' can't be set, because problems never change. Make a new one: problem.at(nu=0.02) changes a "
        "parameter, problem.during((0, 2)) the time, and Problem(…) states anything else."
    )
    with pytest.raises(AttributeError, match="problems never change"):
        del problem.time
    assert problem.time == (0, 1)


def test_nothing_in_a_problem_can_be_changed():
    problem = Problem("u_t = u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0")
    for part in (problem.equations[0], problem.conditions[0], problem.initial["u"], problem.parameters):
        for name in ("text", "what", "field", "expressions"):
            with pytest.raises(AttributeError):
                setattr(part, name, None)
    assert isinstance(problem.conditions, tuple)
    assert isinstance(problem.conditions[0], LinearCondition)


def test_what_a_user_changes_afterwards_does_not_matter():
    initial, sides = {"u": 1, "v": "nu"}, {"left": ["u = 1", "v = nu"], "right": ["u = 1", "v = nu"]}
    problem = Problem({"u": "u_xx", "v": "v_xx"}, LINE, (0, 1), initial, sides, parameters={"nu": 2})
    initial["u"], sides["left"][1] = 5, "v = 7"
    other = problem.at(nu=3)
    x = np.array([[0.0]])
    assert [float(other.initial[name](x)[0]) for name in "uv"] == [1, 3]
    assert [float(c.value(x)[0]) for c in other.conditions] == [1, 3, 1, 3]


def test_finding_something_out_leaves_no_trace_in_a_problem():
    given = {"u": "0.1*lap(u) + v", "v": "lap(v)"}
    problem = Problem(given, Box([0, 0], [1, 1]), (0, 1), {"u": "1e6*cos(pi*x)", "v": 1}, Neumann(0))
    before, size = dict(vars(problem)), len(pickle.dumps(problem))
    first = [str(examine(problem)), roughness(problem), growth_bound(problem), scales_of(problem)]
    restricted = restrict(problem, find_subspace(problem))
    assert vars(problem) == before
    assert len(pickle.dumps(problem)) < 2 * size
    assert [str(examine(problem)), roughness(problem), growth_bound(problem), scales_of(problem)] == first
    assert restrict(problem, find_subspace(problem)) is restricted


def test_what_is_remembered_is_forgotten_with_the_problem():
    problem = Problem("u_t = lap(u)", Box([0, 0], [1, 1]), (0, 1), lambda x, y: np.cos(np.pi * x), "u_n = 0")
    examine(problem)
    restrict(problem, find_subspace(problem))
    growth_bound(problem)
    trace = weakref.ref(problem)
    del problem
    gc.collect()
    assert trace() is None


def test_a_problem_in_other_units_has_no_text_to_be_read_again():
    pair = Problem({"u": "a*v", "v": "u"}, Interval(0, 1, periodic=True), (0, 1), [1, 1], parameters={"a": 1})
    scaled = nondimensional(pair, Scales({"u": 3, "v": 0}))
    for attempt in (lambda: scaled.at(a=2), lambda: scaled.with_symbols(["a"])):
        with pytest.raises(ProblemError, match="a problem in other units has no text of its own; change the one"):
            attempt()
    assert problem_to_dict(scaled) is None


# ---- constants that stay symbols -----------------------------------------------------------------


def burgers():
    return Problem("u_t + u*u_x = nu*u_xx", LINE, (0, 1), "x*(1 - x)", "u = 0", parameters={"nu": 0.1})


def test_the_right_side_can_be_differentiated_by_a_constant():
    problem = burgers().with_symbols(["nu"])
    nu, jets = sp.Symbol("nu", real=True), problem.jets
    u_xx = jets.symbol(jets.split_name("u_xx")[1])
    (equation,) = problem.equations
    assert sp.diff(equation.right_side, nu) == u_xx
    assert equation.linear == {jets.jet_of(u_xx): nu}
    assert problem.parameters.symbols == ("nu",)
    assert burgers().parameters.symbols == ()


def test_data_and_conditions_can_be_differentiated_too():
    problem = stated().with_symbols(["nu", "a"])
    nu, a = (sp.Symbol(name, real=True) for name in ("nu", "a"))
    x, t = problem.jets.x[0], problem.jets.t
    assert sp.diff(problem.initial["u"].expression, a) == nu * x**2 * sp.exp(a * x)
    left, right = problem.conditions
    assert sp.diff(left.value.expression, a) == t
    assert right.coefficients == (nu, a)
    assert sp.diff(right.value.expression, nu) == sp.exp(a)
    assert sp.diff(problem.equations[0].forcing, a) == sp.sin(a * t) + a * t * sp.cos(a * t)


def test_symbols_have_the_values_of_their_constants():
    problem = stated()
    symbols = problem.with_symbols(["nu", "a"])
    x = np.linspace(0, 1, 9)[:, None]
    np.testing.assert_allclose(symbols.initial["u"](x), problem.initial["u"](x), rtol=1e-14)
    for one, other in zip(symbols.conditions, problem.conditions, strict=True):
        np.testing.assert_allclose(one.value(x, 0.3), other.value(x, 0.3), rtol=1e-14)
        points = problem.domain.sample_side(one.side, 1)
        np.testing.assert_allclose(one.coefficients_at(points), other.coefficients_at(points), rtol=1e-14)
    assert symbols.parameters.constants == problem.parameters.constants == {"nu": 0.1, "a": 2.0}
    assert described(symbols.at(nu=0.1)) == described(symbols)
    assert symbols.with_symbols([]).equations == problem.equations


def test_a_problem_with_symbols_can_be_solved():
    x = np.linspace(0, 1, 9)
    np.testing.assert_allclose(
        solve(burgers().with_symbols(["nu"]))(x, 1.0), solve(burgers())(x, 1.0), rtol=1e-6, atol=1e-12
    )
    assert burgers().with_symbols(["nu"]).at(nu=0.3).parameters.constants == {"nu": 0.3}


def test_only_constants_can_be_symbols():
    parameters = {"nu": 0.1, "two": "2*nu", "k": "x", "f": lambda x: x}
    problem = Problem("u_t = (nu + k + two + f)*u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters=parameters)
    assert problem.parameters.constants == {"nu": 0.1, "two": 0.2}
    assert problem.with_symbols(["nu"]).parameters.expressions["two"] == 2 * sp.Symbol("nu", real=True)
    for names, words in [
        (["k"], "parameter 'k' is 'x'; only constants can be left as symbols."),
        (["f"], "parameter 'f' is a Python function; only constants can be left as symbols."),
        (["nu", "two"], "parameter 'two' is '2*nu'; only constants can be left as symbols."),
        (["mu"], "'mu' is not a parameter of this problem; the parameters are 'f', 'k', 'nu', 'two'."),
    ]:
        with pytest.raises(ProblemError) as raised:
            problem.with_symbols(names)
        assert str(raised.value) == words
