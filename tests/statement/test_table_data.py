"""Arrays as data of problems."""

import pickle

import numpy as np
import pytest
import xarray as xr

import frozenpinn as fp
from frozenpinn.cli.problem_file import read_problem_file

X, Y, T = np.linspace(0.0, 1.0, 41), np.linspace(0.0, 2.0, 41), np.linspace(0.0, 0.5, 31)
LINE, BOX = fp.Interval(0, 1), fp.Box([0, 0], [1, 2])


def heat(initial, **more):
    return fp.Problem("u_t = 0.1*u_xx", LINE, (0, 0.5), initial, "u = 0", **more)


def test_initial_array():
    solution = fp.solve(heat(np.sin(np.pi * X), exact="exp(-0.1*pi**2*t)*sin(pi*x)"), tol=1e-6)
    assert solution.status == "converged"
    assert solution.error("u")["rel_l2"] < 1e-6
    assert "spline of degree 5 through 41 values; its own error is about" in str(solution.report)
    assert "note (data): the initial value of u is a spline" in str(fp.check(solution.problem))


def test_coefficient_array_under_derivatives():
    k = xr.DataArray(1 + 0.3 * np.sin(X)[:, None] * np.cos(Y), dims=("x", "y"), coords={"x": X, "y": Y})

    def solved(parameter):
        start = "sin(pi*x)*sin(pi*y/2)"
        problem = fp.Problem("u_t = div(k*grad(u))", BOX, (0, 0.1), start, "u = 0", parameters={"k": parameter})
        return fp.solve(problem, tol=1e-5)(0.3, 0.7, 0.1)

    assert np.isclose(solved(k), solved("1 + 0.3*sin(x)*cos(y)"), rtol=1e-7)


def test_source_and_boundary_values_in_time():
    source = fp.Table(np.outer(np.cos(T), 1 + X), t=T, x=X)
    edge = fp.Table(np.sin(T), t=T)
    problem = fp.Problem(
        "u_t = u_xx + f",
        LINE,
        (0, 0.5),
        0,
        {"left": fp.Dirichlet(edge), "right": fp.Dirichlet(fp.Table(2 * np.sin(T), t=T))},
        parameters={"f": source},
        exact="sin(t)*(1 + x)",
    )
    assert fp.solve(problem, tol=1e-5).error("u")["rel_l2"] < 1e-5


def test_static_on_a_shape_and_boundary_values_along_a_side():
    x = np.linspace(-1, 1, 61)
    source = np.exp(x)[:, None] * np.ones(61)
    edge = fp.Dirichlet(fp.Table(np.exp(x), x=x))
    problem = fp.Problem("lap(u) = f", fp.Disk(), boundary=edge, parameters={"f": source})
    solution = fp.solve(problem, tol=1e-5)
    assert np.isclose(solution(0.3, 0.4), np.exp(0.3), atol=1e-6)
    assert "spline" in str(solution.report)


def test_table_in_other_values_and_pickles():
    problem = heat(np.sin(np.pi * X))
    again, middle = pickle.loads(pickle.dumps(problem)), np.array([[0.5]])
    assert again.initial["u"](middle)[0] == problem.initial["u"](middle)[0]
    timed = fp.Problem("u_t = k*u_xx", LINE, (0, 0.5), 1, "u_n = 0", parameters={"k": fp.Table(1 + T, t=T)})
    with pytest.raises(fp.ProblemError, match=r"t from 0 to 0\.5, which does not cover the problem's t from 0 to 2"):
        timed.during((0, 2))
    assert timed.at(k=2.0).equations[0].linear


def test_stored_with_its_arrays(tmp_path):
    solution = fp.solve(heat(fp.Table(np.sin(np.pi * X), x=X, smooth=1e-9)), tol=1e-4)
    solution.save(tmp_path / "u.fpinn")
    again = fp.load(tmp_path / "u.fpinn")
    assert again(0.3, 0.2) == solution(0.3, 0.2)
    assert np.array_equal(again.problem.given["initial"].values, np.sin(np.pi * X))
    assert np.isclose(again.residuals.initial["u"], solution.residuals.initial["u"], rtol=1e-3)


