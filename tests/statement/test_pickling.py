"""Problems that have been pickled: the same statement, and the same bits, in this process and in another."""

import copy
import hashlib
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn import Ball, Box, Dirichlet, Disk, Interval, Neumann, Problem, ProblemError, Robin
from frozenpinn.analysis.scales import Scales, nondimensional
from frozenpinn.analysis.subspace import find_subspace
from frozenpinn.analysis.wellposedness import examine
from frozenpinn.geometry import Implicit
from frozenpinn.language.program import Program
from frozenpinn.transforms.subspace import restrict

LINE = Interval(0, 1)
RING = Interval(0, 1, periodic=True)
X, T = sp.symbols("x t")
U = sp.Function("u")(X, T)


def bump(x):
    return np.exp(-((x - 0.5) ** 2))


def flow(points, t):
    return points[:, 0] * t


class Slope:
    """A callable object."""

    def __init__(self, slope):
        self.slope = slope

    def __call__(self, t):
        return self.slope * t


def again(value):
    return pickle.loads(pickle.dumps(value))


def values(problem):
    """Return what a problem evaluates to: data, conditions, their derivatives in time, and compiled programs."""
    (start, end), x = problem.time, problem.domain.sample(30, "random", 3).x
    t = 0.7 * start + 0.3 * end
    result = [datum(x, start) for datum in (*problem.initial_data, *problem.exact.values())]
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, 9, "random", 5)
        result += [condition.value(points.x, t), *condition.coefficients_at(points)]
        result.append(condition.value.time_derivative(1, points.x, t, problem.time))
    for equation in problem.equations:
        jets = list(problem.jets.jets_in(equation.right_side).values())
        fields = [np.cos((i + 1) * x.sum(axis=1)) for i in range(len(jets))]
        result += problem.compile([equation.right_side, equation.nonlinear], jets)(*x.T, t, *fields)
        result += problem.compile([*equation.linear.values(), equation.forcing])(*x.T, t)
    return [np.asarray(value, dtype=float).tobytes() for value in result]


def digest(problem):
    return hashlib.sha256(b"|".join(values(problem))).hexdigest()


def system():
    equations = {"u": "v_x - a", "v": "u_x + b*u**2"}
    return Problem(equations, RING, (0, 1), ["sin(2*pi*x)", 1], parameters={"a": "x**2*b", "b": 0.3})


def symbolic():
    equation = sp.Eq(U.diff(T), sp.exp(-X) * U.diff(X, 2) + sp.Heaviside(X - 0.5, sp.Rational(1, 2)))
    return Problem(equation, LINE, (0, 1), sp.sin(sp.pi * X), "u = sin(t)*x")


def waves():
    condition = Robin("1 + x**2", 2, "x*y + x**3*y + 2*y*x")  # on a circle, with its normal in the coefficients
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Problem("u_tt = lap(u) + x*sin(t)", Disk([0.5, 0], 2), (0, 2), "x*y", condition, initial_velocity="y")


