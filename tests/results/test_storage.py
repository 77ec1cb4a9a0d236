"""Stored solutions: what is read back evaluates like the original, and nothing in a file is executed."""

import json
import zipfile
from functools import cache

import numpy as np
import pytest

import frozenpinn as fp
import zoo
from frozenpinn import EvaluationError
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.results.archive import FORMAT, Reader, write_archive
from frozenpinn.statement.document import Outline

UNIT = fp.Interval(0, 1)
RING = fp.Interval(0, 1, periodic=True)


class Midpoint:
    """An integrator that the library does not know."""

    name = "midpoint"

    def integrate(self, system, observer):
        times, states = np.linspace(*system.time, 101), [system.initial_state]
        h = times[1] - times[0]
        for t in times[:-1]:
            y = states[-1]
            states.append(y + h * system.rhs(t + h / 2, y + h / 2 * system.rhs(t, y)))
        rates = [system.rhs(t, y) for t, y in zip(times, states, strict=True)]
        return HermiteTrajectory(times, np.array(states), np.array(rates))


def dop853():
    exact = "sin(2*pi*(x - t))/sqrt(1 + 2*t*sin(2*pi*(x - t))**2)"
    problem = fp.Problem("u_t = -u_x - u**3", RING, (0, 0.5), "sin(2*pi*x)", exact=exact)
    return problem, fp.Settings(width=50, integrator="dop853")


def own_integrator():
    problem = fp.Problem("u_t = 0.01*u_xx - u**2", UNIT, (0, 1), "sin(pi*x)", "u = 0")
    return problem, fp.Settings(width=30, cutoff=1e-6, integrator=Midpoint())


def python_functions():
    """Data of every kind as Python functions, made for a known solution."""

    def exact(x, t):
        return np.sin(np.pi * x) * np.exp(-t) + (1 - x) * np.sin(3 * t)

    def source(x, t):
        return ((1 + x) * np.pi**2 - 1) * np.sin(np.pi * x) * np.exp(-t) + 3 * (1 - x) * np.cos(3 * t)

    problem = fp.Problem(
        "u_t = k*u_xx + f",
        UNIT,
        (0, 0.5),
        lambda x: np.sin(np.pi * x),
        {"left": fp.Dirichlet(lambda t: np.sin(3 * t)), "right": "u_x = -pi*exp(-t) - sin(3*t)"},
        parameters={"k": lambda x: 1 + x, "f": source},
        exact=exact,
    )
    return problem, fp.Settings(width=50)


#: Solved here: a truth that steps of high order follow, an integrator of one's own, data of every kind as functions.
OWN = {case.__name__: case for case in (dop853, own_integrator, python_functions)}
NAMES = (
    "heat",
    "transport",
    "ladder",
    "stiff",
    "struck_string",
    "damped_string",
    "quantum",
    "mixed_orders",
    "coupled",
    "moving_edges",
    "moving_membrane",
    "scattered",
    "outer_basis",
    *OWN,
)
#: How far values may differ, relative to the largest: what re-interpolation in time of SciPy's steps costs.
VALUES = {"dop853": 1e-8}
#: The same for derivatives. A loaded solution differentiates its trajectory, the original asks the equation.
SLOPES = {"dop853": 1e-4, "own_integrator": 1e-2}


@cache
def solved(name):
    if name not in OWN:
        return zoo.solved(name)
    problem, settings = OWN[name]()
    return fp.solve(problem, settings=settings)


@pytest.fixture(scope="module", params=NAMES)
def pair(request, tmp_path_factory):
    solution = solved(request.param)
    file = tmp_path_factory.mktemp("stored") / "solution.fpinn"
    solution.save(file)
    return request.param, solution, fp.load(file), file


def places(problem):
    rng = np.random.default_rng(0)
    x = rng.uniform(problem.domain.lower, problem.domain.upper, (40, problem.domain.dimension))
    t = rng.uniform(*problem.time, 40)
    t[:2] = problem.time
    return (*x.T, t)


def test_round_trip(pair):
    name, solution, loaded, _ = pair
    where = places(solution.problem)
    for field in solution.problem.fields:
        value, again = solution(*where, field=field), loaded(*where, field=field)
        np.testing.assert_allclose(again, value, rtol=0, atol=VALUES.get(name, 1e-12) * np.abs(value).max())


@pytest.mark.parametrize("derivative", ["x", "xx", "t", "xt", "tt"])
def test_derivatives_of_the_loaded_solution(pair, derivative):
    name, solution, loaded, _ = pair
    where = places(solution.problem)
    for field in solution.problem.fields:
        if derivative == "tt" and solution.problem.equation(field).order < 2:
            with pytest.raises(EvaluationError, match="more time derivatives than the equation"):
                loaded(*where, field=field, derivative=derivative)
            continue
        value, again = (s(*where, field=field, derivative=derivative) for s in (solution, loaded))
        tolerance = SLOPES.get(name, 1e-6 if "t" in derivative else 1e-10)
        np.testing.assert_allclose(again, value, rtol=0, atol=tolerance * np.abs(value).max())


