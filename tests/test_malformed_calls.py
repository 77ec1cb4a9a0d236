"""Calls with arguments of the wrong kind: refused by what was wrong, what was got and what to write instead."""

import re

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.language.algebra import MAX_EFFORT

UNIT = fp.Interval(0, 1)
HEAT = {"equation": "u_t = u_xx", "domain": UNIT, "time": (0, 0.1), "initial": "sin(pi*x)", "boundary": "u = 0"}
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]


@pytest.fixture(scope="module")
def solution():
    return fp.solve(fp.Problem(**HEAT), tol=1e-3)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"sampler": 5}, "sampler is a name, or an object with a method 'sample' such as fp.samplers.SWIM(400); got 5"),
        ({"sampler": fp.samplers.SWIM}, "sampler is the class SWIM; give an object of it, such as fp.samplers.SWIM"),
        ({"integrator": 5}, "integrator is a name, or an object with a method 'integrate'"),
        ({"integrator": fp.integrators.CVODE}, "integrator is the class CVODE; give an object"),
        ({"integrator": fp.integrators.CVODE(rtol=1e-320)}, "rtol of the integrator must lie between 1e-15"),
        ({"integrator": fp.integrators.CVODE(max_steps="a")}, "max_steps of the integrator is a number such as 500000"),
        ({"boundary": []}, "boundary is a name, or an object with a method 'build'"),
        ({"rcond": -1}, "rcond must lie between 0 and 1, or be None; got -1"),
        ({"rtol": True}, "rtol must lie between 0 and 1, got True"),
        ({"cutoff": "1e-9"}, "the SVD cut-off must lie between 0 and 1, got '1e-9'"),
        ({"windows": 10**9}, "windows must be a positive whole number up to 10000, or None to adapt; got 1000000000"),
        ({"points": True}, "points must be a whole number from 2 on (or one per axis), got True"),
        ({"rules": 5}, "rules is a value such as fp.Rules(), got 5"),
        ({"point_method": None}, "point_method is a name such as 'gauss' or 'auto', got None"),
        ({"widht": 40}, "Settings() has no argument 'widht'. Did you mean 'width'? It takes width, points"),
    ],
)
def test_settings(settings, text):
    with pytest.raises(fp.SettingsError, match=re.escape(text)):
        fp.Settings(**settings)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda p: fp.solve(p, progress=5),
            "progress is a function that takes the name of a stage, or False to show nothing; got 5",
        ),
        (lambda p: fp.solve(p, settings=5), "settings is a value such as fp.Settings(width=200), got 5"),
        (lambda p: fp.solve(p, tolerance=1e-6), "solve() has no argument 'tolerance'. It takes problem, tol, seed"),
        (lambda p: fp.solve(p, tol="1e-6"), "tol must lie between 0 and 1, got '1e-6'; write for example tol=1e-6"),
        (lambda p: fp.solve(p, tol=1e-3, time_limit=True), "time_limit is a positive number of seconds, got True"),
        (lambda p: fp.solve(p, seed=True), "seed must be a whole number from 0 on, got True"),
        (lambda p: fp.check(None), "check() takes a Problem, got NoneType"),
        (fp.estimate_error, "estimate_error() takes a Solution, got Problem"),
        (lambda p: fp.samplers.SWIM(10**400), "width must be a positive whole number of neurons up to"),
    ],
)
def test_solves(call, text):
    with pytest.raises(fp.SettingsError, match=re.escape(text)):
        call(fp.Problem(**HEAT))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: fp.Ball(dimension=-1), "a domain has 1 to 400 dimensions, a whole number; got -1"),
        (lambda: fp.Ball(dimension=2.5), "a domain has 1 to 400 dimensions, a whole number; got 2.5"),
        (lambda: fp.Ball(dimension=10**9), "a domain has 1 to 400 dimensions, a whole number; got 1000000000"),
        (lambda: fp.Ball(radius="1"), "the radius of a ball is a positive number, got '1'"),
        (lambda: fp.Interval(0, 10**400), "an interval needs two numbers, and floating point numbers end at 1e308"),
        (lambda: fp.Interval("0", "1"), "an interval needs two numbers, got '0'"),
        (lambda: fp.Interval(0, True), "an interval needs two numbers, got True"),
        (lambda: fp.Interval(0, 1, periodic="junk"), "periodic is True or False, or one of them per axis; got 'junk'"),
        (lambda: fp.Interval(0, 1, perodic=True), "Interval() has no argument 'perodic'. Did you mean 'periodic'?"),
        (lambda: fp.Interval(-1e308, 1e308), "an edge of the domain is inf long; lengths between 1e-50 and 1e+50"),
        (lambda: fp.Box([0] * 100, [1e10] * 100), "the bounding box has a volume of 1e1000; use other units"),
        (lambda: fp.Polygon(SQUARE, sides="a"), "sides is a dict of names with their edges, such as {'inlet': [3]}"),
        (lambda: fp.Polygon(SQUARE, holes=5), "holes are a list of rings of corners, one per hole; got 5"),
        (fp.Polygon, "Polygon(): missing a required argument: 'vertices'. It takes vertices, holes, sides"),
        (lambda: fp.Problem(**HEAT | {"time": ("0", "1")}), "time must be (start, end), got ('0', '1')"),
        (lambda: fp.Problem(**HEAT | {"initial": True}), "must be a finite number, text, a SymPy expression"),
        (lambda: fp.Problem(**HEAT, inital=0), "Problem() has no argument 'inital'. Did you mean 'initial'?"),
        (lambda: fp.Dirichlet(valeu=0), "Dirichlet() has no argument 'valeu'. Did you mean 'value'?"),
        (lambda: fp.Problem(**HEAT | {"boundary": fp.Dirichlet(0, field=5)}), "a condition names the field 5"),
    ],
)
def test_statements(build, text):
    with pytest.raises(fp.ProblemError, match=re.escape(text)):
        build()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: s(0.5, "a"), "coordinates and times are real numbers, or arrays of them, got 'a'"),
        (lambda s: s(0.5 + 1j, 0.05), "coordinates and times are real numbers, or arrays of them, got (0.5+1j)"),
        (lambda s: s([[0.1], [0.2, 0.3]], 0.05), "coordinates and times are real numbers"),
        (lambda s: s(0.5, True), "coordinates and times are real numbers, or arrays of them, got True"),
        (lambda s: s(0.5, 0.05, derivative=5), "derivative=5 is not made of the coordinates 't', 'x'"),
        (lambda s: s(0.5, 0.05, derivatve="x"), "no argument 'derivatve'. Did you mean 'derivative'?"),
        (lambda s: s(0.5, x=0.5, t=0.05), "with 't', 'x' by name, none are left, got 1 more"),
        (lambda s: s.grid(points=10**9), "a grid of 1000000000 points per axis and 51 times has"),
        (lambda s: s.grid(points=-1), "points is a positive whole number, got -1"),
        (lambda s: s.error_estimate["v"], "unknown field 'v'; the fields are 'u'"),
        (lambda s: s.error_estimate.at("a"), "times are real numbers, or arrays of them, got 'a'"),
        (lambda s: UNIT.contains([0.5]), "points have the shape (n, 1), one row per point; got shape (1,)"),
    ],
)
def test_evaluation(solution, call, text):
    with pytest.raises(fp.EvaluationError, match=re.escape(text)):
        call(solution)