def functions():
    parameters = {"k": bump, "f": np.multiply, "g": Slope(2.0)}
    sides = {"left": Dirichlet(Slope(0.5)), "right": "u_n = g"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Problem("u_t = k*u_xx + f", LINE, (0, 1), bump, sides, parameters=parameters, exact=bump)


def scaled():
    given = {"u": "u_xx + 1e6*v", "v": "v_xx - 1e-6*u"}
    sides = [Dirichlet(Slope(1e6), field="u"), Dirichlet(0, field="v")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = Problem(given, LINE, (0, 1), {"u": bump, "v": "1e-6*sin(pi*x)"}, sides)
    return nondimensional(problem, Scales({"u": 6, "v": -6}))


def restricted():
    box = Box([0, 0, 0], [1, 1, 1])
    problem = Problem("u_t = k*lap(u)", box, (0, 1), bump_along_x, Neumann(0), parameters={"k": bump_along_x})
    return restrict(problem, find_subspace(problem))


def bump_along_x(x, y, z):
    return np.cos(np.pi * x)


def restricted_ball():
    ball = Ball(0, 1, dimension=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = Problem("u_t = lap(u)", ball, (0, 1), "exp(x1 + x2)", Robin("1 + x1 + x2", 1, "t*(x1 + x2)"))
    return restrict(problem, find_subspace(problem))


PROBLEMS = {
    "text": lambda: Problem("u_t + u*u_x = nu*u_xx", LINE, (0, 1), "x - x**2", "u = 0", parameters={"nu": 0.1}),
    "numbers": lambda: Problem("u_t = 3*u_xx", RING, (0, 1), 2),
    "exact": lambda: Problem("u_t = u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", exact="exp(-pi**2*t)*sin(pi*x)"),
    "system": system,
    "symbolic": symbolic,
    "waves": waves,
    "functions": functions,
    "during": lambda: functions().during((0.5, 2)),
    "symbols": lambda: PROBLEMS["text"]().with_symbols(["nu"]),
    "scaled": scaled,
    "restricted": restricted,
    "restricted ball": restricted_ball,
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_pickled_problem_is_the_same(name):
    problem = PROBLEMS[name]()
    before = again(problem)  # before anything is known about it, and after
    expected = values(problem)
    for other in (before, again(problem), again(again(problem)), copy.deepcopy(problem)):
        assert other.equations == problem.equations
        assert repr(other) == repr(problem)
        assert list(other.given) == list(problem.given)
        assert values(other) == expected
        assert str(examine(other)) == str(examine(problem))


@pytest.mark.parametrize("name", ["waves", "restricted ball", "symbolic"])
def test_another_process_computes_the_same_bits(name, tmp_path):
    """Symbols, and the normals in the coefficients of a condition, mean the same there."""
    problem = PROBLEMS[name]()
    (tmp_path / "problem.pickle").write_bytes(pickle.dumps(problem))
    script = "import pickle; from test_pickling import digest; print(digest(pickle.load(open('problem.pickle', 'rb'))))"
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == digest(problem)


def test_a_problem_from_another_process_can_be_restricted(tmp_path):
    """Restricting replaces the normals by what they are on a ball: they must be recognised."""
    script = (
        "import pickle, sys, frozenpinn as fp\n"
        "problem = fp.Problem('u_t = lap(u)', fp.Ball(0, 1, dimension=4), (0, 1), 'x1', 'u + u_n = 2*x1')\n"
        "sys.stdout.buffer.write(pickle.dumps(problem))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=True)
    problem = pickle.loads(run.stdout)
    assert [c.text for c in restrict(problem, find_subspace(problem)).conditions] == ["u + u_x*x = 2*x"] * 2


def test_programs_are_pickled_by_their_expressions():
    x, y = sp.symbols("x y", real=True)
    k = sp.Function("k", real=True)
    program = Program([k(x) * sp.sin(y) ** 3, sp.coth(x) / (1 + y), 2], [x, y], {"k": bump})
    points = np.random.default_rng(0).uniform(0.5, 1.5, (2, 40))
    for one, other in zip(program(*points), again(program)(*points), strict=True):
        assert np.array_equal(one, other)
    assert again(program).expressions == program.expressions


UNPICKLABLE = " is a Python function that can't be pickled (a lambda or a local function); "
UNPICKLABLE += "define it at the top level of a module or write it as text."


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda f: Problem("u_t = u_xx", RING, (0, 1), f), "the initial value of u"),
        (lambda f: Problem("u_tt = u_xx", RING, (0, 1), 0, initial_velocity=f), "the initial velocity of u"),
        (lambda f: Problem("u_t = u_xx", LINE, (0, 1), 1, Dirichlet(f)), "the boundary value of u on 'left'"),
        (lambda f: Problem("u_t = k*u_xx", RING, (0, 1), 0, parameters={"k": f}), "parameter 'k'"),
        (lambda f: Problem("u_t = 0*u_xx", RING, (0, 1), 1, exact=f), "the exact solution of u"),
    ],
)
def test_functions_that_cannot_be_pickled_are_named(build, what):
    problem = build(lambda x: 1 + 0 * x)
    with pytest.raises(ProblemError) as raised:
        pickle.dumps(problem)
    assert str(raised.value) == what + UNPICKLABLE
    assert values(copy.deepcopy(problem)) == values(problem)  # copies need no pickling


def test_functions_of_domains_that_cannot_be_pickled_are_named():
    domain = Implicit(lambda x, y: x**2 + y**2 - 1, [-2, -2], [2, 2])
    with pytest.raises(ProblemError) as raised:
        pickle.dumps(Problem("u_t = lap(u)", domain, (0, 1), 0, "u = 0"))
    assert str(raised.value) == "the function of an implicit domain" + UNPICKLABLE
    with pytest.raises(ProblemError) as raised:
        pickle.dumps(Disk().with_sides(hot=lambda x, y: y > 0))
    assert str(raised.value) == "the side 'hot'" + UNPICKLABLE


def test_functions_of_transformed_problems_are_named_as_the_user_knows_them():
    box = Box([0, 0], [1, 1])
    problem = Problem("u_t = lap(u)", box, (0, 1), lambda x, y: np.cos(np.pi * x), "u_n = 0")
    pair = Problem({"u": "v", "v": "u"}, RING, (0, 1), [lambda x: 1 + 0 * x, 1])
    for changed in (restrict(problem, find_subspace(problem)), nondimensional(pair, Scales({"u": 3, "v": 0}))):
        with pytest.raises(ProblemError) as raised:
            pickle.dumps(changed)
        assert str(raised.value) == "the initial value of u" + UNPICKLABLE


def test_functions_of_a_notebook_that_use_the_package_are_sent_to_other_processes():
    cloudpickle = pytest.importorskip("cloudpickle")
    assert pickle.loads(pickle.dumps(fp)) is fp
    namespace = {"fp": fp, "__name__": "__main__"}
    exec("def half():\n    return fp.Interval(0, 0.5).measure", namespace)
    assert cloudpickle.loads(cloudpickle.dumps(namespace["half"]))() == 0.5