def test_grids_and_single_points_too(pair):
    _, solution, loaded, _ = pair
    field = solution.problem.fields[0]
    middle = [float(c) for c in solution.problem.domain.center]
    value = float(solution(*middle, solution.problem.time[1], field=field))
    assert float(loaded(*middle, solution.problem.time[1], field=field)) == pytest.approx(value, abs=1e-7)
    table, again = solution.grid(5, 4), loaded.grid(5, 4)
    assert table.sizes == again.sizes
    np.testing.assert_allclose(again[field], table[field], atol=1e-7)


def test_file_holds_arrays_and_json_only(pair):
    *_, file = pair
    with np.load(file, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    assert all(a.dtype.kind in "fciu" for a in arrays.values()), "numbers only, no objects"
    meta = json.loads(arrays["meta"].tobytes().decode())
    assert meta["format"] == FORMAT
    with zipfile.ZipFile(file) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())


def test_loaded_solution_can_be_stored_again(pair, tmp_path):
    _, solution, loaded, _ = pair
    loaded.save(tmp_path / "again.fpinn")
    twice = fp.load(tmp_path / "again.fpinn")
    where, field = places(solution.problem), solution.problem.fields[0]
    np.testing.assert_allclose(twice(*where, field=field), loaded(*where, field=field), rtol=0, atol=1e-12)


def test_loaded_report_is_that_of_the_solve(pair):
    _, solution, loaded, _ = pair
    assert str(loaded.report) == str(solution.report)
    assert loaded.seconds == solution.seconds
    assert repr(loaded).startswith("Solution(")


def test_loaded_problem(pair):
    name, solution, loaded, _ = pair
    assert loaded.problem.fields == solution.problem.fields
    assert loaded.problem.time == solution.problem.time
    assert repr(loaded.problem.domain) == repr(solution.problem.domain)
    assert isinstance(loaded.problem, Outline if name == "python_functions" else fp.Problem)


def test_loaded_solution_checks_its_arguments(pair):
    _, solution, loaded, _ = pair
    centre = [float(c) for c in solution.problem.domain.center]
    with pytest.raises(EvaluationError, match="lies outside the solved interval"):
        loaded(*centre, solution.problem.time[1] + 1, field=solution.problem.fields[0])
    with pytest.raises(EvaluationError, match="unknown field 'w'"):
        loaded(*centre, solution.problem.time[1], field="w")


# ---- particular cases -----------------------------------------------------------------------------


def test_error_survives(tmp_path):
    for name in ("heat", "transport", "dop853", "moving_edges", "moving_membrane"):
        solution = solved(name)
        solution.save(tmp_path / "s.fpinn", overwrite=True)
        assert fp.load(tmp_path / "s.fpinn").error()["rel_l2"] == pytest.approx(solution.error()["rel_l2"], rel=0.5)


@pytest.fixture(scope="module")
def precise():
    problem = fp.Problem("u_t = -u**3 + cos(5*t)*x*(1 - x)", UNIT, (0, 5), "sin(pi*x)", "u = 0")
    return fp.solve(problem, settings=fp.Settings(width=20, integrator="dop853", rtol=1e-10))


@pytest.mark.parametrize("integrator", [name for name in zoo.STEPPERS if name != "etd"])
def test_every_integrator_is_stored_as_accurately_as_it_computes(integrator, precise, tmp_path):
    """Few long steps of a method of high order: the stored interpolant must not be worse than the method."""
    solution = fp.solve(precise.problem, settings=fp.Settings(width=20, integrator=integrator, rtol=1e-5))
    solution.save(tmp_path / "s.fpinn")
    loaded = fp.load(tmp_path / "s.fpinn")
    x, t = np.linspace(0, 1, 21)[:, None], np.linspace(0, 5, 201)
    exact = precise(x, t)
    mine, stored = (np.linalg.norm(s(x, t) - exact) / np.linalg.norm(exact) for s in (solution, loaded))
    assert stored < 3 * mine + 1e-12


@pytest.mark.parametrize(
    ("data", "end"),
    [("sin(300*t)", 7.5), ("t*exp(-50*(t - 1)**2)", 4), ("abs(t - 0.3) - 0.3", 1)],
    ids=["many oscillations", "pulse", "kink"],
)
def test_boundary_data_of_any_kind_are_stored(data, end, tmp_path):
    problem = fp.Problem("u_t = u_xx", UNIT, (0, end), 0, {"left": fp.Dirichlet(data), "right": "u = 0"})
    solution = fp.solve(problem, settings=fp.Settings(width=30))
    solution.save(tmp_path / "s.fpinn")
    loaded = fp.load(tmp_path / "s.fpinn")
    x, t = np.linspace(0, 1, 11)[:, None], np.linspace(0, end, 301)
    value = solution(x, t)
    np.testing.assert_allclose(loaded(x, t), value, rtol=0, atol=1e-9 * np.abs(value).max())