def test_places_by_name(solution):
    wanted = float(solution(0.3, 0.05))
    assert float(solution(x=0.3, t=0.05)) == float(solution(0.3, t=0.05)) == float(solution(t=0.05, x=0.3)) == wanted
    np.testing.assert_array_equal(solution(x=np.array([0.3, 0.4]), t=0.05), solution([0.3, 0.4], 0.05))
    assert float(solution.error_at(x=0.3, t=0.05)) == float(solution.error_at(0.3, 0.05))


def test_an_estimate_is_a_mapping(solution):
    assert "u" in solution.error_estimate
    assert "v" not in solution.error_estimate
    assert solution.error_estimate.get("v") is None


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.xyz", "can't draw 'a.xyz'; the file must end in one of "),
        ("a.pgn", "Did you mean 'png'?"),
        (5, "a file is given by its path, such as 'solution.fpinn'; got 5"),
        ("nowhere/a.png", "can't write 'nowhere/a.png': there is no folder 'nowhere'"),
    ],
)
def test_pictures(solution, file, text):
    with pytest.raises(fp.StorageError, match=re.escape(text)):
        solution.plot(file)


@pytest.mark.parametrize(
    "text",
    [
        "-".join(f"max(u, x*{i})" for i in range(500)),
        "dx(" + "*".join(f"sin(x*{i} + u)" for i in range(400)) + ")",
        "lap(" + "+".join(f"erf({i}*u)" for i in range(600)) + ")",
    ],
    ids=["hundreds of maxima", "a long product", "a long sum"],
)
def test_texts_that_would_take_long_are_refused_by_the_work_they_ask_for(text):
    with pytest.raises(fp.ProblemError, match=rf"too many operations to work out \(more than {MAX_EFFORT}\)"):
        fp.Problem(**HEAT | {"equation": f"u_t = {text}"})