def test_problem_files_name_data_files(tmp_path):
    rows = "\n".join(f"{x},{np.sin(np.pi * x)}" for x in X.tolist())
    (tmp_path / "start.csv").write_text(f"x,u\n{rows}")
    text = 'equation = "u_t = k*u_xx"\ntime = [0, 0.5]\ninitial = {file = "start.csv"}\nboundary = "u = 0"\n'
    text += "[domain]\nlower = 0\nupper = 1\n[parameters]\nk = {values = [0.1, 0.1, 0.2], x = [0, 0.5, 1]}\n"
    (tmp_path / "heat.toml").write_text(text)
    problem, _ = read_problem_file(tmp_path / "heat.toml")
    assert np.isclose(problem.initial["u"](np.array([[0.3]]))[0], np.sin(0.3 * np.pi), atol=1e-8)
    (tmp_path / "heat.toml").write_text(text.replace('"start.csv"', '"start.csv", colour = "red"'))
    with pytest.raises(fp.ProblemError, match="has the key 'colour'"):
        read_problem_file(tmp_path / "heat.toml")
    (tmp_path / "heat.toml").write_text(text.replace('"start.csv"', "3"))
    with pytest.raises(fp.ProblemError, match="file is the path of a table"):
        read_problem_file(tmp_path / "heat.toml")


def test_an_image_of_512_pixels_as_initial_value():
    s = (np.arange(512) + 0.5) / 512
    image = np.exp(-40 * ((s[:, None] - 0.5) ** 2 + (s - 0.4) ** 2))
    problem = fp.Problem("u_t = 0.01*lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), fp.Table(image, cells=True), "u_n = 0")
    solution = fp.solve(problem, tol=1e-4)
    assert solution.status == "converged"
    assert np.isclose(solution(0.5, 0.4, 0.0), 1.0, atol=1e-3)


def scattered(points):
    return fp.Table(points[:, 0] * points[:, 1], x=points[:, 0], y=points[:, 1])


POINTS = np.random.default_rng(0).uniform([0, 0], [1, 2], (200, 2))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: heat(np.ones((4, 5))), r"array of shape \(4, 5\); the domain has 1 coordinate\(s\)"),
        (lambda: heat(fp.Table(X[:20], x=X[:20])), "from 0 to 0.475, which does not cover the problem's x from 0 to 1"),
        (lambda: heat(fp.Table(X, x=X + 5)), "for x from 5 to 6, which does not cover"),
        (lambda: heat(fp.Table(np.ones((5, 5)), x=(0, 1), y=(0, 1))), "has the coordinate 'y'; those of the problem"),
        (lambda: heat(np.where(X > 0.9, np.nan, X)), "4 of 41 are not, the first at index 37"),
        (lambda: heat(xr.DataArray(X, dims="x")), "DataArray without places along its dimension 'x'"),
        (lambda: heat("0", parameters={"k": fp.Table(T[:9], t=T[:9])}), "parameter 'k' is given for t from 0 to 0.1"),
        (
            lambda: fp.Problem("u_t = lap(u)", BOX, (0, 1), scattered(POINTS[POINTS[:, 1] < 1]), "u = 0"),
            "the initial value: the scattered points do not cover the domain; none is near x = ",
        ),
    ],
)
def test_arrays_that_do_not_fit(make, text):
    with pytest.raises(fp.ProblemError, match=text):
        make()


def test_middles_of_cells_cover_a_domain():
    middles = (X[1:] + X[:-1]) / 2
    start = heat(fp.Table(np.sin(np.pi * middles), x=middles)).initial["u"]
    assert np.isclose(start(np.zeros((1, 1)))[0], 0, atol=1e-6)