def test_estimate_survives_and_is_not_made_again(tmp_path):
    solution = fp.estimate_error(solved("heat"))
    solution.save(tmp_path / "s.fpinn")
    loaded = fp.load(tmp_path / "s.fpinn")
    assert loaded.error_estimate == solution.error_estimate
    assert "estimated error u" in str(loaded.report)
    without = solved("heat")
    without.save(tmp_path / "without.fpinn")
    with pytest.raises(EvaluationError, match=r"can't be solved again; call .*estimate_error\(.*\) before saving\."):
        fp.estimate_error(fp.load(tmp_path / "without.fpinn"))


def test_estimate_of_a_loaded_solution_is_the_stored_one(tmp_path):
    solution = fp.estimate_error(solved("heat"))
    solution.save(tmp_path / "s.fpinn")
    assert fp.estimate_error(fp.load(tmp_path / "s.fpinn")).error_estimate == solution.error_estimate


def test_python_functions_are_not_stored(tmp_path):
    solution = solved("python_functions")
    assert solution.error()["rel_l2"] < 1e-8
    solution.save(tmp_path / "s.fpinn")
    loaded = fp.load(tmp_path / "s.fpinn")
    with pytest.raises(EvaluationError, match="stored without its equations, as they contain Python functions"):
        _ = loaded.problem.equations
    with pytest.raises(EvaluationError, match="no exact solution"):
        loaded.error()


def test_warnings_of_the_statement_are_not_repeated(tmp_path):
    with pytest.warns(fp.FrozenPinnWarning, match="the initial data contradict"):
        problem = fp.Problem("u_t = u_xx", UNIT, (0, 0.1), "sin(pi*x) + 0.01", "u = 0")
    fp.solve(problem, settings=fp.Settings(width=30)).save(tmp_path / "s.fpinn")
    fp.load(tmp_path / "s.fpinn")  # warnings are errors here


def test_file_names_are_kept_as_given(tmp_path):
    solution = solved("heat")
    for name in ("plain", "with.dots.fpinn", "wärme.npz"):
        solution.save(str(tmp_path / name))
        assert (tmp_path / name).is_file()
        assert float(fp.load(str(tmp_path / name))(0.5, 0.1)) == float(solution(0.5, 0.1))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["plain", "with.dots.fpinn", "wärme.npz"])


# ---- views ----------------------------------------------------------------------------------------


def uneven():
    data = {"a": "1e-7*sin(pi*x)", "b": "1e3*sin(pi*x)"}
    return fp.Problem(["a_t = a_xx + 1e-6*b", "b_t = b_xx"], UNIT, (0, 0.1), data, ["a = 0", "b = 0"])


def step():
    return fp.Problem("u_t = u_xx", UNIT, (0, 0.1), "where(x < 0.5, 1, 0)", "u_x = 0")


def layers():
    return fp.Problem("u_t = lap(u)", fp.Box([0, 0, 0], [1, 1, 1]), (0, 0.1), "cos(pi*x)", "u_n = 0")


def as_format_7(meta, arrays):
    """Write the views of a file as they were written before there was a list of them."""
    solves = [meta] + ([] if meta["witness"] is None else [meta["witness"]])
    for solve in solves:
        reduced = solve.pop("reduced")
        for piece in solve["pieces"]:
            views = dict(piece.pop("views"))
            piece |= {"added": views.get("known parts"), "frame": None, "logarithm": None}
            for expansion in piece["expansions"]:
                expansion["units"] = views.get("units")
            if "subspace" in views:
                own = views["subspace"]
                meta["subspace"] = {"domain": reduced, "axes": own.pop("axes")}
                arrays |= {f"subspace/{name}": np.array(array) for name, array in own.items()}
    return {"subspace": None, **meta, "format": 7}, arrays


@pytest.mark.parametrize("case", [uneven, step, layers], ids=lambda case: case.__name__)
def test_views_survive_and_are_read_from_the_format_before(case, tmp_path):
    problem = case()
    solution = fp.solve(problem, tol=1e-3)
    solution.save(tmp_path / "s.fpinn")
    write_archive(tmp_path / "old.fpinn", *as_format_7(*Reader(tmp_path / "s.fpinn", FORMAT).read()))
    where, field = places(problem), problem.fields[0]
    for name in ("s.fpinn", "old.fpinn"):
        loaded = fp.load(tmp_path / name)
        assert [view.name for view in loaded.pieces[0].views] == [view.name for view in solution.pieces[0].views] != []
        assert (loaded.reduced is None) == (solution.reduced is None)
        assert loaded.witness is not None
        value = solution(*where, field=field)
        np.testing.assert_allclose(loaded(*where, field=field), value, rtol=0, atol=1e-12 * np.max(np.abs(value)))