def test_denominators_are_not_multiplied_out():
    coefficient = "*".join(["(1/(1 + x + u + u_x + t)/3 + 1)"] * 30)
    problem = fp.Problem(**HEAT | {"equation": "u_t = a*u_xx", "parameters": {"a": coefficient}})
    assert len(str(problem.equations[0].nonlinear)) < 10_000


def test_calls_of_inference_and_its_results():
    unknown = fp.Problem(**HEAT | {"equation": "u_t = k*u_xx"}, parameters={"k": fp.Unknown(0.5)})
    data = fp.Measurements([0.2, 0.4, 0.6], [0.22, 0.36, 0.34], times=0.1, noise=0.02)
    for call, text in (
        (lambda: fp.infer(unknown, data, seed=-1), "seed must be a whole number from 0 on, got -1"),
        (lambda: fp.infer(unknown, data, level=None), "level must lie between 0 and 1, got None"),
        (lambda: fp.infer(unknown, data, settings=5), "settings is a value such as fp.Settings(width=200), got 5"),
        (lambda: fp.infer(unknown, data, rules=5), "rules is a value such as frozenpinn.inverse.rules.InverseRules()"),
        (lambda: fp.Measurements.averages(UNIT, [0.3], tmes=0.1), "averages() has no argument 'tmes'. Did you mean"),
    ):
        with pytest.raises(fp.FrozenPinnError, match=re.escape(text)):
            call()
    with pytest.raises(fp.ProblemError, match="does not depend on the unknowns, or their noise= is out of proportion"):
        fp.design(unknown, [0.2, 0.4], 1, times=[0.1, 0.1], noise=1e308)
    with pytest.raises(fp.SettingsError, match=r"near is a number; .* Got inf"):
        fp.modes(unknown, near=np.inf)
    found = fp.infer(unknown, data)
    for call, text in (
        (found.again, "again(): missing a required argument: 'data'"),
        (lambda: found.sample(0), "n is how many draws there are, from 1 to 1000000; got 0"),
        (lambda: found.sample(2, seed="a"), "seed must be a whole number from 0 on, got 'a'"),
        (lambda: found.field([[]]), "[[]] is no unknown field; they are none"),
        (lambda: found.plot(fle="u.png"), "plot() has no argument 'fle'. Did you mean 'file'"),
    ):
        with pytest.raises(fp.EvaluationError, match=re.escape(text)):
            call()
